# SPDX-License-Identifier: Apache-2.0
"""What made a result: `versions` of every JSON and database that a command in Python writes, as cli/version.hpp is of
those in C++."""
import functools
import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("mrcnic", "commit", "changed", "compiler", "verilator")
CHANGED = ", and changes since"


def of_words(text):
    """Of what `mrc --version` says."""
    said = dict(line.partition(" ")[::2] for line in text.splitlines())
    commit = said.get("commit", "unknown")
    return {"mrcnic": said.get("mrcnic"), "commit": commit.removesuffix(CHANGED), "changed": commit.endswith(CHANGED),
            "compiler": said.get("compiler"), "verilator": said.get("verilator")}


def answer(words):
    """What a program says; None when it cannot be asked."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def of_tree():
    """Of the sources, when no program is asked: it is not known who compiled what."""
    git = ["git", "-C", str(ROOT)]
    within = answer([*git, "rev-parse", "--show-prefix"]) if shutil.which("git") else None
    head = answer([*git, "rev-parse", "--short=12", "HEAD"]) if within == "\n" else None
    changes = answer([*git, "status", "--porcelain", "--untracked-files=no"]) if head else None
    return {"mrcnic": None, "commit": (head or "unknown").strip(), "changed": bool(changes), "compiler": None,
            "verilator": None}


def of(program):
    """Of an executable of mrc; what it does not say is None."""
    text = answer([program, "--version"])
    return of_words(text) if text is not None else dict.fromkeys(NAMES) | {"commit": "unknown", "changed": False}


@functools.cache
def versions():
    """Of the program that started this one, else of the sources."""
    program = os.environ.get("MRC_EXE")
    return of(program) if program else of_tree()


def line(known):
    """The same as a line of text, for people."""
    words = [f"mrcnic {known['mrcnic']}" if known["mrcnic"] else "", f"commit {commit(known)}",
             f"compiler {known['compiler']}" if known["compiler"] else "",
             f"Verilator {known['verilator']}" if known["verilator"] else ""]
    return ", ".join(word for word in words if word)


def commit(known):
    """The commit, with a + when something was changed since."""
    return known["commit"] + ("+" if known["changed"] else "")
