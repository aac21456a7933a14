# SPDX-License-Identifier: Apache-2.0
# A requestor whose ports go and come, here or at its peer: bounded work, so that the end is seen too.
tier 3
caps requestor ports
planes 2
evs 16
profile mtu 1024 timeout 6

cases id port {
  Q-PORT-021 p0
  Q-PORT-022 p1
}
purpose $port is down before anything is posted: all goes through the other one, and completes
mark S
cite mrc.md 5; paper 3
rules path.down path.set req.cqe-owed
peer auto
$port carrier down as down
settle 2 lat
dut post write len 3000 * 16
until count(> cqe send status ok) == 16 within 20 rto
expect count($port > write) == 0
expect count($port > * from down + 2 lat) == 0

id Q-PORT-023
purpose both ports are down: nothing leaves; when one comes back, everything goes out and completes
mark S, A-66
cite mrc.md 5; mrc.md 7
rules path.down req.moves req.cqe-owed
peer auto
p0 carrier down
p1 carrier down
settle 2 lat
let dark = now
dut post write len 3000 * 4
settle 2 rto
expect count(> * from dark) == 0
p1 carrier up
until count(> cqe send status ok) == 4 within 40 rto
expect count(p0 > write) == 0

id Q-PORT-024
purpose a port that comes back is used again, in equal shares
mark S
cite mrc.md 5; paper 3
rules path.down path.equal req.cqe-owed
peer auto
p1 carrier down
settle 2 lat
dut post write len 1024 * 32
until count(> cqe send status ok) == 32 within 20 rto
p1 carrier up
settle 2 rtt
let up = now
dut post write len 1024 * 64
until count(> cqe send status ok) == 96 within 20 rto
let shares = count(> write rtx 0 by plane from up)
expect shares[0] in 24 .. 40 and shares[1] in 24 .. 40

cases id mask both {
  Q-PORT-031 0x004 0x006
  Q-PORT-032 0x004 0x1FE
  Q-PORT-033 0xFFFFFFFC 0xFFFFFFFE
}
purpose a peer that reports its first port down ($mask) gets nothing there, repeats neither; with $both it does again
mark S, C, A-37
cite mrc.md 5; mrc.md 3
rules path.peer-down path.plane req.cqe-owed
setting A-37 default
when > write psn sq_psn+2 or sq_psn+5 rtx 0 : answer nack trimmed
peer auto
p1 < endpoint request op port_status mask $mask id 7
p1 > endpoint response id 7 within rtt
settle lat
dut post write len 1024 * 24
until count(> cqe send status ok) == 24 within 20 rto
expect count(p0 > write) == 0 and count(p1 > write rtx 1) >= 2
p1 < endpoint request op port_status mask $both id 8
* > endpoint response id 8 within rtt
settle rtt
dut post write len 1024 * 24
until count(> cqe send status ok) == 48 within 20 rto
expect count(p0 > write) >= 6

id Q-PORT-034
purpose a peer that reports no port up gets nothing at all; once it reports one, all goes there
mark S, C, A-37
cite mrc.md 5; mrc.md 3
rules path.peer-down req.cqe-owed
setting A-37 default
peer auto
p1 < endpoint request op port_status mask 0 id 1
settle 2 rtt
let dark = now
dut post write len 1024 * 4
settle 2 rto
expect count(> write from dark) == 0
p0 < endpoint request op port_status mask 0x004 id 2
until count(> cqe send status ok) == 4 within 40 rto
expect count(p0 > write) == 0

id Q-PORT-035
purpose the same update again, and an older one's id again, change nothing and are answered each time
mark S2+, C, A-37
cite mrc.md 3; mrc.md 5
rules peer.answer path.peer-down
setting A-37 default
peer auto
p1 < endpoint request op port_status mask 0x004 id 9
p1 > endpoint response id 9 op port_status within rtt
p1 < endpoint request op port_status mask 0x004 id 9
p1 > endpoint response id 9 op port_status within rtt
p1 < endpoint request op port_status mask 0x004 id 3
p1 > endpoint response id 3 op port_status within rtt
settle lat
dut post write len 1024 * 16
until count(> cqe send status ok) == 16 within 20 rto
expect count(p0 > write) == 0

cases id how {
  Q-PORT-036 "icrc bad"
  Q-PORT-037 "raw bth.tver 1"
  Q-PORT-038 "fcs bad"
  Q-PORT-039 "raw bth.opcode 0xD7"
}
purpose a port status update that is broken ($how) is not believed: both planes stay in use
mark S2
cite mrc.md 4; mrc.md 2; mrc.md 5
rules path.peer-down path.equal
caps bytes
negative
peer auto
p1 < endpoint request op port_status mask 0x004 id 1 $how
settle 2 lat
dut post write len 1024 * 32
until count(> cqe send status ok) == 32 within 20 rto
expect count(p0 > write) >= 8

id Q-PORT-041
purpose what a NIC tells its peer of its ports: through a port that is up, in the data class, to QP 2, with its mask
mark S, S2+, C, A-37, A-60
cite mrc.md 3; mrc.md 4; mrc.md 5
rules peer.mask wire.class wire.dqp wire.op wire.reserved
setting A-37 default
peer auto
dut post write len 1024 * 2
until count(> cqe send status ok) == 2 within 20 rto
p0 carrier down as down
p1 > endpoint request op port_status dqp 2 dscp data bth.rtx 0 ackreq 0 bth.tver 0 erth.reserved0 0 within 200 us from down as u
expect u.mask % 4 < 2 and u.mask % 8 >= 4
expect count(p0 > * from down + 2 lat) == 0

id Q-PORT-042
purpose an update that was answered is not repeated
mark C, A-60
cite mrc.md 5
rules peer.mask
setting A-60 default
peer auto
dut post write len 1024 * 2
until count(> cqe send status ok) == 2 within 20 rto
p0 carrier down as down
p1 > endpoint request op port_status within 200 us from down as u
settle 250 us
expect count(> endpoint request op port_status from down) == 1

id Q-PORT-043
purpose a port that flaps: the newest update that goes out says that both are up
mark S, C, A-37
cite mrc.md 5
rules peer.mask
setting A-37 default
peer auto
dut post write len 1024 * 2
until count(> cqe send status ok) == 2 within 20 rto
p0 carrier down as down
p1 > endpoint request op port_status within 200 us from down
settle 20 us
p0 carrier up as up
* > endpoint request op port_status mask any within 200 us from up as u
expect u.mask % 8 / 2 >= 3

id Q-PORT-044
purpose updates avoid a port that the peer has reported down, as all that is for this peer does
mark S, C, A-37
cite mrc.md 5; paper 3
rules peer.mask path.peer-down
setting A-37 default
peer auto
p1 < endpoint request op port_status mask 0x004 id 7
p1 > endpoint response id 7 within rtt
settle lat
repeat 4 {
  p0 carrier down
  settle 200 us
  p0 carrier up
  settle 200 us
}
expect count(p1 > endpoint request op port_status) >= 4
expect count(p0 > endpoint request op port_status) == 0

id Q-PORT-048
purpose no port works at both ends: the peer is told through one that works here
mark S, A, A-37
cite mrc.md 5; paper 3
rules peer.mask path.down
setting A-37 default
p1 < endpoint request op port_status mask 0x002 id 7
* > endpoint response id 7 within rtt
settle lat
p0 carrier down as down
p1 > endpoint request op port_status mask any within 200 us from down as u
expect u.mask % 8 / 2 == 2

cases id first second use what {
  Q-PORT-045 p0 p3 "p1 p2" "the outer two of four are down"
  Q-PORT-046 p0 p1 "p2 p3" "the first two of four are down"
  Q-PORT-047 p1 p3 "p0 p2" "every second one of four is down"
}
purpose an update goes out through a port that is up: $what
mark S, C, A-37
cite mrc.md 5; paper 3
rules peer.mask path.down
setting A-37 default
planes 4
peer auto
dut post write len 1024 * 4
until count(> cqe send status ok) == 4 within 20 rto
$first carrier down
settle 200 us
repeat 4 {
  $second carrier down as down
  $use > endpoint request op port_status within 200 us from down
  settle 100 us
  $second carrier up as up
  * > endpoint request op port_status within 200 us from up
  settle 100 us
}
expect count($first > endpoint request op port_status) == 0

# ---- a flood ----

id Q-PORT-049
purpose requests from an address that nobody knows, at line rate, keep no update of ports waiting
mark S, C, A-37, A-60
cite mrc.md 3; mrc.md 5
rules peer.mask
setting A-37 default
peer auto
dut post write len 1024 * 2
until count(> cqe send status ok) == 2 within 20 rto
p0 carrier down as down
repeat 10000 { p1 < endpoint request op port_status mask 0 id 7 raw ipv6.src 0xfd000000000000000000000000000077 }
p1 > endpoint request op port_status within 80 us from down as u
expect u.mask % 4 < 2 and u.mask % 8 >= 4

# ---- no EV left in use ----

cases id waits what {
  Q-PORT-050 0 "packets go on EVs that are bad, and complete"
  Q-PORT-051 1 "nothing leaves before the other port is back"
}
purpose all EVs of plane 1 have gone bad, and the port of plane 0 falls: $what
mark A, A-90, A-31
cite mrc.md 5
rules path.down path.set req.cqe-owed
setting A-90 EV_CTL.bad_waits $waits
setting A-31 EV_CTL.min_active 8
when > evprobe : answer none
peer auto sack each
when > write ev e1 or e3 or e5 or e7 or e9 or e11 or e13 or e15 rtx 0 : answer m always_skip
dut post write len 256 * 64
until count(> cqe send status ok) == 64 within 20 rto
settle rtt
when > write ev e1 or e3 or e5 or e7 or e9 or e11 or e13 or e15 : answer m none
when > probe : answer none
p0 carrier down
settle 2 lat
let dark = now
let waits = $waits
dut post write len 256 * 16
if waits {
  settle rto
  expect count(> write from dark) == 0
  p0 carrier up
} else {
  until count(p1 > write rtx 0 from dark) == 16 within 4 rtt
}
until count(> cqe send status ok) == 80 within 40 rto

# ---- what a plane took with it ----

cases id own keeps what {
  Q-PORT-052 1 0 "its own port falls, and they go again at once on the other plane"
  Q-PORT-053 1 1 "its own port falls, and they wait for gap, EV or timer"
  Q-PORT-054 0 0 "the peer says that its port is down, and they go again at once on the other plane"
  Q-PORT-055 0 1 "the peer says that its port is down, and they wait for gap, EV or timer"
}
purpose packets were given to a plane and are not reported: $what
mark A, A-82
cite loss.md 2; mrc.md 7
rules req.rtx-cause path.down
setting A-82 CTRL.port_wait $keeps
setting A-83 CTRL.time_wait 1
setting A-84 CTRL.silence_wait 1
setting A-37 default
profile timeout 10
dut post write len 1024 * 8
set > write rtx 0 psn sq_psn .. sq_psn+7 each once within 4 rtt
settle 2 lat
let own = $own
let keeps = $keeps
if own {
  p1 carrier down
} else {
  p0 < endpoint request op port_status mask 0x002 id 7
  * > endpoint response id 7 within rtt
}
settle 4 rtt
expect count(p1 > write rtx 0) > 0
expect count(> write rtx 1) == (1 - keeps) * count(p1 > write rtx 0)
expect count(p1 > write rtx 1) == 0
