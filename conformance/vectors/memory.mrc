# SPDX-License-Identifier: Apache-2.0
# A host whose memory is slow: what is not visible yet is not told as done.
tier 2
planes 2
caps responder write_imm slow_memory
profile mtu 1024

cases id len what {
  R-MEM-001 1 "one byte"
  R-MEM-002 32 "one line of a small host"
  R-MEM-003 64 "64 bytes"
  R-MEM-004 128 "128 bytes"
  R-MEM-005 1024 "a full packet"
  R-MEM-006 4096 "four packets"
}
purpose while memory takes no writes an immediate of $what does not complete; its data are there when it does
mark S2
cite mrc.md 6
rules mem.cqe resp.cqe-complete
negative
msg m = write len $len at buf seq 3 imm 0x77
mem fill buf $len = 0xa5
dut recv 1
dut memory hold
p0 < m[0] ackreq
if m.count > 1 { p1 < m[1] ; p0 < m[2] ; p1 < m[3] ackreq }
none > cqe receive from last within 2 rtt
mem same buf $len = 0xa5
dut memory take
> cqe receive imm 0x77 bytes $len within 2 rtt
mem digest buf $len = seq 3

id R-MEM-011
purpose an immediate waits for the plain WRITE before it, whose data memory has not taken
mark S2
cite mrc.md 6
rules mem.cqe mem.cqe-order
negative
msg m = write len 64 at buf seq 3
msg n = write len 64 at buf+4096 seq 4 imm 0x88
dut recv 1
dut memory hold
p0 < m[0]
p1 < n[0] ackreq
none > cqe receive from last within 2 rtt
dut memory take
> cqe receive imm 0x88 within 2 rtt
mem digest buf 64 = seq 3
mem digest buf+4096 64 = seq 4

id R-MEM-012
purpose immediates complete in order when memory takes their data together
mark S2
cite mrc.md 6
rules mem.cqe mem.cqe-order resp.cqe-order
negative
msg a = write len 64 at buf seq 3 imm 1
msg b = write len 64 at buf+64 seq 4 imm 2
msg c = write len 64 at buf+128 seq 5 imm 3
dut recv 3
dut memory hold
p0 < c[0]
p1 < b[0]
settle rtt
p0 < a[0] ackreq
none > cqe receive from last within 2 rtt
dut memory take
> cqe receive imm 1 rqmsn 0 within 2 rtt
> cqe receive imm 2 rqmsn 1 within 2 rtt
> cqe receive imm 3 rqmsn 2 within 2 rtt
mem digest buf 64 = seq 3
mem digest buf+64 64 = seq 4
mem digest buf+128 64 = seq 5

id R-MEM-013
purpose a SACK says "arrived": it does not wait for memory
mark S2, S (places it at once)
cite mrc.md 6 Layers
rules resp.sack-ask
msg m = write len 64 at buf seq 3
dut memory hold
p0 < m[0] ackreq
* > sack trigger m[0] within rtt
dut memory take
mem digest buf 64 = seq 3
