#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""mrc lint: the RTL of every preset through Verilator, slang and Yosys; with --cpp the C++ sources."""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import rtl
import tidy

VERILATOR_WAIVERS = ["rtl/lint/verilator.vlt"]
SLANG_WAIVERS = ["rtl/lint/slang.toml"]
CPP_FOLDERS = ("cli", "cmodel", "fuzz", "libmrc", "sim", "tb", "tests")
UNDRIVEN = re.compile(r"connect \\A [^\n]*\d'[01]*x[01x]*[^\n]*\n\s*connect \\Y ([^\n]*)")


def verilator(files, top, waivers, values=()):
    return rtl.run(["verilator", "--lint-only", "-Wall", f"+incdir+{rtl.HEADERS}", *(f"-G{value}" for value in values), *waivers,
                    *files, "--top-module", top])


def slang_and_yosys(files, top, waivers, values=()):
    """slang elaborates flat, so that a loop or an undriven net across modules shows too.

    What nobody drives, slang connects to x through a $buf before Yosys can miss a driver: these
    cells are dumped and searched here.
    """
    waive = " ".join(f"--waiver-file {name}" for name in waivers)
    given = " ".join(f"-G {value}" for value in values)
    script = (f"{rtl.READ_SLANG} --no-proc -Wextra {waive} {given} --top {top} {' '.join(files)};"
              " dump -o bufs.il t:$buf; proc; opt_clean; check -assert -nolatches")
    with tempfile.TemporaryDirectory() as out:
        code, log = rtl.yosys([*waivers, *files], script, out)
        dump = Path(out) / "bufs.il"
        undriven = UNDRIVEN.findall(dump.read_text()) if dump.exists() else []
    # Part of the RTL need not have what the waivers of all of it are for.
    log = re.sub(r"warning: \d+ unused waiver[^\n]*", "", log) if not top.startswith("mrc_nic") else log
    log += "".join(f"\nwarning: nobody drives {net.strip()}" for net in undriven)
    return code, log


def slang_with_assertions(files, top, waivers):
    """What synthesis does not see (rtl/lib/mrc_assert.svh), as assert statements."""
    waive = " ".join(f"--waiver-file {name}" for name in waivers)
    return rtl.yosys([*waivers, *files], f"{rtl.READ_SLANG} --no-synthesis-define --ast-compilation-only -Wextra {waive}"
                                         f" --top {top} {' '.join(files)}")


def cpp_files(*endings):
    """Our C++ sources; generated ones look as their generator wants."""
    return sorted(str(path.relative_to(rtl.ROOT)) for folder in CPP_FOLDERS for path in (rtl.ROOT / folder).rglob("*")
                  if path.suffix in endings and "gen" not in path.relative_to(rtl.ROOT).parts)


def clang_format():
    return rtl.run(["clang-format", "--dry-run", "--Werror", *cpp_files(".cpp", ".hpp", ".h")])


def clang_tidy():
    """With the analyzer; tools/tidy.py alone is what CI runs. Some sources include what Verilator writes."""
    if builder := os.environ.get("MRC_BUILD"):
        if subprocess.run([builder, "fast", "mrc", "tiny"], check=False).returncode:
            sys.exit(rtl.Exit.USAGE)
    return tidy.check(analyzer=True)


def main():
    parser = rtl.Parser(prog="mrc lint", description=__doc__,
                        examples=("mrc lint --preset tiny               one preset",
                                  "mrc lint --format                    C++ by clang-format alone, seconds",
                                  "mrc lint --top my_block my_block.sv  a module of yours"))
    parser.add_argument("--preset", action="append", help="only this preset (asic800, fpga100, tiny)")
    parser.add_argument("--cpp", action="store_true", help="check the C++ sources instead: clang-format, clang-tidy and its analyzer")
    parser.add_argument("--format", action="store_true", help="check the C++ sources with clang-format only")
    parser.add_argument("--top", help="lint this module of the given files instead of the NIC")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="with --top: a parameter of it")
    parser.add_argument("--house", action="store_true", help="with --top: apply the waivers of this project there, too")
    parser.add_argument("files", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()

    steps = rtl.Steps()
    if options.cpp or options.format:
        steps.check("clang-format", clang_format)
        if options.cpp:
            steps.check("clang-tidy", clang_tidy)
    else:
        designs = [(options.top, rtl.listed(options.files), *((VERILATOR_WAIVERS, SLANG_WAIVERS) if options.house else ([], [])))
                   ] if options.top else [
            (rtl.top_module(preset), rtl.sources(preset), VERILATOR_WAIVERS, SLANG_WAIVERS)
            for preset in options.preset or rtl.PRESETS]
        for top, files, verilator_waivers, slang_waivers in designs:
            steps.check(f"{top}: verilator -Wall", lambda: verilator(files, top, verilator_waivers, options.set))
            steps.check(f"{top}: slang, yosys check", lambda: slang_and_yosys(files, top, slang_waivers, options.set))
            if not options.top:
                steps.check(f"{top}: slang with assertions", lambda: slang_with_assertions(files, top, slang_waivers))
    return rtl.Exit.FAIL if steps.failed else rtl.Exit.PASS


if __name__ == "__main__":
    rtl.command("mrc lint", main)
