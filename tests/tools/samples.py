# SPDX-License-Identifier: Apache-2.0
"""What the tests of tools/*.py share: folders of small files, a run of a tool, and what it must have said."""
import contextlib
import subprocess
import sys
import tempfile
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "tools"

# What every tool needs beside it.
BESIDE = {name: (TOOLS.parent / name).read_text(encoding="utf-8")
          for name in ("tools/rtl.py", "conformance/mrcscript/__init__.py", "conformance/mrcscript/output.py",
                       "conformance/mrcscript/versions.py")}


def make(folder, files):
    """Writes {path: text} below the folder."""
    for name, text in files.items():
        path = Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@contextlib.contextmanager
def in_folder(files):
    """A folder with these files, for as long as it is used."""
    with tempfile.TemporaryDirectory() as folder:
        make(folder, files)
        yield Path(folder)


def run(*arguments):
    """(exit code, output) of a Python script."""
    done = subprocess.run([sys.executable, *map(str, arguments)], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def told(expected, code, output, words):
    """Tells when a run went otherwise: returns 1 then."""
    if code == expected and all(word in output for word in words):
        return 0
    print(f"expected exit code {expected} and {words}, got {code}:\n{output}")
    return 1
