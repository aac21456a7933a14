# SPDX-License-Identifier: Apache-2.0
"""Blocks of a preset that stand in for the RTL: what slang reads of each, and devices in which some are netlists."""
import hashlib
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import fpga
import netlist
import rtl

PRESET = "tiny"
CACHE = rtl.ROOT / "build/blocks"
PORT = re.compile(r"^  wire (?:width (\d+) )?(?:offset \d+ )?(input|output|inout) \d+ \\(\S+)$", re.M)
MODULE = re.compile(r"^module\s+(\w+).*?^\);$", re.M | re.S)
UNPACKED = re.compile(r"^\s*(input|output)\s+(\w+(?:\s*\[[^]]*\])*)\s+(\w+)\s*\[0:([^]]*)\]", re.M)


def key_of(*parts):
    words = hashlib.sha256()
    for part in parts:
        words.update(part if isinstance(part, bytes) else str(part).encode())
        words.update(b"\0")
    return words.hexdigest()[:24]


class Block:
    """One block: its module in the RTL, the text that slang made of it and what is below it, its ports."""

    def __init__(self, name, top, text):
        self.name, self.top, self.text = name, top, text
        own = fpga.split(text)[top]
        self.ports = [(port, int(width or 1), direction) for width, direction, port in PORT.findall(own)]

    @property
    def key(self):
        return key_of(self.name, self.text, (rtl.ROOT / "tools/yosys/package-lock.json").read_bytes())

    def run(self, script):
        """What a Yosys script makes of this block alone: {name: text} of the files that it writes."""
        with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
            folder = Path(scratch)
            source = folder / "block.il"
            source.write_text(self.text)
            out = folder / "out"
            out.mkdir()
            there = str(source.relative_to(rtl.ROOT))
            code, log = fpga.run_yosys(f"read_rtlil {there}; hierarchy -top {self.top}; {script}", [there], out)
            if code:
                rtl.fail(f"Yosys could not make a netlist of {self.name}: {netlist.last_error(log)}.",
                         f"Leave it out with --blocks, or mend the RTL; 'mrc lint' says more about it.")
            return {path.name: path.read_text() for path in out.iterdir() if path.is_file()}

    def shell(self, source, inner, unconnected=(), more="", pins=()):
        """A module with the name, parameters and ports of the RTL's, which holds the netlist, module inner, and nothing else.
        A struct goes into the netlist as one vector; the first element of an unpacked array is its highest part."""
        text = source.read_text(encoding="utf-8")
        found = next((found for found in MODULE.finditer(text) if found[1] == self.name), None)
        if not found:
            rtl.fail(f"{source.relative_to(rtl.ROOT)}: the head of module {self.name} does not end in a line ');'.",
                     "Write its ports as those of the other blocks are written.")
        arrays = {name: (direction, kind, last) for direction, kind, name, last in UNPACKED.findall(found[0])}
        lines, connections = [], [*pins]
        for name, width, direction in self.ports:
            if name in unconnected:
                continue
            if direction == "inout" or (name in arrays and arrays[name][0] == "output"):
                rtl.fail(f"{self.name}: port {name} is {'an output array' if name in arrays else 'an inout'}, for which there"
                         " is no way into a netlist.", "Leave the block out with --blocks.")
            if name in arrays:
                _, kind, last = arrays[name]
                lines += [f"  wire [{width - 1}:0] flat_{name};",
                          f"  for (genvar k = 0; k <= {last}; k++) begin : gen_flat_{name}",
                          f"    assign flat_{name}[(({last}) - k) * $bits({kind}) +: $bits({kind})] = {name}[k];",
                          "  end"]
                connections.append(f".{name}(flat_{name})")
            else:
                lines += [f"  if ($bits({name}) != {width}) begin : gen_width_{name}",
                          f'    $error("%m: port {name} of the netlist has {width} bits");', "  end"]
                connections.append(f".{name}({name})")
        return "\n".join(["// Made by tools/blocks.py.", found[0], *lines, more,
                          f"  {inner} u_netlist (", "      " + ",\n      ".join(connections), "  );", "endmodule", ""])


class Blocks:
    """The blocks of preset tiny, read by slang once for each state of the RTL."""

    def __init__(self):
        self.files = rtl.sources(PRESET)
        self.top = rtl.top_module(PRESET)
        CACHE.mkdir(parents=True, exist_ok=True)
        read = CACHE / (key_of(*[(rtl.ROOT / file).read_bytes() for file in self.files], netlist.READ,
                               (rtl.ROOT / "tools/yosys/package-lock.json").read_bytes()) + ".il")
        if not read.exists():
            fpga.write_whole(read, self.read().encode())
        self.modules = fpga.split(read.read_text())
        root = f"{self.top}.u_nic"
        self.blocks = {}
        for name in self.modules:
            block, _, path = name.partition("$")
            inside = path[len(root) + 1:]
            if path.startswith(root + ".") and "." not in re.sub(r"^gen_\w+\[\d+\]\.", "", inside):
                self.blocks.setdefault(block, name)  # lanes differ in nothing but pins: one stands for all

    def read(self):
        steps = netlist.READ.format(options="", top=self.top, files=" ".join(self.files))
        with tempfile.TemporaryDirectory() as scratch:
            code, log = fpga.run_yosys(f"{steps}; write_rtlil all.il", self.files, scratch)
            if code:
                rtl.fail(f"Yosys could not read the RTL: {netlist.last_error(log)}.", "'mrc lint' says more about the RTL.")
            return (Path(scratch) / "all.il").read_text()

    def choose(self, words):
        """The blocks that --blocks names, all without it; mrc_ may be left out."""
        names = [name for word in words or [] for name in word.split(",")]
        for name in names:
            if name not in self.blocks and f"mrc_{name}" not in self.blocks:
                rtl.fail(f"unknown block '{name}'.", f"Choose one of {', '.join(sorted(self.blocks))}.")
        chosen = [name if name in self.blocks else f"mrc_{name}" for name in names] or list(self.blocks)
        return [self.block(name) for name in dict.fromkeys(chosen)]

    def block(self, name):
        top = self.blocks[name]
        path = top.partition("$")[2]
        below = [text for other, text in self.modules.items()
                 if other == top or other.partition("$")[2].startswith(path + ".")]
        return Block(name, top, "".join(below))

    def source(self, name):
        return rtl.ROOT / next(file for file in self.files if Path(file).stem == name)


def device(blocks, swapped, optimize, jobs):
    """The shared object of tiny with blocks replaced: {block: Verilog that stands for its file}. Kept by its contents."""
    files = [file for file in blocks.files if Path(file).stem not in swapped]
    project = [rtl.ROOT / name for name in ("tools/swapped/CMakeLists.txt", "cmake/verilated.cmake", "cmake/verilate.cmake",
                                            "tb/dut/verilated_dut.cpp", "tb/dut/verilated_hooks.h", "api/mrc_dut.h")]
    project = [path for path in project if path.exists()]
    key = key_of(PRESET, optimize, json.dumps(swapped, sort_keys=True), inspect.getsource(device),
                 *[(rtl.ROOT / file).read_bytes() for file in files], *[path.read_bytes() for path in project],
                 *[path.read_bytes() for path in sorted((rtl.ROOT / rtl.HEADERS).glob("*.svh"))])
    made = CACHE / f"{key}.so"
    if made.exists():
        return made
    folder = CACHE / f"{key}.build"
    folder.mkdir(exist_ok=True)
    for name, text in swapped.items():
        (folder / f"{name}.v").with_suffix(".sv").write_text(text)
    (folder / "sources.f").write_text("\n".join(
        [f"+incdir+{rtl.ROOT / rtl.HEADERS}", str(rtl.ROOT / "rtl/lint/verilator.vlt"),
         *[str(folder / f"{Path(file).stem}.sv") if Path(file).stem in swapped else str(rtl.ROOT / file)
           for file in blocks.files]]) + "\n")
    log = folder / "build.log"
    for command in (["cmake", "-S", rtl.ROOT / "tools/swapped", "-B", folder / "cmake", "-G", "Ninja",
                     "-DCMAKE_BUILD_TYPE=None", f"-DMRC_SOURCES={folder / 'sources.f'}", f"-DMRC_PRESET={PRESET}",
                     f"-DMRC_OPT={optimize}", f"-DMRC_LAUNCHER={shutil.which('ccache') or ''}"],
                    ["cmake", "--build", folder / "cmake", "--parallel", str(jobs)]):
        with log.open("w") as out:
            if subprocess.run(list(map(str, command)), cwd=rtl.ROOT, stdout=out, stderr=subprocess.STDOUT, check=False).returncode:
                print(log.read_text()[-3000:], file=sys.stderr)
                rtl.fail(f"the device with {', '.join(swapped)} replaced cannot be built.", f"{log} says why.")
    os.replace(folder / "cmake/libmrc_dut_swapped.so", made)
    shutil.rmtree(folder)
    return made


def program():
    """The mrc that called us; else the one of the usual build."""
    return os.environ.get("MRC_EXE") or str(rtl.ROOT / "build/fast/bin/mrc")


def cosim(mrc, level, made, scenario, packets, seed, folder, environment=None, timeout=None):
    """One run of a device: in lockstep with the model (L0), or at L2 as the RTL that mrc finds beside itself. Returns (exit
    code, None when its time was over, and its JSON)."""
    result = Path(folder) / "run.json"
    result.unlink(missing_ok=True)
    how = ["--dut", made, "--dut-process", "shared", "--threads", 1, "--snapshots", "off", "--reports", folder] \
        if level == "L0" else ["--level", level, "--dut", "rtl"]
    command = [mrc, "cosim", "--preset", PRESET, *how, "--scenario", scenario, "--packets", packets, "--seed", seed,
               "--json", result]
    variables = {**os.environ, "MRC_ROOT": str(rtl.ROOT), **(environment or {})}
    variables.pop("MRC_BUILD", None)  # the device is built
    try:
        done = subprocess.run(list(map(str, command)), cwd=rtl.ROOT, capture_output=True, text=True, errors="replace",
                              check=False, timeout=timeout, env=variables)
    except subprocess.TimeoutExpired:
        return None, {}
    said = json.loads(result.read_text()) if result.exists() else {}
    return done.returncode, {**said, "words": done.stderr}
