# SPDX-License-Identifier: Apache-2.0
# Immediates outstanding at a requestor (A-62): at most MAX_WIMM WRITEs with immediate are on their way. One more waits,
# and what is behind it on its QP; or it is refused; or it ends its QP.
tier 3
caps requestor write_imm
planes 1
profile timeout 14
mark S, C, A-62
cite mrc.md 6

cases id most length more {
  Q-WIMM-001 1 64 2
  Q-WIMM-002 2 64 3
  Q-WIMM-003 31 64 32
  Q-WIMM-004 32 64 33
  Q-WIMM-005 1 0 2
  Q-WIMM-006 32 0 33
  Q-WIMM-007 2 4096 3
}
purpose of $more WRITEs with immediate of $length bytes $most are sent; the last one waits, and goes when the first is complete
rules req.max-wimm req.moves req.rqmsn req.wimm-over
setting A-62 CTRL.wimm_over 0
setting A-19 CTRL.zero_length 0
profile max_wimm $most
background ignore sack ack nack probe endpoint write cqe
assume posts >= $more else unsupported "the device holds less work of a QP"
dut post write len $length * $more imm 7
set > write rtx 0 psn sq_psn .. sq_psn+$most-1 each once within 4 rtt
none > write psn sq_psn+$most within 2 rtt
p0 < sack cack sq_psn+$most-1
none > write psn sq_psn+$most within rtt from last
p0 < ack psn sq_psn msn 1
> cqe send status ok wr_id 0 within rtt
* > write psn sq_psn+$most rtx 0 imm 7 rqmsn $most msn $most bytes $length within rtt
p0 < sack cack sq_psn+$most
p0 < ack psn sq_psn+$most msn $more
> cqe send status ok wr_id $most within rtt
expect count(> cqe send status ok) == $more

id Q-WIMM-011
purpose what is behind an immediate that waits waits too, and follows it in order
rules req.max-wimm req.moves req.psn-hole req.msn req.wimm-over
setting A-62 CTRL.wimm_over 0
profile max_wimm 1
background ignore sack ack nack probe endpoint write cqe
dut post write len 64 imm 1
dut post write len 128 imm 2
dut post write len 256
* > write only psn sq_psn imm 1 within rtt
none > write psn sq_psn+1 or sq_psn+2 within 2 rtt
p0 < sack cack sq_psn
p0 < ack psn sq_psn msn 1
any order { * > write only psn sq_psn+1 bytes 128 imm 2 msn 1 ; * > write only psn sq_psn+2 bytes 256 msn 2 } within 2 rtt
p0 < sack cack sq_psn+2
p0 < ack psn sq_psn+2 msn 3
> cqe send status ok wr_id 2 within rtt
expect first(> cqe send).wr_id == 0

id Q-WIMM-012
purpose what is before an immediate that waits is sent, and its completion lets no immediate go
rules req.max-wimm req.moves
setting A-62 CTRL.wimm_over 0
profile max_wimm 1
background ignore sack ack nack probe endpoint write cqe
dut post write len 64
dut post write len 64 imm 1
dut post write len 8192
dut post write len 64 imm 2
set > write rtx 0 psn sq_psn .. sq_psn+3 each once within 2 rtt
p0 < sack cack sq_psn+3
p0 < ack psn sq_psn msn 1                                 # of the plain one
> cqe send status ok wr_id 0 within rtt
none > write psn sq_psn+4 within rtt
p0 < ack psn sq_psn+1 msn 2
* > write only psn sq_psn+4 rtx 0 imm 2 within rtt

id Q-WIMM-013
purpose plain WRITEs are not counted: a QP with max_wimm 1 sends as many as it likes
rules req.moves req.max-wimm
setting A-62 CTRL.wimm_over 0
profile max_wimm 1
background ignore sack ack nack probe endpoint write cqe
dut post write len 64 imm 1
dut post write len 64 * 6
set > write rtx 0 psn sq_psn .. sq_psn+6 each once within 2 rtt

id Q-WIMM-014
purpose an immediate of several packets that waits begins none of them
rules req.max-wimm req.sequence req.wimm-over
setting A-62 CTRL.wimm_over 0
profile max_wimm 1
background ignore sack ack nack probe endpoint write cqe
dut post write len 8192 imm 1
dut post write len 12288 imm 2
set > write rtx 0 psn sq_psn .. sq_psn+1 each once within 2 rtt
none > write psn > sq_psn+1 within 2 rtt
p0 < sack cack sq_psn+1
p0 < ack psn sq_psn+1 msn 1
any order { * > write first psn sq_psn+2 ; * > write middle psn sq_psn+3 ; * > write last psn sq_psn+4 imm 2 } within 2 rtt

id Q-WIMM-015
purpose while an immediate waits, what was NACKed goes again
rules req.nack-again req.max-wimm
setting A-62 CTRL.wimm_over 0
profile max_wimm 1
background ignore sack ack nack probe endpoint write cqe
dut post write len 64 imm 1
dut post write len 64 imm 2
* > write only psn sq_psn rtx 0 within rtt
p0 < nack reason trimmed psn sq_psn
* > write only psn sq_psn rtx 1 imm 1 within rtt
none > write psn sq_psn+1 within rtt
p0 < sack cack sq_psn
p0 < ack psn sq_psn msn 1
* > write only psn sq_psn+1 rtx 0 imm 2 within rtt

id Q-WIMM-016
purpose one completion lets one immediate go, two let two
rules req.max-wimm req.moves
setting A-62 CTRL.wimm_over 0
profile max_wimm 2
background ignore sack ack nack probe endpoint write cqe
dut post write len 64 * 6 imm 3
set > write rtx 0 psn sq_psn .. sq_psn+1 each once within 2 rtt
p0 < sack cack sq_psn+1
p0 < ack psn sq_psn msn 1
* > write only psn sq_psn+2 within rtt
none > write psn sq_psn+3 within rtt
p0 < sack cack sq_psn+2
p0 < ack psn sq_psn+2 msn 3
set > write rtx 0 psn sq_psn+3 .. sq_psn+4 each once within 2 rtt
none > write psn sq_psn+5 within rtt

id Q-WIMM-017
purpose an immediate that waits is flushed with its QP, once, and never sent
rules qp.flush qp.flush-all req.max-wimm
setting A-62 CTRL.wimm_over 0
profile max_wimm 1
negative
background ignore sack ack nack probe endpoint write cqe
dut post write len 64 imm 1
dut post write len 64 imm 2
dut post write len 64
* > write only psn sq_psn within rtt
dut qp state error
until count(> cqe send status flushed) == 3 within 4 rtt
settle rtt
expect count(> cqe send) == 3 and count(> write psn sq_psn+1) == 0
expect count(> cqe send wr_id 0) == 1 and count(> cqe send wr_id 1) == 1 and count(> cqe send wr_id 2) == 1

id Q-WIMM-018
purpose a NAK ends the work on its way and the immediate that waits behind it
mark S2, A-62
rules qp.fails qp.flush-all
setting A-62 CTRL.wimm_over 0
profile max_wimm 1
negative
background ignore sack ack nack probe endpoint write cqe
dut post write len 64 imm 1
dut post write len 64 imm 2
* > write only psn sq_psn within rtt
p0 < nak psn sq_psn msn 0 syndrome nak_invalid_request
> cqe send status remote_invalid wr_id 0 within rtt
> cqe send status flushed wr_id 1 within rtt
settle rtt
expect count(> write psn sq_psn+1) == 0
dut query state error

id Q-WIMM-019
purpose of a QP that is reset with an immediate that waits nothing is left when it is set up anew
rules req.start req.msn qp.state
caps psn
setting A-62 CTRL.wimm_over 0
profile max_wimm 1
background ignore sack ack nack probe endpoint write cqe
dut post write len 64 imm 1
dut post write len 64 imm 2
* > write only psn sq_psn within rtt
dut qp state reset
settle 2 rtt
dut qp again sq_psn 0x5000
let anew = now
dut post write len 128 imm 9
* > write only bth.psn 0x5000 meth.msn 0 rqmsn 0 imm 9 bytes 128 from anew within 2 rtt
settle rtt
expect count(> write from anew) == 1
p0 < sack cack sq_psn
p0 < ack psn sq_psn msn 1
dut post write len 64 imm 10
* > write only bth.psn 0x5001 imm 10 within rtt

id Q-WIMM-020
purpose beside a QP whose immediate waits another QP goes on
rules req.moves req.max-wimm
setting A-62 CTRL.wimm_over 0
profile max_wimm 1
background ignore sack ack nack probe endpoint write cqe
qp b
dut post write len 64 imm 1
dut post write len 64 imm 2
* > write only psn sq_psn within rtt
with b {
  dut post write len 64 * 3
  set > write rtx 0 psn sq_psn .. sq_psn+2 each once within 2 rtt
}
none > write psn sq_psn+1 within rtt

# ---- the other answers ----

cases id length {
  Q-WIMM-031 64
  Q-WIMM-032 0
}
purpose with the second answer of A-62 the 33rd immediate of $length bytes is refused, and the QP goes on
mark C, A-62
rules req.max-wimm req.moves req.rqmsn req.wimm-over
setting A-62 CTRL.wimm_over 1
setting A-19 CTRL.zero_length 0
profile max_wimm 32
negative
background ignore sack ack nack probe endpoint write cqe
assume posts >= 33 else unsupported "the device holds less work of a QP"
dut post write len $length * 32 imm 7
set > write rtx 0 psn sq_psn .. sq_psn+31 each once within 4 rtt
dut post write len $length imm 8
> cqe send status wimm_overrun wr_id 32 within rtt
p0 < sack cack sq_psn+31
p0 < ack psn sq_psn+31 msn 32
until count(> cqe send status ok) == 32 within rtt
dut post write len 128 imm 9
* > write only psn sq_psn+32 bytes 128 imm 9 rqmsn 32 msn 32 within rtt
expect count(> write imm 8) == 0

cases id length {
  Q-WIMM-033 64
  Q-WIMM-034 0
}
purpose with the third answer of A-62 one immediate of $length bytes too many completes with that, and puts its QP into ERROR
mark C, A-62
rules qp.flush-all req.max-wimm req.wimm-over
setting A-62 CTRL.wimm_over 2
setting A-19 CTRL.zero_length 0
profile max_wimm 2
negative
background ignore sack ack nack probe endpoint write cqe
dut post write len $length * 2 imm 7
set > write rtx 0 psn sq_psn .. sq_psn+1 each once within 2 rtt
dut post write len $length imm 8
> cqe send status wimm_overrun wr_id 2 within rtt
until count(> cqe send status flushed) == 2 within 4 rtt
settle rtt
dut query state error
expect count(> write imm 8) == 0 and count(> cqe send) == 3

cases id over length {
  Q-WIMM-041 0 0
  Q-WIMM-042 0 64
  Q-WIMM-043 1 64
}
purpose with max_wimm 0 a WRITE with immediate ($length bytes) is refused whatever the answer to A-62 is ($over), and plain ones go
mark S2, A-62
rules req.wimm-none req.moves req.wimm-over
setting A-62 CTRL.wimm_over $over
setting A-19 CTRL.zero_length 0
profile max_wimm 0
negative
background ignore sack ack nack probe endpoint write cqe
dut post write len $length imm 1
> cqe send status wimm_overrun within rtt
dut post write len 64
* > write only psn sq_psn rtx 0 bytes 64 msn 0 within rtt
expect count(> write imm 1) == 0
