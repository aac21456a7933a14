#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: state_sample.py SOURCE {sample,nic,scale}
The bits that mrc state finds are those worked out by hand: in the sample of tests/tools/rtl at two
presets, in two memories of the NIC at preset tiny, or in what 256 QPs more bring to blocks of asic800."""
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
    # 64 QPs, 32 EVs, 8 profiles, 12 blocks; of 32 QPs on a bit a QP in words
    "asic800": {"QP": (64, 64 * 10 + 64 * 32 * 3 + 64 + 64), "EV profile": (8, 8 * 32 * 32),
                "packet in flight": (192, 192 * 5), "fixed": (1, 32 + 6)},
}
# Receive buffer: 2 lanes of 1024 words of 16 bytes. Prefetched lines: 2 lanes of 16 lines of 32 bytes and a bit.
NIC = {("gen_lane[*].u_rx_lane.u_buf", "mem_q"): ([2, 1024, 128], 2 * 1024 * 128, "fixed"),
       ("gen_lane[*].u_tx_lane.u_lines.u_mem", "mem_q"): ([2, 16, 257], 2 * 16 * 257, "fixed")}


# From 256 QPs to 512, by block and kind: states of 256 EVs of 3 bits; 32 RQMSNs of {valid, idx 10}; in tx_fetch
# nothing is per QP.
MORE = {("tx_path", "RAM"): 256 * 256 * 3, ("rx_reorder", "RAM"): 256 * 32 * 11, ("tx_fetch", "flip-flops"): 0}
TIMERS = {256: 4 * 256, 512: 4 * 512}  # cycles in which each QP is visited


def report(source, *words):
    with tempfile.TemporaryDirectory() as scratch:
        name = Path(scratch) / "state.json"
        subprocess.run([f"{source}/tools/state.py", "--json", name, *words], check=True)
        return json.loads(name.read_text())


def state(source, *words):
    return report(source, *words)["presets"]


def of_scale(source):
    few, many = report(source, "--scale", "256,512")["scale"]
    bad = 0
    for (block, kind), expected in MORE.items():
        got = many["bits"][block][kind] - few["bits"][block][kind]
        if got != expected:
            print(f"{block}, {kind}: expected {expected} more, got {got}")
            bad += 1
    timers = {row["qps"]: row["walks"]["tx_inflight"]["timers of all QPs, all busy"] for row in (few, many)}
    if timers != TIMERS:
        print(f"timers: expected {TIMERS}, got {timers}")
        bad += 1
    return bad > 0


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
    sys.exit({"sample": of_sample, "nic": of_nic, "scale": of_scale}[sys.argv[2]](sys.argv[1]))
