#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: broken.py MRC [BUG ...]

Each broken NIC of conformance/broken/nics.json is failed by the vectors that should, and by no other of its row; the
same RTL without a bug passes all of them."""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def dispositions(mrc, bug, ids):
    """{id: disposition} of the vectors on RTL with this bug, or none."""
    device = f"{mrc} nic --endpoint rtl --preset tiny" + (f" --rtl-bug {bug}" if bug else "")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "results.json"
        subprocess.run([sys.executable, ROOT / "conformance/vectors.py", "run", *ids, "-j", "2", "--device", device,
                        "--json", out], check=False, capture_output=True, timeout=250)
        return {entry["id"]: entry["disposition"] for entry in json.loads(out.read_text())["results"]}


def main():
    mrc, wanted = sys.argv[1], sys.argv[2:]
    nics = json.loads((ROOT / "conformance/broken/nics.json").read_text())["nics"]
    nics = [nic for nic in nics if not wanted or nic["bug"] in wanted]
    if not nics:
        sys.exit(f"broken.py: there is no such NIC in nics.json: {' '.join(wanted)}.")
    wrong = []
    every = sorted({vector for nic in nics for vector in nic["fail"] + nic["pass"]})
    for vector, got in dispositions(mrc, "", every).items():
        if got != "pass":
            wrong.append(f"RTL without a bug: {vector} is '{got}', not 'pass'.")
    for nic in nics:
        found = dispositions(mrc, nic["bug"], nic["fail"] + nic["pass"])
        wrong += [f"{nic['bug']}: {vector} is '{found[vector]}', not 'fail': the NIC {nic['what']}."
                  for vector in nic["fail"] if found[vector] != "fail"]
        wrong += [f"{nic['bug']}: {vector} is '{found[vector]}', not 'pass'." for vector in nic["pass"]
                  if found[vector] != "pass"]
    for line in wrong:
        print(line)
    print(f"{len(nics)} broken NICs, {sum(len(nic['fail']) for nic in nics)} vectors that must fail, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
