# SPDX-License-Identifier: Apache-2.0
"""Can a mutant be told from the original? Both as circuits without state: what registers and tables give is an input, what
they take an output, but for bits that no output of the block depends on. yosys-abc (cec) compares them: when no input
makes a difference, the two behave alike for ever."""
import collections
import json
import subprocess
import tempfile
from pathlib import Path

# Of a netlist with its mutants: gates of two inputs; tables are put away under a name that nobody maps.
GATES = "; ".join(["chtype -set mrc_table t:$mem_v2", "dffunmap", "techmap", "simplemap", "opt_clean", "aigmap", "opt_clean",
                   "write_json gates.json"])
SELECT = "mutant_i"


def number(text):
    return int(text, 2)


class Circuit:
    """One module of gates, read from Yosys' JSON."""

    def __init__(self, module):
        self.inputs, self.outputs, self.gates = [], [], {}  # gates: bit -> (kind, bits)
        self.select = module["ports"][SELECT]["bits"]
        self.feeds = collections.defaultdict(list)          # state bit -> bits that decide on its next value
        for name, port in module["ports"].items():
            if port["direction"] == "output":
                self.outputs += port["bits"]
            elif name != SELECT:
                self.inputs += port["bits"]
        for cell in module["cells"].values():
            self.add(cell)
        self.compared, self.sorted = self.live(), self.order()

    def add(self, cell):
        kind, pins = cell["type"], cell["connections"]
        if kind in ("$_AND_", "$_NOT_"):
            self.gates[pins["Y"][0]] = (kind, [pins["A"][0], *pins.get("B", [])])
            return
        if kind == "mrc_table":
            self.add_table(cell)
            return
        out = [bit for pin, bits in pins.items() if cell["port_directions"][pin] == "output" for bit in bits]
        into = [bit for pin, bits in pins.items() if cell["port_directions"][pin] == "input" for bit in bits]
        self.inputs += out
        for bit in out:
            self.feeds[bit] += into

    def both(self, a, b):
        """A gate of our own; its name is what it reads."""
        bit = ("and", a, b)
        self.gates[bit] = ("$_AND_", [a, b])
        return bit

    def any(self, bits):
        """Is one of them 1?"""
        def inverted(bit):
            self.gates["not", bit] = ("$_NOT_", [bit])
            return ("not", bit)
        none = inverted(bits[0])
        for bit in bits[1:]:
            none = self.both(none, inverted(bit))
        return inverted(none)

    def add_table(self, cell):
        """A column that nobody reads does not matter, wherever it is written."""
        pins, parameters = cell["connections"], cell["parameters"]
        width, abits = number(parameters["WIDTH"]), number(parameters["ABITS"])
        reads, writes = number(parameters["RD_PORTS"]), number(parameters["WR_PORTS"])
        # What a port would write, and where, matters only while it writes.
        addresses, data = list(pins["WR_CLK"]), []
        for port in range(writes):
            enables = pins["WR_EN"][port * width:(port + 1) * width]
            data.append([self.both(bit, enable) for bit, enable in
                         zip(pins["WR_DATA"][port * width:(port + 1) * width], enables)])
            writing = self.any(sorted(set(enables), key=str))
            addresses += [self.both(bit, writing) for bit in pins["WR_ADDR"][port * abits:(port + 1) * abits]]
        for port in range(reads):
            own = pins["RD_ADDR"][port * abits:(port + 1) * abits]
            own = own + [pins[pin][port] for pin in ("RD_CLK", "RD_EN", "RD_ARST", "RD_SRST")]
            for column in range(width):
                bit = pins["RD_DATA"][port * width + column]
                self.inputs.append(bit)
                self.feeds[bit] += own + addresses
                for write in range(writes):
                    self.feeds[bit] += [data[write][column], pins["WR_EN"][write * width + column]]

    def live(self):
        """The block's outputs, and what decides on state that they depend on."""
        compared, seen, stack = list(self.outputs), set(), list(self.outputs)
        while stack:
            bit = stack.pop()
            if bit in seen or isinstance(bit, str):
                continue
            seen.add(bit)
            if bit in self.gates:
                stack += self.gates[bit][1]
            elif bit in self.feeds:
                compared += self.feeds[bit]
                stack += self.feeds[bit]
        return list(dict.fromkeys(bit for bit in compared if not isinstance(bit, str)))

    def order(self):
        """The gates, each behind those that it reads."""
        order, seen = [], set()
        for root in self.gates:
            stack = [root]
            while stack:
                bit = stack[-1]
                if bit in seen:
                    stack.pop()
                    continue
                missing = [other for other in self.gates[bit][1] if other in self.gates and other not in seen]
                if missing:
                    stack += missing
                    continue
                seen.add(bit)
                order.append(bit)
                stack.pop()
        return order

    def literals(self, mutant, shared):
        """{bit: literal} with the mutant of this number, 0: the original. A literal is twice the number of a node, odd when
        inverted, 0 and 1 the constants; shared maps what a gate reads to its node, so that equal gates are one."""
        value = {"0": 0, "1": 1, "x": 0, "z": 0}
        for index, bit in enumerate(self.select):
            value[bit] = mutant >> index & 1
        for bit in self.inputs:
            if bit not in value:
                value[bit] = 2 * shared.setdefault(bit, len(shared) + 1)
        for bit in self.sorted:
            kind, bits = self.gates[bit]
            a = value.get(bits[0], 0)  # nobody drives it: 0
            if kind == "$_NOT_":
                value[bit] = a ^ 1
                continue
            b = value.get(bits[1], 0)
            if a > b:
                a, b = b, a
            if a == 0 or a ^ b == 1:
                value[bit] = 0
            elif a == 1 or a == b:
                value[bit] = b
            else:
                value[bit] = 2 * shared.setdefault((a, b), len(shared) + 1)
        return value

    @staticmethod
    def blif(roots, nodes):
        """These literals as outputs, and what they depend on."""
        seen, stack, lines, inputs = set(), [literal >> 1 for literal in roots], [], []
        while stack:
            node = stack.pop()
            if node in seen or node == 0:
                continue
            seen.add(node)
            if isinstance(nodes[node], tuple):
                a, b = nodes[node]
                lines += [f".names n{a >> 1} n{b >> 1} n{node}", f"{1 - (a & 1)}{1 - (b & 1)} 1"]
                stack += [a >> 1, b >> 1]
            else:
                inputs.append(f"n{node}")
        outputs = [f".names n{literal >> 1} o{index}\n{1 - (literal & 1)} 1" for index, literal in enumerate(roots)]
        return inputs, [".names n0", *lines, *outputs]

    def same(self, mutant, seconds=120):
        """True: nothing can tell them apart. False: some input and state can. None: no answer in time."""
        shared = {}
        first, second = self.literals(0, shared), self.literals(mutant, shared)
        differ = {(first.get(bit, 0), second.get(bit, 0)) for bit in self.compared}
        differ = sorted(pair for pair in differ if pair[0] != pair[1])
        if not differ:
            return True
        nodes = {node: what for what, node in shared.items()}
        inputs, _ = self.blif([literal for pair in differ for literal in pair], nodes)
        with tempfile.TemporaryDirectory() as name:
            files = [Path(name) / "a.blif", Path(name) / "b.blif"]
            for file, roots in zip(files, zip(*differ)):
                _, lines = self.blif(roots, nodes)
                file.write_text("\n".join([".model m", ".inputs " + " ".join(inputs),
                                           ".outputs " + " ".join(f"o{k}" for k in range(len(differ))), *lines, ".end", ""]))
            try:
                done = subprocess.run(["yosys-abc", "-c", f"cec -T {seconds} {files[0]} {files[1]}"],
                                      capture_output=True, text=True, check=False, timeout=seconds + 60)
            except subprocess.TimeoutExpired:
                return None
        if "Networks are equivalent" in done.stdout:
            return True
        return False if "NOT EQUIVALENT" in done.stdout else None


def circuit(text):
    modules = json.loads(text)["modules"]
    return Circuit(next(module for module in modules.values() if SELECT in module["ports"]))
