# SPDX-License-Identifier: Apache-2.0
"""Where the time of a regression went: by kind of job, the longest runs, and what its ranges at a time were idle.

It is told from the database alone. A process is what ran some items of a range; what it took beyond them is its own
beginning, its reading, its lines. Of a scheduler nobody knows how many cores it had: then no idle time is told."""
import argparse
import sqlite3
from pathlib import Path

import rtl

LONGEST = 10
EXAMPLES = """Examples:
  mrc regress time mrc-regress/nightly                   per kind, the longest runs, idle
  mrc regress time mrc-regress/nightly --json time.json"""


def idle(start, processes):
    """Of one start: seconds that its ranges at a time had together, those without a process, and those after the last
    process had begun, when there was nothing left to begin."""
    begin, end, jobs = start
    def within(since):
        return sum(max(0, min(last, end) - max(first, since)) for first, last in processes)
    mine = [first for first, _ in processes if begin <= first <= end]
    since = max(mine, default=begin)
    return {"jobs": jobs, "seconds": round(jobs * (end - begin), 3),
            "idle": round(max(0, jobs * (end - begin) - within(begin)), 3),
            "at_the_end": round(max(0, jobs * (end - since) - within(since)), 3)}


def of(database):
    """What the database of a regression says; None: it is of an older mrc."""
    base = sqlite3.connect(f"file:{Path(database).absolute()}?mode=ro", uri=True)
    base.row_factory = sqlite3.Row
    try:
        took = {row["kind"]: row for row in base.execute(
            'select kind, sum("end" - "begin") as seconds, count(*) as processes from process group by kind')}
        runs = base.execute("""select kind, count(*) as runs, sum(seconds) as seconds, max(seconds) as longest from run
                               group by kind""").fetchall()
        longest = base.execute("""select kind, item, seconds, repro from run where seconds > 0
                                  order by seconds desc, range, item limit ?""", (LONGEST,)).fetchall()
        starts = base.execute('select "begin", "end", jobs from start where jobs is not null').fetchall()
        processes = [tuple(row) for row in base.execute('select "begin", "end" from process')]
    except sqlite3.Error:
        return None
    finally:
        base.close()
    whole = sum(row["seconds"] for row in took.values())
    kinds = []
    for row in runs:
        mine = took.get(row["kind"])
        seconds = mine["seconds"] if mine else row["seconds"] or 0
        kinds.append({"kind": row["kind"], "runs": row["runs"], "processes": mine["processes"] if mine else 0,
                      "seconds": round(seconds, 3), "share": round(seconds / whole, 4) if whole else 0,
                      "in_runs": round(row["seconds"] or 0, 3), "longest": round(row["longest"] or 0, 3)})
    kinds.sort(key=lambda one: -one["seconds"])
    return {"seconds": round(whole, 3), "kinds": kinds, "longest": [dict(row) for row in longest],
            "starts": [idle(tuple(row), processes) for row in starts]}


def lines(spent):
    """For people."""
    told = [f"  {spent['seconds']:.1f} s in processes:"]
    for one in spent["kinds"]:
        told.append(f"    {one['kind']:<9} {100 * one['share']:5.1f} %  {one['seconds']:>9.1f} s of {one['processes']} processes,"
                    f" {one['in_runs']:.1f} s in {one['runs']} runs, longest {one['longest']:.2f} s")
    had, without = (sum(start[key] for start in spent["starts"]) for key in ("seconds", "idle"))
    if had:
        last = sum(start["at_the_end"] for start in spent["starts"])
        told.append(f"    idle {100 * without / had:.1f} % of {had:.1f} s that the ranges at a time had together: {last:.1f} s when"
                    f" nothing was left to begin, {max(0, without - last):.1f} s before")
    return told


def main(words):
    parser = rtl.Parser(prog="mrc regress time", description=__doc__, epilog=EXAMPLES,
                        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="DIR", help="folder that 'mrc regress' made")
    parser.add_argument("--json", metavar="FILE", help="the same as JSON")
    given = parser.parse_args(words)
    rtl.check_json(given.json)
    database = Path(given.folder) / "results.sqlite"
    spent = of(database) if database.is_file() else None
    if spent is None:
        rtl.fail(f"{given.folder} has no record of where its time went.",
                 "Name a folder that this 'mrc regress PLAN --out DIR' made, after it ended.")
    if given.json:
        rtl.write_json(given.json, spent)
    print(given.folder)
    print("\n".join(lines(spent)))
    print("  the longest runs:")
    for one in spent["longest"]:
        print(f"    {one['seconds']:>9.2f} s  {one['kind']} {one['item']}\n                 {one['repro']}")
    return rtl.Exit.PASS
