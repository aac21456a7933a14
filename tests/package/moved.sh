#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: moved.sh BUILD
# Installs BUILD, moves the installation, and uses it in an environment that has no compiler, no source tree and no
# other program than a script's own.
set -euo pipefail
here=$(dirname -- "$(readlink -f -- "$0")")
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT

cmake --install "$1" --prefix "$scratch/first" --component mrcnic >"$scratch/install.log"
mv "$scratch/first" "$scratch/another place"
mkdir "$scratch/bin"
for tool in bash cat dirname grep mktemp readlink rm sed sh touch wc; do
  ln -s "$(command -v $tool)" "$scratch/bin"
done
env -i PATH="$scratch/bin" HOME="$scratch" "$here/first_hour.sh" "$scratch/another place/bin/mrc" yes

# Nothing in it leads back to where it was built, or out of it by a link.
source=$(dirname -- "$(dirname -- "$here")")
if grep -rlF -- "$source/" "$scratch/another place"; then
  echo "these files name $source, the source tree" >&2
  exit 1
fi
if find "$scratch/another place" -xtype l | grep .; then
  echo "these links lead nowhere" >&2
  exit 1
fi
