#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: scale.py MRC

Measures mrc regress, for docs/guide/regress.md ("On 1000 cores"); no test. What a run costs beside itself, what two
cores give (wants a machine with nothing else to do), what it takes to merge 100 000 runs."""
import json
import os
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MRC = sys.argv[1]
ROOT = Path(__file__).resolve().parents[3]
ENV = os.environ | {"MRC_EXE": MRC, "MRC_ROOT": str(ROOT)}
PLAN = """description = "{name}"
[[job]]
kind = "lockstep"
presets = ["tiny"]
scenarios = ["{scenario}"]
packets = {packets}
seeds = {seeds}
range = {range}
"""


def regress(folder, name, jobs, out, **values):
    """Seconds on the clock, and what came out."""
    plan = folder / f"{name}.toml"
    plan.write_text(PLAN.format(name=name, **values))
    begin = time.monotonic()
    done = subprocess.run([ROOT / "tools/regress.py", plan, "--out", folder / out, "-j", str(jobs), "--json", folder / "out.json"],
                          env=ENV, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - begin
    assert done.returncode == 0, done.stdout + done.stderr
    return seconds, json.loads((folder / "out.json").read_text())


def overhead(folder):
    short = {"scenario": "clean", "packets": 20, "seeds": 400, "range": 20}
    each = []
    for turn in range(3):
        seconds, out = regress(folder, "short", 1, f"short{turn}", **short)
        own = sqlite3.connect(out["database"]).execute("select sum(seconds), count(*) from run").fetchone()
        assert own[1] == short["seeds"]
        each.append(1000 * (seconds - own[0]) / own[1])
    print(f"a run costs {statistics.median(each):.1f} ms beside itself (400 runs in ranges of 20, median of three)")


def two_cores(folder):
    long = {"scenario": "mixed", "packets": 4000, "seeds": 20, "range": 1}
    ratios, same = [], []
    for turn in range(7):
        before = cpu_seconds()
        one, _ = regress(folder, "long", 1, f"one{turn}", **long)
        between = cpu_seconds()
        two, _ = regress(folder, "long", 2, f"two{turn}", **long)
        ratios.append(one / two)
        same.append(one / two * (cpu_seconds() - between) / (between - before))
    print(f"two cores are {statistics.median(ratios):.2f} times as fast as one (20 runs, median of seven: "
          f"{', '.join(f'{ratio:.2f}' for ratio in sorted(ratios))}); had both taken the same processor time "
          f"{statistics.median(same):.2f} ({min(same):.2f} to {max(same):.2f})")


def cpu_seconds():
    """Of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def merge(folder):
    """The folder of a regression of 10^5 runs, all done: what its end takes."""
    many = {"scenario": "clean", "packets": 20, "seeds": 100_000, "range": 20}
    lines = [json.loads(line) for line in (folder / "short0/ranges/000000.jsonl").read_text().splitlines()]
    out = folder / "many"
    (out / "ranges").mkdir(parents=True)
    plan = folder / "many.toml"
    plan.write_text(PLAN.format(name="many", **many))
    said = subprocess.run([sys.executable, "-c", FREEZE, ROOT / "tools", MRC, ROOT, plan, out], env=ENV, text=True,
                          capture_output=True, check=False)
    assert said.returncode == 0, said.stderr
    ranges = json.loads((out / "plan.json").read_text())["ranges"]
    for part in ranges:
        rows = [line | {"seed": int(item)} for line, item in zip(lines, part["items"])]
        (out / "ranges" / f"{part['number']:06d}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    size = sum(file.stat().st_size for file in (out / "ranges").iterdir())
    seconds, found = regress(folder, "many", 1, "many", **many)
    assert found["runs"] == found["resumed"] == many["seeds"], found
    print(f"{found['runs']} runs in {len(ranges)} files, {size / 1e6:.0f} MB: read and merged in {seconds:.1f} s, "
          f"results.sqlite has {Path(found['database']).stat().st_size / 1e6:.0f} MB")


FREEZE = """import sys
sys.path.insert(0, sys.argv[1])
from regression import kinds, plan
from regression.folder import Folder
wanted = plan.read(plan.find(sys.argv[4]))
Folder(sys.argv[5]).freeze(wanted, lambda: plan.ranges(wanted, kinds.asker(sys.argv[2], sys.argv[3])))
"""

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        overhead(Path(name))
        merge(Path(name))
        two_cores(Path(name))
