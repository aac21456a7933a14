# SPDX-License-Identifier: Apache-2.0
# Lengths: the path MTU, First and Middle full, Last and Only padded to 4 bytes, lengths that contradict each other.
tier 1
caps responder
planes 1

cases id mtu {
  H-MTU-001 256
  H-MTU-002 512
  H-MTU-003 1024
  H-MTU-004 2048
  H-MTU-005 4096
}
purpose messages of one byte less, exactly, and one byte more than three full packets of $mtu are placed byte by byte
mark S (sizes), S2+ (VA, DMA length)
cite mrc.md 1; mrc.md 3; mrc.md 6
rules resp.sack-ask resp.cack-taken mem.source
profile mtu $mtu
msg a = write len 3*$mtu-1 at buf seq 1
msg b = write len 3*$mtu at buf+16384 seq 2
msg c = write len 3*$mtu+1 at buf+32768 seq 3
p0 < a[0]
p0 < a[1]
p0 < a[2] ackreq
* > ack psn a.last msn 1 within rtt
p0 < b[0]
p0 < b[1]
p0 < b[2] ackreq
* > ack psn b.last msn 2 within rtt
p0 < c[0]
p0 < c[1]
p0 < c[2]
p0 < c[3] ackreq
* > ack psn c.last msn 3 within rtt
mem digest buf 3*$mtu-1 = seq 1
mem digest buf+16384 3*$mtu = seq 2
mem digest buf+32768 3*$mtu+1 = seq 3

cases id len pad {
  H-PAD-101 1 3
  H-PAD-102 2 2
  H-PAD-103 3 1
  H-PAD-104 4 0
  H-PAD-105 4093 3
  H-PAD-106 4094 2
  H-PAD-107 4095 1
}
purpose $len bytes come with $pad bytes of pad, and the pad is not written
mark S2 (padded to 4 bytes)
cite mrc.md 6; mrc.md 2
rules resp.sack-ask resp.cack-taken mem.source
msg m = write len $len at buf+64 seq 4
mem fill buf 8192 = 0xa5
p0 < m[0] ackreq raw bth.pad_count $pad
* > sack cack m[0] within rtt
mem digest buf+64 $len = seq 4
mem same buf 64 = 0xa5
mem same buf+64+$len 64 = 0xa5

cases id off {
  H-PAD-111 1
  H-PAD-112 2
  H-PAD-113 3
  H-PAD-114 63
}
purpose a message to an address that is $off modulo 64 is placed there, and nothing beside it is touched
mark S
cite mrc.md 3; mrc.md 6
rules resp.sack-ask resp.cack-taken mem.source
msg m = write len 8195 at buf+256+$off seq 4
mem fill buf 16384 = 0xa5
p0 < m[0]
p0 < m[1]
p0 < m[2] ackreq
* > ack psn m.last msn 1 within rtt
mem digest buf+256+$off 8195 = seq 4
mem same buf 256+$off = 0xa5
mem same buf+256+$off+8195 256 = 0xa5

cases id index bytes what {
  H-LEN-001 0 4092 "First of 4 bytes less than the path MTU"
  H-LEN-002 0 64 "short First"
  H-LEN-003 1 4092 "Middle of 4 bytes less than the path MTU"
  H-LEN-004 0 4100 "First of 4 bytes more than the path MTU"
  H-LEN-005 1 4100 "Middle of 4 bytes more than the path MTU"
}
purpose a $what is not taken
mark S2 (First and Middle carry exactly the path MTU), A (without a word)
cite mrc.md 6; IBTA 9.8.3
rules resp.trigger resp.cack-arrived mem.source
caps responder bytes
negative
background ignore sack ack probe endpoint
msg m = write len 12288 at buf seq 4
mem fill buf 16384 = 0xa5
p0 < m[$index] ackreq payload len $bytes raw bth.pad_count 0 as bad
none > sack has m[$index] within rtt from bad
mem same buf 16384 = 0xa5
p0 < m[0] rtx
p0 < m[1] rtx
p0 < m[2] ackreq
* > ack psn m.last msn 1 within rtt
mem digest buf 12288 = seq 4

id H-LEN-006
purpose an Only of more than the path MTU is not taken
mark S2, A (without a word)
cite mrc.md 6; mrc.md 1
rules resp.trigger resp.cack-arrived mem.source
caps responder bytes
profile mtu 1024
negative
msg m = write len 1024 at buf seq 4
mem fill buf 4096 = 0xa5
p0 < m[0] ackreq payload len 1028 raw bth.pad_count 0 as bad
none > sack has m[0] within rtt from bad
mem same buf 4096 = 0xa5
p0 < m[0] rtx ackreq
* > sack cack m[0] within rtt
mem digest buf 1024 = seq 4

id H-LEN-007
purpose a Last of more than the path MTU is not taken
mark S2, A (without a word)
cite mrc.md 6; mrc.md 1
rules resp.trigger resp.cack-arrived mem.source
caps responder bytes
profile mtu 1024
negative
msg m = write len 2048 at buf seq 4
mem fill buf 4096 = 0xa5
p0 < m[0]
p0 < m[1] ackreq payload len 1028 raw bth.pad_count 0 as bad
none > sack has m[1] within rtt from bad
mem same buf+1024 3072 = 0xa5
p0 < m[1] rtx ackreq
* > ack psn m[1] msn 1 within rtt

cases id cut what {
  H-CUT-001 60 "the IP header"
  H-CUT-002 66 "the BTH"
  H-CUT-003 76 "the METH"
  H-CUT-004 90 "the RETH"
  H-CUT-005 1000 "the payload"
  H-CUT-006 4145 "the ICRC"
}
purpose a frame that ends inside $what, and whose lengths say otherwise, is discarded
mark S
cite mrc.md 1; RFC 8200 3
rules resp.trigger resp.cack-arrived mem.source
caps responder bytes
negative
msg m = write len 4096 at buf seq 4
mem fill buf 4096 = 0xa5
p0 < m[0] ackreq cut $cut
none > * within rtt from last
mem same buf 4096 = 0xa5
p0 < m[0] rtx ackreq
* > sack cack m[0] within rtt

cases id field value what {
  H-LIE-001 udp.length 4000 "UDP length shorter than the packet"
  H-LIE-002 udp.length 5000 "UDP length longer than the frame"
  H-LIE-003 udp.length 8 "UDP length of its own header alone"
}
purpose a $what is a packet that is not taken
mark S
cite RFC 768; RFC 8200 3; base.md ICRC
rules resp.trigger resp.cack-arrived mem.source
caps responder bytes
negative
msg m = write len 4096 at buf seq 4
mem fill buf 8192 = 0xa5
p0 < m[0] ackreq raw $field $value as bad
none > sack has m[0] within rtt from bad
mem same buf 8192 = 0xa5
p0 < m[0] ackreq
* > sack cack m[0] within rtt
mem digest buf 4096 = seq 4
