#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What mrc check sees of violations that are edited into a capture of two NICs, bare: no profile, no --at.
usage: captures.py MRC

A clean capture passes. Each edit of tools/captures/edits.py is then made in it, and a table says which rule names it.
Exit 1: the clean capture does not pass, or the edits that no rule sees are not those of NOT_SEEN."""
import argparse
import collections
import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools/captures"))
import edit  # noqa: E402
from edits import EDITS  # noqa: E402

# In this run, without losses known by time, one flow has a place and enough trims and marks for each edit.
SCENARIO = """base = "loss"
vary = 0
qps = 4
ecn = 0.05
trim = 0.03
trim_size = 206
ts_share = 1
imm_share = 0.3
time_wait = 1
"""
# Edits that a bare capture does not show, and why (docs/reference.md, Captures without a profile).
NOT_SEEN = {
    "ack-next": "this capture has no place for it",
    "icrc": "may have been damaged under way",
    "response-id": "the request may have gone to another address of the device",
    "syndrome": "one NAK code may be the NIC's choice",
    "udp-length": "may have been damaged under way",
}


def towards_device(packets):
    """The flow with most data that comes to the NIC at whose ports the capture was taken: trims and marks of the other
    way happen behind it, and nobody can judge them."""
    counts = collections.Counter(p.flow for p in packets if p.data)
    came = {p.flow for p in packets if p.data and any("received by the device" in c for c in p.capture["comments"])}
    return next(i for i, (flow, _) in enumerate(counts.most_common()) if flow in came)


def check(mrc, capture):
    """Verdict, and how often each rule is broken."""
    done = subprocess.run([mrc, "check", capture, "--json", "-"], capture_output=True, text=True, timeout=60)
    result = json.loads(done.stdout)
    return result["verdict"], collections.Counter({f["rule"]: f["count"] for f in result["findings"]})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mrc")
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "scenario.toml").write_text(SCENARIO, encoding="utf-8")
        clean, edited = folder / "clean.pcapng", folder / "edited.pcapng"
        subprocess.run([o.mrc, "cosim", "--preset", "tiny", "--dut", "model", "--scenario", folder / "scenario.toml",
                        "--packets", "1500", "--pcap", clean], check=True, capture_output=True)
        verdict, findings = check(o.mrc, clean)
        if verdict != "pass":
            sys.exit(f"the clean capture: {verdict}, {dict(findings)}")
        packets, not_seen = edit.read(o.mrc, clean), set()
        flow = towards_device(packets)
        for one in EDITS:
            try:
                changed, what = edit.apply(packets, one, flow)
            except edit.NoPlace as none:
                print(f"{one.name:<20} {'':<9} {'no place':<28} {none}")
                not_seen.add(one.name)
                continue
            edit.write(o.mrc, changed, edited)
            verdict, findings = check(o.mrc, edited)
            named = [rule for rule in one.rules if findings[rule]]
            if not named:
                not_seen.add(one.name)
            print(f"{one.name:<20} {verdict:<9} {'by ' + ', '.join(named) if named else 'not seen':<28} {what}")
        print(f"{len(EDITS) - len(not_seen)} of {len(EDITS)} seen")
        for name in sorted(not_seen - NOT_SEEN.keys()):
            print(f"{name} is not seen any more")
        for name in sorted(NOT_SEEN.keys() - not_seen):
            print(f"{name} is seen now: take it out of NOT_SEEN, and out of docs/reference.md")
        return 0 if not_seen == NOT_SEEN.keys() else 1


if __name__ == "__main__":
    sys.exit(main())
