# SPDX-License-Identifier: Apache-2.0
# Headers that a requestor sends: every field of a WRITE, and that it does not look at what is reserved in answers.
tier 1
caps requestor
planes 1

cases id want what rules {
  H-WR-001 "opcode 0xCA" "opcode 0xCA" "wire.opcode req.sequence"
  H-WR-002 "dqp peer_qp" "the responder's QP as destination" "qp.known"
  H-WR-003 "psn sq_psn" "the first PSN, sq_psn" "req.start"
  H-WR-004 "msn 0" "MSN 0: messages count from 0" "req.msn"
  H-WR-005 "va 0x600000000040" "the address of the work request" "req.posted"
  H-WR-006 "r_key 0x1234" "the R_Key of the work request" "req.rkey req.posted"
  H-WR-007 "len 1023" "the message's length as DMA length" "req.dma"
  H-WR-008 "bth.pad_count 1 bytes 1023" "1 byte of pad behind 1023" "wire.pad req.length"
  H-WR-009 "data posted" "the payload of the work request" "req.payload"
  H-WR-010 "rtx 0 ts 0 bth.tver 0" "rtx 0, no TSETH, version 0" "wire.tver req.psn-once"
  H-WR-011 "bth.m 0 bth.se 0" "M and SE 0" "wire.m-se"
  H-WR-012 "p_key 0xFFFF" "the QP's P_Key" "wire.pkey"
  H-WR-013 "ev e0 or e1 or e2 or e3" "an EV of its set: UDP source port and 16 bits of flow label" "path.set"
  H-WR-015 "udp.length 1068 ipv6.payload_length 1068 size 1122" "lengths of 8 + 12 + 4 + 16 + 1024 + 4" "wire.format"
  H-WR-016 "dscp data" "the data class" "wire.class"
  H-WR-017 "ecn 2" "ECT(0)" "wire.ecn"
  H-WR-018 "ipv6.hop_limit > 8" "a hop limit that reaches its peer" "wire.format"
  H-WR-019 "ipv6.src 0xfd000000000000000000000000000002 ipv6.dst 0xfd000000000000000000000000000001" "its own and the peer's address" "wire.address"
  H-WR-020 "eth.src 0x020000000002 eth.dst 0x020000000001" "its own and the peer's MAC address" "wire.format"
  H-WR-021 "bth.reserved0 0 bth.reserved1 0 bth.reserved2 0" "0 in the reserved fields of the BTH" "wire.reserved"
}
purpose a WRITE Only has $what
mark S2+, A-02, A-04, A-18, A-26, A-27
cite mrc.md 2; mrc.md 3; mrc.md 4; mrc.md 5
peer auto
dut post write len 1023 at 0x40
* > write only $want within rtt

id H-WR-014
version 2
purpose a WRITE Only has UDP port 4971 and checksum 0
mark S2+, C, A-01
cite mrc.md 1
rules wire.udp-port wire.udp-checksum
setting A-01 default
peer auto
dut post write len 1023 at 0x40
* > write only udp.dst_port 4971 udp.checksum 0 within rtt

cases id ackreq what {
  H-WR-022 1 "the last packet of a burst asks"
}
purpose $what for an acknowledgement
mark U, A-28
cite mrc.md 7
rules req.ackreq
peer auto
dut post write len 1024
* > write only ackreq $ackreq within rtt

cases id mtu {
  H-WR-031 256
  H-WR-032 1024
  H-WR-033 4096
}
purpose a message of three full packets and one byte, MTU $mtu: First, Middle, Middle, Last, with all that counts up
mark S (sizes, VA), S2+
cite mrc.md 2; mrc.md 3; mrc.md 6
rules req.sequence req.va req.dma req.msn req.length req.payload wire.pad req.moves req.cqe-owed
profile mtu $mtu
peer auto
dut post write len (3*$mtu+1) at 128
any order {
  * > write first psn sq_psn va 0x600000000080 bytes $mtu msn 0 len 3*$mtu+1 bth.pad_count 0 data posted
  * > write middle psn sq_psn+1 va 0x600000000080+$mtu bytes $mtu msn 0 len 3*$mtu+1 bth.pad_count 0 data posted
  * > write middle psn sq_psn+2 va 0x600000000080+2*$mtu bytes $mtu msn 0 len 3*$mtu+1 bth.pad_count 0 data posted
  * > write last psn sq_psn+3 va 0x600000000080+3*$mtu bytes 1 msn 0 len 3*$mtu+1 bth.pad_count 3 data posted
} within 2 rtt
> cqe send status ok within 2 rtt

cases id len op {
  H-WR-041 1 write_only_imm
  H-WR-042 4096 write_only_imm
  H-WR-043 4097 write_last_imm
}
purpose the immediate of a message of $len bytes travels in its last packet, $op, behind the RETH
mark S2+
cite mrc.md 2; mrc.md 3
rules req.posted req.rqmsn req.sequence
caps requestor write_imm
peer auto
dut post write len $len imm 0x0A0B0C0D
* > write opcode $op imm 0x0A0B0C0D rqmsn 0 msn 0 data posted within rtt

id H-WR-044
purpose MSN counts messages; RQMSN counts those with immediate, and stands in all their packets
mark S2+, A-18
cite mrc.md 3
rules req.msn req.rqmsn req.psn-hole req.moves
caps requestor write_imm
peer auto
dut post write len 64
dut post write len 8192 imm 1
dut post write len 64
dut post write len 8192 imm 2
any order {
  * > write only psn sq_psn msn 0
  * > write first psn sq_psn+1 msn 1 rqmsn 0
  * > write last psn sq_psn+2 msn 1 rqmsn 0 imm 1
  * > write only psn sq_psn+3 msn 2
  * > write first psn sq_psn+4 msn 3 rqmsn 1
  * > write last psn sq_psn+5 msn 3 rqmsn 1 imm 2
} within 2 rtt

id H-WR-045
purpose PSN wraps after 0xFFFFFF and MSN after 0xFFFF
mark S2+
cite mrc.md 2; mrc.md 3; mrc.md 6
rules req.start req.psn-hole req.msn
caps requestor psn
profile sq_psn 0xFFFFFE msn 0xFFFF
peer auto
dut post write len 8192
dut post write len 8192
any order {
  * > write first bth.psn 0xFFFFFE meth.msn 0xFFFF
  * > write last bth.psn 0xFFFFFF meth.msn 0xFFFF
  * > write first bth.psn 0 meth.msn 0
  * > write last bth.psn 1 meth.msn 0
} within 2 rtt

id H-WR-046
purpose time stamps: TSETH behind the METH, ftype 1, and BTH.ts says so
mark S2+, A-21
cite mrc.md 3
rules wire.stamp
caps requestor time_stamps
setting A-21 default
profile time_stamps 1
peer auto
dut post write len 4096
* > write only ts 1 tseth.ftype 1 tseth.tsr 0 tseth.reserved0 0 data posted size 4198 within rtt

id H-WR-047
purpose the unit of time stamps is 128 ns: 1.28 ms later they are 10000 units further
mark S2+, A-21
cite mrc.md 3
rules wire.stamp
caps requestor time_stamps
setting A-21 CTRL.tsr_us 0
profile time_stamps 1
peer auto
dut post write len 64
* > write only within rtt as a
> cqe send status ok within rtt
settle 1280 us
dut post write len 64
* > write only psn a.psn+1 within rtt as b
expect (b.tseth.tx_timestamp16 - a.tseth.tx_timestamp16 + 65536) % 65536 - (b.t - a.t) / 128000 in -3 .. 3

id H-WR-048
purpose with the other setting of A-21 tsr is 1 and the unit 1.024 us
mark A, A-21
cite mrc.md 3
rules wire.stamp
caps requestor time_stamps
setting A-21 CTRL.tsr_us 1
profile time_stamps 1
peer auto
dut post write len 64
* > write only tseth.tsr 1 tseth.ftype 1 within rtt as a
> cqe send status ok within rtt
settle 1280 us
dut post write len 64
* > write only psn a.psn+1 tseth.tsr 1 within rtt as b
expect (b.tseth.tx_timestamp16 - a.tseth.tx_timestamp16 + 65536) % 65536 - (b.t - a.t) / 1024000 in -3 .. 3

id H-WR-051
purpose a retransmission is the same packet again: rtx 1, its class, another EV, the same PSN, MSN, VA and bytes
mark S2+ (rtx, class), S (EV)
cite mrc.md 5; mrc.md 7; mrc.md 4
rules req.rtx-same req.rtx-head req.psn-once path.fresh wire.class req.timer
caps requestor
evs 8
when > write rtx 0 nth 2 : answer lost
peer auto sack each
dut post write len 12288 at 64
* > write rtx 1 within 4 rto as again
expect again.psn == sq_psn or again.psn == sq_psn+1 or again.psn == sq_psn+2
expect again.dscp == 8 and again.msn == 0 and again.len == 12288 and again.data == 1
expect again.va == 0x600000000040 + 4096 * (again.psn - sq_psn)
expect again.ev != sent_first(again.psn).ev
> cqe send status ok within 4 rto

id H-WR-052
version 2
purpose with the second answer of A-19 a WRITE of no bytes does not exist: the requestor refuses it, and sends nothing
mark C, A-19
cite mrc.md 6
rules req.posted
setting A-19 CTRL.zero_length 1
negative
peer auto
background ignore sack ack probe endpoint cqe
dut post write len 0
> cqe send status local_length within rtt
none > write within rtt

id H-WR-053
purpose a WRITE to an R_Key is sent with that R_Key: checking it is the responder's
mark S2+
cite mrc.md 3; mrc.md 6
rules req.rkey
peer auto
dut post write len 64 r_key 0xDEADBEEF
* > write only r_key 0xDEADBEEF within rtt

id H-WR-056
version 2
purpose with the second answer of A-62 one immediate more than max_wimm is refused at the requestor; the first one goes on
mark C, A-62
cite mrc.md 6
rules req.max-wimm req.wimm-over
setting A-62 CTRL.wimm_over 1
caps write_imm
profile max_wimm 1
negative
background ignore sack ack probe endpoint write cqe
dut post write len 64 imm 1
dut post write len 64 imm 2
any order { * > write only imm 1 ; > cqe send status wimm_overrun } within rtt
none > write imm 2 within rtt
p0 < sack cack sq_psn
p0 < ack psn sq_psn msn 1
> cqe send status ok within rtt

id H-WR-057
purpose work requests complete in the order they were posted, each once, when one ACK names the last
mark S2
cite mrc.md 6
rules req.cqe-order req.cqe-ack req.cqe-owed
dut post write len 64
dut post write len 4097
dut post write len 64
any order { * > write only psn sq_psn ; * > write last psn sq_psn+2 ; * > write only psn sq_psn+3 } within 2 rtt
p0 < sack cack sq_psn+3
p0 < ack psn sq_psn+3 msn 3
> cqe send status ok wr_id 0 within rtt
> cqe send status ok wr_id 1 within rtt
> cqe send status ok wr_id 2 within rtt

# EVs of this bed have 0xC000 and more in their upper half, 0x01xx in the lower one.
cases id swap src flow {
  H-WR-054 0 "0xC000 .. 0xC100" "0x100 .. 0x1FF"
  H-WR-055 1 "0x100 .. 0x1FF" "0xC000 .. 0xC100"
}
purpose which half of the EV is the UDP source port, and which is in the flow label
mark C, A-03
cite mrc.md 5
rules path.set
setting A-03 CTRL.ev_swap $swap
peer manual
background ignore sack ack probe endpoint write
dut post write len 4096
* > write only udp.src_port $src ipv6.flow_label $flow within rtt

# ---- what a requestor does not look at in answers ----

cases id field value what {
  H-RES-041 seth.reserved0 7 "reserved bits 4 to 2 of the SETH"
  H-RES-042 seth.reserved1 1 "reserved bit 0 of the SETH"
  H-RES-043 seth.reserved2 0xFF "reserved byte 12 of the SETH"
  H-RES-044 cc_state.reserved0 1 "the reserved bit above ooo_count"
  H-RES-045 seth.spdcid 0xDEAD "a foreign spdcid"
  H-RES-046 seth.dpdcid 0xBEEF "a foreign dpdcid"
  H-RES-047 bth.m 1 "M"
  H-RES-048 bth.se 1 "SE"
  H-RES-049 bth.reserved1 1 "reserved bit 6 of BTH byte 8"
  H-RES-050 bth.reserved2 15 "reserved bits 3 to 0 of BTH byte 8"
  H-RES-051 seth.mpr 1 "an mpr, ignored without dynamic MPR"
}
purpose a SACK with $what counts like any other: what it reports is never sent again
mark S2, A-22, A-02, A-59
cite mrc.md 3; mrc.md 2; mrc.md 7
rules req.rtx-cause req.rtx-reported req.cqe-owed
dut post write len 8192
any order { * > write first psn sq_psn ; * > write last psn sq_psn+1 } within rtt
p0 < sack cack sq_psn+1 raw $field $value
none > write psn sq_psn rtx 1 within 4 rto
p0 < ack psn sq_psn+1 msn 1
> cqe send status ok within rtt

cases id field value what {
  H-RES-061 neth.reserved0 0x7F "reserved bits of bytes 0 and 1"
  H-RES-062 neth.reserved1 0xFF "reserved byte 12"
  H-RES-063 neth.reserved2 0xFF "reserved byte 17"
  H-RES-064 neth.vendor_info 0xFF "vendor info of ones, as a tester sends it"
  H-RES-065 neth.spdcid 0xDEAD "a foreign spdcid"
  H-RES-066 neth.dpdcid 0xBEEF "a foreign dpdcid"
}
purpose a NACK with $what counts like any other: its packet is sent again
mark S2, A-22
cite mrc.md 3; mrc.md 7
rules req.rtx-cause path.fresh req.nack-again
evs 8
dut post write len 8192
any order { * > write first psn sq_psn ; * > write last psn sq_psn+1 } within rtt
let was = sent_first(sq_psn+1).ev
p0 < sack cack sq_psn
p0 < nack reason trimmed psn sq_psn+1 raw $field $value
* > write last psn sq_psn+1 rtx 1 ev != was dscp rtx within rtt

cases id icrc what {
  H-RES-071 "sack cack sq_psn+1 icrc bad" "SACK"
}
purpose a $what with a wrong ICRC reports nothing: both packets are sent again
mark S2
cite mrc.md 4; mrc.md 7
rules req.rtx-cause req.cqe-ack req.timer
caps requestor bytes
negative
background ignore sack ack probe endpoint write
dut post write len 8192
any order { * > write first psn sq_psn rtx 0 ; * > write last psn sq_psn+1 rtx 0 } within rtt
p0 < $icrc
any order { * > write first psn sq_psn rtx 1 ; * > write last psn sq_psn+1 rtx 1 } within 4 rto

id H-RES-072
purpose an ACK with a wrong ICRC completes nothing
mark S2
cite mrc.md 4; mrc.md 6
rules req.cqe-ack req.cqe-owed
caps requestor bytes
negative
dut post write len 4096
* > write only within rtt
p0 < sack cack sq_psn
p0 < ack psn sq_psn msn 1 icrc bad
none > cqe within rtt from last
p0 < ack psn sq_psn msn 1
> cqe send status ok within rtt

id H-RES-073
purpose a SACK alone completes nothing: it says "arrived", the ACK says "done"
mark S2
cite mrc.md 6
rules req.cqe-ack req.cqe-owed
negative
dut post write len 4096
* > write only within rtt
p0 < sack cack sq_psn
none > cqe within rtt from last
p0 < ack psn sq_psn msn 1
> cqe send status ok within rtt

id H-RES-074
purpose a SACK to another QP reports nothing here
mark S2+
cite mrc.md 2; mrc.md 7
rules req.rtx-cause req.timer
negative
background ignore sack ack probe endpoint write
dut post write len 8192
any order { * > write first psn sq_psn rtx 0 ; * > write last psn sq_psn+1 rtx 0 } within rtt
p0 < sack cack sq_psn+1 dqp qp+1
any order { * > write first psn sq_psn rtx 1 ; * > write last psn sq_psn+1 rtx 1 } within 4 rto
