#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: views.py IN.pcapng OUT.pcapng [options]

A capture of ours as others would have taken it: of several links at once, of one plane, with another clock, a mirror
port, packets out of order, of QPs that are set up again. Packets keep their bytes, comments and interfaces. The order
of options does not matter: which packets, then again, clock, mirror, order.

Exit 3: no pcapng of mrc, or captures with other interfaces."""
import argparse
import random
import struct
import sys
from dataclasses import dataclass, replace
from pathlib import Path

SECTION, INTERFACE, PACKET = 0x0A0D0D0A, 1, 6


@dataclass
class Packet:
    """One enhanced packet block: nanoseconds, interface, the block's body behind its times."""
    time: int
    interface: int
    rest: bytes  # captured length, original length, bytes, options


class NoCapture(Exception):
    """Not what mrc writes: pcapng, little endian, nanoseconds."""


def read(path):
    """(section and other blocks in front, bodies of interfaces, packets, blocks behind)"""
    data, at = Path(path).read_bytes(), 0
    front, interfaces, packets, behind = [], [], [], []
    if data[:4] != struct.pack("<I", SECTION) or data[8:12] != b"\x4d\x3c\x2b\x1a":
        raise NoCapture(f"{path}: no pcapng, or not little endian")
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        body = data[at + 8:at + length - 4]
        if kind == PACKET:
            interface, high, low = struct.unpack_from("<III", body)
            packets.append(Packet(high << 32 | low, interface, body[12:]))
        elif kind == INTERFACE:
            interfaces.append(body)
        else:
            (behind if packets else front).append(data[at:at + length])
        at += length
    return front, interfaces, packets, behind


def block(kind, body):
    length = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + length + body + length


def write(path, front, interfaces, packets, behind):
    with open(path, "wb") as out:
        out.write(b"".join(front) + b"".join(block(INTERFACE, body) for body in interfaces))
        for p in packets:
            out.write(block(PACKET, struct.pack("<III", p.interface, p.time >> 32, p.time & 0xFFFFFFFF) + p.rest))
        out.write(b"".join(behind))


def together(captures):
    """Captures of one run that have the same interfaces, as one, in the order of time."""
    front, interfaces, packets, behind = captures[0]
    if any(other[1] != interfaces for other in captures):
        raise NoCapture("the captures have different interfaces")
    every = sorted((p for capture in captures for p in capture[2]), key=lambda p: p.time)
    return front, interfaces, every if len(captures) > 1 else packets, behind


def clock(packets, ahead_ns, ppm):
    """The clock of the capturing host is so far ahead, and so much too fast from the first packet on. No time is
    negative: one that would be begins the capture later."""
    if not packets:
        return packets
    first = min(p.time for p in packets)
    told = [replace(p, time=p.time + ahead_ns + round((p.time - first) * ppm * 1e-6)) for p in packets]
    if min(p.time for p in told) < 0:
        raise NoCapture("the clock goes below 0: say --base as well")
    return told


def mirror(interfaces, packets, late_ns, rng):
    """Each packet once more within that time, from a mirror port: interfaces behind those that there are."""
    again = [replace(p, interface=p.interface + len(interfaces), time=p.time + rng.randrange(late_ns + 1))
             for p in packets]
    return interfaces * 2, sorted(packets + again, key=lambda p: p.time)


def shuffle(packets, within_ns, rng):
    """Packets keep their times; in the file each stands up to that time behind its place."""
    return [p for _, _, p in sorted((p.time + rng.randrange(within_ns + 1), i, p) for i, p in enumerate(packets))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("capture")
    parser.add_argument("out")
    parser.add_argument("--with", dest="others", action="append", default=[], metavar="CAPTURE",
                        help="the packets of this one as well")
    parser.add_argument("--without", metavar="WORDS", help="packets whose comments hold these are left out")
    parser.add_argument("--plane", type=int, metavar="N", help="packets of that interface alone")
    parser.add_argument("--first", type=int, metavar="N", help="so many packets, and no more")
    parser.add_argument("--again", type=int, metavar="NS", help="all of them once more, so much later: another life")
    parser.add_argument("--base", type=int, default=0, help="this many ns are added to all times")
    parser.add_argument("--ahead", type=int, default=0, help="ns that the clock is ahead; may be negative")
    parser.add_argument("--ppm", type=float, default=0, help="parts of a million that the clock is too fast")
    parser.add_argument("--mirror", type=int, metavar="NS", help="each packet again, up to so much later")
    parser.add_argument("--shuffle", type=int, metavar="NS", help="packets stand up to so much behind their place")
    parser.add_argument("--seed", type=int, default=1)
    o = parser.parse_args()
    rng = random.Random(o.seed)
    try:
        front, interfaces, packets, behind = together([read(c) for c in (o.capture, *o.others)])
        if o.without:
            packets = [p for p in packets if o.without.encode() not in p.rest]
        if o.plane is not None:
            packets = [p for p in packets if p.interface == o.plane]
        packets = packets[:o.first]
        if o.again is not None:
            packets = packets + [replace(p, time=p.time + o.again) for p in packets]
        packets = clock(packets, o.base + o.ahead, o.ppm)
        if o.mirror is not None:
            interfaces, packets = mirror(interfaces, packets, o.mirror, rng)
        if o.shuffle is not None:
            packets = shuffle(packets, o.shuffle, rng)
    except NoCapture as wrong:
        print(f"views.py: {wrong}.\n  Name a capture that mrc has written.", file=sys.stderr)
        return 3
    write(o.out, front, interfaces, packets, behind)
    return 0


if __name__ == "__main__":
    sys.exit(main())
