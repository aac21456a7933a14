#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: loss.py MRC TABLE [SEEDS] [FROM] [KEYS]

Measures, for docs/guide/fabric.md ("How a loss is known"), one table at a time; only `pairs` is a test. Seeds FROM (1)
on. Tables:
  mrc-1024, mrc-8192, mrc-131072   P99.9 and P100 of completion less the bound, and of how late flows are, in round
             trips; what found the losses
  rules      the same of mrc-1024 without single rules, as it was, and with the rules that NICs with a clock have
  random     goodput under random loss on all links of a sender, over what the loss leaves, median (least)
  last       completion over what one plane of four with random loss leaves, the others being down, without and with
             bad EVs that serve where no other does (A-90)
  losses     completion over the bound of incasts of 16 in which the receiver's or the senders' links lose
  count      the same of longer flows, without and with what a SACK's count tells (A-92)
  pairs      four patterns of traffic, in which each of twelve failures, and each two of them, happen: what a timer
             found, and the flows that took longest; ends with 1 if a timer found anything
  failing    completion over the bound of scenarios with failures; packets that arrived twice
  whole      the same of scenarios without failures
  paired     of three of these, each seed over the same one without rules: mean and its standard error
  links      t0t1-links-down against what the links that are left allow
  clock      RTL and model in lockstep: from the begin of a lost frame until its PSN has arrived
  share      random and failing with the rules of NICs with a clock and loss_share 0 to 4, and with the fast NIC's own
  mixed      64 NICs, none or the first 8 by the clock: P100, with failures seen and unseen
KEYS are added to each scenario: 'strikes = 1'; off: all rules off, as it was; nic: the rules of NICs with a clock.
Median (worst) of the seeds."""
import itertools
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

KNOWS = ("port_loss = false", "overdue = 0", "silence = 0", "other_plane = false", "strikes = 1", "loss_spares = false",
         "copies = 1", "lost_stays = true", "by_count = false")
OFF = "\n".join(KNOWS)
NIC = "nic_rules = true"
RULES = (("now", ""), ("without ports", KNOWS[0]), ("without time", KNOWS[1]), ("without questions", KNOWS[2]),
         ("without another plane", KNOWS[3]), ("one copy", KNOWS[6]), ("with suspect = 3", "suspect = 3"),
         ("rules of NICs with a clock", NIC), ("as it was", OFF))
FAILING = (("loss-1", "timeout = 11"), ("loss-1", ""), ("loss-0.1", ""), ("plane-loss", ""), ("plane-loss-4", ""),
           ("path-bypass", ""), ("bad-ev-20", ""), ("t0t1-links-down", ""), ("nccl", ""))
WHOLE = ("permutation", "ring", "alltoall", "incast", "permutation-400g", "shared-ev", "small")
EIGHT_LEAVES = "[topology]\nplanes = 8\ngbps = 100\nleaves = 8\nhosts_per_leaf = 8\nspines = 8"
PLANES, LEAVES, SPINES = 8, 8, 16  # of t0t1-links-down: 16 NICs of each T0 send to the next one
INCAST = '''[topology]
planes = 8
gbps = 100
leaves = 3
hosts_per_leaf = 6
spines = 4
[[traffic]]
pattern = "incast"
to = "nic0"
first = 1
nodes = 16
bytes = 1_000_000
'''
FRAME_US = 4258 * 8 / 100e3  # of 4 KiB of payload, on one link


class Bench:
    def __init__(self, mrc, folder, seeds, keys):
        self.mrc, self.folder, self.seeds, self.keys = mrc, folder, seeds, keys

    def run(self, base, keys, seed, tables="", command="fabric", options=()):
        scenario, out = self.folder / "scenario.toml", self.folder / "out.json"
        scenario.write_text(f'base = "{base}"\n{keys}\n{tables}\n')
        subprocess.run([self.mrc, command, "--scenario", scenario, "--seed", str(seed), "--json", out, *options],
                       check=True, stdout=subprocess.DEVNULL)
        return json.loads(out.read_text())

    def runs(self, base, keys="", tables=""):
        return [self.run(base, f"{keys}\n{self.keys}", seed, tables) for seed in self.seeds]


def shown(values, form="{:.4f}"):
    return f"{form.format(statistics.median(values))} ({form.format(max(values))})"


def found(results):
    """What told of the losses, and what it cost."""
    known = {}
    for result in results:
        for what, count in result["totals"]["lost_known_by"].items():
            known[what] = known.get(what, 0) + count
    lost, totals = sum(known.values()), [result["totals"] for result in results]
    told = ", ".join(f"{what} {count}" for what, count in known.items() if count)
    again, twice, all_sent = (sum(t[key] for t in totals) for key in ("retransmissions", "duplicates", "data_packets"))
    return f"by a timer {known['timer']} of {lost} ({told}); sent again {again}, arrived twice {twice} of {all_sent}"


def tail(bench, name, base, keys):
    """Four lines of a flagship: its patterns."""
    results = bench.runs(base, keys)
    trip, groups = results[0]["fabric"]["round_trip_us"], range(len(results[0]["traffic"]))
    for label, what in (("P99.9", "p99.9"), ("P100", "max")):
        over = [[(r["traffic"][g]["fct_us"][what] - r["traffic"][g]["bound_us"]) / trip for r in results]
                for g in groups]
        late = [[r["traffic"][g]["late_us"][what] / trip for r in results] for g in groups]
        for of, values in ((label, over), (f"{label}, late", late)):
            print(f"{name} | {of} | {' | '.join(shown(v, '{:.2f}') for v in values)}", flush=True)
    print(f"  {found(results)}", flush=True)


def flagship(base):
    def table(bench):
        print(f"{base}, round trips over the bound: permutation | ring | all-to-all | incast")
        tail(bench, "", base, "")
    return table


def rules(bench):
    print("mrc-1024, round trips over the bound: permutation | ring | all-to-all | incast")
    for name, keys in RULES:
        tail(bench, name, "mrc-1024", keys)


def losing(planes, share, nic="nic0"):
    """Random loss on links of the sender, or of another NIC."""
    return "".join(f'[[event]]\nwhat = "link-loss"\nlink = "{nic}/{p}"\nloss = {share}\n' for p in planes)


def last(bench):
    down = "".join(f'[[event]]\nwhat = "link-down"\nlink = "nic0/{plane}"\nat_us = 5\n' for plane in range(3))
    print("three of four planes go down, the last one loses at random: completion over what it leaves, median (worst); "
          "bad_waits = true | false")
    for share in (0.05, 0.1, 0.2):
        over = [[r["max_fct_over_bound"] * (1 - share) / 4
                 for r in bench.runs("loss-1", f"bad_waits = {waits}", losing((3,), share) + down)]
                for waits in ("true", "false")]
        print(f"{share:.0%}", *map(shown, over), sep=" | ", flush=True)


def incast_of(size):
    return f'{EIGHT_LEAVES}\n[[traffic]]\npattern = "incast"\nto = "nic2"\nfirst = 16\nnodes = 16\nbytes = {size}\n'


def losses(bench):
    incast = incast_of(500_000)
    down = "".join(f'[[event]]\nwhat = "link-down"\nlink = "nic2/{plane}"\nat_us = {3 + 3 * plane}\n' for plane in (0, 1))
    print("incasts of 16 x 500 kB, completion over the bound, median (worst); lost_stays = true | as it is")
    for what, events in (("the receiver's links lose 1 %", losing(range(8), 0.01, "nic2")),
                         ("they lose 5 %", losing(range(8), 0.05, "nic2")),
                         ("two of them go down, the others lose 2 %", down + losing(range(2, 8), 0.02, "nic2")),
                         ("the senders' links lose 1 %",
                          "".join(losing(range(8), 0.01, f"nic{nic}") for nic in range(16, 32)))):
        over = [[r["max_fct_over_bound"] for r in bench.runs("small", keys, incast + events)]
                for keys in ("lost_stays = true", "")]
        print(what, *map(shown, over), sep=" | ", flush=True)


def count(bench):
    print("incasts of 16 x 1 MB, the receiver's links lose: completion over the bound, median (worst); "
          "by_count = false | true")
    for share in (0.01, 0.02, 0.05):
        results = [bench.runs("small", f"by_count = {by}", incast_of(1_000_000) + losing(range(8), share, "nic2"))
                   for by in ("false", "true")]
        print(f"{share:.0%}", *(f"{shown([r['max_fct_over_bound'] for r in some])}; {found(some)}" for some in results),
              sep=" | ", flush=True)


def event(what, at, **keys):
    return "[[event]]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in {"what": what, "at_us": at, **keys}.items())


FAULTS = {
    "receiver loses": losing(range(8), 0.02, "nic2"),
    "sender loses": losing(range(8), 0.02, "nic16"),
    "receiver's ports down": "".join(event("link-down", 3 + 3 * p, link=f"nic2/{p}") for p in (0, 1)),
    "sender's ports down": "".join(event("link-down", 5, link=f"nic16/{p}") for p in range(2, 6)),
    "receiver's ports flap": "".join(event("link-flap", 4 + 5 * p, link=f"nic2/{p}", for_us=10) for p in (5, 6, 7)),
    "sender's ports flap": "".join(event("link-flap", 4 + 5 * p, link=f"nic16/{p}", for_us=10) for p in (0, 1, 2)),
    "a plane flaps": event("link-flap", 7, link="plane3", for_us=15),
    "a plane down": event("link-down", 7, link="plane4"),
    "T1s reboot": event("switch-reboot", 4, node="T1-6-0", for_us=300) +
                  event("switch-reboot", 12, node="T1-7-3", for_us=300),
    "uplinks down": "".join(event("link-down", 5 + p, link=f"T0-{p}-0:T1-{p}-{p % 4}") for p in range(8)),
    "receiver's bad plane": losing((1,), 0.3, "nic2"),
    "sender's bad plane": losing((1,), 0.3, "nic16")}
PATTERNS = {
    "incast": 'pattern = "incast"\nto = "nic2"\nfirst = 16\nnodes = 16\nbytes = 500_000\n',
    "tree": 'pattern = "incast"\nto = "nic2"\nfirst = 16\nnodes = 3\nbytes = 300_000\n',
    "flow": 'pattern = "flow"\nfrom = "nic16"\nto = "nic2"\nbytes = 2_000_000\nmessage = 500_000\n',
    "all-to-all": 'pattern = "alltoall"\nnodes = 24\nbytes = 20_000\n'}


def pairs(bench):
    rows = []
    for pattern, traffic in PATTERNS.items():
        for names in [(name,) for name in FAULTS] + list(itertools.combinations(FAULTS, 2)):
            tables = f"{EIGHT_LEAVES}\n[[traffic]]\n{traffic}" + "".join(FAULTS[name] for name in names)
            results = bench.runs("small", "", tables)
            late = max(r["traffic"][0]["late_us"]["max"] / r["fabric"]["round_trip_us"] for r in results)
            known = [r["totals"]["lost_known_by"] for r in results]
            rows.append((sum(k["timer"] for k in known), late, sum(sum(k.values()) for k in known),
                         f"{pattern}: {', '.join(names)}"))
    found_any = [row for row in rows if row[0]]
    print(f"{len(rows)} failures and pairs, {sum(row[2] for row in rows)} losses; a timer found some in {len(found_any)}")
    for timers, late, lost, what in found_any + sorted(rows, key=lambda row: -row[1])[:8]:
        print(f"{what} | {late:.1f} round trips late | {lost} lost, {timers} by a timer")
    return 1 if found_any else 0


def random_loss(bench):
    print("random loss on each link of a sender: goodput over what it leaves, median (least)")
    for share in (0.01, 0.05, 0.1):
        events = losing(range(4), share)
        results = bench.runs("loss-1", "", events)
        goodput = [1 / (result["max_fct_over_bound"] * (1 - share)) for result in results]
        print(f"{share} | {statistics.median(goodput):.3f} ({min(goodput):.3f}); {found(results)}", flush=True)


def over_bound(bench, cases):
    print("completion over the bound")
    for base, keys in cases:
        results = bench.runs(base, keys)
        print(f"{base} {keys} | {shown([r['max_fct_over_bound'] for r in results])} | {found(results)}", flush=True)


def failing(bench):
    over_bound(bench, FAILING)


def whole(bench):
    over_bound(bench, tuple((base, "") for base in WHOLE))
    results = bench.runs("small", "", INCAST)
    print(f"16:1 of 1 MB | {shown([r['max_fct_over_bound'] for r in results])} | {found(results)}", flush=True)


def paired(bench):
    """What the rules cost without failures, apart from what another seed does."""
    print("completion over that without rules, same seed")
    for name, base, tables in (("small", "small", ""), ("16:1 of 1 MB", "small", INCAST), ("alltoall", "alltoall", "")):
        now, before = (bench.runs(base, keys, tables) for keys in ("", OFF))
        over = [a["max_fct_over_bound"] / b["max_fct_over_bound"] for a, b in zip(now, before)]
        error = statistics.stdev(over) / len(over) ** 0.5
        print(f"{name} | {statistics.mean(over):.4f} +- {error:.4f}, {len(over)} seeds", flush=True)


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


def links(bench):
    results = bench.runs("t0t1-links-down")
    over = [result["max_fct_over_bound"] for result in results]
    equal, free = ([least(result, rate) for result in results] for rate in (min, statistics.mean))
    of_equal = statistics.median(a / b for a, b in zip(over, equal))
    print(f"t0t1-links-down: {shown(over)}; equal shares allow {shown(equal)}, free ones {shown(free)}; it takes "
          f"{of_equal:.3f} of the former; {found(results)}")


def clock(bench):
    print("asic800: the longest time from the begin of a lost frame until its PSN has arrived, us; timer expiries")
    for name, base, keys in (("plane-loss", "plane-loss", ""), ("link-flap", "link-flap", ""),
                             ("bad-plane", "bad-plane", "ts_share = 1"), ("loss", "loss", "ts_share = 1"),
                             ("all planes but one", "plane-loss", "cut_planes = 7\ncut_us = 20")):
        times, timers, lost = [], 0, []
        for seed in bench.seeds:
            result = bench.run(base, f"vary = 0\n{keys}\n{bench.keys}", seed, "", "cosim", ("--packets", "4000"))
            sides = [result[side]["recovery"] for side in ("device", "peer")]
            times.append(max(max(r["worst_us"], r["links_worst_us"]) for r in sides))
            timers += sum(result[side]["counters"]["rto"] for side in ("device", "peer"))
            lost += [r["lost_at_ports"] + r["lost_on_links"] for r in sides]
        print(f"{name} | {shown(times, '{:.1f}')} | {timers} expiries; lost {sum(lost)}, of one side {max(lost)}: "
              f"{max(lost) * FRAME_US:.1f} us of one link", flush=True)


BAD_EVS = "".join(f'[[event]]\nwhat = "bad-ev"\nfrom = "nic0"\nto = "nic2"\nev = {ev}\nloss = 0.5\n'
                  for ev in (3, 12, 33, 50))  # of each plane one, of 128: a link has one impairment
BAD = (("bad-ev-20", "bad-ev-20", ""),
       ("one plane of four loses 20 %", "loss-1", losing((1,), 0.2, "nic2")),
       ("and 4 of 128 EVs lose half", "loss-1", BAD_EVS + losing((1,), 0.2, "nic2")),
       ("4 of 128 EVs lose half", "loss-1", BAD_EVS),
       ("and all links lose 1 %", "loss-1", BAD_EVS + losing(range(4), 0.01, "nic2")),
       ("path-bypass", "path-bypass", ""), ("t0t1-links-down", "t0t1-links-down", ""))


def share(bench):
    ways = [(f"loss_share = {n}", f"{NIC}\nloss_share = {n}") for n in range(5)] + [("fast NIC's", "")]
    print("goodput over what random loss leaves, median (least); then completion over the bound, median (worst): "
          + " | ".join(name for name, _ in ways))
    for loss in (0.01, 0.05, 0.1):
        goodput = [[1 / (r["max_fct_over_bound"] * (1 - loss)) for r in bench.runs("loss-1", keys, losing(range(4), loss))]
                   for _, keys in ways]
        print(f"{loss:.0%}", *(f"{statistics.median(g):.3f} ({min(g):.3f})" for g in goodput), sep=" | ", flush=True)
    for name, base, events in BAD:
        over = [[r["max_fct_over_bound"] for r in bench.runs(base, keys, events)] for _, keys in ways]
        print(name, *(shown(o) for o in over), sep=" | ", flush=True)


MIXED = '''[[traffic]]
pattern = "permutation"
bytes = 200_000
[[traffic]]
pattern = "ring"
bytes = 65_536
nodes = 8
groups = 8
'''
SEEN = '''[[event]]
what = "link-down"
link = "nic3/1"
at_us = 3.1
[[event]]
what = "link-down"
link = "nic40/5"
at_us = 2.1
[[event]]
what = "link-flap"
link = "plane3"
at_us = 4
for_us = 10
'''
UNSEEN = '''[[event]]
what = "link-down"
link = "random-uplink"
at_us = 2
count = 8
every_us = 0.1
'''


def mixed(bench):
    nodes = '[[node]]\nfidelity = "model"\ncount = 8\n'
    for name, events in (("nothing fails", ""), ("ports", SEEN), ("uplinks unseen", UNSEEN)):
        pairs = []
        for seed in bench.seeds:
            keys = f"{NIC}\nshared_evs = true\n{EIGHT_LEAVES}"
            a, b = (bench.run("small", keys, seed, MIXED + events + extra) for extra in ("", nodes))
            trip = a["fabric"]["round_trip_us"]
            pairs.append([(x["fct_us"]["max"] - y["fct_us"]["max"]) / trip for x, y in zip(b["traffic"], a["traffic"])])
        worst = max(abs(d) for pair in pairs for d in pair)
        print(f"{name}: P100 with 8 of 64 NICs by the clock less all fast, round trips: "
              f"{'; '.join(' '.join(f'{d:+.2f}' for d in pair) for pair in pairs)}; at most {worst:.2f}", flush=True)


TABLES = {"rules": rules, "random": random_loss, "last": last, "losses": losses, "count": count,
          "pairs": pairs, "failing": failing, "whole": whole, "paired": paired, "links": links, "clock": clock, "mixed": mixed,
          "share": share, "mrc-1024": flagship("mrc-1024"), "mrc-8192": flagship("mrc-8192"),
          "mrc-131072": flagship("mrc-131072")}
SHORT = {"off": OFF, "nic": NIC}

if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[2] not in TABLES:
        sys.exit(__doc__)
    COUNT, FIRST = (int(sys.argv[i]) if len(sys.argv) > i else default for i, default in ((3, 10), (4, 1)))
    with tempfile.TemporaryDirectory() as name:
        KEYS = sys.argv[5] if len(sys.argv) > 5 else ""
        BENCH = Bench(sys.argv[1], Path(name), range(FIRST, FIRST + COUNT), SHORT.get(KEYS, KEYS))
        sys.exit(TABLES[sys.argv[2]](BENCH))
