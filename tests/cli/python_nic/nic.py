#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A small NIC in the skeleton of `mrc dut-template --python`: what somebody else would have written into nic.py. Enough
for networks that lose nothing: it repeats nothing. SNAKE_FAULT lets it make an error."""
import ipaddress
import os
import struct
import zlib

from shell import TAKE_NEW, TAKE_OTHER, TAKE_PROBE, Nic, Refused, serve

FIRST, MIDDLE, LAST, LAST_IMM, ONLY, ONLY_IMM = range(0xC6, 0xCC)
ACK, SACK, PROBE = 0xD1, 0xDC, 0xDE
FAULT = os.environ.get("SNAKE_FAULT", "")


def icrc(ip):
    masked = bytearray(ip)
    masked[0] |= 0x0F
    masked[1:4] = b"\xff" * 3
    masked[7] = 0xFF
    masked[46:48] = b"\xff\xff"
    masked[52] = 0xFF
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + bytes(masked)))


class Queue:
    """One queue pair."""

    def __init__(self, keys):
        self.keys, self.peer = keys, ipaddress.ip_address(keys["peer_ip"]).packed
        self.next, self.msn, self.work, self.turn = 0, 0, [], 0  # of the requestor
        self.flying, self.queued = 0, []
        self.got, self.cack, self.done = set(), -1, 0  # of the responder
        self.bytes, self.unsaid, self.ends, self.last = 0, 0, set(), 0


class OwnNic(Nic):
    def __init__(self, seed):
        self.queues, self.regions, self.seed = {}, {}, seed

    def facts(self):
        return {"name": "snake", "version": "1", "planes": 2, "port_gbps": 100, "latency": 10_000_000,
                "qp_first": 16, "qps": 4, "caps": ["batch", "requestor", "responder", "bytes", "regions"],
                "limits": {"mpr": 1, "max_wimm": 0, "evs": 16, "regions": 64, "post": 64}}

    def address(self, mac, ip):
        self.mac, self.ip = mac, ipaddress.ip_address(ip).packed

    def qp(self, keys):
        if keys["state"] in ("reset", "error"):
            self.queues.pop(keys["qp"], None)
            return {}
        for name in ("controlled", "time_stamps", "svc_time", "dynamic_mpr", "trim_nack"):
            if keys.get(name):
                raise Refused(f"this NIC has no {name}.", True)
        if keys.get("encap", "ipv6") != "ipv6":
            raise Refused("this NIC sends IPv6 alone.", True)
        if keys.get("sq_psn") or keys.get("rq_psn"):
            raise Refused("numbers begin at 0 on this NIC.", True)
        evs = keys.get("evs") or [self.seed * 77 + 0x10000 * i + 3 for i in range(16)]
        self.queues[keys["qp"]] = Queue({**keys, "evs": evs, "backup": keys.get("backup", 0)})
        return {"mpr": 1, "mpr_dest": 1, "max_wimm": 0, "max_wimm_dest": 0, "timeout": 20, "evs": evs,
                "backup": keys.get("backup", 0)}

    def query(self, qp):
        return "rts" if qp in self.queues else "reset"

    def mr(self, keys):
        if keys.get("valid", True):
            self.regions[keys["rkey"]] = (keys["va"], keys["bytes"], keys["addr"])
        else:
            self.regions.pop(keys["rkey"], None)

    # The requestor.
    def post(self, keys):
        q = self.queues[keys["qp"]]
        if len(q.work) >= 64:
            return False
        if "imm" in keys:
            raise Refused("this NIC sends no immediates.", True)
        q.msn += 1
        mtu, size = q.keys.get("mtu", 4096), keys["bytes"]
        packets = max(1, -(-size // mtu))
        for i in range(packets):
            opcode = ONLY if packets == 1 else FIRST if i == 0 else LAST if i == packets - 1 else MIDDLE
            q.queued.append((keys, opcode, i * mtu, min(mtu, size - i * mtu), i == packets - 1, q.msn - 1, q.next))
            q.next += 1
        q.work.append((q.next - 1, keys["wr_id"]))
        self.go_on(q)
        return True

    def go_on(self, q):
        """At most 128 packets that nothing is known of: the window of one unit."""
        while q.queued and q.flying < 128:
            job = q.queued.pop(0)
            q.flying += 1
            if job[3]:
                self.read(job[0]["addr"] + job[2], job[3], lambda data, job=job: self.data(q, job, data))
            else:
                self.data(q, job, b"")

    def data(self, q, job, data):
        keys, opcode, offset, _, last, msn, psn = job
        usable = len(q.keys["evs"]) - q.keys["backup"]
        slot = q.turn % usable
        q.turn += 1
        rest = struct.pack(">HHQII", 0, msn & 0xFFFF, keys["remote"] + offset, keys["rkey"], keys["bytes"])
        self.out(q, slot % self.planes, q.keys["evs"][slot], opcode, psn, rest + data + bytes(-len(data) % 4), last, 4,
                 -len(data) % 4)

    def out(self, q, plane, ev, opcode, psn, rest, ackreq=False, dscp=46, pad=0):
        bth = struct.pack(">BBHIBBH", opcode, pad << 4, q.keys.get("pkey", 0xFFFF), q.keys["peer_qp"], 0x80 * ackreq,
                          psn >> 16 & 0xFF, psn & 0xFFFF)
        size = 8 + len(bth) + len(rest) + 4
        ip = struct.pack(">IHBB", 6 << 28 | dscp << 22 | ev & 0xFFFF, size, 17, 64) + self.ip + q.peer
        ip += struct.pack(">HHHH", ev >> 16, 4971, size, 0) + bth + rest
        self.send(plane, bytes.fromhex(q.keys["peer_mac"]) + self.mac + b"\x86\xdd" + ip + icrc(ip))

    # What comes.
    def received(self, plane, frame, fcs_bad):
        ip = frame[14:]
        end = 40 + int.from_bytes(ip[44:46], "big")
        q = self.queues.get(int.from_bytes(ip[53:56], "big"))
        if fcs_bad or len(ip) < 60 or q is None or end > len(ip) or icrc(ip[:end - 4]) != ip[end - 4:end]:
            return
        opcode, psn = ip[48], int.from_bytes(ip[57:60], "big")
        ev = int.from_bytes(ip[40:42], "big") << 16 | int.from_bytes(ip[2:4], "big")
        rest = ip[60:end - 4]
        if FIRST <= opcode <= ONLY_IMM:
            self.came(q, plane, ev, opcode, psn, ip, rest[:len(rest) - (ip[49] >> 4 & 3)], end)
        elif opcode == PROBE:
            number = int.from_bytes(rest[4:6], "big")
            self.took(q.keys["qp"], number, TAKE_PROBE, plane, ev)
            self.sack(q, plane, ev, psn, probe=number)
        elif opcode == SACK:
            known = int.from_bytes(rest[13:16], "big") + 1
            q.flying = min(q.flying, max(0, q.next - len(q.queued) - known))
            self.go_on(q)
        elif opcode == ACK:
            while q.work and q.work[0][0] <= psn:
                self.complete(q.keys["qp"], q.work.pop(0)[1])

    def came(self, q, plane, ev, opcode, psn, ip, rest, end):
        va, rkey, _ = struct.unpack(">QII", rest[4:20])
        data, (start, size, addr) = rest[20:], self.regions.get(rkey, (0, 0, 0))
        new = psn > q.cack and psn not in q.got
        if opcode in (LAST_IMM, ONLY_IMM) or va < start or va + len(data) > start + size or psn > q.cack + 128:
            self.took(q.keys["qp"], psn, TAKE_OTHER, plane, ev)
            return
        before = q.done
        self.took(q.keys["qp"], psn, TAKE_NEW if new else TAKE_OTHER, plane, ev)
        if new:
            if data:
                self.write(addr + va - start, data)
            q.got.add(psn)
            q.bytes += end  # UDP length + 40
            if opcode in (LAST, ONLY):
                q.ends.add(psn)
            while q.cack + 1 in q.got:
                q.cack += 1
                q.got.discard(q.cack)
                if q.cack in q.ends:
                    q.ends.discard(q.cack)
                    q.last = q.cack
                    q.done += 1
        q.unsaid += end
        flags = ip[56]
        if flags & 0xA0 or ip[1] >> 4 & 3 == 3 or not new or q.unsaid > 16384:
            self.sack(q, plane, ev, psn, marked=ip[1] >> 4 & 3 == 3)
        if q.done != before or (flags & 0x80 and not new):
            self.out(q, plane, ev, ACK, q.last & 0xFFFFFF, struct.pack(">I", 0x1F << 24 | q.done & 0xFFFFFF))

    def sack(self, q, plane, ev, psn, probe=None, marked=False):
        cack = q.cack + (FAULT == "cack")
        bits = sum(1 << p - cack - 1 for p in q.got if 0 <= p - cack - 1 < 64)
        first = 0x20 * (1 if marked else 0) | 2 * (probe is not None)
        offset = probe if probe is not None else psn - cack & 0xFFFF
        rest = struct.pack(">HHIHHI", first, offset, ev, q.keys["qp"], q.keys["peer_qp"] & 0xFFFF,
                           cack & 0xFFFFFF) + struct.pack(">BBh", 0, 0, 1)
        rest += bits.to_bytes(8, "big") + struct.pack(">HHI", 0, len(q.got), (q.bytes + 255) // 256 & 0xFFFFFF)
        q.unsaid = 0
        self.out(q, plane, ev, SACK, cack & 0xFFFFFF, rest)


serve(OwnNic)
