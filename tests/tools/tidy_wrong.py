#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: tidy_wrong.py BUILD

Gives tools/tidy.py sources without and with mistakes, also in a header some folders deep, and expects what it tells;
and that it checks a file again when something it includes has changed, or when it has not passed."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from samples import TOOLS, in_folder, make, run, told  # noqa: E402

TOOL = TOOLS / "tidy.py"
HEADER = "#pragma once\ninline int twice(int x) { return 2 * x; }\n"
GOOD = {
    ".clang-tidy": (TOOLS.parent / ".clang-tidy").read_text(),
    "sim/a/b/deep.hpp": HEADER,
    "sim/one.cpp": '#include "a/b/deep.hpp"\nint one() { constexpr int kOne = 1; return twice(kOne); }\n',
    "sim/two.cpp": '#include "a/b/deep.hpp"\nint two(int x) { return twice(x); }\n',
}
# A sign that only a walk along the paths shows.
LATE = "int late(bool sure) {\n  int* p = nullptr;\n  int x = 1;\n  if (sure) p = &x;\n  return *p;\n}\n"


def main():
    wrong = 0
    with in_folder(GOOD) as folder:
        def tidy(*files, options=()):
            return run(TOOL, "--build", sys.argv[1], "--kept", folder / "kept", "--jobs", "2", *options,
                       *(folder / name for name in files))

        both = ("sim/one.cpp", "sim/two.cpp")
        wrong += told(0, *tidy(*both), ["2 files, 2 of them checked", "0 findings"])
        wrong += told(0, *tidy(*both), ["2 files, 0 of them checked"])
        wrong += told(0, *tidy(*both, options=["--again"]), ["2 files, 2 of them checked"])
        make(folder, {"sim/two.cpp": GOOD["sim/two.cpp"] + "// a comment may be NOLINT\n"})
        wrong += told(0, *tidy(*both), ["2 files, 1 of them checked"])
        # A header three folders deep, told once, and again: what has not passed is not kept.
        make(folder, {"sim/a/b/deep.hpp": HEADER + "inline int Four(int x) { return 2 * twice(x); }\n"})
        for _ in range(2):
            wrong += told(1, *tidy(*both), ["sim/a/b/deep.hpp:3:12: error: invalid case style for function 'Four'",
                                            "2 of them checked", "1 findings"])
        make(folder, {"sim/a/b/deep.hpp": HEADER})
        wrong += told(0, *tidy(*both), ["0 of them checked"])
        # Kinds of mistakes.
        for sentence, text in {
                "variable 'one' [readability-identifier-naming": "int f() { constexpr int one = 1; return one; }\n",
                "[bugprone-integer-division": "double f(int x) { return x / 2; }\n",
                "[modernize-use-nullptr": "int* f() { return 0; }\n",
                "[clang-diagnostic-error]": "int f() { return g(); }\n"}.items():
            make(folder, {"sim/x.cpp": text})
            wrong += told(1, *tidy("sim/x.cpp"), ["sim/x.cpp:1:", sentence, "1 findings"])
        # The analyzer: without it no finding; having passed without it is not enough for it.
        make(folder, {"sim/x.cpp": LATE})
        wrong += told(0, *tidy("sim/x.cpp"), ["1 files, 1 of them checked", "0 findings"])
        wrong += told(1, *tidy("sim/x.cpp", options=["--analyzer"]), ["[clang-analyzer-core.NullDereference"])
        wrong += told(0, *tidy("sim/two.cpp", options=["--analyzer"]), ["1 of them checked"])
    wrong += told(3, *run(TOOL, "/nowhere/x.cpp"), ["/nowhere/x.cpp is missing"])
    wrong += told(3, *run(TOOL, "--build", "/nowhere"), ["compile_commands.json is missing"])
    print(f"{wrong} runs went otherwise")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
