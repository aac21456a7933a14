# SPDX-License-Identifier: Apache-2.0
# Trimmed packets: known by their code point alone, whatever is left and whatever the lengths say; none of it is written.
tier 2
caps responder trim_nack
planes 1

cases id size lengths {
  R-TRIM-101 128 none
  R-TRIM-102 128 ip
  R-TRIM-103 128 udp
  R-TRIM-104 206 none
  R-TRIM-105 206 ip
  R-TRIM-106 206 udp
  R-TRIM-107 256 none
  R-TRIM-108 256 ip
  R-TRIM-109 256 udp
  R-TRIM-110 4084 none
  R-TRIM-111 4084 ip
  R-TRIM-112 4084 udp
}
purpose a packet trimmed to $size bytes, lengths rewritten: $lengths, is NACKed, and nothing of it is written or reported
mark S (lengths and rest of payload), S2, C, A-15
cite mrc.md 4; mrc.md 6; base.md Trimming
rules resp.nack-trim resp.trim mem.source
negative
repair off
background ignore sack ack probe endpoint
msg m = write len 8192 at buf seq 7
mem fill buf 8192 = 0xa5
p0 < m[1] ackreq ev 0x13572468 trim $size lengths $lengths as cut
* > nack reason trimmed psn m[1] entropy 0x13572468 within rtt
none > sack has m[1] within rtt from cut
mem same buf 8192 = 0xa5
p0 < m[0]
p0 < m[1] rtx
any order { * > sack cack m[1] ; * > ack psn m[1] msn 1 } within rtt
mem digest buf 8192 = seq 7

cases id dscp reason {
  R-TRIM-121 trimmed trimmed
  R-TRIM-122 lasthop trimmed_lasthop
}
purpose a whole packet with the code point $dscp is a trimmed one: only the code point tells, NACK $reason
mark U, A-04
cite mrc.md 4; base.md Trimming
rules resp.nack-trim resp.trim
negative
repair off
background ignore sack ack probe endpoint
msg m = write len 64 at buf seq 7
mem fill buf 64 = 0xa5
p0 < m[0] ackreq dscp $dscp as cut
* > nack reason $reason psn m[0] within rtt
none > sack has m[0] within rtt from cut
mem same buf 64 = 0xa5

cases id dscp {
  R-TRIM-123 0
  R-TRIM-124 8
  R-TRIM-125 10
  R-TRIM-126 46
  R-TRIM-127 63
}
purpose a whole packet with the code point $dscp is not trimmed, and is taken
mark U, S2, A-04
cite mrc.md 4
rules resp.sack-ask resp.cack-taken mem.source
msg m = write len 64 at buf seq 7
p0 < m[0] ackreq dscp $dscp
* > sack cack m[0] within rtt
mem digest buf 64 = seq 7

cases id code {
  R-TRIM-128 data
  R-TRIM-129 no_trim
}
purpose a packet cut to 128 bytes whose code point is $code is damaged, not trimmed: no NACK
mark U
cite mrc.md 4
rules resp.trim resp.nack
caps responder trim_nack bytes
negative
repair off
msg m = write len 4096 at buf seq 7
mem fill buf 4096 = 0xa5
p0 < m[0] ackreq dscp $code cut 128
none > * within rtt from last
mem same buf 4096 = 0xa5
p0 < m[0] ackreq
* > sack cack m[0] within rtt
mem digest buf 4096 = seq 7

cases id setting dscp reason {
  R-TRIM-131 "A-04 DSCP_TRIM.trimmed 20" 20 trimmed
  R-TRIM-132 "A-04 DSCP_TRIM.lasthop 24" 24 trimmed_lasthop
}
purpose with $setting the code point $dscp tells a trimmed packet
mark A, A-04
cite mrc.md 4
rules resp.nack-trim resp.trim
negative
repair off
background ignore sack ack probe endpoint
msg m = write len 4096 at buf seq 7
mem fill buf 4096 = 0xa5
p0 < m[0] trim 128 dscp $dscp
* > nack reason $reason psn m[0] within rtt
mem same buf 4096 = 0xa5

id R-TRIM-133
purpose with another code point for trimmed packets, 12 is one like others: a whole packet that has it is taken
mark A, A-04
cite mrc.md 4
rules resp.trim resp.sack-ask mem.source
setting A-04 DSCP_TRIM.trimmed 20
msg m = write len 4096 at buf seq 7
p0 < m[0] ackreq dscp 12
* > sack cack m[0] within rtt
mem digest buf 4096 = seq 7

id R-TRIM-141
purpose a trimmed copy of a packet below cack is a duplicate: SACK and no NACK
mark U
cite mrc.md 6
rules resp.nack-had resp.sack-trim
negative
repair off
msg m = write len 8192 at buf seq 7
p0 < m[0] ackreq
* > sack cack m[0] within rtt
settle 2 rtt
mem fill buf 8192 = 0x5a
p0 < m[0] trim 256 as cut
* > sack trigger m[0] cack m[0] within rtt from cut
none > nack within rtt from cut
mem same buf 8192 = 0x5a

id R-TRIM-142
purpose a trimmed copy of a packet above cack is a duplicate: SACK and no NACK
mark U
cite mrc.md 6
rules resp.nack-had resp.sack-trim
negative
repair off
msg m = write len 12288 at buf seq 7
p0 < m[1] ackreq
* > sack cack m[0]-1 has m[1] within rtt
settle 2 rtt
mem fill buf 12288 = 0x5a
p0 < m[1] trim 256 as cut
* > sack trigger m[1] cack m[0]-1 ooo 1 within rtt from cut
none > nack within rtt from cut
mem same buf 12288 = 0x5a

id R-TRIM-143
purpose without the capability TRIM_NACK a trimmed packet is not answered with a NACK
mark S2, A-13
cite mrc.md 6; mrc.md 3
rules resp.nack-trim-cap
profile trim_nack 0
negative
repair off
background ignore sack ack probe endpoint
msg m = write len 4096 at buf seq 7
mem fill buf 4096 = 0xa5
p0 < m[0] ackreq trim 128 as cut
none > nack within rtt from cut
none > sack has m[0] within rtt from last
mem same buf 4096 = 0xa5
p0 < m[0] rtx
* > sack cack m[0] within rtt

id R-TRIM-144
purpose with the setting of A-74 a trimmed packet brings its NACK and nothing else
mark A, A-74
cite mrc.md 6
rules resp.trim-sack
setting A-74 CTRL.trim_silent 1
repair off
msg m = write len 4096 at buf seq 7
p0 < m[0] trim 128 as cut
* > nack reason trimmed psn m[0] within rtt
none > sack pr 1 within rtt from cut

id R-TRIM-145
purpose each of several trimmed packets is NACKed, with its own PSN and entropy value
mark S2
cite mrc.md 6
rules resp.nack-trim resp.nack
repair off
background ignore sack ack probe endpoint
msg m = write len 16384 at buf seq 7
p0 < m[0] trim 128 ev 0xA0000001 ; p0 < m[2] trim 128 ev 0xA0000002 ; p0 < m[3] trim 128 ev 0xA0000003
any order {
  * > nack reason trimmed psn m[0] entropy 0xA0000001
  * > nack reason trimmed psn m[2] entropy 0xA0000002
  * > nack reason trimmed psn m[3] entropy 0xA0000003
} within rtt

id R-TRIM-146
purpose a trimmed packet moves neither rcvd_bytes nor ooo_count
mark S2 (nothing received), U
cite mrc.md 6; mrc.md 3
rules resp.bytes resp.ooo-most
negative
repair off
background ignore sack ack probe endpoint
msg m = write len 12288 at buf seq 7
p0 < m[0] ackreq
* > sack cack m[0] within rtt as s
p0 < m[2] trim 206
* > nack reason trimmed psn m[2] within rtt
p0 < probe id 4
* > sack probe 4 cack m[0] ooo 0 rcvd s.rcvd lacks m[2] within rtt

cases id change what {
  R-TRIM-147 "raw bth.dqp = qp+1" "to a QP that does not exist"
  R-TRIM-148 "raw bth.opcode = 0x2A" "of an opcode that is none of MRC's"
  R-TRIM-149 "raw bth.tver = 1" "of another transport version"
  R-TRIM-150 "raw udp.dst_port = 53" "to another UDP port"
}
purpose a trimmed packet $change, $what, is not NACKed
mark S2+, A (P_Key and more)
caps responder trim_nack bytes
cite mrc.md 2; mrc.md 4
rules resp.nack resp.trim
negative
repair off
msg m = write len 4096 at buf seq 7
p0 < m[0] $change trim 128
none > nack within rtt from last
p0 < m[0] ackreq
* > sack cack m[0] within rtt

id R-TRIM-151
purpose a trim whose header was damaged on the way has no ICRC to tell: its NACK names what stands there
mark S2 (no valid ICRC), A-15
caps responder trim_nack bytes
cite mrc.md 4
rules resp.nack-trim
repair off
background ignore sack ack probe endpoint
msg m = write len 4096 at buf seq 7
p0 < m[0] ev 0x77770000 flip meth.msn trim 4084 lengths none
* > nack reason trimmed psn m[0] entropy 0x77770000 within rtt

id R-TRIM-152
purpose a trim of an immediate's packet delivers nothing; the whole packet does
mark S2
cite mrc.md 6
rules mem.cqe
caps responder trim_nack write_imm
negative
repair off
background ignore sack ack probe endpoint
msg m = write len 4096 at buf seq 7 imm 0xABCD
dut recv 1
p0 < m[0] trim 206
* > nack reason trimmed psn m[0] within rtt
none > cqe within rtt
p0 < m[0] rtx
> cqe receive status ok imm 0xABCD within rtt

cases id size where {
  R-TRIM-161 128 outer
  R-TRIM-162 128 both
  R-TRIM-163 206 outer
  R-TRIM-164 256 outer
  R-TRIM-165 256 both
  R-TRIM-166 4084 outer
  R-TRIM-168 128 "lengths all outer"
  R-TRIM-169 256 "lengths ip outer"
}
purpose SRv6 with time stamps, trimmed to $size (128: no RETH left), code point in $where: NACK with stamp and entropy
mark S (outermost only), S2, A-15
cite mrc.md 4; mrc.md 9; base.md Trimming
rules resp.nack-trim resp.stamp
caps responder trim_nack srv6 time_stamps
encap srv6
profile time_stamps 1
negative
repair off
background ignore sack ack probe endpoint
msg m = write len 4096 at buf seq 7
mem fill buf 4096 = 0xa5
p0 < m[0] ev 0x24681357 raw tseth.tx_timestamp16 = 0x9876 trim $size $where dscp trimmed
* > nack reason trimmed psn m[0] entropy 0x24681357 timestamp 0x9876 within rtt
mem same buf 4096 = 0xa5
p0 < m[0] rtx
* > sack cack m[0] within rtt

id R-TRIM-167
purpose a code point of a trimmed packet in the inner header alone means nothing: switches write the outermost one
mark S, A-26
cite mrc.md 4
rules resp.trim resp.sack-ask mem.source
caps responder trim_nack srv6
encap srv6
msg m = write len 4096 at buf seq 7
p0 < m[0] ackreq raw ipv6.dscp = 12
* > sack cack m[0] within rtt
mem digest buf 4096 = seq 7
