# SPDX-License-Identifier: Apache-2.0
"""Modules of the npm registry in the versions of tools/report/package-lock.json, below build/report."""
import fcntl
import shutil
import subprocess

import rtl

PINNED = rtl.ROOT / "tools/report"
INSTALLED = rtl.scratch("report")


def modules():
    """The folder with the modules; None when npm is missing or cannot fetch them."""
    lock, done = PINNED / "package-lock.json", INSTALLED / "installed.json"
    INSTALLED.mkdir(parents=True, exist_ok=True)
    with open(INSTALLED / "lock", "w", encoding="utf-8") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)  # two reports at once fetch them once
        if not done.exists() or done.read_bytes() != lock.read_bytes():
            if not shutil.which("npm"):
                return None
            for name in ("package.json", "package-lock.json"):
                shutil.copy(PINNED / name, INSTALLED / name)
            command = ["npm", "ci", "--loglevel=error", "--no-audit", "--no-fund", "--ignore-scripts"]
            if subprocess.run(command, cwd=INSTALLED, stdout=subprocess.DEVNULL, check=False).returncode != 0:
                return None
            shutil.copy(lock, done)
    return INSTALLED / "node_modules"
