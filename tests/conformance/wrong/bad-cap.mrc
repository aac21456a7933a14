# SPDX-License-Identifier: Apache-2.0
id T-1
caps everything
settle
