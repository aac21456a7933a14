# SPDX-License-Identifier: Apache-2.0
"""usage: engine.py [MRC]

The engine against NICs in this process. Legal ones pass; each broken one is failed by the vectors that should, and by
which words: no check that cannot fail."""
from common import HEAD, holds, run_tests, same, vector
from mrcscript import engine, legal, packets, runner

PLAIN = legal.VARIANTS[0]


def run(body, nic=None, head=HEAD.replace("responder requestor", "responder")):
    return engine.run_vector(nic or legal.LegalNic(PLAIN), vector(body, head), 20)


class CackPlusOne(legal.Responder):
    def _sack_headers(self, packet, psn, plane, probe=None):
        headers = super()._sack_headers(packet, psn, plane, probe)
        headers["seth"]["cack_psn"] += 1
        return headers


class BitmapShifted(legal.Responder):
    def _sack_headers(self, packet, psn, plane, probe=None):
        headers = super()._sack_headers(packet, psn, plane, probe)
        headers["seth"]["sack_bitmap"] <<= 1
        return headers


class NoAck(legal.Responder):
    def _owe_ack(self, plane):
        pass


class WritesTrimmed(legal.Responder):
    def _trimmed(self, packet, psn, plane, have):
        super()._trimmed(packet, psn, plane, have)
        self.nic.out.append({"out": "write", "t": self.nic.now, "addr": 0x10000000, "data": packet.rest.hex() or "00"})


class WritesDuplicates(legal.Responder):
    def data(self, packet, plane):
        if packet.payload:
            self.nic.out.append({"out": "write", "t": self.nic.now, "addr": 0x10000000, "data": packet.payload.hex()})
        super().data(packet, plane)


class WrongReason(legal.Responder):
    def _nack(self, packet, psn, plane, reason):
        super()._nack(packet, psn, plane, legal.NO_BITMAP)


class CeLost(legal.Responder):
    def _sack_headers(self, packet, psn, plane, probe=None):
        headers = super()._sack_headers(packet, psn, plane, probe)
        headers["seth"]["m"] = 0
        return headers


class WindowPlusOne(legal.Responder):
    def data(self, packet, plane):
        self.mpr_dest += 1 / 128
        super().data(packet, plane)
        self.mpr_dest -= 1 / 128


class Overtakes(legal.Responder):
    def _take(self, packet, psn, plane):
        value = packet.get("immdt.value")
        super()._take(packet, psn, plane)
        if value is not None and psn > self.cack:
            self._receive(packet.get("meth.rqmsn"), value, packet.get("reth.dma_length"))


class Unchecked(legal.Responder):
    def _wrong(self, packet):
        return None if packet.get("reth.r_key") in self.nic.regions else legal.ACCESS


class SilentDrop(legal.Responder):
    """Loses a packet without a word and without counting it."""

    def data(self, packet, plane):
        if packet.get("bth.psn") in self.gone or packet.trimmed:
            super().data(packet, plane)
        self.gone.add(packet.get("bth.psn"))


class WrongIcrc(legal.LegalNic):
    def send(self, headers, plane):
        frame = bytearray(packets.build(packets.Packet(headers)))
        frame[-1] ^= 1
        self.at(self.now + 1, lambda: self.out.append({"out": "tx", "plane": plane, "t": self.now, "t_last": self.now,
                                                       "frame": frame.hex()}))


class ReservedBit(legal.LegalNic):
    def send(self, headers, plane):
        headers["bth"]["reserved2"] = 1
        super().send(headers, plane)


class LooksAway(legal.LegalNic):
    """Takes packets with a wrong ICRC."""

    def _frame(self, frame, plane):
        super()._frame(frame[:-4] + packets.icrc_of(_parts(frame), frame[_behind(frame):-4]).to_bytes(4, "little"), plane)


def _parts(frame):
    cursor, headers = packets._Cursor(frame), {}
    packets._network(cursor, headers)
    for name in ("udp", "bth"):
        cursor.take(name, headers)
    for name in packets.transport_headers(headers["bth"]["opcode"], headers["bth"]["ts"]) or ():
        cursor.take(name, headers)
    return cursor.parts[1:]


def _behind(frame):
    return 14 + sum(len(data) for _, data in _parts(frame))


def broken(kind):
    if issubclass(kind, legal.LegalNic):
        return kind(PLAIN)
    nic = legal.LegalNic(PLAIN)
    nic.responder = kind
    return nic


SHOULD = {  # broken NIC: vectors of which at least these fail
    CackPlusOne: {"R-SACK-001", "R-SACK-002"}, BitmapShifted: {"R-SACK-002"}, NoAck: {"R-SACK-001", "R-DUP-001"},
    WritesTrimmed: {"R-TRIM-021"}, WritesDuplicates: {"R-DUP-001", "R-TRIM-021"},
    WrongReason: {"R-TRIM-001", "R-TRIM-021", "R-WIN-001"}, CeLost: {"R-ECN-001"},
    WindowPlusOne: {"R-WIN-001", "R-WIN-002"}, Overtakes: {"R-IMM-001"}, Unchecked: {"R-NAK-002", "R-NAK-003"},
    SilentDrop: {"R-SACK-001", "R-PROBE-001"}, WrongIcrc: {"R-SACK-001", "R-TRIM-001"}, ReservedBit: {"R-SACK-001"},
    LooksAway: {"H-DROP-001", "H-DROP-002"},
}


def ours():
    from common import ROOT
    return runner.load(runner.scripts_of(ROOT + "/conformance/vectors"))


def test_broken_nics_are_failed_by_the_vectors_that_should():
    known = {v["id"]: v for v in ours()}
    for kind, wanted in SHOULD.items():
        for name in sorted(wanted):
            result = engine.run_vector(broken(kind), known[name], 20)
            same(result.disposition, "fail", f"{kind.__name__} on {name}: {result.reason}")
            holds(result.events, "a finding has its last events")


def test_deviation_and_failure():
    head = HEAD.replace("responder requestor", "responder")
    body = "msg m = write len 64\np0 < m[0]\n* > sack cack m[0] within rtt"
    same(run(body, head=head).disposition, "fail", "marks S2")
    same(run(body, head=head.replace("mark S2", "mark U, A")).disposition, "deviates", "marks U and A alone")
    result = run(body, broken(WrongIcrc), head.replace("mark S2", "mark A"))
    same(result.disposition, "fail", "a rule of every vector is broken, whatever the vector's mark")


def test_first_fit_is_bound_and_in_order():
    body = "msg m = write len 8192\np0 < m[0] ackreq\np0 < m[1] ackreq\n"
    same(run(body + "> sack trigger m[0] within rtt\n> sack trigger m[1] within rtt").disposition, "pass", "in order")
    result = run(body + "> sack trigger m[1] within rtt\n> sack trigger m[0] within rtt")
    same(result.disposition, "fail", "on one port never before the last match")
    holds("trigger m[0]" in result.reason, result.reason)
    result = run(body + "> sack trigger m[0] within rtt\n> sack trigger m[0] within rtt")
    same(result.disposition, "fail", "what was taken stays taken")
    same(run(body + "any order { > sack trigger m[1] ; > sack trigger m[0] } within rtt").disposition, "pass", "any")


def test_times():
    body = "msg m = write len 64\np0 < m[0] ackreq as x\n"
    same(run(body + "> sack cack m[0] within 10 ns").disposition, "fail", "too late")
    same(run(body + "none > sack within rtt from x").disposition, "fail", "it came")
    same(run(body + "none > sack within 10 ns from x").disposition, "pass", "not yet")
    same(run(body + "> sack cack m[0] within rtt as s\nexpect s.t - x <= lat and s.t > x").disposition, "pass", "times")


def test_either():
    body = "msg m = write len 64\np0 < m[0] ackreq as x\n"
    result = run(body + "either { none > sack within rtt from x } or { > sack cack m[0] within rtt } flag A-1")
    same((result.disposition, result.flags[0]["branch"]), ("pass", 2), "what is seen decides")
    result = run(body + "either { > nack within rtt } or { none > nak within rtt }")
    same(result.disposition, "pass", "none at its end")
    result = run(body + "either { > nack within rtt } or { > nak within rtt }")
    same(result.disposition, "fail", "none of them")
    result = run(body + "either { > sack cack m[0] within rtt\n mem same buf 4 = 1 } or { > ack msn 1 within rtt }")
    same(result.disposition, "fail", "no way back")


def test_unasked_packets_are_findings():
    body = "msg m = write len 64\np0 < m[0] trim 90\nsettle rtt"
    result = run(body, head=HEAD.replace("responder requestor", "responder trim_nack"))
    same(result.disposition, "fail", "a NACK that nothing asked for")
    holds(result.reason.startswith("nothing asked for this packet"), result.reason)
    same(run("background ignore nack sack\n" + body).disposition, "pass", "background")


def test_unsupported():
    same(run("settle", head=HEAD).disposition, "unsupported", "no requestor")
    result = run("assume 1 == 2 else unsupported \"never\"")
    same((result.disposition, result.reason[:5]), ("unsupported", "never"), "assume")
    head = HEAD.replace("responder requestor", "responder") + "setting A-1 NO.such 1\n"
    same(run("settle", head=head).disposition, "unsupported", "a setting that it has not")


def test_values_that_are_not_there():
    for body in ("msg m = write len 64\np0 < m[1]", "expect 1 / 0 == 1", "let x = last(> nack)",
                 "let x = max(count(> sack by ev))", "if 1 == 2 { let y = 1 }\nexpect y == 1"):
        same(run(body).disposition, "error", body)


def test_repair():
    drops = legal.LegalNic(next(v for v in legal.VARIANTS if v.name == "discards"))
    body = "msg m = write len 16384 at buf seq 1\np0 < m[0] ; p0 < m[1] ; p0 < m[2] ; p0 < m[3] ackreq\n" \
           "> ack msn 1 within rtt\nmem digest buf 16384 = seq 1"
    result = run(body, drops)
    same(result.disposition, "pass", result.reason)
    holds(result.notes and "discards" in result.notes[0], "the repair is told")
    same(run("repair off\n" + body, drops).disposition, "fail", "repair off")
    same(run(body, broken(SilentDrop)).disposition, "fail", "a loss that is not counted is none that may be repaired")


def test_universal_rules_need_no_statement():
    body = "msg m = write len 64\np0 < m[0] ackreq\nsettle rtt"
    for kind, word in ((WrongIcrc, "wire.icrc"), (ReservedBit, "wire.reserved"), (CackPlusOne, "resp.cack-arrived")):
        result = run(body, broken(kind))
        same(result.disposition, "fail", kind.__name__)
        holds(result.reason.startswith(word), result.reason)


def test_psns_are_unwrapped():
    head = HEAD.replace("responder requestor", "responder") + "profile rq_psn 0xFFFFFF\n"
    body = "msg m = write len 12288\np0 < m[0]\np0 < m[1]\np0 < m[2] ackreq\n> sack cack m[2] seth.cack_psn 1 as s\n" \
           "expect s.cack == rq_psn + 2"
    same(run(body, head=head).disposition, "pass", "2^24")


run_tests(globals())
