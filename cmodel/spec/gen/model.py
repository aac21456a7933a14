# SPDX-License-Identifier: Apache-2.0
"""Reads the YAML files and checks them; everything behind works on these objects."""
import ast
import re
from dataclasses import dataclass, field as dc_field

import yaml


class SpecError(Exception):
    """A YAML file that cannot be used; the text names the file, the place and the remedy."""


def camel(name):
    """tx_sched.grant -> TxSchedGrant; QPCTX and Data stay readable: QPCTX -> Qpctx, RxPort -> RxPort."""
    parts = [p for p in re.split(r"[^A-Za-z0-9]+", name) if p]
    out = ""
    for part in parts:
        if part.isupper() and len(part) > 1:
            part = part.lower()
        out += part[0].upper() + part[1:]
    return out


def type_camel(name):
    """kick_t -> Kick, pkt_kind_e -> PktKind."""
    return camel(re.sub(r"_[te]$", "", name))


def keys(where, entry, allowed, required=()):
    """Refuses unknown and missing keys."""
    if not isinstance(entry, dict):
        raise SpecError(f"{where}: expected a mapping, got {entry!r}")
    for key in entry:
        if key not in allowed:
            raise SpecError(f"{where}: unknown key '{key}'; known are {', '.join(sorted(allowed))}")
    for key in required:
        if key not in entry:
            raise SpecError(f"{where}: key '{key}' is missing")


@dataclass
class Enum:
    name: str
    width: int
    doc: str
    values: dict

    @property
    def cname(self):
        return type_camel(self.name)

    @property
    def ctype(self):
        return "uint8_t" if self.width <= 8 else "uint16_t" if self.width <= 16 else "uint32_t"


@dataclass
class Type:
    """A whole number that several fields hold: in the RTL a typedef, in C++ an alias."""
    name: str
    width: int
    doc: str

    @property
    def cname(self):
        return type_camel(self.name)


@dataclass
class Field:
    name: str
    width: int
    doc: str
    lsb: int = 0
    enum: Enum = None
    struct: "Struct" = None
    type: Type = None
    extra: dict = dc_field(default_factory=dict)


@dataclass
class Struct:
    name: str
    doc: str
    fields: list
    width: int

    @property
    def cname(self):
        return type_camel(self.name)

    @property
    def short(self):
        return re.sub(r"_t$", "", self.name)

    @property
    def words(self):
        return (self.width + 31) // 32

    def leaves(self, prefix="", base=0):
        """Yields (path, lsb, Field) of every plain field, first field first."""
        for f in self.fields:
            if f.struct:
                yield from f.struct.leaves(prefix + f.name + ".", base + f.lsb)
            else:
                yield prefix + f.name, base + f.lsb, f


@dataclass
class Boundary:
    name: str
    struct: Struct
    offset: int  # in 32-bit words

    @property
    def member(self):
        return self.name.replace(".", "_")

    @property
    def cname(self):
        return camel(self.name)


class Loader(yaml.SafeLoader):
    """Refuses a key that stands twice in a mapping, of which YAML would take the last."""

    def construct_mapping(self, node, deep=False):
        names = [self.construct_object(key, deep) for key, _ in node.value]
        for key, (at, _) in zip(names, node.value):
            if names.count(key) > 1:
                raise yaml.constructor.ConstructorError(None, None, f"'{key}' stands there twice", at.start_mark)
        return super().construct_mapping(node, deep)


def load(path):
    try:
        data = yaml.load(path.read_text(encoding="utf-8"), Loader)
    except FileNotFoundError:
        raise SpecError(f"{path.name}: file is missing; it belongs beside generate.py") from None
    except yaml.YAMLError as error:
        raise SpecError(f"{path.name}: not valid YAML: {error}") from None
    return data or {}


class Spec:
    def __init__(self, folder):
        self.folder = folder
        self.constants = {}
        self.types = {}
        self.enums = {}
        self.structs = {}
        self.streams = {"core": [], "lane": []}
        self._words("protocol.yaml", load(folder / "protocol.yaml"), {"constants", "enums"})
        self.protocol = (set(self.constants), set(self.enums))  # names that are words of the protocol
        self._streams(load(folder / "streams.yaml"))
        self.presets_yaml = load(folder / "presets.yaml")
        self.csr_yaml = load(folder / "csr.yaml")
        self.headers_yaml = load(folder / "headers.yaml")
        self.nic_yaml = load(folder / "nic.yaml")
        self.bugs_yaml = load(folder / "bugs.yaml")
        self.rules_yaml = load(folder / "rules.yaml")
        self.bins_yaml = load(folder / "bins.yaml")
        self.fabric_profiles_yaml = load(folder / "fabric_profiles.yaml")

    # ---- expressions ------------------------------------------------------------------------------------------------

    def number(self, where, value):
        """An integer, or an expression of integers, constants and widths of types with + - * // ** ( ) and clog2()."""
        if isinstance(value, bool) or not isinstance(value, (int, str)):
            raise SpecError(f"{where}: expected a number or an expression, got {value!r}")
        if isinstance(value, int):
            return value
        try:
            return self._eval(ast.parse(value, mode="eval").body)
        except (SyntaxError, ValueError, KeyError) as error:
            raise SpecError(f"{where}: cannot evaluate '{value}': {error}; "
                            "use integers and names from constants") from None

    def _eval(self, node):
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return node.value
        if isinstance(node, ast.Name):
            if node.id in self.types:
                return self.types[node.id].width
            if node.id not in self.constants:
                raise KeyError(f"unknown constant {node.id}")
            return self.constants[node.id][0]
        if isinstance(node, ast.BinOp):
            left, right = self._eval(node.left), self._eval(node.right)
            ops = {ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b,
                   ast.FloorDiv: lambda a, b: a // b, ast.Pow: lambda a, b: a ** b,
                   ast.LShift: lambda a, b: a << b}
            if type(node.op) in ops:
                return ops[type(node.op)](left, right)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "clog2":
            return (self._eval(node.args[0]) - 1).bit_length()
        raise ValueError("only + - * // ** << ( ) and clog2() are allowed")

    # ---- protocol.yaml, streams.yaml --------------------------------------------------------------------------------

    def _words(self, file, data, allowed):
        """Constants and enums of a file."""
        keys(file, data, allowed)
        for name, entry in (data.get("constants") or {}).items():
            where = f"{file}: constant {name}"
            if isinstance(entry, int):
                entry = {"value": entry}
            keys(where, entry, {"value", "doc"}, ["value"])
            if name in self.constants:
                raise SpecError(f"{where}: is also in protocol.yaml; rename one")
            self.constants[name] = (self.number(where, entry["value"]), entry.get("doc", ""))
        for name, entry in (data.get("enums") or {}).items():
            where = f"{file}: enum {name}"
            if name in self.enums:
                raise SpecError(f"{where}: is also in protocol.yaml; rename one")
            self.enums[name] = self.make_enum(where, name, entry)

    def _streams(self, data):
        self._words("streams.yaml", data, {"constants", "types", "enums", "structs", "streams"})
        for name, entry in (data.get("types") or {}).items():
            where = f"streams.yaml: type {name}"
            if not name.endswith("_t"):
                raise SpecError(f"{where}: the name must end with _t")
            keys(where, entry, {"width", "doc"}, ["width"])
            self.types[name] = Type(name, self.number(where, entry["width"]), entry.get("doc", ""))
        for name, entry in (data.get("structs") or {}).items():
            where = f"streams.yaml: struct {name}"
            if not name.endswith("_t"):
                raise SpecError(f"{where}: the name must end with _t")
            keys(where, entry, {"doc", "fields"}, ["fields"])
            self.structs[name] = self.make_struct(where, name, entry.get("doc", ""), entry["fields"])
        bounds = data.get("streams") or {}
        keys("streams.yaml: streams", bounds, {"core", "lane"})
        for group in ("core", "lane"):
            offset = 0
            for entry in bounds.get(group) or []:
                where = f"streams.yaml: stream {entry.get('name', entry)}"
                keys(where, entry, {"name", "struct", "doc"}, ["name", "struct"])
                if entry["struct"] not in self.structs:
                    raise SpecError(f"{where}: unknown struct '{entry['struct']}'")
                bound = Boundary(entry["name"], self.structs[entry["struct"]], offset)
                if any(b.name == bound.name for b in self.streams[group]):
                    raise SpecError(f"{where}: listed twice")
                self.streams[group].append(bound)
                offset += 1 + bound.struct.words

    def make_enum(self, where, name, entry):
        if not name.endswith("_e"):
            raise SpecError(f"{where}: the name must end with _e")
        keys(where, entry, {"width", "doc", "values"}, ["width", "values"])
        width = self.number(where, entry["width"])
        values = {}
        for key, value in entry["values"].items():
            if not isinstance(key, str):
                raise SpecError(f"{where}: YAML reads the name of value {value} as {key!r}; put it in quotes")
            value = self.number(f"{where}.{key}", value)
            if not 0 <= value < 1 << width:
                raise SpecError(f"{where}.{key}: {value} does not fit {width} bits")
            if value in values.values():
                raise SpecError(f"{where}.{key}: the value {value} is used twice")
            values[key] = value
        return Enum(name, width, entry.get("doc", ""), values)

    def make_struct(self, where, name, doc, entries):
        fields = []
        for entry in entries:
            here = f"{where}.{entry.get('name', entry) if isinstance(entry, dict) else entry}"
            keys(here, entry, {"name", "width", "doc", "enum", "struct", "type"}, ["name"])
            enum = struct = kind = None
            if "enum" in entry:
                if entry["enum"] not in self.enums:
                    raise SpecError(f"{here}: unknown enum '{entry['enum']}'")
                enum = self.enums[entry["enum"]]
                width = enum.width
            elif "struct" in entry:
                if entry["struct"] not in self.structs:
                    raise SpecError(f"{here}: unknown struct '{entry['struct']}'; define it above")
                struct = self.structs[entry["struct"]]
                width = struct.width
            elif "type" in entry:
                if entry["type"] not in self.types:
                    raise SpecError(f"{here}: unknown type '{entry['type']}'")
                kind = self.types[entry["type"]]
                width = kind.width
            elif "width" in entry:
                width = self.number(here, entry["width"])
            else:
                raise SpecError(f"{here}: needs width, type, enum or struct")
            if "width" in entry and self.number(here, entry["width"]) != width:
                raise SpecError(f"{here}: width {entry['width']} differs from its type's {width}")
            if width < 1:
                raise SpecError(f"{here}: width must be at least 1, is {width}")
            if any(f.name == entry["name"] for f in fields):
                raise SpecError(f"{here}: field listed twice")
            fields.append(Field(entry["name"], width, entry.get("doc", ""), 0, enum, struct, kind))
        lsb = 0
        for f in reversed(fields):
            f.lsb = lsb
            lsb += f.width
        return Struct(name, doc, fields, lsb)
