#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the judge leaves to a second copy of what was lost (A-89) is no more than that. Three copies are findings, in
a run with losses on eight planes: of what nobody has lost, on the plane of the first copy, and a third one.
usage: mutate_copies.py MRC"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

# Timers are long: where a frame may have waited inside for one, it explains each copy.
SCENARIO = 'base = "loss"\nvary = 0\nrto = 10\n'
KINDS = ("data.copy-unlost", "data.copy-same-plane", "data.copy-third")


def main():
    mrc = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log, out = folder / "loss.mrclog", folder / "mutants.json"
        (folder / "loss.toml").write_text(SCENARIO, encoding="utf-8")
        subprocess.run([mrc, "cosim", "--preset", "asic800", "--dut", "model", "--packets", "500", "--scenario",
                        folder / "loss.toml", "--record", log, "--reports", folder], check=True, capture_output=True)
        subprocess.run([mrc, "mutate", "--log", log, "--count", "300", "--json", out], check=False, capture_output=True)
        kinds = {kind["kind"]: kind for kind in json.loads(out.read_text(encoding="utf-8"))["kinds"]}
    wrong = 0
    for name in KINDS:
        kind = kinds.get(name, {"mutants": 0, "seen": 0})
        print(f"{name}: {kind['seen']} of {kind['mutants']} seen")
        wrong += kind["mutants"] == 0 or kind["seen"] != kind["mutants"]
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
