#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What captures show of mutants of a log (docs/design/mutation.md), a sample of the table.
usage: mutate_captures.py MRC

The same mutants are asked in each view. Exit 1: a view shows less than it did, or one that shows less sees more."""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

# Percent of what a view shows that is seen at least, for 1500 mutants of two runs.
LEAST = {"both": 62, "end": 62, "bare": 52, "plane": 20, "cut": 14}


def main():
    mrc, wrong, seen = sys.argv[1], [], {}
    with tempfile.TemporaryDirectory() as name:
        folder, logs = Path(name), []
        for scenario in ("mixed", "trim"):
            log = folder / f"{scenario}.mrclog"
            subprocess.run([mrc, "cosim", "--preset", "tiny", "--dut", "model", "--packets", "300", "--scenario",
                            scenario, "--record", log], check=True, capture_output=True)
            logs += ["--log", log]
        for view, least in LEAST.items():
            out = folder / f"{view}.json"
            done = subprocess.run([mrc, "mutate", *logs, "--as", view, "--count", "1500", "--least", str(least),
                                   "--json", out], capture_output=True, text=True, check=False)
            result = json.loads(out.read_text(encoding="utf-8"))
            seen[view] = result["seen"]
            print(f"{view}: {result['seen']} of {result['mutants']} seen, {result['not_shown']} not shown")
            if done.returncode != 0:
                wrong.append(f"{view}: exit {done.returncode}, {result['share']:.1f} % seen, {least} % wanted")
    if not seen["end"] >= seen["bare"] >= max(seen["plane"], seen["cut"]):
        wrong.append(f"who shows less sees more: {seen}")
    for line in wrong:
        print(f"WRONG {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
