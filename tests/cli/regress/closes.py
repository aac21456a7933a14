#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: closes.py MRC FILE.svg

Draws docs/figures/close.svg, for docs/guide/coverage.md; no test. 60 random runs at three presets; then 102 that are
steered towards the holes they left, beside 102 more blind ones: bins that have their goal, over runs. Ten minutes on
two cores."""
import collections
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

MRC, PICTURE = sys.argv[1], Path(sys.argv[2]).resolve()
ROOT = Path(__file__).resolve().parents[3]
ENV = os.environ | {"MRC_EXE": MRC, "MRC_ROOT": str(ROOT)}
PRESETS = ("tiny", "fpga100", "asic800")
FIRST, MORE = 20, 34  # seeds of each preset
PLAN = """description = "{name}"
coverage = true
[[job]]
kind = "lockstep"
presets = {presets}
scenarios = ["random"]
packets = 2000
seed = {seed}
seeds = {seeds}
range = 2
"""
sys.path.insert(0, str(ROOT / "tools"))
from regression.cover import Table  # noqa: E402


def regress(folder, name, seed, seeds, *words):
    plan = folder / f"{name}.toml"
    if not plan.exists():
        plan.write_text(PLAN.format(name=name, presets=list(PRESETS), seed=seed, seeds=seeds))
    done = subprocess.run([ROOT / "tools/regress.py", plan, "--out", folder / name, *words], env=ENV, text=True,
                          capture_output=True, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr


def lines(folder):
    """Bins of each run: by seed, so that the presets take turns; rounds of --close in their order."""
    table = Table()
    rows = [json.loads(line) for file in sorted((folder / "ranges").glob("*.jsonl")) for line in file.read_text().splitlines()]
    if not folder.name.startswith("close-"):
        rows.sort(key=lambda row: row["seed"])
    for row in rows:
        yield set(table.read(row["bins"])) if "bins" in row else set()


def curve(parts):
    """Bins that have their goal after each run."""
    table, shown, points = Table(), collections.Counter(), []
    for part in parts:
        for bins in lines(part):
            shown.update(bins)
            points.append(sum(shown[table.number[name]] >= table.group_of[name]["goal"] for name in table.wanted))
    return points


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        regress(folder, "steered", 1, FIRST)
        first = curve([folder / "steered"])
        regress(folder, "steered", 1, FIRST, "--close", str(MORE * len(PRESETS)))
        regress(folder, "blind", 1 + FIRST, MORE)
        whole = {"steered": curve([folder / "steered", *sorted((folder / "steered").glob("close-*"))]),
                 "blind": curve([folder / "steered", folder / "blind"])}
        for label, points in whole.items():
            (folder / f"{label}.dat").write_text("".join(f"{run} {bins}\n" for run, bins in enumerate(points, 1)))
        all_bins = len(Table().wanted)
        commands = f"""set terminal svg size 720,400 font "sans-serif,13" background rgb "white"
set output "{PICTURE}"
set xlabel "runs of 2000 packets, at {', '.join(PRESETS)} in turn"
set ylabel "bins that have their goal, of {all_bins}"
set key bottom right
set grid ytics lc rgb "#dddddd"
set arrow from {len(first)},graph 0 to {len(first)},graph 1 nohead lc rgb "#999999" dt 2
plot "{folder}/steered.dat" with lines lw 2 lc rgb "#0072b2" title "steered from there on (--close)", \\
     "{folder}/blind.dat" with lines lw 2 lc rgb "#d55e00" title "blind"
"""
        subprocess.run(["gnuplot"], input=commands, text=True, check=True)
        steered, blind = whole["steered"], whole["blind"]
        soon = sum(bins < blind[-1] for bins in steered) - len(first) + 1
        print(f"after {len(first)} runs {first[-1]} of {all_bins} bins; {len(blind) - len(first)} more: {blind[-1]} blind, "
              f"{steered[-1]} steered; as many as all the blind ones after {soon} steered ones")


if __name__ == "__main__":
    main()
