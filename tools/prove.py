#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""mrc prove: the properties of formal/*.yaml. Each must hold, its cover must be reached, its bug must break it.

docs/design/proofs.md says what is proved, how, and how far."""
import argparse
import collections
import concurrent.futures
import functools
import hashlib
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import yaml

import rtl

TABLES = ["formal/properties.yaml", "formal/memories.yaml", "formal/waits.yaml", "formal/boards.yaml", "formal/boards_host.yaml"]
INJECTED = "cmodel/spec/bugs.yaml"
PACKAGE = "rtl/gen/mrc_pkg.sv"  # names every injected bug
CACHE = rtl.ROOT / "build/prove"
KINDS = {"induction": "z3", "pdr": "abc pdr", "bounded": "abc bmc3", "cover": "abc bmc3"}
EXPECTED = {"induction": "proved", "pdr": "proved", "bounded": "holds to depth", "cover": "reached"}
TOOLS = {"yosys-smtbmc": "yosys", "z3": "z3", "yosys-abc": "yosys"}
SECONDS = 120       # what a search may take unless the table says otherwise
SEARCH_DEPTH = 24   # cycles in which a cover must be reached and a bug must show, unless the table says otherwise
INCLUDED = re.compile(r'`include "(\w+\.svh)"')
HARNESS_KEYS = {"top", "module", "files", "harness", "search", "undefined", "clocks", "assertions", "step", "parameters",
                "kind", "depth", "seconds", "slow", "assumes", "bugs", "properties"}
PROPERTY_KEYS = {"what", "kind", "depth", "seconds", "bug", "assertion", "cover", "search"}
BUG_KEYS = {"file", "from", "to", "injected"}

# One reading gives the problem of the induction (all assertions at once) and each assertion alone.
PREPARE = "prep -flatten -top {top}; async2sync; chformal -lower; dffunmap; memory_map; opt_clean"
WHOLE = "design -save whole; delete {others}; opt_clean; write_smt2 -wires all.smt2; design -load whole"
GATES = "techmap; opt_clean; dffunmap; aigmap; opt_clean; design -save gates"
TOGETHER = "design -load gates; delete {others}; opt_clean; write_aiger -zinit all.aig"
ALONE = "design -load gates; delete t:$assert c:{name} %d; opt_clean; write_aiger -zinit {file}"


class TableError(Exception):
    """What is wrong with the table, in words."""


@functools.cache
def injected():
    """{name: number} of the injected bugs."""
    return {name: row["number"] for name, row in yaml.safe_load((rtl.ROOT / INJECTED).read_text())["bugs"].items()}


class Property:
    """A row of the table: one assertion of a harness, with its cover and its bug."""

    def __init__(self, harness, name, row):
        unknown = set(row) - PROPERTY_KEYS
        if unknown:
            raise TableError(f"property {harness.name}.{name} has the unknown key '{sorted(unknown)[0]}'")
        self.harness, self.name, self.what = harness, name, row.get("what", "")
        self.kind = row.get("kind", harness.row.get("kind"))
        if self.kind not in KINDS:
            raise TableError(f"property {harness.name}.{name} is of the unknown kind '{self.kind}'")
        self.engine, self.expected = KINDS[self.kind], EXPECTED[self.kind]
        if self.kind == "induction" and harness.by_bits:
            self.engine = "z3, abc"
        self.depth = row.get("depth", SEARCH_DEPTH if self.kind == "cover" else harness.row.get("depth", SEARCH_DEPTH))
        self.seconds = row.get("seconds", harness.row.get("seconds", SECONDS))
        deep = SEARCH_DEPTH if self.kind in ("induction", "pdr") else self.depth
        self.search = row.get("search", harness.row.get("search", deep))
        self.assertion = row.get("assertion", f"prove_{name}")
        self.cover = "cover_" + row.get("cover", name)
        self.bug = row.get("bug")
        if self.kind != "cover" and self.bug not in harness.bugs:
            raise TableError(f"property {harness.name}.{name} names no bug of its harness that it kills")
        if not self.what:
            raise TableError(f"property {harness.name}.{name} does not say what holds")

    @property
    def full(self):
        return f"{self.harness.name}.{self.name}"


class Harness:
    """A module of formal/ around one module of the RTL."""

    def __init__(self, name, row):
        unknown = set(row) - HARNESS_KEYS
        if unknown:
            raise TableError(f"harness {name} has the unknown key '{sorted(unknown)[0]}'")
        self.name, self.row = name, row
        self.top = row.get("top", f"formal_{name}")
        self.module = row.get("module", f"mrc_{name}")
        self.files = [*row.get("files", []), row.get("harness", f"formal/{self.top.removeprefix('formal_')}.sv")]
        self.parameters = row.get("parameters", {})
        self.bugs = row.get("bugs", {})
        self.assumes = row.get("assumes", [])
        # What the RTL leaves undefined (an index beyond a table) is any value; without the word there is no such thing,
        # for then Yosys would refuse to write the problem.
        self.free = row.get("undefined") == "free"
        # Clocks are inputs: any may have an edge in any step, or none.
        self.free_clocks = row.get("clocks") == "free"
        # Takes minutes: left out by --quick.
        self.slow = bool(row.get("slow"))
        # Of the RTL's assertions an induction claims those only that are rows of the table.
        self.rows_only = row.get("assertions") == "rows"
        # The step of an induction is asked of abc instead of z3, bit by bit.
        self.by_bits = row.get("step") == "abc"
        for bug, entry in self.bugs.items():
            if set(entry) - BUG_KEYS or ("injected" in entry) == ("file" in entry):
                raise TableError(f"bug {name}.{bug} names neither an injected bug nor a file with 'from' and 'to'")
        for file in self.files:
            if not (rtl.ROOT / file).exists():
                raise TableError(f"harness {name} wants {file}, which does not exist")
        for bug, entry in self.bugs.items():  # also of a harness that is not proved today
            self.text(entry.get("file", self.files[-1]), bug)
            self.number(bug)
        self.headers = [f"formal/{name}" for name in INCLUDED.findall((rtl.ROOT / self.files[-1]).read_text())]
        self.properties = [Property(self, key, value or {}) for key, value in row["properties"].items()]
        if unused := set(self.bugs) - {entry.bug for entry in self.properties}:
            raise TableError(f"no property names bug {name}.{sorted(unused)[0]}")

    def reading(self, values, more=""):
        """The step of Yosys that reads it with these parameters."""
        given = " ".join(f"-G {name}={value}" for name, value in values.items())
        return (f"{rtl.READ_SLANG} -I formal {more} --no-synthesis-define -D MRC_FORMAL {given} --top {self.top}"
                f" {' '.join(self.files)}")

    def number(self, bug):
        """What the pin bug_i carries for a bug: that of its name in bugs.yaml, which the RTL has as BugName."""
        name = self.bugs.get(bug, {}).get("injected")
        if name is None:
            return 0
        if name not in injected():
            raise TableError(f"bug {self.name}.{bug} is the injected bug '{name}', which {INJECTED} does not have")
        word = "Bug" + "".join(part[0].upper() + part[1:] for part in name.split("-"))
        if not any(re.search(rf"\b{word}\b", (rtl.ROOT / file).read_text()) for file in self.files[:-1]
                   if file != PACKAGE):
            raise TableError(f"bug {self.name}.{bug} is the injected bug '{name}', which none of its files has")
        return injected()[name]

    def text(self, file, bug):
        """What a file says, with a bug in it."""
        text = (rtl.ROOT / file).read_text()
        entry = self.bugs.get(bug, {})
        if entry.get("file") == file:
            if text.count(entry["from"]) != 1:
                raise TableError(f"the text of bug {self.name}.{bug} stands {text.count(entry['from'])} times in {file},"
                                 " not once")
            text = text.replace(entry["from"], entry["to"])
        return text


def load(path):
    """The harnesses of a table."""
    try:
        table = yaml.safe_load((rtl.ROOT / path).read_text())
        return [Harness(name, row) for name, row in table["harnesses"].items()]
    except (OSError, yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
        rtl.fail(f"cannot read {path}: {' '.join(str(error).split())}.",
                 "docs/design/proofs.md says how a property is written.")
    except TableError as error:
        rtl.fail(f"{path}: {error}.", "docs/design/proofs.md says how a property is written.")
    return []


class Build:
    """One harness, with or without a bug, as a folder with the problems that engines read."""

    def __init__(self, harness, bug):
        self.harness, self.bug = harness, bug
        headers = sorted(str(path.relative_to(rtl.ROOT)) for path in (rtl.ROOT / rtl.HEADERS).glob("*.svh"))
        self.texts = {file: harness.text(file, bug) for file in [*headers, *harness.headers, *harness.files]}
        self.names = []
        for entry in harness.properties:
            if bug is None:
                self.names += [entry.cover] + ([entry.assertion] if entry.kind not in ("cover", "induction") else [])
            elif entry.bug == bug:
                self.names.append(entry.assertion)
        self.names = sorted(set(self.names))
        self.induced = bug is None and any(entry.kind == "induction" for entry in harness.properties)
        self.values = dict(harness.parameters)
        if number := harness.number(bug):
            self.values["Bug"] = number
        words = hashlib.sha256(json.dumps([self.texts, self.names, self.values, harness.top, PREPARE, WHOLE, GATES, ALONE,
                                           sorted(entry.assertion + entry.kind for entry in harness.properties),
                                           (rtl.ROOT / "tools/yosys/package-lock.json").read_text()]).encode())
        if harness.free:
            words.update(b"free")
        if harness.free_clocks:
            words.update(b"clocks")
        if harness.rows_only:
            words.update(self.others().encode())
        if harness.by_bits:
            words.update(TOGETHER.encode())
        self.key = f"{harness.name}-{bug or 'good'}-{words.hexdigest()[:20]}"
        self.folder = CACHE / self.key

    def file(self, name):
        return self.folder / (re.sub(r"[^\w]", "_", name) + ".aig")

    def others(self):
        """What an induction does not claim, as a selection of Yosys."""
        def named(kinds):
            return sorted({entry.assertion for entry in self.harness.properties if entry.kind in kinds})
        if self.harness.rows_only:
            return "t:$assert c:*help_* %d" + "".join(f" c:{name} %d" for name in named(["induction"]))
        return "c:cover_*" + "".join(f" c:{name} %u" for name in named(["pdr", "bounded"])) + " t:$assert %i"

    def make(self, yosys):
        """Reads the harness with Yosys unless that was done before."""
        if self.folder.exists():
            return
        harness = self.harness
        with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
            scratch, out = Path(scratch), Path(scratch) / "out"
            out.mkdir()
            for file, text in self.texts.items():
                (scratch / file).parent.mkdir(parents=True, exist_ok=True)
                (scratch / file).write_text(text)
            read = harness.reading(self.values)
            alone = "; ".join(ALONE.format(name=name, file=self.file(name).name) for name in self.names)
            # An induction is proved with what is proved by induction, the helpers and the RTL's own assertions.
            parts = [read, PREPARE.format(top=harness.top), WHOLE, GATES, alone, TOGETHER]
            if not self.induced:
                parts.remove(WHOLE)
            if not (self.induced and harness.by_bits):
                parts.remove(TOGETHER)
            script = "; ".join(parts).replace("{others}", self.others())
            if harness.free_clocks:
                script = script.replace("async2sync", "memory_map; clk2fflogic")
            if harness.free:
                script = script.replace("design -save", "setundef -anyseq; design -save")
            code, log = yosys.run(scratch, [*harness.files, *harness.headers], script, out)
            if code:
                raise TableError(f"Yosys could not read harness {harness.name}"
                                 f"{f' with bug {self.bug}' if self.bug else ''}: {first_error(log)}")
            try:
                out.rename(self.folder)
            except OSError:  # somebody else was quicker
                shutil.rmtree(out, ignore_errors=True)


def first_error(log):
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line).strip() for line in log.splitlines() if "error" in line.lower()]
    return (lines or ["no message"])[0].rstrip(".")


def call(words, seconds):
    """Runs an engine; returns its output, or None when its time is over. Its children end with it."""
    process = subprocess.Popen(words, text=True, errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               start_new_session=True)
    RUNNING.add(process)
    try:
        return process.communicate(timeout=seconds)[0]
    except subprocess.TimeoutExpired:
        stop(process)
        return None
    finally:
        RUNNING.discard(process)


def stop(process):
    try:
        os.killpg(process.pid, 9)
    except ProcessLookupError:
        pass
    process.communicate()


RUNNING = set()


def abc(path, command, seconds):
    return call(["yosys-abc", "-c", f"read_aiger {path}; fold; {command}"], seconds + 10) or ""


def search(path, depth, seconds):
    """(cycle in which the assertion of path fails, cycles searched without): bounded model checking with bmc3."""
    output = abc(path, f"bmc3 -F {depth + 1} -T {seconds}", seconds)
    if found := re.search(r"Output \d+ .*?was asserted in frame\s+(\d+)", output):
        return int(found[1]), int(found[1])
    if re.search(r"No output.*?asserted in\s+(\d+) frames", output):
        return None, int(re.search(r"asserted in\s+(\d+) frames", output)[1]) - 1
    return None, -1


def pdr(path, seconds):
    output = abc(path, f"pdr -T {seconds}", seconds)
    if "Property proved" in output:
        return "proved", None
    if found := re.search(r"was asserted in frame\s+(\d+)", output):
        return "failed", f"it fails in cycle {found[1]}"
    return "unknown", f"no answer in {seconds} s"


def induction(path, depth, seconds, bits=None):
    """All assertions of a harness at once: first the cycles after reset, then the step (bits: for abc instead of z3)."""
    for words, failed in (([], "failed"), (["-i"], "unknown")):
        if words and bits:
            proved = "Networks are equivalent" in abc(bits, f"orpos; ind -F {depth + 1} -T {seconds}", seconds)
            return ("proved", None) if proved else ("unknown", "abc finds no answer in the step of the induction")
        output = call(["yosys-smtbmc", "-s", "z3", "--unroll", "-t", str(depth), *words, str(path)], seconds)
        if output is None:
            return "unknown", f"no answer in {seconds} s"
        if "Status: PASSED" not in output:
            names = re.findall(r"Assert failed in \S+ (\S+)", output)
            where = f"assertion {names[0]} fails" if names else "the solver gave up"
            return failed, where + (" in the step of the induction" if words else " after reset")
    return "proved", None


class Job:
    """A question to an engine: its answer is kept by what it depends on."""

    def __init__(self, build, what, depth, seconds, ask):
        self.build, self.what, self.seconds, self.ask = build, what, seconds, ask
        engine = inspect.getsource(search) + inspect.getsource(pdr) + inspect.getsource(induction)
        words = hashlib.sha256(json.dumps([build.key, what, depth, seconds, engine]).encode())
        self.path = CACHE / f"{build.harness.name}-{words.hexdigest()[:24]}.json"

    def answer(self):
        return json.loads(self.path.read_text()) if self.path.exists() else None

    def settled(self):
        """There is an answer; "unknown" (search: no cycle, and none searched) may be that of a machine without time."""
        return self.path.exists() and self.answer()["answer"][0] != "unknown" and self.answer()["answer"] != [None, -1]

    def run(self, yosys):
        start = time.monotonic()
        self.build.make(yosys)
        begin = time.monotonic()
        answer = {"answer": self.ask(), "read_seconds": round(begin - start, 2),
                  "seconds": round(time.monotonic() - begin, 2)}
        if STOPPED.is_set():
            return
        part = self.path.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
        part.write_text(json.dumps(answer))
        part.rename(self.path)


STOPPED = threading.Event()


def plan(properties):
    """{property: {"proof", "cover", "bug": job}}; properties of one induction have one proof."""
    builds, proofs, jobs = {}, {}, {}

    def build(harness, bug):
        if (harness.name, bug) not in builds:
            builds[harness.name, bug] = Build(harness, bug)
        return builds[harness.name, bug]

    for entry in properties:
        good = build(entry.harness, None)
        mine = jobs[entry] = {}
        depth, seconds = entry.depth, entry.seconds
        if entry.kind == "induction":
            key = (entry.harness.name, depth)
            if key not in proofs:
                proofs[key] = Job(good, "induction", depth, seconds,
                                  lambda path=good.folder / "all.smt2", depth=depth, seconds=seconds,
                                  bits=good.folder / "all.aig" if entry.harness.by_bits else None:
                                  induction(path, depth, seconds, bits))
            mine["proof"] = proofs[key]
        elif entry.kind == "pdr":
            mine["proof"] = Job(good, f"pdr {entry.assertion}", 0, seconds,
                                lambda path=good.file(entry.assertion), seconds=seconds: pdr(path, seconds))
        elif entry.kind == "bounded":
            mine["proof"] = Job(good, f"bounded {entry.assertion}", depth, seconds,
                                lambda path=good.file(entry.assertion), depth=depth, seconds=seconds:
                                search(path, depth, seconds))
        mine["cover"] = Job(good, entry.cover, entry.search, seconds,
                            lambda path=good.file(entry.cover), depth=entry.search, seconds=seconds:
                            search(path, depth, seconds))
        if entry.bug:
            bad = build(entry.harness, entry.bug)
            mine["bug"] = Job(bad, f"bug {entry.assertion}", entry.search, seconds,
                              lambda path=bad.file(entry.assertion), depth=entry.search, seconds=seconds:
                              search(path, depth, seconds))
    return jobs


def judge(entry, jobs):
    """The row of a property in the report."""
    answers = {what: job.answer() for what, job in jobs.items()}
    row = {"name": entry.full, "module": entry.harness.module, "kind": entry.kind, "engine": entry.engine,
           "depth": entry.depth, "expected": entry.expected, "result": "not run", "what": entry.what,
           "parameters": entry.harness.parameters, "assumes": entry.harness.assumes, "note": ""}
    if any(answer is None for answer in answers.values()):
        return row
    row["seconds"] = round(sum(answer["seconds"] for answer in answers.values()), 2)
    reached, _ = answers["cover"]["answer"]
    row["cover"] = {"name": entry.cover, "cycle": reached}
    if entry.kind in ("induction", "pdr"):
        row["result"], row["note"] = answers["proof"]["answer"]
    elif entry.kind == "bounded":
        failed, searched = answers["proof"]["answer"]
        row["result"] = "failed" if failed is not None else "holds to depth" if searched >= entry.depth else "unknown"
        row["note"] = f"it fails in cycle {failed}" if failed is not None else f"searched {searched + 1} cycles"
    else:
        row["result"] = "reached" if reached is not None else "not reached"
    if entry.bug:
        killed, _ = answers["bug"]["answer"]
        row["bug"] = {"name": entry.bug, "killed": killed is not None, "cycle": killed}
    if row["result"] == entry.expected and reached is None:
        row["result"], row["note"] = "vacuous", f"{entry.cover} is not reached in {entry.search} cycles"
    elif row["result"] == entry.expected and entry.bug and not row["bug"]["killed"]:
        row["result"], row["note"] = "toothless", f"bug {entry.bug} does not break it in {entry.search} cycles"
    return row


class Progress:
    """A line on stderr when a question is answered, not more often than every two seconds."""

    def __init__(self, total):
        self.total, self.done, self.start, self.told = total, 0, time.monotonic(), 0.0

    def step(self, job):
        self.done += 1
        now = time.monotonic()
        if now - self.told < 2 and self.done < self.total:
            return
        self.told = now
        left = (now - self.start) / self.done * (self.total - self.done)
        print(f"mrc prove: {self.done} of {self.total} questions answered, last {job.build.harness.name}: {job.what};"
              f" about {left:.0f} s left", file=sys.stderr, flush=True)


def run(jobs, workers):
    """Asks what has no answer yet."""
    open_jobs = list(dict.fromkeys(job for mine in jobs.values() for job in mine.values() if not job.settled()))
    if not open_jobs:
        return
    needed()
    by_build = collections.defaultdict(list)
    for job in open_jobs:
        by_build[job.build.key].append(job)
    progress, lock = Progress(len(open_jobs)), threading.Lock()
    mine, all_yosys = threading.local(), []

    def ask(group):
        if not hasattr(mine, "yosys"):
            mine.yosys = rtl.Yosys()
            all_yosys.append(mine.yosys)
        for job in group:
            if STOPPED.is_set():
                return
            job.run(mine.yosys)
            with lock:
                progress.step(job)

    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        pending = [pool.submit(ask, group) for group in by_build.values()]
        try:
            for future in concurrent.futures.as_completed(pending):
                future.result()
        except BaseException:
            STOPPED.set()
            for future in pending:
                future.cancel()
            for process in list(RUNNING):
                os.killpg(process.pid, 9)
            raise
        finally:
            for yosys in all_yosys:
                yosys.close()


def needed():
    """The engines must be there before anything is asked."""
    for tool, package in TOOLS.items():
        if not shutil.which(tool):
            rtl.fail(f"{tool} is not installed.", f"Run './mrc prove', which installs it, or 'apt-get install {package}'.")


def read(harnesses):
    """Harnesses that are not asked are read at least: that one cannot be read would show only when somebody asks it."""
    yosys = rtl.Yosys()
    try:
        for harness in harnesses:
            with tempfile.TemporaryDirectory() as scratch:
                script = harness.reading(harness.parameters, "--ast-compilation-only")
                code, log = yosys.run(rtl.ROOT, [*harness.files, *harness.headers], script, scratch)
            if code:
                raise TableError(f"Yosys could not read harness {harness.name}: {first_error(log)}")
    finally:
        yosys.close()


def report(rows):
    width = max(len(row["name"]) for row in rows)
    print(f"{'property':<{width}}  {'kind':<9} {'engine':<8} {'depth':>5} {'cover':>5} {'bug':>5}  result")
    for row in rows:
        cover = row.get("cover", {}).get("cycle")
        killed = row.get("bug", {}).get("cycle")
        mark = "" if row["result"] == row["expected"] else f" (expected: {row['expected']}; {row['note']})"
        print(f"{row['name']:<{width}}  {row['kind']:<9} {row['engine']:<8} {row['depth']:>5}"
              f" {'-' if cover is None else cover:>5} {'-' if killed is None else killed:>5}  {row['result']}{mark}")
    good = [row for row in rows if row["result"] == row["expected"]]
    unbounded = sum(row["kind"] in ("induction", "pdr") for row in good)
    bugs = {(row["name"].partition(".")[0], row["bug"]["name"]) for row in good if "bug" in row}
    print(f"{len(good)} of {len(rows)} properties are as expected, {unbounded} of them by induction or pdr;"
          f" {len(bugs)} injected bugs killed.")
    print("cover: the cycle in which what the property is about is reached; bug: the cycle in which it breaks with its bug.")


def chosen(harnesses, only, quick):
    """The properties that --only names: harnesses, modules or single properties; of slow harnesses only with not quick."""
    everything = [entry for harness in harnesses if not (quick and harness.slow) for entry in harness.properties]
    result = []
    for word in only or []:
        found = [entry for entry in everything if word in (entry.full, entry.harness.name, entry.harness.module)]
        if not found:
            rtl.fail(f"unknown property '{word}'.",
                     "'mrc prove --list' lists properties as HARNESS.PROPERTY; name one of them, a harness or a module.")
        result += found
    return list(dict.fromkeys(result)) if only else everything


def main():
    parser = rtl.Parser(prog="mrc prove", description=__doc__.splitlines()[0],
                        examples=("mrc prove --list                what there is to prove",
                                  "mrc prove --only mrc_fifo       one module",
                                  "mrc prove --quick               without the slow ones"))
    parser.add_argument("--only", action="append", metavar="NAME",
                        help="only this harness, module or property (may be repeated)")
    parser.add_argument("--quick", action="store_true", help="read the slow harnesses, but do not prove them")
    parser.add_argument("--list", action="store_true", help="say what there is to prove and stop")
    parser.add_argument("--json", metavar="FILE", help="write everything to FILE")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="engines at a time (all cores)")
    parser.add_argument("--table", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.jobs < 1:
        parser.error(f"--jobs {options.jobs} is not a number of engines")
    rtl.check_json(options.json)
    tables = [options.table] if options.table else TABLES
    harnesses = [harness for path in tables for harness in load(path)]
    properties = chosen(harnesses, options.only, options.quick)
    if options.list:
        for entry in properties:
            print(f"{entry.full}  ({entry.kind}, {entry.harness.module})  {' '.join(entry.what.split())}")
        return rtl.Exit.PASS
    CACHE.mkdir(parents=True, exist_ok=True)
    jobs = {}
    try:
        if options.quick:
            read(harness for harness in harnesses if harness.slow)
        jobs = plan(properties)
        run(jobs, options.jobs)
    except TableError as error:
        rtl.fail(f"{error}.", f"Mend {' or '.join(tables)}, or the harness; 'mrc lint' says more about the RTL.")
    except KeyboardInterrupt:
        rtl.fail("interrupted; what is answered stays.", "The same command goes on where this one stopped.")
    rows = [judge(entry, jobs[entry]) for entry in properties]
    report(rows)
    if options.json:
        rtl.write_json(options.json, {"properties": rows})
    return rtl.Exit.PASS if all(row["result"] == row["expected"] for row in rows) else rtl.Exit.FAIL


if __name__ == "__main__":
    rtl.command("mrc prove", main)
