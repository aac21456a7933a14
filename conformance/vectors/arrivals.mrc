# SPDX-License-Identifier: Apache-2.0
# Headers that arrive: opcodes, version, reserved fields, P_Key, ports, queue pairs, and chains of extension headers.
tier 1
caps responder
planes 1

# ---- opcodes and version ----

cases id op what {
  H-OP-001 0x0A "WRITE Only of the reliable connection"
  H-OP-002 0x06 "WRITE First of the reliable connection"
  H-OP-003 0x04 "SEND Only of the reliable connection"
  H-OP-004 0x0C "READ request of the reliable connection"
  H-OP-005 0x13 "compare and swap of the reliable connection"
  H-OP-006 0x64 "SEND Only of the unreliable datagram"
  H-OP-007 0x81 "congestion notification of RoCEv2"
  H-OP-008 0xC0 "unknown opcode"
  H-OP-009 0xC5 "unknown opcode below WRITE First"
  H-OP-010 0xCC "unknown opcode above WRITE Only with immediate"
  H-OP-011 0xD0 "unknown opcode below Acknowledge"
  H-OP-012 0xDA "unknown opcode above the endpoint response"
  H-OP-013 0xDF "unknown opcode above the probe"
  H-OP-014 0xFF "unknown opcode"
}
purpose $op is no opcode of MRC ($what): nothing is written or reported, and the QP goes on
mark S2+ (table of opcodes), S (WRITE only), A (without a word)
cite mrc.md 2; mrc.md 1; IBTA 9.2
rules resp.trigger resp.cack-arrived mem.source
caps responder bytes
negative
msg m = write len 4096 at buf seq 1
mem fill buf 4096 = 0xa5
p0 < m[0] ackreq raw bth.opcode $op as bad
none > sack has m[0] within rtt from bad
none > ack within rtt from bad
mem same buf 4096 = 0xa5
p0 < m[0] rtx ackreq
* > sack cack m[0] within rtt
mem digest buf 4096 = seq 1

cases id tver {
  H-TVER-001 1
  H-TVER-002 2
  H-TVER-003 4
  H-TVER-004 8
  H-TVER-005 15
}
purpose a packet of transport version $tver is discarded
mark S2
cite mrc.md 2; IBTA 9.2.4
rules resp.trigger resp.cack-arrived mem.source
caps responder bytes
negative
msg m = write len 4096 at buf seq 1
mem fill buf 4096 = 0xa5
p0 < m[0] ackreq raw bth.tver $tver
none > * within rtt from last
mem same buf 4096 = 0xa5
p0 < m[0] rtx ackreq
* > sack cack m[0] within rtt

# ---- what a receiver does not look at ----

cases id field value what {
  H-RES-001 bth.m 1 "M"
  H-RES-002 bth.se 1 "SE"
  H-RES-003 bth.reserved0 0xFF "BTH byte 4"
  H-RES-004 bth.reserved1 1 "bit 6 of BTH byte 8"
  H-RES-005 bth.reserved2 1 "bit 0 of BTH byte 8"
  H-RES-006 bth.reserved2 8 "bit 3 of BTH byte 8"
  H-RES-007 bth.reserved2 15 "bits 3 to 0 of BTH byte 8"
  H-RES-008 tseth.reserved0 0x7FF "the reserved bits of the TSETH"
  H-RES-009 tseth.reserved0 0x400 "the top reserved bit of the TSETH"
  H-RES-010 tseth.tsr 1 "tsr, which a receiver does not look at"
  H-RES-011 meth.rqmsn 0x1234 "RQMSN of a WRITE without immediate, which has no meaning"
}
purpose a WRITE with $what set is taken like any other
mark S2, A-02, A-21, A-25
cite mrc.md 2; mrc.md 3
rules resp.sack-ask resp.cack-taken mem.source
caps responder time_stamps
profile time_stamps 1
msg m = write len 4096 at buf seq 2
p0 < m[0] ackreq raw $field $value
any order { * > sack cack m[0] trigger m[0] rtx 0 bth.m 0 bth.se 0 ; * > ack psn m[0] msn 1 } within rtt
mem digest buf 4096 = seq 2

cases id field value what {
  H-RES-021 peth.reserved0 0xFFFFFF "the reserved bytes 0 to 2"
  H-RES-022 peth.reserved1 0xFFFF "the reserved bytes 6 and 7"
  H-RES-023 peth.reserved2 0x7FF "the reserved bits of byte 14 and 15"
  H-RES-024 peth.vendor_info 0xFF "vendor info"
  H-RES-025 peth.spdcid 0xBEEF "a spdcid that is no QP's"
  H-RES-026 peth.dpdcid 0xBEEF "a dpdcid that is no QP's"
  H-RES-027 bth.psn 0xABCDEF "a PSN, which is unused,"
}
purpose a reliability probe with $what is answered like any other
mark S2, A-22
cite mrc.md 3; mrc.md 2; mrc.md 6
rules resp.sack-probe resp.probe
p0 < probe id 0x0102 raw $field $value
* > sack pr 1 probe 0x0102 cack rq_psn-1 within rtt

cases id field value what {
  H-RES-031 erth.reserved0 0xFF "byte 0"
  H-RES-032 erth.reserved1 0x3F "bits 7 to 2 of byte 1"
  H-RES-033 erth.reserved2 0xFF "byte 2"
  H-RES-034 erth.vendor_info 0xFF "vendor info"
  H-RES-035 erth.reserved3 0xFFFFFFFF "bytes 8 to 11"
  H-RES-036 erth.reserved4 0x7FF "the reserved bits of bytes 14 and 15"
}
purpose an endpoint request with $what of its ERTH set is answered like any other
mark S2
cite mrc.md 3
rules peer.answer
p0 < endpoint request op port_status mask 0x1FE id 0x0203 timestamp 0x4455 raw $field $value
* > endpoint response id 0x0203 op port_status timestamp 0x4455 within rtt

# ---- P_Key ----

cases id own theirs {
  H-PKEY-001 0xFFFF 0xFFFF
  H-PKEY-002 0xFFFF 0x7FFF
  H-PKEY-003 0x8123 0x8123
  H-PKEY-004 0x8123 0x0123
  H-PKEY-005 0x0123 0x8123
}
purpose a packet of P_Key $theirs is taken by a QP of P_Key $own: bit 15 is membership
mark S (IBTA), A-30
cite IBTA 10.9.3; mrc.md 2
rules resp.sack-ask resp.cack-taken mem.source
caps responder pkey
profile pkey $own
msg m = write len 4096 at buf seq 2
p0 < m[0] ackreq raw bth.p_key $theirs
* > sack cack m[0] within rtt
mem digest buf 4096 = seq 2

cases id own theirs {
  H-PKEY-011 0xFFFF 0xFFFE
  H-PKEY-012 0xFFFF 0x8001
  H-PKEY-013 0x8123 0xFFFF
  H-PKEY-014 0x8123 0x8122
  H-PKEY-015 0x8123 0xC123
  H-PKEY-016 0x8123 0x0000
}
purpose a packet of P_Key $theirs is discarded by a QP of P_Key $own
mark S (IBTA), A-30
cite IBTA 10.9.3; IBTA 9.6.1.4
rules resp.trigger resp.cack-arrived mem.source
caps responder pkey
profile pkey $own
negative
msg m = write len 4096 at buf seq 2
mem fill buf 4096 = 0xa5
p0 < m[0] ackreq raw bth.p_key $theirs
none > * within rtt from last
mem same buf 4096 = 0xa5
p0 < m[0] rtx ackreq
* > sack cack m[0] p_key $own within rtt

# ---- queue pairs ----

cases id dqp what {
  H-DQP-001 0 "reserved"
  H-DQP-002 1 "reserved"
  H-DQP-003 2 "reserved for endpoint packets"
  H-DQP-004 0xFFFFFF "nobody's"
  H-DQP-005 qp+1 "nobody's, next to one that is"
  H-DQP-006 qp+0x10000 "equal to a QP in its low 16 bits only"
}
purpose a WRITE to the queue pair $dqp, which is $what, is discarded
mark S2+ (0 to 2 are reserved), S
cite mrc.md 2; IBTA 9.2.5
rules resp.trigger resp.cack-arrived mem.source resp.pair
negative
msg m = write len 4096 at buf seq 2
mem fill buf 4096 = 0xa5
p0 < m[0] ackreq raw bth.dqp $dqp
none > * within rtt from last
mem same buf 4096 = 0xa5
p0 < m[0] ackreq
* > sack cack m[0] within rtt
mem digest buf 4096 = seq 2

# ---- UDP ports ----

cases id port set {
  H-UDP-001 4791 "A-01 default"
  H-UDP-002 4971 "A-01 default"
  H-UDP-003 4791 "A-01 UDP_PORT.port 4791"
  H-UDP-004 4971 "A-01 UDP_PORT.port 4791"
}
version 2
purpose a packet to UDP port $port is taken: both are, unless a setting restricts it
mark C, A-01
cite mrc.md 1
rules resp.sack-ask resp.cack-taken mem.source
setting $set
msg m = write len 4096 at buf seq 2
p0 < m[0] ackreq raw udp.dst_port $port
* > sack cack m[0] within rtt
mem digest buf 4096 = seq 2

id H-UDP-005
purpose a NIC restricted to UDP port 4791 discards what comes to 4971
mark C, A-01
cite mrc.md 1
rules resp.trigger resp.cack-arrived mem.source
caps responder bytes
negative
setting A-01 UDP_PORT.only 1
setting A-01 UDP_PORT.port 4791
msg m = write len 4096 at buf seq 2
mem fill buf 4096 = 0xa5
p0 < m[0] ackreq raw udp.dst_port 4971
none > * within rtt from last
mem same buf 4096 = 0xa5
p0 < m[0] rtx ackreq raw udp.dst_port 4791
* > sack cack m[0] udp.dst_port 4791 within rtt

id H-UDP-006
purpose a NIC restricted to UDP port 4971 discards what comes to 4791
mark C, A-01
cite mrc.md 1
rules resp.trigger resp.cack-arrived mem.source
caps responder bytes
negative
setting A-01 UDP_PORT.only 1
setting A-01 UDP_PORT.port 4971
msg m = write len 4096 at buf seq 2
mem fill buf 4096 = 0xa5
p0 < m[0] ackreq raw udp.dst_port 4791
none > * within rtt from last
mem same buf 4096 = 0xa5
p0 < m[0] rtx ackreq raw udp.dst_port 4971
* > sack cack m[0] udp.dst_port 4971 within rtt

cases id port {
  H-UDP-011 4790
  H-UDP-012 4792
  H-UDP-013 4970
  H-UDP-014 4972
  H-UDP-015 0
  H-UDP-016 53
}
purpose a packet to UDP port $port is none of MRC's
mark C (4791 or 4971), S (no other)
cite mrc.md 1; RFC 768
rules resp.trigger resp.cack-arrived mem.source
caps responder bytes
negative
setting A-01 default
msg m = write len 4096 at buf seq 2
mem fill buf 4096 = 0xa5
p0 < m[0] ackreq raw udp.dst_port $port
none > * within rtt from last
mem same buf 4096 = 0xa5
p0 < m[0] ackreq
* > sack cack m[0] within rtt
mem digest buf 4096 = seq 2

id H-UDP-017
purpose the entropy value is free: any UDP source port is taken, port 0 and 65535 too
mark S
cite mrc.md 5
rules resp.sack-ask resp.cack-taken mem.source resp.entropy
msg m = write len 4096 at buf seq 2
p0 < m[0] ackreq ev 0x0000FFFF
* > sack cack m[0] entropy 0x0000FFFF within rtt
msg n = write len 4096 at buf+4096 seq 3
p0 < n[0] ackreq ev 0xFFFF0000
* > sack cack n[0] entropy 0xFFFF0000 within rtt
mem digest buf 4096 = seq 2

id H-IP-001
purpose a frame that is no IPv6 is not MRC's, whatever follows
mark S
cite RFC 8200 3; mrc.md 1
rules resp.trigger resp.cack-arrived mem.source
caps responder bytes
negative
msg m = write len 4096 at buf seq 2
mem fill buf 4096 = 0xa5
p0 < m[0] ackreq raw eth.ethertype 0x86DE
none > * within rtt from last
mem same buf 4096 = 0xa5
p0 < m[0] ackreq
* > sack cack m[0] within rtt
mem digest buf 4096 = seq 2

id H-IP-002
purpose IPv6 that carries no UDP is not MRC's
mark S
cite RFC 8200 3; mrc.md 1
rules resp.trigger resp.cack-arrived mem.source
caps responder bytes
negative
msg m = write len 4096 at buf seq 2
mem fill buf 4096 = 0xa5
p0 < m[0] ackreq raw ipv6.next_header 6
none > * within rtt from last
mem same buf 4096 = 0xa5
p0 < m[0] ackreq
* > sack cack m[0] within rtt
mem digest buf 4096 = seq 2

id H-IP-003
purpose a packet to another address is either taken like any other or not at all
mark C, A-76 (a received destination address is not looked at)
cite mrc.md 1
rules mem.source
caps responder bytes
setting A-76 default
msg m = write len 4096 at buf seq 2
mem fill buf 4096 = 0xa5
p0 < m[0] ackreq raw ipv6.dst 0xfd000000000000000000000000000099
either { * > sack cack m[0] within rtt
  mem digest buf 4096 = seq 2
} or { none > * within rtt from last
  mem same buf 4096 = 0xa5
} flag A-76
p0 < m[0] ackreq
* > sack cack m[0] within rtt

# ---- chains of extension headers: METH [TSETH] RETH [ImmDt] ----

cases id ts imm len {
  H-EXT-001 0 "" 4096
  H-EXT-002 0 "" 12288
  H-EXT-003 0 "imm 0xCAFE0001" 4096
  H-EXT-004 0 "imm 0xCAFE0002" 12288
  H-EXT-005 1 "" 4096
  H-EXT-006 1 "" 12288
  H-EXT-007 1 "imm 0xCAFE0003" 4096
  H-EXT-008 1 "imm 0xCAFE0004" 12288
}
purpose payload begins behind the extension headers: time stamp $ts, $imm, $len bytes
mark S2+
cite mrc.md 2; mrc.md 3
rules resp.sack-ask resp.cack-taken mem.source
caps responder write_imm time_stamps
profile time_stamps $ts
msg m = write len $len at buf seq 9 $imm
dut recv 1
background ignore sack ack probe endpoint cqe
if m.count > 1 { p0 < m[0] ; p0 < m[1] }
p0 < m[m.count-1] ackreq
* > ack psn m.last msn 1 within 2 rtt
mem digest buf $len = seq 9
