# SPDX-License-Identifier: Apache-2.0
"""What the tests of conformance/ share: a small frame of checks, scripts from text."""
import os
import sys
import traceback

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "conformance"))

from mrcscript import compiler  # noqa: E402
from mrcscript.source import Source  # noqa: E402

HEAD = "id T-1\npurpose p\nmark S2\ncite mrc.md 6\ncaps responder requestor\nplanes 2\n"


def vectors_of(text, name="t.mrc"):
    return compiler.compile_source(Source(name, text))


def vector(body, head=HEAD):
    return vectors_of(head + body)[0]


def same(got, wanted, what=""):
    if got != wanted:
        raise AssertionError(f"{what}: got {got!r}, expected {wanted!r}")


def holds(condition, what):
    if not condition:
        raise AssertionError(what)


def run_tests(space):
    """Runs every test_* of a module's globals; exit code 1 if one fails."""
    failed = 0
    for name, test in list(space.items()):
        if name.startswith("test_") and callable(test):
            try:
                test()
            except Exception:  # a test may fail in any way
                failed += 1
                print(f"FAILED {name}")
                traceback.print_exc(limit=4)
    print("failed" if failed else "ok")
    sys.exit(1 if failed else 0)
