#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""mrc gates: netlists of gates in the places of the RTL's blocks, in lockstep with the model.

Yosys maps blocks of preset tiny, each alone, to gates of two inputs, multiplexers and flip-flops of one bit; tables stay
arrays. Verilator makes a device of them and of the RTL that is left. docs/design/gates.md says what that shows."""
import argparse
import collections
import concurrent.futures
import json
import os
import re
import sys
import tempfile
import time
from pathlib import Path

import blocks as swap
import fpga
import rtl

ENOUGH = 20_000  # cycles
# Injected bugs are off in a product. Words of more than a bit become gates; what is left is checked by name. "full" is
# what a synthesis does before it maps: it merges, shares and narrows words, and gives registers enables.
BEGIN = ["delete -input w:bug_i", "setundef -zero -undriven", "proc", "flatten", "opt_clean", "memory_collect", "opt_expr"]
WORDS = {"plain": ["opt_clean", "techmap", "opt_expr", "simplemap", "opt_expr", "opt_clean"],
         "full": ["opt -full", "wreduce", "peepopt", "opt_clean", "alumacc", "opt", "memory_collect", "techmap", "opt",
                  "simplemap", "opt -fast"]}
END = ["abc -g AND,NAND,OR,NOR,XOR,XNOR,MUX", "opt_clean", "delete t:$scopeinfo",
       "check -assert", "select -assert-none t:$_*LATCH*", "select -assert-none t:* t:$_*_ %d t:$mem_v2 %d",
       "write_json cells.json", "rename {top} {inner}", "write_verilog -noattr gates.v"]
MAPPINGS = {name: "; ".join([*BEGIN, *words, *END]) for name, words in WORDS.items()}


def mapped(block, how="plain"):
    """(Verilog, {kind of cell: number}) of a block's gates; kept by what it is made of."""
    kept = swap.CACHE / f"{block.name}-gates-{swap.key_of(block.key, MAPPINGS[how])}.json"
    if not kept.exists():
        start = time.monotonic()
        made = block.run(MAPPINGS[how].format(top=block.top, inner=f"{block.name}_gates"))
        cells = json.loads(made["cells.json"])["modules"][block.top]["cells"].values()
        counts = collections.Counter(cell["type"] for cell in cells)
        fpga.write_whole(kept, json.dumps({"verilog": made["gates.v"], "cells": counts,
                                           "seconds": round(time.monotonic() - start, 1)}).encode())
    return json.loads(kept.read_text())


def counts(cells):
    """Gates, flip-flops and tables of a netlist."""
    found = {"gates": 0, "flipflops": 0, "tables": 0}
    for kind, number in cells.items():
        found["tables" if kind == "$mem_v2" else "flipflops" if "DFF" in kind else "gates"] += number
    return found


def map_all(chosen, how, workers):
    """{block: netlist}; says how far it is."""
    made, start = {}, time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        pending = {pool.submit(mapped, block, how): block for block in sorted(chosen, key=lambda block: len(block.text))}
        try:
            for future in concurrent.futures.as_completed(pending):
                block = pending[future]
                made[block.name] = future.result()
                left = (time.monotonic() - start) / len(made) * (len(chosen) - len(made))
                print(f"mrc gates: {block.name} is mapped ({len(made)} of {len(chosen)}, about {left:.0f} s left)",
                      file=sys.stderr, flush=True)
        except BaseException:
            for future in pending:
                future.cancel()
            raise
    return made


def replaced(all_blocks, block, made):
    """What stands for the file of a block: its head around the netlist."""
    inner = f"{block.name}_gates"
    return block.shell(all_blocks.source(block.name), inner, unconnected=("bug_i",)) + made["verilog"]


def run(made, group, options, folder):
    """One device against the model; the row of each of its blocks."""
    code, said = swap.cosim(swap.program(), "L0", made, options.scenario, options.packets, options.seed, folder)
    cycles = said.get("cycles", 0)
    mismatches = said.get("mismatches")
    good = code == 0 and mismatches == 0 and cycles >= options.least
    note = "" if good else said.get("words", "").strip().split("\n")[0] if not said.get("cycles") else \
        f"exit code {code}, {cycles} cycles" if code or cycles < options.least else ""
    return [{"block": name, "cycles": cycles, "mismatches": mismatches, "with": sorted(set(group) - {name}),
             "result": "pass" if good else "fail", "note": note} for name in group]


def report(rows):
    width = max(len(row["block"]) for row in rows)
    print(f"{'block':<{width}} {'gates':>7} {'flip-flops':>10} {'tables':>6} {'cycles':>7} {'mismatches':>10}  result")
    for row in rows:
        mismatches = "-" if row["mismatches"] is None else row["mismatches"]
        print(f"{row['block']:<{width}} {row['gates']:>7} {row['flipflops']:>10} {row['tables']:>6} {row['cycles']:>7}"
              f" {mismatches:>10}  {row['result']}{': ' + row['note'] if row['note'] else ''}")


def arguments():
    parser = rtl.Parser(prog="mrc gates", description=__doc__.splitlines()[0],
                        examples=("mrc gates --list                         the blocks",
                                  "mrc gates --blocks rx_check              one block as gates, in lockstep with the model"))
    parser.add_argument("--blocks", action="append", metavar="NAME,...", help="only these blocks (all)")
    parser.add_argument("--apart", action="store_true", help="a device for each block, instead of one with all of them")
    parser.add_argument("--map", choices=WORDS, default="plain",
                        help="full: Yosys also merges, shares and narrows words before it maps them (plain)")
    parser.add_argument("--scenario", default="mixed", help="of mrc cosim (mixed)")
    parser.add_argument("--packets", type=int, default=300, help="of the run (300)")
    parser.add_argument("--seed", type=int, default=1, help="of the run (1)")
    parser.add_argument("--least", type=int, default=ENOUGH, metavar="CYCLES", help=f"fail if the run has fewer ({ENOUGH})")
    parser.add_argument("--json", metavar="FILE", help="write the rows to FILE")
    parser.add_argument("--list", action="store_true", help="name the blocks and stop")
    parser.add_argument("-j", type=int, default=os.cpu_count() or 1, metavar="N", help="steps at a time (all cores)")
    options = parser.parse_args()
    if options.j < 1:
        parser.error(f"-j {options.j} is not a number of steps")
    rtl.check_json(options.json)
    return options


def main():
    options = arguments()
    rows = []
    try:
        everything = swap.Blocks()
        chosen = everything.choose(options.blocks)
        if options.list:
            print("\n".join(block.name for block in chosen))
            return rtl.Exit.PASS
        made = map_all(chosen, options.map, options.j)
        groups = [[block] for block in chosen] if options.apart else [chosen]
        for group in groups:
            texts = {block.name: replaced(everything, block, made[block.name]) for block in group}
            print(f"mrc gates: Verilator and C++ make a device of {len(group)} netlists", file=sys.stderr, flush=True)
            library = swap.device(everything, texts, "-O0", options.j)
            with tempfile.TemporaryDirectory() as folder:
                rows += run(library, list(texts), options, folder)
    except KeyboardInterrupt:
        rtl.fail("interrupted; what is mapped stays.", "The same command goes on where this one stopped.")
    for row in rows:
        row.update(counts(made[row["block"]]["cells"]))
    report(rows)
    if options.json:
        rtl.write_json(options.json, {"preset": swap.PRESET, "map": options.map, "scenario": options.scenario, "packets": options.packets,
                                      "seed": options.seed, "rows": rows})
    return rtl.Exit.PASS if all(row["result"] == "pass" for row in rows) else rtl.Exit.FAIL


if __name__ == "__main__":
    rtl.command("mrc gates", main)
