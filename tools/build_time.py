#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What building costs: processor time of what ./mrc cosim builds first and of everything that there is to test, the
dearest files, and how many lines the compiler reads for each source.

  tools/build_time.py                   what Ninja's log says of build/fast: elapsed seconds, ccache and load included
  tools/build_time.py --measure         builds both in a fresh folder without ccache: user seconds, the true figure;
                                        half an hour of an idle machine with two cores
  tools/build_time.py --measure --goal cosim     the first of the two alone
  tools/build_time.py --json            the same, for scripts
  tools/build_time.py --lines           the ratchet: preprocessed lines of sources against the limit of their folder,
                                        of each folder the three that include most; --all: of all
  tools/build_time.py --lines cli/main.cpp       of these files

Generated and Verilated sources are not counted. Needs the configured flavour fast (cmake --preset fast).

Exit code 0: nothing too large; 1: a file has too many lines; 3: wrong use, not built, or a build that fails."""
import argparse
import collections
import concurrent.futures
import json
import os
import re
import resource
import shlex
import shutil
import subprocess
from pathlib import Path

import compiled
import rtl

BUILT = rtl.ROOT / "build/fast"
GOALS = {"cosim": ("mrc", "mrc_dut_rtl_asic800"), "all": ("all",)}
WORDS = {"cosim": "what ./mrc cosim builds first", "all": "everything that there is to test, beyond that"}
DEAREST = 20
PER_FOLDER = 3
# Preprocessed lines of a source, blank ones left out: the longest folder that fits counts. They may only shrink; each
# leaves a tenth of air above today's largest file.
LIMITS = {
    "cli": 117_000,
    "cmodel": 94_000,
    "cmodel/input": 111_000,  # json.cpp alone includes nlohmann/json
    "sim": 97_000,
    "sim/systemc": 111_000,
    "tb": 98_000,
    "tests": 128_000,
}
MARK = re.compile(rb'# \d+ "((?:[^"\\]|\\.)*)"((?: \d)*)')


def limit_of(name):
    """The limit of a source, None where there is none. name: relative to the repository."""
    folders = [folder for folder in LIMITS if name.startswith(f"{folder}/")]
    return LIMITS[max(folders, key=len)] if folders else None


def commands(build):
    """{source relative to the repository: (folder, words of its compiler call without output)}, of ours alone."""
    found = {}
    for entry in compiled.entries(build, "Run 'cmake --preset fast', which writes it."):
        path = Path(entry["file"])
        if not path.is_relative_to(rtl.ROOT):
            continue
        name = str(path.relative_to(rtl.ROOT))
        if limit_of(name) is None:
            continue
        words = shlex.split(entry["command"])
        at = words.index("-o")
        found.setdefault(name, (entry["directory"], words[:at] + words[at + 2:]))
    return found


def count(text):
    """(lines, {header that the source names itself: lines that come with it}) of preprocessed text with its marks."""
    lines, by_header, stack = 0, collections.Counter(), []
    for line in text.splitlines():
        mark = MARK.match(line)
        if mark:
            if mark[2].split()[:1] == [b"1"]:
                stack.append(os.fsdecode(mark[1]))
            elif mark[2].split()[:1] == [b"2"] and stack:
                stack.pop()
        elif line.strip():
            lines += 1
            if stack:
                by_header[stack[0]] += 1
    return lines, by_header


def preprocess(name, call):
    """count() of one source; nothing while a header that the build makes is not there yet. Ends with exit code 3 when
    the compiler refuses it."""
    folder, words = call
    done = subprocess.run([*words, "-E"], cwd=folder, capture_output=True, check=False)
    if done.returncode != 0 and b": No such file or directory" in done.stderr:
        return None
    if done.returncode != 0:
        rtl.fail(f"{name} cannot be preprocessed: {done.stderr.decode(errors='replace').strip()[:400]}.",
                 "Mend what the compiler says.")
    return count(done.stdout)


def that_include_most(names):
    """Of each folder the PER_FOLDER sources with the most #include lines."""
    by_folder = collections.defaultdict(list)
    for name in names:
        text = (rtl.ROOT / name).read_text(encoding="utf-8", errors="replace")
        by_folder[str(Path(name).parent)].append((-text.count("#include"), name))
    return sorted(name for some in by_folder.values() for _, name in sorted(some)[:PER_FOLDER])


def told(name, lines, headers, limit):
    """A finding in words: file, count, limit, the headers that cost most."""
    dear = ", ".join(f"{'/'.join(Path(header).parts[-2:])} {number}" for header, number in headers.most_common(5))
    return (f"{name}: {lines} preprocessed lines, {lines - limit} more than the {limit} of its folder. "
            f"Dearest headers: {dear}.\n  Include less, or put what is dear behind a header of its own "
            "(CONTRIBUTING.md, What building costs).")


def check_lines(build, names, everything):
    """The ratchet."""
    known = commands(build)
    unknown = [name for name in names if name not in known]
    if unknown:
        rtl.fail(f"{unknown[0]} is no source that CMake builds.", "Name .cpp files as seen from the repository's root.")
    chosen = names or (sorted(known) if everything else that_include_most(known))
    found = missing = 0
    largest = collections.defaultdict(lambda: (0, ""))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, counted in zip(chosen, pool.map(lambda name: preprocess(name, known[name]), chosen)):
            if counted is None:
                missing += 1
                continue
            lines, headers = counted
            folder = "/".join(name.split("/")[:2]) if name.count("/") > 1 else name.split("/", maxsplit=1)[0]
            largest[folder] = max(largest[folder], (lines, name))
            if lines > limit_of(name):
                print(told(name, lines, headers, limit_of(name)))
                found += 1
    for lines, name in sorted(largest.values(), reverse=True):
        print(f"{lines:>8} of {limit_of(name):>7}  {name}")
    not_built = f", {missing} not counted: headers of theirs are not built yet" if missing else ""
    print(f"{len(chosen) - missing} sources, {found} with too many lines{not_built}")
    return rtl.Exit.FAIL if found else rtl.Exit.PASS


def ninja(build, *words):
    return subprocess.run(["ninja", "-C", build, *words], capture_output=True, text=True, check=False)


def logged(build):
    """{output: seconds that passed while it was made, the last time}."""
    log = build / ".ninja_log"
    if not log.exists():
        rtl.fail(f"{log} is missing.", "Run './mrc cosim' or ninja first, or measure with --measure.")
    seconds = {}
    for line in log.read_text(encoding="utf-8").splitlines():
        fields = line.split("\t")
        if len(fields) == 5:
            seconds[fields[3]] = (int(fields[1]) - int(fields[0])) / 1000
    return seconds


def needed(build, goal):
    """All files that Ninja makes for a goal, one of each step."""
    done = ninja(build, "-t", "inputs", *GOALS[goal])
    if done.returncode != 0:
        rtl.fail(f"Ninja does not say what {goal} needs: {done.stderr.strip()}.", "Run 'cmake --preset fast'.")
    return set(done.stdout.split("\n"))


def from_log(build):
    """{goal: seconds}, [(seconds, source)]."""
    seconds = {name: value for name, value in logged(build).items() if name.endswith(".o")}
    first = needed(build, "cosim") & seconds.keys()
    goals = {"cosim": sum(seconds[name] for name in first),
             "all": sum(value for name, value in seconds.items() if name not in first)}
    dearest = sorted(((value, name) for name, value in seconds.items()), reverse=True)[:DEAREST]
    return goals, dearest


def measured(goals):
    """The same in user seconds, from a build in a fresh folder without ccache."""
    build = rtl.ROOT / "build/time"
    shutil.rmtree(build, ignore_errors=True)
    environment = os.environ | {"CCACHE_DISABLE": "1"}
    spent = {}
    try:
        for goal in goals:
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            steps = [["ninja", "-C", build, *GOALS[goal]]]
            if not build.exists():
                steps.insert(0, ["cmake", "--preset", "fast", "-B", build])
            for step in steps:
                done = subprocess.run(step, cwd=rtl.ROOT, env=environment, capture_output=True, text=True, check=False)
                if done.returncode != 0:
                    rtl.fail(f"{step[0]} fails: {done.stdout[-1000:].strip()}", "Mend that, then measure again.")
            spent[goal] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        dearest = sorted(((value, name) for name, value in logged(build).items() if name.endswith(".o")), reverse=True)
        return spent, dearest[:DEAREST]
    finally:
        shutil.rmtree(build, ignore_errors=True)


def main():
    parser = rtl.Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", help="with --lines: these sources alone")
    parser.add_argument("--measure", action="store_true", help="build in a fresh folder without ccache")
    parser.add_argument("--goal", choices=GOALS, action="append", help="with --measure: this one alone")
    parser.add_argument("--lines", action="store_true", help="count preprocessed lines against their limits")
    parser.add_argument("--all", action="store_true", help="with --lines: all sources")
    parser.add_argument("--json", action="store_true", help="times as JSON")
    parser.add_argument("--build", type=Path, default=BUILT, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.files and not options.lines:
        rtl.fail("files are for --lines.", "Add --lines, or name none.")
    if options.lines:
        return check_lines(options.build, options.files, options.all)
    unit = "user" if options.measure else "elapsed"
    goals, dearest = measured(options.goal or list(GOALS)) if options.measure else from_log(options.build)
    if options.json:
        print(json.dumps({"unit": f"{unit} seconds", "goals": goals,
                          "dearest": [{"seconds": seconds, "file": name} for seconds, name in dearest]}, indent=2))
        return rtl.Exit.PASS
    for goal, seconds in goals.items():
        print(f"{seconds:>8.0f} s {unit}  {WORDS[goal]}")
    print("the dearest files, in elapsed seconds:")
    for seconds, name in dearest:
        print(f"{seconds:>8.1f}    {name}")
    return rtl.Exit.PASS


if __name__ == "__main__":
    rtl.command("build_time.py", main)
