# SPDX-License-Identifier: Apache-2.0
"""The judge for cocotb: monitors of a NIC's ports, findings while the simulation runs.

    judge = mrc_ref_cocotb.Watch({"name": "mynic", "planes": 2})
    for plane in range(2):
        judge.port(plane, dut.clk, rx=(dut, f"rx{plane}_"), tx=(dut, f"tx{plane}_"), reset_n=dut.rst_n)
    judge.qp({"qp": 16, "peer_qp": 20, "own_ip": "fd00::1", "peer_ip": "fd00::2"})
    ...
    judge.finish()              # raises AssertionError with what was found

A port is an AXI4-Stream: tvalid, tready, tdata, tkeep, tlast, tuser (the frame is bad) behind the prefix; tready and
tuser may be missing. A frame is from the Ethernet header on, without FCS. Untried with a simulator: what follows a beat
is tested without one, cocotb itself was not at hand. Written for cocotb 1.9 and 2.0."""
import os
import sys

import cocotb
from cocotb.triggers import RisingEdge

try:
    import mrc_ref
except ImportError:  # a clone, or share/mrcnic/bindings
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
    import mrc_ref

try:
    from cocotb.simtime import get_sim_time  # 2.0
except ImportError:
    from cocotb.utils import get_sim_time

TO_DEVICE, FROM_DEVICE = 0, 1


def now_ps():
    return int(get_sim_time("ps"))


class Frames:
    """Beats of one direction of one port, to frames. `tell(first, last, data, bad)`."""

    def __init__(self, tell):
        self.tell, self.data, self.first = tell, bytearray(), None

    def beat(self, data, keep, last, bad, t):
        """data: bytes, byte 0 first; keep: bit i is byte i."""
        if self.first is None:
            self.first = t
        count = keep.bit_length()
        if keep != (1 << count) - 1 or (not last and count != len(data)):
            raise AssertionError(f"{t} ps: tkeep {keep:#x} has holes, or is not full in the middle of a frame")
        self.data += data[:count]
        if last:
            first, whole = self.first, bytes(self.data)
            self.data, self.first = bytearray(), None
            self.tell(first, t, whole, bad)


class Watch:
    """A judge (mrc_ref.Judge) with monitors. `every_ps`: how long between two looks at most."""

    def __init__(self, profile, every_ps=1_000_000, strict=False, log=None, **judge):
        self.judge = mrc_ref.Judge(profile, **judge)
        self.every, self.strict, self.looked = every_ps, strict, 0
        self.log = log or cocotb.log
        self.findings, self.tasks, self.open, self.packets = [], [], [], 0

    # -- what software does; the rest of mrc_ref.Judge (post, cqe, host, ...) is there as .judge

    def qp(self, qp):
        self.judge.qp(qp, now_ps())

    def mr(self, region):
        self.judge.mr(region, now_ps())

    # -- ports

    def port(self, plane, clock, rx=None, tx=None, reset_n=None):
        """rx: (handle, prefix) of what comes to the device; tx: of what it sends."""
        for where, direction in ((rx, TO_DEVICE), (tx, FROM_DEVICE)):
            if where is not None:
                self.tasks.append(cocotb.start_soon(self._monitor(plane, direction, clock, *where, reset_n)))

    def frames(self, plane, direction):
        def tell(first, last, data, bad):
            say = self.judge.rx if direction == TO_DEVICE else self.judge.tx
            say(plane, first, last, data, flags=mrc_ref.FCS_BAD if bad else 0)
        self.open.append(Frames(tell))
        return self.open[-1]

    async def _monitor(self, plane, direction, clock, handle, prefix, reset_n):
        def signal(name):
            return getattr(handle, prefix + name, None)
        valid, ready, data, keep, last, user = (signal(name) for name in ("tvalid", "tready", "tdata", "tkeep", "tlast", "tuser"))
        frames, width = self.frames(plane, direction), len(data) // 8
        while True:
            await RisingEdge(clock)
            if not is_one(valid) or (ready is not None and not is_one(ready)) or (reset_n is not None and not is_one(reset_n)):
                continue
            kept = int(keep.value)
            t = now_ps()
            frames.beat(bytes_of(data, width, kept), kept, is_one(last), user is not None and is_one(user), t)
            self.look(t)

    # -- findings

    def look(self, t):
        """Judges up to t, if it is time to; not beyond the begin of a frame that is still going on."""
        if t - self.looked < self.every:
            return
        self.looked = t
        self.judge.until(min([t, *(frames.first for frames in self.open if frames.first is not None)]))
        self._tell()

    def _tell(self):
        for finding in self.judge.findings():
            self.findings.append(finding)
            bad = finding.verdict in ("fail", "broken") or (self.strict and finding.verdict == "deviates")
            (self.log.error if bad else self.log.warning)("%s at %d ps, frame %d: %s", finding.rule, finding.t,
                                                         finding.frame, finding.text)

    def finish(self, cut=False):
        """Ends the judge. Raises AssertionError unless it passes or deviates (strict: passes)."""
        for task in self.tasks:
            (task.cancel if hasattr(task, "cancel") else task.kill)()
        self.judge.finish(cut)
        self._tell()
        verdict, self.packets = self.judge.verdict, self.judge.packets
        self.judge.close()
        good = ("pass",) if self.strict else ("pass", "deviates")
        if verdict not in good:
            words = "; ".join(f"{finding.rule}: {finding.text}" for finding in self.findings[:3])
            raise AssertionError(f"the judge says {verdict}. {words}")
        return verdict


def is_one(handle):
    return str(handle.value) in ("1", "0b1")


def bytes_of(handle, width, keep):
    """The kept bytes, byte 0 first. Lanes that are not kept may be unknown; one that is kept may not."""
    text = str(handle.value).replace("0b", "").rjust(8 * width, "0")
    out = bytearray(width)
    for i in range(width):
        if keep >> i & 1:
            bits = text[8 * (width - 1 - i):8 * (width - i)]
            if set(bits) - {"0", "1"}:
                raise AssertionError(f"byte {i} of a beat is unknown: {bits}")
            out[i] = int(bits, 2)
    return bytes(out)
