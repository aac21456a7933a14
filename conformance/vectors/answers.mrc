# SPDX-License-Identifier: Apache-2.0
# On which plane an answer leaves, and which answers ask for a fresh way back (A-06). A port that is down, here or at the
# peer, is never used.
tier 2
caps responder
planes 2
evs 16

id R-WAY-001
purpose SACKs about data leave on the planes in turn, whatever plane the data came on
mark A, A-06
cite mrc.md 5
rules resp.sack-ask
setting A-06 CTRL.ack_plane 0
msg m = write len 32768 at buf seq 1
p0 < m[0] ackreq
* > sack trigger m[0] within rtt as a
p0 < m[1] ackreq
* > sack trigger m[1] within rtt as b
p0 < m[2] ackreq
* > sack trigger m[2] within rtt as c
expect a.plane != b.plane and b.plane != c.plane

id R-WAY-002
purpose ACKs take part in the turn of the SACKs
mark A, A-06
cite mrc.md 5
rules resp.ack-owed resp.ack-psn
setting A-06 CTRL.ack_plane 0
msg k = write len 4096 at buf seq 1
msg l = write len 4096 at buf+4096 seq 2
msg m = write len 4096 at buf+8192 seq 3
msg n = write len 4096 at buf+12288 seq 4
p0 < k[0] ackreq
any order { * > sack cack k[0] ; * > ack psn k[0] } within rtt
p0 < l[0] ackreq
any order { * > sack cack l[0] ; * > ack psn l[0] } within rtt
p0 < m[0] ackreq
any order { * > sack cack m[0] ; * > ack psn m[0] } within rtt
p0 < n[0] ackreq
any order { * > sack cack n[0] ; * > ack psn n[0] } within rtt
settle 2 rtt
let sacks = count(p0 > sack) - count(p1 > sack)
let acks = count(p0 > ack) - count(p1 > ack)
expect abs(sacks + acks) <= 1                             # one turn for both; two turns show where they are uneven

cases id plane {
  R-WAY-003 p0
  R-WAY-004 p1
}
purpose answers to reliability probes leave on $plane, on which the probes came
mark A, A-06
cite mrc.md 5
rules resp.sack-probe resp.probe
setting A-06 CTRL.ack_plane 0
$plane < probe id 1
$plane > sack pr 1 probe 1 within rtt
$plane < probe id 2
$plane > sack pr 1 probe 2 within rtt
$plane < probe id 3
$plane > sack pr 1 probe 3 within rtt

cases id plane {
  R-WAY-005 p0
  R-WAY-006 p1
}
purpose NACKs leave on $plane, on which the packets came
mark A, A-06
cite mrc.md 5
rules resp.nack-trim resp.trim resp.nack
setting A-06 CTRL.ack_plane 0
caps responder trim_nack
repair off
background ignore sack ack probe endpoint
msg m = write len 16384 at buf seq 6
$plane < m[0] trim 128
$plane > nack reason trimmed psn m[0] within rtt
$plane < m[1] trim 128
$plane > nack reason trimmed psn m[1] within rtt
$plane < m[2] trim 128
$plane > nack reason trimmed psn m[2] within rtt

cases id dark mask light {
  R-WAY-011 p0 0x004 p1
  R-WAY-012 p1 0x002 p0
}
purpose the peer says that its port $dark is down: no answer leaves there, not even to what came on it
mark S (peers stop sending on that plane), A-06, A-37
cite mrc.md 5; paper 3
rules resp.sack-ask resp.sack-probe resp.nack-trim peer.answer
setting A-37 CTRL.ports_from_0 0
caps responder ports trim_nack
repair off
background ignore sack ack nack probe endpoint
msg m = write len 32768 at buf seq 6
$light < endpoint request op port_status mask $mask id 1
$light > endpoint response id 1 op port_status within rtt
settle 2 rtt
let from0 = now
$dark < m[0] ackreq
$light > sack trigger m[0] within rtt
$dark < m[1] ackreq
$light > sack trigger m[1] within rtt
$light < m[2] ackreq
$light > sack trigger m[2] within rtt
$dark < probe id 3
$light > sack pr 1 probe 3 within rtt
$dark < m[3] trim 128
$light > nack psn m[3] within rtt
none $dark > sack within rtt from from0

cases id dark light {
  R-WAY-013 p0 p1
  R-WAY-014 p1 p0
}
purpose the device's own port $dark is down: SACKs leave on the other one, all of them
mark S
cite mrc.md 5; paper 3
rules resp.sack-ask
caps responder ports
background ignore sack ack nack probe endpoint
msg m = write len 32768 at buf seq 6
$dark carrier down
settle 2 rtt
$light < m[0] ackreq
$light > sack trigger m[0] within rtt
$light < m[1] ackreq
$light > sack trigger m[1] within rtt
$light < m[2] ackreq
$light > sack trigger m[2] within rtt

id R-WAY-021
purpose a SACK about data, without an ACK, asks for a fresh way back: an EV probe goes out
mark A, A-06 (one EV probe per RTT while inbound only: paper)
cite mrc.md 5; paper 2.4
rules resp.sack-ask wire.op
setting A-06 CTRL.rev_fixed 0
caps responder evprobe
msg m = write len 32768 at buf seq 6
p0 < m[0] ackreq
* > sack trigger m[0] within rtt
* > endpoint request op ev_probe within 400 us from last

id R-WAY-022
purpose answers to reliability probes ask for no way back: two quiet NICs would probe each other for ever
mark A, A-06
cite mrc.md 5
rules resp.sack-probe resp.probe
setting A-06 CTRL.rev_fixed 0
caps responder evprobe
p0 < probe id 1
* > sack pr 1 probe 1 within rtt
none > endpoint request op ev_probe within 300 us
p0 < probe id 2
* > sack pr 1 probe 2 within rtt
none > endpoint request op ev_probe within 300 us

id R-WAY-023
purpose an EV probe of the device's own has the code point of endpoint requests, by default that of data
mark A, A-60, A-04
cite mrc.md 4
rules wire.class
caps responder evprobe
setting A-06 CTRL.rev_fixed 0
msg m = write len 32768 at buf seq 6
p0 < m[0] ackreq
* > sack trigger m[0] within rtt
* > endpoint request op ev_probe dscp data within 400 us from last
