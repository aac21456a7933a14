#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: mrc doctor [-h] [--json] [COMMAND ...]
#
# mrc doctor: which tools and libraries commands need, and what of them is there, in which version and where. For what is
# missing or too old, it names the package of this system's package manager. It installs and builds nothing.
#
# positional arguments:
#   COMMAND     list only what these commands need
#
# options:
#   -h, --help  show this help message and exit
#   --json      as JSON
#
# Examples:
#   mrc doctor                what is there for every command
#   mrc doctor prove lint     exit code 1 when one of these two lacks something
#   mrc doctor --json         the same for programs
#
# Exit code 0: what every command needs is there (COMMAND: what these need); 1: something of it is missing or too old.
set -euo pipefail
root=$(dirname -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")")
groups=" build check "
# shellcheck source=tools/packages.sh
. "$root/tools/packages.sh"
# shellcheck source=tools/say.sh
. "$root/tools/say.sh"
die() {
  printf 'mrc doctor: %s\n  %s\n' "$1" "$2" >&2 || true # nobody may be there to hear it
  exit 3
}

json= commands=()
for word in "$@"; do
  case $word in
    -h | --help)
      help_of "mrc doctor" 3,20
      ;;
    --json) json=yes ;;
    -*) die "The following argument was not expected: $word." "See 'mrc doctor --help'." ;;
    *)
      grep -qE "(\.command|register_script)\((app, context, )?\"$word\"" "$root"/cli/*.cpp ||
        die "unknown command '$word'." "See 'mrc --help'."
      commands+=("$word")
      ;;
  esac
done
find_manager

declare -A packaged=() # version, as the package manager knows it
while read -r name version; do
  packaged[$name]=$version
done < <(
  case $manager in
    apt-get) dpkg-query -W -f '${db:Status-Status} ${Package} ${Version}\n' | sed -n 's/^installed //p' ;;
    dnf | zypper) rpm -qa --qf '%{NAME} %{VERSION}\n' ;;
    pacman) pacman -Q ;;
  esac 2>/dev/null | sed -E 's/ [0-9]+:/ /; s/ ([0-9.]*[0-9]).*/ \1/' || true
)
mapfile -t folders < <(c++ -std=c++20 -E -x c++ -v - </dev/null 2>&1 >/dev/null | sed -n '/^#include </,/^End/s/^ //p')
header() { # FILE: REPLY is where the compiler finds it
  local folder
  for folder in "${folders[@]}"; do
    REPLY=$folder/$1
    [ ! -f "$REPLY" ] || return 0
  done
  REPLY=
}

# One line for each row of packages.txt: state, version, where, and the columns that are told of it.
examine() {
  local name instead probe least dnf pacman zypper by why state version where what command
  while read -r name _ instead probe least dnf pacman zypper by why; do
    package_name "$name" "$dnf" "$pacman" "$zypper"
    name=$REPLY what=$name state=missing version= where=-
    if [[ $probe = +* ]]; then
      header "${probe#+}"
      [ -z "$REPLY" ] || { state=ok where=$REPLY version=${packaged[$name]-}; }
    else
      for command in "$probe" "$instead"; do
        [ "$command" != - ] && command -v "$command" >/dev/null || continue
        state=ok what=$command where=$(command -v "$command")
        # the package's own, or one that stands in front of it in the PATH
        REPLY=${packaged[$name]-}
        [[ -n $REPLY && $where =~ ^/usr/s?bin/ ]] || version_of "$command"
        version=$REPLY
        break
      done
      if [ $state = missing ] && [ "$probe" = - ] && [ -n "${packaged[$name]-}" ]; then
        state=ok version=${packaged[$name]} where=$(command -v "$name" || echo "package $name")
      fi
      [ "$what" != "$name" ] || [ "$probe" = - ] || what=$probe
    fi
    [ $state = missing ] || ! too_old "$version" "$least" || state=old
    printf '%s\n' "$state|${version:--}|$where|${what#+}|$name|$least|$by|$why"
  done < <(rows)
  state=missing where=-
  yosys_there && state=ok where=$root/build/yosys
  printf '%s\n' "$state|-|$where|@yowasp/yosys|npm|-|$1|reads the RTL with slang; ./mrc lint fetches it"
}
npm_users=$(rows | awk '$1 == "npm" { print $9 }')
mapfile -t found < <(examine "$npm_users")

asked() { # BY: this run is about one of these commands
  local command
  [ ${#commands[@]} -gt 0 ] && [ "$1" != - ] || return 0
  for command in "${commands[@]}"; do [[ ,$1, = *,$command,* ]] && return 0; done
  return 1
}
remedy() { # NAME: what gets that package
  [ "$1" = npm ] && [ "$2" = @yowasp/yosys ] && echo "./mrc lint" && return
  [ "$1" = - ] && echo "no package known" || echo "$asks $1"
}

code=0
declare -A lacks=() # of a command, or - for all
users=
for line in "${found[@]}"; do
  IFS='|' read -r state _ _ what _ _ by _ <<<"$line"
  users+=${by//,/ }$'\n'
  [ "$state" = ok ] && continue
  for user in ${by//,/ }; do lacks[$user]+=" $what"; done
done
mapfile -t users < <(tr ' ' '\n' <<<"$users" | grep -v -e '^-$' -e '^$' | sort -u)
[ -z "${lacks[-]-}" ] || code=1
for command in "${commands[@]}"; do [ -z "${lacks[$command]-}" ] || code=1; done
[ ${#commands[@]} -eq 0 ] || users=("${commands[@]}")

as_json() {
  quoted() {
    local text=${1//\\/\\\\}
    printf '"%s"' "${text//\"/\\\"}"
  }
  list() { # WORD...: a JSON array
    local out= word
    for word in "$@"; do out+=${out:+, }$(quoted "$word"); done
    printf '[%s]' "$out"
  }
  printf '{"system": %s, "release": %s, "manager": %s, "ready": %s,\n "tools": [' "$(quoted "$system")" \
    "$(quoted "$release")" "$(quoted "$manager")" "$([ $code = 0 ] && echo true || echo false)"
  separator=
  for line in "${found[@]}"; do
    IFS='|' read -r state version where what name least by why <<<"$line"
    asked "$by" || continue
    # shellcheck disable=SC2086
    [ "$by" = - ] && by='"*"' || by=$(list ${by//,/ })
    printf '%s\n  {"name": %s, "state": %s, "version": %s, "least": %s, "where": %s, ' "$separator" \
      "$(quoted "$what")" "$(quoted "${state/#old/too old}")" "$(quoted "${version/#-/}")" \
      "$(quoted "${least/#-/}")" "$(quoted "${where/#-/}")"
    printf '"package": %s, "commands": %s, "why": %s}' "$(quoted "$name")" "$by" "$(quoted "$why")"
    separator=,
  done
  printf '],\n "commands": ['
  separator=
  for command in "*" "${users[@]}"; do
    key=${command/#\*/-}
    # shellcheck disable=SC2086
    printf '%s\n  {"name": %s, "lacks": %s}' "$separator" "$(quoted "$command")" "$(list ${lacks[$key]-})"
    separator=,
  done
  printf ']}\n'
}

as_text() {
  printf 'Tools and libraries (%s%s, packages by %s)\n' "$system" "${release:+ $release}" "$manager"
  for line in "${found[@]}"; do
    IFS='|' read -r state version where what name least by why <<<"$line"
    asked "$by" || continue
    case $state in
      ok) printf '  %-22s %-9s %s\n' "$what" "$version" "$where" ;;
      missing) printf '  %-22s missing   %s (%s)\n' "$what" "$(remedy "$name" "$what")" "$why" ;;
      old)
        printf '  %-22s %-9s too old: %s or newer; found in %s; %s\n' "$what" "$version" "$least" "$(dirname -- "$where")" \
          "$(remedy "$name" "$what")"
        ;;
    esac
  done
  echo "Commands"
  verdict() { [ -n "$1" ] && echo "lacks$1" || echo "ready"; }
  printf '  %-16s %s\n' "all" "$(verdict "${lacks[-]-}")"
  for command in "${users[@]}"; do printf '  %-16s %s\n' "$command" "$(verdict "${lacks[$command]-}")"; done
}
if [ $json ]; then text=$(as_json); else text=$(as_text); fi
say "mrc doctor" $code "$text"
