# SPDX-License-Identifier: Apache-2.0
# Tier 1: what a NIC must look at in a header before anything else, and what it must not look at. Patterns: a table of
# negative cases that must leave no trace, a table of fields that a receiver ignores, and the headers of what it sends.
tier 1
planes 1

# ---- discarded: nothing is written, nothing answered, and the next good packet is as if nothing had been
cases id how cite purpose {
  H-DROP-001 "icrc bad"                       "mrc.md 4; base.md ICRC"  "a packet with a wrong ICRC is discarded"
  H-DROP-002 "icrc 0x00000000"                "mrc.md 4; base.md ICRC"  "an ICRC of 0 is not taken for right"
  H-DROP-010 "icrc bad 0x000000FF"            "mrc.md 4; base.md ICRC"  "a packet whose ICRC is wrong in bits 7:0 is discarded"
  H-DROP-011 "icrc bad 0x0000FF00"            "mrc.md 4; base.md ICRC"  "a packet whose ICRC is wrong in bits 15:8 is discarded"
  H-DROP-012 "icrc bad 0x00FF0000"            "mrc.md 4; base.md ICRC"  "a packet whose ICRC is wrong in bits 23:16 is discarded"
  H-DROP-013 "icrc bad 0xFF000000"            "mrc.md 4; base.md ICRC"  "a packet whose ICRC is wrong in bits 31:24 is discarded"
  H-DROP-014 "icrc bad 0x0f6a70d9"            "mrc.md 4; base.md ICRC"  "an ICRC error that bits 7:0 of the residue alone show is one"
  H-DROP-015 "icrc bad 0x6a89ed49"            "mrc.md 4; base.md ICRC"  "an ICRC error that bits 15:8 of the residue alone show is one"
  H-DROP-016 "icrc bad 0x39cdbb11"            "mrc.md 4; base.md ICRC"  "an ICRC error that bits 23:16 of the residue alone show is one"
  H-DROP-017 "icrc bad 0xce08d3e3"            "mrc.md 4; base.md ICRC"  "an ICRC error that bits 31:24 of the residue alone show is one"
  H-DROP-003 "fcs bad"                        "mrc.md 1; IEEE 802.3 3.2.9" "a frame with a wrong FCS is discarded"
  H-DROP-004 "raw bth.tver 1"                 "mrc.md 2"                "another tver is discarded"
  H-DROP-005 "raw bth.tver 15"                "mrc.md 2"                "another tver is discarded, its top bit too"
  H-DROP-006 "raw bth.p_key 0x1234"           "mrc.md 2; IBTA 9.2; A-30" "a foreign P_Key is discarded"
  H-DROP-007 "raw bth.opcode 0xC0"            "mrc.md 2"                "an opcode that nobody knows is discarded"
  H-DROP-008 "raw bth.opcode 0x0A"            "mrc.md 2; IBTA 9.2"      "RoCE's WRITE Only is no opcode of MRC"
  H-DROP-009 "raw bth.dqp 0xFFFFF0"           "mrc.md 2"                "a packet to a QP that does not exist is discarded"
}
mark S2
rules resp.trigger resp.cack-arrived mem.source
negative
caps responder bytes pkey
repair off
msg m = write len 1024 at buf seq 3
mem fill buf 1024 = 0xa5
p0 < m[0] ackreq $how as bad
none > nak within 2 rtt from bad
none > sack has m[0] within rtt from bad
none > ack within rtt from bad
mem same buf 1024 = 0xa5
p0 < m[0] ackreq                                          # the PSN was not used up
any order { * > sack cack m[0] trigger m[0] ; * > ack psn m[0] msn 1 } within rtt
mem digest buf 1024 = seq 3

# ---- not looked at: the packet is as good as any
cases id how caps cite purpose {
  H-TAKE-001 "raw bth.m 1"                    responder "mrc.md 2"                "a receiver does not look at M"
  H-TAKE-002 "raw bth.se 1"                   responder "mrc.md 2"                "a receiver does not look at SE"
  H-TAKE-003 "raw bth.p_key 0x7FFF"           pkey      "mrc.md 2; IBTA 9.2; A-30" "bit 15 of the P_Key is membership: not compared"
  H-TAKE-004 "raw bth.reserved0 0xFF"         responder "mrc.md 2; base.md ICRC"  "BTH byte 4 is reserved and outside of the ICRC"
  H-TAKE-005 "raw ipv6.hop_limit 1"           responder "mrc.md 4; base.md ICRC"  "the hop limit is no receiver's business"
  H-TAKE-007 "raw meth.rqmsn 0x5A5A"          responder "mrc.md 3"                "RQMSN is without meaning in a plain WRITE"
}
mark S2, C, A-02
rules resp.sack-ask resp.cack-taken mem.source
caps responder
msg m = write len 1024 at buf seq 3
mem fill buf 1024 = 0xa5
p0 < m[0] ackreq $how
any order { * > sack cack m[0] trigger m[0] ; * > ack psn m[0] msn 1 } within rtt
mem digest buf 1024 = seq 3

id H-TAKE-006
version 2
purpose both UDP ports are received: what comes to 4791 is taken, too
mark C, A-01
cite mrc.md 1
setting A-01 default
rules resp.sack-ask resp.cack-taken mem.source
caps responder
msg m = write len 1024 at buf seq 3
mem fill buf 1024 = 0xa5
p0 < m[0] ackreq raw udp.dst_port 4791
any order { * > sack cack m[0] trigger m[0] ; * > ack psn m[0] msn 1 } within rtt
mem digest buf 1024 = seq 3

id H-PAD-001
purpose pad bytes are counted by pad_count and never written
mark S2
cite mrc.md 2; mrc.md 6; IBTA 9.2
rules resp.sack-ask resp.cack-taken mem.source
caps responder
msg m = write len 1021 at buf seq 4
mem fill buf 1024 = 0xa5
p0 < m[0] ackreq
any order { * > sack cack m[0] ; * > ack psn m[0] msn 1 } within rtt
mem digest buf 1021 = seq 4
mem same buf+1021 3 = 0xa5 after rtt

id H-TX-001
purpose headers of a WRITE that the device sends: sizes, addresses, classes, EV of the profile
mark S2, A-02, A-04, A-25, A-26
cite mrc.md 1; mrc.md 2; mrc.md 3; mrc.md 4
rules wire.format wire.class wire.ecn wire.pkey wire.address path.set path.plane req.start
tier 1
caps requestor
planes 2
evs 8
peer auto
dut post write len 9001 at 4096
> write first psn sq_psn msn 0 rtx 0 va 0x600000001000 r_key 0x1234 len 9001 bytes 4096 data posted within 4 rtt as a
> write middle psn sq_psn+1 msn 0 va 0x600000002000 len 9001 bytes 4096 data posted within 4 rtt
> write last psn sq_psn+2 msn 0 va 0x600000003000 len 9001 bytes 809 bth.pad_count 3 data posted within 4 rtt
expect a.ev >= e0 and a.ev <= e7 and a.dscp == data and a.ecn == ect0
expect a.bth.m == 0 and a.bth.se == 0 and a.bth.tver == 0 and a.udp.checksum == 0 and a.dqp == peer_qp
expect a.meth.rqmsn == 0
> cqe send status ok wr_id 0 within 4 rtt
