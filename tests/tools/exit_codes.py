#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: exit_codes.py MRC

The exit codes that `MRC help exit-codes` prints, those of docs/reference/outputs.md and those of tools/rtl.py are the
same; tools that are called wrongly end with 3, a test run without a test with 5. Every tool ends by rtl.command(),
which owns its output."""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import rtl  # noqa: E402

# The name that each place begins its explanation with.
NAMES = {"pass": "PASS", "fail": "FAIL", "hang": "HANG", "wrong use or environment": "USAGE",
         "unsupported": "UNSUPPORTED", "inconclusive": "INCONCLUSIVE"}


def of_help(mrc):
    text = subprocess.run([mrc, "help", "exit-codes"], capture_output=True, text=True, check=True).stdout
    table = text[text.index("Exit codes"):]
    return {int(code): re.split(r":|$", meaning)[0] for code, meaning in re.findall(r"^  (\d)  (.+)$", table, re.M)}


def of_page():
    text = (ROOT / "docs/reference/outputs.md").read_text(encoding="utf-8")
    section = text[text.index("## Exit codes"):].split("\n## ")[0]
    return {int(code): name for code, name in re.findall(r"^\| (\d) \| ([^|]+) \|", section, re.M)}


def main():
    wrong = []
    want = {code.value: code.name for code in rtl.Exit}
    for place, codes in (("mrc help exit-codes", of_help(sys.argv[1])), ("docs/reference/outputs.md", of_page())):
        got = {code: NAMES.get(name, name) for code, name in codes.items()}
        if got != want:
            wrong.append(f"{place}: {got}, tools/rtl.py: {want}")
    for tool in ("assertions", "assumptions", "behaviour", "coverage", "depth", "docs", "docs_site", "export_verilog",
                 "figures", "fpga", "gates", "lint", "mutate_rtl", "prove", "results", "rooms", "shape",
                 "state", "tidy", "twins", "waves", "words"):
        code = subprocess.run([sys.executable, ROOT / f"tools/{tool}.py", "--no-such-option"], capture_output=True,
                              check=False).returncode
        if code != rtl.Exit.USAGE:
            wrong.append(f"tools/{tool}.py --no-such-option: exit code {code}, not {rtl.Exit.USAGE.value}")
    code = subprocess.run([sys.executable, ROOT / "cmodel/spec/generate.py", "--no-such-option"], capture_output=True,
                          check=False).returncode
    if code != rtl.Exit.USAGE:
        wrong.append(f"generate.py --no-such-option: exit code {code}, not {rtl.Exit.USAGE.value}")
    for tool in sorted((ROOT / "tools").glob("*.py")):
        ending = tool.read_text(encoding="utf-8").partition('if __name__ == "__main__":')[2]
        if ending and "rtl.command(" not in ending:
            wrong.append(f"{tool.name} does not end by rtl.command()")
    print("\n".join(wrong) if wrong else f"{len(want)} codes, the same in three places")
    return rtl.Exit.FAIL if wrong else rtl.Exit.PASS


if __name__ == "__main__":
    sys.exit(main())
