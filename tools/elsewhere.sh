#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: tools/elsewhere.sh SUITE [COMMAND...]
#        tools/elsewhere.sh SUITE --bare FOLDER COMMAND...
# Sets up a bare Debian SUITE (bookworm, trixie) in build/elsewhere/SUITE by debootstrap. Clones the newest commit into
# it and runs there what README promises, the first command and then a short list of tests; or COMMAND instead.
#   tools/elsewhere.sh trixie
#   tools/elsewhere.sh bookworm ./mrc test
# --bare: no clone, and a new copy of the bare system for each call, with FOLDER in it as /given, where COMMAND runs.
# Needs root and debootstrap; 5 GB, 1 GB with --bare. What stands there is used again; remove the folder to begin anew.
# Exit code: that of what ran there; 3 when it cannot be set up.
set -euo pipefail
root=$(dirname -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")")
die() {
  printf 'elsewhere: %s\n  %s\n' "$1" "$2" >&2
  exit 3
}
case "${1-}" in
  bookworm | trixie) suite=$1 ;;
  -h | --help) sed -n 's/^# \{0,1\}//; 3,12p' "${BASH_SOURCE[0]}" && exit 0 ;;
  *) die "unknown suite '${1-}'." "Suites are bookworm and trixie." ;;
esac
shift
place=$root/build/elsewhere/$suite with=ca-certificates,git home=/clone given=
if [ "${1-}" = --bare ]; then
  [ $# -ge 3 ] && [ -d "$2" ] || die "--bare takes a folder and a command." "See $0 --help."
  place+=-bare with=ca-certificates home=/given given=$2
  shift 2
fi
[ "$(id -u)" = 0 ] || die "a bare system is set up by root." "Run it as root: sudo $0 $suite"
command -v debootstrap >/dev/null || die "debootstrap is missing." "As root: apt-get install debootstrap"
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' | sort | uniq -c |
  sort -rn | awk 'NR == 1 { print $2 }')
if [ ! -e "$place/set-up" ]; then
  rm -rf -- "$place"
  mkdir -p "$place"
  debootstrap --variant=minbase --include="$with" "$suite" "$place" "$mirror" >"$place.log" 2>&1 ||
    die "debootstrap could not set up $suite." "Its words are in $place.log."
  # How this machine gets at its packages: proxies and certificates of apt, registries of npm.
  while read -r file; do
    [ ! -e "$file" ] || { mkdir -p "$place${file%/*}" && cp "$file" "$place$file"; }
  done < <(grep -lRs Acquire /etc/apt/apt.conf.d /etc/apt/apt.conf; printf '%s\n' /etc/npmrc "$HOME/.npmrc")
  touch "$place/set-up"
fi
bare=$place
[ -z "$given" ] || place+=.$$
mounts=(/proc /dev /sys)
release() {
  for at in "${mounts[@]}"; do umount -R "$place$at" 2>/dev/null || true; done
  [ -z "$given" ] || rm -rf --one-file-system -- "$place"
}
trap release EXIT
if [ "$given" ]; then
  cp -a -- "$bare" "$place"
  cp -a -- "$given" "$place/given"
fi
cp /etc/resolv.conf "$place/etc/resolv.conf"
for at in "${mounts[@]}"; do mountpoint -q "$place$at" || mount --rbind --make-rslave "$at" "$place$at"; done
inside() {
  chroot "$place" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 sh -c "cd $home && $*"
}
if [ -z "$given" ]; then
  rm -rf -- "$place/clone.new"
  git clone -q --no-hardlinks "$root" "$place/clone.new"
  if [ -e "$place/clone" ]; then # what is built stays
    git -C "$place/clone" fetch -q "$place/clone.new" HEAD && git -C "$place/clone" reset -q --hard FETCH_HEAD
    rm -rf -- "$place/clone.new"
  else
    mv "$place/clone.new" "$place/clone"
  fi
fi
[ $# -eq 0 ] || { inside "$*"; exit; }
inside ./mrc cosim --preset tiny --packets 2000
units="test_protocol test_wire test_input test_log" # all of ./mrc test takes hours where nothing is built
inside "tools/build.sh fast $units && cd build/fast/tests && for unit in $units; do ./\$unit || exit; done"
