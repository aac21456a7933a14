# SPDX-License-Identifier: Apache-2.0
# Messages: packets in any order, completion in order, immediates in RQMSN order behind everything before them.
tier 2
caps responder write_imm
planes 1

cases id sends what {
  R-ORD-001 "p0 < m[0] ; p0 < m[1] ; p0 < m[2] ; p0 < m[3] ackreq" "in order"
  R-ORD-002 "p0 < m[3] ; p0 < m[2] ; p0 < m[1] ; p0 < m[0] ackreq" "backwards"
  R-ORD-003 "p0 < m[1] ; p0 < m[0] ; p0 < m[3] ; p0 < m[2] ackreq" "in swapped pairs"
  R-ORD-004 "p0 < m[3] ; p0 < m[0] ; p0 < m[1] ; p0 < m[2] ackreq" "with the last one first"
  R-ORD-005 "p0 < m[1] ; p0 < m[2] ; p0 < m[3] ; p0 < m[0] ackreq" "with the first one last"
  R-ORD-006 "p0 < m[2] ; p0 < m[0] ; p0 < m[3] ; p0 < m[1] ackreq" "shuffled"
}
purpose four packets of a message $what: each is placed, and one ACK says it all
mark S, S2
cite mrc.md 6; mrc.md 3; paper 2.1
rules mem.source resp.ack-psn
msg m = write len 13001 at buf+100 seq 5
mem fill buf 16384 = 0xa5
$sends
any order { * > sack cack m[3] ooo 0 ; * > ack psn m[3] msn 1 } within rtt
mem digest buf+100 13001 = seq 5
mem same buf 100 = 0xa5
mem same buf+13101 1000 = 0xa5

cases id sends what {
  R-ORD-011 "p0 < m[0] ; p1 < m[1] ; p0 < m[2] ; p1 < m[3] ackreq" "in turn"
  R-ORD-012 "p1 < m[0] ; p1 < m[1] ; p0 < m[2] ; p0 < m[3] ackreq" "the first half on the other one"
  R-ORD-013 "p0 < m[0] after 5 us ; p1 < m[1] ; p1 < m[2] ; p1 < m[3] ackreq after 6 us" "one of them 5 us slower"
}
purpose four packets over two ports, $what: it is one message
mark S, S2
cite mrc.md 6; paper 2.1
rules resp.cack-taken resp.ack-owed resp.ack-psn mem.source
planes 2
msg m = write len 16384 at buf seq 5
$sends
any order { * > sack cack m[3] ooo 0 ; * > ack psn m[3] msn 1 } within rtt
mem digest buf 16384 = seq 5

id R-ORD-021
purpose data are placed when they arrive, not when their turn comes
mark S
cite mrc.md 6; paper 2.1
rules mem.source
msg m = write len 16384 at buf seq 5
msg n = write len 4096 at buf+16384 seq 6
mem fill buf 20480 = 0xa5
p0 < n[0] ackreq
* > sack cack m[0]-1 trigger n[0] ooo 1 within rtt
mem digest buf+16384 4096 = seq 6
mem same buf 16384 = 0xa5
none > ack within rtt

id R-ORD-022
purpose two WRITEs to one place: what the later packet brings counts when the packets arrive in order
mark S2, A
cite mrc.md 6
rules mem.source mem.once
msg m = write len 4096 at buf seq 5
msg n = write len 4096 at buf seq 6
p0 < m[0] ackreq
* > sack cack m[0] within rtt
settle rtt
p0 < n[0] ackreq
* > sack cack n[0] within rtt
mem digest buf 4096 = seq 6

id R-ORD-023
purpose three messages complete together when the gap before them closes: the ACK names the last packet of the last
mark S2, A-16
cite mrc.md 6
rules resp.ack-psn resp.ack-order
msg a = write len 8192 at buf seq 1
msg b = write len 4096 at buf+8192 seq 2
msg c = write len 100 at buf+16384 seq 3
p0 < c[0] ; p0 < b[0] ; p0 < a[1]
none > ack within rtt from last
p0 < a[0] ackreq
* > ack psn c[0] msn 3 within rtt
mem digest buf 8192 = seq 1
mem digest buf+8192 4096 = seq 2
mem digest buf+16384 100 = seq 3

id R-ORD-024
purpose the smallest message is one byte
mark S
cite mrc.md 1; mrc.md 6
rules resp.sack-ask resp.cack-taken mem.source resp.ack-owed
msg m = write len 1 at buf+77 seq 3
mem fill buf 256 = 0xa5
p0 < m[0] ackreq
any order { * > sack cack m[0] ; * > ack psn m[0] msn 1 } within rtt
mem digest buf+77 1 = seq 3
mem same buf 77 = 0xa5
mem same buf+78 100 = 0xa5

# ---- immediates ----

cases id sends what {
  R-IMM-011 "p0 < a[0] ; p0 < b[0] ; p0 < c[0] ackreq" "in order"
  R-IMM-012 "p0 < c[0] ; p0 < b[0] ; p0 < a[0] ackreq" "backwards"
  R-IMM-013 "p0 < b[0] ; p0 < a[0] ; p0 < c[0] ackreq" "the second one first"
  R-IMM-014 "p0 < a[0] ; p0 < c[0] ; p0 < b[0] ackreq" "the third one second"
}
purpose three immediates that arrive $what complete in the order of RQMSN, each with its own value and size
mark S2
cite mrc.md 6
rules mem.cqe-order resp.cqe-order resp.cqe-imm
msg a = write len 100 at buf seq 1 imm 0xA
msg b = write len 200 at buf+4096 seq 2 imm 0xB
msg c = write len 300 at buf+8192 seq 3 imm 0xC
dut recv 3
$sends
> cqe receive status ok imm 0xA rqmsn 0 bytes 100 within rtt
> cqe receive status ok imm 0xB rqmsn 1 bytes 200 within rtt
> cqe receive status ok imm 0xC rqmsn 2 bytes 300 within rtt
mem digest buf+8192 300 = seq 3

id R-IMM-015
purpose an immediate waits for a plain WRITE before it
mark S2
cite mrc.md 6
rules mem.cqe resp.cqe-complete
negative
msg a = write len 8192 at buf seq 1
msg b = write len 64 at buf+8192 seq 2 imm 0xFFFFFFFF
dut recv 1
p0 < b[0] ackreq as early ; p0 < a[1] ackreq
* > sack cack a[0]-1 ooo 2 within rtt
none > cqe within rtt from early
p0 < a[0] ackreq
> cqe receive status ok imm 0xFFFFFFFF rqmsn 0 bytes 64 within rtt
mem digest buf 8192 = seq 1

id R-IMM-016
purpose an immediate waits for the first packets of its own message
mark S2
cite mrc.md 6; mrc.md 2
rules mem.cqe resp.cqe-complete
negative
msg a = write len 12288 at buf seq 1 imm 0
dut recv 1
p0 < a[2] ackreq as early ; p0 < a[1] ackreq
* > sack cack a[0]-1 ooo 2 within rtt
none > cqe within rtt from early
p0 < a[0] ackreq
> cqe receive status ok imm 0 rqmsn 0 bytes 12288 within rtt
mem digest buf 12288 = seq 1

id R-IMM-017
purpose a plain WRITE completes nothing at the receiver
mark S2, S
cite mrc.md 6; mrc.md 1
rules resp.cqe-imm
negative
msg a = write len 4096 at buf seq 1
dut recv 1
p0 < a[0] ackreq
any order { * > sack cack a[0] ; * > ack psn a[0] msn 1 } within rtt
none > cqe within rtt

id R-IMM-018
purpose RQMSN counts immediates alone: with plain WRITEs between them, 0 and 1 complete as 0 and 1
mark S2+
cite mrc.md 3; mrc.md 6
rules resp.cqe-order resp.cqe-imm
msg a = write len 64 at buf seq 1
msg b = write len 64 at buf+64 seq 2 imm 0x10
msg c = write len 64 at buf+128 seq 3
msg d = write len 64 at buf+192 seq 4 imm 0x20
dut recv 2
p0 < d[0] ; p0 < c[0] ; p0 < b[0] ; p0 < a[0] ackreq
> cqe receive status ok imm 0x10 rqmsn 0 bytes 64 within rtt
> cqe receive status ok imm 0x20 rqmsn 1 bytes 64 within rtt
* > ack psn d[0] msn 4 within rtt from last

id R-IMM-019
purpose RQMSN wraps at 2^16
mark S2+
cite mrc.md 3; mrc.md 6
rules resp.cqe-order resp.cqe-imm
caps responder write_imm psn
profile rqmsn 0xFFFF msn 7
msg a = write len 64 at buf seq 1 imm 0x10
msg b = write len 64 at buf+64 seq 2 imm 0x20
dut recv 2
p0 < b[0] ; p0 < a[0] ackreq
> cqe receive status ok imm 0x10 rqmsn 0xFFFF within rtt
> cqe receive status ok imm 0x20 rqmsn 0 or 0x10000 within rtt

cases id imm {
  R-IMM-021 0
  R-IMM-022 1
  R-IMM-023 0x01020304
  R-IMM-024 0x80000000
  R-IMM-025 0xFFFFFFFF
}
purpose the immediate $imm arrives as it was sent, most significant byte first
mark S2
cite mrc.md 3; IBTA 9.2
rules resp.cqe-imm
msg a = write len 3 at buf seq 1 imm $imm
dut recv 1
p0 < a[0] ackreq
> cqe receive status ok imm $imm bytes 3 within rtt

id R-IMM-031
purpose more immediates outstanding than max_wimm_dest are an invalid request: NAK 0x61, and the QP is in ERROR
mark S2, A-62, A-70
cite mrc.md 6; mrc.md 3
rules resp.nak-cause resp.nak-code
profile max_wimm_dest 2
negative
background ignore sack ack nak probe endpoint cqe
msg a = write len 64 at buf seq 1 imm 1
msg b = write len 64 at buf+64 seq 2 imm 2
msg c = write len 64 at buf+128 seq 3 imm 3
dut recv 2
p0 < c[0] ackreq                                          # the third while two are open
settle
p0 < a[0] ackreq ; p0 < b[0] ackreq                       # a device may wait until its turn comes
settle rtt
p0 < b[0] rtx ackreq as after
* > nak syndrome 0x61 within rtt
none > cqe receive status ok imm 3 within rtt from after
dut query state error
