# SPDX-License-Identifier: Apache-2.0
"""Scripts and vectors that hold a NIC against MRC (docs/reference/vectors.md). Python's standard library alone."""
