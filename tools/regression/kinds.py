# SPDX-License-Identifier: Apache-2.0
"""The kinds of jobs of a plan: what their keys are, which items they have, and the command that runs some of them.

A new kind is a new row of KINDS. An item is what gets one line of results: a seed, a vector, a harness, a block."""
import dataclasses
import itertools
import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any, Callable

WORDS = ("pass", "fail", "hang", "infrastructure", "unsupported", "inconclusive")  # by exit code
DISPOSITIONS = {"pass": "pass", "fail": "fail", "deviation": "pass", "inconclusive": "inconclusive"}


class KindError(Exception):
    """The items of a job cannot be told; what to do about it."""

    def __init__(self, sentence, remedy):
        super().__init__(sentence)
        self.remedy = remedy


@dataclasses.dataclass(frozen=True)
class Key:
    """A key of a job: its type (a list is written as [type]), its default and its least value or its words."""
    type: Any
    default: Any
    least: int | None = None
    words: tuple = ()
    doc: str = ""


@dataclasses.dataclass(frozen=True)
class Kind:
    """`cases`: the job as dicts without lists. `items`: those of a case. `argv`: the words that run items and write `path`,
    after `mrc` unless the first is a program of the tree, ./tools/x. `lines`: what stands in `path`, as lines; None: the
    command adds its lines itself. `silent`: nothing stands there, the exit code is all."""
    keys: dict
    cases: Callable
    items: Callable
    argv: Callable
    lines: Callable | None
    default_range: int
    silent: bool = False


SEEDS = {
    "seed": Key(int, 1, 0, doc="the first seed"),
    "seeds": Key(int, 1, 1, doc="how many seeds of each case"),
}


def product(job, **lists):
    """Cases of a job: each value of each list with each of the others; name=list renames."""
    fixed = {key: value for key, value in job.items() if key not in lists.values()}
    for values in itertools.product(*(job[key] for key in lists.values())):
        yield fixed | dict(zip(lists, values))


def seeds(case, _ask):
    return [str(seed) for seed in range(case["seed"], case["seed"] + case["seeds"])]


def option(case, key, name=None):
    value = case[key]
    return [name or f"--{key}", str(value)] if value not in ("", 0) else []


def cosim(case, items, path):
    # One core for a range: the others have ranges of their own.
    alone = ["--threads", "1"] if case["level"] == "L0" else []
    return ["cosim", "--level", case["level"], "--dut", case["dut"], "--preset", case["preset"], "--scenario",
            case["scenario"], "--packets", str(case["packets"]), "--seed", items[0], "--seeds", str(len(items)),
            "--results", str(path)] + option(case, "bug", "--rtl-bug") + option(case, "variant") + alone + \
        (["--bins"] if case.get("bins") else [])


def fabric(case, items, path):
    words = ["fabric", "--scenario", case["scenario"], "--seed", items[0], "--json", str(path)]
    return words + option(case, "endpoint")


def from_exit(signature):
    """One line for all items: the exit code is the verdict."""

    def lines(case, items, data, code, seconds):
        word = WORDS[code] if 0 <= code < len(WORDS) else "fail"
        what = signature(case, items, data) if word in ("fail", "hang") else ""
        return [{"item": item, "result": word, "exit_code": code, "seconds": seconds / len(items), "signature": what}
                for item in items]

    return lines


def vector_lines(_case, items, data, _code, _seconds):
    found = {row["id"]: row for row in data.get("results", [])}
    lines = []
    for item in items:
        if item not in found:
            continue
        row = found[item]
        result = DISPOSITIONS.get(row["disposition"], "unsupported")
        lines.append({"item": item, "result": result, "seconds": row.get("seconds", 0), "reason": row.get("reason", ""),
                      "signature": "+".join(row.get("rules", [])) or item if result == "fail" else ""})
    return lines


def proof_lines(_case, items, data, _code, seconds):
    rows = data.get("properties", [])
    lines = []
    for item in items:
        own = [row for row in rows if item in (row["name"], row["name"].partition(".")[0])]
        bad = [row["name"] for row in own if row["result"] != row["expected"]]
        if own:
            lines.append({"item": item, "result": "fail" if bad else "pass", "seconds": seconds / len(items),
                          "signature": bad[0] if bad else ""})
    return lines


def vector_items(case, ask):
    words = ["vectors", "list", "--json"]
    if case["folder"]:
        words += ["--folder", case["folder"]]
    data = json.loads(ask(words))
    rows = data if isinstance(data, list) else data["vectors"]
    return [row["id"] for row in rows if not case["tiers"] or row["tier"] in case["tiers"]]


def vectors(case, items, path):
    device = ["--device", case["device"]] if case["device"] else []
    folder = ["--folder", case["folder"]] if case["folder"] else []
    return ["vectors", "run", *items, "--give-up", "0", "--json", str(path)] + device + folder


def script(case, items, path):
    return ["script", "run", items[0], "--json", str(path)] + (["--device", case["device"]] if case["device"] else [])


def proof_items(case, ask):
    if case["only"]:
        return case["only"]
    return list(dict.fromkeys(line.split(".")[0] for line in ask(["prove", "--list"]).splitlines() if "." in line))


def proofs(_case, items, path):
    words = ["prove", "--jobs", "1", "--json", str(path)]
    for item in items:
        words += ["--only", item]
    return words


def mutants(case, items, path):
    words = ["mutate", "--rtl", "--blocks", items[0], "--count", str(case["count"]), "--seed", str(case["seed"]), "-j",
             "1", "--json", str(path)]
    return words + (["--quick"] if case["quick"] else [])


def test_items(case, ask):
    listing = ask(["test", f"--{case['layer']}", "-N"])
    return re.findall(r"^ *Test +#\d+: (.*)$", listing, re.MULTILINE)


def tests(case, items, path):
    return ["test", f"--{case['layer']}", "--json", str(path), "-R", f"^{re.escape(items[0])}$"]


def command(_case, items, _path):
    return shlex.split(items[0])


def one(job):
    return [dict(job)]


DEVICE = Key(str, "", doc="command of the device, as --device; nothing: our model")
KINDS = {
    "lockstep": Kind(SEEDS | {
        "scenarios": Key([str], ["mixed"], doc="names, random, TOML files"),
        "presets": Key([str], ["tiny"], doc="tiny, fpga100, asic800"),
        "duts": Key([str], ["rtl"], doc="as --dut"),
        "levels": Key([str], ["L0"], words=("L0", "L1", "L2"), doc="as --level"),
        "packets": Key(int, 2000, 1, doc="data packets of a run"),
        "bug": Key(str, "", doc="as --rtl-bug"),
        "variant": Key(str, "", doc="as --variant"),
    }, lambda job: product(job, level="levels", preset="presets", scenario="scenarios", dut="duts"), seeds, cosim, None,
        50),
    "fabric": Kind(SEEDS | {
        "scenarios": Key([str], ["small"], doc="names, TOML files"),
        "endpoint": Key(str, "", doc="as --endpoint"),
    }, lambda job: product(job, scenario="scenarios"), seeds, fabric,
        from_exit(lambda case, items, data: f"fabric {data.get('outcome', 'ended')}"), 1),
    "vectors": Kind({
        "tiers": Key([int], [], 1, doc="of these tiers only"),
        "device": DEVICE,
        "folder": Key(str, "", doc="as --folder"),
    }, one, vector_items, vectors, vector_lines, 100),
    "script": Kind({
        "files": Key([str], [], doc="scripts"),
        "device": DEVICE,
    }, one, lambda case, ask: case["files"], script, from_exit(lambda case, items, data: items[0]), 1),
    "mutants": Kind({
        "blocks": Key([str], ["rx_check", "rx_track", "tx_path", "tx_inflight", "tx_segment"], doc="as --blocks"),
        "count": Key(int, 60, 1, doc="of each block"),
        "seed": Key(int, 1, 0, doc="of the drawing"),
        "quick": Key(bool, False, doc="only the short runs at L0"),
    }, one, lambda case, ask: case["blocks"], mutants,
        from_exit(lambda case, items, data: f"mutants of {items[0]} live"), 1),
    "tests": Kind({
        "layer": Key(str, "nightly", words=("house", "nightly", "all"), doc="as mrc test --LAYER"),
    }, one, test_items, tests, from_exit(lambda case, items, data: items[0]), 1),
    "commands": Kind({
        "lines": Key([str], [], doc="words after mrc, or those of a program of the tree: ./tools/x"),
    }, one, lambda case, ask: case["lines"], command, from_exit(lambda case, items, data: items[0]), 1, silent=True),
    "proofs": Kind({
        "only": Key([str], [], doc="harnesses or properties; nothing: all harnesses"),
    }, one, proof_items, proofs, proof_lines, 1),
}


def asker(mrc, root):
    """What runs mrc with some words and returns what it says."""

    def ask(words):
        done = subprocess.run([mrc, *words], capture_output=True, text=True, cwd=root, check=False)
        if done.returncode != 0:
            raise KindError(f"'mrc {' '.join(words)}' failed: {done.stderr.strip().splitlines()[:1]}.",
                            "Run it by hand; it says more.")
        return done.stdout

    return ask


def read_lines(kind, case, items, path, code, seconds):
    """Lines of a command that wrote a file of its own; none when it wrote nothing that can be read."""
    try:
        data = json.loads(Path(path).read_text())
    except (OSError, ValueError):
        data = {}
    if code == 3 or code < 0 or (code != 0 and not data and not kind.silent):
        return []
    return kind.lines(case, items, data, code, seconds)
