#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: docs.py [--lower] [ROOT]

Reads every Markdown page of the repository (or of the folder ROOT) and tells, with file and line:
- lines of more than 120 columns outside tables, code blocks and links,
- links to files or headings that are not there,
- pages without an SPDX line,
- files that a page names in `backquotes`, with their folder, and that are not there,
- citations of docs/protocol in any source ("mrc.md section 7", base.md "800G") whose section is not there,
- pages of docs/start, guide, reference and design that do not begin with *For whom they are. After it you ...*, or
  that docs/README.md does not link.

Pages that were longer before this check are in LONG_LINES with their number of long lines. It may only fall: --lower
writes the numbers of today into this script, and leaves any that have risen."""
import argparse
import re
from pathlib import Path

import rtl

HERE = Path(__file__).resolve()
COLUMNS = 120
SKIPPED = {"build", "third_party", "node_modules", "mrc-reports"}
ROOMS = {"start", "guide", "reference", "design"}
SOURCES = {".cpp", ".hpp", ".h", ".sv", ".md", ".yaml", ".py", ".j2"}

LONG_LINES = {
}

FENCE = re.compile(r"^\s*(```|~~~)")
LINK = re.compile(r"(?<!\\)\[((?:[^][]|\[[^]]*\])*)\]\(\s*<?([^()\s>]*)>?\s*\)")
CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
NAMED = re.compile(r"`((?:\.ci|\.github|cli|cmake|cmodel|docs|fuzz|rtl|sim|tb|tests|tools)/[\w./*-]*)`")
CITES_MRC = re.compile(r"mrc\.md,? sections? (\d+)(?:(?:,| and| to) (\d+))*")
CITES_BASE = re.compile(r"base\.md,? \"([^\"\n]+)\"")


def files(root, endings):
    """Paths below root with one of the endings, sorted; without builds and hidden folders (but .github)."""
    return rtl.files_below(root, endings, SKIPPED, hidden=(".github",))


def blank(match):
    """As many characters and lines, nothing to read."""
    return re.sub(r"[^\n]", " ", match.group())


def without_code(text):
    """The text with its code blocks blanked, line for line."""
    lines, fence = [], None
    for line in text.split("\n"):
        mark = FENCE.match(line)
        if mark and fence in (None, mark.group(1)):
            fence = None if fence else mark.group(1)
            line = ""
        lines.append("" if fence else line)
    return "\n".join(lines)


def visible(line):
    """The line without what cannot be broken: targets of links, bare addresses."""
    return re.sub(r"https?://\S+", "", LINK.sub(r"[\1]()", line))


def long_lines(text):
    """Numbers of the lines that are too long."""
    return [number for number, line in enumerate(without_code(text).split("\n"), 1)
            if len(line) > COLUMNS and not line.lstrip().startswith("|") and len(visible(line)) > COLUMNS]


def headings(text):
    """The texts of the headings."""
    return re.findall(r"^#+ +(.*?) *#*$", without_code(text), re.MULTILINE)


def anchors(text):
    """What links to the headings look like, as GitHub makes them; the second of a name gets -1."""
    seen, found = {}, set()
    for heading in headings(text):
        plain = LINK.sub(r"\1", heading).replace("`", "").lower()
        name = re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-")
        found.add(f"{name}-{seen[name]}" if name in seen else name)
        seen[name] = seen.get(name, 0) + 1
    return found


def check_links(path, text):
    body = CODE.sub(blank, without_code(text))
    for match in LINK.finditer(body):
        target = match.group(2)
        if re.match(r"[a-z]+:", target) or not target:
            continue
        where = body.count("\n", 0, match.start()) + 1
        name, _, anchor = target.partition("#")
        page = path.parent / name if name else path
        if not page.exists():
            yield where, f"the link to '{target}' leads nowhere"
        elif anchor and page.suffix == ".md" and anchor not in anchors(page.read_text(encoding="utf-8")):
            yield where, f"'{target}': the page has no heading of that name"


def check_named(root, text):
    """A page of the repository names files from its root."""
    body = without_code(text)
    for match in NAMED.finditer(body):
        name = match.group(1)
        if re.search(r"NAME|ROOM", name):
            continue  # to be filled in: cli/cmd_NAME.cpp
        if not (root / name).exists() and not any(root.glob(name if "*" in name else f"{name}.*")):
            yield body.count("\n", 0, match.start()) + 1, f"there is no {name}"


def check_citations(root, pages):
    """What the sources cite of the protocol's facts must be there."""
    mrc, base = root / "docs/protocol/mrc.md", root / "docs/protocol/base.md"
    if not mrc.exists() or not base.exists():
        return
    sections = {title.split(".")[0] for title in headings(mrc.read_text(encoding="utf-8"))}
    titles = headings(base.read_text(encoding="utf-8"))
    for path in pages:
        if path.is_relative_to(root / "tests/tools"):
            continue  # wrong ones on purpose
        text = path.read_text(encoding="utf-8", errors="replace")
        if "mrc.md" not in text and "base.md" not in text:
            continue
        for number, line in enumerate(text.split("\n"), 1):
            for match in CITES_MRC.finditer(line):
                for section in re.findall(r"\d+", match.group()):
                    if section not in sections:
                        yield f"{path.relative_to(root)}:{number}", f"mrc.md has no section {section}"
            for match in CITES_BASE.finditer(line):
                if not any(title.startswith(match.group(1)) for title in titles):
                    yield f"{path.relative_to(root)}:{number}", f"base.md has no section \"{match.group(1)}\""


def check_reader(root, path, text):
    """A page of the rooms says for whom it is, and the list of pages has it."""
    if path.parent.parent != root / "docs" or path.parent.name not in ROOMS:
        return
    if not re.search(r"^# .*\n\n\*For [^*]*After it [^*]*\*$", text, re.MULTILINE):
        yield 1, "no line '*For whom it is. After it you ...*' below the title"
    index = root / "docs/README.md"
    if index.exists() and f"]({path.relative_to(root / 'docs')})" not in index.read_text(encoding="utf-8"):
        yield 1, "docs/README.md does not link this page"


def check(root, allowed):
    """(complaints, {page: its long lines})."""
    complaints, counts = [], {}
    for path in files(root, {".md"}):
        name, text = str(path.relative_to(root)), path.read_text(encoding="utf-8")
        if not any("SPDX-License-Identifier:" in line for line in text.split("\n")[:8]):
            complaints.append(f"{name}: no SPDX line. Begin with <!-- SPDX-License-Identifier: Apache-2.0 -->")
        complaints += [f"{name}:{where}: {what}" for where, what in check_links(path, text)]
        complaints += [f"{name}:{where}: {what}" for where, what in check_named(root, text)]
        complaints += [f"{name}:{where}: {what}" for where, what in check_reader(root, path, text)]
        numbers = long_lines(text)
        counts[name] = len(numbers)
        before = allowed.get(name, 0)
        if len(numbers) > before and before == 0:
            complaints += [f"{name}:{number}: more than {COLUMNS} columns" for number in numbers]
        elif len(numbers) > before:
            listed = ", ".join(str(number) for number in numbers)
            complaints.append(f"{name}: {len(numbers)} lines of more than {COLUMNS} columns, there were {before}: "
                              f"{listed}")
        elif len(numbers) < before:
            complaints.append(f"{name}: {len(numbers)} lines of more than {COLUMNS} columns, there were {before}: run "
                              "tools/docs.py --lower, so that they stay away")
    complaints += [f"{name} of LONG_LINES is not there" for name in allowed if name not in counts]
    complaints += [f"{where}: {what}" for where, what in check_citations(root, files(root, SOURCES))]
    return complaints, counts


def lower(counts):
    """Writes the numbers that have fallen into this script."""
    kept = {name: min(before, counts.get(name, 0)) for name, before in LONG_LINES.items()}
    table = "".join(f'    "{name}": {number},\n' for name, number in sorted(kept.items()) if number)
    text = HERE.read_text(encoding="utf-8")
    HERE.write_text(re.sub(r"LONG_LINES = \{\n.*?\}", lambda _: f"LONG_LINES = {{\n{table}}}", text, 1, re.DOTALL),
                    encoding="utf-8")
    return kept


def main():
    parser = rtl.Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lower", action="store_true")
    parser.add_argument("root", nargs="?", type=Path)
    options = parser.parse_args()
    allowed = {} if options.root else LONG_LINES
    root = (options.root or HERE.parent.parent).resolve()
    complaints, counts = check(root, allowed)
    if options.lower and not options.root:
        allowed = lower(counts)
        complaints, counts = check(root, {name: number for name, number in allowed.items() if number})
    for complaint in complaints:
        print(complaint)
    print(f"{len(counts)} pages, {sum(counts.values())} long lines, {len(complaints)} complaints")
    return rtl.Exit.FAIL if complaints else rtl.Exit.PASS


if __name__ == "__main__":
    rtl.command("docs.py", main)
