#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: for_icarus.py IN OUT: exported Verilog of a NIC, made ready for icarus_bench.v.

No wire has more than one driver: Icarus sends a wire of parts anew, bit by bit, for each part that moves, which takes
seconds per cycle. Each part gets a wire of its own here, and the wire is their concatenation. The boundaries
(obs_*_o), which the bench does not look at, lose their drivers.

Memories say, from the reset on: what is read of them before it was written, once each; when it is X whether a word is
written, or where; when the handshake of a FIFO is X, or its word was never written. X in an 'if' or in an address does
nothing in Verilog, and so would hide."""
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


def watch(module, name):
    """What a memory says, as Verilog; `name` without that of the top."""
    memory = re.search(r"^  reg (?:\[(\d+):0\] )?mem_q \[\d+:0\];", module, re.M)
    width = int(memory[1] or 0) + 1
    reads = re.findall(rf"^  assign rdata\w*(?: ?\[[\d:]+\])? = (mem_q\[.*\]);", module, re.M)
    kind = name.split("$")[0]
    place = name.split(".", 2)[2]
    rules = []
    if kind == "mrc_fifo":
        rules.append((f"^{{valid_i, ready_i, valid_o, ready_o}} === 1'bx", "its handshake is X"))
        rules.append((f"valid_o === 1'b1 && data_o === {{{width}{{1'bx}}}}", "it gives a word that was never written"))
    else:
        rules.append(("we_i === 1'bx", "it is X whether a row is written"))
        rules.append(("we_i === 1'b1 && ^waddr_i === 1'bx", "it is X which row is written"))
    said = "".join(f"    if ({when}) icarus_bench.wrong(\"{place}: {what}\");\n" for when, what in rules)
    unread = ""
    if kind == "mrc_ram_1r1w":
        reads, asks = ["mem_q[raddr_i]"], "re_i !== 1'b0 && "
    else:
        asks = ""
    if kind != "mrc_fifo":
        nothing = " || ".join(f"{read} === {{{width}{{1'bx}}}}" for read in reads)
        unread = (f"    if (!icarus_told && {asks}({nothing})) begin\n      icarus_told = 1;\n"
                  f"      $display(\"read before it was written: {place}\");\n    end\n")
    return ("  reg icarus_told = 0;\n  always @(posedge clk_i) if (icarus_bench.rst_n === 1'b1) begin\n"
            f"{said}{unread}  end\n")


def main():
    text = open(sys.argv[1], encoding="utf-8").read()
    text = re.sub(r"^  assign obs_(core|lane)_o = .*\n", "", text, flags=re.M)
    pieces = re.split(r"^(?=module )", text, flags=re.M)
    outputs = {}
    for piece in pieces[1:]:
        name = re.match(rf"module ({NAME})", piece)[1].strip()
        outputs[name] = set(m.strip() for m in re.findall(rf"^  output (?:\[\d+:0\] )?({NAME}) ?;", piece, re.M))
    count = memories = 0
    for i, piece in enumerate(pieces[1:], 1):
        pieces[i], more = split(piece, outputs)
        count += more
        name = re.match(rf"module ({NAME})", piece)[1].strip().lstrip("\\")
        if re.match(r"mrc_(fifo|ram_1r1w|rf_(?!reset)\w+)\$", name):
            pieces[i] = pieces[i].replace("endmodule", watch(piece, name) + "endmodule")
            memories += 1
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        out.write("".join(pieces))
    print(f"{count} wires of parts made whole, {memories} memories are watched")


if __name__ == "__main__":
    main()
