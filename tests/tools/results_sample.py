#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Gives tools/results.py folders of regressions and pages, right and wrong, and reads the table that it writes."""
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from samples import TOOLS, in_folder, make, run, told  # noqa: E402

TOOL = TOOLS / "results.py"
PAGE = "# A page\n<!-- plans: written by tools/results.py -->\n<!-- end of plans -->\nThe end.\n"
NIGHT = {"plan": "nightly", "planned": 100, "runs": 90, "passed": 80, "failed": 4, "inconclusive": 5, "unsupported": 1,
         "infrastructure": 3, "left": 7, "seconds": 28800.6, "ended": 1795000000,
         "builds": [{"commit": "0123456789ab", "changed": True, "runs": 60}, {"commit": "0123456789ab", "changed": True},
                    {"commit": "ba9876543210", "changed": False, "runs": 1}]}
ROW = "| `nightly` | 2026-11-18 11:06 | 0123456789ab+, ba9876543210 | 100 | 80 | 4 | 5 | 1 | 10 | 28801 |"
NEVER = "| `release` | not run yet |  |  |  |  |  |  |  |  |"


def main():
    wrong = 0
    files = {"page.md": PAGE, "empty.md": "# no place\n", "night/summary.json": json.dumps(NIGHT),
             "smoke/summary.json": json.dumps(NIGHT | {"plan": "smoke"}), "broken/summary.json": "{",
             "old/summary.json": json.dumps({key: value for key, value in NIGHT.items() if key != "builds"})}
    with in_folder(files) as folder:
        page = folder / "page.md"

        def rows():
            return [line for line in page.read_text().splitlines() if line.startswith("| `")]

        wrong += told(0, *run(TOOL, "--page", page), [])
        if rows() != [NEVER.replace("release", "nightly"), NEVER]:
            wrong += told(0, 1, page.read_text(), ["rows of plans that never ran"])
        wrong += told(0, *run(TOOL, "--page", page, folder / "night"), [])
        for _ in range(2):  # a plan of which nobody tells keeps its row
            if rows() != [ROW, NEVER] or not page.read_text().endswith("-->\nThe end.\n"):
                wrong += told(0, 1, page.read_text(), [ROW, NEVER])
            wrong += told(0, *run(TOOL, "--page", page), [])
        make(folder, {"night/summary.json": json.dumps(NIGHT | {"failed": 0})})
        wrong += told(0, *run(TOOL, "--page", page, folder / "night"), [])
        if rows() != [ROW.replace("| 80 | 4 |", "| 80 | 0 |"), NEVER]:
            wrong += told(0, 1, page.read_text(), ["a newer run in the place of the older one"])
        kept = page.read_text()
        wrong += told(3, *run(TOOL, "--page", page, folder / "smoke"), ["the page has no row for plan 'smoke'"])
        wrong += told(3, *run(TOOL, "--page", page, folder / "broken"), ["broken/summary.json is no summary"])
        wrong += told(3, *run(TOOL, "--page", page, folder / "old"), ["KeyError: 'builds'"])
        wrong += told(3, *run(TOOL, "--page", page, folder / "nowhere"), ["nowhere/summary.json is no summary"])
        wrong += told(3, *run(TOOL, "--page", folder / "empty.md"), ["the page has no place for the table of plans"])
        if page.read_text() != kept:
            wrong += told(0, 1, page.read_text(), ["a page that wrong calls leave as it was"])
    print(f"{wrong} runs went otherwise")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
