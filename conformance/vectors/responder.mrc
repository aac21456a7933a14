# SPDX-License-Identifier: Apache-2.0
# The responder: what arrives is placed once, reported by SACK, completed by ACK.
tier 2
caps responder
planes 2

id R-SACK-001
purpose a packet that asks is reported, and the message that is complete is acknowledged
mark S2, A (when the ACK goes out: A-16)
cite mrc.md 6; mrc.md 3
msg m = write len 8192 at buf seq 7
mem fill buf 8192 = 0xa5
p0 < m[0]
p1 < m[1] ackreq 1
any order { * > sack cack m[1] ; * > ack psn m[1] msn 1 } within rtt
mem digest buf 8192 = seq 7
