#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: layout.py [FOLDER] [--against FACTS] [--cc CC]

What a compiler makes of mrc.h and mrc_ctl.h in FOLDER, for versions (1,0,0) and (1,0,1): sizes, offsets and types of
all structures, values of all enumerations and macros, types of all functions; a line each. With --against: what differs
from the lines of that file. Without FOLDER: the one that MRC_H_PATH names. Exit 1: something differs; 77: no folder, or
no libibverbs."""
import argparse
import difflib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

VERSIONS = ["1, 0, 0", "1, 0, 1"]
OURS = re.compile(r"_?(mrc_|MRC_)")
ENTRY = re.compile(r"<(\d+)><([0-9a-f]+)>: Abbrev Number: \d+ \(DW_TAG_(\w+)\)")
ATTRIBUTE = re.compile(r"<[0-9a-f]+>\s+DW_AT_(\w+)\s*: (.*)")


def compiled(cc, folder, version, text, more, output):
    """Compiles `text` behind both headers."""
    defines = [f"-D{name}API_VER_USED={name}API_VER({version})" for name in ("MRC_", "MRC_CTL_")]
    command = [cc, "-std=gnu11", "-w", "-I", str(folder), *defines, *more, "-x", "c", "-", "-o", str(output)]
    headers = "#include <stdio.h>\n#include <mrc.h>\n#include <mrc_ctl.h>\n"
    return subprocess.run(command, input=headers + text, text=True, check=True)


class Dwarf:
    """Types as the debug information of an object file has them."""

    def __init__(self, file):
        self.nodes, open_nodes = {}, []
        text = subprocess.run(["readelf", "--debug-dump=info", "--wide", str(file)], text=True, check=True,
                              stdout=subprocess.PIPE).stdout
        for line in text.splitlines():
            if entry := ENTRY.search(line):
                depth, offset, tag = int(entry[1]), int(entry[2], 16), entry[3]
                node = {"tag": tag, "children": []}
                self.nodes[offset] = node
                del open_nodes[depth:]
                if open_nodes:
                    open_nodes[-1]["children"].append(node)
                open_nodes.append(node)
            elif (attribute := ATTRIBUTE.search(line)) and open_nodes:
                open_nodes[-1][attribute[1]] = re.sub(r"^(\([^)]*\):? )+", "", attribute[2]).strip()

    @staticmethod
    def name(node):
        return node.get("name", "")

    def target(self, node):
        return self.nodes[int(node["type"].strip("<").split(">")[0], 16)] if "type" in node else None

    def type_name(self, node):
        if node is None:
            return "void"
        tag = node["tag"]
        if tag == "pointer_type":
            return self.type_name(self.target(node)) + "*"
        if tag == "const_type":
            return "const " + self.type_name(self.target(node))
        if tag == "array_type":
            bound = node["children"][0].get("upper_bound")
            return f"{self.type_name(self.target(node))}[{'' if bound is None else int(bound, 0) + 1}]"
        kind = {"structure_type": "struct ", "union_type": "union ", "enumeration_type": "enum "}.get(tag, "")
        return kind + (self.name(node) or "without a name")

    def members(self, node, prefix=""):
        """(path, offset, type) of each, those of nested structures too."""
        for member in node["children"]:
            if member["tag"] != "member":
                continue
            inside, path = self.target(member), prefix + "." + self.name(member)
            offset = int(member.get("data_member_location", "0").split()[0], 0)
            if inside["tag"] in ("structure_type", "union_type") and not self.name(inside):
                for below, more, kind in self.members(inside, path):
                    yield below, offset + more, kind
            else:
                yield path, offset, self.type_name(inside)

    def facts(self):
        for node in self.nodes.values():
            name = self.name(node)
            if not OURS.match(name):
                continue
            if node["tag"] == "structure_type" and "byte_size" not in node:
                yield f"struct {name};"
            elif node["tag"] in ("structure_type", "union_type"):
                yield f"struct {name}: {int(node['byte_size'], 0)} bytes"
                for path, offset, kind in self.members(node):
                    yield f"struct {name} {path}: at {offset}, {kind}"
            elif node["tag"] == "enumeration_type":
                yield f"enum {name}: {int(node['byte_size'], 0)} bytes"
            elif node["tag"] == "enumerator":
                yield f"{name} = {int(node['const_value'].split()[0], 0)}"
            elif node["tag"] == "typedef":
                yield f"typedef {self.type_name(self.target(node))} {name}"


def macros(cc, folder, version, work):
    """Values of the macros; of those with parameters, at 1, 2, 3."""
    listed = subprocess.run(
        [cc, "-E", "-dM", "-I", str(folder), f"-DMRC_API_VER_USED=MRC_API_VER({version})",
         f"-DMRC_CTL_API_VER_USED=MRC_CTL_API_VER({version})", "-include", "mrc.h", "-include", "mrc_ctl.h", "-x", "c",
         "/dev/null"], text=True, check=True, stdout=subprocess.PIPE).stdout
    text = ""
    for name, parameters, value in sorted(re.findall(r"#define (\w+)(\([^)]*\))? *(.*)", listed)):
        if not OURS.match(name) or not value:
            continue
        if value.startswith("((struct"):
            text += (f'{{ __auto_type v = {name}; unsigned char* at = (unsigned char*)&v; unsigned sum = 0;'
                     f'for (unsigned i = 0; i < sizeof v; ++i) sum += at[i];'
                     f'printf("{name}: %zu bytes, the sum of which is %u\\n", sizeof v, sum); }}')
        else:
            shown = name + ("(1, 2, 3)" if parameters else "")
            text += f'printf("{shown} = %lld\\n", (long long)({shown}));\n'
    program = work / "macros"
    compiled(cc, folder, version, "int main(void) {" + text + "}", [], program)
    return subprocess.run([program], text=True, check=True, stdout=subprocess.PIPE).stdout.splitlines()


def functions(text):
    for line in text.splitlines():
        declaration = re.sub(r"/\*.*?\*/", "", line).strip()
        if re.match(r"extern .*\bmrc_\w+ \(", declaration):
            yield re.sub(r"^extern ", "", declaration)


def facts(cc, folder):
    lines = []
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        for version in VERSIONS:
            compiled(cc, folder, version, "", ["-c", "-g", "-gdwarf-4", "-fno-eliminate-unused-debug-types",
                                               "-aux-info", str(work / "functions")], work / "object")
            found = {*Dwarf(work / "object").facts(), *macros(cc, folder, version, work),
                     *functions((work / "functions").read_text(encoding="utf-8"))}
            lines += [f"{version.replace(', ', '.')}  {fact}" for fact in sorted(found)]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=os.environ.get("MRC_H_PATH"))
    parser.add_argument("--against", type=Path)
    parser.add_argument("--cc", default="cc")
    options = parser.parse_args()
    if options.folder is None:
        print("skipped: MRC_H_PATH names no folder with OCP's mrc.h")
        return 77
    if subprocess.run([options.cc, "-E", "-x", "c", "-"], input="#include <infiniband/verbs.h>\n", text=True,
                      capture_output=True, check=False).returncode != 0:
        print("skipped: there is no infiniband/verbs.h; on Debian it is in libibverbs-dev")
        return 77
    lines = facts(options.cc, options.folder)
    if options.against is None:
        print("\n".join(lines))
        return 0
    wanted = options.against.read_text(encoding="utf-8").splitlines()
    differences = [line for line in difflib.unified_diff(wanted, lines, str(options.against), str(options.folder),
                                                         lineterm="", n=0)]
    print("\n".join(differences) if differences else f"{len(lines)} facts, all as in {options.against.name}")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
