#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: report.py MRC [--write]

The page of mrc fabric --report in headless Chromium: first screen, time, links, flows, two runs, keyboard, light, dark,
phone, no network. --write makes the screenshots of docs/figures/fabric-report anew. Exit code 77: no Chromium, npm or
node."""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

MRC = sys.argv[1]
HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE.parent))
import browser  # noqa: E402

FIGURES = ROOT / "docs/figures/fabric-report"
MANY = """[topology]
planes = 2
gbps = 100
leaves = 9
hosts_per_leaf = 8
spines = 8
[[traffic]]
pattern = "alltoall"
bytes = 5000
"""


def run(folder, *words, code=0):
    done = subprocess.run([*map(str, words)], cwd=folder, text=True, capture_output=True, check=False, timeout=120,
                          env=os.environ | {"MRC_ROOT": str(ROOT)})
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def main():
    chromium = browser.chromium()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fabric = (MRC, "fabric")
        run(folder, *fabric, "--scenario", "training-failures", "--waits", "0", "--report", "job")
        (folder / "many.toml").write_text(MANY)
        run(folder, *fabric, "--scenario", "many.toml", "--report", "many")
        for seed in ("1", "2"):
            run(folder, *fabric, "--scenario", "plane-loss", "--seed", seed, "--json", f"{seed}.json", "--report", "bare")
        said = run(folder, *fabric, "--compare", "1.json", "2.json", "--report", "beside")
        assert "beside/index.html" in said, said
        shutil.copy(HERE / "dies.toml", folder)
        run(folder, *fabric, "--scenario", "dies.toml", "--report", "dies", code=2)
        # As it is where npm has no network.
        data = (folder / "bare/data.js").read_text()
        (folder / "bare/data.js").write_text(data.replace('"charts": true', '"charts": false', 1))
        for part in (folder / "bare/charts").iterdir():
            part.write_text("/* none */\n")
        FIGURES.mkdir(exist_ok=True)
        print(run(folder, "node", HERE / "report.mjs", *chromium, folder, FIGURES,
                  "write" if "--write" in sys.argv else "compare"))
    print("passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
