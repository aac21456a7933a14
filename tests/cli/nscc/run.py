#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: run.py MRC FILE [--update]

FILE (NAME.out beside this script) holds calls of mrc nscc, each with everything it prints and its exit code:

    $ mrc nscc events.csv
    ...
    [exit 0]

The calls run in a copy of this folder's input files. --update writes down what mrc says now, for a reader to check."""
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def transcript(mrc, call, inputs):
    with tempfile.TemporaryDirectory() as folder:
        for path in inputs:
            shutil.copy(path, folder)
        done = subprocess.run([mrc, *shlex.split(call)[2:]], cwd=folder, text=True, check=False, timeout=60,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return f"{call}\n{done.stdout}[exit {done.returncode}]\n"


def main():
    mrc, golden = sys.argv[1], Path(sys.argv[2])
    inputs = [path for path in golden.parent.iterdir() if path.suffix in (".csv", ".toml", ".json", ".txt")]
    expected = golden.read_text(encoding="utf-8")
    calls = [line for line in expected.splitlines() if line.startswith("$ mrc ")]
    if not calls:
        print(f"{golden}: no call")
        return 1
    got = "".join(transcript(mrc, call, inputs) for call in calls)
    if "--update" in sys.argv:
        golden.write_text(got, encoding="utf-8")
        return 0
    if got != expected:
        print(f"expected ({golden.name}):\n{expected}\ngot:\n{got}")
    return got != expected


if __name__ == "__main__":
    sys.exit(main())
