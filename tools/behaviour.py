#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: behaviour.py [--mrc A] [--save FILE] [--against FILE | --mrc B]

Tells whether two builds behave alike. Runs every built-in scenario of the bench (preset tiny, one seed) and every
shipped scenario of the fabric, and prints a table: event log hash, cycles and outcome of each run of the bench;
simulated time, packets and a hash of all results of each run of the fabric (without speed, versions, and the id of the
run). With a second build, or a table saved by --save, tells every run that differs and exits with 1.

  tools/behaviour.py --save /tmp/before.json              what the built mrc does
  tools/behaviour.py --against /tmp/before.json           the same after a change
  tools/behaviour.py --mrc old/build/fast/bin/mrc --mrc build/fast/bin/mrc

A scenario that only one side has is told as well: --only-common leaves it out. Exit code 2: a run printed no results."""
import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

import rtl

ROOT = Path(__file__).resolve().parent.parent
FABRIC_CHANGES = ("speed", "versions", "run")  # keys of the fabric's JSON that differ from run to run


TOO_LARGE = {"mrc-131072"}  # gigabytes; mrc-1024 is the same in small


class NoResult(Exception):
    """A run that left no JSON."""


def names(mrc, command):
    """The scenarios that `mrc COMMAND --scenario list` prints; random is drawn from all of them."""
    text = subprocess.run([mrc, command, "--scenario", "list"], text=True, check=True, stdout=subprocess.PIPE).stdout
    found = re.findall(r"^  (\S+) ", text.split("\n\n")[0], re.MULTILINE)
    if not found:
        raise NoResult(f"'{mrc} {command} --scenario list' names no scenario")
    return found


def result(mrc, *arguments):
    """What a run writes with --json."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        # In a folder of its own: a failing run leaves reports.
        done = subprocess.run([str(Path(mrc).resolve()), *arguments, "--json", str(out)], text=True, cwd=folder,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if not out.exists():
            raise NoResult(f"{mrc} {' '.join(arguments)} (exit code {done.returncode}):\n{done.stdout}")
        return json.loads(out.read_text())


def bench(mrc, scenario, options):
    """One run of the bench."""
    got = result(mrc, "cosim", "--preset", options.preset, "--scenario", scenario, "--seed", str(options.seed),
                 "--packets", str(options.packets), "--dut", options.dut)
    return {"result": got["result"], "cycles": got["cycles"], "hash": got["event_log_hash"]}


def fabric(mrc, scenario, options):
    """One run of the fabric."""
    got = result(mrc, "fabric", "--scenario", scenario, "--seed", str(options.seed))
    seconds = got["speed"]["wall_seconds"]
    kept = {key: value for key, value in got.items() if key not in FABRIC_CHANGES}
    digest = hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()[:16]
    return {"result": got["outcome"], "simulated_us": got["simulated_us"], "packets": got["totals"]["data_packets"],
            "hash": digest, "seconds": round(seconds, 2)}


def table(mrc, options):
    """{"bench NAME": {...}, "fabric NAME": {...}} of one build."""
    jobs = []
    if "bench" in options.rooms:
        jobs += [("bench", name, bench) for name in names(mrc, "cosim")]
    if "fabric" in options.rooms:
        jobs += [("fabric", name, fabric) for name in names(mrc, "fabric")]
    jobs = [job for job in jobs if job[1] not in TOO_LARGE]
    if options.scenario:
        jobs = [job for job in jobs if job[1] in options.scenario]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        rows = pool.map(lambda job: job[2](mrc, job[1], options), jobs)
        return {f"{room} {name}": row for (room, name, _), row in zip(jobs, rows)}


def differences(before, after, only_common):
    """Sentences, one for each run that is not the same."""
    for name in sorted({*before, *after}):
        if name not in before or name not in after:
            if not only_common:
                yield f"{name}: only the {'second' if name in after else 'first'} has it"
            continue
        for key in sorted(({*before[name]} | {*after[name]}) - {"seconds"}):
            was, now = before[name].get(key), after[name].get(key)
            if was != now:
                yield f"{name}: {key} was {was}, is {now}"


def main():
    parser = rtl.Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mrc", action="append", help="a built mrc; given twice, both are compared")
    parser.add_argument("--save", type=Path, help="write the table of the (last) build to this file")
    parser.add_argument("--against", type=Path, help="compare with a saved table")
    parser.add_argument("--only-common", action="store_true", help="do not tell scenarios that one side has not")
    parser.add_argument("--rooms", default="bench,fabric", type=lambda text: text.split(","), help="bench,fabric")
    parser.add_argument("--scenario", action="append", help="only this scenario; may be repeated")
    parser.add_argument("--preset", default="tiny")
    parser.add_argument("--dut", default="rtl")
    parser.add_argument("--seed", default=1, type=int)
    parser.add_argument("--packets", default=500, type=int, help="data packets of each run of the bench")
    parser.add_argument("--jobs", default=os.cpu_count(), type=int)
    options = parser.parse_args()
    builds = options.mrc or [str(ROOT / "build/fast/bin/mrc")]
    if len(builds) + bool(options.against) > 2:
        parser.error("two are compared, not more")
    settings = {key: getattr(options, key) for key in ("preset", "dut", "seed", "packets")}

    tables = []
    if options.against:
        saved = json.loads(options.against.read_text())
        if saved["settings"] != settings:
            parser.error(f"{options.against} was made with {saved['settings']}")
        runs = saved["runs"]
        if options.scenario:
            runs = {name: row for name, row in runs.items() if name.split(" ")[1] in options.scenario}
        tables.append({name: row for name, row in runs.items() if name.split(" ")[0] in options.rooms})
    try:
        tables += [table(mrc, options) for mrc in builds]
    except NoResult as missing:
        print(f"no results: {missing}")
        return rtl.Exit.USAGE
    for name, row in tables[-1].items():
        print(f"{name:<28}", *row.values())
    if options.save:
        options.save.write_text(json.dumps({"settings": settings, "runs": tables[-1]}, indent=1) + "\n")
    if len(tables) < 2:
        return rtl.Exit.PASS
    told = list(differences(*tables, options.only_common))
    for sentence in told:
        print(sentence)
    print(f"{len(tables[-1])} runs, {len(told)} differences")
    return rtl.Exit.FAIL if told else rtl.Exit.PASS


if __name__ == "__main__":
    rtl.command("behaviour.py", main)
