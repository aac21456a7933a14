# SPDX-License-Identifier: Apache-2.0
# What is sent again, and how: after a NACK, by gap, by timer. The timer of most QPs here is 17 ms (timeout 14): what is
# sent again earlier has another cause.
tier 3
caps requestor
planes 2
evs 16
profile mtu 1024 timeout 14

# A message of four packets: 1024, 1024, 1024 and 517 bytes.
cases id i op reason bytes {
  Q-NACK-001 0 write_first  trimmed         1024
  Q-NACK-002 1 write_middle trimmed         1024
  Q-NACK-003 2 write_middle trimmed         1024
  Q-NACK-004 3 write_last   trimmed         517
  Q-NACK-005 0 write_first  trimmed_lasthop 1024
  Q-NACK-006 3 write_last   trimmed_lasthop 517
}
purpose packet $i, NACKed $reason, goes again as it was: $op, its bytes, VA, MSN; rtx 1, class of retransmissions, another EV
mark S (VA), S2+ (rtx, class, fresh EV)
cite mrc.md 7; mrc.md 5; mrc.md 4; mrc.md 3
rules req.nack-again req.rtx-same req.rtx-head req.rtx-cause req.rtx-unsent path.fresh wire.class
dut post write len 3589 at 64
set > write rtx 0 psn sq_psn .. sq_psn+3 each once within 2 rtt
let was = sent_first(sq_psn+$i).ev
p0 < nack reason $reason psn sq_psn+$i
* > write opcode $op psn sq_psn+$i rtx 1 dscp rtx ev != was bytes $bytes msn 0 va 0x600000000040+1024*$i len 3589 \
    r_key 0x1234 data posted within rtt
p1 < sack cack sq_psn+3
p1 < ack psn sq_psn+3 msn 1
> cqe send status ok within rtt
expect sent(sq_psn+($i+1)%4) == 1 and sent(sq_psn+($i+2)%4) == 1 and sent(sq_psn+($i+3)%4) == 1

cases id len count op {
  Q-NACK-011 1    1 write_only_imm
  Q-NACK-012 1024 1 write_only_imm
  Q-NACK-013 1025 2 write_last_imm
  Q-NACK-014 2048 2 write_last_imm
}
purpose the immediate goes again too: a message of $len bytes, its last packet NACKed, $op
mark S2+
cite mrc.md 2; mrc.md 3; mrc.md 7
rules req.nack-again req.rtx-same req.rtx-head
caps requestor write_imm
dut post write len $len imm 0xCAFE1234
set > write rtx 0 psn sq_psn .. sq_psn+$count-1 each once within 2 rtt
p0 < nack reason trimmed psn sq_psn+$count-1
* > write opcode $op psn sq_psn+$count-1 rtx 1 imm 0xCAFE1234 rqmsn 0 msn 0 len $len data posted within rtt
p1 < sack cack sq_psn+$count-1
p1 < ack psn sq_psn+$count-1 msn 1
> cqe send status ok within rtt

cases id reason {
  Q-NACK-021 no_bitmap
  Q-NACK-022 no_pkt_buffer
  Q-NACK-023 no_resource
  Q-NACK-024 psn_oor_window
}
purpose a packet that the peer has refused, $reason, goes again long before the timer of 17 ms
mark S2
cite mrc.md 7; mrc.md 3
rules req.nack-again req.rtx-cause req.rtx-same
dut post write len 2048
set > write rtx 0 psn sq_psn .. sq_psn+1 each once within 2 rtt
p0 < nack reason $reason psn sq_psn
* > write first psn sq_psn rtx 1 dscp rtx data posted within 16 rtt
p1 < sack cack sq_psn+1
p1 < ack psn sq_psn+1 msn 1
> cqe send status ok within rtt
expect sent(sq_psn+1) == 1

id Q-NACK-031
purpose a packet trimmed again and again goes again each time, each time on another EV than the one before
mark S2, S (another EV)
cite mrc.md 7; mrc.md 5
rules req.nack-again path.fresh req.rtx-same
dut post write len 700
* > write only psn sq_psn rtx 0 within rtt
repeat 6 {
  let was = sent_last(sq_psn).ev
  p0 < nack reason trimmed psn sq_psn
  * > write only psn sq_psn rtx 1 ev != was bytes 700 data posted within rtt
}
expect sent(sq_psn) == 7
p1 < sack cack sq_psn
p1 < ack psn sq_psn msn 1
> cqe send status ok within rtt

id Q-NACK-032
purpose trims use up no retries: a QP with one retry bears six
mark S2 (recoverable NACKs share the counter), A (not TRIMMED), A-35
cite mrc.md 7; mrc.md 3
rules req.nack-again req.retries qp.status
profile retry_linear 1 retry_exp 0
dut post write len 700
* > write only psn sq_psn rtx 0 within rtt
repeat 6 {
  p0 < nack reason trimmed psn sq_psn
  * > write only psn sq_psn rtx 1 within rtt
}
p1 < sack cack sq_psn
p1 < ack psn sq_psn msn 1
> cqe send status ok within rtt

cases id reason {
  Q-NACK-033 no_bitmap
  Q-NACK-034 no_pkt_buffer
  Q-NACK-035 no_resource
  Q-NACK-036 psn_oor_window
}
purpose NACKs $reason of the oldest packet count as retries: with two of them the third ends the QP
mark S2, A-35
cite mrc.md 7
rules req.retries qp.status qp.flush-all
profile retry_linear 2 retry_exp 0
negative
background ignore sack ack nack nak probe endpoint write
dut post write len 700 * 2
set > write rtx 0 psn sq_psn .. sq_psn+1 each once within 2 rtt
p0 < nack reason $reason psn sq_psn
* > write psn sq_psn rtx 1 within 16 rtt
p0 < nack reason $reason psn sq_psn
* > write psn sq_psn rtx 1 within 16 rtt
p0 < nack reason $reason psn sq_psn
> cqe send status retries wr_id 0 within 16 rtt
> cqe send wr_id 1 within 8 rtt
expect count(> cqe send status ok) == 0
expect sent(sq_psn) == 3

id Q-NACK-037
purpose progress gives the retries back: with two of them, five packets may be refused twice each
mark S2 (one counter), A (reset by progress), A-35
cite mrc.md 7
rules req.retries req.nack-again
profile retry_linear 2 retry_exp 0
dut post write len 5120
set > write rtx 0 psn sq_psn .. sq_psn+4 each once within 2 rtt
let p = sq_psn
repeat 5 {
  p0 < nack reason no_bitmap psn p
  * > write psn p rtx 1 within 16 rtt
  p0 < nack reason no_bitmap psn p
  * > write psn p rtx 1 within 16 rtt
  p1 < sack cack p
  settle lat
  let p = p + 1
}
p0 < ack psn sq_psn+4 msn 1
> cqe send status ok within rtt

id Q-NACK-041
purpose several NACKs at once: each of these packets goes again, and no other
mark S2
cite mrc.md 7
rules req.nack-again req.rtx-cause req.rtx-same
dut post write len 8192
set > write rtx 0 psn sq_psn .. sq_psn+7 each once within 2 rtt
p0 < nack reason trimmed psn sq_psn+6
p1 < nack reason trimmed psn sq_psn+1
p0 < nack reason trimmed psn sq_psn+3
p1 < nack reason trimmed psn sq_psn+4
any order {
  * > write psn sq_psn+1 rtx 1 data posted
  * > write psn sq_psn+3 rtx 1 data posted
  * > write psn sq_psn+4 rtx 1 data posted
  * > write psn sq_psn+6 rtx 1 data posted
} within 2 rtt
settle rtt
expect sent(sq_psn) == 1 and sent(sq_psn+2) == 1 and sent(sq_psn+5) == 1 and sent(sq_psn+7) == 1

id Q-NACK-042
purpose a packet that is NACKed and reported before its NACK is known needs no repeat: a NACK about what has arrived
mark A, S2
cite mrc.md 7
rules req.rtx-reported req.rtx-cause
negative
dut post write len 4096
set > write rtx 0 psn sq_psn .. sq_psn+3 each once within 2 rtt
p0 < sack cack sq_psn+1
settle rtt
p0 < nack reason trimmed psn sq_psn as late
none > write psn sq_psn rtx 1 from late within rtt
p1 < sack cack sq_psn+3
p1 < ack psn sq_psn+3 msn 1
> cqe send status ok within rtt

cases id reason {
  Q-NACK-043 trimmed
  Q-NACK-044 no_bitmap
  Q-NACK-045 psn_oor_window
}
purpose a NACK $reason about a message that has completed brings nothing back: its memory belongs to the application
mark S2
cite mrc.md 6; mrc.md 7
rules req.rtx-cause req.rtx-reported
negative
dut post write len 2048
set > write rtx 0 psn sq_psn .. sq_psn+1 each once within 2 rtt
p0 < sack cack sq_psn+1
p0 < ack psn sq_psn+1 msn 1
> cqe send status ok within rtt
p1 < nack reason $reason psn sq_psn+1 as late
none > write from late within rtt
dut post write len 64
* > write only psn sq_psn+2 rtx 0 within rtt

cases id psn what {
  Q-NACK-046 sq_psn+4        "the next PSN, which was never sent"
  Q-NACK-047 sq_psn+100      "a PSN far ahead in the window"
  Q-NACK-048 sq_psn-1        "the PSN before the first"
  Q-NACK-049 sq_psn+8388607  "half the numbers ahead"
  Q-NACK-050 sq_psn-8000000  "nearly half the numbers behind"
}
purpose a NACK about $what brings nothing: what was never sent is not sent again, and what comes next has rtx 0
mark A, S2
cite mrc.md 7; mrc.md 2
rules req.rtx-unsent req.rtx-cause req.start
negative
dut post write len 4096
set > write rtx 0 psn sq_psn .. sq_psn+3 each once within 2 rtt
p0 < nack reason trimmed psn $psn as wrong
none > write rtx 1 from wrong within rtt
dut post write len 1024
* > write only psn sq_psn+4 rtx 0 data posted within rtt
p0 < sack cack sq_psn+4
p0 < ack psn sq_psn+4 msn 2
> cqe send status ok wr_id 0 within rtt
> cqe send status ok wr_id 1 within rtt

# ---- by gap ----

cases id pkts hi sent what {
  Q-GAP-011 32 sq_psn+31  0 "31 later ones are not enough"
  Q-GAP-012 32 sq_psn+32  1 "32 later ones are enough"
  Q-GAP-013 5  sq_psn+4   0 "four later ones are not enough"
  Q-GAP-014 5  sq_psn+5   1 "five later ones are enough"
  Q-GAP-015 64 sq_psn+63  0 "63 later ones are not enough"
}
purpose a packet that a SACK leaves out is lost once $pkts later ones have arrived: $what
mark U, A, A-08
cite mrc.md 7
rules req.gap-again req.rtx-evidence req.rtx-cause
setting A-08 REORDER.pkts $pkts
setting A-08 REORDER.same_ev 0
profile mtu 256 timeout 14
dut post write len 20480
set > write rtx 0 psn sq_psn .. sq_psn+79 each once within 64 rtt
p0 < sack cack sq_psn-1 trigger $hi has sq_psn+1 .. $hi base sq_psn ooo $hi-sq_psn
settle rtt
expect sent(sq_psn) == 1 + $sent
expect count(> write rtx 1) == $sent

cases id n {
  Q-GAP-021 1
  Q-GAP-022 2
  Q-GAP-023 5
}
purpose a second and a third SACK about the same gap bring no second repeat: each PSN once by gap (gap of $n)
mark A, A-08
cite mrc.md 7
rules req.rtx-evidence req.rtx-cause req.gap-again
setting A-08 REORDER.pkts 32
setting A-08 REORDER.same_ev 0
profile mtu 256 timeout 14
dut post write len 20480
set > write rtx 0 psn sq_psn .. sq_psn+79 each once within 64 rtt
let hi = sq_psn+$n-1+40
p0 < sack cack sq_psn-1 trigger hi has sq_psn+$n .. hi base sq_psn ooo 41-1
settle rtt
p0 < sack cack sq_psn-1 trigger hi+1 has sq_psn+$n .. hi+1 base sq_psn ooo 41
p1 < sack cack sq_psn-1 trigger hi+2 has sq_psn+$n .. hi+2 base sq_psn ooo 42
settle rtt
set > write rtx 1 psn sq_psn .. sq_psn+$n-1 each once from start within 64 rtt
expect count(> write rtx 1) == $n

id Q-GAP-024
purpose three gaps in one SACK: each of the packets goes again, and none beside them
mark U, A, A-08
cite mrc.md 7
rules req.gap-again req.rtx-cause req.rtx-evidence
setting A-08 REORDER.pkts 32
setting A-08 REORDER.same_ev 0
profile mtu 256 timeout 14
dut post write len 20480
set > write rtx 0 psn sq_psn .. sq_psn+79 each once within 64 rtt
p0 < sack cack sq_psn+1 trigger sq_psn+60 has sq_psn+3 .. sq_psn+9 or sq_psn+11 .. sq_psn+19 or sq_psn+21 .. sq_psn+60 \
    base sq_psn+2 ooo 56
any order {
  * > write psn sq_psn+2 rtx 1 data posted
  * > write psn sq_psn+10 rtx 1 data posted
  * > write psn sq_psn+20 rtx 1 data posted
} within 2 rtt
settle rtt
expect count(> write rtx 1) == 3

id Q-GAP-027
purpose of two gaps the one that lies 41 packets back is lost, the one that lies 11 back is not yet
mark U, A, A-08
cite mrc.md 7
rules req.gap-again req.rtx-evidence req.rtx-cause
setting A-08 REORDER.pkts 32
setting A-08 REORDER.same_ev 0
profile mtu 256 timeout 14
dut post write len 20480
set > write rtx 0 psn sq_psn .. sq_psn+79 each once within 64 rtt
p0 < sack cack sq_psn-1 trigger sq_psn+41 has sq_psn+1 .. sq_psn+29 or sq_psn+31 .. sq_psn+41 base sq_psn ooo 40
* > write psn sq_psn rtx 1 within rtt
settle rtt
expect count(> write rtx 1) == 1 and sent(sq_psn+30) == 1

id Q-GAP-025
purpose a gap that the bitmap does not cover is no loss: a clear bit counts where there is one
mark U, A, A-08
cite mrc.md 7; mrc.md 3
rules req.rtx-evidence req.rtx-cause
setting A-08 REORDER.pkts 32
setting A-08 REORDER.same_ev 0
profile mtu 256 timeout 14
negative
dut post write len 30720
set > write rtx 0 psn sq_psn .. sq_psn+119 each once within 64 rtt
p0 < sack cack sq_psn-1 trigger sq_psn+100 has sq_psn+40 .. sq_psn+100 base sq_psn+40 ooo 100
settle rtt
expect count(> write rtx 1) == 0
p0 < sack cack sq_psn-1 trigger sq_psn+101 has sq_psn+1 .. sq_psn+63 base sq_psn ooo 101
* > write psn sq_psn rtx 1 within 2 rtt
settle rtt
expect count(> write rtx 1) == 1

id Q-GAP-026
purpose reordering is no loss: reports in any order, each a few packets late, bring no repeat
mark S2, A-08
cite mrc.md 7
rules req.rtx-evidence req.rtx-cause
setting A-08 REORDER.pkts 32
setting A-08 REORDER.same_ev 0
profile mtu 256 timeout 14
negative
dut post write len 4096
set > write rtx 0 psn sq_psn .. sq_psn+15 each once within 16 rtt
p0 < sack cack sq_psn-1 trigger sq_psn+3 has sq_psn+3 base sq_psn ooo 1
p1 < sack cack sq_psn-1 trigger sq_psn+2 has sq_psn+2 .. sq_psn+3 base sq_psn ooo 2
p0 < sack cack sq_psn trigger sq_psn has sq_psn+2 .. sq_psn+3 base sq_psn+1 ooo 2
p1 < sack cack sq_psn trigger sq_psn+9 has sq_psn+2 .. sq_psn+9 base sq_psn+1 ooo 8
p0 < sack cack sq_psn+9 trigger sq_psn+1
p1 < sack cack sq_psn+9 trigger sq_psn+15 has sq_psn+11 .. sq_psn+15 base sq_psn+10 ooo 5
p0 < sack cack sq_psn+15 trigger sq_psn+10
p0 < ack psn sq_psn+15 msn 1
> cqe send status ok within rtt
settle rtt
expect count(> write rtx 1) == 0

cases id same sent what {
  Q-GAP-031 1 1 "it goes again at once"
  Q-GAP-032 0 0 "with that switched off it does not"
}
purpose the oldest packet, when a later one on the same EV is reported: $what
mark A, A-08
cite mrc.md 7
rules req.rtx-evidence req.rtx-cause
setting A-08 REORDER.same_ev $same
setting A-08 REORDER.pkts 64
profile mtu 256 timeout 14
evs 4
dut post write len 8192
set > write rtx 0 psn sq_psn .. sq_psn+31 each once within 64 rtt
let e = sent_first(sq_psn).ev
let p = last(> write ev e).psn                            # the last one that has left on it
assume p > sq_psn else unsupported "no later packet on this EV"
p0 < sack cack sq_psn-1 trigger p has p base sq_psn ooo 1
settle rtt
expect count(> write rtx 1) == $sent
expect sent(sq_psn) == 1 + $sent

id Q-GAP-033
purpose a later packet on another EV that is reported is no sign of loss: paths are of different length
mark S2, A-08
cite mrc.md 7; paper 2.1
rules req.rtx-evidence req.rtx-cause
setting A-08 default
profile mtu 256 timeout 14
negative
dut post write len 2048
set > write rtx 0 psn sq_psn .. sq_psn+7 each once within 16 rtt
let e = sent_first(sq_psn).ev
assume sent_first(sq_psn+5).ev != e else unsupported "the same EV"
p0 < sack cack sq_psn-1 trigger sq_psn+5 has sq_psn+5 base sq_psn ooo 1
none > write rtx 1 within rtt
