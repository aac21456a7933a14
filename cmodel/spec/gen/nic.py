# SPDX-License-Identifier: Apache-2.0
"""nic.yaml: a row per block. Reads and checks it; the writers are nic_sv.py, nic_cpp.py and nic_docs.py."""
import re
from dataclasses import dataclass, field as dc_field

from . import csr as csr_mod
from .model import SpecError, camel, keys

GROUPS = ("send", "receive", "control", "rare", "rdreq", "desc", "line")
KINDS = ("stream", "fifo", "own")


@dataclass
class Source:
    """Bits of a register."""
    reg: dict
    lsb: int
    width: int
    field: dict = None


@dataclass
class Value:
    """What blocks call a field of a register, or several of them."""
    name: str
    sources: list  # first on top, or first at index 0 of an array
    array: bool
    doc: str
    enum: object = None  # of streams.yaml: what the model calls the value's type

    @property
    def width(self):
        return self.sources[0].width if self.array else sum(s.width for s in self.sources)

    @property
    def reset(self):
        """Reset of the value, of an array a list."""
        one = [s.reg["reset"] >> s.lsb & ((1 << s.width) - 1) for s in self.sources]
        if self.array:
            return one
        total = 0
        for source, value in zip(self.sources, one):
            total = total << source.width | value
        return total


@dataclass
class Stream:
    """A stream of streams.yaml with its consumer."""
    name: str
    struct: object
    lane: bool          # one per plane
    consumer: str = ""  # block, or host
    port: str = ""
    index: int = None   # of several on one port
    depth: object = 2
    group: str = "rare"
    kind: str = "stream"
    by: str = ""
    ready: dict = None
    unpacked: bool = False

    @property
    def member(self):
        return self.name.replace(".", "_")

    @property
    def producer(self):
        return self.name.split(".")[0]

    @property
    def suffix(self):
        return self.name.split(".")[1]

    @property
    def cname(self):
        return camel(self.name)


@dataclass
class Block:
    name: str
    doc: str
    params: list
    lane: bool
    bug: bool
    inputs: dict = dc_field(default_factory=dict)   # port -> [Stream]
    outputs: list = dc_field(default_factory=list)  # [Stream]
    values: list = dc_field(default_factory=list)
    waits: dict = dc_field(default_factory=dict)    # port, cfg or a name -> what it waits for, as in nic.yaml
    cfg: list = None
    pulses: dict = dc_field(default_factory=dict)   # name -> register
    levels: dict = dc_field(default_factory=dict)   # port -> (block, name, slice)
    drives: dict = dc_field(default_factory=dict)   # name -> width, or the parameter that is it
    watches: dict = dc_field(default_factory=dict)  # port -> (Stream, fields)
    wires: dict = dc_field(default_factory=dict)

    @property
    def cname(self):
        return camel(self.name)


class Nic:
    def __init__(self, spec):
        self.spec = spec
        data = spec.nic_yaml
        keys("nic.yaml", data, {"values", "status", "unread", "host", "blocks", "flow"}, ["blocks", "flow"])
        self.registers = csr_mod.registers(spec)
        self.tables = {t["name"] for t in csr_mod.tables(spec)}
        self.by_name = {r["name"]: r for r in self.registers}
        self.status = [self.register("nic.yaml: status", n) for n in data.get("status") or []]
        for r in self.status:
            if r["access"] not in ("ro", "w1c", "w1s"):
                raise SpecError(f"nic.yaml: status: {r['name']} is '{r['access']}', must be ro, w1c or w1s")
        self.values = self._values(data.get("values") or {})
        self.streams = {}
        for lane, group in ((False, "core"), (True, "lane")):
            for b in spec.streams[group]:
                self.streams[b.name] = Stream(b.name, b.struct, lane)
        host = data.get("host") or {}
        keys("nic.yaml: host", host, {"in", "out"})
        self.host_out = host.get("out") or {}
        self.host_in = host.get("in") or {}
        self.blocks = {name: self._block(name, entry) for name, entry in data["blocks"].items()}
        self._connect()
        self._levels()
        self._waits()
        self._counters()
        self.unread = data.get("unread") or []
        for name in self.unread:
            if name not in self.pulse_of:
                raise SpecError(f"nic.yaml: unread: {name} is no counter")
        self.flow = list(data["flow"])
        for name in self.flow:
            self.stream("nic.yaml: flow", name)
        for name in self.streams:
            if self.flow.count(name) != 1:
                raise SpecError(f"nic.yaml: flow: {name} stands there {self.flow.count(name)} times, must be once")

    # ---- looking up

    def register(self, where, name):
        if name not in self.by_name:
            raise SpecError(f"{where}: csr.yaml has no register '{name}'")
        return self.by_name[name]

    def stream(self, where, name):
        if name not in self.streams:
            raise SpecError(f"{where}: streams.yaml has no stream '{name}'")
        return self.streams[name]

    # ---- values

    def _source(self, where, text):
        name, _, part = str(text).partition(".")
        reg = self.register(where, name)
        if reg["access"] != "rw":
            raise SpecError(f"{where}: {name} is '{reg['access']}'; a value is a register that software writes")
        if not part:
            if reg["fields"]:
                raise SpecError(f"{where}: {name} has fields; name one of them")
            return Source(reg, 0, 32)
        for f in reg["fields"]:
            if f["name"] == part:
                return Source(reg, f["lsb"], f["width"], f)
        raise SpecError(f"{where}: register {name} of csr.yaml has no field '{part}'")

    def _values(self, entries):
        out = {}
        for f in self.by_name.get("CTRL", {"fields": []})["fields"]:
            out[f["name"]] = Value(f["name"], [Source(self.by_name["CTRL"], f["lsb"], f["width"], f)], False, f["doc"])
        for name, entry in entries.items():
            where = f"nic.yaml: value {name}"
            keys(where, entry, {"from", "array", "doc", "enum"}, ["from"])
            if name in out and entry["from"] != f"CTRL.{name}":
                raise SpecError(f"{where}: CTRL has a field of that name")
            given = entry["from"] if isinstance(entry["from"], list) else [entry["from"]]
            sources = [self._source(where, text) for text in given]
            array = bool(entry.get("array", False))
            if array and len({s.width for s in sources}) != 1:
                raise SpecError(f"{where}: the elements of an array have one width")
            if len(sources) == 1 and sources[0].reg["count"] > 1:
                array = True
                reg = sources[0].reg
                sources = [Source(reg, 0, 32) for _ in range(reg["count"])]
            doc = entry.get("doc") or (sources[0].field or {}).get("doc") or sources[0].reg["doc"]
            out[name] = Value(name, sources, array, doc, self._enum(where, entry.get("enum")))
            if out[name].enum and (array or out[name].width != out[name].enum.width):
                raise SpecError(f"{where}: the value has {out[name].width} bits, {entry['enum']} has "
                                f"{out[name].enum.width}")
        return out

    def _enum(self, where, name):
        if name is None:
            return None
        if name not in self.spec.enums:
            raise SpecError(f"{where}: streams.yaml has no enum '{name}'")
        return self.spec.enums[name]

    def address(self, value, index):
        """Byte address of the register behind source `index` of a value."""
        reg = value.sources[index].reg
        return reg["offset"] + (index * reg["stride"] if reg["count"] > 1 else 0)

    # ---- blocks

    def _block(self, name, entry):
        where = f"nic.yaml: block {name}"
        keys(where, entry, {"doc", "params", "lane", "bug", "in", "waits", "csr", "cfg", "pulses", "levels", "drives",
                            "watches", "wires", "walks"}, ["doc"])
        b = Block(name, entry["doc"], entry.get("params") or [], bool(entry.get("lane", False)),
                  bool(entry.get("bug", True)))
        known = {p["name"] for p in self.spec.presets_yaml.get("parameters") or []} | {"NumAcks"}
        for p in b.params:
            if p not in known:
                raise SpecError(f"{where}: presets.yaml has no parameter '{p}'")
        for port, given in (entry.get("in") or {}).items():
            b.inputs[port] = self._input(f"{where}.in.{port}", b, port, given)
        for value in entry.get("csr") or []:
            if value not in self.values:
                raise SpecError(f"{where}: csr: there is no value '{value}'; "
                                "it is a field of CTRL, or stands in nic.yaml's values")
            if self.values[value] in b.values:
                raise SpecError(f"{where}: csr: '{value}' is listed twice")
            b.values.append(self.values[value])
        b.waits = entry.get("waits") or {}
        if "cfg" in entry:
            b.cfg = entry["cfg"]
            for t in b.cfg:
                if t not in self.tables:
                    raise SpecError(f"{where}: cfg: csr.yaml has no table '{t}'")
        for pulse, counter in (entry.get("pulses") or {}).items():
            reg = self.register(f"{where}.pulses.{pulse}", counter)
            if reg["access"] != "ro" or reg in self.status:
                raise SpecError(f"{where}.pulses.{pulse}: {counter} is no counter")
            if (reg["count"] > 1) != b.lane:
                raise SpecError(f"{where}.pulses.{pulse}: {counter} has {reg['count']} instances, the block "
                                f"{'one per plane' if b.lane else 'one'}")
            b.pulses[pulse] = reg
        b.drives = {n: w if w in b.params else self.spec.number(f"{where}.drives.{n}", w)
                    for n, w in (entry.get("drives") or {}).items()}
        for port, source in (entry.get("levels") or {}).items():
            found = re.fullmatch(r"(\w+)\.(\w+)(\[[^]]*\])?", str(source))
            if not found:
                raise SpecError(f"{where}.levels.{port}: '{source}' is no BLOCK.NAME")
            b.levels[port] = (found[1], found[2], found[3] or "")
        for port, given in (entry.get("watches") or {}).items():
            b.watches[port] = self._watched(f"{where}.watches.{port}", given)
        b.wires = entry.get("wires") or {}
        return b

    def _watched(self, where, given):
        keys(where, given, {"stream", "fields"}, ["stream"])
        s = self.stream(where, given["stream"])
        fields = {f.name: f for f in s.struct.fields}
        if s.lane:
            raise SpecError(f"{where}: {s.name} is a stream of the lanes; only those of the core are watched")
        for f in given.get("fields") or []:
            if f not in fields:
                raise SpecError(f"{where}: {s.struct.name} has no field '{f}'")
        return s, list(given.get("fields") or [])

    def _input(self, where, block, port, given):
        keys(where, given, {"from", "depth", "group", "kind", "by", "ready", "unpacked"}, ["from"])
        several = isinstance(given["from"], list)
        names = given["from"] if several else [given["from"]]
        out = []
        for i, name in enumerate(names):
            s = self.stream(where, name)
            if s.consumer:
                raise SpecError(f"{where}: {name} goes to {s.consumer} already")
            if s.producer in self.spec_lanes() and not s.lane:
                raise SpecError(f"{where}: {name} is a stream of the core, its producer a lane")
            s.consumer, s.port = block.name, port
            s.index = i if several else None
            s.depth = given.get("depth", 2)
            for key, allowed in (("group", GROUPS), ("kind", KINDS)):
                value = given.get(key, getattr(s, key))
                value = value[i] if isinstance(value, list) else value
                if value not in allowed:
                    raise SpecError(f"{where}: {key} '{value}' is unknown; use one of {', '.join(allowed)}")
                setattr(s, key, value)
            s.by = given.get("by", "")
            s.ready = given.get("ready")
            s.unpacked = bool(given.get("unpacked", False))
            fields = {f.name for f in s.struct.fields}
            for f in [s.by] + ([s.ready["field"]] if s.ready else []):
                if f and f not in fields:
                    raise SpecError(f"{where}: {s.struct.name} has no field '{f}'")
            if bool(s.by) != (block.lane and not s.lane):
                raise SpecError(f"{where}: a stream from the core to the lanes, and only that, needs 'by'")
            out.append(s)
        return out

    def spec_lanes(self):
        return {n for n, e in self.spec.nic_yaml["blocks"].items() if isinstance(e, dict) and e.get("lane")}

    def _connect(self):
        for name in self.host_in:
            s = self.stream("nic.yaml: host.in", name)
            if s.consumer:
                raise SpecError(f"nic.yaml: host.in: {name} goes to {s.consumer} already")
            s.consumer, s.kind, s.depth = "host", "own", 0
        for s in self.streams.values():
            if s.producer == "host":
                if s.suffix not in self.host_out:
                    raise SpecError(f"nic.yaml: host.out: {s.name} of streams.yaml has no pins")
            elif s.producer not in self.blocks:
                raise SpecError(f"nic.yaml: {s.name} of streams.yaml comes from '{s.producer}', which is no block")
            else:
                self.blocks[s.producer].outputs.append(s)
            if not s.consumer:
                raise SpecError(f"nic.yaml: nobody takes {s.name} of streams.yaml; name it under 'in' of a block")

    def _levels(self):
        for b in self.blocks.values():
            for port, (source, name, _) in b.levels.items():
                if source == "nic":
                    continue
                if source not in self.blocks or name not in self.blocks[source].drives:
                    raise SpecError(f"nic.yaml: block {b.name}.levels.{port}: "
                                    f"'{name}' does not stand in 'drives' of '{source}'")

    def waits(self, b, name):
        """What (block, port) waits for: [(block, port)]; ("host", stream) and ("port", "pins") wait for nothing."""
        out = []
        for other in b.waits[name]:
            where = f"nic.yaml: block {b.name}.waits.{name}"
            stream = next((s for s in b.outputs if s.suffix == other), None)
            if other == "all cfg":
                out += [(x.name, "cfg") for x in self.blocks.values() if x.cfg is not None]
            elif other == "pins":
                out.append(("port", "pins"))
            elif "." in other:
                block, port = other.split(".", 1)
                if block not in self.blocks or port not in self.blocks[block].waits:
                    raise SpecError(f"{where}: '{other}' does not stand in 'waits' of '{block}'")
                out.append((block, port))
            elif stream:
                out.append((stream.consumer, stream.port or stream.suffix))
            elif other in b.waits:
                out.append((b.name, other))
            else:
                raise SpecError(f"{where}: '{other}' is neither an output of the block nor a wait of it")
        return out

    def _waits(self):
        """Every input and every cfg says what it waits for, and no two of them wait for each other."""
        if not any(b.waits for b in self.blocks.values()):
            return  # a sample of a test
        edges = {}
        for b in self.blocks.values():
            for port in [*b.inputs, *(["cfg"] if b.cfg is not None else [])]:
                if port not in b.waits:
                    raise SpecError(f"nic.yaml: block {b.name}.waits: '{port}' is missing; [] if it waits for nothing")
            edges.update({(b.name, name): self.waits(b, name) for name in b.waits})
        done, path = set(), []

        def walk(node):
            if node in path:
                circle = " -> ".join(".".join(n) for n in [*path[path.index(node):], node])
                raise SpecError(f"nic.yaml: waits: a circle, in which each waits for the next: {circle}")
            if node in done or node not in edges:
                return
            path.append(node)
            for other in edges[node]:
                walk(other)
            done.add(path.pop())

        for node in edges:
            walk(node)

    def _counters(self):
        pulsed = {}
        for b in self.blocks.values():
            for pulse, reg in b.pulses.items():
                if reg["name"] in pulsed:
                    raise SpecError(f"nic.yaml: block {b.name}.pulses.{pulse}: "
                                    f"{reg['name']} counts {pulsed[reg['name']]} already")
                pulsed[reg["name"]] = f"{b.name}.{pulse}"
        self.counters = sorted((r for r in self.registers if r["name"] in pulsed), key=lambda r: r["offset"])
        at = self.counters[0]["offset"] if self.counters else 0
        for r in self.counters:
            if r["offset"] != at:
                raise SpecError(f"nic.yaml: counters: 0x{at:03x} of csr.yaml is missing before {r['name']}; counters "
                                "stand in one row of addresses, and each has a pulse")
            at += 4 * r["count"]
        self.pulse_of = pulsed
        self.constants = [r for r in self.registers if r["access"] == "ro" and r not in self.counters
                          and r not in self.status]
        for r in self.constants:
            if r["name"].startswith("CNT_"):
                raise SpecError(f"nic.yaml: no block pulses {r['name']} of csr.yaml")

    # ---- what the writers ask

    def seen(self):
        """Blocks with register values, csr (whose values are its own) left out."""
        return [b for b in self.blocks.values() if b.values and b.name != "csr"]

    def acks(self):
        return [b for b in self.blocks.values() if b.cfg is not None]

    def used(self):
        """Values that blocks other than csr see, in the order of `values`."""
        names = {v.name for b in self.seen() for v in b.values}
        return [v for v in self.values.values() if v.name in names]
