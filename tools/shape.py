#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: shape.py [--list] [ROOT]

Reads the sources of the repository (or of the folder ROOT) and tells, with file and line:
- always blocks, functions and tasks of the RTL and functions of the C++ of more than 150 lines,
- modules of more than 44 ports; those of fpga/ have flat pins, for shells that take no structs, and are not counted,
- files of more than 900 lines,
- lines of the RTL of more than 100 columns,
- numbers in rtl/ that have a name in mrc_pkg: opcodes, reasons, syndromes and kinds, bytes of packets.

Generated files are not read. EXCEPTIONS names what may stay as it is, each with its reason; --list prints that too."""
import argparse
import re
from pathlib import Path

import rtl

HERE = Path(__file__).resolve()
BLOCK_LINES, PORTS, FILE_LINES, RTL_COLUMNS = 150, 44, 900, 100
SKIPPED = {"build", "third_party", "node_modules", "mrc-reports", "gen", "generated"}
SOURCES = {".cpp", ".hpp", ".h", ".sv", ".svh", ".py", ".j2", ".sh", ".yaml", ".toml", ".cmake", ".md"}
CPP, RTL = {".cpp", ".hpp", ".h"}, {".sv", ".svh"}

# {(rule, path): reason}
EXCEPTIONS = {
    ("ports", "rtl/tx/inflight/mrc_tx_inflight.sv"): "twelve streams, of three wires each by the rule of conventions.md",
    ("ports", "rtl/tx/segment/mrc_tx_segment.sv"): "the same",
    ("ports", "tests/rtl/unit_top.sv"): "shows the ports of all units that are tested alone",
}


class Finding:
    """Something that is too large."""

    def __init__(self, rule, path, line, words):
        self.rule, self.path, self.line, self.words = rule, path, line, words

    def __str__(self):
        return f"{self.path}:{self.line}: {self.words}"


def sources(root):
    """Paths below root, sorted; without builds, generated and hidden folders."""
    return rtl.files_below(root, SOURCES, SKIPPED)


LITERALS = re.compile(
    r'R"([^()\\ ]{0,16})\((?:.|\n)*?\)\1"'  # raw string
    r"|//[^\n]*|/\*(?:.|\n)*?\*/"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-zA-Z_])'(?:\\.|[^'\\\n])+'"  # a character, not the mark in 1'000
    r"|^[ \t]*#(?:[^\n\\]|\\.|\\\n)*",  # preprocessor, with its continued lines
    re.MULTILINE)


def blank(match):
    """As many lines, nothing to read."""
    return re.sub(r"[^\n]", " ", match.group())


def without_parentheses(text):
    """The text with what is between round and square brackets left out."""
    out, depth = [], 0
    for char in text:
        depth += char in "(["
        if depth == 0:
            out.append(char)
        depth -= char in ")]" and depth > 0
    return "".join(out)


def is_scope(head):
    """Does a brace behind this open a namespace or a type, whose functions are counted one by one?"""
    flat = re.sub(r"\b(template\s*<.*>|alignas|final)\b", " ", head)
    return re.search(r"\b(namespace|class|struct|union|extern)\b", without_parentheses(flat)) is not None \
        and not re.search(r"\)\s*(const|noexcept|override|final|\s)*$", head)


def is_function(head):
    """Does a brace behind this open the body of a function? Not that of a table, nor of an enum."""
    flat = without_parentheses(head.replace("operator()", "operator"))
    return "(" in head and not re.search(r"(?<!operator)(?<![=!<>])=(?!=)", flat.replace("operator=", "operator")) \
        and not re.match(r"\s*enum\b", head)


def name_of(head):
    """What to call the function: the last name in front of its arguments."""
    test = re.match(r"\s*([A-Z_]+)\(", head)
    if test and re.search(r"TEST_CASE|SCENARIO", test.group(1)):
        return test.group(1)
    found = re.search(r"([\w:~]+|operator\s*\S+?)\s*\(", head)
    return found.group(1) if found else "a function"


def functions(text):
    """(name, first line, lines) of the functions of a C++ source, nested ones within their outer one."""
    text = LITERALS.sub(lambda match: blank(match) if "\n" in match.group() or match.group()[0] != '"'
                        else '"' + " " * (len(match.group()) - 2) + '"', text)
    found, scopes = [], []  # scopes: True while inside namespaces and types
    begin, line, start_line = 0, 1, 1
    depth_of_body, head, body_line, fresh = 0, "", 0, True
    round_depth = 0
    for at, char in enumerate(text):
        if char == "\n":
            line += 1
        if depth_of_body:  # inside a function or a table: only count braces
            depth_of_body += (char == "{") - (char == "}")
            if depth_of_body == 0:
                rest = text[at + 1:at + 200].lstrip()
                if rest[:1] in (",", "{", ";", ")", "."):
                    continue  # a member's initialiser, or the end of a table: the head goes on
                if is_function(head):
                    found.append((name_of(head), body_line, line - body_line + 1))
                begin, fresh = at + 1, True
            continue
        if fresh and not char.isspace() and char not in ";}":
            begin, start_line, fresh = at, line, False
        round_depth += (char == "(") - (char == ")")
        if char == "{":
            head = text[begin:at]
            if round_depth == 0 and is_scope(head) and "=" not in without_parentheses(head):
                scopes.append(True)
                fresh = True
            else:
                depth_of_body, body_line = 1, start_line
        elif char == "}":
            if scopes:
                scopes.pop()
            fresh = True
        elif char == ";" and round_depth == 0:
            fresh = True
        elif char == ":" and re.fullmatch(r"\s*(public|private|protected)\s*", text[begin:at]):
            fresh = True
    return found


def without_comments(text):
    """RTL without comments and texts, line for line."""
    return re.sub(r'//[^\n]*|/\*(?:.|\n)*?\*/|"(?:\\.|[^"\\\n])*"', blank, text)


WORDS = re.compile(r"\b(always_comb|always_ff|always_latch|always|begin|end|function|endfunction|task|endtask)\b")


def rtl_blocks(text):
    """(name, first line, lines) of always blocks, functions and tasks."""
    found, text = [], without_comments(text)
    start, depth, kind = None, 0, None
    for match in WORDS.finditer(text):
        word, line = match.group(), text.count("\n", 0, match.start()) + 1
        if kind is None:
            if word.startswith("always"):
                head = re.match(r"\s*(@\s*(\([^()]*\)|\*))?\s*begin\b", text[match.end():])
                if head:
                    kind, start, depth = word, line, 0
            elif word in ("function", "task"):
                kind, start = word, line
        elif kind in ("function", "task"):
            if word == "end" + kind:
                found.append((kind, start, line - start + 1))
                kind = None
        else:
            depth += (word == "begin") - (word == "end")
            if depth == 0:
                found.append((kind, start, line - start + 1))
                kind = None
    return found


def balanced(text, at):
    """The place behind the parenthesis that closes the one at `at`."""
    depth = 0
    for place in range(at, len(text)):
        depth += (text[place] == "(") - (text[place] == ")")
        if depth == 0:
            return place + 1
    return len(text)


def ports(text):
    """(module, line, ports) of the modules of a file; a name without a direction has that of the one before it."""
    text = re.sub(r"\bimport\b[^;]*;", blank, without_comments(text))
    found = []
    for match in re.finditer(r"\bmodule\s+(\w+)\s*", text):
        at = match.end()
        if text[at:at + 1] == "#":
            at = balanced(text, text.index("(", at))
            at += len(text[at:]) - len(text[at:].lstrip())
        if text[at:at + 1] != "(":
            continue
        listed = without_parentheses(text[at + 1:balanced(text, at) - 1])
        count = sum(1 for name in listed.split(",") if name.strip())
        found.append((match.group(1), text.count("\n", 0, match.start()) + 1, count))
    return found


# A field compared with a number other than 0, or in a list of such, or set to one, also behind ? and :.
CODE = re.compile(r"\b(opcode|reason|syndrome|kind)(?:_[qdi])?(?:\s*\[[^\]]*\])?\s*"
                  r"(?:[=!]==?|[<>]=?|inside\s*\{[^}]*?|(?:=(?!=)|<=|:)(?:[^;,&|]*?[?:])?)\s*\d+'[hdb]0*[1-9a-fA-F]")
# x[8*13+:24] of bytes that came or go by the wire: a field of hdr_*_t, or a ...Byte constant.
BYTES = re.compile(r"\b(\w+)\s*\[\s*(?:8\s*\*\s*\d+\b(?!')|\d+\s*\*\s*8\b)[^\]]*\]")


def numbers(text):
    """(what, line) of codes and bytes of the wire that an RTL source has by number."""
    text = without_comments(text)
    for pattern, words in ((CODE, "{} by number, not by its name"), (BYTES, "bytes of {} by number, not by a field")):
        for match in pattern.finditer(text):
            yield words.format(match.group(1)), text.count("\n", 0, match.start()) + 1


def findings(root):
    """Everything that is too large."""
    for path in sources(root):
        name, text = str(path.relative_to(root)), path.read_text(encoding="utf-8", errors="replace")
        lines = text.count("\n")
        if lines > FILE_LINES:
            yield Finding("file", name, 1, f"a file of {lines} lines, at most {FILE_LINES}")
        blocks = functions(text) if path.suffix in CPP else rtl_blocks(text) if path.suffix in RTL else []
        for what, line, size in blocks:
            if size > BLOCK_LINES:
                yield Finding("block", name, line, f"{what} of {size} lines, at most {BLOCK_LINES}")
        if path.suffix not in RTL:
            continue
        for module, line, count in ports(text) if not name.startswith("fpga/") else ():
            if count > PORTS:
                yield Finding("ports", name, line, f"{module} has {count} ports, at most {PORTS}")
        for number, line in enumerate(text.split("\n"), 1):
            if len(line) > RTL_COLUMNS:
                yield Finding("columns", name, number, f"more than {RTL_COLUMNS} columns")
        for what, line in numbers(text) if name.startswith("rtl/") else ():
            yield Finding("numbers", name, line, what)


def check(root, exceptions):
    """Complaints."""
    found = list(findings(root))
    excused = {(finding.rule, finding.path) for finding in found} & exceptions.keys()
    return [*(str(finding) for finding in found if (finding.rule, finding.path) not in excused),
            *(f"{path}: needs no exception for its {rule}: take it out of EXCEPTIONS"
              for rule, path in exceptions.keys() - excused)]


def main():
    parser = rtl.Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("root", nargs="?", type=Path)
    options = parser.parse_args()
    root = (options.root or HERE.parent.parent).resolve()
    if options.list:
        for finding in findings(root):
            print(finding)
        return rtl.Exit.PASS
    complaints = check(root, {} if options.root else EXCEPTIONS)
    for complaint in complaints:
        print(complaint)
    print(f"{len(complaints)} complaints")
    return rtl.Exit.FAIL if complaints else rtl.Exit.PASS


if __name__ == "__main__":
    rtl.command("shape.py", main)
