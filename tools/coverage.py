#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""mrc coverage: which lines of the RTL and of the model (cmodel) runs and tests reach, and which assertions of the RTL.

Builds the flavour coverage, runs every built-in scenario and some random ones in lockstep at preset tiny, and the unit
tests of the rooms of cmodel; then prints a table per folder. A line of the RTL counts as reached when
one of its branches is taken in one instance; of the C++, when one of its instances has run. Lines that no
compiled file instantiates do not count. An assertion is reached when its condition is met in one instance. An assertion
without a condition has no row."""
import argparse
import collections
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import rtl

BUILD = rtl.ROOT / "build/coverage"
DATA = BUILD / "lines"
UNITS = ("test_input", "test_wire", "test_protocol", "test_pipeline", "test_log", "test_reference", "test_cover", "test_picture")
PARTS = {"RTL": "rtl", "C++": "cmodel"}
EXAMPLES = """Examples:
  mrc coverage                                  the table; half an hour, most of it building
  mrc coverage --no-tests --packets 500         lockstep alone, shorter
  mrc coverage --data build/coverage/lines --files       the last run again, per file
  mrc coverage --data build/coverage/lines --list        the lines that nothing reached
  mrc coverage --json lines.json --check 90     exit code 1 when RTL or C++ are below 90 %"""
# A point of Verilator: 'KEY VALUE KEY VALUE ...' count, with these bytes in front of key and value.
POINT = re.compile(r"C '((?:\x01[^\x01\x02']+\x02[^\x01\x02]*)+)' (\d+)")
REACHED = "_reached"  # behind an assertion's name (rtl/lib/mrc_assert.svh)
RANGES = re.compile(r"\d+(-\d+)?(,\d+(-\d+)?)*")


class Wrong(Exception):
    """Data that are not what Verilator or gcov write."""


def spread(text):
    """The numbers of "3,5-7"."""
    for part in text.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def read_verilator(text, name, lines, assertions):
    """Adds the points of a coverage file to {(file, line): count} and {(file, assertion): count}."""
    rows = text.splitlines()
    if not rows or not rows[0].startswith("# SystemC::Coverage"):
        raise Wrong(f"{name}:1: no coverage file of Verilator")
    for number, row in enumerate(rows[1:], 2):
        match = POINT.fullmatch(row)
        if not match:
            raise Wrong(f"{name}:{number}: no point of Verilator")
        keys = dict(pair.split("\x02", 1) for pair in match[1].split("\x01")[1:])
        kind = keys.get("page", "").partition("/")[0]
        if kind not in ("v_line", "v_branch", "v_user"):
            continue
        if not keys.get("f") or not keys.get("l", "").isdigit():
            raise Wrong(f"{name}:{number}: a point without file or line")
        if kind == "v_user":
            if keys.get("o", "").endswith(REACHED):
                assertions[keys["f"], keys["o"].removesuffix(REACHED)] += int(match[2])
            continue
        if "S" in keys and not RANGES.fullmatch(keys["S"]):
            raise Wrong(f"{name}:{number}: '{keys['S']}' are no lines")
        for line in spread(keys.get("S") or keys["l"]):
            lines[keys["f"], line] += int(match[2])


def read_gcov(text, name, lines):
    """Adds the lines of gcov's JSON, one object per row, to {(file, line): count}."""
    for number, row in enumerate(text.splitlines(), 1):
        if not row.strip():
            continue
        try:
            value = json.loads(row)
            folder = Path(value["current_working_directory"])
            for source in value["files"]:
                path = os.path.normpath(folder / source["file"])
                if path.startswith(f"{rtl.ROOT}/"):
                    path = path[len(str(rtl.ROOT)) + 1:]
                for line in source["lines"]:
                    lines[path, int(line["line_number"])] += int(line["count"])
        except (json.JSONDecodeError, KeyError, TypeError, ValueError) as error:
            raise Wrong(f"{name}:{number}: no JSON of gcov ({type(error).__name__}: {error})") from error


def read(folder):
    """{part: {file: {line: count}}} of what a run left in the folder, and {(file, assertion): count}."""
    lines, assertions = collections.Counter(), collections.Counter()
    for path in sorted(folder.glob("*")):
        if path.suffix == ".dat":
            read_verilator(path.read_text(encoding="utf-8", errors="replace"), path, lines, assertions)
        elif path.suffix == ".gcov":
            read_gcov(path.read_text(encoding="utf-8", errors="replace"), path, lines)
    parts = {part: {} for part in PARTS}
    for (name, line), count in sorted(lines.items()):
        for part, top in PARTS.items():
            if name.startswith(top + "/"):
                parts[part].setdefault(name, {})[line] = count
    return parts, {key: count for key, count in sorted(assertions.items()) if key[0].startswith("rtl/")}


def totals(files):
    """(lines, reached)."""
    counts = [count for lines in files.values() for count in lines.values()]
    return len(counts), sum(1 for count in counts if count)


def percent(lines, reached):
    return 100 * reached / lines if lines else 0.0


def grouped(files, by_file):
    """{row of the table: its files}."""
    rows = {}
    for name, lines in files.items():
        rows.setdefault(name if by_file else name.rpartition("/")[0], {})[name] = lines
    return rows


def runs(numbers):
    """3,5-7 of [3, 5, 6, 7]."""
    found = []
    for number in numbers:
        if found and found[-1][1] == number - 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in found)


def missed_of(assertions):
    return [f"{Path(name).stem}.{assertion}" for (name, assertion), count in assertions.items() if not count]


def show_assertions(assertions, listed):
    missed = missed_of(assertions)
    print(f"assertions of the RTL that have a condition: {len(assertions)}, reached {len(assertions) - len(missed)}, "
          f"{percent(len(assertions), len(assertions) - len(missed)):.1f} %")
    if listed:
        for name in missed:
            print(f"{name}: its condition was never met")
    print()


def show(parts, by_file, listed):
    for part, files in parts.items():
        rows = [(name, *totals(of_row)) for name, of_row in sorted(grouped(files, by_file).items())]
        rows.append((f"{part}, all", *totals(files)))
        width = max(len(name) for name, _, _ in rows)
        print(f"{part:<{width}}    lines  reached       %")
        for name, lines, reached in rows:
            print(f"{name:<{width}}  {lines:7}  {reached:7}  {percent(lines, reached):6.1f}")
        print()
        if listed:
            for name, lines in files.items():
                if missed := [line for line, count in sorted(lines.items()) if not count]:
                    print(f"{name}: {runs(missed)}")
            print()


def as_json(parts, assertions):
    missed = missed_of(assertions)
    reached = len(assertions) - len(missed)
    value = {"assertions": {"all": len(assertions), "reached": reached,
                            "percent": round(percent(len(assertions), reached), 2), "missed": missed}}
    for part, files in parts.items():
        lines, reached = totals(files)
        value[part] = {"lines": lines, "reached": reached, "percent": round(percent(lines, reached), 2), "files": {
            name: {"lines": len(of_file), "reached": sum(1 for count in of_file.values() if count),
                   "missed": [line for line, count in sorted(of_file.items()) if not count]}
            for name, of_file in files.items()}}
    return value


def build(targets):
    done = subprocess.run([rtl.ROOT / "tools/build.sh", "coverage", *targets], check=False)
    if done.returncode:
        sys.exit(rtl.Exit.USAGE)


def measure(options):
    """Builds and runs; leaves the data in DATA. Returns what failed."""
    units = () if options.no_tests else UNITS
    build(["mrc", "tiny", *units])
    shutil.rmtree(DATA, ignore_errors=True)
    DATA.mkdir(parents=True)
    for path in BUILD.rglob("*.gcda"):
        path.unlink()
    mrc = str(BUILD / "bin/mrc")
    text = subprocess.run([mrc, "cosim", "--scenario", "list"], text=True, check=True, stdout=subprocess.PIPE).stdout
    names = re.findall(r"^  (\S+) ", text.split("\n\n")[0], re.MULTILINE)
    common = ["--preset", "tiny", "--packets", str(options.packets)]
    calls = [[mrc, "cosim", *common, "--scenario", name] for name in names if name != "random"]
    seeds = range(1, options.random + 1)
    calls += [[mrc, "cosim", *common, "--scenario", "random", "--seed", str(seed)] for seed in seeds]
    calls += [[str(BUILD / "tests" / unit)] for unit in units]
    environment = {**os.environ, "MRC_ROOT": str(rtl.ROOT), "MRC_COVERAGE_DIR": str(DATA)}
    environment.pop("MRC_BUILD", None)
    work = BUILD / "work"  # a run that fails leaves reports
    work.mkdir(exist_ok=True)
    begin = time.monotonic()

    def run(call):
        done = subprocess.run(call, cwd=work, env=environment, text=True, errors="replace", check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return f"{' '.join(call)}: exit code {done.returncode}\n{done.stdout}" if done.returncode else None

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failed = [words for words in pool.map(run, calls) if words]
    # Files that were compiled and never ran have notes only; they count.
    notes = sorted(str(path) for path in BUILD.rglob("*.gcno"))
    done = subprocess.run(["gcov", "--json-format", "--stdout", *notes], cwd=work, text=True, errors="replace",
                          check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    (DATA / "cpp.gcov").write_text(done.stdout, encoding="utf-8")
    print(f"{len(calls)} runs, {len(failed)} failed, {time.monotonic() - begin:.0f} s; data in "
          f"{DATA.relative_to(rtl.ROOT)}\n")
    return failed


def percentage(text):
    value = float(text)
    if not 0 <= value <= 100:
        raise argparse.ArgumentTypeError(f"{text} is not from 0 to 100")
    return value


def whole(text):
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} is below 0")
    return value


def main():
    parser = rtl.Parser(prog="mrc coverage", description=__doc__, epilog=EXAMPLES,
                        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packets", type=whole, default=2000, help="packets of each run in lockstep (default 2000)")
    parser.add_argument("--random", type=whole, default=20, help="runs of scenario random (default 20)")
    parser.add_argument("--no-tests", action="store_true", help="lockstep alone, without the unit tests")
    parser.add_argument("--files", action="store_true", help="a row per file, not per folder")
    parser.add_argument("--list", action="store_true", help="the lines that nothing reached")
    parser.add_argument("--json", metavar="FILE", help="totals and missed lines per file for scripts")
    parser.add_argument("--check", type=percentage, metavar="PERCENT", help="exit code 1 when RTL or C++ reach less")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="build and run nothing: read what a run left there")
    options = parser.parse_args()
    rtl.check_json(options.json)
    if options.data and not options.data.is_dir():
        rtl.fail(f"{options.data} is no folder.", "A run leaves its data in build/coverage/lines.")
    failed = [] if options.data else measure(options)
    try:
        parts, assertions = read(options.data or DATA)
    except Wrong as wrong:
        rtl.fail(f"{wrong}.", "Run 'mrc coverage' without --data, which writes such files anew.")
    show(parts, options.files, options.list)
    show_assertions(assertions, options.list)
    if options.json:
        rtl.write_json(options.json, as_json(parts, assertions))
    for words in failed:
        print(words)
    empty = [part for part, files in parts.items() if not files]
    if empty:
        print(f"nothing was measured of {' and '.join(empty)}")
    low = [part for part, files in parts.items() if files and percent(*totals(files)) < (options.check or 0)]
    for part in low:
        print(f"{part}: {percent(*totals(parts[part])):.1f} % of the lines are reached, less than {options.check:g} %")
    if failed or low:
        return rtl.Exit.FAIL
    return rtl.Exit.INCONCLUSIVE if empty else rtl.Exit.PASS


if __name__ == "__main__":
    rtl.command("mrc coverage", main)
