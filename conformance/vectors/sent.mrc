# SPDX-License-Identifier: Apache-2.0
# Headers that a responder sends: every field of SACK, ACK, NACK, endpoint response, and what stands below them.
tier 1
caps responder
planes 1

# ---- SACK: SETH and CC_STATE ----

cases id want what rules {
  H-SACK-001 "bth.opcode 0xDC" "opcode 0xDC" "wire.opcode"
  H-SACK-002 "dqp peer_qp" "the requestor's QP as destination" "resp.pair"
  H-SACK-003 "psn m[0]" "cack_psn as PSN" "wire.sack-psn"
  H-SACK-004 "seth.type 0 seth.next_header 0" "type and next header 0" "wire.sack-type"
  H-SACK-005 "pr 0 trigger m[0]" "PR 0 and the offset of the packet that triggered it" "resp.trigger"
  H-SACK-006 "m none" "m = NONE, for a packet without mark" "wire.mark resp.mark"
  H-SACK-007 "entropy 0x80000400" "the entropy value of the packet that triggered it" "resp.entropy"
  H-SACK-008 "seth.spdcid qp%65536 or 0" "its own QPN or 0 as spdcid" "wire.pdcid"
  H-SACK-009 "seth.dpdcid peer_qp or 0" "the requestor's QPN or 0 as dpdcid" "wire.pdcid"
  H-SACK-010 "seth.cc_type 0" "cc_type 0" "wire.cc-type"
  H-SACK-011 "mpr 0" "mpr 0: without dynamic MPR nothing is said" "resp.mpr"
  H-SACK-012 "ooo 0" "ooo_count 0: nothing is above cack_psn" "resp.ooo-most"
  H-SACK-013 "ackreq 0 bth.rtx 0 ts 0" "neither A nor rtx nor TSETH" "wire.format"
  H-SACK-014 "bth.tver 0 bth.pad_count 0" "version 0 and no pad" "wire.tver wire.pad"
  H-SACK-015 "bth.se 0" "SE 0" "wire.m-se"
  H-SACK-016 "p_key 0xFFFF" "the QP's P_Key" "wire.pkey"
  H-SACK-017 "udp.length 60 ipv6.payload_length 60" "UDP and IPv6 length 8 + 12 + 36 + 4" "wire.format"
  H-SACK-018 "udp.checksum 0" "UDP checksum 0" "wire.udp-checksum"
  H-SACK-020 "dscp control ecn 0" "the control class, not ECN-capable" "wire.class wire.ecn"
  H-SACK-021 "ipv6.next_header 17 ipv6.version 6" "UDP inside IPv6" "wire.format"
  H-SACK-022 "eth.ethertype 0x86DD" "Ethertype of IPv6" "wire.format"
  H-SACK-023 "seth.reserved0 0 seth.reserved1 0 seth.reserved2 0 cc_state.reserved0 0" "0 in its reserved fields" "wire.reserved"
  H-SACK-024 "cc_state.restore_cwnd 0 cc_state.rcv_cwnd_pen 0" "no penalty" "wire.format"
}
purpose a SACK has $what
mark S2+, A-22, A-26, A-04
cite mrc.md 3; mrc.md 2; mrc.md 4
msg m = write len 4096 at buf seq 1
p0 < m[0] ackreq
* > sack cack m[0] $want within rtt

id H-SACK-019
version 2
purpose a SACK goes to UDP port 4971
mark C, A-01
cite mrc.md 1
rules wire.udp-port
setting A-01 default
msg m = write len 4096 at buf seq 1
p0 < m[0] ackreq
* > sack cack m[0] udp.dst_port 4971 within rtt

id H-SACK-031
purpose with the setting of A-22 a SACK has spdcid and dpdcid 0
mark A, A-22
cite mrc.md 3
rules wire.pdcid
setting A-22 CTRL.pdcid_zero 1
msg m = write len 4096 at buf seq 1
p0 < m[0] ackreq
* > sack cack m[0] seth.spdcid 0 seth.dpdcid 0 within rtt

id H-SACK-032
purpose without it they are the low 16 bits of the QPNs
mark A, A-22
cite mrc.md 3
rules wire.pdcid
setting A-22 CTRL.pdcid_zero 0
msg m = write len 4096 at buf seq 1
p0 < m[0] ackreq
* > sack cack m[0] seth.spdcid qp%65536 seth.dpdcid peer_qp within rtt

id H-SACK-033
purpose M is 0 in what is sent, by default
mark C, A-02
cite mrc.md 2
rules wire.m-se
setting A-02 CTRL.bth_m 0
msg m = write len 4096 at buf seq 1
p0 < m[0] ackreq
any order { * > sack bth.m 0 bth.se 0 ; * > ack bth.m 0 bth.se 0 } within rtt

id H-SACK-034
purpose M is 1 in what is sent, in bit 7, if the setting of A-02 says so
mark C, A-02
cite mrc.md 2
rules wire.m-se
setting A-02 CTRL.bth_m 1
msg m = write len 4096 at buf seq 1
p0 < m[0] ackreq
any order { * > sack bth.m 1 bth.se 0 ; * > ack bth.m 1 bth.se 0 } within rtt

id H-SACK-035
purpose M is 1 in bit 6, IBTA's place, if both settings of A-02 say so
mark C, A-02
cite mrc.md 2; IBTA 9.2.3
rules wire.m-se
setting A-02 CTRL.bth_m 1
setting A-02 CTRL.bth_m_high 0
msg m = write len 4096 at buf seq 1
p0 < m[0] ackreq
any order { * > sack bth.m 0 bth.se 1 ; * > ack bth.m 0 bth.se 1 } within rtt

cases id port {
  H-SACK-036 4971
  H-SACK-037 4791
}
purpose what is sent goes to UDP port $port if A-01 says so
mark C, A-01
cite mrc.md 1
rules wire.udp-port
setting A-01 UDP_PORT.port $port
msg m = write len 4096 at buf seq 1
p0 < m[0] ackreq
any order { * > sack udp.dst_port $port ; * > ack udp.dst_port $port } within rtt

cases id ctl {
  H-SACK-038 46
  H-SACK-039 48
}
purpose SACK and ACK travel with the code point of the control class, $ctl
mark A, A-04
cite mrc.md 4
rules wire.class
setting A-04 DSCP_TX.ctl $ctl
msg m = write len 4096 at buf seq 1
p0 < m[0] ackreq
any order { * > sack dscp $ctl ; * > ack dscp $ctl } within rtt

# ---- ACK ----

cases id want what rules {
  H-ACK-001 "bth.opcode 0xD1" "opcode 0xD1" "wire.opcode"
  H-ACK-002 "dqp peer_qp" "the requestor's QP as destination" "resp.pair"
  H-ACK-003 "psn m[1]" "the PSN of the message's last packet" "resp.ack-psn"
  H-ACK-004 "msn 1" "the MSN after the message" "resp.ack-msn"
  H-ACK-005 "syndrome 0x1F" "syndrome 0x1F: ACK, and credits always of ones" "wire.syndrome"
  H-ACK-006 "ackreq 0 bth.rtx 0 ts 0 bth.tver 0 bth.pad_count 0" "neither A nor rtx nor TSETH nor pad" "wire.tver wire.pad"
  H-ACK-007 "p_key 0xFFFF" "the QP's P_Key" "wire.pkey"
  H-ACK-008 "udp.length 28 ipv6.payload_length 28 size 82" "lengths of 8 + 12 + 4 + 4 and 54 bytes before them" "wire.format"
  H-ACK-009 "dscp control ecn 0 udp.checksum 0" "the control class, not ECN-capable, checksum 0" "wire.class wire.ecn wire.udp-checksum"
}
purpose a semantic ACK has $what
mark S2+, A-16
cite mrc.md 3; mrc.md 2; mrc.md 6
msg m = write len 8192 at buf seq 1
p0 < m[0]
p0 < m[1] ackreq
* > ack $want within rtt

# ---- NACK ----

cases id want what rules {
  H-NACK-001 "bth.opcode 0xDD" "opcode 0xDD" "wire.opcode"
  H-NACK-002 "dqp peer_qp" "the requestor's QP as destination" "resp.pair"
  H-NACK-003 "bth.psn m[0]%16777216" "the PSN of the packet in its BTH" "wire.sack-psn"
  H-NACK-004 "psn m[0]" "the PSN of the packet in its NETH" "resp.nack"
  H-NACK-005 "reason 0x01" "reason 0x01 TRIMMED" "wire.reason resp.trim"
  H-NACK-006 "entropy 0xABCD1234" "the entropy value of the trimmed packet" "resp.entropy"
  H-NACK-007 "neth.spdcid qp%65536 or 0 neth.dpdcid peer_qp or 0" "the QPNs or 0" "wire.pdcid"
  H-NACK-008 "neth.cc_type 2" "cc_type 2" "wire.cc-type"
  H-NACK-009 "neth.type 0 neth.next_header 0" "type and next header 0" "wire.sack-type"
  H-NACK-010 "neth.reserved0 0 neth.reserved1 0 neth.reserved2 0" "0 in its reserved fields" "wire.reserved"
  H-NACK-011 "udp.length 44 ipv6.payload_length 44" "lengths of 8 + 12 + 20 + 4" "wire.format"
  H-NACK-012 "dscp control ecn 0 udp.checksum 0" "the control class, not ECN-capable, checksum 0" "wire.class wire.ecn wire.udp-checksum"
  H-NACK-013 "p_key 0xFFFF ackreq 0 bth.rtx 0 ts 0 bth.tver 0" "the QP's P_Key, neither A nor rtx nor TSETH" "wire.pkey wire.tver"
}
purpose a NACK has $what
mark S2+, A-13
cite mrc.md 3; mrc.md 2; mrc.md 4
caps responder trim_nack
background ignore sack ack probe endpoint
msg m = write len 4096 at buf seq 1
p0 < m[0] ev 0xABCD1234 trim 128
* > nack $want within rtt

# ---- endpoint response, answer to a probe ----

cases id want what rules {
  H-EETH-001 "bth.opcode 0xD9" "opcode 0xD9" "wire.opcode"
  H-EETH-002 "dqp 2" "destination QP 2" "wire.dqp"
  H-EETH-003 "id 0xFEDC" "the request's id" "peer.answer"
  H-EETH-004 "op port_status" "the request's op" "wire.op peer.answer"
  H-EETH-005 "timestamp 0x8765" "the request's time stamp" "peer.stamp"
  H-EETH-006 "udp.length 60 ipv6.payload_length 60" "lengths of 8 + 12 + 36 + 4" "wire.format"
  H-EETH-007 "dscp control ecn 0 udp.checksum 0" "the control class, not ECN-capable, checksum 0" "wire.class wire.ecn wire.udp-checksum"
  H-EETH-008 "ackreq 0 bth.rtx 0 ts 0 bth.tver 0 bth.pad_count 0" "neither A nor rtx nor TSETH nor pad" "wire.tver wire.pad"
}
purpose the response to a port status update has $what
mark S2+, A-36, A-26
cite mrc.md 3; mrc.md 2; mrc.md 4
p0 < endpoint request op port_status mask 0x1FE id 0xFEDC timestamp 0x8765
* > endpoint response $want within rtt

id H-EETH-011
purpose the response to an EV probe has op 1 in bits 3:2, id and time stamp
mark C, A-36
cite mrc.md 3
rules peer.answer peer.stamp wire.op
setting A-36 CTRL.eeth_op_high 0
p0 < evprobe id 0x1234 timestamp 0x4321
* > endpoint response eeth.op 1 eeth.reserved1 0 eeth.reserved2 0 id 0x1234 timestamp 0x4321 within rtt

cases id want what rules {
  H-PROBE-001 "bth.opcode 0xDC pr 1" "opcode of a SACK and PR" "wire.opcode resp.sack-probe"
  H-PROBE-002 "probe 0x8001" "the probe's id in the place of the offset" "resp.probe"
  H-PROBE-003 "cack rq_psn-1" "cack_psn, which begins at rq_psn - 1" "resp.cack-arrived"
  H-PROBE-004 "bth.psn (rq_psn-1)%16777216" "cack_psn as PSN" "wire.sack-psn"
  H-PROBE-005 "entropy 0x00ABCDEF" "the probe's entropy value" "resp.entropy"
  H-PROBE-006 "timestamp 0x2468" "the probe's time stamp" "resp.stamp"
  H-PROBE-007 "ooo 0 rcvd 0 seth.sack_bitmap 0" "nothing received" "resp.bitmap resp.ooo-most resp.bytes"
  H-PROBE-008 "m none" "no mark" "wire.mark resp.mark"
}
purpose the answer to a reliability probe has $what
mark S2+
cite mrc.md 3; mrc.md 6
p0 < probe id 0x8001 timestamp 0x2468 ev 0x00ABCDEF
* > sack $want within rtt
