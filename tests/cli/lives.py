#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mrc check of captures in which QPs live twice: torn down and set up again with the same number. A run is joined with
itself, its second life with the same PSNs, new ones far off or near, new QPNs of the peer, or both. Nobody is blamed for
the second life, and each is judged by itself: an edit in either is a finding. Where no silence divides them, what needs
a QP rests, by name, and an edit of a single packet is a finding.
usage: lives.py MRC"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools/captures"))
import edit  # noqa: E402
from edit import ACK, DATA, NACK, PSNS, REQUEST, RESPONSE, SACK  # noqa: E402
from edits import EDITS  # noqa: E402

SCENARIO = """base = "loss"
vary = 0
qps = 4
ecn = 0.05
trim = 0.03
trim_size = 206
ts_share = 1
imm_share = 0.3
"""
PAUSE_NS, SHORT_NS = 200_000, 50_000  # lives that are told are 100 us apart
NEW_QPN = 0x100
ANEW = "the QP was set up anew within the capture"
# How the second life differs: what is added to its PSNs, whether the peer's QPNs are new.
LIVES = {"the same PSNs": (0, False), "PSNs far off": (100_000, False), "the other half": (PSNS // 2, False),
         "PSNs a little farther": (1500, False), "PSNs a little before": (PSNS - 300, False), "QPNs": (0, True),
         "QPNs and PSNs": (100_000, True)}
EDITED = ("psn-twice", "cack-ahead", "va-64", "msn-skipped", "echo-entropy", "rcvd-back")  # each needs a QP


def second(packets, psns, qpns, pause=PAUSE_NS):
    """The packets as those of the second life."""
    begin = max(p.capture["time_ns"] for p in packets) + pause
    out = []
    for packet in packets:
        p = packet.copy()
        p.capture["time_ns"] += begin
        if p.opcode in DATA or p.opcode in (ACK, SACK, NACK):
            p.bth["psn"] = (p.bth["psn"] + psns) % PSNS
        if p.opcode == SACK:
            p.seth["cack_psn"] = (p.seth["cack_psn"] + psns) % PSNS
        if p.opcode == NACK:
            p.neth["nack_psn"] = (p.neth["nack_psn"] + psns) % PSNS
        sent = p.capture["comments"][0].startswith("sent by the device")
        if qpns and sent and p.opcode not in (REQUEST, RESPONSE):
            p.bth["dqp"] += NEW_QPN
        for header in (h for h in ("seth", "neth", "peth") if qpns and p.has(h)):
            p.fields[header]["dpdcid" if sent else "spdcid"] += NEW_QPN
        p.mend()
        out.append(edit.Packet(json.dumps(p.fields)))
    return out


def check(mrc, packets, capture):
    edit.write(mrc, packets, capture)
    done = subprocess.run([mrc, "check", capture, "--json", "-"], capture_output=True, text=True, check=False,
                          timeout=60)
    result = json.loads(done.stdout)
    lives = {f["value"] for way in result["qps"] for f in way.get("facts", ()) if f["fact"] == "life"}
    return {f["rule"]: f["count"] for f in result["findings"]}, result["captures"]["untold"], lives


def main():
    mrc, failed = sys.argv[1], False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "scenario.toml").write_text(SCENARIO, encoding="utf-8")
        run, joined = folder / "run.pcapng", folder / "joined.pcapng"
        subprocess.run([mrc, "cosim", "--preset", "tiny", "--dut", "model", "--scenario", folder / "scenario.toml",
                        "--packets", "700", "--pcap", run], check=True, capture_output=True)
        packets = edit.read(mrc, run)
        for words, (psns, qpns) in LIVES.items():
            # A short life that goes on near by is a limit (docs/reference/judge.md).
            for life in (packets, packets[:600])[:1 if words == "PSNs a little farther" else 2]:
                findings, untold, lives = check(mrc, life + second(packets, psns, qpns), joined)
                print(f"{words:<22} {len(life):>5} packets before: {findings or 'no finding'}; {untold}; {lives}")
                # The same PSNs and entropy values at two QPNs: what answers name tells no QP of so few packets.
                failed |= bool(findings) or "2 of 2" not in lives or untold.get(ANEW, 0) > (words == "QPNs")
        for life in (packets, packets[:600]):
            findings, untold, _ = check(mrc, life + second(packets, 100_000, False, SHORT_NS), joined)
            print(f"at once {len(life):>20} packets before: {findings or 'no finding'}; {untold}")
            failed |= bool(findings) or ANEW not in untold
        # An edit in either life is seen, by what needs its QP.
        for one in (e for e in EDITS if e.name in EDITED):
            broken, _ = edit.apply(packets, one)
            for words, *lives in (("the same PSNs", broken, packets), ("QPNs and PSNs", packets, broken)):
                findings, _, _ = check(mrc, lives[0] + second(lives[1], *LIVES[words]), joined)
                print(f"{one.name}, {words}: {findings}")
                failed |= not set(findings) & set(one.rules)
        # What one packet shows by itself needs no QP.
        for place in (0, 1):
            both = [packets, second(packets, 100_000, False, SHORT_NS)]
            wrong = next(p for p in both[place] if p.data and p.has("reth"))
            wrong.udp["checksum"] = 0x1234
            wrong.mend()
            wrong.text = json.dumps(wrong.fields)
            findings, _, _ = check(mrc, both[0] + both[1], joined)
            wrong.udp["checksum"] = 0
            wrong.text = json.dumps(wrong.fields)
            print(f"edit in life {place + 1}, at once: {findings}")
            failed |= set(findings) != {"wire.udp-checksum"}
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
