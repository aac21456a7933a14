#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: make.py MRC [--check]

Writes right.txt and wrong.txt beside itself out of a run of `mrc cosim`; --check: are they what it would write? wrong.txt
is right.txt with one bit of one sent frame changed, so that its ICRC is wrong: the judge must fail it."""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
RUN = ["--preset", "tiny", "--scenario", "trim", "--packets", "12", "--seed", "4"]
OPS = ("read", "read_done", "write", "visible")
EVENTS = ("take", "answer", "heard", "lost", "path", "cc", "timer", "window", "qp")
STATUS = ("ok", "local_length", "wimm_overrun", "remote_invalid", "remote_access", "remote_operation", "retries", "flushed",
          "fatal", "other")


def number(data):
    """Bytes as the hex digits of a 512-bit word, byte 0 lowest."""
    return f"{int.from_bytes(data, 'little'):x}"


def lines(records):
    """(number of the frame or 0, line)"""
    frames = 0
    for r in records:
        kind, t = r["kind"], r["time"]
        fields = {k: v for k, v in r.items() if k not in ("kind", "device", "time", "name")}
        if kind == "device":
            yield 0, "profile " + r["profile"]
        elif kind in ("qp", "mr"):
            yield 0, f"{kind} {t} {json.dumps(fields)}"
        elif kind == "frame":
            frames += 1
            data = bytes.fromhex(r["frame"])
            for at in range(0, len(data), 64):
                part, last = data[at:at + 64], at + 64 >= len(data)
                yield frames, (f"beat {int(r['sent'])} {r['plane']} {(1 << len(part)) - 1:x} {int(last)} "
                               f"{int(r.get('fcs_bad', False))} {r['last'] if last else t} {number(part)}")
            if len(data) <= 64:
                raise SystemExit("a frame of one beat: its first byte's time is lost")
        elif kind == "port":
            yield 0, f"port {r['plane']} {int(r['up'])} {t}"
        elif kind == "post":
            yield 0, (f"post {r['qp']} {r['wr_id']} {r['addr']:x} {r['remote']:x} {r['bytes']} {r['rkey']:x} "
                      f"{int('imm' in r)} {r.get('imm', 0):x} {t}")
        elif kind == "cqe":
            yield 0, (f"cqe {r['qp']} {int(r['receive'])} {STATUS.index(r['status'])} {r['wr_id']} {r['imm']:x} {r['msn']} "
                      f"{r['rqmsn']} {r['bytes']} {t}")
        elif kind == "host" and r["op"] == "write":
            data = bytes.fromhex(r["data"])
            for at in range(0, len(data), 64):
                part = data[at:at + 64]
                yield 0, f"host {OPS.index(r['op'])} {r['addr'] + at:x} {len(part)} {r['tag']} 0 {t} {number(part)}"
        elif kind == "counter" and r["name"] == "silent_drops":
            yield 0, f"counter {r['name']} {r['value']} {t}"
        elif kind == "event":
            yield 0, f"event {EVENTS.index(r['event'])} {r['qp']} {' '.join(f'{a:x}' for a in r['arg'])} {t}"
        elif kind in ("until", "end"):
            yield 0, f"until {t}"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("mrc")
    parser.add_argument("--check", action="store_true")
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        log = Path(name) / "run.mrclog"
        subprocess.run([o.mrc, "cosim", *RUN, "--dut", "model", "--record", log], check=True, stdout=subprocess.DEVNULL)
        text = subprocess.run([o.mrc, "log", "print", log, "--json"], check=True, capture_output=True, text=True).stdout
    told = list(lines(r for r in map(json.loads, text.splitlines()) if r["device"] == 0))
    frames = max(number for number, _ in told)
    # The newest frame that it sent: nobody has answered it.
    wrong = max(i for i, (_, line) in enumerate(told) if line.startswith("beat 1 ") and line.split()[4] == "1")
    changed = [line for _, line in told]
    words = changed[wrong].split()
    changed[wrong] = " ".join([*words[:-1], f"{int(words[-1], 16) ^ 1:x}"])
    stale = False
    for file, body, verdict in (("right.txt", [line for _, line in told], 0), ("wrong.txt", changed, 3)):
        new = "\n".join([*body, f"end 0 {verdict} {frames}"]) + "\n"
        if o.check:
            stale |= (HERE / file).read_text(encoding="utf-8") != new
        else:
            (HERE / file).write_text(new, encoding="utf-8")
    if stale:
        print(f"right.txt or wrong.txt is not what `mrc cosim {' '.join(RUN)}` gives: run bindings/selftest/make.py.")
    return stale


if __name__ == "__main__":
    sys.exit(main())
