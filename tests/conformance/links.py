# SPDX-License-Identifier: Apache-2.0
"""usage: links.py [MRC]

A vector that names a rule is there to see it broken. For each rule below a legal device breaks it in what it sends, and of
the vectors that name the rule at least one must fail."""
from common import run_tests, same
from mrcscript import cli, engine, legal, packets, runner

SACK, NACK, ACK, RESPONSE = (packets.OPCODES[name] for name in ("Sack", "Nack", "Ack", "EndpointResponse"))
MOST = 80  # vectors of a rule that are tried


def add(header, field, by=1, kind=None):
    """That field is larger."""
    def change(headers):
        if kind in (None, headers["bth"]["opcode"]) and header in headers:
            info = packets.field_info(f"{header}.{field}")
            headers[header][field] = (headers[header].get(field, 0) + by) % (1 << info["width"])
    return change


def put(header, field, value, kind=None):
    def change(headers):
        if kind in (None, headers["bth"]["opcode"]) and header in headers:
            headers[header][field] = value
    return change


def absent(kind, fits=lambda headers: True):
    """Packets of this kind are never sent."""
    def change(headers):
        return headers["bth"]["opcode"] == kind and fits(headers)
    return change


def nak(headers):
    return headers["aeth"]["syndrome"] >> 5 == 3


def reason(*values):
    return lambda headers: headers["neth"]["reason"] in values


SENT = {
    "wire.tver": put("bth", "tver", 1), "wire.reserved": put("bth", "reserved2", 4), "wire.m-se": put("bth", "se", 1),
    "wire.pad": put("bth", "pad_count", 1), "wire.udp-port": put("udp", "dst_port", 4792), "wire.opcode": put("bth", "opcode", 0xD2),
    "wire.udp-checksum": put("udp", "checksum", 7), "wire.class": put("ipv6", "dscp", 4),
    "wire.trimmed": put("ipv6", "dscp", 12), "wire.dqp": put("bth", "dqp", 3, RESPONSE), "resp.pair": add("bth", "dqp"),
    "wire.sack-psn": add("bth", "psn", 1, SACK), "wire.sack-type": put("seth", "type", 1),
    "wire.cc-type": put("seth", "cc_type", 3), "wire.mark": put("seth", "m", 3), "wire.mpr": put("seth", "mpr", 33),
    "wire.syndrome": put("aeth", "syndrome", 0x40), "wire.reason": put("neth", "reason", 0x55),
    "wire.op": put("eeth", "op", 2), "wire.pdcid": add("seth", "spdcid"), "wire.pkey": put("bth", "p_key", 0x1234),
    "wire.address": add("ipv6", "dst"), "resp.trigger": add("seth", "ack_psn_offset"), "resp.entropy": add("seth", "entropy"),
    "resp.mark": put("seth", "m", 1), "resp.stamp": add("cc_state", "tx_timestamp16"), "resp.nack": add("neth", "nack_psn"),
    "resp.trim": put("neth", "reason", 2), "resp.probe": add("seth", "ack_psn_offset"), "resp.ack-msn": add("aeth", "msn"),
    "resp.ack-psn": add("bth", "psn", 1, ACK), "resp.cack-arrived": add("seth", "cack_psn"),
    "resp.cack-taken": add("seth", "cack_psn", -1), "resp.bitmap": add("seth", "sack_offset"),
    "resp.ooo-most": add("cc_state", "ooo_count"), "resp.ooo-least": put("cc_state", "ooo_count", 0),
    "resp.bytes": add("cc_state", "rcvd_bytes", -1), "resp.nominal": add("cc_state", "rcvd_bytes", 1),
    "resp.mpr": put("seth", "mpr", 9), "resp.mpr-range": put("seth", "mpr", 0), "resp.reported": put("seth", "sack_bitmap", 0),
    "resp.nak-code": put("aeth", "syndrome", 0x60), "peer.answer": add("bth", "psn", 1, RESPONSE),
    "peer.stamp": add("eeth", "tx_timestamp16"), "resp.sack-ask": absent(SACK), "resp.sack-rtx": absent(SACK),
    "resp.sack-ce": absent(SACK), "resp.sack-dup": absent(SACK), "resp.sack-probe": absent(SACK),
    "resp.sack-bytes": absent(SACK), "resp.sack-trim": absent(SACK), "resp.nack-trim": absent(NACK),
    "resp.oor-owed": absent(NACK), "resp.unexp-owed": absent(NACK), "resp.ack-owed": absent(ACK), "resp.ack-again": absent(ACK),
    "resp.nak-owed": absent(ACK, nak), "resp.nak-zero": absent(ACK, nak), "resp.nack-oor": put("neth", "reason", 0x0B),
    "resp.nack-unexp": put("neth", "reason", 0x19), "resp.cack-back": add("seth", "cack_psn", -2),
    "resp.ack-back": add("aeth", "msn", -1),
}
TOLD = {  # outputs to the host: (what, change)
    "mem.source": ("write", lambda out: out.update(data="00" * (len(out["data"]) // 2))),
    "mem.written": ("write", lambda out: out.update(data=out["data"][:-2])),
    "mem.region": ("write", lambda out: out.update(addr=out["addr"] - 1)),
    "resp.cqe-imm": ("cqe", lambda out: out.update(imm=out["imm"] ^ 1)),
    "resp.cqe-order": ("cqe", lambda out: out.update(imm=1, rqmsn=9)),
    "mem.cqe-order": ("cqe", lambda out: out.update(rqmsn=out["rqmsn"] + 1)),
}


class Breaker(legal.LegalNic):
    """A legal device but for one thing."""

    def __init__(self, rule):
        super().__init__(legal.VARIANTS[0])
        self.rule = rule

    def _call_modify(self, message):
        """qp.walk: whatever is asked for is done."""
        if self.rule == "qp.walk":
            self.states[message["qp"]] = message["state"]
            return None
        return super()._call_modify(message)

    def send(self, headers, plane):
        change = SENT.get(self.rule)
        if change is None or not change(headers):
            super().send(headers, plane)

    def _call_advance(self, message):
        answer = super()._call_advance(message)
        what, change = TOLD.get(self.rule, ("", None))
        for out in answer["out"]:
            if out["out"] == what:
                change(out)
        return answer


def test_links():
    vectors = [v for v in runner.load(runner.scripts_of(cli.VECTORS)) if "requestor" not in v["caps"]]
    blind = []
    for rule in [*SENT, *TOLD, "qp.walk"]:
        named = [v for v in vectors if rule in v["rules"]]
        if not any(engine.run_vector(Breaker(rule), v, 20.0).disposition in ("fail", "deviates") for v in named[:MOST]):
            blind.append(f"{rule}: none of {len(named)}")
    same(blind, [], "rules whose vectors do not see them broken")


def test_unbroken():
    """The frame of this test breaks nothing by itself."""
    vectors = [v for v in runner.load(runner.scripts_of(cli.VECTORS)) if "requestor" not in v["caps"]][::9]
    same([v["id"] for v in vectors if engine.run_vector(Breaker(""), v, 20.0).disposition in ("fail", "deviates", "error")],
         [], "vectors")


run_tests(globals())
