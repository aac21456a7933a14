#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: mrc test [--house | --nightly | --all] [--json FILE] [CTEST-OPTION...]
#
# mrc test: builds everything, runs a layer of the tests, ends with CTest's summary. Without an option that is the product
# layer, which protects a user. -R and -L look in every layer.
#
# options:
#   --house      tests of the project itself: sources, documents, sizes
#   --nightly    what takes minutes
#   --all        every layer
#   --json FILE  name, result and seconds of each test that ran, for programs
#   -R NAME      only tests whose name matches
#   -L TAG       only tests of that testpoint
#   -N           only list
#
# Examples:
#   mrc test                      what protects a user
#   mrc test -R '^cli/'           the tests of wrong command lines
#
# Exit code 0: all passed; 1: some failed; 5: none was run.
set -euo pipefail
root=$(dirname -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")")
build=$root/build/fast
# shellcheck source=tools/say.sh
. "$root/tools/say.sh"

layer=product json= options=()
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help)
      help_of "mrc test" 3,21
      ;;
    --house | --nightly | --all) layer=${1#--} ;;
    --json)
      if ! json=$(readlink -f -- "${2-}") || ! { : >"$json" && rm "$json"; } 2>/dev/null; then
        printf 'mrc test: cannot write %s.\n  Name a file in a folder that exists.\n' "${2-the file of --json}" >&2
        exit 3
      fi
      shift
      ;;
    *) options+=("$1") ;;
  esac
  shift
done
set -- "${options[@]}"
for option in "$@"; do
  case $option in -R* | -L* | -I* | --tests-* | --label-*) [ "$layer" != product ] || layer=all ;; esac
done
"$root/tools/build.sh" fast everything --anew # what earlier commands did without, like clang for fuzzing, is found now
unset MRC_BUILD # the tests run what is built now

house=$("$root/tools/testplan.py" --layer house) nightly=$("$root/tools/testplan.py" --layer nightly)
case $layer in
  product) chosen=(-E "$house|$nightly") ;;
  house) chosen=(-R "$house" -E "$nightly") ;;
  nightly) chosen=(-R "$nightly") ;;
  all) chosen=() ;;
esac
# Where nothing has run yet the longest tests begin first, too.
costs=$build/Testing/Temporary/CTestCostData.txt
[ -e "$costs" ] || install -D -m 644 "$root/tests/seconds.txt" "$costs"
junit=$(mktemp) progress=()
trap 'rm -f "$junit"' EXIT
[ -t 1 ] && progress=(--progress)
code=0
ctest --test-dir "$build" --no-tests=ignore --output-on-failure --no-label-summary "${progress[@]}" -j "$(nproc)" \
  --output-junit "$junit" \
  "${chosen[@]}" "$@" || code=1
[ -z "$json" ] || "$root/tools/testplan.py" --json "$junit" "$json"
# Nothing that failed because nothing was run is no pass.
if [ $code = 0 ] && ! ctest --test-dir "$build" --no-tests=error -N "${chosen[@]}" "$@" >/dev/null 2>&1; then
  echo "mrc test: no test was run." >&2
  echo "  'mrc test -N' lists them." >&2
  code=5
fi
exit $code
