# SPDX-License-Identifier: Apache-2.0
cases id a {
  T-1 5
