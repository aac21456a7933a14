# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests of commands, with the path of mrc as their $1: a folder of their own, and what they all say.
mrc=$(readlink -f -- "$1")
here=$(dirname -- "$(readlink -f -- "$0")")
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
cd -- "$folder"

fail() {
  echo "$*" >&2
  exit 1
}
# exits N ARGS...: mrc ARGS must exit with N; its output is in ./said
exits() {
  local want=$1 got=0
  shift
  "$mrc" "$@" >said 2>&1 || got=$?
  [ "$got" = "$want" ] || fail "mrc $*: exit $got instead of $want: $(cat said)"
}
# json FILE EXPRESSION: the expression, with j the file's content
json() { /usr/bin/python3 -c "import json,sys; j=json.load(open(sys.argv[1])); print($2)" "$1"; }
