#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: python.py MRC LIBRARY DUMMY

The Python binding hears of a run what `mrc check` hears of its log, and finds the same."""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bindings/python"))
import mrc_ref  # noqa: E402  (where it lies is said above)

MRC, LIBRARY, DUMMY = sys.argv[1:4]


def same(what, got, want):
    if got != want:
        sys.exit(f"{what}: {got!r}, expected {want!r}")


def refused(what, call, words):
    try:
        call()
    except mrc_ref.JudgeError as error:
        if words not in str(error):
            sys.exit(f"{what}: '{error}' lacks '{words}'")
        return
    sys.exit(f"{what}: nothing was refused")


def replay(records, **options):
    judge = mrc_ref.Judge(json.loads(records[0]["profile"]), library=LIBRARY, **options)
    for record in records:
        mrc_ref.tell(judge, record)
    return judge


with tempfile.TemporaryDirectory() as name:
    log = Path(name) / "run.mrclog"
    subprocess.run([MRC, "cosim", "--preset", "tiny", "--dut", "model", "--scenario", "mixed", "--packets", "60", "--record",
                    log], check=True, stdout=subprocess.DEVNULL)
    text = subprocess.run([MRC, "log", "print", log, "--json"], check=True, capture_output=True, text=True).stdout
    records = [r for r in map(json.loads, text.splitlines()) if r["device"] == 0]
    checked = subprocess.run([MRC, "check", log, "--device", "dut", "--json", "-"], capture_output=True, text=True, check=False)
    whole = json.loads(checked.stdout)
    with replay(records) as judge:
        same("findings", list(judge.findings()), [])
        same("packets", judge.packets, whole["packets"])
        same("rules", judge.result()["rules"], whole["rules"])
    same("verdict after the end", judge.verdict, whole["verdict"])

    # One bit of one frame that was sent.
    place = max(i for i, r in enumerate(records) if r["kind"] == "frame" and r["sent"])
    broken = dict(records[place])
    broken["frame"] = broken["frame"][:-2] + f"{int(broken['frame'][-2:], 16) ^ 1:02x}"
    changed = [*records[:place], broken, *records[place + 1:]]
    with replay(changed) as judge:
        found = list(judge.findings())
        same("rule", [f.rule for f in found], ["wire.icrc"])
        same("its verdict", (found[0].verdict, judge.verdict), ("fail", "fail"))
        same("its frame", found[0].frame, sum(r["kind"] == "frame" for r in records[:place + 1]))
    with replay(changed, waive={"wire.icrc": "a known error"}) as judge:
        same("waived", [f.verdict for f in judge.findings()], ["pass"])
        same("waived verdict", judge.verdict, whole["verdict"])

refused("an unknown key", lambda: mrc_ref.Judge({"plans": 1}, library=LIBRARY), "did you mean planes")
refused("a plane", lambda: mrc_ref.Judge({"planes": 1}, library=LIBRARY).port(1, True, 0), "plane 1")
refused("no library", lambda: mrc_ref.Judge(library="nowhere.so"), "MRC_REF_LIBRARY")
with mrc_ref.Judge(library=DUMMY) as dummy:
    dummy.rx(0, 0, 1, b"\0" * 64)
    same("dummy", (dummy.verdict, dummy.packets), ("inconclusive", 1))
