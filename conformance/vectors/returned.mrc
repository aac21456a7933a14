# SPDX-License-Identifier: Apache-2.0
# Trimmed packets that a switch has sent back to their sender (A-80): told apart by addresses that are as they were, or by
# a code point of their own. Counted and dropped, or a loss that the requestor knows at once, or not told apart.
tier 2
planes 1
mark C, A-80
cite mrc.md 9; mrc.md 4

# ---- which number the peer's QP has is chance: here it is one of ours ----

cases id how setting what caps {
  R-BACK-001 "raw ipv6.src 0xfd000000000000000000000000000002 raw ipv6.dst 0xfd000000000000000000000000000001 trim 128" "A-80 CTRL.returned 0" "from our address to the peer's" responder
  R-BACK-002 "raw ipv6.src 0xfd000000000000000000000000000002 raw ipv6.dst 0xfd000000000000000000000000000001 trim 128 dscp lasthop" "A-80 CTRL.returned 0" "from our address, with the code point of the last hop" responder
  R-BACK-003 "raw ipv6.src 0xfd000000000000000000000000000002 trim 128" "A-80 CTRL.returned 0" "from our address to our address" responder
  R-BACK-004 "raw ipv6.dst 0xfd000000000000000000000000000001 trim 128" "A-80 CTRL.returned 0" "to the peer's address" responder
  R-BACK-005 "raw ipv6.src 0xfd000000000000000000000000000002 raw ipv6.dst 0xfd000000000000000000000000000001 trim 256 lengths all" "A-80 CTRL.returned 0" "from our address, 256 bytes long, with lengths rewritten" responder
  R-BACK-006 "trim 128 dscp 20" "A-80 DSCP_TRIM.returned_valid 1" "with exchanged addresses and a code point of its own" responder
  R-BACK-007 "raw ipv6.src 0xfd000000000000000000000000000002 raw ipv6.dst 0xfd000000000000000000000000000001 trim 128 dscp 20" "A-80 DSCP_TRIM.returned_valid 1" "from our address, with a code point of its own" responder
  R-BACK-008 "raw ipv6.src 0xfd000000000000000000000000000002 raw ipv6.dst 0xfd000000000000000000000000000001 rtx trim 128" "A-80 CTRL.returned 0" "from our address, a retransmission" responder
  R-BACK-009 "raw ipv6.src 0xfd000000000000000000000000000002 raw ipv6.dst 0xfd000000000000000000000000000001 trim 128" "A-80 CTRL.returned 1" "from our address, where the requestor learns of it" responder
}
purpose a trimmed packet $what is one of our own that came back: no NACK, no SACK, and it is counted
rules resp.trim resp.nack-trim resp.cack-arrived resp.returned resp.returned-count
caps responder trim_nack
setting A-80 DSCP_TRIM.returned 20
setting $setting
negative
repair off
background ignore probe endpoint
msg m = write len 4096 at buf seq 3
mem fill buf 4096 = 0xa5
counters as before
p0 < m[0] $how
none > * within rtt from last
settle rtt
counters as after
expect after.CNT_RETURNED == before.CNT_RETURNED + 1 or after.CNT_RETURNED == -1
mem same buf 4096 = 0xa5
dut query state rts
background ignore sack probe endpoint
p0 < m[0] trim 128                                        # one of the peer's
* > nack reason trimmed psn m[0] within rtt
settle rtt
counters as end
expect end.CNT_RETURNED == after.CNT_RETURNED

cases id encap ts {
  R-BACK-011 srv6 0
  R-BACK-012 srh 0
  R-BACK-013 srv6 1
}
purpose in $encap the inner addresses tell a packet that came back: no NACK, no SACK
rules resp.trim resp.nack-trim resp.returned
caps responder trim_nack $encap time_stamps
encap $encap
profile time_stamps $ts
negative
repair off
background ignore probe endpoint
msg m = write len 4096 at buf seq 3
p0 < m[0] raw ipv6.src 0xfd000000000000000000000000000002 raw ipv6.dst 0xfd000000000000000000000000000001 trim 206
none > * within rtt from last
background ignore sack probe endpoint
p0 < m[0] trim 206
* > nack reason trimmed psn m[0] within rtt

cases id plane from {
  R-BACK-014 p0 0xfd000000000000000000000000000002
  R-BACK-015 p0 0xfd000000000000010000000000000002
  R-BACK-016 p1 0xfd000000000000000000000000000002
}
purpose of a NIC with an address per plane each of them is its own: a trimmed packet from $from on $plane came back
mark C, A-80, A-76
cite mrc.md 9; mrc.md 1
rules resp.trim resp.nack-trim resp.returned
caps responder trim_nack
setting A-76 IP_PLANE.enable 1
planes 2
negative
repair off
background ignore probe endpoint
msg m = write len 4096 at buf seq 3
$plane < m[0] raw ipv6.src $from raw ipv6.dst 0xfd000000000000000000000000000001 trim 128
none > * within rtt from last
background ignore sack probe endpoint
$plane < m[0] trim 128
* > nack reason trimmed psn m[0] within rtt

id R-BACK-017
purpose a packet of a PSN that has arrived is no news when a copy of ours comes back in its place: no SACK
rules resp.sack-dup resp.trim resp.returned
caps responder trim_nack
negative
repair off
background ignore probe endpoint
msg m = write len 4096 at buf seq 3
p0 < m[0] ackreq
any order { * > sack cack m[0] ; * > ack psn m[0] msn 1 } within rtt
settle rtt
p0 < m[0] raw ipv6.src 0xfd000000000000000000000000000002 raw ipv6.dst 0xfd000000000000000000000000000001 trim 128 as back_it
none > sack within rtt from back_it
expect count(> nack) == 0 and count(> ack from back_it) == 0
background ignore ack probe endpoint
p0 < m[0] trim 128 as late                                # the peer's own copy
* > sack trigger m[0] cack m[0] within rtt from late

id R-BACK-021
purpose with the third answer of A-80 a trimmed packet from our own address is taken as the peer's
rules resp.nack-trim resp.trim
caps responder trim_nack
setting A-80 CTRL.returned 2
negative
repair off
background ignore sack ack probe endpoint
msg m = write len 4096 at buf seq 3
p0 < m[0] raw ipv6.src 0xfd000000000000000000000000000002 raw ipv6.dst 0xfd000000000000000000000000000001 trim 128
* > nack reason trimmed psn m[0] within rtt

cases id code reason {
  R-BACK-022 12 trimmed
  R-BACK-023 16 trimmed_lasthop
}
purpose where returned packets have a code point of their own those of trimmed ones ($code) still tell the peer's
rules resp.nack-trim resp.trim
caps responder trim_nack
setting A-80 DSCP_TRIM.returned_valid 1
setting A-80 DSCP_TRIM.returned 20
repair off
background ignore sack ack probe endpoint
msg m = write len 4096 at buf seq 3
p0 < m[0] trim 128 dscp $code
* > nack reason $reason psn m[0] within rtt

id R-BACK-024
purpose without a code point for returned packets one that is nobody's (0) tells none: a whole packet that has it is taken
rules resp.sack-ask resp.cack-taken
caps responder trim_nack
setting A-80 DSCP_TRIM.returned_valid 0
msg m = write len 4096 at buf seq 3
p0 < m[0] ackreq dscp 0
* > sack cack m[0] within rtt
mem digest buf 4096 = seq 3

# ---- the requestor's own packets, as they left ----

cases id back setting what caps {
  Q-BACK-001 "back w trim 128" "A-80 CTRL.returned 0" "with its addresses" requestor
  Q-BACK-002 "back w trim 128 dscp lasthop" "A-80 CTRL.returned 0" "with its addresses and the code point of the last hop" requestor
  Q-BACK-003 "back w swapped trim 128 dscp 20" "A-80 DSCP_TRIM.returned_valid 1" "with exchanged addresses and a code point of its own" requestor
  Q-BACK-004 "back w trim 128" "A-80 CTRL.returned 2" "where nobody tells it apart" requestor
}
purpose a WRITE that comes back $what brings neither answer nor retransmission; a NACK does
rules resp.trim req.rtx-cause req.nack-again resp.returned
setting A-80 DSCP_TRIM.returned 20
setting $setting
tier 3
evs 8
profile timeout 14
negative
background ignore probe endpoint
dut post write len 12288
any order { * > write first psn sq_psn ; * > write middle psn sq_psn+1 as w ; * > write last psn sq_psn+2 } within 2 rtt
p0 < $back
none > sack within 2 rtt from last
expect count(> nack) == 0 and count(> write rtx 1) == 0
p0 < nack reason trimmed psn sq_psn+1
* > write middle psn sq_psn+1 rtx 1 data posted within rtt
p0 < sack cack sq_psn+2
p0 < ack psn sq_psn+2 msn 1
> cqe send status ok within rtt

cases id back setting what {
  Q-BACK-011 "back w trim 128" "A-80 DSCP_TRIM.returned_valid 0" "with its addresses"
  Q-BACK-012 "back w trim 128 dscp lasthop" "A-80 DSCP_TRIM.returned_valid 0" "with the code point of the last hop"
  Q-BACK-013 "back w trim 256 lengths all" "A-80 DSCP_TRIM.returned_valid 0" "with 256 bytes and rewritten lengths"
  Q-BACK-014 "back w swapped trim 128 dscp 20" "A-80 DSCP_TRIM.returned_valid 1" "with exchanged addresses and a code point of its own"
  Q-BACK-015 "back w trim 128 dscp 20" "A-80 DSCP_TRIM.returned_valid 1" "with its addresses and a code point of its own"
}
purpose with the second answer of A-80 a WRITE that comes back $what goes again at once, and no other
rules req.rtx-same req.rtx-cause req.rtx-head path.fresh wire.class
setting A-80 CTRL.returned 1
setting A-80 DSCP_TRIM.returned 20
setting $setting
tier 3
caps requestor
evs 8
profile timeout 14
background ignore probe endpoint
dut post write len 12288
any order { * > write first psn sq_psn ; * > write middle psn sq_psn+1 as w ; * > write last psn sq_psn+2 } within 2 rtt
let was = w.ev
p0 < $back
* > write middle psn sq_psn+1 rtx 1 ev != was dscp rtx data posted within rtt
settle lat
expect count(> write rtx 1) == 1 and count(> nack) == 0
p0 < sack cack sq_psn+2
p0 < ack psn sq_psn+2 msn 1
> cqe send status ok within rtt

cases id encap {
  Q-BACK-016 srv6
  Q-BACK-017 srh
}
purpose with the second answer of A-80 a WRITE that comes back in $encap goes again at once
rules req.rtx-same req.rtx-cause
setting A-80 CTRL.returned 1
tier 3
caps requestor $encap
encap $encap
evs 8
profile timeout 14
background ignore probe endpoint
dut post write len 8192
any order { * > write first psn sq_psn as w ; * > write last psn sq_psn+1 } within 2 rtt
p0 < back w trim 206
* > write first psn sq_psn rtx 1 data posted within rtt

cases id imm caps what {
  Q-BACK-018 "" requestor "a WRITE of no bytes"
  Q-BACK-019 "imm 5" "requestor write_imm" "an immediate of no bytes"
}
purpose with the second answer of A-80 $what that comes back goes again at once
mark C, A-80, A-19
rules req.rtx-same req.rtx-cause
setting A-80 CTRL.returned 1
setting A-19 CTRL.zero_length 0
tier 3
evs 8
profile timeout 14
background ignore probe endpoint
dut post write len 0 $imm
* > write only psn sq_psn bytes 0 within rtt as w
p0 < back w trim 128
* > write only psn sq_psn rtx 1 bytes 0 within rtt

id Q-BACK-021
purpose a copy of before that comes back late says nothing of the retransmission that is on its way
rules req.rtx-cause
setting A-80 CTRL.returned 1
tier 3
caps requestor
evs 8
profile timeout 14
negative
background ignore probe endpoint
dut post write len 4096
* > write only psn sq_psn rtx 0 within rtt as w
p0 < nack reason trimmed psn sq_psn
* > write only psn sq_psn rtx 1 within rtt as again
p0 < back w trim 128
none > write psn sq_psn within 2 rtt from again
p0 < back again trim 128
* > write only psn sq_psn rtx 1 within rtt
p0 < sack cack sq_psn
p0 < ack psn sq_psn msn 1
> cqe send status ok within rtt

cases id report what {
  Q-BACK-022 "sack cack sq_psn+1" "by cack_psn"
  Q-BACK-023 "sack cack sq_psn-1 trigger sq_psn+1 has sq_psn+1 ooo 1" "in a bitmap"
}
purpose a packet that was reported ($what) is not lost, whatever comes back
rules req.rtx-reported req.rtx-cause
setting A-80 CTRL.returned 1
setting A-08 REORDER.same_ev 0
tier 3
caps requestor
evs 8
profile timeout 14
negative
background ignore probe endpoint
dut post write len 8192
any order { * > write first psn sq_psn ; * > write last psn sq_psn+1 as w } within 2 rtt
p0 < $report
settle lat
p0 < back w trim 128
none > write psn sq_psn+1 within 2 rtt from last

cases id raw what {
  Q-BACK-024 "raw bth.dqp 0x123456" "of a QP that the device does not send to"
  Q-BACK-025 "raw bth.psn 0x002100" "of a PSN that was never sent"
}
purpose a packet $what that comes back brings nothing again
rules req.rtx-cause
setting A-80 CTRL.returned 1
tier 3
caps requestor
evs 8
profile timeout 14
negative
background ignore probe endpoint
dut post write len 8192
any order { * > write first psn sq_psn as w ; * > write last psn sq_psn+1 } within 2 rtt
p0 < back w $raw trim 128
none > write rtx 1 within 2 rtt from last
p0 < back w trim 128
* > write first psn sq_psn rtx 1 within rtt

id Q-BACK-026
purpose the same packet that comes back twice goes again once: the second copy is older than the retransmission
rules req.rtx-cause
setting A-80 CTRL.returned 1
tier 3
caps requestor
evs 8
profile timeout 14
negative
background ignore probe endpoint
dut post write len 8192
any order { * > write first psn sq_psn as w ; * > write last psn sq_psn+1 } within 2 rtt
p0 < back w trim 128
* > write first psn sq_psn rtx 1 within rtt
settle lat
p0 < back w trim 128
settle 2 rtt
expect count(> write rtx 1) == 1
