# SPDX-License-Identifier: Apache-2.0
# Ports and endpoint exchange, SRv6, time stamps.
tier 2
caps responder
planes 2

# ---- endpoint requests are answered ----

cases id req mask {
  R-PORT-001 0 0x1FE
  R-PORT-002 1 0x002
  R-PORT-003 0x8000 0x004
  R-PORT-004 0xFFFF 0x000
}
purpose a port status update (mask $mask) is answered with its id $req, op and time stamp
mark S2+, S
cite mrc.md 3; mrc.md 5; mrc.md 2
rules peer.answer peer.stamp
p0 < endpoint request op port_status mask $mask id $req timestamp 0x1357
* > endpoint response id $req op port_status timestamp 0x1357 within rtt

cases id req {
  R-PORT-011 0
  R-PORT-012 0x7777
  R-PORT-013 0xFFFF
}
purpose an EV probe of id $req is answered, like a port status update, with op EV probe
mark S2+
cite mrc.md 3; mrc.md 5
rules peer.answer peer.stamp
p1 < evprobe id $req timestamp 0x2468
* > endpoint response id $req op ev_probe timestamp 0x2468 within rtt

id R-PORT-014
purpose EETH has op in bits 3:2 of its byte 1
mark C, A-36
cite mrc.md 3
rules peer.answer wire.reserved
setting A-36 CTRL.eeth_op_high 0
p0 < evprobe id 9 timestamp 3
* > endpoint response id 9 eeth.op 1 eeth.reserved2 0 eeth.reserved1 0 within rtt

id R-PORT-015
purpose with the other answer of A-36 EETH has op in bits 5:4
mark C, A-36
cite mrc.md 3
rules peer.answer wire.reserved
setting A-36 CTRL.eeth_op_high 1
p0 < evprobe id 9 timestamp 3
* > endpoint response id 9 eeth.op 0 eeth.reserved2 0 eeth.reserved1 1 within rtt

id R-PORT-021
purpose the same request twice is answered twice: its sender may not have heard
mark S2, A-60
cite mrc.md 5
rules peer.answer
p0 < endpoint request op port_status mask 0x1FE id 5
* > endpoint response id 5 within rtt
settle rtt
p0 < endpoint request op port_status mask 0x1FE id 5 as again
* > endpoint response id 5 within rtt from again

id R-PORT-022
purpose a trimmed endpoint request is dropped
mark A, A-60
cite mrc.md 5; mrc.md 4
rules peer.answer
negative
setting A-60 default
p0 < endpoint request op port_status mask 0x1FE id 5 dscp trimmed
none > endpoint response within rtt from last
p0 < endpoint request op port_status mask 0x1FE id 6
* > endpoint response id 6 within rtt

id R-PORT-023
purpose an endpoint request moves no PSN and completes nothing
mark S2+
cite mrc.md 2; mrc.md 6
rules resp.cack-arrived peer.answer
negative
msg m = write len 4096 at buf seq 2
p0 < endpoint request op port_status mask 0x1FE id 0x1000
* > endpoint response id 0x1000 within rtt
p0 < m[0] ackreq
* > sack cack m[0] ooo 0 within rtt

id R-PORT-024
purpose an endpoint response that nobody asked for is ignored
mark S2+
cite mrc.md 3
rules resp.nack resp.cack-arrived
negative
msg m = write len 4096 at buf seq 2
p0 < endpoint response op port_status id 0x4321
none > nack within rtt from last
p0 < m[0] ackreq
* > sack cack m[0] within rtt
