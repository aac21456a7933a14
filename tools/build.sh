#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: build.sh FLAVOUR TARGET... [--also PRESET] [--anew]
# Builds in build/FLAVOUR what is out of date: mrc, everything, unit tests (test_NAME), mrc_host, mrc_api_suite, or by
# the name of a preset its RTL. --also: the RTL of this one too if there is something to build. --anew: CMake looks again at what is there.
# Says in words on stderr what it does and how far it is, nothing when there is nothing to do. FLAVOUR is a preset of
# CMakePresets.json.
# Exit code 3 when it fails or is interrupted; the next call goes on where this one stopped.
set -euo pipefail
root=$(dirname -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")")
flavour=$1
shift
build=$root/build/$flavour

terminal=
[ -t 2 ] && terminal=yes
say() { printf '%smrc: %s\n' "${terminal:+$'\r\e[K'}" "$*" >&2; }
die() {
  say "$1"
  printf '  %s\n' "$2" >&2
  exit 3
}

. "$root/tools/lock.sh"

worker= activity="looking what to build"
interrupted() {
  trap '' INT TERM HUP # the words below come even if the key is pressed again
  if [ -n "$worker" ]; then
    kill -INT "$worker" || true
    wait "$worker" || true
  fi 2>/dev/null
  die "interrupted while ${activity% (*}." "What is built stays: the same command goes on where this one stopped."
}
trap interrupted INT TERM HUP

# what it takes in words, and the names that Ninja knows
targets=() words=
add() { # TARGET
  local name tools
  case $1 in
    mrc) name="mrc" tools="C++" ;;
    everything) name="everything that there is to test" tools="Verilator, C++" ;;
    installation) name="what an installation holds" tools="Verilator, C++" ;;
    test_*) name="its unit tests ${1#test_}" tools="C++" ;;
    mrc_host) name="NICs for programs of mrc.h" tools="C++" ;;
    mrc_api_suite) name="the tests of lib_mrc.so" tools="C" ;;
    *_asserted) name="the RTL of preset ${1%_asserted} with its assertions" tools="Verilator, C++" ;;
    *_stalled) name="the RTL of preset ${1%_stalled} with stalls between its blocks" tools="Verilator, C++" ;;
    *) name="the RTL of preset $1" tools="Verilator, C++" ;;
  esac
  [ "$flavour" = wave ] && name+=" with waves"
  case $1 in
    mrc) targets+=(mrc) ;;
    everything) targets+=(all) ;;
    installation) targets+=(mrc_installation) ;;
    test_* | mrc_host | mrc_api_suite) targets+=("$1") ;;
    *) targets+=("mrc_dut_rtl_$1") ;;
  esac
  words="${words:+${words% (*} and }$name ($tools)"
}
also= anew=
while [ $# -gt 0 ]; do
  case $1 in
    --also)
      also=$2
      shift
      ;;
    --anew) anew=yes ;;
    *) add "$1" ;;
  esac
  shift
done

# Two calls at once in one folder would build the same files; the second one waits.
only_one "$build/.lock" "building ${words% (*}"

# A clone that was copied or moved would build what lies at the other place.
of_cache() { sed -n "s/^$1:INTERNAL=//p" "$build/CMakeCache.txt"; }
if [ -f "$build/CMakeCache.txt" ]; then
  place=$(of_cache CMAKE_HOME_DIRECTORY) generator=$(of_cache CMAKE_GENERATOR)
  [ "$(readlink -m -- "$place")" = "$root" ] ||
    die "build/$flavour was made for the sources in $place." "Remove it: rm -r $build; the same command builds it anew."
  [ "$generator" = Ninja ] ||
    die "build/$flavour was made for $generator, not for Ninja." "Remove it: rm -r $build; the same command builds it anew."
fi

# could_not WHAT OUTPUT REMEDY: a full disk has a sentence of its own, whoever it was that could not write.
could_not() {
  local left place
  case $2 in
    *"No space left on device"* | *"Disk quota exceeded"*)
      read -r left place < <(df --output=avail,target -B M "$build" "${TMPDIR:-/tmp}" "${CCACHE_DIR:-${HOME-}/.cache}" \
        2>/dev/null | tail -n +2 | sort -n)
      die "the disk is full: could not $1; $place has ${left%M} MB left." \
        "Make room there: everything takes 2 GB. The same command goes on where this one stopped."
      ;;
  esac
  die "could not $1." "$3"
}
export LC_ALL=C.UTF-8 # the words above in English

plan() { steps=$(NINJA_STATUS= ninja -C "$build" -n "${targets[@]}" 2>&1) || steps="Re-running CMake"; }
plan_again=yes
if [ -f "$build/build.ninja" ] && [ ! $anew ]; then
  plan
  [[ $steps = *"no work to do"* ]] && exit 0
  [[ $steps = *"Re-running CMake"* ]] || plan_again=
fi
begin=$SECONDS
if [ $plan_again ]; then
  activity="configuring the build"
  say "$activity (CMake)"
  log=$(cd -- "$root" && cmake --preset "$flavour" 2>&1) || {
    printf '%s\n' "$log" >&2
    could_not "configure build/$flavour" "$log" "CMake's words are above."
  }
fi
[ -z "$also" ] || add "$also"
if [ "$plan_again$also" ]; then
  plan
  [[ $steps = *"no work to do"* ]] && exit 0
fi

# Steps differ; seconds of one core, roughly.
weigh() {
  case $1 in
    *"Building CXX"*/fast_[0-9]*) weight=60 ;;
    *"Building CXX"*/slow_[0-9]* | *Verilating* | *"Building CXX object cli/"*) weight=40 ;;
    *"Building CXX"*) weight=13 ;;
    *) weight=1 ;;
  esac
}
total=0
while read -r step; do
  [[ $step = ninja:* ]] && continue
  weigh "$step"
  total=$((total + weight))
done <<<"$steps"

done=0 percent=0 told=0 output=
activity="building $words"
[ $terminal ] || say "$activity"
show() { # how far it is: one line on a terminal, else a line for each quarter
  local left= columns line
  if [ $percent -ge 5 ] && [ $((SECONDS - begin)) -ge 2 ]; then
    left=$(((SECONDS - begin) * (total - done) / done))
    left=", about $((left < 10 ? left : (left + 5) / 10 * 10)) s left"
  fi
  if [ $terminal ]; then
    columns=$(stty size <&2 2>/dev/null) || columns=
    columns=${columns#* }
    line="mrc: $activity: $percent %$left"
    [ "${columns:-0}" -gt 1 ] && line=${line:0:columns-1}
    printf '\r%s\e[K' "$line" >&2
  elif [ $((percent / 25)) -gt $told ]; then
    told=$((percent / 25))
    say "$percent % built$left"
  fi
}

[ $terminal ] && show
mark=@@mrc@@
begin=$SECONDS
exec {lines}< <(NINJA_STATUS=$mark exec ninja -C "$build" "${targets[@]}" 2>&1)
worker=$!
while read -r line <&$lines; do
  if [[ $line = "$mark"* ]]; then
    weigh "$line"
    done=$((done + weight))
    [ $done -lt $total ] || done=$((total - 1))
    percent=$((100 * done / total))
    show
  elif [[ $line != "ninja: Entering directory"* ]]; then
    output+=$line$'\n'
  fi
done
if ! wait "$worker"; then
  [ $terminal ] && printf '\r\e[K' >&2
  printf '%s' "$output" >&2
  could_not "build ${words% (*}" "$output" "See the words above; the same command goes on where this one stopped."
fi
say "built ${words% (*} in $((SECONDS - begin)) s"
