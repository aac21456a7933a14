#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: blocks.py ROOT FOLDER

Three single blocks, built from what their file lists name and nothing else: the files are copied into an empty folder
and made into C++ there by Verilator. A list without its last but one file must not build. Bender.yml and mrcnic.core,
whose tools neither Debian nor npm has, are read as YAML: their files exist, and are those of the lists."""
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

ROOT, FOLDER = Path(sys.argv[1]), Path(sys.argv[2])
BLOCKS = ("mrc_fifo", "mrc_rx_check", "mrc_ack_gen")


def files_of(text):
    return [line for line in text.splitlines() if line.endswith(".sv")]


def build(block, text, name):
    folder = FOLDER / name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "rtl/lib", folder / "rtl/lib", ignore=shutil.ignore_patterns("*.sv"))
    for file in files_of(text):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, folder / file)
    (folder / "block.f").write_text(text)
    return subprocess.run(["verilator", "--cc", "-Wno-fatal", "-f", "block.f", "--top-module", block, "--Mdir", "out"],
                          cwd=folder, capture_output=True, text=True)


def main():
    wrong = []
    for block in BLOCKS:
        text = (ROOT / "rtl/gen/lists" / f"{block}.f").read_text()
        done = build(block, text, block)
        if done.returncode != 0 or not (FOLDER / block / f"out/V{block}.h").exists():
            wrong.append(f"{block} does not build from its list: {done.stderr[-500:]}")
        files = files_of(text)
        if len(files) > 1 and build(block, text.replace(files[-2] + "\n", ""), block + "_less").returncode == 0:
            wrong.append(f"{block} builds without {files[-2]}, which its list names")
    lists = {p.stem.removeprefix("mrc_"): files_of(p.read_text()) for p in (ROOT / "rtl/gen/lists").glob("*.f")}
    whole = files_of((ROOT / "rtl/mrc_nic.f").read_text())
    bender = yaml.safe_load((ROOT / "Bender.yml").read_text())
    if [s for s in bender["sources"] if isinstance(s, str)] != whole:
        wrong.append("Bender.yml has other sources than rtl/mrc_nic.f")
    core = yaml.safe_load((ROOT / "mrcnic.core").read_text())
    sets = {name: [f for f in entry["files"] if isinstance(f, str)] for name, entry in core["filesets"].items()}
    if sets.pop("nic") != whole:
        wrong.append("file set nic of mrcnic.core has other files than rtl/mrc_nic.f")
    boards = files_of((ROOT / "fpga/mrc_fpga.f").read_text())
    if sets.pop("fpga") != boards or {"target": "fpga", "files": boards} not in bender["sources"]:
        wrong.append("file set or target fpga has other files than fpga/mrc_fpga.f")
    for name, files in sets.items():
        if files != lists.get(name, [f"rtl/gen/mrc_nic_{name}.sv"]):
            wrong.append(f"file set {name} of mrcnic.core has other files than its list")
        wrong += [f"mrcnic.core: {file} does not exist" for file in files if not (ROOT / file).exists()]
    for name, target in core["targets"].items():
        wrong += [f"target {name} of mrcnic.core: no file set {s}" for s in target["filesets"] if s not in core["filesets"]]
    print("\n".join(wrong) or f"{len(BLOCKS)} blocks build from their lists; {len(sets)} file sets are right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
