#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: pages_wrong.py

Gives tools/pages.py folders with one page, which has one mistake, and expects the sentence that tells it."""
import subprocess
import sys
import tempfile
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools/pages.py"
PAGE = """<!-- SPDX-License-Identifier: Apache-2.0 -->
# block: what it is for

## Ports

<!-- ports: block -->
| port |
|---|
<!-- end of ports -->

## State

## Rules

```
## Not a part
a = b                                        psn_add
```

## Cycles

### Idle

[A section](block_part.md) of its own.

![waves](../../figures/waves/block.svg)

## Limits

| limit | what happens there | test |
|---|---|---|
| a queue \\| full | it waits | "block waits for room" |

## Why
"""
TEST = '#include "x.hpp"\nTEST_CASE("block waits "\n          "for room", "[block]") {}\n'

# {what must be told: (text of the page, its replacement)}
MISTAKES = {
    "": ("", ""),
    "docs/design/blocks/tx/block.md:1: the part '## Rules' is there 0 times, not once": ("## Rules\n", ""),
    "the part '## State' is there 2 times, not once": ("## Why\n", "## Why\n\n## State\n"),
    "the parts are not in the order Ports, State, Rules": ("## State\n\n## Rules\n", "## Rules\n\n## State\n"),
    ":20: '## Cycle' is no part of a page": ("## Cycles\n", "## Cycle\n"),
    "the marks <!-- ports: block --> and <!-- end of ports --> are not there": ("<!-- ports: block -->", ""),
    ":32: no test is called \"block waits\"": ('"block waits for room"', '"block waits"'),
    ":32: a limit has three cells": ('"block waits for room"', "a test"),
    ":15: 121 columns, 120 are the limit": ("```\n## Not", "x" * 121 + "\n```\n## Not"),
    ":17: cmodel has no function psn_ad": ("psn_add", "psn_ad"),
    "docs/figures/waves/block.svg is not shown": ("waves/block.svg", "block.svg"),
    "docs/design/blocks/tx/block_part.md:1: block.md has no link to this section of it": ("block_part.md", "part.md"),
    "docs/figures/waves/block.json: no page shows this waveform": ("waves/block.svg", "block.svg"),
}


def main():
    wrong = 0
    for sentence, (old, new) in MISTAKES.items():
        with tempfile.TemporaryDirectory() as folder:
            files = {"docs/design/blocks/tx/block.md": PAGE.replace(old, new, 1) if old else PAGE,
                     "docs/design/blocks/tx/block_part.md": "# block: a part\n",
                     "docs/figures/waves/block.json": "{}\n", "tests/tx/block_test.cpp": TEST,
                     "cmodel/psn.hpp": "uint32_t psn_add(uint32_t psn);\n"}
            for name, text in files.items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            done = subprocess.run([sys.executable, TOOL, folder], text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, check=False)
            if done.returncode != (1 if sentence else 0) or sentence not in done.stdout:
                print(f"expected '{sentence}', got {done.returncode}:\n{done.stdout}")
                wrong += 1
    print(f"{len(MISTAKES)} pages, {wrong} answers are wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
