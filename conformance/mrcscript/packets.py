# SPDX-License-Identifier: Apache-2.0
"""Packets as bytes and back, from headers.json (generated out of cmodel/spec/headers.yaml).

A packet is {header: {field: number}}, in the order of the wire, and a payload. The outer IPv6 header of SRv6 is
"outer_ipv6". Reserved fields are called reserved0, reserved1, ... within their header."""
import ipaddress
import json
import os
import struct
import zlib
from dataclasses import dataclass, field

from .errors import PacketError

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "headers.json"), encoding="utf-8") as _stream:
    WIRE = json.load(_stream)
ENUMS = WIRE["enums"]
CONSTANTS = WIRE["constants"]
HEADERS = dict(WIRE["headers"])
HEADERS["outer_ipv6"] = HEADERS["ipv6"]
OPCODES = {name: code["value"] for name, code in WIRE["opcodes"].items()}
OPCODE_NAMES = {value: name for name, value in OPCODES.items()}
WRITES = {value for name, value in OPCODES.items() if name.startswith("Write")}
MIN_FRAME, MAX_FRAME = 14, 16384
WHAT_ICRC_CHANGES = 8
CHANGED_ON_THE_WAY = {("outer_ipv6", "dst"), ("srh", "segments_left")}  # beside what is ones in every header


def snake(name):
    """TrimmedLasthop -> trimmed_lasthop: how scripts write the words of headers.json."""
    out = ""
    for char in name:
        out += ("_" if out and char.isupper() else "") + char.lower()
    return out


def field_info(path):
    """The description of "header.field"; None if there is none."""
    name, _, rest = path.partition(".")
    header = HEADERS.get(name)
    if header is None:
        return None
    return next((entry for entry in header["fields"] if entry["name"] == rest), None)


def pack_header(name, values):
    """The bytes of one header; missing fields are 0. Numbers are cut to their width."""
    header = HEADERS[name]
    word = 0
    for entry in header["fields"]:
        width = entry["width"]
        word = (word << width) | (int(values.get(entry["name"], 0)) & ((1 << width) - 1))
    return word.to_bytes(header["bytes"], "big")


def unpack_header(name, data):
    header = HEADERS[name]
    word = int.from_bytes(data[:header["bytes"]], "big")
    out, left = {}, header["bytes"] * 8
    for entry in header["fields"]:
        width = entry["width"]
        left -= width
        value = (word >> left) & ((1 << width) - 1)
        if entry.get("signed") and value >> (width - 1):
            value -= 1 << width
        out[entry["name"]] = value
    return out


def ones(name, data):
    """The header as the ICRC sees it. Of outer headers, if it covers them, also what routers and uSIDs change is ones."""
    header = HEADERS[name]
    word, left = int.from_bytes(data, "big"), header["bytes"] * 8
    for entry in header["fields"]:
        left -= entry["width"]
        if entry.get("icrc") == "ones" or (name, entry["name"]) in CHANGED_ON_THE_WAY:
            word |= ((1 << entry["width"]) - 1) << left
    return word.to_bytes(header["bytes"], "big")


def mac(text):
    return int(text.replace(":", ""), 16)


def ip(text):
    return int(ipaddress.ip_address(text))


def ip_text(value):
    return str(ipaddress.IPv6Address(value))


@dataclass
class Packet:
    """Headers in the order of the wire, payload without pad, and what the ICRC was worth."""
    headers: dict = field(default_factory=dict)
    payload: bytes = b""
    pad: bytes = b""
    icrc: int = 0            # as on the wire
    icrc_good: bool = False
    trimmed: bool = False    # by its DSCP
    cut: bool = False        # fewer bytes than the lengths say, or than its headers need
    rest: bytes = b""        # bytes behind the headers of a packet that was cut
    ev_swap: bool = False    # the EV's upper half is in the flow label

    def get(self, path, default=None):
        name, _, rest = path.partition(".")
        return self.headers.get(name, {}).get(rest, default)

    def outermost(self):
        for name in ("outer_ipv6", "ipv6", "ipv4"):
            if name in self.headers:
                return self.headers[name]
        return {}

    @property
    def opcode(self):
        return self.get("bth.opcode")

    @property
    def ev(self):
        port, label = self.get("udp.src_port", 0), self.headers.get("ipv6", {}).get("flow_label", 0) & 0xFFFF
        return label << 16 | port if self.ev_swap else port << 16 | label


def transport_headers(opcode, time_stamp):
    """The names of the headers behind the BTH; None for an unknown opcode."""
    name = OPCODE_NAMES.get(opcode)
    if name is None:
        return None
    out = []
    for entry in WIRE["opcodes"][name]["headers"]:
        if not entry.endswith("?"):
            out.append(entry)
        elif time_stamp:
            out.append(entry[:-1])
    return out


def icrc_of(parts, payload):
    """parts: [(header, bytes)] from the first header on that it covers."""
    covered = b"\xff" * WHAT_ICRC_CHANGES + b"".join(ones(name, data) for name, data in parts) + payload
    return zlib.crc32(covered) & 0xFFFFFFFF


def icrc_start(names, outer):
    """The index of the first header that the ICRC covers: the inner IP header, or the outer one (A-14)."""
    first = ("outer_ipv6", "ipv6", "ipv4") if outer else ("ipv6", "ipv4")
    return next((i for i, name in enumerate(names) if name in first), len(names))


def _checksum(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def build(packet, raw=None, icrc="good", flips=(), layout=None):
    """The frame of a packet: lengths, next headers and the ICRC are filled in; raw: {"header.field": number} goes over
    all of them before the ICRC is computed. icrc: good, bad, or a number as on the wire. flips: fields, or "payload",
    or "pad", whose lowest bit the way changes behind the ICRC's back. layout: of layout.py, for the ICRC."""
    raw = raw or {}
    order = list(packet.headers)
    pad = packet.pad or b"\0" * (-len(packet.payload) % 4)
    values = {name: dict(fields) for name, fields in packet.headers.items()}
    if pad and "bth" in values:
        values["bth"].setdefault("pad_count", len(pad))
    body = packet.payload + pad
    sizes = {name: HEADERS[name]["bytes"] for name in order}
    behind, after = len(body) + 4, {}
    for name in reversed(order):
        after[name] = behind
        behind += sizes[name]
    for name, fields in values.items():
        if name in ("ipv6", "outer_ipv6"):
            fields.setdefault("version", 6)
            fields.setdefault("payload_length", after[name])
            fields.setdefault("hop_limit", 64)
        elif name == "ipv4":
            fields.setdefault("version", 4)
            fields.setdefault("ihl", 5)
            fields.setdefault("flags", 2)
            fields.setdefault("ttl", 64)
            fields.setdefault("protocol", CONSTANTS["ProtoUdp"])
            fields.setdefault("total_length", after[name] + 20)
        elif name == "udp":
            fields.setdefault("length", after[name] + 8)
    _next_headers(values)
    for path, value in raw.items():
        name, _, rest = path.partition(".")
        if name not in values:
            raise PacketError(f"this packet has no header '{name}', so {path} cannot be set.")
        values[name][rest] = value
    if "ipv4" in values and "ipv4.checksum" not in raw:
        values["ipv4"]["checksum"] = 0
        values["ipv4"]["checksum"] = _checksum(pack_header("ipv4", values["ipv4"]))
    parts = [(name, pack_header(name, values[name])) for name in order]
    value = icrc_of(parts[icrc_start(order, bool(layout and layout.icrc_outer)):], body)
    if icrc == "bad":
        value ^= 0x00010000
    elif icrc != "good":
        value = int(icrc) & 0xFFFFFFFF
    if flips:
        parts, body = _flipped(order, values, body, flips)
    return b"".join(data for _, data in parts) + body + value.to_bytes(4, "little")


def _flipped(order, values, body, flips):
    """Headers and body with the lowest bit of each named field the other way round: payload is the first byte behind
    the headers, pad the last one."""
    body = bytearray(body)
    for path in flips:
        name, _, rest = path.partition(".")
        if name in ("payload", "pad"):
            if not body:
                raise PacketError(f"this packet has no {name}.")
            body[0 if name == "payload" else -1] ^= 1
        elif name not in values:
            raise PacketError(f"this packet has no header '{name}', so {path} cannot be flipped.")
        else:
            values[name][rest] = int(values[name].get(rest, 0)) ^ 1
    return [(name, pack_header(name, values[name])) for name in order], bytes(body)


def _next_headers(values):
    if "eth" in values:
        first = "ipv4" if "ipv4" in values and "outer_ipv6" not in values else "ipv6"
        values["eth"].setdefault("ethertype", CONSTANTS["EthertypeIpv4" if first == "ipv4" else "EthertypeIpv6"])
    if "outer_ipv6" in values:
        values["outer_ipv6"].setdefault(
            "next_header", CONSTANTS["ProtoRouting"] if "srh" in values else CONSTANTS["ProtoIpv6"])
    if "srh" in values:
        for name, value in (("next_header", CONSTANTS["ProtoIpv6"]), ("hdr_ext_len", 2),
                            ("routing_type", CONSTANTS["SrhRoutingType"])):
            values["srh"].setdefault(name, value)
    if "ipv6" in values:
        values["ipv6"].setdefault("next_header", CONSTANTS["ProtoUdp"])


class _Cursor:
    def __init__(self, data):
        self.data, self.at, self.parts = data, 0, []

    def left(self):
        return len(self.data) - self.at

    def take(self, name, headers, cut_ok=False):
        size = HEADERS[name]["bytes"]
        if self.left() < size:
            if cut_ok:
                return False
            layout = HEADERS[name]["title"]
            raise PacketError(f"byte {self.at}: {self.left()} bytes are left, the {layout} header needs {size}.")
        data = self.data[self.at:self.at + size]
        headers[name] = unpack_header(name, data)
        self.parts.append((name, data))
        self.at += size
        return True


def _network(cursor, headers):
    cursor.take("eth", headers)
    kind = headers["eth"]["ethertype"]
    if kind == CONSTANTS["EthertypeIpv4"]:
        cursor.take("ipv4", headers)
        if headers["ipv4"]["protocol"] != CONSTANTS["ProtoUdp"]:
            raise PacketError(f"byte 23: IP protocol {headers['ipv4']['protocol']} is not UDP.")
        return
    if kind != CONSTANTS["EthertypeIpv6"]:
        raise PacketError(f"byte 12: ethertype {kind:#06x} is neither IPv6 nor IPv4.")
    cursor.take("ipv6", headers)
    next_header = headers["ipv6"]["next_header"]
    if next_header in (CONSTANTS["ProtoIpv6"], CONSTANTS["ProtoRouting"]):
        headers["outer_ipv6"] = headers.pop("ipv6")
        cursor.parts[-1] = ("outer_ipv6", cursor.parts[-1][1])
        if next_header == CONSTANTS["ProtoRouting"]:
            cursor.take("srh", headers)
            next_header = headers["srh"]["next_header"]
        if next_header != CONSTANTS["ProtoIpv6"]:
            raise PacketError(f"byte {cursor.at}: next header {next_header} is not IPv6.")
        cursor.take("ipv6", headers)
        next_header = headers["ipv6"]["next_header"]
    if next_header != CONSTANTS["ProtoUdp"]:
        raise PacketError(f"byte {cursor.at}: next header {next_header} is not UDP.")


def decode(frame, trim_codes=(12, 16), layout=None):
    """The packet in a frame without FCS. PacketError: it is no MRC packet, with the byte. layout: of layout.py."""
    if not MIN_FRAME <= len(frame) <= MAX_FRAME:
        raise PacketError(f"a frame of {len(frame)} bytes; {MIN_FRAME} to {MAX_FRAME} are possible.")
    packet, cursor, headers = Packet(), _Cursor(frame), {}
    packet.ev_swap = bool(layout and layout.ev_swap)
    _network(cursor, headers)
    packet.headers = headers
    packet.trimmed = packet.outermost().get("dscp") in trim_codes
    cursor.take("udp", headers)
    cursor.take("bth", headers)
    names = transport_headers(headers["bth"]["opcode"], headers["bth"]["ts"])
    if names is None:
        raise PacketError(f"byte {cursor.at - 12}: opcode {headers['bth']['opcode']:#04x} is unknown.")
    for name in names:
        if not cursor.take(name, headers, cut_ok=packet.trimmed):
            packet.cut = True
            packet.rest = frame[cursor.at:]
            return packet
    start = icrc_start([name for name, _ in cursor.parts], bool(layout and layout.icrc_outer))
    size = headers["udp"]["length"] - 8 - sum(HEADERS[n]["bytes"] for n in ["bth"] + names)
    body = frame[cursor.at:]
    if size < 4 or size > len(body):
        packet.cut, packet.rest = True, body
        if not packet.trimmed:
            raise PacketError(f"byte {cursor.at}: UDP length {headers['udp']['length']} does not fit "
                              f"the {len(body)} bytes behind the headers.")
        return packet
    body, crc = body[:size - 4], body[size - 4:size]
    pad = headers["bth"]["pad_count"]
    if pad > len(body):
        raise PacketError(f"byte {cursor.at}: a pad of {pad} bytes in {len(body)} bytes of payload.")
    packet.payload, packet.pad = body[:len(body) - pad], body[len(body) - pad:]
    packet.icrc = int.from_bytes(crc, "little")
    packet.icrc_good = packet.icrc == icrc_of(cursor.parts[start:], body)
    return packet


def trim(frame, size, lengths, dscp, where="outer"):
    """What a switch makes of a frame that it trims: at most size bytes from the Ethernet header on, a code point, and
    lengths rewritten: none, ip (the outermost), udp (that and the UDP length), all."""
    data = bytearray(frame[:size])
    kind = int.from_bytes(data[12:14], "big")
    if kind == CONSTANTS["EthertypeIpv4"]:
        data[15] = (dscp << 2) | (data[15] & 3)
        if lengths != "none":
            data[16:18] = (len(data) - 14).to_bytes(2, "big")
        data[24:26] = b"\0\0"
        data[24:26] = _checksum(bytes(data[14:34])).to_bytes(2, "big")
        inner, at = None, 34
    else:
        _ipv6_dscp(data, 14, dscp)
        inner, at = _inner_ipv6(data)
        if where == "both" and inner != 14:
            _ipv6_dscp(data, inner, dscp)
        if lengths != "none":
            data[18:20] = (len(data) - 54).to_bytes(2, "big")
    if lengths in ("udp", "all") and len(data) >= at + 8:
        data[at + 4:at + 6] = (len(data) - at).to_bytes(2, "big")
    if lengths == "all" and inner not in (None, 14):
        data[inner + 4:inner + 6] = (len(data) - inner - 40).to_bytes(2, "big")
    return bytes(data)


def _ipv6_dscp(data, at, dscp):
    word = int.from_bytes(data[at:at + 2], "big")
    data[at:at + 2] = ((word & 0xF03F) | (dscp << 6)).to_bytes(2, "big")


def _inner_ipv6(data):
    """Offsets of the innermost IPv6 header and of UDP."""
    at, next_header = 14, data[20]
    if next_header == CONSTANTS["ProtoRouting"]:
        return 78, 118
    if next_header == CONSTANTS["ProtoIpv6"]:
        return 54, 94
    return at, at + 40


def wrap(value, base, bits):
    """The number nearest to base that is value modulo 2^bits: unwrapped."""
    half = 1 << (bits - 1)
    return base + ((value - base + half) & ((1 << bits) - 1)) - half
