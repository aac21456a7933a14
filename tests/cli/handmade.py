#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A capture made by hand: packets are built from docs/protocol alone, with nothing of this project's but the judge.
usage: handmade.py MRC [-o CAPTURE]

Two NICs speak for some microseconds: messages of several packets, an immediate, a loss, a trim, a mark; PSNs wrap. The
judge must pass it. Then one sentence of docs/protocol is broken at a time, and the rules that say so must be named, no
others. Exit 1: a finding too many, or one that is missing."""
import argparse
import dataclasses
import ipaddress
import json
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

A, B = (ipaddress.ip_address(text).packed for text in ("fd00::a", "fd00::b"))
QP = {A: 0x101, B: 0x202}
MTU, P_KEY, FIRST_PSN, EVS = 1024, 0x8001, 0xFFFFF0, [0x10000001 * n for n in range(1, 9)]
FIRST, MIDDLE, LAST, LAST_IMM, ONLY, ONLY_IMM, ACK, SACK, NACK = 0xC6, 0xC7, 0xC8, 0xC9, 0xCA, 0xCB, 0xD1, 0xDC, 0xDD
DATA, RTX, TRIMMED, CONTROL = 4, 8, 12, 46  # code points, mrc.md 4


@dataclasses.dataclass
class Packet:
    """What a header holds, mrc.md 1 to 3; `body` is what stands between BTH and payload."""
    time: int
    source: bytes
    opcode: int
    psn: int
    ev: int
    body: bytes
    payload: bytes = b""
    dscp: int = CONTROL
    ecn: int = 0
    ack_request: int = 0
    rtx: int = 0
    tver: int = 0
    p_key: int = P_KEY
    reserved: int = 0
    icrc: int = 0  # this much beside the right one
    port: int = 4971
    cut: int = 0

    def frame(self):
        to = B if self.source == A else A
        pad = -len(self.payload) % 4
        bth = struct.pack(">BBHII", self.opcode, pad << 4 | self.tver, self.p_key, self.reserved << 24 | QP[to],
                          self.ack_request << 31 | self.rtx << 29 | self.psn % (1 << 24))
        inside = bth + self.body + self.payload + bytes(pad)
        udp = struct.pack(">HHHH", self.ev >> 16, self.port, 8 + len(inside) + 4, 0)
        ip = struct.pack(">IHBB", 6 << 28 | (self.dscp << 2 | self.ecn) << 20 | self.ev & 0xFFFF,
                         len(udp) + len(inside) + 4, 17, 64) + self.source + to
        # mrc.md 4: ones for traffic class, flow label, hop limit, UDP checksum, BTH byte 4, behind eight bytes of ones.
        covered = bytes(8 * [0xFF]) + b"\x6f\xff\xff\xff" + ip[4:7] + b"\xff" + ip[8:] + udp[:6] + b"\xff\xff" + \
            inside[:4] + b"\xff" + inside[5:]
        icrc = struct.pack("<I", (zlib.crc32(covered) + self.icrc) & 0xFFFFFFFF)
        whole = bytes.fromhex("020000000002 020000000001 86dd") + ip + udp + inside + icrc
        return whole[:self.cut] if self.cut else whole


def data(time, opcode, psn, msn, rqmsn, va, length, payload, *, ev, **more):
    immediate = struct.pack(">I", msn) if opcode in (LAST_IMM, ONLY_IMM) else b""
    body = struct.pack(">HHQII", rqmsn, msn, va, 0x1234, length) + immediate
    return Packet(time, A, opcode, psn, ev, body, payload, DATA, 2, **more)


def sack(time, cack, about, bytes_received, above=(), marked=False):
    """About the packet that triggers it: (PSN, EV); `above`: PSNs above cack that have arrived."""
    bitmap = sum(1 << psn - cack - 1 for psn in above)
    seth = struct.pack(">HhIHHIBBhQ", 1 << 5 if marked else 0, about[0] - cack, about[1], QP[B], QP[A],
                       cack % (1 << 24), 0, 0, 1, bitmap)
    body = seth + struct.pack(">HHI", 0, len(above), (bytes_received + 255) >> 8)
    return Packet(time, B, SACK, cack, EVS[0], body)


def ack(time, psn, msn):
    return Packet(time, B, ACK, psn, EVS[0], struct.pack(">I", 0x1F << 24 | msn))


def nack(time, psn, ev):
    body = struct.pack(">HBBIHHIBBH", 0, 1, 0, ev, QP[B], QP[A], psn % (1 << 24), 2 << 4, 0, 0)
    return Packet(time, B, NACK, psn, EVS[0], body)


def talk(messages=24):
    """The packets of a conversation that is right, by name: "data 3.1" is the packet 1 of message 3."""
    told, psn, time, received, immediates = {}, FIRST_PSN, 1_700_000_000_000_000_000, 0, 0
    for msn in range(messages):
        sizes = [MTU] * (msn % 4) + [1 + 37 * msn % MTU]
        immediate = msn % 3 == 2
        lost, lost_later, trimmed, marked = "data 9.0", "data 18.1", "data 14.1", "data 11.0"
        first, holes = psn, {}
        for i, size in enumerate(sizes):
            name, last = f"data {msn}.{i}", i + 1 == len(sizes)
            opcode = (ONLY_IMM if immediate else ONLY) if len(sizes) == 1 else \
                FIRST if i == 0 else MIDDLE if not last else LAST_IMM if immediate else LAST
            payload = bytes((msn * 31 + i + n) & 0xFF for n in range(size))
            ev, va = EVS[psn % len(EVS)], 0x10000 * msn + MTU * i
            p = data(time, opcode, psn, msn, immediates if immediate else 0, va, sum(sizes), payload, ev=ev,
                     ack_request=int(last))
            told[name] = p
            nominal = len(p.frame()) - 14 - 40 + 40  # UDP length + 40, mrc.md 8
            if name in (lost, lost_later):
                holes[psn] = p
                if name == lost:
                    del told[name]  # the capture was taken behind the place of the loss
            elif name == trimmed:
                holes[psn] = p
                told[name] = dataclasses.replace(p, dscp=TRIMMED, cut=128)
                told[f"nack {msn}"] = nack(time + 600, psn, ev)
            else:
                received += nominal
                if name == marked:
                    p.ecn = 3
                    told[f"sack of mark {msn}"] = sack(time + 500, psn, (psn, ev), received, marked=True)
            psn, time = psn + 1, time + 100
        above = [n for n in range(first, psn) if n > min(holes) and n not in holes] if holes else []
        cack = min(holes) - 1 if holes else psn - 1
        told[f"sack {msn}"] = sack(time + 700, cack, (psn - 1, EVS[(psn - 1) % len(EVS)]), received, above)
        for hole, p in holes.items():
            again = dataclasses.replace(p, time=time + 2000, rtx=1, dscp=RTX, ev=EVS[(hole + 3) % len(EVS)], cut=0)
            told[f"again {msn}"] = again
            received += len(again.frame()) - 14
            time += 2000
            told[f"sack again {msn}"] = sack(time + 600, psn - 1, (hole, again.ev), received)
        told[f"ack {msn}"] = ack(time + 800, psn - 1, msn + 1)
        immediates += immediate
        time += 3000
    return told


def change(name, **fields):
    def edit(told):
        told[name] = dataclasses.replace(told[name], **fields)
    return edit


def patch(name, at, new):
    """Other bytes in the extension headers."""
    def edit(told):
        body = told[name].body
        told[name] = dataclasses.replace(told[name], body=body[:at] + new + body[at + len(new):])
    return edit


def twice(told):
    p = told["data 6.0"]
    told["data 6.0 twice"] = dataclasses.replace(p, time=p.time + 50, ev=EVS[(p.psn + 1) % len(EVS)],
                                                 payload=bytes(len(p.payload)))


# What is broken, the sentence, and all rules that must say so: one field may break several of them.
BROKEN = [
    ("tver", "mrc.md 2", change("data 5.0", tver=1), {"wire.tver"}),
    ("opcode", "mrc.md 2", change("ack 5", opcode=0xD2), {"wire.opcode"}),
    ("P_Key", "mrc.md 2", change("data 5.0", p_key=0x8002), {"wire.pkey"}),
    ("MSN", "mrc.md 3", patch("data 7.1", 2, struct.pack(">H", 9)), {"req.msn"}),
    ("VA", "mrc.md 3", patch("data 7.1", 4, struct.pack(">Q", 0x70000 + 64)), {"req.va"}),
    ("DMA length", "mrc.md 3", patch("data 7.1", 16, struct.pack(">I", 77)), {"req.dma"}),
    ("Middle is short", "mrc.md 6", change("data 7.1", payload=bytes(1000)), {"req.length", "req.dma", "req.va"}),
    ("First in a message", "mrc.md 2", change("data 7.1", opcode=FIRST), {"req.sequence", "req.dma"}),
    ("a PSN new twice", "mrc.md 2", twice, {"req.psn-once", "req.rtx-same"}),
    ("cack ahead", "mrc.md 6", patch("sack 8", 13, struct.pack(">I", (FIRST_PSN + 300) % (1 << 24))[1:]),
     {"resp.cack-arrived", "resp.cack-back", "resp.trigger", "wire.sack-psn"}),
    ("bitmap", "mrc.md 3", patch("sack 8", 27, b"\x08"), {"resp.bitmap"}),
    ("entropy not echoed", "mrc.md 3", patch("sack 8", 4, b"\x77"), {"resp.entropy"}),
    ("rcvd_bytes back", "mrc.md 3", patch("sack 20", 33, b"\0\0\1"), {"resp.bytes"}),
    ("cc_type of a NACK", "mrc.md 3", patch("nack 14", 16, b"\0"), {"wire.cc-type"}),
    ("syndrome", "mrc.md 3", patch("ack 8", 0, b"\0"), {"wire.syndrome"}),
    ("MSN of an ACK", "mrc.md 6", patch("ack 8", 1, struct.pack(">I", 90)[1:]), {"resp.ack-msn", "resp.ack-back"}),
    ("a retransmission of other bytes", "mrc.md 7", change("again 18", payload=bytes(1024)), {"req.rtx-same"}),
]


def write(path, told):
    """pcap with nanoseconds."""
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1))
        for p in sorted(told.values(), key=lambda p: p.time):
            frame = p.frame()
            out.write(struct.pack("<IIII", *divmod(p.time, 10**9), len(frame), len(frame)) + frame)


def findings(mrc, path):
    done = subprocess.run([mrc, "check", path, "--json", "-"], capture_output=True, text=True, timeout=60)
    result = json.loads(done.stdout)
    return result["verdict"], {f["rule"]: f["text"] for f in result["findings"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mrc")
    parser.add_argument("-o", "--output", help="keep the capture that is right")
    o = parser.parse_args()
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hand.pcap"
        write(path, talk())
        if o.output:
            write(o.output, talk())
        verdict, found = findings(o.mrc, path)
        print(f"{'as it should be':<34} {verdict}, {found or 'no finding'}")
        if verdict != "pass" or found:
            wrong.append("what is right")
        for name, cite, edit, rules in BROKEN:
            told = talk()
            edit(told)
            write(path, told)
            verdict, found = findings(o.mrc, path)
            print(f"{name:<34} {cite:<9} {', '.join(sorted(found)) or 'not seen'}")
            wrong += [f"{name}: not seen by {rule}" for rule in sorted(rules - found.keys())]
            wrong += [f"{name}: {rule} besides: {text}" for rule, text in found.items() if rule not in rules]
    for line in wrong:
        print(f"WRONG {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
