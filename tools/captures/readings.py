#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: readings.py MRC [--only A-21] [--page FILE]

Does `mrc profile infer` read a NIC right? For each open question that packets can show, our NIC runs with each setting
of it, in a scenario that brings about what shows it. A table by assumption says what was read of the captures: the
right reading, or "not shown"; of all others, why no capture shows them. What belongs to a QP is read of `facts` of mrc
check.
The table of docs/guide/captures.md is this output: --page puts it there anew.

Exit 1: a wrong reading, both readings of a NIC that has one, an assumption of docs/protocol/assumptions.md without a
row, or a page that has another table."""
import argparse
import collections
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# Assumption, key of the scenario, its values (the default first), the scenario. `trim_nack` and such stay as they are.
SETTINGS = [
    ("A-01", "udp_port", (4971, 4791, 30000), "clean", ""), ("A-02", "bth_m", (0, 1), "clean", ""),
    ("A-04", "dscp_ctl", (46, 40), "clean", ""),
    ("A-11", "sack_base_self", (0, 1), "ecn", "reorder = 0.1\nreorder_ns = 4000\n"),
    ("A-12", "oor_drop", (0, 1), "window", ""),
    ("A-14", "icrc_outer", (0, 1), "clean", ""), ("A-19", "zero_length", (0, 1, 2), "collectives", "zero_share = 1\n"),
    ("A-21", "tsr_us", (0, 1), "clean", ""), ("A-22", "pdcid_zero", (0, 1), "clean", ""),
    ("A-36", "eeth_op_high", (0, 1), "probe-revive", ""), ("A-37", "ports_from_0", (0, 1), "link-flap", ""),
    ("A-55", "nominal", (0, 1, 2), "clean", ""),
    ("A-57", "err_silent", (0, 1), "qp-error", ""), ("A-74", "trim_silent", (0, 1), "trim", ""),
    ("A-75", "state_silent", (0, 1), "loss", ""), ("A-78", "share", (0, 1), "share", ""),
]
# What belongs to a QP: assumption, fact, key, value -> what the fact has to say (None: it is none), the scenario.
OF_QPS = [
    ("A-56", "service time", "svc_share", {0: None, 1: "time stamps are moved"}, "clean", ""),
    ("A-59", "window", "dyn_mpr", {0: None, 1: "granted by SACKs"}, "clean", ""),
    ("A-63", "headers", "srv6_share", {0: "IPv6", 1: "IPv6 in IPv6"}, "clean", "srh_share = 0\n"),
    ("A-79", "code point of data", "dscp_data", {4: "4", 10: "10"}, "clean", ""),
    ("A-79", "code point of retransmissions", "dscp_rtx", {8: "8", 18: "18"}, "loss", ""),
]
# Why a capture does not show the others.
EVS = "a NIC chooses an EV or plane by what it knows of them, and that is not on the wire"
WHEN = "the times at which a NIC acts are not measured here"
ANY, NSCC = "any answer is right", "it is a controller's arithmetic"
BITS = "every packet fits both readings of where the bits of an EV stand"
HOST = "it is what the host sees, or how things begin"
NOT_SHOWN = {
    BITS: "3 5 64", EVS: "6 20 23 31 32 33 34 66 67 85 86 87 90", WHEN: "7 8 9 16 17 28 35 60 71 72 82 83 84 89 92",
    ANY: "10 24 25 26 27 29 30 54", NSCC: "40 41 42 43 44 45 46 47 48 49 50 51 52 53 58 73 77 88 91", HOST: "18 61 65 68",
    "a trimmed packet without a NACK may have been one that a switch lost": "13",
    "the network's choice; trimmed packets are read with any lengths": "15",
    "how many immediates a QP may have outstanding is agreed outside of the wire": "62",
    "NAK codes are checked (wire.syndrome), and none is named as the NIC's choice": "70",
    "the user names addresses that belong together: --at A,B": "76",
    "a returned packet may have a code point of its own or not. What came back is left out, or its rules rest": "80",
    "IPv4 is read, and our NIC sends none": "81",
}
ROOT = Path(__file__).resolve().parents[2]
BEGIN, END = "<!-- readings.py -->", "<!-- end of readings.py -->"


def capture_of(mrc, folder, base, keys):
    scenario, capture = folder / "scenario.toml", folder / "run.pcapng"
    scenario.write_text(f'base = "{base}"\nvary = 0\nts_share = 1\n{keys}', encoding="utf-8")
    subprocess.run([mrc, "cosim", "--preset", "tiny", "--dut", "model", "--scenario", scenario, "--packets", "500",
                    "--pcap", capture], check=True, capture_output=True)
    return capture


def infer(mrc, folder, base, keys):
    """{assumption: [(value, words)]} of each device."""
    capture = capture_of(mrc, folder, base, f"srv6_share = 0.5\n{keys}")
    done = subprocess.run([mrc, "profile", "infer", capture, "--json", "-"], capture_output=True, text=True, check=True)
    return [{q["assumption"]: [(r["value"], r["words"]) for r in q["readings"]] for q in device["questions"]}
            for device in json.loads(done.stdout)]


def facts(mrc, folder, base, keys):
    """{fact: value} of each way of data."""
    capture = capture_of(mrc, folder, base, keys)
    done = subprocess.run([mrc, "check", capture, "--json", "-"], capture_output=True, text=True, check=False)
    return [{fact["fact"]: fact["value"] for fact in way.get("facts", [])} for way in json.loads(done.stdout)["qps"]]


def rows_of(mrc, folder, only, wrong):
    """{number of the assumption: its rows}, of those that packets show."""
    rows = collections.defaultdict(list)
    for assumption, key, values, base, besides in SETTINGS:
        for value in values if assumption.startswith(only) else ():
            devices = infer(mrc, folder, base, f"{besides}{key} = {value}\n")
            told = {tuple(device[assumption]) for device in devices}
            words = sorted({"; ".join(w for _, w in some) or "not shown" for some in told})
            rows[int(assumption[2:])].append(f"| {assumption} | `{key} = {value}` | {', or '.join(words)} |")
            wrong += [f"{assumption}: {key} = {value} in {base} was read as {some}" for some in told
                      if some and {v for v, _ in some} != {value}]
    for assumption, fact, key, values, base, besides in OF_QPS:
        for value, right in values.items() if assumption.startswith(only) else ():
            told = {way.get(fact) for way in facts(mrc, folder, base, f"{besides}{key} = {value}\n")}
            words = ", or ".join(sorted(f"of a QP: {t}" if t else "not shown" for t in told))
            rows[int(assumption[2:])].append(f"| {assumption} | `{key} = {value}` | {words} |")
            wrong += [f"{assumption}: {key} = {value} in {base}: {fact} {t}" for t in told if t not in (right, None)]
            if right and right not in told:
                wrong.append(f"{assumption}: {key} = {value} in {base}: no QP shows it")
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mrc")
    parser.add_argument("--only", default="A-", help="assumptions that begin so")
    parser.add_argument("--page", type=Path, help="a page that gets the table")
    o = parser.parse_args()
    wrong = []
    with tempfile.TemporaryDirectory() as name:
        rows = rows_of(o.mrc, Path(name), o.only, wrong)
    for why, numbers in NOT_SHOWN.items():
        for number in map(int, numbers.split()):
            rows[number].append(f"| A-{number:02} | | not inferred: {why} |")
    table = ["| assumption | setting | read of the captures |", "|---|---|---|"]
    table += [row for number in sorted(rows) for row in rows[number] if row.startswith(f"| {o.only}")]
    print("\n".join(table))
    if o.only == "A-":
        register = (ROOT / "docs/protocol/assumptions.md").read_text(encoding="utf-8")
        missing = set(map(int, re.findall(r"^\| A-(\d+) ", register, re.M))) ^ set(rows)
        wrong += [f"A-{number:02} is in the register alone, or in the table alone" for number in sorted(missing)]
        page = o.page or ROOT / "docs/guide/captures.md"
        text = page.read_text(encoding="utf-8")
        before, rest = text.split(BEGIN)
        made = f"{before}{BEGIN}\n" + "\n".join(table) + f"\n{END}{rest.split(END)[1]}"
        if o.page:
            page.write_text(made, encoding="utf-8")
        elif made != text:
            wrong.append("docs/guide/captures.md has another table: readings.py MRC --page docs/guide/captures.md")
    for line in wrong:
        print(f"WRONG {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
