# SPDX-License-Identifier: Apache-2.0
# Five cases that a language for NICs must be able to say: trimming twice, an EV that skips its turn, a plane that goes
# dark, a window that shrinks, an error that must not hurt the message before it.

id R-TRIM-021
purpose nothing of a trimmed packet is written or counted, whatever the switch left of it; a trim of what is here is a duplicate
mark S (bytes left behind, lengths not rewritten), U (bitmap unchanged)
cite mrc.md 4; mrc.md 6
rules resp.nack-trim resp.trim resp.sack-trim resp.nack-had resp.bitmap mem.once mem.source mem.written
tier 2
caps responder trim_nack srv6 time_stamps
encap srv6
planes 2
profile time_stamps 1
repair off
background ignore sack ack probe endpoint
msg m = write len 8192 at buf seq 7
mem fill buf 8192 = 0xa5
p0 < m[1] trim 256 lengths none outer dscp trimmed       # 118 bytes of payload behind the RETH; inner DSCP stays data
* > nack reason trimmed psn m[1] within rtt as n
none > sack has m[1] within 2 rtt from n
mem same buf 8192 = 0xa5 after 2 rtt from n
p0 < m[1] rtx ackreq trim 206 lengths none outer dscp trimmed   # the retransmission is trimmed as well
* > nack reason trimmed psn m[1] within rtt
p0 < m[0] ackreq
p0 < m[1] rtx ackreq
any order { * > sack cack m[1] ; * > ack psn m[1] msn 1 } within 2 rtt
mem digest buf 8192 = seq 7
settle 2 rtt
mem fill buf 8192 = 0x5a                                  # the application has used the memory again
p1 < m[1] trim 256 lengths ip outer dscp trimmed as late  # late trim of a packet that has arrived
* > sack trigger m[1] within rtt
none > nack within 2 rtt from late
p1 < m[1] rtx as whole                                    # late whole duplicate: must not write
* > sack trigger m[1] within rtt
mem same buf 8192 = 0x5a after 2 rtt from whole

cases id setting both {
  Q-EV-007 "A-20 CTRL.skip_mode 0" "30 .. 42"            # its turn may fall between the two marks
  Q-EV-008 "A-20 CTRL.skip_mode 1" "56 .. 68"
}
purpose a mark costs its EV one turn and it comes back; two marks before that turn cost one or two ($setting)
mark S2 (one mark, one turn; restored by the walk), U (passes are fair)
cite mrc.md 5 (9.3.1, 11.2.2 of the document)
rules path.set
tier 3
caps requestor
planes 1
evs 4
peer auto sack each
dut post write len 256 * forever
skip 16 > write
count calm = 256 > write rtx 0 by ev
assume max(calm) - min(calm) <= 4 else unsupported "no fair pass"
repeat 32 { on > write ev e0 : answer m skip_once
  skip 24 > write
} counting > write rtx 0 by ev as run
expect mean(run[e1], run[e2], run[e3]) - run[e0] in 30 .. 34
repeat 32 { on 2 > write ev e0 : answer m skip_once together   # the first is delayed: both marks come back at once
  skip 24 > write
} counting > write rtx 0 by ev as two
expect mean(two[e1], two[e2], two[e3]) - two[e0] in $both

id Q-PLANE-011
version 2
purpose a plane that goes dark without losing carrier is left, probed at growing intervals, and used again; then the same with carrier
mark S (plane left at once, equal shares), C (who revives, how many), A (100 us, doubling)
cite mrc.md 5 (9.3.2, 6.5.2, 7.4.7 of the document); paper 3
rules path.plane path.down peer.mask req.rtx-cause req.timer path.blamed path.probed
tier 3
caps requestor ports
planes 4
evs 32
profile timeout 5                                         # 33 us: the test need not take long
peer auto sack each
dut post write len 4096 * forever
skip 64 > write
p1 blackhole both as dark                                 # carrier stays
until count(> write rtx 1 from dark) >= 1 within 4 rto
# each packet that the plane swallowed is sent again on another EV, maybe of the same plane: one loss names one EV
settle 8 rto                                              # one loss blames one EV: the plane has eight of them
each p1 > write lost 1 from dark to dark + rto as w is followed by > write psn w.psn rtx 1 ev != w.ev within 4 rto
let quiet = last(p1 > write)
none p1 > write within 100 us from quiet
count shares = 512 > write by plane
expect abs(shares[0] - shares[2]) <= 26 and abs(shares[2] - shares[3]) <= 26
expect shares[1] == 0
until count(p1 > * ev e1 from quiet + 1) >= 3 within 3 ms    # probes: e1 is of plane 1
let probes = all(p1 > * ev e1 from quiet + 1)
expect probes[1] - probes[0] >= 90 us and probes[2] - probes[1] > probes[1] - probes[0]
p1 heal as healed
either { p1 > evprobe within 3 ms from quiet } or { p1 > probe within 3 ms from quiet } flag A-32
p1 > write within 4 ms from healed
settle rto
p2 carrier down as down
none p2 > * from down + 2 lat within 4 rtt
p0 p1 p3 > endpoint request op port_status within 200 us from down as u
expect u.mask % 16 / 8 < 1                                # port 3 is plane 2: ports count from 1 (A-37)
each p2 > write lost 1 from down as w is followed by p0 p1 p3 > write psn w.psn rtx 1 within 4 rto
p2 carrier up as up
p2 > write within 40 rtt from up                          # its EVs were not blamed (A-67): no probe is needed

id Q-MPR-004
purpose a window that shrinks stops new packets only; one that is older than what is known changes nothing
mark S2 (unit 128, 1 .. 32), S (no new PSN, retransmissions go on)
cite mrc.md 7; mrc.md 3
rules req.window req.rtx-cause req.psn-once req.psn-hole req.mpr-now req.nack-again
tier 3
caps requestor dyn_mpr
planes 2
evs 16
profile mpr 8 dynamic_mpr 1 timeout 14
peer manual
dut post write len 1048576 * 16                            # 256 packets each: no device runs out of work requests
let b = sq_psn
set > write rtx 0 psn b .. b+1023 each once within 64 rtt              # 8 * 128
none > write rtx 0 within 8 rtt
p0 < sack cack b+511 mpr 4                                # b+512 .. b+1023: full to the packet
none > write rtx 0 within 8 rtt
p0 < sack cack b+575 mpr 4
set > write rtx 0 psn b+1024 .. b+1087 each once within 8 rtt
none > write rtx 0 within 8 rtt
p0 < sack cack b+575 mpr 1                                # limit b+703, far below what is out
settle lat
let old = sent_last(b+1050).ev
p1 < nack reason trimmed psn b+1050                       # beyond the limit of now: still sent again
* > write psn b+1050 rtx 1 ev != old within rtt
p1 < sack cack b+511 mpr 8                                # overtaken
none > write rtx 0 within 8 rtt
p0 < sack cack b+575 mpr 0                                # nothing said: neither a window of 0 nor the old one back
none > write rtx 0 within 8 rtt
p0 < sack cack b+960 mpr 1                                # b+961 .. b+1088: one more
set > write rtx 0 psn b+1088 .. b+1088 each once within 8 rtt
p0 < sack cack b+1088 mpr 33                              # out of range: ignored or taken as 32; never more than 8
none > write rtx 0 psn > b+1089+1023 within 8 rtt

id R-NAK-009
purpose an access error of message 1 never hurts message 0, wherever it arrives; nothing after it completes
mark S2 (message order, QP to error), A-24 (when), A-70 (codes)
cite mrc.md 6
rules resp.nak-owed resp.nak-final resp.nak-cause resp.ack-order resp.cack-taken
tier 2
caps responder regions
planes 2
msg m0 = write len 8192 at buf seq 1
msg m1 = write len 4096 at buf+8192 seq 2 r_key wrong
msg m2 = write len 4096 at buf+16384 seq 3
background ignore sack ack probe endpoint
mem fill buf 20480 = 0xa5
p0 < m1[0] as bad
either { none > nak within rtt from bad
  p0 < m2[0] ackreq
  * > sack cack m0[0]-1 has m2[0] within rtt
  p1 < m0[1] ackreq
  p0 < m0[0] ackreq
  * > sack cack m0[1] or m1[0] within rtt
  if not reported(m1[0]) { p0 < m1[0] rtx }               # it was discarded: its sender would repeat it
  * > nak syndrome nak_remote_access msn 1 within 2 rtt as k
  none > ack msn 2 .. 3 within 8 rtt
  mem digest buf 8192 = seq 1
  mem same buf+8192 4096 = 0xa5
  mem any buf+16384 4096                                  # placed at once, or not: both are right
} or { * > nak psn m1[0] msn 0 within rtt from bad as k } flag A-24
dut query state error
p1 < m2[0] rtx ackreq as after
either { > nak psn k.psn msn k.msn syndrome k.syndrome within rtt from after }
  or { > nack reason unexp_event within rtt from after }
  or { none > * from after within 4 rtt } flag A-57
none > cqe receive within rtt
