#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: first_table.py MRC

What mrc check makes of what captures are like: tagged, cooked, packed, cut, mirrored, of one error 333 times. A table
for docs/reference/judge.md, each row with the command behind it. Edits and false alarms have scripts of their own
(tests/cli/captures.py, tools/false_alarms.py).
Exit 1: a row is not as the table of the page says."""
import collections
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import any_capture

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools/captures"))
import edit  # noqa: E402

FAILED = []


def row(what, command, seen, right):
    print(f"| {what} | `{command}` | {seen} |", flush=True)
    if not right:
        FAILED.append(what)


def said(result):
    """Verdict and counts of a capture."""
    captures = result["captures"]
    out = collections.Counter({reason: n for reason, n in captures["left_out"].items() if n})
    text = f"{result['verdict']}, {captures['judged']} of {captures['packets']} checked"
    for name, count in [("duplicates", captures["duplicates"]), *out.items()]:
        text += f", {count} {name}" if count else ""
    return text


def kinds(folder, plain):
    want = any_capture.judge(plain)
    for name, capture in any_capture.forms(folder, plain):
        got = any_capture.judge(capture)
        row(name, f"mrc check {name}", said(got), any_capture.tallies(got) == any_capture.tallies(want))
    micro = folder / "micro.pcap"
    micro.write_bytes(any_capture.pcap(any_capture.packets_of(plain), nano=False))
    got = any_capture.judge(micro)
    row("classic pcap, microseconds", "mrc check micro.pcap", said(got), got["verdict"] == "pass")


def cut(folder, plain):
    for snap in (100, 140, 256):
        capture = folder / f"snap{snap}.pcap"
        subprocess.run(["editcap", "-F", "nsecpcap", "-s", str(snap), plain, capture], check=True)
        result = any_capture.judge(capture, code=(0, 1, 5))
        row(f"snap length {snap}", f"editcap -s {snap} run.pcap cut.pcap; mrc check cut.pcap", said(result),
            result["verdict"] == ("pass" if snap == 256 else "inconclusive"))


def sender_of(frame):
    """Source of the innermost IPv6 header."""
    inner = {41: 54, 43: 62 + 8 * frame[55]}.get(frame[20], 14)
    return frame[inner + 8:inner + 24]


def twice(folder, plain):
    once = any_capture.judge(plain)
    packets = list(any_capture.packets_of(plain))
    mirror, same = folder / "mirror.pcap", folder / "same.pcap"
    mirror.write_bytes(any_capture.pcap(sorted((t + late, f[:21] + bytes([f[21] - hop]) + f[22:])
                                               for t, f in packets for late, hop in ((0, 0), (700, 1)))))
    for what, captures in (("each frame twice, before and behind a router", (mirror,)),
                           ("the same file twice", (plain, plain))):
        result = any_capture.judge(*captures)
        row(what, "mrc check " + " ".join(c.name for c in captures), said(result),
            result["packets"] == once["packets"] == result["captures"]["duplicates"])
    # Of both directions: a mirror port. Of one sender alone it may be the NIC's doing: it is said, and judged no further.
    same.write_bytes(any_capture.pcap(sorted((t + late, f) for t, f in packets for late in (0, 700))))
    result = any_capture.judge(same)
    row("each frame twice at one place, nothing changed", "mrc check same.pcap", said(result),
        result["captures"]["twice"] == 1 and result["packets"] == once["packets"] == result["captures"]["duplicates"])
    one = next(sender_of(f) for _, f in packets)
    same.write_bytes(any_capture.pcap(sorted((t + late, f) for t, f in packets
                                             for late in ((0, 700) if sender_of(f) == one else (0,)))))
    result = any_capture.judge(same)
    untold = result["captures"]["untold"]
    row("each frame of one sender twice at one place", "mrc check same.pcap", said(result) + f"; not told: {untold}",
        result["captures"]["twice"] == 0 and bool(untold))
    row(f"{len(packets)} frames", "mrc check run.pcap", f"{once['packets']} packets of {len(once['devices'])} devices",
        once["packets"] == len(packets))


def alike(mrc, folder, capture):
    packets = edit.read(mrc, capture)
    broken = 0
    for packet in packets:
        if packet.data and broken < 333:
            packet.udp["checksum"] = 1
            packet.mend()
            packet.text = json.dumps(packet.fields)
            broken += 1
    edit.write(mrc, packets, folder / "broken.pcapng")
    page = folder / "page.html"
    result = any_capture.judge(folder / "broken.pcapng", "--html", page)
    entries = page.read_text(encoding="utf-8").count("<h3")
    row(f"the page of {broken} findings that are alike", "mrc check broken.pcapng --html page.html",
        f"{entries} entries, {sum(f['count'] for f in result['findings'])} findings counted",
        broken == 333 and entries <= len(result["devices"]))


def main():
    mrc = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run, plain = folder / "run.pcapng", folder / "run.pcap"
        subprocess.run([mrc, "cosim", "--preset", "tiny", "--dut", "model", "--scenario", "loss", "--seed", "1",
                        "--packets", "1000", "--pcap", run], check=True, capture_output=True)
        subprocess.run(["editcap", "-F", "nsecpcap", run, plain], check=True)
        print("| capture | command | seen |\n|---|---|---|")
        kinds(folder, plain)
        cut(folder, plain)
        twice(folder, plain)
        alike(mrc, folder, run)
    for what in FAILED + any_capture.FAILED:
        print(f"WRONG {what}")
    return bool(FAILED or any_capture.FAILED)


if __name__ == "__main__":
    sys.exit(main())
