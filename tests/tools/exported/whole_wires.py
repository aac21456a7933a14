#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: whole_wires.py IN OUT: exported Verilog with no wire that has more than one driver.

Icarus sends a wire of parts anew, bit by bit, for each part that moves: seconds per cycle of the NIC. Each part gets a
wire of its own here, and the wire is their concatenation. The boundaries (obs_*_o), which the bench does not look at,
lose their drivers."""
import re
import sys

NAME = r"(?:\\\S+ |[A-Za-z_][\w$]*)"
PART = re.compile(rf"({NAME}) ?\[(\d+)(?::(\d+))?\]")


def split(module, outputs):
    """The text of a module, wires of parts made whole; how many."""
    widths = {m[3].strip(): int(m[2]) + 1 for m in re.finditer(rf"^  (wire) \[(\d+):0\] ({NAME}) ?;", module, re.M)}
    places = {}  # wire: [(low, high, begin, end)] of its drivers

    def note(text, at):
        m = PART.fullmatch(text.strip())
        if m and m[1].strip() in widths:
            begin = at + text.index(text.strip())
            places.setdefault(m[1].strip(), []).append((int(m[3] or m[2]), int(m[2]), begin, begin + len(text.strip())))

    for m in re.finditer(rf"^  assign ({NAME} ?\[[\d:]+\]) = ", module, re.M):
        note(m[1], m.start(1))
    for m in re.finditer(rf"^  ({NAME}) ?{NAME} ?\(\n(.*?)^  \);", module, re.M | re.S):
        for port in re.finditer(rf"^    \.({NAME}) ?\((.*)\),?$", m[2], re.M):
            if port[1].strip() not in outputs.get(m[1].strip(), ()):
                continue
            at = m.start(2) + port.start(2)
            text = port[2].strip()
            if text.startswith("{"):
                for item in re.finditer(r"[^,{}]+", port[2]):
                    note(item[0], at + item.start())
            else:
                note(port[2], at)

    edits, wires, joins = [], [], []
    for wire, parts in places.items():
        parts.sort(reverse=True)
        bits = [high for low, high, _, _ in parts], [low for low, _, _, _ in parts]
        if len(parts) < 2 or bits[0][0] != widths[wire] - 1 or bits[1][-1] != 0 \
                or any(a - 1 != b for a, b in zip(bits[1], bits[0][1:])):
            continue
        names = []
        for low, high, begin, end in parts:
            names.append(f"part_{len(edits)}_of")
            wires.append(f"  wire [{high - low}:0] {names[-1]};\n")
            edits.append((begin, end, names[-1]))
        joins.append(f"  assign {wire}{' ' if wire[0] == chr(92) else ''} = {{ {', '.join(names)} }};\n")
    for begin, end, name in sorted(edits, reverse=True):
        module = module[:begin] + name + module[end:]
    head = re.match(r"(?s)(?:\(\*.*?\*\)\n)*module .*?\);\n", module).end()
    tail = module.index("endmodule")
    return module[:head] + "".join(wires) + module[head:tail] + "".join(joins) + module[tail:], len(joins)


def main():
    text = open(sys.argv[1], encoding="utf-8").read()
    text = re.sub(r"^  assign obs_(core|lane)_o = .*\n", "", text, flags=re.M)
    pieces = re.split(r"^(?=module )", text, flags=re.M)
    outputs = {}
    for piece in pieces[1:]:
        name = re.match(rf"module ({NAME})", piece)[1].strip()
        outputs[name] = set(m.strip() for m in re.findall(rf"^  output (?:\[\d+:0\] )?({NAME}) ?;", piece, re.M))
    count = 0
    for i, piece in enumerate(pieces[1:], 1):
        pieces[i], more = split(piece, outputs)
        count += more
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        out.write("".join(pieces))
    print(f"{count} wires of parts made whole")


if __name__ == "__main__":
    main()
