#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: words_wrong.py

Gives tools/words.py pages with one mistake each and expects the sentence that tells it, a page without one and expects
none; and counts that have become more or fewer. Exit code 5: textlint cannot be had."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from samples import TOOLS, in_folder, run, told  # noqa: E402

sys.path.insert(0, str(TOOLS))
import words  # noqa: E402

TOOL = TOOLS / "words.py"
SPDX = "<!-- SPDX-License-Identifier: Apache-2.0 -->\n"
LIMIT = "word " * 24 + "last"  # 25 words
GOOD = f"""{SPDX}# The judge checks, live runs pass

{LIMIT}. {LIMIT}! Another one; `{LIMIT}` is one word, and so is [{LIMIT[:14]}](docs/{LIMIT.replace(" ", "-")}.md) -> 3.

- {LIMIT}

| {LIMIT} | {LIMIT} |
|---|---|
| {LIMIT} | {LIMIT} |
| "who tells, {LIMIT}" | "a lane tells", "{LIMIT} more" |

```
{LIMIT} {LIMIT} tells
```
"""

# {what must be told: the text of a page}
MISTAKES = {
    ":3: a sentence of 26 words, 25 are the limit: and word word": f"\nand {LIMIT}.\n",
    ":4: a sentence of 26 words": f"\nShort.\nand {LIMIT}.\n",
    ":2: a sentence of 26 words": f"- and {LIMIT}\n",
    ":4: a sentence of 26 words, 25 are": f"| a |\n|---|\n| and {LIMIT} |\n",
    ":2: a sentence of 26 words, 25 are the limit: And word": f"There are 2. And {LIMIT}.\n",
    ":2: a sentence of 27 words": f"{LIMIT}, and `{LIMIT}`\n",
    ":2: tells => reports": "The device tells the loss.\n",
    ":3: boundary => an interface": "\nEvery [boundary](README.md) is compared.\n",
    ":2: judges => checks": "# A tool judges a capture\n",
    ":4: tells => reports": '| a |\n|---|\n| what "loss" tells |\n',
}


def main():
    wrong, pages = 0, {f"{i}.md": SPDX + text for i, text in enumerate(MISTAKES.values())}
    with in_folder({**pages, "good.md": GOOD}) as folder:
        code, output = run(TOOL, *(folder / name for name in (*pages, "good.md")))
        if code == 5:
            print(output)
            return 5
        wrong += told(1, code, output, [f"{len(pages) + 1} pages, {len(pages)} findings"])
        for name, sentence in zip(pages, MISTAKES):
            wrong += told(1, code, output, [f"{folder / name}{sentence}"])
        wrong += told(0, *run(TOOL, folder / "good.md"), ["1 pages, 0 findings"])
    for count, before, sentence in [(2, 2, None), (3, 2, "page.md: 3 findings, there were 2"),
                                    (1, 2, "page.md: 1 findings, there were 2: run tools/words.py --lower"),
                                    (1, 0, "page.md: 1 findings, there were 0")]:
        said = list(words.complaints({"page.md": count}, {"page.md": before} if before else {}))
        wrong += told(sentence is not None, len(said), "".join(said), [sentence or ""])
    said = list(words.complaints({}, {"gone.md": 1}))
    wrong += told(1, len(said), "".join(said), ["gone.md of findings.json is not there"])
    with in_folder({}) as folder:
        words.RATCHET = folder / "findings.json"
        kept = words.lower({"a.md": 1, "b.md": 5, "c.md": 0, "d.md": 1}, {"a.md": 2, "b.md": 3, "c.md": 1})
        wrong += told(0, 0, words.RATCHET.read_text(), ['"a.md": 1', '"b.md": 3']) + (kept != {"a.md": 1, "b.md": 3})
    print(f"{len(MISTAKES)} mistakes; {wrong} runs went otherwise")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
