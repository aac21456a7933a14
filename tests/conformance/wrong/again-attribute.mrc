# SPDX-License-Identifier: Apache-2.0
id T-1
purpose p
mark S2
cite mrc.md 6
caps requestor
planes 2
dut post write len 64
* > write
dut qp state reset
dut qp again first_psn 5
