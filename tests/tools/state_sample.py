#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: state_sample.py SOURCE {sample,nic}
The bits that mrc state finds are those worked out by hand: in the sample of tests/tools/rtl at two
presets, or in two memories of the NIC at preset tiny."""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

# Context 10 bits a QP; 3 bits per EV of a QP; 1 bit a QP; a profile's EV 32 bits; a record 5 bits,
# 16 in a block; data_q 32 bits and the number of a QP.
SAMPLE = {
    # 4 QPs, 8 EVs, 2 profiles, 6 blocks
    "tiny": {"QP": (4, 4 * 10 + 4 * 8 * 3 + 4), "EV profile": (2, 2 * 8 * 32), "packet in flight": (96, 96 * 5),
             "fixed": (1, 32 + 2)},
    # 64 QPs, 32 EVs, 8 profiles, 12 blocks
    "asic800": {"QP": (64, 64 * 10 + 64 * 32 * 3 + 64), "EV profile": (8, 8 * 32 * 32),
                "packet in flight": (192, 192 * 5), "fixed": (1, 32 + 6)},
}
# Receive buffer: 2 lanes of 1024 words of 16 bytes. Prefetched lines: 2 lanes of 16 lines of 32 bytes and a bit.
NIC = {("gen_lane[*].u_rx_lane.u_buf", "mem_q"): ([2, 1024, 128], 2 * 1024 * 128, "fixed"),
       ("gen_lane[*].u_tx_lane.u_lines.u_mem", "mem_q"): ([2, 16, 257], 2 * 16 * 257, "fixed")}


def state(source, *words):
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "state.json"
        subprocess.run([f"{source}/tools/state.py", "--json", report, *words], check=True)
        return json.loads(report.read_text())["presets"]


def of_sample(source):
    bad = 0
    sample = ["--top", "state", "--parameters", "tests/tools/rtl/state.yaml", "tests/tools/rtl/state.sv"]
    for result in state(source, "--preset", "tiny", "--preset", "asic800", "--check", *sample):
        expected = SAMPLE[result["preset"]]
        got = {row["class"]: (row["units"], row["bits"]) for row in result["classes"]}
        per_qp = expected["QP"][1] / expected["QP"][0]
        total = sum(bits for _, bits in expected.values())
        many = total + (16384 - expected["QP"][0]) * per_qp
        if (got, result["bits_per_qp"], result["bits_at_16k_qps"]) != (expected, per_qp, many):
            print(f"{result['preset']}: expected {expected}, {per_qp}, {many}, got {got}, {result['bits_per_qp']},"
                  f" {result['bits_at_16k_qps']}")
            bad += 1
        evs = {row["of"]: row["per_unit"] for row in result["shares"] if row["share"] == "EV"}
        if evs != {"QP": 3, "EV profile": 32}:
            print(f"{result['preset']}: bits per EV: {evs}")
            bad += 1
    return bad > 0


def of_nic(source):
    bad = 0
    rows = {(row["instance"], row["name"]): row for row in state(source, "--preset", "tiny")[0]["rows"]}
    for key, expected in NIC.items():
        row = rows.get(key)
        got = row and ([row["copies"], row["rows"], row["width"]], row["bits"], row["class"])
        if got != expected:
            print(f"{key}: expected {expected}, got {got}")
            bad += 1
    return bad > 0


if __name__ == "__main__":
    sys.exit({"sample": of_sample, "nic": of_nic}[sys.argv[2]](sys.argv[1]))
