#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: shrink.py MRC

mrc shrink: what is left of a failing run is smaller, and fails in the same way by its line; a run that passes is
refused."""
import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

MRC = sys.argv[1]
ROOT = Path(__file__).resolve().parents[3]
ENV = os.environ | {"MRC_EXE": MRC, "MRC_ROOT": str(ROOT)}


def call(folder, *words):
    return subprocess.run([*map(str, words)], cwd=folder, env=ENV, text=True, capture_output=True, check=False, timeout=100)


def main():
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
