#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: pages.py [ROOT]

Holds the pages of the blocks (docs/design/blocks/ROOM/NAME.md of the repository, or of the folder ROOT) to their
template (docs/design/blocks/conventions.md, "How a page is built"). It tells, with file and line:
- parts that are missing, doubled or out of order,
- a page without the marks of its port table,
- a row of "Limits" that names no test, or a test that no source of tests/ has,
- code blocks of more than 120 columns,
- a function at the right margin of a code block that cmodel does not have,
- a section in a file of its own (NAME_section.md) that its page has no link to,
- a waveform that is on no page, and a page whose waveform is not there."""
import re
import sys
from pathlib import Path

import rtl

ROOT = Path(__file__).resolve().parent.parent
MARGIN = re.compile(r"\S.*?\s{2,}([a-z][A-Za-z0-9]*_[\w:]+|[A-Z]\w+::\w+)((?:, [\w:]+)*)$")
PARTS = ["Ports", "State", "Rules", "Cycles", "Limits", "Why"]
COLUMNS = 120


def test_names(root):
    """Names of all test cases, as CTest has them without the executable."""
    names = set()
    for path in sorted((root / "tests").rglob("*_test.cpp")):
        text = re.sub(r'"\s*\n\s*"', "", path.read_text(encoding="utf-8"))
        names.update(re.findall(r'\bTEST_CASE\(\s*"((?:[^"\\]|\\.)*)"', text))
    return names


def check_parts(lines):
    """The headings of the second level, in order."""
    found, fence = [], False
    for number, line in enumerate(lines, 1):
        fence ^= line.lstrip().startswith("```")
        if not fence and line.startswith("## "):
            found.append((number, line[3:].strip()))
    titles = [title for _, title in found]
    for part in PARTS:
        if titles.count(part) != 1:
            yield 1, f"the part '## {part}' is there {titles.count(part)} times, not once"
    for number, title in found:
        if title not in PARTS:
            yield number, f"'## {title}' is no part of a page; make it a section (###) of one"
    if [title for title in titles if title in PARTS] != [part for part in PARTS if part in titles]:
        yield 1, f"the parts are not in the order {', '.join(PARTS)}"


def check_limits(lines, tests):
    """Rows of the table of limits: limit, what happens, "test"."""
    inside = False
    for number, line in enumerate(lines, 1):
        if line.startswith(("## ", "### ")):
            inside = line == "## Limits"
        if not inside or not line.startswith("|") or re.match(r"\|[-| ]+\|$", line) or line.startswith("| limit |"):
            continue
        cells = re.split(r"(?<!\\)\|", line.strip("|"))
        named = re.findall(r'"([^"]+)"', cells[-1])
        if len(cells) != 3 or not named:
            yield number, "a limit has three cells: limit, what happens there, \"the name of a test\""
        for name in named:
            if name not in tests:
                yield number, f"no test is called \"{name}\""


def functions(root):
    """Words of the model: what a page may name as a function."""
    return {word for path in sorted((root / "cmodel").rglob("*.hpp")) for word in
            re.findall(r"\b[A-Za-z_]\w+(?=\s*\(|<)", path.read_text(encoding="utf-8"))} | {
        word for path in sorted((root / "cmodel").rglob("*.hpp")) for word in
        re.findall(r"\b(?:struct|class) (\w+)", path.read_text(encoding="utf-8"))}


def check_margin(lines, known):
    """Names at the right margin of code blocks."""
    fence = False
    for number, line in enumerate(lines, 1):
        fence ^= line.lstrip().startswith("```")
        match = MARGIN.match(line) if fence else None
        if match:
            for name in (match.group(1) + match.group(2)).split(", "):
                if name.split("::")[-1] not in known:
                    yield number, f"cmodel has no function {name}"


def check_text(lines, known):
    """What holds for each page, and for each section that has a file of its own."""
    yield from check_margin(lines, known)
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS and not line.lstrip().startswith("|"):
            yield number, f"{len(line)} columns, {COLUMNS} are the limit"


def page_of(path):
    """The page of which the file is a section (NAME_section.md beside NAME.md), or None: it is a page."""
    name = path.stem
    owners = [path.with_name(f"{name[:i]}.md") for i, c in enumerate(name) if c == "_"]
    return next((owner for owner in owners if owner.exists()), None)


def check_section(path, page, known):
    yield from check_text(path.read_text(encoding="utf-8").split("\n"), known)
    if f"]({path.name})" not in page.read_text(encoding="utf-8"):
        yield 1, f"{page.name} has no link to this section of it"


def check_page(path, name, tests, known, waves):
    lines = path.read_text(encoding="utf-8").split("\n")
    yield from check_parts(lines)
    yield from check_limits(lines, tests)
    yield from check_text(lines, known)
    text = "\n".join(lines)
    if not re.search(rf"^<!-- ports: {name} -->$.*?^<!-- end of ports -->$", text, re.MULTILINE | re.DOTALL):
        yield 1, f"the marks <!-- ports: {name} --> and <!-- end of ports --> are not there"
    for wave in re.findall(r"figures/waves/(\w+)\.svg", text):
        waves.add(wave)
    shown = name in re.findall(r"figures/waves/(\w+)\.svg", text)
    if not shown:
        yield 1, f"docs/figures/waves/{name}.svg is not shown"


def main():
    root = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT
    tests, known, waves, complaints = test_names(root), functions(root), set(), []
    blocks = root / "docs/design/blocks"
    pages = sorted(path for path in blocks.rglob("*.md") if path.parent != blocks)
    sections = {path: page_of(path) for path in pages if page_of(path)}
    for path, page in sections.items():
        complaints += [f"{path.relative_to(root)}:{number}: {words}" for number, words in check_section(path, page, known)]
    pages = [path for path in pages if path not in sections]
    for path in pages:
        name, where = path.stem, path.relative_to(root)
        complaints += [f"{where}:{number}: {words}" for number, words in check_page(path, name, tests, known, waves)]
    for path in sorted((root / "docs/figures/waves").glob("*.json")):
        if path.stem not in waves:
            complaints.append(f"{path.relative_to(root)}: no page shows this waveform")
    for line in complaints:
        print(line)
    print(f"{len(pages)} pages of blocks, {len(waves)} waveforms, {len(complaints)} complaints")
    return rtl.Exit.FAIL if complaints or not pages else rtl.Exit.PASS


if __name__ == "__main__":
    rtl.command("pages.py", main)
