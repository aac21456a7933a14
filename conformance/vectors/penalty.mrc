# SPDX-License-Identifier: Apache-2.0
# A responder that asks for a smaller window, and gives it back.
tier 3
planes 2
caps requestor nscc
mark U, A-42
cite mrc.md 8; mrc.md 3
rules req.window

id Q-PEN-001
purpose a window that a penalty has made smaller stays so until a SACK says restore
profile controlled 1 timeout 14
background ignore sack ack probe endpoint write
dut post write len 1048576 * 2
settle 300 us
let n = count(> write)
expect n > 0
assume n > 60 else unsupported "the window is below 60 packets"
let a = 50 * 4180 + 255
p0 < sack cack sq_psn+49 rcvd (a - a % 256) / 256 raw cc_state.rcv_cwnd_pen = 127
settle 20 us
let b = n * 4180 + 255
p0 < sack cack sq_psn+n-1 rcvd (b - b % 256) / 256
settle 300 us
let small = count(> write) - n
expect small < n / 2
let c = (n + small) * 4180 + 255
p0 < sack cack sq_psn+n+small-1 rcvd (c - c % 256) / 256 raw cc_state.restore_cwnd = 1
settle 300 us
expect count(> write) - n - small > 2 * small
