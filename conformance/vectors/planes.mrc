# SPDX-License-Identifier: Apache-2.0
# Ports that go and come, on either side, and who is told.
tier 3
caps requestor ports
planes 2
evs 16

cases id set mask {
  Q-PORT-001 0 0x004
  Q-PORT-002 1 0x002
}
purpose a peer that says that only its second port is up (mask $mask, A-37 setting $set) gets nothing on plane 0
mark S, C, A-37
cite mrc.md 5; mrc.md 3
rules path.peer-down path.plane
setting A-37 CTRL.ports_from_0 $set
negative
peer auto sack each
dut post write len 512 * forever
skip 32 > write
p1 < endpoint request op port_status mask $mask id 1
p1 > endpoint response id 1 op port_status within rtt
settle 2 rtt
let from0 = now
none p0 > write within 4 rtt from from0
count shares = 32 > write by plane
expect shares[0] == 0 and shares[1] == 32

cases id set mask both {
  Q-PORT-003 0 0x004 0x1FE
  Q-PORT-004 1 0x002 0x0FF
}
purpose when the peer says that both ports are up again (mask $both), both are used again, in equal shares
mark S, C, A-37
cite mrc.md 5; mrc.md 3
rules path.peer-down
setting A-37 CTRL.ports_from_0 $set
peer auto sack each
dut post write len 512 * forever
skip 32 > write
p1 < endpoint request op port_status mask $mask id 1
p1 > endpoint response id 1 within rtt
settle 2 rtt
p1 < endpoint request op port_status mask $both id 2
* > endpoint response id 2 within rtt
settle 2 rtt
count shares = 64 > write by plane
expect shares[0] in 28 .. 36 and shares[1] in 28 .. 36

id Q-PORT-005
purpose a port status update of somebody else changes nothing: both planes stay in use
mark S2, A-60
cite mrc.md 5
rules path.peer-down path.equal
negative
peer auto sack each
dut post write len 512 * forever
skip 32 > write
p1 < endpoint request op port_status mask 0x004 id 1 raw ipv6.src 0xfd000000000000000000000000000077
settle 2 rtt
count shares = 64 > write by plane
expect shares[0] in 28 .. 36 and shares[1] in 28 .. 36

id Q-PORT-007
purpose an address that differs from the peer's in one bit, whichever it is, is somebody else's
mark S2, A-60
cite mrc.md 5
rules path.peer-down path.equal
negative
peer auto sack each
dut post write len 512 * forever
skip 32 > write
p1 < endpoint request op port_status mask 0x004 id 0 raw ipv6.src 0xfd000000000000000000000000000000
p1 < endpoint request op port_status mask 0x004 id 1 raw ipv6.src 0xfd000000000000000000000000000003
p1 < endpoint request op port_status mask 0x004 id 2 raw ipv6.src 0xfd000000000000000000000000000005
p1 < endpoint request op port_status mask 0x004 id 3 raw ipv6.src 0xfd000000000000000000000000000009
p1 < endpoint request op port_status mask 0x004 id 4 raw ipv6.src 0xfd000000000000000000000000000011
p1 < endpoint request op port_status mask 0x004 id 5 raw ipv6.src 0xfd000000000000000000000000000021
p1 < endpoint request op port_status mask 0x004 id 6 raw ipv6.src 0xfd000000000000000000000000000041
p1 < endpoint request op port_status mask 0x004 id 7 raw ipv6.src 0xfd000000000000000000000000000081
p1 < endpoint request op port_status mask 0x004 id 8 raw ipv6.src 0xfd000000000000000000000000000101
p1 < endpoint request op port_status mask 0x004 id 9 raw ipv6.src 0xfd000000000000000000000000000201
p1 < endpoint request op port_status mask 0x004 id 10 raw ipv6.src 0xfd000000000000000000000000000401
p1 < endpoint request op port_status mask 0x004 id 11 raw ipv6.src 0xfd000000000000000000000000000801
p1 < endpoint request op port_status mask 0x004 id 12 raw ipv6.src 0xfd000000000000000000000000001001
p1 < endpoint request op port_status mask 0x004 id 13 raw ipv6.src 0xfd000000000000000000000000002001
p1 < endpoint request op port_status mask 0x004 id 14 raw ipv6.src 0xfd000000000000000000000000004001
p1 < endpoint request op port_status mask 0x004 id 15 raw ipv6.src 0xfd000000000000000000000000008001
p1 < endpoint request op port_status mask 0x004 id 16 raw ipv6.src 0xfd000000000000000000000000010001
p1 < endpoint request op port_status mask 0x004 id 17 raw ipv6.src 0xfd000000000000000000000000020001
p1 < endpoint request op port_status mask 0x004 id 18 raw ipv6.src 0xfd000000000000000000000000040001
p1 < endpoint request op port_status mask 0x004 id 19 raw ipv6.src 0xfd000000000000000000000000080001
p1 < endpoint request op port_status mask 0x004 id 20 raw ipv6.src 0xfd000000000000000000000000100001
p1 < endpoint request op port_status mask 0x004 id 21 raw ipv6.src 0xfd000000000000000000000000200001
p1 < endpoint request op port_status mask 0x004 id 22 raw ipv6.src 0xfd000000000000000000000000400001
p1 < endpoint request op port_status mask 0x004 id 23 raw ipv6.src 0xfd000000000000000000000000800001
p1 < endpoint request op port_status mask 0x004 id 24 raw ipv6.src 0xfd000000000000000000000001000001
p1 < endpoint request op port_status mask 0x004 id 25 raw ipv6.src 0xfd000000000000000000000002000001
p1 < endpoint request op port_status mask 0x004 id 26 raw ipv6.src 0xfd000000000000000000000004000001
p1 < endpoint request op port_status mask 0x004 id 27 raw ipv6.src 0xfd000000000000000000000008000001
p1 < endpoint request op port_status mask 0x004 id 28 raw ipv6.src 0xfd000000000000000000000010000001
p1 < endpoint request op port_status mask 0x004 id 29 raw ipv6.src 0xfd000000000000000000000020000001
p1 < endpoint request op port_status mask 0x004 id 30 raw ipv6.src 0xfd000000000000000000000040000001
p1 < endpoint request op port_status mask 0x004 id 31 raw ipv6.src 0xfd000000000000000000000080000001
p1 < endpoint request op port_status mask 0x004 id 32 raw ipv6.src 0xfd000000000000000000000100000001
p1 < endpoint request op port_status mask 0x004 id 33 raw ipv6.src 0xfd000000000000000000000200000001
p1 < endpoint request op port_status mask 0x004 id 34 raw ipv6.src 0xfd000000000000000000000400000001
p1 < endpoint request op port_status mask 0x004 id 35 raw ipv6.src 0xfd000000000000000000000800000001
p1 < endpoint request op port_status mask 0x004 id 36 raw ipv6.src 0xfd000000000000000000001000000001
p1 < endpoint request op port_status mask 0x004 id 37 raw ipv6.src 0xfd000000000000000000002000000001
p1 < endpoint request op port_status mask 0x004 id 38 raw ipv6.src 0xfd000000000000000000004000000001
p1 < endpoint request op port_status mask 0x004 id 39 raw ipv6.src 0xfd000000000000000000008000000001
p1 < endpoint request op port_status mask 0x004 id 40 raw ipv6.src 0xfd000000000000000000010000000001
p1 < endpoint request op port_status mask 0x004 id 41 raw ipv6.src 0xfd000000000000000000020000000001
p1 < endpoint request op port_status mask 0x004 id 42 raw ipv6.src 0xfd000000000000000000040000000001
p1 < endpoint request op port_status mask 0x004 id 43 raw ipv6.src 0xfd000000000000000000080000000001
p1 < endpoint request op port_status mask 0x004 id 44 raw ipv6.src 0xfd000000000000000000100000000001
p1 < endpoint request op port_status mask 0x004 id 45 raw ipv6.src 0xfd000000000000000000200000000001
p1 < endpoint request op port_status mask 0x004 id 46 raw ipv6.src 0xfd000000000000000000400000000001
p1 < endpoint request op port_status mask 0x004 id 47 raw ipv6.src 0xfd000000000000000000800000000001
p1 < endpoint request op port_status mask 0x004 id 48 raw ipv6.src 0xfd000000000000000001000000000001
p1 < endpoint request op port_status mask 0x004 id 49 raw ipv6.src 0xfd000000000000000002000000000001
p1 < endpoint request op port_status mask 0x004 id 50 raw ipv6.src 0xfd000000000000000004000000000001
p1 < endpoint request op port_status mask 0x004 id 51 raw ipv6.src 0xfd000000000000000008000000000001
p1 < endpoint request op port_status mask 0x004 id 52 raw ipv6.src 0xfd000000000000000010000000000001
p1 < endpoint request op port_status mask 0x004 id 53 raw ipv6.src 0xfd000000000000000020000000000001
p1 < endpoint request op port_status mask 0x004 id 54 raw ipv6.src 0xfd000000000000000040000000000001
p1 < endpoint request op port_status mask 0x004 id 55 raw ipv6.src 0xfd000000000000000080000000000001
p1 < endpoint request op port_status mask 0x004 id 56 raw ipv6.src 0xfd000000000000000100000000000001
p1 < endpoint request op port_status mask 0x004 id 57 raw ipv6.src 0xfd000000000000000200000000000001
p1 < endpoint request op port_status mask 0x004 id 58 raw ipv6.src 0xfd000000000000000400000000000001
p1 < endpoint request op port_status mask 0x004 id 59 raw ipv6.src 0xfd000000000000000800000000000001
p1 < endpoint request op port_status mask 0x004 id 60 raw ipv6.src 0xfd000000000000001000000000000001
p1 < endpoint request op port_status mask 0x004 id 61 raw ipv6.src 0xfd000000000000002000000000000001
p1 < endpoint request op port_status mask 0x004 id 62 raw ipv6.src 0xfd000000000000004000000000000001
p1 < endpoint request op port_status mask 0x004 id 63 raw ipv6.src 0xfd000000000000008000000000000001
p1 < endpoint request op port_status mask 0x004 id 64 raw ipv6.src 0xfd000000000000010000000000000001
p1 < endpoint request op port_status mask 0x004 id 65 raw ipv6.src 0xfd000000000000020000000000000001
p1 < endpoint request op port_status mask 0x004 id 66 raw ipv6.src 0xfd000000000000040000000000000001
p1 < endpoint request op port_status mask 0x004 id 67 raw ipv6.src 0xfd000000000000080000000000000001
p1 < endpoint request op port_status mask 0x004 id 68 raw ipv6.src 0xfd000000000000100000000000000001
p1 < endpoint request op port_status mask 0x004 id 69 raw ipv6.src 0xfd000000000000200000000000000001
p1 < endpoint request op port_status mask 0x004 id 70 raw ipv6.src 0xfd000000000000400000000000000001
p1 < endpoint request op port_status mask 0x004 id 71 raw ipv6.src 0xfd000000000000800000000000000001
p1 < endpoint request op port_status mask 0x004 id 72 raw ipv6.src 0xfd000000000001000000000000000001
p1 < endpoint request op port_status mask 0x004 id 73 raw ipv6.src 0xfd000000000002000000000000000001
p1 < endpoint request op port_status mask 0x004 id 74 raw ipv6.src 0xfd000000000004000000000000000001
p1 < endpoint request op port_status mask 0x004 id 75 raw ipv6.src 0xfd000000000008000000000000000001
p1 < endpoint request op port_status mask 0x004 id 76 raw ipv6.src 0xfd000000000010000000000000000001
p1 < endpoint request op port_status mask 0x004 id 77 raw ipv6.src 0xfd000000000020000000000000000001
p1 < endpoint request op port_status mask 0x004 id 78 raw ipv6.src 0xfd000000000040000000000000000001
p1 < endpoint request op port_status mask 0x004 id 79 raw ipv6.src 0xfd000000000080000000000000000001
p1 < endpoint request op port_status mask 0x004 id 80 raw ipv6.src 0xfd000000000100000000000000000001
p1 < endpoint request op port_status mask 0x004 id 81 raw ipv6.src 0xfd000000000200000000000000000001
p1 < endpoint request op port_status mask 0x004 id 82 raw ipv6.src 0xfd000000000400000000000000000001
p1 < endpoint request op port_status mask 0x004 id 83 raw ipv6.src 0xfd000000000800000000000000000001
p1 < endpoint request op port_status mask 0x004 id 84 raw ipv6.src 0xfd000000001000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 85 raw ipv6.src 0xfd000000002000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 86 raw ipv6.src 0xfd000000004000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 87 raw ipv6.src 0xfd000000008000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 88 raw ipv6.src 0xfd000000010000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 89 raw ipv6.src 0xfd000000020000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 90 raw ipv6.src 0xfd000000040000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 91 raw ipv6.src 0xfd000000080000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 92 raw ipv6.src 0xfd000000100000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 93 raw ipv6.src 0xfd000000200000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 94 raw ipv6.src 0xfd000000400000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 95 raw ipv6.src 0xfd000000800000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 96 raw ipv6.src 0xfd000001000000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 97 raw ipv6.src 0xfd000002000000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 98 raw ipv6.src 0xfd000004000000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 99 raw ipv6.src 0xfd000008000000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 100 raw ipv6.src 0xfd000010000000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 101 raw ipv6.src 0xfd000020000000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 102 raw ipv6.src 0xfd000040000000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 103 raw ipv6.src 0xfd000080000000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 104 raw ipv6.src 0xfd000100000000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 105 raw ipv6.src 0xfd000200000000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 106 raw ipv6.src 0xfd000400000000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 107 raw ipv6.src 0xfd000800000000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 108 raw ipv6.src 0xfd001000000000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 109 raw ipv6.src 0xfd002000000000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 110 raw ipv6.src 0xfd004000000000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 111 raw ipv6.src 0xfd008000000000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 112 raw ipv6.src 0xfd010000000000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 113 raw ipv6.src 0xfd020000000000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 114 raw ipv6.src 0xfd040000000000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 115 raw ipv6.src 0xfd080000000000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 116 raw ipv6.src 0xfd100000000000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 117 raw ipv6.src 0xfd200000000000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 118 raw ipv6.src 0xfd400000000000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 119 raw ipv6.src 0xfd800000000000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 120 raw ipv6.src 0xfc000000000000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 121 raw ipv6.src 0xff000000000000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 122 raw ipv6.src 0xf9000000000000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 123 raw ipv6.src 0xf5000000000000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 124 raw ipv6.src 0xed000000000000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 125 raw ipv6.src 0xdd000000000000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 126 raw ipv6.src 0xbd000000000000000000000000000001
p1 < endpoint request op port_status mask 0x004 id 127 raw ipv6.src 0x7d000000000000000000000000000001
settle 2 rtt
count shares = 64 > write by plane
expect shares[0] in 28 .. 36 and shares[1] in 28 .. 36

id Q-PORT-006
purpose what a wrong ICRC says about ports is not believed
mark S2
cite mrc.md 4; mrc.md 5
rules path.peer-down path.equal
caps bytes
negative
peer auto sack each
dut post write len 512 * forever
skip 32 > write
p1 < endpoint request op port_status mask 0x004 id 1 icrc bad
settle 2 rtt
count shares = 64 > write by plane
expect shares[0] in 28 .. 36 and shares[1] in 28 .. 36

cases id set down what {
  Q-PORT-011 0 "u.mask % 4 / 2 < 1 and u.mask % 8 / 4 >= 1" "bit 1 clear, bit 2 set: ports count from 1"
  Q-PORT-012 1 "u.mask % 2 < 1 and u.mask % 4 / 2 >= 1" "bit 0 clear, bit 1 set: ports count from 0"
}
purpose a NIC that loses its first port leaves it at once and tells its peer, $what
mark S, C, A-37
cite mrc.md 5; mrc.md 3
rules path.down peer.mask
setting A-37 CTRL.ports_from_0 $set
peer auto sack each
dut post write len 512 * forever
skip 32 > write
p0 carrier down as down
p1 > endpoint request op port_status within 200 us from down as u
expect $down
none p0 > * from down + 2 lat within 4 rtt
p0 carrier up as up
p0 > write within 40 rtt from up

id Q-PORT-013
purpose a port status update is repeated until it is answered
mark C, A-60
cite mrc.md 5
rules peer.mask
setting A-60 default
peer auto sack each
when > endpoint request op port_status nth 1 : answer none
dut post write len 4096 * 64
p0 carrier down as down
p1 > endpoint request op port_status within 200 us from down as one
p1 > endpoint request op port_status within 1 ms from one as two
expect two.t > one.t

id Q-PORT-014
purpose with A-60's other answer an update is sent once, answered or not
mark C, A-60
cite mrc.md 5
rules peer.mask
setting A-60 EP_CTL.repeats 0
negative
peer auto sack each
when > endpoint request op port_status : answer none
dut post write len 4096 * 64
p0 carrier down as down
p1 > endpoint request op port_status within 200 us from down as one
none > endpoint request op port_status within 1 ms from one

id Q-PORT-015
purpose what was on its way to a port that died is sent again on the other one
mark S, S2
cite mrc.md 5; mrc.md 7
rules req.rtx-cause req.rtx-unsent path.down req.cqe-ack
peer auto sack each
dut post write len 4096 * 64
skip 16 > write
p0 carrier down as down
settle 4 rto
until count(> cqe send status ok) == 64 within 40 rto
none p0 > write from down + 2 lat within rtt
