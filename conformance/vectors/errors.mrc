# SPDX-License-Identifier: Apache-2.0
# Errors that a responder finds, what it answers, and what a QP does afterwards.
tier 2
caps responder
planes 1

cases id at len what {
  R-NAK-011 "buf" 64 "first bytes of the region"
  R-NAK-012 "buf+buf_bytes-64" 64 "last bytes of the region"
  R-NAK-013 "buf+buf_bytes-1" 1 "last byte of the region"
}
purpose a WRITE to the $what is inside
caps regions
mark S2
cite mrc.md 6; IBTA 10.6.3
rules resp.nak-cause resp.ack-owed mem.source
msg m = write len $len at $at seq 3
p0 < m[0] ackreq
any order { * > sack cack m[0] ; * > ack psn m[0] msn 1 } within rtt
mem digest $at $len = seq 3

cases id message what {
  R-NAK-021 "len 1 at buf-1" "the byte before the region"
  R-NAK-022 "len 1 at buf+buf_bytes" "the byte behind the region"
  R-NAK-023 "len 2 at buf+buf_bytes-1" "the last byte and the one behind it"
  R-NAK-024 "len 2 at buf-1" "the byte before the region and its first one"
  R-NAK-025 "len 4096 at buf+buf_bytes-4095" "a page of which one byte is outside"
  R-NAK-026 "len 64 at buf+0x100000000" "an address that is inside in its low 32 bits"
  R-NAK-027 "len 64 at buf r_key 0" "R_Key 0"
  R-NAK-028 "len 64 at buf r_key 0x1235" "an R_Key next to the right one"
  R-NAK-029 "len 64 at buf r_key 0x80001234" "an R_Key that is right but for its top bit"
}
purpose a WRITE to $what is a remote access error, 0x62: nothing is written, QP in ERROR
caps regions
mark S2, A-24, A-70
cite mrc.md 6; mrc.md 3; IBTA 9.7.4.1
rules resp.nak-owed resp.nak-code mem.region
negative
background ignore sack ack probe endpoint
msg m = write $message seq 3
mem fill buf 64 = 0xa5
mem fill buf+buf_bytes-64 64 = 0xa5
p0 < m[0] ackreq
* > nak syndrome 0x62 psn m[0] msn 0 within rtt
mem same buf 64 = 0xa5
mem same buf+buf_bytes-64 64 = 0xa5
settle rtt
dut query state error

id R-NAK-031
purpose a region that software has taken back is no region
caps regions
mark S2
cite mrc.md 6; IBTA 10.6.3
rules mem.region
negative
background ignore sack ack probe endpoint
msg m = write len 64 at buf seq 3
msg n = write len 64 at buf+64 seq 4
mem fill buf 128 = 0xa5
p0 < m[0] ackreq
* > ack psn m[0] msn 1 within rtt
dut mr invalid
p0 < n[0] ackreq
* > nak syndrome 0x62 psn n[0] msn 1 within rtt
mem digest buf 64 = seq 3
mem same buf+64 64 = 0xa5

id R-NAK-032
purpose of a message that runs out of its region what is inside may be there, what is outside is not, and there is no ACK
caps regions
mark S2, A-24
cite mrc.md 6
rules mem.region resp.nak-final
negative
background ignore sack probe endpoint
msg m = write len 8192 at buf+buf_bytes-4096 seq 3
p0 < m[0] ackreq
* > sack cack m[0] within rtt
p0 < m[1] ackreq
* > nak syndrome 0x62 msn 0 within rtt
none > ack within rtt from last
settle rtt
dut query state error

id R-NAK-033
purpose after its NAK the QP answers nothing with an ACK and places nothing that is in order
caps regions
mark S2, A-24, A-57
cite mrc.md 6
rules resp.nak-final
negative
background ignore sack nack nak probe endpoint
msg m = write len 64 at buf seq 3 r_key wrong
msg n = write len 64 at buf+64 seq 4
mem fill buf 128 = 0xa5
p0 < m[0] ackreq
* > nak syndrome 0x62 psn m[0] msn 0 within rtt
p0 < n[0] ackreq as after
none > ack within rtt from after
mem same buf 128 = 0xa5
p0 < probe id 4 as asked
none > ack within rtt from asked
settle rtt
dut query state error

cases id code {
  R-NAK-034 0x62
  R-NAK-035 0x63
  R-NAK-036 0x61
}
purpose the syndrome of an access error is A-70's setting, $code
caps regions
mark A, A-70
cite mrc.md 3; base.md ICRC
rules resp.nak-code
setting A-70 NAK_CODE.access $code
negative
background ignore sack probe endpoint
msg m = write len 64 at buf seq 3 r_key wrong
p0 < m[0] ackreq
* > nak syndrome $code psn m[0] msn 0 within rtt

cases id code {
  R-NAK-037 0x61
  R-NAK-038 0x60
}
purpose the syndrome of an invalid request is A-70's setting, $code
mark A, A-70, A-19
cite mrc.md 3; mrc.md 6
rules resp.nak-code
setting A-70 NAK_CODE.invalid $code
setting A-19 CTRL.zero_length 1
negative
background ignore sack probe endpoint
msg m = write len 0 at buf seq 3
p0 < m[0] ackreq
* > nak syndrome $code psn m[0] msn 0 within rtt

id R-NAK-041
version 2
purpose with the second answer of A-19 a WRITE of no bytes is an invalid request
mark A, A-19
cite mrc.md 6
rules resp.nak-zero
setting A-19 CTRL.zero_length 1
negative
background ignore sack probe endpoint
msg m = write len 0 at buf seq 3
mem fill buf 64 = 0xa5
p0 < m[0] ackreq
* > nak syndrome 0x61 psn m[0] msn 0 within rtt
mem same buf 64 = 0xa5
settle rtt
dut query state error

id R-NAK-042
purpose with the third answer of A-19 a WRITE of no bytes is dropped, and the QP goes on
mark A, A-19
cite mrc.md 6
rules resp.nak-zero
setting A-19 CTRL.zero_length 2
negative
msg m = write len 0 at buf seq 3
p0 < m[0] ackreq
none > * within rtt from last
settle rtt
dut query state rts
msg n = write len 64 at buf+64 seq 4
p0 < n[0] ackreq
* > sack trigger n[0] cack m[0]-1 ooo 1 within rtt

id R-NAK-043
purpose the NAK looks like an ACK: opcode 0xD1, the requestor's QP, control class
caps regions
mark S2+
cite mrc.md 3; mrc.md 2; mrc.md 4
rules resp.nak-code wire.class wire.syndrome resp.pair
background ignore sack probe endpoint
msg m = write len 64 at buf seq 3 r_key wrong
p0 < m[0] ackreq
* > nak bth.opcode 0xD1 dqp peer_qp dscp control ecn 0 udp.length 28 ackreq 0 bth.rtx 0 ts 0 within rtt

id R-NAK-044
purpose an error of the second message is answered after the first is acknowledged: NAK with MSN 1
caps regions
mark S2, A-24
cite mrc.md 6
rules resp.ack-order resp.nak-final
negative
background ignore sack probe endpoint
msg m = write len 4096 at buf seq 3
msg n = write len 4096 at buf+4096 seq 4 r_key wrong
mem fill buf 8192 = 0xa5
p0 < m[0] ackreq
* > ack psn m[0] msn 1 within rtt
p0 < n[0] ackreq
* > nak syndrome 0x62 psn n[0] msn 1 within rtt
mem digest buf 4096 = seq 3
mem same buf+4096 4096 = 0xa5

id R-NAK-045
purpose an immediate behind an access error is never delivered
caps regions
mark S2
cite mrc.md 6
rules mem.cqe
caps write_imm
negative
background ignore sack ack nack nak probe endpoint
msg m = write len 64 at buf seq 3 r_key wrong
msg n = write len 64 at buf+64 seq 4 imm 0x99
dut recv 1
p0 < n[0] ackreq
p0 < m[0] ackreq
* > nak syndrome 0x62 psn m[0] msn 0 within rtt
none > cqe receive status ok within rtt

# ---- a QP in ERROR, a QP that is not there ----

cases id kind {
  R-ERR-001 "m[0] ackreq"
  R-ERR-002 "probe id 3"
}
purpose a QP in ERROR answers $kind with NACK UNEXP_EVENT
mark A, A-57
cite mrc.md 3
rules resp.unexp-owed resp.nack-unexp
setting A-57 CTRL.err_silent 0
negative
msg m = write len 64 at buf seq 3
mem fill buf 64 = 0xa5
dut qp state error
p0 < $kind
* > nack reason unexp_event within rtt
none > sack has rq_psn within rtt from last
mem same buf 64 = 0xa5

cases id kind {
  R-ERR-003 "m[0] ackreq"
  R-ERR-004 "probe id 3"
}
purpose with the other answer of A-57 a QP in ERROR says nothing to $kind
mark A, A-57
cite mrc.md 3
rules resp.unexp-owed
setting A-57 CTRL.err_silent 1
negative
msg w = write len 64 at buf+4096 seq 9
msg m = write len 64 at buf seq 3
mem fill buf 64 = 0xa5
p0 < w[0] ackreq
* > sack cack w[0] within rtt
settle rtt
dut qp state error
p0 < $kind
none > * within rtt from last
mem same buf 64 = 0xa5

cases id kind {
  R-ERR-005 "m[0] ackreq"
  R-ERR-006 "probe id 3"
  R-ERR-007 "m[0] trim 128"
}
purpose a QP in RESET does not exist: $kind is not answered
mark S, A-68
cite mrc.md 7; IBTA 10.3.1
rules qp.state
negative
repair off
msg w = write len 64 at buf+4096 seq 9
msg m = write len 4096 at buf seq 3
mem fill buf 64 = 0xa5
p0 < w[0] ackreq
* > sack cack w[0] within rtt
settle rtt
dut qp state reset
p0 < $kind
none > * within rtt from last
mem same buf 64 = 0xa5

id R-ERR-008
purpose NACK UNEXP_EVENT names the packet and its entropy value
mark A, A-57, S2+
cite mrc.md 3
rules resp.nack-unexp resp.nack resp.entropy wire.reason
setting A-57 CTRL.err_silent 0
negative
msg m = write len 64 at buf seq 3
dut qp state error
p0 < m[0] ackreq ev 0x31415926
* > nack reason 0x19 psn m[0] entropy 0x31415926 neth.cc_type 2 within rtt
