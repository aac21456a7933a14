# SPDX-License-Identifier: Apache-2.0
"""The host's memory: sparse, with a pattern where nobody has written."""
import hashlib

from .errors import DeviceError

PAGE = 4096
MAX_PAGES = 1 << 15
PERIOD = 65537
_PATTERNS = {}


def pattern(seq, offset, length):
    """Bytes offset .. of the pattern number seq."""
    block = _PATTERNS.get(seq)
    if block is None:
        if len(_PATTERNS) > 64:
            _PATTERNS.clear()
        block = hashlib.shake_128(str(seq).encode()).digest(PERIOD)
        _PATTERNS[seq] = block
    start = offset % PERIOD
    out = block[start:start + length]
    while len(out) < length:
        out += block[:length - len(out)]
    return out


class Memory:
    """Pages made when first touched; untouched memory reads as pattern 0 by its address."""

    def __init__(self):
        self.pages = {}

    def _page(self, index):
        page = self.pages.get(index)
        if page is None:
            if len(self.pages) >= MAX_PAGES:
                raise DeviceError(f"more than {MAX_PAGES * PAGE >> 20} MiB of memory were written.")
            page = bytearray(pattern(0, index * PAGE, PAGE))
            self.pages[index] = page
        return page

    def read(self, address, length):
        out = bytearray()
        while len(out) < length:
            at = address + len(out)
            index, offset = divmod(at, PAGE)
            size = min(PAGE - offset, length - len(out))
            page = self.pages.get(index)
            out += page[offset:offset + size] if page is not None else pattern(0, at, size)
        return bytes(out)

    def write(self, address, data):
        done = 0
        while done < len(data):
            index, offset = divmod(address + done, PAGE)
            size = min(PAGE - offset, len(data) - done)
            self._page(index)[offset:offset + size] = data[done:done + size]
            done += size
