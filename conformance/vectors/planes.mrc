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
dut post write len 4096 * forever
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
dut post write len 4096 * forever
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
dut post write len 4096 * forever
skip 32 > write
p1 < endpoint request op port_status mask 0x004 id 1 raw ipv6.src 0xfd000000000000000000000000000077
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
dut post write len 4096 * forever
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
dut post write len 4096 * forever
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
