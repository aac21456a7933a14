#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: replay_pins.sh MRC SAMPLE
# mrc replay-pins as people use it: verdicts, files, and what is no record.
set -euo pipefail
sample=$(readlink -f -- "$2")
here=$(dirname -- "$(readlink -f -- "$0")")
. "$here/../../scratch.sh"
says() { grep -qF -- "$1" said || fail "does not say '$1': $(cat said)"; }

exits 0 replay-pins "$sample" --preset tiny --json run.json --pcap run.pcapng
says "2 600 cycles, equal"
says "build 20260042; the record has 2 600 cycles and ends there: the core was held in reset"
grep -q '"verdict": "equal"' run.json || fail "no verdict: $(cat run.json)"
exits 0 decode run.pcapng
says "40 packets"
exits 0 replay-pins - --preset tiny --json <"$sample"
says '"compared": 2600'

"$here/reseal.py" "$sample" other
exits 1 replay-pins other --preset tiny
says "DIFFERENT  the board's output pins in cycles 0 to 1 023 are not the device's"
says "1 of 3 windows differ"

printf 'x' | dd of=other bs=1 seek=500 conv=notrunc status=none
exits 3 replay-pins other --preset tiny
says "other is damaged in the word that ends at byte"
head -c 9000 "$sample" >other
exits 3 replay-pins other --preset tiny
says "other ends at byte 8992, in the middle of a record."
says "--cut replays what there is"
exits 0 replay-pins other --preset tiny --cut
says "the file ends there"
head -c 100 "$sample" >other
exits 5 replay-pins other --preset tiny --cut
exits 3 replay-pins "$sample"
says "of a board with 2 planes, 16 bytes on a port, 32 of a host line and 4 QPs, and preset fpga100 has"
exits 3 replay-pins "$here/replay_pins.sh" --preset tiny
says "is no record of a board's pins."
exits 3 replay-pins nothing --preset tiny
says "it does not exist"
exits 3 replay-pins . --preset tiny
says "it is a folder"
