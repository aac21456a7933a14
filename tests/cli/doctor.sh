#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: doctor.sh SOURCE MRC
# What mrc doctor says of a list of packages of our own, on a system of our own, with and without a build.
set -euo pipefail
. "$(dirname -- "$(readlink -f -- "$0")")/tree.sh"

tree="$scratch/a tree"
mkdir -p "$tree/tools/yosys" "$tree/build/yosys" "$tree/cli" "$scratch/bin"
cp "$source/mrc" "$tree"
cp "$source"/tools/{doctor,packages,say}.sh "$tree/tools"
cp "$source/tools/yosys/package-lock.json" "$tree/tools/yosys"
cp "$source/tools/yosys/package-lock.json" "$tree/build/yosys/installed.json"
cp "$source/cli/cmd_tools.cpp" "$tree/cli"
cat >"$tree/tools/packages.txt" <<'LIST'
# a comment
present-one  build  -  -             mrc-present  2      one      one    one  -           is there
in-a-package build  -  -             -            -      -        -      -    -           has no command
old-one      build  -  mrc-old       -            5.006  old-rpm  -      -    -           turns "RTL" into C++
no-one       check  -  -             mrc-no-cmd   -      no-rpm   no-pm  -    lint,prove  shows what is said
npm          check  -  -             mrc-present  -      -        -      -    lint        fetches Yosys
LIST
printf 'ID=debian\nVERSION_CODENAME=bookworm\n' >"$scratch/os-release"
export MRC_OS_RELEASE=$scratch/os-release PATH=$scratch/bin:$PATH
program() { # NAME WORDS: a command that prints them
  printf '#!/bin/sh\necho "%s"\n' "$2" >"$scratch/bin/$1"
  chmod +x "$scratch/bin/$1"
}
program apt-get "nothing is installed here"
program dpkg-query "installed in-a-package 1:7.8+ds-1"
program mrc-present "Present version 2.5.1 (2020)"
program mrc-old "Old 4.038 2020-07-11"

says() { # EXIT-CODE ARGUMENTS...; the words are those of standard input
  local expected=$1 code=0
  shift
  "$tree/mrc" doctor "$@" >"$scratch/log" 2>&1 || code=$?
  [ $code = "$expected" ] || fail "mrc doctor $*: exit code $code, not $expected"
  diff - "$scratch/log" || fail "mrc doctor $*: wrong words"
}
says 1 <<TEXT
Tools and libraries (debian bookworm, packages by apt-get)
  mrc-present            2.5.1     $scratch/bin/mrc-present
  in-a-package           7.8       package in-a-package
  mrc-old                4.038     too old: 5.006 or newer; found in $scratch/bin; apt-get install old-one
  mrc-no-cmd             missing   apt-get install no-one (shows what is said)
  mrc-present            2.5.1     $scratch/bin/mrc-present
  @yowasp/yosys          -         $tree/build/yosys
Commands
  all              lacks mrc-old
  lint             lacks mrc-no-cmd
  prove            lacks mrc-no-cmd
TEXT
program mrc-old "New 5.006"
says 0 coverage <<TEXT
Tools and libraries (debian bookworm, packages by apt-get)
  mrc-present            2.5.1     $scratch/bin/mrc-present
  in-a-package           7.8       package in-a-package
  mrc-old                5.006     $scratch/bin/mrc-old
Commands
  all              ready
  coverage         ready
TEXT
says 3 frobnicate <<TEXT
mrc doctor: unknown command 'frobnicate'.
  See 'mrc --help'.
TEXT
says 3 --frobnicate <<TEXT
mrc doctor: The following argument was not expected: --frobnicate.
  See 'mrc doctor --help'.
TEXT
"$tree/mrc" doctor >"$scratch/log" || fail "what commands for running need is there: exit code 0"
code=0
"$tree/mrc" doctor prove >"$scratch/log" || code=$?
[ $code = 1 ] || fail "a command that lacks something must exit 1, got $code"
ls "$tree/build" | diff - <(echo yosys) || fail "mrc doctor must build nothing"

# Another system: its own names.
printf 'ID=fedora\n' >"$scratch/os-release"
rm "$scratch/bin/apt-get"
program dnf ""
program rpm "in-a-package 7"
mkdir "$scratch/some"
for command in awk bash c++ cat cmp cut dirname grep head readlink sed sort tr; do
  ln -s "$(command -v $command)" "$scratch/some/$command"
done
PATH=$scratch/bin:$scratch/some "$(command -v bash)" "$tree/tools/doctor.sh" lint >"$scratch/log" || true
grep -q '(fedora, packages by dnf)$' "$scratch/log" && grep -q 'missing   dnf install no-rpm (shows' "$scratch/log" ||
  fail "wrong words on another system"

# For programs; the built mrc says the same.
for doctor in "$tree/tools/doctor.sh" "$mrc doctor"; do
  code=0
  [ "$doctor" = "$mrc doctor" ] || doctor="'$doctor'"
  program mrc-old "Old 4.038"
  MRC_ROOT=$tree bash -c "$doctor --json" >"$scratch/log" || code=$?
  [ $code = 1 ] || fail "--json: exit code $code, not 1"
  /usr/bin/python3 - "$scratch/log" <<'PYTHON' || fail "$doctor: wrong JSON"
import json
import sys
said = json.load(open(sys.argv[1], encoding="utf-8"))
tools = {tool["name"]: tool for tool in said["tools"]}
assert said["ready"] is False and said["system"] == "fedora", said
assert tools["mrc-old"]["state"] == "too old" and tools["mrc-old"]["version"] == "4.038", tools
assert tools["mrc-old"]["why"] == 'turns "RTL" into C++' and tools["mrc-old"]["commands"] == "*", tools
assert tools["mrc-no-cmd"]["state"] == "missing" and tools["mrc-no-cmd"]["commands"] == ["lint", "prove"], tools
assert {c["name"]: c["lacks"] for c in said["commands"]}["prove"] == ["mrc-no-cmd"], said
PYTHON
done
echo "mrc doctor: text, JSON, exit codes, two systems"
