# SPDX-License-Identifier: Apache-2.0
# What tools/packages.txt says of this system, for tools/install.sh and tools/doctor.sh, which read this file.
# They have set `root`; `groups` (" build check ") are the rows that they want.

system=unknown release=
if [ -r "${MRC_OS_RELEASE:-/etc/os-release}" ]; then
  # shellcheck source=/dev/null
  read -r system release < <(. "${MRC_OS_RELEASE:-/etc/os-release}" && echo "${ID-unknown} ${VERSION_CODENAME-}")
fi
of_release() { # NAME[,RELEASE=NAME...]: REPLY is what holds for this release
  local entry
  REPLY=${1%%,*}
  [[ $REPLY != *=* ]] || REPLY=-
  for entry in ${1//,/ }; do [ "${entry%%=*}" != "$release" ] || REPLY=${entry#*=}; done
}
rows() { # of the groups: package, suite, instead, probe, least, dnf, pacman, zypper, by, why
  local name group suite rest
  while read -r name group suite rest; do
    [[ $name = \#* || $groups != *" $group "* ]] && continue
    of_release "$name"
    name=$REPLY
    of_release "$suite"
    echo "$name $REPLY $rest"
  done <"$root/tools/packages.txt"
}
there() { # PROBE: a command in the PATH, or +HEADER that the compiler finds
  case $1 in
    -) return 0 ;;
    +*) ! command -v c++ >/dev/null || echo "#include <${1#+}>" | c++ -std=c++20 -E -x c++ - >/dev/null 2>&1 ;;
    *) command -v "$1" >/dev/null ;;
  esac
}
find_manager() { # manager: what installs packages here, or none; asks: how that is said
  for manager in apt-get dnf pacman zypper none; do command -v "$manager" >/dev/null && break; done
  case $manager in
    pacman) asks="pacman -S" ;;
    none) asks="the packages that have them; Debian calls these" ;;
    *) asks="$manager install" ;;
  esac
}
package_name() { # DEBIAN DNF PACMAN ZYPPER: REPLY is the name here
  case $manager in dnf) REPLY=$2 ;; pacman) REPLY=$3 ;; zypper) REPLY=$4 ;; *) REPLY=$1 ;; esac
}
version_of() { # COMMAND: REPLY is what it says of its version, empty if nothing
  REPLY=$("$1" --version 2>/dev/null </dev/null | grep -oE '[0-9]+(\.[0-9]+)+' | head -n 1) || REPLY=
}
too_old() { # VERSION LEAST
  [ "$2" != - ] && [ -n "$1" ] && [ "$(printf '%s\n' "$2" "$1" | sort -V | head -n 1)" != "$2" ]
}
# Yosys with slang and the grammar of SystemRDL are published for npm only; the lock file pins every byte of it.
yosys_there() { cmp -s "$root/tools/yosys/package-lock.json" "$root/build/yosys/installed.json"; }
