#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: registers.py ROOT CC FOLDER

The registers as the RTL has them (rtl/gen/mrc_pkg.sv) against mrc_csr.h as CC reads it, mrc_csr.rdl as the grammar of
tree-sitter-systemrdl reads it, and mrc_csr.xml as an XML parser reads it. No reader of IP-XACT is to be had from Debian
or npm, so its schema is not checked. FOLDER takes what is compiled."""
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

ROOT, CC, FOLDER = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
XACT = "{http://www.accellera.org/XMLSchema/IPXACT/1685-2014}"


def plain(name):
    return name.replace("_", "").lower()


def of_rtl():
    """{name without underscores: value} of all constants Csr... and Tbl... ids and words."""
    text = (ROOT / "rtl/gen/mrc_pkg.sv").read_text()
    found = re.findall(r"localparam [^=;]*?\b(Csr\w+|Tbl\w+(?:Id|Words)) = \d+'([dh])([0-9a-f]+);", text)
    return {plain(name): int(digits, 16 if base == "h" else 10) for name, base, digits in found}


def of_c():
    """The same from the header, each value printed by a program that includes it, as C99 and as C++."""
    header = ROOT / "rtl/gen/mrc_csr.h"
    names = re.findall(r"^#define (MRC_\w+) \S", header.read_text(), re.MULTILINE)
    source = FOLDER / "print.c"
    source.write_text('#include "mrc_csr.h"\n#include <stdio.h>\nint main(void) {\n' +
                      "".join(f'  printf("{n} %lu\\n", (unsigned long)({n}));\n' for n in names) + "  return 0;\n}\n")
    told = []
    for language in (["-x", "c", "-std=c99"], ["-x", "c++", "-std=c++11"]):
        program = FOLDER / f"print{len(told)}"
        subprocess.run([CC, *language, "-Wall", "-Wextra", "-Werror", "-pedantic", f"-I{header.parent}", str(source), "-o",
                        str(program)], check=True)
        told.append(subprocess.run([program], check=True, capture_output=True, text=True).stdout)
    assert told[0] == told[1]
    return {plain(n.removeprefix("MRC_")): int(v) for n, v in (line.split() for line in told[0].splitlines())}


def registers_of(values):
    """{offset: (reset, {(lsb, width)})} of the constants of a package or header, arrays written out."""
    out = {}
    for name, offset in values.items():
        if name.startswith("csr") and name + "reset" in values and name + "lsb" not in values:
            fields = set()
            for other, lsb in values.items():
                if other.startswith(name) and other.endswith("lsb") and other[:-3] + "width" in values:
                    owner = max((n for n in values if other.startswith(n) and n + "reset" in values
                                 and n + "lsb" not in values), key=len)
                    if owner == name:
                        fields.add((lsb, values[other[:-3] + "width"]))
            for i in range(values.get(name + "count", 1)):
                out[offset + i * values.get(name + "stride", 4)] = (values[name + "reset"], fields or {(0, 32)})
    return out


def leaves(node):
    return node[1] if isinstance(node[1], str) else "".join(leaves(child) for child in node[1:])


def parts(node, kind, deep=True):
    """All nodes of this kind below node."""
    for child in node[1:]:
        if isinstance(child, list):
            if child[0] == kind:
                yield child
            if deep or child[0] != kind:
                yield from parts(child, kind, deep)


def number(text):
    base = re.fullmatch(r"\d+'h([0-9a-f]+)", text)
    return int(base[1], 16) if base else int(text, 0)


def of_rdl():
    grammar = ROOT / "build/yosys/node_modules/tree-sitter-systemrdl/src"
    program = FOLDER / "rdl_tree"
    subprocess.run([CC, "-O1", f"-I{grammar}", str(ROOT / "tests/reuse/rdl_tree.c"), str(grammar / "parser.c"),
                    "-ltree-sitter", "-o", str(program)], check=True)
    read = subprocess.run([program, ROOT / "rtl/gen/mrc_csr.rdl"], capture_output=True, text=True)
    assert read.returncode == 0, "mrc_csr.rdl has an error of syntax"
    broken = FOLDER / "broken.rdl"  # the reader does see such an error
    broken.write_text((ROOT / "rtl/gen/mrc_csr.rdl").read_text().replace("field {", "field {{", 1))
    assert subprocess.run([program, broken], capture_output=True, text=True).returncode == 1
    out, (whole,) = {}, parts(json.loads(read.stdout), "component_def", deep=False)
    body = next(parts(whole, "component_body", deep=False))
    for reg in parts(body, "component_def", deep=False):
        instance = list(parts(reg, "component_inst"))[-1]
        words = [leaves(child) for child in instance[1:]]
        many = re.search(r"\[(\w+)\]", words[1])
        offset, stride = number(words[words.index("@") + 1]), number(words[words.index("+=") + 1]) if many else 4
        fields, reset = set(), 0
        for field in parts(next(parts(reg, "component_body", deep=False)), "component_def", deep=False):
            name, bits, _, value = (leaves(child) for child in next(parts(field, "component_inst"))[1:])
            high, low = map(int, re.fullmatch(r"\[(\d+):(\d+)\]", bits).groups())
            fields.add((low, high - low + 1))
            reset |= number(value) << low
        for i in range(number(many[1]) if many else 1):
            out[offset + i * stride] = (reset, fields)
    return out


def of_xact():
    def value(node, name, default=None):
        text = node.findtext(XACT + name)
        return default if text is None else int(text[2:], 16) if text.startswith("'h") else int(text)
    out = {}
    for reg in xml.parse(ROOT / "rtl/gen/mrc_csr.xml").iter(XACT + "register"):
        fields, reset = set(), 0
        for field in reg.iter(XACT + "field"):
            lsb = value(field, "bitOffset")
            fields.add((lsb, value(field, "bitWidth")))
            reset |= value(next(field.iter(XACT + "reset")), "value") << lsb
        for i in range(value(reg, "dim", 1)):
            out[value(reg, "addressOffset") + 4 * i] = (reset, fields)
    return out


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    rtl, header = of_rtl(), of_c()
    right = registers_of(rtl)
    # Known from outside: ID reads MRCN in ASCII; four readers of the document print UDP port 4971.
    assert right[0x000][0] == int.from_bytes(b"MRCN", "big") and right[0x014][0] == 4971 and len(right) > 80
    compared = {name: value for name, value in header.items() if name in rtl}
    wrong = [f"mrc_csr.h: {name} is {value}, in the RTL {rtl[name]}" for name, value in compared.items() if value != rtl[name]]
    wrong += [f"mrc_csr.h: {name} of the RTL is missing" for name in rtl
              if name not in header and not re.fullmatch(r"csr.+reset", name)]
    for file, told in (("mrc_csr.h", registers_of(header)), ("mrc_csr.rdl", of_rdl()), ("mrc_csr.xml", of_xact())):
        for offset in sorted(right.keys() | told.keys()):
            if right.get(offset) != told.get(offset):
                wrong.append(f"{file}: register at 0x{offset:03x} is {told.get(offset)}, in the RTL {right.get(offset)}")
    print("\n".join(wrong) or f"{len(right)} registers, {len(compared)} constants: the same in the RTL, C, SystemRDL, IP-XACT")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
