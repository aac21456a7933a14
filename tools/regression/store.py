# SPDX-License-Identifier: Apache-2.0
"""results.sqlite: everything of a regression, made anew from the files of its ranges, which are what counts."""
import json
import sqlite3

import rtl  # noqa: F401: finds mrcscript
from mrcscript.versions import NAMES

SCHEMA = """
create table job (range integer primary key, kind text, job text, tries integer, why text);
create table build (build integer primary key, mrcnic text, "commit" text, changed integer, compiler text, verilator text);
create table run (range integer, item text, kind text, job text, result text, signature text, seconds real,
                  packets integer, cycles integer, reason text, repro text, build integer, primary key (range, item))
  without rowid;
create table start ("begin" real, "end" real, jobs integer);
create table process (range integer, kind text, "begin" real, "end" real, host text, items integer);
create index run_signature on run (result, signature);
create view failure as
  select signature, count(*) as runs, sum(result = 'hang') as hangs,
         min(coalesce(cycles * 1e-5, seconds)) as cost from run
  where result in ('fail', 'hang') group by signature order by runs desc, signature;
"""
COLUMNS = ("signature", "seconds", "packets", "cycles", "reason", "repro")


def write(folder):
    """Writes the database beside its name and gives it the name when it is whole."""
    path = folder.path / "results.sqlite"
    partial = folder.path / "results.sqlite.partial"
    partial.unlink(missing_ok=True)
    base = sqlite3.connect(partial)
    base.executescript(SCHEMA)
    builds = {}  # versions as a text: number
    with base:
        for part in folder.ranges:
            number, job = part["number"], json.dumps(part["case"])
            tries = folder.tries(number)
            why = json.loads(tries[-1])["why"] if tries else ""
            base.execute("insert into job values (?,?,?,?,?)", (number, part["kind"], job, len(tries), why))
            wanted = set(part["items"])
            base.executemany("insert into run values (?,?,?,?,?,?,?,?,?,?,?,?)", [
                (number, row["item"], part["kind"], job, row["result"], *(row.get(name) for name in COLUMNS),
                 builds.setdefault(json.dumps(row["versions"]), len(builds)) if row["versions"] else None)
                for row in folder.results(number).values() if row["item"] in wanted])
            base.executemany("insert into process values (?,?,?,?,?,?)", [
                (number, part["kind"], *(one[name] for name in ("begin", "end", "host", "items")))
                for one in folder.times(number)])
        base.executemany("insert into build values (?,?,?,?,?,?)", [
            (number, *(json.loads(text).get(name) for name in NAMES)) for text, number in builds.items()])
        base.executemany("insert into start values (?,?,?)", [
            (one["begin"], one["end"], one["jobs"]) for one in folder.starts()])
    base.close()
    partial.rename(path)
    return path


def failures(path, most=20):
    """Failures by signature, the most frequent first, each with its cheapest run."""
    base = sqlite3.connect(path)
    base.row_factory = sqlite3.Row
    rows = []
    for group in base.execute("select * from failure limit ?", (most,)).fetchall():
        run = base.execute("""select * from run where result in ('fail', 'hang') and signature is ?
                              order by coalesce(cycles * 1e-5, seconds), range, item limit 1""",
                           (group["signature"],)).fetchone()
        rows.append({"signature": group["signature"], "runs": group["runs"], "cycles": run["cycles"],
                     "seconds": run["seconds"], "packets": run["packets"], "repro": run["repro"]})
    base.close()
    return rows


def counts(path):
    base = sqlite3.connect(path)
    found = dict(base.execute("select result, count(*) from run group by result"))
    base.close()
    return found


def builds(path):
    """Versions of each build that made results, with how many; the one with most first. Runs of an older mrc do not say."""
    base = sqlite3.connect(path)
    base.row_factory = sqlite3.Row
    rows = base.execute("""select build.*, count(*) as runs from run left join build using (build)
                           group by build order by runs desc""").fetchall()
    base.close()
    return [{name: row[name] for name in NAMES} | {"changed": bool(row["changed"]), "commit": row["commit"] or "unknown",
                                                   "runs": row["runs"]} for row in rows]
