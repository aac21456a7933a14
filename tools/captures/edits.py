# SPDX-License-Identifier: Apache-2.0
"""Edits of captures, each of which breaks one sentence of docs/protocol that a capture can show. `rules` are those of
docs/generated/rules.md of which one must name it."""
from edit import (ACK, FIRST, LAST_IMM, MIDDLE, NACK, ONLY_IMM, PSNS, SACK, NoPlace, signed)

EDITS = []


class Edit:
    def __init__(self, name, cite, sentence, rules, change):
        self.name, self.cite, self.sentence, self.rules, self.change = name, cite, sentence, rules.split(), change


def edit(name, cite, sentence, rules):
    """Registers a function that changes a Capture and says what it did."""
    def add(change):
        EDITS.append(Edit(name, cite, sentence, rules, change))
        return change
    return add


def move_cack(sack, by):
    """Another cack_psn; trigger and bitmap stay those of before."""
    sack.seth["cack_psn"] = sack.bth["psn"] = (sack.seth["cack_psn"] + by) % PSNS
    sack.seth["ack_psn_offset"] -= by
    sack.seth["sack_offset"] -= by


@edit("cack-ahead", "mrc.md 6", "cack_psn advances over PSNs that have arrived", "resp.cack-arrived")
def _(c):
    sack = c.answer(SACK, lambda p: not p.seth["pr"])
    move_cack(sack, 300)
    return f"SACK: cack_psn 300 ahead, {sack.seth['cack_psn']}"


@edit("bitmap-unsent", "mrc.md 3", "bit i of the bitmap stands for a PSN that has arrived", "resp.bitmap")
def _(c):
    def wanted(i):
        sack = c.packets[i].seth
        base = (sack["cack_psn"] + sack["sack_offset"]) % PSNS
        return signed(base + 63 - c.sent_before(i)) > 4
    i = c.pick([i for i in c.answers(SACK) if wanted(i)])
    c.packets[i].seth["sack_bitmap"] |= 1 << 63
    return "SACK: bit 63 of the bitmap, a PSN that was not sent"


@edit("psn-twice", "mrc.md 7", "a PSN is new once: what is sent again has rtx = 1", "req.psn-once")
def _(c):
    i = c.pick(c.all(lambda p: p.new))
    again = c.packets[i].copy()
    other = next(p for p in c.packets[i + 1:] if p.new and p.flow == c.flow and p.entropy != again.entropy and
                 p.capture["interface"] == again.capture["interface"])
    again.set_ev(other.entropy)
    c.insert(i, again, 1500)
    return f"PSN {again.psn} sent twice with rtx 0"


@edit("rtx-payload", "mrc.md 2", "a retransmission has the payload of the first transmission", "req.rtx-same")
def _(c):
    again = c.one(lambda p: p.again)
    digits = again.payload
    again.fields["payload"] = digits[:-1] + ("0" if digits[-1] != "0" else "1")
    return f"retransmission of PSN {again.psn} with another payload"


@edit("rtx-va", "mrc.md 3", "a retransmission has the VA of the first transmission", "req.rtx-head")
def _(c):
    again = c.one(lambda p: p.again)
    again.reth["va"] += 4
    return f"retransmission of PSN {again.psn} with another VA"


@edit("msn-skipped", "mrc.md 3", "MSN counts messages", "req.msn")
def _(c):
    msn = c.one(lambda p: p.new and p.opcode == FIRST).meth["msn"]
    for i in c.all(lambda p: signed(p.meth["msn"] - msn, 16) >= 0):
        c.packets[i].meth["msn"] = (c.packets[i].meth["msn"] + 1) % 65536
    return f"no message has MSN {msn}"


@edit("va-64", "mrc.md 3", "VA advances by the path MTU per packet", "req.va")
def _(c):
    packet = c.one(lambda p: p.new and p.opcode == MIDDLE)
    for same in c.all(lambda p: p.psn == packet.psn):
        c.packets[same].reth["va"] += 64
    return f"VA of PSN {packet.psn} is off by 64"


@edit("rkey-middle", "mrc.md 3", "R_Key is the same in all packets of a message", "req.rkey")
def _(c):
    packet = c.one(lambda p: p.new and p.opcode == MIDDLE)
    for other in c.message(packet):
        if signed(other.psn - packet.psn) >= 0:
            other.reth["r_key"] ^= 1
    return f"another R_Key from PSN {packet.psn} to the end of its message"


@edit("first-after-first", "mrc.md 6", "packets of a message are Only, or First, Middle and Last", "req.sequence")
def _(c):
    first = c.one(lambda p: p.new and p.opcode == FIRST)
    places = c.all(lambda p: p.psn == (first.psn + 1) % PSNS and p.opcode == MIDDLE)
    if not places:
        raise NoPlace("no Middle behind a First")
    for i in places:
        c.packets[i].bth["opcode"] = FIRST
    return f"PSN {(first.psn + 1) % PSNS} is First behind a First"


@edit("short-middle", "mrc.md 6", "First and Middle packets carry exactly the path MTU", "req.length")
def _(c):
    packet = c.one(lambda p: p.new and p.opcode == MIDDLE)
    for i in c.all(lambda p: p.psn == packet.psn):
        c.packets[i].set_payload(c.packets[i].payload[:-8])
    return f"PSN {packet.psn}, a Middle, is 4 bytes short"


@edit("dma-length", "mrc.md 3", "DMA length is that of the whole message", "req.dma")
def _(c):
    packet = c.one(lambda p: p.new and p.opcode == FIRST)
    for other in c.message(packet):
        other.reth["dma_length"] += 4
    return f"DMA length of MSN {packet.meth['msn']} is 4 too many, in all its packets"


@edit("psn-5000", "mrc.md 7", "never send beyond cack + MPR", "req.window")
def _(c):
    packet = c.one(lambda p: p.new)
    packet.bth["psn"] = (packet.psn + 5000) % PSNS
    return f"PSN {packet.psn}, 5000 ahead"


@edit("one-ev", "mrc.md 5", "an EV's packets leave through the port of its plane", "path.plane")
def _(c):
    places = c.all()
    ev = c.packets[places[0]].entropy
    for i in places:
        c.packets[i].set_ev(ev)
    return f"all data on EV 0x{ev:08x}"


@edit("echo-stamp", "mrc.md 3", "a SACK reflects the time stamp of the packet it answers", "resp.stamp")
def _(c):
    sack = c.answer(SACK, lambda p: not p.seth["pr"])
    sack.cc_state["tx_timestamp16"] ^= 0x55
    return "SACK: another time stamp"


@edit("echo-entropy", "mrc.md 3", "the entropy of a SACK is that of the packet it answers", "resp.entropy")
def _(c):
    sack = c.answer(SACK, lambda p: not p.seth["pr"])
    sack.seth["entropy"] ^= 0x00010001
    return "SACK: another entropy value"


@edit("mark", "mrc.md 3", "m is SKIP_ONCE if the triggering packet came with ECN-CE", "resp.mark")
def _(c):
    sack = c.answer(SACK, lambda p: not p.seth["pr"] and p.seth["m"] == 0)
    sack.seth["m"] = 1
    return "SACK: m 1 about a packet without CE"


@edit("trigger", "mrc.md 3", "ack_psn is the PSN of the packet that triggered the SACK", "resp.trigger resp.entropy resp.stamp")
def _(c):
    sack = c.answer(SACK, lambda p: not p.seth["pr"])
    sack.seth["ack_psn_offset"] -= 1
    return "SACK: ack_psn_offset is 1 less"


@edit("rcvd-back", "mrc.md 3", "rcvd_bytes counts received bytes", "resp.bytes resp.nominal")
def _(c):
    sack = c.answer(SACK)
    sack.cc_state["rcvd_bytes"] = (sack.cc_state["rcvd_bytes"] - 64) % PSNS
    return "SACK: rcvd_bytes goes back by 16 KB"


@edit("no-sack", "mrc.md 6", "a SACK is sent when so many bytes came, or a packet asks", "resp.sack-bytes resp.sack-ask resp.reported")
def _(c):
    sacks = c.answers(SACK)
    c.remove(sacks[len(sacks) // 2:])
    return "no SACK any more"


@edit("p-key", "mrc.md 2", "the P_Key is that of the QP", "wire.pkey")
def _(c):
    packet = c.one()
    packet.bth["p_key"] ^= 1
    return f"PSN {packet.psn} with another P_Key"


@edit("rqmsn", "mrc.md 3", "RQMSN counts WRITE-with-immediate messages", "req.rqmsn")
def _(c):
    packet = c.one(lambda p: p.new and p.opcode in (LAST_IMM, ONLY_IMM))
    for other in c.message(packet):
        other.meth["rqmsn"] = (other.meth["rqmsn"] + 1) % 65536
    return f"RQMSN of MSN {packet.meth['msn']} is one too many"


@edit("ack-msn", "mrc.md 6", "the semantic ACK completes messages that have arrived", "resp.ack-msn")
def _(c):
    ack = c.answer(ACK, lambda p: p.aeth["syndrome"] == 0x1F)
    ack.aeth["msn"] = (ack.aeth["msn"] + 3) % 65536
    return f"ACK: MSN {ack.aeth['msn']}, 3 too many"


@edit("nack-unsent", "mrc.md 3", "nack_psn is the offending packet's", "resp.nack")
def _(c):
    i = c.pick(c.answers(NACK))
    nack = c.packets[i]
    nack.neth["nack_psn"] = nack.bth["psn"] = (c.sent_before(i) + 100) % PSNS
    return f"NACK of PSN {nack.psn}, which was not sent"


@edit("nack-whole", "mrc.md 6", "NACK TRIMMED answers a trimmed packet", "resp.trim")
def _(c):
    i = c.pick(c.answers(NACK, lambda p: p.neth["reason"] in (1, 2)))
    nack = c.packets[i]
    cut = {p.psn for p in c.packets if p.trimmed}
    whole = next((p for p in reversed(c.packets[:i]) if p.new and p.flow == c.flow and p.psn not in cut), None)
    if whole is None:
        raise NoPlace("no whole packet before it")
    nack.neth.update(nack_psn=whole.psn, entropy=whole.entropy)
    if whole.has("tseth"):
        nack.neth["tx_timestamp16"] = whole.tseth["tx_timestamp16"]
    nack.bth["psn"] = whole.psn
    return f"NACK TRIMMED of PSN {whole.psn}, which came whole"


@edit("probe-id", "mrc.md 3", "a SACK with pr has the id of the probe", "resp.probe")
def _(c):
    sack = c.answer(SACK, lambda p: p.seth["pr"] and p.seth["ack_psn_offset"] not in (-1, 0xFFFF) and
                    p.seth.get("probe_id") != 0xFFFF)
    sack.seth.pop("probe_id", None)
    sack.seth["ack_psn_offset"] = 0x2BAD
    return "SACK of a probe that nobody sent"


@edit("ooo-count", "mrc.md 3", "ooo_count is packets received above cack_psn", "resp.ooo-most")
def _(c):
    sack = c.answer(SACK, lambda p: p.cc_state["ooo_count"] < 500)
    sack.cc_state["ooo_count"] += 150
    return "SACK: ooo_count is 150 too many"
