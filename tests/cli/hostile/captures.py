# SPDX-License-Identifier: Apache-2.0
"""Blocks of a capture, as Python expressions of their bytes."""
from hostile.things import Folder, Text

FRAME = ("00000000000000000000000086dd6120000000301140fd000000000000000000000000000001fd0000000000000000000000000000"
         "02c00012b700300000ca5000000000001000000001000000000000000000001000000000010000000301020300beb5986e")
SHB = "bytes.fromhex('0a0d0d0a1c0000004d3c2b1a0{}0000ffffffffffffffff1c000000')"
IDB = "bytes.fromhex('0100000014000000{}00000000000014000000')"
HEADER = SHB.replace("{}", "100")
ETHERNET = IDB.replace("{}", "0100")
BLOCK = (f"(lambda f, n, pack: pack('<7I', 6, n, 0, 0, 0, len(f), len(f)) + f + bytes(-len(f) % 4) + pack('<I', n))"
         f"(bytes.fromhex('{{}}'), {32 + (len(FRAME) // 2 + 3) // 4 * 4}, __import__('struct').pack)")
PACKET = BLOCK.format(FRAME)
# The same with M 0 and a UDP checksum, which is a finding, and with the ICRC of that.
WRONG = f"{HEADER} + {ETHERNET} + " + BLOCK.format(
    FRAME.replace("12b700300000ca50", "136b00301234ca10")[:-8] + "0de0a340")


def dumpcap(does):
    """A program of that name, with a capture of one finding beside it."""
    return {"bin": Folder(), "bin/dumpcap": Text("#!/bin/sh\n" + does, mode=0o755), "wrong.pcapng": Text(expression=WRONG)}
