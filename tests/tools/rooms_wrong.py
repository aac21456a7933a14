#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: rooms_wrong.py

Gives tools/rooms.py folders with one mistake each and expects the sentence that tells it, and one without any."""
import subprocess
import sys
import tempfile
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools/rooms.py"
TABLE = """# Page

## Who may include whom

| room | may include |
|---|---|
| `cmodel/wire` | |
| `cmodel/gen/words.hpp`, `cmodel/gen/streams.hpp` | `cmodel/wire` |
| `cmodel/protocol` | `cmodel/wire`, `cmodel/gen/words.hpp` |
| `sim` | `cmodel/protocol` |

## Another
"""
GOOD = {
    "docs/design/architecture.md": TABLE,
    "cmodel/wire/a.hpp": '#include <vector>\n#include "wire/b.hpp"\n',
    "cmodel/wire/b.hpp": "",
    "cmodel/gen/words.hpp": '#include "wire/a.hpp"\n',
    "cmodel/gen/streams.hpp": '#include "wire/a.hpp"\n',
    "cmodel/protocol/rule.hpp": '#include "gen/words.hpp"\n#include "Vmrc_nic.h"\n',
    "sim/a.cpp": '#include "protocol/rule.hpp"\n',
}
MISTAKES = {
    "cmodel/protocol/rule.hpp:2: cmodel/protocol may not include cmodel/gen/streams.hpp (gen/streams.hpp)":
        {"cmodel/protocol/rule.hpp": '\n#include "gen/streams.hpp"\n'},
    "cmodel/wire/b.hpp:1: cmodel/wire may not include cmodel/protocol (protocol/rule.hpp)":
        {"cmodel/wire/b.hpp": ' #  include "protocol/rule.hpp"\n'},
    "sim/a.cpp:1: sim may not include cmodel/wire (wire/a.hpp)": {"sim/a.cpp": '#include "wire/a.hpp"\n'},
    "sim/a.cpp:1: 'wire/none.hpp' is no file": {"sim/a.cpp": '#include "wire/none.hpp"\n'},
    "tb/a.cpp: no row of docs/design/architecture.md is about it": {"tb/a.cpp": ""},
    "'cmodel/api' is no file and no folder":
        {"docs/design/architecture.md": TABLE.replace("| `sim`", "| `cmodel/api` | |\n| `sim`")},
    "'sim' names 'fuzz', which has no row":
        {"docs/design/architecture.md": TABLE.replace("| `sim` |", "| `sim` | `fuzz`,"), "fuzz/a.cpp": ""},
    "a circle: cmodel/wire > cmodel/protocol > cmodel/wire":
        {"docs/design/architecture.md": TABLE.replace("| `cmodel/wire` | |", "| `cmodel/wire` | `cmodel/protocol` |")},
    "no table behind '## Who may include whom'": {"docs/design/architecture.md": "# Page\n"},
}


def run(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        done = subprocess.run([sys.executable, str(TOOL), "--root", folder], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


def main():
    wrong = 0
    code, said = run(GOOD)
    if code != 0:
        print(f"a good folder: exit {code}\n{said}")
        wrong += 1
    for sentence, files in MISTAKES.items():
        code, said = run({**GOOD, **files})
        if code not in (1, 3) or sentence not in said:
            print(f"expected '{sentence}', got exit {code}:\n{said}")
            wrong += 1
    print(f"{len(MISTAKES)} mistakes, {wrong} not told")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
