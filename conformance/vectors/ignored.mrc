# SPDX-License-Identifier: Apache-2.0
# Answers that a requestor must not believe: broken on the way, for somebody else, or about what it never sent. Each time
# a good answer follows, which must still work.
tier 3
caps requestor
planes 2
evs 16
profile mtu 1024 timeout 14
negative

cases id how need {
  Q-BAD-001 "icrc bad"            bytes
  Q-BAD-002 "icrc 0x00000000"     bytes
  Q-BAD-003 "icrc bad 0x80000000" bytes
  Q-BAD-004 "fcs bad"             bytes
  Q-BAD-005 "raw bth.tver 1"      bytes
  Q-BAD-006 "raw bth.p_key 0x1234" pkey
  Q-BAD-007 "dqp qp+1"            bytes
  Q-BAD-008 "cut 80"              bytes
  Q-BAD-009 "raw bth.opcode 0xDF" bytes
}
purpose a SACK that is broken ($how) reports nothing: a NACK of its packet still brings it again
mark S2
cite mrc.md 4; mrc.md 2; mrc.md 7
rules req.rtx-cause req.nack-again req.cqe-owed
caps $need
dut post write len 2048
set > write rtx 0 psn sq_psn .. sq_psn+1 each once within 2 rtt
p0 < sack cack sq_psn+1 $how
settle lat
p1 < nack reason trimmed psn sq_psn
* > write psn sq_psn rtx 1 data posted within rtt
p0 < sack cack sq_psn+1
p0 < ack psn sq_psn+1 msn 1
> cqe send status ok within rtt

cases id how need {
  Q-BAD-011 "icrc bad 0x00000001" bytes
  Q-BAD-012 "fcs bad"             bytes
  Q-BAD-013 "raw bth.tver 15"     bytes
  Q-BAD-014 "raw bth.p_key 0x7FFE" pkey
  Q-BAD-015 "dqp qp+1"            bytes
  Q-BAD-016 "cut 78"              bytes
  Q-BAD-017 "raw bth.opcode 0x11" bytes
}
purpose an ACK that is broken ($how) completes nothing
mark S2
cite mrc.md 4; mrc.md 2; mrc.md 6
rules req.cqe-ack req.cqe-owed
caps $need
dut post write len 2048
set > write rtx 0 psn sq_psn .. sq_psn+1 each once within 2 rtt
p0 < sack cack sq_psn+1
p0 < ack psn sq_psn+1 msn 1 $how
none > cqe within rtt from last
p1 < ack psn sq_psn+1 msn 1
> cqe send status ok within rtt

cases id how need {
  Q-BAD-021 "icrc bad 0x00010000" bytes
  Q-BAD-022 "fcs bad"             bytes
  Q-BAD-023 "raw bth.tver 2"      bytes
  Q-BAD-024 "raw bth.p_key 0x1234" pkey
  Q-BAD-025 "dqp qp+1"            bytes
  Q-BAD-026 "cut 85"              bytes
}
purpose a NACK that is broken ($how) brings nothing back; a good one does
mark S2
cite mrc.md 4; mrc.md 2; mrc.md 7
rules req.rtx-cause req.nack-again
caps $need
dut post write len 2048
set > write rtx 0 psn sq_psn .. sq_psn+1 each once within 2 rtt
p0 < nack reason trimmed psn sq_psn+1 $how as bad
none > write rtx 1 from bad within rtt
p1 < nack reason trimmed psn sq_psn+1
* > write psn sq_psn+1 rtx 1 data posted within rtt

cases id answer what need {
  Q-BAD-031 "nak psn sq_psn msn 0 syndrome nak_remote_access icrc bad" "a NAK with a wrong ICRC" bytes
  Q-BAD-032 "nak psn sq_psn msn 0 syndrome nak_remote_access raw bth.tver 1" "a NAK of another version" bytes
  Q-BAD-033 "nak psn sq_psn msn 0 syndrome nak_remote_access raw bth.p_key 0x1234" "a NAK with a foreign P_Key" pkey
  Q-BAD-034 "nak psn sq_psn msn 0 syndrome nak_remote_access dqp qp+1" "a NAK to another QP" bytes
  Q-BAD-035 "nak psn sq_psn msn 0 syndrome nak_invalid_request fcs bad" "a NAK whose FCS is wrong" bytes
  Q-BAD-036 "nack reason unexp_event psn sq_psn icrc bad" "an UNEXP_EVENT with a wrong ICRC" bytes
  Q-BAD-037 "nack reason unexp_event psn sq_psn raw bth.tver 1" "an UNEXP_EVENT of another version" bytes
  Q-BAD-038 "nack reason unexp_event psn sq_psn raw bth.p_key 0x1234" "an UNEXP_EVENT with a foreign P_Key" pkey
  Q-BAD-039 "nack reason unexp_event psn sq_psn dqp qp+1" "an UNEXP_EVENT to another QP" bytes
  Q-BAD-040 "nack reason unexp_event psn sq_psn fcs bad" "an UNEXP_EVENT whose FCS is wrong" bytes
}
purpose $what ends no QP: its work completes well, and new work is sent
mark S2
cite mrc.md 4; mrc.md 2; mrc.md 6
rules qp.status req.cqe-owed req.moves
caps $need
dut post write len 1024
* > write psn sq_psn rtx 0 within rtt
p0 < $answer as bad
none > cqe from bad within rtt
dut query state rts
dut post write len 1024
* > write psn sq_psn+1 rtx 0 data posted within rtt
p1 < sack cack sq_psn+1
p1 < ack psn sq_psn+1 msn 2
> cqe send status ok wr_id 0 within rtt
> cqe send status ok wr_id 1 within rtt

# ---- well made, and not true ----

cases id cack what {
  Q-BAD-051 sq_psn+2     "one packet more than was sent"
  Q-BAD-052 sq_psn+50    "many packets more than were sent"
  Q-BAD-053 sq_psn+127   "a whole window"
}
purpose a SACK that reports $what makes nothing of what was never sent: that goes out all the same, with rtx 0
mark A, S2
cite mrc.md 7
rules req.psn-hole req.psn-once req.window
dut post write len 2048
set > write rtx 0 psn sq_psn .. sq_psn+1 each once within 2 rtt
p0 < sack cack $cack
settle lat
dut post write len 4096
set > write rtx 0 psn sq_psn+2 .. sq_psn+5 each once within 2 rtt
p1 < sack cack sq_psn+5
p1 < ack psn sq_psn+5 msn 2
> cqe send status ok wr_id 0 within rtt
> cqe send status ok wr_id 1 within rtt

id Q-BAD-054
purpose bits of a bitmap above what was sent mean nothing: those packets go out, and wait for a report of their own
mark A, S2
cite mrc.md 7; mrc.md 3
rules req.psn-hole req.nack-again req.rtx-unsent
dut post write len 2048
set > write rtx 0 psn sq_psn .. sq_psn+1 each once within 2 rtt
p0 < sack cack sq_psn trigger sq_psn has sq_psn+1 .. sq_psn+20 base sq_psn+1 ooo 0
settle lat
dut post write len 4096
set > write rtx 0 psn sq_psn+2 .. sq_psn+5 each once within 2 rtt
p0 < nack reason trimmed psn sq_psn+3
* > write psn sq_psn+3 rtx 1 data posted within rtt
p1 < sack cack sq_psn+5
p1 < ack psn sq_psn+5 msn 2
> cqe send status ok wr_id 0 within rtt
> cqe send status ok wr_id 1 within rtt

cases id cack what {
  Q-BAD-055 sq_psn-1       "nothing, again"
  Q-BAD-056 sq_psn-100     "a hundred packets before the first"
  Q-BAD-057 sq_psn-5000    "what lies far behind"
  Q-BAD-058 sq_psn-8000000 "nearly half the numbers behind"
}
purpose a late SACK whose cack_psn is behind ($what) takes nothing back: what was reported stays reported
mark S2
cite mrc.md 7; mrc.md 6
rules req.rtx-cause req.rtx-reported
dut post write len 4096
set > write rtx 0 psn sq_psn .. sq_psn+3 each once within 2 rtt
p0 < sack cack sq_psn+2
settle lat
p1 < sack cack $cack
settle lat
p1 < nack reason trimmed psn sq_psn+1 as late
none > write rtx 1 from late within rtt
p0 < nack reason trimmed psn sq_psn+3
* > write psn sq_psn+3 rtx 1 within rtt

cases id answer what {
  Q-BAD-061 "ack psn sq_psn+1 msn 0"   "MSN 0: nothing is complete"
  Q-BAD-062 "ack psn sq_psn+5 msn 1"   "a PSN that was never sent"
  Q-BAD-063 "ack psn sq_psn+1 msn 3"   "more messages than were sent"
  Q-BAD-065 "ack psn sq_psn+1 msn 1 syndrome 0x20" "syndrome 0x20, an RNR NAK, which MRC does not know"
  Q-BAD-066 "ack psn sq_psn+1 msn 1 syndrome 0x40" "syndrome 0x40, reserved"
}
purpose an ACK with $what completes nothing
mark A, S2
cite mrc.md 6; mrc.md 3; IBTA 9.7.5.1
rules req.cqe-ack req.cqe-owed
dut post write len 2048
set > write rtx 0 psn sq_psn .. sq_psn+1 each once within 2 rtt
p0 < sack cack sq_psn+1
p0 < $answer
none > cqe within rtt from last
p1 < ack psn sq_psn+1 msn 1
> cqe send status ok within rtt

id Q-BAD-067
purpose an ACK of the first of three messages completes that one alone; the same ACK again completes nothing
mark S2
cite mrc.md 6
rules req.cqe-ack req.cqe-order req.cqe-owed
dut post write len 1024 * 3
set > write rtx 0 psn sq_psn .. sq_psn+2 each once within 2 rtt
p0 < sack cack sq_psn+2
p0 < ack psn sq_psn msn 1
> cqe send status ok wr_id 0 within rtt
p1 < ack psn sq_psn msn 1 as again
none > cqe from again within rtt
p0 < ack psn sq_psn+2 msn 3
> cqe send status ok wr_id 1 within rtt
> cqe send status ok wr_id 2 within rtt
settle rtt
expect count(> cqe) == 3

id Q-BAD-068
purpose ACKs that overtake each other: the older one completes nothing again
mark S2
cite mrc.md 6
rules req.cqe-order req.cqe-ack
dut post write len 1024 * 4
set > write rtx 0 psn sq_psn .. sq_psn+3 each once within 2 rtt
p0 < sack cack sq_psn+3
p0 < ack psn sq_psn+2 msn 3
p1 < ack psn sq_psn msn 1 after 3 us
p1 < ack psn sq_psn+1 msn 2
> cqe send status ok wr_id 0 within rtt
> cqe send status ok wr_id 1 within rtt
> cqe send status ok wr_id 2 within rtt
none > cqe within rtt
p0 < ack psn sq_psn+3 msn 4
> cqe send status ok wr_id 3 within rtt
expect count(> cqe) == 4

cases id answer what {
  Q-BAD-071 "probe id 5" "a probe"
  Q-BAD-072 "evprobe id 5" "an EV probe"
  Q-BAD-073 "endpoint response op ev_probe id 0x7777" "the answer to an EV probe that nobody sent"
  Q-BAD-074 "endpoint response op port_status id 0x7777" "the answer to an update that nobody sent"
  Q-BAD-075 "sack cack sq_psn-1 probe 0x1234" "the answer to a probe that nobody sent"
}
purpose $what reports no packet and completes nothing
mark S2
cite mrc.md 3; mrc.md 5; mrc.md 6
rules req.cqe-ack req.rtx-cause
background ignore sack ack probe endpoint
dut post write len 2048
set > write rtx 0 psn sq_psn .. sq_psn+1 each once within 2 rtt
p0 < $answer as odd
none > cqe from odd within rtt
expect count(> write rtx 1) == 0
p1 < nack reason trimmed psn sq_psn
* > write psn sq_psn rtx 1 data posted within rtt
p1 < sack cack sq_psn+1
p1 < ack psn sq_psn+1 msn 1
> cqe send status ok within rtt

cases id sent reason {
  Q-BAD-081 2 trimmed
  Q-BAD-082 2 no_pkt_buffer
  Q-BAD-083 4 trimmed
}
purpose a NACK ($reason) of the packet that comes next and was never sent means nothing: it goes out with rtx 0, once
mark A, S2
cite mrc.md 7
rules req.rtx-cause req.rtx-unsent req.psn-once
dut post write len 1024 * $sent
set > write rtx 0 psn sq_psn .. sq_psn+$sent-1 each once within 4 rtt
p0 < nack reason $reason psn sq_psn+$sent
settle lat
dut post write len 4096
set > write rtx 0 psn sq_psn+$sent .. sq_psn+$sent+3 each once within 2 rtt
settle 2 rtt
expect count(> write rtx 1) == 0

id Q-BAD-084
purpose a SACK that names a packet which was never sent is no sign of a gap
mark A, S2, A-08
cite mrc.md 7; mrc.md 3
rules req.rtx-evidence req.rtx-cause
setting A-08 REORDER.pkts 5
setting A-08 REORDER.same_ev 0
dut post write len 8192
set > write rtx 0 psn sq_psn .. sq_psn+7 each once within 4 rtt
p0 < sack cack sq_psn-1 trigger sq_psn+8 has sq_psn+8 base sq_psn ooo 5
settle 2 rtt
expect count(> write rtx 1) == 0
