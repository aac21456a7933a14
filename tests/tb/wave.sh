#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: wave.sh MRC
# Waves of a failure with the flavour that can write them: where they begin, and that no process is left.
set -euo pipefail
. "$(dirname -- "$(readlink -f -- "$0")")/../scratch.sh"
# first_cycle FILE.fst: the start time in its header block, in cycles of 1 ns
first_cycle() {
  /usr/bin/python3 -c '
import struct, sys
data = open(sys.argv[1], "rb").read(25)
assert data[0] == 0, "no FST header"
print(struct.unpack(">Q", data[9:17])[0] // 1000)' "$1"
}

for snapshots in on off; do
  got=0
  "$mrc" cosim --preset tiny --packets 20000 --rtl-bug rx-buffer-overflow --wave --snapshots $snapshots \
    --json $snapshots.json --reports $snapshots >$snapshots.out 2>&1 || got=$?
  [ "$got" = 1 ] || fail "snapshots $snapshots: exit $got: $(cat $snapshots.out)"
  wrong=$(/usr/bin/python3 -c "import json; print(json.load(open('$snapshots.json'))['divergence']['cycle'])")
  [ "$wrong" -gt 10000 ] || fail "the bug shows in cycle $wrong: too early for this test"
  first=$(first_cycle $snapshots/*.fst)
  [ "$first" = $((wrong - 2000)) ] || fail "snapshots $snapshots: waves from cycle $first, failure in cycle $wrong"
done
[ "$(stat -c %s on/*.fst)" = "$(stat -c %s off/*.fst)" ] || fail "waves out of a snapshot differ from those of a second run"

# However a run ends, its copies end as well. They run the same command line.
mark=$folder/left.json
for signal in INT KILL; do
  "$mrc" cosim --preset tiny --packets 10000000 --json "$mark" >/dev/null 2>&1 &
  pid=$!
  sleep 3
  [ "$(pgrep -cf -- "$mark")" -ge 2 ] || fail "no copies while it runs"
  kill -$signal "$pid"
  wait "$pid" || true
  for _ in $(seq 50); do
    pgrep -f -- "$mark" >/dev/null || break
    sleep 0.1
  done
  ! pgrep -af -- "$mark" || fail "left behind after SIG$signal"
done
