# SPDX-License-Identifier: Apache-2.0
"""mrc regress PLAN --close N: N more runs, of random scenarios that lead to what is missing.

For each run a hole is drawn. If nobody has shown it, the run is of the scenario that bins.yaml knows towards it; if it
knows none, two parents are drawn by how much of the hole's surroundings they showed, and the run is one of a few changes
of the first (`random:PARENT`), or has each of its values from either (`random:PARENT+OTHER`). What a run showed once is
sought near that run, which may be of such a scenario itself. Rounds are regressions of their own, below the folder: what
was done is not done again."""
import collections
import hashlib
import random

from regression import cover
from regression.folder import Folder

ROUND = 20  # runs between two looks at what is still missing
BLIND = 0.2  # share of runs that are random as ever, so that nothing is overlooked
CROSSED = 0.5  # of the others, those with two parents
DEEPEST = 6  # a parent has so many parents of its own at most


def parent(row, case):
    """What may stand behind random: for a run; "": it cannot be named, or it is too deep."""
    scenario = case["scenario"]
    if scenario.endswith(".toml"):
        return ""
    kind, _, near = scenario.partition(":")
    if kind != "random":
        return scenario
    if not near:
        return str(row["seed"])
    return f"{near}/{row['seed']}" if near.count("/") < DEEPEST else ""


def candidates(counts):
    """[(case, parent, {bins})] without those that cannot be parents."""
    return [(case, name, set(bins)) for case, row, bins in counts.lines if (name := parent(row, case))]


def weights_of(counts, hole, parents):
    """Runs that showed the hole itself, if there are any; else those that showed what is near it, what is rare above all."""
    own = counts.table.number[hole]
    if counts.shown[own]:
        return [own in bins for _, _, bins in parents]
    wanted = {counts.table.number[name] for name in counts.table.near(hole)}
    return [sum(1 / counts.shown[bin] ** 2 for bin in wanted & bins) for _, _, bins in parents]


def aimed(counts, hole, cases):
    """The case towards a hole that bins.yaml knows. None: it knows none, the plan has no run of its preset, or one has
    shown it: then there is something nearer."""
    scenario, _, preset = counts.table.towards.get(hole, "").partition(" at ")
    fits = [case for case in cases if case["preset"] == preset and case["level"] == "L0" and not counts.of(hole)]
    return fits[0] | {"scenario": f"random:{scenario}"} if fits else None


def near(counts, hole, rng, parents, plain):
    """A case near one or two that showed what is near a hole. None: none did."""
    weights = weights_of(counts, hole, parents)
    if not any(weights):
        return None
    case, name, _ = rng.choices(parents, weights)[0]
    others = weights_of(counts, hole, plain)
    if any(others) and not counts.of(hole) and rng.random() < CROSSED:
        other = rng.choices(plain, others)[0][1]
        name += f"+{other}" if other != name else ""
    return case | {"scenario": f"random:{name}"}


def choose(counts, rng, count, tried=()):
    """(case, seed, hole) for each run of a round. Holes that runs were `tried` for in vain come less often."""
    holes = counts.holes()
    parents = candidates(counts)
    plain = [one for one in parents if "/" not in one[1] and "+" not in one[1]]
    before = collections.Counter(tried)
    jobs = []
    cases = [case for case in {cover.label(blind(case)): blind(case) for case, _, _ in counts.lines}.values()]
    for _ in range(count):
        seed = rng.randrange(1, 1 << 48)
        jobs.append((rng.choice(cases), seed, ""))
        if not holes or not parents or rng.random() < BLIND:
            continue
        hole = rng.choices(holes, [1 / (1 + before[name]) for name in holes])[0]
        before[hole] += 1
        if case := aimed(counts, hole, cases) or near(counts, hole, rng, parents, plain):
            jobs[-1] = (case, seed, hole)
    return jobs


def blind(case):
    return case | {"scenario": "random"}


def rounds(folder, runs):
    """Yields folders with ranges to run, one after the other, until so many runs have been made."""
    done, number, tried = 0, 0, []
    while done < runs:
        path = folder.path / f"close-{number:03d}"
        part = Folder(path)
        digest = hashlib.sha256(f"{folder.digest} {number}".encode()).hexdigest()[:16]

        def cut(number=number, digest=digest):
            counts = cover.Counts(cover.Table())
            counts.add_folder(folder)
            rng = random.Random(digest)
            count = min(ROUND, runs - done)
            jobs = choose(counts, rng, count, tried)
            return [{"number": at, "kind": "lockstep", "case": case, "items": [str(seed)], "limit_s": 600, "hole": hole}
                    for at, (case, seed, hole) in enumerate(jobs)]

        part.freeze({"name": path.name, "digest": digest}, cut)
        done += len(part.ranges)
        tried += [one["hole"] for one in part.ranges]
        number += 1
        yield part
