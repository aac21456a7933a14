# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a script: by its text, and on devices that keep to MRC.

Errors refuse the script, warnings do not. An expectation that a legal device breaks is an error: the device is named,
with what it chose and what happened."""
import difflib
import json
import os

from . import compiler, engine, legal, legal_requestor, values
from .device import ProcessDevice
from .compiler import walk
from .errors import MrcError, ScriptError
from .runner import report

HERE = os.path.dirname(os.path.abspath(__file__))
NEEDS = {"post": "requestor", "carrier": "ports", "ev": "ev_control", "mpr": "dyn_mpr", "mr": "regions",
         "memory": "slow_memory", "modify": "modify", "evprobe": "order_evprobe", "reset": "reset"}

WALL_SECONDS = 400.0  # of a vector on one device; a busy machine is no fault of the script


class Finding:
    def __init__(self, vector, step, level, sentence, lines=()):
        self.vector, self.step, self.level, self.sentence, self.lines = vector, step, level, sentence, list(lines)

    def text(self):
        line, column = self.step["at"] if self.step else (self.vector["line"], 1)
        out = f"{self.vector['file']}:{line}:{column}: {self.level}: {self.vector['id']}: {self.sentence}"
        if self.step:
            out += f"\n    {self.step['src']}"
        return out + "".join(f"\n      {entry}" for entry in self.lines)


def rules():
    with open(os.path.join(HERE, "rules.json"), encoding="utf-8") as stream:
        return set(json.load(stream)["rules"])


def static(vector, known_rules):
    """Findings by the text alone."""
    return _Static(vector, known_rules).find()


class _Static:
    def __init__(self, vector, known_rules):
        self.vector, self.rules, self.out = vector, known_rules, []

    def add(self, step, sentence, level="error"):
        self.out.append(Finding(self.vector, step, level, sentence))

    def find(self):
        vector = self.vector
        for key, what in (("purpose", "a purpose"), ("cite", "a citation"), ("marks", "a mark")):
            if not vector[key]:
                self.add(None, f"{what} is missing.")
        for rule in vector["rules"]:
            if rule not in self.rules:
                near = difflib.get_close_matches(rule, self.rules, 3, 0.5)
                self.add(None, f"there is no rule '{rule}' (docs/reference/generated/rules.md)" +
                         (f"; near are {', '.join(near)}." if near else "."))
        steps = list(walk(vector["steps"]))
        if not any(step["do"] in ("expect", "none", "any", "set", "either", "check", "each", "query", "mem", "until",
                                  "count", "on", "modify") for step in steps):
            self.add(None, "it expects nothing: no device can fail it.")
        self._caps(steps)
        self._ports(steps)
        self._reach(vector["steps"])
        self._names(steps)
        for step in steps:
            self._step(step)
        return self.out

    def _caps(self, steps):
        caps = set(self.vector["caps"])
        needed = {}
        for step in steps:
            if step["do"] in NEEDS:
                needed.setdefault(NEEDS[step["do"]], step)
            if any(key.startswith("class_") for key in step.get("set", ())):
                needed.setdefault("class", step)
            if step["do"] == "msg":
                needed.setdefault("responder", step)
                if "imm" in step:
                    needed.setdefault("write_imm", step)
                if step.get("r_key") == "wrong":
                    needed.setdefault("regions", step)
            if step["do"] == "send" and (step.get("icrc") or step.get("cut")):
                needed.setdefault("bytes", step)
            if step["do"] == "expect" and step["pattern"]["kind"] == "nack":
                alts = [entry["alts"] for entry in step["pattern"]["where"] if entry["field"] == "neth.reason"]
                if alts and all(alt in ([1], [2]) for alt in alts[0]):
                    needed.setdefault("trim_nack", step)
        for cap, step in needed.items():
            if cap not in caps:
                self.add(step, f"this needs 'caps {cap}'.")
        if any(key.startswith("class_") for key in self.vector["profile"]) and "class" not in caps:
            self.add(None, "this needs 'caps class': the profile names a class of the QP.")
        if not caps & {"responder", "requestor"}:
            self.add(None, "'caps' names neither responder nor requestor.")

    def _ports(self, steps):
        planes = self.vector["planes"]
        for step in steps:
            used = [step["plane"]] if isinstance(step.get("plane"), int) else []
            for key in ("pattern", "then"):
                used += step.get(key, {}).get("ports", [])
            if used and max(used) >= planes:
                self.add(step, f"p{max(used)} does not exist: the vector has {planes} planes.")

    def _reach(self, steps):
        """Statements that can never run, and expectations that nothing can meet."""
        posted = any(step["do"] == "post" for step in walk(steps))
        reset = False
        for step in walk(steps):
            if step["do"] == "qp" and step.get("again") and not reset:
                self.add(step, "the QP is set up again, and nothing has reset it (dut qp state reset).")
            reset = reset or step["do"] == "reset" or (step["do"] == "qp" and step["set"].get("state") == "reset")
        for step in walk(steps):
            if step["do"] == "with" and not step["steps"]:
                self.add(step, "this block has no statement.")
            if step["do"] == "repeat" and step["times"] == 0:
                self.add(step, "this block is never run.")
            if step["do"] in ("if", "check", "assume", "until") and not _names_in(step["cond"]):
                self.add(step, "the condition is always the same.")
            if step["do"] in ("expect", "set", "count", "skip", "on") and step["pattern"]["kind"] in ("write", "probe") \
                    and not posted:
                self.add(step, f"no {step['pattern']['kind']} can come: the device has nothing to send (dut post).")
            for entry in step.get("pattern", {}).get("where", ()):
                for alt in entry["alts"]:
                    if len(alt) == 2 and all(isinstance(value, int) for value in alt) and alt[0] > alt[1]:
                        self.add(step, f"the range {alt[0]} .. {alt[1]} is empty.")
            if step["do"] in ("expect", "none") and step.get("within") == 0:
                self.add(step, "'within 0' leaves no time.")
        for block in _blocks(steps):
            for before, after in zip(block, block[1:]):
                if before["do"] == "none" and after["do"] == "expect" and _implies(after["pattern"], before["pattern"]) \
                        and "from" in after and _strip([after["from"], after.get("within")]) == \
                        _strip([before.get("from"), before.get("within")]):
                    self.add(after, "it cannot be reached: the statement before forbids this packet in this time.")

    def _names(self, steps):
        made, used = {}, []
        for step in steps:
            if "as" in step and step["do"] not in ("each",):
                made[step["as"]] = step
            values.names_of({key: value for key, value in step.items() if key not in ("steps", "else", "branches")}, used)
        names = {name for name, _ in used}
        for name, step in made.items():
            if name not in names:
                self.add(step, f"the name '{name}' is never used.", "warning")
        messages = {step["name"]: step for step in steps if step["do"] == "msg"}
        sent = {step["packet"]["msg"] for step in steps if step["do"] == "send" and step["packet"]["kind"] == "data"}
        for name, step in messages.items():
            if name not in sent:
                self.add(step, f"the message '{name}' is never sent.", "warning")

    def _step(self, step):
        if step["do"] == "any":
            inner = [entry for entry in step["steps"]]
            for i, one in enumerate(inner):
                for other in inner[i + 1:]:
                    if not _apart(one["pattern"], other["pattern"]):
                        self.add(step, "first fit is ambiguous: one packet can fit both "
                                 f"'{one['src']}' and '{other['src']}'.", "warning")
        if step["do"] in ("expect", "optional") and step["pattern"]["kind"] in ("sack", "any") and \
                not step["pattern"]["where"]:
            self.add(step, "first fit is ambiguous: SACKs come unasked too; say which (trigger, cack, has).", "warning")
        if step["do"] == "either":
            heads = [branch[0] for branch in step["branches"] if branch[0]["do"] == "expect"]
            for i, one in enumerate(heads):
                for other in heads[i + 1:]:
                    if not _apart(one["pattern"], other["pattern"]):
                        self.add(step, "first fit is ambiguous: one packet can decide for two branches.", "warning")
        if step["do"] == "none" and "from" not in step and "to" not in step and step["pattern"]["kind"] == "sack" and \
                not step["pattern"]["where"]:
            self.add(step, "a SACK too many is never wrong.", "error")


def _blocks(steps):
    yield steps
    for step in steps:
        for key in ("steps", "else"):
            if key in step:
                yield from _blocks(step[key])
        for branch in step.get("branches", ()):
            yield from _blocks(branch)


def _names_in(value):
    found = []
    values.names_of(value, found)
    return bool(found) or '"of"' in json.dumps(value) or '"call"' in json.dumps(value)


def _strip(value):
    """Without places."""
    if isinstance(value, dict):
        return {key: _strip(inner) for key, inner in value.items() if key != "at"}
    if isinstance(value, list):
        return [_strip(inner) for inner in value]
    return value


def _apart(one, other):
    """Can no packet fit both? Told by kind, port and fields with other constants or other packets of messages."""
    if one["kind"] != other["kind"] and "any" not in (one["kind"], other["kind"]):
        return True
    if one.get("ports") and other.get("ports") and not set(one["ports"]) & set(other["ports"]):
        return True
    if "*" not in (one.get("qp", ""), other.get("qp", "")) and one.get("qp") != other.get("qp"):
        return True
    for a in one["where"]:
        for b in other["where"]:
            if a["field"] == b["field"] and a["op"] == b["op"] == "==" and len(a["alts"]) == len(b["alts"]) == 1 and \
                    len(a["alts"][0]) == len(b["alts"][0]) == 1 and _strip(a["alts"]) != _strip(b["alts"]):
                return True
    return False


def _implies(one, other):
    """Does every packet that fits `one` fit `other`?"""
    return other["kind"] in (one["kind"], "any") and not other.get("ports") and one.get("qp") == other.get("qp") and \
        all(_strip(entry) in [_strip(inner) for inner in one["where"]] for entry in other["where"])


# ---- on legal devices -----------------------------------------------------------------------------------------------

def seeds(choices):
    """Several of a device that draws lots, one of another."""
    return (1, 2, 5, 6) if choices.slowest != choices.fastest or choices.plane == "turn" else (1,)


def devices(vector):
    """(device, its choices, seed) of each legal device that the vector is held against. Where work is posted without end
    a run takes a minute: none."""
    posts = [step for step in walk(vector["steps"]) if step["do"] == "post"]
    if not posts and not any(step["do"] == "evprobe" for step in walk(vector["steps"])):
        return ((legal.LegalNic(choices, seed), choices, seed) for choices in legal.VARIANTS for seed in seeds(choices))
    if any(step["count"] == 0 for step in posts):
        return ()
    return ((legal_requestor.LegalRequestor(ways, seed, vector["assumes"]), ways, seed)
            for ways in legal_requestor.WAYS for seed in ((1, 2) if ways.walk == "random" else (1,)))


def dynamic(vector):
    """(findings, how many devices it was held against): runs on each legal device."""
    out, held, result = [], 0, None
    for device, choices, seed in devices(vector):
        result = engine.run_vector(device, vector, WALL_SECONDS)
        if result.disposition in ("fail", "deviates", "error"):
            out.append(refusal(vector, f"the legal device '{choices.name}' ({choices.why}), seed {seed}", result))
            return out, held
        held += result.disposition == "pass"
    if not held and result:
        out.append(Finding(vector, None, "warning", f"no legal device of lint can run it: {result.reason}"))
    return out, held


def refusal(vector, who, result):
    step = result.step if result.disposition != "error" else None
    word = "breaks this expectation" if result.disposition != "error" else "cannot play it to its end"
    return Finding(vector, step, "error", f"{who} {word}: {result.reason}", result.events)


def lint_files(paths, device=None, quick=False, shipped=False):
    """Prints; 0: fair, 1: something refuses it, 3: it cannot be read. shipped: each vector names the rules it asks."""
    known, seen, errors, warnings, held_all, code = rules(), {}, 0, 0, 0, 0
    total = 0
    for path in paths:
        try:
            vectors = compiler.compile_source(compiler.read_file(path))
        except ScriptError as error:
            print(report(error))
            code = 3
            continue
        except OSError as error:
            raise MrcError(f"{path}: cannot be read: {error.strerror}.", "Check the path.") from None
        for vector in vectors:
            total += 1
            found = static(vector, known)
            if vector["id"] in seen:
                found.append(Finding(vector, None, "error", f"the id is used in {seen[vector['id']]} already."))
            seen[vector["id"]] = vector["file"]
            if shipped and not vector["rules"]:
                found.append(Finding(vector, None, "error", "it names no rule that it asks (rules resp.bitmap)."))
            if not quick and not any(finding.level == "error" for finding in found):
                more, held = dynamic(vector)
                held_all += held
                found += more
                if device:
                    with ProcessDevice(device) as process:
                        result = engine.run_vector(process, vector)
                    if result.disposition in ("fail", "deviates", "error"):
                        found.append(refusal(vector, "the device", result))
            for finding in found:
                print(finding.text())
            errors += sum(finding.level == "error" for finding in found)
            warnings += sum(finding.level == "warning" for finding in found)
    print(f"{total} vectors, {errors} errors, {warnings} warnings" +
          ("" if quick else f"; {held_all} runs on legal devices"))
    return code or (1 if errors else 0)
