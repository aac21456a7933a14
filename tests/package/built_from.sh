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
says() { # COMMIT CHANGED TREE
  cmake -D "SOURCE=$3" -D "OUT=$scratch/out.cpp" -P "$source/cmake/built_from.cmake"
  if ! grep -qF "kCommit = \"$1\";" "$scratch/out.cpp" || ! grep -qF "kChanged = $2;" "$scratch/out.cpp"; then
    echo "of $3 it must say $1, changed $2, and says: $(grep ' k' "$scratch/out.cpp")" >&2
    exit 1
  fi
}

mkdir -p "$scratch/repository/below" "$scratch/tarball"
says "unknown: built without git" false "$scratch/tarball"
git init -q
says "unknown: built without git" false "$scratch/repository"
echo one >"$scratch/repository/file"
git add file
git commit -q -m one
commit=$(git rev-parse --short=12 HEAD)
says "$commit" false "$scratch/repository"
touch "$scratch/repository/untracked"
says "$commit" false "$scratch/repository"
echo two >"$scratch/repository/file"
says "$commit" true "$scratch/repository"
says "unknown: built without git" false "$scratch/repository/below"
