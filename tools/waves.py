#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: waves.py [--check]

Draws docs/figures/waves/NAME.json, the waveforms that tests print (tests/pipeline/wave.hpp), as NAME.svg beside it. With
--check it writes nothing and tells which drawings are not those of their descriptions, and which belong to none. The
drawing itself is WaveDrom's, fetched from npm in the version of tools/waves/package-lock.json. Exit code 1: a drawing is
stale; 5: WaveDrom cannot be had, so nothing was looked at."""
import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import npm
import rtl

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs/figures/waves"
STALE, INCONCLUSIVE = 1, 5


def draw(modules, names, folder):
    """Draws the waves of these names into a folder."""
    files = [str(path) for name in names for path in (FOLDER / f"{name}.json", folder / f"{name}.svg")]
    subprocess.run(["node", ROOT / "tools/waves/render.mjs", modules, *files], check=True)


def main():
    parser = rtl.Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, tell what is stale")
    check = parser.parse_args().check
    names = sorted(path.stem for path in FOLDER.glob("*.json"))
    modules = npm.modules("waves") if shutil.which("node") else None
    if not modules:
        print("waves: WaveDrom cannot be had (npm).\n  Install npm, or call this again with a network.", file=sys.stderr)
        return INCONCLUSIVE
    if not check:
        draw(modules, names, FOLDER)
        print(f"{len(names)} waves drawn")
        return rtl.Exit.PASS
    wrong = [f"docs/figures/waves/{path.name}: there is no {path.stem}.json"
             for path in sorted(FOLDER.glob("*.svg")) if path.stem not in names]
    with tempfile.TemporaryDirectory() as folder:
        draw(modules, names, Path(folder))
        for name in names:
            drawn, kept = Path(folder) / f"{name}.svg", FOLDER / f"{name}.svg"
            if not kept.exists() or kept.read_bytes() != drawn.read_bytes():
                wrong.append(f"docs/figures/waves/{name}.svg is not the drawing of {name}.json: run tools/waves.py")
    for line in wrong:
        print(line)
    print(f"{len(names)} waves, {len(wrong)} complaints")
    return STALE if wrong or not names else 0


if __name__ == "__main__":
    rtl.command("waves.py", main)
