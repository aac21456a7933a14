# SPDX-License-Identifier: Apache-2.0
# Time stamps: what a packet brings comes back with the SACK or NACK that it triggers.
tier 2
caps responder time_stamps
planes 1
profile time_stamps 1

cases id stamp {
  R-TS-101 0
  R-TS-102 1
  R-TS-103 0x8000
  R-TS-104 0xFFFF
}
purpose the SACK reflects its packet's time stamp $stamp as it came
mark S2+, A-56
cite mrc.md 3
rules resp.stamp
msg m = write len 4096 at buf seq 3
p0 < m[0] ackreq raw tseth.tx_timestamp16 = $stamp
* > sack trigger m[0] timestamp $stamp ts 0 within rtt

id R-TS-105
purpose the stamp is that of the packet that triggered the SACK, not the newest and not the first
mark S2+
cite mrc.md 3
rules resp.stamp
msg m = write len 16384 at buf seq 3
p0 < m[0] raw tseth.tx_timestamp16 = 0x1111
p0 < m[1] ackreq raw tseth.tx_timestamp16 = 0x2222
* > sack trigger m[1] timestamp 0x2222 within rtt
settle 2 rtt
p0 < m[0] rtx raw tseth.tx_timestamp16 = 0x4444
* > sack trigger m[0] timestamp 0x4444 within rtt

id R-TS-106
purpose a probe's time stamp comes back with its answer
mark S2+
cite mrc.md 3
rules resp.stamp
p0 < probe id 3 timestamp 0xBEAD
* > sack pr 1 probe 3 timestamp 0xBEAD within rtt

id R-TS-107
purpose an endpoint request's time stamp comes back with its response
mark S2+
cite mrc.md 3
rules peer.stamp
p0 < evprobe id 3 timestamp 0xBEAD
* > endpoint response id 3 timestamp 0xBEAD within rtt

id R-TS-108
purpose a NACK reflects the time stamp of the trimmed packet
mark S2+
cite mrc.md 3; mrc.md 9
rules resp.stamp
caps trim_nack
repair off
background ignore sack ack probe endpoint
msg m = write len 4096 at buf seq 3
p0 < m[0] raw tseth.tx_timestamp16 = 0x7531 trim 128
* > nack reason trimmed psn m[0] timestamp 0x7531 within rtt

cases id tsr {
  R-TS-111 0
  R-TS-112 1
}
purpose a received tsr is not looked at: with tsr $tsr the stamp comes back as it came
mark A, A-21
cite mrc.md 3
rules resp.stamp
setting A-21 default
msg m = write len 4096 at buf seq 3
p0 < m[0] ackreq raw tseth.tsr = $tsr raw tseth.tx_timestamp16 = 0x1234
* > sack trigger m[0] timestamp 0x1234 within rtt

id R-TS-113
purpose with service time the stamp comes back moved by the time the responder held the packet: its latency at most
mark A, A-56
cite mrc.md 6
rules resp.stamp
caps svc_time
profile time_stamps 1 svc_time 1
msg m = write len 4096 at buf seq 3
p0 < m[0] ackreq raw tseth.tx_timestamp16 = 0xFFF0 as sent_at
* > sack trigger m[0] within rtt as s
let held = (s.timestamp - 0xFFF0 + 65536) % 65536
expect held in 0 .. (s.t - sent_at) / 128000 + 1

id R-TS-114
purpose the time stamp has no say in what is placed
mark S2+
cite mrc.md 2; mrc.md 6
rules resp.sack-ask resp.cack-taken mem.source
msg m = write len 4096 at buf seq 3
p0 < m[0] ackreq raw tseth.tx_timestamp16 = 0xFFFF raw tseth.ftype = 1
any order { * > sack cack m[0] ; * > ack psn m[0] msn 1 } within rtt
mem digest buf 4096 = seq 3

id R-TS-115
purpose with service time the stamp moves forward, never back, also of packets that wait for others' answers
mark A, A-56
cite mrc.md 6
rules resp.stamp
caps svc_time
planes 2
profile time_stamps 1 svc_time 1 mtu 256
msg m = write len 16384 at buf seq 3
p1 < endpoint request op port_status mask 2 id 5
* > endpoint response within rtt
settle 1 us
let start_at = now
let k = 0
repeat 32 {
  p0 < m[k] ackreq raw tseth.tx_timestamp16 = 0x8000
  p1 < m[k+1] ackreq raw tseth.tx_timestamp16 = 0x8000
  let k = k + 2
}
* > sack cack m[63] within 2 rtt as s
settle lat
expect count(> sack timestamp < 0x8000 from start_at) == 0
expect count(> sack timestamp > 0x8000 + (s.t - start_at) / 128000 + 1 from start_at) == 0
