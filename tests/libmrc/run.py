#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: run.py MRC "PROGRAM [WORD...]" [NAME=VALUE...] [MRC HOST OPTIONS...]

Starts `mrc host` and PROGRAM twice, as "PROGRAM send mrc0 SOCKET WORD..." and "PROGRAM receive mrc1 SOCKET WORD...",
each a process of its own, with NAME=VALUE in its environment. Both must end with 0, and the host too, when it is told
to; no process of them is left.
The judge finds nothing wrong with what the NICs sent each other, nor with what they did for their programs.

The word peer_dies: the receiver is killed instead, while it is written to. The sender has to see it, and the host to
serve the same program again, this time without. host_dies: the host is killed, and both have to see that."""
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SECONDS = 60
SKIPPED = 77
DIE = (["peer_dies"], ["host_dies"])


def start_host(mrc, options, place, log=None):
    """Its capture and its log are files of `place`, for judge()."""
    files = ["--pcap", str(place / "run.pcapng"), "--record", str(place / "run.mrclog")]
    host = subprocess.Popen([mrc, "host", "--socket", str(place / "mrc/host"), *files, *options],
                            stdout=subprocess.PIPE, stderr=log, text=True)
    if "programs attach at" not in host.stdout.readline():
        host.wait(SECONDS)
        sys.exit("the host does not come up")
    return host


def stop_host(host):
    host.send_signal(signal.SIGTERM)
    out, _ = host.communicate(timeout=SECONDS)
    if host.returncode != 0:
        sys.exit(f"the host ends with {host.returncode}")
    return out


def judge(mrc, place):
    for name in ("run.pcapng", "run.mrclog"):
        judged = subprocess.run([mrc, "check", str(place / name)], capture_output=True, text=True, check=False)
        print(f"{name}: {judged.stdout.splitlines()[-1] if judged.stdout else judged.stderr}")
        if judged.returncode != 0:
            sys.exit(f"mrc check {name} ends with {judged.returncode}:\n{judged.stdout}{judged.stderr}")


def run_two(program, words, environment, host=None):
    ends = socket.socketpair()
    children = [subprocess.Popen([program, role, device, str(end.fileno()), *words], env=environment,
                                 pass_fds=[end.fileno()], stdout=subprocess.PIPE if words[-1:] in DIE else None)
                for role, device, end in zip(("send", "receive"), ("mrc0", "mrc1"), ends)]
    for end in ends:
        end.close()
    expected = [0, 0]
    try:
        if words in DIE:
            for child in children:
                child.stdout.readline()  # it is ready
            time.sleep(0.2)
        if words == ["peer_dies"]:
            children[1].kill()
            expected[1] = -signal.SIGKILL
        if words == ["host_dies"]:
            host.kill()
            host.wait(SECONDS)
        codes = [child.wait(SECONDS) for child in children]
    finally:
        for child in children:
            child.kill()
    if codes != expected:
        raise SystemExit(f"the programs end with {codes}, not {expected}")


def main():
    mrc, (program, *words), options = sys.argv[1], sys.argv[2].split(), sys.argv[3:]
    settings = [option.partition("=")[::2] for option in options if "=" in option]
    options = [option for option in options if "=" not in option]
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        host = start_host(mrc, options, place)
        try:
            environment = {**os.environ, "MRC_HOST": str(place / "mrc/host"), **dict(settings)}
            run_two(program, words, environment, host)
            if words == ["host_dies"]:
                return
            if words == ["peer_dies"]:
                run_two(program, ["l_key"], environment)
        finally:
            if host.poll() is None:
                print(stop_host(host), end="")
        judge(mrc, place)


if __name__ == "__main__":
    main()
