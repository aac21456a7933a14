#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: example.py MRC INCLUDE LIBRARY [MRC HOST OPTIONS...]

OCP's own benchmark, unchanged and by its own makefile, over two NICs of a host: every size from 1 B to 64 KiB, and the
receiver's look at the bytes. Where MRC_H_PATH names no repository of OCP with it: exit code 77, and why."""
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import run

SIZES = [str(1 << n) for n in range(17)]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def main():
    mrc, include, library, options = sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4:]
    theirs = Path(os.environ.get("MRC_H_PATH", "/nowhere")) / "examples/benchmark"
    if not (theirs / "mrc_example.c").is_file():
        print("skipped: MRC_H_PATH names no repository of OCP with examples/benchmark/mrc_example.c")
        return run.SKIPPED
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        shutil.copytree(theirs, place / "benchmark")
        subprocess.run(["make", "-s", "-C", place / "benchmark", f"MRC_H_PATH={include}", f"MRC_LIB_DIR={library.parent}"],
                       check=True)
        host = run.start_host(mrc, options, place)
        environment = {**os.environ, "MRC_HOST": str(place / "mrc/host"), "MRC_LOG_LEVEL": "DEBUG"}
        call = ["stdbuf", "-oL", place / "benchmark/mrc_example", "-g", "0", "-n", "20", "-w", "2", "-s", SIZES[-1], "-p", free_port()]
        try:
            with subprocess.Popen([*call, "-d", "mrc1"], env=environment, stdout=subprocess.PIPE, text=True) as server:
                seen = ""
                while "TCP listening" not in seen:
                    line = server.stdout.readline()
                    if not line:
                        sys.exit(f"the server ends:\n{seen}")
                    seen += line
                client = subprocess.run([*call, "127.0.0.1", "-d", "mrc0"], env=environment, timeout=run.SECONDS,
                                        capture_output=True, text=True, check=False)
                if client.returncode != 0:
                    server.kill()
                    sys.exit(f"the client ends with {client.returncode}:\n{client.stdout}{client.stderr}")
                seen += server.stdout.read()
        finally:
            print(run.stop_host(host), end="")
        shown = [line.split()[0] for line in client.stdout.splitlines() if line.strip()[:1].isdigit()]
        right = seen.count("Data validation passed")
        if server.returncode != 0 or shown != SIZES or right != len(SIZES):
            sys.exit(f"sizes {shown}, {right} of {len(SIZES)} right, server {server.returncode}:\n{seen}")
        print(f"{len(SIZES)} sizes, all bytes right")
    return 0


if __name__ == "__main__":
    sys.exit(main())
