#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: twins.py [--list] [ROOT]

A block is a path. Every producer of cmodel/spec/streams.yaml has, at the same ROOM,
  page    docs/design/blocks/ROOM/NAME.md
  class   cmodel/pipeline/ROOM/NAME.hpp
  module  rtl/ROOM/mrc_NAME.sv
  test    tests/pipeline/ROOM/NAME_test.cpp
and every file in the rooms of these four trees belongs to a block (its name begins with the block's), to the room lib,
or is in SHARED with the reason. Where the RTL stands decides which room it is. --list prints the blocks with their
rooms."""
import argparse
import re
from pathlib import Path

import rtl
import yaml

HERE = Path(__file__).resolve()
STREAMS = "cmodel/spec/streams.yaml"
NO_BLOCKS = {"host"}  # producers outside the NIC
WATCHING = ("fence", "rx_share")  # blocks that give no stream
FREE_ROOMS = {"lib", "gen", "lint", "timing"}  # of these trees: not of one block

# {kind: (tree, prefix, what follows the name, what the file must hold)}
KINDS = {
    "module": ("rtl", "mrc_", ".sv", r"^module mrc_{name}\b"),
    "class": ("cmodel/pipeline", "", ".hpp", r"^class {camel}\b"),
    "page": ("docs/design/blocks", "", ".md", r"^# .*\b{name}\b"),
    "test": ("tests/pipeline", "", "_test.cpp", r"^TEST_CASE\("),
}

# {path: whose it is}
SHARED = {
    "rtl/cc/mrc_cc_div.sv": "division of cc_nscc",
    "rtl/cc/mrc_cc_mul.sv": "multiplication of cc_nscc",
    "rtl/ctl/mrc_probe_pkg.sv": "probe packets of tx_probe, ack_gen and endpoint",
    "tests/pipeline/tx/tx_chain_test.cpp": "tx_segment to tx_lane together",
    "tests/pipeline/tx/tx_flow_test.cpp": "tx_segment to tx_lane together, with answers",
    "tests/pipeline/tx/tx_top.hpp": "the bench of both",
}


def blocks(root):
    """The producers of the streams, in their order."""
    streams = yaml.safe_load((root / STREAMS).read_text(encoding="utf-8"))["streams"]
    names = [entry["name"].split(".")[0] for entries in streams.values() for entry in entries]
    names += [name for name in WATCHING if room_of(root, name) is not None]
    return [name for name in dict.fromkeys(names) if name not in NO_BLOCKS]


def room_of(root, name):
    """Where the RTL of a block stands, below rtl; None: nowhere."""
    found = sorted((root / "rtl").rglob(f"mrc_{name}.sv"))
    return found[0].parent.relative_to(root / "rtl") if found else None


def check_block(root, name, room):
    """Sentences about a block's four files."""
    camel = "".join(word.capitalize() for word in name.split("_"))
    for kind, (tree, prefix, ending, holds) in KINDS.items():
        path = f"{tree}/{room / (prefix + name + ending)}"
        if not (root / path).exists():
            others = [str(other.relative_to(root)) for other in (root / tree).rglob(prefix + name + ending)]
            yield f"{name} has no {kind} {path}" + (f"; it is at {others[0]}" if others else "")
            continue
        pattern = holds.format(name=re.escape(name), camel=camel)
        if not re.search(pattern, (root / path).read_text(encoding="utf-8"), re.MULTILINE):
            yield f"{path}: there is no line like {pattern}"


def check_rooms(root, rooms, shared):
    """Sentences about files in the rooms that no block has."""
    for tree, prefix, *_ in KINDS.values():
        for path in sorted((root / tree).rglob("*")):
            inside = path.relative_to(root / tree)
            if not path.is_file() or len(inside.parts) == 1 or inside.parts[0] in FREE_ROOMS:
                continue
            name = str(path.relative_to(root))
            stem = path.name.removeprefix(prefix).split(".")[0]
            owned = any(room == inside.parent and (stem == block or stem.startswith(block + "_"))
                        for block, room in rooms.items())
            if not owned and name not in shared:
                yield f"{name} belongs to no block at {inside.parent}: rename it, or name its reason in SHARED"


def main():
    parser = rtl.Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("root", nargs="?", type=Path)
    options = parser.parse_args()
    root = (options.root or HERE.parent.parent).resolve()
    shared = {} if options.root else SHARED

    names, complaints, rooms = blocks(root), [], {}
    for name in names:
        room = room_of(root, name)
        if room is None:
            complaints.append(f"{name} has no module mrc_{name}.sv below rtl")
            continue
        rooms[name] = room
        complaints += check_block(root, name, room)
    complaints += check_rooms(root, rooms, shared)
    complaints += [f"{path} of SHARED is not there" for path in shared if not (root / path).exists()]
    if options.list:
        for name, room in rooms.items():
            print(f"{name:<12} {room}")
    for complaint in complaints:
        print(complaint)
    print(f"{len(names)} blocks, {len(complaints)} complaints")
    return rtl.Exit.FAIL if complaints else rtl.Exit.PASS


if __name__ == "__main__":
    rtl.command("twins.py", main)
