#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""See --help; docs/reference/vectors.md."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from mrcscript.cli import script_main  # noqa: E402
from mrcscript.output import command  # noqa: E402

command("mrc script", script_main)
