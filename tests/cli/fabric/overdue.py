#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: overdue.py MRC [SEEDS]

Measures, for docs/fabric.md ("Losses known by time"); no test. Each scenario without and with overdue = 8: the median and
the worst completion over the bound; and what t0t1-links-down allows with the links that are left, from the events of each
run: with equal shares of all planes, and with shares that follow what each plane has. 40 seeds are half an hour."""
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

MRC, SEEDS = sys.argv[1], range(1, int(sys.argv[2] if len(sys.argv) > 2 else 40) + 1)
CASES = (("loss-1", "timeout = 11"), ("loss-1", ""), ("loss-0.1", "timeout = 11"), ("path-bypass", ""), ("incast", ""),
         ("alltoall", ""), ("t0t1-links-down", ""))
PLANES, LEAVES, SPINES = 8, 8, 16  # of t0t1-links-down: 16 NICs of each T0 send to the next one


def run(folder, base, keys, seed):
    scenario, out = folder / "scenario.toml", folder / "out.json"
    scenario.write_text(f'base = "{base}"\n{keys}\n')
    subprocess.run([MRC, "fabric", "--scenario", scenario, "--seed", str(seed), "--json", out], check=True,
                   stdout=subprocess.DEVNULL)
    return json.loads(out.read_text())


def least(result, rate):
    """The time of the slowest pair of T0s over the bound; rate: its share of the full one, from that of each plane."""
    bound = result["traffic"][0]["bound_us"]
    downs = []
    for event in result["events"]:  # link T0-PLANE-LEAF:T1-PLANE-SPINE down
        below, above = event["what"].split()[1].split(":")
        downs.append((event["time_us"], int(below.split("-")[1]), int(below.split("-")[2]), int(above.split("-")[2])))
    slowest = 0
    for leaf in range(LEAVES):
        gone, now, left, speed = [set() for _ in range(PLANES)], 0, bound, 1
        for at, plane, other, spine in sorted(downs) + [(float("inf"), 0, -1, 0)]:
            if left <= (at - now) * speed:
                break
            left, now = left - (at - now) * speed, at
            if other in (leaf, (leaf + 1) % LEAVES):
                gone[plane].add(spine)
            speed = rate([1 - len(spines) / SPINES for spines in gone])
        slowest = max(slowest, (now + left / speed) / bound)
    return slowest


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for base, keys in CASES:
            for overdue in (0, 8):
                results = [run(folder, base, f"{keys}\noverdue = {overdue}", seed) for seed in SEEDS]
                over = [result["max_fct_over_bound"] for result in results]
                print(f"{base} {keys} overdue = {overdue}: {statistics.median(over):.4f} ({max(over):.4f})", flush=True)
                if base != "t0t1-links-down" or overdue:
                    continue
                equal = [least(result, min) for result in results]
                free = [least(result, statistics.mean) for result in results]
                print(f"  equal shares allow {statistics.median(equal):.3f} ({min(equal):.3f} to {max(equal):.3f}), free ones"
                      f" {statistics.median(free):.3f}; it takes"
                      f" {statistics.median(one / other for one, other in zip(over, equal)):.3f} of the former")


if __name__ == "__main__":
    main()
