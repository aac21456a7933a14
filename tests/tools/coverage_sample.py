#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: coverage_sample.py

Gives tools/coverage.py --data what Verilator and gcov write about a few lines, and expects the table, the missed lines,
the JSON and the exit codes that were worked out by hand; then data that are wrong in one place each, and expects the
sentence that tells it."""
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from samples import TOOLS, in_folder, run, told  # noqa: E402

TOOL = TOOLS / "coverage.py"
ROOT = TOOLS.parent


def point(count, page="v_line/a", instance="TOP.a", **keys):
    """A line of Verilator's."""
    pairs = {"page": page, "h": instance, **keys}
    return "C '" + "".join(f"\x01{key}\x02{value}" for key, value in pairs.items()) + f"' {count}\n"


def gcov(source, counts, folder=ROOT / "build"):
    """A line of gcov's."""
    lines = [{"line_number": line, "count": count} for line, count in counts.items()]
    return json.dumps({"current_working_directory": str(folder), "files": [{"file": source, "lines": lines}]}) + "\n"


HEAD = "# SystemC::Coverage-3\n"
GOOD = {
    # Lines 3 to 6 and 9, of which the instance b reaches 5 and 6; line 4 by one of its branches. 8 is no line.
    "1.dat": HEAD + point(0, f="rtl/x/a.sv", l="3", S="3-6") + point(7, "v_branch/a", f="rtl/x/a.sv", l="4", o="if")
    + point(0, "v_branch/a", f="rtl/x/a.sv", l="4", o="else") + point(0, f="rtl/x/a.sv", l="9")
    + point(5, "v_user/a", f="rtl/x/a.sv", l="8") + point(2, f="tests/rtl/t.sv", l="1")
    # Of two assertions one instance reaches one; what tests cover is none of ours.
    + point(0, "v_user/a", f="rtl/x/a.sv", l="20", o="InOrder_reached", S="20")
    + point(0, "v_user/a", f="rtl/x/a.sv", l="22", o="InRange_reached") + point(9, "v_user/t", f="tests/rtl/t.sv", l="2", o="T_reached"),
    "2.dat": HEAD + point(1, instance="TOP.b", f="rtl/x/a.sv", l="5", S="5-6") + point(3, f="rtl/y/c.sv", l="1")
    + point(4, "v_user/a", instance="TOP.b", f="rtl/x/a.sv", l="20", o="InOrder_reached", S="20"),
    # Two instances of a template; one file whose path is relative, one that is not ours.
    "cpp.gcov": gcov("../cmodel/p/a.hpp", {1: 0, 2: 4}) + gcov(f"{ROOT}/cmodel/p/a.hpp", {1: 1, 2: 0, 3: 0})
    + gcov("/usr/include/c++/12/vector", {1: 9}) + gcov("../tb/b.cpp", {1: 9}),
}

WRONG = {
    "x.dat:1: no coverage file of Verilator": {"x.dat": "nothing\n"},
    "x.dat:1: no coverage file": {"x.dat": ""},
    "x.dat:2: no point of Verilator": {"x.dat": HEAD + point(3, f="rtl/a.sv", l="1")[:-4]},
    "x.dat:3: a point without file or line": {"x.dat": HEAD + point(1, f="rtl/a.sv", l="1") + point(1, f="rtl/a.sv")},
    "x.dat:2: '3-' are no lines": {"x.dat": HEAD + point(1, f="rtl/a.sv", l="1", S="3-")},
    "x.gcov:2: no JSON of gcov (JSONDecodeError": {"x.gcov": gcov("a", {1: 1}) + gcov("b", {1: 1})[:40]},
    "x.gcov:1: no JSON of gcov (KeyError: 'files'": {"x.gcov": '{"current_working_directory": "/"}'},
}


def main():
    wrong = 0
    with in_folder(GOOD) as folder:
        out = folder / "out.json"
        wrong += told(0, *run(TOOL, "--data", folder, "--list", "--json", out, "--check", "66"), [
            "rtl/x           5        3    60.0\n", "rtl/y           1        1   100.0\n", "RTL, all        6        4    66.7\n",
            "rtl/x/a.sv: 3, 9\n", "cmodel/p        3        2    66.7\n", "cmodel/p/a.hpp: 3\n",
            "assertions of the RTL that have a condition: 2, reached 1, 50.0 %\n", "a.InRange: its condition was never met\n"])
        value = json.loads(out.read_text())
        want = {"lines": 5, "reached": 3, "missed": [3, 9]}
        if value["RTL"]["files"]["rtl/x/a.sv"] != want or value["C++"]["percent"] != 66.67:
            print(f"the JSON is otherwise: {value}")
            wrong += 1
        if value["assertions"] != {"all": 2, "reached": 1, "percent": 50.0, "missed": ["a.InRange"]}:
            print(f"the JSON is otherwise: {value['assertions']}")
            wrong += 1
        wrong += told(0, *run(TOOL, "--data", folder, "--files"), ["rtl/y/c.sv        1        1   100.0\n"])
        wrong += told(1, *run(TOOL, "--data", folder, "--check", "66.67"), [
            "RTL: 66.7 % of the lines are reached, less than 66.67 %", "C++: 66.7 %"])
        (folder / "cpp.gcov").unlink()
        wrong += told(5, *run(TOOL, "--data", folder), ["nothing was measured of C++"])
        wrong += told(3, *run(TOOL, "--data", folder, "--check", "101"), ["101 is not from 0 to 100"])
    for sentence, files in WRONG.items():
        with in_folder({**GOOD, **files}) as folder:
            wrong += told(3, *run(TOOL, "--data", folder), [sentence, "Run 'mrc coverage' without --data"])
    wrong += told(3, *run(TOOL, "--data", "/nowhere"), ["/nowhere is no folder"])
    print(f"{len(WRONG)} wrong samples; {wrong} runs went otherwise")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
