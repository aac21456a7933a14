#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: export_lockstep.sh MRC BUILD CXX-LAUNCHER
# The exported Verilog of tiny runs in lockstep with the model, as the RTL does.
set -euo pipefail
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
mkdir -p "$2"
"$1" export-verilog --preset tiny -o "$2"
cmake -S "$here/exported" -B "$2/build" -G Ninja -DCMAKE_BUILD_TYPE=None --log-level=NOTICE \
  -DMRC_EXPORTED="$2/mrc_nic_tiny.v" -DMRC_LAUNCHER="$3"
cmake --build "$2/build"
"$1" cosim --preset tiny --scenario mixed --packets 300 --seed 1 --dut "$2/build/libmrc_dut_exported.so"
