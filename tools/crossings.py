#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: crossings.py [--write] [--replace FROM TO]

Holds the netlist of the top of fpga/ against fpga/crossings.yaml: which register sees another clock than its own, at
its data, enable or reset. Tells each that is not declared, and each declared one that sees none. The core is a box of
one clock. --write writes the constraints (fpga/mrc_fpga_lane.xdc), without it they must be those. --replace puts another
text into the RTL first, to show that a mistake is found."""
import argparse
import json
import re
import subprocess
import tempfile
from pathlib import Path

import rtl
import yaml

TABLE = "fpga/crossings.yaml"
CONSTRAINTS = "fpga/mrc_fpga_lane.xdc"
ASYNC = ("ARST", "ALOAD", "SET", "CLR")
REGISTER = re.compile(r"\$_?(a|s|d|al|sr)*dff")


def netlist(table, replace):
    """The flat netlist of the top: words and memories as cells, boxes empty."""
    files = rtl.listed(table["files"])
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        headers = sorted(str(path.relative_to(rtl.ROOT)) for path in (rtl.ROOT / rtl.HEADERS).glob("*.svh"))
        found = 0
        for file in [*headers, *files]:
            text = (rtl.ROOT / file).read_text()
            if replace and file in files:
                found += text.count(replace[0])
                text = text.replace(*replace)
            (scratch / file).parent.mkdir(parents=True, exist_ok=True)
            (scratch / file).write_text(text)
        if replace and not found:
            rtl.fail(f"--replace: '{replace[0]}' stands in none of the files of {table['top']}.", "Name a text of the RTL.")
        (scratch / "out").mkdir()
        values = " ".join(f"-G {name}={value}" for name, value in table["parameters"].items())
        boxes = " ".join(f"--blackboxed-module {name}" for name in table["boxes"])
        script = (f"{rtl.READ_SLANG} {values} {boxes} --top {table['top']} {' '.join(files)};"
                  f" proc; flatten; memory_collect; opt_clean; write_json net.json")
        command = rtl.yosys_command(files, script, scratch / "out", quiet=True)
        done = subprocess.run(command, cwd=scratch, text=True, errors="replace", check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        if done.returncode:
            rtl.fail(f"Yosys cannot read {table['top']}: {done.stdout.strip().splitlines()[-1:]}.", "Run 'mrc lint'.")
        return json.loads((scratch / "out/net.json").read_text())["modules"][table["top"]]


class Net:
    """Who drives a bit: a register, memory or box of a clock, a pin of the top, or logic that depends on others."""

    def __init__(self, module, table):
        self.cells, self.boxes = module["cells"], table["boxes"]
        self.driver, self.source = {}, {}
        self.names = {}
        for name, net in module["netnames"].items():
            for bit in net["bits"]:
                if isinstance(bit, int) and (bit not in self.names or name.endswith("_q")):
                    self.names[bit] = re.sub(r"\[\d+\]$", "", name)
        of_port = {port: clock for clock, ports in table["ports"].items() for port in ports}
        clocks = {"any": ["any"]}
        self.clock_bits = {}
        for name in table["clocks"]:
            bits = module["ports"][name]["bits"]
            clocks[name] = [name] if len(bits) == 1 else [f"{name}[{i}]" for i in range(len(bits))]
            self.clock_bits.update(zip(bits, clocks[name]))
        for name, port in module["ports"].items():
            if port["direction"] == "input" and name not in table["clocks"]:
                if name not in of_port:
                    rtl.fail(f"{TABLE} does not say which clock the pin {name} belongs to.", "Add it to 'ports'.")
                # Of clocks in a vector each has its slice of a pin.
                of, bits = clocks[of_port[name]], port["bits"]
                for i, bit in enumerate(bits):
                    self.source[bit] = (of[i * len(of) // len(bits)], name)
        for name, cell in self.cells.items():
            for pin, way in cell["port_directions"].items():
                if way == "output":
                    for bit in cell["connections"][pin]:
                        self.driver[bit] = name

    def clock_pin(self, cell):
        """The pin that clocks a register, memory or box; None of other cells."""
        if cell["type"] in self.boxes:
            return self.boxes[cell["type"]]
        if cell["type"].startswith("$mem"):
            return "WR_CLK"
        if REGISTER.match(cell["type"]):
            return "CLK" if "CLK" in cell["connections"] else "C"
        return None

    def clock(self, cell):
        """Which pin of the top clocks it."""
        return self.clock_bits.get(cell["connections"][self.clock_pin(cell)][0], "?")

    def name(self, cell):
        if "Q" in cell["connections"]:
            return self.names.get(cell["connections"]["Q"][0], "?")
        return cell["parameters"]["MEMID"].lstrip("\\") if cell["type"].startswith("$mem") else cell["type"]

    def seen(self, cell):
        """Pins whose bits it stores. What a memory is read with goes through it."""
        return [pin for pin, way in cell["port_directions"].items()
                if way == "input" and pin != self.clock_pin(cell) and not pin.startswith("RD_")]

    def through(self, cell):
        """Pins that its outputs depend on in the same cycle."""
        return [pin for pin, way in cell["port_directions"].items()
                if way == "input" and (self.clock_pin(cell) is None or pin.startswith("RD_"))]

    def from_bits(self, bits):
        """{(clock, name)} of what the bits depend on through logic."""
        seen, result, todo = set(), set(), list(bits)
        while todo:
            at = todo.pop()
            if at in seen:
                continue
            seen.add(at)
            if at in self.source:
                result.add(self.source[at])
            elif at in self.driver and self.driver[at] not in seen:
                key = self.driver[at]
                seen.add(key)
                cell = self.cells[key]
                if self.clock_pin(cell):
                    result.add((self.clock(cell), self.name(cell)))
                todo += [bit for pin in self.through(cell) for bit in cell["connections"][pin]]
        return result


def crossings(net):
    """{(register, pin): {(clock, source)}} of other clocks than the register's own."""
    result = {}
    for cell in net.cells.values():
        if not net.clock_pin(cell):
            continue
        own = net.clock(cell)
        for pin in net.seen(cell):
            for clock, name in net.from_bits(cell["connections"][pin]):
                if clock != own:
                    result.setdefault((net.name(cell), own, pin), set()).add((clock, name))
    return result


def constraints(table):
    """What a place and route tool is to be told (Vivado's XDC); never run through one."""
    lines = ["# SPDX-License-Identifier: Apache-2.0",
             f"# Generated by tools/crossings.py from {TABLE}: edit that file, not this one.",
             "# Never run through a tool. Source it for the cell of the lane; 3.1 ns is a period of the MAC."]
    for name, row in table["registers"].items():
        lines.append(f"# {row['module']}: {row['why']}")
        # Of a chain the first register alone sees another clock: the first index.
        first = r"\[0\]" if row["constraint"] == "bus" else ""
        cells = f"[get_cells -hierarchical -filter {{NAME =~ *{name}_reg{first}*}}]"
        if row["constraint"] == "reset":
            lines.append(f"set_false_path -to [get_pins -of_objects {cells} -filter {{REF_PIN_NAME =~ CLR}}]")
        else:
            lines.append(f"set_max_delay -datapath_only 3.1 -from [all_registers] -to {cells}")
    return "\n".join(lines) + "\n"


def complaints(table, found):
    """What is not as the list says, in words."""
    declared, used = table["registers"], set()
    for (register, own, pin), sources in sorted(found.items()):
        short = register.rpartition(".")[2]
        row = declared.get(short)
        kind = "ARST" if pin in ASYNC else pin
        if row and kind in row["pins"]:
            used.add(short)
            continue
        clock, source = sorted(sources)[0]
        yield f"{register} ({own}) sees {source} of {clock} at {pin}, which {TABLE} does not declare"
    yield from (f"{TABLE} declares {name}, which sees no other clock" for name in declared if name not in used)
    for name, row in declared.items():
        homes = [path.stem for path in sorted((rtl.ROOT / "fpga/rtl").glob("*.sv"))
                 if re.search(rf"^\s*(\(\*.*\*\) )?logic [^;]*\b{name}\b[^;]*;", path.read_text(), re.MULTILINE)]
        if homes != [row["module"]]:
            yield f"a register {name} stands in {', '.join(homes) or 'no module'}, not in {row['module']} alone"


def main():
    parser = rtl.Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--replace", nargs=2, metavar=("FROM", "TO"))
    options = parser.parse_args()
    table = yaml.safe_load((rtl.ROOT / TABLE).read_text())
    path, text = rtl.ROOT / CONSTRAINTS, constraints(table)
    if options.write:
        path.write_text(text)
    net = Net(netlist(table, options.replace), table)
    found = crossings(net)
    lines = list(complaints(table, found))
    if not path.exists() or path.read_text() != text:
        lines.append(f"{CONSTRAINTS} is not what tools/crossings.py --write writes")
    for line in lines:
        print(line)
    registers = sum(net.clock_pin(cell) is not None for cell in net.cells.values())
    print(f"{registers} registers and memories, {len(found)} of them see another clock, {len(lines)} complaints")
    return rtl.Exit.FAIL if lines else rtl.Exit.PASS


if __name__ == "__main__":
    rtl.command("crossings.py", main)
