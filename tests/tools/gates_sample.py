#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A netlist of gates in the place of a small block behaves like the block in 2000 random cycles; one with a broken gate
does not. The mutants of the block are there, with none of them on it behaves like the block, and those that abc calls
equal cannot be told apart."""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import blocks as swap  # noqa: E402
import equal  # noqa: E402
import fpga  # noqa: E402
import gates  # noqa: E402
import mutate_rtl  # noqa: E402
import netlist  # noqa: E402
import rtl  # noqa: E402

SAMPLE = "tests/tools/gates/sample_block.sv"
COUNT = 60
FAILED = []


def check(what, good):
    if not good:
        FAILED.append(what)
        print(f"wrong: {what}")


def read():
    steps = netlist.READ.format(options="", top="sample_block", files=SAMPLE)
    with tempfile.TemporaryDirectory() as scratch:
        code, log = fpga.run_yosys(f"{steps}; write_rtlil all.il", [SAMPLE], scratch)
        assert code == 0, log
        return swap.Block("sample_block", "sample_block", (Path(scratch) / "all.il").read_text())


def simulator(folder, places):
    """A program that runs the block and what stands in its place, by module name."""
    for name, text in places.items():
        (folder / f"{name}.sv").write_text(text.replace("module sample_block\n", f"module {name}\n"))
    done = subprocess.run(["verilator", "--binary", "--timing", "-Wno-lint", "-Wno-style", "-Wno-fatal", "--x-initial", "0",
                           "--top-module", "sample_top", "--Mdir", str(folder / "made"), "-CFLAGS", "-O0", "-o", "run",
                           str(ROOT / SAMPLE), *[str(folder / f"{name}.sv") for name in places],
                           str(ROOT / "tests/tools/gates/sample_top.sv")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "made/run"


def differ(program, number=0):
    """In how many cycles the good, the wrong and the mutated netlist differ from the block."""
    done = subprocess.run([program], capture_output=True, text=True, check=True,
                          env={"MRC_RTL_MUTANT": str(number), "PATH": "/usr/bin"})
    return list(map(int, re.search(r"differ (\d+) (\d+) (\d+)", done.stdout).groups()))


def main():
    swap.CACHE.mkdir(parents=True, exist_ok=True)
    block = read()
    made = gates.mapped(block)
    found = gates.counts(made["cells"])
    check(f"12 flip-flops and a table: {found}", found["flipflops"] == 12 and found["tables"] == 1)
    check("gates alone", all(kind.startswith("$_") or kind == "$mem_v2" for kind in made["cells"]))
    broken = mutate_rtl.Broken(block, COUNT, 1, 0)
    circuit = broken.circuit()
    same = [mutant.number for mutant in broken.mutants if circuit.same(mutant.number)]
    shell = block.shell(ROOT / SAMPLE, "sample_block_gates", unconnected=("bug_i",)) + made["verilog"]
    wrong = re.sub(r"\s\^\s", " | ", made["verilog"]).replace("sample_block_gates", "broken_gates")
    places = {"good": shell, "wrong": block.shell(ROOT / SAMPLE, "broken_gates", unconnected=("bug_i",)) + wrong,
              "mutants": broken.text(ROOT / SAMPLE)}
    with tempfile.TemporaryDirectory() as name:
        program = simulator(Path(name), places)
        counts = differ(program)
        check(f"good, wrong, no mutant: {counts}", counts[0] == 0 and counts[1] > 0 and counts[2] == 0)
        seen = [mutant.number for mutant in broken.mutants if differ(program, mutant.number)[2] > 0]
    check(f"{len(broken.mutants)} mutants", len(broken.mutants) == COUNT)
    check("one is seen and called equal", not set(same) & set(seen))
    open_ones = [str(mutant) for mutant in broken.mutants if mutant.number not in same + seen]
    check(f"neither seen nor equal: {open_ones}", not open_ones)
    check("a mutant without a line of the sample", all(mutant.line.startswith(SAMPLE) for mutant in broken.mutants))
    line = broken.mutants[0].line
    there = mutate_rtl.Broken(block, 3, 1, 0, (line,))
    check(f"mutants of {line}: {[mutant.line for mutant in there.mutants]}",
          there.mutants and len(there.mutants) <= 3 and {mutant.line for mutant in there.mutants} == {line})
    check("each is in the netlist", all(f"== 16'h{mutant.number:04x}" in there.verilog for mutant in there.mutants))
    print(f"{found['gates']} gates; of {COUNT} mutants {len(seen)} are seen, {len(same)} cannot be told apart")
    return rtl.Exit.FAIL if FAILED else rtl.Exit.PASS


if __name__ == "__main__":
    sys.exit(main())
