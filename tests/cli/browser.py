# SPDX-License-Identifier: Apache-2.0
"""What tests of pages share besides browser.mjs: Chromium and its modules, or an end with exit code 77."""
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import npm  # noqa: E402


def chromium(*more):
    """Arguments of a script that uses browser.mjs. more: modules of tools/ that the test needs too."""
    program = shutil.which("chromium")
    modules = npm.modules("report") if shutil.which("node") else None
    if not (program and modules and all(map(npm.modules, more))):
        print("skipped: Chromium, node or the modules of npm are missing.\n  Install chromium and npm.", file=sys.stderr)
        sys.exit(77)
    return [modules / "playwright-core", program]
