# SPDX-License-Identifier: Apache-2.0
# The responder: what arrives is placed once, reported by SACK, completed by ACK. Patterns: order of arrival over ports,
# duplicates, the window and its edge with both answers, 2^24, marks, probes, immediates.
tier 2
caps responder

id R-SACK-001
purpose a packet that asks is reported, and the message that is complete is acknowledged
mark S2, A (when the ACK goes out: A-16)
cite mrc.md 6; mrc.md 3
rules resp.sack-ask resp.cack-taken resp.ack-owed resp.ack-psn mem.source mem.written
planes 2
msg m = write len 8192 at buf seq 7
mem fill buf 8192 = 0xa5
p0 < m[0]
p1 < m[1] ackreq
any order { * > sack cack m[1] ; * > ack psn m[1] msn 1 } within rtt
mem digest buf 8192 = seq 7

id R-SACK-002
purpose packets that arrive in the wrong order are placed at once and reported as they are
mark S2
cite mrc.md 6; paper 2.1
rules resp.bitmap resp.cack-arrived resp.ooo-most resp.ooo-least resp.ack-order
planes 1
msg m = write len 16384 at buf seq 8
mem fill buf 16384 = 0xa5
p0 < m[3] ackreq
* > sack cack m[0]-1 trigger m[3] has m[3] lacks m[0] or m[1] or m[2] ooo 1 within rtt
p0 < m[1] ackreq
* > sack cack m[0]-1 trigger m[1] ooo 2 within rtt
none > ack within rtt
p0 < m[0] ; p0 < m[2] ackreq
any order { * > sack cack m[3] ; * > ack psn m[3] msn 1 } within rtt
mem digest buf 16384 = seq 8

id R-DUP-001
purpose a duplicate below cack is answered again and writes nothing
mark S2
cite mrc.md 6
rules resp.sack-dup resp.ack-again mem.once
planes 2
msg m = write len 4096 at buf seq 9
p0 < m[0] ackreq
any order { * > sack cack m[0] ; * > ack psn m[0] msn 1 } within rtt
mem digest buf 4096 = seq 9
settle 2 rtt
mem fill buf 4096 = 0x11
p1 < m[0] rtx as again
any order { * > sack cack m[0] trigger m[0] ; * > ack psn m[0] msn 1 } within rtt
mem same buf 4096 = 0x11 after rtt from again

# ---- the edge of the window: the last PSN inside, the first outside; both answers of A-12
cases id setting answer {
  R-WIN-001 "A-12 CTRL.oor_drop 0" "* > nack reason psn_oor_window psn rq_psn+128*mpr within rtt from out"
  R-WIN-002 "A-12 CTRL.oor_drop 1" "none > nack within 2 rtt from out"
}
purpose the last PSN of the window is taken; the one behind it is not ($setting)
mark S2, C
cite mrc.md 6
rules resp.nack-oor resp.oor-owed resp.cack-taken
planes 1
profile mtu 256                                           # 32 units of 128 packets of 256 bytes fit the region
repair off
msg fill = write len mtu*128*mpr at buf seq 1
msg beyond = write len 256 at buf seq 2
mem fill buf 4096 = 0xa5
p0 < fill[128*mpr-1] ackreq
* > sack cack rq_psn-1 trigger fill[128*mpr-1] ooo 1 within rtt
p0 < beyond[0] ackreq as out
$answer
none > sack has beyond[0] within rtt from out
mem same buf 4096 = 0xa5

id R-PSN-001
purpose PSNs go on behind 2^24 - 1 with 0
mark S2
cite mrc.md 6
rules resp.cack-taken resp.ack-psn
caps psn
planes 1
profile rq_psn 0xFFFFFE
msg m = write len 16384 at buf seq 5
p0 < m[0] ; p0 < m[1] ; p0 < m[2] ; p0 < m[3] ackreq
any order { * > sack seth.cack_psn 1 cack m[3] ; * > ack psn m[3] bth.psn 1 msn 1 } within rtt
mem digest buf 16384 = seq 5

id R-ECN-001
purpose a packet that comes with ECN-CE is reported at once with SKIP_ONCE and its own entropy value
mark S2
cite mrc.md 6; mrc.md 3
rules resp.sack-ce resp.mark resp.entropy
planes 2
msg m = write len 8192 at buf seq 6
p0 < m[0] ecn ce ev 0x12345678
* > sack trigger m[0] m skip_once entropy 0x12345678 within rtt
p1 < m[1] ackreq ev 0x9abcdef0
* > sack trigger m[1] m none entropy 0x9abcdef0 within rtt

id R-PROBE-001
purpose a reliability probe is answered with the state, its id and the newest ACK
mark S2, A (the ACK again: A-17)
cite mrc.md 6; mrc.md 3
rules resp.sack-probe resp.probe resp.ack-again
planes 1
msg m = write len 8192 at buf seq 6
p0 < m[0] ackreq ; p0 < m[1] ackreq
any order { * > sack cack m[1] ; * > ack psn m[1] msn 1 } within rtt
settle 2 rtt
p0 < probe id 0x1234
any order { * > sack pr 1 probe 0x1234 cack m[1] m none ; * > ack psn m[1] msn 1 } within rtt

id R-TRIM-001
purpose a trimmed packet brings NACK TRIMMED with its PSN and entropy, at the last hop TRIMMED_LASTHOP
mark S2
cite mrc.md 6; mrc.md 4; mrc.md 3
rules resp.nack-trim resp.trim resp.entropy resp.bitmap
caps trim_nack
planes 1
repair off
background ignore sack ack probe endpoint
msg m = write len 8192 at buf seq 6
p0 < m[0] trim 128 lengths ip ev 0x11112222
* > nack reason trimmed psn m[0] entropy 0x11112222 within rtt
p0 < m[1] trim 128 lengths ip dscp lasthop ev 0x33334444
* > nack reason trimmed_lasthop psn m[1] entropy 0x33334444 within rtt

id R-IMM-001
purpose completions of immediates come in RQMSN order, each after everything before it has arrived
mark S2
cite mrc.md 6
rules resp.cqe-order resp.cqe-complete resp.cqe-imm mem.cqe mem.cqe-order
caps write_imm
planes 1
dut recv 2
msg a = write len 8192 at buf seq 1 imm 0xAAAA0001
msg b = write len 4096 at buf+8192 seq 2 imm 0xBBBB0002
p0 < b[0] ackreq
none > cqe receive within rtt
p0 < a[1] ackreq
none > cqe receive within rtt
p0 < a[0] ackreq
> cqe receive status ok imm 0xAAAA0001 rqmsn 0 bytes 8192 within rtt
> cqe receive status ok imm 0xBBBB0002 rqmsn 1 bytes 4096 within rtt
* > ack msn 2 within rtt from last
mem digest buf 8192 = seq 1
mem digest buf+8192 4096 = seq 2

# ---- errors found when a message is executed
cases id message caps purpose {
  R-NAK-001 "len 4096 at buf seq 2 r_key wrong"  regions "an R_Key that does not exist is NAKed"
  R-NAK-002 "len 4096 at buf-64 seq 2"           regions "a WRITE that begins before the region is NAKed"
  R-NAK-003 "len 4096 at buf+buf_bytes-64 seq 2" regions "a WRITE that ends behind the region is NAKed"
}
mark S2, A-70
cite mrc.md 6; IBTA 9.7.5
rules resp.nak-owed resp.nak-code mem.region
negative
planes 1
msg m = write $message
background ignore sack ack probe endpoint
p0 < m[0] ackreq
* > nak psn m[0] msn 0 syndrome nak_remote_access within rtt
none > ack within 2 rtt from last
dut query state error

id R-DUP-002
purpose a duplicate above cack is reported again, counts once and writes nothing
mark S2
cite mrc.md 6
rules resp.sack-dup resp.bytes mem.once
planes 2
msg m = write len 8192 at buf seq 9
p0 < m[1] ackreq
* > sack trigger m[1] cack m[0]-1 ooo 1 within rtt
settle 2 rtt
mem fill buf+4096 4096 = 0x11
p1 < m[1] rtx as again
* > sack trigger m[1] cack m[0]-1 ooo 1 within rtt
mem same buf+4096 4096 = 0x11 after rtt from again

id R-SACK-003
purpose cack_psn passes over 100 packets that arrive from the last to the first but one, when the first arrives
mark S2
cite mrc.md 6
rules resp.cack-taken resp.reported
caps psn
planes 1
profile mtu 256
msg m = write len 100*256 at buf seq 4
let i = 99
repeat 99 {
  p0 < m[i]
  let i = i - 1
}
settle rtt
p0 < m[0] ackreq
any order { * > sack cack m[99] ooo 0 ; * > ack psn m[99] msn 1 } within 2 rtt
mem digest buf 100*256 = seq 4

# rcvd_bytes counts new packets only, rounded up to 256 bytes; the nominal size of a packet has three readers (A-55):
# five packets of 256 bytes are 1700, 1280 or 1480 bytes
cases id nominal units {
  R-RCVD-001 "A-55 CTRL.nominal 0" 7
  R-RCVD-002 "A-55 CTRL.nominal 1" 5
  R-RCVD-003 "A-55 CTRL.nominal 2" 6
}
setting $nominal
purpose rcvd_bytes is the sum over new packets, rounded up to units of 256 bytes ($nominal)
mark S2, C
cite mrc.md 3; mrc.md 6; mrc.md 8
rules resp.bytes resp.nominal
planes 1
profile mtu 256
msg m = write len 5*256 at buf
p0 < m[0] ; p0 < m[1] ; p0 < m[1] rtx ; p0 < m[2] ; p0 < m[3]
settle rtt                                                # with lawful discards mended, before the last one asks
p0 < m[4] ackreq
* > sack cack m[4] rcvd $units within rtt

id R-TS-001
purpose a SACK reflects the time stamp of the packet that triggered it
mark S2
cite mrc.md 3; mrc.md 6
rules resp.stamp
caps time_stamps
planes 1
profile time_stamps 1
msg m = write len 8192 at buf
p0 < m[0] ackreq raw tseth.tx_timestamp16 0x1234
* > sack trigger m[0] timestamp 0x1234 within rtt
p0 < m[1] ackreq raw tseth.tx_timestamp16 0xFEDC
* > sack trigger m[1] timestamp 0xFEDC within rtt
