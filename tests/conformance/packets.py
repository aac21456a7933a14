# SPDX-License-Identifier: Apache-2.0
"""usage: packets.py [MRC]

Packets of the scripts against known answers, and against the codec of mrc (written by other hands): what one builds the
other reads, field by field, with a right ICRC."""
import json
import random
import subprocess
import sys

from common import holds, run_tests, same
from mrcscript import packets
from mrcscript.layout import PLAIN, Layout
from mrcscript.packets import HEADERS, OPCODES, Packet

KNOWN = [  # docs/protocol/base.md
    ("248a07a8fa22248a07a8fa22080045010040047840004011b4d5c0a80007c0a80007c00012b7002caca22460ffff000000d300cf17104630818b"
     "e28935d90e9a95505401be885e500000", "78f353f3"),
    ("248a07a8fa22248a07a8fa2286dd6e21face002c11ff2022000000000000000000000000102320230000000000000000000000001024c00012b7"
     "002ce7c52460ffff000000d300cf17104630818be28935d90e9a95505401be885e500000", "3e5b743b"),
    ("02000000000202000000000186dd6021234500381140fd000000000000000000000000000001fd000000000000000000000000000002c12312b7"
     "003800000a40ffff0000012380fffffe0000123456789000cafe000100000010000102030405060708090a0b0c0d0e0f", "e383f529")]


def test_known_icrcs():
    for frame, wanted in KNOWN:
        data = bytes.fromhex(frame)
        cursor, headers = packets._Cursor(data), {}
        packets._network(cursor, headers)
        cursor.take("udp", headers)
        cursor.take("bth", headers)
        same(packets.icrc_of(cursor.parts[1:], data[cursor.at:]).to_bytes(4, "little").hex(), wanted, "ICRC")


def some_packet(rng, name, encap):
    ip = {"dscp": rng.getrandbits(6), "ecn": rng.getrandbits(2), "flow_label": rng.getrandbits(20), "src": 5, "dst": 6}
    headers = {"eth": {"dst": 1, "src": 2}}
    if encap == "ipv4":
        headers["ipv4"] = {"src": 5, "dst": 6, "dscp": ip["dscp"], "identification": rng.getrandbits(16)}
    else:
        if encap != "ipv6":
            headers["outer_ipv6"] = dict(ip)
        if encap == "srh":
            headers["srh"] = {"segments_left": 1, "segment": 9}
        headers["ipv6"] = ip
    headers["udp"] = {"src_port": rng.getrandbits(16), "dst_port": 4791}
    stamp = rng.getrandbits(1)
    for header in ["bth"] + packets.transport_headers(OPCODES[name], stamp):
        headers[header] = {entry["name"]: rng.getrandbits(entry["width"]) for entry in HEADERS[header]["fields"]
                           if not entry.get("reserved")}
    headers["bth"].update({"opcode": OPCODES[name], "tver": 0, "ts": stamp})
    headers["bth"].pop("pad_count")
    payload = rng.randbytes(rng.randrange(0, 80)) if name.startswith("Write") else b""
    headers["bth"]["pad_count"] = -len(payload) % 4
    return Packet(headers, payload)


def test_round_trip():
    rng = random.Random(1)
    for name in OPCODES:
        for encap in ("ipv6", "srv6", "srh", "ipv4"):
            packet = some_packet(rng, name, encap)
            got = packets.decode(packets.build(packet), ())
            holds(got.icrc_good, f"ICRC of {name} in {encap}")
            same(got.payload, packet.payload, "payload")
            for header, values in packet.headers.items():
                for field, value in values.items():
                    width = packets.field_info(f"{header}.{field}")["width"]
                    same(got.get(f"{header}.{field}") & ((1 << width) - 1), value, f"{name}: {header}.{field}")


def test_against_the_codec_of_mrc():
    if len(sys.argv) < 2:
        return
    rng = random.Random(2)
    for name in OPCODES:
        encap = rng.choice(("ipv6", "srv6", "srh", "ipv4"))
        packet = some_packet(rng, name, encap)
        frame = packets.build(packet)
        out = subprocess.run([sys.argv[1], "decode", "--hex", frame.hex(), "--json"], capture_output=True, text=True)
        same(out.returncode, 0, out.stderr)
        found = json.loads(out.stdout)
        found = found[0] if isinstance(found, list) else found.get("packets", [found])[0]
        theirs = found["headers"] if "headers" in found else found
        for header, values in packet.headers.items():
            for field, value in values.items():
                info = packets.field_info(f"{header}.{field}")
                if info.get("format"):
                    continue
                got = theirs[header][field]
                got = int(got, 0) if isinstance(got, str) else got
                same(got & ((1 << info["width"]) - 1), value, f"{name}: {header}.{field}")
        holds(found["icrc"]["ok"], "the codec finds the ICRC right")


def decoded(frame, *options):
    """What mrc decode says of a frame."""
    out = subprocess.run([sys.argv[1], "decode", "--hex", frame.hex(), "--json", *options], capture_output=True, text=True)
    same(out.returncode, 0, out.stderr)
    return json.loads(out.stdout)


def test_settings_of_the_wire():
    """What settings change of the bytes: written, read again, and as the codec of mrc reads them."""
    rng = random.Random(4)
    outer = Layout({"CTRL.icrc_outer": 1})
    for encap in ("srv6", "srh"):
        packet = some_packet(rng, "WriteOnly", encap)
        frame = packets.build(packet, layout=outer)
        same([packets.decode(frame, (), one).icrc_good for one in (outer, PLAIN)], [True, False], "ICRC from the outer header")
        for flip, good in (("outer_ipv6.dst", True), ("outer_ipv6.hop_limit", True), ("outer_ipv6.src", False)):
            changed = packets.build(packet, flips=(flip,), layout=outer)
            same(packets.decode(changed, (), outer).icrc_good, good, flip)
        if len(sys.argv) > 1:
            holds(decoded(frame, "--icrc-outer")["icrc"]["ok"], "the codec finds the outer ICRC right")
            holds(not decoded(frame)["icrc"]["ok"], "and wrong as an inner one")
    swapped = Layout({"CTRL.ev_swap": 1})
    same((PLAIN.ev_fields(0x12345678), swapped.ev_fields(0x12345678)), ((0x1234, 0x5678), (0x5678, 0x1234)), "halves")
    packet = some_packet(rng, "WriteOnly", "ipv6")
    packet.headers["udp"]["src_port"], packet.headers["ipv6"]["flow_label"] = swapped.ev_fields(0x12345678)
    same(packets.decode(packets.build(packet), (), swapped).ev, 0x12345678, "read again")
    if len(sys.argv) > 1:
        text = json.dumps(decoded(packets.build(packet), "--ev-swap"))
        holds("0x12345678" in text or str(0x12345678) in text, text)
    same(Layout({"CTRL.bth_m": 1}).m, {"m": 1}, "M in bit 7")
    same(Layout({"CTRL.bth_m": 1, "CTRL.bth_m_high": 0}).m, {"se": 1}, "M in bit 6")
    same((PLAIN.response_op(1), Layout({"CTRL.eeth_op_high": 1}).response_op(1)), ({"op": 1}, {"reserved1": 1}), "op")
    same([Layout({"CTRL.tsr_us": us}).stamp(10 ** 9) for us in (0, 1)], [7812, 976], "a millisecond in both units")
    per = Layout({"IP_PLANE.enable": 1})
    same(packets.ip_text(per.address(packets.ip("fd00::2"), 5)), "fd00:0:0:5::2", "an address per plane")
    same(PLAIN.address(7, 5), 7, "one address")


def test_trim():
    rng = random.Random(3)
    for encap, at in (("ipv6", 14), ("srv6", 54)):
        packet = some_packet(rng, "WriteOnly", encap)
        packet.payload, packet.headers["bth"]["pad_count"] = bytes(400), 0
        frame = packets.build(packet)
        for size in (128, 206, 256):
            cut = packets.trim(frame, size, "none", 12)
            same(len(cut), size, "bytes that are left")
            got = packets.decode(cut)
            holds(got.trimmed and got.cut, "it is trimmed")
            same(got.outermost()["dscp"], 12, "code point of the outermost header")
            if encap == "srv6":
                same(got.get("ipv6.dscp"), packet.headers["ipv6"]["dscp"], "the inner one stays")
            same(cut[18:20], frame[18:20], "no length is rewritten")
            all_ = packets.trim(frame, size, "all", 12)
            same(int.from_bytes(all_[18:20], "big"), size - 54, "outermost length")
            same(int.from_bytes(all_[at + 4:at + 6], "big"), size - at - 40, "inner length")
            same(int.from_bytes(all_[at + 44:at + 46], "big"), size - at - 40, "UDP length")


def test_wrap():
    same(packets.wrap(1, 0xFFFFFF, 24), 0x1000001, "behind 2^24")
    same(packets.wrap(0xFFFFFF, 0x1000000, 24), 0xFFFFFF, "before it")
    same(packets.wrap(0, 0x7FFFFF, 24), 0, "half")


run_tests(globals())
