#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Names and layers as CTest reads them, results from a JUnit file, the sum of runs, and which tests last."""
import contextlib
import io
import json
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import testplan  # noqa: E402

JUNIT = """<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="x" tests="3"><testcase name="a/b" time="2.5" status="run"/>
<testcase name="c" time="0" status="fail"><failure message=""/></testcase>
<testcase name="d" time="0" status="notrun"><skipped/></testcase></testsuite>
"""


def summed(code, files):
    with contextlib.redirect_stdout(io.StringIO()) as said:
        ended = int(testplan.count(code, files))
    return ended, said.getvalue().splitlines()[-1]


def main():
    house, nightly = (re.compile(testplan.expression(layer)) for layer in ("house", "nightly"))
    assert house.search("tidy/Cpp_sources_that_have_changed") and nightly.search("tidy/all_Cpp_sources")
    assert not house.search("test_wire/docs/a_name_that_only_looks_like_it") and not nightly.search("tidy/all_cpp_sources")
    assert testplan.wrong_names(["a/b_c-d.md", "test_tb/x"]) == []
    assert testplan.wrong_names(["a b", "x", "y", "x"]) == ["test 'a b': a name has letters, digits and ./_- alone",
                                                            "two tests are called x"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "junit.xml").write_text(JUNIT)
        found = testplan.results(folder / "junit.xml")
        assert [row["result"] for row in found] == ["pass", "fail", "skipped"] and found[0]["seconds"] == 2.5, found
        good, bad, gone, empty = (folder / f"{name}.json" for name in ("good", "bad", "gone", "empty"))
        good.write_text(json.dumps({"tests": found[:1]}))
        bad.write_text(json.dumps({"tests": found}))
        empty.write_text(json.dumps({"tests": []}))
        for code, files, ended, line in [(0, [good, good], 0, "2 passed, 0 failed, 0 skipped"),
                                         (1, [good], 1, "1 passed, 0 failed, 0 skipped"),
                                         (0, [good, bad], 1, "2 passed, 1 failed, 1 skipped"),
                                         (0, [good, gone], 1, "1 passed, 0 failed, 0 skipped"),
                                         (0, [empty], 1, "0 passed, 0 failed, 0 skipped")]:
            assert summed(code, files) == (ended, line), (code, files, summed(code, files))
        # The list of costs: the longest first, what is short or has failed not at all, what was known before stays.
        costs = folder / "seconds.txt"
        costs.write_text("z 1 9\na/b 1 7\n---\n")
        testplan.seconds([bad], costs)
        assert costs.read_text() == "z 1 9\na/b 1 2\n---\n", costs.read_text()
    print("names, layers, results, sums and costs as by hand")


if __name__ == "__main__":
    main()
