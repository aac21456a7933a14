#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: same_events.sh PROGRAM FIDELITY SEED
# The engine's list of all that happened and that of the modules: equal line by line.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
for machine in engine modules; do
  "$1" "$machine" "$2" "$3" "$folder/$machine"
done
if ! cmp -s "$folder/engine" "$folder/modules"; then
  echo "the first lines that differ:" >&2
  diff "$folder/engine" "$folder/modules" | head -20 >&2 || true
  exit 1
fi
echo "$(wc -l <"$folder/engine") lines are equal"
