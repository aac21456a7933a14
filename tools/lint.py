#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""mrc lint: the RTL of every preset through Verilator, slang and Yosys; with --cpp the C++ sources."""
import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import rtl

VERILATOR_WAIVERS = "rtl/lint/verilator.vlt"
SLANG_WAIVERS = "rtl/lint/slang.toml"
UNDRIVEN = re.compile(r"connect \\A [^\n]*\d'[01]*x[01x]*[^\n]*\n\s*connect \\Y ([^\n]*)")


def verilator(files, top):
    return rtl.run(["verilator", "--lint-only", "-Wall", VERILATOR_WAIVERS, *files, "--top-module", top])


def slang_and_yosys(files, top):
    """slang elaborates flat, so that a loop or an undriven net across modules shows too.

    What nobody drives, slang connects to x through a $buf before Yosys can miss a driver: these
    cells are dumped and searched here.
    """
    script = (f"read_slang --threads 1 --no-proc -Wextra --waiver-file {SLANG_WAIVERS} --top {top}"
              f" {' '.join(files)}; dump -o bufs.il t:$buf; proc; opt_clean; check -assert -nolatches")
    with tempfile.TemporaryDirectory() as out:
        code, log = rtl.yosys([SLANG_WAIVERS, *files], script, out)
        dump = Path(out) / "bufs.il"
        undriven = UNDRIVEN.findall(dump.read_text()) if dump.exists() else []
    log += "".join(f"\nwarning: nobody drives {net.strip()}" for net in undriven)
    return code, log


def tracked(*patterns):
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", *patterns], cwd=rtl.ROOT,
                            text=True, check=True, stdout=subprocess.PIPE).stdout
    return [name for name in listed.splitlines() if "/gen/" not in name]


def clang_format():
    return rtl.run(["clang-format", "--dry-run", "--Werror", *tracked("*.cpp", "*.hpp", "*.h")])


def clang_tidy():
    database = rtl.ROOT / "build/fast/compile_commands.json"
    if not database.exists():
        rtl.fail("there is no compile_commands.json.", "Run './mrc --version' first; it configures the build.")
    known = {entry["file"] for entry in json.loads(database.read_text())}
    files = [name for name in tracked("*.cpp") if str(rtl.ROOT / name) in known]
    return rtl.run(["xargs", "-a", "/dev/null"]) if not files else rtl.run(
        ["sh", "-c", 'printf "%s\\n" "$@" | xargs -P "$(nproc)" -n 1 clang-tidy --quiet -p build/fast 2>/dev/null',
         "tidy", *files])


def main():
    parser = rtl.Parser(prog="mrc lint", description=__doc__)
    parser.add_argument("--preset", action="append", help="only this preset (asic800, fpga100, tiny)")
    parser.add_argument("--cpp", action="store_true", help="check the C++ sources instead: clang-format, clang-tidy")
    parser.add_argument("--format", action="store_true", help="check the C++ sources with clang-format only")
    parser.add_argument("--top", help="lint this module of the given files instead of the NIC")
    parser.add_argument("files", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()

    steps = rtl.Steps()
    if options.cpp or options.format:
        steps.check("clang-format", clang_format)
        if options.cpp:
            steps.check("clang-tidy", clang_tidy)
    else:
        designs = [(options.top, options.files)] if options.top else [
            (rtl.top_module(preset), rtl.sources(preset)) for preset in options.preset or rtl.PRESETS]
        for top, files in designs:
            steps.check(f"{top}: verilator -Wall", lambda: verilator(files, top))
            steps.check(f"{top}: slang, yosys check", lambda: slang_and_yosys(files, top))
    return 1 if steps.failed else 0


if __name__ == "__main__":
    sys.exit(main())
