#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: uvm.py [UVM_SRC]

slang elaborates the judge's UVM package and its example, with a stub of UVM, or with the library in the folder UVM_SRC
(src of Accellera's uvm-core); a package with a wrong call, a wrong type, a wrong argument is refused."""
import shutil
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import rtl  # noqa: E402

SOURCES = ["bindings/sv/mrc_ref_pkg.sv", "bindings/uvm/mrc_ref_axis_if.sv", "bindings/uvm/mrc_ref_uvm_pkg.sv",
           "bindings/uvm/mrc_ref_uvm_example.sv"]
WRONG = {"mrc_ref_beat(judge,": "mrc_ref_beats(judge,", "item.plane = plane;": "item.port = plane;",
         "held(mrc_ref_finish(judge, 0));": "held(mrc_ref_finish(judge));"}


def lint(folder, library):
    """(good, what slang says) of SOURCES below `folder`, which is below ROOT."""
    files = [str(path.relative_to(ROOT)) for path in sorted(library.rglob("*.sv*"))]
    where = library.relative_to(ROOT)
    sources = [str((folder / name).relative_to(ROOT)) for name in SOURCES]
    code, log = rtl.yosys([*files, *sources],
                          f"read_slang --threads 1 -I {where} --ast-compilation-only --timescale 1ns/1ps -D UVM_NO_DPI"
                          f" --top mrc_ref_uvm_example {where}/uvm_pkg.sv {' '.join(sources)}")
    return code == 0, log


def main():
    with tempfile.TemporaryDirectory(dir=ROOT / "build", prefix="uvm-") as name:
        work = Path(name)
        library = HERE / "uvm"
        if len(sys.argv) > 1:
            library = work / "uvm"
            shutil.copytree(sys.argv[1], library)
        good, log = lint(ROOT, library)
        assert good, log
        for right, wrong in WRONG.items():
            for source in SOURCES:
                text = (ROOT / source).read_text(encoding="utf-8")
                (work / source).parent.mkdir(parents=True, exist_ok=True)
                (work / source).write_text(text.replace(right, wrong), encoding="utf-8")
            assert wrong in (work / SOURCES[2]).read_text(encoding="utf-8"), right
            good, log = lint(work, library)
            assert not good, f"nobody minds {wrong}"
    print("the UVM package is in order")


if __name__ == "__main__":
    main()
