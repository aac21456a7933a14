# SPDX-License-Identifier: Apache-2.0
# The ICRC: known answers, what it leaves out, what it covers. Known answers are port status updates, because their
# destination QP is a constant: whole frames from fd00::1 to fd00::2, computed with zlib's crc32 by base.md "ICRC".
tier 1
caps responder bytes
planes 1

cases id frame purpose {
  H-KAT-001 02000000000202000000000186dd6120000000281140fd000000000000000000000000000001fd000000000000000000000000000002c12312b700280000d800ffff000000020000123400000000000001fe0000000056780001a50a7dd1 "a frame with the ICRC a5 0a 7d d1 is taken"
  H-KAT-002 02000000000202000000000186dd6bbfffff00281101fd000000000000000000000000000001fd000000000000000000000000000002c12312b70028beefd800ffffff0000020000123400000000000001fe0000000056780001a50a7dd1 "the same ICRC with all masked fields at other values: traffic class, flow label, hop limit 1, checksum, BTH byte 4"
  H-KAT-003 02000000000202000000000186dd60012345002811fffd000000000000000000000000000001fd000000000000000000000000000002c12312b700280001d800ffff550000020000123400000000000001fe0000000056780001a50a7dd1 "the same ICRC with hop limit 255, flow label 0x12345, checksum 1, BTH byte 4 0x55"
}
purpose $purpose
mark S2, A-14 (whole packet), A-60
cite base.md ICRC; mrc.md 4; IBTA annex 17.3
rules resp.sack-ask resp.cack-taken mem.source
p0 < bytes "$frame"
p0 > endpoint response id 0x1234 op port_status timestamp 0x5678 within rtt

cases id frame purpose {
  H-KAT-004 02000000000202000000000186dd6120000000281140fd000000000000000000000000000001fd000000000000000000000000000002c12312b700280000d800ffff000000020000123400000000000001fe0000000056780001d17d0aa5 "the ICRC with its most significant byte first is wrong"
  H-KAT-005 02000000000202000000000186dd6120000000281140fd000000000000000000000000000001fd000000000000000000000000000002c12312b700280000d800ffff000000020000123400000000000001fe0000000056780001dab366bf "an ICRC without the eight bytes of ones for the LRH is wrong"
  H-KAT-006 02000000000202000000000186dd6120000000281140fd000000000000000000000000000001fd000000000000000000000000000002c12312b700280000d800ffff000000020000123400000000000001fe00000000567800015af5822e "an ICRC without the final complement is wrong"
  H-KAT-007 02000000000202000000000186dd6120000000281140fd000000000000000000000000000001fd000000000000000000000000000002c12312b700280000d800ffff000000020000123400000000000001fe00000000567800017c697ba6 "an ICRC over traffic class, flow label and hop limit as they are is wrong"
  H-KAT-008 02000000000202000000000186dd6120000000281140fd000000000000000000000000000001fd000000000000000000000000000002c12312b700280000d800ffff000000020000123400000000000001fe000000005678000169fd1e73 "an ICRC over the UDP checksum as it is, 0, is wrong"
  H-KAT-009 02000000000202000000000186dd6120000000281140fd000000000000000000000000000001fd000000000000000000000000000002c12312b700280000d800ffff000000020000123400000000000001fe0000000056780001f48fb0d8 "an ICRC over BTH byte 4 as 0 is wrong"
  H-KAT-010 02000000000202000000000186dd6120000000281140fd000000000000000000000000000001fd000000000000000000000000000002c12312b700280000d800ffff000000020000123400000000000001fe00000000567800019061d109 "an ICRC with ones for BTH byte 8 is wrong: that byte counts as it is"
  H-KAT-011 02000000000202000000000186dd6120000000281140fd000000000000000000000000000001fd000000000000000000000000000002c12312b700280000d800ffff000000020000123400000000000001fe0000000056780001a40a7dd1 "an ICRC of which byte 0 has one wrong bit is wrong"
  H-KAT-012 02000000000202000000000186dd6120000000281140fd000000000000000000000000000001fd000000000000000000000000000002c12312b700280000d800ffff000000020000123400000000000001fe0000000056780001a50b7dd1 "an ICRC of which byte 1 has one wrong bit is wrong"
  H-KAT-013 02000000000202000000000186dd6120000000281140fd000000000000000000000000000001fd000000000000000000000000000002c12312b700280000d800ffff000000020000123400000000000001fe0000000056780001a50a7cd1 "an ICRC of which byte 2 has one wrong bit is wrong"
  H-KAT-014 02000000000202000000000186dd6120000000281140fd000000000000000000000000000001fd000000000000000000000000000002c12312b700280000d800ffff000000020000123400000000000001fe0000000056780001a50a7dd0 "an ICRC of which byte 3 has one wrong bit is wrong"
  H-KAT-015 02000000000202000000000186dd6120000000281140fd000000000000000000000000000001fd000000000000000000000000000002c12312b700280000d800ffff000000020000123400000000000001fe000000005678000100000000 "an ICRC of 0 is wrong"
  H-KAT-016 02000000000202000000000186dd6120000000281140fd000000000000000000000000000001fd000000000000000000000000000002c12312b700280000d800ffff000000020000123400000000000001fe0000000056780001e82740bc "an ICRC that leaves one wrong bit in byte 0 of the CRC register is wrong"
  H-KAT-017 02000000000202000000000186dd6120000000281140fd000000000000000000000000000001fd000000000000000000000000000002c12312b700280000d800ffff000000020000123400000000000001fe0000000056780001b0acb431 "an ICRC that leaves one wrong bit in byte 1 of the CRC register is wrong"
  H-KAT-018 02000000000202000000000186dd6120000000281140fd000000000000000000000000000001fd000000000000000000000000000002c12312b700280000d800ffff000000020000123400000000000001fe0000000056780001af0132cd "an ICRC that leaves one wrong bit in byte 2 of the CRC register is wrong"
  H-KAT-019 02000000000202000000000186dd6120000000281140fd000000000000000000000000000001fd000000000000000000000000000002c12312b700280000d800ffff000000020000123400000000000001fe0000000056780001f46217f2 "an ICRC that leaves one wrong bit in byte 3 of the CRC register is wrong"
}
purpose $purpose: the frame is discarded without a word
mark S2, A-14
cite base.md ICRC; mrc.md 4
rules resp.trigger resp.cack-arrived mem.source
negative
p0 < bytes "$frame"
none > * within rtt from last
p0 < evprobe id 9
* > endpoint response id 9 within rtt

# ---- what the ICRC leaves out: another value on the way, and the packet is as good ----

cases id field value purpose {
  H-ICRC-001 ipv6.dscp 8 "another code point, retransmission class"
  H-ICRC-002 ipv6.dscp 46 "another code point, control class"
  H-ICRC-003 ipv6.ecn 1 "ECT(1) instead of ECT(0)"
  H-ICRC-004 ipv6.flow_label 0xFFFFF "another flow label, upper four bits set"
  H-ICRC-005 ipv6.hop_limit 1 "a hop limit that 63 routers have lowered"
  H-ICRC-006 ipv6.hop_limit 255 "a hop limit of 255"
  H-ICRC-007 udp.checksum 0xBEEF "a UDP checksum that is not 0"
  H-ICRC-008 bth.reserved0 0xFF "BTH byte 4 of ones"
  H-ICRC-009 bth.reserved0 0x80 "BTH byte 4 with its top bit"
}
purpose $purpose: the ICRC leaves the field out, and the packet is taken
mark S2
cite mrc.md 4; base.md ICRC
rules resp.sack-ask resp.cack-taken mem.source
msg m = write len 4096 at buf seq 3
p0 < m[0] ackreq raw $field = $value
* > sack cack m[0] within rtt
mem digest buf 4096 = seq 3

cases id field value purpose {
  H-ICRC-011 outer_ipv6.hop_limit 3 "outer hop limit lowered on the way"
  H-ICRC-012 outer_ipv6.flow_label 0x12345 "another outer flow label"
  H-ICRC-013 outer_ipv6.dscp 8 "another outer code point"
  H-ICRC-014 outer_ipv6.dst 0xfcbb0000020000000000000000000000 "outer destination after a uSID was shifted out"
}
purpose $purpose: the outer header is outside of the ICRC, and the packet is taken
mark S (routers shift uSIDs), A-14
setting A-14 default
cite mrc.md 4; base.md SRv6; RFC 9800 4
rules resp.sack-ask resp.cack-taken mem.source
encap srv6
caps srv6 responder
msg m = write len 4096 at buf seq 4
p0 < m[0] ackreq raw $field = $value
* > sack cack m[0] within rtt
mem digest buf 4096 = seq 4

# ---- what it covers: one wrong bit, and the packet is not there ----

cases id field {
  H-ICRC-021 ipv6.src
  H-ICRC-022 ipv6.dst
  H-ICRC-023 udp.src_port
  H-ICRC-024 bth.opcode
  H-ICRC-025 bth.m
  H-ICRC-026 bth.se
  H-ICRC-027 bth.p_key
  H-ICRC-028 bth.dqp
  H-ICRC-029 bth.a
  H-ICRC-030 bth.reserved1
  H-ICRC-031 bth.rtx
  H-ICRC-032 bth.reserved2
  H-ICRC-033 bth.psn
  H-ICRC-034 meth.rqmsn
  H-ICRC-035 meth.msn
  H-ICRC-036 tseth.tx_timestamp16
  H-ICRC-037 tseth.tsr
  H-ICRC-038 tseth.reserved0
  H-ICRC-039 reth.va
  H-ICRC-040 reth.r_key
  H-ICRC-041 reth.dma_length
  H-ICRC-042 payload
}
purpose one bit of $field is wrong behind the ICRC: the packet is discarded and nothing of it is used
mark S2
cite mrc.md 4; base.md ICRC
rules resp.trigger resp.cack-arrived mem.source
negative
caps responder bytes time_stamps
profile time_stamps 1
msg m = write len 4096 at buf seq 5
mem fill buf 8192 = 0xa5
p0 < m[0] ackreq flip $field
none > * within rtt from last
mem same buf 8192 = 0xa5
p0 < m[0] rtx ackreq
* > sack cack m[0] within rtt
mem digest buf 4096 = seq 5

id H-ICRC-045
purpose one bit of an immediate is wrong behind the ICRC: nothing is delivered, and the whole packet is later
mark S2
cite mrc.md 4; base.md ICRC
rules mem.cqe resp.cqe-imm mem.source
negative
caps responder bytes write_imm
msg m = write len 64 at buf seq 6 imm 0x01020304
dut recv 1
p0 < m[0] ackreq flip immdt.value
none > cqe within rtt from last
p0 < m[0] rtx ackreq
any order { * > sack cack m[0] ; > cqe receive status ok imm 0x01020304 } within rtt

id H-ICRC-046
purpose one bit of the pad is wrong behind the ICRC: the packet is discarded, because pad is covered
mark S2
cite base.md ICRC; mrc.md 6
rules resp.trigger resp.cack-arrived mem.source
negative
msg m = write len 61 at buf seq 6
mem fill buf 64 = 0xa5
p0 < m[0] ackreq flip pad
none > * within rtt from last
mem same buf 64 = 0xa5
p0 < m[0] ackreq
* > sack cack m[0] within rtt
mem digest buf 61 = seq 6

id H-ICRC-047
purpose a packet with a wrong ICRC takes no place in the window: the next one is out of order
mark S2
cite mrc.md 4; mrc.md 6
rules resp.cack-arrived resp.ooo-most resp.bytes
negative
msg m = write len 8192 at buf seq 7
mem fill buf 8192 = 0xa5
p0 < m[0] icrc bad
p0 < m[1] ackreq
* > sack cack m[0]-1 has m[1] lacks m[0] ooo 1 within rtt
mem same buf 4096 = 0xa5

id H-ICRC-048
purpose a duplicate with a wrong ICRC is not answered
mark S2
cite mrc.md 4; mrc.md 6
rules resp.trigger
negative
msg m = write len 4096 at buf seq 7
p0 < m[0] ackreq
* > sack cack m[0] within rtt
settle 2 rtt
p0 < m[0] rtx ackreq icrc bad
none > * within rtt from last

id H-ICRC-049
purpose a frame whose FCS is wrong is discarded, whatever is inside
mark S2 (link layer), S
cite IEEE 802.3 3.2.9; mrc.md 1
rules resp.trigger resp.cack-arrived mem.source
negative
msg m = write len 4096 at buf seq 7
mem fill buf 4096 = 0xa5
p0 < m[0] ackreq fcs bad
none > * within rtt from last
mem same buf 4096 = 0xa5
p0 < m[0] rtx ackreq
* > sack cack m[0] within rtt

cases id plan answer {
  H-ICRC-051 probe "sack pr 1 probe 8"
  H-ICRC-052 evprobe "endpoint response id 8"
}
purpose a $plan with a wrong ICRC is not answered
mark S2
cite mrc.md 4; mrc.md 6
rules resp.trigger resp.probe
negative
p0 < $plan id 7 icrc bad
none > * within rtt from last
p0 < $plan id 8
* > $answer within rtt

id H-ICRC-053
purpose what the device sends carries the ICRC of base.md, over SACK and ACK alike, with BTH byte 4 sent as 0
mark S2
cite mrc.md 4; base.md ICRC
rules wire.icrc wire.reserved
msg m = write len 4096 at buf seq 7
p0 < m[0] ackreq
any order { * > sack icrc good bth.reserved0 0 ; * > ack icrc good bth.reserved0 0 } within rtt
