#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: docs_wrong.py

Gives tools/docs.py folders of pages with one mistake each and expects the sentence that tells it, pages without one and
expects none, and pages whose long lines have become more or fewer."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from samples import BESIDE, TOOLS, in_folder, make, run, told  # noqa: E402

TOOL = TOOLS / "docs.py"
SPDX = "<!-- SPDX-License-Identifier: Apache-2.0 -->\n"
LONG = "word " * 24  # 120 columns, the last of them a blank
GOOD = f"""{SPDX}# A page: its `name`, and more

See [another](docs/other.md), [a place there](docs/other.md#the-second-one), [here](#a-page-its-name-and-more),
[a folder](docs) and <https://example.org>. `[not](a-link.md)`, ![a picture](docs/p.svg), `docs/other.md`, `docs/other`.

{LONG.rstrip()}.
See [{LONG.rstrip()[:100]}](https://example.org/an/address/that/cannot/be/broken/and/is/long).
| a table | {LONG} |

```
[not a link](nowhere.md) {LONG} {LONG}
```
"""
PROTOCOL = {"docs/protocol/mrc.md": SPDX + "# Facts\n\n## 1. First\n\n## 2. Second\n",
            "docs/protocol/base.md": SPDX + "# Below\n\n## Trimming (sources)\n"}
OTHER = {"docs/other.md": SPDX + "# Other\n\n## The second one\n", "docs/p.svg": "<svg/>\n",
         "cmodel/good.hpp": "// (mrc.md sections 1 and 2, base.md \"Trimming\")\n"}

# {what must be told: files besides those of a good folder}
MISTAKES = {
    "page.md:3: more than 120 columns": {"page.md": f"{SPDX}\n{LONG}x.\n"},
    "page.md:4: the link to 'docs/othre.md' leads nowhere": {"page.md": SPDX + "\n\nSee [it](docs/othre.md).\n"},
    "docs/page.md:2: the link to 'docs/other.md' leads nowhere": {"docs/page.md": SPDX + "[it](docs/other.md)\n"},
    "page.md:3: the link to 'x.md' leads nowhere": {"page.md": SPDX + "a\n[over two\nlines](x.md)\n"},
    "page.md:2: the link to 'p.svg' leads nowhere": {"page.md": SPDX + "![picture](p.svg)\n"},
    "'docs/other.md#the-third': the page has no heading": {"page.md": SPDX + "[it](docs/other.md#the-third)\n"},
    "'#nothing': the page has no heading": {"page.md": SPDX + "[it](#nothing)\n"},
    "page.md: no SPDX line": {"page.md": "# A page\n"},
    "page.md:2: there is no docs/gone.md": {"page.md": SPDX + "Look into `docs/gone.md`.\n"},
    "page.md:2: there is no docs/*.dot": {"page.md": SPDX + "Look into `docs/*.dot`.\n"},
    "docs/guide/p.md:1: no line '*For whom": {"docs/guide/p.md": SPDX + "# A page\n\nFor you.\n"},
    "docs/guide/p.md:1: docs/README.md does not link": {
        "docs/README.md": SPDX + "[q](guide/q.md)\n", "docs/guide/p.md": SPDX + "# P\n\n*For you. After it you can.*\n",
        "docs/guide/q.md": SPDX + "# Q\n\n*For you. After it you\ncan.*\n"},
    "cmodel/rule.hpp:2: mrc.md has no section 7": {"cmodel/rule.hpp": "//\n// A rule (mrc.md section 7).\n"},
    "rtl/rule.sv:1: mrc.md has no section 9": {"rtl/rule.sv": "// (mrc.md sections 1 and 9)\n"},
    "sim/rule.hpp:1: base.md has no section \"Pruning\"": {"sim/rule.hpp": '// (base.md "Pruning")\n'},
}


def mistakes():
    wrong = 0
    for sentence, files in {"": {}, **MISTAKES}.items():
        with in_folder({"README.md": GOOD, **PROTOCOL, **OTHER, **files}) as folder:
            code, output = run(TOOL, folder)
            wrong += told(1 if sentence else 0, code, output, [sentence, f" {1 if sentence else 0} complaints"])
    return wrong


def ratchet():
    """A copy of the tool in a repository of its own, with two long lines that it knows of."""
    wrong = 0
    text = TOOL.read_text()
    begin, end = text.index("LONG_LINES = {"), text.index("}", text.index("LONG_LINES = {"))
    text = text[:begin] + 'LONG_LINES = {\n    "page.md": 2,\n' + text[end:]
    with in_folder({"tools/docs.py": text, **BESIDE}) as folder:
        copy = folder / "tools/docs.py"

        def page(lines):
            make(folder, {"page.md": SPDX + f"{LONG}x.\n" * lines})
            return run(copy)

        wrong += told(0, *page(2), ["2 long lines, 0 complaints"])
        wrong += told(1, *page(3), ["page.md: 3 lines of more than 120 columns, there were 2: 2, 3, 4"])
        wrong += told(1, *run(copy, "--lower"), ["there were 2"])
        wrong += told(1, *page(1), ["page.md: 1 lines of more than 120 columns, there were 2", "--lower"])
        wrong += told(0, *run(copy, "--lower"), ["1 long lines, 0 complaints"])
        wrong += told(1, *page(2), ["page.md: 2 lines of more than 120 columns, there were 1"])
        page(0)
        wrong += told(0, *run(copy, "--lower"), ["0 long lines, 0 complaints"])
        wrong += told(1, *page(1), ["page.md:2: more than 120 columns"])
    return wrong


def main():
    wrong = mistakes() + ratchet()
    print(f"{len(MISTAKES)} mistakes; {wrong} runs went otherwise")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
