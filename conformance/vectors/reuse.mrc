# SPDX-License-Identifier: Apache-2.0
# A QP that is reset and set up again under the same number: nothing of its life before shows.
tier 3
caps requestor psn
planes 2
evs 16
profile mtu 1024 timeout 14

cases id before what {
  Q-REUSE-001 "settle lat"                      "work on its way of which nothing was heard"
  Q-REUSE-002 "p0 < sack cack sq_psn"           "work that was reported in part"
  Q-REUSE-003 "p0 < nack reason no_bitmap psn sq_psn+1" "work that was refused"
  Q-REUSE-004 "p0 < nack reason unexp_event psn sq_psn" "work, and a NACK that has ended it"
  Q-REUSE-005 "p0 < nak psn sq_psn msn 0 syndrome nak_remote_access" "work, and a NAK that has ended it"
}
purpose a QP that had $what is reset and set up again: its first packet has the new PSN, MSN 0, rtx 0, and completes
mark S2, A-68
cite mrc.md 7; mrc.md 3; IBTA 10.3.1
rules req.start req.msn req.psn-once req.cqe-owed qp.state
background ignore sack ack nack nak probe endpoint write cqe
dut post write len 4096
set > write rtx 0 psn sq_psn .. sq_psn+3 each once within 2 rtt
$before
settle lat
dut qp state reset
settle 2 rtt
dut qp again sq_psn 0x5000
let anew = now
dut post write len 2048
any order {
  * > write first bth.psn 0x5000 rtx 0 meth.msn 0 data posted from anew
  * > write last bth.psn 0x5001 rtx 0 meth.msn 0 data posted from anew
} within 2 rtt
expect count(> write from anew) == 2
p0 < sack cack sq_psn+1
p0 < ack psn sq_psn+1 msn 1
> cqe send status ok wr_id 1 within rtt
expect count(> cqe send status ok wr_id 0) == 0

cases id first answer what {
  Q-REUSE-011 0x802000 "nack reason trimmed psn 0x2001 entropy 0xC000" "a NACK"
  Q-REUSE-012 0x802000 "sack cack 0x2003 entropy 0xC000"                "a SACK"
  Q-REUSE-013 0x001000 "ack psn 0x2003 msn 1"                          "an ACK"
  Q-REUSE-014 0x001000 "sack cack 0x2003 entropy 0xC000"                "a SACK"
  Q-REUSE-015 0x001000 "nack reason trimmed psn 0x2001 entropy 0xC000" "a NACK"
}
purpose $what for the life before comes late (the new one begins at $first): it brings nothing back, reports nothing, completes nothing
mark S2, A
cite mrc.md 7; mrc.md 6
rules req.rtx-cause req.cqe-ack req.nack-again
negative
background ignore sack ack nack nak probe endpoint write cqe
dut post write len 4096
set > write rtx 0 psn sq_psn .. sq_psn+3 each once within 2 rtt
dut qp state reset
settle 2 rtt
dut qp again sq_psn $first
let anew = now
dut post write len 4096 * 2
set > write rtx 0 psn sq_psn .. sq_psn+7 each once from anew within 2 rtt
p0 < $answer
settle rtt
expect count(> write rtx 1 from anew) == 0
expect count(> cqe send status ok from anew) == 0
p1 < nack reason trimmed psn sq_psn+2
* > write psn sq_psn+2 rtx 1 data posted from anew within 2 rtt
p0 < sack cack sq_psn+7
p0 < ack psn sq_psn+7 msn 2
> cqe send status ok wr_id 1 within rtt

id Q-REUSE-021
purpose the timer of the life before is over: nothing of it is sent again after the QP has been set up anew
mark S2
cite mrc.md 7; IBTA 10.3.1
rules req.start req.rtx-unsent qp.state
profile timeout 5
negative
background ignore sack ack nack nak probe endpoint write cqe
dut post write len 4096
set > write rtx 0 psn sq_psn .. sq_psn+3 each once within 2 rtt
dut qp state reset
settle rtt
dut qp again sq_psn 0x9000
let anew = now
none > write from anew within 5 rto
dut post write len 100
* > write only bth.psn 0x9000 rtx 0 data posted from anew within 8 rto

id Q-REUSE-022
purpose retries count anew: a QP that had used all but one has all of them again
mark S2, A-35
cite mrc.md 7
rules req.retries qp.status
profile timeout 4 retry_linear 3 retry_exp 0
background ignore sack ack nack nak probe endpoint write cqe
dut post write len 100
* > write psn sq_psn rtx 0 within rtt
until sent(sq_psn) == 3 within 16 rto
dut qp state reset
settle rtt
dut qp again sq_psn 0x7000
let anew = now
dut post write len 100
* > write bth.psn 0x7000 rtx 0 from anew within rtt
until count(> write bth.psn 0x7000 rtx 1 from anew) == 3 within 24 rto
p0 < sack cack sq_psn
p0 < ack psn sq_psn msn 1
> cqe send status ok wr_id 1 within rtt

id Q-REUSE-023
purpose the window is empty again: a QP that had filled it fills it once more
mark S2
cite mrc.md 7
rules req.window req.start
profile mtu 256
background ignore sack ack nack nak probe endpoint write cqe
dut post write len 262144
set > write rtx 0 psn sq_psn .. sq_psn+95 each once within 64 rtt
dut qp state reset
settle 4 rtt
dut qp again sq_psn 0x10000
let anew = now
dut post write len 262144
set > write rtx 0 psn sq_psn .. sq_psn+95 each once from anew within 64 rtt
none > write psn > sq_psn+128*mpr-1 from anew within 2 rtt

id Q-REUSE-024
purpose other numbers than before: MSN, RQMSN and PSN begin where the QP was set up
mark S2+, A-18
cite mrc.md 3
rules req.msn req.rqmsn req.start
caps requestor psn write_imm
background ignore sack ack nack nak probe endpoint write cqe
dut post write len 100 imm 5
* > write only psn sq_psn rtx 0 msn 0 rqmsn 0 within rtt
dut qp state reset
settle 2 rtt
dut qp again sq_psn 0xFFFFFF msn 0xFFFF rqmsn 0x100
let anew = now
dut post write len 100 imm 6
dut post write len 100 imm 7
* > write only bth.psn 0xFFFFFF meth.msn 0xFFFF rqmsn 0x100 imm 6 rtx 0 from anew within rtt
* > write only bth.psn 0 meth.msn 0 rqmsn 0x101 imm 7 rtx 0 from anew within 2 rtt

id Q-REUSE-025
purpose EVs are GOOD again: one that had gone bad carries data in the new life
mark A
cite mrc.md 5
rules path.set
profile mtu 256
background ignore sack ack nack nak probe endpoint write cqe
when > evprobe : answer none
when > probe : answer none
peer auto sack each
dut post write len 256 * 32
on > write ev e4 rtx 0 : answer m always_skip
until count(> cqe send status ok) == 32 within 1 ms
settle lat
dut qp state reset
settle 2 rtt
dut qp again sq_psn 0x4000
let anew = now
dut post write len 256 * 64
until count(> cqe send status ok) == 96 within 1 ms
expect len(count(> write by ev from anew)) == 16

cases id times {
  Q-REUSE-031 3
}
purpose set up again and again, $times times: each life begins at its own PSN and completes its work
mark S2
cite mrc.md 7
rules req.start req.cqe-owed
background ignore sack ack nack nak probe endpoint write cqe
let p = 0x2000
repeat $times {
  dut post write len 2048
  set > write rtx 0 psn p .. p+1 each once within 2 rtt
  p0 < sack cack p+1
  p0 < ack psn p+1 msn 1
  > cqe send status ok within rtt
  dut post write len 2048
  settle lat
  dut qp state reset
  settle 2 rtt
  let p = p + 0x1000
  dut qp again sq_psn p
}
dut post write len 64
* > write only psn p rtx 0 msn 0 within rtt
