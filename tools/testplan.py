#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Holds docs/design/testplan.yaml against the tests that CTest knows in a build folder. Every entry of a testpoint must
match a test, and every test must belong to a testpoint. No two tests have one name, which is of letters, digits and
./_- (cmake/discover_tests.cmake).

  tools/testplan.py build/fast            what is wrong
  tools/testplan.py build/fast --list     who holds what
  tools/testplan.py --layer house         a regular expression of CTest for the tests of the layer house or nightly
  tools/testplan.py --json junit.xml results.json    what CTest says in a JUnit file, as {"tests": [{"name", "result",
                                          "seconds"}]}; a result is pass, fail or skipped
  tools/testplan.py --sum 0 results.json more.json   counts such files together; ends with 1 if a test failed or a
                                          file is missing, else with the code that is given
  tools/testplan.py --seconds results.json           writes tests/seconds.txt anew, by which the longest tests begin
                                          first where none has run yet; what is not in the files keeps its line

An entry in brackets, [protocol][window], matches the tests that carry all these tags. Any other entry is the name of a
CTest test. Groups of bins of coverage belong to testpoints, too. Tags and names may hold * and ? as in the shell.

Exit code 0: nothing is wrong; 1: something is; 3: wrong use."""
import argparse
import fnmatch
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import rtl
import yaml

ROOT = Path(__file__).resolve().parent.parent
PLAN = ROOT / "docs/design/testplan.yaml"
BINS = ROOT / "tools/gen/bins.json"
SECONDS = ROOT / "tests/seconds.txt"
LASTS = 2  # seconds from which the order of the tests matters


def listed(build):
    """[(name, tags)] as CTest has them."""
    listing = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
    tests = []
    for test in json.loads(listing[listing.index("{"):])["tests"]:
        properties = {entry["name"]: entry["value"] for entry in test.get("properties", [])}
        tests.append((test["name"], set(properties.get("LABELS", []))))
    return tests


def known_tests(build):
    """CTest's names and their tags."""
    return dict(listed(build))


def wrong_names(names):
    """What is wrong with the names of tests: CTest takes a name in its list of costs to end at a blank."""
    return ([f"test '{name}': a name has letters, digits and ./_- alone" for name in sorted(set(names))
             if not re.fullmatch(r"[A-Za-z0-9./_-]+", name)] +
            [f"two tests are called {name}" for name in sorted({name for name in names if names.count(name) > 1})])


def matches(entry, tests):
    if entry.startswith("["):
        tags = re.findall(r"\[([^]]+)\]", entry)
        return {name for name, labels in tests.items() if all(fnmatch.filter(labels, tag) for tag in tags)}
    return set(fnmatch.filter(tests, entry))


def expression(layer):
    """Names of a layer as a regular expression that CTest reads."""
    entries = yaml.safe_load(PLAN.read_text())["layers"][layer]
    plain = (re.sub(r"([.+()\[\]])", r"[\1]", entry).replace("*", ".*") for entry in entries)
    return f"^({'|'.join(plain)})$"


def results(junit):
    """What CTest says of the tests that it has run."""
    words = {"run": "pass", "fail": "fail"}
    return [{"name": case.get("name"), "result": words.get(case.get("status"), "skipped"),
             "seconds": float(case.get("time", 0))} for case in ElementTree.parse(junit).iter("testcase")]


def count(code, files):
    """One line for several runs; the exit code."""
    found = [row for path in files if path.exists() for row in json.loads(path.read_text())["tests"]]
    failed = [row["name"] for row in found if row["result"] == "fail"]
    lost = [path.name for path in files if not path.exists()]
    for name in failed:
        print(f"failed: {name}")
    for name in lost:
        print(f"no results: {name}")
    passed = sum(row["result"] == "pass" for row in found)
    print(f"{passed} passed, {len(failed)} failed, {len(found) - passed - len(failed)} skipped")
    return rtl.Exit.FAIL if code or failed or lost or not passed else rtl.Exit.PASS


def costs(kept):
    """{test: seconds} of CTest's list of costs, as it leaves one behind a run: name, runs, seconds."""
    lines = kept.read_text().splitlines() if kept.exists() else []
    return {line.split()[0]: float(line.split()[2]) for line in lines if line.count(" ") == 2}


def seconds(files, kept=SECONDS):
    """Writes the list `kept` anew."""
    known = costs(kept)
    for path in files:
        known |= {row["name"]: row["seconds"] for row in json.loads(path.read_text())["tests"] if row["result"] == "pass"}
    order = sorted((name for name in known if known[name] >= LASTS), key=lambda name: (-round(known[name]), name))
    kept.write_text("".join(f"{name} 1 {known[name]:.0f}\n" for name in order) + "---\n")
    return rtl.Exit.PASS


def main():
    parser = rtl.Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", help="the folder of a configured build")
    parser.add_argument("--list", action="store_true", help="print who holds what")
    parser.add_argument("--layer", choices=yaml.safe_load(PLAN.read_text())["layers"], help="print its tests' names")
    parser.add_argument("--json", nargs=2, type=Path, metavar=("JUNIT", "FILE"), help="make FILE from what CTest wrote")
    parser.add_argument("--sum", nargs="+", metavar=("CODE", "FILE"), help="count the tests of all files")
    parser.add_argument("--seconds", nargs="+", type=Path, metavar="FILE", help="write tests/seconds.txt anew")
    args = parser.parse_args()
    if args.json:
        junit, file = args.json
        rtl.write_json(file, {"tests": results(junit)})
        return rtl.Exit.PASS
    if args.sum:
        if not args.sum[0].isdecimal():
            parser.error(f"--sum begins with an exit code, not '{args.sum[0]}': --sum 0 results.json")
        return count(int(args.sum[0]), [Path(name) for name in args.sum[1:]])
    if args.seconds:
        return seconds(args.seconds)
    if args.layer:
        print(expression(args.layer))
        return rtl.Exit.PASS
    if not args.build or not Path(args.build, "CTestTestfile.cmake").exists():
        parser.error("name the folder of a configured build: tools/testplan.py build/fast")
    return held_against(args.build, args.list)


def held_against(build, wordy):
    """Complaints about the plan and the tests of a build folder, printed; the exit code."""
    listing = listed(build)
    tests = dict(listing)
    plan = yaml.safe_load(PLAN.read_text())
    points = plan["testpoints"]
    complaints, held = wrong_names([name for name, _ in listing]), set()
    complaints += [f"layer {layer}: no test matches {entry}" for layer, entries in plan["layers"].items()
                   for entry in entries if not matches(entry, tests)]
    complaints += [f"{SECONDS.name} has the seconds of '{name}', which is no test" for name in costs(SECONDS)
                   if name not in tests]
    ids = [point["id"] for point in points]
    complaints += [f"testpoint {name} is there twice" for name in sorted({i for i in ids if ids.count(i) > 1})]
    for point in points:
        if not point.get("promise") or not point.get("tests"):
            complaints.append(f"testpoint {point['id']} needs a promise and tests")
        if ("bins" in point) != isinstance(point.get("goal"), int) or not 0 < point.get("goal", 1) <= 100:
            complaints.append(f"testpoint {point['id']}: bins and a goal from 1 to 100 go together")
        for entry in point.get("tests", []):
            found = matches(entry, tests)
            if not found:
                complaints.append(f"testpoint {point['id']}: no test matches {entry}")
            held |= found
            if wordy:
                print(f"{point['id']:<28} {entry:<40} {len(found)} tests")
    groups = {group["name"] for group in json.loads(BINS.read_text())["groups"]}
    named = [name for point in points for name in point.get("bins", [])]
    complaints += [f"there is no group of bins '{name}'" for name in sorted(set(named) - groups)]
    complaints += [f"group of bins '{name}' belongs to no testpoint" for name in sorted(groups - set(named))]
    complaints += [f"test '{name}' belongs to no testpoint" for name in sorted(tests.keys() - held)]
    for complaint in complaints:
        print(complaint)
    print(f"{len(points)} testpoints, {len(tests)} tests, {len(complaints)} complaints")
    return rtl.Exit.FAIL if complaints else rtl.Exit.PASS


if __name__ == "__main__":
    rtl.command("testplan.py", main)
