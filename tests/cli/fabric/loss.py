#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: loss.py MRC [SEEDS]

Measures, for docs/fabric.md ("How a loss is known"); no test. Prints what the rules do, before and after: P100 and P99.9 of
mrc-1024 less the bound in round trips, and without single rules; goodput under random loss on all links of a sender over
what the loss leaves; completion over the bound of scenarios with and without failures. Then what t0t1-links-down allows
with the links that are left, from the events of each run: with equal shares of all planes, and with shares that follow
what each plane has. Ten seeds (the default) are half an hour."""
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

MRC, SEEDS = sys.argv[1], range(1, int(sys.argv[2] if len(sys.argv) > 2 else 10) + 1)
OFF = "port_loss = false\noverdue = 0\nsilence = 0\nother_plane = false\nstrikes = 1\nloss_spares = false"
WITHOUT = {"ports": "port_loss = false", "time": "overdue = 0", "questions": "silence = 0",
           "another plane": "other_plane = false", "suspect = 3": "suspect = 3"}
FAILING = (("loss-1", "timeout = 11"), ("loss-1", ""), ("loss-0.1", ""), ("plane-loss", ""), ("plane-loss-4", ""),
           ("path-bypass", ""), ("bad-ev-20", ""), ("nccl", ""))
WHOLE = ("permutation", "ring", "alltoall", "incast", "permutation-400g", "shared-ev", "small")
PLANES, LEAVES, SPINES = 8, 8, 16  # of t0t1-links-down: 16 NICs of each T0 send to the next one


def run(folder, base, keys, seed, tables=""):
    scenario, out = folder / "scenario.toml", folder / "out.json"
    scenario.write_text(f'base = "{base}"\n{keys}\n{tables}\n')
    subprocess.run([MRC, "fabric", "--scenario", scenario, "--seed", str(seed), "--json", out], check=True,
                   stdout=subprocess.DEVNULL)
    return json.loads(out.read_text())


def shown(values, form="{:.4f}"):
    return f"{form.format(statistics.median(values))} ({form.format(max(values))})"


def tail(folder, name, keys):
    """A line of the flagship: round trips over the bound, and the share of losses that a timer found."""
    results = [run(folder, "mrc-1024", keys, seed) for seed in SEEDS]
    trip = results[0]["fabric"]["round_trip_us"]
    for what in ("p99.9", "max"):
        cells = [shown([(r["traffic"][g]["fct_us"][what] - r["traffic"][g]["bound_us"]) / trip for r in results], "{:.1f}")
                 for g in range(len(results[0]["traffic"]))]
        print(f"{name} | {what} | {' | '.join(cells)}", flush=True)
    known = [r["totals"]["lost_known_by"] for r in results]
    print(f"  by a timer {sum(k['timer'] for k in known) / sum(sum(k.values()) for k in known):.3f}")


def random_loss(folder, share, keys):
    events = "".join(f'[[event]]\nwhat = "link-loss"\nlink = "nic0/{p}"\nloss = {share}\n' for p in range(4))
    over = [run(folder, "loss-1", keys, seed, events)["max_fct_over_bound"] for seed in SEEDS]
    return 1 / (statistics.median(over) * (1 - share))


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


def links_down(folder):
    for name, keys in (("as it was", OFF), ("now", "")):
        results = [run(folder, "t0t1-links-down", keys, seed) for seed in SEEDS]
        over = [result["max_fct_over_bound"] for result in results]
        equal, free = ([least(result, rate) for result in results] for rate in (min, statistics.mean))
        timers = sum(r["totals"]["timeouts"] for r in results) / sum(r["totals"]["retransmissions"] for r in results)
        print(f"t0t1-links-down, {name}: {shown(over)}, {timers:.3f} by a timer; equal shares allow {shown(equal)}, free"
              f" ones {shown(free)}; it takes {statistics.median(a / b for a, b in zip(over, equal)):.3f} of the former")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print("mrc-1024, round trips over the bound: permutation | ring | all-to-all | incast")
        tail(folder, "as it was", OFF)
        tail(folder, "now", "")
        for rule, keys in WITHOUT.items():
            tail(folder, f"{rule} alone" if rule.startswith("suspect") else f"without {rule}", keys)
        print("random loss: goodput over what it leaves")
        for share in (0.01, 0.05, 0.1):
            print(f"{share}: " + ", ".join(f"{case} {random_loss(folder, share, keys):.3f}" for case, keys in (
                ("as it was", OFF), ("now", ""), ("strikes = 1", "strikes = 1"), ("loss_spares = false", "loss_spares = false"))),
                  flush=True)
        print("completion over the bound")
        for base, keys in FAILING + tuple((base, "") for base in WHOLE):
            cells, again = [], 0
            for rules in (OFF, ""):
                results = [run(folder, base, f"{keys}\n{rules}", seed) for seed in SEEDS]
                cells.append(shown([result["max_fct_over_bound"] for result in results]))
                again = sum(r["totals"]["duplicates"] for r in results) / sum(r["totals"]["data_packets"] for r in results)
            print(f"{base} {keys}: {cells[0]} -> {cells[1]}, arrived twice {again:.1e}", flush=True)
        links_down(folder)


if __name__ == "__main__":
    main()
