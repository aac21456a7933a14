# SPDX-License-Identifier: Apache-2.0
# A responder's window that software changes (dynamic MPR, A-59): what it may take, what it must refuse and how, and what
# it has taken already. A window of k units holds the 128 k PSNs above cack_psn.
tier 2
caps responder dyn_mpr
planes 1
profile mtu 256 mpr_dest 8 dynamic_mpr 1

cases id units k {
  R-MPR-001 1 1
  R-MPR-002 1 127
  R-MPR-003 2 128
  R-MPR-004 2 255
  R-MPR-005 4 511
  R-MPR-006 8 1023
}
purpose of 8 units $units count now: the PSN cack+1+$k is inside, placed at once, reported, not refused
mark S2, A-59
cite mrc.md 6; mrc.md 3
rules resp.mpr wire.mpr resp.sack-ask resp.nack-oor mem.source
repair off
msg m = write len 256 at buf+262144 seq 5
dut mpr $units
p0 < m[0] ackreq raw bth.psn (rq_psn+$k)%16777216 as x
* > sack trigger rq_psn+$k cack rq_psn-1 ooo 1 mpr $units within rtt
none > nack from x within rtt
mem digest buf+262144 256 = seq 5

cases id units k {
  R-MPR-011 1 128
  R-MPR-012 1 1023
  R-MPR-013 2 256
  R-MPR-014 4 512
  R-MPR-015 7 1023
}
purpose of 8 units $units count now: cack+1+$k is behind them and within what was agreed: NACK NO_BITMAP, nothing placed
mark A, A-59
cite mrc.md 6; mrc.md 3
rules resp.mpr resp.nack resp.nack-oor resp.bitmap mem.source
negative
repair off
background ignore sack ack probe endpoint
msg m = write len 256 at buf seq 5
mem fill buf 256 = 0xa5
dut mpr $units
p0 < m[0] ackreq raw bth.psn (rq_psn+$k)%16777216 ev 0x13572468 as x
* > nack reason no_bitmap psn rq_psn+$k entropy 0x13572468 within rtt
none > sack ooo > 0 from x within rtt
mem same buf 256 = 0xa5

cases id units k {
  R-MPR-021 1 1024
  R-MPR-022 4 1500
  R-MPR-023 8 1024
}
purpose of 8 units $units count now: cack+1+$k is outside of what was agreed: NACK PSN_OOR_WINDOW
mark A, A-59, A-12
cite mrc.md 6; mrc.md 3
rules resp.oor-owed resp.nack-oor
setting A-12 CTRL.oor_drop 0
negative
repair off
background ignore sack ack probe endpoint
msg m = write len 256 at buf seq 5
mem fill buf 256 = 0xa5
dut mpr $units
p0 < m[0] ackreq raw bth.psn (rq_psn+$k)%16777216
* > nack reason psn_oor_window psn rq_psn+$k within rtt
mem same buf 256 = 0xa5

id R-MPR-031
purpose what has arrived stays when the window shrinks below it: a duplicate of it is one, and cack passes over it
mark S2, A-59
cite mrc.md 6
rules resp.reported resp.sack-dup resp.cack-taken resp.bitmap mem.once
negative
msg m = write len 151*256 at buf seq 5
p0 < m[150] ackreq
* > sack trigger m[150] ooo 1 within rtt
dut mpr 1
settle rtt
mem fill buf+150*256 256 = 0xa5
p0 < m[150] rtx as again
* > sack trigger m[150] ooo 1 mpr 1 within rtt
none > nack from again within rtt
mem same buf+150*256 256 = 0xa5
p0 < m[0] ; p0 < m[1] ; p0 < m[2] ; p0 < m[3] ; p0 < m[4] ; p0 < m[5] ; p0 < m[6] ; p0 < m[7] ackreq
* > sack has m[7] within rtt

id R-MPR-032
purpose what is on its way while the window shrinks is taken or NACKed NO_BITMAP: both are right, silence is not
mark A, A-59, S2 (nothing is lost without a word)
cite mrc.md 6; mrc.md 7
rules resp.sack-ask resp.nack resp.mpr
msg m = write len 256 at buf seq 5
repair off
background ignore sack ack nack probe endpoint
dut mpr 1
p0 < m[0] ackreq raw bth.psn rq_psn+300
either { * > sack trigger rq_psn+300 ooo 1 within rtt } or { * > nack reason no_bitmap psn rq_psn+300 within rtt } flag A-59

id R-MPR-033
purpose a packet that was refused is new when the window has grown again
mark S2, A-59
cite mrc.md 6
rules resp.mpr resp.sack-ask mem.source
negative
repair off
background ignore sack ack nack probe endpoint
msg m = write len 256 at buf seq 5
mem fill buf 256 = 0xa5
dut mpr 1
p0 < m[0] ackreq raw bth.psn rq_psn+300
* > nack reason no_bitmap psn rq_psn+300 within rtt
mem same buf 256 = 0xa5
dut mpr 8
settle rtt
p0 < m[0] rtx raw bth.psn rq_psn+300 as again
* > sack trigger rq_psn+300 mpr 8 ooo 1 within rtt
none > nack from again within rtt
mem digest buf 256 = seq 5

id R-MPR-034
purpose the window of now moves with cack_psn: what it refused is inside when the packets before have come
mark S2, A-59
cite mrc.md 6
rules resp.mpr resp.cack-taken resp.sack-ask
negative
repair off
background ignore sack ack nack probe endpoint
msg first = write len 2*256 at buf seq 5
msg m = write len 128*256 at buf+65536 seq 7
dut mpr 1
p0 < m[127] ackreq
* > nack reason no_bitmap psn m[127] within rtt
repair on
p0 < first[0] ; p0 < first[1] ackreq
* > sack cack first[1] mpr 1 within rtt
p0 < m[127] rtx
* > sack trigger m[127] cack first[1] ooo 1 within rtt
p0 < m[0] ackreq
* > sack cack m[0] ooo 1 within rtt

id R-MPR-035
purpose duplicates below cack_psn have no window: they bring a SACK however small it is
mark S2
cite mrc.md 6
rules resp.sack-dup resp.mpr mem.once
negative
msg m = write len 512 at buf seq 5
p0 < m[0] ; p0 < m[1] ackreq
any order { * > sack cack m[1] mpr 8 ; * > ack psn m[1] msn 1 } within rtt
dut mpr 1
settle rtt
mem fill buf 512 = 0xa5
p0 < m[0] rtx as again
* > sack trigger m[0] cack m[1] mpr 1 within rtt
none > nack from again within rtt
mem same buf 512 = 0xa5
