# SPDX-License-Identifier: Apache-2.0
"""Scripts to vectors: headers, tables of cases, names. The result is what conformance/schema/vector.json describes."""
import os
import re

from . import values
from .errors import ScriptError
from .parser import QP_FIELDS, Parser
from .qps import FIRST
from .source import Source, Token

SCHEMA = 1
CAPS = ("responder", "requestor", "write_imm", "trim_nack", "time_stamps", "svc_time", "dyn_mpr", "nscc", "evprobe",
        "ev_control", "srv6", "srh", "ipv4", "psn", "regions", "pkey", "bytes", "ports", "slow_memory",
        "modify", "class", "order_evprobe", "reset")
MARKS = ("S", "S2", "S2+", "U", "C", "A")
ENCAPS = ("ipv6", "srv6", "srh")
HEADERS = ("id", "cases", "purpose", "mark", "cite", "rules", "caps", "planes", "evs", "encap", "profile", "setting",
           "tier", "version", "derived", "negative")
BUILTIN = {"sq_psn", "rq_psn", "buf", "buf_bytes", "mtu", "planes", "start", "last", "now", "mpr", "r_key", "qp", "peer_qp",
           "posts"}
ID = re.compile(r"[A-Z]+(-[A-Z0-9]+)+")
ADDED = ("caps", "setting", "profile", "rules")  # a vector adds to what the file says; everything else it replaces
MAX_CASES = 2000
MAX_VECTORS = 5000


class _Unit:
    """A vector, or a family of them, of a file: its header lines and its statements."""

    def __init__(self, line):
        self.line = line
        self.heads = []       # (line, column, keyword, text)
        self.rows = None      # of a table: (line, {column: text})
        self.body = None      # first and last line of the statements
        self.close = False


def read_file(path):
    name = os.path.basename(path)
    try:
        with open(path, encoding="utf-8") as stream:
            text = stream.read((1 << 20) + 1)
    except UnicodeDecodeError:
        raise ScriptError(Source(name, ""), 1, 1, "the file is not UTF-8 text.") from None
    return Source(name, text)


def compile_source(source):
    """All vectors of a file. ScriptError: the first thing that is wrong, with its place."""
    units, defaults = _cut(source)
    if not units:
        raise ScriptError(source, 1, 1, "no vector begins here.", "A vector begins with a line 'id R-TRIM-021'.")
    out = []
    for unit in units:
        rows = unit.rows if unit.rows is not None else [(unit.line, None)]
        for line, row in rows:
            out.append(_vector(source, unit, defaults, line, row))
            if len(out) > MAX_VECTORS:
                raise ScriptError(source, line, 1, f"more than {MAX_VECTORS} vectors in one file.", "Split it.")
    seen = {}
    for vector in out:
        if vector["id"] in seen:
            raise ScriptError(source, vector["line"], 1, f"the id {vector['id']} is used twice, first in line "
                              f"{seen[vector['id']]}.", "An id names one vector for ever.")
        seen[vector["id"]] = vector["line"]
    return out


def walk(steps):
    """All statements, inner ones too."""
    for step in steps:
        yield step
        for key in ("steps", "else"):
            yield from walk(step.get(key, ()))
        for branch in step.get("branches", ()):
            yield from walk(branch)


def of_patterns(value):
    """Names of QPs that patterns ask for."""
    if isinstance(value, dict):
        if "kind" in value and value.get("qp", "*") != "*":
            yield value["qp"]
        value = list(value.values())
    for inner in value if isinstance(value, list) else ():
        yield from of_patterns(inner)


def assumptions(vector):
    """Those that it belongs to: by mark, setting or flag."""
    return {*vector["assumes"], *(str(step["flag"]).split("=")[0] for step in walk(vector["steps"]) if "flag" in step)}


# ---- lines ----------------------------------------------------------------------------------------------------------

def _strip(line):
    """Without comment; a '#' inside quotes is none."""
    quoted = False
    for i, char in enumerate(line):
        if char == '"':
            quoted = not quoted
        elif char == "#" and not quoted:
            return line[:i].rstrip()
    return line.rstrip()


def _cut(source):
    units, defaults, unit = [], [], None
    number = 0
    while number < len(source.lines):
        number += 1
        text = _strip(source.lines[number - 1])
        if not text:
            continue
        word = re.match(r"([a-z_]+):?(?:\s+|$)(.*)", text)
        key = word.group(1) if word else None
        if key == "id" or (key == "cases" and text.rstrip().endswith("{")):
            unit = _Unit(number)
            units.append(unit)
            if key == "cases":
                number = _table(source, unit, number, word.group(2))
            else:
                unit.heads.append((number, word.start(2) + 1, "id", word.group(2).strip()))
        elif key in HEADERS and (unit is None or unit.body is None):
            (unit.heads if unit else defaults).append((number, word.start(2) + 1, key, word.group(2).strip()))
        elif unit is None:
            raise ScriptError(source, number, 1, "a statement before the first 'id'.",
                              "A vector begins with a line 'id R-TRIM-021' or a table 'cases { ... }'.", len(text))
        else:
            unit.body = [unit.body[0] if unit.body else number, number]
    return units, defaults


def _table(source, unit, number, rest):
    columns = rest.rstrip("{").split()
    if "id" not in columns or len(set(columns)) != len(columns) or not all(c.isidentifier() for c in columns):
        raise ScriptError(source, number, 1, "a table needs columns, each once, 'id' among them.",
                          "cases id opcode cite {")
    unit.rows = []
    first = number
    while True:
        number += 1
        if number > len(source.lines):
            raise ScriptError(source, first, 1, "the table has no '}'.")
        text = _strip(source.lines[number - 1]).strip()
        if text == "}":
            break
        if not text:
            continue
        cells = re.findall(r'"([^"]*)"|(\S+)', text)
        cells = [quoted or plain for quoted, plain in cells]
        if len(cells) != len(columns):
            raise ScriptError(source, number, 1, f"the row has {len(cells)} cells, the table {len(columns)} columns.",
                              "A cell of several words stands in double quotes.", len(text))
        unit.rows.append((number, dict(zip(columns, cells))))
        if len(unit.rows) > MAX_CASES:
            raise ScriptError(source, number, 1, f"more than {MAX_CASES} rows.", "Split the table.")
    if not unit.rows:
        raise ScriptError(source, first, 1, "the table has no row.")
    return number


# ---- one vector -----------------------------------------------------------------------------------------------------

def _vector(source, unit, defaults, line, row):
    heads = {}
    out = {"schema": SCHEMA, "id": "", "version": 1, "kind": "literal", "tier": 2, "negative": False, "purpose": "",
           "marks": [], "cite": [], "rules": [], "caps": [], "planes": 1, "encap": "ipv6", "evs": 4, "backup": 0,
           "settings": {}, "assumes": [], "profile": {}, "file": source.name, "line": line}
    table = {key: text for key, text in (row or {}).items()}
    if row:
        heads["id"] = [(line, 1, row["id"])]
    for where in (defaults, unit.heads):
        fresh = {}
        for at, column, key, text in where:
            fresh.setdefault(key, []).append((at, column, _fill(source, at, column, text, table)))
        for key, entries in fresh.items():
            heads[key] = heads.get(key, []) + entries if key in ADDED else entries
    for key in ("cite", "purpose", "setting", "caps", "mark", "profile", "rules"):
        if key in table:
            entry = (line, 1, _fill(source, line, 1, table[key], {k: v for k, v in table.items() if k != key}))
            heads[key] = heads.get(key, []) + [entry] if key in ADDED else [entry]
    for key, entries in heads.items():
        for at, column, text in entries:
            _head(source, out, key, text, at, column)
    if not ID.fullmatch(out["id"]):
        raise ScriptError(source, line, 1, f"'{out['id']}' is no id.", "Ids are written R-TRIM-021.")
    if unit.body is None:
        raise ScriptError(source, unit.line, 1, f"the vector {out['id']} has no statement.")
    tokens = _filled_tokens(source, unit, table)
    out["steps"] = Parser(source, tokens).script()
    if table:
        _fill_words(source, out["steps"], table)
    _Names(source, out).check()
    return out


def _fill(source, line, column, text, table):
    def cell(match):
        if match.group(1) not in table:
            raise ScriptError(source, line, column, f"there is no column '{match.group(1)}'.",
                              f"Columns are {', '.join(table)}." if table else "Only tables have columns.")
        return table[match.group(1)]
    return re.sub(r"\$([A-Za-z_][A-Za-z0-9_]*)", cell, text)


def _fill_words(source, steps, table):
    """The statements as findings quote them, with what this row says."""
    for step in steps:
        step["src"] = _fill(source, step["at"][0], step["at"][1], step["src"], table)
        for inner in (step.get("steps", ()), step.get("else", ()), *step.get("branches", ())):
            _fill_words(source, inner, table)


def _filled_tokens(source, unit, table):
    out = []
    for token in source.tokens(*unit.body):
        if token.kind == "case":
            name = token.text[1:]
            if name not in table:
                raise ScriptError(source, token.line, token.column, f"there is no column '{name}'.",
                                  f"Columns are {', '.join(table)}." if table else "Only tables have columns.",
                                  len(token.text))
            out += source.cell(token, table[name])
        elif token.kind == "str" and "$" in token.text:
            text = _fill(source, token.line, token.column, token.text, table)
            out.append(Token(token.kind, text, token.line, token.column, token.start, token.stop))
        else:
            out.append(token)
    return out


def _head(source, out, key, text, line, column):
    def fail(sentence, remedy=""):
        raise ScriptError(source, line, column, sentence, remedy, max(1, len(text)))

    words = text.replace(",", " ").split()
    if key == "id":
        out["id"] = text
    elif key == "purpose":
        out["purpose"] = text.strip('"')
    elif key == "cite":
        out["cite"] += [part.strip() for part in text.split(";") if part.strip()]
    elif key == "rules":
        out["rules"] += words
    elif key == "mark":
        marks = re.sub(r"\([^)]*\)", " ", text).replace(",", " ").split()
        out["marks"] = [mark for mark in marks if mark in MARKS]
        out["assumes"] += [m for m in marks if re.fullmatch(r"A-\d+", m) and m not in out["assumes"]]
        wrong = [mark for mark in marks if mark not in MARKS and not re.fullmatch(r"A-\d+", mark)]
        if wrong or not marks:
            fail(f"'{' '.join(wrong)}' is no mark.", "Marks are S, S2, S2+, U, C, A, and A-24 for an assumption.")
    elif key == "caps":
        for word in words:
            if word not in CAPS:
                fail(f"'{word}' is no capability.", f"Capabilities (docs/reference/device.md): {', '.join(CAPS)}.")
        out["caps"] += [word for word in words if word not in out["caps"]]
    elif key in ("planes", "tier", "version"):
        limit = {"planes": 8, "tier": 4, "version": 10000}[key]
        if not text.isdigit() or not 1 <= int(text) <= limit:
            fail(f"'{text}' is no {key}: 1 to {limit}.")
        out[key] = int(text)
    elif key == "evs" and text == "own":
        out["evs"] = out["backup"] = 0
    elif key == "evs":
        match = re.fullmatch(r"(\d+)(?:\s+backup\s+(\d+))?", text)
        if not match or not 1 <= int(match.group(1)) <= 256 or int(match.group(2) or 0) >= int(match.group(1)):
            fail("the EVs are no 'own', 'N' or 'N backup M' with N of 1 to 256 and M below N.")
        out["evs"], out["backup"] = int(match.group(1)), int(match.group(2) or 0)
    elif key == "encap":
        if text not in ENCAPS:
            fail(f"'{text}' is no encapsulation.", f"One of {', '.join(ENCAPS)}.")
        out["encap"] = text
    elif key == "derived":
        out["kind"] = "derived"
    elif key == "negative":
        out["negative"] = True
    elif key == "profile":
        _profile(out, words, fail)
    elif key == "setting":
        _setting(out, text, fail)


def _profile(out, words, fail):
    if len(words) % 2:
        fail("a profile is pairs: mpr 8 timeout 7.")
    for name, value in zip(words[::2], words[1::2]):
        if name not in QP_FIELDS or name == "state":
            fail(f"'{name}' is no attribute of a QP.", f"One of {', '.join(QP_FIELDS)}.")
        if not re.fullmatch(r"0[xX][0-9a-fA-F]{1,8}|\d{1,10}", value):
            fail(f"'{value}' is no number for {name}.")
        out["profile"][name] = int(value, 0)


def _setting(out, text, fail):
    match = re.fullmatch(r"(A-\d+)\s+(?:([A-Z_]+[0-9]*\.[a-z_0-9]+)\s*=?\s*(\d+|0x[0-9a-f]+)|(as\s+.+|default))", text)
    if not match:
        fail("a setting names the assumption and how it is switched.",
             "setting A-12 CTRL.oor_drop 1, or: setting A-24 default")
    if match.group(1) not in out["assumes"]:
        out["assumes"].append(match.group(1))
    if match.group(2):
        out["settings"][match.group(2)] = int(match.group(3), 0)


# ---- names ----------------------------------------------------------------------------------------------------------

class _Names:
    """Every name is defined before it is used, as what it is used as."""

    def __init__(self, source, vector):
        self.source, self.vector = source, vector
        self.known = set(BUILTIN) | {f"e{i}" for i in range(vector["evs"])}
        self.messages = set()
        self.qps = {FIRST}

    def fail(self, place, sentence, remedy=""):
        line, column = place or [self.vector["line"], 1]
        raise ScriptError(self.source, line, column, sentence, remedy)

    def check(self):
        self._steps(self.vector["steps"])

    def _value(self, value):
        found = []
        values.names_of(value, found)
        for name, place in found:
            if name not in self.known:
                hint = ", ".join(sorted(self.known - BUILTIN - {n for n in self.known if re.fullmatch(r"e\d+", n)}))
                self.fail(place, f"the name '{name}' is not defined here.",
                          (f"Defined are {hint}; " if hint else "") + f"always there: {', '.join(sorted(BUILTIN))}, e0.")

    def _define(self, name, step):
        if name in BUILTIN or re.fullmatch(r"e\d+", name):
            self.fail(step["at"], f"'{name}' has a meaning already.", "Choose another name.")
        self.known.add(name)

    def _qp(self, name, step):
        if name not in self.qps:
            self.fail(step["at"], f"there is no QP '{name}'.", f"QPs: {', '.join(sorted(self.qps))}. Another one: qp b")

    def _steps(self, steps):
        for step in steps:
            self._step(step)

    def _step(self, step):
        if step["do"] == "msg":
            if step["name"] in self.messages:
                self.fail(step["at"], f"the message '{step['name']}' exists already.")
            self.messages.add(step["name"])
        if step["do"] == "with":
            self._qp(step["qp"], step)
        for name in of_patterns({key: value for key, value in step.items() if key not in ("steps", "else", "branches")}):
            self._qp(name, step)
        packet = step.get("packet", {})
        if packet.get("kind") == "data" and packet["msg"] not in self.messages:
            self.fail(packet["at"], f"there is no message '{packet['msg']}'.",
                      f"Messages: {', '.join(sorted(self.messages))}." if self.messages else
                      "A message is made by: msg m = write len 4096 at buf")
        inner = {"steps", "else", "branches"}
        if step["do"] == "each":
            self._value({key: step[key] for key in ("pattern", "from", "to") if key in step})
            self.known.add(step["as"])
            self._value({key: step[key] for key in ("where", "then", "within") if key in step})
            return
        self._value({key: value for key, value in step.items() if key not in inner})
        if step["do"] == "msg":
            self._define(step["name"], step)
        if step["do"] in ("let", "new_qp"):
            self._define(step["name"], step)
        if step["do"] == "new_qp":
            if step["name"] in self.qps:
                self.fail(step["at"], f"the QP '{step['name']}' exists already.")
            self.qps.add(step["name"])
        for key in ("steps", "else"):
            if key in step:
                self._steps(step[key])
        for branch in step.get("branches", ()):
            self._steps(branch)
        if "as" in step:
            self._define(step["as"], step)
