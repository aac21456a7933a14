#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: export_from_x.sh MRC RECORDER DUT CYCLES
# The exported Verilog of tiny in Icarus, where all begins as X, against pins recorded of DUT by RECORDER, for CYCLES.
# Memories that are read before they were written stand in docs/guide/from_x.md, and no others. Then what it must find:
# a bit of the record that is flipped, a register that has lost its reset.
set -euo pipefail
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
cycles=$4
fail() { echo "$*" >&2; exit 1; }

"$1" export-verilog --preset tiny -o "$scratch"
nic=$scratch/mrc_nic_tiny.v
# Nothing has a value before reset, but for tables of constants that Yosys writes for cases.
stray=$(awk '/^  initial begin/ { on = 1; next } on && /^  end/ { on = 0 }
  on && $1 !~ /^\\\$auto\$proc_rom/ { print FILENAME ":" FNR ": " $0 } !on && /initial/ { print FNR ": " $0 }' "$nic")
[ -z "$stray" ] || fail "initial values in the exported Verilog: $stray"

# The run in lockstep with the model says that the record is right.
MRC_RECORD_OF=$3 MRC_RECORD_TO=$scratch/pins "$1" cosim --preset tiny --scenario mixed --seed 1 \
  --packets $((20 + cycles / 60)) --dut "$2" >"$scratch/cosim" || fail "$(cat "$scratch/cosim")"
grep -E "lockstep|link lost" "$scratch/cosim"

# runs NIC PINS CYCLES: in Icarus; what it says is in ./said
runs() {
  /usr/bin/python3 "$here/exported/for_icarus.py" "$1" "$scratch/whole.v"
  iverilog -g2005 -s icarus_bench -o "$scratch/run" "$here/exported/icarus_bench.v" "$scratch/whole.v"
  vvp -n "$scratch/run" "+pins=$2" "+cycles=$3" | tee "$scratch/said"
}
runs "$nic" "$scratch/pins" "$cycles"
last=$(tail -1 "$scratch/said")
[[ $last == "$cycles cycles, "*" completions, 0 differences" ]] || fail "not equal"
for what in "beats received" sent "lines written" completions; do
  [[ ! $last =~ ", 0 $what," ]] || fail "no $what: the run shows nothing"
done

# Of memories that there are several times the page has one, with * for the number; of all mrc_rf_reset u_rows.
sed -n 's/^read before it was written: //p' "$scratch/said" | sed 's/\[[0-9]*\]/[*]/g; s/.*\.u_rows$/u_rows/' |
  sort -u >"$scratch/read"
sed -n '/^## Memories that are read/,$p' "$here/../../docs/guide/from_x.md" | grep -o '`u_[^`]*`\|`gen_[^`]*`' | tr -d '`' |
  sort -u >"$scratch/listed"
unlisted=$(comm -23 "$scratch/read" "$scratch/listed")
[ -z "$unlisted" ] || fail "read before they were written, and not in docs/guide/from_x.md: $unlisted"
if [ "$cycles" -ge 20000 ]; then
  idle=$(comm -13 "$scratch/read" "$scratch/listed")
  [ -z "$idle" ] || fail "docs/guide/from_x.md lists memories that are not read before they are written: $idle"
fi

# A bit of an output that means something: awready of a cycle behind reset.
few=100
awk 'NR == 60 { $30 = 1 - $30 } { print } NR == '$few' { exit }' "$scratch/pins" >"$scratch/flipped"
runs "$nic" "$scratch/flipped" $few
grep -q "^cycle 59: awready is " "$scratch/said" || fail "a flipped bit is not seen"
grep -q ", 1 differences$" "$scratch/said" || fail "more than the flipped bit is seen"

# The counters of words of FIFOs without their reset.
awk '/if \(!rst_ni\) count_q <= / { getline; sub(/else /, "") } { print }' "$nic" >"$scratch/without.v"
[ "$(diff "$nic" "$scratch/without.v" | grep -c '^>')" -ge 1 ] || fail "no register lost its reset"
runs "$scratch/without.v" "$scratch/pins" $few
grep -qE " is [0-9a-f]*[xX]" "$scratch/said" || fail "a register without reset is not seen"
echo "right"
