#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: lists.py ROOT

Each file list of rtl/gen/lists is clean under `verilator -Wall`, with its own files alone and without the waivers of
this project: who takes one block into a design with all warnings on gets none from it. A block with an unused
parameter shows that a warning is seen."""
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(sys.argv[1])
VERILATOR = os.environ.get("VERILATOR", "verilator")


def warnings_of(listed, top):
    done = subprocess.run([VERILATOR, "--lint-only", "-Wall", "-f", listed, "--top-module", top], cwd=ROOT, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    found = [line for line in done.stdout.splitlines() if line.startswith("%")]
    return found or ([f"ends with {done.returncode}: {done.stdout[-300:]}"] if done.returncode else [])


def main():
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "unused.sv"
        source.write_text("module unused;\n  localparam int Nobody = 1;\nendmodule\n")
        (Path(folder) / "unused.f").write_text(f"{source}\n")
        told = warnings_of(Path(folder) / "unused.f", "unused")
        assert any("UNUSEDPARAM" in line and "Nobody" in line for line in told), told
    lists = sorted((ROOT / "rtl/gen/lists").glob("*.f"))
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda path: warnings_of(path.relative_to(ROOT), path.stem), lists))
    wrong = [f"{path.name}: {line}" for path, lines in zip(lists, found) for line in lines]
    print("\n".join(wrong) or f"{len(lists)} lists without a warning")
    return 1 if wrong or len(lists) < 30 else 0


if __name__ == "__main__":
    sys.exit(main())
