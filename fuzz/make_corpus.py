#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Seeds for the fuzz targets: every kind of packet, made by 'mrc encode'.

usage: make_corpus.py MRC FOLDER
"""
import json
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests/wire"))
sys.dont_write_bytecode = True
import check_tshark  # noqa: E402  (its packet maker)


def main():
    mrc, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    rng = random.Random(1)
    packets = [check_tshark.packet(rng, opcode, encapsulation, timestamp)
               for opcode in check_tshark.SPEC["opcodes"] for encapsulation in ("ipv4", "ipv6", "srv6", "srv6_srh")
               for timestamp in (False, True)]
    for p in packets:
        if "payload" in p:
            p["payload"] = p["payload"][:16]
    for name in ("decode", "pcapng", "json"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    source, capture = folder / "in.json", folder / "pcapng" / "seed"
    for number, p in enumerate(packets):
        (folder / "json" / f"{number:03}").write_text(json.dumps(p), encoding="utf-8")
        p["capture"] = {"interface": number % 8, "time_ns": 1000 * number, "comments": [f"packet {number}"]}
    source.write_text("\n".join(json.dumps(p) for p in packets), encoding="utf-8")
    lines = subprocess.run([mrc, "encode", source, "--hex"], check=True, capture_output=True, text=True).stdout
    for number, line in enumerate(lines.split()):
        (folder / "decode" / f"{number:03}").write_bytes(bytes([number % 4 * 8]) + bytes.fromhex(line))
        outer = 34 if "ipv4" in packets[number] else 54
        cut = check_tshark.trim(rng, bytes.fromhex(line), outer, "srh" in packets[number],
                                "outer_ipv6" in packets[number])
        (folder / "decode" / f"{number:03}trimmed").write_bytes(bytes([number % 4 * 8]) + cut)
    source.write_text("\n".join(json.dumps(p) for p in packets[:6]), encoding="utf-8")
    subprocess.run([mrc, "encode", source, "--pcapng", capture], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
