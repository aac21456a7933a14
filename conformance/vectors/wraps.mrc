# SPDX-License-Identifier: Apache-2.0
# A requestor whose numbers wrap: PSN after 0xFFFFFF, MSN and RQMSN after 0xFFFF, time stamps after 8.4 ms, rcvd_bytes.
# 0x7FFFFF is no end of PSNs: arithmetic is modulo 2^24, half range 2^23.
tier 3
caps requestor psn
planes 2
evs 16
profile mtu 256 timeout 14

cases id first {
  Q-WRAP-001 0xFFFFFD
  Q-WRAP-002 0xFFFFFE
  Q-WRAP-003 0xFFFFFF
  Q-WRAP-004 0x7FFFFE
  Q-WRAP-005 0x000000
}
purpose packets from PSN $first on: the third, NACKed, goes again with its PSN, bytes and VA; a SACK and an ACK end it
mark S2, S2+
cite mrc.md 6; mrc.md 2; mrc.md 7
rules req.nack-again req.rtx-same req.rtx-head req.start req.cqe-ack
profile sq_psn $first
dut post write len 1280
set > write rtx 0 psn sq_psn .. sq_psn+4 each once within 2 rtt
p0 < nack reason trimmed psn sq_psn+2
* > write middle bth.psn ($first+2)%16777216 rtx 1 va 0x600000000200 data posted within rtt
p1 < sack cack sq_psn+4
p1 < ack psn sq_psn+4 msn 1
> cqe send status ok within rtt
dut post write len 256
* > write only bth.psn ($first+5)%16777216 rtx 0 msn 1 within rtt

cases id first cack {
  Q-WRAP-011 0xFFFFFC 1
  Q-WRAP-012 0xFFFFFC 3
  Q-WRAP-013 0xFFFFFF -1
  Q-WRAP-014 0x7FFFFC 3
}
purpose a bitmap across the end of PSNs (first $first, cack_psn $cack further): what it reports never goes again, the rest does
mark S2, S
cite mrc.md 3; mrc.md 6; mrc.md 7
rules req.rtx-cause req.rtx-reported req.timer
setting A-08 REORDER.same_ev 0
profile sq_psn $first timeout 5
dut post write len 2048
set > write rtx 0 psn sq_psn .. sq_psn+7 each once within 2 rtt
p0 < sack cack sq_psn+$cack trigger sq_psn+7 has sq_psn+5 .. sq_psn+7 base sq_psn+$cack+1 ooo 3
set > write rtx 1 psn sq_psn+$cack+1 .. sq_psn+4 each once within 4 rto
settle rto
expect count(> write rtx 1) == count(> write rtx 1 psn sq_psn+$cack+1 .. sq_psn+4)

cases id first {
  Q-WRAP-021 0xFFFFC0
  Q-WRAP-022 0xFFFFFF
  Q-WRAP-023 0x7FFFC0
}
purpose a window that lies across the end of PSNs ($first): not overrun, and moved by cack_psn
mark S2
cite mrc.md 7; mrc.md 6
rules req.window req.psn-hole req.psn-once
profile sq_psn $first
peer manual
dut post write len 262144
dut post write len 262144
set > write rtx 0 psn sq_psn .. sq_psn+95 each once within 64 rtt      # a device may have less room than its window
none > write rtx 0 psn > sq_psn+128*mpr-1 within rtt
p0 < sack cack sq_psn+79
set > write rtx 0 psn sq_psn+96 .. sq_psn+175 each once from start within 64 rtt
none > write rtx 0 psn > sq_psn+128*mpr+79 within rtt
p1 < sack cack sq_psn+50 as old                           # an older one
none > write rtx 0 psn > sq_psn+128*mpr+79 from old within rtt

cases id first {
  Q-WRAP-031 0xFFFFFF
  Q-WRAP-032 0xFFFFE0
  Q-WRAP-033 0x7FFFF0
}
purpose a gap at $first is found by the packets behind the end of PSNs
mark U, A, A-08
cite mrc.md 7; mrc.md 6
rules req.gap-again req.rtx-evidence req.rtx-cause
setting A-08 REORDER.pkts 32
setting A-08 REORDER.same_ev 0
profile sq_psn $first
dut post write len 16384
set > write rtx 0 psn sq_psn .. sq_psn+63 each once within 64 rtt
p0 < sack cack sq_psn-1 trigger sq_psn+31 has sq_psn+1 .. sq_psn+31 base sq_psn ooo 31
settle rtt
expect count(> write rtx 1) == 0
p0 < sack cack sq_psn-1 trigger sq_psn+40 has sq_psn+1 .. sq_psn+40 base sq_psn ooo 40
* > write psn sq_psn rtx 1 data posted within rtt
settle lat
expect count(> write rtx 1) == 1

cases id first {
  Q-WRAP-041 0xFFFE
  Q-WRAP-042 0xFFFF
  Q-WRAP-043 0x7FFF
}
purpose MSN after $first: a retransmission has the MSN of its message, and what completes is what the ACK names
mark S2+, S2
cite mrc.md 3; mrc.md 6
rules req.msn req.rtx-head req.cqe-ack req.cqe-order
profile msn $first
dut post write len 256 * 3
set > write rtx 0 psn sq_psn .. sq_psn+2 each once within 2 rtt
p0 < nack reason trimmed psn sq_psn+2
* > write only psn sq_psn+2 rtx 1 meth.msn ($first+2)%65536 data posted within rtt
p0 < sack cack sq_psn+2
p0 < ack psn sq_psn+1 msn ($first+2)%65536
> cqe send status ok wr_id 0 within rtt
> cqe send status ok wr_id 1 within rtt
none > cqe wr_id 2 within rtt from last
p1 < ack psn sq_psn+2 msn ($first+3)%65536
> cqe send status ok wr_id 2 within rtt

id Q-WRAP-051
purpose RQMSN wraps after 0xFFFF, plain messages between do not count, and a retransmission has that of its message
mark S2+, A-18
cite mrc.md 3
rules req.rqmsn req.rtx-head
caps requestor write_imm psn
profile rqmsn 0xFFFF
dut post write len 512 imm 1
dut post write len 256
dut post write len 512 imm 2
set > write rtx 0 psn sq_psn .. sq_psn+4 each once within 2 rtt
expect first(> write psn sq_psn).rqmsn == 0xFFFF and first(> write psn sq_psn+1).rqmsn == 0xFFFF
expect first(> write psn sq_psn+3).rqmsn == 0 and first(> write psn sq_psn+4).rqmsn == 0
p0 < nack reason trimmed psn sq_psn+1
* > write psn sq_psn+1 rtx 1 rqmsn 0xFFFF imm 1 within rtt
p0 < nack reason trimmed psn sq_psn+4
* > write psn sq_psn+4 rtx 1 rqmsn 0 imm 2 msn 2 within rtt

id Q-WRAP-061
purpose time stamps wrap after 65536 units of 128 ns, and go on
mark S2+, A-21
cite mrc.md 3
rules wire.stamp
caps requestor time_stamps
setting A-21 CTRL.tsr_us 0
profile time_stamps 1
peer auto
dut post write len 64
* > write only within rtt as a
> cqe send status ok within rtt
repeat 20 { settle 430 us }                               # in pieces: a slow device answers each in time
dut post write len 64
* > write only psn a.psn+1 within rtt as b
expect (b.tseth.tx_timestamp16 - a.tseth.tx_timestamp16 + 131072 - (b.t - a.t) / 128000) % 65536 + 3 in 0 .. 6 or \
    (b.tseth.tx_timestamp16 - a.tseth.tx_timestamp16 + 131072 - (b.t - a.t) / 128000) % 65536 + 3 > 65535

id Q-WRAP-062
purpose a retransmission has a time stamp of its own: of when it leaves, not of when the packet left first
mark S2+, A-21
cite mrc.md 3; mrc.md 7
rules wire.stamp req.nack-again
caps requestor time_stamps
setting A-21 CTRL.tsr_us 0
profile time_stamps 1
dut post write len 64
* > write only rtx 0 within rtt as a
settle 64 us
p0 < nack reason trimmed psn sq_psn
* > write only rtx 1 ts 1 within rtt as b
expect (b.tseth.tx_timestamp16 - a.tseth.tx_timestamp16 + 65536) % 65536 - (b.t - a.t) / 128000 in -3 .. 3

cases id one two {
  Q-WRAP-071 0         0xFFFFFF
  Q-WRAP-072 0xFFFFFF  3
  Q-WRAP-073 0x7FFFFF  0x800000
}
purpose rcvd_bytes ($one, then $two) reports no packets: what SACKs say of PSNs counts, across its wrap too
mark S2+
cite mrc.md 3; mrc.md 7
rules req.rtx-cause req.nack-again req.cqe-owed
dut post write len 1024
set > write rtx 0 psn sq_psn .. sq_psn+3 each once within 2 rtt
p0 < sack cack sq_psn rcvd $one
settle lat
p0 < sack cack sq_psn+2 rcvd $two
settle lat
p0 < nack reason trimmed psn sq_psn+1 as late
none > write rtx 1 from late within rtt
p0 < nack reason trimmed psn sq_psn+3
* > write psn sq_psn+3 rtx 1 within rtt
p0 < sack cack sq_psn+3 rcvd $two
p0 < ack psn sq_psn+3 msn 1
> cqe send status ok within rtt
