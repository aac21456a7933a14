#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: addresses.py MRC WRITES ADDRESSES [FABRIC] [MRC HOST OPTIONS...]

An EV profile of SRv6 addresses: packets have exactly these, each on its port. Without a FABRIC they are made up here;
in one they are those that packets of the program WRITES have, to which the network itself gives a path."""
import ipaddress
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import run


def seen(mrc, options, program, words):
    """(port, outer address) of each packet that has data."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        host = run.start_host(mrc, options, place)
        try:
            run.run_two(program, words, {**os.environ, "MRC_HOST": str(place / "mrc/host")}, host)
        finally:
            run.stop_host(host)
        run.judge(mrc, place)
        lines = subprocess.run([mrc, "decode", "--json", str(place / "run.pcapng")], capture_output=True, text=True,
                               check=True).stdout
    packets = [packet for packet in map(json.loads, lines.splitlines()) if "reth" in packet]
    return {(p["capture"]["interface"] % 8 + 1, int(ipaddress.ip_address(p["outer_ipv6"]["dst"]))) for p in packets}


def main():
    mrc, writes, program, options = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
    if options[0].endswith(".toml"):
        paths = seen(mrc, options, writes, [])
    else:
        paths = {(plane + 1, 0x20010DB8 << 96 | (plane << 12 | 0x101) << 80 | (plane << 12 | 0x202) << 64)
                 for plane in range(2)}
    got = seen(mrc, options, program, [f"{port}:{address:032x}" for port, address in sorted(paths)])
    assert got == paths, (got, paths)
    print(f"{len(paths)} addresses, each on its port")


if __name__ == "__main__":
    main()
