#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: npm.py NAME

Modules of the npm registry, in the versions that tools/NAME/package-lock.json pins, below build/NAME. Prints their folder;
fetches them if they are not there. Exit code 3: they cannot be had."""
import fcntl
import shutil
import subprocess
import sys

import rtl


def installed(name):
    """Where the modules are kept."""
    return rtl.scratch(name)


def modules(name):
    """The folder with the modules; None when npm is missing or cannot fetch them."""
    pinned, kept = rtl.ROOT / "tools" / name, installed(name)
    lock, done = pinned / "package-lock.json", kept / "installed.json"
    kept.mkdir(parents=True, exist_ok=True)
    with open(kept / "lock", "w", encoding="utf-8") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)  # two callers at once fetch them once
        if not done.exists() or done.read_bytes() != lock.read_bytes():
            if not shutil.which("npm"):
                return None
            for part in ("package.json", "package-lock.json"):
                shutil.copy(pinned / part, kept / part)
            command = ["npm", "ci", "--loglevel=error", "--no-audit", "--no-fund", "--ignore-scripts"]
            if subprocess.run(command, cwd=kept, stdout=sys.stderr, check=False).returncode != 0:
                return None
            shutil.copy(lock, done)
    return kept / "node_modules"


def main():
    found = modules(sys.argv[1])
    if found is None:
        rtl.fail(f"the modules of tools/{sys.argv[1]} cannot be had from npm.", "Install npm, and connect to a network.")
    print(found)


if __name__ == "__main__":
    rtl.command("npm.py", main)
