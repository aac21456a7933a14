# SPDX-License-Identifier: Apache-2.0
# SRv6: outer header, routing header, uSIDs of planes; which of the two IP headers means what.
tier 2
caps responder
planes 2

id R-SRV6-001
purpose a packet in IPv6 in IPv6 is taken like a bare one, and answered in the same way
mark S
cite mrc.md 1; paper 2.2
rules wire.encap
caps srv6
encap srv6
msg m = write len 4097 at buf seq 3
p0 < m[0] ; p0 < m[1] ackreq
any order { * > sack cack m[1] outer_ipv6.next_header 41 ipv6.next_header 17 ; * > ack outer_ipv6.next_header 41 } within rtt
mem digest buf 4097 = seq 3

cases id left {
  R-SRV6-002 0
  R-SRV6-003 1
}
purpose a packet with a routing header of which $left segments are left is taken like a bare one
mark S2, S, A-63
cite mrc.md 1; RFC 8754 4.3
rules wire.encap
caps srh
encap srh
msg m = write len 4097 at buf seq 3
p0 < m[0] raw srh.segments_left $left
p0 < m[1] ackreq raw srh.segments_left $left
* > sack cack m[1] outer_ipv6.next_header 43 srh.next_header 41 srh.routing_type 4 within rtt
mem digest buf 4097 = seq 3

cases id want what rules {
  R-SRV6-011 "outer_ipv6.version 6 outer_ipv6.hop_limit > 8" "IPv6 with a hop limit that crosses a fabric" "wire.encap"
  R-SRV6-012 "ipv6.dst 0xfd000000000000000000000000000001" "the peer's own address in the inner header" "wire.encap wire.address"
  R-SRV6-013 "ipv6.src 0xfd000000000000000000000000000002" "its own address in the inner header" "wire.encap wire.address"
  R-SRV6-014 "outer_ipv6.payload_length 100 ipv6.payload_length 60" "lengths of 60 inside and 40 more outside" "wire.encap wire.format"
  R-SRV6-015 "dscp control ecn 0" "the control class in the outer header" "wire.encap wire.class wire.ecn"
  R-SRV6-016 "ipv6.dscp 46 ipv6.ecn 0" "the control class in the inner header" "wire.encap wire.class"
  R-SRV6-017 "udp.checksum 0" "UDP checksum 0" "wire.encap wire.udp-checksum"
}
purpose an answer in SRv6 has $what
mark S, S2, A-26, A-27
cite mrc.md 1; mrc.md 4
caps srv6
encap srv6
msg m = write len 4096 at buf seq 3
p0 < m[0] ackreq
* > sack cack m[0] $want within rtt

cases id port dst {
  R-SRV6-021 p0 0xfcbb0000010002000000000000000000
  R-SRV6-022 p1 0xfcbb0000110012000000000000000000
}
purpose an answer on $port goes to the template's address with the plane's number in bit 12 of every uSID
mark S (the number in every uSID), A-05
cite mrc.md 5; RFC 9800 4
rules wire.encap path.plane
caps srv6
encap srv6
setting A-05 SRV6.plane_lsb 12
setting A-06 CTRL.ack_plane 1
msg m = write len 4096 at buf seq 3
$port < m[0] ackreq
$port > sack cack m[0] outer_ipv6.dst $dst within rtt

cases id port dst {
  R-SRV6-023 p0 0xfcbb0000010002000000000000000000
  R-SRV6-024 p1 0xfcbb0000010102010000000000000000
}
purpose with A-05's plane_lsb 0 the plane's number ($port) stands in the lowest bits of every uSID
mark S (the number in every uSID), A-05
cite mrc.md 5; RFC 9800 4
rules wire.encap path.plane
caps srv6
encap srv6
setting A-05 SRV6.plane_lsb 0
setting A-06 CTRL.ack_plane 1
msg m = write len 4096 at buf seq 3
$port < m[0] ackreq
$port > sack cack m[0] outer_ipv6.dst $dst within rtt

cases id field m {
  R-SRV6-031 "outer_ipv6.ecn = 3" skip_once
  R-SRV6-032 "ipv6.ecn = 3" none
}
purpose ECN is read from the outermost header, which switches mark: with $field m is $m
mark S, A-26
cite mrc.md 4
rules resp.mark
caps srv6
encap srv6
msg m = write len 4096 at buf seq 3
p0 < m[0] ackreq raw $field
* > sack trigger m[0] m $m within rtt

cases id field value {
  R-SRV6-041 outer_ipv6.src 0x20010db8000000000000000000000001
  R-SRV6-042 outer_ipv6.dst 0xfcbb0000020000000000000000000000
  R-SRV6-043 outer_ipv6.hop_limit 1
  R-SRV6-044 outer_ipv6.flow_label 0xFFFFF
}
purpose $field on arrival is the network's business: the packet is taken
mark S, A-14
cite mrc.md 1; mrc.md 4; base.md SRv6
rules resp.sack-ask resp.cack-taken mem.source
caps srv6 bytes
setting A-14 default
encap srv6
msg m = write len 4096 at buf seq 3
p0 < m[0] ackreq raw $field = $value
* > sack cack m[0] within rtt
mem digest buf 4096 = seq 3

cases id flip {
  R-SRV6-051 ipv6.src
  R-SRV6-052 udp.src_port
  R-SRV6-053 bth.psn
  R-SRV6-054 reth.va
  R-SRV6-055 payload
}
purpose one bit of $flip wrong behind the ICRC discards a packet in SRv6 as well
mark S2, A-14
cite mrc.md 4; base.md ICRC
rules resp.trigger resp.cack-arrived mem.source
caps srv6 bytes
encap srv6
negative
msg m = write len 4096 at buf seq 3
mem fill buf 4096 = 0xa5
p0 < m[0] ackreq flip $flip
none > * within rtt from last
mem same buf 4096 = 0xa5
p0 < m[0] ackreq
* > sack cack m[0] within rtt
mem digest buf 4096 = seq 3

cases id next what {
  R-SRV6-056 17 "UDP at once"
  R-SRV6-057 6 "TCP"
  R-SRV6-058 4 "IPv4"
}
purpose an outer header that says it carries $what, before an inner one, is a damaged packet
mark S
cite RFC 8200 3; mrc.md 1
rules resp.trigger resp.cack-arrived mem.source
caps srv6 bytes
encap srv6
negative
msg m = write len 4096 at buf seq 3
mem fill buf 4096 = 0xa5
p0 < m[0] ackreq raw outer_ipv6.next_header = $next
none > * within rtt from last
mem same buf 4096 = 0xa5
p0 < m[0] ackreq
* > sack cack m[0] within rtt
mem digest buf 4096 = seq 3

cases id port plane dst {
  R-SRV6-025 p0 0 0xfcbb0000010002000000000000000000
  R-SRV6-026 p1 1 0xfcbb0000010402040000000000000000
}
purpose with A-05's plane_lsb 2 the plane's number ($plane) stands in bit 2 of every uSID, and the locator stays
mark S (the number in every uSID), A-05
cite mrc.md 5; RFC 9800 4
rules wire.encap path.plane
caps srv6
encap srv6
setting A-05 SRV6.plane_lsb 2
setting A-06 CTRL.ack_plane 1
msg m = write len 4096 at buf seq 3
$port < m[0] ackreq
$port > sack cack m[0] outer_ipv6.dst $dst within rtt

cases id usid bits mod port dst unit {
  R-SRV6-027 0 4 16 p0 0xfcbb0000010002000000000000000000 0x1000000000000000000000
  R-SRV6-028 1 4 16 p0 0xfcbb0000010002000000000000000000 0x100000000000000000
  R-SRV6-029 1 3 8 p1 0xfcbb0000110012000000000000000000 0x100000000000000000
}
purpose with an uplink number (A-05) uSID $usid has the low $bits bits of the EV at bit 4, and no other uSID has them
mark S (an uplink number goes into the T1 uSID), A-05
cite mrc.md 5
rules wire.encap
tier 3
caps requestor srv6
encap srv6
evs 16
setting A-05 SRV6.uplink_usid $usid
setting A-05 SRV6.uplink_bits $bits
setting A-05 SRV6.uplink_lsb 4
dut post write len 65536
peer auto
repeat 6 {
  $port > write as w
  expect w.outer_ipv6.dst == $dst + (w.ev % $mod) * $unit
}
