#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: command.sh MRC
# Exit codes of mrc cosim, and the files it leaves: all of them whole, or none.
set -euo pipefail
. "$(dirname -- "$(readlink -f -- "$0")")/../scratch.sh"
code() { exits "$1" cosim "${@:2}"; }

code 0 --preset tiny --packets 300 --json pass.json --pcap pass.pcapng
[ "$(json pass.json 'j["result"], j["mismatches"], j["seed"]')" = "pass 0 1" ] || fail "pass.json: $(cat pass.json)"
"$mrc" decode pass.pcapng >/dev/null || [ $? -le 1 ] || fail "the capture cannot be read"
[ ! -e mrc-reports ] || fail "a pass leaves reports"

code 1 --preset tiny --packets 300 --rtl-bug icrc-mask --json bug.json --reports found
grep -q 'block tx_header' said || fail "the block is not named: $(cat said)"
grep -q -- 'Again with: .*--preset tiny --scenario mixed --packets 300 --seed 1 --rtl-bug icrc-mask' said || fail "no repro line"
[ "$(json bug.json 'j["result"], j["divergence"]["block"], len(j["last_events"]) > 0')" = "mismatch tx_header True" ] || fail "bug.json"
[ -s found/tiny-mixed-1-icrc-mask.pcapng ] && [ -s found/tiny-mixed-1-icrc-mask.json ] || fail "reports missing: $(ls found)"
repro=$(json bug.json 'j["repro"]')
[ "$(bash -c "cd '$folder'; '$mrc' ${repro#* }" | grep -c 'block tx_header')" = 1 ] || fail "the repro line does not repeat it: $repro"

# Several seeds: a line each, until one fails.
code 0 --preset tiny --scenario random --packets 200 --seed 3 --seeds 2 --json seeds.json
[ "$(json seeds.json 'j["result"], j["passed"], [r["seed"] for r in j["runs"]]')" = "pass 2 [3, 4]" ] || fail "seeds.json: $(cat seeds.json)"
[ "$(grep -c '^PASS       seed [34] ' said)" = 2 ] && grep -q '^PASS  2 passed, 0 failed; ' said || fail "seeds: $(cat said)"
code 1 --preset tiny --packets 300 --rtl-bug icrc-mask --seeds 5 --json seeds.json --reports found
[ "$(json seeds.json 'j["result"], j["passed"], j["failed"], len(j["runs"]), j["failure"]["divergence"]["block"]')" = \
  "mismatch 0 1 1 tx_header" ] || fail "failed seeds: $(cat seeds.json)"
grep -q '^FAIL  0 passed, 1 failed; ' said || fail "failed seeds: $(cat said)"
repro=found/tiny-mixed-1-icrc-mask.toml
code 1 --preset tiny --packets 300 --rtl-bug icrc-mask --scenario $repro --reports again
grep -q 'block tx_header' said || fail "the scenario of the reports is not the one that failed: $(cat said)"
code 3 --preset tiny --packets 300 --seeds 2 --pcap no.pcapng
grep -q -- '--seeds and --pcap do not go together' said || fail "seeds with --pcap: $(cat said)"
rm -r seeds.json again

printf 'base = "incast-trim"\ncc_rtt_ns = 1000000\ncc_rate_gbps = 1600\n' >controller.toml
code 3 --preset tiny --packets 300 --scenario controller.toml
grep -q 'no such controller: ' said || fail "a controller that cannot be: $(cat said)"
rm controller.toml

printf 'base = "clean"\nhang_us = 100\n[[rule]]\nloss = 1\n' >hang.toml
code 2 --preset tiny --packets 300 --scenario hang.toml --reports found
grep -q 'no progress for 100000 cycles' said || fail "hang: $(cat said)"

# The bench measures all it can, and says what it cannot.
"$mrc" bench cosim --preset tiny --cycles 3000 --rounds 2 --json speed.json >said || fail "bench: $(cat said)"
[ "$(json speed.json 'j["lockstep_over_rtl"] > 0, j["model_over_rtl"] > 1, j["rtl_cycles_per_second"] > 0, j["rtl_bytes"] > 0, len(j["samples"]["lockstep"])')" \
  = "True True True True 2" ] || fail "bench: $(cat speed.json)"
got=0
"$mrc" bench cosim --preset tiny --wave-dut /nowhere.so >said 2>&1 || got=$?
[ "$got" = 3 ] && grep -q -- '--wave-flavour' said || fail "bench without wave flavour: exit $got, $(cat said)"
rm speed.json

code 0 --scenario list
grep -q '^  many-qps ' said && grep -q '^  reorder_ns ' said || fail "scenario list"
code 0 --rtl-bug list
[ "$(grep -c -- '--scenario' said)" -ge 15 ] || fail "bug list"

# Ctrl-C: a summary that says so, and files with the results so far that say so too.
rm -rf found mrc-reports said
"$mrc" cosim --packets 10000000 --json stopped.json --pcap stopped.pcapng >stopped.out 2>&1 &
pid=$!
sleep 2
kill -INT "$pid"
got=0
wait "$pid" || got=$?
[ "$got" = 5 ] || fail "stopped: exit $got"
grep -q '^INCOMPLETE' stopped.out || fail "stopped: $(cat stopped.out)"
[ "$(json stopped.json 'j["result"], j["reason"], j["cycles"] > 0')" = "incomplete stopped before the end True" ] ||
  fail "stopped.json: $(cat stopped.json)"
"$mrc" decode stopped.pcapng | grep -q '^comment: incomplete: stopped before the end' || fail "stopped.pcapng"
rm stopped.out stopped.json stopped.pcapng pass.json pass.pcapng bug.json hang.toml
[ -z "$(ls -A)" ] || fail "left behind: $(ls -A)"
