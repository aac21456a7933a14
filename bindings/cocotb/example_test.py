# SPDX-License-Identifier: Apache-2.0
"""A cocotb test of a NIC with two ports, judged; untried here (docs/guide/judge_library.md). With your DUT's names:

    COCOTB_TEST_MODULES=example_test MRC_REF_LIBRARY=$PREFIX/lib/libmrc_ref.so make SIM=xcelium"""
import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles

import mrc_ref_cocotb

PLANES = 2


@cocotb.test()
async def judged(dut):
    cocotb.start_soon(Clock(dut.clk, 1, "ns").start())
    judge = mrc_ref_cocotb.Watch({"name": "mynic", "planes": PLANES}, record="run.mrclog")
    for plane in range(PLANES):
        judge.port(plane, dut.clk, rx=(dut, f"rx{plane}_"), tx=(dut, f"tx{plane}_"), reset_n=dut.rst_n)
    dut.rst_n.value = 0
    await ClockCycles(dut.clk, 10)
    dut.rst_n.value = 1
    # Where your driver sets up a QP and posts work, say the same to the judge.
    judge.qp({"qp": 16, "peer_qp": 20, "own_ip": "fd00::1", "peer_ip": "fd00::2"})
    await ClockCycles(dut.clk, 10_000)
    judge.finish()
