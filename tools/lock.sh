# SPDX-License-Identifier: Apache-2.0
# For scripts with say and die: one at a time in a clone.

# only_one FILE ACTIVITY: waits while another process holds FILE, and says for whom. It is held until this process ends;
# FILE tells which one that is, and what it does. `waited` is yes when there was another one.
only_one() {
  local whom wrong
  wrong=$({ mkdir -p "${1%/*}" && : >>"$1"; } 2>&1) ||
    die "cannot write to ${1%/*}: ${wrong##*: }." "Remove it, or make it yours: chown -R $(id -un) ${1%/*}"
  exec {lock}>>"$1"
  waited=
  if ! flock -n "$lock"; then
    waited=yes
    read -r whom <"$1" || whom="another process"
    say "waiting for $whom"
    flock "$lock"
  fi
  { echo "process $$, which is $2" >"$1"; } 2>/dev/null || true # a full disk is told by whoever needs it
}
