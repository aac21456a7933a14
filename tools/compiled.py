# SPDX-License-Identifier: Apache-2.0
"""How each source is compiled: CMake's list, with those that are compiled together (mrc_together) named one by one."""
import json
import re

import rtl

TOGETHER = re.compile(r"/Unity/unity_\d+_cxx\.cxx$")
INCLUDED = re.compile(r'^#include "(.*)"$', re.MULTILINE)


def entries(build, remedy):
    """[{directory, file, command}] of a configured folder, paths absolute. remedy: said when it is not configured."""
    known = build / "compile_commands.json"
    if not known.exists():
        rtl.fail(f"{known} is missing.", remedy)
    found = []
    for entry in json.loads(known.read_text()):
        if not TOGETHER.search(entry["file"]):
            found.append(entry)
            continue
        with open(entry["file"], encoding="utf-8") as together:
            for name in INCLUDED.findall(together.read()):
                found.append({**entry, "file": name, "command": entry["command"].replace(entry["file"], name)})
    return found
