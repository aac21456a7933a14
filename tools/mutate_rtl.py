#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""mrc mutate --rtl: mutants of the RTL. Changes one bit of one word-level cell of a block at a time, and tests who detects
it: the lockstep with the model (L0), then the judge and the bench at L2, which observes ports, host and verbs.

Yosys makes the mutants of a block (mutate) in one netlist, which stands in preset tiny in the place of the RTL; the
environment variable MRC_RTL_MUTANT switches one of them on. Results are kept per mutant: an interrupted run goes on where
it was. abc finds mutants that are equal to the original; tools/rtl_mutants.yaml names more, each with a reason.
docs/design/mutation.md has the results."""
import argparse
import collections
import concurrent.futures
import functools
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import blocks as swap
import equal
import fpga
import rtl

FIRST = ("rx_check", "rx_track", "tx_path", "tx_inflight", "tx_segment")
RESULTS = rtl.ROOT / "build/mutate/rtl.jsonl"
# Without injected bugs. Cells stay words: a broken operator is nearer to a slip of the pen than a broken gate.
BREAKING = "; ".join([
    "delete -input w:bug_i", "setundef -zero -undriven", "proc", "flatten", "opt_clean", "memory_collect", "opt_expr",
    "bwmuxmap", "opt_clean", "delete t:$scopeinfo"])
DRAWING = "mutate -list {count} -seed {seed} -ctrl mutant_i 16 1 -o list.txt"
WRITING = "opt_clean; check -assert; rename {top} {inner}; write_verilog -noattr mutants.v"
DRAWN = 5000  # for --at: all of a line, nearly
WORDS = {"inv": "is inverted", "const0": "is 0", "const1": "is 1", "cnot0": "is inverted where bit {ctrlbit} is 0",
         "cnot1": "is inverted where bit {ctrlbit} is 1"}
# (scenario, packets, seed) in lockstep: those that end soon and see much first.
QUICK = [("mixed", 100, 1), ("tools/mutation/busy-software.toml", 250, 1), ("tools/mutation/narrow.toml", 200, 4),
         ("tools/mutation/four-dests.toml", 80, 1), ("tools/mutation/fine-windows.toml", 100, 1), ("fuzz", 100, 1),
         ("slow-host", 100, 1), ("probe-revive", 300, 1),
         ("refused", 150, 1), ("plane-addresses", 100, 1), ("immediate", 100, 1), ("bad-ev", 100, 1), ("many-peers", 100, 1),
         ("collectives", 100, 1), ("trim", 150, 1), ("loss", 150, 1), ("link-flap", 200, 1)]
MORE = [("tools/mutation/fat.toml", 150, 2), ("tools/mutation/fat.toml", 300, 6), ("tools/mutation/trims-wait.toml", 250, 2),
        ("port-stands", 100, 1), ("penalty", 100, 1), ("returned", 100, 1), ("retry-exhaust", 100, 1), ("flood", 100, 1), ("corrupt", 150, 1),
        ("tools/mutation/fine-windows.toml", 200, 2), ("tools/mutation/four-dests.toml", 80, 2),
        ("tools/mutation/four-dests.toml", 80, 4), ("qp-error", 100, 1),
        ("tools/mutation/overrun.toml", 100, 1), *(("random", 100, seed) for seed in (41, 36, 8, 25, 4, 37, 17, 28, 3, 18)),
        ("share", 300, 1), ("tools/mutation/narrow.toml", 200, 5), ("many-qps", 100, 1), ("share", 800, 2), ("window", 200, 1),
        ("qp-error", 300, 1), ("many-peers", 300, 1), ("retry-exhaust", 300, 1),
        ("plane-addresses", 300, 1), ("dynamic-mpr", 400, 1), ("bad-ev", 300, 1), ("penalty", 300, 1), ("rto", 300, 1),
        ("many-qps", 400, 1), ("few-updates", 300, 1), ("ecn", 300, 1), ("incast-trim", 300, 1), ("reorder", 300, 1),
        ("bad-plane", 300, 1), ("plane-loss", 300, 1), ("no-bytes", 300, 1), ("host-errors", 300, 1), ("slow-host", 300, 1),
        ("late-data", 300, 1), ("returned", 300, 1), ("port-stands", 300, 1), ("skip-round-trip", 300, 1),
        ("collectives", 300, 1), ("flood", 300, 1), ("bad-world", 300, 1),
        ("tools/mutation/edges.toml", 200, 3), ("tools/mutation/overrun.toml", 400, 1), ("tools/mutation/skip-twice.toml", 600, 1),
        ("tools/mutation/trims-wait.toml", 1000, 1), ("tools/mutation/trims-lost.toml", 1000, 1),
        ("tools/mutation/few-sacks.toml", 2000, 1),
        ("tools/mutation/all-marked.toml", 1500, 1), ("tools/mutation/marked-and-bad.toml", 600, 3),
        ("tools/mutation/long-refused.toml", 300, 2), ("mixed", 1500, 2),
        *(("random", 800, seed) for seed in range(3, 9)), ("tools/mutation/ended.toml", 6000, 8),
        ("tools/mutation/first-timeout.toml", 8000, 1), ("tools/mutation/retry-for-ever.toml", 150, 1)]
JUDGED = [("mixed", 100, 1), ("mixed", 300, 1), ("immediate", 150, 1), ("trim", 300, 1), ("loss", 300, 1), ("refused", 150, 1), ("corrupt", 150, 1),
          ("window", 300, 1), ("link-flap", 300, 1), ("many-qps", 300, 1), ("retry-exhaust", 200, 1), ("qp-error", 200, 1),
          ("bad-ev", 300, 1), ("probe-revive", 300, 1), ("random", 600, 3),
          ("tools/mutation/edges.toml", 200, 3), ("tools/mutation/overrun.toml", 400, 1),
          ("tools/mutation/ended.toml", 6000, 8), ("tools/mutation/ended.toml", 6000, 9),
          ("tools/mutation/small-losses.toml", 4000, 1),
          ("tools/mutation/skip-twice.toml", 600, 2), ("tools/mutation/all-marked.toml", 600, 3),
          ("tools/mutation/few-sacks.toml", 600, 4), ("tools/mutation/trims-wait.toml", 600, 5),
          ("tools/mutation/long-refused.toml", 300, 2), ("tools/mutation/retry-for-ever.toml", 150, 6),
          ("mixed", 600, 2), ("dynamic-mpr", 300, 3), ("bad-plane", 300, 4), ("penalty", 300, 5), ("plane-loss", 300, 6),
          ("many-peers", 300, 7), ("reorder", 300, 8), ("ecn", 300, 9), ("rto", 300, 10), ("plane-addresses", 300, 11),
          ("slow-host", 300, 12), ("incast-trim", 300, 13), ("share", 300, 14), ("returned", 300, 15),
          ("port-stands", 300, 16), ("collectives", 300, 17), *(("random", 500, seed) for seed in range(4, 10))]
# Families of vectors (first part of their ids) that speak of what a block does. All would take hours for each mutant.
SPEAK_OF = {
    "rx_check": ("H-LEN", "H-MTU", "R-MEM", "R-ZERO", "Q-CC", "Q-PORT", "R-ERR", "R-IMM", "R-NAK", "H-RES", "R-WIN"),
    "rx_track": ("R-SACK", "R-NAK", "R-WIN", "R-ORD", "R-DUP", "R-ACK", "R-IMM", "R-RCVD", "R-ERR", "R-TRIM"),
    "tx_path": ("Q-EV", "Q-PLANE", "Q-PEN", "Q-PORT", "Q-TRIM", "Q-REUSE"),
    "tx_inflight": ("Q-TRY", "Q-CC", "Q-PEN", "Q-RETRY", "Q-RTX", "Q-TRIM", "Q-NACK", "Q-GAP", "Q-TIME"),
    "tx_segment": ("Q-WIN", "Q-GAP", "Q-RTX", "Q-ERR", "Q-REUSE", "Q-RETRY", "Q-MPR", "Q-WRAP"),
    "ack_gen": ("R-SACK", "R-TRIM", "R-ECN", "R-NAK", "R-ACK", "R-PROBE", "R-TS", "S-A03-PORT", "S-A21-TSR1"),
    "cc_nscc": ("Q-CC", "Q-TRIM", "Q-WIN", "Q-PEN"),
    "cq_mux": ("R-IMM", "Q-ERR"),
    "csr": ("Q-LIFE", "R-LIFE", "R-MEM", "Q-ERR", "R-MPR", "R-WALK"),
    "endpoint": ("S-A76-PLANE", "S-A76-ONE", "S-A60-EP", "R-PORT", "Q-PORT", "H-PROBE"),
    "fence": ("Q-LIFE", "R-LIFE", "Q-REUSE"),
    "rx_lane": ("H-DROP", "H-LEN", "H-LIE", "H-EXT", "H-CUT", "H-SRH", "H-RES", "H-UDP", "H-OP", "H-DQP", "H-PKEY", "R-SRV6"),
    "rx_place": ("R-ORD", "R-MEM", "H-PAD", "H-MTU"),
    "rx_reorder": ("R-IMM", "R-ORD", "R-LIFE", "R-DUP", "R-ACK"),
    "rx_share": ("R-MPR", "R-WIN"),
    "tx_fetch": ("H-TX", "Q-RTX", "Q-GAP"),
    "tx_header": ("H-TX", "H-WR", "H-SACK", "H-NACK", "H-ACK", "H-EETH", "S-A03-PORT", "H-KAT"),
    "tx_lane": ("H-TX", "H-SACK", "H-ICRC", "H-WR"),
    "tx_probe": ("Q-PLANE", "Q-PORT", "S-A60-EP", "Q-TIME"),
    "tx_sched": ("Q-RTX", "Q-QPS", "Q-CC")}
FAMILIES = sorted({family for families in SPEAK_OF.values() for family in families})
STAGES = {"L0": QUICK + MORE, "L2": JUDGED, "vectors": FAMILIES}
SHORT = {"L0": QUICK, "L2": JUDGED[:8]}

EQUAL = ("equal", ("abc",))  # level and run of the answer of tools/equal.py
WALL = 30  # times the limit of a run: who waits for so long waits for something else


class Mutant:
    """One broken bit: a line that Yosys wrote."""

    def __init__(self, block, number, line):
        words = line.split()
        given = collections.defaultdict(list)
        for name, value in zip(words, words[1:]):
            if name.startswith("-") and not value.startswith("-"):
                given[name[1:]].append(value)
        self.block, self.number, self.mode = block, number, given["mode"][0]
        self.cell, self.port, self.bit = given["cell"][0], given["port"][0], int(given["portbit"][0])
        self.ctrlbit = given["ctrlbit"][0] if given["ctrlbit"] else ""
        self.wire = f"{given['wire'][0]}[{given['wirebit'][0]}]" if given["wire"] else ""
        self.sources = given["src"]
        self.key = f"{block} {number}"

    @property
    def place(self):
        """The innermost piece of source: of those that Yosys names, the one with the fewest lines."""
        def size(text):
            found = re.search(r":(\d+)\.(\d+)-(\d+)\.(\d+)$", text)
            if not found:
                return (0, 0)
            first, column, last, end = map(int, found.groups())
            return (last - first, end - column)
        return min(self.sources, key=size, default="")

    @property
    def line(self):
        found = re.match(r"(.*?):(\d+)", self.place)
        return f"{found[1]}:{found[2]}" if found else "no line"

    @property
    def inside(self):
        """The instance that the cell belongs to, from the block on; "" of the block itself."""
        return ".".join(re.findall(r"(?:^|[\\.])((?:u|gen)_\w+(?:\[\d+\])?)(?=\.)", self.cell))

    def source(self):
        """The line's words."""
        found = re.match(r"(.*?):(\d+)", self.place)
        if not found:
            return ""
        lines = (rtl.ROOT / found[1]).read_text(encoding="utf-8").splitlines()
        return lines[int(found[2]) - 1].strip()

    def __str__(self):
        how = WORDS[self.mode].format(ctrlbit=self.ctrlbit)
        what = f"{self.wire}: " if self.wire else ""
        return f"{self.key}: {self.line}: {what}bit {self.bit} of {self.port} of {self.cell.split(chr(92))[-1]} {how}: {self.source()}"


def dated(run):
    """A run whose scenario is a file, with a digest of it: another one is another question."""
    return (*run, swap.key_of((rtl.ROOT / run[0]).read_bytes())[:8]) if run[0].endswith(".toml") else run


def questions(levels, quick):
    """{level: runs}: (scenario, packets, seed), with a digest of a file; of vectors (id, 0, 0, its version)."""
    runs = {level: list(map(dated, STAGES[level])) for level in levels if level != "vectors"}
    if "vectors" in levels:  # the first of each family, then the second: a run that is interrupted has asked all alike
        ranked = [(rank, v) for family in FAMILIES for rank, v in enumerate(vectors(family))]
        runs["vectors"] = [(v["id"], 0, 0, v["version"]) for _, v in sorted(ranked, key=lambda pair: pair[0])]
    if quick:
        runs.update({level: list(map(dated, SHORT[level])) for level in levels if level in SHORT})
    return runs


def surroundings():
    """What else decides on an answer: the rest of the RTL and the scenarios."""
    return [path.read_bytes() for part in ("rtl", "tb/scenarios") for path in sorted((rtl.ROOT / part).rglob("*"))
            if path.is_file()]


def at_places(block, count, seed, places):
    """Commands of Yosys that make `count` mutants at most, all at one of these lines (FILE:LINE) of the source."""
    drawing = f"{BREAKING}; {DRAWING.format(count=DRAWN, seed=seed)}"
    kept = swap.CACHE / f"{block.name}-drawn-{swap.key_of(block.key, drawing)}.txt"
    if not kept.exists():
        fpga.write_whole(kept, block.run(drawing)["list.txt"].encode())
    found = [line for line in kept.read_text().splitlines() if Mutant(block.name, 0, line).line in places][:count]
    return [re.sub(r"(-ctrl mutant_i 16) \d+", rf"\1 {number}", line) for number, line in enumerate(found, 1)]


class Broken:
    """A block with its mutants: drawn by seed and count, or those of some lines; kept by what the block is made of."""

    def __init__(self, block, count, seed, first, places=()):
        self.block, self.first = block, first
        drawn = at_places(block, count, seed, places) if places else []
        drawing = "; ".join(drawn) if places else f"{DRAWING.format(count=count, seed=seed)}; script list.txt"
        writing = WRITING.format(top=block.top, inner=f"{block.name}_mutants")
        self.script = script = "; ".join(filter(None, (BREAKING, drawing, writing)))
        self.key = swap.key_of(block.key, script)
        kept = swap.CACHE / f"{block.name}-mutants-{self.key}.json"
        if not kept.exists():
            made = block.run(script)
            listed = "\n".join(drawn) if places else made["list.txt"]
            fpga.write_whole(kept, json.dumps({"verilog": made["mutants.v"], "list": listed}).encode())
        self.version = swap.key_of(self.key, *surroundings())
        made = json.loads(kept.read_text())
        self.verilog = made["verilog"]
        self.mutants = [Mutant(block.name, number, line) for number, line in enumerate(made["list"].splitlines(), 1)]

    def circuit(self):
        """The netlist with all its mutants as gates, for tools/equal.py."""
        kept = swap.CACHE / f"{self.block.name}-circuit-{swap.key_of(self.key, equal.GATES)}.json"
        if not kept.exists():
            fpga.write_whole(kept, self.block.run(f"{self.script}; {equal.GATES}")["gates.json"].encode())
        return equal.circuit(kept.read_text())

    def text(self, source):
        """What stands for the block's file. Numbers of mutants, with commas, are read once, when the device is made; of a
        block one can be on."""
        last = self.first + len(self.mutants)
        read = (r'([] { const char* s = std::getenv(\"MRC_RTL_MUTANT\"); while (s && *s) { char* end = nullptr; '
                f'const long n = std::strtol(s, &end, 10); if (n > {self.first} && n <= {last}) return int(n - {self.first}); '
                "if (end == s) break; s = *end ? end + 1 : end; } return 0; }())")
        choose = "\n".join(["  int chosen;", "  logic [15:0] mutant;", f'  initial chosen = $c32("{read}");',
                            "  assign mutant = 16'(chosen);"])
        inner = f"{self.block.name}_mutants"
        return self.block.shell(source, inner, unconnected=("bug_i",), more=choose, pins=(".mutant_i(mutant)",)) + self.verilog


class Device:
    """Tiny with the mutants of some blocks, and a program that opens it where it would open the RTL. It may take so many
    seconds of the processor: a machine that is busy must not look like a NIC that hangs."""

    def __init__(self, everything, broken, jobs, limit):
        texts = {b.block.name: b.text(everything.source(b.block.name)) for b in broken}
        self.library = swap.device(everything, texts, "-O1", jobs)
        self.folder = Path(tempfile.mkdtemp(dir=swap.CACHE, prefix="bin-"))
        real = Path(swap.program())
        (self.folder / "bin").mkdir()
        (self.folder / "lib/mrcnic").mkdir(parents=True)
        self.program = self.folder / "bin/limited"
        mrc = self.folder / "bin/mrc"  # what it opens lies beside the program
        self.program.write_text(f'#!/bin/sh\nulimit -t {limit}\nexec {mrc} "$@"\n', encoding="utf-8")
        self.program.chmod(0o755)
        for source, target in ((real, mrc), (self.library, self.folder / "lib/mrcnic/libmrc_dut_rtl_tiny.so")):
            try:
                os.link(source, target)
            except OSError:
                shutil.copy2(source, target)

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)


@functools.cache
def all_vectors():
    done = subprocess.run([sys.executable, rtl.ROOT / "conformance/vectors.py", "list", "--json"], capture_output=True,
                          text=True, check=True)
    return json.loads(done.stdout)["vectors"]


def vectors(family):
    found = [vector for vector in all_vectors() if vector["id"].startswith(f"{family}-")]
    if not found:
        rtl.fail(f"there is no vector '{family}-...'.", "'mrc vectors list' says which there are.")
    return found


class Judges:
    """Asks who sees a mutant. Each has a memory of what was asked before."""

    def __init__(self, device, limit):
        self.device, self.limit = device, limit

    def ask(self, level, run, number):
        """None: not seen. Else who saw it. number: of a mutant, or several with commas."""
        return self.look(level, run, number)[0]

    def look(self, level, run, number):
        """(who saw it; what differed first at L0: cycle and streams; the blocks that these come from)."""
        if level == "vectors":
            return self.ask_vector(run[0], number), None, ()
        scenario, packets, seed = run[:3]
        with tempfile.TemporaryDirectory() as folder:
            code, said = swap.cosim(self.device.program, level, self.device.library, scenario, packets, seed, folder,
                                    {"MRC_RTL_MUTANT": str(number)}, WALL * self.limit)
        if code in (-signal.SIGXCPU, -signal.SIGKILL):
            code = None
        first = said.get("divergences_in_that_cycle") or []
        return (self.verdict(level, code, said, number), tuple((d["cycle"], d["where"]) for d in first),
                tuple(f"mrc_{d['block']}" for d in first))

    def verdict(self, level, code, said, number):
        if level == "L0":
            if code is None:
                return f"no end in {self.limit} s"
            if code not in (0, 1, 2, 5):
                return f"exit code {code}" if number else f"exit code {code}: {said.get('words', '')}"
            return {0: None, 5: None, 1: "mismatch", 2: "hang"}[code]
        rules = [f["rule"] for f in said.get("judge", {}).get("findings", []) if f.get("device") == "dut"
                 and f.get("verdict") in ("fail", "deviates")]
        if rules:
            return f"rule {rules[0]}"
        if code is None:
            return "bench: no end"
        return None if code in (0, 5) else f"bench: {said.get('outcome') or f'exit code {code}'}"

    def ask_vector(self, vector, number):
        """None: it passes, or is not for this device."""
        command = [sys.executable, rtl.ROOT / "conformance/vectors.py", "run", vector, "--json", "-", "--wall", WALL * self.limit, "--answer-seconds", WALL * self.limit,
                   "--device", f"{self.device.program} nic --endpoint rtl --preset {swap.PRESET}"]
        done = subprocess.run(list(map(str, command)), cwd=rtl.ROOT, capture_output=True, text=True, check=False,
                              env={**os.environ, "MRC_ROOT": str(rtl.ROOT), "MRC_RTL_MUTANT": str(number)})
        try:
            results = json.loads(done.stdout)["results"]
        except (ValueError, KeyError):
            return f"exit code {done.returncode}: {done.stderr[-200:]}"
        return next((f"vector {r['id']}" for r in results if r["disposition"] not in ("pass", "unsupported")), None)


class Memory:
    """build/mutate/rtl.jsonl: a line for each answer: what was asked of which mutant, and who saw it."""

    def __init__(self, anew):
        RESULTS.parent.mkdir(parents=True, exist_ok=True)
        self.known = collections.defaultdict(dict)  # (version, number) -> {(level, run): seen}
        if RESULTS.exists() and not anew:
            for line in RESULTS.read_text(encoding="utf-8").splitlines():
                try:
                    entry = json.loads(line)
                except ValueError:
                    continue  # the last one, of a run that was killed
                self.known[entry["version"], entry["number"]][entry["level"], tuple(entry["run"])] = entry["seen"]
        self.out = RESULTS.open("a", encoding="utf-8")
        self.lock = threading.Lock()

    def of(self, version, number):
        return self.known[version, number]

    def write(self, version, number, level, run, seen):
        with self.lock:
            self.known[version, number][level, run] = seen
            self.out.write(json.dumps({"version": version, "number": number, "level": level, "run": run, "seen": seen}) + "\n")
            self.out.flush()


def seen_at(known, level, runs):
    """(who, in which run) of the first of these that saw it at this level, or None."""
    for run in runs[level]:
        if known.get((level, run)):
            return known[level, run], " ".join(map(str, run[:3]))
    return None


def asked(block, level, runs):
    """Who is asked of mutants of a block: all, but of vectors those that speak of it, a family after another."""
    families = SPEAK_OF.get(block.removeprefix("mrc_"))
    if level != "vectors" or not families:
        return runs[level]
    return [run for run in runs[level] if run[0].startswith(tuple(f"{family}-" for family in families))]


def settled(known, block, level, levels, runs):
    """Nobody need be asked any more: somebody has seen it, or all have been asked. Vectors stand beside L2."""
    beside = [level, "L2"] if level == "vectors" and "L2" in levels else [level]
    return any(seen_at(known, at, runs) for at in beside) \
        or all((level, run) in known for run in asked(block, level, runs))


def answered(known, block, levels, runs):
    return known.get(EQUAL) == "equal" or all(settled(known, block, level, levels, runs) for level in levels)


def plan(mutants, memory, levels, runs):
    """[(mutant, level)] of what is not answered yet, and of those that can be told apart."""
    left = [(broken, mutant, level) for broken, mutant in mutants for level in levels
            if memory.of(broken.version, mutant.number).get(EQUAL) != "equal"
            and not settled(memory.of(broken.version, mutant.number), mutant.block, level, levels, runs)]
    # A run that is interrupted has asked of all blocks alike; Yosys drew them in no order.
    return sorted(left, key=lambda job: (levels.index(job[2]), job[1].number))


def work(left, memory, judges, rest, levels, runs, workers):
    """Asks what is left; false if it was interrupted."""
    stopped = threading.Event()

    def one(job):
        broken, mutant, level = job
        known = memory.of(broken.version, mutant.number)
        for run in asked(mutant.block, level, runs):
            if stopped.is_set() or settled(known, mutant.block, level, levels, runs):
                break
            if (level, run) in known:
                continue
            seen = judges.ask(level, run, broken.first + mutant.number)
            if seen and rest.says(level, run):
                seen = None
            if stopped.is_set():
                return job
            memory.write(broken.version, mutant.number, level, run, seen)
        return job

    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(one, job) for job in left]
        try:
            for done, future in enumerate(concurrent.futures.as_completed(futures), 1):
                broken, mutant, level = future.result()
                found = seen_at(memory.of(broken.version, mutant.number), level, runs)
                later = (time.monotonic() - began) / done * (len(left) - done)
                print(f"{done}/{len(left)} {level} {'; '.join(found) if found else 'NOT SEEN'}: {mutant}  ({later:.0f} s left)",
                      flush=True)
        except KeyboardInterrupt:
            stopped.set()
            for future in futures:
                future.cancel()
            return False
    return True


def groups(pairs):
    """Mutants that can be on at once: one of each block."""
    apart = collections.defaultdict(list)
    for pair in pairs:
        apart[pair[1].block].append(pair)
    return [[mine[k] for mine in apart.values() if k < len(mine)] for k in range(max(map(len, apart.values()), default=0))]


def ask_group(group, level, run, memory, judges, rest, stopped):
    """Asks of mutants of several blocks at once: where nobody sees them, no one is seen. At L0 the stream that differs first
    names a block: without its mutant that difference must be gone. Else of either half. That two hide each other can but
    make a mutant look as if it were not seen. Returns how many runs it took."""
    took, before = 0, None  # before: the mutant that was just left out, and what had differed first with it

    def write(pair, seen):
        memory.write(pair[0].version, pair[1].number, level, run, None if seen and rest.says(level, run) else seen)

    while group:
        seen, where, blocks = judges.look(level, run, ",".join(str(broken.first + mutant.number) for broken, mutant in group))
        took += 1
        if stopped.is_set():
            break
        if before and where == before[1]:  # it was not the one
            group, seen, blocks, before = [before[0], *group], before[2], (), None
        elif before:
            write(before[0], before[2])
            before = None
        if not seen or len(group) == 1:
            for pair in group:
                write(pair, seen)
            break
        named = next((pair for pair in group if pair[1].block in blocks), None)
        if not named:
            half = len(group) // 2
            return took + sum(ask_group(part, level, run, memory, judges, rest, stopped) for part in (group[:half], group[half:]))
        before = (named, where, seen)
        group = [pair for pair in group if pair is not named]
    return took


def together(mutants, memory, judges, rest, level, levels, runs, workers):
    """Asks a level of what is left, run after run, of mutants of different blocks at once; false if it was interrupted."""
    stopped = threading.Event()
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for place, run in enumerate(runs[level], 1):
            left = [(broken, mutant) for broken, mutant, at in plan(mutants, memory, levels, runs)
                    if at == level and (level, run) not in memory.of(broken.version, mutant.number)
                    and run in asked(mutant.block, level, runs)]
            futures = [pool.submit(ask_group, group, level, run, memory, judges, rest, stopped) for group in groups(left)]
            try:
                took = sum(future.result() for future in futures)
            except KeyboardInterrupt:
                stopped.set()
                for future in futures:
                    future.cancel()
                return False
            seen = [mutant for broken, mutant in left if memory.of(broken.version, mutant.number).get((level, run))]
            if left:
                print(f"{level} {' '.join(map(str, run[:3]))} ({place} of {len(runs[level])}): {len(left)} mutants in {took} "
                      f"runs, {len(seen)} seen: {', '.join(mutant.key for mutant in seen)}", flush=True)
    return True


class Listed:
    """tools/rtl_mutants.yaml: {equivalent: {line of source: {its words: reason}}, unseen: the same}."""

    def __init__(self, path):
        import yaml
        words = yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else {}
        self.reasons = {section: (words or {}).get(section) or {} for section in ("equivalent", "unseen")}

    def reason(self, section, mutant):
        for file, entries in self.reasons[section].items():
            if mutant.line.startswith(file + ":"):
                for text, reason in entries.items():
                    pin = f"{mutant.source()} @ {mutant.mode} {mutant.port}[{mutant.bit}]"
                    cell = mutant.cell.split(chr(92))[-1]
                    if text in (f"{pin} of {cell} in {mutant.block}", f"{pin} in {mutant.inside}", pin, mutant.source()):
                        return reason
        return None


class Rest:
    """What is said without a mutant: where somebody says something, the run is of no use. Asked once for each device, and
    only of runs in which somebody has seen a mutant."""

    def __init__(self, key, memory, judges):
        self.key, self.memory, self.judges = key, memory, judges
        self.lock = threading.Lock()

    def says(self, level, run):
        known = self.memory.of(self.key, 0)
        with self.lock:
            if (level, run) not in known:
                self.memory.write(self.key, 0, level, run, self.judges.ask(level, run, 0))
                if known[level, run]:
                    print(f"mrc mutate: {level} {' '.join(map(str, run[:3]))} is left out: without a mutant, too: "
                          f"{known[level, run]}", file=sys.stderr)
        return known[level, run]

    def begin(self, levels, runs):
        for level in levels:
            if self.says(level, runs[level][0]):
                rtl.fail(f"without a mutant, too, {level} says '{self.says(level, runs[level][0])}'.",
                         "Play it by hand: 'mrc cosim --preset tiny --dut rtl'; then 'mrc mutate --rtl --anew'.")


def equivalent(mutants, memory, runs):
    """{mutant: True} of those not seen at L0 that abc cannot tell from the original; kept like the other answers."""
    circuits, found = {}, {}
    for broken, mutant in mutants:
        known = memory.of(broken.version, mutant.number)
        if seen_at(known, "L0", runs) or not any((("L0", run) in known) for run in runs["L0"]):
            continue
        if EQUAL not in known:
            if broken.block.name not in circuits:
                print(f"mrc mutate: {broken.block.name} as gates", file=sys.stderr, flush=True)
                circuits[broken.block.name] = broken.circuit()
            same = circuits[broken.block.name].same(mutant.number)
            memory.write(broken.version, mutant.number, *EQUAL, {True: "equal", False: "", None: "no answer"}[same])
        found[mutant.key] = known[EQUAL] == "equal"
    return found


def tell(mutants, memory, listed, levels, runs, options):
    """A row for each block, the survivors, the JSON."""
    rows, shown = [], []
    proved = equivalent(mutants, memory, runs) if "L0" in levels else {}
    both = "L2 or vectors"
    columns = [*levels, *([both] if {"L2", "vectors"} <= set(levels) else [])]
    for broken, mutant in mutants:
        known = memory.of(broken.version, mutant.number)
        if known.get(EQUAL) == "equal":
            proved[mutant.key] = True
        row = {"block": mutant.block, "number": mutant.number, "line": mutant.line, "source": mutant.source(),
               "mode": mutant.mode, "cell": mutant.cell, "port": mutant.port, "bit": mutant.bit, "wire": mutant.wire,
               "equivalent": "proved by abc" if proved.get(mutant.key) else listed.reason("equivalent", mutant),
               "reason": listed.reason("unseen", mutant)}
        for level in levels:
            found = seen_at(known, level, runs)
            row[level] = {"by": found[0], "run": found[1]} if found else None
        if both in columns:
            row[both] = row["L2"] or row["vectors"]
        rows.append(row)
        if not row["equivalent"] and not row[columns[-1]]:
            print(f"not seen at {columns[-1]}: {mutant}")
            if row["reason"]:
                print(f"  {row['reason']}")
    names = list(dict.fromkeys(row["block"] for row in rows))
    for name in [*names, "all"]:
        mine = [row for row in rows if name in (row["block"], "all")]
        counted = [row for row in mine if not row["equivalent"]]
        seen = {column: sum(row[column] is not None for row in counted) for column in columns}
        words = ", ".join(f"{column} {number} ({100 * number / max(len(counted), 1):.1f} %)" for column, number in seen.items())
        print(f"{name}: {len(mine)} mutants, {len(mine) - len(counted)} cannot be told apart, of the others seen at {words}")
        shown.append({"block": name, "mutants": len(mine), "equivalent": len(mine) - len(counted), **seen})
    if options.json:
        rtl.write_json(options.json, {"preset": swap.PRESET, "seed": options.seed, "count": options.count, "totals": shown,
                                      "rows": rows})
    wrong = [row for row in rows if row["equivalent"] and any(row[level] for level in levels)]
    for row in wrong:
        print(f"listed as equivalent, but seen: {row['block']} {row['number']}")
    return rtl.Exit.FAIL if wrong else rtl.Exit.PASS


def arguments():
    parser = rtl.Parser(prog="mrc mutate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rtl", action="store_true", required=True, help="mutants of the RTL's blocks, at preset tiny")
    parser.add_argument("--blocks", action="append", metavar="NAME,...", help=f"of these blocks, or of 'all' ({','.join(FIRST)})")
    parser.add_argument("--count", type=int, default=60, metavar="N", help="mutants of each block (60)")
    parser.add_argument("--seed", type=int, default=1, help="mutants are drawn from it")
    parser.add_argument("--at", action="append", metavar="FILE:LINE", help="only of this line, up to --count (may be repeated)")
    parser.add_argument("--levels", default="L0,L2", help="which checks run: some of L0, L2, vectors (L0,L2)")
    parser.add_argument("--quick", action="store_true", help="only the short runs at L0 and L2")
    parser.add_argument("--list", action="store_true", help="list them, run nothing")
    parser.add_argument("--cached", action="store_true", help="report on mutants with kept results, run nothing")
    parser.add_argument("--most", type=int, default=5000, metavar="N", help="run only the first N mutants of each block")
    parser.add_argument("--only", action="append", metavar="'BLOCK NUMBER'", help="only this mutant (may be repeated)")
    parser.add_argument("--json", metavar="FILE", help="result of every mutant")
    parser.add_argument("--limit", type=int, default=300, metavar="S", help="seconds of the processor that a run may take (300)")
    parser.add_argument("--anew", action="store_true", help="forget results of earlier runs")
    parser.add_argument("-j", type=int, default=os.cpu_count() or 1, metavar="N", help="runs at once (all cores)")
    options = parser.parse_args()
    options.levels = options.levels.split(",")
    if not set(options.levels) <= set(STAGES):
        parser.error(f"--levels {','.join(options.levels)}: there are {', '.join(STAGES)}")
    if not 1 <= options.count <= 5000:
        parser.error(f"--count {options.count} is not a number from 1 to 5000")
    if options.j < 1:
        parser.error(f"-j {options.j} is not a number of runs")
    rtl.check_json(options.json)
    return options


def main():
    options = arguments()
    everything = swap.Blocks()
    broken, first = [], 0
    for block in everything.choose(None if options.blocks == ["all"] else options.blocks or FIRST):
        print(f"mrc mutate: {block.name}", file=sys.stderr, flush=True)
        broken.append(Broken(block, options.count, options.seed, first, tuple(options.at or ())))
        first += len(broken[-1].mutants)
    if options.at and not first:
        rtl.fail(f"none of the blocks has a mutant at {' or '.join(options.at)}.",
                 "Name a line as 'mrc mutate --rtl --list' does, and its block with --blocks.")
    mutants = [(b, mutant) for b in broken for mutant in b.mutants[:options.most]
               if mutant.key in (options.only or [mutant.key])]
    if options.list:
        print("\n".join(str(mutant) for _, mutant in mutants))
        print(f"{len(mutants)} mutants")
        return rtl.Exit.PASS
    if not mutants:
        rtl.fail(f"there is no mutant '{options.only[0]}'.", "'mrc mutate --rtl --list' says which there are.")
    runs = questions(options.levels, options.quick)
    memory = Memory(options.anew)
    if options.cached:
        known = [pair for pair in mutants if answered(memory.of(pair[0].version, pair[1].number), pair[1].block,
                                                         options.levels, runs)]
        print(f"answers are kept for {len(known)} of {len(mutants)} mutants")
        return tell(known, memory, Listed(rtl.ROOT / "tools/rtl_mutants.yaml"), options.levels, runs, options)
    device = Device(everything, broken, options.j, options.limit)
    try:
        judges = Judges(device, options.limit)
        rest = Rest(device.library.stem, memory, judges)
        rest.begin(options.levels, runs)
        def interrupted():
            print("interrupted; the same command goes on", file=sys.stderr)
            return rtl.Exit.INCONCLUSIVE

        for level in sorted(options.levels, key=list(STAGES).index):
            first = {level: runs[level][:1]}  # sees most; at L2 nothing says of whom, so that halves would take longer
            if level == "L2" and not work(plan(mutants, memory, [level], first), memory, judges, rest, [level], first, options.j):
                return interrupted()
            if not together(mutants, memory, judges, rest, level, options.levels, runs, options.j):
                return interrupted()
            if level == "L0":  # the other levels are not for what nobody can tell apart
                equivalent(mutants, memory, runs)
    finally:
        device.close()
    return tell(mutants, memory, Listed(rtl.ROOT / "tools/rtl_mutants.yaml"), options.levels, runs, options)


if __name__ == "__main__":
    rtl.command("mrc mutate", main)
