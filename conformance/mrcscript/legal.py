# SPDX-License-Identifier: Apache-2.0
"""NICs that keep to MRC, each in another way: what lint holds a script against.

Written from docs/protocol and docs/protocol/assumptions.md alone. The responder half: a set of received PSNs and sums
over it. Every choice that the facts leave open is an option of `Choices`; an expectation that one of these devices
breaks is refused. As a process: python3 -m mrcscript.legal --variant NAME."""
import heapq
import json
import random
import sys
from dataclasses import dataclass

from . import layout, packets
from .errors import PacketError, Unsupported
from .layout import Layout
from .packets import CONSTANTS, OPCODES, WRITES, wrap
from .parser import NEEDED

TRIMMED, LASTHOP, NO_BITMAP, NO_PKT_BUFFER, OOR, UNEXP = 0x01, 0x02, 0x06, 0x07, 0x0B, 0x19
INVALID, ACCESS, ACK = 0x61, 0x62, 0x1F
OWN_PROBE = 0xFFFF
STEPS = (("reset", "init"), ("init", "init"), ("init", "rtr"), ("rtr", "rts"))
RANGES = {"mpr_dest": ("mpr_dest", 1, 32), "mpr": ("mpr", 1, 32), "max_wimm_dest": ("max_wimm_dest", 0, 32),
          "max_wimm": ("max_wimm", 0, 32), "timeout": ("timeout", 0, 24), "retry_cnt": ("retry_exp", 0, 25)}


@dataclass(frozen=True)
class Choices:
    """What a legal device may choose. Times in ps."""
    name: str = "plain"
    why: str = "answers at once"
    fastest: int = 200_000          # from a frame's last byte to the first byte of its answer
    slowest: int = 200_000
    skew: int = 0                   # ports' frames are taken in another order within this
    every: bool = False             # a SACK for every packet
    coalesce: int = 0               # one SACK for what arrives within this, of the newest (A)
    base: str = "lowest"            # lowest PSN not reported yet, next (cack + 1), self
    ack_first: bool = False         # the ACK leaves before the SACK
    ack_always: bool = False        # every SACK brings the ACK along
    nak_early: bool = False         # an access error is answered where it arrives
    own_probe: bool = False         # a trimmed packet brings a SACK with PR besides its NACK
    plane: str = "same"             # answers: same, turn, lowest
    drop: int = 0                   # every n-th new packet is discarded silently, and counted
    nack: int = 0                   # every n-th new packet is discarded with NACK NO_PKT_BUFFER
    frozen: bool = False            # a SACK says what was true when its packet was taken, not when it leaves
    drain: bool = True              # a second SACK when the out-of-order set drains (prev_ar, U)


VARIANTS = (
    Choices(),
    Choices("slow", "answers as late as it says", 1_900_000, 1_900_000),
    Choices("jitter", "answers between 0.1 and 1.9 us", 100_000, 1_900_000),
    Choices("ports", "takes ports in another order within 0.8 us", 100_000, 900_000, skew=800_000, plane="turn", frozen=True),
    Choices("talkative", "a SACK for every packet, an ACK with every SACK", every=True, ack_always=True),
    Choices("coalescing", "one SACK for what comes within 0.5 us (A)", 600_000, 900_000, coalesce=500_000, drain=False),
    Choices("base-self", "the bitmap begins at the packet itself (A-11)", base="self", plane="lowest"),
    Choices("base-next", "the bitmap begins behind cack_psn", base="next", ack_first=True),
    Choices("ack-first", "the ACK leaves before the SACK, on ports in turn", 200_000, 700_000, ack_first=True,
            plane="turn"),
    Choices("nak-early", "an access error is answered where it arrives (A-24)", nak_early=True, own_probe=True),
    Choices("own-probe", "a trim brings a SACK with PR besides its NACK (A-74)", 300_000, 600_000, own_probe=True),
    Choices("discards", "discards every third new packet without a word, and counts it", 300_000, 500_000, drop=3),
    Choices("no-buffer", "discards every third new packet with NACK NO_PKT_BUFFER", 300_000, 500_000, nack=3),
)
LATENCY = 2_000_000


class Arrival:
    """A frame on the wire: no reset of the NIC stops it."""

    def __init__(self, nic, frame, plane):
        self.nic, self.frame, self.plane = nic, frame, plane

    def __call__(self):
        self.nic._frame(self.frame, self.plane)


class LegalNic:
    """Speaks docs/reference/device.md by call(); the responder half."""

    caps = ["responder", "write_imm", "trim_nack", "time_stamps", "srv6", "srh", "psn", "regions", "pkey", "bytes",
            "dyn_mpr", "slow_memory", "modify", "class", "reset"]

    def __init__(self, choices, seed=1):
        self.choices, self.seed = choices, seed
        self.responder = Responder  # tests put broken ones here
        self._fresh()

    def _fresh(self):
        self.random = random.Random(self.seed)
        self.now, self.order, self.heap, self.out = 0, 0, [], []
        self.planes, self.settings, self.layout = 1, {}, layout.PLAIN
        self.qps, self.regions, self.states = {}, {}, {}
        self.free, self.taken = {}, {}
        self.counters = {"silent_drops": 0, "CNT_RETURNED": 0}
        self.turn = 0
        self.takes, self.held = True, []  # while memory takes nothing: writes, and completions that come after them
        self.mac = self.ip = 0

    def close(self):
        pass

    # ---- calls ------------------------------------------------------------------------------------------------------

    def call(self, message):
        name = message.get("call")
        handler = getattr(self, "_call_" + str(name), None)
        if handler is None:
            raise Unsupported(f"the device cannot: there is no call '{name}' here.")
        return {"ok": True, **(handler(message) or {})}

    def _call_open(self, message):
        self._fresh()
        self.planes = message["planes"]
        self.turn = self.seed % self.planes
        self.settings = message.get("settings", {})
        self.layout = Layout(self.settings)
        known = {*layout.KNOWN, "CTRL.oor_drop", "CTRL.err_silent", "CTRL.zero_length", "CTRL.sack_base_self",
                 "CTRL.returned", "DSCP_TRIM.trimmed", "DSCP_TRIM.lasthop", "DSCP_TRIM.returned", "DSCP_TRIM.returned_valid",
                 "CTRL.ack_with_sack", "CTRL.trim_silent", "CTRL.ack_plane", "SACK_TRIGGER.bytes", "UDP_PORT.only",
                 "CTRL.nominal",
                 "CTRL.pdcid_zero", "NAK_CODE.invalid", "NAK_CODE.access"}
        foreign = sorted(set(self.settings) - known)
        if foreign:
            raise Unsupported(f"the device cannot: no setting {foreign[0]}.")
        return {"name": f"legal-{self.choices.name}", "version": "1", "planes": self.planes, "port_gbps": 100,
                "caps": self.caps, "latency": LATENCY, "qp_first": 5, "qps": 16}

    def _call_address(self, message):
        self.mac, self.ip = packets.mac(message["mac"]), packets.ip(message["ip"])

    def _call_mr(self, message):
        self.regions[message["rkey"]] = message if message.get("valid", True) else None

    def _call_qp(self, message):
        number = message["qp"]
        self.states[number] = message.get("state", self.states.get(number, "rts"))
        if message.get("state") == "reset":
            self.qps.pop(number, None)
        elif number not in self.qps:
            self.qps[number] = self.responder(self, number, message)
        else:
            qp = self.qps[number]
            if message.get("state") == "error":
                qp.fatal = True
            if "mpr_dest" in message:
                qp.mpr_dest = message["mpr_dest"]

    def _call_query(self, message):
        qp = self.qps.get(message["qp"])
        return {"state": "error" if qp is not None and qp.fatal else self.states.get(message["qp"], "reset")}

    def _call_modify(self, message):
        """IBTA's states and steps; what each needs: A-68."""
        number, to = message["qp"], message["state"]
        now = self._call_query(message)["state"]
        legal = to == "reset" or (to == "error" and now != "reset") or (now, to) in STEPS
        if not legal:
            return {"refused": "transition", "attributes": []}
        missing = [name for name in NEEDED[to] if name not in message["with"]]
        if missing:
            return {"refused": "attributes", "attributes": missing}
        wrong = [name for name, (key, least, most) in RANGES.items()
                 if name in NEEDED[to] and not least <= message.get(key, least) <= most]
        if wrong:
            return {"refused": "value", "attributes": wrong}
        self.states[number] = to
        if to in ("reset", "init"):
            self.qps.pop(number, None)
        elif to == "rtr":
            self.qps[number] = self.responder(self, number, message)
        elif to == "error" and number in self.qps:
            self.qps[number].fatal = True
        return None

    def _call_reset(self, _):
        """Only settings and address are left; what was to leave or to be done is not."""
        self.heap = [entry for entry in self.heap if isinstance(entry[2], Arrival)]
        self.out, self.held = [], []
        self.qps, self.regions, self.states, self.taken = {}, {}, {}, {}

    def _call_recv(self, message):
        self.qps[message["qp"]].receives += message["count"]

    def _call_memory(self, message):
        self.takes = message["takes"]
        if self.takes:
            held, self.held = self.held, []
            for entry in held:
                self.out.append({**entry, "t": self.now})

    def to_host(self, entry):
        """A write of memory, or a completion, which stays behind the writes before it."""
        if self.takes or (entry["out"] == "cqe" and not self.held):
            self.out.append(entry)
        else:
            self.held.append(entry)

    def _call_mpr(self, message):
        self.qps[message["qp"]].window = message["units"]

    def _call_port(self, message):
        pass

    def _call_host_done(self, message):
        pass

    def _call_counters(self, _):
        return {"counters": dict(self.counters), "t": self.now}

    def _call_close(self, _):
        pass

    def _call_rx(self, message):
        plane, t = message["plane"], message["t"]
        frame = bytes.fromhex(message["frame"])
        if message.get("fcs_bad"):
            return
        take = max(t + self.random.randint(0, self.choices.skew), self.taken.get(plane, 0) + 1)
        self.taken[plane] = take
        self.at(take, Arrival(self, frame, plane))

    def _call_advance(self, message):
        until = message["until"]
        while self.heap and self.heap[0][0] <= until:
            time = self.heap[0][0]
            self.now = max(self.now, time)
            while self.heap and self.heap[0][0] <= self.now:
                heapq.heappop(self.heap)[2]()
            if self.out:
                break
        else:
            self.now = max(self.now, until)
        out, self.out = self.out, []
        return {"reached": self.now, "out": out}

    # ---- time and wire ----------------------------------------------------------------------------------------------

    def at(self, time, action):
        self.order += 1
        heapq.heappush(self.heap, (max(time, self.now), self.order, action))

    def latency(self):
        left = self.choices.slowest if self.choices.slowest == self.choices.fastest else \
            self.random.randint(self.choices.fastest, self.choices.slowest)
        return max(1, left - self.choices.skew)

    def send(self, headers, plane):
        headers["bth"] = {**self.layout.m, **headers["bth"]}
        frame = packets.build(packets.Packet(headers), layout=self.layout)
        first = max(self.now, self.free.get(plane, 0))
        last = first + (len(frame) + 24) * 80
        self.free[plane] = last
        self.at(last, lambda: self.out.append({"out": "tx", "plane": plane, "t": first, "t_last": last,
                                               "frame": frame.hex()}))

    def answer_plane(self, plane, turns):
        """turns: it is a SACK about data or an ACK. A script that names CTRL.ack_plane asks for A-06 to the letter."""
        asked = self.settings.get("CTRL.ack_plane")
        if asked or (asked == 0 and not turns):
            return plane
        if asked == 0:
            self.turn = (self.turn + 1) % self.planes
            return self.turn
        if self.choices.plane == "lowest":
            return 0
        if self.choices.plane == "turn":
            self.turn = (self.turn + 1) % self.planes
            return self.turn
        return plane

    def code(self, name):
        """A code point that marks trimmed packets (A-04, A-80)."""
        default = {"trimmed": CONSTANTS["DscpTrimmed"], "lasthop": CONSTANTS["DscpTrimmedLasthop"]}.get(name, 0)
        return self.settings.get("DSCP_TRIM." + name, default)

    def decoded(self, frame):
        """The packet; None: there is none for this NIC. One of our own that a switch has sent back is told apart by its
        code point, or by its addresses (A-80)."""
        codes = [self.code("trimmed"), self.code("lasthop")]
        mode, own_code = self.settings.get("CTRL.returned", 0), self.settings.get("DSCP_TRIM.returned_valid", 0)
        try:
            packet = packets.decode(frame, codes + [self.code("returned")] * bool(own_code and mode < 2), self.layout)
        except PacketError:
            return None
        if not packet.trimmed or mode >= 2:
            return packet
        code = packet.outermost().get("dscp")
        back = code not in codes or (own_code and code == self.code("returned")) or \
            self._is_own(packet.get("ipv6.src")) or not self._is_own(packet.get("ipv6.dst"))
        if not back:
            return packet
        if packet.opcode in WRITES:
            self.counters["CNT_RETURNED"] += 1
            if mode == 1:
                self.learned(packet)
        return None

    def _is_own(self, address):
        return self.layout.address(address or 0, 0) == self.layout.address(self.ip, 0)

    def learned(self, packet):
        """A packet of ours is lost, and its requestor may know."""

    def _frame(self, frame, plane):
        packet = self.decoded(frame)
        if packet is not None:
            self.packet(packet, plane)

    def packet(self, packet, plane):
        ports = (self.layout.port,) if self.settings.get("UDP_PORT.only") else \
            (self.layout.port, CONSTANTS["UdpPort"], CONSTANTS["UdpPortMrc"])
        bth = packet.headers["bth"]
        if bth["tver"] or packet.get("udp.dst_port") not in ports:
            return
        if not packet.icrc_good and not packet.trimmed:
            return
        if packet.opcode == OPCODES["EndpointRequest"]:
            self._endpoint(packet, plane)
            return
        qp = self.qps.get(bth["dqp"])
        if qp is None or (bth["p_key"] ^ qp.pkey) & 0x7FFF:
            return
        if packet.opcode in WRITES:
            qp.data(packet, plane)
        elif packet.opcode == OPCODES["ProbeRequest"] and not packet.trimmed:
            qp.probe(packet, plane)

    def _endpoint(self, packet, plane):
        if packet.trimmed or not self.qps:
            return
        qp = next((qp for qp in self.qps.values() if self.layout.address(qp.peer_ip, plane) == packet.get("ipv6.src")),
                  next(iter(self.qps.values())))
        headers = qp.network(plane)
        headers["bth"] = {"opcode": OPCODES["EndpointResponse"], "dqp": CONSTANTS["EndpointDqp"], "p_key": qp.pkey,
                          "psn": packet.get("bth.psn")}
        headers["eeth"] = {**self.layout.response_op(packet.get("erth.op")),
                           "tx_timestamp16": packet.get("erth.tx_timestamp16")}
        self.at(self.now + self.latency(), lambda: self.send(headers, plane))


class Responder:
    """One QP: which PSNs have arrived, what is owed."""

    def __init__(self, nic, number, attributes):
        get = attributes.get
        self.nic, self.number, self.peer_qp = nic, number, get("peer_qp", 0)
        self.peer_ip, self.peer_mac = packets.ip(get("peer_ip", "::")), packets.mac(get("peer_mac", "0"))
        self.encap, self.pkey = get("encap", "ipv6"), get("pkey", 0xFFFF)
        self.mtu = get("mtu", 4096)
        self.first = get("rq_psn", 0)
        self.cack = self.first - 1
        self.above = set()
        self.highest = self.cack
        self.lowest_unsacked = self.first
        self.mpr_dest, self.dynamic = get("mpr_dest", 8), get("dynamic_mpr", False)
        self.window = self.mpr_dest
        self.trim_nack = get("trim_nack", True)
        self.max_wimm, self.receives = get("max_wimm_dest", 0), 0
        self.fatal = False
        self.msn, self.rq_msn = get("msn", 0), get("msn", 0)
        self.info = {}            # PSN -> what to do when everything before it is here
        self.bytes, self.since = 0, 0
        self.asked = None         # PSN of an A packet that came while something was missing
        self.newest_ack = None
        self.nak = None
        self.new_packets = 0
        self.gone = set()         # PSNs that were discarded once
        self.waiting = None       # of a coalesced SACK

    # ---- packets ----------------------------------------------------------------------------------------------------

    def data(self, packet, plane):
        psn = wrap(packet.get("bth.psn"), self.cack, 24)
        if self.fatal:
            if self.nak is not None:
                self._ack(plane, *self.nak)
            elif not self.nic.settings.get("CTRL.err_silent"):
                self._nack(packet, psn, plane, UNEXP)
            return
        have = psn <= self.cack or psn in self.above
        if packet.trimmed:
            self._trimmed(packet, psn, plane, have)
            return
        if psn > self.cack + 128 * self.mpr_dest:
            if not self.nic.settings.get("CTRL.oor_drop"):
                self._nack(packet, psn, plane, OOR)
            return
        if have:
            self._sack(packet, psn, plane, ack=psn <= self.cack)
            return
        if self.dynamic and psn > self.cack + 128 * self.window:
            self._nack(packet, psn, plane, NO_BITMAP)
            return
        if not self._sizes(packet) or self._discards(packet, psn, plane):
            return
        wrong = self._wrong(packet)
        if wrong and (psn == self.cack + 1 or self.nic.choices.nak_early):
            self._fail(plane, psn, wrong)
            return
        if not wrong:
            self._take(packet, psn, plane)

    def _discards(self, packet, psn, plane):
        """Lawful discards, each PSN once, so that a repeat gets through."""
        if psn in self.gone:
            return False
        self.gone.add(psn)
        self.new_packets += 1
        choices = self.nic.choices
        if choices.drop and self.new_packets % choices.drop == 0:
            self.nic.counters["silent_drops"] += 1
            return True
        if choices.nack and self.new_packets % choices.nack == 0:
            self._nack(packet, psn, plane, NO_PKT_BUFFER)
            return True
        return False

    def _empty(self, packet):
        """Is it a legal WRITE of no bytes (A-19)?"""
        return not self.nic.settings.get("CTRL.zero_length") and not packet.payload and not packet.pad and \
            packet.get("reth.dma_length") == 0 and packet.opcode in (OPCODES["WriteOnly"], OPCODES["WriteOnlyImm"])

    def _sizes(self, packet):
        """First and Middle are full; Last and Only end the message."""
        size = len(packet.payload)
        only = packet.opcode in (OPCODES["WriteOnly"], OPCODES["WriteOnlyImm"])
        if only and (size == 0 or packet.get("reth.dma_length") == 0):
            return self.nic.settings.get("CTRL.zero_length", 0) < 2
        if packet.opcode in (OPCODES["WriteFirst"], OPCODES["WriteMiddle"]):
            return size == self.mtu
        return 0 < size <= self.mtu and len(packet.pad) == -size % 4

    def _wrong(self, packet):
        """The syndrome of an error, or None."""
        if self._empty(packet):
            return None
        if packet.get("reth.dma_length") == 0 or not packet.payload:
            return INVALID
        region = self.nic.regions.get(packet.get("reth.r_key"))
        va, size = packet.get("reth.va"), len(packet.payload)
        if region is None or not region.get("write", True):
            return ACCESS
        if va < region["va"] or va + size > region["va"] + region["bytes"]:
            return ACCESS
        return None

    def _take(self, packet, psn, plane):
        if packet.payload:
            region = self.nic.regions[packet.get("reth.r_key")]
            address = packet.get("reth.va") - region["va"] + region["addr"]
            self.nic.to_host({"out": "write", "t": self.nic.now, "addr": address, "data": packet.payload.hex()})
        self.above.add(psn)
        self.highest = max(self.highest, psn)
        self.bytes += (packet.get("udp.length") + 40, len(packet.payload), len(packet.payload) + 40)[
            self.nic.settings.get("CTRL.nominal", 0) % 3]
        last = packet.opcode in (OPCODES["WriteLast"], OPCODES["WriteLastImm"], OPCODES["WriteOnly"],
                                 OPCODES["WriteOnlyImm"])
        self.info[psn] = (last, wrap(packet.get("meth.msn"), self.msn, 16), packet.get("meth.rqmsn"), packet.get("immdt.value"),
                          packet.get("reth.dma_length"))
        completed = self._advance(plane)
        self.since += max(len(packet.payload), 1024)
        drained = self.asked is not None and not self.above and self.nic.choices.drain
        bth = packet.headers["bth"]
        threshold = self.nic.settings.get("SACK_TRIGGER.bytes", 16384)
        marked = packet.outermost()["ecn"] == 3
        if bth["a"] or bth["rtx"] or marked or self.since >= threshold or self.nic.choices.every or drained:
            self._sack(packet, psn, plane, ack=False, completed=completed)
        elif completed:
            self._owe_ack(plane)
        if bth["a"] and self.above:
            self.asked = psn
        elif drained:
            self.asked = None

    def _advance(self, plane):
        """cack over what is here, messages in order. True: one more is complete."""
        completed = False
        while self.cack + 1 in self.above:
            last, msn, rqmsn, imm, length = self.info.pop(self.cack + 1)
            if last and imm is not None:
                if not self._receive(rqmsn, imm, length):
                    self._fail(plane, self.cack + 1, INVALID)
                    return completed
            self.cack += 1
            self.above.discard(self.cack)
            if last:
                self.msn = msn + 1
                self.newest_ack = (self.cack, self.msn, ACK)
                completed = True
        self.lowest_unsacked = max(self.lowest_unsacked, self.cack + 1)
        return completed

    def _receive(self, rqmsn, imm, length):
        ok = self.receives > 0
        self.receives -= 1 if ok else 0
        self.nic.at(self.nic.now + 1000, lambda: self.nic.to_host(
            {"out": "cqe", "t": self.nic.now, "qp": self.number, "receive": True,
             "status": "ok" if ok else "wimm_overrun", "imm": imm, "rqmsn": rqmsn, "bytes": length, "wr_id": 0}))
        return ok

    def _trimmed(self, packet, psn, plane, have):
        if have:
            self._sack(packet, psn, plane, ack=psn <= self.cack)
            return
        if not self.trim_nack or psn > self.cack + 128 * self.mpr_dest:
            return
        code = packet.outermost().get("dscp")
        self._nack(packet, psn, plane, LASTHOP if code == self.nic.code("lasthop") else TRIMMED)
        if self.nic.choices.own_probe and not self.nic.settings.get("CTRL.trim_silent"):
            self._later(plane, lambda: self._sack_headers(packet, psn, plane, probe=OWN_PROBE), turns=False)

    def probe(self, packet, plane):
        if self.fatal:
            if self.nak is not None:
                self._ack(plane, *self.nak)
            elif not self.nic.settings.get("CTRL.err_silent"):
                self._nack(packet, self.cack, plane, UNEXP)
            return
        self._sack(packet, self.cack, plane, ack=True, probe=packet.get("peth.probe_id"))

    # ---- answers ----------------------------------------------------------------------------------------------------

    def network(self, plane):
        ours = self.nic.layout
        ip = {"dscp": ours.dscp["ctl"], "flow_label": plane + 1, "src": ours.address(self.nic.ip, plane),
              "dst": ours.address(self.peer_ip, plane)}
        out = {"eth": {"dst": self.peer_mac, "src": self.nic.mac}}
        if self.encap != "ipv6":
            out["outer_ipv6"] = {**ip, "flow_label": 0}
        if self.encap == "srh":
            out["srh"] = {"segments_left": 1, "segment": ip["dst"]}
        out["ipv6"] = ip
        out["udp"] = {"src_port": 0xD000 + plane,
                      "dst_port": self.nic.layout.port}
        return out

    def _later(self, plane, make, turns=True):
        where = self.nic.answer_plane(plane, turns)

        def go():
            headers = make()
            if headers is not None:
                self.nic.send(self._leaving(headers, where), where)
        self.nic.at(self.nic.now + self.nic.latency(), go)

    def _leaving(self, headers, plane):
        """With the addresses of the plane on which it leaves (A-76)."""
        ours = self.nic.layout
        ends = {"src": ours.address(self.nic.ip, plane), "dst": ours.address(self.peer_ip, plane)}
        out = {**headers, **{name: {**headers[name], **ends} for name in ("outer_ipv6", "ipv6") if name in headers}}
        if "srh" in out:
            out["srh"] = {**out["srh"], "segment": ends["dst"]}
        return out

    def _sack(self, packet, psn, plane, ack, completed=False, probe=None):
        choices = self.nic.choices
        self.since = 0
        always = choices.ack_always or self.nic.settings.get("CTRL.ack_with_sack")
        with_ack = completed or ((ack or always) and self.newest_ack is not None)
        if with_ack and choices.ack_first:
            self._owe_ack(plane)
        if choices.coalesce and probe is None and packet.outermost()["ecn"] != 3:
            fresh = self.waiting is None
            self.waiting = (packet, psn)
            if fresh:
                def go():
                    newest, self.waiting = self.waiting, None
                    return self._sack_headers(*newest, plane)
                self._later(plane, go)
        else:
            now = self._sack_headers(packet, psn, plane, probe) if choices.frozen else None
            self._later(plane, lambda: now or self._sack_headers(packet, psn, plane, probe), turns=probe is None)
        if with_ack and not choices.ack_first:
            self._owe_ack(plane)

    def _sack_headers(self, packet, psn, plane, probe=None):
        base = self.cack + 1
        style = self.nic.choices.base
        if self.nic.settings.get("CTRL.sack_base_self"):
            style = "self"
        if style == "self" and psn > self.cack:
            base = psn
        elif style == "lowest" or self.highest > self.cack + 64:  # every PSN is reported some time
            base = max(self.cack + 1, self.lowest_unsacked)
            if base > self.highest:
                base = self.cack + 1
            self.lowest_unsacked = base + 64
        bits = sum(1 << (p - base) for p in self.above if base <= p < base + 64)
        headers = self.network(plane)
        headers["bth"] = {"opcode": OPCODES["Sack"], "dqp": self.peer_qp, "psn": self.cack, "p_key": self.pkey}
        stamp = packet.get("tseth.tx_timestamp16", packet.get("peth.tx_timestamp16", 0))
        own = self.window if self.dynamic else 0
        headers["seth"] = {"m": int(packet.outermost()["ecn"] == 3), "pr": int(probe is not None),
                           "ack_psn_offset": probe if probe is not None else psn - self.cack, "entropy": packet.ev,
                           **self._pdcid(), "cack_psn": self.cack, "mpr": own,
                           "sack_offset": base - self.cack, "sack_bitmap": bits}
        headers["cc_state"] = {"tx_timestamp16": stamp, "ooo_count": len(self.above),
                               "rcvd_bytes": (self.bytes + 255) >> 8}
        return headers

    def _pdcid(self):
        silent = self.nic.settings.get("CTRL.pdcid_zero")
        return {"spdcid": 0 if silent else self.number, "dpdcid": 0 if silent else self.peer_qp}

    def _owe_ack(self, plane):
        """The newest ACK as of when it leaves: what completes together is acknowledged together."""
        self._later(plane, lambda: self._ack_headers(plane, *self.newest_ack))

    def _ack(self, plane, psn, msn, syndrome):
        self._later(plane, lambda: self._ack_headers(plane, psn, msn, syndrome))

    def _ack_headers(self, plane, psn, msn, syndrome):
        headers = self.network(plane)
        headers["bth"] = {"opcode": OPCODES["Ack"], "dqp": self.peer_qp, "psn": psn, "p_key": self.pkey}
        headers["aeth"] = {"syndrome": syndrome, "msn": msn}
        return headers

    def _fail(self, plane, psn, syndrome):
        name = "NAK_CODE.invalid" if syndrome == INVALID else "NAK_CODE.access"
        syndrome = self.nic.settings.get(name, syndrome)
        self.fatal = True
        self.nak = (psn, self.msn, syndrome)
        self._ack(plane, *self.nak)

    def _nack(self, packet, psn, plane, reason):
        headers = self.network(plane)
        headers["bth"] = {"opcode": OPCODES["Nack"], "dqp": self.peer_qp, "psn": psn, "p_key": self.pkey}
        headers["neth"] = {"reason": reason, "entropy": packet.ev, **self._pdcid(),
                           "nack_psn": psn, "cc_type": CONSTANTS["NethCcType"],
                           "tx_timestamp16": packet.get("tseth.tx_timestamp16", 0)}
        self._later(plane, lambda: headers, turns=False)


def serve(nic, lines, out):
    """The process: one answer a line."""
    for line in lines:
        try:
            message = json.loads(line)
            answer = nic.call(message)
        except Unsupported as error:
            answer = {"ok": False, "error": error.sentence, "unsupported": True}
        except (ValueError, KeyError, TypeError) as error:
            answer = {"ok": False, "error": f"the line is not understood: {error}", "unsupported": False}
        out.write(json.dumps(answer) + "\n")
        out.flush()
        if isinstance(message, dict) and message.get("call") == "close":
            return


def main():
    names = {choices.name: choices for choices in VARIANTS}
    wanted = sys.argv[2] if len(sys.argv) == 3 and sys.argv[1] == "--variant" else "plain"
    if wanted not in names or len(sys.argv) not in (1, 3):
        print(f"legal.py: usage: --variant {'|'.join(names)}", file=sys.stderr)
        return 3
    serve(LegalNic(names[wanted]), sys.stdin, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
