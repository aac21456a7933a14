#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: ring.py MRC ALLREDUCE RANKS ROUNDS [MRC HOST OPTIONS...]

One NIC and one process for each rank, each with a socket to either neighbour. All must end with 0, and the judge finds
nothing wrong with what the NICs sent. Where the options name a fabric, each of its events has happened by then."""
import os
import re
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import run


def main():
    mrc, program, ranks, rounds, options = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5:]
    in_fabric = any(option.endswith(".toml") for option in options)
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        log = place / "log"
        with log.open("w") as errors:
            nics = [] if in_fabric else ["--nics", str(ranks)]
            host = run.start_host(mrc, [*nics, *options], place, errors)
        children = []
        try:
            environment = {**os.environ, "MRC_HOST": str(place / "mrc/host")}
            pairs = [socket.socketpair() for _ in range(ranks)]  # of rank i and the one to its right
            for rank in range(ranks):
                ends = [pairs[rank - 1][1].fileno(), pairs[rank][0].fileno()]
                call = [program, str(rank), str(ranks), rounds, *map(str, ends)]
                children.append(subprocess.Popen(call, env=environment, pass_fds=ends))
            for one, other in pairs:
                one.close()
                other.close()
            codes = [child.wait(run.SECONDS) for child in children]
        finally:
            for child in children:
                child.kill()
            out = run.stop_host(host)
            print(out + log.read_text(), end="")
        if any(codes):
            sys.exit(f"the ranks end with {codes}")
        run.judge(mrc, place)
        if in_fabric:
            happened = len(re.findall(r"^\d+\.\d+ us: link .* down$", log.read_text(), re.MULTILINE))
            if "not reached" in out or happened == 0:
                sys.exit(f"{happened} links went down, and others did not")


if __name__ == "__main__":
    main()
