# SPDX-License-Identifier: Apache-2.0
"""Blocks of a capture, as Python expressions of their bytes."""
FRAME = ("00000000000000000000000086dd6120000000301140fd000000000000000000000000000001fd0000000000000000000000000000"
         "02c00012b700300000ca5000000000001000000001000000000000000000001000000000010000000301020300beb5986e")
SHB = "bytes.fromhex('0a0d0d0a1c0000004d3c2b1a0{}0000ffffffffffffffff1c000000')"
IDB = "bytes.fromhex('0100000014000000{}00000000000014000000')"
HEADER = SHB.replace("{}", "100")
ETHERNET = IDB.replace("{}", "0100")
PACKET = (f"(lambda f, n, pack: pack('<7I', 6, n, 0, 0, 0, len(f), len(f)) + f + bytes(-len(f) % 4) + pack('<I', n))"
          f"(bytes.fromhex('{FRAME}'), {32 + (len(FRAME) // 2 + 3) // 4 * 4}, __import__('struct').pack)")
