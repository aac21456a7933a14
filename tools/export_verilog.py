#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""mrc export-verilog: one preset as plain Verilog, hierarchy and memories kept, in one file."""
import argparse
import os
import sys
import tempfile
from pathlib import Path

import rtl


def main():
    parser = rtl.Parser(prog="mrc export-verilog", description=__doc__,
                        examples=("mrc export-verilog --preset tiny -o out   out/mrc_nic_tiny.v",))
    parser.add_argument("--preset", default="tiny", help="asic800, fpga100 or tiny (default tiny)")
    parser.add_argument("-o", "--out", default=".", help="folder for mrc_nic_<preset>.v (default: here)")
    parser.add_argument("--top", help="export this module of the given files instead of the NIC")
    parser.add_argument("files", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()

    top = options.top or rtl.top_module(options.preset)
    files = options.files if options.top else rtl.sources(options.preset)
    folder = Path(options.out).resolve()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        scratch = tempfile.TemporaryDirectory(dir=folder, prefix=".export-")
    except OSError as error:
        rtl.fail(f"cannot write into {folder}: {error.strerror}.", "Name a folder you may write to with -o.")
    with scratch:
        # proc gives x to branches that are never taken; opt_muxtree takes them out. Left in, they come out in a
        # simulator of four states wherever a select is X, though both of its other branches are the same.
        script = (f"{rtl.READ_SLANG} --keep-hierarchy --ignore-assertions --top {top} {' '.join(files)};"
                  f" proc; opt_expr; opt_muxtree; bwmuxmap; opt_reduce; opt_expr; opt_clean; check -assert;"
                  f" write_verilog -noattr {top}.v")
        code, log = rtl.yosys(files, script, scratch.name)
        if code != 0:
            print(log, file=sys.stderr)
            rtl.fail(f"Yosys could not export {top}.", "'mrc lint' says more about the RTL.")
        target = folder / f"{top}.v"
        os.replace(Path(scratch.name) / f"{top}.v", target)
    print(f"{target}: {target.stat().st_size // 1024} KiB of Verilog, top module {top}")
    return rtl.Exit.PASS


if __name__ == "__main__":
    rtl.command("mrc export-verilog", main)
