# SPDX-License-Identifier: Apache-2.0
# Traffic classes: code points of data and retransmissions that belong to the QP (A-79), those of endpoint requests (A-60).
tier 3
caps requestor
planes 1
profile timeout 14
mark C, A-79
cite mrc.md 4

cases id data rtx {
  S-A79-QP-001 10 11
  S-A79-QP-002 1 2
  S-A79-QP-003 5 5
  S-A79-QP-004 0 63
  S-A79-QP-005 8 4
}
purpose A-79, a QP with a class of its own ($data, $rtx): first transmissions have the one code point, retransmissions the other
rules wire.class req.nack-again
caps class
profile class_data $data class_rtx $rtx
dut post write len 8192
any order { * > write first psn sq_psn rtx 0 dscp $data ; * > write last psn sq_psn+1 rtx 0 dscp $data } within 2 rtt
p0 < nack reason trimmed psn sq_psn
* > write first psn sq_psn rtx 1 dscp $rtx within rtt
p0 < sack cack sq_psn+1
p0 < ack psn sq_psn+1 msn 1
> cqe send status ok within rtt

id S-A79-QP-006
purpose A-79, what the timer sends again is in the QP's class of retransmissions, immediates and WRITEs of no bytes included
rules wire.class req.timer
caps class write_imm
setting A-19 CTRL.zero_length 0
profile timeout 5 class_data 21 class_rtx 22
dut post write len 64 imm 1
dut post write len 0
any order { * > write psn sq_psn rtx 0 dscp 21 ; * > write psn sq_psn+1 rtx 0 dscp 21 } within 2 rtt
any order { * > write psn sq_psn rtx 1 dscp 22 ; * > write psn sq_psn+1 rtx 1 dscp 22 } within 6 rto

id S-A79-QP-007
purpose A-79, the class of a QP goes before that of the NIC, whatever that is
mark C, A-79, A-04
rules wire.class
caps class
setting A-04 DSCP_TX.data 6
setting A-04 DSCP_TX.rtx 7
profile class_data 30 class_rtx 31
dut post write len 64
* > write psn sq_psn rtx 0 dscp 30 within rtt
p0 < nack reason trimmed psn sq_psn
* > write psn sq_psn rtx 1 dscp 31 within rtt

id S-A79-NIC-001
purpose A-79, a QP without a class of its own has that of the NIC
mark C, A-79, A-04
rules wire.class
setting A-04 DSCP_TX.data 6
setting A-04 DSCP_TX.rtx 7
dut post write len 64
* > write psn sq_psn rtx 0 dscp 6 within rtt
p0 < nack reason trimmed psn sq_psn
* > write psn sq_psn rtx 1 dscp 7 within rtt

cases id encap {
  S-A79-QP-011 srv6
  S-A79-QP-012 srh
}
purpose A-79, in $encap outer and inner header of a WRITE have the QP's code points
rules wire.class wire.encap
caps class $encap
encap $encap
profile class_data 10 class_rtx 11
dut post write len 64
* > write psn sq_psn rtx 0 outer_ipv6.dscp 10 ipv6.dscp 10 within rtt
p0 < nack reason trimmed psn sq_psn
* > write psn sq_psn rtx 1 outer_ipv6.dscp 11 ipv6.dscp 11 within rtt

id S-A79-QP-013
purpose A-79, the reliability probe of a QP is in its class of data
mark C, A-79, A-75
rules wire.class
caps class
setting A-75 CTRL.state_silent 0
profile timeout 8 class_data 10 class_rtx 11
dut post write len 64
* > write psn sq_psn dscp 10 within rtt
* > probe dqp peer_qp dscp 10 ecn ect0 within rto

cases id kind what {
  S-A79-QP-014 1 "an EV probe"
  S-A79-QP-015 2 "a reliability probe"
}
purpose A-79, $what that brings an EV of the QP back is in its class of data, not in that of endpoint requests
mark C, A-79, A-32, A-60
rules wire.class path.probed
caps class
setting A-32 EV_PROBE.kind $kind
setting A-60 DSCP_TX.ep 33
setting A-75 CTRL.state_silent 1
setting A-31 EV_CTL.min_active 0
evs 8
profile timeout 5 class_data 10 class_rtx 11
peer auto sack each
when > write psn sq_psn rtx 0 : answer lost
dut post write len 64
* > write psn sq_psn rtx 1 dscp 11 within 6 rto
until count(> endpoint request op ev_probe) + count(> probe) >= 1 within 1 ms
expect count(> * dscp 33) == 0 and count(> endpoint request op ev_probe dscp 10) + count(> probe dscp 10) >= 1

id S-A79-TWO-001
purpose A-79, two QPs with different classes: each packet has that of its QP
rules wire.class
caps class
profile class_data 10 class_rtx 11
qp b class_data 20 class_rtx 21
dut post write len 64
with b { dut post write len 64 }
dut post write len 64
with b { dut post write len 64 }
any order {
  * > write psn sq_psn dscp 10
  * > write psn sq_psn+1 dscp 10
  * > write psn sq_psn dscp 20 of b
  * > write psn sq_psn+1 dscp 20 of b
} within 2 rtt
p0 < nack reason trimmed psn sq_psn
with b { p0 < nack reason trimmed psn sq_psn+1 }
any order { * > write psn sq_psn rtx 1 dscp 11 ; * > write psn sq_psn+1 rtx 1 dscp 21 of b } within 2 rtt

id S-A79-TWO-002
purpose A-79, beside a QP with a class of its own another QP has that of the NIC
rules wire.class
caps class
profile class_data 10 class_rtx 11
qp b
dut post write len 64
with b { dut post write len 64 }
any order { * > write psn sq_psn dscp 10 ; * > write psn sq_psn dscp 4 of b } within 2 rtt
with b {
  p0 < nack reason trimmed psn sq_psn
  * > write psn sq_psn rtx 1 dscp 8 within rtt
}

id S-A79-QP-022
purpose A-79, the class ends with the QP: after a reset it has that of the NIC
rules wire.class qp.state
caps class psn
profile class_data 40 class_rtx 41
background ignore sack ack nack probe endpoint write cqe
dut post write len 64
* > write psn sq_psn rtx 0 dscp 40 within rtt
dut qp state reset
settle 2 rtt
dut qp again sq_psn 0x5000
let anew = now
dut post write len 64
* > write bth.psn 0x5000 rtx 0 dscp 4 from anew within 2 rtt
p0 < nack reason trimmed psn sq_psn
* > write bth.psn 0x5000 rtx 1 dscp 8 from anew within 2 rtt

id S-A79-QP-023
purpose A-79, a QP that is set up anew may have another class
rules wire.class qp.state
caps class psn
profile class_data 10 class_rtx 11
background ignore sack ack nack probe endpoint write cqe
dut post write len 64
* > write psn sq_psn rtx 0 dscp 10 within rtt
dut qp state reset
settle 2 rtt
dut qp again sq_psn 0x5000 class_data 50 class_rtx 51
let anew = now
dut post write len 64
* > write bth.psn 0x5000 rtx 0 dscp 50 from anew within 2 rtt

# ---- endpoint requests: the code point is their caller's (A-60) ----

cases id ep {
  S-A60-EP-001 33
  S-A60-EP-002 0
  S-A60-EP-003 4
}
purpose A-60, a port status update has the code point of endpoint requests (DSCP_TX.ep $ep), data have their own
mark S, C, A-60
cite mrc.md 4; mrc.md 5
rules wire.class peer.mask
setting A-60 DSCP_TX.ep $ep
caps requestor ports
planes 2
evs 16
profile timeout 7
peer auto sack each
dut post write len 4096 * 64
p0 carrier down as down
p1 > endpoint request op port_status dscp $ep ecn ect0 within 200 us from down
expect count(> write rtx 0) == count(> write rtx 0 dscp data)

id S-A60-EP-004
purpose A-60, endpoint requests of a NIC do not follow the code point of its data, nor the class of a QP
mark S, C, A-60, A-79, A-04
cite mrc.md 4; mrc.md 5
rules wire.class peer.mask
setting A-60 DSCP_TX.ep 33
setting A-04 DSCP_TX.data 6
caps class requestor ports
planes 2
evs 16
profile timeout 7 class_data 10 class_rtx 11
peer auto sack each
dut post write len 4096 * 64
p0 carrier down as down
p1 > endpoint request op port_status dscp 33 within 200 us from down
expect count(> write rtx 0) == count(> write rtx 0 dscp 10)

cases id order dscp {
  S-A60-EP-031 "dscp 40" 40
  S-A60-EP-032 "dscp 0" 0
  S-A60-EP-033 "dscp control" 46
  S-A60-EP-034 "" 33
}
purpose A-60, an EV probe that software orders has the code point that its caller gives ($order), else that of endpoint requests
mark S, A-60
cite mrc.md 4; mrc.md 5
rules wire.class wire.op
setting A-60 DSCP_TX.ep 33
caps order_evprobe
planes 2
evs 16
dut evprobe 0xC1230456 on p1 $order
p1 > endpoint request op ev_probe dscp $dscp ecn ect0 ev 0xC1230456 dqp 2 within rtt

id S-A60-EP-035
purpose A-60, an ordered EV probe leaves the class of its QP alone: data have their own code point
mark S, C, A-60, A-79
cite mrc.md 4; mrc.md 5
rules wire.class
setting A-60 DSCP_TX.ep 33
caps order_evprobe class
planes 2
evs 16
profile class_data 10 class_rtx 11
dut evprobe 0xC1230456 on p0 dscp 40
p0 > endpoint request op ev_probe dscp 40 within rtt
settle rtt
dut post write len 64
* > write psn sq_psn rtx 0 dscp 10 within rtt
dut evprobe 0xC1230457 on p1
p1 > endpoint request op ev_probe dscp 33 ev 0xC1230457 within rtt
