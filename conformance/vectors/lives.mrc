# SPDX-License-Identifier: Apache-2.0
# A NIC is reset by its pin in the middle of what it does, and set up again (docs/design/blocks/reset.md): nothing of
# the life before is reported, placed, completed or sent in the new one.
tier 3
caps responder reset psn
planes 2
evs 16
profile mtu 1024 timeout 14
cite mrc.md 6; mrc.md 7; IBTA 10.3.1
mark S2, A

# ---- the responder ----

cases id late what {
  R-LIFE-001 "p0 < m[1] ackreq"                    "data"
  R-LIFE-002 "p0 < m[1] rtx ackreq"                "a retransmission"
  R-LIFE-003 "p0 < probe id 5"                     "a probe"
  R-LIFE-004 "p0 < sack cack sq_psn"               "a SACK"
  R-LIFE-005 "p0 < nack reason trimmed psn sq_psn" "a NACK"
}
purpose $what of the life before comes while the QP is in RESET: no answer, nothing placed; then the QP lives
rules mem.region resp.cack-arrived qp.state
background ignore sack ack nack nak probe endpoint write cqe
msg m = write len 2048 at buf seq 7
p0 < m[0]
settle rtt
dut reset
let anew = now
mem fill buf 4096 = 0xa5
$late
none > sack from anew within rtt
expect count(> nack from anew) == 0 and count(> ack from anew) == 0 and count(> write from anew) == 0
mem same buf 4096 = 0xa5
dut qp again rq_psn 0x804000
msg n = write len 64 at buf+8192 seq 8
p1 < n[0] ackreq
any order { * > sack cack n[0] ; * > ack psn n[0] msn 1 } within rtt

cases id rq late what {
  R-LIFE-011 0x804000 "p0 < m[1] ackreq"     "data"
  R-LIFE-012 0x804000 "p0 < m[1] rtx ackreq" "a retransmission"
  R-LIFE-013 0x804000 "p0 < m[0] ackreq"     "a copy of data that came before"
}
purpose $what of the life before comes when the QP is set up again with other PSNs: not placed, not reported; the new message is
rules mem.region resp.cack-arrived resp.bitmap
negative
background ignore sack ack nack nak probe endpoint write cqe
repair off
msg m = write len 2048 at buf seq 7
p0 < m[0]
settle rtt
dut reset
mem fill buf 4096 = 0xa5
dut qp again rq_psn $rq
$late
settle rtt
mem same buf 4096 = 0xa5
msg n = write len 64 at buf+8192 seq 8
p1 < n[0] ackreq
any order { * > sack cack n[0] ooo 0 ; * > ack psn n[0] msn 1 } within rtt
mem digest buf+8192 64 = seq 8

id R-LIFE-021
purpose with the same PSNs as before nothing has come: a SACK reports the new packet alone, the message is placed anew
rules resp.cack-arrived resp.ooo-least resp.ack-psn mem.written
background ignore sack ack nack nak probe endpoint write cqe
msg m = write len 4096 at buf seq 7
p0 < m[0]
p0 < m[1]
p0 < m[3] ackreq
* > sack cack m[1] trigger m[3] within rtt
dut reset
mem fill buf 4096 = 0xa5
dut qp again
let anew = now
msg n = write len 4096 at buf seq 9
p1 < n[2] ackreq
* > sack cack n[0]-1 trigger n[2] ooo 1 from anew within 2 rtt
p0 < n[0]
p0 < n[1]
p0 < n[3] ackreq
any order { * > sack cack n[3] ; * > ack psn n[3] msn 1 } within rtt
mem digest buf 4096 = seq 9

id R-LIFE-022
purpose rcvd_bytes begins at 0 again
rules resp.bytes
background ignore sack ack nack nak probe endpoint write cqe
msg m = write len 16384 at buf seq 7
let k = 0
repeat 16 {
  p0 < m[k]
  let k = k + 1
}
settle rtt
dut reset
dut qp again
msg n = write len 64 at buf
p0 < n[0] ackreq
* > sack cack n[0] rcvd <= 2 within rtt

cases id rq what {
  R-LIFE-023 0x804000 "other PSNs"
  R-LIFE-024 0x1000   "the same PSNs"
}
purpose memory took nothing when the pin fell, and does again in the new life, with $what: what waited for it never comes
rules mem.region mem.once
caps slow_memory write_imm
background ignore sack ack nack nak probe endpoint write
mem fill buf 4096 = 0xa5
dut memory hold
msg m = write len 1024 at buf seq 7 imm 5
p0 < m[0] ackreq
settle 2 rtt
dut reset
dut qp again rq_psn $rq
dut memory take
settle 2 rtt
mem same buf 4096 = 0xa5
expect count(> cqe) == 0
dut recv 1
msg n = write len 64 at buf+8192 seq 8 imm 6
p1 < n[0] ackreq
> cqe receive imm 6 rqmsn 0 within 2 rtt

id R-LIFE-025
purpose an immediate that waited for a packet of the life before never completes; the new one is the first
rules resp.cqe-order
caps write_imm
background ignore sack ack nack nak probe endpoint write
dut recv 2
msg m = write len 2048 at buf imm 5
p0 < m[1]
settle rtt
dut reset
dut qp again rq_psn 0x804000
dut recv 2
p0 < m[0]
settle rtt
expect count(> cqe) == 0
msg n = write len 64 at buf+8192 imm 6
p1 < n[0]
> cqe receive imm 6 rqmsn 0 within rtt

id R-LIFE-026
purpose of two QPs one is set up again: the other one is in RESET, and answers nothing
rules qp.state resp.cack-arrived
background ignore sack ack nack nak probe endpoint write cqe
qp b
with b { msg n = write len 64 at buf+4096 }
dut reset
dut qp again rq_psn 0x804000
let anew = now
p0 < n[0] ackreq
msg o = write len 64 at buf
p1 < o[0] ackreq
* > sack cack o[0] from anew within 2 rtt
expect count(> sack of b from anew) == 0 and count(> nack of b from anew) == 0

id R-LIFE-027
purpose an endpoint request is answered when a QP names its address again
rules peer.answer
background ignore sack ack nack nak probe endpoint write cqe
dut reset
dut qp again
let anew = now
p0 < evprobe id 77
* > endpoint response id 77 op ev_probe from anew within 2 rtt

id R-LIFE-028
purpose five lives, one after the other: the last one takes its own message, with the PSNs of the first
rules resp.cack-arrived resp.ack-psn mem.written
background ignore sack ack nack nak probe endpoint write cqe
msg l = write len 4096 at buf+65536
p0 < l[0]
p0 < l[2] ackreq
settle rtt
repeat 4 {
  dut reset
  dut qp again
  settle lat
}
msg m = write len 2048 at buf seq 7
p0 < m[0]
p1 < m[1] ackreq
any order { * > sack cack m[1] ooo 0 ; * > ack psn m[1] msn 1 } within rtt
mem digest buf 2048 = seq 7

# ---- the requestor ----

cases id before what {
  Q-LIFE-001 "settle lat"                                "nothing was heard"
  Q-LIFE-002 "p0 < sack cack sq_psn"                     "a part was reported"
  Q-LIFE-003 "p0 < nack reason no_bitmap psn sq_psn+1"   "a packet was refused"
  Q-LIFE-004 "p0 < nak psn sq_psn msn 0 syndrome nak_remote_access" "a NAK had come"
}
purpose work of which $what when the pin fell never completes, and nothing of it is sent; new work begins with the new PSN
rules req.start req.psn-once req.msn req.cqe-owed
caps requestor
background ignore sack ack nack nak probe endpoint write cqe
dut post write len 4096
set > write rtx 0 psn sq_psn .. sq_psn+3 each once within 2 rtt
$before
dut reset
settle lat
dut qp again sq_psn 0x805000
let anew = now
dut post write len 2048
any order {
  * > write first bth.psn 0x805000 rtx 0 meth.msn 0 data posted from anew
  * > write last bth.psn 0x805001 rtx 0 meth.msn 0 data posted from anew
} within 2 rtt
expect count(> write from anew) == 2
p0 < sack cack sq_psn+1
p0 < ack psn sq_psn+1 msn 1
> cqe send status ok within rtt
expect count(> cqe send from anew) == 1

cases id sq answer what {
  Q-LIFE-011 0x802000 "nack reason trimmed psn 0x2001 entropy 0xC000" "a NACK"
  Q-LIFE-012 0x802000 "sack cack 0x2003 entropy 0xC000"               "a SACK"
  Q-LIFE-013 0x001000 "ack psn 0x2003 msn 1"                          "an ACK"
}
purpose $what for the life before comes late: it brings nothing back, reports nothing, completes nothing
rules req.cqe-ack req.rtx-cause req.nack-again
caps requestor
negative
background ignore sack ack nack nak probe endpoint write cqe
dut post write len 4096
set > write rtx 0 psn sq_psn .. sq_psn+3 each once within 2 rtt
dut reset
dut qp again sq_psn $sq
let anew = now
dut post write len 4096
until count(> write rtx 0 from anew) == 4 within 4 rtt
p0 < $answer
none > write rtx 1 within rtt from last
expect count(> cqe) == 0
p0 < sack cack sq_psn+3
p0 < ack psn sq_psn+3 msn 1
> cqe send status ok within rtt

id Q-LIFE-021
purpose timers of the life before are no more: in 40 of them nothing is sent
rules req.rtx-cause qp.state
caps requestor
profile timeout 4
background ignore sack ack nack nak probe endpoint write cqe
dut post write len 4096
settle lat
dut reset
dut qp again sq_psn 0x805000
let anew = now
none > write from anew within 40 rto
expect count(> cqe) == 0
dut post write len 64
* > write bth.psn 0x805000 rtx 0 within 2 rtt

id Q-LIFE-022
purpose an EV that was denied in the life before is used again in the new one
rules path.denied path.allowed
caps requestor ev_control
evs 4
background ignore sack ack nack nak probe endpoint write cqe
dut ev e0 deny
settle rtt
dut reset
dut qp again
let anew = now
peer auto
dut post write len 256 * 64
until count(> cqe send status ok) == 64 within 20 rto
expect count(> write ev e0 from anew) >= 1
