# SPDX-License-Identifier: Apache-2.0
cases id a b {
  T-1 5
}
settle
