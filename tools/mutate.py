#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""mrc mutate --rules: are the rules of MRC watched? Changes one operator in cmodel/protocol at a time, for model, peer and
fast endpoint alike, and asks whether vectors, rules and the reference see it. Lockstep is blind to such an error, since
both sides have it; unit tests are not asked.

All mutants are compiled at once: an operator becomes a call that the environment variable MRC_MUTANT switches. Results
are kept per mutant, so that an interrupted run goes on where it was. A mutant that nothing can tell apart from the
original stands in tools/mutants.yaml with the reason."""
import argparse
import concurrent.futures
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import rtl

BUILD = rtl.ROOT / "build/mutate"
TREE = BUILD / "tree"
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
  mrc mutate --rules --json mutants.json        all; hours"""
RUNS = [("mixed", 1500), ("trim", 800), ("ecn", 600), ("loss", 800), ("window", 800), ("random", 800)]


def fail(sentence, remedy, code=3):
    print(f"mrc mutate: {sentence}\n  {remedy}", file=sys.stderr)
    sys.exit(code)


def cindex():
    try:
        import clang.cindex as module
    except ImportError:
        fail("the Python binding of clang is missing.", "Install the Debian package python3-clang-14.")
    return module


class Mutant:
    def __init__(self, file, line, column, op, text):
        self.file, self.line, self.column, self.op, self.text = file, line, column, op, text
        self.key = f"{file}:{line}:{column} {op} {OTHER[op]}"

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


def rewriters(files):
    paths = [p for p in sorted((rtl.ROOT / ROOM).glob("*.[hc]pp")) if p.stem not in LEFT_OUT]
    if files:
        paths = [p for p in paths if re.search(files, p.name)]
    return [Rewriter(p, rtl.ROOT) for p in paths]


def build(files, mutants):
    """A copy of the tree with all mutants in it, compiled. What does not compile as a mutant is taken out."""
    names = subprocess.run(["git", "-C", rtl.ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                           capture_output=True, check=True).stdout.decode().split("\0")
    for name in filter(None, names):
        source, target = rtl.ROOT / name, TREE / name
        if not source.is_file() or name.startswith("docs/figures"):
            continue
        if not target.exists() or (not name.startswith(ROOM) and source.stat().st_mtime > target.stat().st_mtime):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    (TREE / "cmodel/protocol/mutant.hpp").write_text(HEADER, encoding="utf-8")
    numbers = {m.key: n for n, m in enumerate(mutants, 1)}
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


def judge(number, work):
    """Who sees it first: "vectors", "check SCENARIO", "run SCENARIO" (data, hang); "" if nobody does."""
    mrc = BUILD / "build/bin/mrc"
    env = {**os.environ, "MRC_MUTANT": str(number), "MRC_ROOT": str(rtl.ROOT)}
    plain = {**os.environ, "MRC_ROOT": str(rtl.ROOT)}
    folder = work / str(number)
    folder.mkdir(parents=True, exist_ok=True)

    def call(arguments, environment, limit=180):
        try:
            run = subprocess.run([str(mrc), *arguments], env=environment, cwd=folder, capture_output=True, text=True,
                                 timeout=limit)
        except subprocess.TimeoutExpired:
            return 2, "timeout"
        return run.returncode, run.stdout + run.stderr

    try:
        for scenario, packets in RUNS:
            log = folder / "run.mrclog"
            code, _ = call(["cosim", "--dut", "model", "--preset", "tiny", "--scenario", scenario, "--packets",
                            str(packets), "--seed", "3", "--record", str(log)], env)
            if code in (1, 2) or code < 0:
                return f"run {scenario}"
            if code != 0:
                return f"error {scenario}" if number else f"error {scenario}: {_}"
            code, text = call(["check", str(log)], plain)
            if code in (1, 3):
                rule = re.search(r"\b[a-z]+\.[a-z0-9-]+\b", text)
                return f"check {scenario}: {rule[0] if rule else ''}"
        for endpoint in ("model", "fast"):
            code, text = call(["vectors", "run", "--device", f"{mrc} nic --endpoint {endpoint}"], env, 900)
            if code == 1:
                return f"vectors {endpoint}"
        return ""
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(prog="mrc mutate", description=__doc__, epilog=EXAMPLES,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rules", action="store_true", required=True, help="mutants of cmodel/protocol")
    parser.add_argument("--files", default="", metavar="REGEX", help="only files whose names match")
    parser.add_argument("--most", type=int, default=0, metavar="N", help="draw N of them")
    parser.add_argument("--seed", type=int, default=1, help="of the drawing")
    parser.add_argument("--list", action="store_true", help="list them, run nothing")
    parser.add_argument("--json", metavar="FILE", help="result of every mutant")
    parser.add_argument("--anew", action="store_true", help="forget results of earlier runs")
    parser.add_argument("-j", type=int, default=os.cpu_count() or 1, help="runs at once")
    o = parser.parse_args()
    files = rewriters(o.files)
    mutants = [f[0] for file in files for f in file.found]
    if not mutants:
        fail(f"--files {o.files} matches no file with an operator.", f"Files are those of {ROOM}.")
    if o.most:
        mutants = sorted(random.Random(o.seed).sample(mutants, min(o.most, len(mutants))), key=lambda m: m.key)
    if o.list:
        print("\n".join(map(str, mutants)))
        print(f"{len(mutants)} mutants")
        return 0
    BUILD.mkdir(parents=True, exist_ok=True)
    while (wrong := build(files, mutants)):
        before = len(mutants)
        mutants = [m for m in mutants if (m.file, m.line) not in wrong]
        if len(mutants) == before:
            fail("the mutants cannot be built.", f"{BUILD / 'build.log'} says why.")
    equivalent = {}
    listed = rtl.ROOT / "tools/mutants.yaml"
    if listed.exists():
        import yaml
        equivalent = yaml.safe_load(listed.read_text(encoding="utf-8"))["equivalent"] or {}
    version = hashlib.sha256((BUILD / "build/bin/mrc").read_bytes()).hexdigest()[:16]
    results_file = BUILD / "results.jsonl"
    results = {}
    if results_file.exists() and not o.anew:
        for line in results_file.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            if entry["version"] == version:
                results[entry["key"]] = entry["seen"]
    if (seen := judge(0, BUILD / "work")):
        fail(f"without any mutant the judges already complain ({seen}).", "Mend that first.", 1)
    began = time.monotonic()
    left = [(n, m) for n, m in enumerate(mutants, 1) if m.key not in results]
    with concurrent.futures.ThreadPoolExecutor(o.j) as pool, open(results_file, "a", encoding="utf-8") as out:
        futures = {pool.submit(judge, n, BUILD / "work"): m for n, m in left}
        try:
            for done, future in enumerate(concurrent.futures.as_completed(futures), 1):
                mutant, seen = futures[future], future.result()
                results[mutant.key] = seen
                out.write(json.dumps({"version": version, "key": mutant.key, "seen": seen}) + "\n")
                out.flush()
                rest = (time.monotonic() - began) / done * (len(left) - done)
                print(f"{done}/{len(left)} {seen or 'NOT SEEN'}: {mutant}  ({rest:.0f} s left)", flush=True)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            print("interrupted; the same command goes on", file=sys.stderr)
            return 5
    survivors = [m for m in mutants if not results[m.key] and m.text not in equivalent]
    same = [m for m in mutants if not results[m.key] and m.text in equivalent]
    counted = len(mutants) - len(same)
    for m in survivors:
        print(f"not seen: {m}")
    share = 100 * (counted - len(survivors)) / max(counted, 1)
    print(f"{counted - len(survivors)} of {counted} seen ({share:.1f} %), {len(same)} cannot be told apart")
    if o.json:
        Path(o.json).write_text(json.dumps({"mutants": counted, "seen": counted - len(survivors), "share": share,
                                            "results": [{"mutant": str(m), "seen": results[m.key]} for m in mutants]},
                                           indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
