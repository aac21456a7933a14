# SPDX-License-Identifier: Apache-2.0
"""The test bed around one device: time, ports, the host's memory, the work that is posted. Knows no statements."""
import contextlib
import heapq
import time

from . import packets
from .device import facts, hex_bytes, number, outputs, words
from .errors import Deviation, DeviceError, PacketError, Unsupported
from .layout import Layout
from .memory import Memory
from .qps import FIRST, FIRST_PSN, OF_A_QP, PEER_IPS, PSNS_APART, Qp, of_the_own
from .records import Message, Record, kind_of

R_KEY = 0x1234
REGION_VA, REGION_ADDR, REGION_BYTES = 0x7000_0000_0000, 0x1000_0000, 1 << 20
SOURCE_ADDR, SOURCE_BYTES = 0x2000_0000, 1 << 20
REMOTE_VA = 0x6000_0000_0000
DUT_MAC, DUT_IP = "02:00:00:00:00:02", "fd00::2"
PATH = "fcbb:0:100:200::"
HOST_LATENCY = 200_000
SLACK = 150_000         # below all latencies of the bed: outputs may come together within it
PENDING = 1_000_000_000  # the longest that a call of software may take
CLOSEST = 24            # preamble, FCS, gap: bytes between frames
MAX_LATENCY = 10 ** 9   # ps; a device that is slower than a millisecond is not tried
MAX_RECORDS = 400_000
MAX_CALLS = 3_000_000
MAX_TIME = 4 * 10 ** 12
MAX_STILL = 4096         # answers without any time passing
TRACE = 14
FOR_EVER = 96           # so many posts are open when the work never ends
DEFAULTS = {"mtu": 4096, "sq_psn": 0x2000, "rq_psn": 0x1000, "msn": 0, "rqmsn": 0, "dynamic_mpr": 0,
            "retry_linear": 7, "retry_exp": 25, "svc_time": 0, "time_stamps": 0, "controlled": 0, "pkey": 0xFFFF}
ITS_OWN = {"mpr": 8, "mpr_dest": 8, "max_wimm": 32, "max_wimm_dest": 32, "timeout": 7}  # if the device says nothing
CLASS = ("class_data", "class_rtx")
FLAGS = ("dynamic_mpr", "svc_time", "time_stamps", "controlled", "trim_nack")
QP_FIELDS = (*DEFAULTS, *ITS_OWN, "trim_nack")
REFUSED = ("no", "transition", "attributes", "value")


class Bed:
    """Opens the device for one vector. Everything that it does becomes a Record."""

    def __init__(self, device, vector, wall):
        self.device, self.vector, self.wall, self.still = device, vector, wall, 0
        self.memory = Memory()
        self.now = 0
        self.pending, self.order = [], 0
        self.records = []
        self.trace = []
        self.qps, self.own = [], None  # own: of which the script is speaking
        self.holes = {}           # plane -> in, out, both
        self.ev_holes = set()
        self.carrier = {}
        self.calls, self.undone = 0, 0
        self.life = 0
        self.told = None          # how an order to modify ended
        self.deviations = []      # of rules that hold in every vector
        self.planes = vector["planes"]
        self.layout = Layout(vector["settings"])
        self.evs = [((0xC000 + 7 * i) << 16) | (0x0100 + 3 * i) for i in range(vector["evs"])]
        self._open()

    # ---- the device's beginning -------------------------------------------------------------------------------------

    def _open(self):
        vector = self.vector
        answer = self.device.call({"call": "open", "version": 1, "planes": self.planes, "settings": vector["settings"],
                                   "seed": 1})
        self.facts = facts(answer)
        caps = self.facts["caps"]
        if self.facts["planes"] < self.planes:
            raise Unsupported(f"the device has {self.facts['planes']} planes; the vector needs {self.planes}.")
        lacking = [cap for cap in vector["caps"] if cap not in caps]
        if vector["encap"] != "ipv6" and vector["encap"] not in caps:
            lacking.append(vector["encap"])
        if lacking:
            raise Unsupported(f"the device has no {', '.join(sorted(set(lacking)))}.")
        if self.facts["latency"] > MAX_LATENCY:
            raise Unsupported(f"the device's latency is {self.facts['latency'] / 1e6:g} us; at most "
                              f"{MAX_LATENCY / 1e6:g} us are tried.")
        self.lat = max(self.facts["latency"], 100_000)
        self.rtt = 2 * self.lat + 2_000_000
        self.free_at = [0] * self.planes
        self.device.call({"call": "address", "mac": DUT_MAC, "ip": DUT_IP})
        self.region(True)
        self.own = self._new(FIRST, 1, {})
        if "modify" in vector["caps"]:  # the script takes it from RESET
            most = {"mpr": self.facts["mpr"], "max_wimm": self.facts["max_wimm"]}
            self._given({name: min(value, most.get(name.removesuffix("_dest"), value)) for name, value in ITS_OWN.items()})
        else:
            self._given(self.set_qp({**self.profile, "state": "rts"}, first=True))

    def _new(self, name, to, changes):
        """A QP of which the device knows nothing yet."""
        caps, index = self.facts["caps"], len(self.qps)
        if index >= self.facts["qps"]:
            raise Unsupported(f"the device has {self.facts['qps']} QP(s); the vector needs one more.")
        profile = {**DEFAULTS, "trim_nack": int("trim_nack" in caps), **self.vector["profile"]}
        for key in ("sq_psn", "rq_psn"):
            profile[key] = (profile[key] + index * PSNS_APART) & 0xFFFFFF
        if "psn" not in caps:
            if any({**self.vector["profile"], **changes}.get(key, 0) for key in FIRST_PSN):
                raise Unsupported("the device cannot begin at another PSN than 0.")
            profile.update(dict.fromkeys(FIRST_PSN, 0))
        if index:
            profile = {key: value for key, value in profile.items() if key not in CLASS}
        profile.update(changes)
        if profile["dynamic_mpr"] and "dyn_mpr" not in caps:
            raise Unsupported("the device has no dyn_mpr.")
        qp = Qp(name, index, self.facts["qp"] + index, to)
        qp.begin(profile)
        self.qps.append(qp)
        return qp

    def _given(self, answer):
        """What the device has made of the QP."""
        for name in list(ITS_OWN) + ["evs", "backup"]:
            given = answer.get(name, self.profile.get(name, ITS_OWN.get(name)))
            if isinstance(given, bool) or not isinstance(given, int):
                continue
            wanted = self.vector["profile"].get(name, self.vector.get(name))
            if name in ITS_OWN:
                wanted = self.profile.get(name, wanted)
            if name == "evs" and not self.evs:
                wanted = None
            if wanted is not None and given != wanted:
                raise Unsupported(f"the device's {name} is {given}; the vector needs {wanted}.")
            self.profile[name] = given

    @property
    def qp(self):
        """The number of the QP of which the script is speaking."""
        return self.own.number

    @property
    def rto(self):
        return 1_024_000 << min(self.profile["timeout"], 24)

    @contextlib.contextmanager
    def about(self, name):
        """The script speaks of that QP."""
        before, self.own = self.own, next(qp for qp in self.qps if qp.name == name)
        try:
            yield
        finally:
            self.own = before

    def add(self, name, to, changes):
        """Another QP of the device; `to`: which of the tester's NICs is its peer."""
        state = changes.pop("state", "rts")
        qp = self._new(name, to, changes)
        with self.about(qp.name):
            self._given(self.set_qp({**self.profile, "state": state}, first=True))
        return qp

    def again(self, changes):
        """The QP is set up again after a reset: its numbers begin as the changes say, else as the vector's."""
        if "state" in changes:
            raise Unsupported("'dut qp again' brings the QP to RTS; it takes no state.")
        profile = {**{key: value for key, value in self.profile.items() if key not in CLASS}, **changes}
        if "psn" not in self.facts["caps"] and any(profile[name] for name in FIRST_PSN):
            raise Unsupported("the device cannot begin at another PSN than 0.")
        self.before += len(self.posts)
        self.own.begin(profile)
        self.set_qp({**{key: value for key, value in profile.items() if key not in ("evs", "backup")}, "state": "rts"},
                    first=True)

    def set_qp(self, changes, first=False):
        message = {"call": "qp", "qp": self.qp}
        if first:
            message.update(self._ends())
        message.update(self._attributes(changes))
        return self.software(message)

    def _ends(self):
        """What the device is told of its peer, and of the paths there."""
        own = self.own
        out = {"peer_qp": own.peer_qp, "peer_ip": own.peer_ip, "peer_mac": own.peer_mac, "encap": self.vector["encap"]}
        if self.evs:
            out.update({"evs": self.evs, "backup": self.vector["backup"]})
        if self.vector["encap"] != "ipv6":
            out["path"] = PATH
        return out

    def _attributes(self, changes):
        """Keys of the call `qp`; the class of the QP is one, what is not named of it as of the NIC (A-79)."""
        out = {key: bool(value) if key in FLAGS else value for key, value in changes.items() if key not in CLASS}
        if any(key in changes for key in CLASS):
            out["class"] = {name: changes.get("class_" + name, self.layout.dscp[name]) for name in ("data", "rtx")}
        return out

    def modify(self, state, attributes, changes):
        """One step of the QP with these attributes: what the device answers, at once or later."""
        message = {"call": "modify", "qp": self.qp, "state": state, "with": attributes, **self._ends()}
        values = {**self.profile, **changes}
        message.update(self._attributes({key: value for key, value in values.items() if key in QP_FIELDS + CLASS}))
        self.told = None
        answer = self.software(message)
        if self.told is not None:
            answer = self.told
        why = answer.get("refused")
        if why is not None and why not in REFUSED[1:]:
            raise DeviceError(f"the device answers modify with refused {words(why, 20)}.",
                              f"docs/reference/device.md: {', '.join(REFUSED[1:])}, or no such key.")
        return why, [words(name, 20) for name in answer.get("attributes", ())][:12] if why else []

    def reset(self):
        """The pin: what the device was doing is no more, and no read of before is answered. Its region is set up again."""
        self.life += 1
        self.undone = 0
        for qp in self.qps:
            qp.backlog, qp.full = [], False
        self.software({"call": "reset"})
        self.region(True)

    def region(self, valid):
        return self.software({"call": "mr", "rkey": R_KEY, "valid": valid, "write": True, "va": REGION_VA,
                              "bytes": REGION_BYTES, "addr": REGION_ADDR})

    def software(self, message):
        """A call that may take the device's time: until it acts."""
        answer = self.device.call(message)
        if answer.get("pending") is True:
            self.undone += 1
            if not self.run(self.now + PENDING, lambda: self.undone == 0):
                raise DeviceError(f"the device did not tell within {PENDING / 1e6:g} us that '{message['call']}' acts.")
        return answer

    # ---- time -------------------------------------------------------------------------------------------------------

    def at(self, when, action):
        """The action is called when the time has come."""
        self.order += 1
        heapq.heappush(self.pending, (max(when, self.now), self.order, action))

    def run(self, until, done=None):
        """Runs to a time, or until done() is true after something the device did. True: done."""
        if until > MAX_TIME:
            raise DeviceError(f"the vector runs beyond {MAX_TIME / 1e12:g} s of the device's time.")
        if done and done():
            return True
        while True:
            self._post_backlog()
            while self.pending and self.pending[0][0] <= self.now:
                heapq.heappop(self.pending)[2]()
            if self.now >= until:
                return False
            got = self._advance(min(until, self.pending[0][0]) if self.pending else until)
            if done and got and done():
                return True

    def _advance(self, target):
        self.calls += 1
        if self.calls > MAX_CALLS:
            raise DeviceError(f"more than {MAX_CALLS} calls in one vector.")
        answer = self.device.call({"call": "advance", "until": target, "slack": SLACK})
        reached = number(answer, "reached", 0, target)
        out = outputs(answer)
        if reached < self.now or (reached == self.now and not out and target > self.now):
            raise DeviceError(f"the device advanced from {self.now} to {reached}; time goes forward.")
        self.still = self.still + 1 if reached == self.now else 0
        if self.still > MAX_STILL:
            raise DeviceError(f"the device stands still: {MAX_STILL} answers at {reached} ps.")
        if time.monotonic() > self.wall:
            raise DeviceError("the vector takes too long by the clock on the wall.", "Raise --wall.")
        self.now = reached
        for entry in out:
            self._output(entry)
        for qp in self.qps if out else ():
            qp.full = False
        return bool(out)

    # ---- what the device does ---------------------------------------------------------------------------------------

    def _output(self, entry):
        what = entry.get("out")
        if what == "tx":
            self._frame(entry)
        elif what == "read":
            address, size = number(entry, "addr"), number(entry, "bytes", 1, 1 << 20)
            tag = number(entry, "tag", -(1 << 63), 1 << 63)
            data = self.memory.read(address, size).hex()
            self.at(self.now + HOST_LATENCY, lambda life=self.life: life == self.life and self.device.call(
                {"call": "host_done", "tag": tag, "t": self.now + 1, "data": data}))
        elif what == "port":
            raise DeviceError(f"the test bed is broken: the carrier of plane {number(entry, 'plane', 0, 63)} "
                              f"{'came' if entry.get('up') else 'went'} by itself at {self.now / 1e6:.1f} us.",
                              "See to the interfaces, then run the vector again.")
        elif what == "write":
            address = number(entry, "addr")
            data = hex_bytes(entry, "data", 1 << 20)
            if not REGION_ADDR <= address <= address + len(data) <= REGION_ADDR + REGION_BYTES:
                self.deviate("mem.region", f"the device wrote {len(data)} bytes at {address:#x}, outside of the region.")
            else:
                self.memory.write(address, data)
        elif what == "cqe":
            of = next((qp for qp in self.qps if qp.number == entry.get("qp", self.qps[0].number)), None)
            if of and not entry.get("receive"):
                of.completed += 1
            self._record("cqe", number(entry, "t", 0, default=self.now), None, None, entry, 0, of)
        elif what == "done":
            self.undone = max(0, self.undone - 1)
            if entry.get("call") == "modify":
                self.told = entry
            if "error" in entry:
                raise DeviceError(f"the device did not do '{words(entry.get('call'), 20)}': {words(entry['error'], 200)}")

    def _frame(self, entry):
        plane = number(entry, "plane", 0, 63)
        if plane >= self.planes:
            raise DeviceError(f"the device sent on plane {plane}; it has {self.planes}.")
        frame = hex_bytes(entry, "frame", packets.MAX_FRAME)
        first = number(entry, "t")
        last = number(entry, "t_last", first, default=first)
        try:
            packet = packets.decode(frame, layout=self.layout)
        except PacketError as error:
            self.deviate("wire.format", f"the device sent on p{plane} a frame that is no packet of MRC: {error.sentence}")
            return
        kind = kind_of(packet)
        there = [qp for qp in self.qps if self.layout.address(packets.ip(qp.peer_ip), plane) == packet.get("ipv6.dst")]
        of = next((qp for qp in there or self.qps if qp.peer_qp == packet.get("bth.dqp")), None)
        record = self._record(kind, last, first, plane, packet, len(frame), of)
        hole = self.holes.get(plane)
        record.lost = hole in ("out", "both") or not self.carrier.get(plane, True) or packet.ev in self.ev_holes
        if not packet.icrc_good:
            self.deviate("wire.icrc", f"the ICRC of this packet is wrong: {record.text()}")
        if record.value("@reserved"):
            self.deviate("wire.reserved", f"a reserved bit of this packet is 1: {record.text()}")
        if kind == "sack":
            self._truthful(record)
        peer = (of or (there or self.qps)[0]).peer
        if not record.lost and peer:
            self.at(last, lambda: peer.heard(record))

    def _record(self, kind, t, first, plane, what, size, of):
        if len(self.records) >= MAX_RECORDS:
            raise DeviceError(f"the device did more than {MAX_RECORDS} things in one vector.")
        packet, entry = (None, what) if kind == "cqe" else (what, None)
        record = Record(self, len(self.records), kind, t, t if first is None else first, plane, packet, entry, size, of)
        self.records.append(record)
        self.note(record.text)
        return record

    def _truthful(self, record):
        """Holds in every vector: a SACK reports only what a whole packet has brought."""
        qp = record.qp
        qp.reported.update([psn for psn in qp.sent if psn not in qp.reported and record.reports(psn)])
        cack, base = record.value("@cack"), record.value("@base")
        bits = record.packet.get("seth.sack_bitmap")
        claimed = [("resp.bitmap", base + i) for i in range(64) if bits >> i & 1 and base + i >= qp.rq_psn]
        if cack >= qp.rq_psn and cack - qp.rq_psn < 1 << 20:
            claimed += [("resp.cack-arrived", psn) for psn in range(qp.rq_psn, cack + 1) if psn not in qp.sent][:1]
        elif cack >= qp.rq_psn:
            claimed.append(("resp.cack-arrived", cack))
        for rule, psn in claimed:
            times = qp.sent.get(psn)
            if not times or times[0] > record.t_first:
                self.deviate(rule, f"{qp.name_of_psn(psn)} is reported, and no whole packet brought it: {record.text()}")
                return

    def deviate(self, rule, sentence):
        """A rule of every vector is broken."""
        if len(self.deviations) < 20:
            self.deviations.append(Deviation(f"{rule}: {sentence}", None, self.recent(), rule))

    # ---- what the tester does ---------------------------------------------------------------------------------------

    def send(self, frame, plane, text, psn=None, after=0, fcs_bad=False, of=None):
        """Queues a frame for the device's port, psn: of a whole packet for the QP `of`. The time of its last byte."""
        wire = (len(frame) + CLOSEST) * 8000 // self.facts["gbps"]
        t = max(self.now + after, self.free_at[plane]) + wire
        self.free_at[plane] = t
        swallowed = self.holes.get(plane) in ("in", "both") or not self.carrier.get(plane, True)
        self.note(lambda: f"{t / 1e6:.3f} us  p{plane} < {text}{' (swallowed by the network)' if swallowed else ''}")
        if swallowed:
            return t
        if psn is not None:
            of.sent.setdefault(psn, []).append(t)
        message = {"call": "rx", "plane": plane, "t": t, "frame": frame.hex()}
        if fcs_bad:
            message["fcs_bad"] = True
        self.at(t + (-len(frame) * 8000) // self.facts["gbps"], lambda: self.device.call(message))  # its first byte
        return t

    def port(self, plane, up):
        self.carrier[plane] = up
        self.device.call({"call": "port", "plane": plane, "up": up, "t": self.now})
        self.note(lambda now=self.now: f"{now / 1e6:.3f} us  p{plane} carrier {'up' if up else 'down'}")

    def message(self, name, length, address, seq, imm, r_key):
        """A message of ours: takes PSNs, an MSN, and an RQMSN if it has an immediate."""
        count = max(1, -(-length // self.mtu))
        message = Message(name, self.next_psn, count, self.mtu, self.next_msn, self.next_rqmsn)
        message.qp = self.own
        message.len, message.va, message.seq, message.imm = length, REGION_VA + address, seq, imm
        message.r_key = R_KEY if r_key is None else R_KEY ^ 0x5A5A if r_key == "wrong" else r_key
        self.messages[name] = message
        self.next_psn += count
        self.next_msn += 1
        self.next_rqmsn += 0 if imm is None else 1
        return message

    def post(self, length, count, remote, imm, r_key, src):
        """Work for the device; count 0: for ever. What it does not take waits."""
        self.backlog.append({"len": length, "left": count if count else -1, "remote": remote, "imm": imm,
                             "r_key": R_KEY if r_key is None else r_key, "src": src or 0})
        self._post_backlog()

    def _post_backlog(self):
        for qp in self.qps:
            while qp.backlog and not qp.full and self._post_one(qp, qp.backlog[0]):
                pass

    def _post_one(self, qp, work):
        """False: no more now."""
        if work["left"] < 0 and len(qp.posts) - qp.completed >= FOR_EVER:
            return False
        offset = (work["src"] + len(qp.posts) * work["len"]) % SOURCE_BYTES
        message = {"call": "post", "qp": qp.number, "wr_id": qp.before + len(qp.posts), "addr": SOURCE_ADDR + offset,
                   "remote": REMOTE_VA + work["remote"], "bytes": work["len"], "rkey": work["r_key"]}
        if work["imm"] is not None:
            message["imm"] = work["imm"]
        if self.device.call(message).get("taken") is False:
            qp.full = True  # until the device has done something
            return False
        packets_of = max(1, -(-work["len"] // qp.mtu))
        qp.posts.append((qp.post_psn, packets_of, SOURCE_ADDR + offset, work["len"]))
        qp.post_psn += packets_of
        qp.post_msn += 1
        work["left"] -= 1
        if work["left"] == 0:
            qp.backlog.pop(0)
        return True

    def posted_data(self, record):
        """1: the payload is that of the post that owns the PSN; 0: it is not; None: no post owns it."""
        if record.of is None:
            return None
        qp, psn = record.of, record.value("@psn")
        low, high = 0, len(qp.posts)
        while low < high:
            middle = (low + high) // 2
            if qp.posts[middle][0] + qp.posts[middle][1] <= psn:
                low = middle + 1
            else:
                high = middle
        if low == len(qp.posts) or psn < qp.posts[low][0]:
            return None
        first, _, address, length = qp.posts[low]
        offset = (psn - first) * qp.mtu
        return int(record.packet.payload == self.memory.read(address + offset, min(qp.mtu, length - offset)))

    # ---- words for findings -----------------------------------------------------------------------------------------

    def note(self, text):
        """What happened, for the last events of a finding; made into words only if one is asked for."""
        self.trace.append(text)
        if len(self.trace) > 4 * TRACE:
            del self.trace[:-TRACE]

    def recent(self):
        return [entry if isinstance(entry, str) else entry() for entry in self.trace[-TRACE:]]

    def name_of_ev(self, ev):
        return f"e{self.evs.index(ev)}" if ev in self.evs else f"{ev:#010x}"


for _name in OF_A_QP:
    setattr(Bed, _name, of_the_own(_name))
