# SPDX-License-Identifier: Apache-2.0
def cases(device):
    return []
