# SPDX-License-Identifier: Apache-2.0
"""Edits of captures, each of which breaks one sentence of docs/protocol that a capture can show. `rules` are those of
docs/reference/generated/rules.md of which one must name it, `about` what a flow needs so that the edit has a place in
it, and others to stand against: data, answers, trims, marks, again (retransmissions)."""
from edit import (ACK, FIRST, LAST, LAST_IMM, MIDDLE, NACK, ONLY, ONLY_IMM, PROBE, PSNS, REQUEST, RESPONSE, SACK,
                  NoPlace, signed, the_first)

EDITS = []
LATE_NS = 15_000


class Edit:
    def __init__(self, name, cite, sentence, rules, change, about="data"):
        self.name, self.cite, self.sentence, self.rules = name, cite, sentence, rules.split()
        self.change, self.about = change, about


def edit(name, cite, sentence, rules, about="data"):
    """Registers a function that changes a Capture and says what it did."""
    def add(change):
        EDITS.append(Edit(name, cite, sentence, rules, change, about))
        return change
    return add


def move_cack(sack, by):
    """Another cack_psn; trigger and bitmap stay those of before."""
    sack.seth["cack_psn"] = sack.bth["psn"] = (sack.seth["cack_psn"] + by) % PSNS
    sack.seth["ack_psn_offset"] -= by
    sack.seth["sack_offset"] -= by


@edit("cack-ahead", "mrc.md 6", "cack_psn advances over PSNs that have arrived", "resp.cack-arrived", "answers")
def _(c):
    sack = c.answer(SACK, lambda p: not p.seth["pr"])
    move_cack(sack, 300)
    return f"SACK: cack_psn 300 ahead, {sack.seth['cack_psn']}"


@edit("bitmap-unsent", "mrc.md 3", "bit i of the bitmap stands for a PSN that has arrived", "resp.bitmap", "answers")
def _(c):
    def named(i):
        return (c.packets[i].seth["cack_psn"] + c.packets[i].seth["sack_offset"] + 63) % PSNS
    # The capture has to show that it was sent later, and none behind it.
    sent = {p.psn: i for i, p in enumerate(c.packets) if p.new and p.flow == c.flow and
            (c.newest[i] is None or signed(p.psn - c.newest[i]) > 0)}
    i = c.pick([i for i in c.answers(SACK) if sent.get(named(i), 0) > i])
    c.packets[i].seth["sack_bitmap"] |= 1 << 63
    return f"SACK: bit 63 of the bitmap, PSN {named(i)}, which was not sent yet"


@edit("psn-twice", "mrc.md 7", "a PSN is new once: what is sent again has rtx = 1", "req.psn-once")
def _(c):
    i = c.pick(c.all(lambda p: p.new))
    again = c.packets[i].copy()
    other = the_first((p for p in c.packets[i + 1:] if p.new and p.flow == c.flow and p.entropy != again.entropy and
                       p.capture["interface"] == again.capture["interface"]), "no packet behind it on its port")
    again.set_ev(other.entropy)
    c.insert(i, again, 1500)
    return f"PSN {again.psn} sent twice with rtx 0"


@edit("rtx-payload", "mrc.md 2", "a retransmission has the payload of the first transmission", "req.rtx-same", "again")
def _(c):
    again = c.again()
    digits = again.payload
    again.fields["payload"] = digits[:-1] + ("0" if digits[-1] != "0" else "1")
    return f"retransmission of PSN {again.psn} with another payload"


@edit("rtx-va", "mrc.md 3", "a retransmission has the VA of the first transmission", "req.rtx-head", "again")
def _(c):
    again = c.again()
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
    packets = [c.packets[i] for i in c.all()]
    before, ev = {(p.psn, p.entropy) for p in packets}, packets[0].entropy
    for packet in packets:
        packet.set_ev(ev)
    for sack in (p for p in c.packets if p.opcode == SACK and p.flow == c.back and not p.seth["pr"]):  # they say so
        if (sack.ack_psn, sack.seth["entropy"]) in before:
            sack.seth["entropy"] = ev
    return f"all data on EV 0x{ev:08x}"


@edit("echo-stamp", "mrc.md 3", "a SACK reflects the time stamp of the packet it answers", "resp.stamp", "answers")
def _(c):
    sack = c.answer(SACK, lambda p: not p.seth["pr"])
    sack.cc_state["tx_timestamp16"] ^= 0x55
    return "SACK: another time stamp"


@edit("echo-entropy", "mrc.md 3", "the entropy of a SACK is that of the packet it answers", "resp.entropy", "answers")
def _(c):
    sack = c.answer(SACK, lambda p: not p.seth["pr"])
    sack.seth["entropy"] ^= 0x00010001
    return "SACK: another entropy value"


@edit("mark", "mrc.md 3", "m is SKIP_ONCE if the triggering packet came with ECN-CE", "resp.mark", "marks")
def _(c):
    sack = c.answer(SACK, lambda p: not p.seth["pr"] and p.seth["m"] == 0)
    sack.seth["m"] = 1
    return "SACK: m 1 about a packet without CE"


@edit("trigger", "mrc.md 3", "ack_psn is the PSN of the packet that triggered the SACK",
      "resp.trigger resp.entropy resp.stamp", "answers")
def _(c):
    sack = c.answer(SACK, lambda p: not p.seth["pr"])
    sack.seth["ack_psn_offset"] -= 1
    return "SACK: ack_psn_offset is 1 less"


@edit("rcvd-back", "mrc.md 3", "rcvd_bytes counts received bytes", "resp.bytes resp.nominal", "answers")
def _(c):
    sack = c.answer(SACK)
    sack.cc_state["rcvd_bytes"] = (sack.cc_state["rcvd_bytes"] - 64) % PSNS
    return "SACK: rcvd_bytes goes back by 16 KB"


@edit("no-sack", "mrc.md 6", "a SACK is sent when so many bytes came, or a packet asks",
      "resp.sack-bytes resp.sack-ask resp.reported", "answers")
def _(c):
    begin = c.pick(c.all())
    asking = [c.packets[i] for i in c.all(lambda p: p.bth["a"] or p.bth["rtx"]) if i > begin]
    # An ACK behind them shows that they have come; whoever answers may take LATE_NS.
    if not any(sum(signed(p.psn - ack.psn) <= 0 and p.capture["time_ns"] + LATE_NS < ack.capture["time_ns"]
                   for p in asking) >= 12 for ack in c.packets if ack.opcode == ACK and ack.flow == c.back):
        raise NoPlace("few packets behind it that ask are acknowledged")
    c.remove([i for i, p in enumerate(c.packets) if i > begin and p.opcode == SACK and p.flow == c.back])
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


@edit("ack-msn", "mrc.md 6", "the semantic ACK completes messages that have arrived", "resp.ack-msn", "answers")
def _(c):
    def too_early(i):  # packets of these messages come later
        return any(p.new and p.flow == c.flow and signed(p.meth["msn"] - c.packets[i].aeth["msn"] - 2, 16) < 0
                   for p in c.packets[i:])
    i = c.pick([i for i in c.answers(ACK, lambda p: p.aeth["syndrome"] == 0x1F) if too_early(i)])
    ack = c.packets[i]
    ack.aeth["msn"] = (ack.aeth["msn"] + 3) % 65536
    return f"ACK: MSN {ack.aeth['msn']}, 3 too many"


@edit("nack-unsent", "mrc.md 3", "nack_psn is the offending packet's", "resp.nack", "trims")
def _(c):
    i = c.pick(c.answers(NACK))
    nack = c.packets[i]
    nack.neth["nack_psn"] = nack.bth["psn"] = (c.sent_before(i) + 100) % PSNS
    return f"NACK of PSN {nack.psn}, which was not sent"


@edit("nack-whole", "mrc.md 6", "NACK TRIMMED answers a trimmed packet", "resp.trim", "trims")
def _(c):
    i = c.pick(c.answers(NACK, lambda p: p.neth["reason"] in (1, 2)))
    nack = c.packets[i]
    cut = {p.psn for p in c.packets if p.trimmed}
    whole = the_first((p for p in reversed(c.packets[:i]) if p.new and p.flow == c.flow and p.psn not in cut),
                      "no whole packet before it")
    nack.neth.update(nack_psn=whole.psn, entropy=whole.entropy)
    if whole.has("tseth"):
        nack.neth["tx_timestamp16"] = whole.tseth["tx_timestamp16"]
    nack.bth["psn"] = whole.psn
    return f"NACK TRIMMED of PSN {whole.psn}, which came whole"


@edit("probe-id", "mrc.md 3", "a SACK with pr has the id of the probe", "resp.probe", "answers")
def _(c):
    sack = c.answer(SACK, lambda p: p.seth["pr"] and p.seth["ack_psn_offset"] not in (-1, 0xFFFF) and
                    p.seth.get("probe_id") != 0xFFFF)
    sack.seth.pop("probe_id", None)
    sack.seth["ack_psn_offset"] = 0x2BAD
    return "SACK of a probe that nobody sent"


@edit("ooo-count", "mrc.md 3", "ooo_count is packets received above cack_psn", "resp.ooo-most", "answers")
def _(c):
    sack = c.answer(SACK, lambda p: p.cc_state["ooo_count"] < 500)
    sack.cc_state["ooo_count"] += 150
    return "SACK: ooo_count is 150 too many"


# ---- sentences marked S and S2


def field(name, cite, sentence, rules, opcode, header, key, value, wanted=lambda p: True):
    """An edit of one field of a packet of that opcode, None: of data. `value`: what it becomes, or what makes it."""
    def change(c):
        if opcode is None:
            packet = (c.again if "rtx" in name else c.one)(lambda p: p.has(header) and wanted(p))
        elif opcode in (REQUEST, RESPONSE):
            packet = c.packets[c.pick([i for i, p in enumerate(c.packets) if p.opcode == opcode and wanted(p)])]
        elif opcode == PROBE:
            probes = [i for i, p in enumerate(c.packets) if p.opcode == PROBE and p.flow == c.flow and wanted(p)]
            packet = c.packets[c.pick(probes)]
        else:
            packet = c.answer(opcode, wanted)
        before = packet.fields[header].get(key, 0)
        packet.fields[header][key] = value(before) if callable(value) else value
        if (header, key) == ("seth", "ack_psn_offset"):
            packet.seth.pop("probe_id", None)
        return f"{packet.kind}: {header}.{key} {before} becomes {packet.fields[header][key]}"
    about = {None: "again" if "rtx" in name else "data", SACK: "answers", ACK: "answers", NACK: "trims"}
    EDITS.append(Edit(name, cite, sentence, rules, change, about.get(opcode, "data")))


field("udp-checksum", "mrc.md 1", "UDP checksum 0", "wire.udp-checksum", None, "udp", "checksum", 0x1234)
field("udp-length", "mrc.md 1", "a frame has the headers of MRC, and lengths that fit", "wire.format", None, "udp",
      "length",
      lambda n: n + 40)
field("read", "mrc.md 1", "only RDMA WRITE and WRITE with immediate", "wire.opcode", None, "bth", "opcode", 0xCC)
field("opcode", "mrc.md 2", "the opcode is one of the twelve", "wire.opcode", SACK, "bth", "opcode", 0xDF)
field("tver", "mrc.md 2", "tver = 0", "wire.tver", None, "bth", "tver", 1)
field("bth-byte-4", "mrc.md 2", "BTH byte 4 is reserved", "wire.reserved", None, "bth", "reserved4", 1)
field("bth-bit-6", "mrc.md 2", "BTH byte 8, bit 6 is reserved", "wire.reserved", None, "bth", "reserved8_6", 1)
field("bth-bits-3", "mrc.md 2", "BTH byte 8, bits 3:0 are reserved", "wire.reserved", SACK, "bth", "reserved8_3", 5)
field("pad", "mrc.md 6", "payload is padded to 4 bytes", "wire.pad req.length", None, "bth", "pad_count", 3)
field("reserved-qp", "mrc.md 2", "QPNs 0 to 2 are reserved", "wire.dqp", None, "bth", "dqp", 1)
field("request-qp", "mrc.md 2", "endpoint requests go to QP 2", "wire.dqp", REQUEST, "bth", "dqp", 3)
field("sack-psn", "mrc.md 2", "the PSN of a SACK is cack_psn", "wire.sack-psn", SACK, "bth", "psn", lambda n: n ^ 1)
field("nack-psn", "mrc.md 2", "the PSN of a NACK is the offending packet's", "wire.sack-psn", NACK, "bth", "psn",
      lambda n: n ^ 1)
field("response-id", "mrc.md 2", "a response echoes the request id", "peer.answer", RESPONSE, "bth", "psn",
      lambda n: n ^ 0x1001)
field("sack-p-key", "mrc.md 2", "the P_Key is that of the QP", "wire.pkey", SACK, "bth", "p_key", lambda n: n ^ 2)
field("ack-p-key", "mrc.md 2", "the P_Key is that of the QP", "wire.pkey", ACK, "bth", "p_key", lambda n: n ^ 4)
field("stamp-ftype", "mrc.md 3", "ftype = 1", "wire.stamp", None, "tseth", "ftype", 2)
field("stamp-reserved", "mrc.md 3", "TSETH bits 14:4 are reserved", "wire.reserved", None, "tseth", "reserved2_6",
      3)
field("probe-ftype", "mrc.md 3", "ftype of a probe as in TSETH", "wire.stamp", PROBE, "peth", "ftype", 0)
field("credit", "mrc.md 3", "the credit field is always 0x1F", "wire.syndrome", ACK, "aeth", "syndrome", 0x05)
field("syndrome", "mrc.md 3", "NAK codes as in IBTA", "wire.syndrome", ACK, "aeth", "syndrome", 0x7F)
field("seth-type", "mrc.md 3", "type = 0", "wire.sack-type", SACK, "seth", "type", 1)
field("seth-next", "mrc.md 3", "next header = 0", "wire.sack-type", SACK, "seth", "next_header", 4)
field("neth-type", "mrc.md 3", "NETH bytes 0-1 as SETH", "wire.sack-type", NACK, "neth", "type", 2)
field("seth-reserved", "mrc.md 3", "SETH bits 4:2 are reserved", "wire.reserved", SACK, "seth", "reserved12", 9)
field("mark-3", "mrc.md 3", "m: 0 none, 1 SKIP_ONCE, 2 ALWAYS_SKIP", "wire.mark", SACK, "seth", "m", 3)
field("seth-cc-type", "mrc.md 3", "cc_type = 0 in a SACK", "wire.cc-type", SACK, "seth", "cc_type", 2)
field("neth-cc-type", "mrc.md 3", "cc_type = 2 in a NACK", "wire.cc-type", NACK, "neth", "cc_type", 0)
field("mpr-33", "mrc.md 3", "mpr is 1 to 32 units of 128 PSNs", "wire.mpr", SACK, "seth", "mpr", 33)
field("mpr-static", "mrc.md 3", "mpr is 0 without dynamic MPR", "wire.mpr", SACK, "seth", "mpr", 8)
field("ooo-most", "mrc.md 3", "ooo_count: packets received above cack_psn", "resp.ooo-most", SACK, "cc_state",
      "ooo_count",
      0x7FFF)
field("rcvd-ahead", "mrc.md 3", "rcvd_bytes counts received bytes", "resp.bytes", SACK, "cc_state", "rcvd_bytes",
      lambda n: (n + 100000) % PSNS)
field("nack-reason", "mrc.md 3", "NACK reasons", "wire.reason", NACK, "neth", "reason", 0x15)
field("nack-entropy", "mrc.md 3", "NETH entropy is that of the packet", "resp.entropy", NACK, "neth", "entropy",
      lambda n: n ^ 0x00100000)
field("nack-stamp", "mrc.md 3", "NETH reflects the time stamp", "resp.stamp", NACK, "neth", "tx_timestamp16",
      lambda n: n ^ 0x0101)
field("nack-lasthop", "mrc.md 6", "TRIMMED_LASTHOP by DSCP", "resp.trim", NACK, "neth", "reason", 2,
      lambda p: p.neth["reason"] == 1)
field("request-op", "mrc.md 3", "ERTH op: 0 or 1", "wire.op", REQUEST, "erth", "op", 2)
field("response-op", "mrc.md 3", "EETH op", "wire.op", RESPONSE, "eeth", "op", 3)
field("response-stamp", "mrc.md 3", "EETH reflects the time stamp", "peer.stamp", RESPONSE, "eeth", "tx_timestamp16",
      lambda n: n ^ 0x0FF0)
field("probe-entropy", "mrc.md 3", "entropy of the triggering packet", "resp.entropy", SACK, "seth", "entropy",
      lambda n: n ^ 0x01000000, lambda p: p.seth["pr"] and p.seth["ack_psn_offset"] != -1 and
      p.seth.get("probe_id") != 0xFFFF)
field("dma-one", "mrc.md 3", "DMA length is the same in all packets of a message", "req.dma", None, "reth",
      "dma_length",
      lambda n: n + 256, lambda p: p.new and p.opcode == MIDDLE)
field("dma-only", "mrc.md 3", "DMA length of an Only is its payload", "req.dma", None, "reth", "dma_length",
      lambda n: n + 4, lambda p: p.new and p.opcode in (ONLY, ONLY_IMM))
field("msn-one", "mrc.md 3", "MSN is the same in all packets of a message", "req.msn", None, "meth", "msn",
      lambda n: (n + 1) % 65536, lambda p: p.new and p.opcode == MIDDLE)
field("rtx-rkey", "mrc.md 3", "a retransmission has the R_Key of the first transmission", "req.rtx-head", None, "reth",
      "r_key", lambda n: n ^ 0x80, lambda p: p.again)
field("rtx-msn", "mrc.md 3", "a retransmission has the MSN of the first transmission", "req.rtx-head", None, "meth",
      "msn",
      lambda n: (n + 2) % 65536, lambda p: p.again)
field("rtx-opcode", "mrc.md 2", "a retransmission has the opcode of the first transmission", "req.rtx-same", None,
      "bth",
      "opcode", FIRST, lambda p: p.again and p.opcode == MIDDLE)
field("rtx-bit", "mrc.md 2", "rtx = retransmission", "req.psn-once", None, "bth", "rtx", 0, lambda p: p.again)
field("middle-only", "mrc.md 6", "a message is Only, or First, Middle and Last", "req.sequence", None, "bth", "opcode",
      ONLY, lambda p: p.new and p.opcode == MIDDLE)
field("last-middle", "mrc.md 6", "a message ends with Last", "req.sequence req.dma", None, "bth", "opcode", MIDDLE,
      lambda p: p.new and p.opcode == LAST)
field("middle-last", "mrc.md 6", "Last is the last packet of its message", "req.sequence req.dma", None, "bth",
      "opcode",
      LAST, lambda p: p.new and p.opcode == MIDDLE)


@edit("va-still", "mrc.md 3", "VA advances by the path MTU per packet", "req.va")
def _(c):
    packet = c.one(lambda p: p.new and p.opcode == LAST)
    for i in c.all(lambda p: p.psn == packet.psn):
        c.packets[i].reth["va"] -= len(packet.payload) // 2
    return f"PSN {packet.psn}, a Last, has the VA of the packet before"


@edit("long-last", "mrc.md 6", "Last and Only carry the rest, the path MTU at most", "req.length")
def _(c):
    packet = c.one(lambda p: p.new and p.opcode in (LAST, LAST_IMM))
    full = the_first((len(p.payload) for p in c.packets if p.data and p.flow == c.flow and p.opcode in (FIRST, MIDDLE)),
                     "no packet with the path MTU")
    more = (full - len(packet.payload)) // 2 + 4
    for other in c.message(packet):
        other.reth["dma_length"] += more
    for i in c.all(lambda p: p.psn == packet.psn):
        c.packets[i].set_payload(c.packets[i].payload + "00" * more)
    return f"PSN {packet.psn}, a Last, has 4 bytes more than the path MTU, its message too"


@edit("rqmsn-one", "mrc.md 3", "RQMSN is repeated in all packets of a message with immediate", "req.rqmsn")
def _(c):
    last = c.one(lambda p: p.new and p.opcode == LAST_IMM)
    other = the_first((p for p in c.message(last) if p.new and p.psn != last.psn), "a message with one packet seen")
    for i in c.all(lambda p: p.psn == other.psn):
        c.packets[i].meth["rqmsn"] = (c.packets[i].meth["rqmsn"] + 5) % 65536
    return f"RQMSN of PSN {other.psn} is not that of its message"


@edit("rtx-immediate", "mrc.md 2", "a retransmission has the immediate of the first transmission", "req.rtx-same")
def _(c):
    i = c.pick(c.all(lambda p: p.new and p.opcode in (LAST_IMM, ONLY_IMM)))
    again = c.packets[i].copy()
    again.bth["rtx"] = 1
    again.immdt["value"] ^= 0x10
    c.insert(i, again, 20000)
    return f"retransmission of PSN {again.psn} with another immediate"


@edit("cack-back", "mrc.md 6", "cack_psn advances", "resp.cack-back resp.bytes", "answers")
def _(c):
    sack = c.answer(SACK, lambda p: not p.seth["pr"] and p.seth["ack_psn_offset"] >= 0)
    move_cack(sack, -200)
    return f"SACK: cack_psn goes back by 200, to {sack.seth['cack_psn']}"


@edit("ack-back", "mrc.md 6", "the semantic ACK completes messages in order", "resp.ack-back", "answers")
def _(c):
    ack = c.answer(ACK, lambda p: p.aeth["syndrome"] == 0x1F)
    ack.aeth["msn"] = (ack.aeth["msn"] - 5) % 65536
    return f"ACK: MSN goes back by 5, to {ack.aeth['msn']}"


@edit("ack-next", "mrc.md 6", "the semantic ACK follows the last packet of a message", "resp.ack-msn", "answers")
def _(c):
    i = c.pick(c.answers(ACK, lambda p: p.aeth["syndrome"] == 0x1F))
    ack = c.packets[i]
    newest = the_first((p for p in reversed(c.packets[:i]) if p.new and p.flow == c.flow), "no packet before it")
    ack.aeth["msn"] = (newest.meth["msn"] + 1) % 65536
    if not any(p.new and p.flow == c.flow and p.meth["msn"] == newest.meth["msn"] for p in c.packets[i:]):
        raise NoPlace("no message goes on behind an ACK")
    return f"ACK of MSN {newest.meth['msn']}, which is still being sent"


@edit("no-mark", "mrc.md 3", "m is SKIP_ONCE: the triggering packet came with ECN-CE", "resp.sack-ce", "marks")
def _(c):
    marked = {(p.psn, p.entropy) for p in c.packets if p.data and p.flow == c.flow and p.outer["ecn"] == 3}
    sack = c.answer(SACK, lambda p: p.seth["m"] == 1 and (p.ack_psn, p.seth["entropy"]) in marked)
    sack.seth["m"] = 0
    return "SACK: m 0 about a packet that came with CE"


@edit("sack-qp", "mrc.md 2", "a SACK goes to the requestor's QP",
      "resp.pair resp.trigger resp.entropy wire.pdcid", "answers")
def _(c):
    sack = c.answer(SACK, lambda p: not p.seth["pr"])
    other = the_first((p.bth["dqp"] for p in c.packets if p.opcode == SACK and p.flow[:2] == c.back[:2] and
                       p.flow != c.back), "no other QP of these two gets SACKs")
    sack.bth["dqp"] = other
    return f"SACK to QP {other}, not {c.back[2]}"


@edit("encapsulation", "mrc.md 1", "SRv6 mode is IPv6 in IPv6", "wire.encap")
def _(c):
    c.flow = the_first((p.flow for p in c.packets if p.data and p.has("outer_ipv6")), "no flow with SRv6")
    packet = c.one()
    packet.fields.pop("outer_ipv6")
    packet.fields.pop("srh", None)
    packet.ip.pop("payload_length", None)
    return f"PSN {packet.psn} without an outer header"


@edit("icrc", "mrc.md 4", "the ICRC is right", "wire.icrc")
def _(c):
    packet = c.one()
    packet.fields["icrc"] = {"value": packet.icrc["value"] ^ 1, "wrong": True}
    return f"PSN {packet.psn} with a wrong ICRC"
