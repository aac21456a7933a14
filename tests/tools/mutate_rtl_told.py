#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""tools/mutate_rtl.py: what it makes of answers. Vectors are asked only of what L2 has not seen; the sum of both is told;
a reason is found by line, pin and instance; an answer to another scenario is none. Nothing is built."""
import contextlib
import io
import json
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import mutate_rtl  # noqa: E402
import rtl  # noqa: E402

FILE = "rtl/lib/mrc_rr_arb.sv"
CELLS = (r"$flatten\u_a.\u_arb.$12", r"$flatten\u_b.\u_arb.$12", "u_told.mem_q", r"$flatten\gen_in[1].u_desc.$19", "$226")
INSIDE = ["u_a.u_arb", "u_b.u_arb", "u_told", "gen_in[1].u_desc", ""]
RUNS = {"L0": [("mixed", 1, 1), ("loss", 1, 1)], "L2": [("mixed", 1, 1)], "vectors": [("R-MEM", 0, 0, "1234")]}
LEVELS = ["L0", "L2", "vectors"]
FAILED = []


def check(what, got, right):
    if got != right:
        FAILED.append(what)
        print(f"{what}:\n  is    {got}\n  right {right}")


def mutants():
    line = f"mutate -ctrl mutant_i 16 1 -mode inv -module m -cell {{}} -port A -portbit 3 -src {FILE}:20.1-20.9"
    return [mutate_rtl.Mutant("block", number, line.format(cell)) for number, cell in enumerate(CELLS, 1)]


class Memory:
    def __init__(self):
        self.answers = {}

    def of(self, version, number):
        return self.answers.setdefault((version, number), {})

    def write(self, version, number, level, run, seen):
        self.of(version, number)[level, run] = seen


class Judges:
    """Mutant 1: seen everywhere. 2: only by vectors. 3: nowhere. 4: an old answer. 5: at L2, but not at L0, where loss says
    something without a mutant, too."""
    SEEN = {1: {"L0", "L2", "vectors"}, 2: {"vectors"}, 5: {"L2"}}
    ALWAYS = {(0, "L0", "loss"), (5, "L0", "loss")}

    def __init__(self):
        self.asked = []

    def ask(self, level, run, number):
        self.asked.append((number, level, run[0]))
        return f"seen at {level}" if level in self.SEEN.get(number, ()) or (number, level, run[0]) in self.ALWAYS else None


def quiet(function, *arguments):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = function(*arguments)
    return code, out.getvalue()


class Together:
    """Mutants 3 and 12 are seen, in loss alone; and 5, in mixed, where somebody says something without a mutant, too. Of 3
    and 12 a stream of a block is named: of 12 that of another one."""

    def __init__(self):
        self.asked = []

    def ask(self, level, run, numbers):
        self.asked.append((run[0], str(numbers)))
        on = set(map(int, str(numbers).split(",")))
        return "mismatch" if on & ({3, 12} if run[0] == "loss" else {0, 5}) else None

    def look(self, level, run, numbers):
        seen = self.ask(level, run, numbers)
        first = seen and min(set(map(int, str(numbers).split(","))) & ({3, 12} if run[0] == "loss" else {5}))
        return seen, ((first, "stream"),) if seen else (), {3: ("b",), 12: ("a",)}.get(first, ())


def together_vectors(brokens, line):
    """What is asked of vectors: cq_mux 1, which R-IMM-001 does not see, rx_reorder 2, which it sees, and csr 1, of which it
    does not speak and that L2 has seen."""
    class Sees4(Together):
        def look(self, level, run, numbers):
            return self.ask(level, run, numbers), None, ()

        def ask(self, level, run, numbers):
            self.asked.append((run[0], str(numbers)))
            return "vector" if "4" in str(numbers).split(",") else None

    runs = {"L2": [("mixed", 1, 1)], "vectors": [("R-IMM-001", 0, 0, "1"), ("Q-ERR-001", 0, 0, "1")]}
    pairs = [(brokens[name], mutate_rtl.Mutant(block, number, line)) for name, block, number in
             (("a", "mrc_cq_mux", 1), ("b", "mrc_rx_reorder", 2), ("c", "mrc_csr", 1))]
    memory, judges = Memory(), Sees4()
    for broken, mutant in pairs:
        memory.write(broken.version, mutant.number, "L2", runs["L2"][0], "rule" if mutant.block == "mrc_csr" else None)
    rest = mutate_rtl.Rest("device", memory, judges)
    quiet(mutate_rtl.together, pairs, memory, judges, rest, "vectors", ["L2", "vectors"], runs, 1)
    return judges.asked


def check_together():
    line = f"mutate -ctrl mutant_i 16 1 -mode inv -module m -cell $1 -port A -portbit 3 -src {FILE}:20.1-20.9"
    brokens = {name: SimpleNamespace(version=name, first=first) for name, first in (("a", 0), ("b", 2), ("c", 4), ("d", 10))}
    pairs = [(brokens[name], mutate_rtl.Mutant(name, number, line)) for name, number in
             (("a", 1), ("a", 2), ("b", 1), ("c", 1), ("d", 2))]
    check("groups: one of each block", [[pair[1].key for pair in group] for group in mutate_rtl.groups(pairs)],
          [["a 1", "b 1", "c 1", "d 2"], ["a 2"]])
    memory, judges = Memory(), Together()
    rest = mutate_rtl.Rest("device", memory, judges)
    with contextlib.redirect_stderr(io.StringIO()):
        _, said = quiet(mutate_rtl.together, pairs, memory, judges, rest, "L0", ["L0"], RUNS, 1)
    check("together: what is asked", judges.asked, [
        ("mixed", "1,3,5,12"), ("mixed", "1,3"), ("mixed", "5,12"), ("mixed", "5"), ("mixed", "0"), ("mixed", "12"),
        ("mixed", "2"),
        ("loss", "1,3,5,12"), ("loss", "1,5,12"), ("loss", "0"), ("loss", "5,12"), ("loss", "1"), ("loss", "5,12"), ("loss", "5"),
        ("loss", "12"), ("loss", "2")])
    check("together: who is seen", [m.key for _, m in pairs if mutate_rtl.seen_at(memory.of(m.block, m.number), "L0", RUNS)],
          ["b 1", "d 2"])
    check("together: words", said.splitlines()[-1], "L0 loss 1 1 (2 of 2): 5 mutants in 8 runs, 2 seen: b 1, d 2")
    check("together: vectors, of blocks of which they speak and that L2 has not seen", together_vectors(brokens, line),
          [("R-IMM-001", "1,4"), ("R-IMM-001", "1"), ("R-IMM-001", "4"), ("R-IMM-001", "0"), ("Q-ERR-001", "1")])
    before = len(judges.asked)
    quiet(mutate_rtl.together, pairs, memory, judges, rest, "L0", ["L0"], RUNS, 1)
    check("together: nothing is asked twice", len(judges.asked), before)


def main():
    check_together()
    all_of_them = mutants()
    check("instances", [m.inside for m in all_of_them], INSIDE)
    broken = SimpleNamespace(version="v", first=0)
    pairs = [(broken, m) for m in all_of_them]
    memory, judges = Memory(), Judges()
    memory.write("v", 4, "L0", ("loss", 1, 1, "an older file"), "mismatch")
    for m in all_of_them:
        memory.write("v", m.number, *mutate_rtl.EQUAL, "")
    rest = mutate_rtl.Rest("device", memory, judges)
    with contextlib.redirect_stderr(io.StringIO()) as words:
        quiet(mutate_rtl.work, mutate_rtl.plan(pairs, memory, LEVELS, RUNS), memory, judges, rest, LEVELS, RUNS, 1)
    check("what is left out", words.getvalue(),
          "mrc mutate: L0 loss 1 1 is left out: without a mutant, too: seen at L0\n")
    check("without a mutant: each run in which somebody sees something, once", [a for a in judges.asked if a[0] == 0],
          [(0, "L0", "mixed"), (0, "L0", "loss"), (0, "L2", "mixed"), (0, "vectors", "R-MEM")])
    check("mutant 1: the first run at L0 is enough, and L2", [a for a in judges.asked if a[0] == 1],
          [(1, "L0", "mixed"), (1, "L2", "mixed")])
    check("mutant 2: all of them", [a for a in judges.asked if a[0] == 2],
          [(2, "L0", "mixed"), (2, "L0", "loss"), (2, "L2", "mixed"), (2, "vectors", "R-MEM")])
    check("mutant 5: no vectors", (5, "vectors", "R-MEM") in judges.asked, False)
    check("nothing is left", mutate_rtl.plan(pairs, memory, LEVELS, RUNS), [])
    text = (ROOT / FILE).read_text(encoding="utf-8").splitlines()[19].strip()
    with tempfile.TemporaryDirectory() as name:
        listed, out = Path(name) / "listed.yaml", Path(name) / "out.json"
        for words, equal, code in ((f"{text} @ inv A[3] in u_told", 1, rtl.Exit.PASS),
                                   (f"{text} @ inv A[3] of u_told.mem_q in block", 1, rtl.Exit.PASS),
                                   (f"{text} @ inv A[3] of u_told.mem_q in other", 0, rtl.Exit.PASS), (f"{text} @ inv A[3]", 5, rtl.Exit.FAIL),
                                   (f"{text} @ inv A[4]", 0, rtl.Exit.PASS)):
            listed.write_text(json.dumps({"equivalent": {FILE: {words: "why"}}}))
            options = SimpleNamespace(json=str(out), seed=1, count=5)
            got, said = quiet(mutate_rtl.tell, pairs, memory, mutate_rtl.Listed(listed), LEVELS, RUNS, options)
            check(f"{words}: exit code", got, code)
            last = json.loads(out.read_text())["totals"][-1]
            check(f"{words}: equivalent", last["equivalent"], equal)
            if equal == 1:
                check("totals", last, {"block": "all", "mutants": 5, "equivalent": 1, "L0": 1, "L2": 2, "vectors": 1,
                                       "L2 or vectors": 3})
                check("words", said.splitlines()[-1], "all: 5 mutants, 1 cannot be told apart, of the others seen at "
                      "L0 1 (25.0 %), L2 2 (50.0 %), vectors 1 (25.0 %), L2 or vectors 3 (75.0 %)")
    with tempfile.NamedTemporaryFile(suffix=".toml") as file:
        run = (file.name, 1, 1)
        first = mutate_rtl.dated(run)
        file.write(b"qps = 1\n")
        file.flush()
        check("another file is another run", first[:3] == run and first != mutate_rtl.dated(run), True)
    check("a built-in scenario", mutate_rtl.dated(("mixed", 1, 1)), ("mixed", 1, 1))
    runs = mutate_rtl.questions(["L2", "vectors"], False)
    check("levels that are asked", sorted(runs), ["L2", "vectors"])
    for block in mutate_rtl.SPEAK_OF:
        mine = [run[0] for run in mutate_rtl.asked(f"mrc_{block}", "vectors", runs)]
        families = [name.rpartition("-")[0] for name in mine]
        kinds = sorted(mutate_rtl.SPEAK_OF[block])
        check(f"vectors of {block}: the first of each family come first", (families[:len(kinds)], set(families), len(set(mine))),
              (kinds, set(kinds), len(mine)))
    check("all runs of a scenario", mutate_rtl.asked("mrc_tx_path", "L2", runs), runs["L2"])
    files = sorted(path.name for path in (ROOT / "tools/mutation").glob("*.toml"))
    check("every scenario is one of the runs", sorted({Path(run[0]).name for level in ("L0", "L2")
                                                       for run in mutate_rtl.STAGES[level]
                                                       if run[0].endswith(".toml")}), files)
    print(f"{len(FAILED)} wrong")
    return rtl.Exit.FAIL if FAILED else rtl.Exit.PASS


if __name__ == "__main__":
    sys.exit(main())
