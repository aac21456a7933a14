#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: cocotb.py JUDGE

The cocotb module without a simulator: a stub stands for cocotb, and the beats of the self-test's logs drive the
monitors. What is right passes, one wrong bit is found, and so are beats that a NIC must not send."""
import ctypes
import os
import sys
import types
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
os.environ["MRC_REF_LIBRARY"] = str(Path(sys.argv[1]).resolve())
TIME = {"now": 0}


class Log:
    said = []

    def error(self, words, *more):
        self.said.append(words % more)

    warning = error


class Task:
    """What start_soon() returns: runs to the next edge each time."""
    def __init__(self, coroutine):
        self.coroutine = coroutine
        self.coroutine.send(None)

    def edge(self):
        self.coroutine.send(None)

    def cancel(self):
        self.coroutine.close()


class RisingEdge:
    def __init__(self, signal):
        self.signal = signal

    def __await__(self):
        yield self


def stub():
    """cocotb, as far as the module uses it."""
    cocotb, triggers, utils = (types.ModuleType(name) for name in ("cocotb", "cocotb.triggers", "cocotb.utils"))
    cocotb.start_soon, cocotb.log, triggers.RisingEdge = Task, Log(), RisingEdge
    utils.get_sim_time = lambda unit: TIME["now"]
    cocotb.__path__ = []
    sys.modules.update({"cocotb": cocotb, "cocotb.triggers": triggers, "cocotb.utils": utils})


stub()
sys.path.insert(0, str(ROOT / "bindings/cocotb"))
import mrc_ref_cocotb  # noqa: E402


class Handle:
    """A signal of so many bits; None: unknown."""
    def __init__(self, bits):
        self.bits, self.now = bits, 0

    def __len__(self):
        return self.bits

    @property
    def value(self):
        return Value(self.bits, self.now)


class Value:
    def __init__(self, bits, now):
        self.text = now if isinstance(now, str) else format(now, f"0{bits}b")

    def __str__(self):
        return self.text

    def __int__(self):
        return int(self.text, 2)


def port():
    signals = types.SimpleNamespace()
    for name, bits in (("tvalid", 1), ("tready", 1), ("tdata", 512), ("tkeep", 64), ("tlast", 1), ("tuser", 1)):
        setattr(signals, f"x_{name}", Handle(bits))
    return signals


def replay(log, change=None):
    """The judge of a log of the self-test, told by the monitors; its verdict."""
    import json
    lines = [line.split() for line in (ROOT / "bindings/selftest" / log).read_text(encoding="utf-8").splitlines()]
    watch, ports, tasks, beats = None, {}, {}, 0
    for words in lines:
        kind, rest = words[0], " ".join(words[1:])
        if kind == "profile":
            profile = json.loads(rest)
            profile.pop("shows", None)  # ports alone are watched: nobody tells its events
            watch = mrc_ref_cocotb.Watch(profile)
            for plane in range(profile["planes"]):
                there = ports[plane] = (port(), port())
                watch.port(plane, None, rx=(there[0], "x_"), tx=(there[1], "x_"))
                tasks[plane] = watch.tasks[-2:]
        elif kind in ("qp", "mr"):
            TIME["now"] = int(words[1])
            getattr(watch, kind)(json.loads(" ".join(words[2:])))
        elif kind == "beat":
            direction, plane, keep, last, bad, t, data = (*map(int, words[1:3]), int(words[3], 16), *map(int, words[4:7]),
                                                          int(words[7], 16))
            TIME["now"] = t
            pins = ports[plane][direction]
            pins.x_tvalid.now = pins.x_tready.now = 1
            pins.x_tkeep.now, pins.x_tlast.now, pins.x_tuser.now = keep, last, bad
            # What is not kept nobody drives.
            text = format(data, "0512b")
            pins.x_tdata.now = "".join(text[8 * (63 - i):8 * (64 - i)] if keep >> i & 1 else "xxxxxxxx" for i in range(63, -1, -1))
            beats += 1
            if change is not None and beats == change[0]:
                change[1](pins)
            tasks[plane][direction].edge()
            pins.x_tvalid.now = 0
            tasks[plane][direction].edge()
        elif kind == "port":
            watch.judge.port(int(words[1]), bool(int(words[2])), int(words[3]))
    assert beats > 100, beats
    verdict = watch.finish(cut=True)
    return watch.packets, verdict


def says(sentence, log, change=None):
    try:
        replay(log, change)
    except AssertionError as error:
        assert sentence in str(error), error
        return
    raise AssertionError(f"{log}: nobody says '{sentence}'")


def beats_under_way():
    """mrc_ref_beat: time may pass for all while a frame of the device is coming."""
    judge = mrc_ref_cocotb.mrc_ref.Judge({"planes": 1})
    words = (ctypes.c_uint32 * 16)(*range(16))
    say = judge._lib.mrc_ref_beat
    say.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64, *[ctypes.c_int] * 3,
                    ctypes.c_uint64]
    assert say(judge._handle, 1, 0, words, 2**64 - 1, 0, 0, 0, 1000) == 0
    judge.until(5000)
    assert say(judge._handle, 1, 0, words, 2**64 - 1, 1, 0, 0, 6000) == 0
    judge.until(7000)
    assert say(judge._handle, 1, 0, words, 2**64 - 1, 1, 0, 0, 6500) < 0
    judge.close()


def main():
    packets, verdict = replay("right.txt")
    assert verdict in ("pass", "deviates") and packets > 20, (verdict, packets, Log.said)
    beats_under_way()
    says("wire.icrc", "wrong.txt")
    assert any(words.startswith("wire.icrc at") for words in Log.said), Log.said
    says("is unknown", "right.txt", (9, lambda pins: setattr(pins.x_tdata, "now", "x" * 512)))
    says("has holes", "right.txt", (9, lambda pins: setattr(pins.x_tkeep, "now", 5)))
    print(f"cocotb: {packets} packets")


main()
