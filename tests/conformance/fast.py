#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: fast.py MRC TIER

Plays every vector of a tier on `mrc nic --endpoint fast`. None may fail or deviate but those that KNOWN names, each with
what the fast endpoint does otherwise; one of them that passes must leave the table."""
import re
import subprocess
import sys
from pathlib import Path

VECTORS = Path(__file__).resolve().parents[2] / "conformance" / "vectors.py"
KNOWN = {  # by tier
    1: {}, 3: {},
    2: {"R-ZERO-342": "the responder takes the 33rd immediate when what was missing before it comes"},
}
LEAST = {1: 200, 2: 390, 3: 300}  # fewer passed: the endpoint has lost a capability


def main():
    tier = int(sys.argv[2])
    known = KNOWN[tier]
    run = subprocess.run(["/usr/bin/python3", str(VECTORS), "run", "--strict", "-j", "2", "--wall", "400", "--tier",
                          str(tier), "--device", f"{sys.argv[1]} nic --endpoint fast"], capture_output=True, text=True, check=False)
    other = set(re.findall(r"^(?:fail|deviates|broke\w*|error)\s+([A-Z]\S+)", run.stdout, re.M))
    print(run.stdout[-20000:], run.stderr[-2000:])
    summary = re.search(r"^(\d+) pass", run.stdout, re.M)
    if not summary or int(summary[1]) < LEAST[tier]:
        sys.exit(f"fewer than {LEAST[tier]} vectors passed")
    for name in sorted(other - known.keys()):
        print(f"{name} fails or deviates, and is not known to")
    for name in sorted(known.keys() - other):
        print(f"{name} passes now: take it out of KNOWN")
    return int(other != known.keys())


if __name__ == "__main__":
    sys.exit(main())
