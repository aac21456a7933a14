# SPDX-License-Identifier: Apache-2.0
id T-1
purpose p
mark S2
cite mrc.md 6
caps responder
planes 2
dut post write len 4096
set > write rtx 0 or 1 each once
