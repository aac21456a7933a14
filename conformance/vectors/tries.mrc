# SPDX-License-Identifier: Apache-2.0
# How often a requestor tries again: what counts as a retry, what gives retries back, what is no reason to send again.
# Nobody answers questions: an answer would tell of losses by time (A-83, A-84).
tier 3
caps requestor
planes 2
evs 16
profile mtu 1024 timeout 14

cases id reason {
  Q-TRY-001 no_bitmap
  Q-TRY-002 no_pkt_buffer
  Q-TRY-003 no_resource
  Q-TRY-004 psn_oor_window
}
purpose progress gives the retries back, not for ever: then two NACKs $reason of the oldest packet are borne, the third ends the QP
mark S2 (one counter), A (reset by progress), A-35
cite mrc.md 7
rules req.retries qp.status
profile retry_linear 2 retry_exp 0
negative
background ignore sack ack nack nak probe endpoint write
dut post write len 2048
set > write rtx 0 psn sq_psn .. sq_psn+1 each once within 2 rtt
p0 < nack reason $reason psn sq_psn
* > write psn sq_psn rtx 1 within 16 rtt
p0 < sack cack sq_psn
settle lat
repeat 2 {
  p0 < nack reason $reason psn sq_psn+1
  * > write psn sq_psn+1 rtx 1 within 16 rtt
}
p0 < nack reason $reason psn sq_psn+1
> cqe send status retries wr_id 0 within 16 rtt
expect sent(sq_psn+1) == 3

cases id reason {
  Q-TRY-011 no_bitmap
  Q-TRY-012 no_pkt_buffer
  Q-TRY-013 no_resource
  Q-TRY-014 psn_oor_window
}
purpose NACKs $reason of packets behind the oldest one are no retries: a QP with one of them bears five, and completes
mark S2 (one counter), A (the oldest packet alone), A-35
cite mrc.md 7; mrc.md 3
rules req.retries req.nack-again qp.status
profile retry_linear 1 retry_exp 0
dut post write len 8192
set > write rtx 0 psn sq_psn .. sq_psn+7 each once within 4 rtt
let p = sq_psn+3
repeat 5 {
  p0 < nack reason $reason psn p
  let p = p + 1
}
set > write rtx 1 psn sq_psn+3 .. sq_psn+7 each once within 16 rtt
settle rtt
expect count(> cqe) == 0
p1 < sack cack sq_psn+7
p1 < ack psn sq_psn+7 msn 1
> cqe send status ok within rtt

id Q-TRY-015
purpose the oldest packet not reported counts, also where an ACK ends before packets that a SACK has reported
mark S2 (one counter), A (the oldest packet alone), A-35
cite mrc.md 7; mrc.md 3
rules req.retries qp.status
setting A-08 REORDER.same_ev 0
profile timeout 7 retry_linear 3 retry_exp 0
negative
background ignore sack ack nack nak probe endpoint write
dut post write len 1024
dut post write len 4096
set > write rtx 0 psn sq_psn .. sq_psn+4 each once within 4 rtt
p0 < sack cack sq_psn-1 trigger sq_psn+2 has sq_psn+1 .. sq_psn+2 base sq_psn ooo 2 rcvd 9
settle lat
p0 < ack psn sq_psn msn 1
> cqe send status ok within rtt
* > write psn sq_psn+3 rtx 1 within 4 rto
repeat 2 {
  p0 < sack cack sq_psn-1 trigger sq_psn+2 has sq_psn+1 .. sq_psn+2 base sq_psn ooo 2 rcvd 9
  p0 < nack reason no_bitmap psn sq_psn+3
  * > write psn sq_psn+3 rtx 1 within 16 rtt
}
p0 < sack cack sq_psn-1 trigger sq_psn+2 has sq_psn+1 .. sq_psn+2 base sq_psn ooo 2 rcvd 9
p0 < nack reason no_bitmap psn sq_psn+3
> cqe send status retries wr_id 1 within rto / 2

# The answer to a probe has the probe's id where other SACKs say which packet they answer (mrc.md 3). Taken for a PSN, or
# for a distance to one, these ids would say that sq_psn+100 has arrived, and what is missing below it would be a gap.
cases id probe before what {
  Q-TRY-031 100        "settle lat"  "the first SACK there is"
  Q-TRY-032 sq_psn+100 "settle lat"  "the first SACK there is"
  Q-TRY-033 100        "p1 < sack cack sq_psn-1 trigger sq_psn+3 has sq_psn+1 .. sq_psn+3 base sq_psn ooo 3 rcvd 60 ; settle lat" "older than another SACK"
  Q-TRY-034 sq_psn+100 "p1 < sack cack sq_psn-1 trigger sq_psn+3 has sq_psn+1 .. sq_psn+3 base sq_psn ooo 3 rcvd 60 ; settle lat" "older than another SACK"
}
purpose a probe's id is no PSN: the answer to probe $probe reports five packets and brings nothing back that was sent after them ($what)
mark S2+, A-08
cite mrc.md 3; mrc.md 7
rules req.rtx-evidence req.rtx-cause
setting A-08 REORDER.pkts 5
setting A-08 REORDER.same_ev 0
profile mtu 256 timeout 14
negative
dut post write len 28160
set > write rtx 0 psn sq_psn .. sq_psn+109 each once within 64 rtt
$before
p0 < sack cack sq_psn-1 probe $probe has sq_psn+1 .. sq_psn+4 or sq_psn+8 base sq_psn ooo 5 rcvd 20
settle 2 rtt
expect count(> write rtx 1 psn > sq_psn+8) == 0

id Q-TRY-035
purpose what lies above the bitmap of a SACK is no gap: 64 bits speak of 64 PSNs, wherever they begin
mark U, A, A-08
cite mrc.md 3; mrc.md 7
rules req.rtx-evidence req.rtx-cause
setting A-08 REORDER.pkts 5
setting A-08 REORDER.same_ev 0
profile mtu 256 timeout 14
negative
dut post write len 28160
set > write rtx 0 psn sq_psn .. sq_psn+109 each once within 64 rtt
let b = sq_psn+9
p0 < sack cack b-1 trigger b+95 has b+1 .. b+63 base b ooo 90
* > write psn b rtx 1 within 2 rtt
settle 2 rtt
expect count(> write rtx 1) == 1

id Q-TRY-036
purpose what lies 64 above the base of a bitmap is not bit 0 again, wherever the base lies among multiples of 64
mark U
cite mrc.md 3; mrc.md 7
rules req.nack-again req.rtx-cause
setting A-08 REORDER.pkts 100
setting A-08 REORDER.same_ev 0
profile mtu 256 timeout 14
dut post write len 32768
set > write rtx 0 psn sq_psn .. sq_psn+127 each once within 64 rtt
let b = sq_psn + 63 - (sq_psn + 63) % 64
p0 < sack cack sq_psn-1 trigger b has b base b ooo 1
settle lat
p0 < nack reason trimmed psn b+63
* > write psn b+63 rtx 1 within 2 rtt
p0 < nack reason trimmed psn b+64
* > write psn b+64 rtx 1 within 2 rtt

id Q-TRY-041
purpose each packet has its own time: what was sent half an interval later does not go again with what is overdue
mark S2, A, A-07
cite mrc.md 7
rules req.timer req.rtx-evidence
profile mtu 256 timeout 7
dut post write len 5120
set > write rtx 0 psn sq_psn .. sq_psn+19 each once within 16 rtt
settle rto * 6 / 10
let half = now
dut post write len 11264
set > write rtx 0 psn sq_psn+20 .. sq_psn+63 each once within 64 rtt
* > write rtx 1 psn sq_psn within 4 rto
until now > half + rto * 9 / 10 within rto
expect count(> write rtx 1 psn sq_psn+20 .. sq_psn+63 from half to half + rto * 9 / 10) == 0

cases id old new what {
  Q-TRY-042 sq_psn+5 sq_psn+9 "four apart"
  Q-TRY-043 sq_psn+4 sq_psn+9 "five apart"
  Q-TRY-044 sq_psn+8 sq_psn+9 "side by side"
}
purpose a packet that is overdue is no retry while the oldest one has just been sent again ($what): the QP lives on
mark S2 (one counter), A (the oldest packet alone), A-35, A-07
cite mrc.md 7
rules req.retries req.timer
setting A-08 REORDER.same_ev 0
profile timeout 7 retry_linear 1 retry_exp 0
dut post write len 10240
set > write rtx 0 psn sq_psn .. sq_psn+9 each once within 4 rtt
p0 < sack cack $old-1 trigger sq_psn+8 has $old+1 .. $new-1 base $old ooo 3 rcvd 40
settle rto * 6 / 10
p0 < nack reason trimmed psn $old
* > write psn $old rtx 1 within 16 rtt
* > write psn $new rtx 1 within 4 rto as new
* > write psn $old rtx 1 from new.t within 4 rto
expect sent($old) == 3
p0 < sack cack sq_psn+9
p0 < ack psn sq_psn+9 msn 1
> cqe send status ok within rtt
