#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up what is missing, builds what changed, then hands over to the built binary.
#   ./mrc [--no-install] COMMAND ...      ./mrc --help lists the commands; ./mrc doctor says what they need
set -euo pipefail
root=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")

install=yes
if [ "${1-}" = --no-install ]; then
  install=no
  shift
fi
# What is missing is told without installing or building anything.
[ "${1-}" = doctor ] && exec "$root/tools/doctor.sh" "${@:2}"
case "${1-}" in
  test | lint | export-verilog | state | depth | coverage | prove | fpga | gates) needed="build check" ;;
  package) needed="build package" ;;
  *) needed="build" ;;
esac
"$root/tools/install.sh" "$install" $needed

# The command itself asks for the RTL that it opens (MRC_BUILD). Where its words tell already which that will be, it is
# built beside mrc, so that all cores are busy to the end; a wrong guess costs time, nothing else.
guess=
case "${1-} ${2-}" in
  cosim\ * | "bench cosim" | "bench nic") guess=asic800 ;;
esac
previous=
for argument in "$@"; do
  case $previous in --preset) [ -z "$guess" ] || guess=$argument ;; esac
  case $argument in
    --preset=*) [ -z "$guess" ] || guess=${argument#*=} ;;
    --dut | --dut=* | --wave | --wave=* | -h | --help | list) guess= ;;
  esac
  previous=$argument
done
case $guess in
  asic800 | fpga100 | tiny) "$root/tools/build.sh" fast mrc --also "$guess" ;;
  *) "$root/tools/build.sh" fast mrc ;;
esac
MRC_ROOT=$root MRC_BUILD=$root/tools/build.sh exec "$root/build/fast/bin/mrc" "$@"
