#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: expansion.py MRC PROGRAM [MRC HOST OPTIONS...]

OCP's ev_expansion prints ten profiles, their EVs, and what becomes of each in a packet. The same profiles, set up by
mrc_ctl.h (expansion.c), become the same in our NIC, EV by EV. Skipped (77) unless MRC_H_PATH names OCP's repository."""
import csv
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import run

MODES = {"STEV": 1, "SRv6": 2}


def printed(place, source):
    """[(lines for expansion.c, [what each EV becomes])] of ev_expansion."""
    exe = place / "ev_expansion"
    subprocess.run([os.environ.get("CC", "cc"), "-w", "-o", exe, source], check=True)
    profiles = []
    for part in subprocess.run([exe], capture_output=True, text=True, check=True).stdout.split("\nev_fmt_prof:\n")[1:]:
        described, _, expanded = part.partition("EXPANDED EVs:")
        kind = re.search(r"type: (\w+)", described)[1]
        lines = [f"format {MODES[kind]}"]
        lines += [f"width {width}" for width in re.findall(r"^ +\d+: width=(\d+)$", described, re.M)]
        lines += ["field " + " ".join(found) for found in re.findall(
            r"width=(\d+), init_val=0x(\w+), min=0x(\w+) max=0x(\w+) mask=0x(\w+)", described)]
        lines += [f"ev {value}" for value in re.findall(r"^ +\d+: 0x(\w{64})$", described, re.M)]
        profiles.append(("\n".join([*lines, "end"]), re.findall(r"^ +0x(\w{64})$", expanded, re.M)))
    return profiles


def main():
    mrc, program, *options = sys.argv[1:]
    source = Path(os.environ.get("MRC_H_PATH", "/nowhere")) / "examples/ev_expansion/ev_expansion.c"
    if not source.exists():
        print("skipped: MRC_H_PATH names no copy of OCP's repository")
        return run.SKIPPED
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        profiles = printed(place, source)
        host = run.start_host(mrc, ["--evs", str(place / "evs.csv"), *options], place)
        try:
            done = subprocess.run([program, "mrc0"], input="\n".join(lines for lines, _ in profiles), text=True, check=True,
                                  env={**os.environ, "MRC_HOST": str(place / "mrc/host")}, stdout=subprocess.PIPE)
            print(done.stdout, end="")
        finally:
            run.stop_host(host)
        rows = list(csv.DictReader((place / "evs.csv").open(encoding="utf-8")))
    seen = 0
    for number, (_, wanted) in enumerate(profiles, 1):
        ours = [row["in_packets"].removeprefix("0x") for row in rows if int(row["profile"]) == number]
        if ours != wanted or not wanted:
            sys.exit(f"profile {number}: {ours}, not {wanted}")
        seen += len(ours)
    print(f"{len(profiles)} profiles, {seen} EVs: as ev_expansion has them")
    return 0 if len(profiles) == 10 else 1


if __name__ == "__main__":
    sys.exit(main())
