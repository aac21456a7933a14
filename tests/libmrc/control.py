#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: control.py MRC PROGRAM [MRC HOST OPTIONS...]

Two windows, by max_cwnd of a CC profile: so many packets leave before the first answer, and never more are under way."""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import run

FULL = 4096 + 92  # nominal bytes of a full packet: what a window counts


def under_way(mrc, capture):
    """The most packets that were sent and not reported as received, and how many there were before the first SACK."""
    lines = subprocess.run([mrc, "decode", "--json", str(capture)], capture_output=True, text=True, check=True).stdout
    base, sent, most, first, acked = None, -1, 0, None, -1

    def place(psn):
        """From the first packet on; -1: what was acknowledged before there was one."""
        return (psn - base + 0x800000) % 0x1000000 - 0x800000
    for packet in map(json.loads, lines.splitlines()):
        bth = packet.get("bth", {})
        if "reth" in packet:
            base = bth["psn"] if base is None else base
            sent = max(sent, place(bth["psn"]))
            most = max(most, sent - acked)
        elif "seth" in packet:
            first = sent + 1 if first is None else first
            acked = max(acked, place(packet["seth"]["cack_psn"]) + packet["cc_state"]["ooo_count"])
    return most, first


def main():
    mrc, program, options = sys.argv[1], sys.argv[2], sys.argv[3:]
    for packets in (5, 11):
        with tempfile.TemporaryDirectory() as name:
            place = Path(name)
            capture = place / "run.pcapng"
            host = run.start_host(mrc, options, place)
            try:
                run.run_two(program, [str(packets * FULL)], {**os.environ, "MRC_HOST": str(place / "mrc/host")}, host)
            finally:
                run.stop_host(host)
            run.judge(mrc, place)
            seen = under_way(mrc, capture)
            print(f"max_cwnd {packets} packets: at most {seen[0]} under way, {seen[1]} before the first SACK")
            assert seen[0] == packets and seen[1] <= packets, seen


if __name__ == "__main__":
    main()
