# SPDX-License-Identifier: Apache-2.0
"""The tables of tests/cli/hostile.py, and what runs and judges their rows."""
