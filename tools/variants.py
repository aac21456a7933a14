#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: variants.py MRC [options]

Is the judge right about NICs that are not ours? Runs the devices of 'mrc cosim --variant list': legal ones with random
scenarios, of which none may bring a finding, illegal ones with the scenario that each names, where one of its rules must
be named. 'plain' is the device itself, without a variant. Exit 1: a false alarm, an error that was not seen, or one with
other rules; 3: a run did not work."""
import argparse
import concurrent.futures
import hashlib
import json
import re
import subprocess
import tempfile
from pathlib import Path

import rtl

LINE = re.compile(r"^  (\S+) +(legal|illegal) (.*) \(--scenario ([^\s,)]+)(?: --preset (\w+))?(?:, ([^)]+))?\)(?:: (.*))?$")
PLAIN = ("plain", "legal", "the device itself", "random", None, None, None)
INSIDE = ("take-", "answer-other", "answer-lost", "path-")  # events of the device alone: nothing shows at L2


class Results:
    """Runs that are done, a line of JSON each, so that a campaign goes on where it was stopped."""

    def __init__(self, args):
        self.rows = {}
        self.path = args.results
        self.binary = hashlib.sha256(Path(args.mrc).read_bytes()).hexdigest()[:12]
        if not self.path or not Path(self.path).exists():
            return
        for line in Path(self.path).read_text().splitlines():
            row = json.loads(line)
            if args.keep or row["binary"] == self.binary:
                self.rows[tuple(row["key"])] = row

    def run(self, args, level, name, scenario, seed, preset=None, setting=None):
        preset = preset or args.preset
        key = (args.dut, preset, args.packets, level, name, scenario, seed)
        if key in self.rows:
            return Run(self.rows[key])
        run = Run(play(args, level, name, scenario, seed, preset, setting))
        if self.path:
            with open(self.path, "a") as out:
                out.write(json.dumps({"key": key, "binary": self.binary, **run.row}) + "\n")
        return run


def play(args, level, name, scenario, seed, preset, setting):
    """One run of 'mrc cosim', the scenario with those keys, if any, and which rules the judge names."""
    with tempfile.TemporaryDirectory() as folder:
        if setting:
            keys = setting.replace(", ", "\n")
            text = f'base = "{scenario}"\nvary = 0\n{keys}\n'
            scenario = str(Path(folder) / f"{scenario}.toml")
            Path(scenario).write_text(text, encoding="utf-8")
        out = Path(folder) / "run.json"
        command = [args.mrc, "cosim", "--level", level, "--dut", args.dut, "--preset", preset,
                   *(["--variant", name] if name != PLAIN[0] else []), "--scenario", scenario,
                   "--packets", str(args.packets), "--seed", str(seed), "--json", str(out)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        except subprocess.TimeoutExpired:
            done = subprocess.CompletedProcess(command, -1, "", "not done after 600 s")
        result = json.loads(out.read_text()) if out.exists() else {}
    findings = [f for f in result.get("judge", {}).get("findings", []) if f["device"] == "dut"]
    return {"code": done.returncode, "command": " ".join(command[:-2]),
            "outcome": result.get("outcome") or (done.stdout + done.stderr).strip()[:200],
            "rules": list(dict.fromkeys(f["rule"] for f in findings if f.get("verdict", "fail") == "fail")),
            "marked": list(dict.fromkeys(f["rule"] for f in findings))}


class Run:
    def __init__(self, row):
        self.row = row
        self.code, self.command, self.outcome = row["code"], row["command"], row["outcome"]
        self.rules, self.marked = row["rules"], row["marked"]


def legal(args, rows, pool, results):
    """Seed by seed over all variants, so that one that is stopped has tried each of them."""
    bad = 0
    tally = {}
    jobs = {}
    for seed in range(args.seed, args.seed + args.runs):
        for level in args.levels.split(","):
            for name, *_ in rows:
                jobs[pool.submit(results.run, args, level, name, "random", seed)] = (name, level)
    try:
        for job in concurrent.futures.as_completed(jobs):
            run, (name, level) = job.result(), jobs[job]
            word = {0: "pass", 4: "not played", 5: "inconclusive"}.get(run.code, "bad")
            counts = tally.setdefault((name, level), {"pass": 0, "inconclusive": 0, "not played": 0, "bad": 0})
            counts[word] += 1
            if word == "bad":
                bad += 1
                print(f"FALSE ALARM {name} {level}: exit {run.code}, {run.outcome}, {' '.join(run.rules)}\n  {run.command}",
                      flush=True)
    except KeyboardInterrupt:
        pool.shutdown(wait=True, cancel_futures=True)
    for name, *_ in rows:
        for level in args.levels.split(","):
            counts = tally.get((name, level), {})
            print(f"{name:18} {level} " + ", ".join(f"{n} {what}" for what, n in counts.items()))
    return bad


def illegal(args, rows, pool, results):
    bad = 0
    jobs = [(row, level, pool.submit(results.run, args, level, row[0], row[3], args.seed, row[4], row[5])) for row in rows
            for level in args.levels.split(",")]
    for (name, *_, rules), level, job in jobs:
        run = job.result()
        hidden = level == "L2" and name.startswith(INSIDE)
        seen = bool(run.marked)
        right = bool(set(rules.split()) & set(run.marked))
        word = "hidden" if hidden and not seen else "seen" if right else "OTHER RULE" if seen else "NOT SEEN"
        bad += word not in ("hidden", "seen")
        print(f"{name:18} {level} {word:10} {' '.join(run.marked) or run.outcome} (wanted {rules})", flush=True)
        if word in ("OTHER RULE", "NOT SEEN") and args.verbose:
            print(f"  exit {run.code}: {run.command}")
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mrc")
    parser.add_argument("--what", choices=("legal", "illegal"), default="illegal")
    parser.add_argument("--only", default="", help="names, commas between them")
    parser.add_argument("--dut", default="model")
    parser.add_argument("--preset", default="tiny")
    parser.add_argument("--levels", default="L1,L2")
    parser.add_argument("--packets", type=int, default=900)
    parser.add_argument("--runs", type=int, default=200, help="random scenarios of each legal variant at each level")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--results", default="", help="a file of runs that are done: they are not run again")
    parser.add_argument("--keep", action="store_true", help="also those that another build of MRC has run")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    listed = subprocess.run([args.mrc, "cosim", "--variant", "list"], capture_output=True, text=True)
    rows = [PLAIN, *(match.groups() for match in map(LINE.match, listed.stdout.splitlines()) if match)]
    if len(rows) == 1:
        rtl.fail(f"{args.mrc} lists no variants.", "Name a built mrc.")
    only = set(filter(None, args.only.split(",")))
    unknown = only - {row[0] for row in rows}
    if unknown:
        print(f"variants.py: no variant is called {', '.join(sorted(unknown))}. 'mrc cosim --variant list' names them.")
        return 3
    rows = [row for row in rows if row[1] == args.what and (not only or row[0] in only)]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        bad = (legal if args.what == "legal" else illegal)(args, rows, pool, Results(args))
    print(f"{len(rows)} variants, {bad} bad")
    return 1 if bad else 0


if __name__ == "__main__":
    rtl.command("variants.py", main)
