#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: wrong_wiring.sh PROGRAM EXPECTED [--update]
# Each case's exit code and sentence are those of EXPECTED.
set -euo pipefail
said=$(mktemp)
trap 'rm -f -- "$said"' EXIT
for name in $("$1" --list); do
  code=0
  text=$("$1" "$name" 2>&1) || code=$?
  # SystemC's own words: where it was, and that it stopped.
  echo "$name: exit $code: $(grep -v -e '^$' -e '^Info: ' <<<"$text")"
done >"$said"
if [ "${3:-}" = --update ]; then cp -- "$said" "$2"; fi
diff -u -- "$2" "$said"
