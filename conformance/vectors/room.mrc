# SPDX-License-Identifier: Apache-2.0
# How much a requestor may have on its way: a window that the peer changes (dynamic MPR, unit 128 PSNs).
tier 3
caps requestor dyn_mpr
planes 2
evs 16
profile mtu 256 mpr 8 dynamic_mpr 1 timeout 14

# The first 8 PSNs are reported with a new window; then as many are out as it allows, and not one more.
cases id units {
  Q-MPR-011 1
  Q-MPR-012 2
  Q-MPR-013 4
  Q-MPR-014 7
  Q-MPR-015 8
}
purpose a window of $units units: new packets up to cack_psn + 128 * $units, and none beyond
mark S2+, A-59
cite mrc.md 7; mrc.md 3
rules req.window req.mpr-now req.psn-hole
dut post write len 2048
set > write rtx 0 psn sq_psn .. sq_psn+7 each once within 8 rtt
p0 < sack cack sq_psn+7 mpr $units
settle lat
dut post write len ((128*$units+40)*256)
set > write rtx 0 psn sq_psn+8 .. sq_psn+7+96 each once within 64 rtt
none > write rtx 0 psn > sq_psn+7+128*$units within 2 rtt

cases id units what {
  Q-MPR-021 0   "0 says nothing"
  Q-MPR-022 33  "33 is out of range"
  Q-MPR-023 255 "255 is out of range"
}
purpose after a window of 1 an mpr of $units: $what, and the window never grows beyond the 8 that were agreed
mark S2+, A-59
cite mrc.md 3; mrc.md 7
rules req.window req.mpr-now
negative
dut post write len 2048
set > write rtx 0 psn sq_psn .. sq_psn+7 each once within 8 rtt
p0 < sack cack sq_psn+7 mpr $units
settle lat
dut post write len 271360
set > write rtx 0 psn sq_psn+8 .. sq_psn+7+96 each once within 64 rtt
none > write rtx 0 psn > sq_psn+7+1024 within 2 rtt

id Q-MPR-024
purpose a window that has shrunk below what is out: no new packet until cack_psn has come near; repeats go on
mark S2, S, A-59
cite mrc.md 7
rules req.mpr-now req.nack-again req.window
dut post write len 262144
dut post write len 65536
set > write rtx 0 psn sq_psn .. sq_psn+499 each once within 64 rtt
settle 2 rtt
p0 < sack cack sq_psn+9 mpr 1
settle lat
let from0 = now
p1 < nack reason trimmed psn sq_psn+300
* > write psn sq_psn+300 rtx 1 data posted within rtt
none > write rtx 0 from from0 within 2 rtt
p0 < sack cack sq_psn+300 mpr 1
none > write rtx 0 from from0 within 2 rtt

id Q-MPR-025
purpose a SACK that was overtaken (an older cack_psn) brings no window back
mark A, A-59
cite mrc.md 7
rules req.mpr-now
negative
dut post write len 8192
set > write rtx 0 psn sq_psn .. sq_psn+31 each once within 16 rtt
p0 < sack cack sq_psn+20 mpr 1
settle lat
p1 < sack cack sq_psn+10 mpr 8
settle lat
dut post write len 131072
set > write rtx 0 psn sq_psn+32 .. sq_psn+20+96 each once within 64 rtt
none > write rtx 0 psn > sq_psn+20+128 within 2 rtt

id Q-MPR-026
purpose the answer to a probe tells the window too
mark S2+, A-59
cite mrc.md 3; mrc.md 7
rules req.mpr-now
dut post write len 2048
set > write rtx 0 psn sq_psn .. sq_psn+7 each once within 8 rtt
p0 < sack cack sq_psn+7 probe 0xFFFE mpr 1
settle lat
dut post write len 131072
set > write rtx 0 psn sq_psn+8 .. sq_psn+7+96 each once within 64 rtt
none > write rtx 0 psn > sq_psn+7+128 within 2 rtt

id Q-MPR-027
purpose a window that grows again lets new packets go
mark S2+, A-59
cite mrc.md 7
rules req.window req.moves req.mpr-now
dut post write len 2048
set > write rtx 0 psn sq_psn .. sq_psn+7 each once within 8 rtt
p0 < sack cack sq_psn+7 mpr 1
settle lat
dut post write len 131072
set > write rtx 0 psn sq_psn+8 .. sq_psn+7+96 each once within 64 rtt
none > write rtx 0 psn > sq_psn+7+128 within 2 rtt
p1 < sack cack sq_psn+7 mpr 3
set > write rtx 0 psn sq_psn+7+129 .. sq_psn+7+300 each once from start within 64 rtt
none > write rtx 0 psn > sq_psn+7+384 within 2 rtt

id Q-MPR-031
purpose without dynamic MPR the field means nothing: a SACK with mpr 1 shrinks no window
mark S2+, A-59
cite mrc.md 3
rules req.moves req.window
caps requestor
profile dynamic_mpr 0
dut post write len 2048
set > write rtx 0 psn sq_psn .. sq_psn+7 each once within 8 rtt
p0 < sack cack sq_psn+7 mpr 1
settle lat
dut post write len 131072
set > write rtx 0 psn sq_psn+8 .. sq_psn+7+400 each once within 64 rtt
none > write rtx 0 psn > sq_psn+7+1024 within rtt
