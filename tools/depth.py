#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""mrc depth: the longest path of every block, in two-input gates, from a gate-level mapping."""
import argparse
import hashlib
import inspect
import json
import re
import sys
import time
from pathlib import Path

import netlist
import rtl

TARGET = 40
SHOWN_ENDS = 10
CACHE = rtl.ROOT / "build/depth"
GATES = "AND,NAND,OR,NOR,XOR,XNOR,MUX"
# Balance by delay twice, then map. ABC's own script with "dch" takes five times as long for results
# between 15 % better and 20 % worse.
ABC = "strash;balance;if,-g,-K,6,-C,8;strash;balance;if,-g,-K,6,-C,8;strash;balance;map"

# Injected bugs are off in a product, what only benches look at is not there. Enables of registers
# become multiplexers. ABC splits a module by clock, enable and reset of its registers and cannot
# look across: they are hidden from it.
HIDDEN = {f"mrc_ff{index}": name for index, name in enumerate(netlist.GATE_FLIPFLOPS)}
MAPPING = "; ".join([
    "proc", "{flatten}",
    "delete -input w:bug_i", "delete -output w:obs_*_o", "setundef -zero -undriven", "opt_clean",
    "memory_collect", "opt_expr", "opt -nodffe -nosdff -full", "wreduce", "peepopt", "opt_clean",
    "booth", "alumacc", "opt -nodffe -nosdff", "memory_dff", "dffunmap", "opt_clean",
    "techmap", "opt -nodffe -nosdff", "simplemap", "opt -nodffe -nosdff -fast",
    *[f"chtype -set {hidden} t:{name}" for hidden, name in HIDDEN.items()],
    "select -assert-none t:$_*DFF* t:$_*LATCH*",
    f"abc -script +{ABC} -g {GATES}",
    *[f"chtype -set {name} t:{hidden}" for hidden, name in HIDDEN.items()],
    "opt_clean", "tee -q -o ltp.txt ltp -noff t:$_*_ t:$mem_v2 w:*"])


class Design:
    """The blocks of one top and the sources each is made of."""

    def __init__(self, top, files, nic, options=""):
        self.top, self.files, self.options = top, files, options
        modules, _ = netlist.read(files, top, "delete */*", options)
        self.instances = {}  # path below top -> (module, its name in the netlist)
        for name in modules:
            module, _, path = name.partition("$")
            self.instances[path] = (module, name)
        self.blocks = {}     # name of the block -> (path, children are boxes)
        if not nic:
            self.blocks[top] = ("", False)
            return
        root = f"{top}.u_nic"
        if root not in self.instances:  # the parameterised NIC itself
            root = top
            self.instances[root] = self.instances.pop("")
        for path, (module, _) in sorted(self.instances.items()):
            if path.startswith(root + ".") and self.parent(path) == root:
                self.blocks.setdefault(module, (path, False))
        self.blocks[self.instances[root][0]] = (root, True)

    def parent(self, path):
        while path:
            path = path.rpartition(".")[0]
            if path in self.instances:
                return path
        return None

    def sources(self, block):
        """The files whose words decide on the block: its modules, the packages, and what sets the parameters."""
        path, boxes = self.blocks[block]
        inside = {module for other, (module, _) in self.instances.items()
                  if other == path or (other.startswith(path + ".") and not boxes)}
        return [name for name in self.files if Path(name).stem in inside or Path(name).stem.endswith("_pkg")
                or Path(name).stem in ("mrc_nic", self.top)] or self.files

    def key(self, block):
        words = hashlib.sha256()
        for name in [*self.sources(block), "tools/yosys/package-lock.json"]:
            words.update(f"{name}\n".encode() + (rtl.ROOT / name).read_bytes())
        for part in (netlist.READ, self.options, MAPPING, inspect.getsource(netlist.Depths), inspect.getsource(Design)):
            words.update(part.encode())
        return f"{block}-{self.top}-{words.hexdigest()[:24]}"

    def measure(self, block):
        path, boxes = self.blocks[block]
        name = self.instances[path][1] if path in self.instances else block
        focus = f"hierarchy -top {name}; " + (f"blackbox * {name} %d; " if boxes else "")
        mapping = MAPPING.format(flatten="" if boxes else "flatten")
        modules, written = netlist.read(self.files, self.top, focus + mapping, self.options)
        module = modules[name]
        start = time.monotonic()
        cut = netlist.Depths(module)
        through = netlist.Depths(module, through_tables=True)
        ltp = re.search(r"length=(\d+)", written["ltp.txt"])
        ends = [{"gates": gates, "end": end, "bit": index, "kind": kind, "start": cut.path(bit)[0][1],
                 "path": [list(step) for step in cut.path(bit)]}
                for gates, end, index, kind, bit in cut.worst()[:SHOWN_ENDS]]
        deepest = through.worst()[:1]
        from_inputs, to_outputs, in_to_out = cut.across()
        return {
            "block": block,
            "gates": ends[0]["gates"] if ends else 0,
            "ltp": int(ltp[1]) if ltp else 0,
            "cells": sum(cell["type"] in netlist.GATE_TYPES for cell in module["cells"].values()),
            "registers": sum(cell["type"] in netlist.GATE_FLIPFLOPS for cell in module["cells"].values()),
            "from_inputs": from_inputs,
            "to_outputs": to_outputs,
            "in_to_out": in_to_out,
            "through_tables": deepest[0][0] if deepest else 0,
            "through_path": [list(step) for step in through.path(deepest[0][4])] if deepest else [],
            "ends": ends,
        }


def ends_of(row):
    """Where the longest path starts and ends, for people."""
    worst = row["ends"][0]
    return worst["start"], f"{worst['end']}[{worst['bit']}] ({worst['kind']})"


def report(rows, target):
    width = max(len(row["block"]) for row in rows)
    print(f"{'block':<{width}}  gates  tables   in  out  {'cells':>6}  longest path: from -> to")
    for row in sorted(rows, key=lambda row: (-row["gates"], row["block"])):
        start, end = ends_of(row) if row["ends"] else ("-", "-")
        mark = "*" if row["gates"] > target else " "
        numbers = (f"{row['gates']:>5}{mark} {row['through_tables']:>6} {row['from_inputs']:>4} {row['to_outputs']:>4}"
                   f"  {row['cells']:>6}")
        print(f"{row['block']:<{width}}  {numbers}  {start} -> {end}")
    print(f"""
* more than {target} two-input gates. tables: the longest path where a table that is read in the same cycle
is no start: its data come ceil(log2(rows)) multiplexers after its address. in: from an input, out: to an
output; a path through several blocks has the out of one and the in of the next.""")


def details(row):
    print(f"\nLongest paths of {row['block']}, one per register, output or table pin:")
    for end in row["ends"]:
        print(f"  {end['gates']:>4}  {end['start']} -> {end['end']}[{end['bit']}] ({end['kind']})")
    print("The longest, by the nets that still have a name (gates before it, net):")
    for depth, name in row["ends"][0]["path"] if row["ends"] else []:
        print(f"  {depth:>4}  {name}")
    if row["through_tables"] > row["gates"]:
        print("The longest through tables that are read in the same cycle:")
        for depth, name in row["through_path"]:
            print(f"  {depth:>4}  {name}")


class Progress:
    """A line per block on stderr: what is running, how long the rest may take."""

    def __init__(self, design, blocks):
        self.left = {block: sum(len((rtl.ROOT / name).read_text().splitlines()) for name in design.sources(block))
                     for block in blocks}
        self.lines, self.seconds = 0, 0.0
        self.start = 0.0

    def begin(self, block):
        eta = ""
        if self.lines:
            eta = f", about {self.seconds / self.lines * sum(self.left.values()):.0f} s left"
        print(f"mrc depth: {block} ({len(self.left)} to go{eta})", file=sys.stderr, flush=True)
        self.start = time.monotonic()

    def end(self, block):
        taken = time.monotonic() - self.start
        self.seconds += taken
        self.lines += self.left.pop(block)
        return taken


def main():
    parser = rtl.Parser(prog="mrc depth", description=__doc__,
                        examples=("mrc depth --preset tiny                  every block",
                                  "mrc depth --block mrc_tx_path            the worst paths of one"))
    parser.add_argument("--preset", default="asic800", help="asic800 (default), fpga100 or tiny")
    parser.add_argument("--block", action="append", help="only this block (mrc_tx_path, ...); shows its worst paths")
    parser.add_argument("--json", metavar="FILE", help="write the numbers and paths to FILE")
    parser.add_argument("--check", type=int, metavar="N", help="exit 1 if a block has a path of more than N gates")
    parser.add_argument("--top", help="measure this module of the given files instead of the NIC")
    parser.add_argument("files", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.check is not None and options.check < 1:
        parser.error(f"--check {options.check} is not a number of gates")
    rtl.check_json(options.json)

    files = options.files if options.top else rtl.sources(options.preset)
    design = Design(options.top or rtl.top_module(options.preset), files, nic=not options.top)
    for block in options.block or []:
        if block not in design.blocks:
            rtl.fail(f"unknown block '{block}'.", f"Choose one of {', '.join(sorted(design.blocks))}.")
    blocks = options.block or list(design.blocks)
    CACHE.mkdir(parents=True, exist_ok=True)
    cached = {block: CACHE / f"{design.key(block)}.json" for block in blocks}
    progress = Progress(design, [block for block in blocks if not cached[block].exists()])
    rows = []
    for block in blocks:
        if not cached[block].exists():
            progress.begin(block)
            row = design.measure(block)
            row["seconds"] = round(progress.end(block), 1)
            cached[block].write_text(json.dumps(row))
        rows.append(json.loads(cached[block].read_text()))
        if rows[-1]["ltp"] != rows[-1]["gates"]:
            print(f"mrc depth: {block}: Yosys' ltp says {rows[-1]['ltp']} gates, we count {rows[-1]['gates']}",
                  file=sys.stderr)
            return rtl.Exit.FAIL

    target = options.check or TARGET
    report(rows, target)
    for row in rows if options.block else []:
        details(row)
    if options.json:
        preset = None if options.top else options.preset
        rtl.write_json(options.json, {"preset": preset, "target": target, "rows": rows})
    return rtl.Exit.FAIL if options.check and any(row["gates"] > options.check for row in rows) else rtl.Exit.PASS


if __name__ == "__main__":
    rtl.command("mrc depth", main)
