#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The dissector's links between frames are those of a search through all frames; the profile has its columns.

usage: check_conversations.py MRC LUA

What is linked: a retransmission to the first transmission of its PSN, an answer to the frame that it answers and to
those that it acknowledges first. 'mrc decode' reads the frames, everything else is searched here. Exit code 77: no
tshark is installed."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

FIELDS = ("mrc.first_transmission", "mrc.sent_again_in", "mrc.answers", "mrc.acknowledges", "mrc.acknowledged_in")
SCENARIO = 'base = "loss"\nvary = 0\nloss = 0.03\ntrim = 0.03\n'
SIZE = 1 << 24


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        raise SystemExit(f"{command}: exit {done.returncode}\n{done.stderr}")
    return done.stdout


def way_of(packet):
    ip = packet.get("ipv6") or packet["ipv4"]
    return ip["src"], ip["dst"], packet["bth"]["dqp"]


def searched(packets):
    """Per frame: {field: [frames]}."""
    links = [{field: [] for field in FIELDS} for _ in packets]
    data, answered = {}, {}  # (way, PSN) -> frames; way of answers -> way of data
    acknowledged = {}
    for number, packet in enumerate(packets):
        if "error" in packet or "bth" not in packet:
            continue
        way, bth = way_of(packet), packet["bth"]
        if 198 <= bth["opcode"] <= 203:
            before = data.setdefault((way, bth["psn"]), [])
            if before and bth["rtx"]:
                links[number]["mrc.first_transmission"] = [before[0]]
                if not links[before[0]]["mrc.sent_again_in"]:
                    links[before[0]]["mrc.sent_again_in"] = [number]
            before.append(number)
            continue
        seth, neth = packet.get("seth"), packet.get("neth")
        psn = ev = None
        if seth and not seth.get("pr"):
            psn, ev = (seth["cack_psn"] + seth["ack_psn_offset"]) % SIZE, seth["entropy"]
        if neth:
            psn, ev = neth["nack_psn"], neth["entropy"]
        if way not in answered:
            fits = [w for (w, p), frames in data.items() if w[:2] == (way[1], way[0]) and p == psn
                    and any(packets[f]["entropy"] == ev for f in frames)]
            if fits:
                answered[way] = fits[0]
        about = answered.get(way)
        if about is None or not (seth or neth or "aeth" in packet):
            continue
        psn = bth["psn"] if "aeth" in packet else psn
        frames = data.get((about, psn), [])
        named = [f for f in frames if ev is None or packets[f]["entropy"] == ev] or frames
        if psn is not None and named:
            links[number]["mrc.answers"] = [named[-1]]
        if not seth:
            continue
        base = seth["cack_psn"] + seth["sack_offset"]
        told = [(base + i) % SIZE for i in range(64) if seth["sack_bitmap"] >> i & 1]
        for (w, p), frames in data.items():
            if w == about and ((seth["cack_psn"] - p) % SIZE < 4096 or p in told) and (w, p) not in acknowledged:
                acknowledged[w, p] = number
                links[number]["mrc.acknowledges"].append(frames[0])
    for (way, psn), number in acknowledged.items():
        for frame in data[way, psn]:
            links[frame]["mrc.acknowledged_in"] = [number]
    return links


def main():
    mrc, lua = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    if shutil.which("tshark") is None:
        print("tshark is not installed")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        capture = folder / "run.pcapng"
        (folder / "run.toml").write_text(SCENARIO, encoding="utf-8")
        run(mrc, "cosim", "--preset", "tiny", "--dut", "model", "--scenario", folder / "run.toml", "--packets", 600,
            "--pcap", capture)
        packets = [json.loads(line) for line in run(mrc, "decode", capture, "--json").splitlines()]
        want = searched(packets)
        fields = [word for field in FIELDS for word in ("-e", field)]
        tshark = ("tshark", "-X", f"lua_script:{lua}", "-n", "-r", capture)
        out = run(*tshark, "-2", "-Y", "frame", "-T", "fields", *fields)
        wrong = 0
        count = dict.fromkeys(FIELDS, 0)
        for number, line in enumerate(out.split("\n")[:len(packets)]):
            for field, text in zip(FIELDS, line.split("\t")):
                got = sorted(int(frame) - 1 for frame in text.split(",") if frame)
                count[field] += len(got)
                if got != sorted(want[number][field]):
                    wrong += 1
                    if wrong <= 10:
                        print(f"frame {number + 1} ({packets[number]['kind']}): {field} {[f + 1 for f in got]}, "
                              f"searched {[f + 1 for f in sorted(want[number][field])]}")
        print(f"{len(packets)} frames, links: {count}, {wrong} differ")
        # The profile: its columns, in a configuration of its own.
        profile = folder / "config" / "profiles" / "MRC"
        shutil.copytree(lua.parent / "profile", profile)
        shown = run(*tshark, "-C", "MRC", env=os.environ | {"WIRESHARK_CONFIG_DIR": str(folder / "config")})
        first = shown.splitlines()[0].split()
        own = packets[0]
        for value in (f"0x{own['entropy']:08x}", str(own["bth"]["psn"]), f"plane{own['capture']['interface']}"):
            if value not in first:
                print(f"the profile's columns show {first}, not {value}")
                wrong += 1
        return 1 if wrong or min(count.values()) < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
