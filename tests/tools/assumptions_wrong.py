#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: assumptions_wrong.py BUILD

Gives tools/assumptions.py registers with one mistake each, and expects the sentence that tells it."""
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REGISTER = (ROOT / "docs/protocol/assumptions.md").read_text()
ROW = next(line for line in REGISTER.splitlines() if line.startswith("| A-01 |"))
SETTINGS = ROW.split(" | ")[-2]
DESIGN = next(line for line in REGISTER.splitlines() if line.startswith("| A-10 |"))


def changed(before, after):
    assert REGISTER.count(before) == 1, before
    return REGISTER.replace(before, after)


MISTAKES = {
    "A-01: there is no setting UDP_PORT.prot": changed("`UDP_PORT.port`", "`UDP_PORT.prot`"),
    "A-01: there is no setting CNT_RTX": changed("`UDP_PORT.port`", "`CNT_RTX`"),
    "A-01: there is no setting udp_prot": changed("`UDP_PORT.port`", "scenario `udp_prot`"),
    "A-36: there is no setting mrc decode --eeth-op-hihg": changed("--eeth-op-high", "--eeth-op-hihg"),
    "A-14: there is no setting mrc encode --icrc-outre":
        changed("`mrc encode --icrc-outer`", "`mrc encode --icrc-outre`"),
    "A-06: there is no setting REV_SEDE": changed("`REV_SEED`", "`REV_SEDE`"),
    "A-01: no setting in `backquotes`": changed(SETTINGS, "rx_lane"),
    "A-01: no text under 'setting'": changed(SETTINGS, ""),
    "A-01: the tag [A-01] is not among its tests": changed("| [A-01] |", "| [tb][choices] |"),
    "A-01: no test has the tag [A-98]": changed("| [A-01] |", "| [A-01] [A-98] |"),
    "A-99: no test has the tag [A-99]": changed(ROW, ROW + "\n" + ROW.replace("A-01", "A-99")),
    "A-01 is there twice": changed(ROW, ROW + "\n" + ROW),
    "'A-x' is no id": changed(ROW, ROW.replace("| A-01 |", "| A-x |")),
    "tests have the tag [A-01], the register has no such row": changed(ROW + "\n", ""),
    "names A-01, the register has no such row": changed(ROW + "\n", ""),
    "A-10: there is no file docs/design/blocks/rx_trakc.md":
        changed(DESIGN, DESIGN.replace("`docs/design/blocks/rx/track/rx_track.md`",
                                       "`docs/design/blocks/rx_trakc.md`")),
    "5 cells instead of 6": changed(ROW, ROW.replace(" C |", "", 1)),
    "no table is called 'Choises'": changed("## Choices\n", "## Choises\n"),
    "no table is called 'Choices without a setting'":
        changed("## Design decisions (no protocol choice)\n",
                "## Choices without a setting\n\n## Design decisions (no protocol choice)\n"),
    "no table 'Choices'": changed("## Choices\n", "## Choises\n"),
}


def main():
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for sentence, text in MISTAKES.items():
            path = Path(folder) / "assumptions.md"
            path.write_text(text)
            run = subprocess.run([sys.executable, ROOT / "tools/assumptions.py", sys.argv[1], "--register", path],
                                 text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if run.returncode != 1 or sentence not in run.stdout:
                wrong += 1
                print(f"not told: {sentence}\n{run.stdout}")
    print(f"{len(MISTAKES)} mistakes, {wrong} not told")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
