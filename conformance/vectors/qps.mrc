# SPDX-License-Identifier: Apache-2.0
# Several QPs of one NIC, to one peer and to many.
tier 2
caps responder
planes 2
cite mrc.md 6; mrc.md 7

id R-QPS-001
purpose packets of two QPs come by turns, with the same PSNs: each QP reports and acknowledges its own
mark S2, A (when the ACK goes out: A-16)
rules resp.cack-arrived resp.bitmap resp.ack-psn
profile rq_psn 0x4000
qp b rq_psn 0x4000
msg m = write len 8192 at buf seq 7
with b { msg n = write len 12288 at buf+16384 seq 8 }
p0 < m[0]
p1 < n[0]
p0 < n[1]
p1 < m[1] ackreq
p0 < n[2] ackreq
any order { * > sack cack m[1] ; * > ack psn m[1] msn 1 ; * > sack cack n[2] of b ; * > ack psn n[2] msn 1 of b } within rtt
mem digest buf 8192 = seq 7
mem digest buf+16384 12288 = seq 8

id R-QPS-002
purpose one QP ends in ERROR by an access error; the other, of the same peer, does not notice
mark S2, A-24
rules resp.nak-owed resp.cack-arrived mem.written
caps regions
qp b
msg m = write len 64 at buf r_key wrong
with b { msg n = write len 8192 at buf+4096 seq 8 }
p1 < n[0]
p0 < m[0] ackreq
* > nak psn m[0] msn 0 within rtt
p0 < n[1] ackreq
any order { * > sack cack n[1] of b ; * > ack psn n[1] msn 1 of b } within rtt
mem digest buf+4096 8192 = seq 8

id Q-QPS-001
purpose what two QPs send to two peers: each packet has the address and QP number of its own peer; an ACK ends the work of its QP alone
mark S2
caps requestor
rules req.cqe-owed req.cqe-ack req.cqe-order
qp b to peer2
dut post write len 64
with b { dut post write len 64 }
any order { * > write only psn sq_psn data posted ; * > write only psn sq_psn data posted of b } within 2 rtt
with b {
  p0 < sack cack sq_psn
  p0 < ack psn sq_psn msn 1
}
> cqe send status ok of b within rtt
none > cqe send within rtt from last
p1 < sack cack sq_psn
p1 < ack psn sq_psn msn 1
> cqe send status ok within rtt
