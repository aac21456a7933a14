# SPDX-License-Identifier: Apache-2.0
"""usage: rude.py MODE

A device that answers well, up to its fourth call; then it does what MODE says."""
import json
import os
import sys
import time


def say(value):
    os.write(1, (json.dumps(value) + "\n").encode())


def good(call):
    if call["call"] == "open":
        return {"ok": True, "name": "rude", "planes": 2, "latency": 1_000_000, "port_gbps": 100, "qp_first": 16,
                "caps": ["responder", "psn", "regions", "pkey", "bytes"]}
    return {"ok": True, "reached": call.get("until", 0), "out": []} if call["call"] == "advance" else {"ok": True}


def advanced(call, out):
    return {**good(call), "out": out}


def tx(call, **more):
    return {"out": "tx", "plane": 0, "t": call.get("until", 0), "frame": "00", **more}


def rude(mode, call):
    if mode == "crash":
        os.abort()
    elif mode == "exit":
        os._exit(7)
    elif mode == "half":
        os.write(1, b'{"ok":true,"rea')
        os._exit(0)
    elif mode == "hang":
        time.sleep(60)
    elif mode == "deaf":
        say(good(call))
        time.sleep(60)
    elif mode == "garbage":
        os.write(1, b"\xff\x00 Segmentation fault?\n")
    elif mode == "words":
        say("fine")
    elif mode == "silent ok":
        say({"reached": 5})
    elif mode == "deep":
        os.write(1, b"[" * 200_000 + b"\n")
    elif mode == "long":
        try:
            while True:  # without end: the tester must stop
                os.write(1, b"x" * (1 << 20))
        except OSError:
            os._exit(0)
    elif mode == "trickle":
        for _ in range(600):
            os.write(1, b" ")
            time.sleep(0.1)
    elif mode == "twice":
        os.write(1, 2 * (json.dumps(good(call)) + "\n").encode())  # both at once
    elif mode == "slow":
        time.sleep(0.2)
        say(good(call))
    elif mode == "still":
        say({"ok": True, "reached": 0, "out": [{"out": "event", "t": 0}]})
    elif mode == "back":
        say({"ok": True, "reached": -5})
    elif mode == "ahead":
        say({"ok": True, "reached": 1 << 50})
    elif mode == "no":
        say({"ok": False, "error": "no\x1b[31m idea " * 200})
    else:
        say(advanced(call, {"plane": [tx(call, plane=7)], "hex": [tx(call, frame="0g")], "list": {"out": 5}, "kind": [5],
                            "wide": [{"out": "write", "t": 0, "addr": 0, "data": "00" * (1 << 18)}],
                            "number": [tx(call, t="1e9")], "read": [{"out": "read", "tag": 1, "addr": 0, "bytes": 1 << 40}],
                            "many": [{"out": "event"}] * 60_000, "short": [tx(call)]}[mode]))


def main():
    for number, line in enumerate(sys.stdin, 1):
        call = json.loads(line)
        if number < 4 or (call["call"] != "advance" and sys.argv[1] not in ("hang", "crash", "exit")):
            say(good(call))
        else:
            rude(sys.argv[1], call)


main()
