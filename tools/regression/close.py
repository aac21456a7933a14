# SPDX-License-Identifier: Apache-2.0
"""mrc regress PLAN --close N: N more runs, of random scenarios near those that showed what is near a hole.

A run's parent is drawn by how much of the surroundings of a hole it showed; `random:PARENT` with another seed changes few
values of it. Rounds are regressions of their own, below the folder: what was done is not done again."""
import hashlib
import random

from regression import cover
from regression.folder import Folder

ROUND = 20  # runs between two looks at what is still missing
BLIND = 0.2  # share of runs that are random as ever, so that nothing is overlooked


def parent(row, case):
    """What may stand behind random: for a run; "": it cannot be named."""
    scenario = case["scenario"]
    if scenario == "random":
        return str(row["seed"])
    if scenario.startswith("random:"):
        return ""  # near a scenario already; its parent is as good
    return "" if scenario.endswith(".toml") else scenario


def candidates(counts):
    """[(case, parent, {bins})] without those that cannot be parents."""
    return [(case, name, set(bins)) for case, row, bins in counts.lines if (name := parent(row, case))]


def choose(counts, rng, count):
    """Cases and seeds of a round: for each run a hole, and a parent that showed what is near it."""
    holes = counts.holes()
    parents = candidates(counts)
    jobs = []
    cases = [case for case in {cover.label(case): case for case, _, _ in parents}.values()]
    for _ in range(count):
        seed = rng.randrange(1, 1 << 48)
        if not holes or not parents or rng.random() < BLIND:
            jobs.append((rng.choice(cases) | {"scenario": "random"}, seed))
            continue
        hole = rng.choice(holes)
        wanted = {counts.table.number[name] for name in counts.table.near(hole)}
        own = counts.table.number[hole]
        # What few runs show counts more; a run that showed the hole itself is the best of parents.
        weights = [sum(1 / counts.shown[bin] for bin in wanted & bins) + 4 * (own in bins) for _, _, bins in parents]
        if not any(weights):
            jobs.append((rng.choice(cases) | {"scenario": "random"}, seed))
            continue
        case, name, _ = rng.choices(parents, weights)[0]
        jobs.append((case | {"scenario": f"random:{name}"}, seed))
    return jobs


def rounds(folder, runs, steered=True):
    """Yields folders with ranges to run, one after the other, until so many runs have been made."""
    done, number = 0, 0
    while done < runs:
        path = folder.path / f"close-{number:03d}"
        part = Folder(path)
        digest = hashlib.sha256(f"{folder.digest} {number} {steered}".encode()).hexdigest()[:16]

        def cut(number=number, digest=digest):
            counts = cover.Counts(cover.Table())
            counts.add_folder(folder)
            rng = random.Random(digest)
            count = min(ROUND, runs - done)
            if steered:
                jobs = choose(counts, rng, count)
            else:
                cases = list({cover.label(case): case for case, _, _ in counts.lines}.values())
                jobs = [(rng.choice(cases) | {"scenario": "random"}, rng.randrange(1, 1 << 48)) for _ in range(count)]
            return [{"number": at, "kind": "lockstep", "case": case, "items": [str(seed)], "limit_s": 600}
                    for at, (case, seed) in enumerate(jobs)]

        part.freeze({"name": path.name, "digest": digest}, cut)
        done += len(part.ranges)
        number += 1
        yield part
