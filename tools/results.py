#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: results.py [--page FILE] [DIR...]

Writes into docs/design/results.md (or FILE), section "Plans", what came out of the last run of the plans nightly and
release, from DIR/summary.json, which `mrc regress PLAN --out DIR` leaves. A plan of which no DIR tells keeps its row;
one that was never run says so."""
import json
import time
from pathlib import Path

import rtl
from mrcscript import versions

BEGIN, END = "<!-- plans: written by tools/results.py -->", "<!-- end of plans -->"
HEAD = ("plan", "ended (UTC)", "commit", "planned", "passed", "failed", "inconclusive", "unsupported", "no result", "seconds")
NEVER = "not run yet"
PLANS = ("nightly", "release")


def cells(text):
    """{plan: cells} of the rows that are there."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| `")]
    return {row[0].strip("`"): row[1:] for row in rows}


def row(summary):
    """The cells of a summary behind the plan's name."""
    ended = time.strftime("%Y-%m-%d %H:%M", time.gmtime(summary["ended"]))
    counts = [summary[key] for key in ("planned", "passed", "failed", "inconclusive", "unsupported")]
    commits = dict.fromkeys(versions.commit(build) for build in summary["builds"])
    return [ended, ", ".join(commits), *map(str, counts), str(summary["infrastructure"] + summary["left"]),
            f"{summary['seconds']:.0f}"]


def read(folder):
    """(plan, cells) of a folder of results."""
    path = Path(folder) / "summary.json"
    try:
        summary = json.loads(path.read_text())
        return summary["plan"], row(summary)
    except (OSError, ValueError, KeyError, TypeError) as error:
        rtl.fail(f"{path} is no summary of a regression ({type(error).__name__}: {error}).",
                 "Name the folder of 'mrc regress PLAN --out DIR'.")


def written(text, news):
    """The page with the table anew."""
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        rtl.fail("the page has no place for the table of plans.", f"Put '{BEGIN}' and '{END}' where it shall stand.")
    before, rest = text.split(BEGIN)
    table, after = rest.split(END)
    known = cells(table) | news
    lines = [f"| {' | '.join(HEAD)} |", "|" + "---|" * len(HEAD)]
    for plan in PLANS:
        found = known.get(plan, [NEVER] + [""] * (len(HEAD) - 2))
        lines.append(f"| `{plan}` | {' | '.join(found)} |")
    return before + BEGIN + "\n" + "\n".join(lines) + "\n" + END + after


def main():
    parser = rtl.Parser(prog="results.py", description=__doc__, usage=None)
    parser.add_argument("--page", type=Path, default=rtl.ROOT / "docs/design/results.md", metavar="FILE")
    parser.add_argument("folders", nargs="*", metavar="DIR")
    given = parser.parse_args()
    news = dict(read(folder) for folder in given.folders)
    for plan in sorted(news.keys() - set(PLANS)):
        rtl.fail(f"the page has no row for plan '{plan}'.", f"It has {' and '.join(PLANS)}.")
    given.page.write_text(written(given.page.read_text(), news))
    return rtl.Exit.PASS


if __name__ == "__main__":
    rtl.command("results.py", main)
