#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Where a NIC as a process begins (docs/reference/device.md): answers every call, sends nothing; vectors fail on it.

    python3 run.py --device "python3 example_device.py" R-SACK-001 --trace lines.txt"""
import json
import sys


class Nic:
    """Put your NIC behind these methods, one per call. Each returns what its answer has besides "ok"."""

    def open(self, call):
        return {"name": "example", "version": "0", "planes": call.get("planes", 1), "port_gbps": 100,
                "caps": ["responder", "psn", "regions", "pkey", "bytes"],  # only what it has
                "latency": 2_000_000, "qp_first": 16, "qps": 8}

    def rx(self, call):
        """call["frame"] reached port call["plane"]; its last byte at call["t"]."""

    def advance(self, call):
        """Time passes up to call["until"], or to the first output: frames, reads, writes, completions."""
        return {"reached": call["until"], "out": []}

    def query(self, _):
        return {"state": "rts", "t": 0}

    def counters(self, _):
        return {"counters": {"silent_drops": 0}, "t": 0}

    def other(self, _):
        """address, qp, mr, post, recv, port, host_done: taken without a word."""


def main():
    nic = Nic()
    for line in sys.stdin:
        call = json.loads(line)
        answer = getattr(nic, call["call"], nic.other)(call)
        print(json.dumps({"ok": True, **(answer or {})}), flush=True)
        if call["call"] == "close":
            break


main()
