#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: opennic_lint.sh VERILATOR ROOT SCRATCH [FROM TO]
#
# fpga/wrappers/opennic between the shell's names and widths (boxes.sv) and our top, whose core is a box of its pins.
# With FROM and TO the wrapper is changed first, by sed, to show that a mistake is found.
set -eu
verilator=$1 root=$2 scratch=$3
cd "$root"
mkdir -p "$scratch"
sed "s/${4:-^$}/${5:-}/" fpga/wrappers/opennic/mrc_opennic_322mhz.sv > "$scratch/mrc_opennic_322mhz.sv"
for preset in fpga100 tiny; do
  { sed '/^);/q' "rtl/gen/mrc_nic_$preset.sv"; echo endmodule; } > "$scratch/mrc_nic_$preset.sv"
done
sources=$(grep '^rtl/gen/mrc_pkg\|^rtl/lib\|^fpga' fpga/mrc_fpga_top.f)
# What boxes do not use or drive is no mistake.
# shellcheck disable=SC2086
"$verilator" --lint-only -Wall -Wno-DECLFILENAME -Wno-UNUSED -Wno-UNDRIVEN +incdir+rtl/lib rtl/lint/verilator.vlt \
  $sources "$scratch/mrc_nic_fpga100.sv" "$scratch/mrc_nic_tiny.sv" fpga/wrappers/opennic/boxes.sv \
  "$scratch/mrc_opennic_322mhz.sv" --top-module opennic_box
