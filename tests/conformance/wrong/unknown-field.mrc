# SPDX-License-Identifier: Apache-2.0
id T-1
purpose p
mark S2
cite mrc.md 6
caps responder
planes 2
msg m = write len 4096
p0 < m[0]
* > sack syndrome 4
