#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: readings.py MRC [--only A-21]

Does `mrc profile infer` read a NIC right? For each open question that packets can tell, our NIC runs with each setting of
it, in a scenario that brings about what shows it. A table by assumption says what was read of the captures: the right
reading, or "not shown". The page's table (docs/reference.md) is this output.

Exit 1: a wrong reading, or both readings of a NIC that has one."""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

# Assumption, key of the scenario, its values (the default first), the scenario. `trim_nack` and such stay as they are.
SETTINGS = [
    ("A-01", "udp_port", (4971, 4791, 30000), "clean", ""), ("A-02", "bth_m", (0, 1), "clean", ""),
    ("A-04", "dscp_ctl", (46, 40), "clean", ""), ("A-11", "sack_base_self", (0, 1), "ecn", "reorder = 0.1\nreorder_ns = 4000\n"),
    ("A-12", "oor_drop", (0, 1), "window", ""),
    ("A-14", "icrc_outer", (0, 1), "clean", ""), ("A-19", "zero_length", (0, 1, 2), "collectives", "zero_share = 1\n"),
    ("A-21", "tsr_us", (0, 1), "clean", ""), ("A-22", "pdcid_zero", (0, 1), "clean", ""),
    ("A-36", "eeth_op_high", (0, 1), "probe-revive", ""), ("A-37", "ports_from_0", (0, 1), "link-flap", ""),
    ("A-55", "nominal", (0, 1, 2), "clean", ""),
    ("A-57", "err_silent", (0, 1), "qp-error", ""), ("A-74", "trim_silent", (0, 1), "trim", ""),
    ("A-75", "state_silent", (0, 1), "loss", ""), ("A-78", "share", (0, 1), "share", ""),
]


def infer(mrc, folder, base, keys):
    """{assumption: [(value, words)]} of each device."""
    scenario, capture = folder / "scenario.toml", folder / "run.pcapng"
    scenario.write_text(f'base = "{base}"\nvary = 0\nsrv6_share = 0.5\nts_share = 1\n{keys}', encoding="utf-8")
    subprocess.run([mrc, "cosim", "--preset", "tiny", "--dut", "model", "--scenario", scenario, "--packets", "500",
                    "--pcap", capture], check=True, capture_output=True)
    done = subprocess.run([mrc, "profile", "infer", capture, "--json", "-"], capture_output=True, text=True, check=True)
    return [{q["assumption"]: [(r["value"], r["words"]) for r in q["readings"]] for q in device["questions"]}
            for device in json.loads(done.stdout)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mrc")
    parser.add_argument("--only", default="A-", help="assumptions that begin so")
    o = parser.parse_args()
    wrong = []
    print("| assumption | setting | read of the captures |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        for assumption, key, values, base, besides in SETTINGS:
            if not assumption.startswith(o.only):
                continue
            for value in values:
                devices = infer(o.mrc, Path(name), base, f"{besides}{key} = {value}\n")
                told = {tuple(device[assumption]) for device in devices}
                words = sorted({"; ".join(w for _, w in some) or "not shown" for some in told})
                print(f"| {assumption} | `{key} = {value}` | {', or '.join(words)} |")
                wrong += [f"{assumption}: {key} = {value} in {base} was read as {some}" for some in told
                          if some and {v for v, _ in some} != {value}]
    for line in wrong:
        print(f"WRONG {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
