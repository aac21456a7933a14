#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""stands_on.py LIBRARY --on LIBRARY ... --not LIBRARY ...: what a static library needs of this project comes from
itself and those it may stand on, nothing from those it must not."""
import argparse
import subprocess
import sys


def symbols(library, undefined):
    flag = "--undefined-only" if undefined else "--defined-only"
    text = subprocess.run(["nm", "-A", flag, library], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1] for line in text.splitlines() if line.split()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--on", nargs="+", default=[])
    parser.add_argument("--not", dest="never", nargs="+", default=[])
    args = parser.parse_args()
    needs = symbols(args.library, True) - symbols(args.library, False)
    given = set().union(*(symbols(library, False) for library in args.on))
    bad = [(name, library) for library in args.never for name in sorted((needs - given) & symbols(library, False))]
    bad += [(name, "nobody it may stand on") for name in sorted(needs - given) if name.startswith(("_ZN3mrc", "_ZNK3mrc"))]
    for name, where in bad:
        print(f"{args.library} needs {name} of {where}")
    print(f"{len(needs)} symbols needed, {len(needs & given)} of them of this project")
    return 1 if bad or not needs & given else 0


if __name__ == "__main__":
    sys.exit(main())
