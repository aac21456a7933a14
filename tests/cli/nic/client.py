# SPDX-License-Identifier: Apache-2.0
"""A tester of NICs that are processes (docs/reference/device.md), by the standard library alone. It owns time, wire, host
memory. Frames are those of docs/protocol/mrc.md over IPv6."""
import ipaddress
import json
import struct
import subprocess
import zlib

NIC_MAC, PEER_MAC = bytes.fromhex("020000000001"), bytes.fromhex("020000000002")
NIC_IP, PEER_IP = "fd00::1", "fd00::2"
DATA, CONTROL, TRIMMED = 4, 46, 12  # DSCP
FIRST, MIDDLE, LAST, LAST_IMM, ONLY, ONLY_IMM = range(0xC6, 0xCC)
ACK, EP_REQUEST, EP_RESPONSE, SACK, NACK, PROBE = 0xD1, 0xD8, 0xD9, 0xDC, 0xDD, 0xDE


def icrc(ip):
    """Of the bytes from the IPv6 header to the end of the payload."""
    masked = bytearray(ip)
    masked[0] |= 0x0F
    masked[1:4] = b"\xff" * 3
    masked[7] = 0xFF
    masked[46:48] = b"\xff\xff"
    masked[52] = 0xFF
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + bytes(masked)))


def icrc_errors():
    """Four bytes each, to be xored to a right ICRC: what is left of the CRC over the whole frame is then wrong in one
    of its four bytes alone, so that a receiver which compares fewer of them takes the frame."""
    rows = []  # of the map from these four bytes to what is left, each with what makes it
    for i in range(32):
        rows.append((zlib.crc32((1 << i).to_bytes(4, "little"), 0xFFFFFFFF) ^ 0xFFFFFFFF, 1 << i))
    for bit in range(32):
        pivot = next(r for r in rows[bit:] if r[0] >> bit & 1)
        rows.remove(pivot)
        rows.insert(bit, pivot)
        rows = [(a ^ pivot[0], b ^ pivot[1]) if n != bit and a >> bit & 1 else (a, b) for n, (a, b) in enumerate(rows)]
    return [rows[bit][1].to_bytes(4, "little") for bit in (7, 15, 23, 31)]


def frame(opcode, dqp, psn, rest, ev=0x11110000, dscp=DATA, ecn=0, ackreq=False, rtx=False, ts=False, pad=0):
    """A frame to the NIC; rest: what follows the BTH."""
    bth = struct.pack(">BBHIBB", opcode, pad << 4, 0xFFFF, dqp, 0x80 * ackreq | 0x20 * rtx | 0x10 * ts, psn >> 16)
    bth += struct.pack(">H", psn & 0xFFFF)
    udp = struct.pack(">HHHH", ev >> 16, 4971, 8 + len(bth) + len(rest) + 4, 0)
    tc = dscp << 2 | ecn
    ip = struct.pack(">IHBB", 6 << 28 | tc << 20 | ev & 0xFFFF, len(udp) + len(bth) + len(rest) + 4, 17, 64)
    ip += ipaddress.ip_address(PEER_IP).packed + ipaddress.ip_address(NIC_IP).packed + udp + bth + rest
    return NIC_MAC + PEER_MAC + b"\x86\xdd" + ip + icrc(ip)


def write(dqp, psn, opcode, va, rkey, length, payload, msn=0, rqmsn=0, imm=None, stamp=None, **more):
    rest = struct.pack(">HH", rqmsn, msn) + (b"" if stamp is None else struct.pack(">HH", stamp, 1))
    rest += struct.pack(">QII", va, rkey, length) + (b"" if imm is None else struct.pack(">I", imm))
    pad = -len(payload) % 4
    return frame(opcode, dqp, psn, rest + payload + bytes(pad), pad=pad, ts=stamp is not None, **more)


def sack(dqp, cack, offset=0, base=1, bitmap=0, mpr=0, ev=0x11110000, ooo=0, rcvd=0):
    rest = struct.pack(">HhIHHI", 0, offset, ev, 0, 0, cack) + struct.pack(">BBh", 0, mpr, base)
    rest += bitmap.to_bytes(8, "big") + struct.pack(">HHI", 0, ooo, rcvd)
    return frame(SACK, dqp, cack, rest, ev=ev, dscp=CONTROL)


def ack(dqp, psn, msn, syndrome=0x1F):
    return frame(ACK, dqp, psn, struct.pack(">I", syndrome << 24 | msn), dscp=CONTROL)


def nack(dqp, psn, reason, ev):
    rest = struct.pack(">HBBIHHI", 0, reason, 0, ev, 0, 0, psn) + struct.pack(">BBH", 0x20, 0, 0)
    return frame(NACK, dqp, psn, rest, ev=ev, dscp=CONTROL)


def trim(data, size, dscp=TRIMMED):
    """As a switch leaves it: cut, the code point rewritten, lengths as they were."""
    cut = bytearray(data[:size])
    cut[14] = cut[14] & 0xF0 | dscp >> 2
    cut[15] = cut[15] & 0x3F | (dscp & 3) << 6
    return bytes(cut)


def parse(data):
    """The fields of a frame of the NIC that tests look at."""
    ip = data[14:]
    assert data[:14] == PEER_MAC + NIC_MAC + b"\x86\xdd", data[:14].hex()
    outer = ip
    if ip[6] in (41, 43):  # SRv6, without and with a routing header
        ip = ip[40 if ip[6] == 41 else 64:]
    bth = ip[48:60]
    out = {"path": str(ipaddress.ip_address(outer[24:40])), "encap": outer[6], "opcode": bth[0],
           "dqp": int.from_bytes(bth[5:8], "big"), "psn": int.from_bytes(bth[9:12], "big"), "ackreq": bth[8] >> 7,
           "rtx": bth[8] >> 5 & 1, "ts": bth[8] >> 4 & 1, "dscp": outer[1] >> 6 | (outer[0] & 15) << 2,
           "ev": int.from_bytes(ip[40:42], "big") << 16 | int.from_bytes(ip[2:4], "big")}
    end = 40 + int.from_bytes(ip[44:46], "big")  # the UDP length says where the frame ends; behind it is padding
    out["icrc_ok"] = icrc(ip[:end - 4]) == ip[end - 4:end]
    rest = ip[60:end - 4]
    if FIRST <= out["opcode"] <= ONLY_IMM:
        out["rqmsn"], out["msn"] = struct.unpack(">HH", rest[:4])
        rest = rest[4 + 4 * out["ts"]:]
        out["va"], out["rkey"], out["length"] = struct.unpack(">QII", rest[:16])
        rest = rest[16:]
        if out["opcode"] in (LAST_IMM, ONLY_IMM):
            out["imm"], rest = int.from_bytes(rest[:4], "big"), rest[4:]
        out["payload"] = rest[:len(rest) - (bth[1] >> 4 & 3)]
    elif out["opcode"] == SACK:
        out["pr"], out["m"] = rest[1] >> 1 & 1, int.from_bytes(rest[:2], "big") >> 5 & 3
        out["offset"], out["cack"] = struct.unpack(">h", rest[2:4])[0], int.from_bytes(rest[13:16], "big")
        out["base"], out["bitmap"] = struct.unpack(">h", rest[18:20])[0], int.from_bytes(rest[20:28], "big")
        out["stamp"] = int.from_bytes(rest[28:30], "big")
        out["ooo"] = int.from_bytes(rest[30:32], "big")
        out["rcvd"] = int.from_bytes(rest[33:36], "big")
    elif out["opcode"] == NACK:
        out["reason"], out["nack_psn"] = rest[2], int.from_bytes(rest[13:16], "big")
    elif out["opcode"] == ACK:
        out["syndrome"], out["msn"] = rest[0], int.from_bytes(rest[1:4], "big")
    elif out["opcode"] == EP_REQUEST:
        out["op"], out["mask"] = rest[1] & 3, int.from_bytes(rest[4:8], "big")
    return out


class Refused(Exception):
    """An answer with "ok": false."""


class Nic:
    """A NIC as a process, with its host's memory."""

    def __init__(self, command, read_ps=200_000, slack=100_000):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.read_ps, self.slack = read_ps, slack
        self.now, self.free = 0, {}
        self.memory, self.outputs = {}, []

    def line(self, text):
        """Sends one line, without its end; returns the answer."""
        self.process.stdin.write(text if isinstance(text, bytes) else text.encode())
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()

    def call(self, name, **keys):
        answer = json.loads(self.line(json.dumps({"call": name, **keys})))
        if not answer["ok"]:
            refused = Refused(answer["error"])
            refused.unsupported = answer["unsupported"]
            raise refused
        return answer

    def open(self, **keys):
        self.now, self.free, self.outputs = 0, {}, []
        self.info = self.call("open", version=1, **keys)
        self.qpn, self.caps = self.info["qp_first"], set(self.info["caps"])
        self.call("address", mac=NIC_MAC.hex(), ip=NIC_IP)
        return self.info

    def store(self, addr, data):
        for i, byte in enumerate(data):
            self.memory[addr + i] = byte

    def load(self, addr, size):
        return bytes(self.memory.get(addr + i, 0) for i in range(size))

    def rx(self, data, plane=0, at=None, **keys):
        """As soon as the port is free, or so that its first byte begins at `at`."""
        byte = 8000 // self.info["port_gbps"]
        first = max(self.now, self.free.get(plane, 0), at or 0)
        self.free[plane] = first + (max(len(data), 60) + 24) * byte
        self.call("rx", plane=plane, t=first + len(data) * byte, frame=data.hex(), **keys)

    def advance(self, until):
        """Runs to that time; memory answers. Returns what else came out, and keeps it in outputs."""
        new = []
        while self.now < until:
            answer = self.call("advance", until=until, slack=self.slack)
            assert answer["reached"] <= until
            self.now = answer["reached"]
            last = 0
            for out in answer["out"]:
                assert last <= out["t"] <= self.now, (last, out, self.now)
                last = out["t"]
                if out["out"] == "read":
                    self.call("host_done", tag=out["tag"], t=max(self.now, out["t"] + self.read_ps),
                              data=self.load(out["addr"], out["bytes"]).hex())
                    continue
                if out["out"] == "write":
                    self.store(out["addr"], bytes.fromhex(out["data"]))
                if out["out"] == "tx":
                    out["frame"] = bytes.fromhex(out["frame"])
                    out.update(parse(out["frame"]))
                new.append(out)
        self.outputs += new
        return new

    def run(self, time=5_000_000):
        return self.advance(self.now + time)

    def end(self):
        """Closes its input; returns the exit code."""
        self.process.stdin.close()
        rest = self.process.stdout.read()
        self.process.stdout.close()
        code = self.process.wait(20)
        assert rest == b"", rest
        return code


def sent(outputs, *opcodes):
    return [o for o in outputs if o["out"] == "tx" and o["opcode"] in opcodes]


def kind(outputs, name):
    return [o for o in outputs if o["out"] == name]
