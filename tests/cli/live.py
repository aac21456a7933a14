#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mrc check --live: what dumpcap captures is judged as the same file is; without rights, without dumpcap, and when it
ends early it says so. A script stands for dumpcap; the real one is asked for what is sent on lo, if it may capture.
usage: live.py MRC"""
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MRC = str(Path(sys.argv[1]).resolve())
FAILED = []


def check(what, got, want=True):
    if got != want:
        print(f"FAILED {what}: {str(got)[:600]}, expected {str(want)[:600]}")
        FAILED.append(what)


def mrc(*arguments, path=None):
    environment = os.environ | ({"PATH": path} if path else {})
    return subprocess.run([MRC, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=60,
                          env=environment)


def dumpcap(folder, script):
    """A folder for the PATH with a program of this name."""
    program = folder / "bin" / "dumpcap"
    program.parent.mkdir(exist_ok=True)
    program.write_text("#!/bin/sh\n" + script, encoding="utf-8")
    program.chmod(0o755)
    return f"{program.parent}:/usr/bin:/bin"


def told(result):
    """What does not depend on where packets come from."""
    result = json.loads(json.dumps(result))
    result.pop("captures")
    for finding in result["findings"]:
        finding.pop("file")
    return result


def ahead(capture, to):
    """A copy in which one SACK acknowledges 300 PSNs too many. Returns its number."""
    out = mrc("decode", capture, "--json").stdout
    packets = [json.loads(line) for line in out.splitlines()]
    sacks = [p for p in packets if "seth" in p and not p["seth"].get("pr") and "error" not in p]
    wrong = sacks[len(sacks) // 2]
    wrong["seth"]["cack_psn"] = (wrong["seth"]["cack_psn"] + 300) % (1 << 24)
    del wrong["icrc"]
    source = to.with_suffix(".json")
    source.write_text("\n".join(map(json.dumps, packets)), encoding="utf-8")
    check("encode", mrc("encode", source, "--pcapng", to).returncode, 0)
    return wrong["capture"]["number"]


def real(folder, capture):
    """What is sent on lo comes through dumpcap. Returns why that was not tried."""
    if shutil.which("dumpcap") is None:
        return "dumpcap is not installed"
    try:
        sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        sender.bind(("lo", 0))
    except OSError as error:
        return f"nothing may be sent: {error}"
    data, at, frames = capture.read_bytes(), 0, []
    while at < len(data):
        kind, size = struct.unpack_from("<2I", data, at)
        if kind == 6:
            frames.append(data[at + 28:at + 28 + struct.unpack_from("<I", data, at + 20)[0]])
        at += size
    with subprocess.Popen([MRC, "check", "--live", "lo", "--learn", "1", "--json", folder / "real.json"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as live:
        for line in live.stderr:
            if "may capture" in line or "permission" in line:
                live.wait()
                return line
            if " s, " in line:
                break
        for frame in frames[:500]:
            sender.send(frame)
            time.sleep(0.0002)
        for line in live.stderr:
            if " s, 0 packets," not in line:
                break
        time.sleep(1.5)
        live.send_signal(signal.SIGINT)
        live.communicate(timeout=20)
    result = json.loads((folder / "real.json").read_text(encoding="utf-8"))
    check("lo: packets", result["captures"]["judged"] + result["captures"]["duplicates"] >= 400)
    check("lo: QPs", len(result["qps"]) > 0)
    return ""


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    capture, broken = folder / "run.pcapng", folder / "broken.pcapng"
    subprocess.run([MRC, "cosim", "--preset", "tiny", "--dut", "model", "--scenario", "loss", "--packets", "600",
                    "--pcap", capture], check=True, capture_output=True)
    number = ahead(capture, broken)

    # The same verdict, rules, QPs, readings as of the file.
    for file, code in ((capture, 0), (broken, 1)):
        path = dumpcap(folder, f'echo "$@" > {folder}/words\nexec cat {file}\n')
        live = mrc("check", "--live", "eth0", "--live", "eth1", "--json", "-", path=path)
        check(f"{file.name}: exit code {live.stderr}", live.returncode, code)
        check(f"{file.name}: the same", told(json.loads(live.stdout)) ==
              told(json.loads(mrc("check", file, "--json", "-").stdout)))
    check("words", (folder / "words").read_text(encoding="utf-8"), "-q -w - -i eth0 -i eth1\n")

    # The packets around the first finding, with a comment.
    live = mrc("check", "--live", "eth0", "--ring", folder / "kept", path=path)
    kept = folder / "kept" / "finding.pcapng"
    check("ring: said", f"{kept} has packets 1 to " in live.stdout)
    again = [json.loads(line) for line in mrc("decode", kept, "--json").stdout.splitlines()]
    comments = [p["capture"]["number"] for p in again if any("fail " in c for c in p["capture"].get("comments", []))]
    check("ring: comment", number in comments)
    live = mrc("check", "--live", "eth0", "--ring", folder / "small", "--ring-mb", "1", path=path)
    check("ring: bound", kept.stat().st_size <= 1 << 20 or
          (folder / "small" / "finding.pcapng").stat().st_size <= 1 << 20)
    path = dumpcap(folder, f"exec cat {capture}\n")
    live = mrc("check", "--live", "eth0", "--ring", folder / "none", path=path)
    check("ring: nothing", "nothing was found" in live.stdout and not any((folder / "none").glob("*.pcapng")))

    # Without learning no QP is known.
    live = mrc("check", "--live", "eth0", "--learn", "0", "--json", "-", path=path)
    check("learn nothing", all("from_qp" not in way for way in json.loads(live.stdout)["qps"]))

    # Ctrl-C ends dumpcap and brings the verdict; a line each second meanwhile.
    path = dumpcap(folder, f"trap 'exit 0' INT\ncat {broken}\nwhile :; do sleep 0.1; done\n")
    with subprocess.Popen([MRC, "check", "--live", "eth0", "--learn", "1"], env=os.environ | {"PATH": path}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        lines = [process.stderr.readline() for _ in range(4)]
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=20)
    check("Ctrl-C: a line each second", [line.split(" s, ")[0] for line in lines],
          [f"mrc check: {second}" for second in range(1, 5)])
    check("Ctrl-C: verdict", (process.returncode, "\nfail\n" in out), (1, True))

    # dumpcap ends by itself: of what had come the verdict is no better than inconclusive.
    path = dumpcap(folder, f"cat {capture}\necho 'dumpcap: eth0 is gone.' >&2\nexit 2\n")
    live = mrc("check", "--live", "eth0", path=path)
    check("it ends", (live.returncode, "dumpcap ended: eth0 is gone: what follows" in live.stdout), (5, True))

    # It captures nothing: its words, and the remedy.
    path = dumpcap(folder, "echo \"Capturing on 'eth0'\" >&2\n"
                           "echo \"dumpcap: You don't have permission to capture on that device.\" >&2\nexit 1\n")
    live = mrc("check", "--live", "eth0", path=path)
    check("no rights", (live.returncode, "dumpcap cannot capture on eth0: You don't have permission to capture on that "
                        "device." in live.stderr, "run mrc as root, or join the group" in live.stderr),
          (3, True, True))
    live = mrc("check", "--live", "eth0", path=str(folder / "empty"))
    check("no dumpcap", (live.returncode, "--live needs dumpcap" in live.stderr, "wireshark-common" in live.stderr),
          (3, True, True))

    skipped = real(folder, capture)
    print(f"real dumpcap: {'not tried: ' + skipped if skipped else 'captured what was sent on lo'}")
sys.exit(1 if FAILED else 0)
