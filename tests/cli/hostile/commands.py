# SPDX-License-Identifier: Apache-2.0
"""Every command, in C++, Python or shell, where standard output or standard error is full, closed, or nobody reads."""
import re
from pathlib import Path

from hostile.case import Case

CLI = Path(__file__).resolve().parents[3] / "cli"
# What quickly says much, and is no option that all commands have.
LISTS = [
    "bench cosim --help", "bench fabric --help", "bench nic --help", "doctor", "doctor --json",
    "help exit-codes", "help --completion bash", "log info --help", "mutate --rtl --help", "mutate --rules --help",
    "profile infer --help", "prove --list", "prove --quick --list", "regress --list", "regress coverage --help",
    "regress report --help", "script run --help", "vectors export", "vectors list", "vectors list --json",
    "vectors run --help", "vectors show H-IP-011",
]


def commands():
    """Those that are declared; one that is new is here without being asked."""
    text = "".join(file.read_text(encoding="utf-8") for file in sorted(CLI.glob("cmd_*.cpp")))
    return sorted(set(re.findall(r'(?:app\.command\(|register_script\(app, context, )"([\w-]+)"', text)))


def cases():
    names = commands()
    for line in sorted({*LISTS, *(f"{name} --help" for name in names)}):
        args, common = tuple(line.split()), {"never": (r"Traceback|[Bb]roken pipe",), "seconds": 20 if line.startswith("doctor") else 6}
        for how in ("full", "closed"):
            yield Case(f"command, stdout {how}: {line}", args, code=(3,), err=(r"standard output",), stdout=how, **common)
        for how in ("gone", "head"):
            yield Case(f"command, stdout {how}: {line}", args, stdout=how, **common)
        for how in ("full", "closed"):
            yield Case(f"command, stderr {how}: {line}", args, stderr=how, **common)
    for name in (name for name in names if name != "test"):  # that is an option of CTest
        # Wrong use that nobody hears of stays wrong use.
        yield Case(f"command, wrong use, stderr full: {name}", (name, "--no-such-option"), code=(3,), stderr="full",
                   seconds=6)
