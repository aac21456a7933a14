#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: shape_wrong.py

Gives tools/shape.py sources that are just small enough and expects silence, sources with one thing too large and expects
the sentence that tells it, and exceptions that are needed and not."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from samples import BESIDE, TOOLS, in_folder, make, run, told  # noqa: E402

TOOL = TOOLS / "shape.py"


def lines(count, text="  f(\"}\");  // {"):
    """So many lines, whose braces and words do not count."""
    return f"{text}\n" * count


def cpp(size):
    """A function of `size` lines, behind what might be taken for one."""
    return ("namespace a::b {\nconst Row kRows[] = {\n" + lines(200, "  {1, 'x', 1'000},") + "};\n"
            "enum class E { kA, kB };\ntemplate <class T>\nclass C final : public Base<T> {\n public:\n"
            "  C(int a) : a_{a}, b_{} {}\n  int a_ = 0;\n\n"
            "  auto f(int x = 3) const -> int {\n" + lines(size - 2, "    if (x) { g(\"{\"); }  // begin") + "  }\n"
            "};\n}\n")


def module(always=150, function=150, ports=44, columns=100, file=0):
    """A module with one of everything, as large as told."""
    names = "".join(f",\n    input logic [{i}:0] a{i}_i" for i in range(ports - 2))
    begin = f"  always_comb begin\n{lines(always - 2, '    x = y;  // begin begin')}  end\n"
    task = f"  function automatic logic f(input logic a);\n{lines(function - 2, '    f = a;')}  endfunction\n"
    head = f"module m\n  import p::*;\n#(\n    parameter int A = (1)\n) (\n    input logic clk_i,\n    rst_ni{names}\n);\n"
    text = head + begin + task + "  // " + "x" * (columns - 5) + "\n"
    return text + lines(file - text.count("\n") - 1, "  // more") + "endmodule\n"


def wire(expression):
    """A module that has something of a packet by name, and one line more."""
    return ("module m;\n  assign a = ctl.reason == NackReasonTrimmed || ctl.reason != 8'd0;  // reason == 8'h01\n"
            "  assign b = (kind_q == KindCtl) ? 4'd3 : 4'd1;\n  assign seth = seth_of(ext[0+:8*SethBytes]);\n"
            "  assign reason = (n_q == 14'd3) ? NackReasonTrimmed : 8'd0;\n"
            "  assign c = opcode == OpcodeSack && n_q != 14'd100;\n  assign d = x[8*(15-i)+:8] + y[8*32'(at)+:8];\n"
            "  assign r = '{reason: {6'd0, op}, size: 4'd1, kind: FbKindLoss};\n"
            f"  assign e = {expression};\nendmodule\n")


GOOD = {"a/good.cpp": cpp(150), "rtl/good.sv": module(), "rtl/gen/made.sv": module(columns=200),
        "rtl/named.sv": wire("1'b0"), "rtl/gen/named.sv": wire("opcode == 8'hC9"), "tests/rtl/m.sv": wire("h[8*3+:8]"),
        "a/long.py": lines(900, "x = 1"), "build/x.cpp": cpp(300)}

# {what must be told: the file}
MISTAKES = {
    "a/f.cpp:211: f of 151 lines, at most 150": {"a/f.cpp": cpp(151)},
    "a/t.cpp:2: TEST_CASE of 160 lines": {"a/t.cpp": "\nTEST_CASE(\"a {\", \"[b]\") {\n" + lines(158) + "}\n"},
    "a/m.cpp:1: A::b of 151 lines": {"a/m.cpp": "int A::b(\n    int c) {\n" + lines(148) + "}\n"},
    "rtl/m.sv:51: always_comb of 151 lines": {"rtl/m.sv": module(always=151)},
    "rtl/m.sv:201: function of 151 lines": {"rtl/m.sv": module(function=151)},
    "rtl/m.sv:1: m has 45 ports, at most 44": {"rtl/m.sv": module(ports=45)},
    "rtl/m.sv:351: more than 100 columns": {"rtl/m.sv": module(columns=101)},
    "rtl/m.sv:1: a file of 901 lines, at most 900": {"rtl/m.sv": module(file=901)},
    "rtl/m.sv:9: opcode by number": {"rtl/m.sv": wire("path.pkt.opcode == 8'hC9")},
    "rtl/m.sv:10: opcode by number": {"rtl/m.sv": wire("b;\n  assign opcode = first ? OpcodeWriteOnly : 8'hCB")},
    "rtl/m.sv:9: reason by number": {"rtl/m.sv": wire("a && ctl.reason inside {NackReasonNoBitmap, 8'd7}")},
    "rtl/m.sv:9: syndrome by number": {"rtl/m.sv": wire("aeth.syndrome[7:5] == 3'b011")},
    "rtl/m.sv:9: kind by number": {"rtl/m.sv": wire("'{entropy: 32'd0, kind: 3'd3}")},
    "rtl/m.sv:9: bytes of h by number": {"rtl/m.sv": wire("h[49*8+4+:2]")},
    "rtl/m.sv:9: bytes of ext by number": {"rtl/m.sv": wire("ext[8*13+:24]")},
    "a/x.py:1: a file of 901 lines": {"a/x.py": lines(901, "x = 1")},
}


def exceptions():
    """A copy of the tool in a repository of its own, with an exception for the long lines of a file."""
    text = TOOL.read_text()
    begin, end = text.index("\nEXCEPTIONS = {"), text.index("\n}\n", text.index("\nEXCEPTIONS = {"))
    text = text[:begin] + '\nEXCEPTIONS = {\n    ("columns", "rtl/m.sv"): "a table",' + text[end:]
    with in_folder({"tools/shape.py": text, **BESIDE}) as folder:
        wrong = 0
        for columns, ports, code, sentence in [(101, 44, 0, "0 complaints"), (101, 45, 1, "m has 45 ports"),
                                               (100, 44, 1, "rtl/m.sv: needs no exception for its columns")]:
            make(folder, {"rtl/m.sv": module(columns=columns, ports=ports)})
            wrong += told(code, *run(folder / "tools/shape.py"), [sentence])
        return wrong


def main():
    wrong = 0
    for sentence, files in {"": {}, **MISTAKES}.items():
        with in_folder({**GOOD, **files}) as folder:
            code, output = run(TOOL, folder)
            wrong += told(1 if sentence else 0, code, output, [sentence, f"{1 if sentence else 0} complaints"])
    wrong += exceptions()
    print(f"{len(MISTAKES)} mistakes; {wrong} runs went otherwise")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
