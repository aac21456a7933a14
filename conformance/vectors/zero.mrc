# SPDX-License-Identifier: Apache-2.0
# WRITEs of no bytes (A-19) at a responder: one Only packet without payload and pad, DMA length 0, with or without an
# immediate. It takes a PSN, an MSN and, with an immediate, an RQMSN; VA and R_Key are as given, nobody looks at them.
tier 2
caps responder
planes 1
mark C, A-19
cite mrc.md 6; mrc.md 1
setting A-19 CTRL.zero_length 0

# ---- alone ----

cases id message how caps what {
  R-ZERO-101 "" "" responder "as it is"
  R-ZERO-102 "r_key 0" "" regions "with R_Key 0"
  R-ZERO-103 "r_key wrong" "" regions "with an R_Key that no region has"
  R-ZERO-104 "at buf-64" "" regions "at the bytes before the region"
  R-ZERO-105 "at buf+buf_bytes" "" regions "at the byte behind the region"
  R-ZERO-106 "" "raw reth.va 0" regions "at VA 0"
  R-ZERO-107 "" "raw reth.va 0xFFFFFFFFFFFFFFFF" regions "at the last VA of all"
  R-ZERO-108 "r_key 0" "raw reth.va 0" regions "with R_Key 0 and VA 0"
  R-ZERO-109 "" "rtx" responder "with rtx 1"
}
purpose a WRITE of no bytes, $what, is taken: reported, acknowledged, and nothing is written
rules resp.sack-ask resp.cack-taken resp.ack-owed resp.ack-msn mem.source resp.nak-cause resp.zero
msg m = write len 0 at buf seq 3 $message
mem fill buf 64 = 0xa5
mem fill buf+buf_bytes-64 64 = 0xa5
p0 < m[0] ackreq $how
any order { * > sack cack m[0] trigger m[0] ; * > ack psn m[0] msn 1 } within rtt
mem same buf 64 = 0xa5
mem same buf+buf_bytes-64 64 = 0xa5
dut query state rts

cases id message how caps what {
  R-ZERO-111 "" "" responder "as it is"
  R-ZERO-112 "r_key 0" "" regions "with R_Key 0"
  R-ZERO-113 "r_key wrong" "" regions "with an R_Key that no region has"
  R-ZERO-114 "at buf-64" "" regions "at the bytes before the region"
  R-ZERO-115 "at buf+buf_bytes" "" regions "at the byte behind the region"
  R-ZERO-116 "" "raw reth.va 0" regions "at VA 0"
  R-ZERO-117 "" "raw reth.va 0xFFFFFFFFFFFFFFFF" regions "at the last VA of all"
  R-ZERO-118 "r_key 0" "raw reth.va 0" regions "with R_Key 0 and VA 0"
  R-ZERO-119 "" "rtx" responder "with rtx 1"
}
purpose a WRITE of no bytes with immediate, $what, is taken: its immediate completes with 0 bytes, and nothing is written
rules resp.cqe-imm resp.cqe-complete resp.ack-owed resp.ack-msn mem.source resp.nak-cause resp.zero
caps write_imm
background ignore sack probe endpoint
msg m = write len 0 at buf seq 3 imm 0x89ABCDEF $message
mem fill buf 64 = 0xa5
dut recv 1
p0 < m[0] ackreq $how
* > ack psn m[0] msn 1 within rtt
> cqe receive status ok imm 0x89ABCDEF rqmsn 0 bytes 0 within rtt
mem same buf 64 = 0xa5
settle rtt
expect count(> cqe receive) == 1
dut query state rts

cases id imm caps {
  R-ZERO-121 "" responder
  R-ZERO-122 "imm 5" write_imm
}
purpose a WRITE of no bytes that nobody asked about is acknowledged when it is complete ($imm)
rules resp.ack-owed resp.ack-psn
background ignore sack probe endpoint cqe
msg m = write len 0 at buf seq 3 $imm
dut recv 1
p0 < m[0]
* > ack psn m[0] msn 1 within rtt

cases id imm caps {
  R-ZERO-123 "" responder
  R-ZERO-124 "imm 5" write_imm
}
purpose a WRITE of no bytes that comes with ECN-CE is reported with SKIP_ONCE ($imm)
rules resp.sack-ce resp.mark
background ignore sack ack probe endpoint cqe
msg m = write len 0 at buf seq 3 $imm
dut recv 1
p0 < m[0] ecn ce
* > sack trigger m[0] cack m[0] m skip_once within rtt

cases id imm rcvd caps {
  R-ZERO-125 "" 1 responder
  R-ZERO-126 "imm 5" 1 write_imm
}
purpose a WRITE of no bytes counts in rcvd_bytes as what it is on the wire: one unit ($imm)
mark C, A-19, A-55
cite mrc.md 3; mrc.md 8
rules resp.nominal resp.bytes
setting A-55 CTRL.nominal 0
background ignore sack ack probe endpoint cqe
msg m = write len 0 at buf seq 3 $imm
dut recv 1
p0 < m[0] ackreq
* > sack cack m[0] rcvd $rcvd within rtt

cases id encap ts imm caps {
  R-ZERO-131 srv6 0 "" "srv6"
  R-ZERO-132 srv6 0 "imm 5" "srv6 write_imm"
  R-ZERO-133 srh 0 "" "srh"
  R-ZERO-134 srh 0 "imm 5" "srh write_imm"
  R-ZERO-135 ipv6 1 "" "time_stamps"
  R-ZERO-136 ipv6 1 "imm 5" "time_stamps write_imm"
  R-ZERO-137 srv6 1 "imm 5" "srv6 time_stamps write_imm"
}
purpose a WRITE of no bytes in $encap, time stamp $ts, is taken like any ($imm)
rules resp.cack-taken resp.ack-owed resp.sack-ask resp.zero
encap $encap
profile time_stamps $ts
background ignore sack ack probe endpoint cqe
msg m = write len 0 at buf seq 3 $imm
dut recv 1
p0 < m[0] ackreq
any order { * > sack cack m[0] trigger m[0] ; * > ack psn m[0] msn 1 } within rtt
expect count(> nak) == 0

id R-ZERO-138
purpose the time stamp of a WRITE of no bytes is given back
mark C, A-19, S2+
cite mrc.md 3; mrc.md 6
rules resp.stamp
caps responder time_stamps
profile time_stamps 1
msg m = write len 0 at buf seq 3
p0 < m[0] ackreq raw tseth.tx_timestamp16 = 0xABCD
* > sack trigger m[0] timestamp 0xABCD within rtt

cases id imm lengths caps {
  R-ZERO-141 "" none responder
  R-ZERO-142 "imm 5" none write_imm
}
purpose a WRITE of no bytes that a switch marks as trimmed is NACKed, though it has lost no byte, and taken when it comes whole ($imm)
rules resp.nack-trim resp.trim resp.cack-taken
caps trim_nack
repair off
background ignore sack ack probe endpoint cqe
msg m = write len 0 at buf seq 3 $imm
dut recv 1
p0 < m[0] trim 128 lengths $lengths
* > nack reason trimmed psn m[0] within rtt
expect count(> cqe) == 0
p0 < m[0] rtx
* > sack trigger m[0] cack m[0] within rtt

# ---- beside each other kind, in order and the other way round ----

cases id messages sends memory caps what {
  R-ZERO-201 "msg a = write len 64 at buf seq 3 ; msg b = write len 0 at buf+65536" "p0 < a[0] ; p0 < b[0]" "mem digest buf 64 = seq 3" "responder" "behind an Only"
  R-ZERO-202 "msg a = write len 64 at buf seq 3 ; msg b = write len 0 at buf+65536" "p0 < b[0] ; p0 < a[0]" "mem digest buf 64 = seq 3" "responder" "behind an Only, the later one arrives first"
  R-ZERO-203 "msg a = write len 0 at buf+65536 ; msg b = write len 64 at buf seq 3" "p0 < a[0] ; p0 < b[0]" "mem digest buf 64 = seq 3" "responder" "before an Only"
  R-ZERO-204 "msg a = write len 0 at buf+65536 ; msg b = write len 64 at buf seq 3" "p0 < b[0] ; p0 < a[0]" "mem digest buf 64 = seq 3" "responder" "before an Only, the later one arrives first"
  R-ZERO-205 "msg a = write len 12288 at buf seq 3 ; msg b = write len 0 at buf+65536" "p0 < a[0] ; p0 < a[1] ; p0 < a[2] ; p0 < b[0]" "mem digest buf 12288 = seq 3" "responder" "behind First, Middle and Last"
  R-ZERO-206 "msg a = write len 12288 at buf seq 3 ; msg b = write len 0 at buf+65536" "p0 < b[0] ; p0 < a[0] ; p0 < a[1] ; p0 < a[2]" "mem digest buf 12288 = seq 3" "responder" "behind First, Middle and Last, the later one arrives first"
  R-ZERO-207 "msg a = write len 0 at buf+65536 ; msg b = write len 12288 at buf seq 3" "p0 < a[0] ; p0 < b[0] ; p0 < b[1] ; p0 < b[2]" "mem digest buf 12288 = seq 3" "responder" "before First, Middle and Last"
  R-ZERO-208 "msg a = write len 0 at buf+65536 ; msg b = write len 12288 at buf seq 3" "p0 < b[0] ; p0 < b[1] ; p0 < b[2] ; p0 < a[0]" "mem digest buf 12288 = seq 3" "responder" "before First, Middle and Last, the later one arrives first"
  R-ZERO-209 "msg a = write len 64 at buf seq 3 imm 0xA ; msg b = write len 0 at buf+65536" "p0 < a[0] ; p0 < b[0]" "mem digest buf 64 = seq 3" "responder write_imm" "behind an Only with immediate"
  R-ZERO-210 "msg a = write len 64 at buf seq 3 imm 0xA ; msg b = write len 0 at buf+65536" "p0 < b[0] ; p0 < a[0]" "mem digest buf 64 = seq 3" "responder write_imm" "behind an Only with immediate, the later one arrives first"
  R-ZERO-211 "msg a = write len 0 at buf+65536 ; msg b = write len 64 at buf seq 3 imm 0xA" "p0 < a[0] ; p0 < b[0]" "mem digest buf 64 = seq 3" "responder write_imm" "before an Only with immediate"
  R-ZERO-212 "msg a = write len 0 at buf+65536 ; msg b = write len 64 at buf seq 3 imm 0xA" "p0 < b[0] ; p0 < a[0]" "mem digest buf 64 = seq 3" "responder write_imm" "before an Only with immediate, the later one arrives first"
  R-ZERO-213 "msg a = write len 8192 at buf seq 3 imm 0xA ; msg b = write len 0 at buf+65536" "p0 < a[0] ; p0 < a[1] ; p0 < b[0]" "mem digest buf 8192 = seq 3" "responder write_imm" "behind First and Last with immediate"
  R-ZERO-214 "msg a = write len 8192 at buf seq 3 imm 0xA ; msg b = write len 0 at buf+65536" "p0 < b[0] ; p0 < a[0] ; p0 < a[1]" "mem digest buf 8192 = seq 3" "responder write_imm" "behind First and Last with immediate, the later one arrives first"
  R-ZERO-215 "msg a = write len 0 at buf+65536 ; msg b = write len 8192 at buf seq 3 imm 0xA" "p0 < a[0] ; p0 < b[0] ; p0 < b[1]" "mem digest buf 8192 = seq 3" "responder write_imm" "before First and Last with immediate"
  R-ZERO-216 "msg a = write len 0 at buf+65536 ; msg b = write len 8192 at buf seq 3 imm 0xA" "p0 < b[0] ; p0 < b[1] ; p0 < a[0]" "mem digest buf 8192 = seq 3" "responder write_imm" "before First and Last with immediate, the later one arrives first"
  R-ZERO-217 "msg a = write len 4096 at buf seq 3 ; msg b = write len 0 at buf+65536" "p0 < a[0] trim 128 ; settle rtt ; p0 < a[0] rtx ; p0 < b[0]" "mem digest buf 4096 = seq 3" "responder trim_nack" "behind a packet that was trimmed, and comes again"
  R-ZERO-218 "msg a = write len 4096 at buf seq 3 ; msg b = write len 0 at buf+65536" "p0 < b[0] ; p0 < a[0] trim 128 ; settle rtt ; p0 < a[0] rtx" "mem digest buf 4096 = seq 3" "responder trim_nack" "behind a packet that was trimmed, and comes again, the later one arrives first"
  R-ZERO-219 "msg a = write len 0 at buf+65536 ; msg b = write len 4096 at buf seq 3" "p0 < a[0] ; p0 < b[0] trim 128 ; settle rtt ; p0 < b[0] rtx" "mem digest buf 4096 = seq 3" "responder trim_nack" "before a packet that was trimmed, and comes again"
  R-ZERO-220 "msg a = write len 0 at buf+65536 ; msg b = write len 4096 at buf seq 3" "p0 < b[0] trim 128 ; settle rtt ; p0 < b[0] rtx ; p0 < a[0]" "mem digest buf 4096 = seq 3" "responder trim_nack" "before a packet that was trimmed, and comes again, the later one arrives first"
  R-ZERO-221 "msg a = write len 64 at buf seq 3 ; msg b = write len 0 at buf+65536" "p0 < a[0] rtx ; p0 < b[0]" "mem digest buf 64 = seq 3" "responder" "behind a retransmission"
  R-ZERO-222 "msg a = write len 64 at buf seq 3 ; msg b = write len 0 at buf+65536" "p0 < b[0] ; p0 < a[0] rtx" "mem digest buf 64 = seq 3" "responder" "behind a retransmission, the later one arrives first"
  R-ZERO-223 "msg a = write len 0 at buf+65536 ; msg b = write len 64 at buf seq 3" "p0 < a[0] ; p0 < b[0] rtx" "mem digest buf 64 = seq 3" "responder" "before a retransmission"
  R-ZERO-224 "msg a = write len 0 at buf+65536 ; msg b = write len 64 at buf seq 3" "p0 < b[0] rtx ; p0 < a[0]" "mem digest buf 64 = seq 3" "responder" "before a retransmission, the later one arrives first"
  R-ZERO-225 "msg a = write len 0 at buf ; msg b = write len 0 at buf+65536" "p0 < a[0] ; p0 < b[0]" "mem same buf 64 = 0xa5" "responder" "behind another WRITE of no bytes"
  R-ZERO-226 "msg a = write len 0 at buf ; msg b = write len 0 at buf+65536" "p0 < b[0] ; p0 < a[0]" "mem same buf 64 = 0xa5" "responder" "behind another WRITE of no bytes, the later one arrives first"
  R-ZERO-227 "msg a = write len 0 at buf+65536 ; msg b = write len 0 at buf" "p0 < a[0] ; p0 < b[0]" "mem same buf 64 = 0xa5" "responder" "before another WRITE of no bytes"
  R-ZERO-228 "msg a = write len 0 at buf+65536 ; msg b = write len 0 at buf" "p0 < b[0] ; p0 < a[0]" "mem same buf 64 = 0xa5" "responder" "before another WRITE of no bytes, the later one arrives first"
  R-ZERO-229 "msg a = write len 0 at buf imm 0xA ; msg b = write len 0 at buf+65536" "p0 < a[0] ; p0 < b[0]" "mem same buf 64 = 0xa5" "responder write_imm" "behind an immediate of no bytes"
  R-ZERO-230 "msg a = write len 0 at buf imm 0xA ; msg b = write len 0 at buf+65536" "p0 < b[0] ; p0 < a[0]" "mem same buf 64 = 0xa5" "responder write_imm" "behind an immediate of no bytes, the later one arrives first"
  R-ZERO-231 "msg a = write len 0 at buf+65536 ; msg b = write len 0 at buf imm 0xA" "p0 < a[0] ; p0 < b[0]" "mem same buf 64 = 0xa5" "responder write_imm" "before an immediate of no bytes"
  R-ZERO-232 "msg a = write len 0 at buf+65536 ; msg b = write len 0 at buf imm 0xA" "p0 < b[0] ; p0 < a[0]" "mem same buf 64 = 0xa5" "responder write_imm" "before an immediate of no bytes, the later one arrives first"
}
purpose a WRITE of no bytes $what: both complete in order, each with what it has
rules resp.ack-order resp.ack-msn resp.ack-psn mem.source resp.cack-taken resp.zero
background ignore sack ack nack probe endpoint cqe
mem fill buf 64 = 0xa5
$messages
dut recv 2
$sends
* > ack psn b.last msn 2 within 2 rtt
$memory
settle rtt
expect count(> nak) == 0

cases id messages sends memory cqes caps what {
  R-ZERO-241 "msg a = write len 64 at buf seq 3 ; msg b = write len 0 at buf+65536 imm 0xF" "p0 < a[0] ; p0 < b[0]" "mem digest buf 64 = seq 3" "> cqe receive status ok imm 0xf rqmsn 0 bytes 0 within 16 rtt from start ; expect first(> cqe receive).imm == 0xf" "responder" "behind an Only"
  R-ZERO-242 "msg a = write len 64 at buf seq 3 ; msg b = write len 0 at buf+65536 imm 0xF" "p0 < b[0] ; p0 < a[0]" "mem digest buf 64 = seq 3" "> cqe receive status ok imm 0xf rqmsn 0 bytes 0 within 16 rtt from start ; expect first(> cqe receive).imm == 0xf" "responder" "behind an Only, the later one arrives first"
  R-ZERO-243 "msg a = write len 0 at buf+65536 imm 0xF ; msg b = write len 64 at buf seq 3" "p0 < a[0] ; p0 < b[0]" "mem digest buf 64 = seq 3" "> cqe receive status ok imm 0xf rqmsn 0 bytes 0 within 16 rtt from start ; expect first(> cqe receive).imm == 0xf" "responder" "before an Only"
  R-ZERO-244 "msg a = write len 0 at buf+65536 imm 0xF ; msg b = write len 64 at buf seq 3" "p0 < b[0] ; p0 < a[0]" "mem digest buf 64 = seq 3" "> cqe receive status ok imm 0xf rqmsn 0 bytes 0 within 16 rtt from start ; expect first(> cqe receive).imm == 0xf" "responder" "before an Only, the later one arrives first"
  R-ZERO-245 "msg a = write len 12288 at buf seq 3 ; msg b = write len 0 at buf+65536 imm 0xF" "p0 < a[0] ; p0 < a[1] ; p0 < a[2] ; p0 < b[0]" "mem digest buf 12288 = seq 3" "> cqe receive status ok imm 0xf rqmsn 0 bytes 0 within 16 rtt from start ; expect first(> cqe receive).imm == 0xf" "responder" "behind First, Middle and Last"
  R-ZERO-246 "msg a = write len 12288 at buf seq 3 ; msg b = write len 0 at buf+65536 imm 0xF" "p0 < b[0] ; p0 < a[0] ; p0 < a[1] ; p0 < a[2]" "mem digest buf 12288 = seq 3" "> cqe receive status ok imm 0xf rqmsn 0 bytes 0 within 16 rtt from start ; expect first(> cqe receive).imm == 0xf" "responder" "behind First, Middle and Last, the later one arrives first"
  R-ZERO-247 "msg a = write len 0 at buf+65536 imm 0xF ; msg b = write len 12288 at buf seq 3" "p0 < a[0] ; p0 < b[0] ; p0 < b[1] ; p0 < b[2]" "mem digest buf 12288 = seq 3" "> cqe receive status ok imm 0xf rqmsn 0 bytes 0 within 16 rtt from start ; expect first(> cqe receive).imm == 0xf" "responder" "before First, Middle and Last"
  R-ZERO-248 "msg a = write len 0 at buf+65536 imm 0xF ; msg b = write len 12288 at buf seq 3" "p0 < b[0] ; p0 < b[1] ; p0 < b[2] ; p0 < a[0]" "mem digest buf 12288 = seq 3" "> cqe receive status ok imm 0xf rqmsn 0 bytes 0 within 16 rtt from start ; expect first(> cqe receive).imm == 0xf" "responder" "before First, Middle and Last, the later one arrives first"
  R-ZERO-249 "msg a = write len 64 at buf seq 3 imm 0xA ; msg b = write len 0 at buf+65536 imm 0xF" "p0 < a[0] ; p0 < b[0]" "mem digest buf 64 = seq 3" "> cqe receive status ok imm 0xa rqmsn 0 bytes 64 within 16 rtt from start ; > cqe receive status ok imm 0xf rqmsn 1 bytes 0 within 16 rtt from start ; expect first(> cqe receive).imm == 0xa" "responder write_imm" "behind an Only with immediate"
  R-ZERO-250 "msg a = write len 64 at buf seq 3 imm 0xA ; msg b = write len 0 at buf+65536 imm 0xF" "p0 < b[0] ; p0 < a[0]" "mem digest buf 64 = seq 3" "> cqe receive status ok imm 0xa rqmsn 0 bytes 64 within 16 rtt from start ; > cqe receive status ok imm 0xf rqmsn 1 bytes 0 within 16 rtt from start ; expect first(> cqe receive).imm == 0xa" "responder write_imm" "behind an Only with immediate, the later one arrives first"
  R-ZERO-251 "msg a = write len 0 at buf+65536 imm 0xF ; msg b = write len 64 at buf seq 3 imm 0xA" "p0 < a[0] ; p0 < b[0]" "mem digest buf 64 = seq 3" "> cqe receive status ok imm 0xf rqmsn 0 bytes 0 within 16 rtt from start ; > cqe receive status ok imm 0xa rqmsn 1 bytes 64 within 16 rtt from start ; expect first(> cqe receive).imm == 0xf" "responder write_imm" "before an Only with immediate"
  R-ZERO-252 "msg a = write len 0 at buf+65536 imm 0xF ; msg b = write len 64 at buf seq 3 imm 0xA" "p0 < b[0] ; p0 < a[0]" "mem digest buf 64 = seq 3" "> cqe receive status ok imm 0xf rqmsn 0 bytes 0 within 16 rtt from start ; > cqe receive status ok imm 0xa rqmsn 1 bytes 64 within 16 rtt from start ; expect first(> cqe receive).imm == 0xf" "responder write_imm" "before an Only with immediate, the later one arrives first"
  R-ZERO-253 "msg a = write len 8192 at buf seq 3 imm 0xA ; msg b = write len 0 at buf+65536 imm 0xF" "p0 < a[0] ; p0 < a[1] ; p0 < b[0]" "mem digest buf 8192 = seq 3" "> cqe receive status ok imm 0xa rqmsn 0 bytes 8192 within 16 rtt from start ; > cqe receive status ok imm 0xf rqmsn 1 bytes 0 within 16 rtt from start ; expect first(> cqe receive).imm == 0xa" "responder write_imm" "behind First and Last with immediate"
  R-ZERO-254 "msg a = write len 8192 at buf seq 3 imm 0xA ; msg b = write len 0 at buf+65536 imm 0xF" "p0 < b[0] ; p0 < a[0] ; p0 < a[1]" "mem digest buf 8192 = seq 3" "> cqe receive status ok imm 0xa rqmsn 0 bytes 8192 within 16 rtt from start ; > cqe receive status ok imm 0xf rqmsn 1 bytes 0 within 16 rtt from start ; expect first(> cqe receive).imm == 0xa" "responder write_imm" "behind First and Last with immediate, the later one arrives first"
  R-ZERO-255 "msg a = write len 0 at buf+65536 imm 0xF ; msg b = write len 8192 at buf seq 3 imm 0xA" "p0 < a[0] ; p0 < b[0] ; p0 < b[1]" "mem digest buf 8192 = seq 3" "> cqe receive status ok imm 0xf rqmsn 0 bytes 0 within 16 rtt from start ; > cqe receive status ok imm 0xa rqmsn 1 bytes 8192 within 16 rtt from start ; expect first(> cqe receive).imm == 0xf" "responder write_imm" "before First and Last with immediate"
  R-ZERO-256 "msg a = write len 0 at buf+65536 imm 0xF ; msg b = write len 8192 at buf seq 3 imm 0xA" "p0 < b[0] ; p0 < b[1] ; p0 < a[0]" "mem digest buf 8192 = seq 3" "> cqe receive status ok imm 0xf rqmsn 0 bytes 0 within 16 rtt from start ; > cqe receive status ok imm 0xa rqmsn 1 bytes 8192 within 16 rtt from start ; expect first(> cqe receive).imm == 0xf" "responder write_imm" "before First and Last with immediate, the later one arrives first"
  R-ZERO-257 "msg a = write len 4096 at buf seq 3 ; msg b = write len 0 at buf+65536 imm 0xF" "p0 < a[0] trim 128 ; settle rtt ; p0 < a[0] rtx ; p0 < b[0]" "mem digest buf 4096 = seq 3" "> cqe receive status ok imm 0xf rqmsn 0 bytes 0 within 16 rtt from start ; expect first(> cqe receive).imm == 0xf" "responder trim_nack" "behind a packet that was trimmed, and comes again"
  R-ZERO-258 "msg a = write len 4096 at buf seq 3 ; msg b = write len 0 at buf+65536 imm 0xF" "p0 < b[0] ; p0 < a[0] trim 128 ; settle rtt ; p0 < a[0] rtx" "mem digest buf 4096 = seq 3" "> cqe receive status ok imm 0xf rqmsn 0 bytes 0 within 16 rtt from start ; expect first(> cqe receive).imm == 0xf" "responder trim_nack" "behind a packet that was trimmed, and comes again, the later one arrives first"
  R-ZERO-259 "msg a = write len 0 at buf+65536 imm 0xF ; msg b = write len 4096 at buf seq 3" "p0 < a[0] ; p0 < b[0] trim 128 ; settle rtt ; p0 < b[0] rtx" "mem digest buf 4096 = seq 3" "> cqe receive status ok imm 0xf rqmsn 0 bytes 0 within 16 rtt from start ; expect first(> cqe receive).imm == 0xf" "responder trim_nack" "before a packet that was trimmed, and comes again"
  R-ZERO-260 "msg a = write len 0 at buf+65536 imm 0xF ; msg b = write len 4096 at buf seq 3" "p0 < b[0] trim 128 ; settle rtt ; p0 < b[0] rtx ; p0 < a[0]" "mem digest buf 4096 = seq 3" "> cqe receive status ok imm 0xf rqmsn 0 bytes 0 within 16 rtt from start ; expect first(> cqe receive).imm == 0xf" "responder trim_nack" "before a packet that was trimmed, and comes again, the later one arrives first"
  R-ZERO-261 "msg a = write len 64 at buf seq 3 ; msg b = write len 0 at buf+65536 imm 0xF" "p0 < a[0] rtx ; p0 < b[0]" "mem digest buf 64 = seq 3" "> cqe receive status ok imm 0xf rqmsn 0 bytes 0 within 16 rtt from start ; expect first(> cqe receive).imm == 0xf" "responder" "behind a retransmission"
  R-ZERO-262 "msg a = write len 64 at buf seq 3 ; msg b = write len 0 at buf+65536 imm 0xF" "p0 < b[0] ; p0 < a[0] rtx" "mem digest buf 64 = seq 3" "> cqe receive status ok imm 0xf rqmsn 0 bytes 0 within 16 rtt from start ; expect first(> cqe receive).imm == 0xf" "responder" "behind a retransmission, the later one arrives first"
  R-ZERO-263 "msg a = write len 0 at buf+65536 imm 0xF ; msg b = write len 64 at buf seq 3" "p0 < a[0] ; p0 < b[0] rtx" "mem digest buf 64 = seq 3" "> cqe receive status ok imm 0xf rqmsn 0 bytes 0 within 16 rtt from start ; expect first(> cqe receive).imm == 0xf" "responder" "before a retransmission"
  R-ZERO-264 "msg a = write len 0 at buf+65536 imm 0xF ; msg b = write len 64 at buf seq 3" "p0 < b[0] rtx ; p0 < a[0]" "mem digest buf 64 = seq 3" "> cqe receive status ok imm 0xf rqmsn 0 bytes 0 within 16 rtt from start ; expect first(> cqe receive).imm == 0xf" "responder" "before a retransmission, the later one arrives first"
  R-ZERO-265 "msg a = write len 0 at buf ; msg b = write len 0 at buf+65536 imm 0xF" "p0 < a[0] ; p0 < b[0]" "mem same buf 64 = 0xa5" "> cqe receive status ok imm 0xf rqmsn 0 bytes 0 within 16 rtt from start ; expect first(> cqe receive).imm == 0xf" "responder" "behind another WRITE of no bytes"
  R-ZERO-266 "msg a = write len 0 at buf ; msg b = write len 0 at buf+65536 imm 0xF" "p0 < b[0] ; p0 < a[0]" "mem same buf 64 = 0xa5" "> cqe receive status ok imm 0xf rqmsn 0 bytes 0 within 16 rtt from start ; expect first(> cqe receive).imm == 0xf" "responder" "behind another WRITE of no bytes, the later one arrives first"
  R-ZERO-267 "msg a = write len 0 at buf+65536 imm 0xF ; msg b = write len 0 at buf" "p0 < a[0] ; p0 < b[0]" "mem same buf 64 = 0xa5" "> cqe receive status ok imm 0xf rqmsn 0 bytes 0 within 16 rtt from start ; expect first(> cqe receive).imm == 0xf" "responder" "before another WRITE of no bytes"
  R-ZERO-268 "msg a = write len 0 at buf+65536 imm 0xF ; msg b = write len 0 at buf" "p0 < b[0] ; p0 < a[0]" "mem same buf 64 = 0xa5" "> cqe receive status ok imm 0xf rqmsn 0 bytes 0 within 16 rtt from start ; expect first(> cqe receive).imm == 0xf" "responder" "before another WRITE of no bytes, the later one arrives first"
  R-ZERO-269 "msg a = write len 0 at buf imm 0xA ; msg b = write len 0 at buf+65536 imm 0xF" "p0 < a[0] ; p0 < b[0]" "mem same buf 64 = 0xa5" "> cqe receive status ok imm 0xa rqmsn 0 bytes 0 within 16 rtt from start ; > cqe receive status ok imm 0xf rqmsn 1 bytes 0 within 16 rtt from start ; expect first(> cqe receive).imm == 0xa" "responder write_imm" "behind an immediate of no bytes"
  R-ZERO-270 "msg a = write len 0 at buf imm 0xA ; msg b = write len 0 at buf+65536 imm 0xF" "p0 < b[0] ; p0 < a[0]" "mem same buf 64 = 0xa5" "> cqe receive status ok imm 0xa rqmsn 0 bytes 0 within 16 rtt from start ; > cqe receive status ok imm 0xf rqmsn 1 bytes 0 within 16 rtt from start ; expect first(> cqe receive).imm == 0xa" "responder write_imm" "behind an immediate of no bytes, the later one arrives first"
  R-ZERO-271 "msg a = write len 0 at buf+65536 imm 0xF ; msg b = write len 0 at buf imm 0xA" "p0 < a[0] ; p0 < b[0]" "mem same buf 64 = 0xa5" "> cqe receive status ok imm 0xf rqmsn 0 bytes 0 within 16 rtt from start ; > cqe receive status ok imm 0xa rqmsn 1 bytes 0 within 16 rtt from start ; expect first(> cqe receive).imm == 0xf" "responder write_imm" "before an immediate of no bytes"
  R-ZERO-272 "msg a = write len 0 at buf+65536 imm 0xF ; msg b = write len 0 at buf imm 0xA" "p0 < b[0] ; p0 < a[0]" "mem same buf 64 = 0xa5" "> cqe receive status ok imm 0xf rqmsn 0 bytes 0 within 16 rtt from start ; > cqe receive status ok imm 0xa rqmsn 1 bytes 0 within 16 rtt from start ; expect first(> cqe receive).imm == 0xf" "responder write_imm" "before an immediate of no bytes, the later one arrives first"
}
purpose a WRITE of no bytes with immediate $what: both complete in order, each with what it has
rules resp.ack-order resp.ack-msn resp.ack-psn mem.source resp.cack-taken resp.cqe-order resp.cqe-imm mem.cqe resp.zero
caps write_imm
background ignore sack ack nack probe endpoint
mem fill buf 64 = 0xa5
$messages
dut recv 2
$sends
* > ack psn b.last msn 2 within 2 rtt
$cqes
$memory
settle rtt
expect count(> nak) == 0

# ---- again, at the edges, across wraps ----

cases id imm caps done {
  R-ZERO-301 "" responder 0
  R-ZERO-302 "imm 5" write_imm 1
}
purpose a WRITE of no bytes that comes twice counts once: the duplicate is reported and acknowledged again ($imm)
rules resp.sack-dup resp.ack-again resp.ack-msn resp.bytes resp.cqe-order
background ignore sack ack probe endpoint cqe
msg m = write len 0 at buf seq 3 $imm
msg n = write len 64 at buf+64 seq 4
dut recv 2
p0 < m[0] ackreq
* > ack psn m[0] msn 1 within rtt
settle rtt
p0 < m[0] rtx as twice
any order { * > sack trigger m[0] cack m[0] rcvd 1 from twice ; * > ack psn m[0] msn 1 from twice } within 2 rtt
p0 < n[0] ackreq
* > ack psn n[0] msn 2 within rtt
expect count(> cqe receive) == $done

cases id imm caps done {
  R-ZERO-303 "" responder 0
  R-ZERO-304 "imm 5" write_imm 1
}
purpose a WRITE of no bytes above a gap that comes twice is reported twice, and completes once, when the gap is closed ($imm)
rules resp.sack-dup resp.bitmap resp.ack-order resp.cqe-complete
background ignore sack ack probe endpoint cqe
msg g = write len 4096 at buf seq 2
msg m = write len 0 at buf seq 3 $imm
dut recv 2
p0 < m[0] ackreq
* > sack trigger m[0] cack g[0]-1 ooo 1 within rtt
settle rtt
p0 < m[0] rtx as twice
* > sack trigger m[0] cack g[0]-1 ooo 1 within rtt from twice
expect count(> cqe) == 0 and count(> ack) == 0
p0 < g[0] ackreq
* > ack psn m[0] msn 2 within rtt
settle rtt
expect count(> cqe receive) == $done
mem digest buf 4096 = seq 2

cases id imm caps done {
  R-ZERO-305 "" responder 0
  R-ZERO-306 "imm 5" write_imm 1
}
purpose a WRITE of no bytes that was lost holds back what is behind it, and lets it go when it is sent again ($imm)
rules resp.ack-order resp.ack-psn resp.cqe-complete mem.cqe
negative
background ignore sack ack probe endpoint cqe
msg m = write len 0 at buf seq 3 $imm
msg n = write len 64 at buf+64 seq 4
dut recv 2
p0 < n[0] ackreq as early
* > sack trigger n[0] cack m[0]-1 ooo 1 within rtt
none > ack within rtt from early
p0 < m[0] rtx
* > ack psn n[0] msn 2 within rtt
settle rtt
expect count(> cqe receive) == $done
mem digest buf+64 64 = seq 4

cases id imm gap caps {
  R-ZERO-311 "" 126 responder
  R-ZERO-312 "" 127 responder
  R-ZERO-313 "imm 5" 127 write_imm
}
purpose a WRITE of no bytes $gap packets above a gap is inside of a window of 128, and taken ($imm)
rules resp.bitmap resp.trigger resp.ooo-most
profile mtu 256 mpr_dest 1
repair off
background ignore sack ack probe endpoint cqe
msg gap = write len $gap*256 at buf seq 1
msg m = write len 0 at buf seq 3 $imm
p0 < m[0] ackreq
* > sack trigger m[0] cack gap[0]-1 ooo 1 within rtt
expect count(> cqe) == 0

cases id imm gap caps {
  R-ZERO-314 "" 128 responder
  R-ZERO-315 "imm 5" 128 write_imm
}
purpose a WRITE of no bytes $gap packets above a gap is outside of a window of 128, and refused ($imm)
mark C, A-19, A-12
rules resp.oor-owed resp.nack-oor resp.nack
setting A-12 CTRL.oor_drop 0
profile mtu 256 mpr_dest 1
negative
repair off
background ignore sack ack probe endpoint cqe
msg gap = write len $gap*256 at buf seq 1
msg m = write len 0 at buf seq 3 $imm
p0 < m[0] ackreq
* > nack reason psn_oor_window psn m[0] within rtt
none > sack has m[0] within rtt from last

cases id profile psns msn0 msn2 {
  R-ZERO-321 "rq_psn 0xFFFFFF" 0x000000 0 "2"
  R-ZERO-322 "rq_psn 0x7FFFFF" 0x800000 0 "2"
  R-ZERO-323 "msn 0xFFFE" 0x1001 0xFFFE "0 or 0x10000"
  R-ZERO-324 "msn 0xFFFF" 0x1001 0xFFFF "1 or 0x10001"
  R-ZERO-325 "rq_psn 0xFFFFFF msn 0xFFFF" 0 0xFFFF "1 or 0x10001"
}
purpose two WRITEs of no bytes across the end of numbers ($profile): each takes one PSN and one MSN
rules resp.ack-psn resp.ack-msn resp.ack-order
caps psn
background ignore sack probe endpoint ack
msg a = write len 0 at buf
msg b = write len 0 at buf
p0 < b[0] ; p0 < a[0] ackreq
* > ack bth.psn $psns aeth.msn $msn2 within rtt
expect a.msn == $msn0

cases id profile second {
  R-ZERO-331 "rqmsn 0xFFFF" "0 or 0x10000"
  R-ZERO-332 "rqmsn 0xFFFF msn 0xFFFF rq_psn 0xFFFFFF" "0 or 0x10000"
  R-ZERO-333 "rqmsn 0x7FFF" "0x8000"
}
purpose two immediates of no bytes across the end of RQMSN ($profile) complete in its order
rules resp.cqe-order mem.cqe-order resp.cqe-imm
caps write_imm psn
background ignore sack ack probe endpoint
msg a = write len 0 at buf imm 1
msg b = write len 0 at buf imm 2
dut recv 2
p0 < b[0] ; p0 < a[0] ackreq
> cqe receive status ok imm 1 bytes 0 within rtt
> cqe receive status ok imm 2 rqmsn $second bytes 0 within rtt

id R-ZERO-341
purpose 32 immediates of no bytes that wait for one plain packet complete when it comes, in their order
mark S, C, A-19, A-62
rules resp.cqe-order resp.cqe-complete mem.cqe-order resp.ack-psn resp.zero
caps write_imm
profile max_wimm_dest 32
background ignore sack ack probe endpoint cqe
msg g = write len 64 at buf seq 3
msg z0 = write len 0 at buf imm 0x100 ; msg z1 = write len 0 at buf imm 0x101 ; msg z2 = write len 0 at buf imm 0x102 ; msg z3 = write len 0 at buf imm 0x103
msg z4 = write len 0 at buf imm 0x104 ; msg z5 = write len 0 at buf imm 0x105 ; msg z6 = write len 0 at buf imm 0x106 ; msg z7 = write len 0 at buf imm 0x107
msg z8 = write len 0 at buf imm 0x108 ; msg z9 = write len 0 at buf imm 0x109 ; msg z10 = write len 0 at buf imm 0x10a ; msg z11 = write len 0 at buf imm 0x10b
msg z12 = write len 0 at buf imm 0x10c ; msg z13 = write len 0 at buf imm 0x10d ; msg z14 = write len 0 at buf imm 0x10e ; msg z15 = write len 0 at buf imm 0x10f
msg z16 = write len 0 at buf imm 0x110 ; msg z17 = write len 0 at buf imm 0x111 ; msg z18 = write len 0 at buf imm 0x112 ; msg z19 = write len 0 at buf imm 0x113
msg z20 = write len 0 at buf imm 0x114 ; msg z21 = write len 0 at buf imm 0x115 ; msg z22 = write len 0 at buf imm 0x116 ; msg z23 = write len 0 at buf imm 0x117
msg z24 = write len 0 at buf imm 0x118 ; msg z25 = write len 0 at buf imm 0x119 ; msg z26 = write len 0 at buf imm 0x11a ; msg z27 = write len 0 at buf imm 0x11b
msg z28 = write len 0 at buf imm 0x11c ; msg z29 = write len 0 at buf imm 0x11d ; msg z30 = write len 0 at buf imm 0x11e ; msg z31 = write len 0 at buf imm 0x11f
dut recv 32
p0 < z31[0] ; p0 < z30[0] ; p0 < z29[0] ; p0 < z28[0] ; p0 < z27[0] ; p0 < z26[0] ; p0 < z25[0] ; p0 < z24[0]
p0 < z23[0] ; p0 < z22[0] ; p0 < z21[0] ; p0 < z20[0] ; p0 < z19[0] ; p0 < z18[0] ; p0 < z17[0] ; p0 < z16[0]
p0 < z15[0] ; p0 < z14[0] ; p0 < z13[0] ; p0 < z12[0] ; p0 < z11[0] ; p0 < z10[0] ; p0 < z9[0] ; p0 < z8[0]
p0 < z7[0] ; p0 < z6[0] ; p0 < z5[0] ; p0 < z4[0] ; p0 < z3[0] ; p0 < z2[0] ; p0 < z1[0] ; p0 < z0[0]
p0 < g[0] ackreq
* > ack psn z31[0] msn 33 within 8 rtt                    # a device may lawfully refuse some until their turn comes
> cqe receive status ok imm 0x100 rqmsn 0 bytes 0 within 64 rtt from start ; > cqe receive status ok imm 0x101 rqmsn 1 bytes 0 within 64 rtt from start
> cqe receive status ok imm 0x102 rqmsn 2 bytes 0 within 64 rtt from start ; > cqe receive status ok imm 0x103 rqmsn 3 bytes 0 within 64 rtt from start
> cqe receive status ok imm 0x104 rqmsn 4 bytes 0 within 64 rtt from start ; > cqe receive status ok imm 0x105 rqmsn 5 bytes 0 within 64 rtt from start
> cqe receive status ok imm 0x106 rqmsn 6 bytes 0 within 64 rtt from start ; > cqe receive status ok imm 0x107 rqmsn 7 bytes 0 within 64 rtt from start
> cqe receive status ok imm 0x108 rqmsn 8 bytes 0 within 64 rtt from start ; > cqe receive status ok imm 0x109 rqmsn 9 bytes 0 within 64 rtt from start
> cqe receive status ok imm 0x10a rqmsn 10 bytes 0 within 64 rtt from start ; > cqe receive status ok imm 0x10b rqmsn 11 bytes 0 within 64 rtt from start
> cqe receive status ok imm 0x10c rqmsn 12 bytes 0 within 64 rtt from start ; > cqe receive status ok imm 0x10d rqmsn 13 bytes 0 within 64 rtt from start
> cqe receive status ok imm 0x10e rqmsn 14 bytes 0 within 64 rtt from start ; > cqe receive status ok imm 0x10f rqmsn 15 bytes 0 within 64 rtt from start
> cqe receive status ok imm 0x110 rqmsn 16 bytes 0 within 64 rtt from start ; > cqe receive status ok imm 0x111 rqmsn 17 bytes 0 within 64 rtt from start
> cqe receive status ok imm 0x112 rqmsn 18 bytes 0 within 64 rtt from start ; > cqe receive status ok imm 0x113 rqmsn 19 bytes 0 within 64 rtt from start
> cqe receive status ok imm 0x114 rqmsn 20 bytes 0 within 64 rtt from start ; > cqe receive status ok imm 0x115 rqmsn 21 bytes 0 within 64 rtt from start
> cqe receive status ok imm 0x116 rqmsn 22 bytes 0 within 64 rtt from start ; > cqe receive status ok imm 0x117 rqmsn 23 bytes 0 within 64 rtt from start
> cqe receive status ok imm 0x118 rqmsn 24 bytes 0 within 64 rtt from start ; > cqe receive status ok imm 0x119 rqmsn 25 bytes 0 within 64 rtt from start
> cqe receive status ok imm 0x11a rqmsn 26 bytes 0 within 64 rtt from start ; > cqe receive status ok imm 0x11b rqmsn 27 bytes 0 within 64 rtt from start
> cqe receive status ok imm 0x11c rqmsn 28 bytes 0 within 64 rtt from start ; > cqe receive status ok imm 0x11d rqmsn 29 bytes 0 within 64 rtt from start
> cqe receive status ok imm 0x11e rqmsn 30 bytes 0 within 64 rtt from start ; > cqe receive status ok imm 0x11f rqmsn 31 bytes 0 within 64 rtt from start
expect first(> cqe receive).imm == 0x100 and last(> cqe receive).imm == 0x11F

id R-ZERO-342
purpose the 33rd immediate of no bytes outstanding is one too many: NAK 0x61, and the QP is in ERROR
mark S2, C, A-19, A-62, A-70
rules resp.nak-cause resp.nak-code
caps write_imm
profile max_wimm_dest 32
negative
background ignore sack ack nak probe endpoint cqe
msg g = write len 64 at buf seq 3
msg z0 = write len 0 at buf imm 0x100 ; msg z1 = write len 0 at buf imm 0x101 ; msg z2 = write len 0 at buf imm 0x102 ; msg z3 = write len 0 at buf imm 0x103
msg z4 = write len 0 at buf imm 0x104 ; msg z5 = write len 0 at buf imm 0x105 ; msg z6 = write len 0 at buf imm 0x106 ; msg z7 = write len 0 at buf imm 0x107
msg z8 = write len 0 at buf imm 0x108 ; msg z9 = write len 0 at buf imm 0x109 ; msg z10 = write len 0 at buf imm 0x10a ; msg z11 = write len 0 at buf imm 0x10b
msg z12 = write len 0 at buf imm 0x10c ; msg z13 = write len 0 at buf imm 0x10d ; msg z14 = write len 0 at buf imm 0x10e ; msg z15 = write len 0 at buf imm 0x10f
msg z16 = write len 0 at buf imm 0x110 ; msg z17 = write len 0 at buf imm 0x111 ; msg z18 = write len 0 at buf imm 0x112 ; msg z19 = write len 0 at buf imm 0x113
msg z20 = write len 0 at buf imm 0x114 ; msg z21 = write len 0 at buf imm 0x115 ; msg z22 = write len 0 at buf imm 0x116 ; msg z23 = write len 0 at buf imm 0x117
msg z24 = write len 0 at buf imm 0x118 ; msg z25 = write len 0 at buf imm 0x119 ; msg z26 = write len 0 at buf imm 0x11a ; msg z27 = write len 0 at buf imm 0x11b
msg z28 = write len 0 at buf imm 0x11c ; msg z29 = write len 0 at buf imm 0x11d ; msg z30 = write len 0 at buf imm 0x11e ; msg z31 = write len 0 at buf imm 0x11f
msg z32 = write len 0 at buf imm 0x120
dut recv 32
p0 < z0[0] ; p0 < z1[0] ; p0 < z2[0] ; p0 < z3[0] ; p0 < z4[0] ; p0 < z5[0] ; p0 < z6[0] ; p0 < z7[0]
p0 < z8[0] ; p0 < z9[0] ; p0 < z10[0] ; p0 < z11[0] ; p0 < z12[0] ; p0 < z13[0] ; p0 < z14[0] ; p0 < z15[0]
p0 < z16[0] ; p0 < z17[0] ; p0 < z18[0] ; p0 < z19[0] ; p0 < z20[0] ; p0 < z21[0] ; p0 < z22[0] ; p0 < z23[0]
p0 < z24[0] ; p0 < z25[0] ; p0 < z26[0] ; p0 < z27[0] ; p0 < z28[0] ; p0 < z29[0] ; p0 < z30[0] ; p0 < z31[0]
p0 < z32[0]
settle
assume count(> nack) == 0 else unsupported "the device has no room for 33 immediates"
p0 < g[0] ackreq                                          # a device may wait until its turn comes
settle rtt
p0 < g[0] rtx ackreq as after
* > nak syndrome 0x61 within rtt
none > cqe receive status ok imm 0x120 within rtt from after
dut query state error

id R-ZERO-343
purpose with room for two immediates the third of no bytes outstanding is one too many: NAK 0x61, and the QP is in ERROR
mark S2, C, A-19, A-62, A-70
rules resp.nak-cause resp.nak-code
caps write_imm
profile max_wimm_dest 2
negative
background ignore sack ack nak probe endpoint cqe
msg a = write len 0 at buf imm 1
msg b = write len 0 at buf imm 2
msg c = write len 0 at buf imm 3
dut recv 2
p0 < c[0] ackreq                                          # the third while two are open
settle
p0 < a[0] ackreq ; p0 < b[0] ackreq                       # a device may wait until its turn comes
settle rtt
p0 < b[0] rtx ackreq as after
* > nak syndrome 0x61 within rtt
none > cqe receive status ok imm 3 within rtt from after
dut query state error

# ---- what is none ----

cases id length opcode index before what {
  R-ZERO-401 8192 0xC6 0 "" "a First of a longer message"
  R-ZERO-402 12288 0xC7 1 "p0 < m[0] ; settle rtt" "a Middle"
  R-ZERO-403 8192 0xC8 1 "p0 < m[0] ; settle rtt" "a Last"
  R-ZERO-404 0 0xC6 0 "" "a First of DMA length 0"
  R-ZERO-405 0 0xC7 0 "" "a Middle of DMA length 0"
  R-ZERO-406 0 0xC8 0 "" "a Last of DMA length 0"
}
purpose $what without payload is no WRITE: it is never acknowledged, and nothing is written
rules resp.ack-msn resp.ack-order mem.source
caps bytes
negative
repair off
background ignore sack ack probe endpoint nak
msg w = write len 64 at buf+65536 seq 9
msg m = write len $length at buf seq 3
mem fill buf+4096 4096 = 0xa5
p0 < w[0] ackreq
* > sack cack w[0] within rtt
$before
p0 < m[$index] ackreq payload len 0 raw bth.pad_count 0 raw bth.opcode $opcode as bad
none > ack msn 2 within 2 rtt from bad
none > sack has m[$index] within rtt from bad
mem same buf+4096 4096 = 0xa5

id R-ZERO-407
purpose a Last with immediate without payload is no WRITE: it is never acknowledged, and its immediate never completes
rules resp.ack-msn mem.cqe
caps bytes write_imm
negative
repair off
background ignore sack ack probe endpoint nak
msg w = write len 64 at buf+65536 seq 9
msg m = write len 8192 at buf seq 3 imm 5
dut recv 1
p0 < w[0] ackreq
* > sack cack w[0] within rtt
p0 < m[0] ; p0 < m[1] ackreq payload len 0 raw bth.pad_count 0 as bad
none > ack msn 2 within 2 rtt from bad
expect count(> cqe) == 0

cases id imm how what caps {
  R-ZERO-411 "" "payload len 0 raw bth.pad_count 0" "DMA length 64 and no payload" responder
  R-ZERO-412 "" "raw reth.dma_length 0" "64 bytes of payload and DMA length 0" responder
  R-ZERO-413 "imm 5" "payload len 0 raw bth.pad_count 0" "DMA length 64 and no payload" write_imm
  R-ZERO-414 "imm 5" "raw reth.dma_length 0" "64 bytes of payload and DMA length 0" write_imm
}
purpose an Only with $what is an invalid request, though WRITEs of no bytes are legal ($imm)
mark A, A-19, A-70
rules resp.nak-zero resp.nak-code resp.nak-final
caps bytes
negative
background ignore sack probe endpoint nak
msg m = write len 64 at buf seq 3 $imm
mem fill buf 64 = 0xa5
dut recv 1
p0 < m[0] ackreq $how
* > nak syndrome 0x61 psn m[0] msn 0 within rtt
mem same buf 64 = 0xa5
settle rtt
dut query state error

cases id how what {
  R-ZERO-415 "payload len 0 raw bth.pad_count 0" "no payload"
  R-ZERO-416 "raw reth.dma_length 0" "DMA length 0"
}
purpose an Only with $what that contradicts itself is answered when its turn comes: after the ACK of the message before it
mark A, A-19, A-24, A-70
rules resp.nak-final resp.ack-order
caps bytes
negative
background ignore sack probe endpoint nak ack
msg a = write len 4096 at buf seq 2
msg m = write len 64 at buf+8192 seq 3
p0 < a[0] ackreq
* > ack psn a[0] msn 1 within rtt
p0 < m[0] ackreq $how
* > nak syndrome 0x61 psn m[0] msn 1 within rtt
mem digest buf 4096 = seq 2

# ---- the other answers of A-19 ----

cases id imm caps message {
  R-ZERO-501 "" responder ""
  R-ZERO-502 "imm 5" write_imm ""
  R-ZERO-503 "" regions "r_key wrong"
  R-ZERO-504 "imm 5" "regions write_imm" "at buf-64"
}
purpose with the second answer of A-19 a WRITE of no bytes is an invalid request, whatever its R_Key and VA ($imm $message)
rules resp.nak-zero resp.nak-code mem.cqe
setting A-19 CTRL.zero_length 1
negative
background ignore sack probe endpoint nak
msg m = write len 0 at buf seq 3 $imm $message
dut recv 1
p0 < m[0] ackreq
* > nak syndrome 0x61 psn m[0] msn 0 within rtt
none > cqe within rtt from last
dut query state error

cases id imm caps message {
  R-ZERO-511 "" responder ""
  R-ZERO-512 "imm 5" write_imm ""
  R-ZERO-513 "" regions "r_key wrong"
}
purpose with the third answer of A-19 a WRITE of no bytes is dropped without a word, and the QP goes on ($imm $message)
rules resp.cack-arrived resp.ack-msn mem.cqe
setting A-19 CTRL.zero_length 2
negative
repair off
background ignore sack ack probe endpoint
msg m = write len 0 at buf seq 3 $imm $message
msg n = write len 64 at buf+64 seq 4
dut recv 1
p0 < m[0] ackreq as dropped
none > * within rtt from dropped
none > cqe within rtt from dropped
dut query state rts
p0 < n[0] ackreq
* > sack trigger n[0] cack m[0]-1 ooo 1 within rtt
