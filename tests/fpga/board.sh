#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: board.sh MRC MRC_BOARD
# Two boards, cable to cable: writes in both directions, held against the rules of MRC by what was seen of them.
set -euo pipefail
board=$(readlink -f -- "$2")
. "$(dirname -- "$(readlink -f -- "$0")")/../scratch.sh"
# Long runs of 256-byte packets at odd addresses take 9 cycles of a plane's memory each and come every 8.8: a lane may
# then lose frames, which it counts, and the judge cannot blame those on anybody. In these seeds none does.
for run in "mixed 1 2000" "loss 2 1000" "rto 1 600"; do
  read -r scenario seed packets <<<"$run"
  exits 0 cosim --level L2 --preset tiny --scenario "$scenario" --seed "$seed" --packets "$packets" \
    --dut "$board" --peer "$board" --record "run.mrclog" --pcap run.pcapng
  grep -q '^PASS  board' said || fail "no pass: $(cat said)"
  exits 0 check "run.mrclog"
  rm "run.mrclog"
done
