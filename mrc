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
flavour=fast
for argument in "$@"; do
  [[ $argument = --wave || $argument = --wave=* ]] && flavour=wave # tracing costs speed, so it has a build of its own
done

"$root/tools/install.sh" "$install" $needed

build=$root/build/$flavour
if [ ! -f "$build/build.ninja" ]; then
  echo "mrc: configuring build/$flavour" >&2
  (cd -- "$root" && cmake --preset "$flavour" --log-level=NOTICE >&2) || exit 3
fi
# The dry run costs milliseconds and keeps a build with nothing to do silent.
if [[ $(ninja -C "$build" -n mrc) != *"no work to do"* ]]; then
  echo "mrc: building build/$flavour" >&2
  NINJA_STATUS="[%f/%t %es] " ninja -C "$build" mrc >&2 || exit 3
fi
MRC_ROOT=$root exec "$build/bin/mrc" "$@"
