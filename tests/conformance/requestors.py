# SPDX-License-Identifier: Apache-2.0
"""usage: requestors.py [MRC]

As links.py, of requestors: for each rule below a legal requestor breaks it, and of the vectors that name the rule one of
the first that it can run must fail."""
from common import holds, run_tests, same
from mrcscript import cli, compiler, engine, legal_requestor, runner

MOST = 12    # vectors of a rule that are tried
WALL = 20.0


class Wrong(legal_requestor.Sender):
    """A requestor that is legal but for its NIC's rule."""

    def __init__(self, nic, number, attributes):
        super().__init__(nic, number, attributes)
        self.rule, rule = nic.rule, nic.rule
        if rule == "req.start":
            self.una = self.nxt = self.first = self.first + 1
        if rule == "req.retries":
            self.linear += 1

    def packet(self, psn, message, index, data, ev, plane, rtx, ask):
        rule = self.rule
        if rule == "req.payload" or (rule == "req.rtx-same" and rtx):
            data = bytes([data[0] ^ 1]) + data[1:]
        if rule == "req.psn-once":
            rtx = 0
        if rule == "req.rtx-unsent":
            rtx = 1
        if rule == "path.set":
            ev ^= 1 << 14
        if rule == "req.psn-hole" and psn >= self.first + 1:
            psn += 1
        made = super().packet(psn, message, index, data, ev, plane, rtx, ask)
        change = {"req.rtx-head": ("reth", "va", 4), "req.msn": ("meth", "msn", 1), "req.rqmsn": ("meth", "rqmsn", 1),
                  "req.va": ("reth", "va", 4), "req.dma": ("reth", "dma_length", 1), "req.rkey": ("reth", "r_key", 1),
                  "wire.class": ("ipv6", "dscp", 1)}.get(rule)
        if change and (rtx or rule != "req.rtx-head") and change[0] in made.headers:
            header, field, by = change
            made.headers[header] = {**made.headers[header], field: made.headers[header].get(field, 0) + by & 0xFFFF}
        if rule == "wire.stamp" and "tseth" in made.headers:
            made.headers["tseth"] = {**made.headers["tseth"], "tx_timestamp16": 77 * psn & 0xFFFF}
        return made

    def limit(self):
        return super().limit() + (200 if self.rule in ("req.window", "req.mpr-now") else 0)

    def pump(self):
        if self.rule == "req.moves" and self.nxt > self.first:
            self.unsent = []
        super().pump()

    def _next_ev(self, before, barred=None):
        if self.rule == "path.fresh" and before is not None:
            return before
        if self.rule == "path.equal":
            return self.evs[0] if before != self.evs[0] else self.evs[-2]
        return super()._next_ev(before, barred)

    def deny(self, ev, deny):
        if self.rule != ("path.denied" if deny else "path.allowed"):
            super().deny(ev, deny)

    def blame(self, ev):
        if self.rule != "path.blamed":
            super().blame(ev)

    def _probe_later(self, ev):
        if self.rule != "path.probed":
            super()._probe_later(ev)

    def _report(self, psn):
        if self.rule != "req.rtx-reported":
            super()._report(psn)

    def sack(self, packet):
        super().sack(packet)
        if self.rule == "req.cqe-ack":
            self._done(self.done_msn + 1)

    def nack(self, packet):
        if self.rule == "req.rtx-cause":
            self.again |= {psn for psn, flight in self.flights.items() if flight.times}
        if self.rule != "req.nack-again" and not (self.rule in ("qp.fails", "qp.fatal") and packet.get("neth.reason") == 0x19):
            super().nack(packet)
        if self.rule == "A-84":  # questions by eight round trips of what was trimmed
            self.longest = 8 * (self.nic.now - self.flights[self.una].times[0][0])

    def _gaps(self, ooo, trigger, base):
        if self.rule == "req.rtx-evidence" and trigger is not None:
            for psn in [p for p, f in self.flights.items() if p < trigger and p not in self.reported and len(f.times) == 1]:
                self.lose(psn)
        if self.rule != "req.gap-again":
            super()._gaps(ooo, trigger, base)

    def _look(self):
        if self.rule != "req.timer":
            super()._look()

    def _done(self, msn):
        if self.rule == "req.cqe-owed":
            return
        if self.rule == "req.cqe-order":
            self.messages.reverse()
        super()._done(msn if self.rule != "req.cqe-order" else msn + 1)

    def fail(self, status):
        if self.rule == "qp.flush-all":
            self.messages = self.messages[:1]
        if self.rule == "qp.flush":
            status = "ok"
        super().fail("other" if self.rule == "qp.status" else status)


class WrongNic(legal_requestor.LegalRequestor):
    def __init__(self, rule, asked):
        super().__init__(legal_requestor.WAYS[0], 1, asked)
        self.rule, self.sender = rule, Wrong

    def usable(self, plane, peer):
        if self.rule == "path.peer-down":
            return self.up.get(plane, True)
        return self.rule == "path.down" or super().usable(plane, peer)

    def send_packet(self, packet, plane):
        if self.rule == "path.plane":
            plane = self.planes - 1 - plane
        if self.rule == "peer.mask" and "erth" in packet.headers:
            packet.headers["erth"] = {**packet.headers["erth"], "port_status_mask": 0x1FE}
        super().send_packet(packet, plane)


RULES = ("req.start", "req.psn-once", "req.psn-hole", "req.rtx-unsent", "req.rtx-same", "req.rtx-head", "req.rtx-cause",
         "req.window", "req.mpr-now", "req.msn", "req.rqmsn", "req.va", "req.dma", "req.rkey", "req.payload", "req.cqe-ack",
         "req.cqe-order", "req.cqe-owed", "req.rtx-reported", "req.rtx-evidence", "req.retries", "req.nack-again",
         "req.gap-again", "req.timer", "req.moves", "qp.status", "qp.flush", "qp.flush-all", "qp.fails", "path.set",
         "path.plane", "path.fresh", "path.down", "path.peer-down", "path.blamed", "path.probed", "path.equal", "peer.mask",
         "path.denied", "path.allowed", "wire.class", "wire.stamp")


def bounded():
    """Vectors that post work which ends."""
    out = []
    for made in runner.load(runner.scripts_of(cli.VECTORS)):
        posts = [step for step in compiler.walk(made["steps"]) if step["do"] == "post"]
        if posts and all(step["count"] != 0 for step in posts):
            out.append(made)
    return out


def seen(rule, vectors):
    """The id of the first vector that sees the rule broken."""
    left = MOST
    for made in vectors:
        found = engine.run_vector(WrongNic(rule, made["assumes"]), made, WALL).disposition
        if found in ("fail", "deviates"):
            return made["id"]
        left -= found == "pass"
        if left == 0:
            break
    return None


def test_rules_that_are_broken_are_seen():
    vectors = bounded()
    blind = [rule for rule in RULES if not seen(rule, [made for made in vectors if rule in made["rules"]])]
    same(blind, [], "rules whose vectors do not see them broken")


def test_questions_after_a_trim():
    vectors = [made for made in bounded() if made["id"] == "Q-TIME-063"]
    same([seen(rule, vectors) for rule in ("", "A-84")], [None, "Q-TIME-063"], "questions by eight round trips")


def test_unbroken():
    """The frame of this test breaks nothing by itself."""
    holds(seen("", [made for made in bounded() if made["id"].startswith(("Q-NACK", "Q-EV-12"))]) is None, "a legal device passes")


run_tests(globals())
