# SPDX-License-Identifier: Apache-2.0
# Several QPs of one requestor, to one peer and to many: each has its own window, timers, EVs and ends; what they share
# is shared.
tier 3
caps requestor
planes 2
evs 16
profile mtu 1024 timeout 14
cite mrc.md 7; mrc.md 5

# ---- each has its own numbers and peer ----

id Q-QPS-001
purpose what two QPs send to two peers: each packet has the address and QP number of its own peer; an ACK ends the work of its QP alone
mark S2
rules req.cqe-owed req.cqe-ack req.cqe-order
qp b to peer2
dut post write len 64
with b { dut post write len 64 }
any order {
  * > write only psn sq_psn data posted ipv6.dst 0xfd000000000000000000000000000001 dqp peer_qp
  * > write only psn sq_psn data posted ipv6.dst 0xfd000000000000000000000000000011 dqp peer_qp of b
} within 2 rtt
with b {
  p0 < sack cack sq_psn
  p0 < ack psn sq_psn msn 1
}
> cqe send status ok of b within rtt
none > cqe send within rtt from last
p1 < sack cack sq_psn
p1 < ack psn sq_psn msn 1
> cqe send status ok within rtt

cases id sq what {
  Q-QPS-002 0x2000   "the same PSNs"
  Q-QPS-003 0xFFFFFE "PSNs that wrap in one of them"
}
purpose two QPs with $what: what a SACK of one reports, the other one keeps
mark S2
rules req.psn-hole req.cqe-ack req.psn-once
caps psn
background ignore sack ack nack nak probe endpoint write cqe
qp b sq_psn $sq
dut post write len 4096
with b { dut post write len 4096 }
until count(> write rtx 0) == 4 and count(> write rtx 0 of b) == 4 within 4 rtt
with b {
  p0 < sack cack sq_psn+3
  p0 < ack psn sq_psn+3 msn 1
}
> cqe send status ok of b within rtt
none > cqe send within rtt
p1 < sack cack sq_psn+3
p1 < ack psn sq_psn+3 msn 1
> cqe send status ok within rtt

id Q-QPS-004
purpose an answer that names the PSNs of one QP and the number of the other one is about the other one: nothing of it was sent
mark S2
rules req.cqe-ack req.rtx-cause
negative
background ignore sack ack nack nak probe endpoint write cqe
qp b
dut post write len 4096
set > write rtx 0 psn sq_psn .. sq_psn+3 each once within 4 rtt
let psn = sq_psn
with b {
  p0 < sack cack psn+3
  p0 < nack reason trimmed psn psn+1
  p0 < ack psn psn+3 msn 1
}
none > cqe send within 2 rtt
none > write rtx 1 within rtt
p1 < sack cack sq_psn+3
p1 < ack psn sq_psn+3 msn 1
> cqe send status ok within rtt

cases id mpr {
  Q-QPS-005 1
}
purpose a QP whose window of $mpr unit is full waits, the other one sends
mark S2
rules req.window req.moves
qp b mpr $mpr
with b { dut post write len 262144 }
with b { set > write rtx 0 psn sq_psn .. sq_psn+127 each once within 8 rtt }
with b { none > write within rtt }
dut post write len 1024
* > write only psn sq_psn within rtt

id Q-QPS-006
purpose immediates of two QPs have RQMSNs of their own
mark S2
rules req.rqmsn req.msn
caps write_imm
qp b
dut post write len 64 imm 1
with b { dut post write len 64 imm 2 }
dut post write len 64 imm 3
with b { dut post write len 64 imm 4 }
any order {
  * > write only imm 1 rqmsn 0 msn 0
  * > write only imm 3 rqmsn 1 msn 1
  * > write only imm 2 rqmsn 0 msn 0 of b
  * > write only imm 4 rqmsn 1 msn 1 of b
} within 2 rtt

# ---- one fails, the others do not notice ----

cases id to how status what {
  Q-QPS-011 peer1 "p0 < nak psn sq_psn msn 0 syndrome nak_remote_access" remote_access "a NAK"
  Q-QPS-012 peer2 "p0 < nak psn sq_psn msn 0 syndrome nak_remote_access" remote_access "a NAK of its own peer"
  Q-QPS-013 peer1 "p0 < nack reason unexp_event psn sq_psn" any "a NACK UNEXP_EVENT"
  Q-QPS-014 peer2 "p0 < nack reason unexp_event psn sq_psn" any "a NACK UNEXP_EVENT of its own peer"
  Q-QPS-015 peer1 "dut qp state error" flushed "its owner"
  Q-QPS-016 peer2 "dut qp state error" flushed "its owner, with another peer"
}
purpose a QP ends by $what while another one sends: the work of the other one completes, with nothing sent twice
mark S2
rules qp.fails qp.flush-all req.cqe-owed req.psn-once
background ignore sack ack nack nak probe endpoint write cqe
qp b to $to
dut post write len 4096
dut post write len 64
with b { dut post write len 8192 }
until count(> write rtx 0) == 5 and count(> write rtx 0 of b) == 8 within 4 rtt
$how
> cqe send status $status within 4 rtt
> cqe send status flushed within 4 rtt
with b {
  p0 < sack cack sq_psn+7
  p0 < ack psn sq_psn+7 msn 1
  > cqe send status ok within rtt
  expect count(> write rtx 1) == 0
  dut post write len 64
  * > write only psn sq_psn+8 within rtt
}

cases id to what {
  Q-QPS-017 peer1 "the same peer"
  Q-QPS-018 peer2 "another peer"
}
purpose a QP whose peer is silent runs out of retries; one to $what completes all the while
mark S2
rules qp.status req.retries req.cqe-owed
profile timeout 5 retry_linear 1 retry_exp 0
background ignore sack ack nack nak probe endpoint write cqe
qp b to $to
with b { peer auto }
dut post write len 64
with b {
  repeat 8 {
    dut post write len 64
    > cqe send status ok within 4 rtt
    settle rto/4
  }
}
until count(> cqe send status retries) == 1 within 40 rto
with b {
  dut post write len 64
  > cqe send status ok within 4 rtt
}

id Q-QPS-019
purpose a QP is reset by its owner while another one sends: no completion of the first one, all of the other one
mark S2, A-68
rules req.cqe-owed qp.state req.psn-once
background ignore sack ack nack nak probe endpoint write cqe
qp b
dut post write len 4096
with b { dut post write len 4096 }
with b { set > write rtx 0 psn sq_psn .. sq_psn+3 each once within 4 rtt }
dut qp state reset
settle 2 rtt
let then = now
none > write within 2 rtt from then
with b {
  p1 < sack cack sq_psn+3
  p1 < ack psn sq_psn+3 msn 1
  > cqe send status ok within rtt
}
expect count(> cqe) == 0

# ---- what they share runs dry for one ----

cases id to what {
  Q-QPS-021 peer1 "the same peer"
  Q-QPS-022 peer2 "another peer"
}
purpose a QP has half the work that the device holds of it, and nobody answers; one to $what gets its work done
mark S2
rules req.moves req.cqe-owed
background ignore sack ack nack nak probe endpoint write cqe
qp b to $to
let half = posts/2
dut post write len 1024 * half
settle 2 rtt
with b {
  peer auto
  dut post write len 2048
  > cqe send status ok within 8 rtt
  dut post write len 2048
  > cqe send status ok within 8 rtt
}
expect count(> cqe send) == 0

id Q-QPS-023
purpose immediates of a QP wait for MAX_WIMM, those of another one go; once the first one is confirmed the QP goes on
mark S2, A-62
rules req.max-wimm req.moves
caps write_imm
setting A-62 CTRL.wimm_over 0
profile max_wimm 1
background ignore sack ack nack probe endpoint write cqe
qp b
dut post write len 64 imm 1
dut post write len 64 imm 2
* > write only psn sq_psn imm 1 within rtt
with b {
  dut post write len 64 imm 3
  * > write only psn sq_psn imm 3 within rtt
  p0 < sack cack sq_psn
  p0 < ack psn sq_psn msn 1
  > cqe send status ok within rtt
  dut post write len 64 imm 4
  * > write only psn sq_psn+1 imm 4 rqmsn 1 within rtt
}
none > write psn sq_psn+1 within rtt
p0 < sack cack sq_psn
p0 < ack psn sq_psn msn 1
> cqe send status ok within rtt
* > write only psn sq_psn+1 imm 2 rqmsn 1 within rtt

# ---- fairness ----

cases id n to len low high what {
  Q-QPS-031 256 peer1 1024 96 160 "one peer, full packets"
  Q-QPS-032 256 peer2 1024 96 160 "two peers, full packets"
  Q-QPS-033 1024 peer1 65536 384 640 "one peer, long messages"
  Q-QPS-034 1024 peer2 65536 384 640 "two peers, long messages"
}
purpose two QPs with work without end, $what: each has its share of $n packets, $low to $high
mark A
rules req.moves
qp b to $to
peer auto
with b { peer auto }
dut post write len $len * forever
with b { dut post write len $len * forever }
skip 64 > write of *
count c = $n > write of * by qp
expect c[qp] in $low .. $high and c[b] in $low .. $high

id Q-QPS-035
purpose of three QPs one has long messages, the others short ones: none waits for ever
mark A
rules req.moves
peer auto
qp b
qp c to peer2
dut post write len 65536 * forever
with b { dut post write len 64 * forever }
with c { dut post write len 64 * forever }
skip 64 > write of *
count n = 2048 > write of * by qp
expect n[qp] >= 64 and n[b] >= 16 and n[c] >= 16

# ---- completions ----

cases id order first then what {
  Q-QPS-041 "with b { p0 < sack cack sq_psn ; p0 < ack psn sq_psn msn 1 } ; p0 < sack cack sq_psn ; p0 < ack psn sq_psn msn 1" b qp "the second one first"
  Q-QPS-042 "p0 < sack cack sq_psn ; p0 < ack psn sq_psn msn 1 ; with b { p0 < sack cack sq_psn ; p0 < ack psn sq_psn msn 1 }" qp b "the first one first"
}
purpose work of two QPs completes in the order in which it is acknowledged, $what, whatever was posted first
mark S2
rules req.cqe-ack req.cqe-order req.cqe-owed
background ignore sack ack nack probe endpoint write
qp b
dut post write len 64
with b { dut post write len 64 }
any order { * > write only psn sq_psn ; * > write only psn sq_psn of b } within 2 rtt
$order
> cqe send status ok qp $first of * within rtt
> cqe send status ok qp $then of * within rtt

id Q-QPS-043
purpose four works of each of two QPs are acknowledged by turns: in a QP they complete in order
mark S2
rules req.cqe-order req.cqe-ack
background ignore sack ack nack probe endpoint write
qp b
dut post write len 64 * 4
with b { dut post write len 64 * 4 }
until count(> write rtx 0) == 4 and count(> write rtx 0 of b) == 4 within 4 rtt
let k = 0
repeat 4 {
  with b {
    p0 < sack cack sq_psn+k
    p0 < ack psn sq_psn+k msn k+1
    > cqe send status ok wr_id 0x100000+k within rtt
  }
  p1 < sack cack sq_psn+k
  p1 < ack psn sq_psn+k msn k+1
  > cqe send status ok wr_id k within rtt
  let k = k + 1
}

# ---- EVs and losses are a QP's own ----

id Q-QPS-051
purpose an EV is denied for one QP: the other one goes on using it
mark S2+, A-66
rules path.denied
caps ev_control
evs 4
qp b
peer auto
with b { peer auto }
dut ev e0 deny
settle rtt
let then = now
dut post write len 256 * 96
with b { dut post write len 256 * 96 }
until count(> cqe send status ok of *) == 192 within 20 rto
expect count(> write ev e0 from then) == 0
expect count(> write ev e0 of b from then) >= 1

cases id reason what {
  Q-QPS-052 trimmed   "a trimmed packet"
  Q-QPS-053 no_bitmap "a refused packet"
}
purpose $what of one QP goes again; the same PSN of the other one does not
mark S2
rules req.nack-again req.psn-once req.rtx-cause
caps psn
background ignore sack ack nack nak probe endpoint write cqe
qp b sq_psn 0x2000
dut post write len 4096
with b { dut post write len 4096 }
until count(> write rtx 0) == 4 and count(> write rtx 0 of b) == 4 within 4 rtt
with b {
  p0 < nack reason $reason psn sq_psn+1
  * > write psn sq_psn+1 rtx 1 within 4 rtt
}
expect count(> write rtx 1) == 0

id Q-QPS-054
purpose the timer of one QP goes off, that of the other one, which is longer, does not
mark S2, A-75
rules req.timer req.rtx-cause
setting A-75 CTRL.state_silent 1
profile timeout 6
background ignore sack ack nack nak probe endpoint write cqe
qp b timeout 14
dut post write len 64
with b { dut post write len 64 }
any order { * > write only psn sq_psn rtx 0 ; * > write only psn sq_psn rtx 0 of b } within 2 rtt
* > write psn sq_psn rtx 1 within 4 rto
expect count(> write rtx 1 of b) == 0

# ---- port status for all QPs of a peer at once ----

cases id mask dark lit what {
  Q-QPS-061 0x004 p0 p1 "its second port is up"
  Q-QPS-062 0x002 p1 p0 "its first port is up"
}
purpose a peer says that only $what: all of its QPs leave the other plane, the QP of another peer does not
mark S, A-37, A-60
rules path.peer-down
caps ports
peer auto
qp b
qp c to peer2
$lit < endpoint request op port_status mask $mask id 1
* > endpoint response id 1 within rtt
settle 2 rtt
let then = now
dut post write len 256 * 64
with b { dut post write len 256 * 64 }
with c { dut post write len 256 * 64 }
until count(> cqe send status ok of *) == 192 within 20 rto
expect count($dark > write from then) == 0 and count($dark > write of b from then) == 0
expect count($dark > write of c from then) >= 16

id Q-QPS-063
purpose a port of the device goes down: the QPs of both peers leave its plane, and each peer is told once at least
mark S, A-60
rules path.down peer.update
caps ports
peer auto
qp b to peer2
p1 carrier down
settle 2 rtt
dut post write len 256 * 32
with b { dut post write len 256 * 32 }
until count(> cqe send status ok of *) == 64 within 20 rto
expect count(p1 > write of *) == 0
until count(> endpoint request op port_status ipv6.dst 0xfd000000000000000000000000000001) >= 1 within 1 ms
until count(> endpoint request op port_status ipv6.dst 0xfd000000000000000000000000000011) >= 1 within 1 ms

id Q-QPS-064
purpose a peer's port comes back: all of its QPs use it again
mark S, A-37
rules path.peer-down
caps ports
peer auto
qp b
p1 < endpoint request op port_status mask 0x004 id 1
* > endpoint response id 1 within rtt
settle 2 rtt
p1 < endpoint request op port_status mask 0x006 id 2
* > endpoint response id 2 within rtt
settle 2 rtt
let then = now
dut post write len 256 * 64
with b { dut post write len 256 * 64 }
until count(> cqe send status ok of *) == 128 within 20 rto
expect count(p0 > write from then) >= 16 and count(p0 > write of b from then) >= 16

# ---- a number is used again ----

cases id sq late what {
  Q-QPS-071 0x802000 "p0 < nack reason trimmed psn 0x2001 entropy 0xC000" "a NACK"
  Q-QPS-072 0x802000 "p0 < sack cack 0x2003 entropy 0xC000"               "a SACK"
  Q-QPS-073 0x001000 "p0 < ack psn 0x2003 msn 1"                          "an ACK"
}
purpose a QP is set up again while another one sends, and $what for its life before comes late: neither QP counts it
mark S2, A
rules req.cqe-ack req.rtx-cause
caps psn
negative
background ignore sack ack nack nak probe endpoint write cqe
qp b
dut post write len 4096
with b { dut post write len 4096 }
until count(> write rtx 0) == 4 and count(> write rtx 0 of b) == 4 within 4 rtt
dut qp state reset
settle 2 rtt
dut qp again sq_psn $sq
let anew = now
dut post write len 4096
set > write rtx 0 psn sq_psn .. sq_psn+3 each once within 4 rtt
$late
none > write rtx 1 of * within 2 rtt
expect count(> cqe of *) == 0
p0 < sack cack sq_psn+3
p0 < ack psn sq_psn+3 msn 1
> cqe send status ok within rtt
with b {
  p0 < sack cack sq_psn+3
  p0 < ack psn sq_psn+3 msn 1
  > cqe send status ok within rtt
}

# ---- controllers: one for each destination ----

cases id to own other what {
  Q-QPS-081 peer1 18 0  "the same destination share its window of 18 packets"
  Q-QPS-082 peer2 18 18 "two destinations have 18 packets each"
}
purpose two QPs with a controller, $what
mark U, A, A-51, A-55, A-40
cite mrc.md 8
rules req.moves
caps nscc
profile controlled 1 time_stamps 0
setting A-40 CC_PROFILE.max_cwnd 20000
qp b to $to
dut post write len 65536
set > write rtx 0 psn sq_psn .. sq_psn+17 each once within 4 rtt
with b { dut post write len 65536 }
settle 4 rtt
expect count(> write) == $own and count(> write of b) == $other

id Q-QPS-083
purpose what a SACK of one QP brings back, the other QP of that destination may send
mark U, A, A-51, A-55, A-40
cite mrc.md 8
rules req.moves
caps nscc
profile controlled 1 time_stamps 0
setting A-40 CC_PROFILE.max_cwnd 20000
qp b
dut post write len 18432
set > write rtx 0 psn sq_psn .. sq_psn+17 each once within 4 rtt
with b { dut post write len 18432 }
settle rtt
expect count(> write of b) == 0
p0 < sack cack sq_psn+17 rcvd 78
p0 < ack psn sq_psn+17 msn 1
> cqe send status ok within rtt
until count(> write rtx 0 of b) >= 17 within 4 rtt

id Q-QPS-084
purpose NACKs of one QP make the window of its destination smaller, not that of another one
mark U, A, A-45, A-51, A-55
cite mrc.md 8
rules req.moves req.nack-again
caps nscc
profile controlled 1 time_stamps 0
setting A-40 CC_PROFILE.max_cwnd 20000
qp b to peer2
dut post write len 65536
with b { dut post write len 65536 }
until count(> write rtx 0) == 18 and count(> write rtx 0 of b) == 18 within 4 rtt
p0 < nack reason trimmed psn sq_psn
p0 < nack reason trimmed psn sq_psn+1
p0 < nack reason trimmed psn sq_psn+2
* > write psn sq_psn rtx 1 within 8 rtt
with b {
  p0 < sack cack sq_psn+17 rcvd 78
  set > write rtx 0 psn sq_psn+18 .. sq_psn+35 each once within 4 rtt
}
