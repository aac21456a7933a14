# SPDX-License-Identifier: Apache-2.0
id T-1
planes 9
settle
