# SPDX-License-Identifier: Apache-2.0
"""Netlists of the RTL as Yosys sees it: read as JSON, names of bits, the longest path in gates."""
import atexit
import hashlib
import inspect
import json
import re
import tempfile
from pathlib import Path

import rtl

READ = rtl.READ_SLANG + " --keep-hierarchy --ignore-assertions {options} --top {top} {files}"

# What ends a path: state. Everything else that has an output is a gate.
FLIPFLOPS = ("$dff", "$adff", "$aldff", "$dffe", "$adffe", "$aldffe", "$sdff", "$sdffe", "$sdffce", "$dffsr", "$dffsre",
             "$dlatch", "$adlatch")
GATE_FLIPFLOPS = ("$_DFF_P_", "$_DFF_PN0_", "$_DFF_PN1_")
GATE_TYPES = ("$_NOT_", "$_AND_", "$_NAND_", "$_OR_", "$_NOR_", "$_XOR_", "$_XNOR_", "$_MUX_")
MEMORY = "$mem_v2"
CLOCKS = ("RD_CLK", "WR_CLK")
RESULT = "netlist.json"


YOSYS = rtl.Yosys()
atexit.register(YOSYS.close)


def read(files, top, script, options="", selected=False):
    """Elaborates top, runs script and returns (modules, {file: text} of what the script wrote).

    Hierarchy is kept: a module of the result is called <module>$<path of the instance>.
    """
    with tempfile.TemporaryDirectory() as scratch:
        steps = READ.format(options=options, top=top, files=" ".join(files))
        write = f"write_json {'-selected ' if selected else ''}{RESULT}"
        code, log = YOSYS.run(rtl.ROOT, files, f"{steps}; {script}; {write}", scratch)
        if code:
            rtl.fail(f"Yosys could not read {top}: {last_error(log)}.", "'mrc lint' says more about the RTL.")
        written = {path.name: path.read_text() for path in Path(scratch).iterdir() if path.is_file()}
        return json.loads(written.pop(RESULT))["modules"], written


def state(files, top, options=""):
    """Every memory and register: (module, path of its instance below top, name, rows, width); rows 0: a register."""
    kinds = " ".join(f"t:{kind}" for kind in (MEMORY, *FLIPFLOPS))
    modules, _ = read(files, top, f"memory_collect; opt_clean; select {kinds}", options, selected=True)
    for instance, content in modules.items():
        module, _, path = instance.partition("$")
        path = path.partition(".")[2]
        for name, cell in content["cells"].items():
            values = cell["parameters"]
            if cell["type"] == MEMORY:
                yield module, path, values["MEMID"].lstrip("\\"), number(values["SIZE"]), number(values["WIDTH"])
            else:
                yield module, path, re.sub(r"^\$driver\$", "", name), 0, number(values["WIDTH"])


def cached(path, files, more, parts, make):
    """make()'s value, {tuple: value}, from the last run with the same sources where there was one. path: how the names
    of its files begin; more: what it depends on beside files; parts: functions, likewise."""
    words = hashlib.sha256(repr(more).encode())
    for name in [*files, "tools/yosys/package-lock.json"]:
        words.update(f"{name}\n".encode() + (rtl.ROOT / name).read_bytes())
    for part in (read, state, *parts):
        words.update(inspect.getsource(part).encode())
    path.parent.mkdir(parents=True, exist_ok=True)
    path = path.with_name(f"{path.name}-{words.hexdigest()[:24]}.json")
    if not path.exists():
        path.write_text(json.dumps([[list(key), value] for key, value in make().items()]))
    return {tuple(key): value for key, value in json.loads(path.read_text())}


def last_error(log):
    """The last line with an error; else the last line."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or ["no message"])[-1].rstrip(".")


def number(text):
    """A parameter of a cell: Yosys writes bits."""
    return int(text, 2)


def names(module):
    """{bit: "net[index]"}: the register's name, else the shortest that somebody gave; None where Yosys made it up."""
    found = {}
    for name, net in module["netnames"].items():
        hidden = net["hide_name"]
        for index, bit in enumerate(net["bits"]):
            rank = (hidden, name.startswith("obs_"), not name.endswith("_q"), len(name), name)
            if isinstance(bit, int) and (bit not in found or rank < found[bit][0]):
                found[bit] = (rank, f"{name}[{index}]" if len(net["bits"]) > 1 else name)
    return {bit: (None if rank[0] else name) for bit, (rank, name) in found.items()}


class Depths:
    """Longest paths of one flat gate-level module, counted in gates.

    A path starts at an input, a register or the data of a table and ends at an output, a register or
    any pin of a table. With through_tables, a table that is read in the same cycle is no start: its
    data come ceil(log2(rows)) multiplexers after its address.
    """

    def __init__(self, module, through_tables=False):
        self.module = module
        self.drivers = {}  # bit -> (bits it depends on, gates)
        self.starts = {}   # bit -> name
        self.ends = []     # (bit, name of the register, table pin or output, kind)
        self.names = names(module)
        for name, port in module["ports"].items():
            for index, bit in enumerate(port["bits"]):
                if port["direction"] == "input":
                    self.starts[bit] = f"{name}[{index}]" if len(port["bits"]) > 1 else name
                else:
                    self.ends.append((bit, name, index, "output"))
        for name, cell in module["cells"].items():
            self.add(name, cell, through_tables)
        self.depth, self.before = {}, {}
        for bit, *_ in self.ends:
            self.visit(bit)
        self.from_input = {}  # the same from inputs alone; bits in the order in which they were visited
        inputs = {bit for port in module["ports"].values() if port["direction"] == "input" for bit in port["bits"]}
        for bit in self.depth:
            above, gates = self.drivers.get(bit, ((), 0))
            reached = [self.from_input[other] + gates for other in above if other in self.from_input]
            if bit in inputs or reached:
                self.from_input[bit] = max(reached, default=0)

    def add(self, name, cell, through_tables):
        pins = cell["connections"]
        if cell["type"] in GATE_FLIPFLOPS:
            q = pins["Q"][0]
            label = self.names.get(q) or name
            self.starts[q] = label
            base, _, index = label[:-1].rpartition("[") if label.endswith("]") else (label, "", "0")
            self.ends.append((pins["D"][0], base, int(index), "register"))
        elif cell["type"] == MEMORY:
            self.add_memory(name, cell, through_tables)
        elif any(cell["port_directions"].get(pin) == "output" for pin in pins):
            inputs = [bit for pin, bits in pins.items() if cell["port_directions"][pin] == "input" for bit in bits]
            box = not cell["type"].startswith("$_")
            for pin, bits in pins.items():
                for index, bit in enumerate(bits):
                    if box and cell["port_directions"][pin] == "output":
                        self.starts[bit] = f"{name}.{pin}[{index}]"
                    elif box:
                        self.ends.append((bit, f"{name}.{pin}", index, "block"))
                    elif cell["port_directions"][pin] == "output":
                        self.drivers[bit] = (inputs, 0 if cell["type"] == "$_BUF_" else 1)

    def add_memory(self, name, cell, through_tables):
        pins, parameters = cell["connections"], cell["parameters"]
        name = parameters["MEMID"].lstrip("\\")
        width, address = number(parameters["WIDTH"]), number(parameters["ABITS"])
        ports = number(parameters["RD_PORTS"])
        clocked = parameters["RD_CLK_ENABLE"][::-1]
        levels = (number(parameters["SIZE"]) - 1).bit_length()
        for port in range(ports):
            row = pins["RD_ADDR"][port * address:(port + 1) * address]
            for index, bit in enumerate(pins["RD_DATA"][port * width:(port + 1) * width]):
                if through_tables and clocked[port] == "0":
                    self.drivers[bit] = (row, levels)
                else:
                    self.starts[bit] = f"{name} (read {index})"
        for pin, bits in pins.items():
            if pin != "RD_DATA" and pin not in CLOCKS:
                self.ends += [(bit, f"{name}.{pin}", index, "table") for index, bit in enumerate(bits)]

    def visit(self, bit):
        stack = [bit]
        while stack:
            bit = stack[-1]
            if bit in self.depth:
                stack.pop()
                continue
            inputs, gates = self.drivers.get(bit, ((), 0))
            missing = [other for other in inputs if other not in self.depth]
            if missing:
                if len(stack) > len(self.drivers) + 1:
                    raise ValueError(f"combinational loop through {self.names.get(bit)}")
                stack += missing
                continue
            last = max(inputs, key=self.depth.get, default=None)
            self.depth[bit] = 0 if last is None else self.depth[last] + gates
            self.before[bit] = last
            stack.pop()

    def across(self):
        """Most gates from an input to any end, from any start to an output, from an input to an output."""
        outputs = [bit for bit, _, _, kind in self.ends if kind == "output"]
        return (max((self.from_input.get(bit, 0) for bit, *_ in self.ends), default=0),
                max((self.depth[bit] for bit in outputs), default=0),
                max((self.from_input.get(bit, 0) for bit in outputs), default=0))

    def path(self, bit):
        """From the start to bit: [(depth, name)] of the named nets on the way."""
        steps = []
        while bit is not None:
            name = self.starts.get(bit) or self.names.get(bit)
            if name or self.before[bit] is None:
                steps.append((self.depth[bit], name or f"constant {bit}"))
            bit = self.before[bit]
        return steps[::-1]

    def worst(self):
        """One path per register, output or pin of a table, the longest first."""
        found = {}
        for bit, name, index, kind in self.ends:
            if name not in found or self.depth[bit] > self.depth[found[name][0]]:
                found[name] = (bit, index, kind)
        rows = [(self.depth[bit], name, index, kind, bit) for name, (bit, index, kind) in found.items()]
        return sorted(rows, key=lambda row: (-row[0], row[1]))
