# SPDX-License-Identifier: Apache-2.0
# SACK: what brings one, what it says; duplicates; probes; the semantic ACK.
tier 2
caps responder
planes 1

# ---- what brings one ----

cases id how what {
  R-SACK-011 "ackreq" "A"
  R-SACK-012 "rtx" "rtx"
  R-SACK-013 "ecn ce" "a mark ECN-CE"
  R-SACK-014 "rtx ackreq ecn ce" "A, rtx and a mark"
}
purpose a packet with $what in the middle of a message brings a SACK, though there is nothing to acknowledge
mark S2
cite mrc.md 6
rules resp.sack-ask resp.sack-rtx resp.sack-ce
msg m = write len 12288 at buf seq 1
p0 < m[0] $how
* > sack cack m[0] trigger m[0] ooo 0 within rtt
none > ack within rtt from last

cases id ecn m {
  R-SACK-015 ce skip_once
  R-SACK-016 ect0 none
  R-SACK-017 ect1 none
  R-SACK-018 0 none
}
purpose a packet that comes with ECN $ecn is reported with m $m and its own entropy value
mark S2
cite mrc.md 3; mrc.md 6
rules resp.mark resp.entropy
msg m = write len 4096 at buf seq 1
p0 < m[0] ackreq ecn $ecn ev 0xFFFF0000
* > sack trigger m[0] m $m entropy 0xFFFF0000 within rtt

cases id mtu n {
  R-SACK-021 4096 4
  R-SACK-022 2048 8
  R-SACK-023 1024 16
  R-SACK-024 512 16
  R-SACK-025 256 16
}
purpose after 16384 bytes a SACK comes unasked: $n packets of $mtu, each counted as 1024 at least
mark A, A-09, U
cite mrc.md 6
rules resp.sack-bytes
profile mtu $mtu
msg m = write len 32*$mtu at buf seq 1
let n = $n
p0 < m[0] ; p0 < m[1] ; p0 < m[2] ; p0 < m[3]
if n > 4 { p0 < m[4] ; p0 < m[5] ; p0 < m[6] ; p0 < m[7] }
if n > 8 { p0 < m[8] ; p0 < m[9] ; p0 < m[10] ; p0 < m[11] ; p0 < m[12] ; p0 < m[13] ; p0 < m[14] ; p0 < m[15] }
* > sack cack m[n-1] ooo 0 within rtt

cases id bytes n {
  R-SACK-077 1024 1
  R-SACK-026 4096 1
  R-SACK-027 8192 2
  R-SACK-028 12288 3
}
purpose with another threshold of A-09, $bytes, a SACK comes after $n packets of 4096
mark A, A-09
cite mrc.md 6
rules resp.sack-bytes
setting A-09 SACK_TRIGGER.bytes $bytes
msg m = write len 32768 at buf seq 1
let n = $n
p0 < m[0]
if n > 1 { p0 < m[1] }
if n > 2 { p0 < m[2] }
* > sack cack m[n-1] ooo 0 within rtt

cases id bytes n {
  R-SACK-074 1536 2
  R-SACK-075 2560 3
  R-SACK-076 4608 5
}
purpose a threshold of A-09 that no number of packets meets exactly, $bytes: a SACK comes with packet $n at the latest
mark A, A-09, U
cite mrc.md 6
rules resp.sack-bytes
setting A-09 SACK_TRIGGER.bytes $bytes
profile mtu 256
msg m = write len 32*256 at buf seq 1
let n = $n
p0 < m[0] ; p0 < m[1]
if n > 2 { p0 < m[2] }
if n > 3 { p0 < m[3] ; p0 < m[4] }
* > sack cack m[n-1] ooo 0 within rtt

# ---- what it says: cack, bitmap, ooo_count ----

cases id sends want {
  R-SACK-031 "p0 < m[1] ackreq" "cack m[0]-1 has m[1] lacks m[0] ooo 1 seth.ack_psn_offset 2"
  R-SACK-032 "p0 < m[7] ackreq" "cack m[0]-1 has m[7] ooo 1 seth.ack_psn_offset 8"
  R-SACK-033 "p0 < m[0] ; p0 < m[2] ackreq" "cack m[0] has m[2] lacks m[1] ooo 1 seth.ack_psn_offset 2"
  R-SACK-034 "p0 < m[0] ; p0 < m[1] ; p0 < m[2] ackreq" "cack m[2] lacks m[3] ooo 0 seth.ack_psn_offset 0"
  R-SACK-035 "p0 < m[2] ; p0 < m[1] ; p0 < m[0] ackreq" "cack m[2] ooo 0 seth.ack_psn_offset -2"
  R-SACK-036 "p0 < m[5] ; p0 < m[3] ; p0 < m[1] ackreq" "cack m[0]-1 ooo 3 seth.ack_psn_offset 2"
  R-SACK-037 "p0 < m[1] ; p0 < m[2] ; p0 < m[3] ; p0 < m[0] ackreq" "cack m[3] ooo 0"
  R-SACK-038 "p0 < m[0] ; p0 < m[1] ; p0 < m[3] ; p0 < m[4] ; p0 < m[6] ackreq" "cack m[1] has m[3] or m[4] or m[6] ooo 3"
}
purpose $want after packets in this order: $sends
mark S2+
cite mrc.md 3; mrc.md 6
rules resp.bitmap resp.cack-arrived resp.ooo-most resp.ooo-least resp.trigger
msg m = write len 32768 at buf seq 1
$sends
* > sack $want within rtt

id R-SACK-041
purpose every PSN that has arrived is reported, however far above cack: within three probes
mark S2 (all are reported), A-10
cite mrc.md 6
rules resp.reported resp.sack-probe
profile mtu 256 mpr_dest 1
msg m = write len 200*256 at buf seq 1
p0 < m[3] ; p0 < m[60] ; p0 < m[66] ; p0 < m[100] ; p0 < m[126] ackreq
* > sack cack m[0]-1 ooo 5 within rtt
repeat 3 { p0 < probe id 9
  settle rtt
}
expect reported(m[3]) == 1 and reported(m[60]) == 1 and reported(m[66]) == 1 and reported(m[100]) == 1
expect reported(m[126]) == 1

id R-SACK-042
purpose the bitmap's bits are cack + sack_offset + i: of m[1] and m[3] above a gap just these two are set
mark S2+
cite mrc.md 3
rules resp.bitmap
msg m = write len 32768 at buf seq 1
p0 < m[0] ; p0 < m[1] ; p0 < m[3] ; p0 < m[5] ackreq
* > sack cack m[1] trigger m[5] within rtt as s
expect s has m[5] or s.seth.sack_bitmap == 0 or s.base > m[5]
expect s lacks m[2] and s lacks m[4] and s lacks m[6]

cases id self want {
  R-SACK-043 1 "base m[5] bit m[5] 1"
}
purpose with the setting of A-11 the bitmap of a packet that asks begins at the packet itself
mark U, A-11
cite mrc.md 6
rules resp.bitmap resp.reported
setting A-11 CTRL.sack_base_self $self
msg m = write len 32768 at buf seq 1
p0 < m[2] ; p0 < m[5] ackreq
* > sack cack m[0]-1 trigger m[5] $want within rtt

id R-SACK-044
purpose after a packet with A above a gap, the state is told again when the gap closes (prev_ar), or by the next probe
mark U
cite mrc.md 6
rules resp.sack-drain
msg m = write len 16384 at buf seq 1
p0 < m[1] ackreq
* > sack cack m[0]-1 has m[1] within rtt
p0 < m[0]
either { * > sack cack m[1] pr 0 ooo 0 within rtt
  none > nack within rtt from last
} or { none > sack cack m[1] within rtt
  p0 < probe id 3
  * > sack cack m[1] pr 1 within rtt
}

# ---- rcvd_bytes ----

cases id nominal mtu n rcvd {
  R-RCVD-101 0 4096 8 131
  R-RCVD-102 1 4096 8 128
  R-RCVD-103 2 4096 8 130
  R-RCVD-104 0 256 60 80
  R-RCVD-105 1 256 60 60
  R-RCVD-106 2 256 60 70
}
# 0: UDP length + 40 = payload + 44 + 40; 1: payload; 2: payload + 40; (sum + 255) / 256
purpose rcvd_bytes after $n packets of $mtu is $rcvd: (sum of sizes + 255) / 256 with the size of A-55's setting $nominal
mark C, A-55
cite mrc.md 3; mrc.md 8
rules resp.bytes resp.nominal
setting A-55 CTRL.nominal $nominal
profile mtu $mtu mpr_dest 1
msg m = write len $n*$mtu at buf seq 1
let n = $n
p0 < m[0] ; p0 < m[1] ; p0 < m[2] ; p0 < m[3] ; p0 < m[4] ; p0 < m[5] ; p0 < m[6]
if n > 8 {
  p0 < m[7] ; p0 < m[8] ; p0 < m[9] ; p0 < m[10] ; p0 < m[11] ; p0 < m[12] ; p0 < m[13] ; p0 < m[14] ; p0 < m[15]
  p0 < m[16] ; p0 < m[17] ; p0 < m[18] ; p0 < m[19] ; p0 < m[20] ; p0 < m[21] ; p0 < m[22] ; p0 < m[23] ; p0 < m[24]
  p0 < m[25] ; p0 < m[26] ; p0 < m[27] ; p0 < m[28] ; p0 < m[29] ; p0 < m[30] ; p0 < m[31] ; p0 < m[32] ; p0 < m[33]
  p0 < m[34] ; p0 < m[35] ; p0 < m[36] ; p0 < m[37] ; p0 < m[38] ; p0 < m[39] ; p0 < m[40] ; p0 < m[41] ; p0 < m[42]
  p0 < m[43] ; p0 < m[44] ; p0 < m[45] ; p0 < m[46] ; p0 < m[47] ; p0 < m[48] ; p0 < m[49] ; p0 < m[50] ; p0 < m[51]
  p0 < m[52] ; p0 < m[53] ; p0 < m[54] ; p0 < m[55] ; p0 < m[56] ; p0 < m[57] ; p0 < m[58]
}
p0 < m[m.count-1] ackreq
* > sack cack m.last rcvd $rcvd within rtt

cases id len rcvd {
  R-RCVD-111 1 1
  R-RCVD-112 172 1
  R-RCVD-113 173 2
  R-RCVD-114 428 2
  R-RCVD-115 429 3
}
purpose rcvd_bytes rounds up: one packet of $len bytes (and pad, and 84) is $rcvd
mark C, A-55
cite mrc.md 3; mrc.md 8
rules resp.nominal
setting A-55 CTRL.nominal 0
msg m = write len $len at buf seq 1
p0 < m[0] ackreq
* > sack cack m[0] rcvd $rcvd within rtt

id R-RCVD-121
purpose what lies above a gap counts as received, a duplicate does not count again
mark S2, A-55
cite mrc.md 3; mrc.md 6
rules resp.bytes
setting A-55 CTRL.nominal 0
negative
msg m = write len 32768 at buf seq 1
p0 < m[1] ; p0 < m[2] ackreq
* > sack cack m[0]-1 rcvd 33 within rtt
settle 2 rtt
p0 < m[1] rtx
* > sack trigger m[1] rcvd 33 within rtt
p0 < m[0] rtx
* > sack cack m[2] rcvd 49 within rtt
settle 2 rtt
p0 < m[0] rtx
* > sack trigger m[0] rcvd 49 within rtt

# ---- duplicates ----

cases id how {
  R-DUP-011 ""
  R-DUP-012 "rtx"
  R-DUP-013 "ackreq"
  R-DUP-014 "rtx ackreq"
}
purpose a duplicate below cack, $how, is answered with SACK and the newest ACK, and writes nothing
mark S2, A-17
cite mrc.md 6
rules resp.sack-dup resp.ack-again mem.once
negative
msg m = write len 4096 at buf seq 9
msg n = write len 4096 at buf+4096 seq 10
p0 < m[0] ; p0 < n[0] ackreq
any order { * > sack cack n[0] ; * > ack psn n[0] msn 2 } within rtt
settle 2 rtt
mem fill buf 8192 = 0x11
p0 < m[0] $how as again
any order { * > sack cack n[0] trigger m[0] ooo 0 seth.ack_psn_offset -1 ; * > ack psn n[0] msn 2 } within rtt
mem same buf 8192 = 0x11 after rtt from again

id R-DUP-015
purpose a duplicate above cack is answered with a SACK, writes nothing and is not counted twice
mark S2
cite mrc.md 6
rules resp.sack-dup mem.once resp.ooo-most
negative
msg m = write len 12288 at buf seq 9
p0 < m[1] ackreq
* > sack cack m[0]-1 trigger m[1] ooo 1 within rtt as s
settle 2 rtt
mem fill buf 12288 = 0x11
p0 < m[1] rtx as again
* > sack cack m[0]-1 trigger m[1] ooo 1 rcvd s.rcvd within rtt
mem same buf 12288 = 0x11 after rtt from again

id R-DUP-016
purpose a duplicate with other bytes changes nothing: the first packet counts
mark S2, S (placed once)
cite mrc.md 6; mrc.md 7
rules mem.once
negative
msg m = write len 64 at buf seq 9
p0 < m[0] ackreq
* > sack cack m[0] within rtt
mem digest buf 64 = seq 9
p0 < m[0] rtx payload "00000000000000000000000000000000" raw reth.dma_length 16 raw bth.pad_count 0 as again
* > sack trigger m[0] within rtt from again
mem digest buf 64 = seq 9
settle rtt
mem digest buf 64 = seq 9

id R-DUP-017
purpose the SACK of a duplicate has the duplicate's entropy value and its mark
mark S2
cite mrc.md 3; mrc.md 6
rules resp.entropy resp.mark
msg m = write len 8192 at buf seq 9
p0 < m[0] ackreq ev 0x11110001
* > sack trigger m[0] entropy 0x11110001 m none within rtt
settle 2 rtt
p0 < m[0] rtx ev 0x22220002 ecn ce as again
* > sack trigger m[0] entropy 0x22220002 m skip_once within rtt from again

id R-DUP-018
purpose a duplicate of an immediate completes nothing again
mark S2
cite mrc.md 6
rules mem.cqe-order resp.cqe-order
caps responder write_imm
negative
msg m = write len 64 at buf seq 9 imm 0x55AA55AA
dut recv 2
p0 < m[0] ackreq
any order { * > sack cack m[0] ; > cqe receive status ok imm 0x55AA55AA } within rtt
settle 2 rtt
p0 < m[0] rtx as again
* > sack trigger m[0] within rtt from again
none > cqe within 2 rtt from again

id R-DUP-019
purpose a duplicate with another R_Key is a duplicate, no access error
mark S2
cite mrc.md 6
rules resp.sack-dup resp.nak-cause mem.once
caps responder regions
negative
msg m = write len 64 at buf seq 9
p0 < m[0] ackreq
* > sack cack m[0] within rtt
settle 2 rtt
p0 < m[0] rtx raw reth.r_key 0xBAD as again
* > sack trigger m[0] within rtt from again
none > nak within rtt from again
dut query state rts

# ---- probes ----

cases id probe {
  R-PROBE-011 0
  R-PROBE-012 1
  R-PROBE-013 0x7FFF
  R-PROBE-014 0x8000
  R-PROBE-015 0xFFFF
}
purpose the answer to a reliability probe has its id $probe, not a PSN
mark S2+
cite mrc.md 3; mrc.md 6
rules resp.sack-probe resp.probe
p0 < probe id $probe ev 0x0BADCAFE
* > sack pr 1 probe $probe cack rq_psn-1 entropy 0x0BADCAFE within rtt

id R-PROBE-016
purpose a probe takes no PSN: the first packet after three of them is the first one
mark S2+
cite mrc.md 2; mrc.md 6
rules resp.cack-arrived resp.sack-probe
negative
msg m = write len 4096 at buf seq 9
p0 < probe id 1 ; p0 < probe id 2 ; p0 < probe id 3
* > sack pr 1 probe 3 cack rq_psn-1 within rtt
p0 < m[0] ackreq
* > sack cack m[0] pr 0 trigger m[0] within rtt

id R-PROBE-017
purpose a probe tells what lies above a gap: a lost SACK costs nothing
mark S2
cite mrc.md 6; mrc.md 7
rules resp.sack-probe resp.bitmap
msg m = write len 32768 at buf seq 9
p0 < m[0] ; p0 < m[2] ackreq
* > sack cack m[0] ooo 1 within rtt
p0 < probe id 77
* > sack pr 1 probe 77 cack m[0] ooo 1 within rtt

id R-PROBE-018
purpose a trimmed probe is a lost one: nothing answers
mark A, A-32
cite mrc.md 4; mrc.md 6
rules resp.probe
negative
p0 < probe id 77 dscp trimmed
none > * within rtt from last
p0 < probe id 78
* > sack pr 1 probe 78 within rtt

id R-PROBE-019
purpose a probe to a QP that does not exist is not answered
mark S2+
cite mrc.md 2
rules resp.pair
negative
p0 < probe id 77 dqp qp+1
none > * within rtt from last
p0 < probe id 78
* > sack pr 1 probe 78 within rtt

id R-PROBE-020
purpose each of several probes is answered, with its own id
mark S2
cite mrc.md 6
rules resp.sack-probe
p0 < probe id 0x11 ; p0 < probe id 0x22 ; p0 < probe id 0x33
any order { * > sack pr 1 probe 0x11 ; * > sack pr 1 probe 0x22 ; * > sack pr 1 probe 0x33 } within rtt

# ---- semantic ACK ----

id R-ACK-001
purpose a message is acknowledged when all of it and of those before it has arrived, not when its last packet comes
mark S2, A-16
cite mrc.md 6
rules resp.ack-msn resp.ack-order
negative
msg m = write len 8192 at buf seq 1
msg n = write len 8192 at buf+8192 seq 2
p0 < m[1] ackreq ; p0 < n[0] ackreq ; p0 < n[1] ackreq
* > sack cack m[0]-1 trigger n[1] ooo 3 within rtt
none > ack within rtt from last
p0 < m[0]
* > ack psn n[1] msn 2 within rtt
mem digest buf 8192 = seq 1
mem digest buf+8192 8192 = seq 2

cases id both sends {
  R-ACK-002 0 "p0 < m[0] ackreq"
  R-ACK-003 1 "p0 < m[0] ackreq"
}
purpose a complete message is acknowledged once it is reported, with either answer of A-16 (ack_with_sack $both)
mark A, A-16
cite mrc.md 6
rules resp.ack-owed resp.ack-psn
setting A-16 CTRL.ack_with_sack $both
msg m = write len 4096 at buf seq 1
$sends
any order { * > sack cack m[0] ; * > ack psn m[0] msn 1 syndrome ack } within rtt

id R-ACK-004
purpose with ACKs after each SACK, a SACK in the middle of the next message brings the newest ACK again
mark A, A-16
cite mrc.md 6
rules resp.ack-again resp.ack-back
setting A-16 CTRL.ack_with_sack 1
msg m = write len 4096 at buf seq 1
msg n = write len 8192 at buf+4096 seq 2
p0 < m[0] ackreq
any order { * > sack cack m[0] ; * > ack psn m[0] msn 1 } within rtt
settle 2 rtt
p0 < n[0] ackreq
any order { * > sack cack n[0] ; * > ack psn m[0] msn 1 } within rtt

id R-ACK-005
purpose a probe brings the newest ACK again: a lost ACK is recovered without data
mark A, A-17
cite mrc.md 6
rules resp.ack-again
msg m = write len 4096 at buf seq 1
p0 < m[0] ackreq
any order { * > sack cack m[0] ; * > ack psn m[0] msn 1 } within rtt
settle 2 rtt
p0 < probe id 5
any order { * > sack pr 1 probe 5 cack m[0] ; * > ack psn m[0] msn 1 } within rtt

id R-ACK-006
purpose before the first message is complete there is no ACK: neither data nor probe brings one
mark S2, A-16
cite mrc.md 6
rules resp.ack-msn
negative
msg m = write len 8192 at buf seq 1
p0 < m[0] ackreq
* > sack cack m[0] within rtt
p0 < probe id 5
* > sack pr 1 probe 5 cack m[0] within rtt
none > ack within rtt from last

id R-ACK-007
purpose MSN of the METH wraps at 2^16: messages 0xFFFE to 1 complete in order
mark S2+
cite mrc.md 3; mrc.md 6
rules resp.ack-owed resp.ack-psn resp.ack-msn
caps responder psn
profile msn 0xFFFE
msg a = write len 64 at buf seq 1
msg b = write len 64 at buf+64 seq 2
msg c = write len 64 at buf+128 seq 3
msg d = write len 64 at buf+192 seq 4
p0 < a[0] ackreq
* > ack psn a[0] aeth.msn 0xFFFF within rtt
p0 < b[0] ackreq
* > ack psn b[0] aeth.msn 0 or 0x10000 within rtt
p0 < c[0] ackreq
* > ack psn c[0] aeth.msn 1 or 0x10001 within rtt
p0 < d[0] ackreq
* > ack psn d[0] aeth.msn 2 or 0x10002 within rtt
mem digest buf+192 64 = seq 4
