#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: run.py MRC ENDPOINT [OPTION...] [--only NAME]

Drives `mrc nic --endpoint ENDPOINT OPTION...` as a tester would: each function below is one case, which must hold on
every endpoint that has what it needs."""
import sys

import client
from client import ACK, EP_REQUEST, LAST, LAST_IMM, MIDDLE, FIRST, NACK, ONLY, ONLY_IMM, SACK, kind, sent

RKEY, VA, HOST = 0x4200, 0x100000, 0x7000000
PEER_QP = 0x33


def connect(nic, **keys):
    """A QP in RTS and a region. Without the cap `psn` numbers begin at 0."""
    nic.sq, nic.rq = (0x1000, 0x2000) if "psn" in nic.caps else (0, 0)
    if "psn" in nic.caps:
        keys = {"sq_psn": nic.sq, "rq_psn": nic.rq, **keys}
    nic.qp = nic.call("qp", qp=nic.qpn, state="rts", peer_qp=PEER_QP, peer_ip=client.PEER_IP,
                      peer_mac=client.PEER_MAC.hex(), mtu=256, **keys)
    if "regions" in nic.caps:
        nic.call("mr", rkey=RKEY, va=VA, bytes=1 << 20, addr=HOST)
    nic.host = HOST if "regions" in nic.caps else VA
    assert nic.call("query", qp=nic.qpn)["state"] == "rts"


def pattern(n, seed=7):
    return bytes((i * 31 + seed + i // 256) & 255 for i in range(n))


def all_well(nic):
    for o in kind(nic.outputs, "tx"):
        assert o["icrc_ok"], o
        assert o["t"] + len(o["frame"]) * 8000 // nic.info["port_gbps"] == o["t_last"], o


def responder(nic):
    """Three packets in: their bytes are in memory, a SACK and an ACK tell."""
    nic.open()
    connect(nic)
    data = pattern(700)
    for i, opcode in enumerate([FIRST, MIDDLE, LAST]):
        part = data[256 * i:256 * i + 256]
        nic.rx(client.write(nic.qpn, nic.rq + i, opcode, VA + 256 * i, RKEY, 700, part, ackreq=i == 2))
    out = nic.run()
    assert nic.load(nic.host, 700) == data
    sacks, acks = sent(out, SACK), sent(out, ACK)
    assert sacks and sacks[-1]["cack"] == nic.rq + 2 and sacks[-1]["dqp"] == PEER_QP, sacks
    assert [(a["psn"], a["msn"], a["syndrome"]) for a in acks] == [(nic.rq + 2, 1, 0x1F)], acks
    written = max(o["t"] for o in kind(out, "write"))
    assert kind(out, "write") and written < acks[0]["t"] + nic.info["latency"]
    all_well(nic)


def gap(nic):
    """A packet is missing: the bitmap says so, nothing is acknowledged; when it comes all is."""
    nic.open()
    connect(nic)
    data = pattern(700)
    parts = [(FIRST, data[:256]), (MIDDLE, data[256:512]), (LAST, data[512:])]
    for i in (0, 2):
        nic.rx(client.write(nic.qpn, nic.rq + i, parts[i][0], VA + 256 * i, RKEY, 700, parts[i][1], ackreq=i == 2))
    out = nic.run()
    last = sent(out, SACK)[-1]
    assert last["cack"] == nic.rq and last["ooo"] == 1, last
    assert last["bitmap"] >> (nic.rq + 2 - last["cack"] - last["base"]) & 1, last
    assert not sent(out, ACK)
    nic.rx(client.write(nic.qpn, nic.rq + 1, MIDDLE, VA + 256, RKEY, 700, parts[1][1], rtx=True))
    out = nic.run()
    assert sent(out, SACK)[-1]["cack"] == nic.rq + 2 and len(sent(out, ACK)) == 1
    assert nic.load(nic.host, 700) == data
    all_well(nic)


def requestor(nic):
    """A WRITE goes out in packets of the MTU, with the bytes of memory; SACK and ACK bring its completion."""
    nic.open()
    connect(nic)
    data = pattern(700, 99)
    nic.store(0x5000, data)
    assert nic.call("post", qp=nic.qpn, wr_id=1 << 40, addr=0x5000, remote=0x9990000, bytes=700, rkey=77)["taken"]
    out = nic.run()
    packets = sorted(sent(out, FIRST, MIDDLE, LAST), key=lambda p: p["psn"])  # ports have an order of their own
    assert [p["opcode"] for p in packets] == [FIRST, MIDDLE, LAST], packets
    assert [p["psn"] - nic.sq for p in packets] == [0, 1, 2], packets
    assert b"".join(p["payload"] for p in packets) == data
    assert all(p["dqp"] == PEER_QP and p["length"] == 700 and p["rkey"] == 77 and not p["rtx"] for p in packets)
    assert [p["va"] for p in packets] == [0x9990000 + 256 * i for i in range(3)]
    assert not kind(out, "cqe") and not sent(out, ONLY)
    first = nic.rx_answer(nic.sq + 2, 1)
    out = nic.advance(first + 5_000_000)
    assert [(c["wr_id"], c["status"], c["receive"], c["qp"]) for c in kind(out, "cqe")] == [
        (1 << 40, "ok", False, nic.qpn)], kind(out, "cqe")
    all_well(nic)


def half_way(nic):
    """A QP that needs more than the NIC has left (settings of congestion control, of model and RTL) is refused, and
    what another QP posts goes on."""
    nic.open()
    connect(nic, controlled=True)
    unsupported = []
    for i, mtu in enumerate([512, 1024, 2048, 4096]):
        try:
            nic.call("qp", qp=nic.qpn + 1 + i, state="rts", peer_qp=PEER_QP + 1, peer_ip=f"fd00::1{i}",
                     peer_mac=client.PEER_MAC.hex(), mtu=mtu, controlled=True)
        except client.Refused as refused_now:
            unsupported.append(refused_now.unsupported)
    assert any(unsupported) or nic.info["name"] == "fast"
    nic.call("post", qp=nic.qpn, wr_id=5, addr=0x5000, remote=0, bytes=100, rkey=1)
    assert len(sent(nic.run(), ONLY)) == 1
    nic.rx_answer(nic.sq, 1)
    assert [(c["wr_id"], c["status"]) for c in kind(nic.run(), "cqe")] == [(5, "ok")]


def lost(nic):
    """What a NACK names goes again, with the same bytes."""
    nic.open()
    connect(nic)
    nic.store(0x5000, pattern(500))
    nic.call("post", qp=nic.qpn, wr_id=5, addr=0x5000, remote=0, bytes=500, rkey=1)
    one = sent(nic.run(), FIRST)[0]
    nic.rx(client.nack(nic.qpn, nic.sq, 1, one["ev"]))
    again = sent(nic.run(), FIRST)
    assert again and all(a["rtx"] and a["psn"] == nic.sq and a["payload"] == one["payload"] for a in again), again
    assert again[0]["ev"] != one["ev"]


def immediates(nic):
    """A WRITE with immediate in completes a receive, one out carries its own."""
    nic.open()
    connect(nic)
    nic.call("recv", qp=nic.qpn, count=4)
    nic.rx(client.write(nic.qpn, nic.rq, ONLY_IMM, VA, RKEY, 5, b"hallo", imm=0xABCD1234, ackreq=True))
    nic.store(0x5000, b"12345678")
    nic.call("post", qp=nic.qpn, wr_id=9, addr=0x5000, remote=VA, bytes=8, rkey=RKEY, imm=0x55667788)
    out = nic.run()
    cqe = [c for c in kind(out, "cqe") if c["receive"]]
    assert [(c["imm"], c["rqmsn"], c["bytes"], c["status"]) for c in cqe] == [(0xABCD1234, 0, 5, "ok")], cqe
    assert nic.load(nic.host, 5) == b"hallo"
    packet = sent(out, ONLY_IMM)[0]
    assert packet["imm"] == 0x55667788 and packet["payload"] == b"12345678"


def empty(nic):
    """A WRITE with immediate of no bytes: one packet, nothing read or written, whatever its addresses and key are; in and
    out it completes behind the data before it."""
    nic.open()
    connect(nic)
    nic.call("recv", qp=nic.qpn, count=4)
    nic.store(0x5000, b"12345678")
    nic.call("post", qp=nic.qpn, wr_id=1, addr=0x5000, remote=VA, bytes=8, rkey=RKEY)
    nic.call("post", qp=nic.qpn, wr_id=2, addr=1, remote=2, bytes=0, rkey=3, imm=0x77)
    nic.rx(client.write(nic.qpn, nic.rq + 1, ONLY_IMM, 2, 3, 0, b"", imm=0x99, msn=1, ackreq=True))  # before its data
    out = nic.run()
    assert not kind(out, "write") and not [c for c in kind(out, "cqe") if c["receive"]], out
    packet = sent(out, ONLY_IMM)[0]
    assert (packet["payload"], packet["length"], packet["imm"], packet["msn"], packet["rqmsn"]) == (b"", 0, 0x77, 1, 0)
    assert packet["psn"] == nic.sq + 1, packet
    nic.rx(client.write(nic.qpn, nic.rq, ONLY, VA, RKEY, 5, b"hallo", ackreq=True))
    nic.rx_answer(nic.sq + 1, 2)
    out = nic.run()
    assert nic.load(nic.host, 5) == b"hallo"
    assert [(c["imm"], c["rqmsn"], c["bytes"], c["status"]) for c in kind(out, "cqe") if c["receive"]] == [
        (0x99, 0, 0, "ok")], kind(out, "cqe")
    assert [(c["wr_id"], c["status"]) for c in kind(out, "cqe") if not c["receive"]] == [(1, "ok"), (2, "ok")], out
    written, told = kind(out, "write")[-1], [c for c in kind(out, "cqe") if c["receive"]][0]
    assert written["t"] <= told["t"], (written, told)


def classes(nic):
    """A QP has code points of its own for data and retransmissions; another one has the NIC's."""
    nic.open()
    connect(nic, **{"class": {"data": 20, "rtx": 21}})
    nic.call("qp", qp=nic.qpn + 1, state="rts", peer_qp=PEER_QP + 1, peer_ip=client.PEER_IP,
             peer_mac=client.PEER_MAC.hex(), mtu=256)
    for qp in (nic.qpn, nic.qpn + 1):
        nic.call("post", qp=qp, wr_id=qp, addr=0x5000, remote=0, bytes=8, rkey=1)
    packets = sent(nic.run(), ONLY)
    assert {p["dqp"]: p["dscp"] for p in packets} == {PEER_QP: 20, PEER_QP + 1: client.DATA}, packets
    ev = next(p["ev"] for p in packets if p["dqp"] == PEER_QP)
    nic.rx(client.nack(nic.qpn, nic.sq, 1, ev))
    again = sent(nic.run(1_000_000), ONLY)
    assert again and again[0]["rtx"] and again[0]["dscp"] == 21, again


def ordered_probe(nic):
    """An EV probe by order has the code point that its caller gives, or the NIC's."""
    nic.open(settings={"DSCP_TX.ep": 9, "EP_CTL.rev_probe": 0})
    connect(nic)
    nic.call("evprobe", qp=nic.qpn, plane=1, ev=0x12340005, tc=33)
    probes = [p for p in sent(nic.run(1_000_000), EP_REQUEST) if p["ev"] == 0x12340005]
    assert [(p["plane"], p["dscp"]) for p in probes] == [(1, 33)], probes
    nic.run(120_000_000)  # nobody answers
    nic.call("evprobe", qp=nic.qpn, plane=0, ev=0x12340006)
    probes = [p for p in sent(nic.run(1_000_000), EP_REQUEST) if p["ev"] == 0x12340006]
    assert [(p["plane"], p["dscp"]) for p in probes] == [(0, 9)], probes


def returned(nic):
    """A packet of ours that a switch has trimmed and sent back is not the peer's: nobody is answered, it is counted; with
    CTRL.returned 1 it goes out again at once."""
    for learn in (0, 1):
        nic.open(settings={"CTRL.returned": learn})
        connect(nic, timeout=20)
        nic.store(0x5000, pattern(200))
        nic.call("post", qp=nic.qpn, wr_id=5, addr=0x5000, remote=0, bytes=200, rkey=1)
        one = sent(nic.run(1_000_000), ONLY)[0]
        nic.rx(client.trim(one["frame"], 128))
        out = nic.run(20_000_000)
        assert not sent(out, SACK, NACK), out
        again = sent(out, ONLY)
        copies = learn * (2 if nic.info["planes"] > 2 else 1)  # nothing waits behind it: a second one on a third plane
        assert [(p["psn"], p["rtx"]) for p in again] == [(nic.sq, 1)] * copies, out
        assert copies < 2 or len({p["plane"] for p in [one] + again}) == 3, (one, again)
        assert nic.call("counters")["counters"]["CNT_RETURNED"] == 1


def slow_memory(nic):
    """While memory takes no writes, nothing is written and the immediate does not complete."""
    nic.open()
    connect(nic)
    nic.call("recv", qp=nic.qpn, count=1)
    nic.call("memory", takes=False)
    nic.rx(client.write(nic.qpn, nic.rq, ONLY_IMM, VA, RKEY, 5, b"hallo", imm=7, ackreq=True))
    out = nic.run()
    assert not kind(out, "write") and not kind(out, "cqe") and sent(out, SACK), out
    nic.call("memory", takes=True)
    assert [c["imm"] for c in kind(nic.run(), "cqe")] == [7]
    assert nic.load(nic.host, 5) == b"hallo"


STEPS = (("init", ("ev_profile", "cc_profile")), ("rtr", ("path", "rq_psn", "max_wimm_dest", "mpr_dest", "caps")),
         ("rts", ("sq_psn", "max_wimm", "mpr", "timeout", "retry_cnt")))


def modified(nic):
    """Steps of a QP: what is not there is named, what is asked for twice is no step."""
    nic.open()

    def order(state, *names, **keys):
        answer = nic.call("modify", qp=nic.qpn, state=state, **{"with": names}, **keys)
        return answer.get("refused"), answer.get("attributes", [])
    rtr, rts = STEPS[1][1], STEPS[2][1]
    assert order("rtr", *rtr) == ("transition", [])
    assert order("init", "cc_profile") == ("attributes", ["ev_profile"])
    assert order("init", "ev_profile", "cc_profile") == (None, [])
    assert order("rtr", *rtr[1:4]) == ("attributes", ["path", "caps"])
    assert nic.call("query", qp=nic.qpn)["state"] == "init"
    assert order("rtr", *rtr, peer_qp=PEER_QP, peer_ip=client.PEER_IP, mtu=256) == (None, [])
    assert order("rts", *rts, timeout=25) == ("value", ["timeout"])
    assert order("rts", *rts, mtu=512) == (None, [])  # mtu is of no attribute that is named
    assert order("rtr", *rtr) == ("transition", [])
    assert nic.call("query", qp=nic.qpn)["state"] == "rts"


FULL = 256 + 92  # nominal bytes of a packet of 256 bytes: what a window counts


def posted(nic, qp, bytes=8192):
    """How many packets leave before anything is answered."""
    nic.call("post", qp=qp, wr_id=qp, addr=0x5000, remote=0, bytes=bytes, rkey=1)
    return len(sent(nic.run(3_000_000), FIRST, MIDDLE, LAST))


def numbers(nic):
    """Numbers of a controller are its destination's: each QP has the window that its own ones name."""
    nic.open()
    connect(nic, controlled=True, nscc={"max_cwnd": 3 * FULL})
    common = {"state": "rts", "peer_mac": client.PEER_MAC.hex(), "mtu": 256, "controlled": True}
    nic.call("qp", qp=nic.qpn + 1, peer_qp=PEER_QP, peer_ip="fd00::12", nscc={"max_cwnd": 7 * FULL}, **common)
    assert [posted(nic, nic.qpn), posted(nic, nic.qpn + 1)] == [3, 7]

    def refuses(peer_ip, **nscc):
        try:
            nic.call("qp", qp=nic.qpn + 2, peer_qp=PEER_QP, peer_ip=peer_ip, nscc=nscc, **common)
        except client.Refused as no:
            return str(no)
        return ""
    assert "share a congestion controller" in refuses(client.PEER_IP, max_cwnd=7 * FULL)
    assert "max_cwn" in refuses("fd00::13", max_cwn=7 * FULL)
    assert "path_mtu" in refuses("fd00::13", path_mtu=4096)
    assert "gamma" in refuses("fd00::13", gamma=1.5)
    assert "max_cwnd" in refuses("fd00::13", max_cwnd=100)
    assert refuses("fd00::12", max_cwnd=7 * FULL) == ""  # the same numbers: the controller that is there


def numbers_again(nic):
    """Where no QP is left, a destination takes other numbers."""
    nic.open()
    for packets in (3, 9):
        nic.call("qp", qp=nic.qpn, state="rts", peer_qp=PEER_QP, peer_ip=client.PEER_IP, mtu=256, controlled=True,
                 nscc={"max_cwnd": packets * FULL})
        nic.run(20_000_000)
        assert posted(nic, nic.qpn) == packets
        nic.call("qp", qp=nic.qpn, state="reset")
        nic.run(20_000_000)


def two_paths(nic):
    """Where a QP leads to is known with its path, not before: two QPs of two destinations have a window each."""
    nic.open()
    for i in (0, 1):
        keys = {"mtu": 256, "controlled": True, "nscc": {"max_cwnd": 3 * FULL}, "peer_ip": f"fd00::1{i}", "peer_qp": PEER_QP}
        for state, names in STEPS:
            answer = nic.call("modify", qp=nic.qpn + i, state=state, **{"with": names}, **keys)
            assert "refused" not in answer, answer
    assert [posted(nic, nic.qpn), posted(nic, nic.qpn + 1)] == [3, 3]


def trimmed(nic):
    """A trimmed packet is NACKed, and nothing of it is written."""
    nic.open()
    connect(nic)
    nic.rx(client.trim(client.write(nic.qpn, nic.rq, ONLY, VA, RKEY, 200, pattern(200)), 128))
    out = nic.run()
    assert [(n["reason"], n["nack_psn"]) for n in sent(out, NACK)] == [(1, nic.rq)], sent(out, NACK)
    assert not kind(out, "write") and not sent(out, ACK)


def port_flaps(nic):
    """What begins after a port is up again has come, whatever was on the wire when it went down."""
    nic.open()
    connect(nic)
    nic.call("port", plane=0, up=False, t=100_000)
    nic.call("port", plane=0, up=True, t=200_000)
    nic.rx(client.write(nic.qpn, nic.rq, ONLY, VA, RKEY, 5, b"hallo", ackreq=True), at=300_000)
    out = nic.run(20_000_000)
    assert [s["cack"] for s in sent(out, SACK)] == [nic.rq], sent(out, SACK)
    assert nic.load(nic.host, 5) == b"hallo"


def port_down(nic):
    """A plane without carrier is used no more, and the peer is told."""
    nic.open()
    connect(nic)
    nic.call("port", plane=1, up=False, t=100_000)
    nic.run(1_000_000)
    nic.store(0x5000, pattern(4096))
    nic.call("post", qp=nic.qpn, wr_id=1, addr=0x5000, remote=0, bytes=4096, rkey=1)
    out = nic.run(10_000_000)
    assert len(sent(out, FIRST, MIDDLE, LAST)) >= 16
    others = set(range(nic.info["planes"])) - {1}
    assert {o["plane"] for o in sent(out, FIRST, MIDDLE, LAST)} == others and 1 not in {o["plane"] for o in out}
    told = sent(nic.outputs, EP_REQUEST)
    assert told and told[0]["op"] == 0 and told[0]["mask"] & 6 == 2, told
    nic.call("port", plane=1, up=True, t=nic.now)
    nic.run(1_000_000)
    out = nic.run(20_000_000)
    assert sent(nic.outputs, EP_REQUEST)[-1]["mask"] & 6 == 6


def bad_frames(nic):
    """What is no packet for this NIC changes nothing, and is answered by nothing."""
    nic.open()
    connect(nic)
    good = client.write(nic.qpn, nic.rq, ONLY, VA, RKEY, 100, pattern(100), ackreq=True)
    nic.rx(good, fcs_bad=True)
    nic.rx(good[:-1] + bytes([good[-1] ^ 1]))
    nic.rx(b"\xff" * 64)
    nic.rx(good[:40])
    out = nic.run()
    assert not out, out
    counters = nic.call("counters")
    assert counters["counters"]["silent_drops"] == 0 and counters["t"] > 0
    nic.rx(good)
    assert len(sent(nic.run(), ACK)) == 1


def failed(nic):
    """A QP in ERROR flushes, answers with UNEXP_EVENT, and comes back through RESET with new numbers."""
    nic.open()
    connect(nic)
    nic.run(1_000_000)
    nic.call("post", qp=nic.qpn, wr_id=3, addr=0x5000, remote=0, bytes=4096, rkey=1)
    nic.run(3_000_000)
    assert nic.call("qp", qp=nic.qpn, state="error")["pending"]
    nic.call("post", qp=nic.qpn, wr_id=4, addr=0x5000, remote=0, bytes=64, rkey=1)
    out = nic.run(10_000_000)
    assert [o["call"] for o in kind(out, "done")] == ["qp"]
    assert [(c["wr_id"], c["status"]) for c in kind(out, "cqe")] == [(3, "flushed"), (4, "flushed")], kind(out, "cqe")
    nic.rx(client.write(nic.qpn, nic.rq, ONLY, VA, RKEY, 100, pattern(100)))
    out = nic.run(10_000_000)
    assert [n["reason"] for n in sent(out, NACK)] == [0x19], out
    assert nic.call("query", qp=nic.qpn)["state"] == "error"
    nic.call("qp", qp=nic.qpn, state="reset")
    nic.run(10_000_000)
    assert nic.call("query", qp=nic.qpn)["state"] == "reset"
    nic.call("qp", qp=nic.qpn, state="rts", peer_qp=PEER_QP, peer_ip=client.PEER_IP, mtu=256, rq_psn=0x777,
             peer_mac=client.PEER_MAC.hex())
    out = nic.run(10_000_000)
    assert kind(out, "done") and "error" not in kind(out, "done")[-1]
    nic.rx(client.write(nic.qpn, 0x777, ONLY, VA, RKEY, 100, pattern(100), ackreq=True))
    assert [a["psn"] for a in sent(nic.run(), ACK)] == [0x777]


def access(nic):
    """R_Key and bounds are checked: a NAK, nothing written, the QP fails."""
    nic.open()
    connect(nic)
    nic.rx(client.write(nic.qpn, nic.rq, ONLY, VA, RKEY + 1, 100, pattern(100), ackreq=True))
    out = nic.run(10_000_000)
    assert [a["syndrome"] for a in sent(out, ACK)] == [0x62], out
    assert not kind(out, "write") and nic.call("query", qp=nic.qpn)["state"] == "error"


def one_plane(nic):
    """A tester with one port sees all there, with the entropy values that it gave."""
    evs = [0x10001, 0x20002, 0x30003]
    assert nic.open(planes=1)["planes"] == 1
    connect(nic, evs=evs)
    assert nic.qp["evs"] == evs and nic.qp["backup"] == 0
    nic.store(0x5000, pattern(3072))
    nic.call("post", qp=nic.qpn, wr_id=1, addr=0x5000, remote=0, bytes=3072, rkey=1)
    packets = sent(nic.run(10_000_000), FIRST, MIDDLE, LAST)
    assert len(packets) == 12 and {p["plane"] for p in packets} == {0}
    assert {p["ev"] for p in packets} == set(evs), [hex(p["ev"]) for p in packets]
    assert nic.call("counters")["counters"].get("stray_frames", 0) == 0


def settings(nic):
    """A setting does what it says: beyond the window, NACK or silence."""
    for drop in (0, 1):
        nic.open(settings={"CTRL.oor_drop": drop})
        assert nic.info["profile"]["settings"]["CTRL.oor_drop"] == drop
        connect(nic)
        nic.rx(client.write(nic.qpn, nic.rq + 5000, ONLY, VA, RKEY, 100, pattern(100)))
        assert [n["reason"] for n in sent(nic.run(), NACK)] == ([] if drop else [0x0B])


def same_again(nic):
    """The same calls have the same answers, whatever was before, and with another slack the same frames."""
    def traffic(slack):
        nic.slack = slack
        nic.memory = {}
        nic.open(seed=3)
        connect(nic)
        nic.store(0x5000, pattern(1000))
        nic.call("post", qp=nic.qpn, wr_id=1, addr=0x5000, remote=0, bytes=1000, rkey=1)
        nic.rx(client.write(nic.qpn, nic.rq, ONLY, VA, RKEY, 100, pattern(100), ackreq=True))
        return nic.run(3_000_000)
    first = traffic(0)
    assert first and first == traffic(0)
    assert first == traffic(150_000)


def ev_control(nic):
    """What the controller denies is not used: a value, not an index."""
    nic.open()
    connect(nic)
    evs = nic.qp["evs"]
    index = next(i for i in range(len(evs) + 1) if i not in evs)
    try:
        nic.call("ev", qp=nic.qpn, ev=index, deny=True)
        raise AssertionError("an index is taken for a value")
    except client.Refused as refused_now:
        assert "has no entropy value" in str(refused_now), refused_now
    assert "pending" not in nic.call("ev", qp=nic.qpn, ev=evs[0], deny=True)
    nic.call("post", qp=nic.qpn, wr_id=1, addr=0x5000, remote=0, bytes=512 * len(evs), rkey=1)
    used = {p["ev"] for p in sent(nic.run(30_000_000), FIRST, MIDDLE, LAST)}
    assert used == set(evs[1:]), (len(used), len(evs))


def batch(nic):
    """A line may be a list of calls."""
    answers = nic.line('[{"call":"open","version":1},{"call":"advance","until":1000000},{"call":"nonsense"}]')
    answers = client.json.loads(answers)
    assert [a["ok"] for a in answers] == [True, True, False] and answers[1]["reached"] == 1000000
    assert nic.line("  []  ") == b"[]\n"


def refused(nic):
    """A foreign P_Key, a packet that ends beyond its region, an ICRC wrong in any byte: nothing is written."""
    nic.open()
    connect(nic)
    good = client.write(nic.qpn, nic.rq, ONLY, VA, RKEY, 100, pattern(100), ackreq=True)
    foreign = bytearray(good)
    foreign[14 + 51] ^= 1  # of the P_Key
    foreign[-4:] = client.icrc(bytes(foreign[14:-4]))
    nic.rx(bytes(foreign))
    for error in client.icrc_errors():
        nic.rx(good[:-4] + bytes(a ^ b for a, b in zip(good[-4:], error)))
    assert not nic.run()
    nic.rx(client.write(nic.qpn, nic.rq, ONLY, VA + (1 << 20) - 50, RKEY, 100, pattern(100), ackreq=True))
    out = nic.run()
    assert not kind(out, "write") and [a["syndrome"] for a in sent(out, ACK)] == [0x62], out


def tunnelled(nic):
    """SRv6, with and without a routing header: the outer address is the path, the plane in its uSIDs."""
    for encap, header in ("srv6", 41), ("srh", 43):
        nic.open()
        connect(nic, encap=encap, path="2001:db8:101:202::")
        nic.call("post", qp=nic.qpn, wr_id=8, addr=0x5000, remote=0, bytes=4096, rkey=1)
        nic.rx(client.write(nic.qpn, nic.rq, ONLY, VA, RKEY, 100, pattern(100), ackreq=True))
        out = nic.run(10_000_000)
        packets = sent(out, FIRST, MIDDLE, LAST)
        assert len(packets) >= 16 and sent(out, SACK) and sent(out, ACK)
        for o in kind(out, "tx"):
            plane = o["plane"] << 12
            assert o["encap"] == header and o["path"] == f"2001:db8:{plane | 0x101:x}:{plane | 0x202:x}::", o
        nic.rx_answer(nic.sq + 15, 1)
        assert [c["status"] for c in kind(nic.run(), "cqe")] == ["ok"]
        all_well(nic)


def told(nic):
    """A SACK tells the mark, the time stamp and the bytes of what came."""
    nic.open()
    connect(nic)
    nic.rx(client.write(nic.qpn, nic.rq, ONLY, VA, RKEY, 100, pattern(100), ecn=3, stamp=0x1234))
    marked = sent(nic.run(), SACK)
    assert len(marked) == 1 and marked[0]["m"] == 1 and marked[0]["stamp"] == 0x1234, marked
    assert marked[0]["rcvd"] == (8 + 12 + 4 + 4 + 16 + 100 + 4 + 40 + 255) // 256, marked  # UDP length + 40, in 256 B


CASES = {responder: [], gap: [], requestor: [], half_way: ["nscc"], lost: [], immediates: ["write_imm"], trimmed: ["trim_nack"],
         port_flaps: ["ports"], port_down: ["ports"], bad_frames: ["bytes"], failed: ["psn"], access: ["regions"], one_plane: ["psn"],
         settings: [], same_again: [], ev_control: ["ev_control"], batch: ["batch"], told: ["time_stamps"],
         refused: ["pkey", "regions", "bytes"], tunnelled: ["srv6", "srh"],
         slow_memory: ["slow_memory", "write_imm"], modified: ["modify"], empty: ["write_imm", "bytes"], classes: ["class"],
         ordered_probe: ["order_evprobe"], returned: ["bytes"], numbers: ["nscc_numbers"],
         numbers_again: ["nscc_numbers", "psn"], two_paths: ["nscc_numbers", "modify"]}


def answer_for(nic):
    def rx_answer(psn, msn):
        nic.rx(client.sack(nic.qpn, psn))
        nic.rx(client.ack(nic.qpn, psn, msn))
        return nic.now
    return rx_answer


def main():
    arguments = sys.argv[1:]
    only = arguments.pop(arguments.index("--only") + 1) if "--only" in arguments else None
    command = [arguments[0], "nic", "--endpoint", *[a for a in arguments[1:] if a != "--only"]]
    ran = 0
    for case, needs in CASES.items():
        if only and case.__name__ != only:
            continue
        nic = client.Nic(command)
        nic.rx_answer = answer_for(nic)
        caps = set(nic.open()["caps"])
        if not caps.issuperset(needs):
            print(f"{case.__name__}: unsupported")
            nic.end()
            continue
        case(nic)
        assert nic.end() == 0
        print(f"{case.__name__}: ok")
        ran += 1
    assert ran > 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
