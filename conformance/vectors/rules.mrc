# SPDX-License-Identifier: Apache-2.0
# Rules that would have no vector otherwise: what never goes back, what is never sent, what ends with its QP.
tier 2

id R-SACK-071
purpose cack_psn never goes back: not for a duplicate, not for a late trim, not for a probe
mark S2
cite mrc.md 6
rules resp.cack-back resp.sack-dup resp.sack-probe
caps responder trim_nack
planes 2
negative
msg m = write len 16384 at buf seq 3
p0 < m[0] ; p0 < m[1] ; p0 < m[2] ; p0 < m[3] ackreq
* > sack cack m[3] within rtt
settle 2 rtt
p1 < m[0] rtx as again
* > sack trigger m[0] cack m[3] within rtt
p0 < m[1] trim 128
p1 < probe id 5
* > sack pr 1 probe 5 cack m[3] within rtt
none > sack cack < m[3] from again within 2 rtt

id R-ACK-021
purpose semantic ACKs never go back: a duplicate of the first of three messages brings none below MSN 3
mark S2
cite mrc.md 6
rules resp.ack-back resp.ack-again
caps responder
planes 2
negative
msg m = write len 4096 at buf seq 3
msg n = write len 4096 at buf+4096 seq 4
msg o = write len 4096 at buf+8192 seq 5
p0 < m[0] ; p0 < n[0] ; p0 < o[0] ackreq
* > ack psn o[0] msn 3 within rtt
settle 2 rtt
p1 < m[0] rtx as again
* > sack trigger m[0] cack o[0] from again within rtt
p0 < n[0] rtx
* > sack trigger n[0] cack o[0] within rtt
none > ack msn < 3 from again within 2 rtt

cases id packet what {
  R-WIN-081 "m[0] ackreq raw bth.psn rq_psn+127" "the last PSN of it, first to come"
  R-WIN-082 "m[0] ackreq" "the first PSN of it"
  R-WIN-083 "m[0] rtx" "a retransmission"
  R-WIN-084 "m[0] raw bth.psn rq_psn+127 trim 128" "a trim of its last PSN"
}
purpose PSN_OOR_WINDOW is said of nothing inside the window: $what
mark S2, A-12
cite mrc.md 6; mrc.md 3
rules resp.nack-oor
caps responder trim_nack
planes 1
profile mtu 256 mpr_dest 1
setting A-12 CTRL.oor_drop 0
negative
background ignore sack ack nack probe endpoint
msg m = write len 128*256 at buf seq 1
p0 < $packet as x
none > nack reason psn_oor_window from x within 2 rtt
p0 < m[0] ackreq
* > sack has m[0] within rtt

cases id packet what {
  R-ERR-021 "m[0] ackreq" "a packet that is in order"
  R-ERR-022 "m[1] rtx" "a retransmission of what never came"
  R-ERR-023 "m[0] trim 128" "a trimmed packet"
  R-ERR-024 "probe id 3" "a probe"
  R-ERR-025 "m[0] ackreq raw bth.psn rq_psn+300" "a packet beyond the window"
  R-ERR-026 "m[0] raw bth.psn rq_psn+16777215-500" "a duplicate of long ago"
  R-ERR-027 "sack cack sq_psn-1" "a SACK about nothing"
}
purpose a QP in RTS never says UNEXP_EVENT: $what
mark A, A-57
cite mrc.md 3; mrc.md 6
rules resp.nack-unexp
caps responder trim_nack
planes 1
profile mtu 256 mpr_dest 1
negative
repair off
background ignore sack ack nack probe endpoint
msg m = write len 1024 at buf seq 1
p0 < $packet as x
none > nack reason unexp_event from x within 2 rtt
p0 < m[0] ackreq
* > sack has m[0] within rtt
dut query state rts

cases id units {
  R-WIN-091 1
  R-WIN-092 2
  R-WIN-093 5
  R-WIN-094 8
}
purpose every SACK offers the window of $units units that software has set, of 8 that were agreed
mark S2, A-59
cite mrc.md 3; mrc.md 6
rules wire.mpr resp.mpr resp.mpr-range
caps responder dyn_mpr
planes 1
profile mtu 256 mpr_dest 8 dynamic_mpr 1
msg m = write len 512 at buf seq 5
dut mpr $units
p0 < m[1] ackreq
* > sack trigger m[1] mpr $units within rtt
p0 < m[0] ackreq
* > sack cack m[1] mpr $units within rtt
p0 < probe id 2
* > sack pr 1 probe 2 mpr $units within rtt
expect count(> sack mpr != $units) == 0

id R-TRIM-181
purpose answers to trimmed packets do not have the code point of a trimmed one themselves
mark S
cite mrc.md 4; mrc.md 9
rules wire.trimmed wire.class
caps responder trim_nack
planes 2
negative
repair off
msg m = write len 8192 at buf seq 3
p0 < m[0] trim 128 dscp trimmed
p1 < m[1] trim 206 dscp lasthop
any order { * > nack reason trimmed psn m[0] ; * > nack reason trimmed_lasthop psn m[1] } within rtt
p0 < m[0] rtx ackreq
* > sack has m[0] within rtt
settle 2 rtt
expect count(> * dscp 12 or 16) == 0

# ---- requestor ----

id Q-TRIM-001
purpose what was trimmed on its way is sent again with the code point of a retransmission, never with that of a trim
mark S
cite mrc.md 4; mrc.md 7
rules wire.trimmed wire.class req.rtx-cause req.rtx-unsent req.nack-again
tier 3
caps requestor
planes 2
evs 16
when > write psn sq_psn+2 rtx 0 : answer nack trimmed
peer auto sack each
dut post write len 4096 * 16
* > write rtx 1 dscp rtx within 4 rto as again
expect sent(again.psn) == 2
until count(> cqe send status ok) == 16 within 8 rto
expect count(> * dscp 12 or 16) == 0

id Q-RTX-001
purpose nothing is lost, so nothing is sent again: no packet has rtx 1
mark A, S2+
cite mrc.md 2; mrc.md 7
rules req.rtx-unsent req.rtx-cause req.psn-once req.rtx-evidence
tier 3
caps requestor
planes 2
evs 16
negative
peer auto sack each
dut post write len 4096 * 64
until count(> cqe send status ok) == 64 within 4 rto
settle 4 rto
expect count(> write rtx 1) == 0
expect count(> write rtx 0 psn sq_psn .. sq_psn+63) == 64

id Q-RTX-002
purpose what is sent again was sent before: each PSN with rtx 1 has a first transmission with rtx 0
mark A, S2+
cite mrc.md 2; mrc.md 7
rules req.rtx-unsent req.psn-once req.rtx-cause
tier 3
caps requestor
planes 2
evs 16
when > write psn sq_psn+1 or sq_psn+6 rtx 0 : answer lost
when > write psn sq_psn+19 rtx 0 : answer nack trimmed
peer auto sack each
dut post write len 4096 * 32
until count(> cqe send status ok) == 32 within 20 rto
let many = count(> write rtx 1)
expect many >= 3
* > write rtx 1 from start within 20 rto as one
* > write rtx 1 from one.t within 20 rto as two
* > write rtx 1 from two.t within 20 rto as three
expect sent_first(one.psn).rtx == 0 and sent_first(two.psn).rtx == 0 and sent_first(three.psn).rtx == 0

id Q-WIN-001
purpose a requestor that hears nothing fills its window of 128 times mpr packets and sends no new one beyond it
mark S2
cite mrc.md 7
rules req.window req.psn-hole req.psn-once
tier 3
caps requestor
planes 2
evs 16
profile mtu 256 timeout 14
negative
peer manual
dut post write len 1048576 * 4
set > write rtx 0 psn sq_psn .. sq_psn+128*mpr-1 each once within 64 rtt
none > write rtx 0 psn > sq_psn+128*mpr-1 within 8 rtt

id Q-WIN-002
purpose the window moves with cack_psn, not with the bitmap: what is reported above a gap makes no room
mark S2
cite mrc.md 7; mrc.md 3
rules req.window req.psn-once
tier 3
caps requestor
planes 2
evs 16
profile mtu 256 timeout 14
negative
peer manual
dut post write len 1048576 * 4
set > write rtx 0 psn sq_psn .. sq_psn+128*mpr-1 each once within 64 rtt
p0 < sack cack sq_psn-1 trigger sq_psn+5 has sq_psn+1 .. sq_psn+5 ooo 5
none > write rtx 0 psn > sq_psn+128*mpr-1 within 8 rtt
p0 < sack cack sq_psn+5
none > write rtx 0 psn > sq_psn+128*mpr+5 within 8 rtt
p1 < sack cack sq_psn+128*mpr-1
set > write rtx 0 psn sq_psn+128*mpr+6 .. sq_psn+256*mpr-1 each once from start within 64 rtt
expect count(> write rtx 0 psn sq_psn+128*mpr .. sq_psn+128*mpr+5) == 6
none > write rtx 0 psn > sq_psn+256*mpr-1 within 8 rtt

id Q-WIN-003
purpose an older cack_psn that comes late gives no room and takes none back
mark S2
cite mrc.md 7
rules req.window req.psn-once
tier 3
caps requestor
planes 2
evs 16
profile mtu 256 timeout 14
negative
peer manual
dut post write len 1048576 * 4
set > write rtx 0 psn sq_psn .. sq_psn+128*mpr-1 each once within 64 rtt
p0 < sack cack sq_psn+128*mpr-1
set > write rtx 0 psn sq_psn+128*mpr .. sq_psn+256*mpr-1 each once within 64 rtt
p1 < sack cack sq_psn+7
none > write rtx 0 psn > sq_psn+256*mpr-1 within 8 rtt
p0 < sack cack sq_psn+256*mpr-1
set > write rtx 0 psn sq_psn+256*mpr .. sq_psn+384*mpr-1 each once within 64 rtt
none > write rtx 0 psn > sq_psn+384*mpr-1 within 8 rtt

id Q-EV-021
purpose an EV's packets leave through the port of its plane, retransmissions too
mark S
cite mrc.md 5; paper 2.1
rules path.plane path.set
tier 3
caps requestor
planes 2
evs 8
when > write psn sq_psn+3 rtx 0 : answer lost
when > write psn sq_psn+8 rtx 0 : answer nack trimmed
peer auto sack each
dut post write len 4096 * 64
until count(> cqe send status ok) == 64 within 20 rto
expect count(p0 > write from start) > 0 and count(p1 > write from start) > 0
expect count(p0 > write ev e0 or e2 or e4 or e6) == count(p0 > write)
expect count(p1 > write ev e1 or e3 or e5 or e7) == count(p1 > write)
expect count(> write rtx 1) >= 2

cases id answer what {
  Q-ERR-001 "nak psn sq_psn msn 0 syndrome nak_remote_access" "a NAK remote access error"
  Q-ERR-002 "nak psn sq_psn msn 0 syndrome nak_invalid_request" "a NAK invalid request"
  Q-ERR-003 "nack reason unexp_event psn sq_psn" "a NACK UNEXP_EVENT"
}
purpose after $what the QP begins no new message, and what is posted does not complete well
mark S2
cite mrc.md 3; mrc.md 6
rules qp.fatal qp.flush req.cqe-ack
tier 3
caps requestor
planes 2
evs 16
negative
background ignore sack ack nack nak probe endpoint write cqe
dut post write len 4096
dut post write len 4096
any order { * > write only psn sq_psn ; * > write only psn sq_psn+1 } within rtt
p0 < $answer
settle 2 lat
let quiet = now
dut post write len 4096
none > write psn sq_psn+2 from quiet within 4 rto
p1 < ack psn sq_psn+1 msn 2
settle 2 rtt
expect count(> cqe send status ok) == 0
dut query state error

id Q-ERR-011
purpose a QP in RESET has no peer: what was posted is not sent, and what was on its way is not repeated
mark S2, A-68
cite mrc.md 7; IBTA 10.3.1
rules qp.state qp.known
tier 3
caps requestor
planes 2
evs 16
negative
background ignore sack ack nack nak probe endpoint write cqe
peer manual
dut post write len 4096 * 8
* > write only psn sq_psn within rtt
dut qp state reset
settle 2 lat
let quiet = now
none > write from quiet within 4 rto
expect count(> probe from quiet) == 0

id H-WR-061
purpose a QP whose max_wimm is 0 sends no immediate: it is refused, and plain WRITEs go on
mark S2, A-62
cite mrc.md 6
rules req.wimm-none req.moves
tier 1
caps requestor write_imm
planes 1
profile max_wimm 0
negative
background ignore sack ack probe endpoint write cqe
dut post write len 64 imm 1
> cqe send status wimm_overrun within rtt
dut post write len 64
* > write only psn sq_psn within rtt
settle rtt
expect count(> write imm 1) == 0

cases id answer status {
  Q-ERR-021 "nak psn sq_psn msn 0 syndrome nak_remote_access" remote_access
  Q-ERR-022 "nak psn sq_psn msn 0 syndrome nak_invalid_request" remote_invalid
}
purpose after a NAK all work completes with an error: the first with $status, what was behind it too, each once
mark S2 (it fails), A (all of it), A-70 (codes)
cite mrc.md 6; mrc.md 7
rules qp.fails qp.flush-all qp.status qp.flush
setting A-70 default
tier 3
caps requestor
planes 2
evs 16
negative
background ignore sack ack nack nak probe endpoint write
dut post write len 4096 * 3
any order { * > write psn sq_psn ; * > write psn sq_psn+1 ; * > write psn sq_psn+2 } within rtt
p0 < $answer
> cqe send status $status wr_id 0 within 8 rtt
> cqe send wr_id 1 within 8 rtt
> cqe send wr_id 2 within 8 rtt
expect count(> cqe send status ok) == 0
settle 4 rto
expect count(> cqe send) == 3

id Q-ERR-024
purpose after a NACK UNEXP_EVENT all work completes with an error, each once
mark S2 (it fails), A (all of it)
cite mrc.md 3; mrc.md 7
rules qp.fails qp.flush-all qp.flush
tier 3
caps requestor
planes 2
evs 16
negative
background ignore sack ack nack nak probe endpoint write cqe
dut post write len 4096 * 3
any order { * > write psn sq_psn ; * > write psn sq_psn+1 ; * > write psn sq_psn+2 } within rtt
p0 < nack reason unexp_event psn sq_psn
until count(> cqe send) == 3 within 16 rtt
expect count(> cqe send status ok) == 0
settle 4 rto
expect count(> cqe send) == 3

cases id linear exp tries {
  Q-RETRY-001 1 0 1
  Q-RETRY-002 3 0 3
  Q-RETRY-003 2 2 4
}
purpose a peer that says nothing: a packet is repeated $tries times ($linear + $exp) at most, then all work fails
mark S2, S (retries of both kinds), A-35
cite mrc.md 7
rules req.retries req.timer qp.status qp.flush-all
tier 3
caps requestor
planes 2
evs 16
profile timeout 5 retry_linear $linear retry_exp $exp
negative
background ignore sack ack nack nak probe endpoint write
dut post write len 4096 * 2
any order { * > write psn sq_psn rtx 0 ; * > write psn sq_psn+1 rtx 0 } within rtt
* > write psn sq_psn rtx 1 within 4 rto
> cqe send status retries wr_id 0 within 64 rto
> cqe send wr_id 1 within 8 rtt
expect count(> cqe send status ok) == 0
expect sent(sq_psn) <= 1 + $tries
expect sent(sq_psn) >= $tries                             # nor does it give up before
let quiet = now
none > write from quiet + 2 lat within 8 rto

id Q-GAP-001
purpose a packet that is left out where 127 later ones are reported is sent again long before its timer
mark U, A, A-08
cite mrc.md 7
rules req.gap-again req.rtx-evidence
setting A-08 default
tier 3
caps requestor
planes 2
evs 16
profile mtu 256 timeout 14
peer manual
dut post write len 32768
set > write rtx 0 psn sq_psn .. sq_psn+127 each once within 64 rtt
p0 < sack cack sq_psn-1 trigger sq_psn+127 has sq_psn+1 .. sq_psn+63 base sq_psn ooo 127
* > write psn sq_psn rtx 1 within 8 rtt
none > write psn sq_psn+1 .. sq_psn+63 rtx 1 within 8 rtt
