# SPDX-License-Identifier: Apache-2.0
# Several QPs of one responder, to one peer and to many: each has its own window, counts and ends.
tier 2
caps responder
planes 2
cite mrc.md 6; mrc.md 7

# ---- each counts for itself ----

id R-QPS-001
purpose packets of two QPs come by turns, with the same PSNs: each QP reports and acknowledges its own
mark S2, A (when the ACK goes out: A-16)
rules resp.cack-arrived resp.bitmap resp.ack-psn
profile rq_psn 0x4000
qp b rq_psn 0x4000
msg m = write len 8192 at buf seq 7
with b { msg n = write len 12288 at buf+16384 seq 8 }
p0 < m[0]
p1 < n[0]
p0 < n[1]
p1 < m[1] ackreq
p0 < n[2] ackreq
any order { * > sack cack m[1] ; * > ack psn m[1] msn 1 ; * > sack cack n[2] of b ; * > ack psn n[2] msn 1 of b } within rtt
mem digest buf 8192 = seq 7
mem digest buf+16384 12288 = seq 8

cases id to what {
  R-QPS-003 peer1 "one peer"
  R-QPS-004 peer2 "two peers"
}
purpose of two QPs to $what one has a hole: only it reports packets above cack_psn, the other one acknowledges
mark S2
rules resp.ooo-most resp.cack-arrived resp.ack-psn
qp b to $to
msg m = write len 16384 at buf seq 7
with b { msg n = write len 16384 at buf+16384 seq 8 }
p0 < m[0]
p0 < m[2]
p0 < m[3] ackreq
p1 < n[0]
p1 < n[1]
p1 < n[2]
p1 < n[3] ackreq
any order { * > sack trigger m[3] cack m[0] ooo 2 ; * > sack cack n[3] ooo 0 of b ; * > ack psn n[3] msn 1 of b } within rtt
none > ack within rtt
p1 < m[1] ackreq
any order { * > sack cack m[3] ; * > ack psn m[3] msn 1 } within rtt

cases id rq msn what {
  R-QPS-005 0xFFFFFE 0      "PSNs"
  R-QPS-006 0x4000   0xFFFF "MSNs"
}
purpose the $what of one QP wrap, those of the other one do not
mark S2
rules resp.cack-arrived resp.ack-psn resp.ack-msn
caps psn
qp b rq_psn $rq msn $msn
msg m = write len 64 at buf
with b { msg n = write len 16384 at buf+4096 seq 8 ; msg o = write len 64 at buf+65536 }
p0 < n[0]
p0 < n[1]
p0 < m[0] ackreq
p0 < n[2]
p0 < n[3] ackreq
any order { * > sack cack m[0] ; * > ack psn m[0] msn 1 ; * > sack cack n[3] of b ; * > ack psn n[3] of b } within rtt
p1 < o[0] ackreq
any order { * > sack cack o[0] of b ; * > ack psn o[0] of b } within rtt

id R-QPS-007
purpose rcvd_bytes counts what came for that QP alone
mark S2, A-55
rules resp.bytes
qp b
msg m = write len 64 at buf
with b { msg n = write len 65536 at buf+4096 seq 8 }
let k = 0
repeat 16 {
  p0 < n[k]
  let k = k + 1
}
p1 < m[0] ackreq
* > sack cack m[0] rcvd <= 2 within rtt
settle rtt
with b {
  msg o = write len 64 at buf+131072
  p1 < o[0] ackreq
  * > sack cack o[0] rcvd >= 250 within rtt
}

cases id mtu {
  R-QPS-008 256
  R-QPS-009 1024
}
purpose two QPs with different MTUs ($mtu and 4096): a packet beyond that of its QP is not taken, the same size of the other one is
mark S2
rules resp.cack-arrived mem.source
caps bytes
negative
qp b mtu $mtu
msg m = write len 4096 at buf seq 7
with b { msg n = write len $mtu at buf+8192 seq 8 }
p0 < m[0] ackreq
p1 < n[0] ackreq
any order { * > sack cack m[0] ; * > ack psn m[0] msn 1 ; * > sack cack n[0] of b ; * > ack psn n[0] msn 1 of b } within rtt
mem digest buf 4096 = seq 7
mem digest buf+8192 $mtu = seq 8
with b {
  msg o = write len $mtu at buf+16384
  p0 < o[0] payload len $mtu+4 ackreq
  none > sack cack o[0] within rtt
}

id R-QPS-010
purpose two QPs with different P_Keys: the P_Key of one is none of the other
mark S2
rules resp.cack-arrived mem.written
caps pkey
negative
qp b pkey 0x8123
msg m = write len 64 at buf seq 7
with b { msg n = write len 64 at buf+4096 seq 8 }
mem fill buf 16384 = 0xa5
p0 < m[0] raw bth.p_key 0x8123 ackreq
p1 < n[0] raw bth.p_key 0xFFFF ackreq
none > sack cack m[0] within rtt
none > sack cack n[0] of b within rtt
mem same buf 16384 = 0xa5
p0 < m[0] ackreq
p1 < n[0] ackreq
any order { * > sack cack m[0] ; * > sack cack n[0] of b } within rtt

# ---- one ends, the others do not notice ----

id R-QPS-002
purpose one QP ends in ERROR by an access error; the other, of the same peer, does not notice
mark S2, A-24
rules resp.nak-owed resp.cack-arrived mem.written
caps regions
qp b
msg m = write len 64 at buf r_key wrong
with b { msg n = write len 8192 at buf+4096 seq 8 }
p1 < n[0]
p0 < m[0] ackreq
* > nak psn m[0] msn 0 within rtt
p0 < n[1] ackreq
any order { * > sack cack n[1] of b ; * > ack psn n[1] msn 1 of b } within rtt
mem digest buf+4096 8192 = seq 8

cases id to how what {
  R-QPS-011 peer1 "p1 < m[0] ackreq ; * > nak psn m[0] msn 0 within rtt" "a region that it may not write"
  R-QPS-012 peer2 "p1 < m[0] ackreq ; * > nak psn m[0] msn 0 within rtt" "a region that it may not write, of another peer"
}
purpose a QP ends by $what in the middle of a message of another one: that one goes on, reports a hole, closes it, acknowledges
mark S2, A-24
rules resp.cack-arrived resp.ack-psn mem.written resp.nak-owed
caps regions
background ignore sack ack nak probe endpoint cqe
qp b to $to
msg m = write len 64 at buf r_key wrong
with b { msg n = write len 16384 at buf+4096 seq 8 }
p1 < n[0] ackreq
p1 < n[2] ackreq
* > sack trigger n[2] cack n[0] of b within rtt
$how
p1 < n[3] ackreq
* > sack trigger n[3] cack n[0] ooo 2 of b within rtt
p1 < n[1] ackreq
any order { * > sack cack n[3] of b ; * > ack psn n[3] msn 1 of b } within rtt
mem digest buf+4096 16384 = seq 8

cases id to state what {
  R-QPS-013 peer1 error "ERROR"
  R-QPS-014 peer2 error "ERROR, of another peer"
  R-QPS-015 peer1 reset "RESET"
  R-QPS-016 peer2 reset "RESET, of another peer"
}
purpose a QP is taken to $what in the middle of a message of another one: that one goes on, reports a hole, closes it, acknowledges
mark S2
rules resp.cack-arrived resp.ack-psn mem.written
qp b to $to
with b { msg n = write len 16384 at buf+4096 seq 8 }
p1 < n[0] ackreq
p1 < n[2] ackreq
* > sack trigger n[2] cack n[0] of b within rtt
dut qp state $state
settle rtt
p1 < n[3] ackreq
* > sack trigger n[3] cack n[0] ooo 2 of b within rtt
p1 < n[1] ackreq
any order { * > sack cack n[3] of b ; * > ack psn n[3] msn 1 of b } within rtt
mem digest buf+4096 16384 = seq 8

id R-QPS-017
purpose of three QPs two end, one by an error and one by a reset: the third one takes a WRITE with immediate
mark S2, A-24
rules resp.cqe-order resp.ack-psn
caps regions write_imm
background ignore sack ack nak probe endpoint
qp b
qp c to peer2
msg m = write len 64 at buf r_key wrong
with c { msg o = write len 8192 at buf+4096 seq 9 imm 77 ; dut recv 1 }
p0 < m[0] ackreq
* > nak psn m[0] msn 0 within rtt
with b { dut qp state reset }
p0 < o[0] ackreq
p0 < o[1] ackreq
any order { * > sack cack o[1] of c ; * > ack psn o[1] msn 1 of c ; > cqe receive imm 77 of c } within rtt
mem digest buf+4096 8192 = seq 9

id R-QPS-018
purpose a QP in ERROR answers UNEXP_EVENT, and the other one a SACK, by turns
mark S2
rules resp.cack-arrived resp.nack
background ignore sack ack nack probe endpoint
qp b
msg m = write len 64 at buf
with b { msg n = write len 12288 at buf+4096 seq 8 }
dut qp state error
settle rtt
let k = 0
repeat 3 {
  p0 < n[k] ackreq
  * > sack cack n[k] of b within rtt
  p0 < m[0] ackreq
  * > nack reason unexp_event within rtt
  let k = k + 1
}

# ---- what they share runs dry for one ----

cases id to what {
  R-QPS-021 peer1 "one peer"
  R-QPS-022 peer2 "two peers"
}
purpose of two QPs to $what one has holes as far as its window goes, so that places for PSNs may run dry: the other one takes a message in order
mark S2, A-65
rules resp.cack-arrived resp.ack-psn mem.source
background ignore sack ack nack nak probe endpoint write cqe
repair off
qp b to $to
msg m = write len 524288 at buf
with b { msg n = write len 8192 at buf seq 8 }
let k = 1
repeat 60 {
  p0 < m[k]
  let k = k + 2
}
p1 < n[0]
p1 < n[1] ackreq
any order { * > sack cack n[1] of b ; * > ack psn n[1] msn 1 of b } within 4 rtt

cases id to what {
  R-QPS-023 peer1 "one peer"
  R-QPS-024 peer2 "two peers"
}
purpose of two QPs to $what one has thirty immediates behind a hole, so that places for them may run dry: the other one's complete
mark S2
rules resp.cqe-order resp.ack-psn
caps write_imm
background ignore sack ack nack nak probe endpoint write cqe
repair off
qp b to $to
dut recv 12
with b { dut recv 2 }
msg hole = write len 64 at buf
msg m00 = write len 64 at buf imm 100
msg m01 = write len 64 at buf imm 101
msg m02 = write len 64 at buf imm 102
msg m03 = write len 64 at buf imm 103
msg m04 = write len 64 at buf imm 104
msg m05 = write len 64 at buf imm 105
msg m06 = write len 64 at buf imm 106
msg m07 = write len 64 at buf imm 107
msg m08 = write len 64 at buf imm 108
msg m09 = write len 64 at buf imm 109
msg m10 = write len 64 at buf imm 110
msg m11 = write len 64 at buf imm 111
with b { msg n = write len 64 at buf+4096 imm 1 ; msg o = write len 64 at buf+4096 imm 2 }
p0 < m00[0]
p0 < m01[0]
p0 < m02[0]
p0 < m03[0]
p0 < m04[0]
p0 < m05[0]
p0 < m06[0]
p0 < m07[0]
p0 < m08[0]
p0 < m09[0]
p0 < m10[0]
p0 < m11[0]
p1 < n[0]
p1 < o[0] ackreq
> cqe receive imm 1 of b within 2 rtt
> cqe receive imm 2 of b within 2 rtt
none > cqe receive within rtt
p0 < hole[0] ackreq
> cqe receive imm 100 within 2 rtt

cases id to what {
  R-QPS-025 peer1 "one peer"
  R-QPS-026 peer2 "two peers"
}
purpose of two QPs to $what one has an immediate more than it takes, and ends by it; the other one's complete
mark S2, A-62, A-70
rules resp.nak-cause resp.nak-code resp.cqe-order
profile max_wimm_dest 2
caps write_imm
negative
background ignore sack ack nack nak probe endpoint write cqe
qp b to $to
dut recv 2
with b { dut recv 2 }
msg k = write len 64 at buf seq 1 imm 1
msg l = write len 64 at buf+64 seq 2 imm 2
msg m = write len 64 at buf+128 seq 3 imm 3
with b { msg n = write len 64 at buf+4096 seq 4 imm 4 ; msg o = write len 64 at buf+4160 seq 5 imm 5 }
p0 < m[0] ackreq                                          # the third while two are open
settle
p1 < n[0]
> cqe receive imm 4 of b within 2 rtt
p0 < k[0] ackreq ; p0 < l[0] ackreq
settle rtt
p0 < l[0] rtx ackreq as after
* > nak syndrome 0x61 within rtt
none > cqe receive status ok imm 3 within rtt from after
dut query state error
p1 < o[0] ackreq
> cqe receive imm 5 of b within 2 rtt

# ---- completions of QPs interleave as they like ----

cases id sends what {
  R-QPS-031 "p0 < m[0] ; p0 < n[0] ; p0 < o[0] ; p0 < q[0]" "in the order of their packets"
  R-QPS-032 "p0 < o[0] ; p0 < q[0] ; p0 < m[0] ; p0 < n[0]" "the second QP first"
  R-QPS-033 "p0 < n[0] ; p0 < q[0] ; p0 < o[0] ; p0 < m[0]" "backwards in each"
  R-QPS-034 "p0 < q[0] ; p1 < n[0] ; p0 < m[0] ; p1 < o[0]" "over two ports"
}
purpose two immediates of each of two QPs, $what: those of a QP complete in order, those of the other one wait for none of them
mark S2
rules resp.cqe-order resp.cqe-imm
caps write_imm
background ignore sack ack nack probe endpoint write
qp b
dut recv 2
with b { dut recv 2 }
msg m = write len 64 at buf imm 1
msg n = write len 64 at buf imm 2
with b { msg o = write len 64 at buf+4096 imm 3 ; msg q = write len 64 at buf+4096 imm 4 }
$sends
until count(> cqe receive of *) == 4 within rtt
expect first(> cqe receive imm 1).t <= first(> cqe receive imm 2).t
expect first(> cqe receive imm 3 of b).t <= first(> cqe receive imm 4 of b).t

cases id to what {
  R-QPS-035 peer1 "the same peer"
  R-QPS-036 peer2 "another one"
}
purpose an immediate that waits for a packet holds back none of a QP of $what
mark S2
rules resp.cqe-order
caps write_imm
background ignore sack ack nack probe endpoint write
qp b to $to
dut recv 1
with b { dut recv 1 }
msg m = write len 8192 at buf imm 1
with b { msg n = write len 64 at buf+16384 imm 2 }
p0 < m[1]
p0 < n[0]
> cqe receive imm 2 rqmsn 0 of b within rtt
none > cqe receive within rtt
p1 < m[0]
> cqe receive imm 1 rqmsn 0 within rtt

# ---- floods for QPs that there are not ----

cases id packet what {
  R-QPS-041 "p0 < m[0] raw bth.dqp 0x7FFFFE"   "data for a QP that there is not"
  R-QPS-042 "p0 < sack cack sq_psn dqp 0x7FFFFE" "SACKs for a QP that there is not"
  R-QPS-043 "p0 < probe id 7 dqp 0x7FFFFE"     "probes for a QP that there is not"
  R-QPS-044 "p0 < nack reason trimmed psn sq_psn dqp 0x7FFFFE" "NACKs for a QP that there is not"
  R-QPS-045 "p0 < m[0] raw bth.dqp qp+1"       "data for a QP in RESET"
  R-QPS-046 "p0 < m[0] raw bth.p_key 0x0666"   "data with a foreign P_Key"
}
purpose 200 packets, $what, at line rate: two QPs take their messages at once, on the flooded port and on the other one
mark S2
rules resp.cack-arrived resp.ack-psn
negative
qp b
with b { dut qp state reset }
settle rtt
qp c to peer2
msg m = write len 1024 at buf
with c { msg o = write len 8192 at buf+4096 seq 9 }
repeat 100 { $packet ; $packet }
p1 < o[1] ackreq
p1 < m[0] ackreq
p0 < o[0] ackreq
any order { * > sack cack o[1] of c ; * > ack psn o[1] msn 1 of c ; * > sack cack m[0] ; * > ack psn m[0] msn 1 } within 2 rtt
mem digest buf+4096 8192 = seq 9

# ---- probes of a peer for all its QPs ----

id R-QPS-051
purpose probes with the same id for three QPs: each answer is about its QP
mark S2
rules resp.probe resp.cack-arrived
qp b
qp c to peer2
msg m = write len 64 at buf
with b { msg n = write len 8192 at buf+4096 seq 8 }
p0 < m[0]
p0 < n[0]
p0 < n[1]
settle rtt
p0 < probe id 9
with b { p0 < probe id 9 }
with c { p1 < probe id 9 }
any order {
  * > sack pr 1 probe 9 cack m[0]
  * > sack pr 1 probe 9 cack rq_psn+1 of b
  * > sack pr 1 probe 9 cack rq_psn-1 of c
} within rtt

id R-QPS-054
purpose forty probes of one QP are answered while four messages of another one complete: the last one is acknowledged
mark S2
rules resp.ack-psn resp.probe
background ignore sack ack probe endpoint write
qp b
msg k = write len 64 at buf
msg l = write len 64 at buf+64
msg m = write len 64 at buf+128
msg n = write len 64 at buf+192 seq 4
repeat 20 { with b { p0 < probe id 9 ; p1 < probe id 9 } }
p0 < k[0]
p1 < l[0]
p0 < m[0]
p1 < n[0] ackreq
* > ack psn n[0] msn 4 within 2 rtt
mem digest buf+192 64 = seq 4

id R-QPS-052
purpose one QP is put into ERROR: probes of the other one are answered as before, with what has come
mark S2
rules resp.probe
qp b
with b { msg n = write len 64 at buf }
p0 < n[0]
dut qp state error
settle rtt
repeat 2 {
  with b {
    p0 < probe id 21
    * > sack pr 1 probe 21 cack n[0] within rtt
  }
}

id R-QPS-053
purpose an EV probe of each of two peers is answered to that peer, with its id
mark S2
rules peer.answer
qp b to peer2
p0 < evprobe id 5
with b { p0 < evprobe id 6 }
any order {
  * > endpoint response id 5 ipv6.dst 0xfd000000000000000000000000000001
  * > endpoint response id 6 ipv6.dst 0xfd000000000000000000000000000011
} within rtt

# ---- a number is used again while packets of before are under way ----

cases id late what {
  R-QPS-061 "p1 < m[1] ackreq"        "data"
  R-QPS-062 "p1 < m[1] rtx ackreq"    "a retransmission"
  R-QPS-063 "p1 < m[1] trim 128 dscp trimmed" "trimmed data"
}
purpose a QP is set up again with other PSNs while $what of before is under way: nothing of it is placed, the other QP takes all of its own
mark S2, A
rules mem.region resp.cack-arrived resp.ack-psn
caps psn
negative
background ignore sack ack nack nak probe endpoint write cqe
repair off
qp b
msg m = write len 8192 at buf seq 7
with b { msg n = write len 8192 at buf+16384 seq 8 }
p0 < m[0]
p0 < n[0] ackreq
* > sack cack n[0] of b within rtt
dut qp state reset
settle rtt
mem fill buf 8192 = 0xa5
dut qp again rq_psn 0x804000
$late
p0 < n[1] ackreq
any order { * > sack cack n[1] of b ; * > ack psn n[1] msn 1 of b } within rtt
settle rtt
mem same buf 8192 = 0xa5
msg o = write len 64 at buf+65536 seq 9
p1 < o[0] ackreq
any order { * > sack cack o[0] ; * > ack psn o[0] msn 1 } within rtt

id R-QPS-064
purpose two QPs are reset and set up again, each with the PSNs that the other one had: late data of either are not the other's
mark S2, A
rules mem.region resp.cack-arrived
caps psn
negative
background ignore sack ack nack nak probe endpoint write cqe
repair off
qp b rq_psn 0x801000
msg m = write len 64 at buf seq 7
with b { msg n = write len 64 at buf+4096 seq 8 }
dut qp state reset
with b { dut qp state reset }
settle 2 rtt
mem fill buf 8192 = 0xa5
dut qp again rq_psn 0x801000
with b { dut qp again rq_psn 0x1000 }
p0 < m[0]
p1 < n[0]
settle rtt
mem same buf 8192 = 0xa5
msg o = write len 64 at buf+65536 seq 9
with b { msg q = write len 64 at buf+69632 seq 10 }
p0 < o[0] ackreq
p1 < q[0] ackreq
any order { * > sack cack o[0] ; * > sack cack q[0] of b } within rtt
mem digest buf+65536 64 = seq 9
mem digest buf+69632 64 = seq 10
