# SPDX-License-Identifier: Apache-2.0
"""Runs one compiled vector against one device.

Matching is deterministic: an expectation takes the first record that fits and that none has taken, in the order of
arrival at the tester, not before the packets that were sent last; between ports no order is asserted closer than the
device's latency. What was taken is never given back."""
import time
from fractions import Fraction

from . import packets
from .bed import REGION_ADDR, Bed
from .device import counter, words
from .errors import Deviation, DeviceError, PacketError, Unsupported
from .evaluate import Evaluator, Moment, ValueTrouble
from .memory import pattern
from .peer import Override, Peer, control_packet, data_packet, first_ev, returned
from .records import Record, Unbound, show

MAX_STEPS = 1_000_000
WALL_SECONDS = 120.0
REPAIRS = 3
LAWFUL_DISCARDS = {0x06, 0x07, 0x0A}  # NO_BITMAP, NO_PKT_BUFFER, NO_RESOURCE
DATA_EV = 0x8000_0400


class Result:
    """disposition: pass, deviates, unsupported, fail, error."""

    def __init__(self, vector):
        self.id, self.kind = vector["id"], vector["kind"]
        self.vector = vector
        self.disposition, self.reason, self.place, self.remedy = "pass", "", "", ""
        self.events, self.flags, self.notes = [], [], []
        self.step = None
        self.not_run = False      # because of devices before
        self.broken = ""          # a rule that holds in every vector, if it was that
        self.seconds = 0.0

    def as_json(self):
        vector = self.vector
        out = {"id": self.id, "disposition": self.disposition, "kind": self.kind, "rules": vector["rules"],
               "citation": vector["cite"], "marks": vector["marks"], "assumptions": vector["assumes"],
               "purpose": vector["purpose"], "reason": self.reason, "seconds": round(self.seconds, 3)}
        for key in ("not_run", "broken", "place", "remedy", "events", "flags", "notes"):
            if getattr(self, key):
                out[key] = getattr(self, key)
        return out


def run_vector(device, vector, wall=WALL_SECONDS):
    """The Result. Nothing is raised for what the device does; DeviceError that ends the process becomes `error`."""
    result = Result(vector)
    start = time.monotonic()
    engine = None
    try:
        engine = Engine(device, vector, result, start + wall)
        engine.run()
    except Unsupported as error:
        result.disposition, result.reason = "unsupported", error.sentence
    except Deviation as error:
        hard = error.rule or any(mark in ("S", "S2", "S2+") for mark in vector["marks"]) or not vector["marks"]
        result.disposition = "fail" if hard else "deviates"
        result.reason, result.events = error.sentence, error.events
        result.step, result.broken = error.step, error.rule or ""
        if error.step:
            result.place = f"{vector['file']}:{error.step['at'][0]}: {error.step['src']}"
    except (DeviceError, ValueTrouble, PacketError, Unbound) as error:
        result.disposition, result.reason, result.remedy = "error", error.sentence, error.remedy
        if engine and engine.step:
            result.place = f"{vector['file']}:{engine.step['at'][0]}: {engine.step['src']}"
            result.events = engine.bed.recent() if engine.bed else []
    result.seconds = time.monotonic() - start
    return result


class Engine:
    """One run of one vector."""

    def __init__(self, device, vector, result, wall):
        self.vector, self.result, self.wall = vector, result, wall
        self.step, self.bed = None, None
        self.bed = Bed(device, vector, wall)
        self.bed.peer = Peer(self.bed, self.bed.own)
        self.values = Evaluator(self.bed)
        self.count = 0
        self.bed.run(1_000_000)
        self.point = self.bed.now      # where `within` counts from
        self.seen = (self.bed.now, -1, None)   # (time, index, plane): first fit looks from here
        self.burst = False             # the last statement sent something
        self.quiet = {"sack", "ack", "probe", "request", "response"}
        self.posted = False
        self.repair = True
        self.repairs = 0
        self.drops = 0
        self.sends = []                # (psn, plane, step) of whole packets of messages
        self.looked = 0                # records before it were looked at
        self.repaired = set()          # records of NACKs that were repaired

    def run(self):
        self.steps(self.vector["steps"])
        self.step = None
        self.wait(self.bed.now + self.bed.rtt)
        if self.bed.deviations:
            raise self.bed.deviations[0]
        for record in self.bed.records:
            if not record.bound and not self._background(record):
                raise Deviation(f"nothing asked for this packet: {record.text()}", None, self.bed.recent())

    def _background(self, record):
        if record.kind in self.quiet or record.index in self.repaired:
            return True
        if record.kind == "write":
            return self.posted
        if record.kind == "cqe":
            return record.entry.get("status") == "ok"
        return False

    # ---- statements -------------------------------------------------------------------------------------------------

    def steps(self, steps):
        for step in steps:
            self.one(step)

    def one(self, step):
        self.step = step
        self.count += 1
        if self.count > MAX_STEPS:
            raise DeviceError(f"the vector takes more than {MAX_STEPS} steps.")
        if self.count % 64 == 0 and time.monotonic() > self.wall:
            raise DeviceError("the vector takes too long by the clock on the wall.", "Raise --wall.")
        if self.bed.deviations:
            raise self.bed.deviations[0]
        handler = getattr(self, "_do_" + step["do"], None)
        if handler is None:
            raise ValueTrouble(f"there is no statement '{step['do']}'.")
        handler(step)
        self.step = step
        self.burst = step["do"] == "send" or (self.burst and step["do"] in ("msg", "let", "mem"))

    def wait(self, until, done=None):
        if time.monotonic() > self.wall:
            raise DeviceError("the vector takes too long by the clock on the wall.", "Raise --wall.")
        def checked():
            self._lawful_discards()
            return done() if done else False
        return self.bed.run(until, checked)

    def fail(self, sentence, step=None):
        if self.bed.deviations:
            raise self.bed.deviations[0]
        raise Deviation(sentence, step or self.step, self.bed.recent())

    # ---- what the tester sends --------------------------------------------------------------------------------------

    def _do_msg(self, step):
        whole = self.values.whole
        addr = whole(step["addr"]) if "addr" in step else 0
        imm = whole(step["imm"], 0, 0xFFFFFFFF) if "imm" in step else None
        r_key = step.get("r_key")
        if r_key not in (None, "wrong"):
            r_key = whole(r_key, 0, 0xFFFFFFFF)
        seq = whole(step["seq"]) if "seq" in step else len(self.bed.messages) + 1
        length = whole(step["len"], 0, 1 << 31)
        self.values.names[step["name"]] = self.bed.message(step["name"], length, addr, seq, imm, r_key)

    def _do_send(self, step):
        plane = step["plane"] or 0
        if plane >= self.bed.planes:
            raise ValueTrouble(f"p{plane}: the vector has {self.bed.planes} planes.")
        packet = step["packet"]
        psn, maker = None, None
        if packet["kind"] == "bytes":
            frame, text = bytes.fromhex(packet["hex"]), "bytes"
        elif packet["kind"] == "data":
            frame, text, psn = self._data(step, packet)
            message = self.values.names[packet["msg"]]
            maker = (message, psn - message.first)
            psn = self._raw_psn(step, psn)
        elif packet["kind"] == "back":
            frame, text = self._back(step, packet)
        else:
            frame, text = self._control(step, packet, plane)
        frame = self._switch(frame, step)
        whole = not any(key in step for key in ("trim", "cut", "fcs_bad")) and step.get("icrc", "good") == "good" and \
            ("flip" not in step or self._unharmed(frame))
        after = self.values.whole(step["after"], 0, 1 << 45) if "after" in step else 0
        t = self.bed.send(frame, plane, text, psn if whole else None, after, step.get("fcs_bad", False),
                          maker[0].qp if maker else None)
        if maker and whole and "raw" not in step:
            self.sends.append((psn, plane, maker, len(self.bed.records)))
        if not self.burst:
            self.seen = (self.bed.now, len(self.bed.records) - 1, None)
        self.point = t
        self.values.last_send = t
        if "as" in step:
            self.values.names[step["as"]] = Moment(t)

    def _unharmed(self, frame):
        """Is the ICRC right all the same? What was flipped may lie outside of it."""
        try:
            return packets.decode(frame, layout=self.bed.layout).icrc_good
        except PacketError:
            return False

    def _raw_psn(self, step, psn):
        """The PSN that the packet really has."""
        for path, value in step.get("raw", ()):
            if path == "bth.psn":
                psn = packets.wrap(self.values.whole(value) & 0xFFFFFF, psn, 24)
        return psn

    def _options(self, step):
        out = {}
        for key in ("rtx", "ackreq", "dscp", "ecn"):
            if key in step:
                out[key] = self.values.whole(step[key], 0, 63)
        out["plane"] = step["plane"] or 0
        out["ev"] = self.values.whole(step["ev"], 0, 0xFFFFFFFF) if "ev" in step else DATA_EV + out["plane"]
        return out

    def _data(self, step, packet):
        message = self.values.names[packet["msg"]]
        index = self.values.whole(packet["index"], 0, message.count - 1)
        built = data_packet(self.bed, message, index, self._options(step))
        if "payload" in step:
            payload = step["payload"]
            built.payload = bytes.fromhex(payload) if isinstance(payload, str) else \
                pattern(message.seq, index * message.step, self.values.whole(payload["len"], 0, 9000))
        text = f"{message.name}[{index}]" + "".join(
            f" {key}" for key in ("rtx", "ackreq", "trim", "fcs_bad") if step.get(key)) + \
            (" ecn ce" if step.get("ecn") == 3 else "")
        return self._build(built, step), text, built.headers["bth"]["psn"]

    def _control(self, step, packet, plane):
        values = {}
        for key, value in packet["fields"].items():
            if key == "has":
                values[key] = [psn for low, *high in value for psn in
                               range(self.values.whole(low), self.values.whole(high[0] if high else low) + 1)][:64]
            else:
                values[key] = self.values.whole(value)
        kind = packet["kind"]
        if kind == "sack":
            if "entropy" not in values:
                values["entropy"] = first_ev(self.bed, values.get("trigger", values["cack"]))
            self.bed.peer.last_sack = {key: values[key] for key in values if key not in ("probe", "pr")}
        if kind == "nack" and "entropy" not in values:
            values["entropy"] = first_ev(self.bed, values["psn"])
        ev = self.values.whole(step["ev"]) if "ev" in step else 0xE000_0200 + plane
        built = control_packet(self.bed, self.bed.own, kind, values, ev, plane)
        if "dscp" in step or "ecn" in step:
            for key in ("dscp", "ecn"):
                if key in step:
                    for name in ("ipv6", "outer_ipv6"):
                        if name in built.headers:
                            built.headers[name] = {**built.headers[name], key: self.values.whole(step[key], 0, 63)}
        words = " ".join(f"{key} {show(f'@{key}', value, self.bed) if isinstance(value, int) else '...'}"
                         for key, value in values.items() if key in ("cack", "trigger", "psn", "msn", "mpr", "id", "m"))
        return self._build(built, step), f"{kind} {words}"

    def _back(self, step, packet):
        record = self.values.value(packet["of"])
        if not isinstance(record, Record) or record.packet is None:
            raise ValueTrouble("'back' needs a packet of the device: * > write psn sq_psn as w, then back w.")
        built = returned(record, packet["swapped"])
        if "dscp" in step:
            outermost = next(name for name in ("outer_ipv6", "ipv6", "ipv4") if name in built.headers)
            built.headers[outermost]["dscp"] = self.values.whole(step["dscp"], 0, 63)
        return self._build(built, step), f"{record.name()} come back"

    def _build(self, built, step):
        raw = {path: self.values.whole(value) for path, value in step.get("raw", ())}
        icrc = step.get("icrc", "good")
        flips = step.get("flip", ())
        if isinstance(icrc, dict) and "flip" in icrc:
            frame = packets.build(built, raw, flips=flips, layout=self.bed.layout)
            mask = self.values.whole(icrc["flip"], 1, 0xFFFFFFFF).to_bytes(4, "little")
            return frame[:-4] + bytes(a ^ b for a, b in zip(frame[-4:], mask))
        icrc = icrc if isinstance(icrc, str) else self.values.whole(icrc)
        return packets.build(built, raw, icrc, flips, self.bed.layout)

    def _switch(self, frame, step):
        """What happens on the way: trimming, bytes cut off or put behind."""
        if "trim" in step:
            trim = step["trim"]
            frame = packets.trim(frame, self.values.whole(trim["size"], 60, 9000), trim["lengths"],
                                 self.values.whole(trim["dscp"], 0, 63), trim["where"])
        if "cut" in step:
            frame = frame[:self.values.whole(step["cut"], 1, 9000)]
        if "append" in step:
            frame += bytes(self.values.whole(step["append"], 0, 4000))
        return frame

    # ---- expectations -----------------------------------------------------------------------------------------------

    def _find(self, fit, low, after, plane, start=0):
        """First fit: not taken, arrived since `low`, and on the port of the last match behind it."""
        records = self.bed.records
        for index in range(start, len(records)):
            record = records[index]
            if record.bound or record.t < low:
                continue
            if record.plane is not None and record.plane == plane and index <= after:
                continue
            if fit(record):
                return record
        return None

    def _window(self, step):
        """(earliest, index, plane, deadline) of an expectation."""
        within = self.values.whole(step["within"], 0, 1 << 45) if "within" in step else self.bed.rtt
        if "from" in step:
            start = self.values.whole(step["from"])
            return start, -1, None, start + within
        time_, index, plane = self.seen
        slack = self.bed.lat if plane is not None else 0
        return time_ - slack, index, plane, self.point + within

    def _match(self, step, window=None):
        """The record, or None after the deadline."""
        fit = self.values.fit(step["pattern"])
        low, index, plane, deadline = window or self._window(step)
        while True:
            found, scanned = [], [0]

            def done():
                record = self._find(fit, low, index, plane, scanned[0])
                scanned[0] = len(self.bed.records)  # what did not fit never will
                if record is not None:
                    found.append(record)
                return bool(found)
            self.wait(max(deadline, self.bed.now), done)
            if found and found[0].t <= deadline:
                return found[0]
            if self._repair_round():
                deadline = self.bed.now + self.bed.rtt
                continue
            return None

    def _bind(self, record, step, move=True):
        record.bound = True
        if move:
            self.seen = (record.t, record.index, record.plane)
            self.point = max(self.point, record.t)
        if "as" in step:
            self.values.names[step["as"]] = record

    def _do_expect(self, step):
        record = self._match(step)
        if record is None:
            self.fail(f"expected, and not seen in time: {step['src']}.{self._near(step)}")
        self._bind(record, step)

    def _near(self, step):
        """Of the right kind, but other than asked for."""
        kind = step["pattern"]["kind"]
        near = [r for r in self.bed.records if r.kind == kind and r.t >= self.seen[0] - self.bed.lat]
        return f" Of this kind came: {near[-1].text()}." if near else ""

    def _do_optional(self, step):
        record = self._match(step)
        if record is not None:
            self._bind(record, step)

    def _do_none(self, step):
        fit = self.values.fit(step["pattern"])
        start = self.values.whole(step["from"]) if "from" in step else self.point
        if "to" in step:
            stop = self.values.whole(step["to"])
        else:
            stop = start + (self.values.whole(step["within"], 0, 1 << 45) if "within" in step else self.bed.rtt)

        scanned, found = [0], []

        def wrong():
            records = self.bed.records
            for index in range(scanned[0], len(records)):
                if start < records[index].t <= stop and fit(records[index]):
                    found.append(records[index])
                    break
            scanned[0] = len(records)
            return bool(found)
        if not wrong():
            self.wait(stop, wrong)
        record = found[0] if found else None
        if record is not None:
            self.fail(f"must not come: {step['src']}. It came: {record.text()}")
        self.point = max(self.point, stop)

    def _do_any(self, step):
        open_, low = list(step["steps"]), self.seen
        within = {"within": step["within"]} if "within" in step else {}
        best = self.seen
        windows = [self._window({**within, **inner}) for inner in open_]
        fits = [self.values.fit(inner["pattern"]) for inner in open_]
        left = set(range(len(open_)))
        while left:
            deadline = max(windows[i][3] for i in left)
            scanned = [0]

            def done(scanned=scanned):
                records = self.bed.records
                for record in records[scanned[0]:]:
                    for i in sorted(left):
                        if not record.bound and windows[i][0] <= record.t <= windows[i][3] and \
                                not (record.plane == windows[i][2] and record.index <= windows[i][1]) and fits[i](record):
                            self._bind(record, open_[i], move=False)
                            left.discard(i)
                            break
                scanned[0] = len(records)
                return not left
            if self.wait(max(deadline, self.bed.now), done):
                break
            if self._repair_round():
                windows = [(a, b, c, self.bed.now + self.bed.rtt) for a, b, c, _ in windows]
                continue
            missing = [open_[i]["src"] for i in sorted(left) if open_[i]["do"] == "expect"]
            if missing:
                self.fail(f"expected in any order, and not seen in time: {'; '.join(missing)}.")
            break
        bound = [r for r in self.bed.records if r.bound]
        if bound:
            best = max(bound, key=lambda r: (r.t, r.index))
            self.seen = (max(low[0], best.t), best.index, best.plane)
            self.point = max(self.point, best.t)

    def _do_set(self, step):
        low, high = (self.values.whole(value) for value in step["range"])
        if high < low or high - low > 1 << 16:
            raise ValueTrouble(f"the range {low} .. {high} has no element or more than 65536.")
        fit = self.values.fit(step["pattern"])
        start, _, _, deadline = self._window(step)
        missing, scanned, newest = set(range(low, high + 1)), [0], []

        def done():
            for record in self.bed.records[scanned[0]:]:
                if not record.bound and record.t >= start and record.t <= deadline and fit(record):
                    psn = record.value(step["field"])
                    if psn not in missing:
                        self.fail(f"{self.bed.own.name_of_psn(psn)} came twice: {record.text()}")
                    missing.discard(psn)
                    record.bound = True
                    newest.append(record)
            scanned[0] = len(self.bed.records)
            return not missing
        if not self.wait(max(deadline, self.bed.now), done):
            first = min(missing)
            self.fail(f"of the set {len(missing)} are missing, first {self.bed.own.name_of_psn(first)}: {step['src']}.")
        if newest:
            self.seen = (newest[-1].t, newest[-1].index, None)
            self.point = max(self.point, newest[-1].t)

    def _do_either(self, step):
        taken = self._branch(step)
        if taken is None:
            words = " or ".join("{ " + branch[0]["src"] + " }" for branch in step["branches"])
            self.fail(f"none of these: either {words}.")
        index, record = taken
        branch = step["branches"][index]
        if "flag" in step:
            self.result.flags.append({"flag": step["flag"], "branch": index + 1, "text": branch[0]["src"]})
        if record is not None:
            self._bind(record, branch[0])
        self.steps(branch[1:])

    def _branch(self, step):
        """(branch, record): decided by the first that is seen; a condition is asked at once, `none` at its end."""
        heads = [branch[0] for branch in step["branches"]]
        for index, head in enumerate(heads):
            if head["do"] == "check" and self.values.true(head["cond"]):
                return index, None
        expects = [(i, self.values.fit(h["pattern"]), self._window(h)) for i, h in enumerate(heads)
                   if h["do"] == "expect"]
        nones = [i for i, head in enumerate(heads) if head["do"] == "none"]
        found, scanned = [], [0]

        def done():
            records = self.bed.records
            for record in records[scanned[0]:]:
                for index, fit, (low, after, plane, deadline) in expects:
                    if not record.bound and low <= record.t <= deadline and \
                            not (record.plane == plane and record.index <= after) and fit(record):
                        found.append((index, record))
                        return True
            scanned[0] = len(records)
            return False
        if expects:
            self.wait(max([self.bed.now] + [window[3] for _, _, window in expects]), done)
            if found:
                return found[0]
        for index in nones:
            try:
                self._do_none(heads[index])
                return index, None
            except Deviation:
                continue
        return None

    def _do_check(self, step):
        if not self.values.true(step["cond"]):
            if "flag" in step:
                self.result.flags.append({"flag": step["flag"], "branch": 0, "text": step["src"]})
            self.fail(f"does not hold: {step['src']}{self._sides(step['cond'])}.")

    def _sides(self, cond):
        if isinstance(cond, dict) and cond.get("op") in ("==", "!=", "<", ">", "<=", ">=", "in"):
            left = self.values.number(cond["a"])
            right = self.values.number(cond["b"])
            shown = [str(v) if isinstance(v, int) else f"{float(v):.4g}" for v in (left, right)]
            return f" (left {shown[0]}, right {shown[1]})"
        return ""

    def _do_assume(self, step):
        if not self.values.true(step["cond"]):
            raise Unsupported(f"{step['why']}: {step['src']}{self._sides(step['cond'])}")

    def _do_each(self, step):
        fit = self.values.fit(step["pattern"])
        low = self.values.number(step["from"]) if "from" in step else 0
        high = self.values.number(step["to"]) if "to" in step else self.bed.now
        within = self.values.whole(step["within"], 0, 1 << 45)
        name = step["as"]
        found = [r for r in self.bed.records if low <= r.t <= high and fit(r)]
        for record in found:
            self.values.names[name] = record
            if "where" in step and not self.values.true(step["where"]):
                continue
            then = self.values.fit(step["then"])

            def answered(record=record, then=then):
                return any(record.t < r.t <= record.t + within and then(r) for r in self.bed.records[record.index + 1:])
            if not answered() and not self.wait(record.t + within, answered) and not answered():
                self.fail(f"this was not followed as it should: {record.text()}")
        self.point = max(self.point, self.bed.now)

    def _do_until(self, step):
        deadline = self.bed.now + self.values.whole(step["within"], 0, 1 << 45)
        if not self.values.true(step["cond"]) and not self.wait(deadline, lambda: self.values.true(step["cond"])) \
                and not self.values.true(step["cond"]):
            self.fail(f"did not come true in time: {step['src']}.")
        self._moved()

    def _moved(self):
        """Time has passed: `within` counts from now."""
        self.point = max(self.point, self.bed.now)

    # ---- control ----------------------------------------------------------------------------------------------------

    def _do_repeat(self, step):
        times = self.values.whole(step["times"], 0, 100_000)
        start = len(self.bed.records)
        for _ in range(times):
            self.steps(step["steps"])
        self.step = step
        if "pattern" in step:
            fit = self.values.fit(step["pattern"])
            self.values.names[step["as"]] = _tally([r for r in self.bed.records[start:] if fit(r)], step["by"])

    def _do_if(self, step):
        self.steps(step["steps"] if self.values.true(step["cond"]) else step.get("else", ()))

    def _do_let(self, step):
        value = self.values.value(step["value"])
        self.values.names[step["name"]] = value

    def _next(self, step, times):
        """The next `times` records that fit, from now on."""
        fit = self.values.fit(step["pattern"])
        start = [len(self.bed.records)]
        found = []

        def done():
            for record in self.bed.records[start[0]:]:
                if fit(record):
                    found.append(record)
                    if len(found) >= times:
                        start[0] = record.index + 1
                        return True
            start[0] = len(self.bed.records)
            return False
        within = self.values.whole(step["within"], 0, 1 << 45) if "within" in step else \
            8 * self.bed.rto + times * self.bed.rtt
        if times and not self.wait(self.bed.now + within, done):
            self.fail(f"{len(found)} of {times} came in time: {step['src']}.")
        for record in found:
            record.bound = True
        self._moved()
        return found

    def _do_count(self, step):
        found = self._next(step, self.values.whole(step["times"], 0, 100_000))
        self.values.names[step["as"]] = _tally(found, step["by"])

    def _do_share(self, step):
        found = self._next(step, self.values.whole(step["times"], 1, 100_000))
        self.values.names[step["as"]] = {key: Fraction(count, len(found))
                                         for key, count in _tally(found, step["by"]).items()}

    def _do_skip(self, step):
        self._next(step, self.values.whole(step["times"], 0, 100_000))

    def _do_settle(self, step):
        self.wait(self.bed.now + self.values.whole(step["time"], 0, 1 << 45))
        self._moved()

    # ---- memory -----------------------------------------------------------------------------------------------------

    def _do_mem(self, step):
        address = REGION_ADDR + self.values.whole(step["addr"])
        size = self.values.whole(step["len"], 0, 1 << 20)
        if "seq" in step:
            wanted = pattern(self.values.whole(step["seq"]), 0, size)
        elif "byte" in step:
            wanted = bytes([self.values.whole(step["byte"], 0, 255)]) * size
        if step["what"] == "fill":
            self.bed.memory.write(address, wanted)
            return
        if "after" in step:
            start = self.values.whole(step["from"]) if "from" in step else self.point
            self.wait(start + self.values.whole(step["after"], 0, 1 << 45))
            self._moved()
        if step["what"] == "any":
            return
        if step["what"] == "digest":
            self.wait(self.bed.now + self.bed.lat, lambda: self.bed.memory.read(address, size) == wanted)
        got = self.bed.memory.read(address, size)
        if got != wanted:
            at = next(i for i in range(size) if got[i] != wanted[i])
            self.fail(f"memory differs at buf+{address - REGION_ADDR + at}: {got[at]:#04x} is there, {wanted[at]:#04x} "
                      f"belongs there: {step['src']}.")

    # ---- ports and network ------------------------------------------------------------------------------------------

    def _named_time(self, step):
        self._moved()
        if "as" in step:
            self.values.names[step["as"]] = self.bed.now

    def _do_carrier(self, step):
        self.bed.port(step["plane"], step["up"])
        self._named_time(step)

    def _do_blackhole(self, step):
        if "ev" in step:
            self.bed.ev_holes.add(self.values.whole(step["ev"]))
        else:
            self.bed.holes[step["plane"]] = step["way"]
        self._named_time(step)

    def _do_heal(self, step):
        if "ev" in step:
            self.bed.ev_holes.discard(self.values.whole(step["ev"]))
        else:
            self.bed.holes.pop(step["plane"], None)
        self._named_time(step)

    # ---- the device's verbs -----------------------------------------------------------------------------------------

    def _do_post(self, step):
        whole = self.values.whole
        self.posted = True
        if "as" in step:
            self.values.names[step["as"]] = Moment(self.bed.now)
        self.seen = (self.bed.now, len(self.bed.records) - 1, None)
        self._moved()
        self.bed.post(whole(step["len"], 0, 0xFFFFFFFF), whole(step["count"], 0, 1 << 24),
                      whole(step["remote"]) if "remote" in step else 0, whole(step["imm"]) if "imm" in step else None,
                      whole(step["r_key"]) if "r_key" in step else None, whole(step["source"]) if "source" in step else 0)

    def _do_new_qp(self, step):
        changes = {key: value if key == "state" else self.values.whole(value) for key, value in step["set"].items()}
        first = self.bed.peer
        qp = self.bed.add(step["name"], step["peer"], changes)
        qp.peer = Peer(self.bed, qp)
        qp.peer.auto, qp.peer.every, qp.peer.delay = first.auto, first.every, first.delay
        self.values.names[step["name"]] = qp.number
        self._moved()

    def _do_with(self, step):
        with self.bed.about(step["qp"]):
            self.steps(step["steps"])

    def _do_recv(self, step):
        self.bed.device.call({"call": "recv", "qp": self.bed.qp, "count": self.values.whole(step["count"], 0, 1 << 16)})

    def _do_qp(self, step):
        changes = {key: value if key == "state" else self.values.whole(value) for key, value in step["set"].items()}
        if not step.get("again"):
            self.bed.set_qp(changes)
            return
        self.bed.again(changes)
        self.bed.peer.begin()
        self.sends = [entry for entry in self.sends if entry[2][0].qp is not self.bed.own]
        self._moved()

    def _do_reset(self, step):
        self.bed.reset()
        self._moved()

    def _do_modify(self, step):
        changes = {key: self.values.whole(value) for key, value in step.get("set", {}).items()}
        why, names = self.bed.modify(step["state"], step["with"], changes)
        said = "done" if why is None else f"refused ({' '.join([why, *names])})"
        self.bed.note(f"{self.bed.now / 1e6:.3f} us  modify to {step['state']}: {said}")
        self._moved()
        if (why is not None) != step["refused"]:
            self.fail(f"the order was {said}: {step['src']}.")

    def _do_query(self, step):
        state = self.bed.device.call({"call": "query", "qp": self.bed.qp}).get("state")
        if state != step["state"]:
            self.fail(f"the QP is in the state {words(state, 20)}: {step['src']}.")

    def _do_ev(self, step):
        self.bed.software({"call": "ev", "qp": self.bed.qp, "ev": self.values.whole(step["ev"]), "deny": step["deny"]})

    def _do_evprobe(self, step):
        message = {"call": "evprobe", "qp": self.bed.qp, "plane": step["plane"], "ev": self.values.whole(step["ev"], 0, 0xFFFFFFFF)}
        if "tc" in step:
            message["tc"] = self.values.whole(step["tc"], 0, 63)
        self._moved()
        self.bed.software(message)

    def _do_memory(self, step):
        self.bed.device.call({"call": "memory", "takes": step["takes"]})
        self.bed.note(f"{self.bed.now / 1e6:.3f} us  the host's memory {'takes' if step['takes'] else 'holds back'} writes")

    def _do_mpr(self, step):
        self.bed.software({"call": "mpr", "qp": self.bed.qp, "units": self.values.whole(step["units"], 0, 255)})

    def _do_mr(self, step):
        self.bed.region(step["valid"])

    def _do_counters(self, step):
        answer = self.bed.device.call({"call": "counters"})
        values = answer.get("counters")
        self.values.names[step["as"]] = {key: value for key, value in (values if isinstance(values, dict) else {}).items()
                                         if isinstance(value, int) and not isinstance(value, bool)}

    # ---- the tester's peer ------------------------------------------------------------------------------------------

    def _do_peer(self, step):
        self.bed.peer.auto = step["mode"] == "auto"
        self.bed.peer.every = self.values.whole(step.get("sack", 1), 1, 1 << 20)
        if "delay" in step:
            self.bed.peer.delay = self.values.whole(step["delay"], 0, 1 << 45)

    def _do_on(self, step):
        times = self.values.whole(step["count"], 1, 100_000)
        override = self._override(step, times)
        within = self.values.whole(step["within"], 0, 1 << 45) if "within" in step else \
            8 * self.bed.rto + times * self.bed.rtt
        if not self.wait(self.bed.now + within, lambda: len(override.hits) >= times):
            self.fail(f"{len(override.hits)} of {times} came in time: {step['src']}.")
        self.bed.peer.overrides.remove(override)
        for record in override.hits:
            record.bound = True
        self._moved()
        if "as" in step:
            self.values.names[step["as"]] = override.hits[-1]

    def _do_when(self, step):
        self._override(step, -1)

    def _override(self, step, times):
        answer = dict(step["answer"])
        answer["fields"] = {key: self.values.whole(value) for key, value in answer["fields"].items()}
        if "delay" in answer:
            answer["delay"] = self.values.whole(answer["delay"], 0, 1 << 45)
        skip = self.values.whole(step["nth"], 1, 1 << 20) - 1 if "nth" in step else 0
        override = Override(self.values.fit(step["pattern"]), skip, times, answer)
        self.bed.peer.overrides.append(override)
        return override

    def _do_background(self, step):
        if "answer" in step:
            self.bed.peer.answer_probes = True
        else:
            self.quiet = set(step["ignore"])

    def _do_repair(self, step):
        self.repair = step["on"]

    # ---- what a device may discard ----------------------------------------------------------------------------------

    def _lawful_discards(self):
        """repair on: a packet that was NACKed for want of room is sent again, as its sender would."""
        if not self.repair:
            return
        looked, self.looked = self.looked, len(self.bed.records)
        for record in self.bed.records[max(0, min(looked, self.looked - 8)):]:
            if record.kind != "nack" or record.bound or record.index in self.repaired:
                continue
            if record.packet.get("neth.reason") in LAWFUL_DISCARDS:
                again = [entry for entry in self.sends
                         if entry[0] == record.value("@nack_psn") and entry[2][0].qp is record.qp]
                if again:
                    self.repaired.add(record.index)
                    self.result.notes.append(f"sent again after {record.text()}")
                    self._again(again[-1])

    def _repair_round(self):
        """repair on, and the device counts a discard: what was never reported is sent again. False: nothing to mend."""
        if not self.repair or self.repairs >= REPAIRS or not self.sends:
            return False
        newest = {(entry[2][0].qp.index, entry[0]): entry for entry in self.sends}
        missing = [entry for entry in newest.values() if entry[0] not in entry[2][0].qp.reported]
        if not missing:
            return False
        drops = counter(self.bed.device.call({"call": "counters"}), "silent_drops")
        if drops is None or drops <= self.drops:
            return False
        self.drops = drops
        self.repairs += 1
        self.result.notes.append(f"the device counts {drops} discards: {len(missing)} packets were sent again")
        for entry in missing:
            self._again(entry)
        return True

    def _again(self, entry):
        psn, plane, (message, index), _ = entry
        step = {"plane": plane, "rtx": 1, "ackreq": 1}
        frame = packets.build(data_packet(self.bed, message, index, self._options(step)), layout=self.bed.layout)
        self.point = self.values.last_send = self.bed.send(frame, plane, f"{message.name}[{index}] rtx (repair)", psn,
                                                            of=message.qp)


def _tally(found, path):
    out = {}
    for record in found:
        key = record.value(path)
        out[key] = out.get(key, 0) + 1
    return out
