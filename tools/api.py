#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""mrc api test: tests any lib_mrc.so against the headers of MRC's software interface (docs/guide/api_suite.md).
Each test is a process of its own. It checks one sentence: of the header, of libibverbs' manual, or of our reading where
both are silent."""
import collections
import os
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import rtl

EXAMPLES = ("mrc api test                                   our library over a host of its own",
            "mrc api test --only 'imm/*' --only 'fail/*'    two groups of tests",
            "mrc api test --endpoint fast --list            what the tests hold, without running them",
            "mrc api test --lib /opt/v/libv_mrc.so --junit v.xml   a vendor's, on the devices that it shows")
BASES = ("header", "verbs", "reading")
WORDS = {"pass": "passed", "fail": "failed", "skip": "skipped"}
FIELDS = ("name", "basis", "source", "sentence")


def built(target, name):
    """A program of ours beside the libraries, brought up to date where somebody builds."""
    builder = os.environ.get("MRC_BUILD")
    if builder and subprocess.run([builder, "fast", target], check=False).returncode != 0:
        sys.exit(rtl.Exit.USAGE)
    exe = Path(os.environ.get("MRC_EXE", rtl.ROOT / "build/fast/bin/mrc"))
    for folder in ("lib/mrcnic", "lib/*/mrcnic"):
        for found in exe.parent.parent.glob(f"{folder}/{name}"):
            return found
    return rtl.fail(f"{name} is missing beside {exe}.", f"Build it: ninja {target}.")


class Host:
    """`mrc host` for as long as the tests run; its log goes to a file, if somebody wants it."""

    def __init__(self, options, place):
        self.socket = str(Path(place) / "mrc/host")
        log = open(options.log, "w", encoding="utf-8") if options.log else subprocess.DEVNULL
        exe = os.environ.get("MRC_EXE", str(rtl.ROOT / "build/fast/bin/mrc"))
        self.process = subprocess.Popen([exe, "host", "--socket", self.socket, "--endpoint", options.endpoint or "model",
                                         "--preset", options.preset], stdout=subprocess.PIPE, stderr=log, text=True)
        if "programs attach at" not in self.process.stdout.readline():
            rtl.fail("mrc host does not come up.", "See its words with --log FILE.")

    def end(self):
        """Whether it ended as it should."""
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=60)
        return self.process.returncode == 0


def tests_of(suite, patterns, bases):
    listed = subprocess.run([suite, "--list", *patterns], capture_output=True, text=True, check=True).stdout
    rows = [dict(zip(FIELDS, line.split("\t"))) for line in listed.splitlines()]
    return [row for row in rows if row["basis"] in bases]


def run(suite, options, tests, environment):
    """Each test with its result, as it comes."""
    of_name = {test["name"]: test for test in tests}
    words = [suite, "--seconds", str(options.seconds)] + (["--devices", options.devices] if options.devices else [])
    with subprocess.Popen(words + list(of_name), env=environment, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            verdict, name, seconds, why = line.rstrip("\n").split("\t")
            yield of_name.pop(name) | {"result": WORDS[verdict], "seconds": float(seconds), "why": why}
    if process.returncode != 0 or of_name:
        rtl.fail(f"the suite ends with {process.returncode}, and {len(of_name)} tests have not run.",
                 "Does the library show a device that speaks MRC? Which ones, --devices says.")


def junit(file, results):
    seen = collections.Counter(row["result"] for row in results)
    suite = ElementTree.Element("testsuite", name="mrc api test", tests=str(len(results)), errors="0",
                                failures=str(seen["failed"]), skipped=str(seen["skipped"]))
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in rtl.versions().items():
        ElementTree.SubElement(properties, "property", name=name, value=str(value))
    for row in results:
        group, _, name = row["name"].partition("/")
        case = ElementTree.SubElement(suite, "testcase", classname=group, name=name, time=f"{row['seconds']:.3f}")
        stands = f"{row['sentence']} ({row['basis']}: {row['source']})"
        if row["result"] != "passed":
            ElementTree.SubElement(case, "failure" if row["result"] == "failed" else "skipped", message=row["why"]).text = stands
    ElementTree.indent(suite)
    Path(file).write_text(ElementTree.tostring(suite, "unicode", xml_declaration=True) + "\n", encoding="utf-8")


def show(results, quiet):
    for row in results:
        if row["result"] != "passed" or not quiet:
            print(f"{row['result']:<8}{row['name']:<58}{row['seconds']:7.2f} s", flush=True)
        if row["result"] == "failed":
            print(f"        {row['sentence']}\n        {row['basis']}: {row['source']}\n        {row['why']}", flush=True)
        elif row["result"] == "skipped":
            print(f"        {row['why']}", flush=True)
        yield row


def arguments():
    parser = rtl.Parser(prog="mrc api test", description=__doc__.split(": ", 1)[1], examples=EXAMPLES)
    parser.add_argument("test", choices=["test"], help="what there is to do: test")
    parser.add_argument("--lib", metavar="FILE", help="the library, instead of ours; its devices are those that it shows")
    parser.add_argument("--only", action="append", default=[], metavar="PATTERN",
                        help="tests whose name fits, as files fit in a shell: 'imm/*'; can be named several times")
    parser.add_argument("--basis", action="append", choices=BASES, help="tests that stand on this; can be named several times")
    parser.add_argument("--list", action="store_true", help="print what the tests hold, and run none")
    parser.add_argument("--devices", metavar="NAME[,NAME]", help="the devices of both ends; else the first two that speak MRC")
    parser.add_argument("--seconds", type=int, default=30, help="how long one test may take (30)")
    parser.add_argument("--endpoint", choices=["model", "rtl", "fast"],
                        help="NICs of a host that is started for it; model, unless --lib names a library or MRC_HOST a host")
    parser.add_argument("--preset", default="asic800", help="their sizes: asic800, fpga100, tiny (asic800)")
    parser.add_argument("--log", metavar="FILE", help="messages of that host about calls that it refuses")
    parser.add_argument("--quiet", action="store_true", help="say nothing of tests that pass")
    parser.add_argument("--json", metavar="FILE", help="results for scripts")
    parser.add_argument("--junit", metavar="FILE", help="results as JUnit XML")
    return parser.parse_args()


def main():
    options = arguments()
    for file in (options.json, options.junit):
        rtl.check_json(file)
    suite = built("mrc_api_suite", "mrc-api-suite")
    tests = tests_of(suite, options.only, options.basis or BASES)
    if not tests:
        rtl.fail("no test fits.", "mrc api test --list shows all.")
    if options.list:
        for test in tests:
            print(f"{test['name']}\n    {test['sentence']}\n    {test['basis']}: {test['source']}")
        print(f"{len(tests)} tests")
        return 0
    library = Path(options.lib).resolve() if options.lib else built("mrc_host", "lib_mrc.so")
    if not library.exists():
        rtl.fail(f"there is no {library}.", "Name the library with --lib.")
    environment = {**os.environ, "LD_PRELOAD": str(library), "LC_ALL": "C.UTF-8"}
    with tempfile.TemporaryDirectory() as place:
        host = None
        if options.endpoint or not (options.lib or "MRC_HOST" in os.environ):
            host = Host(options, place)
            environment["MRC_HOST"] = host.socket
        try:
            results = list(show(run(suite, options, tests, environment), options.quiet))
        finally:
            host_is_well = host is None or host.end()
    seen = collections.Counter(row["result"] for row in results)
    print(", ".join(f"{seen[word]} {word}" for word in WORDS.values()) + f": {library}")
    if options.json:
        rtl.write_json(options.json, {"library": str(library), "tests": results})
    if options.junit:
        junit(options.junit, results)
    if not host_is_well:
        print("the host of the NICs did not end as it should", file=sys.stderr)
    if seen["failed"] or not host_is_well:
        return rtl.Exit.FAIL
    return 0 if seen["passed"] else rtl.Exit.INCONCLUSIVE


rtl.command("mrc api test", main)
