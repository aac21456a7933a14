#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: build_time.py [--all] [SOURCE...]

What building costs, as a ratchet: how many lines the compiler reads for each source, against the limit of its folder. Of
each folder the three sources that include most; --all: all of them. Generated and Verilated sources are not counted.
Needs the configured flavour fast (cmake --preset fast).

Exit code 0: nothing too large; 1: a file has too many lines; 3: wrong use, or not built."""
import argparse
import collections
import concurrent.futures
import os
import re
import shlex
import subprocess
from pathlib import Path

import compiled
import rtl

BUILT = rtl.ROOT / "build/fast"
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


def main():
    parser = rtl.Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", metavar="SOURCE", nargs="*", help="these alone, relative to the repository")
    parser.add_argument("--all", action="store_true", help="all sources")
    parser.add_argument("--build", type=Path, default=BUILT, help=argparse.SUPPRESS)
    options = parser.parse_args()
    return check_lines(options.build, options.sources, options.all)


if __name__ == "__main__":
    rtl.command("build_time.py", main)
