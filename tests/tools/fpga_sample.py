#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""mrc fpga report: cells and weighted levels of a small netlist are those counted by hand; what moves is told; names that
Yosys makes up and the place of a block do not count."""
import json
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import fpga  # noqa: E402


def cell(kind, outputs, **pins):
    return {"type": kind, "parameters": {}, "connections": pins,
            "port_directions": {pin: "output" if pin in outputs else "input" for pin in pins}}


def netlist():
    """a (register) -> LUT -> 8 bits of carry -> LUT -> address of a LUTRAM -> LUT -> MUXF7 -> register; a block RAM -> y."""
    cells = {
        "ff_a": cell("FDRE", "Q", C=[2], D=[50], Q=[10]),
        "lut1": cell("LUT2", "O", I0=[10], I1=[11], O=[12]),
        "chain": cell("CARRY8", ("O", "CO"), CI=["0"], S=[12, *["0"] * 7], DI=["0"] * 8, O=list(range(20, 28)),
                      CO=list(range(30, 38))),
        "lut2": cell("LUT1", "O", I0=[27], O=[40]),
        "ram": cell("RAM32M16", "DOA", ADDRA=[40], ADDRH=[10], DIA=[11], DOA=[41], WCLK=[2], WE=[11]),
        "lut3": cell("LUT6", "O", I0=[41], O=[42]),
        "inv": cell("INV", "O", I=[11], O=[43]),
        "mux": cell("MUXF7", "O", I0=[42], I1=[43], S=[11], O=[50]),
        "bram": cell("RAMB18E2", "DOUTADOUT", CLKARDCLK=[2], ADDRARDADDR=[10], DOUTADOUT=[60]),
    }
    ports = {"clk_i": {"direction": "input", "bits": [2]}, "x_i": {"direction": "input", "bits": [11]},
             "y_o": {"direction": "output", "bits": [60]}}
    return {"cells": cells, "ports": ports,
            "netnames": {"a_q": {"hide_name": 0, "bits": [10]}, "x_i": {"hide_name": 0, "bits": [11]}}}


# A report whose Yosys never ends; it says the number of its process.
STANDS = """
import sys
sys.path.insert(0, "tools")
sys.argv = ["mrc fpga", "report", "--config", "tiny", "--jobs", "1"]
import fpga, rtl
entry = {"block": "no_block", "key": "none", "top": "none", "instances": 1}
fpga.Elaborated = lambda name, values: type("", (), {"name": name, "values": values, "blocks": [entry]})
rtl.yosys_command = lambda *_, **__: ["sh", "-c", "echo $$ > " + PIDFILE + "; exec sleep 300"]
sys.exit(fpga.main())
"""


def leaves_a_yosys(folder):
    """What is wrong after SIGTERM to a report, to its own process alone."""
    pid = Path(folder) / "pid"
    report = subprocess.Popen([sys.executable, "-c", f"PIDFILE = {str(pid)!r}{STANDS}"], cwd=ROOT, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while report.poll() is None and not (pid.exists() and pid.read_text().strip()):
        time.sleep(0.05)
    report.send_signal(signal.SIGTERM)
    _, said = report.communicate(timeout=60)
    if Path(f"/proc/{pid.read_text().strip()}").exists():
        return ["a report that was ended left its Yosys running"]
    if report.returncode != 3 or "what is mapped stays" not in said:
        return [f"a report that was ended: exit code {report.returncode}, {said}"]
    return []


def main():
    bad = []
    got = fpga.counts(netlist())
    want = {"lut": 4, "lutram": 8, "ff": 1, "bram": 0.5, "uram": 0, "dsp": 0}
    if got != want:
        bad.append(f"cells: expected {want}, got {got}")
    levels, end, start, readers = fpga.Levels(netlist()).worst()
    by_hand = 1 + (1 + 7 * 0.1 / 8) + 1 + 1.5 + 1 + 0.3
    if abs(levels - by_hand) > 1e-9 or (end, start, readers) != ("a_q", "a_q", 3):
        bad.append(f"levels: expected {by_hand} from a_q to a_q with 3 readers, got {levels} {start} {end} {readers}")
    one = fpga.normalise("cell $add$7 \\nic.a.u\n wire $7_Y $12\n", "nic.a")
    two = fpga.normalise("cell $add$31 \\nic.b.u\n wire $31_Y $40\n", "nic.b")
    if one != two or one == fpga.normalise("cell $add$31 \\nic.b.u\n wire $31 $31\n", "nic.b"):
        bad.append(f"blocks that are the same look different, or the other way round: {one} {two}")
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.json"
        row = {"block": "b", "configuration": "c", "lut": 100, "lutram": 0, "ff": 0, "bram": 0, "uram": 0, "dsp": 0,
               "levels": 9.0}
        report.write_text(json.dumps({"rows": [row]}))
        for change, complaints in (({}, 0), ({"lut": 105}, 0), ({"lut": 106}, 1), ({"lut": 94}, 1), ({"bram": 3}, 1),
                                   ({"levels": 9.6}, 1), ({"block": "other"}, 1)):
            if len(fpga.compare([{**row, **change}], report)) != complaints:
                bad.append(f"{change} should be told {complaints} times")
        report.write_text("[]")
        done = subprocess.run([sys.executable, "-c", "import sys; sys.path.insert(0, 'tools'); import fpga;"
                               f" fpga.compare([], {str(report)!r})"], cwd=ROOT, text=True, capture_output=True, check=False)
        if done.returncode != 3 or "cannot read" not in done.stderr:
            bad.append(f"a report that is none: exit code {done.returncode}, {done.stderr}")
        bad += leaves_a_yosys(scratch)
    values = fpga.configurations()
    if len(values) < 6 or values["fpga100-4planes"]["NumPlanes"] != 4 or values["fpga100-4planes"]["NumQps"] != 16:
        bad.append("configurations are not those of tools/fpga.yaml")
    print("\n".join(bad) or "cells, levels, names and comparison as by hand")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
