# SPDX-License-Identifier: Apache-2.0
# The congestion window as the wire shows it: how many packets are out at once. Without time stamps there is no round trip
# (mrc.md 8: "if no rtt: return"), so that the window changes with NACKs and losses alone, and its arithmetic is short:
# a packet of 1024 bytes counts UDP length + 40 = 1068 + 40 = 1108 (A-55), and goes if what is out and it are at most
# cwnd (A-51). cwnd begins at its largest (A-40).
tier 3
caps requestor nscc
planes 2
evs 16
profile mtu 1024 timeout 14 controlled 1 time_stamps 0

cases id cwnd n {
  Q-CC-001 2215  1
  Q-CC-002 2216  2
  Q-CC-003 11079 9
  Q-CC-004 11080 10
  Q-CC-005 20000 18
}
purpose a window of $cwnd bytes: $n packets of 1108 are out, and not one more
mark U, A, A-51, A-55, A-40
cite mrc.md 8
rules req.psn-hole req.moves
setting A-40 CC_PROFILE.max_cwnd $cwnd
dut post write len 65536
set > write rtx 0 psn sq_psn .. sq_psn+$n-1 each once within 4 rtt
none > write within rtt

cases id nominal n what {
  Q-CC-011 0 54 "UDP length + 40, 1108"
  Q-CC-012 1 58 "its payload, 1024"
  Q-CC-013 2 56 "payload + 40, 1064"
}
purpose a window of 60000 bytes, where a packet counts $what: $n packets
mark C, A-55
cite mrc.md 8
rules req.psn-hole req.moves
setting A-40 CC_PROFILE.max_cwnd 60000
setting A-55 CTRL.nominal $nominal
dut post write len 131072
set > write rtx 0 psn sq_psn .. sq_psn+$n-1 each once within 8 rtt
none > write within rtt

id Q-CC-021
purpose what is reported leaves the flight, and as much goes after it: 18 packets, then 18, then 18
mark U, A, A-51, A-55
cite mrc.md 8
rules req.moves req.psn-hole
setting A-40 CC_PROFILE.max_cwnd 20000
dut post write len 65536
set > write rtx 0 psn sq_psn .. sq_psn+17 each once within 4 rtt
none > write within rtt
p0 < sack cack sq_psn+17 rcvd 78
set > write rtx 0 psn sq_psn+18 .. sq_psn+35 each once within 4 rtt
none > write within rtt
p1 < sack cack sq_psn+35 rcvd 156
set > write rtx 0 psn sq_psn+36 .. sq_psn+53 each once within 4 rtt
none > write within rtt

id Q-CC-022
purpose a report of part of the flight makes room for as many bytes as rcvd_bytes says (2560: two packets)
mark U, A, A-51, A-55
cite mrc.md 8; mrc.md 3
rules req.moves
setting A-40 CC_PROFILE.max_cwnd 20000
dut post write len 65536
set > write rtx 0 psn sq_psn .. sq_psn+17 each once within 4 rtt
none > write within rtt
p0 < sack cack sq_psn+1 rcvd 10
set > write rtx 0 psn sq_psn+18 .. sq_psn+19 each once within 4 rtt
none > write within rtt

# rcvd_bytes is a sum, rounded up: k reports of two packets each have told of 2216 k bytes, in units of 256.
id Q-CC-023
purpose eight reports of two packets each, one after the other: two new packets after each, neither more nor less
mark U, A, A-51, A-55
cite mrc.md 8; mrc.md 3
rules req.moves
setting A-40 CC_PROFILE.max_cwnd 20000
dut post write len 65536
set > write rtx 0 psn sq_psn .. sq_psn+17 each once within 4 rtt
let k = 1
repeat 8 {
  p0 < sack cack sq_psn+2*k-1 rcvd (2216*k+255-(2216*k+255)%256)/256
  set > write rtx 0 psn sq_psn+16+2*k .. sq_psn+17+2*k each once within 4 rtt
  none > write within rtt
  let k = k + 1
}

# Four packets are acknowledged before any SACK tells of them: 4432 bytes. When rcvd_bytes tells of them they have left
# the flight already, whether in one SACK or two; 256 * 18 - 4432 = 176 bytes more than that open no packet's room.
cases id second rcvd what {
  Q-CC-024 sq_psn+3 18 "one SACK tells of all four"
  Q-CC-025 sq_psn+1 9  "two SACKs tell of two each"
}
purpose what an ACK has completed leaves the flight once: $what, and nothing new goes for it
mark U, A, A-51, A-55
cite mrc.md 8; mrc.md 3
rules req.moves
setting A-40 CC_PROFILE.max_cwnd 20000
dut post write len 4096
set > write rtx 0 psn sq_psn .. sq_psn+3 each once within 4 rtt
p0 < ack psn sq_psn+3 msn 1
> cqe send status ok within 4 rtt
dut post write len 65536
settle 4 rtt
p0 < sack cack $second rcvd $rcvd
settle rtt
p0 < sack cack sq_psn+3 rcvd 18
settle rtt
expect count(> write rtx 0) == 22
p0 < sack cack sq_psn+5 rcvd 26
set > write rtx 0 psn sq_psn+22 .. sq_psn+23 each once within 4 rtt
none > write within rtt

# As before, twice: eight packets, 8864 bytes, and then two, 2216 bytes, are acknowledged before any SACK tells of them.
id Q-CC-026
purpose what two ACKs have completed leaves the flight once: a SACK that tells of both opens no packet's room
mark U, A, A-51, A-55
cite mrc.md 8; mrc.md 3
rules req.moves
setting A-40 CC_PROFILE.max_cwnd 20000
dut post write len 8192
set > write rtx 0 psn sq_psn .. sq_psn+7 each once within 4 rtt
p0 < ack psn sq_psn+7 msn 1
> cqe send status ok within 4 rtt
settle 4 rtt
dut post write len 2048
set > write rtx 0 psn sq_psn+8 .. sq_psn+9 each once within 4 rtt
p0 < ack psn sq_psn+9 msn 2
> cqe send status ok within 4 rtt
settle 4 rtt
dut post write len 65536
settle 4 rtt
p0 < sack cack sq_psn+9 rcvd 44
settle rtt
expect count(> write rtx 0) == 28
p0 < sack cack sq_psn+11 rcvd 52
set > write rtx 0 psn sq_psn+28 .. sq_psn+29 each once within 4 rtt
none > write within rtt

# rcvd_bytes has told of 1280 bytes when 1108 had arrived, so 128 stand for the 300 that are out; a NACK takes them all.
# When the repeat is reported 256 bytes are told: 300 have arrived, and at most 255 more may count as such.
cases id len n what {
  Q-CC-027 386 0 "470 bytes do not go for 300 that have arrived"
  Q-CC-028 216 1 "300 bytes go for them"
}
purpose rounding of rcvd_bytes neither opens nor shuts a window for good: $what
mark U, A, A-45, A-51, A-55
cite mrc.md 8; mrc.md 3
rules req.moves
setting A-40 CC_PROFILE.max_cwnd 1408
setting A-45 CC_PROFILE.nack_any_reason 0
dut post write len 1024
dut post write len 216
set > write rtx 0 psn sq_psn .. sq_psn+1 each once within 4 rtt
p0 < sack cack sq_psn rcvd 5
settle rtt
p0 < nack reason no_pkt_buffer psn sq_psn+1
* > write psn sq_psn+1 rtx 1 within 16 rtt
dut post write len 1024
* > write psn sq_psn+2 rtx 0 within 4 rtt
dut post write len $len
settle 2 rtt
expect count(> write psn sq_psn+3) == 0
p0 < sack cack sq_psn+1 rcvd 6
settle 4 rtt
expect count(> write psn sq_psn+3) == $n
p0 < sack cack sq_psn+2 rcvd 10
settle 4 rtt
expect count(> write psn sq_psn+3) == 1

# The first k packets are NACKed: what is out falls by k packets, and with congestion the window too. When the others are
# reported, repeats and new packets are out, together as many as the window holds; one of them may have gone before.
cases id reason k any n what {
  Q-CC-031 trimmed         1 0 17 "a trim costs a packet of window"
  Q-CC-032 trimmed         4 0 14 "four trims cost four"
  Q-CC-033 trimmed_lasthop 4 0 14 "at the last hop too"
  Q-CC-034 trimmed         9 0 9  "nine trims cost half of the window"
  Q-CC-035 trimmed         4 1 14 "also where every NACK counts"
  Q-CC-036 no_pkt_buffer   4 1 14 "a refused packet costs one where every NACK counts"
  Q-CC-037 no_bitmap       4 1 14 "a refused packet costs one where every NACK counts"
}
purpose $k packets of 18 NACKed $reason: $what
mark U, A, A-45, A-55
cite mrc.md 8; mrc.md 7
rules req.moves req.rtx-cause
setting A-40 CC_PROFILE.max_cwnd 20000
setting A-43 CC_PROFILE.disable_qa 1
setting A-45 CC_PROFILE.nack_any_reason $any
dut post write len 65536
set > write rtx 0 psn sq_psn .. sq_psn+17 each once within 4 rtt
let p = sq_psn
repeat $k {
  p0 < nack reason $reason psn p
  let p = p + 1
}
settle rtt
p1 < sack cack sq_psn-1 trigger sq_psn+17 has p .. sq_psn+17 base sq_psn ooo 18-$k rcvd ((18-$k)*1108+255-((18-$k)*1108+255)%256)/256
settle 2 rtt
expect count(> write) == 18 + $n

# Three packets of one block of sixteen are trimmed. The first goes again at once; for the others the window is too small
# until something is reported, which happens while they wait.
id Q-CC-038
purpose a trim is told to the controller once: three packets, of which two wait while SACKs come, cost three of window
mark U, A, A-45, A-55
cite mrc.md 8; mrc.md 7
rules req.moves req.rtx-cause
setting A-40 CC_PROFILE.max_cwnd 20000
setting A-43 CC_PROFILE.disable_qa 1
setting A-45 CC_PROFILE.nack_any_reason 0
setting A-08 REORDER.same_ev 0
dut post write len 65536
set > write rtx 0 psn sq_psn .. sq_psn+17 each once within 4 rtt
p0 < nack reason trimmed psn sq_psn
p0 < nack reason trimmed psn sq_psn+3
p0 < nack reason trimmed psn sq_psn+15
settle rtt
p0 < sack cack sq_psn-1 trigger sq_psn+2 has sq_psn+1 .. sq_psn+2 base sq_psn ooo 2 rcvd 9
settle rtt
p0 < sack cack sq_psn-1 trigger sq_psn+4 has sq_psn+1 .. sq_psn+2 or sq_psn+4 base sq_psn ooo 3 rcvd 13
settle rtt
expect sent(sq_psn+3) == 2 and sent(sq_psn+15) == 2
p0 < sack cack sq_psn+17 rcvd 78
settle 4 rtt
expect count(> write) == 18 + 3 + 15

# As before, and one that waits is reported: it had left the flight. 15 packets fit; 18 - 3 + 1 are out, 2 of them arrive.
id Q-CC-039
purpose a trimmed packet that is reported before it could go again left the flight once: one packet goes, not three
mark U, A, A-45, A-55
cite mrc.md 8; mrc.md 7
rules req.moves req.rtx-cause
setting A-40 CC_PROFILE.max_cwnd 20000
setting A-43 CC_PROFILE.disable_qa 1
setting A-45 CC_PROFILE.nack_any_reason 0
setting A-08 REORDER.same_ev 0
dut post write len 65536
set > write rtx 0 psn sq_psn .. sq_psn+17 each once within 4 rtt
p0 < nack reason trimmed psn sq_psn
p0 < nack reason trimmed psn sq_psn+3
p0 < nack reason trimmed psn sq_psn+15
settle rtt
expect count(> write) == 19 and sent(sq_psn) == 2
p0 < sack cack sq_psn-1 trigger sq_psn+2 has sq_psn+1 .. sq_psn+3 base sq_psn ooo 3 rcvd 13
settle rtt
expect count(> write) == 20 and sent(sq_psn+3) == 1

cases id reason k {
  Q-CC-041 no_pkt_buffer  4
  Q-CC-042 no_bitmap      4
  Q-CC-043 no_resource    4
  Q-CC-044 psn_oor_window 4
}
purpose $k packets of 18 refused, $reason: they leave the flight, the window stays, and they go again at once
mark U, A, A-45, A-55
cite mrc.md 8; mrc.md 7
rules req.nack-again req.moves
setting A-40 CC_PROFILE.max_cwnd 20000
setting A-43 CC_PROFILE.disable_qa 1
setting A-45 CC_PROFILE.nack_any_reason 0
dut post write len 65536
set > write rtx 0 psn sq_psn .. sq_psn+17 each once within 4 rtt
none > write within rtt
let p = sq_psn
repeat $k {
  p0 < nack reason $reason psn p
  let p = p + 1
}
set > write rtx 1 psn sq_psn .. p-1 each once within 16 rtt
settle rtt
expect count(> write) == 18 + $k

# 0 to 4 are trimmed: the window is 20000 - 5 * 1108 = 14460 bytes. 0 goes at once. 14 to 17 arrive, so 5 to 13 are lost,
# and 14 * 1108 - 4352 = 11160 bytes are in flight: 1 and 2 fit. When 3 is refused, the 9 that are lost leave: 9 more fit.
cases id stays n {
  Q-CC-062 0 12
  Q-CC-063 1 3
}
purpose a retransmission waits for the window, and its QP has lost others: $n of 14 packets go again
mark A, A-91, A-55
cite mrc.md 8; loss.md
rules req.moves req.rtx-cause
setting A-40 CC_PROFILE.max_cwnd 20000
setting A-43 CC_PROFILE.disable_qa 1
setting A-45 CC_PROFILE.nack_any_reason 0
setting A-08 REORDER.same_ev 0
setting A-08 REORDER.pkts 4
setting A-83 CTRL.time_wait 1
setting A-89 EV_CTL.one_copy 1
setting A-91 EV_CTL.lost_stays $stays
dut post write len 18432
set > write rtx 0 psn sq_psn .. sq_psn+17 each once within 4 rtt
p0 < nack reason trimmed psn sq_psn
p0 < nack reason trimmed psn sq_psn+1
p0 < nack reason trimmed psn sq_psn+2
p0 < nack reason trimmed psn sq_psn+3
p0 < nack reason trimmed psn sq_psn+4
settle rtt
p0 < sack cack sq_psn-1 trigger sq_psn+17 has sq_psn+14 .. sq_psn+17 base sq_psn ooo 4 rcvd 17
settle 4 rtt
expect count(> write) == 18 + $n

id Q-CC-051
purpose a flight that is lost as a whole: the window falls to one packet, and one goes again
mark U, A, A-41, A-55, A-88
cite mrc.md 8; mrc.md 7
rules req.timer req.rtx-cause
setting A-40 CC_PROFILE.max_cwnd 11080
setting A-43 CC_PROFILE.disable_qa 1
setting A-88 CTRL.loss_shrinks 1
profile timeout 6
dut post write len 10240
set > write rtx 0 psn sq_psn .. sq_psn+9 each once within 4 rtt
* > write rtx 1 within 4 rto as one
none > write rtx 1 from one within rto / 2
expect one.psn in sq_psn .. sq_psn+9

id Q-CC-053
purpose a flight that is lost as a whole, and met no full queue: the window stays, and all of it goes again
mark U, A, A-55, A-88
cite mrc.md 8; mrc.md 7
rules req.timer req.rtx-cause
setting A-40 CC_PROFILE.max_cwnd 11080
setting A-43 CC_PROFILE.disable_qa 1
setting A-88 CTRL.loss_shrinks 0
profile timeout 6
dut post write len 10240
set > write rtx 0 psn sq_psn .. sq_psn+9 each once within 4 rtt
set > write rtx 1 psn sq_psn .. sq_psn+9 each once within 4 rto

id Q-CC-052
purpose the window never falls below one packet: after thirty trims the last packet still goes again each time
mark U, A, A-41
cite mrc.md 8
rules req.nack-again req.moves
setting A-40 CC_PROFILE.max_cwnd 11080
setting A-43 CC_PROFILE.disable_qa 1
dut post write len 1024
* > write psn sq_psn rtx 0 within rtt
repeat 14 {
  p0 < nack reason trimmed psn sq_psn
  * > write psn sq_psn rtx 1 within rtt
}

id Q-CC-061
purpose a QP without a controller has no window but that of its PSNs
mark S, U
cite mrc.md 8
rules req.moves req.window
setting A-40 CC_PROFILE.max_cwnd 2216
profile controlled 0
dut post write len 65536
set > write rtx 0 psn sq_psn .. sq_psn+63 each once within 16 rtt
