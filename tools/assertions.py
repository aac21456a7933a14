#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How many assertions RTL and model have, by folder: the macros of rtl/lib/mrc_assert.svh, and MRC_CHECK.

usage: assertions.py [--least N]   exit code 1 when those written by hand are fewer
"""
import argparse
import collections
import re
import sys
from pathlib import Path

import rtl

ROOT = Path(__file__).resolve().parent.parent
# One each, wherever the module or function is used; what an instance or a template multiplies is not counted.
PLACES = (
    ("rtl", "*.sv", re.compile(r"^\s*`MRC_(ASSERT|ASSERT_CLK|ASSERT_IF|ASSERT_CLK_IF|STABLE|NEVER_FULL|POPS_A_WORD|ONE_HOT0|ONE_HOT0_CLK)\(", re.M)),
    ("cmodel", "*.[ch]pp", re.compile(r"\bMRC_CHECK\(")),
)
DEFINED_IN = {"cmodel/util/check.hpp"}


def count(root):
    """{(room, by hand or generated): {folder: number}}."""
    found = collections.defaultdict(collections.Counter)
    for room, names, pattern in PLACES:
        for path in sorted((root / room).rglob(names)):
            name = path.relative_to(root)
            number = 0 if str(name) in DEFINED_IN else len(pattern.findall(path.read_text(encoding="utf-8")))
            if number:
                found[room, "generated" if "gen" in name.parts else "by hand"][str(name.parent)] += number
    return found


def main():
    parser = rtl.Parser(description=__doc__.splitlines()[0])
    parser.add_argument("--least", type=int, default=0, help="fail when fewer are written by hand")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    options = parser.parse_args()
    found = count(options.root)
    for (room, how), folders in sorted(found.items()):
        print(f"{room} {how}: {sum(folders.values())}")
        for folder, number in sorted(folders.items()):
            print(f"  {number:>4}  {folder}")
    hand = sum(sum(folders.values()) for (_, how), folders in found.items() if how == "by hand")
    print(f"written by hand: {hand}")
    if hand < options.least:
        print(f"assertions.py: {hand} assertions, {options.least} are asked for", file=sys.stderr)
        return rtl.Exit.FAIL
    return rtl.Exit.PASS


if __name__ == "__main__":
    rtl.command("assertions.py", main)
