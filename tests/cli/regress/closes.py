#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: closes.py MRC FILE.svg

Draws docs/figures/close.svg, for docs/coverage.md; no test. 60 random runs; then 100 that are steered towards the holes
they left, beside 100 more blind ones: bins that were shown, over runs. A quarter of an hour on two cores."""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

MRC, PICTURE = sys.argv[1], Path(sys.argv[2]).resolve()
ROOT = Path(__file__).resolve().parents[3]
ENV = os.environ | {"MRC_EXE": MRC, "MRC_ROOT": str(ROOT)}
FIRST, MORE, RANGE = 60, 100, 20
PLAN = """description = "{name}"
coverage = true
[[job]]
kind = "lockstep"
presets = ["tiny"]
scenarios = ["random"]
packets = 2000
seed = 1
seeds = {seeds}
range = {range}
"""
sys.path.insert(0, str(ROOT / "tools"))
from regression.cover import Table  # noqa: E402


def regress(folder, name, seeds, *words):
    plan = folder / f"{name}.toml"
    plan.write_text(PLAN.format(name=name, seeds=seeds, range=RANGE))
    done = subprocess.run([ROOT / "tools/regress.py", plan, "--out", folder / name, *words], env=ENV, text=True,
                          capture_output=True, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr


def lines(folder):
    """Bins of each run, in the order of ranges."""
    table = Table()
    for file in sorted((folder / "ranges").glob("*.jsonl")):
        for line in file.read_text().splitlines():
            if text := json.loads(line).get("bins"):
                yield {table.names[number] for number in table.read(text) or ()} & set(table.wanted)


def curve(parts):
    shown, points = set(), []
    for part in parts:
        for bins in lines(part):
            shown |= bins
            points.append(len(shown))
    return points


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        regress(folder, "blind", FIRST + MORE)
        (folder / "steered/ranges").mkdir(parents=True)
        for number in range(FIRST // RANGE):  # they are the same runs
            file = f"ranges/{number:06d}.jsonl"
            (folder / "steered" / file).write_text((folder / "blind" / file).read_text())
        regress(folder, "steered", FIRST, "--close", str(MORE))
        blind = curve([folder / "blind"])
        steered = curve([folder / "steered", *sorted((folder / "steered").glob("close-*"))])
        assert blind[:FIRST] == steered[:FIRST]
        for label, points in (("blind", blind), ("steered", steered)):
            (folder / f"{label}.dat").write_text("".join(f"{run} {bins}\n" for run, bins in enumerate(points, 1)))
        all_bins = len(Table().wanted)
        commands = f"""set terminal svg size 720,400 font "sans-serif,13" background rgb "white"
set output "{PICTURE}"
set xlabel "runs of 2000 packets at tiny"
set ylabel "bins shown, of {all_bins}"
set key bottom right
set grid ytics lc rgb "#dddddd"
set arrow from {FIRST},graph 0 to {FIRST},graph 1 nohead lc rgb "#999999" dt 2
plot "{folder}/steered.dat" with lines lw 2 lc rgb "#0072b2" title "the last {MORE} steered (--close)", \\
     "{folder}/blind.dat" with lines lw 2 lc rgb "#d55e00" title "all blind"
"""
        subprocess.run(["gnuplot"], input=commands, text=True, check=True)
        print(f"after {FIRST} runs {blind[FIRST - 1]} of {all_bins} bins; {MORE} more: {blind[-1]} blind, {steered[-1]} steered;"
              f" as many as all the blind ones after {sum(bins < blind[-1] for bins in steered) - FIRST + 1} steered ones")


if __name__ == "__main__":
    main()
