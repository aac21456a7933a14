#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: chroot.sh SOURCE
# Makes the packages and uses them in a bare Debian of this release. First the .tar.zst, where there is no Python. Then
# the .deb, which apt installs with what it depends on. Exit code 77, skipped: no root, no debootstrap, no Debian.
set -euo pipefail
source=$1
suite=$(. /etc/os-release && echo "${VERSION_CODENAME-none}")
if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null || [[ ! $suite =~ ^(bookworm|trixie)$ ]]; then
  echo "skipped: this needs root and debootstrap, on Debian"
  exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
mkdir -p "$scratch/tests/package"
"$source/tools/package.sh" --out "$scratch"
cp "$source/tests/scratch.sh" "$scratch/tests"
cp "$source/tests/package/first_hour.sh" "$scratch/tests/package"
cat >"$scratch/inside.sh" <<'INSIDE'
set -eu
apt() { apt-get -qq -o Dpkg::Use-Pty=0 "$@" >apt.log 2>&1 || { cat apt.log; exit 1; }; }
apt update
apt install -y --no-install-recommends zstd libstdc++6
mkdir -p "/some where"
tar --zstd -C "/some where" -xf mrcnic-*.tar.zst
echo "the .tar.zst:"
tests/package/first_hour.sh "/some where"/mrcnic-*/bin/mrc no
apt install -y --no-install-recommends ./mrcnic_*.deb
echo "the .deb:"
tests/package/first_hour.sh "$(command -v mrc)" yes
apt purge -y mrcnic
test ! -e /usr/share/mrcnic
INSIDE
"$source/tools/elsewhere.sh" "$suite" --bare "$scratch" sh inside.sh
echo "both packages work"
