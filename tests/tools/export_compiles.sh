#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: export_compiles.sh MRC PRESET
# The exported Verilog of a preset is one file that Icarus takes without a warning.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
"$1" export-verilog --preset "$2" -o "$scratch"
[ "$(ls "$scratch")" = "mrc_nic_$2.v" ] || { echo "unexpected files: $(ls -A "$scratch")"; exit 1; }
modules=$(grep -c '^module ' "$scratch/mrc_nic_$2.v")
echo "$modules modules"
[ "$modules" -gt 10 ] || { echo "the hierarchy is gone"; exit 1; }
iverilog -g2005 -Wall -Wno-timescale -s "mrc_nic_$2" -o "$scratch/nic" "$scratch/mrc_nic_$2.v" 2>&1 | tee "$scratch/log"
[ ! -s "$scratch/log" ]
