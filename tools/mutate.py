#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""mrc mutate --rules: mutants of the rules of MRC. Changes one operator in cmodel/protocol at a time, for model, peer and
fast endpoint alike, and tests whether vectors, rules and the reference detect it. Lockstep is blind to such an error,
since both sides have it. Unit tests are left out. A mutant that only the bench detects (wrong data, a hang) is listed,
and counts as not seen.

All mutants are compiled at once: an operator becomes a call that the environment variable MRC_MUTANT switches. Results
are kept per mutant, so that an interrupted run goes on where it was. When vectors, rules or scenarios have changed, only
mutants run again that nothing had detected. tools/mutants.yaml lists three kinds, each with the reason: mutants that are
equal to the original; mutants that are another legal NIC, by which fact or mark; mutants that nothing detects yet. The
first two do not count."""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import multiprocessing
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import rtl

BUILD = rtl.ROOT / "build/mutate"
TREE = BUILD / "tree"
RESULTS = BUILD / "results.jsonl"
SEEN = rtl.ROOT / "tools/mutants_seen.json"
ROOM = "cmodel/protocol"
# What only tools use, or what says itself in floating point what nscc.cpp says in integers.
LEFT_OUT = {"nscc_float", "nscc_config", "nscc_read", "nscc_events", "ev_profile"}
OTHER = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "+": "-", "-": "+",
         "&": "|", "|": "&"}
CALLS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne", "+": "add", "-": "sub", "&": "band",
         "|": "bor"}
HEADER = """// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdlib>
#include <type_traits>
namespace mrc::mutant {
inline const int active = std::getenv("MRC_MUTANT") ? std::atoi(std::getenv("MRC_MUTANT")) : -1;
constexpr bool on(int k) { return !std::is_constant_evaluated() && active == k; }
""" + "".join(
    f"template <int k> constexpr auto {name}(auto a, auto b) {{ return on(k) ? a {OTHER[op]} b : a {op} b; }}\n"
    for op, name in CALLS.items()) + """}  // namespace mrc::mutant
"""
EXAMPLES = """Examples:
  mrc mutate --rules --list                     the mutants
  mrc mutate --rules --most 60 --seed 1         sixty of them, drawn
  mrc mutate --rules --files "rx_|responses"    those of these files
  mrc mutate --rules --json mutants.json        all; hours"""
# Vectors that take more than half a second with our model: last, and not with --quick.
LONG = set("""Q-EV-007 Q-EV-008 Q-MPR-004 Q-PLANE-011 Q-PORT-001 Q-PORT-002 Q-PORT-003 Q-PORT-004 Q-PORT-005 Q-PORT-006
Q-PORT-012 Q-PORT-014 Q-PORT-015 Q-RTX-001 S-A03-LABEL-002 S-A03-PORT-002 S-A36-HIGH-001 S-A36-LOW-001
S-A37-FROM0-001 S-A37-FROM1-001 S-A76-ONE-012 S-A76-PLANE-012""".split())
# Those who play vectors: {name: (options of mrc nic, which vectors)}. Tiny has a window of one unit, which cannot become
# another one, and two planes.
ENDPOINTS = {"model": (("--endpoint", "model"), lambda vector: True), "fast": (("--endpoint", "fast"), lambda vector: True),
             "model of fpga100": (("--endpoint", "model", "--preset", "fpga100"), lambda vector: "dyn_mpr" in vector["caps"]),
             "model of asic800": (("--endpoint", "model", "--preset", "asic800"), lambda vector: vector["planes"] > 2)}
# Files of the part that is the requestor's; the rest is the responder's and the wire's.
REQUESTOR = {"blame", "endpoint", "ev_set", "flight", "overdue", "port_loss", "probe", "resend", "retry", "silence", "step_timer",
             "tx_window"}
CONTROLLER = {"nscc"}
# Keys of scenarios in which every QP has a controller, and what happens to it; sizes as a link carries them.
CONTROLLED = {
    "cc-late": {"ecn": 0.2, "ts_share": 1, "cc_qa_threshold_ns": 512, "cc_rtt_ns": 2000, "jitter_ns": 2000},
    "cc-whole": {"exact_share": 1, "small_share": 0, "ts_share": 1, "cc_adjust_ns": 1000000, "cc_mtu": 1120,
                 "mtu_min": 2, "mtu_max": 2},
    "cc-any-nack": {"cc_nack_any_reason": True, "ts_share": 1, "trim": 0.02, "stall": 0.3,
                    "bad_access": 3, "no_bytes": 0.01, "loss": 0.01, "rto": 6, "may_fail": True},
    "cc-slow": {"cc_rtt_ns": 20000, "cc_near_zero_ns": 1000, "cc_fi": 64, "ts_share": 1, "jitter_ns": 500, "ecn": 0.05},
    "cc-narrow": {"cc_rtt_ns": 1000, "ts_share": 1, "trim": 0.1, "ecn": 0.1, "penalty": 0.2, "cc_rate_gbps": 25},
    "cc-asks": {"cc_ar_shift": 3, "ts_share": 1, "cc_md_resets_fast": True, "ecn": 0.3, "jitter_ns": 3000,
                "cc_disable_qa": True},
    "cc-loss": {"loss": 0.02, "ts_share": 1, "cc_nack_rtt": True, "cc_nack_sample_cfg": True, "trim": 0.05},
}
# (scenario, packets, seed), at tiny: recorded by the bench, held against the rules and the reference.
CONTROLLER_RUNS = [("penalty", 800, 3), ("incast-trim", 800, 3), *((name, 800, 3) for name in CONTROLLED),
                   ("many-peers", 800, 3), ("qp-error", 800, 3), ("retry-exhaust", 400, 3), ("soak", 800, 3),
                   *(("random", 800, seed) for seed in range(3, 9))]
RUNS = [("mixed", 1500, 3), ("trim", 800, 3), ("loss", 800, 3), ("window", 800, 3), ("link-flap", 800, 3),
        ("immediate", 600, 3), ("probe-revive", 600, 3), ("bad-ev", 600, 3), ("rto", 600, 3), ("ecn", 600, 3),
        ("reorder", 600, 3), ("corrupt", 800, 3), ("many-qps", 800, 3), ("slow-host", 600, 3), ("plane-loss", 600, 3),
        ("refused", 600, 3), ("no-bytes", 600, 3), ("dynamic-mpr", 800, 3), ("few-updates", 600, 3),
        ("plane-addresses", 600, 3), ("bad-plane", 600, 3), ("late-data", 600, 3), ("mixed", 1500, 4),
        ("mixed", 1500, 5)]


def fail(sentence, remedy, code=3):
    print(f"mrc mutate: {sentence}\n  {remedy}", file=sys.stderr)
    sys.exit(code)


def cindex():
    try:
        import clang.cindex as module
    except ImportError:
        fail("the Python binding of clang is missing.", "Install the package python3-clang-14 (Debian 12), or python3-clang-19 (Debian 13).")
    return module


class Mutant:
    def __init__(self, file, line, column, op, text):
        self.file, self.line, self.column, self.op, self.text = file, line, column, op, text
        self.key = f"{file}:{line}:{column} {op} {OTHER[op]}"
        self.like = f"{file}: {text} ({op})"  # the same when lines have moved

    def __str__(self):
        return f"{self.file}:{self.line}:{self.column}: '{self.op}' becomes '{OTHER[self.op]}' in: {self.text}"


class Rewriter:
    """Collects the mutants of a file, and writes it with all of them."""

    def __init__(self, path, root):
        self.c = cindex()
        self.name = path.relative_to(root).as_posix()
        self.source = path.read_bytes()
        arguments = ["-x", "c++", "-std=c++20", f"-I{root / 'cmodel'}", "-Wno-pragma-once-outside-header"]
        self.unit = self.c.Index.create().parse(str(path), args=arguments)
        errors = [str(d) for d in self.unit.diagnostics if d.severity >= self.c.Diagnostic.Error]
        if errors:
            fail(f"clang cannot read {self.name}: {errors[0]}.", "Build the project first; the sources must compile.")
        self.found = []  # (mutant, begin, left end, right begin, end)
        self.visit(self.unit.cursor, False)

    def visit(self, node, inside):
        kind, kinds = node.kind, self.c.CursorKind
        if kind == kinds.TRANSLATION_UNIT:
            for child in node.get_children():
                if child.location.file and child.location.file.name.endswith(self.name):
                    self.visit(child, False)
            return
        if kind in (kinds.STATIC_ASSERT, kinds.ENUM_DECL):
            return
        if kind == kinds.VAR_DECL and any(t.spelling == "constexpr" for t in node.get_tokens()):
            return  # computed when it is compiled
        if kind == kinds.COMPOUND_STMT:
            inside = True
        children = list(node.get_children())
        if kind == kinds.CASE_STMT:
            children = children[1:]
        if inside and kind == kinds.BINARY_OPERATOR and len(children) == 2:
            self.operator(node, *children)
        for child in children:
            self.visit(child, inside)

    def operator(self, node, left, right):
        begin, end = left.extent.end.offset, right.extent.start.offset
        tokens = [t for t in node.get_tokens() if t.extent.start.offset >= begin and t.extent.end.offset <= end]
        ops = [t for t in tokens if t.spelling in OTHER]
        number = ("INT", "UINT", "LONG", "ULONG", "UCHAR", "USHORT", "BOOL", "SHORT", "SCHAR", "LONGLONG", "ULONGLONG")
        if len(ops) != 1 or node.type.get_canonical().kind.name not in number:
            return
        if any(side.type.get_canonical().kind.name not in (*number, "ENUM") for side in (left, right)):
            return
        if node.extent.start.offset >= left.extent.start.offset + 1 or node.extent.end.offset < right.extent.end.offset:
            return
        op = ops[0]
        text = self.source[node.extent.start.offset:node.extent.end.offset].decode()
        mutant = Mutant(self.name, op.location.line, op.location.column, op.spelling, re.sub(r"\s+", " ", text))
        self.found.append((mutant, node.extent.start.offset, op.location.offset,
                           op.location.offset + len(op.spelling), node.extent.end.offset))

    def rewritten(self, numbers, begin=0, end=None):
        """Bytes begin to end, with the mutants of `numbers` {key: number} built in."""
        end = len(self.source) if end is None else end
        out, at = b"", begin
        inner = [f for f in self.found if begin <= f[1] and f[4] <= end and (f[1], f[4]) != (begin, end)]
        if (whole := [f for f in self.found if (f[1], f[4]) == (begin, end)]):
            mutant, _, op_begin, op_end, _ = whole[0]
            left, right = self.rewritten(numbers, begin, op_begin), self.rewritten(numbers, op_end, end)
            number = numbers.get(mutant.key)
            op = mutant.op.encode()
            if number is None:
                return left + op + right
            if mutant.op in ("&&", "||"):
                other = OTHER[mutant.op].encode()
                return b"(mrc::mutant::on(%d) ? ((%s) %s (%s)) : ((%s) %s (%s)))" % (
                    number, left, other, right, left, op, right)
            return b"mrc::mutant::%s<%d>(%s, %s)" % (CALLS[mutant.op].encode(), number, left, right)
        for f in sorted(inner, key=lambda f: (f[1], -f[4])):
            if f[1] < at:
                continue
            out += self.source[at:f[1]] + self.rewritten(numbers, f[1], f[4])
            at = f[4]
        return out + self.source[at:end]


def rewriters():
    return [Rewriter(p, rtl.ROOT) for p in sorted((rtl.ROOT / ROOM).glob("*.[hc]pp")) if p.stem not in LEFT_OUT]


def build(files, numbers):
    """A copy of the tree with all mutants in it, compiled. What does not compile as a mutant is taken out."""
    names = subprocess.run(["git", "-C", rtl.ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                           capture_output=True, check=True).stdout.decode().split("\0")
    rewritten = {file.name for file in files}
    for name in filter(None, names):
        source, target = rtl.ROOT / name, TREE / name
        if not source.is_file() or name.startswith("docs/figures"):
            continue
        if name not in rewritten and (not target.exists() or source.stat().st_mtime != target.stat().st_mtime):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    (TREE / "cmodel/protocol/mutant.hpp").write_text(HEADER, encoding="utf-8")
    for file in files:
        text = file.rewritten(numbers)
        if file.name.endswith(".hpp"):
            text = text.replace(b"#pragma once", b"#pragma once\n#include \"protocol/mutant.hpp\"", 1)
        else:
            text = b"#include \"protocol/mutant.hpp\"\n" + text
        target = TREE / file.name
        if not target.exists() or target.read_bytes() != text:
            target.write_bytes(text)
    steps = (["cmake", "-S", TREE, "-B", BUILD / "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
              "-DCMAKE_CXX_FLAGS=-w", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"], ["ninja", "-C", BUILD / "build", "mrc"])
    for step in steps:
        run = subprocess.run(list(map(str, step)), capture_output=True, text=True)
        if run.returncode:
            (BUILD / "build.log").write_text(run.stdout + run.stderr, encoding="utf-8")
            wrong = re.findall(r"(cmodel/protocol/\w+\.[hc]pp):(\d+):\d+: error", run.stdout + run.stderr)
            return {(file, int(line)) for file, line in wrong} or fail(
                "the mutants cannot be built.", f"{BUILD / 'build.log'} says why.")
    return set()


def digest(*places):
    """Of the files below these folders, as they are."""
    out = hashlib.sha256()
    for place in places:
        for path in sorted(p for p in place.rglob("*") if p.is_file() and p.suffix != ".pyc"
                           and p.name not in ("rules.hpp", "rules.json", "COVERAGE.md")):
            out.update(path.relative_to(place).as_posix().encode() + b"\0" + path.read_bytes())
    return out


def name_of(run):
    return "-".join(map(str, run))


class Memory:
    """What saw mutants in earlier runs, of whatever version, and tools/mutants_seen.json: asked first, so that a run
    that has been made before takes a fraction of the time. What is in it decides nothing but the order."""

    def __init__(self, mutants):
        self.by_number = {n: m for n, m in enumerate(mutants, 1)}
        self.alike, self.in_file, self.all = {}, {}, collections.Counter()
        self.read = 0
        for like, who in (json.loads(SEEN.read_text(encoding="utf-8")) if SEEN.exists() else {}).items():
            self.add(like, who)
        self.look()

    def add(self, like, who):
        self.alike.setdefault(like, collections.Counter())[who] += 1
        self.in_file.setdefault(like.split(":")[0], collections.Counter())[who] += 1
        self.all[who] += 1

    def look(self):
        """Others write while we read: whole lines alone count."""
        if not RESULTS.exists():
            return
        with open(RESULTS, "rb") as stream:
            stream.seek(self.read)
            data = stream.read()
        data = data[:data.rfind(b"\n") + 1]
        self.read += len(data)
        for line in data.splitlines():
            entry = json.loads(line)
            if "like" in entry and entry["seen"]["by"] not in ("", "bench"):
                self.add(entry["like"], witness(entry["seen"]))

    def known(self, number):
        """Who saw this one: scenarios, and vectors with an endpoint."""
        counted = self.alike.get(self.by_number[number].like, {})
        return sorted(counted, key=lambda who: -counted[who])[:3]

    def rank(self, number, who):
        """Sorts those first who saw most mutants of the same file."""
        here = self.in_file.get(self.by_number[number].file, {}).get(who, 0)
        return -100 * here - self.all[who]


def witness(seen):
    """The scenario, or the vector and its endpoint, of a result."""
    return seen["how"].rsplit(" in ", 1)[-1]


class Judges:
    """Who sees a mutant? Rules and reference in recorded runs, and the vectors."""

    def __init__(self, mrc, folder, mutants):
        sys.path.insert(0, str(rtl.ROOT / "conformance"))
        from mrcscript import cli, engine, runner
        self.mrc, self.folder, self.engine, self.runner = mrc, folder, engine, runner
        self.all = runner.load(runner.scripts_of(cli.VECTORS))
        self.by_id = {v["id"]: v for v in self.all}
        self.memory = Memory(mutants)
        self.runs = {name_of(run): run for run in CONTROLLER_RUNS + RUNS}
        folder.mkdir(parents=True, exist_ok=True)
        for name, keys in CONTROLLED.items():
            text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in {"cc_share": 1, **keys}.items())
            (folder / f"{name}.toml").write_text(text, encoding="utf-8")
        self.quiet = Quiet(BUILD / "quiet.jsonl")
        self.vectors = {}  # by endpoint, and whether they take long
        for endpoint, (_, fits) in ENDPOINTS.items():
            asked = [v for v in self.all if fits(v)]
            for long in (False, True):
                self.vectors[endpoint, long] = [v for v in asked if (v["id"] in LONG) == long]

    def call(self, arguments, number=0):
        try:
            run = subprocess.run([str(self.mrc), *map(str, arguments)], capture_output=True, text=True, timeout=30,
                                 env={**os.environ, "MRC_MUTANT": str(number), "MRC_ROOT": str(rtl.ROOT)})
        except subprocess.TimeoutExpired:
            return 2
        return run.returncode

    def in_run(self, number, name):
        """(verdict of mrc check: rule and scenario; complaint of the bench alone)"""
        scenario, packets, seed = self.runs[name]
        folder = self.folder / str(number)
        folder.mkdir(parents=True, exist_ok=True)
        log, result = folder / "run.mrclog", folder / "check.json"
        place = self.folder / f"{scenario}.toml" if scenario in CONTROLLED else scenario
        try:
            code = self.call(["cosim", "--dut", "model", "--preset", "tiny", "--scenario", place, "--packets", packets,
                              "--seed", seed, "--threads", 1, "--record", log, "--reports", folder], number)
            bench = "" if code == 0 else f"exit code {code} in {name}"
            if number == 0 and code == 3:
                return {"by": "bench", "how": f"the scenario {place} cannot be run"}, ""
            if log.exists() and self.call(["check", log, "--json", result]) in (0, 1) and result.exists():
                said = json.loads(result.read_text(encoding="utf-8"))
                if said["verdict"] in ("fail", "deviates"):
                    worst = [f["rule"] for f in said["findings"] if f["verdict"] == said["verdict"]]
                    return {"by": f"rule {said['verdict']}", "how": f"{worst[0] if worst else ''} in {name}"}, bench
            return None, bench
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def in_vectors(self, number, endpoint, asked):
        pool = self.runner.Pool(self.runner.process_maker(
            ["env", f"MRC_MUTANT={number}", f"MRC_ROOT={rtl.ROOT}", str(self.mrc), "nic", *ENDPOINTS[endpoint][0]], 30))
        try:
            for vector in asked:
                wall = 120 if vector["id"] in LONG else 30
                result = pool.run(vector, wall)
                if result.disposition == "error":  # maybe the machine was busy
                    result = pool.run(vector, 2 * wall)
                if result.disposition in ("fail", "deviates", "error"):
                    return {"by": f"vector {result.disposition}", "how": f"{vector['id']} with {endpoint}"}
        finally:
            pool.close()
        return None

    def sorted(self, number, endpoint, long, caps):
        """Those that take long, or the others; first those that saw most of the mutants of this file, the
        rest in any order: neighbours ask nearly the same. `caps`: those first that name it."""
        asked = list(self.vectors[endpoint, long])
        random.Random(number).shuffle(asked)
        return sorted(asked, key=lambda v: (self.memory.rank(number, f"{v['id']} with {endpoint}"),
                                            caps not in v["caps"]))

    def ask(self, number, who):
        """Does this scenario, or this vector with an endpoint, see the mutant? And what the bench has to say."""
        vector, _, endpoint = who.partition(" with ")
        if vector in self.by_id and endpoint in ENDPOINTS:
            return self.in_vectors(number, endpoint, [self.by_id[vector]]), ""
        return self.in_run(number, who) if who in self.runs else (None, "")

    def judge(self, number, quick=False):
        """Who is likely comes first, then what costs least. Who sees something without any mutant, too, does not count:
        it is asked once for each version."""
        self.memory.look()
        whose = part(self.memory.by_number[number])
        bench, tried, loud = [], set(), set()

        def right(seen):
            if seen and not self.quiet.says(witness(seen), lambda who: self.ask(0, who)[0]):
                loud.add(witness(seen))
                return None
            return seen

        def runs(some):
            for name in sorted(map(name_of, some), key=lambda name: self.memory.rank(number, name)):
                if name in tried:
                    continue
                tried.add(name)
                seen, complaint = self.in_run(number, name)
                bench.append(complaint)
                if (seen := right(seen)):
                    return seen
            return None

        def likely():
            for who in self.memory.known(number):
                if (seen := right(self.ask(number, who)[0])):
                    return seen
            return None

        def vectors(endpoint, long):
            caps = "responder" if whose == "responder and wire" else "requestor"
            asked = self.sorted(number, endpoint, long, caps)
            while asked and (seen := self.in_vectors(number, endpoint, asked)):
                if right(seen):
                    return seen
                asked = asked[[v["id"] for v in asked].index(seen["how"].split()[0]) + 1:]
            return None
        large = ("model of fpga100", "model of asic800")
        short = [lambda: vectors("model", False), *(lambda name=name: vectors(name, False) for name in large)]
        stages = {"controller": [lambda: runs(CONTROLLER_RUNS), *short, lambda: runs(RUNS)],
                  "requestor": [lambda: runs(RUNS[:9]), *short, lambda: runs(RUNS + CONTROLLER_RUNS)]}.get(
                      whose, [*short, lambda: runs(RUNS[:9])])
        if not quick:
            stages += [lambda: vectors("fast", False), lambda: runs(RUNS + CONTROLLER_RUNS),
                       lambda: vectors("fast", True), lambda: vectors("model", True),
                       *(lambda name=name: vectors(name, True) for name in large)]
        for stage in [likely, *stages]:
            if (seen := stage()):
                return seen
        how = next(filter(None, bench), "")
        return {"by": "bench" if how else "", "how": how, **({"loud": sorted(loud)} if loud else {})}


class Quiet:
    """Who has nothing to say of the NIC without a mutant, of this version."""
    version = ""

    def __init__(self, path):
        self.path, self.known = path, {}
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            entry = json.loads(line)
            if entry["version"] == self.version:
                self.known[entry["who"]] = entry["quiet"]

    def says(self, who, ask):
        if who not in self.known:
            self.known[who] = ask(who) is None
            with open(self.path, "a", encoding="utf-8") as out:
                out.write(json.dumps({"version": self.version, "who": who, "quiet": self.known[who]}) + "\n")
        return self.known[who]


class Worker:
    """Judges of a process that judges mutants."""
    judges = None

    @classmethod
    def begin(cls, judges):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        cls.judges = judges

    @classmethod
    def judge(cls, number, quick):
        return cls.judges.judge(number, quick)


def judges_of(version, mutants):
    Quiet.version = version
    return Judges(BUILD / "build/bin/mrc", BUILD / "work", mutants)


class Listed:
    """tools/mutants.yaml: {equivalent: {file: {expression: reason}}, legal, unseen: the same}. An expression that
    stands in a file more than once is named with its line behind it, "a + b @ 12". A reason in place of the
    expressions is that of all mutants of the file."""

    def __init__(self, path, mutants):
        import yaml
        self.words = yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else {}
        known = {}
        for m in mutants:
            known.setdefault((m.file, m.text), []).append(m)
            known.setdefault((m.file, f"{m.text} @ {m.line}"), []).append(m)
        self.reasons = {"equivalent": {}, "legal": {}, "unseen": {}}
        self.wrong = [f"there is no section {word}" for word in self.words if word not in self.reasons]
        for section, reasons in self.reasons.items():
            for file, entries in (self.words.get(section) or {}).items():
                if isinstance(entries, str):  # all of the file
                    found = [m for m in mutants if m.file == file]
                    reasons.update({m.key: entries for m in found})
                    if not found:
                        self.wrong.append(f"{section}: {file} has no mutants")
                    continue
                for text, reason in entries.items():
                    found = known.get((file, text), [])
                    if len(found) != 1:
                        self.wrong.append(f"{section}: {file} has {len(found)} mutants '{text}'")
                    for m in found:
                        reasons[m.key] = reason

    def equivalent(self, mutant):
        return self.reasons["equivalent"].get(mutant.key)

    def legal(self, mutant):
        return self.reasons["legal"].get(mutant.key)

    def unseen(self, mutant):
        return self.reasons["unseen"].get(mutant.key)


def part(mutant):
    """Whose rule it is."""
    stem = Path(mutant.file).stem
    return "controller" if stem in CONTROLLER else "requestor" if stem in REQUESTOR else "responder and wire"


def known_results(path, version, judges, anew):
    """Results of earlier runs that still hold: of the same NIC, and what nobody saw of the same judges too."""
    results = {}
    if path.exists() and not anew:
        for line in path.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            if entry["version"] == version:
                results[entry["key"]] = entry
    return {key: e["seen"] for key, e in results.items()
            if e["judges"] in judges or e["seen"]["by"] not in ("", "bench")}


def ask(left, numbers, judges, results, o, write):
    """Judges these; false if it was interrupted."""
    began = time.monotonic()
    pool = concurrent.futures.ProcessPoolExecutor(o.j, multiprocessing.get_context("fork"), Worker.begin, (judges,))
    try:
        futures = {pool.submit(Worker.judge, numbers[m.key], o.quick): m for m in left}
        for done, future in enumerate(concurrent.futures.as_completed(futures), 1):
            mutant, seen = futures[future], future.result()
            results[mutant.key] = seen
            write(mutant, seen)
            rest = (time.monotonic() - began) / done * (len(left) - done)
            who = seen["by"] if seen["by"] not in ("", "bench") else "NOT SEEN"
            print(f"{done}/{len(left)} {who} {seen['how']}: {mutant}  ({rest:.0f} s left)", flush=True)
    except KeyboardInterrupt:
        return False
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return True


def tell(mutants, results, listed, o):
    """The last lines and the JSON; exit code 1 when a mutant that is listed as equivalent or legal was
    seen."""
    seen = [m for m in mutants if results[m.key]["by"] not in ("", "bench")]
    same = [m for m in mutants if listed.equivalent(m)]
    legal = [m for m in mutants if listed.legal(m)]
    wrong = [m for m in seen if listed.equivalent(m) or listed.legal(m)]
    survivors = [m for m in mutants if m not in seen and m not in same and m not in legal]
    for m in survivors:
        bench = f", but by the bench: {results[m.key]['how']}" if results[m.key]["by"] == "bench" else ""
        print(f"not seen{bench}: {m}")
        if listed.unseen(m):
            print(f"  {listed.unseen(m)}")
    loud = {who for m in mutants for who in results[m.key].get("loud", ())}
    for who in sorted(loud):
        print(f"does not count, since it complains without a mutant, too: {who}")
    for m in wrong:
        listed_as = "equivalent" if m in same else "legal"
        print(f"listed as {listed_as}, but seen ({results[m.key]['by']} {results[m.key]['how']}): {m}")
    counted = len(mutants) - len(same) - len(legal)
    right = counted - len(survivors)
    share = 100 * right / max(counted, 1)
    parts = {by: sum(results[m.key]["by"] == by for m in seen) for by in sorted({results[m.key]["by"] for m in seen})}
    for name in sorted({part(m) for m in mutants}):
        all_of = [m for m in mutants if part(m) == name and m not in same and m not in legal]
        hit = sum(m not in survivors for m in all_of)
        print(f"{name}: {hit} of {len(all_of)} seen ({100 * hit / max(len(all_of), 1):.1f} %)")
    print(f"{right} of {counted} seen ({share:.1f} %), {len(same)} cannot be told apart, {len(legal)} are another "
          "legal NIC; first seen by " + ", ".join(f"{by}: {n}" for by, n in parts.items()))
    if o.json:
        rows = [{"file": m.file, "line": m.line, "column": m.column, "operator": m.op, "becomes": OTHER[m.op],
                 "expression": m.text, **results[m.key], "equivalent": listed.equivalent(m),
                 "legal": listed.legal(m), "part": part(m), "reason": listed.unseen(m)} for m in mutants]
        rtl.write_json(o.json, {"seed": o.seed, "mutants": counted, "seen": right, "share": share, "first_seen_by": parts,
                                "results": rows})
    if o.remember:
        known = json.loads(SEEN.read_text(encoding="utf-8")) if SEEN.exists() else {}
        known.update({m.like: witness(results[m.key]) for m in seen})
        SEEN.write_text(json.dumps(dict(sorted(known.items())), indent=0) + "\n", encoding="utf-8")
    return 1 if wrong or loud else 0


def main():
    parser = argparse.ArgumentParser(prog="mrc mutate", description=__doc__, epilog=EXAMPLES,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rules", action="store_true", required=True, help="mutants of cmodel/protocol")
    parser.add_argument("--files", default="", metavar="REGEX", help="only files whose names match")
    parser.add_argument("--most", type=int, default=0, metavar="N", help="draw N of them")
    parser.add_argument("--seed", type=int, default=1, help="mutants are drawn from it")
    parser.add_argument("--list", action="store_true", help="list them, run nothing")
    parser.add_argument("--json", metavar="FILE", help="result of every mutant")
    parser.add_argument("--quick", action="store_true",
                        help="leave out most scenarios, the fast endpoint, vectors that take long; "
                             "without --quick those that nothing detected run again")
    parser.add_argument("--remember", action="store_true", help=f"write who saw what to {SEEN.relative_to(rtl.ROOT)}")
    parser.add_argument("--no-build", action="store_true", help="use the last build, while sources change")
    parser.add_argument("--anew", action="store_true", help="forget results of earlier runs")
    parser.add_argument("-j", type=int, default=os.cpu_count() or 1, help="mutants at once")
    o = parser.parse_args()
    files = rewriters()
    mutants = [f[0] for file in files for f in file.found]
    numbers = {m.key: n for n, m in enumerate(mutants, 1)}
    listed = Listed(rtl.ROOT / "tools/mutants.yaml", mutants)
    if listed.wrong:
        fail(f"tools/mutants.yaml: {listed.wrong[0]}.", "'mrc mutate --rules --list' says which mutants there are.")
    chosen = [m for m in mutants if re.search(o.files, m.file.rsplit("/", 1)[-1])]
    if not chosen:
        fail(f"--files {o.files} matches no file with an operator.", f"Files are those of {ROOM}.")
    if o.most:
        chosen = sorted(random.Random(o.seed).sample(chosen, min(o.most, len(chosen))), key=lambda m: m.key)
    if o.list:
        print("\n".join(map(str, chosen)))
        print(f"{len(chosen)} mutants")
        return 0
    BUILD.mkdir(parents=True, exist_ok=True)
    built = mutants
    while not o.no_build and (wrong := build(files, {m.key: numbers[m.key] for m in built})):
        before = len(built)
        built = [m for m in built if (m.file, m.line) not in wrong]
        if len(built) == before:
            fail("the mutants cannot be built.", f"{BUILD / 'build.log'} says why.")
    for m in chosen:
        if m not in built:
            print(f"not judged, it does not compile: {m}")
    chosen = [m for m in chosen if m in built]
    # The NIC, its bench and its peers; who judges them.
    parts = ("cmodel/protocol", "cmodel/pipeline", "cmodel/wire", "cmodel/gen", "sim", "tb")
    version = digest(*(TREE / part for part in parts)).hexdigest()[:16]
    judges = digest(TREE / "cmodel/reference", rtl.ROOT / "conformance")
    judges.update(repr((CONTROLLED, CONTROLLER_RUNS, RUNS)).encode())
    judges = judges.hexdigest()[:16]
    asked = judges + "-quick" * o.quick
    results = known_results(RESULTS, version, (judges, asked), o.anew)
    with open(RESULTS, "a", encoding="utf-8") as out:
        def write(mutant, seen):
            out.write(json.dumps({"version": version, "judges": asked, "key": mutant.key, "like": mutant.like,
                                  "seen": seen}) + "\n")
            out.flush()
        left = [m for m in chosen if m.key not in results]
        if left and not ask(left, numbers, judges_of(version + judges, mutants), results, o, write):
            print("interrupted; the same command goes on", file=sys.stderr)
            return 5
    return tell(chosen, results, listed, o)


if __name__ == "__main__":
    rtl.command("mrc mutate", main)
