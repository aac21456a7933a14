# SPDX-License-Identifier: Apache-2.0
"""The tester's own NIC: packets in its name, and a responder for the device's WRITEs."""
from . import bed as beds
from . import fields, packets
from .memory import pattern
from .packets import CONSTANTS, OPCODES
from .records import Unbound

DELAY = 1_000_000
CONTROL_EV = 0xE0000200
MAX_AHEAD = 1 << 16


def network(bed, qp, ev, dscp, ecn, plane):
    """Ethernet, IP and UDP of a packet to the device."""
    port, label = bed.layout.ev_fields(ev)
    own, theirs = (bed.layout.address(packets.ip(text), plane) for text in (qp.peer_ip, beds.DUT_IP))
    ip = {"dscp": dscp, "ecn": ecn, "flow_label": label, "src": own, "dst": theirs}
    out = {"eth": {"dst": packets.mac(beds.DUT_MAC), "src": packets.mac(qp.peer_mac)}}
    if bed.vector["encap"] != "ipv6":
        out["outer_ipv6"] = {**ip, "flow_label": 0}
    if bed.vector["encap"] == "srh":
        out["srh"] = {"segments_left": 0, "segment": theirs}
    out["ipv6"] = ip
    out["udp"] = {"src_port": port, "dst_port": bed.layout.port}
    return out


def data_packet(bed, message, index, step):
    """Packet `index` of a message; step: rtx, ackreq, ev, dscp, ecn, plane."""
    last = index == message.count - 1
    imm = message.imm is not None
    if message.count == 1:
        name = "WriteOnlyImm" if imm else "WriteOnly"
    elif last:
        name = "WriteLastImm" if imm else "WriteLast"
    else:
        name = "WriteFirst" if index == 0 else "WriteMiddle"
    rtx = step.get("rtx", 0)
    dscp = step.get("dscp", bed.layout.dscp["rtx" if rtx else "data"])
    qp = message.qp
    headers = network(bed, qp, step["ev"], dscp, step.get("ecn", 2), step.get("plane") or 0)
    stamp = qp.profile["time_stamps"]
    headers["bth"] = {**bed.layout.m, "opcode": OPCODES[name], "p_key": qp.profile["pkey"], "dqp": qp.number, "rtx": rtx, "ts": stamp,
                      "a": step.get("ackreq", 0), "psn": message.packet(index)}
    headers["meth"] = {"msn": message.msn, "rqmsn": message.rqmsn if imm else 0}
    if stamp:
        headers["tseth"] = {"tx_timestamp16": bed.layout.stamp(bed.now), "tsr": bed.layout.tsr, "ftype": 1}
    offset = index * message.step
    headers["reth"] = {"va": message.va + offset, "r_key": message.r_key, "dma_length": message.len}
    if imm and last:
        headers["immdt"] = {"value": message.imm}
    size = min(message.step, message.len - offset)
    return packets.Packet(headers, pattern(message.seq, offset, size))


def control_packet(bed, qp, kind, values, ev, plane):
    """SACK, NACK, ACK, probe, endpoint packet with the given fields (fields.SENDS)."""
    get, layout = values.get, bed.layout
    asks = kind in ("probe", "request")
    dscp = layout.dscp[{"probe": "data", "request": "ep"}.get(kind, "ctl")]
    headers = network(bed, qp, ev, dscp, 2 if asks else 0, plane)
    bth = {**layout.m, "p_key": qp.profile["pkey"], "dqp": qp.number if get("dqp") is None else get("dqp")}
    headers["bth"] = bth
    if kind == "sack":
        cack = get("cack")
        trigger = get("trigger", cack)
        base = get("base", cack + 1)
        bits = get("bitmap", 0)
        for psn in get("has", ()):
            if 0 <= psn - base < 64:
                bits |= 1 << (psn - base)
        bth.update({"opcode": OPCODES["Sack"], "psn": get("psn", cack)})
        headers["seth"] = {"m": get("m", 0), "pr": get("pr", 1 if "probe" in values else 0), "cack_psn": cack,
                           "ack_psn_offset": get("probe", trigger - cack), "entropy": get("entropy", 0),
                           "spdcid": qp.peer_qp, "dpdcid": qp.number, "mpr": get("mpr", 0), "sack_offset": base - cack,
                           "sack_bitmap": bits}
        headers["cc_state"] = {"tx_timestamp16": get("timestamp", 0), "ooo_count": get("ooo", 0),
                               "rcvd_bytes": get("rcvd", 0)}
    elif kind == "nack":
        bth.update({"opcode": OPCODES["Nack"], "psn": get("psn")})
        headers["neth"] = {"reason": get("reason"), "entropy": get("entropy", 0), "spdcid": qp.peer_qp,
                           "dpdcid": qp.number, "nack_psn": get("psn"), "cc_type": CONSTANTS["NethCcType"],
                           "tx_timestamp16": get("timestamp", 0)}
    elif kind in ("ack", "nak"):
        bth.update({"opcode": OPCODES["Ack"], "psn": get("psn")})
        headers["aeth"] = {"syndrome": get("syndrome", fields.SYNDROMES["ack"]), "msn": get("msn")}
    elif kind == "probe":
        bth.update({"opcode": OPCODES["ProbeRequest"], "psn": 0})
        headers["peth"] = {"probe_id": get("id"), "spdcid": qp.peer_qp, "dpdcid": qp.number, "ftype": 1,
                           "tsr": layout.tsr, "tx_timestamp16": get("timestamp", 0)}
    else:
        bth.update({"opcode": OPCODES["EndpointRequest" if kind == "request" else "EndpointResponse"],
                    "psn": get("id"), "dqp": CONSTANTS["EndpointDqp"]})
        stamp = {"tx_timestamp16": get("timestamp", 0)}
        if kind == "request":
            headers["erth"] = {"op": get("op"), **stamp, "port_status_mask": get("mask", 0), "tsr": layout.tsr, "ftype": 1}
        else:
            headers["eeth"] = {**layout.response_op(get("op")), **stamp}
    return packets.Packet(headers)


def returned(record, swapped):
    """A packet of the device as a switch sends it back: the addresses of IP as they were, or exchanged (A-80)."""
    packet = record.packet
    exchange = ("eth", "outer_ipv6", "ipv6") if swapped else ("eth",)
    headers = {name: {**values, "src": values["dst"], "dst": values["src"]} if name in exchange else dict(values)
               for name, values in packet.headers.items()}
    return packets.Packet(headers, packet.payload, packet.pad)


class Override:
    """What `on` and `when` change: the answer to the next packets that fit."""

    def __init__(self, fit, skip, left, answer):
        self.fit, self.skip, self.left, self.answer = fit, skip, left, answer
        self.hits = []
        self.held = []    # of "together": they arrive when the last of them does


class Peer:
    """Answers the device. auto: WRITEs, probes, endpoint requests; manual: endpoint requests alone, and probes if the
    script says so."""

    def __init__(self, bed, qp):
        self.bed, self.qp = bed, qp
        self.auto, self.every, self.delay = False, 1, DELAY
        self.answer_probes = False
        self.overrides = []
        self.begin()

    def begin(self):
        """Nothing has been heard of the QP."""
        self.cack = None
        self.above = set()
        self.ends = {}          # PSN of a message's last packet -> MSN after it
        self.acked = None       # (psn, msn)
        self.bytes = 0
        self.since = 0
        self.last_sack = None   # fields of the script's own newest SACK

    def heard(self, record):
        if self.cack is None:
            self.cack = self.qp.sq_psn - 1
        entry, answer = self._override(record)
        if entry is not None and answer.get("together"):
            entry.held.append(record)
            if entry.left == 0:
                for held in entry.held:
                    self._answer(held, answer)
            return
        self._answer(record, answer)

    def _answer(self, record, answer):
        if answer.get("lost") or record.kind not in ("write", "probe", "request"):
            return
        delay = answer.get("delay", self.delay)
        if record.kind == "request":
            if not answer.get("none"):
                self._send("response", {"op": record.value("erth.op"), "id": record.value("@endpoint_id"),
                                        "timestamp": record.value("erth.tx_timestamp16")}, record, delay)
        elif record.kind == "probe":
            self._probe(record, answer, delay)
        elif self.auto:
            self._write(record, answer, delay)

    def _override(self, record):
        for entry in self.overrides:
            if entry.left == 0 or not entry.fit(record):
                continue
            if entry.skip:
                entry.skip -= 1
                continue
            entry.left -= 1
            entry.hits.append(record)
            return entry, entry.answer
        return None, {}

    def _write(self, record, answer, delay):
        psn = record.value("@psn")
        packet = record.packet
        if "nack" in answer:
            self._send("nack", {"reason": answer["nack"], "psn": psn, "entropy": packet.ev}, record, delay)
            return
        ends = self.ends
        if packet.get("bth.opcode") in fields.WRITE_PARTS["last"] + fields.WRITE_PARTS["only"]:
            ends[psn] = record.value("@msn") + 1
        new = psn > self.cack and psn not in self.above
        if psn - self.cack > MAX_AHEAD:
            return
        if new:
            self.bytes += packet.get("udp.length", 0) + 40
            self.above.add(psn)
        newest = None
        while self.cack + 1 in self.above:
            self.cack += 1
            self.above.discard(self.cack)
            if self.cack in ends:
                newest = (self.cack, ends.pop(self.cack))
        self.since += 1
        asked = not new or packet.get("bth.a") or packet.get("bth.rtx") or answer.get("fields")
        if answer.get("none"):
            self.acked = newest or self.acked
            return
        if asked or self.since >= self.every or newest:
            self.since = 0
            self._sack(record, psn, answer.get("fields", {}), delay)
        if newest:
            self.acked = newest
        if self.acked and (newest or not new):
            self._send("ack", {"psn": self.acked[0], "msn": self.acked[1]}, record, delay)

    def _sack(self, record, trigger, extra, delay):
        base = self.cack + 1
        if trigger > self.cack:
            base += (trigger - self.cack - 1) // 64 * 64
        values = {"cack": self.cack, "trigger": trigger, "base": base, "entropy": record.packet.ev,
                  "has": [psn for psn in self.above if base <= psn < base + 64], "ooo": len(self.above),
                  "rcvd": (self.bytes + 255) >> 8, "m": 1 if record.value("@ecn") == 3 else 0}
        stamp = record.packet.get("tseth.tx_timestamp16")
        if stamp is not None:
            values["timestamp"] = stamp
        self._send("sack", {**values, **extra}, record, delay)

    def _probe(self, record, answer, delay):
        if answer.get("none"):
            return
        extra = answer.get("fields", {})
        if self.auto:
            base = self.cack + 1
            values = {"cack": self.cack, "probe": record.value("peth.probe_id"), "pr": 1, "entropy": record.packet.ev,
                      "base": base, "has": [psn for psn in self.above if base <= psn < base + 64],
                      "ooo": len(self.above), "rcvd": (self.bytes + 255) >> 8,
                      "timestamp": record.value("peth.tx_timestamp16")}
            self._send("sack", {**values, **extra}, record, delay)
            if self.acked:
                self._send("ack", {"psn": self.acked[0], "msn": self.acked[1]}, record, delay)
        elif self.answer_probes or answer:
            values = dict(self.last_sack or {"cack": self.qp.sq_psn - 1})
            values.pop("trigger", None)
            values.update({"probe": record.value("peth.probe_id"), "pr": 1, "entropy": record.packet.ev,
                           "timestamp": record.value("peth.tx_timestamp16")})
            self._send("sack", {**values, **extra}, record, delay)

    def _send(self, kind, values, record, delay):
        plane = record.plane
        if not self.bed.carrier.get(plane, True) or self.bed.holes.get(plane) in ("in", "both"):
            usable = [p for p in range(self.bed.planes) if self.bed.carrier.get(p, True) and p not in self.bed.holes]
            plane = usable[0] if usable else plane

        def go():
            packet = control_packet(self.bed, self.qp, kind, values, CONTROL_EV + plane, plane)
            self.bed.send(packets.build(packet, layout=self.bed.layout), plane, f"{kind} (the tester's peer)")
        self.bed.at(self.bed.now + delay, go)


def first_ev(bed, psn):
    """The EV of the newest transmission of a PSN by the device; if there was none, one that is not 0 (A-61)."""
    for record in reversed(bed.records):
        if record.kind == "write" and record.qp is bed.own:
            try:
                if record.value("@psn") == psn:
                    return record.packet.ev
            except Unbound:
                continue
    return CONTROL_EV

