#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Decodes one capture with tshark and the generated dissector and with 'mrc decode', and compares every field.

usage: check_tshark.py MRC LUA [--seed N]

The packets are random values in every field of headers.yaml, all opcodes in all encapsulations, whole, trimmed to
many lengths, and damaged. Nothing of the C++ codec is used but the binary under test.
"""
import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPEC = yaml.safe_load((ROOT / "cmodel/spec/headers.yaml").read_text(encoding="utf-8"))
FIXED = {"bth": {"opcode", "tver", "ts", "pad_count"}}
TRIM = (SPEC["constants"]["DscpTrimmed"]["value"], SPEC["constants"]["DscpTrimmedLasthop"]["value"])
# Between frames: tests/wire/check_conversations.py.
LINKS = {"mrc.first_transmission", "mrc.sent_again_in", "mrc.answers", "mrc.acknowledges", "mrc.acknowledged_in"}
# Wireshark's names of the fields in front of the BTH; values may appear twice, outer header first
OUTSIDE = {
    "eth": {"dst": "eth.dst", "src": "eth.src", "ethertype": "eth.type"},
    "ipv6": {"version": "ipv6.version", "dscp": "ipv6.tclass.dscp", "ecn": "ipv6.tclass.ecn",
             "flow_label": "ipv6.flow", "payload_length": "ipv6.plen", "next_header": "ipv6.nxt",
             "hop_limit": "ipv6.hlim", "src": "ipv6.src", "dst": "ipv6.dst"},
    "srh": {"next_header": "ipv6.routing.nxt", "hdr_ext_len": "ipv6.routing.len", "routing_type": "ipv6.routing.type",
            "segments_left": "ipv6.routing.segleft", "last_entry": "ipv6.routing.srh.last_entry",
            "flags": "ipv6.routing.srh.flags", "tag": "ipv6.routing.srh.tag", "segment": "ipv6.routing.srh.addr"},
    "ipv4": {"version": "ip.version", "dscp": "ip.dsfield.dscp", "ecn": "ip.dsfield.ecn", "total_length": "ip.len",
             "identification": "ip.id", "flags": "ip.flags", "fragment_offset": "ip.frag_offset", "ttl": "ip.ttl",
             "protocol": "ip.proto", "checksum": "ip.checksum", "src": "ip.src", "dst": "ip.dst"},
    "udp": {"src_port": "udp.srcport", "dst_port": "udp.dstport", "length": "udp.length", "checksum": "udp.checksum"},
}


def random_header(rng, name):
    out = {}
    byte = 0
    for field in SPEC["headers"][name]["fields"]:
        at, byte = byte, byte + field["width"]
        if field.get("reserved"):
            key = f"reserved{at // 8}" + ("" if at % 8 == 0 else f"_{7 - at % 8}")
            if rng.random() < 0.3:
                out[key] = rng.getrandbits(field["width"])
            continue
        if field["name"] in FIXED.get(name, ()):
            continue
        value = rng.getrandbits(field["width"])
        if rng.random() < 0.1:
            value = (1 << field["width"]) - 1
        if field.get("signed") and value >> field["width"] - 1:
            value -= 1 << field["width"]
        out[field["name"]] = value
    return out


def ipv6(rng):
    return ":".join(f"{rng.getrandbits(16) | 1:x}" for _ in range(8))


def packet(rng, opcode, encapsulation, timestamp):
    entry = SPEC["opcodes"][opcode]
    out = {"eth": {"dst": "02:00:00:00:00:02", "src": f"02:00:00:00:00:{rng.getrandbits(7):02x}"}}
    label = {"flow_label": rng.getrandbits(20), "hop_limit": rng.getrandbits(8), "ecn": rng.getrandbits(2)}
    if encapsulation.startswith("srv6"):
        out["outer_ipv6"] = {"src": ipv6(rng), "dst": ipv6(rng), **label}
        label = {"flow_label": rng.getrandbits(20)}
    if encapsulation == "srv6_srh":
        out["srh"] = {"segments_left": rng.getrandbits(1), "segment": ipv6(rng), "tag": rng.getrandbits(16)}
    if encapsulation == "ipv4":
        out["ipv4"] = {"src": f"10.0.0.{rng.getrandbits(8)}", "dst": "10.1.2.3", "ttl": rng.getrandbits(8),
                       "identification": rng.getrandbits(16)}
    else:
        out["ipv6"] = {"src": ipv6(rng), "dst": ipv6(rng), **label}
    # entropy: also none, and the numbers of DNS, PTP, VXLAN and MRC itself
    out["udp"] = {"src_port": rng.choice([rng.getrandbits(14) | 0xC000, 0, 53, 319, 4789, 4791])}
    out["bth"] = {"opcode": entry["value"], "ts": int(timestamp), **random_header(rng, "bth")}
    for name in entry["headers"]:
        if not name.endswith("?") or timestamp:
            out[name.rstrip("?")] = random_header(rng, name.rstrip("?"))
    if entry.get("payload"):
        out["payload"] = rng.randbytes(rng.choice([1, 2, 3, 4, 64, 200, 256])).hex()
    return out


def trim(rng, frame, outer, srh, srv6):
    """What a switch makes of the frame: cut behind the innermost IP header, re-marked, length rewritten or not."""
    shortest = outer + 9 + (64 if srh else 40 if srv6 else 0)  # with an empty UDP packet Wireshark calls nobody
    cut = bytearray(frame[:rng.randrange(shortest, len(frame) + 1)])
    dscp = rng.choice(TRIM)
    rewrite = rng.random() < 0.5
    if outer == 34:
        cut[15] = dscp << 2 | cut[15] & 3
        if rewrite:
            cut[16:18] = (len(cut) - 14).to_bytes(2, "big")
        cut[24:26] = bytes(2)
        total = sum(int.from_bytes(cut[i:i + 2], "big") for i in range(14, 34, 2))
        while total >> 16:
            total = (total & 0xFFFF) + (total >> 16)
        cut[24:26] = (total ^ 0xFFFF).to_bytes(2, "big")
    else:
        cut[14], cut[15] = 0x60 | dscp >> 2, (cut[15] & 0x3F) | (dscp & 3) << 6
        if rewrite:
            cut[18:20] = (len(cut) - 54).to_bytes(2, "big")
    return cut


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def leaves(pairs):
    """All (key, value) with a text value in a tshark JSON tree."""
    out = []
    for key, value in pairs:
        if isinstance(value, str):
            out.append((key, value))
        elif isinstance(value, list):
            for item in value:
                if isinstance(item, str):
                    out.append((key, item))
                elif isinstance(item, tuple):
                    out.extend(leaves([item]))
    return out


def tshark_packets(lua, capture, *preferences):
    text = run("tshark", "-X", f"lua_script:{lua}", "-n", "-o", "ip.check_checksum:FALSE",
               *(word for preference in preferences for word in ("-o", preference)), "-r", capture, "-T", "json")
    out = []
    for pairs in json.loads(text, object_pairs_hook=list):
        source = dict(pairs)["_source"]
        out.append(leaves(source))
    return out


def same(ours, theirs):
    if isinstance(ours, bool):
        return theirs.lower() in (("1", "true") if ours else ("0", "false"))
    if isinstance(ours, int):
        return int(theirs.replace(":", ""), 16) == ours if ":" in theirs else int(theirs, 0) == ours
    return theirs.replace(":", "") == ours or theirs == ours


def compare(ours, theirs):
    """Returns complaints about one packet and the number of fields compared."""
    values = {}
    for key, value in theirs:
        values.setdefault(key, []).append(value)
    bad = []
    count = 0

    def check(key, value, index=0):
        nonlocal count
        count += 1
        got = values.get(key, [])
        if index >= len(got):
            bad.append(f"{key}: mrc {value!r}, tshark has none")
        elif not same(value, got[index]):
            bad.append(f"{key}: mrc {value!r}, tshark {got[index]!r}")

    error = ours.get("error", {}).get("name")
    for name, names in OUTSIDE.items():
        for header, index in ((name, -1), ("outer_" + name, 0)):
            for field, value in ours.get(header, {}).items():
                if field in names:
                    key = names[field]
                    check(key, value, len(values.get(key, [])) - 1 if index else 0)
    expected = set()
    inside = set(SPEC["headers"]) - set(OUTSIDE)
    for name in inside & set(ours):
        for field, value in ours[name].items():
            if (name, field) == ("seth", "probe_id"):  # ack_psn_offset once more
                continue
            expected.add(f"mrc.{name}.{field}")
            check(f"mrc.{name}.{field}", value)
    for key in ("payload", "padding", "rest", "kind", "entropy", "trimmed"):
        if key in ours and (key != "kind" or "bth" in ours):
            expected.add("mrc." + key)
            check("mrc." + key, ours[key])
    for field, value in ours.get("icrc", {}).items():
        expected.add("mrc.icrc." + field)
        check("mrc.icrc." + field, value)
    if error:
        expected.add("mrc.error")
        check("mrc.error", error)
    for key in values:
        known = key in expected or key in LINKS | {"mrc.error.expert", "mrc.choices"}
        known = known or key.count(".") == 1 and key.split(".")[1] in inside
        if key.startswith("mrc.") and not known:
            bad.append(f"{key}: tshark {values[key]!r}, mrc has none")
    return bad, count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mrc")
    parser.add_argument("lua")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    packets = [packet(rng, opcode, encapsulation, timestamp) for opcode in SPEC["opcodes"]
               for encapsulation in ("ipv4", "ipv6", "srv6", "srv6_srh") for timestamp in (False, True)]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        source, capture = folder / "in.json", folder / "out.pcapng"
        source.write_text("\n".join(json.dumps(p) for p in packets), encoding="utf-8")
        frames = [bytes.fromhex(line) for line in run(args.mrc, "encode", source).split()]
        more = []
        for p, frame in zip(packets, frames):
            outer = 14 + (20 if "ipv4" in p else 40)
            for _ in range(3):
                more.append({"raw": trim(rng, frame, outer, "srh" in p, "outer_ipv6" in p).hex()})
            damaged = bytearray(frame)
            damaged[rng.randrange(len(frame) - 4, len(frame))] ^= 1 << rng.randrange(8)
            more.append({"raw": damaged.hex()})
            for change in ({"opcode": rng.choice([0, 0x0A, 0xCC, 0xFF])}, {"tver": rng.randrange(1, 16)}):
                more.append({"change": change, "of": p})
        for entry in more:  # damaged through JSON, so that lengths stay right
            if "change" in entry:
                changed = json.loads(json.dumps(entry["of"]))
                changed["bth"].update(entry["change"])
                if "opcode" in entry["change"]:
                    for h in set(SPEC["headers"]) - set(OUTSIDE) - {"bth"}:
                        changed.pop(h, None)
                entry.clear()
                entry.update(changed)
        packets += more
        for number, p in enumerate(packets):
            p["capture"] = {"interface": number % 8, "time_ns": 1000 * number}
        source.write_text("\n".join(json.dumps(p) for p in packets), encoding="utf-8")
        run(args.mrc, "encode", source, "--pcapng", capture)
        ours = [json.loads(line) for line in run(args.mrc, "decode", capture, "--json").splitlines()]
        theirs = tshark_packets(args.lua, capture)
        # The other start of the ICRC: of these packets those behind an outer header are wrong then.
        ours += [json.loads(line) for line in run(args.mrc, "decode", capture, "--json", "--icrc-outer").splitlines()]
        theirs += tshark_packets(args.lua, capture, "mrc.from_capture:FALSE", "mrc.icrc_outer:TRUE")
        source.write_text("\n".join(json.dumps(p) for p in packets if "raw" not in p), encoding="utf-8")
        run(args.mrc, "encode", source, "--pcapng", capture, "--icrc-outer")
        outer = [json.loads(line) for line in run(args.mrc, "decode", capture, "--json", "--icrc-outer").splitlines()]
        ours += outer
        theirs += tshark_packets(args.lua, capture)  # which the capture says
    made = 2 * len(packets) + sum("raw" not in p for p in packets)
    if not len(ours) == len(theirs) == made:
        print(f"{made} packets made, mrc decodes {len(ours)}, tshark {len(theirs)}")
        return 1
    if not all(p["icrc"]["ok"] for p in outer if "icrc" in p) or not any("srh" in p for p in outer):
        print("mrc does not take its own ICRC from the outer header on")
        return 1
    wrong = total = 0
    for number, (mine, other) in enumerate(zip(ours, theirs), 1):
        bad, count = compare(mine, other)
        total += count
        if bad:
            wrong += 1
            if wrong <= 5:
                print(f"packet {number}, {mine['kind']}:", *bad, sep="\n  ")
    print(f"{len(ours)} packets, {total} fields compared, {wrong} packets differ")
    return 1 if wrong or total < 10000 else 0


if __name__ == "__main__":
    sys.exit(main())
