#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up what is missing, builds what changed, then hands over to the built binary.
#   ./mrc [--no-install] COMMAND ...      ./mrc --help lists the commands
set -euo pipefail
root=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")

install=yes
if [ "${1-}" = --no-install ]; then
  install=no
  shift
fi
case "${1-}" in
  test | lint | export-verilog | state | depth) needed="build check" ;;
  *) needed="build" ;;
esac
flavour=fast also=
preset=asic800 previous=
for argument in "$@"; do
  [[ $argument = --wave || $argument = --wave=* ]] && flavour=wave # tracing costs speed, so it has a build of its own
  [[ ${1-} = bench && ($argument = --wave-flavour || $argument = --all) ]] && also=wave # measured beside the fast one
  [[ $previous = --preset ]] && preset=$argument
  [[ $argument = --preset=* ]] && preset=${argument#*=}
  previous=$argument
done

"$root/tools/install.sh" "$install" $needed

# up_to_date FLAVOUR TARGET: builds build/FLAVOUR as far as TARGET needs it
up_to_date() {
  local build=$root/build/$1
  if [ ! -f "$build/build.ninja" ]; then
    echo "mrc: configuring build/$1" >&2
    (cd -- "$root" && cmake --preset "$1" --log-level=NOTICE >&2) || exit 3
  fi
  # The dry run costs milliseconds and keeps a build with nothing to do silent.
  if [[ $(ninja -C "$build" -n "$2") != *"no work to do"* ]]; then
    echo "mrc: building build/$1" >&2
    NINJA_STATUS="[%f/%t %es] " ninja -C "$build" "$2" >&2 || exit 3
  fi
}
up_to_date $flavour mrc
case "$also$preset" in # another preset is refused by the command itself
  waveasic800 | wavefpga100 | wavetiny) up_to_date wave "mrc_dut_rtl_$preset" ;;
esac
build=$root/build/$flavour
MRC_ROOT=$root exec "$build/bin/mrc" "$@"
