#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: share.py MRC [SEEDS]

Measures, for docs/guide/fabric.md ("Receivers that share"); no test. Each case without and with share = true: incasts
of 1 MB by the last completion over the bound (median, most, and how many of the seeds are above 1.04), of 30 MB by the
fastest over the slowest flow, victims and collectives by the bound. 500 seeds are a quarter of an hour."""
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

MRC, SEEDS = sys.argv[1], int(sys.argv[2] if len(sys.argv) > 2 else 500)
PLANES = {"800G": "", "8 x 100G": "planes = 8\ngbps = 100\n", "4 x 100G": "planes = 4\ngbps = 100\n"}
INCAST = """[topology]
{planes}leaves = 8
hosts_per_leaf = 16
spines = 16
[[traffic]]
pattern = "incast"
to = "nic0"
nodes = {nodes}
first = 1
bytes = {bytes}
"""


def run(folder, text, share, seed, *options):
    scenario, out = folder / "scenario.toml", folder / "out.json"
    scenario.write_text(f"share = {str(share).lower()}\n{text}")
    subprocess.run([MRC, "fabric", "--scenario", scenario, "--seed", str(seed), "--json", out, *options], check=True,
                   stdout=subprocess.DEVNULL)
    return json.loads(out.read_text())


def by_the_clock(folder):
    """NICs that are the model of the RTL. Nothing here is random, so one seed says it all."""
    for nodes, size in ((7, 1_000_000), (15, 1_000_000), (7, 4_000_000)):
        text = INCAST.format(planes=PLANES["8 x 100G"], nodes=nodes, bytes=size)
        for share in (False, True):
            result = run(folder, text, share, 1, "--endpoint", "model")
            fct = result["traffic"][0]["fct_us"]
            print(f"model, {nodes}:1 of {size // 1_000_000} MB, 8 x 100G, share {share}: "
                  f"{result['max_fct_over_bound']:.3f}, fastest / slowest {fct['min'] / fct['max']:.2f}", flush=True)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        by_the_clock(folder)
        for planes in ("800G", "8 x 100G"):
            text = INCAST.format(planes=PLANES[planes], nodes=64, bytes=1_000_000)
            for share in (False, True):
                over = [run(folder, text, share, seed)["max_fct_over_bound"] for seed in range(1, SEEDS + 1)]
                print(f"64:1 of 1 MB, {planes}, share {share}: {statistics.median(over):.4f} ({max(over):.4f}), "
                      f"{sum(o > 1.04 for o in over)} of {len(over)} above 1.04", flush=True)
        for planes in PLANES:
            for nodes in (7, 10, 16, 24, 32, 48, 64):
                text = INCAST.format(planes=PLANES[planes], nodes=nodes, bytes=30_000_000)
                told = []
                for share in (False, True):
                    fct = run(folder, text, share, 1)["traffic"][0]["fct_us"]
                    told.append(fct["min"] / fct["max"])
                print(f"{nodes}:1 of 30 MB, {planes}: fastest / slowest {told[0]:.2f}, with share {told[1]:.2f}", flush=True)
        for base in ("incast-victim", "alltoall", "permutation", "ring", "mrc-1024", "goodput-32k"):
            told = []
            for share in (False, True):
                result = run(folder, f'base = "{base}"\n', share, 1)
                told.append((result["max_fct_over_bound"], result["events_digest"]))
            same = "the same events" if told[0][1] == told[1][1] else ""
            print(f"{base}: {told[0][0]:.4f}, with share {told[1][0]:.4f} {same}", flush=True)


if __name__ == "__main__":
    main()
