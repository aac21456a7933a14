#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""mrc fpga report: what every block costs on UltraScale+ and how many weighted levels its longest path has.

Yosys reads the RTL with slang and maps each block alone (synth_xilinx -family xcup). docs/design/fpga.md says what the
figures mean."""
import argparse
import collections
import concurrent.futures
import gzip
import hashlib
import inspect
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import yaml

import netlist
import rtl

CACHE = rtl.ROOT / "build/fpga"
CONFIGURATIONS = "tools/fpga.yaml"
PRESETS_FILE = "cmodel/spec/presets.yaml"
TOP = "mrc_nic"
TOLERANCE = 0.05
COLUMNS = ("lut", "lutram", "ff", "bram", "uram", "dsp")
# Of an Alveo U55C (XCU55C, AMD's data sheet DS963); lutram are those of its LUTs that can be memory.
DEVICE = {"lut": 1_303_680, "lutram": 600_960, "ff": 2_607_360, "bram": 2016, "uram": 960, "dsp": 9024}

# LUTs that a memory cell occupies.
LUTRAM = {"RAM32M16": 8, "RAM32M": 4, "RAM64M": 4, "RAM64M8": 8, "RAM32X1S": 1, "RAM32X1D": 2, "RAM64X1S": 1,
          "RAM64X1D": 2, "RAM128X1S": 2, "RAM128X1D": 4, "RAM256X1S": 4, "RAM256X1D": 8, "RAM512X1S": 8, "SRL16E": 1,
          "SRLC32E": 1, "SRLC16E": 1}
BRAM = {"RAMB36E2": 1, "RAMB18E2": 0.5}
FLIPFLOPS = ("FDRE", "FDSE", "FDCE", "FDPE", "LDCE", "LDPE")

# Weights of a path, in LUTs: what each step of it takes.
LUT_LEVEL, MUX_LEVEL, CARRY_START, CARRY_BIT, LUTRAM_READ, BRAM_OUT, BRAM_OUT_REGISTERED, DSP_LEVEL = (
    1.0, 0.3, 1.0, 0.1 / 8, 1.5, 3.0, 1.0, 4.0)

RUNNING = set()  # each Yosys that runs: who ends a report ends them
ENDING = threading.Event()  # all of them are being ended

# Injected bugs are off in a product, what only benches look at is not there.
MAPPING = "; ".join([
    "{flatten}", "delete -input w:bug_i", "delete -output w:obs_*_o", "setundef -zero -undriven", "opt_clean",
    "synth_xilinx -family xcup -top {top} -noiopad -noclkbuf"])


class Levels:
    """The longest path of one mapped module, in weighted levels: from registers, inputs and memories to any of them."""

    def __init__(self, module):
        self.names = netlist.names(module)
        self.before = {}  # bit -> [(bit it depends on, weight)]
        self.start = {}   # bit -> weight at which it starts
        self.origin = {}  # bit -> name of the cell it comes from, where it has none itself
        self.ends = []    # (bit, name)
        self.loads = collections.Counter()
        for name, port in module["ports"].items():
            for bit in port["bits"]:
                if port["direction"] == "output":
                    self.ends.append((bit, name))
        for name, cell in module["cells"].items():
            self.add(name, cell)
        self.depth, self.chosen = {}, {}
        for bit, _ in self.ends:
            self.visit(bit)

    def add(self, name, cell):
        kind, pins = cell["type"], cell["connections"]
        inputs = [(pin, bit) for pin, bits in pins.items() if cell["port_directions"].get(pin) == "input"
                  for bit in bits if isinstance(bit, int)]
        outputs = [(pin, bits) for pin, bits in pins.items() if cell["port_directions"].get(pin) == "output"]
        for _, bit in inputs:
            self.loads[bit] += 1
        if kind in ("CARRY4", "CARRY8"):
            self.add_carry(pins)
            return
        if kind.startswith("LUT") or kind == "INV":
            weight, through = LUT_LEVEL if kind != "INV" else 0.0, [bit for _, bit in inputs]
        elif kind.startswith("MUXF"):
            weight, through = MUX_LEVEL, [bit for _, bit in inputs]
        elif kind in LUTRAM:
            weight, through = self.add_lutram(name, kind, inputs)
        else:
            self.add_state(name, cell, inputs, outputs)
            return
        for _, bits in outputs:
            for bit in bits:
                self.before[bit] = [(other, weight) for other in through]

    def add_carry(self, pins):
        """Whatever enters a chain pays for the way into it, the carry pays by the bit."""
        carry = pins["CI"][:1] + pins.get("CI_TOP", [])
        if "CYINIT" in pins:
            carry += pins["CYINIT"]
        for index, (out, top) in enumerate(zip(pins["O"], pins["CO"])):
            below = [(bit, CARRY_BIT * (index + 1)) for bit in carry]
            below += [(bit, CARRY_START + CARRY_BIT * (index - at)) for pin in ("S", "DI")
                      for at, bit in enumerate(pins[pin][:index + 1])]
            self.before[out] = self.before[top] = [(bit, weight) for bit, weight in below if isinstance(bit, int)]

    def add_lutram(self, name, kind, inputs):
        """A read in the same cycle: from its address to the data. All that is written ends there."""
        if kind.startswith("SRL"):
            self.ends += [(bit, self.label(name, kind)) for pin, bit in inputs if pin in ("D", "CE")]
            return LUTRAM_READ, [bit for pin, bit in inputs if pin.startswith("A")]
        write = [bit for pin, bit in inputs if pin.startswith("DI") or pin in ("D", "WE", "ADDRH", "ADDRD") or
                 (pin.startswith("A") and not pin.startswith("ADDR") and "DPRA0" in dict(inputs))]
        self.ends += [(bit, self.label(name, kind)) for bit in write]
        address = [bit for pin, bit in inputs if pin.startswith(("ADDR", "DPRA")) and pin not in ("ADDRH", "ADDRD")]
        return LUTRAM_READ, address

    def add_state(self, name, cell, inputs, outputs):
        kind = cell["type"]
        weight = 0.0
        if kind in BRAM or kind.startswith("URAM"):
            registered = any(netlist_number(cell["parameters"].get(pin, "0")) for pin in ("DOA_REG", "DOB_REG"))
            weight = BRAM_OUT_REGISTERED if registered else BRAM_OUT
        elif kind.startswith("DSP"):
            weight = DSP_LEVEL
        label = self.label(name, kind)
        for pin, bits in outputs:
            for bit in bits:
                self.start[bit] = weight
                self.origin[bit] = label
                if kind.startswith("FD"):
                    label = self.names.get(bit) or label
        clocks = ("C", "CLK", "CLKARDCLK", "CLKBWRCLK", "CLR", "PRE", "G")
        self.ends += [(bit, label) for pin, bit in inputs if pin not in clocks]

    @staticmethod
    def label(name, kind):
        """The cell's name; what Yosys made up says nothing."""
        return f"a nameless {kind}" if name.startswith("$") else name

    def visit(self, bit):
        stack = [bit]
        while stack:
            bit = stack[-1]
            if bit in self.depth:
                stack.pop()
                continue
            above = self.before.get(bit)
            if above is None:
                self.depth[bit], self.chosen[bit] = self.start.get(bit, 0.0), None
                stack.pop()
                continue
            missing = [other for other, _ in above if other not in self.depth]
            if missing:
                if len(stack) > len(self.before) + 1:
                    raise ValueError(f"combinational loop through {self.names.get(bit)}")
                stack += missing
                continue
            self.depth[bit], self.chosen[bit] = max(
                ((self.depth[other] + weight, other) for other, weight in above), key=lambda found: found[0],
                default=(0.0, None))
            stack.pop()

    def worst(self):
        """(levels, where it ends, where it starts, readers of the start)."""
        bit, end = max(self.ends, key=lambda found: self.depth.get(found[0], 0.0), default=(None, "-"))
        if bit is None:
            return 0.0, "-", "-", 0
        levels = self.depth[bit]
        while self.chosen[bit] is not None:
            bit = self.chosen[bit]
        return levels, end, self.names.get(bit) or self.origin.get(bit, str(bit)), self.loads[bit]


def netlist_number(text):
    return int(text, 2) if isinstance(text, str) and set(text) <= {"0", "1"} else 0


def counts(module):
    """Cells of one mapped module by the columns of the report."""
    found = dict.fromkeys(COLUMNS, 0)
    for cell in module["cells"].values():
        kind = cell["type"]
        if re.fullmatch(r"LUT[1-6]|INV", kind):
            found["lut"] += 1
        elif kind in LUTRAM:
            found["lutram"] += LUTRAM[kind]
        elif kind in BRAM:
            found["bram"] += BRAM[kind]
        elif kind.startswith("URAM"):
            found["uram"] += 1
        elif kind.startswith("DSP"):
            found["dsp"] += 1
        elif kind in FLIPFLOPS:
            found["ff"] += 1
    return found


def configurations():
    """{name: {parameter: value}}: the presets and those of tools/fpga.yaml, which name a preset and what differs."""
    declared = yaml.safe_load((rtl.ROOT / PRESETS_FILE).read_text())["parameters"]
    table = yaml.safe_load((rtl.ROOT / CONFIGURATIONS).read_text())["configurations"]
    result = {}
    for name, more in table.items():
        more = dict(more or {})
        values = {entry["name"]: entry[more.get("preset", name)] for entry in declared}
        more.pop("preset", None)
        result[name] = {**values, **more}
    return result


def short(name, values):
    return f"{name} ({values['NumPlanes']} x {values['NumQps']} x {values['EvsPerQp']} x {values['MaxMpr']})"


def run_yosys(script, files, out):
    command = rtl.yosys_command(files, script, out, quiet=True)
    with subprocess.Popen(command, cwd=rtl.ROOT, text=True, errors="replace", stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as process:
        RUNNING.add(process)
        if ENDING.is_set():  # it was started while all others were being ended
            process.kill()
        try:
            log, _ = process.communicate()
        except BaseException:
            process.kill()
            raise
        finally:
            RUNNING.discard(process)
    return process.returncode, log


MODULE = re.compile(r"^module \\(\S+)$", re.M)


def split(text):
    """{module: its text with the attributes above it} of an RTLIL file."""
    found = {}
    starts = [match.start() for match in MODULE.finditer(text)]
    for at, start in enumerate(starts):
        begin = text.rfind("\nend\n", 0, start)
        begin = begin + 5 if begin >= 0 else start
        end = text.find("\nend\n", start) + 5
        found[MODULE.match(text, start)[1]] = text[begin:end]
    return found


def normalise(text, prefix):
    """The same text for the same block, wherever it stands in which NIC: numbers that Yosys made up are counted anew."""
    text = text.replace(prefix, "^")
    numbers = {}
    return re.sub(r"\$(\d+)(?!\d)", lambda match: "$" + numbers.setdefault(match[1], str(len(numbers))), text)


class Elaborated:
    """One configuration, read by slang: which blocks it has, how often, and each as RTLIL."""

    def __init__(self, name, values):
        self.name, self.values = name, values
        files = rtl.rtl_files()
        words = hashlib.sha256(json.dumps([values, inspect.getsource(Elaborated), inspect.getsource(normalise)]).encode())
        for file in [*files, "tools/yosys/package-lock.json"]:
            words.update(f"{file}\n".encode() + (rtl.ROOT / file).read_bytes())
        listed = CACHE / f"elaborated-{words.hexdigest()[:24]}.json"
        if not listed.exists():
            write_whole(listed, json.dumps(self.read(files)).encode())
        self.blocks = json.loads(listed.read_text())  # [{block, instances, key, top}]

    def read(self, files):
        options = " ".join(f"-G {name}={value}" for name, value in self.values.items())
        steps = netlist.READ.format(options=options, top=TOP, files=" ".join(files))
        script = (f"{steps}; hierarchy -top {TOP}; setattr -unset src *; setattr -unset src */*; write_rtlil all.il;"
                  f" blackbox * {TOP} %d; write_rtlil glue.il")
        with tempfile.TemporaryDirectory() as scratch:
            code, log = run_yosys(script, files, scratch)
            if code:
                rtl.fail(f"Yosys could not read configuration {self.name}: {netlist.last_error(log)}.",
                         f"Mend its parameters in {CONFIGURATIONS}.")
            modules = split((Path(scratch) / "all.il").read_text())
            glue = (Path(scratch) / "glue.il").read_text()
        paths = {name.partition("$")[2]: name for name in modules}

        def parent(path):
            while path and (path := path.rpartition(".")[0]):
                if path in paths or path == TOP:
                    return path
            return None

        blocks = {}
        for path, name in sorted(paths.items()):
            if path and parent(path) == TOP:
                inside = [modules[paths[other]] for other in sorted(paths) if other == path or other.startswith(path + ".")]
                text = normalise("".join(inside), path)
                block = name.partition("$")[0]
                if block not in blocks:  # lanes differ in the number of their plane alone: one stands for all
                    blocks[block] = {"key": self.store(block, text), "top": normalise(name, path), "instances": 0}
                blocks[block]["instances"] += 1
        blocks[TOP] = {"key": self.store(TOP, normalise(glue, TOP + ".")), "top": TOP, "instances": 1}
        return [{"block": block, **row} for block, row in blocks.items()]

    @staticmethod
    def store(block, text):
        key = f"{block}-{hashlib.sha256(text.encode()).hexdigest()[:24]}"
        path = CACHE / f"{key}.il"
        if not path.exists():
            write_whole(path, text.encode())
        return key


def mapped_file(entry):
    """Where the netlist of a block stands: by what it is made of and how it is mapped."""
    parts = [entry["key"], MAPPING, (rtl.ROOT / "tools/yosys/package-lock.json").read_text()]
    return CACHE / f"{entry['block']}-mapped-{hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]}.json.gz"


def write_whole(path, data):
    """A file that is there is whole: an interrupted run leaves none that is cut."""
    part = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}")
    part.write_bytes(data)
    part.rename(path)


def map_block(entry):
    """Maps one block and keeps the netlist; returns what went wrong, or None."""
    source = str((CACHE / f"{entry['key']}.il").relative_to(rtl.ROOT))
    steps = MAPPING.format(top=entry["top"], flatten="" if entry["block"] == TOP else "flatten")
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        code, log = run_yosys(f"read_rtlil {source}; hierarchy -top {entry['top']}; {steps}; write_json mapped.json",
                              [source], scratch)
        if code:
            return f"{entry['block']}: Yosys could not map it: {netlist.last_error(log)}"
        module = json.loads((Path(scratch) / "mapped.json").read_text())["modules"][entry["top"]]
    for item in [*module["cells"].values(), *module["netnames"].values()]:
        item.pop("attributes", None)
    module["seconds"] = round(time.monotonic() - start, 1)
    write_whole(mapped_file(entry), gzip.compress(json.dumps(module).encode(), 3))
    return None


def measure(entry):
    """The figures of one mapped block."""
    module = json.loads(gzip.decompress(mapped_file(entry).read_bytes()))
    levels, end, begin, loads = Levels(module).worst()
    return {**counts(module), "levels": round(levels, 1), "from": begin, "to": end, "fanout": loads,
            "seconds": module["seconds"]}


def rows_of(configuration):
    """The rows of one configuration, and their sum: an upper bound, for nothing is shared or removed across blocks."""
    rows = []
    for entry in configuration.blocks:
        if mapped_file(entry).exists():
            rows.append({"block": entry["block"], "configuration": configuration.name, "instances": entry["instances"],
                         **cached_measure(entry)})
    return rows


def cached_measure(entry):
    parts = json.dumps([mapped_file(entry).name, inspect.getsource(Levels), inspect.getsource(counts), repr(LUTRAM),
                        [LUT_LEVEL, MUX_LEVEL, CARRY_START, CARRY_BIT, LUTRAM_READ, BRAM_OUT, DSP_LEVEL]])
    path = CACHE / f"{entry['block']}-row-{hashlib.sha256(parts.encode()).hexdigest()[:24]}.json"
    if not path.exists():
        write_whole(path, json.dumps(measure(entry)).encode())
    return json.loads(path.read_text())


def total(rows):
    return {column: sum(row[column] * row["instances"] for row in rows) for column in COLUMNS}


def show(configuration, rows, complete):
    """One table: a row per block, the sum, the share of the device."""
    width = max(len(row["block"]) for row in rows)
    print(short(configuration.name, configuration.values) + ": planes x QPs x EVs x window")
    print(f"  {'block':<{width}}  {'times':>5} {'LUT':>7} {'LUTRAM':>7} {'FF':>7} {'BRAM':>6} {'URAM':>5} {'DSP':>4}"
          f" {'levels':>7}  longest path: from -> to")
    for row in sorted(rows, key=lambda row: (-row["lut"] * row["instances"], row["block"])):
        print(f"  {row['block']:<{width}}  {row['instances']:>5} {row['lut']:>7} {row['lutram']:>7} {row['ff']:>7}"
              f" {row['bram']:>6g} {row['uram']:>5} {row['dsp']:>4} {row['levels']:>7.1f}  {row['from']} -> {row['to']}")
    found = total(rows)
    all_luts = found["lut"] + found["lutram"]
    print(f"  {'at most' if complete else 'so far':<{width}}  {'':>5} {found['lut']:>7} {found['lutram']:>7}"
          f" {found['ff']:>7} {found['bram']:>6g} {found['uram']:>5} {found['dsp']:>4} {max(r['levels'] for r in rows):>7.1f}")
    print(f"  of a U55C: {100 * all_luts / DEVICE['lut']:.1f} % of the LUTs (logic and LUTRAM), "
          f"{100 * found['ff'] / DEVICE['ff']:.1f} % of the FFs, {100 * found['bram'] / DEVICE['bram']:.1f} % of the BRAMs\n")


def map_all(entries, workers):
    """Maps what was not mapped yet, several at a time; returns what went wrong. What is done stays."""
    done, start, bad = 0, time.monotonic(), []
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        pending = {pool.submit(map_block, entry): entry["block"] for entry in entries}
        try:
            for future in concurrent.futures.as_completed(pending):
                done += 1
                if problem := future.result():
                    bad.append(problem)
                left = (time.monotonic() - start) / done * (len(entries) - done)
                print(f"mrc fpga: {pending[future]} is mapped ({done} of {len(entries)}, about {left:.0f} s left)",
                      file=sys.stderr, flush=True)
        except BaseException:
            for future in pending:
                future.cancel()
            ENDING.set()
            for process in tuple(RUNNING):
                process.kill()
            raise
    return bad


def compare(rows, name):
    """What is more than 5 % away from a report that was written before."""
    try:
        before = {(row["configuration"], row["block"]): row for row in json.loads(Path(name).read_text())["rows"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        rtl.fail(f"cannot read {name}: {' '.join(str(error).split())}.", "Name a report written by --json.")
    bad = []
    for row in rows:
        old = before.get((row["configuration"], row["block"]))
        if old is None:
            bad.append(f"{row['configuration']}: {row['block']} is not in {name}")
            continue
        for column in (*COLUMNS, "levels"):
            slack = max(TOLERANCE * old[column], 2 if column != "levels" else 0.5)
            if abs(row[column] - old[column]) > slack:
                bad.append(f"{row['configuration']}: {row['block']} has {row[column]} {column}, {name} says {old[column]}")
    return bad


def arguments():
    parser = rtl.Parser(prog="mrc fpga", description=__doc__.splitlines()[0],
                        examples=("mrc fpga report --config tiny            every block of preset tiny",
                                  "mrc fpga report --cached                 what is mapped already"))
    parser.add_argument("what", choices=["report"], help="report: the table of blocks")
    parser.add_argument("--config", action="append", metavar="NAME", help="only this configuration (may be repeated)")
    parser.add_argument("--blocks", action="append", metavar="NAME", help="only this block (may be repeated)")
    parser.add_argument("--json", metavar="FILE", help="write everything to FILE")
    parser.add_argument("--check", metavar="FILE", help="exit 1 where a figure is more than 5 %% away from this report")
    parser.add_argument("--cached", action="store_true", help="show what is mapped already, map nothing")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="blocks at a time (all cores)")
    options = parser.parse_args()
    if options.jobs < 1:
        parser.error(f"--jobs {options.jobs} is not a number of blocks")
    rtl.check_json(options.json)
    return options


def main():
    options = arguments()
    known = configurations()
    for name in options.config or []:
        if name not in known:
            rtl.fail(f"unknown configuration '{name}'.", f"Choose one of {', '.join(known)}, or add it to {CONFIGURATIONS}.")
    signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGINT))
    CACHE.mkdir(parents=True, exist_ok=True)
    rows, bad = [], []
    try:
        chosen = [Elaborated(name, known[name]) for name in options.config or known]
        blocks = sorted({entry["block"] for configuration in chosen for entry in configuration.blocks})
        for name in options.blocks or []:
            if name not in blocks:
                rtl.fail(f"unknown block '{name}'.", f"Choose one of {', '.join(blocks)}.")
        for configuration in chosen:
            if options.blocks:
                configuration.blocks = [entry for entry in configuration.blocks if entry["block"] in options.blocks]
        missing = {mapped_file(entry): entry for configuration in chosen for entry in configuration.blocks
                   if not mapped_file(entry).exists()}
        if missing and not options.cached:
            bad += map_all(list(missing.values()), options.jobs)
        for configuration in chosen:
            found = rows_of(configuration)
            rows += found
            if found:
                show(configuration, found, len(found) == len(configuration.blocks) and not options.blocks)
    except KeyboardInterrupt:
        rtl.fail("interrupted; what is mapped stays.", "The same command goes on where this one stopped.")
    print("levels: weighted, of the longest path (docs/design/fpga.md).",
          "Sums are upper bounds: constants do not cross blocks.")
    if options.check:
        bad += compare(rows, options.check)
    print("\n".join(bad), file=sys.stderr, end="\n" if bad else "")
    if options.json:
        totals = [{"configuration": configuration.name, "parameters": configuration.values, **total(found),
                   "complete": len(found) == len(configuration.blocks) and not options.blocks,
                   "share_of_u55c": {key: total(found)[key] / DEVICE[key] for key in COLUMNS}}
                  for configuration in chosen for found in [rows_of(configuration)]]
        rtl.write_json(options.json, {"rows": rows, "totals": totals, "device": {"name": "Alveo U55C", **DEVICE}})
    return rtl.Exit.FAIL if bad else rtl.Exit.PASS


if __name__ == "__main__":
    rtl.command("mrc fpga", main)
