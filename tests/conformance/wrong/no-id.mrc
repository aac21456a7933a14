# SPDX-License-Identifier: Apache-2.0
p0 < m[0]
