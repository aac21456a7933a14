#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: options.py MRC WRITES FABRIC

`mrc host --pace real/N`: a simulated second takes N of ours, whether somebody waits or not. `--min-active N`: NICs
have it, as their profile says. What is no pace, and a number of NICs beside a fabric that has its own, is refused."""
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import run

SLOWER = 2000


def refused(mrc, *options):
    told = subprocess.run([mrc, "host", *options], capture_output=True, text=True, check=False, timeout=run.SECONDS)
    assert told.returncode == 3 and told.stderr.count("\n") == 2, told
    return told.stderr


def main():
    mrc, program, fabric = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        begin = time.monotonic()
        host = run.start_host(mrc, ["--endpoint", "fast", "--pace", f"real/{SLOWER}", "--min-active", "3"], place)
        try:
            run.run_two(program, [], {**os.environ, "MRC_HOST": str(place / "mrc/host")}, host)
        finally:
            out = run.stop_host(host)
        took = time.monotonic() - begin
        run.judge(mrc, place)
        told = subprocess.run([mrc, "log", "info", str(place / "run.mrclog")], capture_output=True, text=True, check=True)
        assert told.stdout.count('"EV_CTL.min_active":3') == 2, told.stdout
    simulated = float(re.search(r"([0-9.]+) ms of simulated time", out)[1]) * 1e-3
    print(f"{simulated * 1e6:.0f} us in {took:.2f} s")
    assert simulated > 0 and took > 0.9 * SLOWER * simulated, (simulated, took)
    for pace in ("real/0.5", "real/", "quick"):
        assert f"--pace {pace} is no pace" in refused(mrc, "--pace", pace)
    assert "--nics" in refused(mrc, fabric, "--nics", "3")


if __name__ == "__main__":
    main()
