#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: contract.py MRC [EVENTS [SEED]]

The contract docs/design/blocks/cc/cc_nscc.md once more, state by state, in Python's unbounded integers, against `mrc
nscc`: every bit of cwnd, max_wnd and avg, and mode, base_rtt and inflight, after each of EVENTS random events per
configuration."""
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

TICK = 128
M28 = (1 << 28) - 1
NAMES = ["off", "start", "hold", "limited", "fair", "proportional", "fast", "decrease", "ignore", "quick_adapt", "loss"]


def sat28(v):
    return min(v, M28)


def sat29(v):
    return max(-(1 << 28), min(M28, v))


def rs(v, n):
    return (v + (1 << (n - 1))) >> n


def div(n, d, q):
    return min(n // d, (1 << q) - 1)


FIELDS = {  # name: (low bit, width) of CC_PROFILE
    "enable": (0, 1), "disable_qa": (1, 1), "md_resets_fast": (2, 1), "nack_any_reason": (3, 1), "nack_sample_cfg": (4, 1),
    "nack_rtt": (5, 1), "qa_gate": (8, 5), "ar_shift": (13, 3), "mtu": (16, 14), "base_rtt": (32, 16), "adjust_period": (48, 16),
    "near_zero": (64, 16), "qa_threshold": (80, 16), "wnd_rate": (96, 32), "max_cwnd": (128, 28), "target": (160, 24),
    "adjust_bytes": (192, 28), "fi_scale": (224, 32), "alpha": (256, 36), "ewma_weight": (292, 28), "fi": (320, 36),
    "eta": (384, 36), "gamma": (448, 25), "max_md_jump": (480, 25)}


class Words:
    def __init__(self, row):
        bits = sum(int(word, 16) << (32 * i) for i, word in enumerate(row))
        for name, (low, width) in FIELDS.items():
            setattr(self, name, bits >> low & ((1 << width) - 1))


class Controller:
    def __init__(self, w, now):
        self.w = w
        self.cwnd = self.max_wnd = self.mw(w.base_rtt)
        self.saved_cwnd = self.saved = self.inc = self.avg = self.received = self.achieved = 0
        self.ignored = self.to_ignore = self.fi_count = self.increasing = self.trigger = self.qa_armed = 0
        self.base_rtt = w.base_rtt
        self.last_adjust = self.last_dec = now
        self.qa_start = self.qa_len = 0
        self.mode = 1 if w.enable else 0
        self.infl = 0

    def mw(self, b):
        return min(max(b * self.w.wnd_rate, self.w.mtu << 16), self.w.max_cwnd << 16)

    def cut(self, c, b):
        return max(c - (b << 16) if c > b << 16 else 0, self.w.mtu << 16)

    def elapsed(self, t):
        return (self.now - t) % (1 << 32)

    def event(self, e, now):
        self.e, self.now, self.limited = e, now, 0
        if e["kind"] == "send":
            self.infl = sat29(self.infl + e["bytes"])
            return
        state = self.count
        while state:
            state = state()

    def count(self):
        e, w = self.e, self.w
        self.infl = sat29(self.infl - e["bytes"])
        self.fly = max(self.infl, 0)
        if not w.enable:
            return None
        if e["kind"] == "ack":
            self.ignored, self.received, self.achieved = (sat28(v + e["bytes"]) for v in
                                                          (self.ignored, self.received, self.achieved))
            if e["pen"]:
                return self.pen
            if e["restore"] and self.saved:
                self.cwnd, self.saved, self.mode = self.saved_cwnd, 0, 2
            return self.rtt if e["rtt"] is not None else None
        if e["kind"] == "nack":
            return self.rtt
        self.cwnd = self.cut(self.cwnd, e["bytes"])
        self.ignored = sat28(self.ignored + e["bytes"])
        self.mode = 10
        return None

    def pen(self):
        p = self.e["pen"] * self.e["bytes"] >> 7
        self.limited, self.mode = 1, 3
        if not self.saved:
            self.saved_cwnd, self.saved = self.cwnd, 1
        self.cwnd = self.cut(min(self.cwnd, self.fly << 16), p)
        return self.rtt if self.e["rtt"] is not None else None

    def rtt(self):
        e, w = self.e, self.w
        ack = e["kind"] == "ack"
        if e["rtt"] is not None and (ack or w.nack_rtt) and max(e["rtt"], 1) < self.base_rtt:
            self.base_rtt = max(e["rtt"], 1)
            self.max_wnd = self.mw(self.base_rtt)
        if ack:
            self.x = self.delay = max(e["rtt"], 1) - self.base_rtt
        else:
            self.x, self.delay = (w.base_rtt if w.nack_sample_cfg else self.base_rtt), 0
        return self.average if ack or e["reason"] in (1, 2) or w.nack_any_reason else None

    def average(self):
        m = abs((self.x << 24) - self.avg) * self.w.ewma_weight
        if self.x << 24 >= self.avg:
            self.avg += (m + (1 << 27)) >> 28
        else:
            self.avg -= (m + (1 << 27) - 1) >> 28
        if self.e["kind"] == "nack":
            self.ignored, self.trigger = sat28(self.ignored + self.e["bytes"]), 1
        return self.quick_adapt

    def quick_adapt(self):
        e, w = self.e, self.w
        nack = e["kind"] == "nack"
        done = False
        if w.disable_qa:
            pass
        elif self.ignored < self.to_ignore and (e["ecn"] or nack):
            done, self.mode = True, 8
        elif not self.qa_armed or self.elapsed(self.qa_start) >= self.qa_len:
            if (self.qa_armed and (self.trigger or nack or self.delay > w.qa_threshold)
                    and self.achieved << 16 < self.max_wnd >> w.qa_gate):
                self.cwnd = max(self.achieved, w.mtu) << 16
                self.to_ignore, self.ignored, self.trigger = self.fly, 0, 0
                done, self.mode = True, 9
            self.achieved, self.qa_armed, self.qa_start = 0, 1, self.now
            self.qa_len = self.base_rtt + ((w.target + 255) >> 8)
        if done:
            self.inc = self.received = 0
            return None
        if nack:
            self.cwnd, self.mode = self.cut(self.cwnd, e["bytes"]), 10
            return None
        return self.choose

    def choose(self):
        e, w = self.e, self.w
        late = self.delay << 8 >= w.target
        self.mode = 3 if self.limited else 2
        if not e["ecn"] and not self.limited and late:
            self.mode = 4
            self.inc = min(self.inc + rs(w.fi * e["bytes"], 4), (1 << 64) - 1)
        elif not e["ecn"] and not self.limited:
            if self.delay < w.near_zero:
                self.fi_count = sat28(self.fi_count + e["bytes"])
                if self.increasing or self.fi_count << 16 > self.cwnd:
                    self.increasing, self.mode = 1, 6
                    self.cwnd = min(self.cwnd + rs(e["bytes"] * w.fi_scale, 8), self.max_wnd)
                    return self.due
                self.increasing, self.mode = 0, 5
            else:
                self.fi_count = self.increasing = 0
                self.mode = 5
            gain = rs(w.alpha * (w.target - (self.delay << 8)), 6)
            self.inc = min(self.inc + rs(gain * e["bytes"], 12), (1 << 64) - 1)
        elif e["ecn"] and late:
            if w.md_resets_fast:
                self.increasing = self.fi_count = 0
            if self.elapsed(self.last_dec) > self.base_rtt and self.avg > w.target << 16:
                self.mode = 7
                ratio = div((self.avg - (w.target << 16)) << 28, self.avg, 28)
                factor = max((1 << 28) - rs(ratio * w.gamma, 24), w.max_md_jump << 4)
                self.cwnd = max(rs(self.cwnd * factor, 28), w.mtu << 16)
                self.last_dec = self.now
        return self.due

    def due(self):
        w = self.w
        period = self.elapsed(self.last_adjust) >= w.adjust_period
        if period or self.received > w.adjust_bytes:
            c = self.cwnd + div(self.inc << 24, self.cwnd, 44)
            if period:
                c += w.eta
                self.last_adjust = self.now
            self.cwnd = min(c, self.max_wnd)
            self.inc = self.received = 0
        return None


def events(rng, count, base):
    """Random events: time_ns and what `event` takes."""
    time = rng.choice([0, ((1 << 32) - 500) * TICK])
    calm = True
    for _ in range(count):
        if rng.random() < 0.02:
            calm = not calm
        time += rng.randrange(rng.choice([1, TICK * 4, TICK * base // 4, TICK * base * 3]) + 1)
        kind = rng.choices(["ack", "nack", "loss", "send"], [6, 1, 0.3, 3] if calm else [4, 2, 2, 1])[0]
        e = {"kind": kind, "bytes": rng.choice([rng.randrange(9000), rng.randrange(1 << rng.randrange(29))]),
             "ecn": 0, "rtt": None, "pen": 0, "restore": 0, "reason": 1}
        if kind in ("ack", "nack") and rng.random() < 0.9:
            spread = rng.choice([8, base, 4 * base, 65535])
            e["rtt"] = min(65535, base + rng.randrange(spread)) if rng.random() < 0.995 else rng.randrange(base + 1)
        if kind == "ack":
            e["ecn"] = int(rng.random() < (0.1 if calm else 0.7))
            e["pen"] = rng.randrange(128) if rng.random() < 0.05 else 0
            e["restore"] = int(rng.random() < 0.05)
        if kind == "nack":
            e["reason"] = rng.choice([1, 1, 2, 6, 7, 10, 11])
        yield time, e


def check(mrc, options, count, rng):
    def run(*arguments):
        return subprocess.run([mrc, "nscc", *arguments, *options, "--json"], check=True, text=True, timeout=120,
                              stdout=subprocess.PIPE).stdout

    config = json.loads(run("--show-config"))
    w = Words(config["cc_profile"])
    for name, (_, width) in FIELDS.items():  # the row says what the words say
        shown = {"target": "target_delay", "adjust_bytes": "adjust_bytes_threshold",
                 "adjust_period": "adjust_period_threshold"}.get(name, name)
        assert config[shown]["word"] == getattr(w, name) < 1 << width, name
    sequence = list(events(rng, count, max(w.base_rtt, 4)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "events.csv")
        with path.open("w", encoding="ascii") as out:
            out.write("time_ns,kind,bytes,ecn,rtt_ns,penalty,restore,reason\n")
            for time, e in sequence:
                rtt = "" if e["rtt"] is None else e["rtt"] * TICK
                out.write(f"{time},{e['kind']},{e['bytes']},{e['ecn']},{rtt},{e['pen']},{e['restore']},{e['reason']}\n")
        lines = run(str(path)).splitlines()
    assert len(lines) == count
    cc = Controller(w, sequence[0][0] // TICK % (1 << 32))
    seen = set()
    for (time, e), line in zip(sequence, lines):
        cc.event(e, time // TICK % (1 << 32))
        got = json.loads(line)
        want = {"inflight": cc.infl, "mode": NAMES[cc.mode]}
        if w.enable:
            want |= {"cwnd": cc.cwnd / 65536, "max_wnd": cc.max_wnd / 65536, "base_rtt_ns": cc.base_rtt * TICK,
                     "avg_delay_ns": cc.avg * TICK / (1 << 24)}
        seen.add(NAMES[cc.mode])
        for name, value in want.items():
            if got[name] != value:
                print(f"{' '.join(options)}: line {got['line']}: {e}: {name} is {got[name]}, the contract gives {value}")
                return None
    return seen


def main():
    mrc, count, seed = sys.argv[1], int((sys.argv[2:] or ["3000"])[0]), int((sys.argv[3:] or ["1"])[0])
    rng = random.Random(seed)
    seen = set()
    for rate in ("25", "100", "800"):
        for rtt in ("1000", "12000", "1000000"):
            for more in ([], ["--trimming", "0", "--path-mtu", "256"], ["--disable-qa", "1", "--md-resets-fast", "0"],
                         ["--nack-any-reason", "1", "--nack-sample-cfg", "1", "--nack-rtt", "0", "--gamma", "1",
                          "--max-md-jump", "0.123", "--ewma-weight", "0.3"]):
                modes = check(mrc, ["--rate-gbps", rate, "--base-rtt", rtt, *more], count, rng)
                if modes is None:
                    print(f"seed {seed}")
                    return 1
                seen |= modes
    if check(mrc, ["--enable", "0"], count, rng) != {"off"}:
        return 1
    missing = set(NAMES[2:]) - seen
    if missing:
        print(f"never seen: {', '.join(sorted(missing))}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
