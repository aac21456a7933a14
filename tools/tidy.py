#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over the C++ of the product: cli, cmodel, fuzz, libmrc, sim, tb; headers where they are included.

A file that has passed is not checked again while it, all that it includes, its compiler options, .clang-tidy and
clang-tidy itself stay what they were: build/tidy keeps a hash of these. --analyzer adds the static analyzer
(clang-analyzer-*), which takes most of the time. Needs the built flavour fast (./mrc test builds it).

  tools/tidy.py --changed                  what CI checks: files changed since the newest tag, or in the last 20 commits
  tools/tidy.py                            all of them, every night
  tools/tidy.py --analyzer                 what './mrc lint --cpp' checks
  tools/tidy.py --again sim/engine/codec.cpp     one file, whether or not it has passed

Exit code 0: nothing found; 1: findings; 3: wrong use, or not built."""
import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import subprocess
import tempfile
import time
from pathlib import Path

import compiled
import rtl

FOLDERS = ("cli", "cmodel", "fuzz", "libmrc", "sim", "tb")
BUILT = rtl.ROOT / "build/fast"
KEPT = rtl.ROOT / "build/tidy"
# Fuzz targets are built by rules of their own (fuzz/CMakeLists.txt), which CMake's list does not have.
FLAGS = f"clang++ -std=c++20 -DFMT_HEADER_ONLY -DNDEBUG -I{rtl.ROOT}/cmodel -I{rtl.ROOT}"
# Of a file that is compiled several times, the way that shows most.
PREFERRED = re.compile(r"-DMRC_CHECKS=1|MRC_PRESET_NAME=\S*tiny")
FINDING = re.compile(r"\S[^:\n]*:\d+:\d+: (?:warning|error):")
CHATTER = re.compile(r"\d+ warnings?( and \d+ errors?)? (generated|treated)|\d+ errors? generated|Suppressed "
                     r"|Use -header-filter|Error while processing")


def commands(files, build):
    """{file: its compiler call}, paths absolute."""
    found = {}
    for entry in compiled.entries(build, "Call './mrc lint --cpp', which builds what it needs."):
        preferred = PREFERRED.search(entry["command"]) and not re.search("_asserted|_stalled", entry["command"])
        if entry["file"] not in found or preferred:
            found[entry["file"]] = entry
    return {name: found.get(name) or {"directory": str(rtl.ROOT), "file": name,
                                      "command": f"{FLAGS} -c {shlex.quote(name)}"} for name in files}


def product():
    """The .cpp files of the product; what CMake does not build (without clang: the fuzz targets) too."""
    return sorted(str(path) for folder in FOLDERS for path in (rtl.ROOT / folder).rglob("*.cpp"))


def changed():
    """Of the product what has changed since the newest tag, in the last 20 commits at most (of merges: what they merge),
    and in the work tree. For a header that changed a source stands: its twin, or the first one that includes it."""
    def git(*words):
        code, out = rtl.run(["git", "-C", str(rtl.ROOT), *words])
        return out.split() if code == 0 else []
    since = [f"{tag}..HEAD" for tag in git("describe", "--tags", "--abbrev=0")]
    names = git("log", "--no-merges", "-n", "20", "--name-only", "--format=", *(since or ["HEAD"]))
    if not names and not since:
        rtl.fail("git does not say what has changed.", "Leave out --changed to check all files.")
    files, sources = set(), product()
    for name in {*names, *git("diff", "--name-only", "HEAD"), *git("ls-files", "--others", "--exclude-standard")}:
        path = rtl.ROOT / name
        if not path.exists() or not name.startswith(tuple(f"{folder}/" for folder in FOLDERS)):
            continue
        if path.suffix == ".cpp":
            files.add(str(path))
        elif path.suffix == ".hpp":
            line = f'#include "{name.removeprefix("cmodel/")}"'
            users = [source for source in sources if line in Path(source).read_text(encoding="utf-8")]
            twin = str(path.with_suffix(".cpp"))
            files.update(users[:1] if twin not in users else [twin])
    return sorted(files)


def preprocessed(entry):
    """What the compiler sees, with comments: NOLINT is one."""
    words = shlex.split(entry["command"])
    if Path(words[0]).name == "ccache":
        words = words[1:]
    kept, skip = [], False
    for word in words:
        if not skip and word not in ("-c", "-o"):
            kept.append(word)
        skip = word == "-o"
    done = subprocess.run([*kept, "-E", "-C"], cwd=entry["directory"], capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None


def key(entry, tidy):
    """A hash of all that the findings depend on; None when the file cannot be read as C++."""
    text = preprocessed(entry)
    if text is None:
        return None
    parts = (tidy, (rtl.ROOT / ".clang-tidy").read_bytes(), entry["command"].encode(), text)
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


class Run:
    """One run over some files. kept: the folder of the hashes; build: where CMake has written how files are compiled."""

    def __init__(self, files, analyzer, again=False, kept=KEPT, build=BUILT):
        self.analyzer, self.again, self.kept = analyzer, again, kept
        self.entries = commands(files, build)
        self.version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
        self.checked = 0

    def stamp(self, name, analyzer):
        path = os.path.relpath(name, rtl.ROOT).replace(os.sep, "__")
        return self.kept / f"{path}.{'analyzer' if analyzer else 'checks'}"

    def passed(self, name, now):
        """Whether it has passed as it is; with the analyzer is as good as without."""
        stamps = [self.stamp(name, True)] + ([] if self.analyzer else [self.stamp(name, False)])
        return any(stamp.exists() and stamp.read_text() == now for stamp in stamps)

    def check(self, name, database):
        """(exit code, lines)."""
        now = key(self.entries[name], self.version)
        if now and not self.again and self.passed(name, now):
            return 0, []
        checks = [] if self.analyzer else ["--checks=-clang-analyzer-*"]
        code, log = rtl.run(["clang-tidy", "--quiet", "-p", database, *checks, name])
        self.checked += 1
        lines = [line for line in log.splitlines() if line.strip() and not CHATTER.match(line)]
        if now and code == 0 and not lines:
            self.stamp(name, self.analyzer).write_text(now)
        return code, lines

    def all(self, jobs):
        """(exit code, findings, each once), the files that take longest first."""
        self.kept.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as database:
            (Path(database) / "compile_commands.json").write_text(json.dumps(list(self.entries.values())))
            with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
                names = sorted(self.entries, key=os.path.getsize, reverse=True)
                done = list(pool.map(lambda name: self.check(name, database), names))
        found = {}  # the first line of a finding: all its lines
        for _, lines in done:
            block = None
            for line in lines:
                if FINDING.match(line) or block is None:
                    block = found.setdefault(line, []) if line not in found else []
                block.append(line)
        text = "\n".join(line for _, block in sorted(found.items()) for line in block)
        return max((code for code, _ in done), default=0), text.replace(f"{rtl.ROOT}/", "")


def check(analyzer, jobs=os.cpu_count()):
    """For mrc lint: (exit code, findings) over the product."""
    return Run(product(), analyzer).all(jobs)


def main():
    parser = rtl.Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--analyzer", action="store_true", help="the static analyzer too")
    parser.add_argument("--changed", action="store_true",
                        help="only what has changed since the newest tag, or in the last 20 commits")
    parser.add_argument("--again", action="store_true", help="check files that have passed as they are, too")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many files at once (default: all cores)")
    parser.add_argument("--kept", type=Path, default=KEPT, help="folder of the hashes (default: build/tidy)")
    parser.add_argument("--build", type=Path, default=BUILT, help="folder of the build (default: build/fast)")
    parser.add_argument("files", nargs="*", help="only these")
    options = parser.parse_args()
    if options.jobs < 1:
        parser.error(f"--jobs {options.jobs} is out of range")
    for name in options.files:
        if not Path(name).is_file():
            rtl.fail(f"{name} is missing.", "Name C++ files of this tree, or none for all.")
    begin = time.monotonic()
    files = [str(Path(name).resolve()) for name in options.files]
    run = Run(files or (changed() if options.changed else product()), options.analyzer, options.again, options.kept,
              options.build)
    code, findings = run.all(options.jobs)
    if findings:
        print(findings)
    count = sum(1 for line in findings.splitlines() if FINDING.match(line))
    print(f"{len(run.entries)} files, {run.checked} of them checked, the others unchanged since they passed; "
          f"{count} findings; {time.monotonic() - begin:.0f} s")
    return rtl.Exit.FAIL if code or findings else rtl.Exit.PASS


if __name__ == "__main__":
    rtl.command("tidy.py", main)
