#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""mrc regress: runs a plan, a TOML file or the name of one in plans/: scenarios x presets x seeds, fabric, vectors,
scripts, mutants, proofs. docs/guide/regress.md says how to read what comes out."""
import argparse
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

import rtl
from mrcscript import versions
from regression import close, cluster, cover, engine, kinds, plan as plans, report, spent, store
from regression.folder import Folder
from regression.work import Worker

EXAMPLES = """Examples:
  mrc regress smoke -j2                        two minutes; the folder is mrc-regress/smoke
  mrc regress smoke --json smoke.json          and what came out as JSON
  mrc regress nightly --out night              interrupted: the same command goes on where this one stopped
  mrc regress nightly --engine slurm           the same results by arrays of Slurm
  mrc regress --list                           the shipped plans
  mrc regress nightly --close 200              then 200 runs of scenarios near those that may fill holes of coverage
  mrc regress coverage mrc-regress/nightly     which bins were reached, and what may fill the others
  mrc regress report mrc-regress/smoke         what came out as pages for a browser; more by report --help
  mrc regress time mrc-regress/nightly         where its time went: per kind, the longest runs, idle"""


def options():
    parser = rtl.Parser(prog="mrc regress", description=__doc__, epilog=EXAMPLES,
                        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan", nargs="?", metavar="PLAN", help="a TOML file, or the name of a shipped plan")
    parser.add_argument("--list", action="store_true", help="list the shipped plans")
    parser.add_argument("--dry", action="store_true", help="say what there is to run and stop")
    parser.add_argument("--out", metavar="DIR", help="folder of the results (mrc-regress/PLAN)")
    parser.add_argument("--json", metavar="FILE", help="what came out as JSON")
    parser.add_argument("--close", type=int, default=0, metavar="N",
                        help="then N more runs, steered towards bins of coverage that miss their goal")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count(), metavar="N",
                        help="ranges at a time on this machine (all cores)")
    parser.add_argument("--engine", choices=("local", "slurm", "template"), default="local",
                        help="who runs the ranges: this machine, arrays of Slurm, the scheduler of --scheduler")
    parser.add_argument("--scheduler", metavar="FILE", help="commands of a scheduler: plans/schedulers, all untried")
    parser.add_argument("--range", nargs=2, metavar=("DIR", "N"), help="run range N of a folder; what schedulers call")
    given = parser.parse_args()
    if given.close < 0:
        parser.error(f"--close {given.close} is not a number of runs")
    if given.close and given.engine != "local":
        parser.error("--close is for --engine local: a round looks at what the one before has shown")
    if given.jobs < 1:
        parser.error(f"-j {given.jobs} is not a number of ranges")
    if not (given.plan or given.list or given.range):
        parser.error("no plan given")
    if (given.engine == "template") != bool(given.scheduler):
        parser.error("--engine template and --scheduler FILE go together")
    return given


def mrc_command():
    """The executable that started us."""
    command = os.environ.get("MRC_EXE") or str(rtl.ROOT / "mrc")
    if rtl.CLONE:
        os.environ.setdefault("MRC_ROOT", str(rtl.ROOT))
    return command


def list_plans():
    for file in sorted(plans.PLANS.glob("*.toml")):
        plan = plans.read(file)
        print(f"{file.stem:<10} {plan['description']}")
    return rtl.Exit.PASS


def run_range(folder_name, number, stop):
    """For a scheduler: exit code 0 when every item has its line, 3 when not."""
    folder = Folder(folder_name)
    folder.open()
    if not number.isdecimal() or int(number) >= len(folder.ranges):
        rtl.fail(f"{folder_name} has no range {number}.", f"Ranges are 0 to {len(folder.ranges) - 1}.")
    done = Worker(folder, mrc_command(), rtl.ROOT, stop).run(int(number))
    return rtl.Exit.PASS if done else rtl.Exit.USAGE


def summary(folder, plan, resumed, seconds):
    """What came out, read from the files alone."""
    base = store.write(folder)
    counts = store.counts(base)
    runs = sum(counts.values())
    numbers = range(len(folder.ranges))
    gave_up = {number for number in numbers if folder.missing(number) and folder.tries(number)}
    lost = sum(len(folder.missing(number)) for number in gave_up)
    total = sum(len(part["items"]) for part in folder.ranges)
    return {
        "plan": plan["name"],
        "planned": total,
        "runs": runs,
        "passed": counts.get("pass", 0),
        "deviating": counts.get("deviates", 0),
        "failed": counts.get("fail", 0) + counts.get("hang", 0),
        "inconclusive": counts.get("inconclusive", 0),
        "unsupported": counts.get("unsupported", 0),
        "infrastructure": lost,
        "retries": sum(len(folder.tries(number)) for number in numbers),
        "left": total - runs - lost,
        "resumed": resumed,
        "seconds": round(seconds, 3),
        "builds": store.builds(base),
        "seeds": seeds(folder),
        "time": spent.of(base),
        "coverage": cover.summary([folder]),
        "failures": store.failures(base),
        "database": str(base),
    }


def seeds(folder):
    """Seeds that have a result, of each kind that has seeds: "1-12, 40"."""
    found = {}
    for part in folder.ranges:
        if kinds.KINDS[part["kind"]].items is kinds.seeds:
            found.setdefault(part["kind"], set()).update(map(int, folder.results(part["number"])))
    return {kind: spans(sorted(numbers)) for kind, numbers in found.items()}


def spans(numbers):
    """Rising numbers as a text, those that follow each other as first-last."""
    text, at = [], 0
    while at < len(numbers):
        last = at
        while last + 1 < len(numbers) and numbers[last + 1] == numbers[last] + 1:
            last += 1
        text.append(f"{numbers[at]}-{numbers[last]}" if last > at else f"{numbers[at]}")
        at = last + 1
    return ", ".join(text)


def tell(result, folder):
    print(f"{result['plan']}: {result['runs']} of {result['planned']} runs: {result['passed']} passed,"
          f" {result['deviating']} with deviations, {result['failed']} failed, {result['inconclusive']} inconclusive, {result['unsupported']} unsupported;"
          f" {result['infrastructure']} without a result for reasons of the machine; {result['resumed']} were there"
          f" before; {result['seconds']:.1f} s")
    if "close" in result:
        print(f"  and {result['close']['runs']} runs towards holes: {result['close']['passed']} passed,"
              f" {result['close']['failed']} failed")
    for row in result["failures"] + result.get("close", {}).get("failures", []):
        cost = f"{row['cycles']} cycles" if row["cycles"] else f"{row['seconds'] or 0:.2f} s"
        print(f"  {row['runs']:>5} x  {row['signature'] or 'failed'}, cheapest {cost}\n           {row['repro']}")
    for part in folder.ranges:
        if folder.missing(part["number"]) and (tries := folder.tries(part["number"])):
            print(f"  range {part['number']}: {json.loads(tries[-1])['why']}\n"
                  f"           {folder.file(part['number'], 'log')}")
    found = result["coverage"]
    if found["bins"] is not None:
        print(f"  {100 * found['bins']:.1f} % of {found['all']} bins of coverage have their goal, by {found['runs']} runs:"
              f" mrc regress coverage {folder.path}")
    print("\n".join(spent.lines(result["time"])))
    for build in result["builds"]:
        print(f"  {build['runs']} runs by {versions.line(build)}")
    print(f"  {result['database']}")


def verdict(result):
    if result["failed"] or result.get("close", {}).get("failed"):
        return rtl.Exit.FAIL
    if result["infrastructure"]:
        return rtl.Exit.USAGE
    return rtl.Exit.INCONCLUSIVE if result["left"] or not result["passed"] + result["deviating"] else rtl.Exit.PASS


def run_close(folder, given, mrc, stop, deadline):
    """Runs that are steered towards holes, and what came out of them."""
    found = {"runs": 0, "passed": 0, "failed": 0, "failures": []}
    for part in close.rounds(folder, given.close):
        engine.local(part, Worker(part, mrc, rtl.ROOT, stop),
                     [one["number"] for one in part.ranges if part.missing(one["number"])], given.jobs, deadline)
        base = store.write(part)
        counts = store.counts(base)
        found["runs"] += sum(counts.values())
        found["passed"] += counts.get("pass", 0) + counts.get("deviates", 0)
        found["failed"] += counts.get("fail", 0) + counts.get("hang", 0)
        found["failures"] += store.failures(base)
        if stop.is_set() or time.monotonic() > deadline:
            break
    return found


def main():
    if command := {"report": report, "coverage": cover, "time": spent}.get((sys.argv[1:2] or [""])[0]):
        return command.main(sys.argv[2:])
    given = options()
    if given.list:
        return list_plans()
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: stop.set())
    if given.range:
        return run_range(*given.range, stop)
    rtl.check_json(given.json)
    begin, started = time.monotonic(), time.time()
    mrc = mrc_command()
    plan = plans.read(plans.find(given.plan))
    cut = lambda: plans.ranges(plan, kinds.asker(mrc, rtl.ROOT))  # noqa: E731
    if given.dry:
        parts = cut()
        for part in parts:
            print(f"{part['number']:>5}  {part['kind']:<9} {len(part['items']):>5} from {part['items'][0]}")
        print(f"{sum(len(part['items']) for part in parts)} runs in {len(parts)} ranges")
        return rtl.Exit.PASS
    folder = Folder(given.out or Path("mrc-regress") / plan["name"])
    try:
        folder.freeze(plan, cut)
    except OSError as error:
        rtl.fail(f"the folder {folder.path} cannot be used: {error}.", "Name one that may be written with --out.")
    todo = [part["number"] for part in folder.ranges if folder.missing(part["number"])]
    resumed = sum(len(folder.results(part["number"])) for part in folder.ranges)
    for number in todo:
        folder.file(number, "tries").unlink(missing_ok=True)  # a new start has new chances
    deadline = begin + 60 * plan["minutes"] if plan["minutes"] else float("inf")
    if given.engine == "local":
        engine.local(folder, Worker(folder, mrc, rtl.ROOT, stop), todo, given.jobs, deadline)
    else:
        scheduler = cluster.SLURM if given.engine == "slurm" else cluster.from_file(given.scheduler)
        cluster.Arrays(scheduler, folder, stop).run(todo, deadline)
    folder.started(started, time.time(), given.jobs if given.engine == "local" else None)
    closing = run_close(folder, given, mrc, stop, deadline) if given.close else None
    result = summary(folder, plan, resumed, time.monotonic() - begin)
    if closing:
        result["close"] = closing
    tell(result, folder)
    rtl.write_json(folder.path / "summary.json", result | {"ended": int(time.time())})
    if given.json:
        rtl.write_json(given.json, result)
    return rtl.Exit.INCONCLUSIVE if stop.is_set() and not result["failed"] else verdict(result)


if __name__ == "__main__":
    rtl.command("mrc regress", main)
