# SPDX-License-Identifier: Apache-2.0
"""The schema of compiled vectors (conformance/schema/vector.json is made of it) and a validator of what it uses.

Vectors come from anywhere: depth, size and count are limited before anything else looks at them."""
import json
import re

from . import fields
from .compiler import CAPS, ENCAPS, MARKS
from .errors import VectorError
from .packets import field_info
from .parser import ATTRIBUTES, QP_FIELDS, STATES
from .qps import PEER_IPS
from .values import FUNCTIONS, PATTERN_FUNCTIONS

MAX_BYTES = 64 << 20
MAX_DEPTH = 48
MAX_NODES = 4_000_000
NAME = "^[A-Za-z_][A-Za-z0-9_]{0,63}$"


def _object(required, optional=None, extra=False):
    properties = {**required, **(optional or {})}
    return {"type": "object", "properties": properties, "required": sorted(required), "additionalProperties": extra}


def _list(items, least=0, most=5000):
    return {"type": "array", "items": items, "minItems": least, "maxItems": most}


def _enum(*values):
    return {"enum": list(values)}


VALUE, STEPS, PATTERN = {"$ref": "#/$defs/value"}, {"$ref": "#/$defs/steps"}, {"$ref": "#/$defs/pattern"}
WORD = {"type": "string", "pattern": NAME}
TEXT = {"type": "string", "maxLength": 400}
PLACE = _list({"type": "integer", "minimum": 0}, 2, 2)
BOOL = {"type": "boolean"}
PORT = {"type": "integer", "minimum": 0, "maximum": 7}
PATH = {"type": "string", "pattern": "^(@[a-z_]+|[a-z0-9_]+\\.[a-z0-9_]+)$"}
BYTES = {"type": "string", "pattern": "^([0-9a-f]{2}){0,10000}$"}
TIMES = {"within": VALUE, "from": VALUE, "to": VALUE, "as": WORD}


def _values():
    two = {"a": VALUE, "b": VALUE}
    return {"anyOf": [
        {"type": "integer"},
        _object({"n": WORD}, {"at": PLACE}),
        _object({"idx": {"type": "array", "minItems": 2, "maxItems": 2}}, {"at": PLACE}),
        _object({"get": {"type": "array", "minItems": 2, "maxItems": 2}}),
        _object({"unit": {"type": "array", "minItems": 2, "maxItems": 2}}),
        _object({"call": {"type": "array", "minItems": 2, "maxItems": 2}}),
        _object({"of": _enum(*PATTERN_FUNCTIONS), "pat": PATTERN}, {"by": PATH, "from": VALUE, "to": VALUE}),
        _object({"op": _enum("+", "-", "*", "/", "%", "==", "!=", "<", ">", "<=", ">=", "and", "or", "has", "lacks"),
                 **two}),
        _object({"op": _enum("in"), **two, "c": VALUE}),
        _object({"op": _enum("not"), "a": VALUE}),
    ]}


def _packets():
    out = [_object({"kind": _enum("data"), "msg": WORD, "index": VALUE}, {"at": PLACE}),
           _object({"kind": _enum("bytes"), "hex": BYTES}),
           _object({"kind": _enum("back"), "of": VALUE, "swapped": BOOL})]
    for kind, allowed in fields.SENDS.items():
        known = {name: VALUE for name in allowed}
        if "has" in known:
            known["has"] = _list(_list(VALUE, 1, 2), 0, 100)
        out.append(_object({"kind": _enum(kind), "fields": _object({}, known)}))
    return {"anyOf": out}


def _statements():
    trim = _object({"size": VALUE, "lengths": _enum("none", "ip", "udp", "all"), "where": _enum("outer", "both"),
                    "dscp": VALUE})
    send = {"as": WORD, "rtx": VALUE, "ackreq": VALUE, "dscp": VALUE, "ecn": VALUE, "ev": VALUE, "cut": VALUE,
            "append": VALUE, "after": VALUE, "trim": trim, "fcs_bad": BOOL,
            "flip": _list({"type": "string", "pattern": "^(payload|pad|[a-z0-9_]+\\.[a-z0-9_]+)$"}, 1, 16),
            "icrc": {"anyOf": [_enum("bad"), _object({"flip": VALUE}), VALUE]}, "raw": _list({"type": "array", "minItems": 2, "maxItems": 2}, 1, 64),
            "payload": {"anyOf": [BYTES, _object({"len": VALUE})]}}
    answer = _object({"fields": _object({}, {name: VALUE for name in fields.SENDS["sack"]})},
                     {"none": BOOL, "lost": BOOL, "together": BOOL, "nack": VALUE, "delay": VALUE})
    counted = {"as": WORD, "times": VALUE, "pattern": PATTERN, "by": PATH}
    qp = {name: VALUE for name in QP_FIELDS}
    qp["state"] = _enum(*STATES)
    post = _object({"len": VALUE, "count": VALUE}, {"remote": VALUE, "imm": VALUE, "r_key": VALUE, "source": VALUE, "as": WORD})
    return {
        "msg": _object({"name": WORD, "len": VALUE}, {"addr": VALUE, "seq": VALUE, "imm": VALUE,
                                                     "r_key": {"anyOf": [_enum("wrong"), VALUE]}}),
        "send": _object({"plane": {"anyOf": [PORT, {"type": "null"}]}, "packet": _packets()}, send),
        "expect": _object({"pattern": PATTERN}, TIMES), "optional": _object({"pattern": PATTERN}, TIMES),
        "none": _object({"pattern": PATTERN}, TIMES),
        "any": _object({"steps": STEPS}, {"within": VALUE}),
        "set": _object({"pattern": PATTERN, "field": PATH, "range": _list(VALUE, 2, 2)}, TIMES),
        "either": _object({"branches": _list(STEPS, 2, 16)}, {"flag": TEXT}),
        "check": _object({"cond": VALUE}, {"flag": TEXT}),
        "assume": _object({"cond": VALUE, "why": TEXT}),
        "each": _object({"pattern": PATTERN, "as": WORD, "then": PATTERN, "within": VALUE},
                        {"from": VALUE, "to": VALUE, "where": VALUE}),
        "until": _object({"cond": VALUE, "within": VALUE}),
        "repeat": _object({"times": VALUE, "steps": STEPS}, {"pattern": PATTERN, "by": PATH, "as": WORD}),
        "if": _object({"cond": VALUE, "steps": STEPS}, {"else": STEPS}),
        "let": _object({"name": WORD, "value": VALUE}),
        "count": _object(counted, {"within": VALUE}), "share": _object(counted, {"within": VALUE}),
        "skip": _object({"times": VALUE, "pattern": PATTERN}, {"within": VALUE, "as": WORD}),
        "settle": _object({"time": VALUE}),
        "mem": _object({"what": _enum("fill", "same", "digest", "any"), "addr": VALUE, "len": VALUE},
                       {"seq": VALUE, "byte": VALUE, "after": VALUE, "from": VALUE}),
        "carrier": _object({"plane": PORT, "up": BOOL}, {"as": WORD}),
        "blackhole": _object({}, {"plane": PORT, "ev": VALUE, "way": _enum("both", "in", "out"), "as": WORD}),
        "heal": _object({}, {"plane": PORT, "ev": VALUE, "as": WORD}),
        "post": post, "evprobe": _object({"ev": VALUE, "plane": PORT}, {"tc": VALUE}),
        "new_qp": _object({"name": WORD, "peer": {"type": "integer", "minimum": 1, "maximum": len(PEER_IPS)},
                           "set": _object({}, qp)}),
        "reset": _object({}),
        "with": _object({"qp": WORD, "steps": STEPS}),
        "recv": _object({"count": VALUE}), "qp": _object({"set": _object({}, qp)}, {"again": BOOL}),
        "modify": _object({"state": _enum(*STATES), "with": _list(_enum(*ATTRIBUTES), 0, 40), "refused": BOOL},
                          {"set": _object({}, {**qp})}),
        "query": _object({"state": _enum(*STATES)}), "ev": _object({"ev": VALUE, "deny": BOOL}),
        "mpr": _object({"units": VALUE}), "mr": _object({"valid": BOOL}), "memory": _object({"takes": BOOL}), "counters": _object({"as": WORD}),
        "peer": _object({"mode": _enum("auto", "manual")}, {"sack": VALUE, "delay": VALUE}),
        "on": _object({"count": VALUE, "pattern": PATTERN, "answer": answer}, {"nth": VALUE, "within": VALUE, "as": WORD}),
        "when": _object({"pattern": PATTERN, "answer": answer}, {"nth": VALUE}),
        "background": _object({}, {"ignore": _list(TEXT, 0, 20), "answer": _enum("probe")}),
        "repair": _object({"on": BOOL}),
    }


def schema():
    """JSON Schema 2020-12 of a list of vectors."""
    statements = []
    for word, shape in _statements().items():
        shape = json.loads(json.dumps(shape))
        shape["properties"].update({"do": _enum(word), "at": PLACE, "src": TEXT})
        shape["required"] = ["at", "do", "src"] + shape["required"]
        statements.append(shape)
    where = _object({"field": PATH, "op": _enum("==", "!=", "<", ">", "<=", ">=", "any"), "alts": _list(_list(VALUE, 1, 2), 0, 64)},
                    {"which": VALUE})
    count = {"type": "integer", "minimum": 0}
    vector = _object({
        "schema": _enum(1), "id": {"type": "string", "pattern": "^[A-Z]+(-[A-Z0-9]+)+$"}, "version": count,
        "kind": _enum("literal", "derived"), "tier": {"type": "integer", "minimum": 1, "maximum": 4}, "negative": BOOL,
        "purpose": TEXT, "marks": _list(_enum(*MARKS), 0, 8), "cite": _list(TEXT, 0, 20), "rules": _list(TEXT, 0, 40),
        "caps": _list(_enum(*CAPS), 0, 20), "planes": {"type": "integer", "minimum": 1, "maximum": 8},
        "encap": _enum(*ENCAPS), "evs": {"type": "integer", "minimum": 0, "maximum": 256}, "backup": count,
        "settings": {"type": "object", "values": count}, "assumes": _list(TEXT, 0, 20),
        "profile": _object({}, {name: count for name in QP_FIELDS if name != "state"}), "file": TEXT, "line": count,
        "steps": STEPS})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Vectors of mrcnic (docs/reference/vectors.md)",
        "license": "SPDX-License-Identifier: Apache-2.0",
        **_object({"vectors": _list({"$ref": "#/$defs/vector"}, 0, 100_000)}, {"license": TEXT, "note": TEXT}),
        "$defs": {"vector": vector, "steps": _list({"anyOf": statements}), "value": _values(),
                  "pattern": _object({"kind": _enum(*fields.KINDS), "where": _list(where, 0, 64)},
                                     {"ports": _list(PORT, 0, 8), "qp": {"type": "string", "pattern": "^([A-Za-z_][A-Za-z0-9_]*|\\*)$"}})}}


# ---- the validator --------------------------------------------------------------------------------------------------

class Validator:
    """Checks a value against the schema; the first thing that is wrong is a VectorError with its path."""

    def __init__(self, name):
        self.name, self.root, self.nodes = name, schema(), 0

    def fail(self, path, sentence):
        raise VectorError(f"{self.name}: {path or 'the file'}: {sentence}",
                          "Vectors are made by 'mrc vectors export'; conformance/schema/vector.json is their schema.")

    def check(self, value, shape, path="", depth=0):
        self.nodes += 1
        if depth > MAX_DEPTH or self.nodes > MAX_NODES:
            self.fail(path[:80], f"more than {MAX_DEPTH} levels or {MAX_NODES} values.")
        if "$ref" in shape:
            name = shape["$ref"].rsplit("/", 1)[1]
            if name == "value":
                self._value(value, path, depth)
                return
            shape = self.root["$defs"][name]
        if "anyOf" in shape:
            self._any(value, shape["anyOf"], path, depth)
            return
        if "enum" in shape:
            if isinstance(value, (dict, list)) or isinstance(value, bool) or value not in shape["enum"]:
                self.fail(path, f"{_short(value)} is none of {', '.join(map(str, shape['enum']))}.")
            return
        kind = shape.get("type")
        if kind == "object":
            self._object(value, shape, path, depth)
        elif kind == "array":
            self._array(value, shape, path, depth)
        elif kind == "string":
            self._string(value, shape, path)
        elif kind == "integer":
            if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= 1 << 128 or \
                    value < shape.get("minimum", value) or value > shape.get("maximum", value):
                self.fail(path, f"{_short(value)} is no whole number within its limits.")
        elif kind == "boolean" and not isinstance(value, bool):
            self.fail(path, f"{_short(value)} is neither true nor false.")
        elif kind == "null" and value is not None:
            self.fail(path, f"{_short(value)} is not null.")

    def _any(self, value, shapes, path, depth):
        """Told apart by the word of `do` or `kind`, if there is one; else the last one speaks."""
        for key in ("do", "kind"):
            if isinstance(value, dict) and isinstance(value.get(key), str):
                fitting = [s for s in shapes if value[key] in s.get("properties", {}).get(key, {}).get("enum", ())]
                known = [word for s in shapes for word in s.get("properties", {}).get(key, {}).get("enum", ())]
                if known and not fitting:
                    self.fail(path, f"{_short(value[key])} is none of {', '.join(known)}.")
                if len(fitting) == 1:
                    self.check(value, fitting[0], path, depth)
                    return
        error = None
        for shape in shapes:
            try:
                self.check(value, shape, path, depth + 1)
                return
            except VectorError as caught:
                error = caught
        raise error

    def _object(self, value, shape, path, depth):
        if not isinstance(value, dict):
            self.fail(path, f"{_short(value)} is no object.")
        properties = shape.get("properties", {})
        for key in shape.get("required", ()):
            if key not in value:
                self.fail(path, f"'{key}' is missing.")
        for key, inner in value.items():
            if key in properties:
                self.check(inner, properties[key], f"{path}.{key}", depth + 1)
            elif "values" in shape:
                self.check(inner, shape["values"], f"{path}.{_short(key)}", depth + 1)
            elif not shape.get("additionalProperties", True):
                self.fail(path, f"{_short(key)} is unknown.")

    def _array(self, value, shape, path, depth):
        if not isinstance(value, list) or not shape.get("minItems", 0) <= len(value) <= shape.get("maxItems", 1 << 30):
            self.fail(path, f"{_short(value)} is no list of {shape.get('minItems', 0)} to {shape.get('maxItems')} values.")
        for index, inner in enumerate(value):
            self.check(inner, shape.get("items", {}), f"{path}[{index}]", depth + 1)

    def _string(self, value, shape, path):
        if not isinstance(value, str) or len(value) > shape.get("maxLength", 30_000) or \
                ("pattern" in shape and not re.fullmatch(shape["pattern"].strip("^$"), value)):
            self.fail(path, f"{_short(value)} is no text that belongs here.")

    def _value(self, value, path, depth):
        """Values by hand: they are most of a vector, and nest."""
        self.nodes += 1
        if depth > MAX_DEPTH:
            self.fail(path[:80], f"more than {MAX_DEPTH} levels.")
        if isinstance(value, int) and not isinstance(value, bool):
            self.check(value, {"type": "integer"}, path, depth)
            return
        if not isinstance(value, dict):
            self.fail(path, f"{_short(value)} is no value.")
        for key, handler in (("n", self._name), ("idx", self._pair), ("get", self._pair), ("unit", self._unit),
                             ("call", self._call)):
            if key in value:
                for other in value:
                    if other not in (key, "at"):
                        self.fail(path, f"{_short(other)} is unknown.")
                handler(key, value[key], f"{path}.{key}", depth + 1)
                return
        shapes = [s for s in _VALUES["anyOf"] if "properties" in s and
                  ("of" in value) == ("of" in s["properties"]) and
                  ("of" in value or value.get("op") in s["properties"].get("op", {}).get("enum", ()))]
        if not shapes:
            self.fail(path, "this is no value.")
        self._object(value, shapes[0], path, depth)

    def _name(self, _, inner, path, depth):
        self.check(inner, WORD, path, depth)

    def _pair(self, key, inner, path, depth):
        if not isinstance(inner, list) or len(inner) != 2:
            self.fail(path, "two values belong here.")
        name, value = inner if key == "idx" else (inner[1], inner[0])
        if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9_.]{1,64}", name):
            self.fail(path, f"{_short(name)} is no name.")
        self._value(value, path, depth)

    def _unit(self, _, inner, path, depth):
        if not isinstance(inner, list) or len(inner) != 2 or inner[1] not in ("rtt", "lat", "rto") or \
                not re.fullmatch(r"\d{1,12}(/\d{1,12})?", str(inner[0])) or re.search(r"/0+$", str(inner[0])):
            self.fail(path, "a number and one of rtt, lat, rto belong here.")

    def _call(self, _, inner, path, depth):
        if not isinstance(inner, list) or len(inner) != 2 or inner[0] not in FUNCTIONS or \
                not isinstance(inner[1], list) or len(inner[1]) > 16:
            self.fail(path, "a function and its values belong here.")
        for index, value in enumerate(inner[1]):
            self._value(value, f"{path}[{index}]", depth)


_VALUES = _values()


def _short(value):
    text = repr(value) if not isinstance(value, (dict, list)) else "an object" if isinstance(value, dict) else "a list"
    text = "".join(char if char.isprintable() else "?" for char in text)
    return text if len(text) <= 40 else text[:37] + "..."


def load_vectors(name, data):
    """The vectors of a JSON file, checked. data: bytes."""
    validator = Validator(name)
    if len(data) > MAX_BYTES:
        validator.fail("", f"{len(data)} bytes; at most {MAX_BYTES} are read.")
    try:
        body = json.loads(data)
    except (ValueError, RecursionError) as error:
        validator.fail("", f"no JSON: {str(error)[:120]}.")
    if isinstance(body, list):
        body = {"vectors": body}
    elif isinstance(body, dict) and "vectors" not in body and "id" in body:
        body = {"vectors": [body]}
    validator.check(body, validator.root)
    seen = set()
    for index, vector in enumerate(body["vectors"]):
        if vector["id"] in seen:
            validator.fail(f".vectors[{index}]", f"the id {vector['id']} is used twice.")
        seen.add(vector["id"])
        _paths(validator, vector["steps"], f".vectors[{index}].steps")
    return body["vectors"]


def _paths(validator, node, path):
    """Every path of a field exists."""
    if isinstance(node, dict):
        for key in ("field", "by"):
            if isinstance(node.get(key), str) and "." in node[key] and field_info(node[key]) is None:
                validator.fail(path, f"there is no field {_short(node[key])}.")
        for entry in node.get("raw", ()) if isinstance(node.get("raw"), list) else ():
            if not isinstance(entry[0], str) or field_info(entry[0]) is None:
                validator.fail(path, f"there is no field {_short(entry[0])}.")
            validator.check(entry[1], VALUE, path)
        for key, inner in node.items():
            _paths(validator, inner, f"{path}.{key}")
    elif isinstance(node, list):
        for index, inner in enumerate(node):
            _paths(validator, inner, f"{path}[{index}]")


