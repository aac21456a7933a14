#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mrc profile infer names the reading that a NIC has, for settings of open questions that a wire can tell; mrc check
says the same of captures, and of a profile's promises nothing.
usage: profile_infer.py MRC"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

MRC = sys.argv[1]
# Assumption, key of the scenario, its value; the scenario that shows it.
SETTINGS = [("A-01", "udp_port", 4791, "clean"), ("A-02", "bth_m", 1, "clean"), ("A-04", "dscp_ctl", 40, "clean"),
            ("A-14", "icrc_outer", 1, "clean"), ("A-21", "tsr_us", 1, "clean"), ("A-22", "pdcid_zero", 1, "clean"),
            ("A-37", "ports_from_0", 1, "link-flap"), ("A-55", "nominal", 2, "clean")]


def check_says_the_same(capture, devices, keys):
    done = subprocess.run([MRC, "check", capture, "--json", "-"], capture_output=True, text=True, check=False)
    told = {d["device"]: d["questions"] for d in json.loads(done.stdout)["readings"]}
    if told != {d["device"]: d["questions"] for d in devices}:
        sys.exit(f"mrc check reads {told}, mrc profile infer {devices}")
    text = subprocess.run([MRC, "check", capture], capture_output=True, text=True, check=False).stdout
    for device in devices:
        said = f"{device['device']} A-21: time stamps in units of 1.024 us, or its own, "
        if (said in text) != ("tsr_us" in keys):
            sys.exit(f"{keys}: mrc check says\n{text}")


def readings(folder, base, keys):
    """Of each device: assumption -> values; and the profile of the first one."""
    text = f'base = "{base}"\nvary = 0\nsrv6_share = 0.5\nts_share = 1\n' + "".join(f"{k} = {v}\n" for k, v in keys)
    (folder / "scenario.toml").write_text(text, encoding="utf-8")
    capture, profile = folder / "run.pcapng", folder / "nic.json"
    subprocess.run([MRC, "cosim", "--preset", "tiny", "--dut", "model", "--scenario", folder / "scenario.toml",
                    "--packets", "600", "--pcap", capture], check=True, capture_output=True)
    done = subprocess.run([MRC, "profile", "infer", capture, "--json", "-"], capture_output=True, text=True, check=True)
    devices = json.loads(done.stdout)
    check_says_the_same(capture, devices, dict(keys))
    subprocess.run([MRC, "profile", "infer", capture, "--device", devices[0]["device"], "-o", profile], check=True,
                   capture_output=True)
    told = json.loads(profile.read_text(encoding="utf-8"))
    return [{q["assumption"]: [r["value"] for r in q["readings"]] for q in d["questions"]} for d in devices], told


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    for base in ("clean", "link-flap"):
        chosen = [s for s in SETTINGS if s[3] == base]
        for values in ([(key, value) for _, key, value, _ in chosen], []):
            devices, told = readings(folder, base, values)
            if len(devices) != 2:
                sys.exit(f"{base}: {len(devices)} devices, expected 2")
            for device in devices:
                for assumption, key, value, _ in chosen:
                    got = device[assumption]
                    if len(got) != 1 or (got[0] == value) != bool(values):
                        sys.exit(f"{base}: {assumption} reads {got}; {key} was {value if values else 'its default'}")
        if base == "clean" and "CTRL.tsr_us" in told.get("settings", {}):
            sys.exit("the profile of a NIC with defaults names CTRL.tsr_us")
    wrong = subprocess.run([MRC, "profile", "infer", folder / "run.pcapng", "-o", folder / "both.json"],
                           capture_output=True, text=True, check=False)
    if wrong.returncode != 3 or "-o is for one device" not in wrong.stderr:
        sys.exit(f"-o for two devices: {wrong.returncode}, {wrong.stderr}")
