# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests of scripts in a tree of their own, which are called with SOURCE MRC: a folder, and how they fail.
source=$1
mrc=$2
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT

fail() {
  echo "$1"
  cat "$scratch/log"
  exit 1
}
