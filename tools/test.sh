#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# mrc test [CTEST-OPTION...]: builds everything, runs all tests, ends with CTest's summary.
#   -R NAME  only tests whose name matches     -L TAG  only tests of that testpoint     -N  only list
set -euo pipefail
root=$(dirname -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")")
build=$root/build/fast

case "${1-}" in
  -h | --help)
    sed -n 's/^# \{0,1\}//; 3,4p' "${BASH_SOURCE[0]}"
    exit 0
    ;;
esac
# What earlier commands did without, like clang for the fuzz targets, is found now.
[ -f "$build/build.ninja" ] && cmake -S "$root" -B "$build" --log-level=NOTICE >/dev/null
"$root/tools/build.sh" fast everything
unset MRC_BUILD # the tests run what is built now
progress=()
[ -t 1 ] && progress=(--progress)
code=0
ctest --test-dir "$build" --no-tests=ignore --output-on-failure --no-label-summary "${progress[@]}" -j "$(nproc)" \
  "$@" || code=1
# Nothing that failed because nothing was run is no pass.
if [ $code = 0 ] && ! ctest --test-dir "$build" --no-tests=error -N "$@" >/dev/null 2>&1; then
  echo "mrc test: no test was run." >&2
  echo "  'mrc test -N' lists them." >&2
  code=5
fi
exit $code
