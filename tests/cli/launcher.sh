#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: launcher.sh SOURCE MRC
# How ./mrc handles missing packages, shown with a package list, a system and a dpkg-query of our own, and what it builds.
set -euo pipefail
. "$(dirname -- "$(readlink -f -- "$0")")/tree.sh"

# signalled SIGNAL FILE COMMAND...: the command's exit code after a signal, sent when FILE is there: SIGINT to its
# children too, like a terminal's Ctrl-C. Python starts it as a shell in a terminal would: a background job of this
# script would ignore SIGINT.
signalled() {
  /usr/bin/python3 - "$@" 2>"$scratch/log" <<'PYTHON'
import os, signal, subprocess, sys, time
command = subprocess.Popen(sys.argv[3:], start_new_session=True)
for _ in range(200):
    if os.path.exists(sys.argv[2]):
        break
    time.sleep(0.1)
send = os.killpg if sys.argv[1] == "SIGINT" else os.kill
send(command.pid, getattr(signal, sys.argv[1]))
sys.exit(command.wait())
PYTHON
}

# A tree whose path has a space, with the real installer and a list that names one impossible package.
tree="$scratch/a tree"
mkdir -p "$tree/tools/yosys" "$tree/build/yosys" "$scratch/bin"
cp "$source"/tools/{install,lock,packages}.sh "$tree/tools"
cp "$source"/tools/yosys/package*.json "$tree/tools/yosys"
cat >"$tree/tools/packages.txt" <<'LIST'
# a comment
present-one                      build  -                            -   sh          -      one      one  one      -     is there
mrc-impossible,trixie=mrc-newer  build  -                            -   mrc-no-cmd  -      mrc-rpm  -    mrc-sle  -     shows what is said
verilator                        build  -                            sh  -           5.006  -        -    -        -     is asked for its version
from-backports                   check  bookworm=bookworm-backports  -   -           -      -        -    -        test  is not there
has-substitute                   check  -                            sh  -           -      -        -    -        test  sh does as well
LIST
os() { printf 'ID=%s\nVERSION_CODENAME=%s\n' "$1" "$2" >"$scratch/os-release"; }
export MRC_OS_RELEASE=$scratch/os-release
os debian bookworm
cat >"$scratch/bin/dpkg-query" <<'QUERY'
#!/bin/sh
echo present-one installed
exit 1
QUERY
chmod +x "$scratch/bin/dpkg-query"
export PATH=$scratch/bin:$PATH

code=0
"$tree/tools/install.sh" no build >"$scratch/log" 2>&1 || code=$?
[ $code = 3 ] || fail "a missing package without installing must exit 3, got $code"
cat >"$scratch/expected" <<'TEXT'
mrc: missing: mrc-impossible (shows what is said)
mrc: 1 packages are missing and --no-install is given.
  As root: apt-get install --no-install-recommends mrc-impossible
TEXT
diff "$scratch/expected" "$scratch/log" || fail "wrong words for a missing package"

code=0
"$tree/tools/install.sh" no build check >"$scratch/log" 2>&1 || code=$?
[ $code = 3 ] || fail "two missing packages must exit 3, got $code"
grep -q '^mrc: missing: from-backports/bookworm-backports (is not there)$' "$scratch/log" ||
  fail "a package from backports must be named with its suite"
grep -q 'has-substitute' "$scratch/log" && fail "a package with a substitute in the PATH is not missing"

# Debian 13 has other names, and needs no backports.
os debian trixie
code=0
"$tree/tools/install.sh" no build check >"$scratch/log" 2>&1 || code=$?
[ $code = 3 ] || fail "missing packages on Debian 13 must exit 3, got $code"
grep -q 'As root: apt-get install --no-install-recommends mrc-newer from-backports$' "$scratch/log" ||
  fail "wrong packages on Debian 13"

# No other system is refused for its name: what is missing has the names of its package manager.
os fedora ""
printf '#!/bin/sh\nexit 1\n' >"$scratch/bin/dnf"
chmod +x "$scratch/bin/dnf"
mv "$scratch/bin/dpkg-query" "$scratch"
code=0
"$tree/tools/install.sh" yes build >"$scratch/log" 2>&1 || code=$?
[ $code = 3 ] || fail "a missing command on another system must exit 3, got $code"
cat >"$scratch/expected" <<'TEXT'
mrc: missing: mrc-no-cmd (shows what is said)
mrc: 1 commands or headers are missing; this system is fedora, where mrcnic installs nothing.
TEXT
head -n 2 "$scratch/log" | diff "$scratch/expected" - || fail "wrong words for a missing command on another system"
printf '#!/bin/sh\n' >"$scratch/bin/mrc-no-cmd"
chmod +x "$scratch/bin/mrc-no-cmd"
"$tree/tools/install.sh" yes build >"$scratch/log" 2>&1 || fail "another system has all, yet it failed"
printf '#!/bin/sh\necho Verilator 4.038 2020-07-11\n' >"$scratch/bin/verilator"
chmod +x "$scratch/bin/verilator"
code=0
"$tree/tools/install.sh" yes build >"$scratch/log" 2>&1 || code=$?
cat >"$scratch/expected" <<TEXT
mrc: verilator 4.038 is too old: 5.006 or newer; found in $scratch/bin/verilator.
  Install a newer one, or take it out of the PATH.
TEXT
[ $code = 3 ] && diff "$scratch/expected" "$scratch/log" || fail "wrong words for an old Verilator, or exit code $code"
rm "$scratch/bin/verilator" "$scratch/bin/dnf" "$scratch/bin/mrc-no-cmd"
mv "$scratch/dpkg-query" "$scratch/bin"
os debian bookworm

cat >"$scratch/bin/apt-get" <<'APT'
#!/bin/sh
touch "${0%/*}/apt-runs"
exec sleep 30
APT
printf '#!/bin/sh\nexec "$@"\n' >"$scratch/bin/sudo"
chmod +x "$scratch/bin/apt-get" "$scratch/bin/sudo"

# Nobody who is not root, without sudo, is asked for more than the one line that root has to run.
mkdir "$scratch/few"
ln -s /usr/bin/* "$scratch/few"
rm -f "$scratch/few/sudo"
mv "$scratch/bin/sudo" "$scratch"
printf '#!/bin/sh\necho 1000\n' >"$scratch/bin/id"
chmod +x "$scratch/bin/id"
code=0
PATH=$scratch/bin:$scratch/few "$tree/tools/install.sh" yes build >"$scratch/log" 2>&1 || code=$?
cat >"$scratch/expected" <<'TEXT'
mrc: missing: mrc-impossible (shows what is said)
mrc: 1 packages are missing; to install them takes root, and there is no sudo.
  As root: apt-get install --no-install-recommends mrc-impossible
TEXT
[ $code = 3 ] && diff "$scratch/expected" "$scratch/log" || fail "wrong words without root rights, or exit code $code"
rm "$scratch/bin/id"
mv "$scratch/sudo" "$scratch/bin"

code=0
signalled SIGINT "$scratch/bin/apt-runs" "$tree/tools/install.sh" yes build || code=$?
[ $code = 3 ] || fail "Ctrl-C while packages are installed must exit 3, got $code"
[ "$(tail -n 2 "$scratch/log" | head -n 1)" = "mrc: interrupted while installing packages." ] ||
  fail "wrong words for Ctrl-C while packages are installed"

# A second one in the same clone waits for the first, and finds all there.
cat >"$scratch/bin/apt-get" <<'APT'
#!/bin/sh
touch "${0%/*}/apt-runs"
for _ in $(seq 300); do [ -e "${0%/*}/go" ] && touch "${0%/*}/installed" && exit; sleep 0.1; done
exit 1
APT
cat >"$scratch/bin/dpkg-query" <<'QUERY'
#!/bin/sh
echo present-one installed
[ -e "${0%/*}/installed" ] && echo mrc-impossible installed
exit 1
QUERY
rm "$scratch/bin/apt-runs"
"$tree/tools/install.sh" yes build >"$scratch/first" 2>&1 &
first=$!
for _ in {1..300}; do [ -e "$scratch/bin/apt-runs" ] && break; sleep 0.1; done
"$tree/tools/install.sh" yes build >"$scratch/log" 2>&1 &
second=$!
for _ in {1..300}; do grep -q waiting "$scratch/log" && break; sleep 0.1; done
touch "$scratch/bin/go"
wait $first && wait $second || fail "two that install at once must both end well"
diff - "$scratch/log" <<TEXT || fail "wrong words for the second one that installs"
mrc: missing: mrc-impossible (shows what is said)
mrc: waiting for process $first, which is installing packages
TEXT

sed -i '/impossible/d; /from-backports/d' "$tree/tools/packages.txt"
code=0
"$tree/tools/install.sh" no build check >"$scratch/log" 2>&1 || code=$?
[ $code = 3 ] || fail "missing Yosys without installing must exit 3, got $code"
cp "$tree/tools/yosys/package-lock.json" "$tree/build/yosys/installed.json"
"$tree/tools/install.sh" no build check >"$scratch/log" 2>&1 || fail "nothing is missing, yet it failed"
[ ! -s "$scratch/log" ] || fail "nothing is missing, yet it spoke"

# What ./mrc has built for a command's words, shown with a builder and an mrc that only say how they were called.
cp "$source/mrc" "$tree"
mkdir -p "$tree/build/fast/bin"
cat >"$tree/tools/build.sh" <<'BUILD'
#!/bin/sh
echo "build $*" >&2
exit "${BUILD_CODE-0}"
BUILD
cat >"$tree/build/fast/bin/mrc" <<'MRC'
#!/bin/sh
echo "mrc $* ${MRC_ROOT##*/} ${MRC_BUILD##*/}" >&2
MRC
chmod +x "$tree/tools/build.sh" "$tree/build/fast/bin/mrc"
builds() { # EXPECTED-CALL-OF-THE-BUILDER COMMAND-LINE...
  local expected=$1 code=0
  shift
  "$tree/mrc" --no-install "$@" >"$scratch/log" 2>&1 || code=$?
  printf '%s\n' "build $expected" "mrc $* a tree build.sh" >"$scratch/expected"
  [ $code = 0 ] && diff "$scratch/expected" "$scratch/log" || fail "./mrc $*: wrong calls, or exit code $code"
}
builds "fast mrc --also asic800" cosim
builds "fast mrc --also tiny" cosim --packets 10 --preset tiny
builds "fast mrc --also fpga100" cosim --preset=fpga100
builds "fast mrc --also asic800" bench nic --payload 64
builds "fast mrc" bench fabric --preset tiny
builds "fast mrc" cosim --dut model
builds "fast mrc" cosim --preset tiny --wave=-10:+10
builds "fast mrc" cosim --preset nothing
builds "fast mrc" cosim --help
builds "fast mrc" decode --preset tiny
builds "fast mrc"
code=0
BUILD_CODE=3 "$tree/mrc" --no-install cosim >"$scratch/log" 2>&1 || code=$?
[ $code = 3 ] && [ "$(cat "$scratch/log")" = "build fast mrc --also asic800" ] ||
  fail "a build that fails must end the command with exit code 3, got $code"

# What the commands themselves ask the builder for, whatever the launcher guessed.
asks() { # EXPECTED-CALL-OF-THE-BUILDER COMMAND-LINE...
  local expected=$1 code=0
  shift
  BUILD_CODE=3 MRC_BUILD=$tree/tools/build.sh "$mrc" "$@" >"$scratch/log" 2>&1 || code=$?
  [ $code = 3 ] || fail "mrc $*: a device that cannot be built must exit 3, got $code"
  [ "$(cat "$scratch/log")" = "build $expected" ] || fail "mrc $*: must call the builder for $expected, only"
}
cd "$scratch"
asks "fast asic800" cosim --packets 10
asks "fast tiny" cosim --packets 10 --preset tiny
asks "wave fpga100" cosim --packets 10 --preset fpga100 --wave
asks "fast tiny" bench cosim --preset tiny --cycles 10
asks "fast fpga100" bench nic --preset fpga100 --payload 64
asks "fast asic800" fabric --scenario small --endpoint rtl
MRC_BUILD=$tree/tools/build.sh "$mrc" cosim --dut model --preset tiny --packets 20 >"$scratch/log" 2>&1 ||
  fail "a run of the model must pass"
grep -q '^build' "$scratch/log" && fail "a run of the model needs no RTL"

# The builder, with a CMake and a Ninja of our own: nothing to do, configuring, words, a failure, a signal.
cp "$source/tools/build.sh" "$tree/tools"
cat >"$scratch/bin/cmake" <<'CMAKE'
#!/bin/bash
[ "$DO" = cmake-full ] && { echo word >/dev/full; exit 1; }
touch "build/$2/build.ninja"
printf '%s\n' "CMAKE_GENERATOR:INTERNAL=Ninja" "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" >"build/$2/CMakeCache.txt"
CMAKE
cat >"$scratch/bin/ninja" <<'NINJA'
#!/bin/bash
# ninja -C FOLDER [-n] TARGET...
echo "ninja: Entering directory \`$2'"
if [ "$3" = -n ]; then
  shift 3
  echo "$*" >"$LOG.targets"
  [ $DO = nothing ] && echo "ninja: no work to do." && exit
  printf '[%s] Building CXX object x.o\n' 1/4 2/4 3/4 4/4
  exit
fi
trap 'echo "interrupted once" >"$LOG.signal"; exit 2' INT
for step in 1 2 3; do echo "${NINJA_STATUS}Building CXX object $step.o"; done
case $DO in
  wait) touch "$LOG.waits"; for _ in {1..300}; do sleep 0.1; done ;;
  fail) printf '%s\n' "FAILED: 4.o" "4.cpp:1: wrong"; exit 1 ;;
  full) { echo object >/dev/full; } 2>&1; exit 1 ;;
esac
echo "${NINJA_STATUS}Building CXX object 4.o"
NINJA
chmod +x "$scratch/bin/cmake" "$scratch/bin/ninja"
export LOG=$scratch/ninja
built() { # EXIT-CODE TARGETS ARGUMENTS...; then the words, times left out, are those of standard input
  local expected=$1 targets=$2 code=0
  shift 2
  "$tree/tools/build.sh" "$@" >"$scratch/log" 2>&1 || code=$?
  [ $code = "$expected" ] || fail "build.sh $*: exit code $code, not $expected"
  [ "$(cat "$LOG.targets")" = "$targets" ] || fail "build.sh $*: builds $(cat "$LOG.targets"), not $targets"
  sed -i 's/, about [0-9]* s left//; s/ in [0-9]* s$//; s/; .* has [0-9]* MB left/; PLACE has N MB left/
    s/^.*: write error: /write error: /' "$scratch/log"
  diff - "$scratch/log" || fail "build.sh $*: wrong words"
}
rm -rf "$tree/build/fast"
DO=build built 0 "mrc mrc_dut_rtl_tiny" fast mrc --also tiny <<'TEXT'
mrc: configuring the build (CMake)
mrc: building mrc and the RTL of preset tiny (Verilator, C++)
mrc: 25 % built
mrc: 50 % built
mrc: 75 % built
mrc: built mrc and the RTL of preset tiny
TEXT
DO=nothing built 0 "mrc" fast mrc --also tiny </dev/null
DO=nothing built 0 "mrc_dut_rtl_tiny" fast tiny </dev/null
DO=fail built 3 "mrc_dut_rtl_tiny" fast tiny <<'TEXT'
mrc: building the RTL of preset tiny (Verilator, C++)
mrc: 25 % built
mrc: 50 % built
mrc: 75 % built
FAILED: 4.o
4.cpp:1: wrong
mrc: could not build the RTL of preset tiny.
  See the words above; the same command goes on where this one stopped.
TEXT
# A full disk has its sentence, whoever could not write; the same command goes on when there is room.
DO=full built 3 "mrc_dut_rtl_tiny" fast tiny <<'TEXT'
mrc: building the RTL of preset tiny (Verilator, C++)
mrc: 25 % built
mrc: 50 % built
mrc: 75 % built
write error: No space left on device
mrc: the disk is full: could not build the RTL of preset tiny; PLACE has N MB left.
  Make room there: everything takes 2 GB. The same command goes on where this one stopped.
TEXT
rm -rf "$tree/build/fast"
DO=cmake-full built 3 "mrc_dut_rtl_tiny" fast tiny <<'TEXT'
mrc: configuring the build (CMake)
write error: No space left on device
mrc: the disk is full: could not configure build/fast; PLACE has N MB left.
  Make room there: everything takes 2 GB. The same command goes on where this one stopped.
TEXT
DO=build built 0 "mrc_dut_rtl_tiny" fast tiny --anew <<'TEXT'
mrc: configuring the build (CMake)
mrc: building the RTL of preset tiny (Verilator, C++)
mrc: 25 % built
mrc: 50 % built
mrc: 75 % built
mrc: built the RTL of preset tiny
TEXT
DO=nothing built 0 "mrc_dut_rtl_tiny" fast tiny --anew <<'TEXT'
mrc: configuring the build (CMake)
TEXT

# A folder of another place or generator builds nothing; without it the same command does.
strange() { # LINE OF CMAKE'S CACHE, WORDS
  sed -i "s|^${1%%=*}=.*|$1|" "$tree/build/fast/CMakeCache.txt"
  DO=build built 3 "mrc_dut_rtl_tiny" fast tiny <<TEXT
mrc: build/fast was made for $2.
  Remove it: rm -r $tree/build/fast; the same command builds it anew.
TEXT
  rm -r "$tree/build/fast"
  DO=nothing built 0 "mrc_dut_rtl_tiny" fast tiny <<'TEXT'
mrc: configuring the build (CMake)
TEXT
}
strange "CMAKE_HOME_DIRECTORY:INTERNAL=/another/clone" "the sources in /another/clone"
strange "CMAKE_GENERATOR:INTERNAL=Unix Makefiles" "Unix Makefiles, not for Ninja"
mv "$tree/build/fast" "$tree/build/kept"
touch "$tree/build/fast"
DO=build built 3 "mrc_dut_rtl_tiny" fast tiny <<TEXT
mrc: cannot write to $tree/build/fast: File exists.
  Remove it, or make it yours: chown -R $(id -un) $tree/build/fast
TEXT
rm "$tree/build/fast"
mv "$tree/build/kept" "$tree/build/fast"

# A second call in the same folder waits, says for whom, and goes on when the first has ended, however it did.
rm -f "$LOG.waits"
hears_sigint='import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execvp(sys.argv[1], sys.argv[1:])'
DO=wait /usr/bin/python3 -c "$hears_sigint" "$tree/tools/build.sh" fast mrc >"$scratch/first" 2>&1 &
first=$!
for _ in {1..300}; do [ -e "$LOG.waits" ] && break; sleep 0.1; done
DO=nothing "$tree/tools/build.sh" fast tiny >"$scratch/log" 2>&1 &
second=$!
for _ in {1..300}; do grep -q waiting "$scratch/log" && break; sleep 0.1; done
kill -TERM $first
wait $first && fail "a build that is ended must not end well"
wait $second || fail "the second build must go on"
echo "mrc: waiting for process $first, which is building mrc" | diff - "$scratch/log" || fail "wrong words for the second build"

mkdir "$tree/build/wave"
touch "$tree/build/wave/build.ninja"
for signal in INT TERM HUP; do
  rm -f "$LOG.waits" "$LOG.signal"
  code=0
  DO=wait signalled "SIG$signal" "$LOG.waits" "$tree/tools/build.sh" wave tiny || code=$?
  [ $code = 3 ] || fail "SIG$signal must end a build with exit code 3, got $code"
  tail -n 2 "$scratch/log" | diff - <(
    echo "mrc: interrupted while building the RTL of preset tiny with waves."
    echo "  What is built stays: the same command goes on where this one stopped."
  ) || fail "SIG$signal: wrong words"
  [ -f "$LOG.signal" ] || fail "SIG$signal must reach Ninja, which tidies up"
done
