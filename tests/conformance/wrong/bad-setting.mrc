# SPDX-License-Identifier: Apache-2.0
id T-1
setting oor 1
settle
