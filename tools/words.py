#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: words.py [--lower | --list] [PAGE...]

Reads the sentences of the Markdown pages (or of these files) with textlint: more than 25 words, and words of our own for
what has a name in the field (tools/words/terms.yml). How many findings a page may have is in tools/words/findings.json;
a page that is not there may have none. The numbers may only fall: --lower writes those of today, and leaves any that have
risen. --list prints each finding with file and line. Generated pages and CHANGELOG.md are
left out.

textlint comes from npm, in the versions of tools/words/package-lock.json. Exit code 5: it cannot be had."""
import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

import docs
import npm
import rtl

ROOT = Path(__file__).resolve().parent.parent
PARTS = ROOT / "tools/words"
RATCHET = PARTS / "findings.json"
WORDS = 25
LEFT_OUT = ("CHANGELOG.md", "generated")


def pages():
    """The pages of the repository whose words are written by hand, relative to its root."""
    paths = [path.relative_to(ROOT) for path in docs.files(ROOT, {".md"})]
    return [str(path) for path in paths if not set(LEFT_OUT) & set(path.parts)]


def findings(modules, names):
    """{page: [[line, sentence]]}."""
    command = ["node", PARTS / "lint.mjs", modules, PARTS / "terms.yml", str(WORDS), *names]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def complaints(counts, allowed):
    for name, count in counts.items():
        before = allowed.get(name, 0)
        if count > before:
            yield f"{name}: {count} findings, there were {before}: 'tools/words.py --list {name}' shows them"
        elif count < before:
            yield f"{name}: {count} findings, there were {before}: run tools/words.py --lower, so that they stay away"
    yield from (f"{name} of {RATCHET.name} is not there" for name in allowed if name not in counts)


def lower(counts, allowed):
    """Writes the numbers that have fallen."""
    kept = {name: min(before, counts.get(name, 0)) for name, before in sorted(allowed.items())}
    kept = {name: count for name, count in kept.items() if count}
    RATCHET.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")
    return kept


def main():
    parser = rtl.Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lower", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("page", nargs="*")
    options = parser.parse_args()
    modules = npm.modules("words") if shutil.which("node") else None
    if not modules:
        print("words: textlint cannot be had (npm).\n  Install npm, or call this again with a network.", file=sys.stderr)
        return rtl.Exit.INCONCLUSIVE
    found = findings(modules, options.page or pages())
    counts = {name: len(lines) for name, lines in found.items()}
    if options.list or options.page:
        for name, lines in found.items():
            print(*(f"{name}:{line}: {sentence}" for line, sentence in lines), sep="\n", end="\n" if lines else "")
        print(f"{len(counts)} pages, {sum(counts.values())} findings")
        return rtl.Exit.FAIL if any(counts.values()) else rtl.Exit.PASS
    allowed = json.loads(RATCHET.read_text(encoding="utf-8"))
    if options.lower:
        allowed = lower(counts, allowed)
    wrong = list(complaints(counts, allowed))
    print(*wrong, f"{len(counts)} pages, {sum(counts.values())} findings, {len(wrong)} complaints", sep="\n")
    return rtl.Exit.FAIL if wrong else rtl.Exit.PASS


if __name__ == "__main__":
    rtl.command("words.py", main)
