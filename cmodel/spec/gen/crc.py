# SPDX-License-Identifier: Apache-2.0
"""CRC-32 as a matrix: the masks of the parities that the RTL computes."""
import random
import zlib

WIDTHS = (128, 256, 768)
OVER = (72, 96)               # bytes of zeros that the RTL moves a register over,
BACK = (4, 8, 12, 16, 32)     # and takes back
POLY = 0xEDB88320


def _table():
    table = []
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (POLY if value & 1 else 0)
        table.append(value)
    return table


_TABLE = _table()


def masks(width):
    """masks(N)[i] = the bits of x that are summed into bit i of the next register.

    x holds N/8 message bytes, byte k in bits [8k+7:8k]; the old register was XORed into the first
    four message bytes. Zero bytes in front change nothing, so a shorter message is aligned to the end.
    """
    out = [0] * 32
    count = width // 8
    for byte in range(count):
        for bit in range(8):
            reg = _TABLE[1 << bit]
            for _ in range(count - 1 - byte):
                reg = (reg >> 8) ^ _TABLE[reg & 0xFF]
            for i in range(32):
                if reg >> i & 1:
                    out[i] |= 1 << (8 * byte + bit)
    return out


def over(count):
    """over(N)[i] = the bits of a register that are summed into bit i of the register N zero bytes later."""
    return _matrix(lambda register: (register >> 8) ^ _TABLE[register & 0xFF], count)


def back(count):
    """The reverse of over(N)."""
    def before(register):
        for _ in range(8):
            register = ((register ^ POLY) << 1 | 1) if register >> 31 else register << 1
        return register
    return _matrix(before, count)


def _matrix(change, count):
    out = [0] * 32
    for bit in range(32):
        register = 1 << bit
        for _ in range(count):
            register = change(register)
        for i in range(32):
            out[i] |= (register >> i & 1) << bit
    return out


def residues(count):
    """The register behind a message with its CRC and 0, 1, .. words of zeros."""
    matrix, register, found = over(4), zlib.crc32(zlib.crc32(b"x").to_bytes(4, "little"), zlib.crc32(b"x")) ^ 0xFFFFFFFF, []
    for _ in range(count):
        found.append(register)
        register = step(matrix, 32, register, bytes(4))
    return found


def step(matrix, width, register, message):
    """One application of the parities, as the RTL does it."""
    count = width // 8
    data = bytearray(message)
    for k in range(4):
        data[k] ^= register >> (8 * k) & 0xFF
    x = int.from_bytes(bytes(count - len(data)) + bytes(data), "little")
    return sum((bin(x & matrix[i]).count("1") & 1) << i for i in range(32))


def self_check():
    """Raises when the matrices disagree with zlib."""
    rng = random.Random(1)
    for width in WIDTHS:
        matrix = masks(width)
        for length in list(range(4, width // 8 + 1)):
            first, second = rng.randbytes(width // 8), rng.randbytes(length)
            register = step(matrix, width, 0xFFFFFFFF, first)
            register = step(matrix, width, register, second)
            if register ^ 0xFFFFFFFF != zlib.crc32(first + second):
                raise AssertionError(f"CRC matrix of {width} bits is wrong for {length} bytes")
    for count in {*OVER, *BACK}:
        before = zlib.crc32(rng.randbytes(9)) ^ 0xFFFFFFFF
        behind = zlib.crc32(bytes(count), before ^ 0xFFFFFFFF) ^ 0xFFFFFFFF
        if step(over(count), 32, before, bytes(4)) != behind or step(back(count), 32, behind, bytes(4)) != before:
            raise AssertionError(f"CRC matrix over {count} bytes of zeros is wrong")
