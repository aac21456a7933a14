# SPDX-License-Identifier: Apache-2.0
# The responder's window: [cack+1, cack+MPR] is new, below is a duplicate, beyond is refused; all modulo 2^24.
tier 2
caps responder
planes 1
profile mtu 256 mpr_dest 1

cases id k {
  R-WIN-011 1
  R-WIN-012 2
  R-WIN-013 62
  R-WIN-014 63
  R-WIN-015 64
  R-WIN-016 65
  R-WIN-017 126
  R-WIN-018 127
}
purpose of a window of 128 the PSN cack+1+$k is new: placed at once, reported by its own SACK, cack stays
mark S2, S (placed at once)
cite mrc.md 6; paper 2.1
rules resp.cack-arrived resp.ooo-most resp.sack-ask
msg gap = write len $k*256 at buf seq 1
msg m = write len 256 at buf+65536 seq 5
p0 < m[0] ackreq
* > sack trigger m[0] cack gap[0]-1 ooo 1 seth.ack_psn_offset $k+1 within rtt
mem digest buf+65536 256 = seq 5
none > ack within rtt from last

cases id k {
  R-WIN-021 128
  R-WIN-022 129
  R-WIN-023 191
  R-WIN-024 192
  R-WIN-025 256
  R-WIN-026 1024
  R-WIN-027 4000
}
purpose of a window of 128 the PSN cack+1+$k is outside: NACK PSN_OOR_WINDOW, nothing written, nothing reported
mark C, A-12
cite mrc.md 6; mrc.md 3
rules resp.oor-owed resp.nack resp.nack-oor
setting A-12 CTRL.oor_drop 0
negative
msg gap = write len $k*256 at buf seq 1
msg m = write len 256 at buf+buf_bytes-4096 seq 5
mem fill buf+buf_bytes-4096 256 = 0xa5
p0 < m[0] ackreq ev 0x98765432 as out
* > nack reason psn_oor_window psn m[0] entropy 0x98765432 within rtt
none > sack has m[0] within rtt from out
mem same buf+buf_bytes-4096 256 = 0xa5

cases id k {
  R-WIN-031 128
  R-WIN-032 256
  R-WIN-033 4000
}
purpose with the other answer of A-12 the PSN cack+1+$k, outside of a window of 128, is dropped without a word
mark C, A-12
cite mrc.md 6; mrc.md 3
rules resp.oor-owed resp.nack-oor mem.source resp.bitmap
setting A-12 CTRL.oor_drop 1
negative
msg gap = write len $k*256 at buf seq 1
msg m = write len 256 at buf+buf_bytes-4096 seq 5
mem fill buf+buf_bytes-4096 256 = 0xa5
p0 < m[0] ackreq as out
none > * within rtt from out
mem same buf+buf_bytes-4096 256 = 0xa5
p0 < gap[0] ackreq
* > sack cack gap[0] ooo 0 within rtt

id R-WIN-034
purpose the window moves with cack: what was outside is taken once the first packet is here
mark S2, A-12
cite mrc.md 6
rules resp.oor-owed resp.nack-oor resp.cack-taken
setting A-12 CTRL.oor_drop 0
negative
msg one = write len 256 at buf seq 1
msg gap = write len 127*256 at buf seq 2
msg m = write len 256 at buf+65536 seq 5
mem fill buf+65536 256 = 0xa5
p0 < m[0] ackreq
* > nack reason psn_oor_window psn m[0] within rtt
mem same buf+65536 256 = 0xa5
p0 < one[0] ackreq
* > sack cack one[0] within rtt
p0 < m[0] rtx
* > sack trigger m[0] cack one[0] ooo 1 within rtt
mem digest buf+65536 256 = seq 5

id R-WIN-035
purpose what is refused leaves nothing behind: when its turn comes it is new
mark S2, A-12
cite mrc.md 6
rules resp.oor-owed resp.bitmap resp.cack-arrived
setting A-12 CTRL.oor_drop 1
negative
msg one = write len 256 at buf seq 1
msg gap = write len 127*256 at buf seq 2
msg m = write len 256 at buf+65536 seq 5
mem fill buf+65536 256 = 0xa5
p0 < m[0]
p0 < m[0]
p0 < one[0] ackreq
* > sack cack one[0] ooo 0 within rtt
none > sack has m[0] within rtt from last
p0 < m[0] rtx
* > sack trigger m[0] cack one[0] ooo 1 within rtt
mem digest buf+65536 256 = seq 5

cases id delta {
  R-WIN-041 0x10000
  R-WIN-042 0x400000
  R-WIN-043 0x7FFF00
}
purpose a PSN $delta above cack is beyond the window, and no duplicate: half of 2^24 lies above
mark C, A-12, S2 (half range)
cite mrc.md 6
rules resp.oor-owed resp.nack resp.nack-oor
setting A-12 CTRL.oor_drop 0
negative
msg m = write len 256 at buf seq 5
mem fill buf 256 = 0xa5
p0 < m[0] ackreq raw bth.psn (rq_psn+$delta)%16777216
* > nack reason psn_oor_window psn rq_psn+$delta within rtt
mem same buf 256 = 0xa5

cases id delta {
  R-WIN-051 1
  R-WIN-052 2
  R-WIN-053 64
  R-WIN-054 0x1001
  R-WIN-055 0x10000
  R-WIN-056 0x400000
  R-WIN-057 0x7FFF00
}
purpose a PSN $delta below the first one is a duplicate, whatever it brings: SACK, nothing written, no NACK
mark S2
cite mrc.md 6
rules resp.sack-dup mem.once
negative
msg m = write len 256 at buf seq 5
mem fill buf 256 = 0xa5
p0 < m[0] raw bth.psn (rq_psn+16777216-$delta)%16777216 as old
* > sack cack rq_psn-1 ooo 0 rcvd 0 within rtt
none > nack within rtt from old
mem same buf 256 = 0xa5
p0 < m[0] ackreq
* > sack cack m[0] within rtt
mem digest buf 256 = seq 5

# ---- 2^24 ----

cases id first order {
  R-WIN-061 0xFFFFFF "p0 < m[0] ; p0 < m[1] ; p0 < m[2] ; p0 < m[3] ackreq"
  R-WIN-062 0xFFFFFE "p0 < m[3] ; p0 < m[2] ; p0 < m[1] ; p0 < m[0] ackreq"
  R-WIN-063 0xFFFFFD "p0 < m[2] ; p0 < m[0] ; p0 < m[3] ; p0 < m[1] ackreq"
  R-WIN-064 0xFFFFFC "p0 < m[1] ; p0 < m[3] ; p0 < m[2] ; p0 < m[0] ackreq"
}
purpose four packets from PSN $first on, across 2^24 or up to its edge, in another order each time
mark S2
cite mrc.md 6; base.md AETH
rules resp.cack-taken resp.ack-psn resp.sack-ask mem.source
caps responder psn
profile mtu 256 mpr_dest 1 rq_psn $first
msg m = write len 1024 at buf seq 5
$order
any order { * > sack cack m[3] ooo 0 seth.cack_psn ($first+3)%16777216 ; * > ack psn m[3] msn 1 } within rtt
mem digest buf 1024 = seq 5

id R-WIN-065
purpose the window reaches across 2^24: cack+128 is inside, cack+129 is not
mark C, S2, A-12
cite mrc.md 6
rules resp.nack-oor resp.oor-owed resp.cack-arrived
caps responder psn
setting A-12 CTRL.oor_drop 0
profile mtu 256 mpr_dest 1 rq_psn 0xFFFFC0
msg gap = write len 127*256 at buf seq 1
msg m = write len 256 at buf+65536 seq 5
msg n = write len 256 at buf+69632 seq 6
mem fill buf+69632 256 = 0xa5
p0 < m[0] ackreq
* > sack trigger m[0] bth.psn 0xFFFFBF cack gap[0]-1 ooo 1 within rtt
p0 < n[0] ackreq
* > nack reason psn_oor_window neth.nack_psn 0x40 within rtt
mem digest buf+65536 256 = seq 5
mem same buf+69632 256 = 0xa5

id R-WIN-066
purpose a duplicate from before 2^24 is a duplicate after it
mark S2
cite mrc.md 6
rules resp.sack-dup mem.once resp.trigger
caps responder psn
profile mtu 256 mpr_dest 1 rq_psn 0xFFFFFE
negative
msg m = write len 1024 at buf seq 5
p0 < m[0] ; p0 < m[1] ; p0 < m[2] ; p0 < m[3] ackreq
any order { * > sack cack m[3] ; * > ack psn m[3] msn 1 } within rtt
settle 2 rtt
mem fill buf 1024 = 0xa5
p0 < m[0] rtx as again
* > sack cack m[3] trigger m[0] seth.ack_psn_offset -3 bth.psn 1 within rtt
mem same buf 1024 = 0xa5 after rtt from again

# ---- windows that change ----

id R-WIN-071
purpose a SACK says the responder's window, in units of 128, if the QP has dynamic MPR
mark S2, A-59
cite mrc.md 3; mrc.md 7
rules resp.mpr resp.mpr-range wire.mpr
caps responder dyn_mpr
profile mtu 256 mpr_dest 1 dynamic_mpr 1
msg m = write len 256 at buf seq 5
p0 < m[0] ackreq
* > sack cack m[0] mpr 1 within rtt

id R-WIN-072
purpose a window that software makes smaller is told, and what lies behind it is NACKed NO_BITMAP
mark A, A-59
cite mrc.md 7; mrc.md 3
rules resp.mpr resp.mpr-range wire.mpr resp.nack-oor resp.bitmap
caps responder dyn_mpr
profile mtu 256 mpr_dest 8 dynamic_mpr 1
negative
repair off
msg gap = write len 256*256 at buf seq 1
msg m = write len 256 at buf+131072 seq 5
mem fill buf+131072 256 = 0xa5
dut mpr 2
p0 < gap[0] ackreq
* > sack cack gap[0] mpr 2 within rtt
p0 < m[0] ackreq
* > sack trigger m[0] ooo 1 within rtt
msg n = write len 256 at buf+135168 seq 6
mem fill buf+135168 256 = 0xa5
p0 < n[0] ackreq as out
* > nack reason no_bitmap psn n[0] within rtt
none > sack has n[0] within rtt from out
mem same buf+135168 256 = 0xa5
