# SPDX-License-Identifier: Apache-2.0
id trim-1
msg m = write len 1
