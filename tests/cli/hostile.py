#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: hostile.py MRC [--device SO] [-k PATTERN] [--sample N] [-j N] [--list] [--no-memory-limit]

Calls mrc in a hostile world: every command with outputs that cannot be written, inputs that cannot be meant, too
little disk and memory, signals at any time, and devices under test that misbehave. Each case has the exit code and
the sentence that a user must get; none may crash, hang, leave files or processes, or change what it refused to touch.

--device  a device under test that misbehaves as environment variable MRC_TEST_DEVICE says
-k        only cases whose name matches this regular expression
--sample  the first case of each kind, and one in N of the others; always the same
-j        so many at a time; default 3
--list    the cases' names and command lines, and nothing runs

The tables are in tests/cli/hostile. Cases work in a folder of their own; as root, on a small disk in memory that nobody
else sees. What this machine does not allow (mknod, mount, an ordinary user) is left out and counted."""
import argparse
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zlib
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True  # the folder of the sources stays as it is

from hostile import commands, devices, files, interrupts, limits, logs, numbers, outputs, streams  # noqa: E402
from hostile.judge import run_case  # noqa: E402
from hostile.things import NOBODY, Node, mount_tmpfs, own_mounts, unmount  # noqa: E402

SCRATCH_BYTES = 600 << 20
MEMORY = 4 << 30


def all_cases(device):
    cases = []
    for table in (outputs, streams, commands, limits, interrupts, numbers, files, logs, devices):
        cases += table.cases(device) if table is devices else table.cases()
    names = [case.name for case in cases]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise SystemExit(f"two cases have the same name: {', '.join(sorted(twice))}")
    return cases


def abilities(mrc, scratch, device):
    """What cases may need and this machine allows."""
    able = {"device"} if device else set()
    able |= {"root"} if os.geteuid() == 0 else set()
    try:
        Node(3).make(scratch / "node")
        (scratch / "node").write_text("x")
        able.add("nodes")
    except OSError:
        pass
    trial = scratch / "disk"
    trial.mkdir()
    if os.geteuid() == 0 and mount_tmpfs(trial, 65536):
        unmount(trial)
        able.add("mounts")

    def become_nobody():
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    try:
        subprocess.run([mrc, "--version"], cwd=scratch, check=True, capture_output=True,
                       preexec_fn=become_nobody if os.geteuid() == 0 else None)
        able.add("nobody")
    except (OSError, subprocess.SubprocessError):
        pass
    for name in ("node", "disk"):
        path = scratch / name
        if path.is_dir():
            path.rmdir()
        else:
            path.unlink(missing_ok=True)
    return able


def run_numbered(number):
    return number, run_case(CASES[number], ARGUMENTS.mrc, SCRATCH, MEMORY if not ARGUMENTS.no_memory_limit else 0)


def show_failure(case, outcome):
    print(f"FAILED {case.name}")
    for complaint in outcome.wrong:
        print(f"  {complaint}")
    print("  $ " + case.shell(ARGUMENTS.mrc).replace("\n", "\n  $ "))
    for name, said in (("standard output", outcome.out), ("standard error", outcome.err)):
        lines = said.decode(errors="replace").splitlines()
        if lines:
            print(f"  {name}:")
        for line in lines[:12] + (["..."] if len(lines) > 12 else []):
            print(f"    {line[:240]}")
    print(flush=True)


def main():
    begun = time.monotonic()
    able = abilities(ARGUMENTS.mrc, SCRATCH, ARGUMENTS.device)
    chosen = [n for n, case in enumerate(CASES) if case.requirements() <= able]
    left_out = len(CASES) - len(chosen)
    failed, slowest = [], []
    with ProcessPoolExecutor(ARGUMENTS.j, mp_context=multiprocessing.get_context("fork")) as pool:
        for number, outcome in pool.map(run_numbered, chosen):
            slowest.append((outcome.seconds, CASES[number].name))
            if outcome.wrong:
                failed.append(CASES[number].name)
                show_failure(CASES[number], outcome)
    if ARGUMENTS.slowest:
        for seconds, name in sorted(slowest, reverse=True)[:20]:
            print(f"{seconds:6.2f} s  {name}")
    if left_out:
        missing = sorted(set().union(*(case.requirements() for case in CASES)) - able)
        print(f"{left_out} left out: this machine has no {', '.join(missing)}")
    print(f"{len(chosen) - len(failed)} passed, {len(failed)} failed in {time.monotonic() - begun:.0f} s")
    return 1 if failed or not chosen else 0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mrc", type=lambda name: Path(name).resolve())
    parser.add_argument("--device", type=lambda name: Path(name).resolve())
    parser.add_argument("-k", default="", metavar="PATTERN")
    parser.add_argument("--sample", type=int, default=1, metavar="N")
    parser.add_argument("-j", type=int, default=3, metavar="N")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--slowest", action="store_true", help="also the 20 cases that took longest")
    parser.add_argument("--no-memory-limit", action="store_true", help="for sanitizers, which need all addresses")
    return parser.parse_args()


def select(cases, pattern, one_in):
    """The kind of a case is its name up to the first comma or colon."""
    kinds = {}
    for case in cases:
        kinds.setdefault(re.split("[,:]", case.name)[0], case)
    return [case for case in cases if re.search(pattern, case.name) and
            (kinds[re.split("[,:]", case.name)[0]] is case or zlib.crc32(case.name.encode()) % one_in == 0)]


if __name__ == "__main__":
    ARGUMENTS = arguments()
    CASES = select(all_cases(ARGUMENTS.device), ARGUMENTS.k, ARGUMENTS.sample)
    if ARGUMENTS.list:
        for case in CASES:
            print(f"{case.name}\n  {case.shell(ARGUMENTS.mrc.name)}".replace("\n", "\n  "))
        print(f"{len(CASES)} cases")
        sys.exit(0)
    private = os.geteuid() == 0 and own_mounts()
    SCRATCH = Path(tempfile.mkdtemp(prefix="hostile-"))
    SCRATCH.chmod(0o711)
    if private and mount_tmpfs(SCRATCH, SCRATCH_BYTES):
        SCRATCH.chmod(0o711)
    try:
        sys.exit(main())
    finally:
        if private:
            unmount(SCRATCH)
        shutil.rmtree(SCRATCH, ignore_errors=True)
