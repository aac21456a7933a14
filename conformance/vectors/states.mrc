# SPDX-License-Identifier: Apache-2.0
# A QP step by step, as software orders it: which steps there are, and what each needs. `dut modify S` carries all that
# A-68 lists for S; the QP begins in RESET.
tier 2
planes 2
caps responder modify
mark A, A-68
cite mrc.md 7; IBTA 10.3.1; IBTA 11.2.5
rules qp.walk

cases id to what walk {
  R-WALK-001 init  "RESET to INIT"   "settle"
  R-WALK-002 init  "INIT to INIT"    "dut modify init"
  R-WALK-003 rtr   "INIT to RTR"     "dut modify init"
  R-WALK-004 rts   "RTR to RTS"      "dut modify init ; dut modify rtr"
  R-WALK-005 error "INIT to ERROR"   "dut modify init"
  R-WALK-006 error "RTR to ERROR"    "dut modify init ; dut modify rtr"
  R-WALK-007 error "RTS to ERROR"    "dut modify init ; dut modify rtr ; dut modify rts"
  R-WALK-008 error "ERROR to ERROR"  "dut modify init ; dut modify error"
  R-WALK-009 reset "RESET to RESET"  "settle"
  R-WALK-010 reset "INIT to RESET"   "dut modify init"
  R-WALK-011 reset "RTR to RESET"    "dut modify init ; dut modify rtr"
  R-WALK-012 reset "RTS to RESET"    "dut modify init ; dut modify rtr ; dut modify rts"
  R-WALK-013 reset "ERROR to RESET"  "dut modify init ; dut modify error"
}
purpose $what is a step
dut query state reset
$walk
dut modify $to
settle 10 us
dut query state $to

cases id from to what walk {
  R-WALK-021 reset rtr   "RESET to RTR"   "settle"
  R-WALK-022 reset rts   "RESET to RTS"   "settle"
  R-WALK-023 reset error "RESET to ERROR" "settle"
  R-WALK-024 init  rts   "INIT to RTS"    "dut modify init"
  R-WALK-025 rtr   init  "RTR to INIT"    "dut modify init ; dut modify rtr"
  R-WALK-026 rtr   rtr   "RTR to RTR"     "dut modify init ; dut modify rtr"
  R-WALK-027 rts   init  "RTS to INIT"    "dut modify init ; dut modify rtr ; dut modify rts"
  R-WALK-028 rts   rtr   "RTS to RTR"     "dut modify init ; dut modify rtr ; dut modify rts"
  R-WALK-029 error init  "ERROR to INIT"  "dut modify init ; dut modify error"
  R-WALK-030 error rtr   "ERROR to RTR"   "dut modify init ; dut modify rtr ; dut modify error"
  R-WALK-031 error rts   "ERROR to RTS"   "dut modify init ; dut modify rtr ; dut modify rts ; dut modify error"
}
purpose there is no step from $what: it is refused, and the state stays
negative
$walk
dut modify $to refused
settle 10 us
dut query state $from

cases id to without rest mark walk from {
  R-WALK-041 init ev_profile    "cc_profile" S "settle" reset
  R-WALK-042 init cc_profile    "ev_profile" S "settle" reset
  R-WALK-043 rtr  max_wimm_dest "path rq_psn mpr_dest caps" S "dut modify init" init
  R-WALK-044 rtr  mpr_dest      "path rq_psn max_wimm_dest caps" S "dut modify init" init
  R-WALK-045 rtr  caps          "path rq_psn max_wimm_dest mpr_dest" S "dut modify init" init
  R-WALK-046 rtr  path          "rq_psn max_wimm_dest mpr_dest caps" "A, A-68" "dut modify init" init
  R-WALK-047 rtr  rq_psn        "path max_wimm_dest mpr_dest caps" "A, A-68" "dut modify init" init
  R-WALK-048 rts  max_wimm      "sq_psn mpr timeout retry_cnt" S "dut modify init ; dut modify rtr" rtr
  R-WALK-049 rts  mpr           "sq_psn max_wimm timeout retry_cnt" S "dut modify init ; dut modify rtr" rtr
  R-WALK-050 rts  timeout       "sq_psn max_wimm mpr retry_cnt" S "dut modify init ; dut modify rtr" rtr
  R-WALK-051 rts  retry_cnt     "sq_psn max_wimm mpr timeout" S "dut modify init ; dut modify rtr" rtr
  R-WALK-052 rts  sq_psn        "max_wimm mpr timeout retry_cnt" "A, A-68" "dut modify init ; dut modify rtr" rtr
  R-WALK-053 init all           none S "settle" reset
  R-WALK-054 rtr  all           none S "dut modify init" init
  R-WALK-055 rts  all           none S "dut modify init ; dut modify rtr" rtr
}
purpose a step to $to is refused if what it needs is not there ($without), the state stays; with it the step is taken
negative
$walk
dut modify $to with $rest refused
settle 10 us
dut query state $from
dut modify $to
settle 10 us
dut query state $to

cases id to key value walk from cite {
  R-WALK-061 rtr mpr_dest      0  "dut modify init" init "mrc.md 6"
  R-WALK-062 rtr mpr_dest      33 "dut modify init" init "mrc.md 6"
  R-WALK-063 rtr max_wimm_dest 33 "dut modify init" init "mrc.md 6; A-62"
  R-WALK-064 rts mpr           0  "dut modify init ; dut modify rtr" rtr "mrc.md 6"
  R-WALK-065 rts mpr           33 "dut modify init ; dut modify rtr" rtr "mrc.md 6"
  R-WALK-066 rts max_wimm      33 "dut modify init ; dut modify rtr" rtr "mrc.md 6; A-62"
  R-WALK-067 rts timeout       25 "dut modify init ; dut modify rtr" rtr "mrc.md 7"
  R-WALK-068 rts retry_exp     26 "dut modify init ; dut modify rtr" rtr "mrc.md 7"
}
purpose $key is not $value: the step is refused, and the state stays
mark A
negative
$walk
dut modify $to set $key $value refused
settle 10 us
dut query state $from

id R-WALK-071
purpose nothing is answered in INIT, all in RTR
mark S2
cite mrc.md 7; IBTA 10.3.1
rules qp.walk qp.state resp.sack-ask resp.ack-owed
msg m = write len 8192 at buf seq 7
mem fill buf 8192 = 0xa5
dut modify init
settle 10 us
p0 < m[0] ackreq
p1 < m[1] ackreq
none > * from last within 2 rtt
mem same buf 8192 = 0xa5
dut modify rtr
p0 < m[0] ackreq
p1 < m[1] ackreq
any order { * > sack cack m[1] ; * > ack psn m[1] msn 1 } within rtt
mem digest buf 8192 = seq 7

id R-WALK-072
purpose a QP in RTR that finds an access error answers it and is in ERROR
mark S2, A-24
cite mrc.md 6; mrc.md 7
caps responder modify regions
rules qp.walk resp.nak-owed
negative
msg m = write len 64 at buf seq 7 r_key wrong
dut modify init
dut modify rtr
p0 < m[0] ackreq
> nak psn m[0] syndrome nak_remote_access within rtt
settle 10 us
dut query state error

id R-WALK-073
purpose a QP that was taken to RTS step by step sends
mark A
cite mrc.md 7; IBTA 10.3.1
caps responder requestor modify
rules qp.walk qp.state
dut modify init
dut modify rtr
settle 10 us
dut modify rts
peer auto
dut post write len 64
> write only psn sq_psn within rtt
> cqe send status ok within rto
