# SPDX-License-Identifier: Apache-2.0
# The retransmission timer: when it goes off, how often, what it brings back and what not; what is asked meanwhile.
# Nobody answers questions where the timer is asked: an answer would tell of losses by time (A-83, A-84).
tier 3
caps requestor
planes 2
evs 16
profile mtu 1024

cases id t {
  Q-TIME-001 4
  Q-TIME-002 5
  Q-TIME-003 6
  Q-TIME-004 7
}
purpose a packet that nobody reports goes again after 1.024 us times 2^$t at the earliest, and not much later
mark S, A-07
cite mrc.md 7
rules req.timer req.rtx-evidence req.rtx-same
profile timeout $t retry_linear 7
dut post write len 700
* > write only psn sq_psn rtx 0 within rtt as one
* > write only psn sq_psn rtx 1 bytes 700 data posted dscp rtx within 4 rto from one as two
expect two.t - one.t >= rto * 9 / 10
expect two.ev != one.ev

cases id mtu {
  Q-TIME-011 256
  Q-TIME-012 512
  Q-TIME-013 1024
  Q-TIME-014 2048
  Q-TIME-015 4096
}
purpose what the timer brings back is what was sent: a message of three packets, MTU $mtu
mark S, S2+
cite mrc.md 7; mrc.md 3
rules req.timer req.rtx-same req.rtx-head
profile mtu $mtu timeout 5
dut post write len (2*$mtu+3) at 256
set > write rtx 0 psn sq_psn .. sq_psn+2 each once within 2 rtt
any order {
  * > write first psn sq_psn rtx 1 msn 0 va 0x600000000100 bytes $mtu len 2*$mtu+3 data posted
  * > write middle psn sq_psn+1 rtx 1 msn 0 va 0x600000000100+$mtu bytes $mtu len 2*$mtu+3 data posted
  * > write last psn sq_psn+2 rtx 1 msn 0 va 0x600000000100+2*$mtu bytes 3 len 2*$mtu+3 bth.pad_count 1 data posted
} within 4 rto

cases id cack has back what {
  Q-TIME-021 sq_psn-1 "sq_psn+1 .. sq_psn+7" "sq_psn .. sq_psn" "the first one alone is missing"
  Q-TIME-022 sq_psn-1 "sq_psn+4 .. sq_psn+7" "sq_psn .. sq_psn+3" "the second half is here"
  Q-TIME-023 sq_psn+3 "sq_psn+6 .. sq_psn+7" "sq_psn+4 .. sq_psn+5" "two in the middle are missing"
  Q-TIME-024 sq_psn+6 "sq_psn+8"             "sq_psn+7 .. sq_psn+7" "the last one is missing"
  Q-TIME-025 sq_psn-1 "sq_psn .. sq_psn+3"   "sq_psn+4 .. sq_psn+7" "bits of the bitmap where cack_psn lags behind"
}
purpose the timer brings back what was not reported, and nothing else: $what
mark S2, S
cite mrc.md 7; mrc.md 3
rules req.timer req.rtx-cause req.rtx-reported
setting A-08 REORDER.same_ev 0
profile timeout 5
dut post write len 8192
set > write rtx 0 psn sq_psn .. sq_psn+7 each once within 2 rtt
p0 < sack cack $cack trigger sq_psn+6 has $has base $cack+1 ooo 1
set > write rtx 1 psn $back each once within 4 rto
settle rto
expect count(> write rtx 1) == count(> write rtx 1 psn $back)

id Q-TIME-020
purpose a bitmap says nothing of the packets behind its 64 bits: the timer brings them back
mark S2, S
cite mrc.md 7; mrc.md 3
rules req.timer req.rtx-cause
setting A-08 REORDER.same_ev 0
profile timeout 5 mtu 256
dut post write len 20480
set > write rtx 0 psn sq_psn .. sq_psn+79 each once within 16 rtt
p0 < sack cack sq_psn-1 trigger sq_psn+15 has sq_psn+1 .. sq_psn+15 base sq_psn ooo 15
set > write rtx 1 psn sq_psn+64 .. sq_psn+79 each once within 4 rto
expect count(> write rtx 1 psn sq_psn+1 .. sq_psn+15) == 0

id Q-TIME-026
purpose a repeat that gets lost too goes again by the timer
mark S, S2
cite mrc.md 7
rules req.timer req.rtx-same req.retries
profile timeout 5
dut post write len 700
* > write psn sq_psn rtx 0 within rtt
* > write psn sq_psn rtx 1 within 4 rto as two
* > write psn sq_psn rtx 1 from two.t+1 within 4 rto as three
expect three.t - two.t >= rto * 9 / 10
expect three.data == 1 and two.data == 1 and three.ev != two.ev

id Q-TIME-027
purpose a packet that is sent long after one that nobody reports has a time of its own
mark S, A-07
cite mrc.md 7
rules req.timer req.rtx-evidence
profile timeout 5 retry_linear 7
dut post write len 700
* > write psn sq_psn rtx 0 within rtt
* > write psn sq_psn rtx 1 within 4 rto as one
* > write psn sq_psn rtx 1 from one.t+1 within 4 rto as two
* > write psn sq_psn rtx 1 from two.t+1 within 4 rto
dut post write len 700
* > write psn sq_psn+1 rtx 0 within rtt as new
* > write psn sq_psn+1 rtx 1 data posted from new.t within 4 rto

id Q-TIME-031
purpose linear retries: three repeats, an interval apart each
mark S, A-35
cite mrc.md 7
rules req.retries req.timer
profile timeout 4 retry_linear 3 retry_exp 0
negative
background ignore sack ack nack nak probe endpoint write cqe
dut post write len 64
* > write psn sq_psn rtx 0 within rtt as t0
* > write psn sq_psn rtx 1 within 4 rto as t1
* > write psn sq_psn rtx 1 from t1.t+1 within 4 rto as t2
* > write psn sq_psn rtx 1 from t2.t+1 within 4 rto as t3
expect min(t1.t-t0.t, t2.t-t1.t, t3.t-t2.t) >= rto * 9 / 10
> cqe send status retries within 4 rto
expect sent(sq_psn) == 4

id Q-TIME-032
purpose exponential retries behind one linear one: each interval is longer than the one before
mark S, A-35
cite mrc.md 7
rules req.retries req.timer
profile timeout 4 retry_linear 1 retry_exp 3
negative
background ignore sack ack nack nak probe endpoint write cqe
dut post write len 64
* > write psn sq_psn rtx 0 within rtt as t0
* > write psn sq_psn rtx 1 within 4 rto as t1
* > write psn sq_psn rtx 1 from t1.t+1 within 8 rto as t2
* > write psn sq_psn rtx 1 from t2.t+1 within 16 rto as t3
* > write psn sq_psn rtx 1 from t3.t+1 within 32 rto as t4
let d2 = t2.t - t1.t
let d3 = t3.t - t2.t
let d4 = t4.t - t3.t
expect 10 * d4 > 14 * d3 and 10 * d3 > 14 * d2
> cqe send status retries within 64 rto
expect sent(sq_psn) == 5

cases id linear exp tries {
  Q-TIME-033 0 0 0
  Q-TIME-034 7 0 7
  Q-TIME-035 0 2 2
}
purpose $linear linear retries and $exp exponential ones: $tries repeats, then the QP fails and is in ERROR
mark S, S2, A-35
cite mrc.md 7
rules req.retries qp.status qp.flush-all
profile timeout 3 retry_linear $linear retry_exp $exp
negative
background ignore sack ack nack nak probe endpoint write
dut post write len 64 * 2
set > write rtx 0 psn sq_psn .. sq_psn+1 each once within 2 rtt
> cqe send status retries wr_id 0 within 64 rto
> cqe send wr_id 1 within rtt
expect sent(sq_psn) == 1 + $tries
settle lat
dut query state error

id Q-TIME-037
purpose exponential intervals grow from the linear one, however many linear retries there were
mark S, A-35
cite mrc.md 7
rules req.retries req.timer
profile timeout 4 retry_linear 3 retry_exp 2
negative
background ignore sack ack nack nak probe endpoint write cqe
dut post write len 64
* > write psn sq_psn rtx 0 within rtt
* > write psn sq_psn rtx 1 within 4 rto as one
* > write psn sq_psn rtx 1 from one.t+1 within 4 rto as two
* > write psn sq_psn rtx 1 from two.t+1 within 4 rto as three
* > write psn sq_psn rtx 1 from three.t+1 within 8 rto as four
* > write psn sq_psn rtx 1 from four.t+1 within 16 rto as five
expect five.t - four.t >= 2 * rto * 9 / 10
> cqe send status retries within 32 rto
expect sent(sq_psn) == 6

id Q-TIME-036
purpose progress gives the retries back: four packets, each repeated once before it is reported, with one retry
mark A, A-35
cite mrc.md 7
rules req.retries req.timer qp.status
profile timeout 5 retry_linear 1 retry_exp 0
dut post write len 4096
set > write rtx 0 psn sq_psn .. sq_psn+3 each once within 2 rtt
let p = sq_psn
repeat 4 {
  * > write psn p rtx 1 within 4 rto
  p0 < sack cack p
  let p = p + 1
}
p0 < ack psn sq_psn+3 msn 1
> cqe send status ok within rtt

id Q-TIME-041
purpose all is reported and no ACK has come: the requestor sends its newest packet again or asks, and an ACK then completes
mark S2, A, A-17
cite mrc.md 6; mrc.md 7
rules req.cqe-owed req.rtx-reported
profile timeout 5
setting A-75 CTRL.state_silent 1
dut post write len 4096
set > write rtx 0 psn sq_psn .. sq_psn+3 each once within 2 rtt
p0 < sack cack sq_psn+3
settle 2 lat
either { * > write psn sq_psn+3 rtx 1 data posted within 4 rto } or { * > probe within 4 rto } flag A-17
p0 < ack psn sq_psn+3 msn 1
> cqe send status ok within rtt
expect sent(sq_psn) == 1 and sent(sq_psn+1) == 1 and sent(sq_psn+2) == 1

id Q-TIME-042
purpose what has completed is never sent again, whatever the timer does
mark S2
cite mrc.md 6; mrc.md 7
rules req.rtx-cause req.rtx-reported
profile timeout 4
negative
dut post write len 4096
set > write rtx 0 psn sq_psn .. sq_psn+3 each once within 2 rtt
p0 < sack cack sq_psn+3
p0 < ack psn sq_psn+3 msn 1
> cqe send status ok within rtt
let quiet = now
none > write from quiet within 6 rto

id Q-TIME-043
purpose a QP that has nothing on its way sends nothing: the timer begins with the first packet
mark S2
cite mrc.md 7
rules req.start req.timer
profile timeout 4
negative
settle 6 rto
expect count(> write) == 0
dut post write len 64
* > write only psn sq_psn rtx 0 within rtt as one
none > write rtx 1 from one within rto * 8 / 10
* > write psn sq_psn rtx 1 within 4 rto from one

cases id silent what {
  Q-TIME-051 0 "it asks for its state"
  Q-TIME-052 1 "it waits for its timer"
}
purpose a QP that hears nothing for a while: $what
mark A, A-75, A-84
cite mrc.md 7
rules req.timer
setting A-75 CTRL.state_silent $silent
setting A-84 CTRL.silence_wait 1
profile timeout 8
dut post write len 64
* > write psn sq_psn rtx 0 within rtt
settle rto * 6 / 10
expect count(> probe) >= 1 - $silent and count(> probe) <= 2 - 2 * $silent
expect count(> write rtx 1) == 0

id Q-TIME-055
purpose a QP that hears nothing asks for its state once, with a probe or two, not again before its timer is over
mark A, A-75, A-84
cite mrc.md 7
rules req.asks-once
setting A-75 CTRL.state_silent 0
setting A-84 CTRL.silence_wait 1
profile timeout 8
dut post write len 64
* > write psn sq_psn rtx 0 within rtt
settle rto * 9 / 10
expect count(> probe) >= 1 and count(> probe) <= 2
expect count(> write rtx 1) == 0

id Q-TIME-056
purpose a packet that never arrives, at a peer that answers all questions: retries end all the same
mark S, A-35, A-84
cite mrc.md 7
rules req.retries
setting A-84 CTRL.silence_wait 0
profile timeout 7 retry_linear 2 retry_exp 0
negative
background ignore sack ack nack nak probe endpoint write cqe
background answer probe as last sack
dut post write len 64
* > write psn sq_psn rtx 0 within rtt
* > write psn sq_psn rtx 1 within 4 rto
> cqe send status retries within 16 rto

id Q-TIME-057
purpose a question that silence asks goes on two planes at once
mark A, A-84, A-75
cite mrc.md 7
rules req.asks-once
setting A-84 CTRL.silence_wait 0
profile timeout 8
dut post write len 64
* > write psn sq_psn rtx 0 within rtt
any order { p0 > probe ; p1 > probe } within rto * 6 / 10
expect count(> probe) == 2

id Q-TIME-058
purpose the SACK of what was sent again says nothing by time of what was sent once
mark A, A-83
cite mrc.md 7
rules req.rtx-cause
setting A-83 CTRL.time_wait 0
profile timeout 8 time_stamps 1
dut post write len 6144
set > write rtx 0 psn sq_psn .. sq_psn+5 each once within 2 rtt
settle 20 us
p0 < nack reason no_pkt_buffer psn sq_psn+1
* > write psn sq_psn+1 rtx 1 within rtt as copy
p0 < sack cack sq_psn-1 trigger sq_psn+1 has sq_psn+1 raw cc_state.tx_timestamp16 = copy.tseth.tx_timestamp16
let told = now
none > write rtx 1 from told within 20 us

id Q-TIME-059
purpose the SACK of a copy of what was reported before says nothing by time
mark A, A-83
cite mrc.md 7
rules req.rtx-cause
setting A-83 CTRL.time_wait 0
profile timeout 8 time_stamps 1
dut post write len 6144
set > write rtx 0 psn sq_psn .. sq_psn+5 each once within 2 rtt
settle 20 us
p0 < nack reason no_pkt_buffer psn sq_psn+1
* > write psn sq_psn+1 rtx 1 within rtt
settle 20 us
p0 < nack reason no_pkt_buffer psn sq_psn+2
* > write psn sq_psn+2 rtx 1 within rtt as copy
p0 < sack cack sq_psn-1 has sq_psn+2 probe 0xFFFF
p0 < sack cack sq_psn-1 trigger sq_psn+2 has sq_psn+2 raw cc_state.tx_timestamp16 = copy.tseth.tx_timestamp16
let told = now
none > write rtx 1 from told within 20 us

cases id wait again what {
  Q-TIME-060 0 1 "it is lost, and sent again at once"
  Q-TIME-061 1 0 "gap, EV or timer find it"
}
purpose a packet that was sent long before what a SACK answers: $what
mark A, A-83
cite mrc.md 7
rules req.rtx-cause req.time-again
setting A-83 CTRL.time_wait $wait
setting A-84 CTRL.silence_wait 1
profile timeout 10 time_stamps 1
dut post write len 64
* > write psn sq_psn rtx 0 within rtt
settle 20 us
dut post write len 64
* > write psn sq_psn+1 rtx 0 within rtt as late
p0 < sack cack sq_psn-1 trigger sq_psn+1 has sq_psn+1 raw cc_state.tx_timestamp16 = late.tseth.tx_timestamp16
settle 20 us
expect count(> write rtx 1) == $again

id Q-TIME-062
purpose what was lost, and not trimmed, is sent again on another plane
mark A, A-85, A-83
cite mrc.md 7
rules req.rtx-cause
setting A-85 CTRL.any_plane 0
setting A-83 CTRL.time_wait 0
profile timeout 10 time_stamps 1
dut post write len 64
* > write psn sq_psn rtx 0 within rtt as first
settle 20 us
dut post write len 64
* > write psn sq_psn+1 rtx 0 within rtt as late
p0 < sack cack sq_psn-1 trigger sq_psn+1 has sq_psn+1 raw cc_state.tx_timestamp16 = late.tseth.tx_timestamp16
* > write psn sq_psn rtx 1 within rtt as again
expect again.plane != first.plane

cases id one times what {
  Q-TIME-064 0 2 "it goes again twice at once, on two planes, neither of them the one before"
  Q-TIME-065 1 1 "it goes again once"
}
purpose what was lost, of a QP that has nothing else to send: $what
mark A, A-89, A-83
cite mrc.md 7
rules req.rtx-cause req.rtx-same req.rtx-head
setting A-89 EV_CTL.one_copy $one
setting A-83 CTRL.time_wait 0
setting A-84 CTRL.silence_wait 1
planes 8
profile timeout 10 time_stamps 1
dut post write len 64
* > write psn sq_psn rtx 0 within rtt as first
settle 20 us
dut post write len 64
* > write psn sq_psn+1 rtx 0 within rtt as late
p0 < sack cack sq_psn-1 trigger sq_psn+1 has sq_psn+1 raw cc_state.tx_timestamp16 = late.tseth.tx_timestamp16
settle 20 us
expect count(> write rtx 1) == $times
expect len(count(> write psn sq_psn by plane)) == 1 + $times

cases id trimmed times what {
  Q-TIME-066 0 2 "nothing was trimmed, and it goes twice"
  Q-TIME-067 1 1 "a packet was trimmed before, and it goes once"
}
purpose two copies of what was lost are not for queues that are full: $what
mark A, A-89, A-83
cite mrc.md 7
rules req.rtx-cause
setting A-89 EV_CTL.one_copy 0
setting A-83 CTRL.time_wait 0
setting A-84 CTRL.silence_wait 1
planes 8
profile timeout 10 time_stamps 1
dut post write len 64
* > write psn sq_psn rtx 0 within rtt as first
settle 5 us
let trimmed = $trimmed
if trimmed {
  p0 < nack reason trimmed psn sq_psn timestamp first.tseth.tx_timestamp16
  * > write psn sq_psn rtx 1 within rtt
}
p0 < sack cack sq_psn trigger sq_psn raw cc_state.tx_timestamp16 = last(> write).tseth.tx_timestamp16
dut post write len 64
* > write psn sq_psn+1 rtx 0 within rtt
settle 60 us                                              # after the trim three quarters of eight times 5 us are too few
dut post write len 64
* > write psn sq_psn+2 rtx 0 within rtt as late
p0 < sack cack sq_psn trigger sq_psn+2 has sq_psn+2 raw cc_state.tx_timestamp16 = late.tseth.tx_timestamp16
settle 20 us
expect count(> write psn sq_psn+1 rtx 1) == $times

id Q-TIME-063
purpose after a trim a question comes by two round trips of what was trimmed, not by the eight that packets may be late
mark A, A-84
cite mrc.md 7
rules req.asks-once
setting A-84 CTRL.silence_wait 0
profile timeout 10 time_stamps 1
dut post write len 64
* > write psn sq_psn rtx 0 within rtt as first
settle 5 us
p0 < nack reason trimmed psn sq_psn timestamp first.tseth.tx_timestamp16
* > write psn sq_psn rtx 1 within rtt
* > probe within 25 us

id Q-TIME-053
purpose a reliability probe of a requestor has the peer's QP, the data class, id, and 0 in what is reserved
mark S2+, A-75
cite mrc.md 3; mrc.md 2; mrc.md 4
rules wire.opcode wire.class wire.reserved wire.pdcid
setting A-75 CTRL.state_silent 0
profile timeout 8
dut post write len 64
* > probe opcode 0xDE dqp peer_qp dscp data ackreq 0 bth.rtx 0 bth.tver 0 peth.reserved0 0 peth.reserved1 0 \
    peth.spdcid qp%65536 or 0 peth.dpdcid peer_qp or 0 within rto

id Q-TIME-054
purpose the answer to a probe reports like any SACK: what it says has arrived is not sent again
mark S2
cite mrc.md 6; mrc.md 7
rules req.rtx-cause req.rtx-reported
profile timeout 5
negative
dut post write len 4096
set > write rtx 0 psn sq_psn .. sq_psn+3 each once within 2 rtt
p0 < sack cack sq_psn+2 probe 0xFFFE
* > write psn sq_psn+3 rtx 1 within 4 rto
settle rto
expect sent(sq_psn) == 1 and sent(sq_psn+1) == 1 and sent(sq_psn+2) == 1
