#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: sv.sh VERILATOR SOURCE BUILD LIBRARY DUMMY
# Verilates the self-test with the DPI package: the judge finds in it what the files say, a dummy that it cannot tell.
set -euo pipefail
source=$2 build=$3 library=$4 dummy=$5
mkdir -p "$build"
sv=$source/bindings/sv
"$1" --cc --exe --main --build -O3 -Wall -Wno-UNUSEDPARAM -Wno-BLKSEQ --top-module mrc_ref_selftest -Mdir "$build" \
  "$sv/mrc_ref_pkg.sv" "$sv/mrc_ref_selftest.sv" "$sv/mrc_ref_dpi.c" -o selftest \
  -CFLAGS "-I$source/cmodel -O1" -LDFLAGS "$library" >"$build/log" 2>&1 || { cat "$build/log"; exit 1; }
for log in right wrong; do
  LD_LIBRARY_PATH=$(dirname -- "$library") "$build/selftest" "+log=$source/bindings/selftest/$log.txt" | tee "$build/$log"
done
grep -q 'verdict 0, expected 0' "$build/right"
grep -q '^wire.icrc at' "$build/wrong"
if LD_LIBRARY_PATH=$(dirname -- "$dummy") "$build/selftest" "+log=$source/bindings/selftest/right.txt" >"$build/dummy" 2>&1; then
  echo "a dummy passes the self-test" && exit 1
fi
grep -q '^dummy: .* verdict 2, expected 0' "$build/dummy"
