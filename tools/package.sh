#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: mrc package [--deb | --tar] [--out DIR]
#
# mrc package: builds what an installation holds and packs it; docs/start/install.md says what that is. Without an
# option both.
#
# options:
#   --deb      mrcnic_VERSION_ARCHITECTURE.deb, for the Debian that it is built on
#   --tar      mrcnic-VERSION-linux-MACHINE.tar.zst, which runs from any folder
#   --out DIR  the folder that they go to; default: here
#
# Examples:
#   mrc package                   both
#   mrc package --tar --out dist  the archive alone
#
# Exit code 3 when something cannot be built or written.
set -euo pipefail
root=$(dirname -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")")
build=$root/build/fast
# shellcheck source=tools/say.sh
. "$root/tools/say.sh"
die() {
  printf 'mrc package: %s\n  %s\n' "$1" "$2" >&2 || true # nobody may be there to hear it
  exit 3
}

generators=DEB\;TZST out=.
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help)
      help_of "mrc package" 3,17
      ;;
    --deb) generators=DEB ;;
    --tar) generators=TZST ;;
    --out)
      [ $# -ge 2 ] || die "--out takes a folder." "See 'mrc package --help'."
      out=$2
      shift
      ;;
    *) die "unknown option '$1'." "See 'mrc package --help'." ;;
  esac
  shift
done
mkdir -p -- "$out" 2>/dev/null && [ -w "$out" ] || die "cannot write into $out." "Name a folder that you may write with --out."
case $generators in
  DEB*) command -v dpkg-shlibdeps >/dev/null ||
    die "dpkg-shlibdeps is missing, which finds what a .deb depends on." "Install dpkg-dev, or give --tar." ;;
esac

rm -f -- "$build/cli/built_from.cpp" # also what is compiled into nothing counts as changed
"$root/tools/build.sh" fast installation
scratch=$(mktemp -d -p "$out" .mrc-package-XXXXXX)
trap 'rm -rf -- "$scratch"' EXIT
cpack --config "$build/CPackConfig.cmake" -G "$generators" -B "$scratch" >"$scratch/log" 2>&1 || {
  cat "$scratch/log" >&2
  die "cpack could not pack." "Its words are above."
}
for file in "$scratch"/mrcnic[_-]*; do
  mv -f -- "$file" "$out"
  printf '%s: %s KiB\n' "$out/${file##*/}" "$(du -k -- "$out/${file##*/}" | cut -f 1)"
done
