#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What mrc check sees of violations that are edited into a capture of two NICs, bare: no profile, no --at.
usage: captures.py MRC [--seed 1,2,...] [--asks] [--only EDIT]

A clean capture passes. Each edit of tools/captures/edits.py is then made in it, and a table says which rule names it.
Exit 1: the clean capture does not pass, or fewer than LEAST edits are seen in a run. Which ones is told: those that no
capture shows stand in NOT_SEEN with the reason, and a NIC that behaves otherwise makes another run."""
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

SCENARIO = """base = "loss"
vary = 0
qps = 4
ecn = 0.1
trim = 0.05
trim_size = 206
ts_share = 1
imm_share = 0.3
"""
SILENT = "silence_wait = 1\n"  # the NIC does not ask its peer: answers are less often said twice
THE_ISSUES = 26  # edits that stand first
LEAST = 24, 55   # of those, and of those behind them
# Edits that a bare capture does not show, and why (docs/reference/judge.md, Captures without a profile).
NOT_SEEN = {
    "icrc": "may have been damaged under way",
    "response-id": "the request may have gone to another address of the device",
    "syndrome": "one NAK code may be the NIC's choice",
    "udp-length": "may have been damaged under way",
}


def check(mrc, capture):
    """Verdict, and how often each rule is broken."""
    done = subprocess.run([mrc, "check", capture, "--json", "-"], capture_output=True, text=True, timeout=60)
    result = json.loads(done.stdout)
    return result["verdict"], collections.Counter({f["rule"]: f["count"] for f in result["findings"]})


def edited(mrc, folder, seed, asks, only):
    """Names of the edits that no rule sees in a run with that seed, empty: the scenario's own; a line for each edit."""
    (folder / "scenario.toml").write_text(SCENARIO + ("" if asks else SILENT), encoding="utf-8")
    clean, broken = folder / "clean.pcapng", folder / "edited.pcapng"
    subprocess.run([mrc, "cosim", "--preset", "tiny", "--dut", "model", "--scenario", folder / "scenario.toml",
                    "--packets", "1500", "--pcap", clean, *(["--seed", seed] if seed else [])], check=True,
                   capture_output=True)
    verdict, findings = check(mrc, clean)
    if verdict != "pass":
        sys.exit(f"the clean capture: {verdict}, {dict(findings)}")
    packets, not_seen = edit.read(mrc, clean), set()
    shown = edit.Shown(packets)
    for one in (e for e in EDITS if not only or e.name == only):
        try:
            changed, what = edit.apply(packets, one, shown=shown)
        except edit.NoPlace as none:
            print(f"{one.name:<20} {'':<9} {'no place':<28} {none}")
            not_seen.add(one.name)
            continue
        edit.write(mrc, changed, broken)
        verdict, findings = check(mrc, broken)
        named = [rule for rule in one.rules if findings[rule]]
        if not named:
            not_seen.add(one.name)
        print(f"{one.name:<20} {verdict:<9} {'by ' + ', '.join(named) if named else 'not seen':<28} {what}", flush=True)
    return not_seen


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mrc")
    parser.add_argument("--seed", default="", help="of the runs, instead of the scenario's own")
    parser.add_argument("--asks", action="store_true", help="the NIC asks its peer, as it does unless it is told")
    parser.add_argument("--only", default="", help="this edit alone, and no judgement of how many were seen")
    o = parser.parse_args()
    first = {e.name for e in EDITS[:THE_ISSUES]}
    failed = False
    with tempfile.TemporaryDirectory() as name:
        for seed in o.seed.split(","):
            not_seen = edited(o.mrc, Path(name), seed, o.asks, o.only)
            if o.only:
                continue
            seen = THE_ISSUES - len(first & not_seen), len(EDITS) - THE_ISSUES - len(not_seen - first)
            run = f"seed {seed}: " if seed else ""
            print(f"{run}{sum(seen)} of {len(EDITS)} seen: {seen[0]} of the first {THE_ISSUES}, "
                  f"{seen[1]} of {len(EDITS) - THE_ISSUES} behind them")
            failed |= seen[0] < LEAST[0] or seen[1] < LEAST[1]
            for edit_name in sorted(not_seen):
                print(f"{run}{edit_name} is not seen: {NOT_SEEN.get(edit_name, 'this run does not show it')}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
