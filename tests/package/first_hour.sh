#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: first_hour.sh MRC PYTHON
# What an installation does where there is no compiler, within a minute. Each command that lacks something has to say in
# one sentence what, then what to do. PYTHON: yes or no, whether this system has one.
set -euo pipefail
. "$(dirname -- "$(readlink -f -- "$0")")/../scratch.sh"
python=$2
for tool in c++ g++ gcc cc clang cmake ninja verilator; do
  if command -v $tool >/dev/null; then fail "this is no place without a compiler: there is $tool"; fi
done
says() { grep -q -- "$1" said || fail "no '$1' in: $(cat said)"; }
# lacks CODE WORDS ARGS...: mrc ARGS ends with CODE, one sentence with WORDS, and an indented line
lacks() {
  exits "$1" "${@:3}"
  says "$2"
  [ "$(wc -l <said)" = 2 ] && [ "$(sed -n 's/^  .*[.?]$/remedy/p' said)" = remedy ] ||
    fail "mrc ${*:3}: not one sentence and a remedy: $(cat said)"
}

exits 0 --version
presets='^presets asic800, fpga100 (model alone), tiny$'
for line in '^mrcnic [0-9.]*$' '^commit ' '^compiler ' '^verilator 5' "$presets"; do says "$line"; done

begin=$SECONDS
exits 0 cosim --packets 5000
says '^PASS'
exits 0 cosim --preset tiny --scenario loss --packets 2000 --pcap run.pcapng --record run.mrclog
exits 0 check run.mrclog
exits 0 check run.pcapng
exits 0 decode run.pcapng
says 'cack_psn'
exits 0 fabric --scenario small
if [ "$python" = yes ]; then
  exits 0 vectors run --tier 1 -j 2
  says '^[0-9]* pass'
else
  lacks 3 'vectors: this needs Python 3.11' vectors run
fi
echo "cosim, check, decode, fabric, vectors: $((SECONDS - begin)) s"
[ $((SECONDS - begin)) -le 60 ] || fail "that is more than a minute"

if [ "$python" = yes ]; then # scripts find what they read, and mrc
  cat >plan.toml <<'PLAN'
description = "two runs"
[[job]]
kind = "lockstep"
presets = ["tiny"]
scenarios = ["clean"]
packets = 500
seeds = 2
PLAN
  exits 0 regress plan.toml --out runs --json runs.json
  grep -q '"passed": 2' runs.json || fail "two runs must pass: $(cat runs.json)"
  exits 0 shrink --help
  exits 0 script --help
  lacks 3 'jinja2\|npm' regress report runs --repeat 0 --out report
fi
lacks 3 'prove: this needs a clone of mrcnic with Yosys, z3 and abc' prove
lacks 3 'fpga: this needs a clone of mrcnic with Yosys' fpga report
for command in lint export-verilog state depth gates coverage package test "mutate --rtl" "mutate --rules"; do
  lacks 3 'this needs a clone of mrcnic with ' $command
done
touch nic.sv
lacks 3 "cannot run 'verilator'" dut-template project --top nic nic.sv
lacks 3 'the RTL of preset fpga100 is not built' cosim --preset fpga100
lacks 4 'writes no waves' cosim --preset tiny --wave
lacks 3 'is not built' bench cosim --preset tiny --wave-flavour
