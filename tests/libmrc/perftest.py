#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: perftest.py MRC NAME=VALUE [MRC HOST OPTIONS...]

ib_write_bw and ib_write_lat of Debian's perftest, unchanged, over two NICs of a host, with NAME=VALUE in their
environment. Both ends must end with 0, and the judge finds nothing wrong. Where it is not installed: exit code 77."""
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import example
import run

CALLS = (("ib_write_bw", "-n", "20", "-s", "20000", "-m", "1024"),
         ("ib_write_bw", "-n", "20", "-s", "5000", "-q", "2"),
         ("ib_write_bw", "-n", "20", "-s", "300", "-b", "--use_old_post_send"),
         ("ib_write_lat", "-n", "20", "-s", "100"))


def run_call(call, environment):
    call = [*call, "-F", "-x", "0", "-p", example.free_port()]
    server = subprocess.Popen([*call, "-d", "mrc1"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True)
    try:
        for _ in range(100):  # until it listens
            client = subprocess.run([*call, "-d", "mrc0", "127.0.0.1"], env=environment, capture_output=True, text=True,
                                    timeout=run.SECONDS, check=False)
            if "Couldn't connect" not in client.stdout + client.stderr or server.poll() is not None:
                break
            time.sleep(0.05)
        out, _ = server.communicate(timeout=run.SECONDS)
    finally:
        server.kill()
    print(client.stdout)
    if client.returncode != 0 or server.returncode != 0:
        sys.exit(f"{' '.join(call)} ends with {client.returncode}, {server.returncode}:\n{client.stderr}{out}")


def main():
    mrc, setting, options = sys.argv[1], sys.argv[2], sys.argv[3:]
    if not all(shutil.which(call[0]) for call in CALLS):
        print("skipped: perftest is not installed")
        return run.SKIPPED
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        host = run.start_host(mrc, options, place)
        name, _, value = setting.partition("=")
        environment = {**os.environ, "MRC_HOST": str(place / "mrc/host"), name: value}
        try:
            for call in CALLS:
                run_call(call, environment)
        finally:
            print(run.stop_host(host), end="")
        run.judge(mrc, place)
    return 0


if __name__ == "__main__":
    sys.exit(main())
