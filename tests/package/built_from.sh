#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: built_from.sh SOURCE
# What mrc --version says of a commit, of one with changes, of a tarball, and of a tarball within something else's
# repository.
set -euo pipefail
source=$1
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
export GIT_CEILING_DIRECTORIES=$scratch GIT_CONFIG_GLOBAL=/dev/null
git() { command git -C "$scratch/repository" -c user.name=n -c user.email=e "$@"; }
says() { # WORDS TREE
  cmake -D "SOURCE=$2" -D "OUT=$scratch/out.cpp" -P "$source/cmake/built_from.cmake"
  grep -qF "kCommit = \"$1\";" "$scratch/out.cpp" || {
    echo "of $2 it must say $1, and says: $(grep kCommit "$scratch/out.cpp")" >&2
    exit 1
  }
}

mkdir -p "$scratch/repository/below" "$scratch/tarball"
says "unknown: built without git" "$scratch/tarball"
git init -q
says "unknown: built without git" "$scratch/repository"
echo one >"$scratch/repository/file"
git add file
git commit -q -m one
commit=$(git rev-parse --short=12 HEAD)
says "$commit" "$scratch/repository"
touch "$scratch/repository/untracked"
says "$commit" "$scratch/repository"
echo two >"$scratch/repository/file"
says "$commit, and changes since" "$scratch/repository"
says "unknown: built without git" "$scratch/repository/below"
