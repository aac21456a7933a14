#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: rooms.py [--root DIR]

Holds the table "Who may include whom" of docs/design/architecture.md against the C++ sources: a file may include files
of its own room, of the rooms its row names, and of rooms inside these. The most exact row counts, for the file and for
what it includes. No row may be without a file, no source without a row, and the arrows of the table go round in no
circle. Exit 1: something is wrong; 3: the table cannot be read."""
import re
import sys
from pathlib import Path

import rtl

ROOT = Path(__file__).resolve().parent.parent
HEADING = "## Who may include whom"
TREES = ["cmodel", "tb", "sim", "libmrc", "cli", "fuzz"]
FOREIGN = re.compile(r"V\w+\.h|verilated\w*\.h|assertions\.h")  # made by Verilator and by the build


def read_table(text):
    """{room: [rooms]} of the table behind HEADING."""
    rooms = {}
    inside = False
    for line in text.splitlines():
        if line.startswith("## "):
            inside = line.strip() == HEADING
        elif inside and line.startswith("| `"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            names = re.findall(r"`([^`]+)`", cells[0])
            for name in names:
                rooms[name] = re.findall(r"`([^`]+)`", cells[1])
    return rooms


def inside(path, room):
    return path == room or path.startswith(room + "/")


def room_of(path, rooms):
    """The most exact room of a file, or None."""
    fitting = [room for room in rooms if inside(path, room)]
    return max(fitting, key=len) if fitting else None


def circle(rooms):
    """A list of rooms that goes round, or None. Within one folder that a row names
    as a whole, files may need each other."""
    done, path = set(), []

    def visit(room):
        if room in path:
            return path[path.index(room):] + [room]
        if room in done:
            return None
        path.append(room)
        for target in rooms[room]:
            for other in rooms:
                if inside(other, target) and not inside(room, target):
                    found = visit(other)
                    if found:
                        return found
        path.pop()
        done.add(room)
        return None

    for room in rooms:
        found = visit(room)
        if found:
            return found
    return None


def check(root):
    text = (root / "docs/design/architecture.md").read_text(encoding="utf-8")
    rooms = read_table(text)
    if not rooms:
        print(f"rooms.py: docs/design/architecture.md: no table behind '{HEADING}'", file=sys.stderr)
        return None
    wrong = []
    for room, targets in rooms.items():
        for name in [room] + targets:
            if not (root / name).exists():
                wrong.append(f"docs/design/architecture.md: '{name}' is no file and no folder")
        wrong += [f"docs/design/architecture.md: '{room}' names '{t}', which has no row"
                  for t in targets if t not in rooms]
    round_trip = None if wrong else circle(rooms)
    if round_trip:
        wrong.append("docs/design/architecture.md: a circle: " + " > ".join(round_trip))
    files = [p for tree in TREES for p in sorted((root / tree).rglob("*")) if p.suffix in (".hpp", ".cpp", ".h")]
    for file in files:
        path = file.relative_to(root).as_posix()
        room = room_of(path, rooms)
        if room is None:
            wrong.append(f"{path}: no row of docs/design/architecture.md is about it")
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            include = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if not include or FOREIGN.fullmatch(include.group(1)):
                continue
            name = include.group(1)
            beside = (Path(path).parent / name).as_posix()
            target = next((c for c in ("cmodel/" + name, name, beside) if (root / c).is_file()), None)
            if target is None:
                wrong.append(f"{path}:{number}: '{name}' is no file beside it, under cmodel or the repository's top")
                continue
            there = room_of(target, rooms)
            if not any(inside(target, allowed) for allowed in [room] + rooms[room]):
                wrong.append(f"{path}:{number}: {room} may not include {there} ({name})\n"
                             f"  Move the code, or hand the value in; the arrows are in docs/design/architecture.md.")
    return wrong, len(files), len(rooms)


def main():
    parser = rtl.Parser(description="which room may include which")
    parser.add_argument("--root", type=Path, default=ROOT)
    result = check(parser.parse_args().root)
    if result is None:
        return rtl.Exit.USAGE
    wrong, files, rooms = result
    for text in wrong:
        print(text)
    print(f"{files} files in {rooms} rooms: {'in order' if not wrong else f'{len(wrong)} wrong'}")
    return rtl.Exit.FAIL if wrong else rtl.Exit.PASS


if __name__ == "__main__":
    rtl.command("rooms.py", main)
