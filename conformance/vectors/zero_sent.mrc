# SPDX-License-Identifier: Apache-2.0
# WRITEs of no bytes (A-19) at a requestor: what is posted is sent as one Only packet that takes a PSN and an MSN.
tier 3
caps requestor
planes 1
mark C, A-19
cite mrc.md 6; mrc.md 1
setting A-19 CTRL.zero_length 0

cases id want what rules {
  Q-ZERO-001 "opcode 0xCA" "opcode 0xCA, Only" "wire.opcode req.sequence"
  Q-ZERO-002 "bytes 0 bth.pad_count 0" "no payload and no pad" "req.length wire.pad"
  Q-ZERO-003 "len 0" "DMA length 0" "req.dma"
  Q-ZERO-004 "va 0x600000000040" "the address of the work request" "req.va req.posted"
  Q-ZERO-005 "r_key 0x1234" "the R_Key of the work request" "req.rkey req.posted"
  Q-ZERO-006 "psn sq_psn msn 0 rtx 0" "the first PSN, MSN 0, and no rtx" "req.start req.msn"
  Q-ZERO-007 "udp.length 44 ipv6.payload_length 44 size 98" "lengths of 8 + 12 + 4 + 16 + 4" "wire.format"
  Q-ZERO-008 "dscp data ecn 2" "the class of data, ECT(0)" "wire.class wire.ecn"
  Q-ZERO-009 "icrc good ts 0" "its ICRC right" "wire.icrc"
  Q-ZERO-010 "ev e0 or e1 or e2 or e3" "an EV of its set" "path.set"
}
purpose a posted WRITE of no bytes is sent with $what
mark C, A-19, A-04, A-26
rules req.zero
peer auto
dut post write len 0 at 0x40
* > write only $want within rtt
> cqe send status ok within rtt

cases id want what rules {
  Q-ZERO-011 "opcode 0xCB" "opcode 0xCB, Only with immediate" "wire.opcode req.sequence"
  Q-ZERO-012 "imm 0x89ABCDEF" "its immediate" "req.posted"
  Q-ZERO-013 "bytes 0 bth.pad_count 0 len 0" "no payload, no pad, DMA length 0" "req.length req.dma"
  Q-ZERO-014 "rqmsn 0 msn 0" "RQMSN 0 and MSN 0" "req.rqmsn req.msn"
  Q-ZERO-015 "udp.length 48 ipv6.payload_length 48 size 102" "lengths of 8 + 12 + 4 + 16 + 4 + 4" "wire.format"
}
purpose a posted WRITE of no bytes with immediate is sent with $what
caps write_imm
peer auto
dut post write len 0 imm 0x89ABCDEF
* > write only $want within rtt
> cqe send status ok within rtt

cases id key {
  Q-ZERO-016 0
  Q-ZERO-017 0xDEADBEEF
}
purpose a WRITE of no bytes is sent with the R_Key that it was posted with, $key: no region is asked
rules req.rkey req.zero
peer auto
dut post write len 0 r_key $key
* > write only r_key $key bytes 0 within rtt
> cqe send status ok within rtt

id Q-ZERO-018
purpose the last packet of a burst asks for an acknowledgement, also if it has no bytes
mark U, A-28
cite mrc.md 7
rules req.ackreq
peer auto
dut post write len 0
* > write only bytes 0 ackreq 1 within rtt

cases id encap ts size caps {
  Q-ZERO-021 srv6 0 138 srv6
  Q-ZERO-022 srh 0 162 srh
  Q-ZERO-023 ipv6 1 102 time_stamps
  Q-ZERO-024 srv6 1 142 "srv6 time_stamps"
}
purpose a WRITE of no bytes in $encap, time stamp $ts, is a packet of $size bytes
rules wire.encap wire.format req.length
encap $encap
profile time_stamps $ts
peer auto
dut post write len 0
* > write only bytes 0 len 0 ts $ts size $size icrc good within rtt
> cqe send status ok within rtt

# ---- beside others ----

cases id posts psns msns what {
  Q-ZERO-031 "dut post write len 64 ; dut post write len 0" "bytes 64 psn sq_psn" "bytes 0 psn sq_psn+1 msn 1" "behind an Only"
  Q-ZERO-032 "dut post write len 0 ; dut post write len 64" "bytes 0 psn sq_psn" "bytes 64 psn sq_psn+1 msn 1" "before an Only"
  Q-ZERO-033 "dut post write len 12288 ; dut post write len 0" "bytes 4096 psn sq_psn" "bytes 0 psn sq_psn+3 msn 1" "behind a First, Middle and Last"
  Q-ZERO-034 "dut post write len 0 ; dut post write len 12288" "bytes 0 psn sq_psn" "bytes 4096 psn sq_psn+3 msn 1" "before a First, Middle and Last"
  Q-ZERO-035 "dut post write len 0 ; dut post write len 0" "bytes 0 psn sq_psn" "bytes 0 psn sq_psn+1 msn 1" "behind another"
}
purpose a WRITE of no bytes $what takes one PSN and one MSN, and both complete in the order in which they were posted
rules req.psn-hole req.msn req.sequence req.cqe-order req.cqe-owed req.zero
peer auto
$posts
any order { * > write $psns msn 0 ; * > write $msns } within 2 rtt
> cqe send status ok wr_id 0 within 2 rtt from start
> cqe send status ok wr_id 1 within 2 rtt from start

cases id posts first second what {
  Q-ZERO-041 "dut post write len 64 imm 1 ; dut post write len 0 imm 2" "imm 1 rqmsn 0 bytes 64" "imm 2 rqmsn 1 bytes 0 msn 1" "behind one with bytes"
  Q-ZERO-042 "dut post write len 0 imm 1 ; dut post write len 64 imm 2" "imm 1 rqmsn 0 bytes 0" "imm 2 rqmsn 1 bytes 64 msn 1" "before one with bytes"
  Q-ZERO-043 "dut post write len 0 imm 1 ; dut post write len 0 ; dut post write len 0 imm 2" "imm 1 rqmsn 0 msn 0" "imm 2 rqmsn 1 msn 2" "two messages before another, a plain one between them"
}
purpose an immediate of no bytes $what takes an RQMSN like any
rules req.rqmsn req.msn req.zero
caps write_imm
peer auto
$posts
any order { * > write only $first ; * > write only $second } within 2 rtt
until count(> cqe send status ok) >= 2 within 2 rtt

# ---- again ----

cases id imm caps opcode {
  Q-ZERO-051 "" requestor 0xCA
  Q-ZERO-052 "imm 7" write_imm 0xCB
}
purpose a WRITE of no bytes that was NACKed goes again as it was, with rtx and another EV ($imm)
rules req.nack-again req.rtx-same req.rtx-head path.fresh wire.class
profile timeout 14
dut post write len 0 at 0x40 $imm
* > write only opcode $opcode psn sq_psn rtx 0 within rtt as one
let was = one.ev
p0 < nack reason trimmed psn sq_psn
* > write only opcode $opcode psn sq_psn msn 0 rtx 1 bytes 0 len 0 va 0x600000000040 ev != was dscp rtx within rtt
p0 < sack cack sq_psn
p0 < ack psn sq_psn msn 1
> cqe send status ok within rtt

cases id imm caps {
  Q-ZERO-053 "" requestor
  Q-ZERO-054 "imm 7" write_imm
}
purpose a WRITE of no bytes of which nothing is heard goes again when the timer is over ($imm)
rules req.timer req.rtx-same
profile timeout 5
dut post write len 0 $imm
* > write only psn sq_psn rtx 0 bytes 0 within rtt as one
* > write only psn sq_psn rtx 1 bytes 0 len 0 msn 0 within 4 rto from one
p0 < sack cack sq_psn
p0 < ack psn sq_psn msn 1
> cqe send status ok within rtt

id Q-ZERO-055
purpose between packets that are reported a WRITE of no bytes that is not goes again, and nothing else
rules req.rtx-cause req.rtx-reported req.timer
setting A-08 REORDER.same_ev 0
profile timeout 5
dut post write len 64
dut post write len 0
dut post write len 64
set > write rtx 0 psn sq_psn .. sq_psn+2 each once within 2 rtt
p0 < sack cack sq_psn trigger sq_psn+2 has sq_psn+2 base sq_psn+1 ooo 1
* > write psn sq_psn+1 rtx 1 bytes 0 within 4 rto
p0 < sack cack sq_psn+2
p0 < ack psn sq_psn+2 msn 3
> cqe send status ok wr_id 0 within rtt
> cqe send status ok wr_id 1 within rtt
> cqe send status ok wr_id 2 within rtt
expect sent(sq_psn) == 1 and sent(sq_psn+2) == 1

id Q-ZERO-056
purpose a SACK alone completes no WRITE of no bytes: the ACK does
rules req.cqe-ack req.cqe-owed
profile timeout 14
dut post write len 0
* > write only psn sq_psn within rtt
p0 < sack cack sq_psn
none > cqe within rtt from last
p0 < ack psn sq_psn msn 1
> cqe send status ok within rtt

# ---- numbers that wrap ----

cases id profile first second {
  Q-ZERO-061 "sq_psn 0xFFFFFF" "bth.psn 0xFFFFFF meth.msn 0" "bth.psn 0 meth.msn 1"
  Q-ZERO-062 "msn 0xFFFF" "bth.psn 0x2000 meth.msn 0xFFFF" "bth.psn 0x2001 meth.msn 0"
  Q-ZERO-063 "sq_psn 0xFFFFFF msn 0xFFFF" "bth.psn 0xFFFFFF meth.msn 0xFFFF" "bth.psn 0 meth.msn 0"
}
purpose two WRITEs of no bytes across the end of numbers ($profile)
rules req.psn-hole req.msn req.start
caps psn
profile timeout 14
peer auto
dut post write len 0 * 2
any order { * > write only $first bytes 0 ; * > write only $second bytes 0 } within 2 rtt
until count(> cqe send status ok) == 2 within 2 rtt

id Q-ZERO-064
purpose immediates of no bytes across the end of RQMSN
rules req.rqmsn
caps psn write_imm
profile rqmsn 0xFFFF timeout 14
peer auto
dut post write len 0 imm 1
dut post write len 0 imm 2
any order { * > write only imm 1 rqmsn 0xFFFF ; * > write only imm 2 rqmsn 0 } within 2 rtt
until count(> cqe send status ok) == 2 within 2 rtt

# ---- errors, and the other answers ----

cases id syndrome status {
  Q-ZERO-071 nak_invalid_request remote_invalid
  Q-ZERO-072 nak_remote_access remote_access
}
purpose a responder that takes no WRITE of no bytes says so by NAK ($syndrome): the work fails with $status, QP in ERROR
mark S2, C, A-19, A-70
rules qp.fails qp.status
negative
background ignore sack ack nack probe endpoint cqe
dut post write len 0
* > write only psn sq_psn bytes 0 within rtt
p0 < nak psn sq_psn msn 0 syndrome $syndrome
> cqe send status $status within rtt
settle rtt
dut query state error

cases id zero imm caps {
  Q-ZERO-081 1 "imm 5" write_imm
  Q-ZERO-082 2 "" requestor
  Q-ZERO-083 2 "imm 5" write_imm
}
purpose where WRITEs of no bytes do not exist (CTRL.zero_length $zero) the requestor refuses them, and the QP goes on ($imm)
rules req.posted req.psn-hole req.msn
setting A-19 CTRL.zero_length $zero
negative
background ignore sack ack probe endpoint cqe write
peer auto
dut post write len 0 $imm
> cqe send status local_length within rtt
none > write within rtt
dut post write len 64
* > write only psn sq_psn msn 0 bytes 64 within rtt
> cqe send status ok wr_id 1 within rtt
