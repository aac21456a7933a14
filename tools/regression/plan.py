# SPDX-License-Identifier: Apache-2.0
"""Plans: TOML, held against the keys of their kinds, and cut into ranges."""
import hashlib
import re
import tomllib
from pathlib import Path

import rtl
from regression.kinds import KINDS, Key, KindError

PLANS = rtl.ROOT / "plans"
HEAD = {
    "description": Key(str, "", doc="one line for lists"),
    "minutes": Key(int, 0, 0, doc="no range begins after so many minutes; 0: no limit"),
    "coverage": Key(bool, True, doc="runs of kind lockstep say which bins of coverage they show; costs a quarter at L0"),
    "runs": Key(int, 0, 0, doc="at most so many runs, the first of the plan; 0: all"),
}
COMMON = {
    "kind": Key(str, "", words=tuple(KINDS), doc="what the job is"),
    "range": Key(int, 0, 0, doc="items of a range, the unit of work; 0: that of the kind"),
    "limit_s": Key(int, 600, 1, doc="seconds without a new result after which a range is ended and tried again"),
}


class Places:
    """Where tables and keys stand in a text."""

    def __init__(self, text):
        self.lines, job = {}, -1
        for number, line in enumerate(text.splitlines(), 1):
            if re.match(r"\s*\[\[\s*job\s*\]\]", line):
                job += 1
                self.lines[job, ""] = number
            elif match := re.match(r"\s*[\"']?([\w-]+)[\"']?\s*=", line):
                self.lines.setdefault((job, match[1]), number)

    def of(self, job, key=""):
        return self.lines.get((job, key)) or self.lines.get((job, "")) or 1


def find(name):
    """The file of a plan by its path or its shipped name."""
    path = Path(name)
    if path.suffix != ".toml" and (PLANS / f"{name}.toml").is_file():
        path = PLANS / f"{name}.toml"
    if not path.is_file():
        names = ", ".join(sorted(file.stem for file in PLANS.glob("*.toml")))
        rtl.fail(f"there is no plan '{name}'.", f"Name a TOML file, or a shipped plan: {names}.")
    return path


def check(place, name, value, key):
    """A value of the right type and size, or the end with a sentence."""
    several = isinstance(key.type, list)
    type_ = key.type[0] if several else key.type
    noun = {int: "whole number", str: "text", bool: "true or false"}[type_]
    values = value if several and isinstance(value, list) else [value]
    if several != isinstance(value, list) or any(type(one) is not type_ for one in values):
        rtl.fail(f"{place}: {name} = {value!r} is no {'list of ' if several else ''}{noun}.",
                 f"{name}: {key.doc}; for example {name} = {example(key)}.")
    for one in values:
        if key.words and one not in key.words:
            rtl.fail(f"{place}: {name} has no value {one!r}.", f"It is one of {', '.join(key.words)}.")
        if key.least is not None and one < key.least:
            rtl.fail(f"{place}: {name} = {one} is too small.", f"The least is {key.least}.")
    return value


def example(key):
    if key.words:
        return f'["{key.words[0]}"]' if isinstance(key.type, list) else f'"{key.words[0]}"'
    if isinstance(key.type, list):
        return '["mixed"]' if key.type == [str] else "[1]"
    return {bool: "true", int: "1", str: '"mixed"'}[key.type]


def table(path, places, job, given, keys, what):
    known = {name: key.default for name, key in keys.items()}
    for name, value in given.items():
        place = f"{path}:{places.of(job, name)}"
        if name not in keys:
            rtl.fail(f"{place}: unknown key {name} in {what}.", f"Keys are {', '.join(keys)}.")
        known[name] = check(place, name, value, keys[name])
    return known


def read(path):
    """The plan as a dict with its jobs complete. Ends the program with file, line and remedy when it cannot be meant."""
    try:
        text = path.read_text()
        data = tomllib.loads(text)
    except (OSError, UnicodeDecodeError) as error:
        rtl.fail(f"the plan {path} cannot be read: {error}.", "Name a TOML file that you may read.")
    except tomllib.TOMLDecodeError as error:
        match = re.search(r"(.*) \(at line (\d+), column (\d+)\)", str(error))
        place, words = (f"{path}:{match[2]}:{match[3]}", match[1]) if match else (str(path), str(error))
        rtl.fail(f"{place}: this is no TOML: {words[0].lower()}{words[1:]}.", "docs/guide/regress.md shows a plan.")
    places = Places(text)
    jobs = data.pop("job", [])
    if not isinstance(jobs, list) or not all(isinstance(job, dict) for job in jobs):
        rtl.fail(f"{path}:{places.of(-1, 'job')}: job is no list of tables.", "Write [[job]] above each job.")
    plan = table(path, places, -1, data, HEAD, "the plan")
    if not jobs:
        rtl.fail(f"{path}: the plan has no job.", "Add a [[job]] with a kind; docs/guide/regress.md shows one.")
    plan["jobs"] = []
    for number, job in enumerate(jobs):
        kind = job.get("kind", "")
        check(f"{path}:{places.of(number, 'kind')}", "kind", kind, COMMON["kind"])
        plan["jobs"].append(table(path, places, number, job, COMMON | KINDS[kind].keys, f"a job of kind {kind}"))
    plan["name"] = path.stem
    plan["digest"] = hashlib.sha256(text.encode()).hexdigest()[:16]
    return plan


def ranges(plan, ask):
    """The plan cut into ranges: dicts of number, kind, case, items, limit_s. Cases take turns, each by the share of it
    that went before: what a night that ends too early has run is of everything."""
    parts = []
    for job in plan["jobs"]:
        kind = KINDS[job["kind"]]
        for case in kind.cases(job):
            if job["kind"] == "lockstep":
                case = case | {"bins": plan["coverage"]}
            try:
                items = kind.items(case, ask)
            except KindError as error:
                rtl.fail(str(error), error.remedy)
            size = 1 if kind.default_range == 1 else job["range"] or kind.default_range
            parts += [(begin / len(items), {"kind": job["kind"], "case": case, "items": items[begin:begin + size],
                                            "limit_s": job["limit_s"]}) for begin in range(0, len(items), size)]
    result, left = [], plan["runs"] or float("inf")
    for _, part in sorted(parts, key=lambda one: one[0]):
        part["items"] = part["items"][:int(min(left, len(part["items"])))]
        left -= len(part["items"])
        if part["items"]:
            result.append({"number": len(result)} | part)
    return result
