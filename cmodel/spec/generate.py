#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes every generated file of the repository from the YAML files beside this script.

usage: generate.py            write all outputs
       generate.py --check    write nothing; exit 1 and name the stale files
       generate.py --list     name all outputs
       --spec DIR, --root DIR read the YAML files and write the outputs elsewhere (used by tests)
"""
import argparse
import pathlib
import sys
import tempfile
import os

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

from gen import bins, stream_checks, bugs, conformance, crc, cpp, csr, docs, fabric_profiles, headers  # noqa: E402
from gen import nic_cpp, nic_docs, nic_sv, presets, reuse, rules, sv  # noqa: E402
from gen.model import Spec, SpecError  # noqa: E402
from gen.nic import Nic  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def outputs(folder, root):
    """Returns {path relative to the repository: text}."""
    crc.self_check()
    spec = Spec(folder)
    nic = Nic(spec)
    out = {
        "rtl/gen/mrc_pkg.sv": sv.package(spec, nic),
        "rtl/gen/mrc_stream_checks.sv": stream_checks.module(spec),
        "rtl/gen/mrc_csr_regs.sv": nic_sv.csr_regs(nic),
        "cmodel/gen/protocol.hpp": cpp.protocol(spec),
        "cmodel/gen/streams.hpp": cpp.streams(spec),
        "cmodel/gen/presets.hpp": presets.cpp(spec),
        "cmodel/gen/csr.hpp": csr.cpp(spec),
        "cmodel/gen/csr_values.hpp": nic_cpp.values(nic),
        "cmodel/gen/nic_pulses.hpp": nic_cpp.pulses(nic),
        "cmodel/gen/nic_blocks.hpp": nic_cpp.blocks(nic),
        "cmodel/gen/nic_streams.hpp": nic_cpp.streams(nic),
        "cmodel/gen/nic_flow.hpp": nic_cpp.flow(nic),
        "tb/gen/counters.hpp": nic_cpp.counters(nic),
        "tb/gen/switches.hpp": nic_cpp.switches(nic),
        "cmodel/gen/headers.hpp": headers.cpp(spec),
        "docs/reference/generated/csr.md": docs.csr(spec),
        "docs/reference/generated/streams.md": docs.streams(spec),
        "docs/reference/generated/presets.md": docs.presets(spec),
        "docs/reference/generated/bugs.md": bugs.page(spec),
        "tb/gen/bugs.hpp": bugs.cpp(spec),
        "cmodel/gen/bins.hpp": bins.cpp(spec),
        "tools/gen/bins.json": bins.table(spec),
        "docs/reference/generated/bins.md": bins.page(spec),
        "cmodel/gen/rules.hpp": rules.cpp(spec),
        "docs/reference/generated/rules.md": rules.page(spec),
        "docs/reference/generated/headers.md": docs.headers(spec),
        "cmodel/gen/fabric_profiles.hpp": fabric_profiles.cpp(spec),
        "docs/reference/generated/fabric_profiles.md": fabric_profiles.page(spec),
        "docs/reference/generated/nic.md": nic_docs.overview(nic),
        "tools/wireshark/mrc.lua": headers.lua(spec),
        "conformance/mrcscript/headers.json": conformance.wire(spec),
        "conformance/mrcscript/rules.json": conformance.rule_ids(spec),
    }
    out.update(presets.wrappers(spec))
    out.update(nic_sv.top(nic))
    out.update(nic_docs.pages(nic, root))
    if folder == HERE:
        out.update(reuse.outputs(spec, nic, root))
    return out


def write(path, text):
    """Replaces the file in one step, so that a reader never sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix="." + path.name)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(text)
    os.chmod(name, 0o644)
    os.replace(name, path)


class Parser(argparse.ArgumentParser):
    """Wrong use is exit code 3, as everywhere (tools/rtl.py)."""

    def error(self, message):
        print(f"generate.py: {message}; see --help", file=sys.stderr)
        sys.exit(3)


def main():
    parser = Parser(description="generate code and tables from cmodel/spec/*.yaml")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--check", action="store_true", help="write nothing, fail when a file is stale")
    group.add_argument("--list", action="store_true", help="print the names of all outputs")
    parser.add_argument("--spec", type=pathlib.Path, default=HERE, help="folder of the YAML files")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, help="folder the outputs belong under")
    args = parser.parse_args()
    try:
        out = outputs(args.spec, args.root)
    except SpecError as error:
        print(f"generate.py: {error}", file=sys.stderr)
        return 3
    if args.list:
        print("\n".join(sorted(out)))
        return 0
    stale = []
    for name, text in sorted(out.items()):
        path = args.root / name
        old = path.read_text(encoding="utf-8") if path.is_file() else None
        if old != text:
            stale.append(name)
            if not args.check:
                write(path, text)
    for preset in sorted((args.root / "rtl/gen").glob("mrc_nic_*.sv")):
        name = str(preset.relative_to(args.root))
        if name not in out:
            stale.append(name)
            if not args.check:
                preset.unlink()
    for name in stale:
        print(f"stale: {name}" if args.check else f"wrote {name}")
    if args.check and stale:
        print("run cmodel/spec/generate.py and commit the result", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
