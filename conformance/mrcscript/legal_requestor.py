# SPDX-License-Identifier: Apache-2.0
"""NICs that send WRITEs and keep to MRC, each in another way: what lint holds a script about a requestor against.

Written from docs/protocol and docs/protocol/assumptions.md alone. Every choice that the facts leave open is an option
of `Ways`; one that an assumption has settled for us is taken only where the vector does not name that assumption. Has
no congestion controller (mrc.md 8: a legal choice). The responder half is that of legal.py."""
from dataclasses import dataclass

from . import packets
from .legal import LASTHOP, TRIMMED, UNEXP, Choices, LegalNic
from .packets import CONSTANTS, OPCODES, WRITES, wrap

GOOD, SKIP, BAD, DENIED, STANDBY = range(5)
LINEAR, FOR_EVER = 7, 25
PROBE_TICK = 128_000
WORLD = 2 * 1024 * PROBE_TICK  # so long a loss on another plane counts
FIRST_WAIT = 64 * PROBE_TICK  # before the first round trip
NAMES = {0x61: "remote_invalid", 0x62: "remote_access", 0x63: "remote_operation"}
MAX_OPEN = 256
OWN_EVS = 16    # per plane
STATE_PROBE = 0xFFFE
ORDERED_PROBE = 0xA000


@dataclass(frozen=True)
class Ways:
    """What a legal requestor may choose. Times in ps."""
    name: str = "sender"
    why: str = "our choices, at once"
    delay: tuple = (0, 0)           # from a packet's data to its first byte: least, most
    thinks: int = 100_000           # from an answer to what follows of it
    walk: str = "turn"              # turn: EVs in order; random: another order each pass; planes: ports by turns
    late: tuple = (1.0, 1.1)        # the timer goes off after so many of its intervals
    gap: int = 64                   # packets behind a gap that make it a loss
    same_ev: bool = True            # a later packet of the same EV makes it one
    asks: bool = True               # it asks for the state after a quarter of the timer
    every: bool = False             # each packet has AckReq
    probe: str = "ev"               # brings an EV back by: ev, reliability
    answers: int = 3                # so many good answers bring it back
    stale: bool = False             # a NACK about an older transmission brings the packet again
    port_wait: bool = False         # what was on its way to a port that died waits for its timer
    tail: str = "packet"            # an ACK that is missing: the newest packet again, or a probe
    back_off: int = 0               # what was refused for want of room waits so long
    restart: bool = False           # progress begins the intervals of all packets anew
    time: bool = True               # missing, and sent 3/4 of a round trip before what a SACK answers: lost
    silence: bool = True            # it asks after 9/8 of a round trip in which it hears nothing
    elsewhere: bool = True          # what was lost and not trimmed goes again on another plane
    copies: int = 1                 # what was lost at the end of a message goes so many times


WAYS = (
    Ways(),
    Ways("sender-random", "EVs in another order each pass, packets leave up to 1 us late", (0, 1_000_000), 400_000, "random"),
    Ways("sender-slow", "takes 1.5 us to think, and its timer 1.9 intervals", (200_000, 200_000), 1_500_000, "planes", (1.5, 1.9)),
    Ways("sender-eager", "takes a gap of 5 for a loss, asks with each packet, one answer revives", gap=5, every=True,
         walk="random", answers=1),
    Ways("sender-patient", "never by gap, by EV, by time or by asking: NACKs and timer alone", gap=1 << 20, same_ev=False,
         asks=False, walk="planes", port_wait=True, time=False, silence=False, elsewhere=False),
    Ways("sender-probes", "reliability probes for EVs and a missing ACK; a timer per QP", probe="reliability", tail="probe",
         walk="random", restart=True, time=False, silence=False, elsewhere=False),
    Ways("sender-twice", "two copies at the end of a message, and no question", silence=False, asks=False, copies=2),
    Ways("sender-strict", "a NACK about an older transmission counts; waits 5 us when refused", stale=True, back_off=5_000_000),
)


class LegalRequestor(LegalNic):
    """Speaks docs/reference/device.md by call(); both halves."""

    caps = LegalNic.caps + ["requestor", "ports", "ev_control", "order_evprobe"]

    def __init__(self, ways, seed=1, asked=()):
        super().__init__(Choices(ways.name, ways.why), seed)
        self.ways, self.asked = ways, set(asked)
        self.sender = Sender  # tests put broken ones here

    def way(self, name, assumption):
        """A choice that an assumption has settled, unless the vector asks for the assumption."""
        return getattr(Ways(), name) if assumption in self.asked else getattr(self.ways, name)

    def on(self, name, assumption, wait):
        """Is this way taken? `wait` is the setting that says no."""
        return not self.settings[wait] if wait in self.settings else self.way(name, assumption)

    def _fresh(self):
        super()._fresh()
        self.senders, self.reads, self.tag = {}, {}, 0
        self.up, self.peer_up, self.told, self.update = {}, {}, {}, 0

    def _call_open(self, message):
        own = {"REORDER.pkts", "REORDER.same_ev", "EV_CTL.min_active", "EP_CTL.repeats", "CTRL.state_silent",
               "EV_PROBE.interval", "EV_PROBE.successes", "EV_PROBE.cap", "EV_PROBE.kind", "CTRL.skip_mode",
               "EV_CTL.skip_ticks", "CTRL.wimm_over", "EV_PROBE.keep_count", "EV_PROBE.skip_good",
               "CTRL.any_plane", "CTRL.time_wait", "CTRL.silence_wait", "EV_CTL.loss_share", "EV_CTL.one_copy"}
        settings = message.get("settings", {})
        answer = super()._call_open({**message, "settings": {k: v for k, v in settings.items() if k not in own}})
        self.settings = settings
        return {**answer, "name": f"legal-{self.ways.name}"}

    def _call_reset(self, message):
        super()._call_reset(message)
        for sender in self.senders.values():
            sender.state = "reset"
        self.senders, self.reads, self.peer_up, self.told = {}, {}, {}, {}
        self.update += 1

    def _call_qp(self, message):
        number, state = message["qp"], message.get("state")
        super()._call_qp(message)
        if state == "reset":
            old = self.senders.pop(number, None)
            if old:
                old.state = "reset"
        elif number not in self.senders:
            self.senders[number] = self.sender(self, number, message)
        else:
            self.senders[number].own_class = message.get("class", self.senders[number].own_class)
            if state == "error":
                self.senders[number].fail("flushed")

    def learned(self, packet):
        """A-80, CTRL.returned 1: the requestor whose packet it was knows that it is lost."""
        for sender in self.senders.values():
            if sender.peer_qp == packet.get("bth.dqp"):
                self.at(self.now + self.ways.thinks, lambda one=sender: one.came_back(packet))

    def _call_modify(self, message):
        refused = super()._call_modify(message)
        number, to = message["qp"], message["state"]
        if refused is None and to == "rts":
            self.senders[number] = self.sender(self, number, message)
        elif refused is None and to in ("reset", "init"):
            old = self.senders.pop(number, None)
            if old:
                old.state = "reset"
        elif refused is None and to == "error" and number in self.senders:
            self.senders[number].fail("flushed")
        return refused

    def _call_query(self, message):
        sender = self.senders.get(message["qp"])
        if sender and sender.state == "error":
            return {"state": "error"}
        return super()._call_query(message)

    def _call_post(self, message):
        return {"taken": self.senders[message["qp"]].post(message)}

    def _call_ev(self, message):
        self.senders[message["qp"]].deny(message["ev"], message["deny"])

    def _call_evprobe(self, message):
        sender, dscp = self.senders[message["qp"]], message.get("tc", self.layout.dscp["ep"])
        sender.send_probe(ORDERED_PROBE, message["ev"], message["plane"], False, dscp)

    def _call_host_done(self, message):
        action = self.reads.pop(message["tag"])
        self.at(message["t"], lambda: action(bytes.fromhex(message["data"])))

    def read(self, address, size, action):
        self.tag += 1
        self.reads[self.tag] = action
        self.out.append({"out": "read", "t": self.now, "tag": self.tag, "addr": address, "bytes": size})

    def usable(self, plane, peer):
        """Is the port up here, and at that peer?"""
        return self.up.get(plane, True) and self.peer_up.get((peer, plane), True)

    def send_packet(self, packet, plane):
        packet.headers["bth"] = {**self.layout.m, **packet.headers["bth"]}
        frame = packets.build(packet, layout=self.layout)
        first = max(self.now, self.free.get(plane, 0))
        last = first + (len(frame) + 24) * 80
        self.free[plane] = last
        self.at(last, lambda: self.out.append({"out": "tx", "plane": plane, "t": first, "t_last": last,
                                               "frame": frame.hex()}))

    # ---- ports ------------------------------------------------------------------------------------------------------

    def _call_port(self, message):
        plane, up = message["plane"], message["up"]
        self.up[plane] = up
        for sender in self.senders.values():
            sender.port(plane, up)
        self.update += 1
        number = self.update
        for sender in {sender.peer_ip: sender for sender in reversed(self.senders.values())}.values():
            self.at(self.now + 1_000_000, lambda sender=sender: self._tell(sender, number, 0))

    def _tell(self, sender, number, tries):
        repeats = self.settings.get("EP_CTL.repeats", 1 << 30)
        if number != self.update or (number, sender.peer_ip) in self.told or tries > repeats or \
                sender not in self.senders.values():
            return
        planes = [p for p in range(self.planes) if self.usable(p, sender.peer_ip)]
        if planes:
            plane = planes[tries % len(planes)]
            first = 0 if self.settings.get("CTRL.ports_from_0") else 1
            mask = sum(1 << (p + first) for p in range(self.planes) if self.up.get(p, True))
            headers = sender.responder().network(plane)
            headers["ipv6"] = {**headers["ipv6"], "dscp": self.layout.dscp["ep"], "ecn": 2}
            headers["bth"] = {"opcode": OPCODES["EndpointRequest"], "dqp": CONSTANTS["EndpointDqp"], "psn": number & 0xFFFF,
                              "p_key": sender.pkey}
            headers["erth"] = {"op": 0, "port_status_mask": mask, "ftype": 1, "tsr": self.layout.tsr}
            self.send_packet(packets.Packet(headers), plane)
        self.at(self.now + 100_000_000, lambda: self._tell(sender, number, tries + 1))

    def _endpoint(self, packet, plane):
        super()._endpoint(packet, plane)
        of = [sender for sender in self.senders.values()
              if packet.get("ipv6.src") == self.layout.address(sender.peer_ip, plane)]
        if of and not packet.trimmed and packet.get("erth.op") == 0:
            first = 0 if self.settings.get("CTRL.ports_from_0") else 1
            for p in range(self.planes):
                self.peer_up[of[0].peer_ip, p] = bool(packet.get("erth.port_status_mask") >> (p + first) & 1)
            for sender in of:
                sender.pump()

    def packet(self, packet, plane):
        bth = packet.headers["bth"]
        known = packet.opcode in WRITES or packet.opcode in (OPCODES["ProbeRequest"], OPCODES["EndpointRequest"])
        if known:
            super().packet(packet, plane)
            return
        if bth["tver"] or not packet.icrc_good or packet.trimmed:
            return
        if packet.get("udp.dst_port") not in (self.layout.port, CONSTANTS["UdpPort"], CONSTANTS["UdpPortMrc"]):
            return
        if packet.opcode == OPCODES["EndpointResponse"]:
            for sender in self.senders.values():
                if packet.get("ipv6.src") == self.layout.address(sender.peer_ip, plane):
                    self.told[bth["psn"] & 0xFFFF, sender.peer_ip] = True
            for sender in self.senders.values():
                sender.probe_answered(bth["psn"] & 0xFFFF, True, 0)
            return
        sender = self.senders.get(bth["dqp"])
        if sender is None or (bth["p_key"] ^ sender.pkey) & 0x7FFF or sender.state != "rts":
            return
        self.at(self.now + self.ways.thinks, lambda: sender.heard(packet))


class Flight:
    """A packet that was sent: its message, and each transmission."""

    def __init__(self, message, index):
        self.message, self.index, self.times = message, index, []
        self.by_gap, self.tail, self.due, self.lost = False, False, 0, False
        self.by_time = None             # when it is the timer's, however often time has found it since

    @property
    def ev(self):
        return self.times[-1][1]


class Sender:
    """The requestor half of one QP."""

    def __init__(self, nic, number, attributes):
        get = attributes.get
        self.nic, self.number, self.peer_qp = nic, number, get("peer_qp", 0)
        self.peer_ip, self.pkey, self.mtu = packets.ip(get("peer_ip", "::")), get("pkey", 0xFFFF), get("mtu", 4096)
        self.state = "rts"
        self.una = self.nxt = self.first = get("sq_psn", 0)
        self.longest = 0                         # round trip of late, ps; 0: none yet
        self.questions, self.quiet, self.listens = [], 0, False  # when it asked; since when it hears nothing
        self.unheard = 0                         # questions since something moved
        self.mpr = self.granted = get("mpr", 8)
        self.dynamic = get("dynamic_mpr", False)
        self.linear, self.exponential = get("retry_linear", LINEAR), get("retry_exp", FOR_EVER)
        self.rto = 1_024_000 << get("timeout", 7)
        self.max_wimm, self.stamps = get("max_wimm", 32), get("time_stamps", False)
        self.msn, self.rqmsn = get("msn", 0), get("rqmsn", 0)
        self.done_msn = self.msn
        self.messages, self.unsent = [], []      # open ones in order; (message, index) not sent yet
        self.flights, self.reported = {}, set()
        self.again = set()                       # PSNs that wait to be sent again
        self.trims = False  # something was trimmed: queues are full
        self.retry, self.moved, self.asked = 0, 0, False
        self.busy, self.turn, self.order, self.plane_turn = 0, -1, {}, 0
        backup = get("backup", 0)
        evs = get("evs") or [nic.random.randrange(1, 1 << 32) for _ in range(OWN_EVS * nic.planes)]  # never 0
        self.evs, self.backup = evs, set(evs[len(evs) - backup:])
        self.ev_state = {ev: STANDBY if i >= len(evs) - backup else GOOD for i, ev in enumerate(evs)}
        self.skips, self.skip_until = {}, {}
        self.probing = {}                        # probe id -> EV
        self.good_answers, self.failures, self.probe_id = {}, {}, 0
        self.lost_on, self.spared = {}, 0        # when each plane lost last; losses that did not count
        self.ticking = False
        self.newest = None                       # (message, index) of the last new packet
        self.own_class = get("class")            # {"data", "rtx"}: its code points, or those of the NIC

    def dscp(self, name):
        return (self.own_class or self.nic.layout.dscp)[name]

    def responder(self):
        return self.nic.qps[self.number]

    # ---- work -------------------------------------------------------------------------------------------------------

    def post(self, work):
        if self.state != "rts":
            self._complete(work["wr_id"], "flushed")
            return True
        if len(self.messages) >= MAX_OPEN:
            return False
        imm = work.get("imm")
        if work["bytes"] == 0 and self.nic.settings.get("CTRL.zero_length"):
            self._complete(work["wr_id"], "local_length")
            return True
        over = self.nic.settings.get("CTRL.wimm_over", 0)
        if imm is not None and (over or not self.max_wimm) and \
                sum(m["imm"] is not None for m in self.messages) >= self.max_wimm:
            self._complete(work["wr_id"], "wimm_overrun")
            if over >= 2 and self.max_wimm:
                self.fail("flushed")
            return True
        count = max(1, -(-work["bytes"] // self.mtu))
        message = {**work, "imm": imm, "count": count, "msn": self.msn, "rqmsn": self.rqmsn}
        self.msn += 1
        self.rqmsn += imm is not None
        self.messages.append(message)
        self.unsent += [(message, i) for i in range(count)]
        self.nic.at(self.nic.now + 50_000, self.pump)
        return True

    def _complete(self, wr_id, status):
        self.nic.at(self.nic.now + 1000, lambda: self.nic.out.append(
            {"out": "cqe", "t": self.nic.now, "qp": self.number, "receive": False, "status": status, "wr_id": wr_id}))

    def fail(self, status):
        if self.state != "rts":
            return
        self.state = "error"
        for message in self.messages:
            self._complete(message["wr_id"], status)
            status = "flushed"
        self.messages, self.unsent = [], []

    # ---- sending ----------------------------------------------------------------------------------------------------

    def limit(self):
        """The first PSN that may not be sent."""
        return self.una + 128 * (min(self.granted, self.mpr) if self.dynamic else self.mpr)

    def pump(self):
        """Sends one packet if one may go, and comes back."""
        nic = self.nic
        free = [nic.free.get(p, 0) for p in range(nic.planes) if nic.usable(p, self.peer_ip)]
        if self.state != "rts" or nic.now < self.busy or not free:
            return
        if min(free) > nic.now + 1_000_000:  # the ports are busy
            self.busy = min(free) - 900_000
            nic.at(self.busy, self.pump)
            return
        if self.again:
            psn = min(self.again)
            self.again.discard(psn)
            self._send(psn, self.flights[psn], 1, False)
        elif self.unsent and self.nxt < self.limit() and not self._held(self.unsent[0]):
            message, index = self.newest = self.unsent.pop(0)
            psn, flight = self.nxt, Flight(message, index)
            self.nxt += 1
            self.flights[psn] = flight
            self._send(psn, flight, 0, nic.ways.every or not self.unsent or self.nxt == self.limit() or
                       self._held(self.unsent[0]))
        else:
            return
        self.busy = nic.now + 80 * (self.mtu + 120) // nic.planes
        nic.at(self.busy, self.pump)

    def _held(self, head):
        """Does this packet begin a message that is an immediate too many (A-62)?"""
        message, index = head
        if index or message["imm"] is None:
            return False
        started = 0
        for other in self.messages:
            if other is message:
                break
            started += other["imm"] is not None
        return started >= self.max_wimm

    def _send(self, psn, flight, rtx, ask):
        nic, message, index = self.nic, flight.message, flight.index
        size = min(self.mtu, message["bytes"] - index * self.mtu)
        flight.due = nic.now + (1 << 60)  # its timer begins when it leaves

        def leave(data):
            if self.state != "rts" or (psn in self.reported or psn < self.una) and rtx and not flight.tail:
                return
            before = flight.times[-1][1] if flight.times else None
            other = flight.lost and nic.on("elsewhere", "A-85", "CTRL.any_plane")
            ev = self._next_ev(before, self.evs.index(before) % nic.planes if other else None)
            if ev is None:
                flight.times.append((nic.now, self.evs[0]))
                flight.due = nic.now + self._interval()
                return
            plane = self.evs.index(ev) % nic.planes
            nic.send_packet(self.packet(psn, message, index, data, ev, plane, rtx, ask), plane)
            if flight.lost and not self.trims and (not self.unsent or self.nxt >= self.limit()):
                self._copies(psn, flight, data, (before, ev), ask)
            flight.times.append((nic.now, ev))
            flight.due = flight.by_time or nic.now + self._interval()
            self._tick(flight.due)
            self.quiet = nic.now
            self._listen()
        wait = nic.random.randint(*nic.ways.delay)
        if size == 0:
            nic.at(nic.now + wait, lambda: leave(b""))
        else:
            nic.read(message["addr"] + index * self.mtu, size, lambda data: nic.at(nic.now + wait, lambda: leave(data)))

    def _copies(self, psn, flight, data, taken, ask):
        """A-89: a second one at once, on a plane that neither the one before nor the first copy took."""
        planes = {self.evs.index(ev) % self.nic.planes for ev in taken}
        free = [ev for i, ev in enumerate(self.evs) if i % self.nic.planes not in planes and self.ev_state[ev] == GOOD and
                self.nic.usable(i % self.nic.planes, self.peer_ip)]
        one = self.nic.settings.get("EV_CTL.one_copy")
        if free and (not one if one is not None else self.nic.way("copies", "A-89") > 1):
            plane = self.evs.index(free[0]) % self.nic.planes
            packet = self.packet(psn, flight.message, flight.index, data, free[0], plane, 1, ask)
            self.nic.send_packet(packet, plane)

    def packet(self, psn, message, index, data, ev, plane, rtx, ask):
        layout, last = self.nic.layout, index == message["count"] - 1
        imm = message["imm"] is not None
        name = ("WriteOnly" if message["count"] == 1 else "WriteLast") + ("Imm" if imm else "") if last else \
            "WriteFirst" if index == 0 else "WriteMiddle"
        port, label = layout.ev_fields(ev)
        headers = self.responder().network(plane)
        ip = {"dscp": self.dscp("rtx" if rtx else "data"), "ecn": 2, "hop_limit": 64}
        for header in ("ipv6", "outer_ipv6"):
            if header in headers:
                headers[header] = {**headers[header], **ip, "flow_label": label if header == "ipv6" else 0}
        headers["udp"] = {**headers["udp"], "src_port": port}
        headers["bth"] = {"opcode": OPCODES[name], "p_key": self.pkey, "dqp": self.peer_qp, "a": int(ask), "rtx": rtx,
                          "ts": int(self.stamps), "psn": psn & 0xFFFFFF}
        headers["meth"] = {"msn": message["msn"] & 0xFFFF, "rqmsn": message["rqmsn"] & 0xFFFF if imm else 0}
        if self.stamps:
            headers["tseth"] = {"tx_timestamp16": layout.stamp(self.nic.now), "tsr": layout.tsr, "ftype": 1}
        headers["reth"] = {"va": message["remote"] + index * self.mtu, "r_key": message["rkey"],
                           "dma_length": message["bytes"]}
        if imm and last:
            headers["immdt"] = {"value": message["imm"]}
        return packets.Packet(headers, data)

    # ---- EVs --------------------------------------------------------------------------------------------------------

    def _walk(self):
        """The EVs in the order in which they are tried from here, without end."""
        nic, evs, planes = self.nic, self.evs, self.nic.planes
        while True:
            if nic.ways.walk == "turn":
                self.turn = (self.turn + 1) % len(evs)
                yield evs[self.turn]
                continue
            self.plane_turn = (self.plane_turn + 1) % planes
            row = self.order.setdefault(self.plane_turn, [])
            if not row:
                row += evs[self.plane_turn::planes]
                if nic.ways.walk == "random":
                    nic.random.shuffle(row)
            yield row.pop(0)

    def _next_ev(self, before, barred=None):
        for count, ev in enumerate(self._walk()):
            if count > 4 * len(self.evs):
                break
            if self.ev_state[ev] == SKIP:
                if self.nic.now < self.skip_until.get(ev, 0):
                    continue
                self.skips[ev] -= 1
                self.ev_state[ev] = SKIP if self.skips[ev] else GOOD
                continue
            if self.ev_state[ev] == GOOD and self.nic.usable(self.evs.index(ev) % self.nic.planes, self.peer_ip) and \
                    (ev != before and self.evs.index(ev) % self.nic.planes != barred or count > 2 * len(self.evs)):
                return ev
        return None

    def mark(self, ev):
        """The EV loses a turn."""
        mode = self.nic.settings.get("CTRL.skip_mode", 0)
        if self.ev_state.get(ev) == SKIP and mode == 1:
            self.skips[ev] = 2
        elif self.ev_state.get(ev) == GOOD:
            self.ev_state[ev], self.skips[ev] = SKIP, 1
            if mode >= 2:
                self.skip_until[ev] = self.nic.now + self.nic.settings.get("EV_CTL.skip_ticks", 94) * PROBE_TICK

    def _spares(self, plane):
        """Other planes of the QP lose, too, and this is not the loss in so many that counts (A-87)."""
        share = min(self.nic.settings.get("EV_CTL.loss_share", 0), 4)
        if not share:
            return False
        others = [p for p, lost in self.lost_on.items() if p != plane and self.nic.now - lost < WORLD]
        self.lost_on[plane] = self.nic.now
        if not others or 2 * len(others) < self.nic.planes:
            return False
        self.spared = (self.spared + 1) % (1 << share)
        return self.spared != 0

    def blame(self, ev):
        """A packet on it was lost."""
        if self.ev_state.get(ev) not in (GOOD, SKIP) or not self.nic.usable(self.evs.index(ev) % self.nic.planes, self.peer_ip):
            return
        plane = self.evs.index(ev) % self.nic.planes
        if self._spares(plane):
            return
        standby = [e for e in self.evs[plane::self.nic.planes] if self.ev_state[e] == STANDBY]
        active = sum(state in (GOOD, SKIP) for state in self.ev_state.values())
        if not standby and active - 1 < self.nic.settings.get("EV_CTL.min_active", 8):
            return
        self.ev_state[ev] = BAD
        if standby:
            self.ev_state[standby[0]] = GOOD
        self.good_answers[ev], self.failures[ev] = 0, 0
        self._probe_later(ev)

    def _probe_later(self, ev):
        tick = self.nic.settings.get("EV_PROBE.interval", 781) * PROBE_TICK
        wait = tick << min(self.failures[ev], self.nic.settings.get("EV_PROBE.cap", 6))
        self.nic.at(self.nic.now + wait, lambda: self._probe(ev))

    def _probe(self, ev):
        nic = self.nic
        if self.state != "rts" or self.ev_state[ev] != BAD:
            return
        plane = self.evs.index(ev) % nic.planes
        self.probe_id = (self.probe_id + 1) % 0x8000
        number = self.probe_id
        self.probing[number] = ev
        kind = {1: "ev", 2: "reliability"}.get(nic.settings.get("EV_PROBE.kind"), nic.way("probe", "A-32"))
        if nic.up.get(plane, True):
            self.send_probe(number, ev, plane, kind == "reliability")

        def late():
            if self.probing.pop(number, None) is not None:
                self._probe_failed(ev)
        nic.at(nic.now + max(self.rto, 2 * 15_000_000), late)

    def send_probe(self, number, ev, plane, reliability, dscp=None):
        """A reliability or EV probe, in the QP's class of data unless its caller gives a code point."""
        nic, layout = self.nic, self.nic.layout
        port, label = layout.ev_fields(ev)
        headers = self.responder().network(plane)
        for header in ("ipv6", "outer_ipv6"):
            if header in headers:
                headers[header] = {**headers[header], "dscp": self.dscp("data") if dscp is None else dscp, "ecn": 2,
                                   "flow_label": label if header == "ipv6" else 0}
        headers["udp"] = {**headers["udp"], "src_port": port}
        headers["bth"] = {"opcode": OPCODES["ProbeRequest" if reliability else "EndpointRequest"], "p_key": self.pkey,
                          "dqp": self.peer_qp if reliability else CONSTANTS["EndpointDqp"], "psn": 0 if reliability else number}
        stamp = {"tx_timestamp16": layout.stamp(nic.now), "tsr": layout.tsr, "ftype": 1}
        if reliability:
            headers["peth"] = {"probe_id": number, "spdcid": self.number, "dpdcid": self.peer_qp, **stamp}
        else:
            headers["erth"] = {"op": 1, **stamp}
        nic.send_packet(packets.Packet(headers), plane)

    def probe_answered(self, number, endpoint, m):
        ev = self.probing.pop(number, None)
        if ev is None or self.ev_state[ev] != BAD:
            return
        if m == 2:
            self._probe_failed(ev)
            return
        self.good_answers[ev] += 1
        if self.good_answers[ev] >= self.nic.settings.get("EV_PROBE.successes", self.nic.way("answers", "A-32")):
            plane = self.evs.index(ev) % self.nic.planes
            backup = [e for e in self.evs[plane::self.nic.planes] if self.ev_state[e] == GOOD and e in self.backup]
            if backup and ev not in self.backup:
                self.ev_state[backup[-1]] = STANDBY
            self.ev_state[ev] = GOOD
        else:
            self._probe_later(ev)

    def _probe_failed(self, ev):
        self.failures[ev] = min(self.failures[ev] + 1, self.nic.settings.get("EV_PROBE.cap", 6))
        if not self.nic.settings.get("EV_PROBE.keep_count"):
            self.good_answers[ev] = 0
        self._probe_later(ev)

    def deny(self, ev, deny):
        if ev in self.ev_state:
            self.ev_state[ev] = DENIED if deny else GOOD

    def port(self, plane, up):
        for psn, flight in self.flights.items():
            if not up and not self.nic.ways.port_wait and flight.times and psn not in self.reported and \
                    self.evs.index(flight.ev) % self.nic.planes == plane:
                self.again.add(psn)
        self.nic.at(self.nic.now + 100_000, self.pump)

    # ---- answers ----------------------------------------------------------------------------------------------------

    def heard(self, packet):
        if self.state != "rts":
            return
        if packet.opcode == OPCODES["Sack"]:
            self.sack(packet)
        elif packet.opcode == OPCODES["Nack"]:
            self.nack(packet)
        elif packet.opcode == OPCODES["Ack"]:
            self.ack(packet)
        self.pump()

    def _report(self, psn):
        if self.una <= psn < self.nxt and psn in self.flights:
            self.reported.add(psn)
            self.again.discard(psn)

    def _move(self):
        before = self.una
        while self.una in self.reported:
            self.reported.discard(self.una)
            self.flights.pop(self.una)
            self.una += 1
        if self.una != before:
            self.retry, self.moved, self.asked, self.unheard = 0, self.nic.now, False, 0
            if self.nic.ways.restart:
                due = self.nic.now + self._interval()
                for flight in self.flights.values():
                    flight.due = max(flight.due, due)
            self._tick(self.nic.now + self._interval())

    def sack(self, packet):
        cack = wrap(packet.get("seth.cack_psn"), self.una, 24)
        if cack >= self.nxt:
            return
        base = cack + packet.get("seth.sack_offset")
        bits = packet.get("seth.sack_bitmap")
        trigger = None if packet.get("seth.pr") else cack + packet.get("seth.ack_psn_offset")
        if self.dynamic and cack >= self.una - 1 and 1 <= packet.get("seth.mpr") <= 32:
            self.granted = packet.get("seth.mpr")
        if trigger is None:
            self.probe_answered(packet.get("seth.ack_psn_offset") & 0xFFFF, False, packet.get("seth.m"))
        flight = self.flights.get(trigger)
        if flight and flight.times and flight.ev == packet.get("seth.entropy"):
            if packet.get("seth.m") == 1:
                self.mark(flight.ev)
            elif packet.get("seth.m") == 2:
                self.blame(flight.ev)
        same = self._same_ev(trigger, flight)
        told = trigger is not None and (trigger < self.una or trigger in self.reported)
        for psn in [p for p in self.flights if p <= cack]:
            self._report(psn)
        for i in range(64):
            if bits >> i & 1:
                self._report(base + i)
        self._move()
        self._gaps(packet.get("cc_state.ooo_count"), trigger, base)
        self._aged(self._answered(packet, trigger, flight, told), flight, cack, base)
        if same is not None and same in self.flights and same not in self.reported:
            self.lose(same)

    def _same_ev(self, trigger, flight):
        """The oldest packet not reported, if the trigger left after it on the same EV."""
        on = self.nic.settings.get("REORDER.same_ev", int(self.nic.way("same_ev", "A-08")))
        oldest = min((p for p in self.flights if p not in self.reported), default=None)
        if not on or oldest is None or flight is None or trigger <= oldest or trigger in self.reported:
            return None
        first = self.flights[oldest]
        if len(first.times) == 1 and len(flight.times) == 1 and first.ev == flight.ev and oldest not in self.again and \
                first.times[0] < flight.times[0]:
            return oldest
        return None

    def _gaps(self, ooo, trigger, base):
        need = self.nic.settings.get("REORDER.pkts", self.nic.way("gap", "A-08"))
        if ooo < need or trigger is None or not self.reported:
            return
        high = max(trigger, *self.reported)
        for psn, flight in self.flights.items():
            if psn <= high - need and base <= psn < base + 64 and psn not in self.reported and flight.times and \
                    len(flight.times) == 1 and not flight.by_gap:
                flight.by_gap = True
                self.lose(psn)

    def _answered(self, packet, trigger, flight, told):
        """When that was sent which this SACK answers: a question, or a packet that has arrived; None if nobody knows."""
        stamp = packet.get("cc_state.tx_timestamp16")
        if trigger is None:
            asked = self.questions if packet.get("seth.ack_psn_offset") & 0xFFFF != 0xFFFF else ()
            return next((t for t in reversed(asked) if self.nic.layout.stamp(t) == stamp), None)
        if not flight or not flight.times or told and len(flight.times) > 1 or trigger in self.flights and \
                trigger not in self.reported:
            return None
        if self.stamps:
            return next((t for t, _ in reversed(flight.times) if self.nic.layout.stamp(t) == stamp), None)
        return flight.times[0][0] if len(flight.times) == 1 and self.longest else None

    def _aged(self, at, answered, cack, base):
        """A-83: what is missing and was sent long before what a SACK answers is lost."""
        if at is None:
            return
        took, before = self.nic.now - at, self.longest
        self.unheard = min(self.unheard, 1)
        self.longest = max(took, self.longest * 255 // 256)
        spare = (max(took, before) if self.stamps or not answered else before) * 3 // 4
        for psn, flight in self.flights.items():
            missing = base <= psn < base + 64 or psn == cack + 1 == self.una
            if self.nic.on("time", "A-83", "CTRL.time_wait") and flight.times and psn not in self.reported and missing and \
                    flight.times[-1][0] < at - spare and (not answered or len(answered.times) == 1 or len(flight.times) > 1):
                if self.lose(psn):
                    flight.by_time = flight.by_time or self.nic.now + self._interval()

    def lose(self, psn):
        flight = self.flights[psn]
        if psn in self.again or flight.due >= 1 << 59:  # it is on its way out again
            return False
        self.again.add(psn)
        flight.lost = True
        self.blame(flight.ev)
        return True

    def nack(self, packet):
        psn, reason = wrap(packet.get("neth.nack_psn"), self.una, 24), packet.get("neth.reason")
        if reason == UNEXP:
            if self.una <= psn < self.nxt:
                self.fail("fatal")
            return
        flight = self.flights.get(psn)
        if flight is None or psn in self.reported or not flight.times or psn in self.again:
            return
        fits = flight.ev == packet.get("neth.entropy")
        if not fits and not self.nic.way("stale", "A-29"):
            return
        self.trims = self.trims or reason in (TRIMMED, LASTHOP)
        if reason == TRIMMED and fits:
            self.mark(flight.ev)
        oldest = min(p for p in self.flights if p not in self.reported)
        if reason in (6, 7, 10, 11) and psn == oldest and not self._retry():
            return

        def again():
            if self.state == "rts" and psn in self.flights and psn not in self.reported:
                self.again.add(psn)
                self.pump()
        flight.due, flight.lost, flight.by_time = 1 << 60, False, None
        if reason in (6, 7, 10, 11):
            self.nic.at(self.nic.now + self.nic.ways.back_off, again)
        else:
            again()

    def came_back(self, packet):
        """A switch has sent a packet of ours back: it is lost, unless it is an older copy."""
        psn = wrap(packet.get("bth.psn"), self.una, 24)
        flight = self.flights.get(psn)
        if self.state == "rts" and flight and flight.times and psn not in self.reported and psn not in self.again and \
                packet.get("bth.rtx") == int(len(flight.times) > 1) and flight.ev == packet.ev and flight.due < 1 << 59:
            self.again.add(psn)
            self.blame(flight.ev)
            flight.due = 1 << 60
            self.pump()

    def ack(self, packet):
        syndrome = packet.get("aeth.syndrome")
        psn = wrap(packet.get("bth.psn"), self.una, 24)
        msn = wrap(packet.get("aeth.msn"), self.done_msn, 16)
        if syndrome >> 5 == 3:
            if self.una - 1 <= psn < self.nxt:
                self._done(msn)
                self.fail(NAMES.get(syndrome, "other"))
            return
        sent = self.done_msn
        for message in self.messages:
            if any(m is message for m, _ in self.unsent):
                break
            sent = message["msn"] + 1
        if syndrome >> 5 or psn >= self.nxt or not self.done_msn < msn <= sent:
            return
        for p in [p for p in self.flights if p <= psn]:
            self._report(p)
        self._move()
        self._done(msn)

    def _done(self, msn):
        while self.messages and self.messages[0]["msn"] < msn and \
                not any(m is self.messages[0] for m, _ in self.unsent):
            self._complete(self.messages.pop(0)["wr_id"], "ok")
            self.done_msn += 1

    # ---- the timer --------------------------------------------------------------------------------------------------

    def _interval(self):
        shift = max(0, self.retry - self.linear)
        low, high = self.nic.ways.late
        return int((self.rto << min(shift, 27)) * (low + (high - low) * self.nic.random.random()))

    def _retry(self):
        """One more without progress; False: the QP has failed."""
        if self.retry >= self.linear + self.exponential and self.exponential != FOR_EVER:
            self.fail("retries")
            return False
        self.retry += 1
        return True

    def _tick(self, when):
        if not self.ticking:
            self.ticking = True
            self.nic.at(min(when, self.nic.now + self.rto // 8), self._look)

    def _look(self):
        self.ticking = False
        nic = self.nic
        if self.state != "rts":
            return
        open_ = {p: f for p, f in self.flights.items() if p not in self.reported}
        oldest = min(open_, default=None)
        if self.messages and self.nxt > self.first and not self.asked and nic.way("asks", "A-75") and not self._by_silence() \
                and not nic.settings.get("CTRL.state_silent") and nic.now > self._since() + self.rto // 4:
            self.asked = True
            self._ask(1)
        for psn, flight in sorted(open_.items()):
            if psn not in self.again and flight.times and flight.due <= nic.now:
                if psn == oldest and not self._retry():
                    return
                self.lose(psn)
                flight.due, flight.by_time = nic.now + (1 << 60), None
        waits = self.messages and not open_ and not any(m is self.messages[0] for m, _ in self.unsent)
        if waits and nic.now >= self.moved + self._interval():
            if not self._retry():
                return
            self.moved = nic.now
            self._ask_for_ack()
        self.pump()
        if self.messages:
            self._tick(nic.now + self.rto // 8)

    def _since(self):
        return max([self.moved] + [f.times[-1][0] for f in self.flights.values() if f.times][:1])

    # ---- questions --------------------------------------------------------------------------------------------------

    def _by_silence(self):
        return self.nic.on("silence", "A-84", "CTRL.silence_wait") and not self.nic.settings.get("CTRL.state_silent")

    def _ask(self, planes):
        """Reliability probes on so many planes."""
        usable = [p for p in range(self.nic.planes) if self.nic.usable(p, self.peer_ip)]
        self.questions.append(self.nic.now)
        for plane in usable[:planes]:
            good = [ev for ev in self.evs[plane::self.nic.planes] if self.ev_state[ev] == GOOD]
            self.send_probe(STATE_PROBE, (good or self.evs[plane:])[0], plane, True)

    def _listen(self):
        """A-84: asks once it has heard nothing of its packets for a while, again after twice the time."""
        if self.listens or not self._by_silence() or self.state != "rts" or not self.messages:
            return
        waiting = any(p not in self.reported for p in self.flights)
        wait = (self.longest * 9 // 8 or FIRST_WAIT) * (1 if waiting else 2) << min(max(self.unheard - 1, 0), 6)
        self.listens = True

        def look():
            self.listens = False
            if self.nic.now >= self.quiet + wait and self.state == "rts" and self.messages and self.nxt > self.first:
                self._ask(2)
                self.quiet, self.unheard = self.nic.now, self.unheard + 1
            self._listen()
        self.nic.at(max(self.quiet + wait, self.nic.now + 1), look)

    def _ask_for_ack(self):
        """Everything is reported and an ACK is missing (A-17)."""
        nic = self.nic
        if nic.way("tail", "A-17") == "probe":
            plane = next((p for p in range(nic.planes) if nic.usable(p, self.peer_ip)), 0)
            self.send_probe(STATE_PROBE, self.evs[plane], plane, True)
            return
        psn = self.nxt - 1
        flight = Flight(*self.newest)
        flight.tail = True
        flight.times.append((0, self.evs[0]))
        self._send(psn, flight, 1, True)
