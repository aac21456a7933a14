# SPDX-License-Identifier: Apache-2.0
"""What the device did, as scripts see it: frames and completions in the order in which they reached the tester, and
whether one fits a pattern."""
from fractions import Fraction

from . import fields
from .device import words as said
from .errors import MrcError
from .packets import HEADERS, OPCODE_NAMES, OPCODES, WRITES, snake, wrap

SETH_BITS = 64


class Unbound(MrcError):
    """A field that this record does not have."""


class Message:
    """A message that the tester sends, cut into packets."""

    def __init__(self, name, first, count, step, msn, rqmsn):
        self.name, self.first, self.count, self.step, self.msn, self.rqmsn = name, first, count, step, msn, rqmsn
        self.last = first + count - 1

    def packet(self, index):
        return self.first + index


class Record:
    """A frame or completion of the device. t: its last byte, at the tester; ps."""

    def __init__(self, bed, index, kind, t, t_first, plane=None, packet=None, entry=None, size=0, of=None):
        self.bed, self.index, self.kind, self.t, self.t_first = bed, index, kind, t, t_first
        self.plane, self.packet, self.entry, self.size = plane, packet, entry, size
        self.of = of                                # the QP whose it is; None: of none that is known
        self.qp = of or (bed.qps[0] if bed else None)  # whose numbers count
        self.bound = False
        self.lost = False

    def value(self, path):
        """The value of a path of fields.py. Unbound: it has none."""
        if path[0] == "@":
            getter = COMPUTED.get(path)
            value = getter(self) if getter else None
        else:
            value = self.packet.get(path) if self.packet else None
        if value is None:
            raise Unbound(f"this {self.kind} has no {path}.")
        return value

    def field(self, word):
        path = fields.path_of(self.kind, word)
        if path is None:
            raise Unbound(f"a {self.kind} has no field '{word}'.")
        return self.value(path)

    def reports(self, psn):
        """Does this SACK say that the PSN has arrived?"""
        if self.kind != "sack":
            raise Unbound(f"a {self.kind} reports no PSN.")
        return psn <= self.value("@cack") or self.bit(psn)

    def bit(self, psn):
        at = psn - self.value("@base")
        return 0 <= at < SETH_BITS and bool(self.packet.get("seth.sack_bitmap") >> at & 1)

    def text(self):
        """One line for findings."""
        if self.kind == "cqe":
            words = [f"{key} {said(self.entry[key], 20)}" for key in ("status", "wr_id", "imm", "rqmsn") if key in self.entry]
            return f"{self.t / 1e6:.3f} us  cqe {'receive' if self.entry.get('receive') else 'send'} {' '.join(words)}"
        words = [f"{self.t / 1e6:.3f} us  p{self.plane} > {self.name()}"]
        if self.lost:
            words.append("(swallowed by the network)")
        for word in SHOWN.get(self.kind, ()):
            try:
                words.append(f"{word} {show(fields.path_of(self.kind, word), self.field(word), self.bed, self.qp)}")
            except Unbound:
                pass
        if self.kind == "sack":
            bits = self.packet.get("seth.sack_bitmap")
            words.append(f"bitmap {bits:#x} from {show('@psn', self.value('@base'), self.bed, self.qp)}")
        return " ".join(words)

    def name(self):
        if self.kind == "write":
            return snake(OPCODE_NAMES[self.packet.opcode])
        return self.kind


SHOWN = {"write": ("psn", "msn", "rtx", "ackreq", "ev", "bytes", "imm"), "sack": ("cack", "trigger", "pr", "probe", "m",
         "ooo", "mpr", "entropy"), "nack": ("reason", "psn", "entropy"), "ack": ("psn", "msn"),
         "nak": ("psn", "msn", "syndrome"), "probe": ("id", "ev"), "request": ("op", "id", "mask"),
         "response": ("op", "id")}


def show(path, value, bed, qp=None):
    words = fields.WORDS.get(path)
    if words:
        for word, number in words.items():
            if number == value:
                return word
    if path in ("@psn", "@cack", "@trigger", "@nack_psn", "@base") and bed is not None:
        return (qp or bed.own).name_of_psn(value)
    if path in ("@ev", "seth.entropy", "neth.entropy"):
        return bed.name_of_ev(value) if bed is not None else f"{value:#010x}"
    return str(value)


def kind_of(packet):
    code = packet.opcode
    if code in WRITES:
        return "write"
    if code == OPCODES["Ack"]:
        return "nak" if packet.get("aeth.syndrome", 0) >> 5 == 3 else "ack"
    return {OPCODES["Sack"]: "sack", OPCODES["Nack"]: "nack", OPCODES["ProbeRequest"]: "probe",
            OPCODES["EndpointRequest"]: "request", OPCODES["EndpointResponse"]: "response"}.get(code, "any")


# ---- computed fields ------------------------------------------------------------------------------------------------

def _psn(record):
    raw = record.packet.get("bth.psn")
    if record.kind == "write":
        return wrap(raw, record.qp.sq_psn, 24)
    return wrap(raw, record.qp.rq_psn, 24)


def _cack(record):
    return wrap(record.packet.get("seth.cack_psn"), record.qp.rq_psn, 24)


def _trigger(record):
    return None if record.packet.get("seth.pr") else _cack(record) + record.packet.get("seth.ack_psn_offset")


def _probe(record):
    return record.packet.get("seth.ack_psn_offset") & 0xFFFF if record.packet.get("seth.pr") else None


def _reserved(record):
    """All reserved bits together: 0, or there is a 1 among them."""
    total = 0
    high = record.bed is not None and record.bed.layout.eeth_high  # op in bits 5:4
    for name, values in record.packet.headers.items():
        for entry in HEADERS[name]["fields"]:
            if entry.get("reserved"):
                total |= values[entry["name"]] & (~3 if high and (name, entry["name"]) == ("eeth", "reserved1") else ~0)
    return int(total != 0)


def _data(record):
    return record.bed.posted_data(record)


COMPUTED = {
    "@psn": _psn, "@cack": _cack, "@trigger": _trigger, "@probe": _probe, "@reserved": _reserved, "@data": _data,
    "@base": lambda r: _cack(r) + r.packet.get("seth.sack_offset"),
    "@nack_psn": lambda r: wrap(r.packet.get("neth.nack_psn"), r.qp.rq_psn, 24),
    "@msn": lambda r: wrap(r.packet.get("meth.msn"), r.qp.sq_msn, 16),
    "@ack_msn": lambda r: wrap(r.packet.get("aeth.msn"), r.qp.rq_msn, 24),
    "@ev": lambda r: r.packet.ev, "@plane": lambda r: r.plane, "@size": lambda r: r.size, "@t": lambda r: r.t,
    "@t_first": lambda r: r.t_first, "@lost": lambda r: int(r.lost), "@bytes": lambda r: len(r.packet.payload),
    "@dscp": lambda r: r.packet.outermost().get("dscp"), "@ecn": lambda r: r.packet.outermost().get("ecn"),
    "@icrc": lambda r: int(r.packet.icrc_good), "@endpoint_id": lambda r: r.packet.get("bth.psn") & 0xFFFF,
    "@eeth_op": lambda r: r.bed.layout.op_of(r.packet),
    "@status": lambda r: fields.WORDS["@status"].get(r.entry.get("status")),
    "@receive": lambda r: int(bool(r.entry.get("receive"))), "@wr_id": lambda r: r.entry.get("wr_id"),
    "@imm": lambda r: r.entry.get("imm"), "@cqe_msn": lambda r: r.entry.get("rqmsn"),
    "@qp": lambda r: r.entry.get("qp") if r.entry else r.of.number if r.of else None,
    "@cqe_bytes": lambda r: r.entry.get("bytes"),
}


# ---- patterns -------------------------------------------------------------------------------------------------------

class Fit:
    """A pattern whose values are known: bound at first sight."""

    def __init__(self, pattern, evaluate, of=None):
        self.kind, self.of = pattern["kind"], of
        self.ports = pattern.get("ports")
        self.where = []
        for entry in pattern["where"]:
            alts = [[evaluate(value) for value in alt] for alt in entry["alts"]]
            which = evaluate(entry["which"]) if "which" in entry else None
            self.where.append((entry["field"], entry["op"], alts, which))

    def __call__(self, record):
        if self.kind != "any" and record.kind != self.kind:
            return False
        if self.of is not None and record.of is not None and record.of is not self.of:
            return False
        if self.kind == "any" and record.kind == "cqe":
            return False
        if self.ports and record.plane not in self.ports:
            return False
        return all(self._holds(record, *entry) for entry in self.where)

    def _holds(self, record, path, op, alts, which):
        if op == "any":
            return True
        if path in ("@has", "@lacks"):
            inside = any(all(record.reports(psn) for psn in _span(alt)) for alt in alts)
            return inside == (path == "@has")
        try:
            value = int(record.bit(which)) if path == "@bit" else record.value(path)
        except Unbound:
            return False
        if op in ("<", ">", "<=", ">="):
            other = alts[0][0]
            return {"<": value < other, ">": value > other, "<=": value <= other, ">=": value >= other}[op]
        found = any(alt[0] <= value <= alt[-1] if len(alt) > 1 else _same(path, value, alt[0]) for alt in alts)
        return found == (op == "==")


def _span(alt):
    if len(alt) == 1:
        return alt
    if alt[1] - alt[0] > 1 << 16:
        raise MrcError("a range of more than 65536 PSNs.")
    return range(alt[0], alt[1] + 1)


def _same(path, value, wanted):
    if isinstance(wanted, (int, Fraction)):
        if path in ("seth.entropy", "neth.entropy", "@ev"):
            return value == wanted & 0xFFFFFFFF
        return value == wanted
    return False
