#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: golden.py MRC FILE [--update]

FILE (tests/golden/NAME.out) holds one call of mrc and everything it must print:

    $ mrc decode --hex zz
    mrc decode: ...
    [exit 3]

The call runs in an empty folder, so that relative names do not exist, and must leave it empty. --update
writes down what mrc says now, for a reader to check."""
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path


def transcript(mrc, call):
    """What a call prints on both streams and how it ends; what it leaves behind."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([mrc, *shlex.split(call)[2:]], cwd=folder, text=True, check=False, timeout=60,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        left = sorted(path.name for path in Path(folder).iterdir())
    return f"{call}\n{done.stdout}[exit {done.returncode}]\n" + "".join(f"[left {name}]\n" for name in left)


def main():
    mrc, golden = sys.argv[1], Path(sys.argv[2])
    expected = golden.read_text()
    got = transcript(mrc, expected.splitlines()[0])
    if "--update" in sys.argv:
        golden.write_text(got)
        return 0
    if got != expected:
        print(f"expected ({golden.name}):\n{expected}\ngot:\n{got}")
    return got != expected


if __name__ == "__main__":
    sys.exit(main())
