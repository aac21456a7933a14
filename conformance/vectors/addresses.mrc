# SPDX-License-Identifier: Apache-2.0
# One address per plane (A-76): own one and peer's alike, three bits of them hold the number of the plane.
tier 1
caps responder

id H-IP-011
purpose with one address per plane, what leaves on a plane has that plane's addresses, own and peer's
mark C, A-76
cite mrc.md 1
rules wire.address
setting A-76 IP_PLANE.enable 1
planes 2
background ignore sack ack nack probe endpoint
msg m = write len 16384 at buf seq 3
p0 < m[0] ackreq
* > sack cack m[0] within rtt as a
p1 < m[1] ackreq
* > sack cack m[1] within rtt as b
p1 < probe id 7
* > sack pr 1 probe 7 within rtt as c
p0 < probe id 8
* > sack pr 1 probe 8 within rtt as d
# bits 66:64: fd00:0:0:P::2 is the device, fd00:0:0:P::1 the tester
expect a.ipv6.src == 0xfd000000000000000000000000000002 + a.plane * 0x10000000000000000
expect a.ipv6.dst == 0xfd000000000000000000000000000001 + a.plane * 0x10000000000000000
expect b.ipv6.src == 0xfd000000000000000000000000000002 + b.plane * 0x10000000000000000
expect b.ipv6.dst == 0xfd000000000000000000000000000001 + b.plane * 0x10000000000000000
expect c.ipv6.src == 0xfd000000000000000000000000000002 + c.plane * 0x10000000000000000
expect c.ipv6.dst == 0xfd000000000000000000000000000001 + c.plane * 0x10000000000000000
expect d.ipv6.src == 0xfd000000000000000000000000000002 + d.plane * 0x10000000000000000
expect d.ipv6.dst == 0xfd000000000000000000000000000001 + d.plane * 0x10000000000000000
