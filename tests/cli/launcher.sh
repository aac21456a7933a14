#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: launcher.sh SOURCE
# How ./mrc handles missing packages, shown with a package list and a dpkg-query of our own.
set -euo pipefail
source=$1
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT

fail() {
  echo "$1"
  cat "$scratch/log"
  exit 1
}

# A tree whose path has a space, with the real installer and a list that names one impossible package.
tree="$scratch/a tree"
mkdir -p "$tree/tools/yosys" "$tree/build/yosys" "$scratch/bin"
cp "$source/tools/install.sh" "$tree/tools"
cp "$source"/tools/yosys/package*.json "$tree/tools/yosys"
cat >"$tree/tools/packages.txt" <<'LIST'
# a comment
present-one            build  -                   -     is there
mrc-impossible         build  -                   -     shows what is said
from-backports         check  bookworm-backports  -     is not there
has-substitute         check  -                   sh    sh does as well
LIST
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

sed -i '/impossible/d; /from-backports/d' "$tree/tools/packages.txt"
code=0
"$tree/tools/install.sh" no build check >"$scratch/log" 2>&1 || code=$?
[ $code = 3 ] || fail "missing Yosys without installing must exit 3, got $code"
cp "$tree/tools/yosys/package-lock.json" "$tree/build/yosys/installed.json"
"$tree/tools/install.sh" no build check >"$scratch/log" 2>&1 || fail "nothing is missing, yet it failed"
[ ! -s "$scratch/log" ] || fail "nothing is missing, yet it spoke"
