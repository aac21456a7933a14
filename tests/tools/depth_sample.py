#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: depth_sample.py SOURCE
The gates that mrc depth counts in the sample are those counted by hand, and --check fails above them."""
import json
import subprocess
import sys
import tempfile
from pathlib import Path


def main():
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "depth.json"
        call = [f"{sys.argv[1]}/tools/depth.py", "--top", "depth", "tests/tools/rtl/depth.sv"]
        subprocess.run([*call, "--json", report], check=True)
        row = json.loads(report.read_text())["rows"][0]
        codes = [subprocess.run([*call, "--check", str(gates)], check=False).returncode for gates in (6, 5)]
    ends = {end["end"]: end for end in row["ends"]}
    got = {
        "longest": row["gates"],
        "parity64_q": ends["parity64_q"]["gates"],
        "parity64_q from": ends["parity64_q"]["start"].partition("[")[0],
        "parity8_q": ends["parity8_q"]["gates"],
        "read_q": ends["read_q"]["gates"],
        "read_q from": ends["read_q"]["start"].partition(" ")[0],
        "out_o": ends["out_o"]["gates"],
        "a_q": ends["a_q"]["gates"],
        "through tables": row["through_tables"],
        "from inputs, to outputs, in to out": [row["from_inputs"], row["to_outputs"], row["in_to_out"]],
        "registers": row["registers"],
        "codes": codes,
    }
    expected = {"longest": 6, "parity64_q": 6, "parity64_q from": "a_q", "parity8_q": 3, "read_q": 4,
                "read_q from": "table_q", "out_o": 2, "a_q": 0, "through tables": 8,
                "from inputs, to outputs, in to out": [2, 2, 2], "registers": 64 + 3, "codes": [0, 1]}
    for name, value in expected.items():
        if got[name] != value:
            print(f"{name}: expected {value}, got {got[name]}")
    return got != expected


if __name__ == "__main__":
    sys.exit(main())
