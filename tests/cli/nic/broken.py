#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: broken.py MRC

Each case of run.py can fail: NICs with an injected bug of the RTL (cmodel/spec/bugs.yaml) that shows on the wire, in
memory or in completions alone, and the case that must see it. docs/reference/device.md lists them too."""
import subprocess
import sys
from pathlib import Path

BROKEN = {"icrc-mask": "responder", "retx-without-rtx": "lost", "rtx-bit-missing": "lost", "nack-plus-one": "lost",
          "line-used-twice": "requestor", "bitmap-shifted": "gap", "sack-base": "gap", "error-state-receives": "failed",
          "denied-ev-used": "ev_control", "ev-stuck": "ev_control", "walk-ends-early": "one_plane",
          "pkey-unchecked": "refused", "icrc-24-bits": "refused", "bounds-first-byte": "refused", "ce-lost": "told",
          "timestamp-zero": "told", "rcvd-bytes-down": "told"}


def main():
    run = [sys.executable, str(Path(__file__).with_name("run.py")), sys.argv[1], "rtl"]
    missed = []
    for bug, case in BROKEN.items():
        done = subprocess.run([*run, "--rtl-bug", bug, "--only", case], text=True, capture_output=True, check=False,
                              timeout=60)
        if done.returncode == 0 or "AssertionError" not in done.stderr:
            missed.append(f"{bug} ({case}): {done.stdout}{done.stderr}")
    for what in missed:
        print(f"not seen: {what}")
    print(f"{len(BROKEN) - len(missed)} of {len(BROKEN)} broken NICs seen")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
