#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: run.sh BUILD CXX
# Installs BUILD into a scratch folder and builds the consumer against it, through find_package and
# through pkg-config; both must decode their packet. The platform of SystemC must trim and mark.
set -euo pipefail
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT

cmake --install "$1" --prefix "$scratch/usr" >"$scratch/install.log"

cmake -S "$here" -B "$scratch/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CXX_COMPILER="$2" -DCMAKE_PREFIX_PATH="$scratch/usr" --log-level=NOTICE
cmake --build "$scratch/build"
"$scratch/build/consumer"
"$scratch/build/judge"
MRC_REF_LIBRARY=$scratch/usr/lib/libmrc_ref.so PYTHONPATH=$scratch/usr/share/mrcnic/bindings/python python3 -c \
  'import mrc_ref; assert mrc_ref.Judge({"planes": 2}).verdict == "inconclusive"'

export PKG_CONFIG_PATH=$scratch/usr/lib/pkgconfig
read -ra flags < <(pkg-config --cflags --libs mrcnic)
"$2" -std=c++20 "$here/main.cpp" "${flags[@]}" -o "$scratch/by-pkg-config"
"$scratch/by-pkg-config"

# Component systemc: a platform of modules, with the installed RTL.
cmake -S "$here/platform" -B "$scratch/platform" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CXX_COMPILER="$2" -DCMAKE_PREFIX_PATH="$scratch/usr" --log-level=NOTICE
cmake --build "$scratch/platform"
"$scratch/platform/platform"

"$scratch/usr/bin/mrc" --version
