#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""tools/build_time.py: a source with too many lines is told with count, limit and its dearest header; a source at its
limit passes; wrong use ends with exit code 3."""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools/build_time.py"
sys.path.insert(0, str(ROOT / "tools"))
import build_time  # noqa: E402


def run(*words):
    done = subprocess.run([sys.executable, TOOL, *words], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def must(condition, words):
    if not condition:
        sys.exit(f"build_time_wrong.py: {words}")


def counted(folder, lines):
    """Exit code and words for cli/main.cpp when it has its own two lines and as many as said from a header."""
    (folder / "dear.hpp").write_text("int dear;\n" * lines)
    (folder / "main.cpp").write_text('#include "dear.hpp"\n\nint a;\nint b;\n')
    call = f"c++ -I{folder} -o x.o -c {folder}/main.cpp"
    entry = {"directory": str(folder), "file": str(ROOT / "cli/main.cpp"), "command": call}
    (folder / "compile_commands.json").write_text(json.dumps([entry]))
    return run("--build", folder, "cli/main.cpp")


limit = build_time.LIMITS["cli"]
with tempfile.TemporaryDirectory() as scratch:
    folder = Path(scratch)
    code, words = counted(folder, limit - 2)
    must(code == 0 and "1 sources, 0 with too many lines" in words, f"a source at its limit is refused: {words}")
    code, words = counted(folder, limit - 1)
    must(code == 1, f"one line too many passes: {words}")
    must(f"cli/main.cpp: {limit + 1} preprocessed lines, 1 more than the {limit} of its folder" in words, words)
    must(f"dear.hpp {limit - 1}" in words, f"the dear header is not named: {words}")
    must(run("--build", folder / "none")[0] == 3, "a build that is not there passes")
    must(run("--build", folder, "cli/none.cpp")[0] == 3, "a source that is not there passes")
print("build_time.py tells what it is for")
