#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""generate.py refuses YAML that cannot be meant, and tells what is stale."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
GENERATE = HERE.parents[2] / "cmodel/spec/generate.py"
FAULTS = [  # file, text, replacement, what the message says
    ("streams.yaml", "{name: top, width: 5}", "{name: top, with: 5}", "unknown key 'with'"),
    ("streams.yaml", "{name: top, width: 5}", "{name: top, width: Foo}", "unknown constant Foo"),
    ("streams.yaml", "{name: top, width: 5}", "{name: huge, width: 5}", "field listed twice"),
    ("streams.yaml", "enum: color_e}", "enum: colour_e}", "unknown enum 'colour_e'"),
    ("streams.yaml", "Blue: 6", "Blue: 8", "8 does not fit 3 bits"),
    ("streams.yaml", "Blue: 6", "On: 6", "put it in quotes"),
    ("streams.yaml", "struct: sample_t}", "struct: example_t}", "unknown struct 'example_t'"),
    ("presets.yaml", "large: 64", "large: 65", "large = 65 is outside 1..64"),
    ("csr.yaml", "lsb: 4, width: 3", "lsb: 0, width: 3", "overlaps another field"),
    ("csr.yaml", "reset: 5", "reset: 9", "reset 9 does not fit 3 bits"),
    ("csr.yaml", "offset: 0x020", "offset: 0x004, stride: 4", "address 0x10 is already CTRL"),
    ("csr.yaml", "access: ro", "access: read", "access 'read' is unknown"),
    ("bugs.yaml", "number: 8", "number: 7", "number 7 belongs to bit-missing"),
    ("bugs.yaml", "number: 8", "number: 256", "number 256 is out of range"),
    ("bugs.yaml", "preset: large", "preset: huge", "unknown preset 'huge'"),
    ("headers.yaml", "{name: rqmsn, width: 16", "{name: rqmsn, width: 15", "the fields are 31 bits, the header 32"),
]


def run(spec, root, *more):
    return subprocess.run([sys.executable, str(GENERATE), "--spec", str(spec), "--root", str(root), *more],
                          capture_output=True, text=True, check=False)


def main():
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        base = pathlib.Path(folder)
        for number, (name, text, replacement, message) in enumerate(FAULTS):
            spec = base / f"spec{number}"
            shutil.copytree(HERE, spec)
            old = (spec / name).read_text(encoding="utf-8")
            new = old.replace(text, replacement, 1)
            (spec / name).unlink()
            (spec / name).write_text(new, encoding="utf-8")
            result = run(spec, base / "out")
            if old == new or result.returncode != 3 or message not in result.stderr or name not in result.stderr:
                print(f"{name}: '{replacement}': exit {result.returncode}, expected 3 and '{message}'\n{result.stderr}")
                wrong += 1
        root = base / "fresh"
        assert run(HERE, root).returncode == 0
        assert run(HERE, root, "--check").returncode == 0
        victim = root / "cmodel/gen/streams.hpp"
        victim.write_text(victim.read_text(encoding="utf-8") + "\n", encoding="utf-8")
        result = run(HERE, root, "--check")
        if result.returncode != 1 or "stale: cmodel/gen/streams.hpp" not in result.stdout:
            print(f"a stale file was not named: exit {result.returncode}\n{result.stdout}")
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
