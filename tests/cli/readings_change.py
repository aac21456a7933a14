#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A NIC that follows another legal reading of an open question throughout passes without a profile, and mrc check says
which; one that changes its reading in the middle of a capture has a finding that names packets of both.
usage: readings_change.py MRC

A run of two NICs is decoded, and one of them sends what it says by another reading: all of it, or from the middle of the
capture on. Nothing of the capture says who wrote it."""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools/captures"))
import edit  # noqa: E402
from edit import DATA, PSNS, REQUEST, SACK, signed  # noqa: E402

SCENARIO = """vary = 0
qps = 4
ts_share = 1
srv6_share = 0
"""
CONTROL, UNIT = 40, 256


def udp_port(p):
    p.udp["dst_port"] = 4791
    return True


def bth_m(p):
    p.bth["m"] = 1
    return True


def control(p):
    if not any(p.has(header) for header in ("seth", "neth", "aeth", "eeth")):
        return False
    p.ip["dscp"] = CONTROL
    p.fields.pop("dscp_class", None)
    return True


def unit(p):
    found = False
    for header in ("tseth", "peth", "erth"):
        if p.has(header):
            p.fields[header]["tsr"], found = 1, True
    return found


def pdcids(p):
    found = False
    for header in ("seth", "neth", "peth"):
        if p.has(header):
            p.fields[header].update(spdcid=0, dpdcid=0)
            found = True
    return found


def ports(p):
    if p.opcode != REQUEST or p.erth["op"] != 0:
        return False
    p.erth["port_status_mask"] >>= 1
    return True


class Bytes:
    """rcvd_bytes without headers (CTRL.nominal 1), from the first SACK of each QP that it is asked about."""

    def __init__(self, packets):
        data = next(p for p in packets if p.data)
        self.more = data.udp["length"] + 40 - len(data.payload) // 2
        self.begin = {}

    def __call__(self, p):
        if p.opcode != SACK:
            return False
        taken = p.seth["cack_psn"] + p.cc_state["ooo_count"]
        first = self.begin.setdefault(p.flow, taken)
        less = max(signed(taken - first), 0) * self.more // UNIT
        p.cc_state["rcvd_bytes"] = (p.cc_state["rcvd_bytes"] - less) % PSNS
        return less > 0


# Assumption, what makes its other reading, the rule that tells a change; none: it does not show (docs/reference/judge.md). Switches may rewrite code points: A-04 is a finding at the NIC's ports.
CHANGES = [("A-01", udp_port, "wire.udp-port"), ("A-02", bth_m, "wire.m-se"), ("A-04", control, "wire.class"),
           ("A-21", unit, "wire.stamp"), ("A-22", pdcids, "wire.pdcid"), ("A-55", None, "resp.bytes"),
           ("A-37", ports, None)]
AT = {"A-04"}


def check(mrc, packets, capture, *options):
    edit.write(mrc, packets, capture)
    done = subprocess.run([mrc, "check", capture, *options, "--json", "-"], capture_output=True, text=True, check=False,
                          timeout=60)
    return json.loads(done.stdout)


def changed(packets, sender, change, begin):
    """Packets of that address by the other reading, from `begin` on; the number of the first one that is."""
    out, first = [], 0
    for number, packet in enumerate(packets, 1):
        if number >= begin and packet.ip["src"] == sender and packet.bth and not packet.trimmed:
            own = edit.Packet(packet.text)
            if change(own):
                own.mend()
                packet = edit.Packet(json.dumps(own.fields))
                first = first or number
        out.append(packet)
    return out, first


def run(mrc, folder, base, *keys):
    """Packets of a run."""
    (folder / "scenario.toml").write_text("\n".join([f'base = "{base}"', SCENARIO, *keys]), encoding="utf-8")
    subprocess.run([mrc, "cosim", "--preset", "tiny", "--dut", "model", "--scenario", folder / "scenario.toml",
                    "--packets", "1200", "--pcap", folder / "run.pcapng"], check=True, capture_output=True)
    return edit.read(mrc, folder / "run.pcapng")


def main():
    mrc, failed = sys.argv[1], False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        runs = {}
        for assumption, change, rule in CHANGES:
            base = "link-flap" if assumption == "A-37" else "clean"
            packets = runs.setdefault(base, runs.get(base) or run(mrc, folder, base))
            sender = next(p for p in packets if "sent by the device" in p.capture["comments"][0]).ip["src"]
            for begin in (1, len(packets) // 2):
                if begin != 1 and assumption == "A-37":
                    continue
                if change is None and begin == 1:
                    made, first = run(mrc, folder, base, "nominal = 1"), 1
                else:
                    made, first = changed(packets, sender, change or Bytes(packets), begin)
                options = ["--at", sender] if assumption in AT else []
                result = check(mrc, made, folder / "changed.pcapng", *options)
                findings = {f["rule"]: f for f in result["findings"]}
                readings = {q["assumption"]: q["readings"] for d in result["readings"] if d["device"] == sender
                            for q in d["questions"]}[assumption]
                print(f"{assumption} from packet {first} on: {result['verdict']}, {sorted(findings)}, "
                      f"{[(r['words'], r['packets'], r['first']) for r in readings]}", flush=True)
                if begin == 1:
                    right = first and result["verdict"] == "pass" and len(readings) == 1
                else:
                    right = set(findings) == ({rule} if rule else set()) and len(readings) == 2
                    right = right and all("as in packet" in f["right"] for f in findings.values())
                    for f in findings.values():
                        print(f"  packet {f['packet']}: {f['rule']}: {f['right']}")
                failed |= not right
        for base, packets in runs.items():
            clean = check(mrc, packets, folder / "clean.pcapng")
            failed |= clean["verdict"] != "pass"
            print(f"{base} as it was: {clean['verdict']}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
