# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by commands that are scripts of a shell: how they end, as cli/output.hpp and mrcscript/output.py have it.

# say COMMAND CODE TEXT: TEXT to standard output, then the end with CODE. A reader that closed a pipe has what it
# wanted. Everything else that keeps the text from getting out is told, and is no pass.
say() {
  local why='' code=$2
  trap '' PIPE
  if ! (: 3>&1) 2>/dev/null; then
    why='Bad file descriptor'
  else
    { why=$(LC_ALL=C printf '%s\n' "$3" 2>&1 >&3) || true; } 3>&1
  fi
  case $why in
    '' | *'Broken pipe'*) ;;
    *)
      printf '%s: cannot write standard output: %s.\n  Free some space, or send it elsewhere.\n' "$1" "${why##*: }" >&2
      [ "$code" != 0 ] || code=3
      ;;
  esac
  exit "$code"
}

# help_of COMMAND FIRST,LAST: the comment of these lines of the script, then the end.
help_of() {
  say "$1" 0 "$(sed -n "s/^# \{0,1\}//; ${2}p" "${BASH_SOURCE[1]}")"
}
