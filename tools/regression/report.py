# SPDX-License-Identifier: Apache-2.0
"""mrc regress report: a folder that a browser opens without a network: what passed where, failures by signature, trends
over several regressions, coverage. Each failure has a page, with what its cheapest run leaves when it runs again."""
import argparse
import collections
import datetime
import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
from pathlib import Path

import npm
import rtl
from mrcscript import versions
from regression import spent, store

PARTS = rtl.ROOT / "tools/report"
EXAMPLES = """Examples:
  mrc regress report mrc-regress/nightly --out report          open report/index.html
  mrc regress report night1 night2 night3 --out report         the newest one, and how it came to that
  mrc regress report night --repeat 0 --out report             no failing run again: no pictures of failures"""
FILES = {  # what a failure leaves: end of its name, and what it is
    ".html": "what differs, or which rule is broken, with pictures of the time before",
    ".pftrace": "trace for ui.perfetto.dev",
    ".kanata": "packets in blocks, for Konata",
    ".pcapng": "frames, for Wireshark; the one that went wrong has a comment",
    ".fst": "waves, for GTKWave or Surfer",
    ".toml": "the scenario",
    ".mrclog": "the log of both NICs: mrc log, mrc check, mrc picture",
    ".json": "the result of the run",
}
SHOWN_RUNS = 30  # of one signature


def options(words):
    parser = rtl.Parser(prog="mrc regress report", description=__doc__, epilog=EXAMPLES,
                        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", metavar="DIR", help="folders that 'mrc regress' made, in any order")
    parser.add_argument("--out", default="mrc-regress-report", metavar="FOLDER", help="where it is written (%(default)s)")
    parser.add_argument("--repeat", type=int, default=8, metavar="N",
                        help="run the cheapest run of N signatures of the newest regression again, for its page, pictures "
                             "and traces (%(default)s)")
    parser.add_argument("--limit", type=int, default=60, metavar="S", help="seconds for each of these runs (%(default)s)")
    given = parser.parse_args(words)
    if given.repeat < 0 or given.limit < 1:
        parser.error("--repeat and --limit take numbers from 0 and from 1 on")
    return given


def place(kind, case, item):
    """Row and column of a run in the matrix of its kind."""
    device = Path(shlex.split(case["device"])[-1]).name if case.get("device") else "model"
    if kind == "lockstep":
        more = " ".join(case[key] for key in ("bug", "variant") if case.get(key))
        return Path(case["scenario"]).stem, f"{case['level']} {case['preset']} {Path(case['dut']).name} {more}".strip()
    if kind == "fabric":
        return Path(case["scenario"]).stem, case.get("endpoint") or "fast"
    if kind == "vectors":
        return item.split(".")[0], device
    return item, device if kind == "script" else "result"


def read(folder):
    """One regression as the page shows it. Ends the program when the folder is none."""
    folder = Path(folder)
    base_file = folder / "results.sqlite"
    try:
        plan = json.loads((folder / "plan.json").read_text())
        base = sqlite3.connect(f"file:{base_file.absolute()}?mode=ro", uri=True)
        base.row_factory = sqlite3.Row
        rows = base.execute("select * from run order by coalesce(cycles * 1e-5, seconds), range, item").fetchall()
        jobs = base.execute("select range, kind, tries, why from job where tries > 0").fetchall()
        base.close()
    except (OSError, ValueError, sqlite3.Error):
        rtl.fail(f"{folder} holds no results of a regression.",
                 "Name folders that 'mrc regress PLAN --out DIR' made, after it ended.")
    summary = {}
    try:
        summary = json.loads((folder / "summary.json").read_text())
    except (OSError, ValueError):
        pass  # of an older mrc: the database says enough
    ended = summary.get("ended") or base_file.stat().st_mtime
    cells = collections.defaultdict(collections.Counter)
    groups = {}
    for row in rows:
        case = json.loads(row["job"])
        where = place(row["kind"], case, row["item"])
        cells[row["kind"], *where][row["result"]] += 1
        if row["result"] in ("fail", "hang"):
            group = groups.setdefault(row["signature"] or "failed", {"hangs": 0, "runs": []})
            group["hangs"] += row["result"] == "hang"
            group["runs"].append({"kind": row["kind"], "row": where[0], "column": where[1], "case": case,
                                  **{key: row[key] for key in ("item", "seconds", "packets", "cycles", "reason", "repro")}})
    counts = collections.Counter(row["result"] for row in rows)
    return {
        "name": folder.name, "plan": plan["name"], "ended": ended, "counts": dict(counts), "runs": len(rows),
        "planned": sum(len(part["items"]) for part in plan["ranges"]),
        "seconds": round(sum(row["seconds"] or 0 for row in rows), 1),
        "cells": [{"kind": kind, "row": row, "column": column, "counts": dict(found)}
                  for (kind, row, column), found in cells.items()],
        "failures": [{"signature": name, "count": len(group["runs"]), "hangs": group["hangs"], "runs": group["runs"]}
                     for name, group in sorted(groups.items(), key=lambda one: (-len(one[1]["runs"]), one[0]))],
        "machine": [dict(row) for row in jobs],
        "time": spent.of(base_file),
        "builds": built(base_file),
        "seeds": summary.get("seeds", {}),
        "coverage": summary.get("coverage") or {"bins": None, "lines": None},
    }


def built(base_file):
    """A line of text for each build that made results; none of an older mrc, which did not say."""
    try:
        return [f"{build['runs']} runs by {versions.line(build)}" for build in store.builds(base_file)]
    except sqlite3.Error:
        return []


def rules():
    """Text and source of each rule of the judge, by name."""
    return rtl.module("yaml").safe_load((rtl.ROOT / "cmodel/spec/rules.yaml").read_text())["rules"]


class Repeater:
    """Runs failing runs again, for the files that a failure leaves."""

    def __init__(self, out, limit):
        self.out, self.limit = out, limit
        self.mrc = os.environ.get("MRC_EXE") or str(rtl.ROOT / "mrc")

    def call(self, words):
        try:
            done = subprocess.run([self.mrc, *map(str, words)], cwd=rtl.ROOT, capture_output=True, text=True, check=False,
                                  timeout=self.limit)
            return done.returncode
        except subprocess.TimeoutExpired:
            return None

    def files(self, run, name):
        """Files of a run of mrc cosim below failures/NAME, and a word when there are none."""
        words = shlex.split(run["repro"] or "")
        if words[1:2] != ["cosim"]:
            return [], "Only runs of mrc cosim leave files of a failure."
        folder = (self.out / "failures" / name).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        if run["case"]["level"] == "L0":
            code = self.call([*words[1:], "--reports", folder, "--json", folder / "result.json"])
        else:
            log = folder / "run.mrclog"
            code = self.call([*words[1:], "--record", log, "--json", folder / "result.json"])
            if code in (1, 2):
                self.call(["check", log, "--pages", folder, "--json", folder / "check.json"])
                self.call(["picture", log, "--out", folder / "pictures", "--most", "2"])
        if code is None:
            return [], f"The run was no shorter than {self.limit} s when it ran again for this page: see --limit."
        if code not in (1, 2):
            return [], f"The run did not fail when it ran again for this page (exit code {code})."
        found = []
        for path in sorted(folder.rglob("*")):
            short = path.relative_to(self.out / "failures") if path.is_relative_to(self.out / "failures") else \
                path.relative_to(folder.parent)
            if path.is_file() and path.suffix in FILES:
                what = FILES[path.suffix]
                if path.name == "index.html":
                    what = "all pictures of the run" if path.parent.name == "pictures" else "each broken rule once"
                found.append({"href": str(short), "name": path.name, "what": what, "page": path.suffix == ".html"})
        found.sort(key=lambda one: (not one["page"], "index" not in one["name"], one["name"]))
        return found, ""


def slug(text):
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60] or "failed"


def failure_pages(out, regressions, given, environment):
    """A page per signature and regression; the newest regression's with files."""
    known = rules()
    repeater, left = Repeater(out, given.limit), given.repeat
    template = environment.get_template("failure.html")
    for at, one in enumerate(regressions):
        newest = at == len(regressions) - 1
        for group in one["failures"]:
            name = f"{at}-{slug(group['signature'])}"
            while (out / "failures" / f"{name}.html").exists():
                name += "-2"
            files, why = [], "Files are made for the newest regression alone." if not newest else "See --repeat."
            if newest and left > 0:
                files, why = repeater.files(group["runs"][0], name)
                left -= 1
            rule = known.get(group["signature"])
            cheapest = group["runs"][0]
            seen = [other["name"] for other in regressions
                    if any(row["signature"] == group["signature"] for row in other["failures"])]
            shrink = cheapest["repro"] if cheapest["kind"] == "lockstep" else ""
            (out / "failures").mkdir(exist_ok=True)
            (out / "failures" / f"{name}.html").write_text(template.render(
                group=group, regression=one, cheapest=cheapest, files=files, why=why, rule=rule, seen=seen, shrink=shrink,
                shown=group["runs"][:SHOWN_RUNS]))
            group["page"] = f"failures/{name}.html"


def write(out, regressions, given):
    jinja2 = rtl.module("jinja2")
    modules = npm.modules("report")
    if modules is None:
        rtl.fail("the chart library uPlot cannot be had from npm.",
                 f"Install npm, and call this once with a network; it is then kept in {npm.installed('report')}.")
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(PARTS), autoescape=True, trim_blocks=True,
                                     lstrip_blocks=True)
    environment.filters["cost"] = lambda run: f"{run['cycles']} cycles" if run["cycles"] else f"{run['seconds'] or 0:.2f} s"
    # The folder is ours to replace when it is a report, or nothing is in it.
    if out.exists() and not (out / "mrc-report").exists() and any(out.iterdir()):
        rtl.fail(f"{out} holds something else than a report.", "Name an empty or a new folder with --out.")
    shutil.rmtree(out, ignore_errors=True)
    try:
        (out / "charts").mkdir(parents=True)
        (out / "mrc-report").touch()
        for name in ("dist/uPlot.iife.min.js", "dist/uPlot.min.css", "LICENSE"):
            shutil.copy(modules / "uplot" / name, out / "charts" / Path(name).name)
        for name in ("page.css", "page.js", "report.js"):
            shutil.copy(PARTS / name, out / name)
        failure_pages(out, regressions, given, environment)
        data = [{**one, "failures": [{**group, "runs": None, "rows": sorted({run["row"] for run in group["runs"]}),
                                      "kinds": sorted({run["kind"] for run in group["runs"]}),
                                      "columns": sorted({run["column"] for run in group["runs"]}),
                                      "cost": environment.filters["cost"](group["runs"][0]),
                                      "repro": group["runs"][0]["repro"]} for group in one["failures"]]}
                for one in regressions]
        text = json.dumps(data).replace("<", "\\u003c")
        (out / "data.js").write_text(f"const DATA = {text};\n")
        (out / "index.html").write_text(environment.get_template("index.html").render(regressions=regressions))
    except OSError as error:
        rtl.fail(f"the report {out} cannot be written: {error.strerror}.", "Free some space, or name another --out.")


def main(words):
    given = options(words)
    regressions = sorted((read(folder) for folder in given.folders), key=lambda one: one["ended"])
    for one in regressions:
        one["when"] = datetime.datetime.fromtimestamp(one["ended"]).strftime("%Y-%m-%d %H:%M")
    out = Path(given.out)
    write(out, regressions, given)
    last = regressions[-1]
    print(f"{out / 'index.html'}: {len(regressions)} regression{'s' if len(regressions) > 1 else ''}, of the newest"
          f" {last['runs']} runs and {len(last['failures'])} kinds of failures")
    return rtl.Exit.PASS
