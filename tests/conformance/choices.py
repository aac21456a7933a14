# SPDX-License-Identifier: Apache-2.0
"""usage: choices.py [MRC]

Zero-length WRITEs, immediates that wait, classes, returned packets, SKIP by time, ports: a legal device that takes the
other choice than the vector's, or none, is failed by it; and what scripts have for them does what vectors.md says."""
from common import holds, run_tests, same, vector
from mrcscript import cli, engine, legal, legal_requestor, packets, runner

VECTORS = {made["id"]: made for made in runner.load(runner.scripts_of(cli.VECTORS))}
WALL = 60.0
SENDER = legal_requestor.Sender
HEAD = "id T-1\npurpose p\nmark C\ncite mrc.md 6\ncaps requestor psn class\nplanes 1\nprofile timeout 14\n"


class Other(legal_requestor.LegalRequestor):
    """A device that goes by these settings, whatever it is told, and whose sender is this."""

    def __init__(self, settings=(), sender=SENDER):
        super().__init__(legal_requestor.WAYS[0])
        self.forced, self.sender = dict(settings), sender

    def _call_open(self, message):
        answer = super()._call_open(message)
        self.settings = {**self.settings, **self.forced}
        self.layout = legal.Layout(self.settings)
        return answer


def sender(**methods):
    return type("WrongSender", (SENDER,), methods)


def ran(device, ids):
    """{id: disposition}"""
    return {name: engine.run_vector(device, VECTORS[name], WALL).disposition for name in ids.split()}


def failed(device, ids, what):
    same({name: found for name, found in ran(device, ids).items() if found not in ("fail", "deviates")}, {}, what)


def passed(device, ids, what):
    same({name: found for name, found in ran(device, ids).items() if found != "pass"}, {}, what)


EACH = "R-ZERO-101 R-ZERO-111 R-ZERO-241 R-ZERO-501 R-ZERO-511 Q-ZERO-001 Q-ZERO-081 Q-WIMM-001 Q-WIMM-031 Q-WIMM-033 " \
    "S-A79-QP-001 S-A79-QP-022 S-A79-TWO-001 S-A60-EP-001 R-BACK-001 R-BACK-006 R-BACK-021 Q-BACK-001 Q-BACK-011 Q-BACK-014 " \
    "Q-BACK-021 Q-SKIP-001 Q-SKIP-004 Q-EV0-002 H-WR-014 H-UDP-005 H-UDP-006"


def test_unbroken():
    passed(Other(), EACH, "the frame of this test breaks nothing by itself")


def test_zero_length():
    nak, drop, legal_ = ({"CTRL.zero_length": value} for value in (1, 2, 0))
    failed(Other(nak), "R-ZERO-101 R-ZERO-103 R-ZERO-111 R-ZERO-131 R-ZERO-201 R-ZERO-241 R-ZERO-301 R-ZERO-312 R-ZERO-321 "
           "R-ZERO-331 R-ZERO-511 Q-ZERO-001 Q-ZERO-031 Q-ZERO-051", "a NIC that NAKs them")
    failed(Other(drop), "R-ZERO-101 R-ZERO-111 R-ZERO-205 R-ZERO-306 R-ZERO-411 R-ZERO-501", "a NIC that drops them")
    failed(Other(legal_), "R-NAK-041 R-NAK-042 R-ZERO-501 R-ZERO-511 H-WR-052 Q-ZERO-082", "a NIC that takes them")


def test_immediates_that_wait():
    wait, refuse, error = ({"CTRL.wimm_over": value} for value in (0, 1, 2))
    failed(Other(refuse), "Q-WIMM-001 Q-WIMM-006 Q-WIMM-011 Q-WIMM-033", "a NIC that refuses them")
    failed(Other(wait), "H-WR-056 Q-WIMM-031 Q-WIMM-033", "a NIC that lets them wait")
    failed(Other(error), "Q-WIMM-001 Q-WIMM-031", "a NIC that ends the QP")
    never = Other(sender=sender(_held=lambda self, head: False))
    failed(never, "Q-WIMM-001 Q-WIMM-004 Q-WIMM-011 Q-WIMM-012 Q-WIMM-014 Q-WIMM-016", "a NIC that sends them")
    plain = Other(sender=sender(_held=lambda self, head: bool(self.messages) and head[0] is not self.messages[0]))
    failed(plain, "Q-WIMM-013", "a NIC that lets plain WRITEs wait, too")


def test_classes():
    failed(Other(sender=sender(dscp=lambda self, name: self.nic.layout.dscp[name])), "S-A79-QP-001 S-A79-QP-006 S-A79-QP-007 "
           "S-A79-QP-011 S-A79-QP-013 S-A79-QP-014 S-A79-TWO-001 S-A79-QP-023", "a NIC that has one class")
    kept = {}

    def keeps(self, nic, number, attributes):
        SENDER.__init__(self, nic, number, attributes)
        self.own_class = self.own_class or kept.get(number)

    def remembers(self, name):
        kept[self.number] = self.own_class
        return SENDER.dscp(self, name)
    failed(Other(sender=sender(__init__=keeps, dscp=remembers)), "S-A79-QP-022", "a NIC that keeps the class")
    failed(Other({"DSCP_TX.ep": 9}), "S-A60-EP-001 S-A60-EP-004", "a NIC whose requests have its own code point")


def test_returned():
    alike, drop, learn = ({"CTRL.returned": value} for value in (2, 0, 1))
    failed(Other(alike), "R-BACK-001 R-BACK-002 R-BACK-003 R-BACK-004 R-BACK-011 R-BACK-014 R-BACK-017 Q-BACK-011",
           "a NIC that tells none apart")
    failed(Other(drop), "R-BACK-021 Q-BACK-011 Q-BACK-014 Q-BACK-016 Q-BACK-018", "a NIC that drops them")
    failed(Other(learn), "Q-BACK-001 Q-BACK-003", "a NIC that learns")
    failed(Other({"DSCP_TRIM.returned_valid": 0}), "Q-BACK-014", "a NIC that has no code point for them")

    def every(self, packet):
        psn = packets.wrap(packet.get("bth.psn"), self.una, 24)
        self.again |= {psn} if psn in self.flights else set()
        self.pump()
    failed(Other(sender=sender(came_back=every)), "Q-BACK-021", "a NIC that takes late copies for news")
    uncounted = Other()
    uncounted.learned = lambda packet: None
    failed(uncounted, "Q-BACK-011 Q-BACK-014", "a NIC whose requestor does not hear")


def test_skip():
    once, timed = ({"CTRL.skip_mode": value} for value in (0, 2))
    failed(Other(once), "Q-SKIP-001 Q-SKIP-003", "a NIC whose SKIP ends with the walk")
    failed(Other(timed), "Q-SKIP-004", "a NIC whose SKIP takes time")


def test_ports():
    failed(Other({"UDP_PORT.port": 4791}), "H-WR-014 H-SACK-036", "a NIC that sends to 4791")
    failed(Other({"UDP_PORT.only": 0}), "H-UDP-005 H-UDP-006", "a NIC that takes both")


def test_ev_0():
    def zero(self, nic, number, attributes):
        SENDER.__init__(self, nic, number, {**attributes, "evs": attributes.get("evs", [0, 5])})
    failed(Other(sender=sender(__init__=zero)), "Q-EV0-001", "a NIC that makes EV 0")


# ---- what scripts have for it ---------------------------------------------------------------------------------------

def test_class_of_a_qp():
    """class is one key of the call; what is not named of it is the NIC's."""
    seen = []

    class Listens(Other):
        def call(self, message):
            if message.get("call") == "qp":
                seen.append(message)
            return super().call(message)
    body = "profile class_data 10\nbackground ignore write\ndut post write len 64\n* > write dscp 10\n" \
        "dut qp class_rtx 11\nsettle\ndut qp mpr 4\n"
    same(engine.run_vector(Listens(), vector(body, HEAD)).disposition, "pass", "it runs")
    same([message.get("class") for message in seen], [{"data": 10, "rtx": 8}, {"data": 4, "rtx": 11}, None], "classes")
    holds(all("class_data" not in message and "class_rtx" not in message for message in seen), "no other key")


def test_one_qp_is_too_few():
    class Single(Other):
        def _call_open(self, message):
            return {**super()._call_open(message), "qps": 1}
    found = engine.run_vector(Single(), VECTORS["S-A79-TWO-001"])
    same((found.disposition, "has 1 QP(s)" in found.reason), ("unsupported", True), "a device with one QP")


def test_own_evs():
    seen = []

    class Listens(Other):
        def call(self, message):
            if message.get("call") == "qp":
                seen.append("evs" in message)
            return super().call(message)
    same(engine.run_vector(Listens(), VECTORS["Q-EV0-001"]).disposition, "pass", "it runs")
    same(seen, [False], "the device is told of no EVs")


def test_back():
    """back w is the device's frame but for addresses, code point and what is cut off."""
    frames = []

    class Listens(Other):
        def call(self, message):
            if message.get("call") == "rx":
                frames.append(packets.decode(bytes.fromhex(message["frame"]), (12, 20)))
            return super().call(message)
    body = "dut post write len 4096\n* > write only psn sq_psn as w\np0 < back w trim 128\np0 < back w swapped trim 128 dscp 20\n" \
        "p0 < back w swapped\nsettle rtt\n"
    same(engine.run_vector(Listens(), vector(body, HEAD)).disposition, "pass", "it runs")
    ours, theirs = packets.ip("fd00::2"), packets.ip("fd00::1")
    same([(f.get("ipv6.src"), f.get("ipv6.dst"), f.get("ipv6.dscp")) for f in frames],
         [(ours, theirs, 12), (theirs, ours, 20), (theirs, ours, 4)], "addresses and code points")
    same([(f.get("bth.dqp"), f.get("bth.psn"), f.get("eth.dst")) for f in frames],
         [(17, 0x2000, packets.mac("02:00:00:00:00:02"))] * 3, "QP, PSN, MAC")
    same([f.icrc_good for f in frames], [False, False, True], "ICRC")
    wrong = engine.run_vector(Other(), vector("let w = 5\np0 < back w trim 128\ndut post write len 64\n* > write\n", HEAD))
    same((wrong.disposition, "needs a packet of the device" in wrong.reason), ("error", True), "no packet")


def test_counters_by_name():
    body = "counters as c\nexpect c.CNT_RETURNED == 0 and c.silent_drops == 0 and c.nothing == -1\n"
    same(engine.run_vector(Other(), vector(body, HEAD)).disposition, "pass", "counters")


run_tests(globals())
