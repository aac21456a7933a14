# SPDX-License-Identifier: Apache-2.0
# How long a mark keeps an EV in SKIP (A-20): once, once more, or for a round trip at least; and EVs that a NIC makes (A-61).
tier 3
caps requestor
planes 1
mark C, A-20
cite mrc.md 5

cases id answer ticks least {
  Q-SKIP-001 "m skip_once" 781 100
  Q-SKIP-002 "m skip_once" 1172 150
  Q-SKIP-003 "nack trimmed" 781 100
}
purpose with the third answer of A-20 an EV that was marked ($answer) carries nothing for $least us, and is used again later
rules path.set path.fresh path.skip-time
setting A-20 CTRL.skip_mode 2
setting A-20 EV_CTL.skip_ticks $ticks
evs 8
peer auto sack each
dut post write len 512 * 4000
skip 32 > write
on > write ev e0 rtx 0 as marked : answer $answer
none > write ev e0 from marked + 2 us + lat to marked + 1 us * $least
* > write ev e0 from marked + 1 us * $least within 4 us * $least
expect count(> write ev e1 from marked + 2 us + lat to marked + 1 us * $least) > 1

cases id mode {
  Q-SKIP-004 0
  Q-SKIP-005 1
}
purpose with the other answers of A-20 (CTRL.skip_mode $mode) an EV that was marked once has its next turn but one
rules path.set path.fresh
setting A-20 CTRL.skip_mode $mode
setting A-20 EV_CTL.skip_ticks 7810
evs 8
peer auto sack each
dut post write len 512 * 2000
skip 32 > write
on > write ev e0 rtx 0 as marked : answer m skip_once
* > write ev e0 from marked + 2 us + lat within 100 us

id Q-SKIP-006
purpose with the third answer of A-20 the marks of one EV keep no other from its turns
rules path.set path.equal
setting A-20 CTRL.skip_mode 2
setting A-20 EV_CTL.skip_ticks 781
evs 8
peer auto sack each
dut post write len 512 * 3000
skip 32 > write
on > write ev e0 rtx 0 as marked : answer m skip_once
settle 90 us
let from_here = marked + 2 us + lat
let to_here = marked + 90 us
let least = min(count(> write ev e1 from from_here to to_here), count(> write ev e4 from from_here to to_here))
let most = max(count(> write ev e1 from from_here to to_here), count(> write ev e4 from from_here to to_here))
expect least > 1 and most <= 2 * least + 2

id Q-SKIP-007
purpose with the third answer of A-20 a QP all of whose EVs were marked goes on when the time is over
rules path.set req.moves
setting A-20 CTRL.skip_mode 2
setting A-20 EV_CTL.skip_ticks 781
evs 4
profile timeout 14
peer auto sack each
when > write rtx 0 : answer m skip_once
dut post write len 4096 * 64
until count(> cqe send status ok) == 64 within 40 ms

cases id planes evs {
  Q-EV0-001 1 own
  Q-EV0-002 2 own
}
purpose A-61, of the EVs that a NIC makes by itself none is 0 ($planes planes)
mark A, A-61
rules path.set
planes $planes
evs $evs
peer auto sack each
dut post write len 256 * 512
until count(> cqe send status ok) == 512 within 8 ms
expect count(> write ev 0) == 0 and count(> write) >= 512
