#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: shrink.py MRC [--ten]

mrc shrink: what is left of a failing run is smaller, and fails in the same way by its line; a run that passes is
refused. --ten: no test; measures ten injected bugs in random runs, minutes each."""
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

MRC = sys.argv[1]
ROOT = Path(__file__).resolve().parents[3]
ENV = os.environ | {"MRC_EXE": MRC, "MRC_ROOT": str(ROOT)}


def call(folder, *words):
    return subprocess.run([*map(str, words)], cwd=folder, env=ENV, text=True, capture_output=True, check=False, timeout=100)


# Every sixth of those that docs/reference/generated/bugs.md shows at tiny.
TEN = ("retx-without-rtx", "nack-plus-one", "line-used-twice", "pkey-unchecked", "sack-base", "retry-not-reset",
       "no-buffer-no-resource", "srh-template", "row-given-back-stays", "state-probe-id")


def ten():
    """The cycle in which a random run of 2000 packets fails, before and after."""
    after = []
    for bug in TEN:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for seed in range(1, 100):
                words = ("cosim", "--preset", "tiny", "--scenario", "random", "--packets", "2000", "--seed", seed, "--rtl-bug", bug)
                if call(folder, MRC, *words).returncode in (1, 2):
                    break
            done = subprocess.run([*map(str, (ROOT / "tools/shrink.py", "--json", folder / "out.json", "--", *words))],
                                  cwd=folder, env=ENV, text=True, capture_output=True, check=False)
            assert done.returncode == 0, done.stderr
            out = json.loads((folder / "out.json").read_text())
            print(f"{bug:22} seed {seed:2}: {out['before']:8} -> {out['after']:6}, {out['runs']} runs: {out['repro']}", flush=True)
            after.append(out["after"])
    print(f"median {statistics.median(after):.0f} cycles")


def main():
    if sys.argv[2:] == ["--ten"]:
        return ten()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shrink = (ROOT / "tools/shrink.py", "--json", folder / "out.json", "--")
        random = ("cosim", "--preset", "tiny", "--scenario", "random", "--packets", "2000", "--seed", "3")
        done = call(folder, *shrink, *random, "--rtl-bug", "icrc-mask")
        assert done.returncode == 0, done.stdout + done.stderr
        out = json.loads((folder / "out.json").read_text())
        assert out["signature"] == "tx_header.crc" and out["after"] < out["before"], out
        keys = [line for line in (folder / "mrc-shrunk.toml").read_text().splitlines() if "=" in line]
        assert len(keys) < 8, keys
        words = shlex.split(out["repro"])
        again = call(folder, MRC, *words[1:], "--json", "again.json")
        first = json.loads((folder / "again.json").read_text())["divergence"]
        assert again.returncode == 1 and first["block"] == "tx_header" and first["cycle"] == out["after"], again.stdout
        wrong = ("cosim", "--level", "L2", "--dut", "fast", "--preset", "tiny", "--scenario", "clean", "--packets", "500",
                 "--seed", "1")
        done = call(folder, *shrink, *wrong, "--variant", "icrc-wrong")
        out = json.loads((folder / "out.json").read_text())
        assert done.returncode == 0 and out["signature"] == "wire.icrc" and "--packets 500 " not in out["repro"], out
        done = call(folder, *shrink, *wrong)
        assert done.returncode == 3 and "does not fail" in done.stderr, done.stderr


if __name__ == "__main__":
    main()
