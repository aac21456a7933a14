#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: figures_wrong.py

Gives tools/figures.py figures with one mistake each, among them copies of the NIC's, and expects the sentence that tells
it; and a figure without one, which it draws and finds fresh."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from samples import TOOLS, in_folder, told  # noqa: E402

sys.path.insert(0, str(TOOLS))
import figures  # noqa: E402

GOOD = """size: [400, 200]
title: two boxes
boxes:
  a: {at: [60, 60], size: [100, 60], kind: tx, text: [one line], is: tools/figures.py}
  b: {at: [300, 120], size: [100, 60]}
arrows:
  - {path: "a.r+10 x=200 y=120 b.l", say: {"here": [150, 64]}}
"""
NIC = (TOOLS.parent / "docs/figures/nic.yaml").read_text(encoding="utf-8")

# {what must be told: (a part of a good figure, what stands there instead)}
MISTAKES = {
    "box a: 'one line that is much too long' takes": ("[one line]", "[one line that is much too long]"),
    "box a: 5 lines do not fit into 60 pixels": ("[one line]", "[a, b, c, d]"),
    "box a: there is no tools/figure.py": ("tools/figures.py", "tools/figure.py"),
    "box a and box b overlap": ("[300, 120], size: [100, 60]", "[200, 120], size: [240, 80]"),
    "b is outside": ("[300, 120]", "[390, 120]"),
    "1300 pixels wide, 1200 are the limit": ("[400, 200]", "[1300, 200]"),
    "'c.l' is no side of a box": (" b.l", " c.l"),
    "'z=120' of the path": ("y=120 b", "z=120 b"),
    "ends with a slanted line": ("y=120 b.l", "y=100 b.l"),
}
OF_THE_NIC = {
    "nic.yaml has a block tx_probe, the figure has none": ("tx_probe", "tx_prober"),
    "the figure has a block tx_prober, nic.yaml has none": ("tx_probe", "tx_prober"),
    "block rx_lane: one per plane in the figure or": ("kind: rx, many: true", "kind: rx"),
    "no arrow from tx_segment to tx_path says pkt": ('"pkt"', '"packet"'),
    "nic.yaml has no packet from tx_segment to tx_path": ('"pkt"', '"packet"'),
    "no arrow from cc_nscc to tx_segment says ans": ('"ans"', '"ask"'),
    "nic.yaml has no ord from rx_track to rx_place": ("rx_track.l rx_reorder.r", "rx_track.l x=500 y=704 rx_place.r"),
    "no arrow from tx_path to csr says evev": ("evev,", "evs,"),
    "box fence does not say that it watches rxpkt": ("ctl, rxpkt, ord", "ctl, ord"),
}


def complaints(folder, check=False):
    """(1 if there are complaints, the complaints)."""
    count, wrong = figures.look(folder, check)
    return int(bool(wrong) or count != 1), "\n".join(wrong)


def main():
    wrong = 0
    for good, mistakes in ((GOOD, MISTAKES), (NIC, OF_THE_NIC)):
        name = "docs/figures/nic.yaml" if good is NIC else "docs/figures/two.yaml"
        for sentence, (part, other) in mistakes.items():
            with in_folder({name: good.replace(part, other)}) as folder:
                wrong += told(1, *complaints(folder), [sentence])
            wrong += part not in good
        with in_folder({name: good}) as folder:
            wrong += told(1, *complaints(folder, check=True), ["is not its drawing: run tools/figures.py"])
            wrong += told(0, *complaints(folder), [])
            wrong += told(0, *complaints(folder, check=True), [])
    print(f"{len(MISTAKES) + len(OF_THE_NIC)} mistakes; {wrong} runs went otherwise")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
