#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: guest.sh MRC TEST_DEVICE
# Devices that misbehave, as a user meets them: exit codes, sentences, nothing left behind.
set -euo pipefail
device=$(readlink -f -- "$2")
. "$(dirname -- "$(readlink -f -- "$0")")/../scratch.sh"
# code EXIT DOES ARGUMENTS...: a run with the test device
code() { MRC_TEST_DEVICE=$2 exits "$1" cosim --preset tiny --packets 200 --dut "$device" "${@:3}"; }
says() { grep -q -- "$1" said || fail "not said: $1: $(cat said)"; }

code 0 ""
says 'device       test device, 1, in a process of its own'
code 3 exit:step:1234 --json out.json
says '^DEVICE FAILED '
says 'the device ended the process with exit code 0 in mrc_dut_step of cycle 1234$'
[ "$(json out.json 'j["result"], j["device_fault"]["cycle"], j["device_fault"]["call"]')" = \
  "device_error 1234 mrc_dut_step" ] || fail "out.json: $(cat out.json)"
code 0 segv:close
says 'warning      the device was ended by signal 11 (Segmentation fault) in mrc_dut_close$'
code 3 loop:step:99 --dut-timeout 0.5
says 'the device has not come back from mrc_dut_step of cycle 99 for 0.5 s$'
code 4 abi:3
says 'speaks version 3 of mrc_dut.h, the bench version 5\.$'
code 1 stray:tx_tvalid
says 'pin tx_tvalid has bits beyond plane 1$'
says 'Again with: .* --dut .*libmrc_test_device.so'

# In our process: no pass, whatever the device does.
code 0 "" --dut-process shared
says 'device       test device, 1, in the process of the bench'
for call in open step:100 close; do
  code 3 "exit:$call" --dut-process shared
  says "^mrc: the device ended the process in mrc_dut_${call%:*}"
done
code 1 stray:tx_tvalid --dut-process shared
exits 3 cosim --preset tiny --dut model --dut-process own
says 'the model has no process of its own'
exits 3 cosim --preset tiny --dut ''
says -- '--dut names no file'

# Words of the device on its stdout are not among ours.
MRC_TEST_DEVICE=stdout "$mrc" cosim --preset tiny --packets 200 --dut "$device" >out 2>err
grep -q 'words of the device' err || fail "lost: $(cat err)"
! grep -q 'words of the device' out || fail "among ours: $(cat out)"

# The device ends with the bench, however that ends.
MRC_TEST_DEVICE=loop:step:99 "$mrc" cosim --preset tiny --packets 200 --dut "$device" >/dev/null 2>&1 &
bench=$!
sleep 1
guest=$(pgrep -P "$bench") || fail "no process of the device"
kill -KILL "$bench"
wait "$bench" 2>/dev/null || true
for _ in $(seq 50); do
  [ -e "/proc/$guest" ] && ! grep -q '^State:.Z' "/proc/$guest/status" || { guest=; break; }
  sleep 0.1
done
[ -z "$guest" ] || fail "process $guest of the device goes on"
