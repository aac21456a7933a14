#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: fuzz/run.sh FOLDER SECONDS [TARGET...]
# Runs the fuzz targets that are built in FOLDER (build/fast/fuzz), all or those named, each for SECONDS. They begin with
# the seeds and what was found before. Exit code 0: nothing found; 1: a target ended badly, and what it was given lies in
# FOLDER; 3: not built.
set -euo pipefail
source=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
folder=$(readlink -f -- "$1") seconds=$2
shift 2
[ $# -gt 0 ] || for program in "$folder"/fuzz_*; do
  [[ $program = *.o || $program = */fuzz_check ]] || set -- "$@" "${program##*/fuzz_}"
done
code=0
for target in "$@"; do
  if [ ! -x "$folder/fuzz_$target" ]; then
    echo "fuzz: $folder/fuzz_$target is not built." >&2
    echo "  With clang: tools/build.sh fast everything" >&2
    exit 3
  fi
  inputs=("$folder/found_$target" "$folder/corpus/$target")
  # A target in which nothing was ever found has no regressions.
  [ ! -d "$source/regressions/$target" ] || inputs+=("$source/regressions/$target")
  "$folder/fuzz_$target" -max_total_time="$seconds" -max_len=2048 -timeout=5 -seed=1 -rss_limit_mb=1500 \
    -print_final_stats=1 "-artifact_prefix=$folder/" "${inputs[@]}" || code=1
done
exit $code
