# SPDX-License-Identifier: Apache-2.0
# Where readers of the document differ about bytes that both ends send: one vector for each answer, in which the tester
# writes and reads by that answer as well. The id says the assumption and the answer.
tier 2
planes 2

# ---- A-02: M and SE ----

cases id m high bit7 bit6 what {
  S-A02-ZERO-001 0 1 0 0 "0"
  S-A02-M7-001   1 1 1 0 "1 in bit 7"
  S-A02-M6-001   1 0 0 1 "1 in bit 6"
}
purpose A-02, M is $what (CTRL.bth_m $m, bth_m_high $high): WRITEs and probes are taken, all answers have M so
mark C, A-02
cite mrc.md 2; IBTA 9.2.3
rules wire.m-se resp.sack-ask resp.sack-probe mem.source
setting A-02 CTRL.bth_m $m
setting A-02 CTRL.bth_m_high $high
caps responder
msg m = write len 8192 at buf seq 3
p0 < m[0] ; p0 < m[1] ackreq
any order { * > sack cack m[1] bth.m $bit7 bth.se $bit6 ; * > ack psn m[1] bth.m $bit7 bth.se $bit6 } within rtt
mem digest buf 8192 = seq 3
p1 < probe id 7
* > sack pr 1 probe 7 bth.m $bit7 bth.se $bit6 within rtt
p1 < evprobe id 8
* > endpoint response id 8 bth.m $bit7 bth.se $bit6 within rtt

cases id m high bit7 bit6 what {
  S-A02-ZERO-002 0 1 0 0 "0"
  S-A02-M7-002   1 1 1 0 "1 in bit 7"
  S-A02-M6-002   1 0 0 1 "1 in bit 6"
}
purpose A-02, M is $what (CTRL.bth_m $m, bth_m_high $high) in WRITEs, and a peer that sends it so is understood
mark C, A-02
cite mrc.md 2; IBTA 9.2.3
rules wire.m-se req.cqe-ack
setting A-02 CTRL.bth_m $m
setting A-02 CTRL.bth_m_high $high
tier 3
caps requestor
evs 8
peer auto sack each
when > write psn sq_psn+1 rtx 0 : answer nack trimmed
dut post write len 4096 * 4
any order {
  * > write psn sq_psn bth.m $bit7 bth.se $bit6
  * > write psn sq_psn+1 rtx 0 bth.m $bit7 bth.se $bit6
  * > write psn sq_psn+1 rtx 1 bth.m $bit7 bth.se $bit6
} within 4 rto
until count(> cqe send status ok) == 4 within 4 rto

# ---- A-03: the halves of the EV ----

cases id swap what src flow {
  S-A03-PORT-001  0 "upper" 0x1234 0x5678
  S-A03-LABEL-001 1 "lower" 0x5678 0x1234
}
purpose A-03, the UDP source port is the $what half of the EV (CTRL.ev_swap $swap): SACK and NACK give back the EV
mark C, A-03
cite mrc.md 5; mrc.md 3
rules resp.entropy resp.sack-ask resp.nack-trim
setting A-03 CTRL.ev_swap $swap
caps responder trim_nack
repair off
msg m = write len 4096 at buf seq 3
msg n = write len 4096 at buf+4096 seq 4
p0 < m[0] ackreq ev 0x12345678
* > sack trigger m[0] entropy 0x12345678 within rtt
p1 < n[0] trim 128 ev 0x12345678
* > nack psn n[0] entropy 0x12345678 within rtt
p1 < n[0] rtx ackreq raw udp.src_port $src raw ipv6.flow_label $flow
* > sack trigger n[0] entropy 0x12345678 within rtt

cases id swap what {
  S-A03-PORT-002  0 "upper"
  S-A03-LABEL-002 1 "lower"
}
purpose A-03, EVs come from the set and are known again, the UDP source port their $what half (CTRL.ev_swap $swap)
mark C, A-03, S2 (a mark costs a turn)
cite mrc.md 5
rules path.set path.plane path.fresh req.rtx-cause
setting A-03 CTRL.ev_swap $swap
tier 3
caps requestor
planes 1
evs 4
peer auto sack each
dut post write len 256 * forever
skip 16 > write
expect count(> write ev e0 or e1 or e2 or e3) == count(> write)
count calm = 128 > write rtx 0 by ev
assume max(calm) - min(calm) <= 4 else unsupported "no fair pass"
repeat 8 { on > write ev e0 : answer m skip_once
  skip 24 > write
} counting > write rtx 0 by ev as run
expect mean(run[e1], run[e2], run[e3]) - run[e0] in 6 .. 14
on > write ev e1 rtx 0 : answer nack trimmed
* > write rtx 1 ev != e1 within 2 rto

# ---- A-14: where the ICRC of SRv6 packets begins ----

cases id outer encap what {
  S-A14-IN-001  0 srv6 "inner IP header, no routing header"
  S-A14-IN-002  0 srh  "inner IP header, behind a routing header"
  S-A14-OUT-001 1 srv6 "outer IP header"
  S-A14-OUT-002 1 srh  "outer IP header, routing header included"
}
purpose A-14, the ICRC begins at the $what (CTRL.icrc_outer $outer): taken, and answers have theirs right
mark A, A-14
cite mrc.md 4; base.md ICRC
rules wire.icrc wire.encap resp.sack-ask mem.source
setting A-14 CTRL.icrc_outer $outer
caps responder bytes $encap
encap $encap
msg m = write len 8192 at buf seq 3
p0 < m[0] ; p0 < m[1] ackreq
any order { * > sack cack m[1] icrc good ; * > ack psn m[1] icrc good } within rtt
mem digest buf 8192 = seq 3
p1 < probe id 3
* > sack pr 1 probe 3 icrc good within rtt

cases id outer encap flip what {
  S-A14-IN-011  0 srv6 outer_ipv6.src "outside, source address"
  S-A14-IN-012  0 srh  srh.segment "outside, segment"
  S-A14-IN-013  0 srv6 outer_ipv6.dst "outside, destination"
  S-A14-OUT-011 1 srv6 outer_ipv6.dst "one that uSIDs change, destination"
  S-A14-OUT-012 1 srv6 outer_ipv6.hop_limit "one that routers change, hop limit"
  S-A14-OUT-013 1 srv6 outer_ipv6.flow_label "one that routers change, flow label"
  S-A14-OUT-014 1 srv6 outer_ipv6.ecn "one that routers change, ECN"
  S-A14-OUT-015 1 srh  srh.segments_left "one that routers change, segments left"
}
purpose A-14, CTRL.icrc_outer $outer: an outer field ($what) that is other than when the ICRC was made harms nothing
mark A, A-14
cite mrc.md 4; base.md SRv6; RFC 9800 4
rules resp.sack-ask mem.source
setting A-14 CTRL.icrc_outer $outer
caps responder bytes $encap
encap $encap
msg m = write len 4096 at buf seq 3
p0 < m[0] ackreq flip $flip
* > sack cack m[0] within rtt
mem digest buf 4096 = seq 3

cases id encap flip {
  S-A14-OUT-021 srv6 outer_ipv6.src
  S-A14-OUT-022 srh  srh.segment
  S-A14-OUT-023 srh  srh.tag
  S-A14-OUT-024 srv6 ipv6.src
  S-A14-OUT-025 srv6 payload
}
purpose A-14, CTRL.icrc_outer 1: one bit of $flip wrong behind the ICRC discards the packet, and unharmed it is taken
mark A, A-14
cite mrc.md 4; base.md ICRC
rules resp.trigger resp.cack-arrived mem.source
setting A-14 CTRL.icrc_outer 1
caps responder bytes $encap
encap $encap
negative
msg m = write len 4096 at buf seq 3
mem fill buf 4096 = 0xa5
p0 < m[0] ackreq flip $flip
none > * within rtt from last
mem same buf 4096 = 0xa5
p0 < m[0] ackreq
* > sack cack m[0] within rtt
mem digest buf 4096 = seq 3

id S-A14-OUT-031
purpose A-14, CTRL.icrc_outer 1: a packet without outer header has the ICRC that it always had
mark A, A-14
cite mrc.md 4; base.md ICRC
rules wire.icrc resp.sack-ask
setting A-14 CTRL.icrc_outer 1
caps responder bytes
msg m = write len 4096 at buf seq 3
p0 < m[0] ackreq
* > sack cack m[0] icrc good within rtt

cases id outer encap {
  S-A14-IN-041  0 srv6
  S-A14-OUT-041 1 srv6
  S-A14-OUT-042 1 srh
}
purpose A-14, CTRL.icrc_outer $outer: WRITEs in $encap have the ICRC so, and answers that have it so are heard
mark A, A-14
cite mrc.md 4
rules wire.icrc wire.encap req.cqe-ack
setting A-14 CTRL.icrc_outer $outer
tier 3
caps requestor $encap
encap $encap
evs 8
peer auto sack each
dut post write len 8192 * 2
* > write first psn sq_psn icrc good within rtt
until count(> cqe send status ok) == 2 within 2 rto
expect count(> write rtx 1) == 0

# ---- A-21: the unit of time stamps ----

cases id us unit tsr {
  S-A21-TSR0-001 0 128000 0
  S-A21-TSR1-001 1 1024000 1
}
purpose A-21, tsr $tsr (CTRL.tsr_us $us): service time moves the stamp by units of $unit ps
mark A, A-21, A-56
cite mrc.md 3; mrc.md 6
rules resp.stamp
setting A-21 CTRL.tsr_us $us
caps responder svc_time time_stamps
profile time_stamps 1 svc_time 1
msg m = write len 4096 at buf seq 3
p0 < m[0] ackreq raw tseth.tx_timestamp16 = 0xFFF0 as sent_at
* > sack trigger m[0] within rtt as s
expect (s.timestamp - 0xFFF0 + 65536) % 65536 in 0 .. (s.t - sent_at) / $unit + 1

cases id us tsr {
  S-A21-TSR0-002 0 0
  S-A21-TSR1-002 1 1
}
purpose A-21, tsr $tsr (CTRL.tsr_us $us): what comes with this tsr is given back as it came
mark S2+, A-21
cite mrc.md 3
rules resp.stamp peer.stamp
setting A-21 CTRL.tsr_us $us
caps responder time_stamps
profile time_stamps 1
msg m = write len 4096 at buf seq 3
p0 < m[0] ackreq raw tseth.tx_timestamp16 = 0xABCD
* > sack trigger m[0] timestamp 0xABCD within rtt
p1 < probe id 4 timestamp 0xBCDE
* > sack pr 1 probe 4 timestamp 0xBCDE within rtt
p1 < evprobe id 5 timestamp 0xCDEF
* > endpoint response id 5 timestamp 0xCDEF within rtt

cases id us tsr {
  S-A21-TSR0-003 0 0
  S-A21-TSR1-003 1 1
}
purpose A-21, the endpoint requests that a NIC sends have tsr $tsr (CTRL.tsr_us $us) and ftype 1
mark C, A-21
cite mrc.md 3
rules wire.stamp
setting A-21 CTRL.tsr_us $us
tier 3
caps requestor ports
evs 16
peer auto sack each
dut post write len 4096 * 64
p0 carrier down as down
p1 > endpoint request op port_status erth.tsr $tsr erth.ftype 1 within 200 us from down

# ---- A-36: the op of endpoint responses ----

cases id high bits {
  S-A36-LOW-001  0 3:2
  S-A36-HIGH-001 1 5:4
}
purpose A-36, an answer whose op is in bits $bits (CTRL.eeth_op_high $high) is one: the update is not repeated
mark C, A-36, A-60
cite mrc.md 3; mrc.md 5
rules peer.answer wire.op
setting A-36 CTRL.eeth_op_high $high
tier 3
caps requestor ports
evs 16
negative
peer auto sack each
dut post write len 4096 * 64
p0 carrier down as down
p1 > endpoint request op port_status within 200 us from down
settle 2 rtt
let heard = now
none > endpoint request op port_status within 1 ms from heard
p1 < evprobe id 0x77
p1 > endpoint response id 0x77 op ev_probe within rtt

# ---- A-37: see planes.mrc, Q-PORT-001 to 004, 011, 012 ----

cases id from0 mask what {
  S-A37-FROM1-001 0 0x006 "bits 1 and 2"
  S-A37-FROM0-001 1 0x003 "bits 0 and 1"
}
purpose A-37, CTRL.ports_from_0 $from0: two ports are $what of the mask; a peer that names both loses neither
mark C, A-37
cite mrc.md 3; mrc.md 5
rules path.peer-down
setting A-37 CTRL.ports_from_0 $from0
tier 3
caps requestor ports
evs 16
peer auto sack each
dut post write len 512 * forever
skip 32 > write
p1 < endpoint request op port_status mask $mask id 1
* > endpoint response id 1 within rtt
settle 2 rtt
count shares = 64 > write by plane
expect shares[0] in 28 .. 36 and shares[1] in 28 .. 36

# ---- A-76: one address, or one per plane ----

cases id on port src dst what {
  S-A76-ONE-001   0 p0 0xfd000000000000000000000000000002 0xfd000000000000000000000000000001 "one"
  S-A76-ONE-002   0 p1 0xfd000000000000000000000000000002 0xfd000000000000000000000000000001 "one"
  S-A76-PLANE-001 1 p0 0xfd000000000000000000000000000002 0xfd000000000000000000000000000001 "one per plane"
  S-A76-PLANE-002 1 p1 0xfd000000000000010000000000000002 0xfd000000000000010000000000000001 "one per plane"
}
purpose A-76, a NIC has $what address (IP_PLANE.enable $on): on $port it answers from its own to its peer's there
mark C, A-76
cite mrc.md 1
rules wire.address
setting A-76 IP_PLANE.enable $on
setting A-06 CTRL.ack_plane 1
caps responder
msg m = write len 4096 at buf seq 3
$port < m[0] ackreq
$port > sack cack m[0] ipv6.src $src ipv6.dst $dst within rtt
mem digest buf 4096 = seq 3
$port < evprobe id 6
$port > endpoint response id 6 ipv6.src $src ipv6.dst $dst within rtt

cases id lsb src dst {
  S-A76-PLANE-003 16 0xfd000000000000000000000000010002 0xfd000000000000000000000000010001
  S-A76-PLANE-004 80 0xfd000000000100000000000000000002 0xfd000000000100000000000000000001
}
purpose A-76, the number of the plane stands at bit $lsb of the addresses (IP_PLANE.lsb $lsb): plane 1
mark C, A-76
cite mrc.md 1
rules wire.address
setting A-76 IP_PLANE.enable 1
setting A-76 IP_PLANE.lsb $lsb
setting A-06 CTRL.ack_plane 1
caps responder
msg m = write len 4096 at buf seq 3
p1 < m[0] ackreq
p1 > sack cack m[0] ipv6.src $src ipv6.dst $dst within rtt

cases id on one what {
  S-A76-ONE-011   0 0xfd000000000000000000000000000002 "one"
  S-A76-PLANE-011 1 0xfd000000000000010000000000000002 "one per plane"
}
purpose A-76, a requestor with $what address (IP_PLANE.enable $on) sends from it on each plane, and hears answers
mark C, A-76
cite mrc.md 1
rules wire.address req.cqe-ack path.plane
setting A-76 IP_PLANE.enable $on
tier 3
caps requestor
evs 16
peer auto sack each
dut post write len 4096 * 32
until count(> cqe send status ok) == 32 within 2 rto
expect count(p0 > write ipv6.src 0xfd000000000000000000000000000002) == count(p0 > write)
expect count(p1 > write ipv6.src $one) == count(p1 > write)
expect count(p0 > write) > 0 and count(p1 > write) > 0

cases id on what {
  S-A76-ONE-012   0 "its one address"
  S-A76-PLANE-012 1 "its address of plane 1"
}
purpose A-76, a peer that tells from $what (IP_PLANE.enable $on) that only its second port is up is known by it
mark C, A-76, A-37
cite mrc.md 1; mrc.md 5
rules path.peer-down
setting A-76 IP_PLANE.enable $on
setting A-37 CTRL.ports_from_0 0
tier 3
caps requestor ports
evs 16
negative
peer auto sack each
dut post write len 512 * forever
skip 32 > write
p1 < endpoint request op port_status mask 0x004 id 1
p1 > endpoint response id 1 within rtt
settle 2 rtt
let told = now
none p0 > write within 4 rtt from told

# ---- A-60, A-79: code points of answers; those of requests and data: see classes.mrc ----

id S-A79-QP-031
purpose A-79, what a QP with a class of its own answers is in the control class all the same
mark S2, C, A-79, A-04
cite mrc.md 4
rules wire.class
caps responder class
profile class_data 10 class_rtx 11
msg m = write len 4096 at buf seq 3
p0 < m[0] ackreq
any order { * > sack cack m[0] dscp control ecn 0 ; * > ack psn m[0] dscp control ecn 0 } within rtt
p0 < probe id 4
* > sack pr 1 probe 4 dscp control within rtt

cases id code {
  S-A60-EP-011 33
  S-A60-EP-012 46
  S-A60-EP-013 0
}
purpose A-60, an endpoint request is answered whatever code point its caller has given it ($code), in the control class
mark S, A-60
cite mrc.md 4; mrc.md 5
rules peer.answer wire.class
caps responder
p0 < evprobe id 7 dscp $code
* > endpoint response id 7 dscp control ecn 0 within rtt

cases id ep {
  S-A60-EP-021 33
  S-A60-EP-022 4
}
purpose A-60, a probe for a way back has the code point of endpoint requests (DSCP_TX.ep $ep)
mark A, A-60, A-06
cite mrc.md 4; mrc.md 5
rules wire.class
setting A-60 DSCP_TX.ep $ep
setting A-06 CTRL.rev_fixed 0
caps responder evprobe
msg m = write len 32768 at buf seq 6
p0 < m[0] ackreq
* > sack trigger m[0] within rtt
* > endpoint request op ev_probe dscp $ep within 400 us from last
