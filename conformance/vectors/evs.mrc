# SPDX-License-Identifier: Apache-2.0
# States of EVs and planes as the wire shows them: which EVs carry data, which are left, probed, and come back.
tier 3
caps requestor
planes 2
evs 16
profile mtu 256

cases id len {
  Q-EV-101 256
  Q-EV-102 1024
  Q-EV-103 100
}
purpose every EV of the set is used, each through the port of its plane, and both planes carry equal shares (messages of $len)
mark S
cite mrc.md 5; paper 2.1
rules path.set path.plane path.equal
peer auto
dut post write len $len * 96
until count(> cqe send status ok) == 96 within 20 rto
let use = count(> write by ev)
expect len(use) == 16
let shares = count(> write by plane)
expect abs(shares[0] - shares[1]) * 10 <= shares[0] + shares[1]
expect count(p0 > write ev e0 or e2 or e4 or e6 or e8 or e10 or e12 or e14) == shares[0]

# ---- DENIED ----

cases id ev from {
  Q-EV-111 e0  start
  Q-EV-112 e5  start
  Q-EV-113 e15 start
}
purpose an EV that the controller denies carries no data, new or repeated; allowed again, it does
mark S2+, A-66
cite mrc.md 5
rules path.set path.denied path.allowed
caps requestor ev_control
dut ev $ev deny
settle rtt
when > write psn sq_psn+3 or sq_psn+17 rtx 0 : answer nack trimmed
peer auto
dut post write len 256 * 96
until count(> cqe send status ok) == 96 within 20 rto
expect count(> write ev $ev) == 0
expect count(> write rtx 1) >= 2
dut ev $ev allow
settle rtt
let again = now
dut post write len 256 * 96
until count(> cqe send status ok) == 192 within 20 rto
expect count(> write ev $ev from again) >= 1

id Q-EV-114
purpose all EVs of a plane denied: everything goes through the other one
mark S2+, A-66
cite mrc.md 5
rules path.set path.plane path.denied
caps requestor ev_control
evs 8
dut ev e0 deny
dut ev e2 deny
dut ev e4 deny
dut ev e6 deny
settle rtt
peer auto
dut post write len 256 * 64
until count(> cqe send status ok) == 64 within 20 rto
expect count(p0 > write) == 0
expect count(p1 > write rtx 0) == 64

id Q-EV-115
purpose one EV of 16 is left, the others are denied: each packet goes on it, at once, and none is given up
mark S2, A-66
cite mrc.md 5
rules path.set path.plane path.denied req.psn-hole
caps requestor ev_control
dut ev e0 deny
dut ev e1 deny
dut ev e2 deny
dut ev e3 deny
dut ev e4 deny
dut ev e6 deny
dut ev e7 deny
dut ev e8 deny
dut ev e9 deny
dut ev e10 deny
dut ev e11 deny
dut ev e12 deny
dut ev e13 deny
dut ev e14 deny
dut ev e15 deny
settle rtt
peer auto
dut post write len 256 * 64
set > write rtx 0 psn sq_psn .. sq_psn+63 each once within 64 rtt
until count(> cqe send status ok) == 64 within 20 rto
expect count(> write ev e5) == 64

cases id reason bad good {
  Q-EV-116 trimmed_lasthop e5 e4
  Q-EV-117 trimmed_lasthop e4 e5
  Q-EV-118 no_pkt_buffer   e5 e4
}
purpose two EVs are left: what is NACKed ($reason) on $bad goes again on $good, never on the one just reported
mark S2, A-66
cite mrc.md 5
rules path.set req.nack-again
caps requestor ev_control
evs 8
profile retry_linear 7 retry_exp 25
dut ev e0 deny
dut ev e1 deny
dut ev e2 deny
dut ev e3 deny
dut ev e6 deny
dut ev e7 deny
settle rtt
when > write rtx 0 ev $bad : answer nack $reason
peer auto
dut post write len 256 * 64
until count(> cqe send status ok) == 64 within 20 rto
expect count(> write rtx 0 ev $bad) >= 8
expect count(> write rtx 1 ev $good) >= count(> write rtx 0 ev $bad)
expect count(> write rtx 1 ev $bad) == 0

# ---- ASSUMED_BAD: what makes an EV so, and what does not ----

cases id answer what {
  Q-EV-121 "m always_skip" "a SACK with ALWAYS_SKIP"
  Q-EV-122 "lost"          "a packet that was lost and not trimmed"
}
purpose after $what an EV carries no data, while no probe of it is answered
mark S2+, A-32, A-31
cite mrc.md 5; paper 2.1
rules path.blamed path.set
profile timeout 5
when > evprobe : answer none
when > probe ev e4 : answer none
peer auto sack each
dut post write len 256 * 32
on > write ev e4 rtx 0 : answer $answer
until count(> cqe send status ok) == 32 within 20 rto
settle 2 rto
expect count(> write ev e4) >= 1
let bad = now
dut post write len 256 * 64
until count(> cqe send status ok) == 96 within 20 rto
expect count(> write ev e4 from bad) == 0
expect len(count(> write by ev from bad)) == 15

cases id answer what {
  Q-EV-123 "nack trimmed"         "a trim"
  Q-EV-124 "nack trimmed_lasthop" "a trim at the last hop"
  Q-EV-125 "nack no_pkt_buffer"   "a packet refused for want of room"
  Q-EV-126 "nack no_bitmap"       "a packet refused for want of a bitmap"
  Q-EV-127 "m skip_once"          "a SACK with SKIP_ONCE"
}
purpose after $what an EV stays in use: none of these says that the path has failed
mark S2+, A-08
cite mrc.md 5; mrc.md 3
rules path.set path.blamed
when > evprobe : answer none
peer auto sack each
dut post write len 256 * 64
on > write ev e4 rtx 0 : answer $answer
until count(> cqe send status ok) == 64 within 20 rto
let later = now
dut post write len 256 * 64
until count(> cqe send status ok) == 128 within 20 rto
expect count(> write ev e4 from later) >= 1
expect len(count(> write by ev from later)) == 16

id Q-EV-128
purpose one EV that loses everything costs little: what went there arrives by others, and all work completes
mark S, S2
cite mrc.md 5; paper 5
rules path.blamed req.timer req.cqe-owed
profile timeout 5
peer auto sack each
blackhole ev e6
dut post write len 256 * 96
until count(> cqe send status ok) == 96 within 20 rto
expect count(> write ev e6 rtx 1) == 0 or count(> write ev e6) <= 24
settle 2 rto
let bad = now
dut post write len 256 * 64
until count(> cqe send status ok) == 160 within 20 rto
expect count(> write ev e6 from bad) == 0

cases id active evs use what {
  Q-EV-131 8 8 1 "it stays in use at the floor of 8"
  Q-EV-132 4 8 0 "it is left, since 4 are enough"
  Q-EV-133 8 16 0 "it is left, since 15 remain"
}
purpose an EV of $evs goes bad where ev_min_active is $active: $what
mark A, A-31
cite mrc.md 5
rules path.blamed
setting A-31 EV_CTL.min_active $active
evs $evs
when > evprobe : answer none
peer auto sack each
dut post write len 256 * 32
on > write ev e4 rtx 0 : answer m always_skip
until count(> cqe send status ok) == 32 within 20 rto
settle rtt
let bad = now
dut post write len 256 * 64
until count(> cqe send status ok) == 96 within 20 rto
expect count(> write ev e4 from bad) >= $use
expect count(> write ev e4 from bad) <= 64 * $use

# ---- what a loss says when other planes lose, too (A-87); losses are close together ----

cases id share a b stay what {
  Q-EV-135 0 e4 e5 0 "both are left: one loss is enough in any world"
  Q-EV-136 4 e4 e5 1 "one is left: then the other plane's loss says that the world is bad"
  Q-EV-137 4 e4 e6 0 "both are left: of one plane, they say nothing of the world"
}
purpose packets of $a and $b are lost where loss_share is $share: $what
mark C, A-87, A-31
cite mrc.md 5
rules path.blamed path.set
setting A-87 EV_CTL.loss_share $share
profile timeout 5
when > evprobe : answer none
when > probe ev $a or $b : answer none
peer auto sack each
dut post write len 256 * 32
on > write ev $a rtx 0 : answer lost
on > write ev $b rtx 0 : answer lost
until count(> cqe send status ok) == 32 within 20 rto
settle 2 rto
let later = now
dut post write len 256 * 64
until count(> cqe send status ok) == 96 within 20 rto
expect len(count(> write by ev from later)) == 14 + $stay
expect min(count(> write ev $a from later), count(> write ev $b from later)) == 0

id Q-EV-138
purpose a packet of e4 is lost, and one of e5 400 us later, where loss_share is 4: the first loss is forgotten, both are left
mark C, A-87, A-31
cite mrc.md 5
rules path.blamed path.set
setting A-87 EV_CTL.loss_share 4
profile timeout 5
when > evprobe : answer none
when > probe ev e4 or e5 : answer none
peer auto sack each
dut post write len 256 * 32
on > write ev e4 rtx 0 : answer lost
until count(> cqe send status ok) == 32 within 20 rto
settle 400 us
dut post write len 256 * 32
on > write ev e5 rtx 0 : answer lost
until count(> cqe send status ok) == 64 within 20 rto
settle 2 rto
let later = now
dut post write len 256 * 64
until count(> cqe send status ok) == 128 within 20 rto
expect len(count(> write by ev from later)) == 14
expect min(count(> write ev e4 from later), count(> write ev e5 from later)) == 0

# ---- backup set ----

id Q-EV-141
purpose backup EVs carry nothing until an EV of their plane goes bad; then one of them takes its place
mark S, A-34
cite mrc.md 5; paper 2.4
rules path.set path.blamed
evs 16 backup 4
when > evprobe : answer none
when > probe ev e4 : answer none
peer auto sack each
dut post write len 256 * 64
until count(> cqe send status ok) == 64 within 20 rto
expect count(> write ev e12 or e13 or e14 or e15) == 0
dut post write len 256 * 32
on > write ev e4 rtx 0 : answer m always_skip
until count(> cqe send status ok) == 96 within 20 rto
settle rtt
let bad = now
dut post write len 256 * 64
until count(> cqe send status ok) == 160 within 20 rto
expect count(> write ev e4 from bad) == 0
expect count(> write ev e12 or e14 from bad) >= 1                     # of plane 0, as e4
expect count(> write ev e13 or e15 from bad) == 0                     # plane 1 has lost none
let shares = count(> write by plane from bad)
expect abs(shares[0] - shares[1]) <= 12

# ---- probes and revival: an interval of 12.8 us (100 ticks), so that the test need not take long ----

cases id n early {
  Q-EV-151 1 1
  Q-EV-152 3 0
}
purpose an ASSUMED_BAD EV is probed, and $n good answers in a row bring it back
mark C, A-32
cite mrc.md 5
rules path.probed path.blamed
setting A-32 EV_PROBE.successes $n
setting A-32 EV_PROBE.interval 400
profile timeout 5
peer auto sack each
dut post write len 256 * 32
on > write ev e4 rtx 0 : answer m always_skip
until count(> cqe send status ok) == 32 within 20 rto
until count(> * ev e4 opcode 0xD8 or 0xDE) == 1 within 400 us
settle rtt
let one = now
dut post write len 256 * 40
until count(> cqe send status ok) == 72 within 20 rto
expect count(> write ev e4 from one) >= $early and count(> write ev e4 from one) <= 40 * $early
until count(> * ev e4 opcode 0xD8 or 0xDE) >= $n within 600 us
settle rtt
let back = now
dut post write len 256 * 64
until count(> cqe send status ok) == 136 within 20 rto
expect count(> write ev e4 from back) >= 1

cases id kind opcode other {
  Q-EV-153 1 0xD8 0xDE
  Q-EV-154 2 0xDE 0xD8
}
purpose the kind of probe that a setting names ($kind) is sent on the EV, and no other
mark C, A-32
cite mrc.md 5; mrc.md 2
rules path.probed
setting A-32 EV_PROBE.kind $kind
setting A-32 EV_PROBE.interval 100
profile timeout 5
when > endpoint request : answer none
when > probe : answer none
peer auto sack each
dut post write len 256 * 32
on > write ev e4 rtx 0 : answer m always_skip
until count(> cqe send status ok) == 32 within 20 rto
until count(> * ev e4 opcode $opcode) >= 2 within 400 us
expect count(> * ev e4 opcode $other) == 0

cases id cap what cond {
  Q-EV-155 6 "each interval is longer than the one before" "p[2] - p[1] > p[1] - p[0] and p[3] - p[2] > p[2] - p[1]"
  Q-EV-156 0 "the intervals stay as they are"            "abs(p[2] - p[1] - p[1] + p[0]) * 4 < p[1] - p[0] and abs(p[3] - p[2] - p[2] + p[1]) * 4 < p[2] - p[1]"
}
purpose probes that nobody answers, at most $cap doublings of the interval: $what
mark A, A-71, A-32
cite mrc.md 5
rules path.probed
setting A-71 EV_PROBE.cap $cap
setting A-32 EV_PROBE.interval 400
profile timeout 4
when > endpoint request : answer none
when > probe : answer none
peer auto sack each
dut post write len 256 * 32
on > write ev e4 rtx 0 : answer m always_skip
until count(> cqe send status ok) == 32 within 20 rto
until count(> * ev e4 opcode 0xD8 or 0xDE) >= 4 within 1500 us
let p = all(> * ev e4 opcode 0xD8 or 0xDE)
expect $cond

id Q-EV-157
purpose an EV of which no probe is answered stays out, and the rest of the set carries on
mark S2+, A-32
cite mrc.md 5
rules path.blamed path.probed
setting A-32 EV_PROBE.interval 100
profile timeout 4
when > endpoint request : answer none
when > probe : answer none
peer auto sack each
dut post write len 256 * 32
on > write ev e4 rtx 0 : answer m always_skip
until count(> cqe send status ok) == 32 within 20 rto
until count(> * ev e4 opcode 0xD8 or 0xDE) >= 3 within 1 ms
let later = now
dut post write len 256 * 64
until count(> cqe send status ok) == 96 within 20 rto
expect count(> write ev e4 from later) == 0
expect len(count(> write by ev from later)) == 15

cases id kind opcode {
  Q-EV-158 1 0xD8
  Q-EV-159 2 0xDE
}
purpose three EVs that are bad at once come back by probes of one kind (opcode $opcode), two answers in a row each
mark C, A-32
cite mrc.md 5; mrc.md 2
rules path.probed path.blamed
setting A-32 EV_PROBE.kind $kind
setting A-32 EV_PROBE.successes 2
setting A-32 EV_PROBE.interval 100
profile timeout 5
when > write ev e4 rtx 0 nth 1 : answer m always_skip
when > write ev e7 rtx 0 nth 1 : answer m always_skip
when > write ev e10 rtx 0 nth 1 : answer m always_skip
peer auto sack each
dut post write len 256 * 64
until count(> cqe send status ok) == 64 within 20 rto
until count(> * ev e4 opcode $opcode) >= 2 within 1 ms
until count(> * ev e7 opcode $opcode) >= 2 within 1 ms
until count(> * ev e10 opcode $opcode) >= 2 within 1 ms
settle 2 rtt
let back = now
dut post write len 256 * 96
until count(> cqe send status ok) == 160 within 20 rto
expect count(> write ev e4 from back) >= 1 and count(> write ev e7 from back) >= 1 and count(> write ev e10 from back) >= 1

cases id m times use what {
  Q-EV-163 skip_once   1 1 "bring it back, the mark says congestion"
  Q-EV-164 always_skip 3 0 "do not bring it back"
}
purpose probes of an ASSUMED_BAD EV that are answered with m = $m: they $what
mark S2+, C (SKIP_ONCE), A-32, A-33
cite mrc.md 5; mrc.md 3
rules path.probed path.blamed
setting A-32 EV_PROBE.kind 2
setting A-32 EV_PROBE.successes 1
setting A-32 EV_PROBE.interval 100
profile timeout 5
when > probe ev e4 : answer m $m
peer auto sack each
dut post write len 256 * 32
on > write ev e4 rtx 0 : answer m always_skip
until count(> cqe send status ok) == 32 within 20 rto
until count(> probe ev e4) >= $times within 1 ms
settle 2 rtt
let later = now
dut post write len 256 * 96
until count(> cqe send status ok) == 128 within 20 rto
expect count(> write ev e4 from later) >= $use
expect count(> write ev e4 from later) <= 96 * $use

cases id answer what {
  Q-EV-165 "m always_skip delay 20 us" "a SACK with ALWAYS_SKIP"
  Q-EV-166 "lost"                      "a packet that was lost"
}
purpose an EV that the controller has denied stays so, whatever comes of what was on its way ($what), and no probe allows it again
mark S2+, A-66
cite mrc.md 5
rules path.set
caps requestor ev_control
setting A-32 EV_PROBE.successes 1
setting A-32 EV_PROBE.interval 100
profile timeout 5
when > write ev e4 rtx 0 nth 1 : answer $answer
peer auto sack each
dut post write len 256 * 16
* > write ev e4 rtx 0 within 4 rtt
dut ev e4 deny
until count(> cqe send status ok) == 16 within 20 rto
settle 8 rto
let later = now
dut post write len 256 * 96
until count(> cqe send status ok) == 112 within 20 rto
expect count(> write ev e4 from later) == 0

id Q-EV-167
purpose six EVs are bad and no probe is answered: each of them is probed, however few a NIC probes at once
mark C, A-32, A-71
cite mrc.md 5
rules path.probed
setting A-71 EV_PROBE.cap 0
setting A-32 EV_PROBE.interval 100
profile timeout 4
when > endpoint request : answer none
when > probe : answer none
when > write ev e1 or e4 or e6 or e9 or e11 or e14 rtx 0 : answer m always_skip
peer auto sack each
dut post write len 256 * 64
until count(> cqe send status ok) == 64 within 20 rto
until count(> * ev e1 opcode 0xD8 or 0xDE) >= 1 within 2 ms
until count(> * ev e4 opcode 0xD8 or 0xDE) >= 1 within 2 ms
until count(> * ev e6 opcode 0xD8 or 0xDE) >= 1 within 2 ms
until count(> * ev e9 opcode 0xD8 or 0xDE) >= 1 within 2 ms
until count(> * ev e11 opcode 0xD8 or 0xDE) >= 1 within 2 ms
until count(> * ev e14 opcode 0xD8 or 0xDE) >= 1 within 2 ms

# ---- a mark costs a turn ----

cases id answer rounds low high what {
  Q-EV-161 "m skip_once" 8 7 9 "SKIP_ONCE costs one turn"
}
purpose the EV of a packet that is marked loses its next turn: $what
mark S2+, U (passes are fair)
cite mrc.md 5
rules path.set
planes 1
evs 4
profile mtu 1024
peer auto sack each
dut post write len 1024 * 320
skip 8 > write
count calm = 32 > write by ev
assume max(calm) - min(calm) <= 2 else unsupported "no fair pass"
repeat $rounds { on > write ev e0 : answer $answer
  skip 30 > write
} counting > write by ev as run
expect mean(run[e1], run[e2], run[e3]) - run[e0] in $low-1 .. $high+1
