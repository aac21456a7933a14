# SPDX-License-Identifier: Apache-2.0
# Edges that nobody looked at until operators of the rules were changed one by one (mrc mutate --rules).
tier 1
caps responder

# ---- WRITEs of which one length says that there are no bytes (A-19) ----

cases id payload dma {
  R-ZERO-001 "payload len 0 raw bth.pad_count 0" 64
  R-ZERO-002 "" 0
}
purpose a WRITE whose payload ($payload) and DMA length ($dma) contradict each other, one of them 0, is never acknowledged
mark A, A-19
cite mrc.md 6
rules resp.ack-msn resp.ack-order mem.source
setting A-19 CTRL.zero_length 1
caps responder bytes
negative
background ignore sack probe endpoint nak
msg m = write len 64 at buf seq 3
mem fill buf 64 = 0xa5
p0 < m[0] ackreq $payload raw reth.dma_length $dma as bad
none > ack psn m[0] msn 1 within 2 rtt from bad
mem same buf 64 = 0xa5
if count(> nak from bad) == 0 {                           # it was dropped: the right one is taken
  p0 < m[0] rtx ackreq
  any order { * > sack cack m[0] ; * > ack psn m[0] msn 1 } within rtt
  mem digest buf 64 = seq 3
}

cases id payload dma {
  R-ZERO-003 "payload len 0 raw bth.pad_count 0" 64
  R-ZERO-004 "" 0
}
purpose with the third answer of A-19 it is dropped without a word ($payload, DMA length $dma), and the right one taken
mark A, A-19
cite mrc.md 6
rules mem.source mem.written resp.ack-msn resp.ack-owed
setting A-19 CTRL.zero_length 2
caps responder bytes
negative
msg m = write len 64 at buf seq 3
mem fill buf 64 = 0xa5
p0 < m[0] ackreq $payload raw reth.dma_length $dma
none > * within rtt from last
mem same buf 64 = 0xa5
p0 < m[0] rtx ackreq
any order { * > sack cack m[0] ; * > ack psn m[0] msn 1 } within rtt
mem digest buf 64 = seq 3
dut query state rts

# ---- immediates behind a time stamp ----

cases id ts len value {
  H-EXT-021 0 64 0x11223344
  H-EXT-022 0 8192 0x55667788
  H-EXT-023 1 64 0x99AABBCC
  H-EXT-024 1 8192 0xDDEEFF01
}
purpose an immediate stands behind METH, TSETH (time stamp $ts) and RETH: the completion of $len bytes has it
mark S2+
cite mrc.md 2; mrc.md 3
rules resp.cqe-imm
caps responder write_imm time_stamps
profile time_stamps $ts
background ignore sack ack probe endpoint
msg m = write len $len at buf seq 9 imm $value
dut recv 1
if m.count > 1 { p0 < m[0] }
p0 < m[m.count-1] ackreq
> cqe receive status ok imm $value within 2 rtt

# ---- routing headers that nobody can use ----

id H-SRH-011
purpose a packet behind a routing header whose next header is TCP is not taken
mark S
cite RFC 8200 4; RFC 8754 2; mrc.md 1
rules resp.cack-arrived mem.source
caps responder srh bytes
encap srh
negative
msg m = write len 64 at buf seq 3
mem fill buf 64 = 0xa5
p0 < m[0] ackreq raw srh.next_header 6
none > * within rtt from last
mem same buf 64 = 0xa5
p0 < m[0] rtx ackreq
* > sack cack m[0] within rtt

# ---- the shortest trimmed packet, and entropy values in the other order ----

cases id ts size {
  H-CUT-021 0 78
  H-CUT-022 1 82
}
purpose a packet trimmed to $size bytes, of which all of METH (and TSETH: $ts) is left, is answered like any trimmed one
mark A
cite mrc.md 4; mrc.md 6
rules resp.nack-trim resp.trim resp.nack
caps responder trim_nack time_stamps
profile time_stamps $ts
repair off
background ignore sack ack probe endpoint
msg m = write len 4096 at buf seq 3
p0 < m[0] trim $size
* > nack reason trimmed psn m[0] within rtt

id H-EV-021
purpose with the other answer of A-03 the flow label is the upper half of the entropy value
mark C, A-03
cite mrc.md 5
rules resp.entropy resp.trigger
setting A-03 CTRL.ev_swap 1
msg m = write len 8192 at buf seq 3
p0 < m[0] ackreq raw udp.src_port 0x9234 raw ipv6.flow_label 0x0ABCD
* > sack trigger m[0] seth.entropy 0xABCD9234 within rtt

# ---- a bitmap that is full to its last bit ----

id R-SACK-051
purpose 63 PSNs above a gap fill the bitmap to its last bit, and all of them are reported within three probes
mark S2 (all are reported), A-10
cite mrc.md 3; mrc.md 6
rules resp.reported resp.bitmap resp.ooo-most resp.ooo-least
profile mtu 256 mpr_dest 1
msg m = write len 64*256 at buf seq 1
p0 < m[1] ; p0 < m[2] ; p0 < m[3] ; p0 < m[4] ; p0 < m[5] ; p0 < m[6] ; p0 < m[7] ; p0 < m[8]
p0 < m[9] ; p0 < m[10] ; p0 < m[11] ; p0 < m[12] ; p0 < m[13] ; p0 < m[14] ; p0 < m[15] ; p0 < m[16]
p0 < m[17] ; p0 < m[18] ; p0 < m[19] ; p0 < m[20] ; p0 < m[21] ; p0 < m[22] ; p0 < m[23] ; p0 < m[24]
p0 < m[25] ; p0 < m[26] ; p0 < m[27] ; p0 < m[28] ; p0 < m[29] ; p0 < m[30] ; p0 < m[31] ; p0 < m[32]
p0 < m[33] ; p0 < m[34] ; p0 < m[35] ; p0 < m[36] ; p0 < m[37] ; p0 < m[38] ; p0 < m[39] ; p0 < m[40]
p0 < m[41] ; p0 < m[42] ; p0 < m[43] ; p0 < m[44] ; p0 < m[45] ; p0 < m[46] ; p0 < m[47] ; p0 < m[48]
p0 < m[49] ; p0 < m[50] ; p0 < m[51] ; p0 < m[52] ; p0 < m[53] ; p0 < m[54] ; p0 < m[55] ; p0 < m[56]
p0 < m[57] ; p0 < m[58] ; p0 < m[59] ; p0 < m[60] ; p0 < m[61] ; p0 < m[62]
p0 < m[63] ackreq
* > sack cack m[0]-1 ooo 63 within 2 rtt
repeat 3 { p0 < probe id 9
  settle rtt
}
expect reported(m[1]) == 1 and reported(m[2]) == 1 and reported(m[32]) == 1 and reported(m[62]) == 1
expect reported(m[63]) == 1

# ---- what counts in rcvd_bytes beside the payload ----

cases id ts len imm rcvd {
  R-RCVD-131 1 168 "" 1
  R-RCVD-132 1 172 "" 2
  R-RCVD-133 0 168 "imm 0x55" 1
  R-RCVD-134 0 172 "imm 0x55" 2
  R-RCVD-135 1 164 "imm 0x55" 1
  R-RCVD-136 1 168 "imm 0x55" 2
}
purpose rcvd_bytes counts the UDP length + 40: 84, $len, 4 for a time stamp ($ts), 4 for an immediate ($imm) make $rcvd
mark C, A-55
cite mrc.md 3; mrc.md 8
rules resp.bytes resp.nominal
setting A-55 CTRL.nominal 0
caps responder write_imm time_stamps
profile time_stamps $ts
background ignore sack ack probe endpoint cqe
msg m = write len $len at buf seq 1 $imm
dut recv 1
p0 < m[0] ackreq
* > sack cack m[0] rcvd $rcvd within rtt

id H-SRH-012
purpose the routing header of an answer says that it is 24 bytes long: 2 units of 8 behind the first
mark S
cite RFC 8754 2; mrc.md 1
rules wire.encap
caps responder srh
encap srh
msg m = write len 64 at buf seq 3
p0 < m[0] ackreq
* > sack cack m[0] srh.hdr_ext_len 2 within rtt
