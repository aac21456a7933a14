#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: crossings.py [--write] [--replace FROM TO]

Holds the netlist of the lane of fpga/ against fpga/crossings.yaml: which register sees another clock than its own, at
its data, enable or reset. Tells each that is not declared, and each declared one that sees none. --write writes the
constraints (fpga/mrc_fpga_lane.xdc), without it they must be those. --replace puts another text into the RTL first, to
show that a mistake is found."""
import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import rtl
import yaml

TABLE = "fpga/crossings.yaml"
CONSTRAINTS = "fpga/mrc_fpga_lane.xdc"
ASYNC = ("ARST", "ALOAD", "SET", "CLR")
REGISTER = re.compile(r"\$_?(a|s|d|al|sr)*dff")


def netlist(table, replace):
    """The flat netlist of the top: words as cells, memories as registers."""
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
        script = (f"{rtl.READ_SLANG} {values} --top {table['top']} {' '.join(files)};"
                  f" proc; flatten; opt_clean; memory_map; opt_clean; write_json net.json")
        command = rtl.yosys_command(files, script, scratch / "out", quiet=True)
        done = subprocess.run(command, cwd=scratch, text=True, errors="replace", check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        if done.returncode:
            rtl.fail(f"Yosys cannot read {table['top']}: {done.stdout.strip().splitlines()[-1:]}.", "Run 'mrc lint'.")
        return json.loads((scratch / "out/net.json").read_text())["modules"][table["top"]]


class Net:
    """Who drives a bit: a register of a clock, a pin of the top, or logic that depends on others."""

    def __init__(self, module, table):
        self.cells = module["cells"]
        self.driver, self.source, self.memo = {}, {}, {}
        self.names = {}
        for name, net in module["netnames"].items():
            for bit in net["bits"]:
                if isinstance(bit, int) and (bit not in self.names or name.endswith("_q")):
                    self.names[bit] = re.sub(r"\[\d+\]$", "", name)
        of_port = {port: clock for clock, ports in table["ports"].items() for port in ports}
        self.clock_bits = {module["ports"][clock]["bits"][0]: clock for clock in table["clocks"]}
        for name, port in module["ports"].items():
            if port["direction"] == "input" and name not in table["clocks"]:
                if name not in of_port:
                    rtl.fail(f"{TABLE} does not say which clock the pin {name} belongs to.", "Add it to 'ports'.")
                for bit in port["bits"]:
                    self.source[bit] = (of_port[name], name)
        for name, cell in self.cells.items():
            for pin, way in cell["port_directions"].items():
                if way == "output":
                    for bit in cell["connections"][pin]:
                        self.driver[bit] = name

    def is_register(self, cell):
        return bool(REGISTER.match(cell["type"]))

    def clock(self, cell):
        """Which pin of the top clocks the register."""
        pin = "CLK" if "CLK" in cell["connections"] else "C"
        return self.clock_bits.get(cell["connections"][pin][0], "?")

    def from_bit(self, bit):
        """{(clock, name)} of what the bit depends on through logic."""
        seen, result, todo = set(), set(), [bit]
        while todo:
            at = todo.pop()
            if at in seen or not isinstance(at, int):
                continue
            seen.add(at)
            if at in self.source:
                result.add(self.source[at])
            elif at in self.driver:
                cell = self.cells[self.driver[at]]
                if self.is_register(cell):
                    result.add((self.clock(cell), self.names.get(at, self.driver[at])))
                else:
                    key = self.driver[at]
                    if key not in self.memo:
                        self.memo[key] = [other for pin, way in cell["port_directions"].items() if way == "input"
                                          for other in cell["connections"][pin]]
                    todo += self.memo[key]
        return result


def crossings(net):
    """{(register, pin): {(clock, source)}} of other clocks than the register's own."""
    result = {}
    for cell in net.cells.values():
        if not net.is_register(cell):
            continue
        own = net.clock(cell)
        output = net.names.get(cell["connections"]["Q"][0], "?")
        for pin, way in cell["port_directions"].items():
            if way != "input" or pin in ("CLK", "C"):
                continue
            bits = set(cell["connections"][pin])
            for clock, name in {source for bit in bits for source in net.from_bit(bit)}:
                if clock != own:
                    result.setdefault((output, own, pin), set()).add((clock, name))
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
    registers = sum(net.is_register(cell) for cell in net.cells.values())
    print(f"{registers} registers, {len(found)} of them see another clock, {len(lines)} complaints")
    return rtl.Exit.FAIL if lines else rtl.Exit.PASS


if __name__ == "__main__":
    sys.exit(main())
