# SPDX-License-Identifier: Apache-2.0
"""What may lie in a case's folder before the run: files, folders, links, devices, FIFOs, small disks."""
import ctypes
import os
import shlex
import stat
from dataclasses import dataclass

LIBC = ctypes.CDLL(None, use_errno=True)
NEWNS, REC_PRIVATE, NOBODY = 0x20000, 0x4000 | 0x40000, 65534


def own_mounts():
    """Lets this process mount without anyone else seeing it. False where that is not allowed."""
    return LIBC.unshare(NEWNS) == 0 and LIBC.mount(b"none", b"/", None, REC_PRIVATE, None) == 0


def mount_tmpfs(path, size):
    """A disk of so many bytes. False where that is not allowed."""
    return LIBC.mount(b"tmpfs", os.fsencode(path), b"tmpfs", 0, f"size={size}".encode()) == 0


def unmount(path):
    LIBC.umount2(os.fsencode(path), 2)


@dataclass(frozen=True)
class Text:
    """A file: its content, or with expression the Python expression of it (for what is too long to be pasted)."""
    content: str | bytes = ""
    mode: int = 0o644
    expression: str = ""

    def data(self):
        content = eval(self.expression) if self.expression else self.content  # our own tables
        return content if isinstance(content, bytes) else content.encode()

    def make(self, path):
        path.write_bytes(self.data())
        path.chmod(self.mode)

    def shell(self, name):
        if self.expression:
            write = f"d = {self.expression}; import sys; sys.stdout.buffer.write(d if type(d) is bytes else d.encode())"
            text = f"/usr/bin/python3 -c {shlex.quote(write)} >{shlex.quote(name)}"
        else:
            quoted = "".join(chr(b) if 32 <= b < 127 and chr(b) not in "\\'%" else f"\\{b:03o}" for b in self.data())
            text = f"printf '{quoted}' >{shlex.quote(name)}"
        return text + (f"; chmod {self.mode:o} {shlex.quote(name)}" if self.mode != 0o644 else "")


@dataclass(frozen=True)
class Folder:
    mode: int = 0o755

    def make(self, path):
        path.mkdir()
        path.chmod(self.mode)

    def shell(self, name):
        return f"mkdir -m {self.mode:o} {name}"


@dataclass(frozen=True)
class Link:
    target: str
    hard: bool = False

    def make(self, path):
        if self.hard:
            os.link(path.parent / self.target, path)
        else:
            path.symlink_to(self.target)

    def shell(self, name):
        return f"ln {'' if self.hard else '-s '}{self.target} {name}"


@dataclass(frozen=True)
class Node:
    """A character device of our own: 3 takes everything, 5 gives zeros, 7 is full."""
    minor: int

    def make(self, path):
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, self.minor))
        path.chmod(0o666)

    def shell(self, name):
        return f"mknod -m 666 {name} c 1 {self.minor}"


@dataclass(frozen=True)
class Fifo:
    """With a reader of the given number of bytes, then it goes away; 0: nobody reads."""
    reads: int = 1 << 40

    def make(self, path):
        os.mkfifo(path)

    def shell(self, name):
        if not self.reads:
            return f"mkfifo {name}"
        return f"mkfifo {name}; head -c {min(self.reads, 1 << 30)} {name} >{name}.read &"


@dataclass(frozen=True)
class Disk:
    """A disk of its own with so many bytes."""
    size: int

    def make(self, path):
        path.mkdir()
        if not mount_tmpfs(path, self.size):
            raise OSError(f"cannot mount {path}")

    def shell(self, name):
        return f"mkdir {name}; mount -t tmpfs -o size={self.size} tmpfs {name}"


# Draws a picture as gnuplot would: wherever the script on its command line, or on its input, says.
GNUPLOT = """#!/bin/sh
file=$(cat "$@" | sed -n "s/^set output ['\\"]\\(.*\\)['\\"]/\\1/p" | tail -n 1)
if [ "$file" ]; then exec >"$file"; fi
%s
"""
PICTURE = """printf '<svg xmlns="http://www.w3.org/2000/svg"></svg>\\n'
"""


def gnuplot(does=PICTURE):
    return {"bin": Folder(), "bin/gnuplot": Text(GNUPLOT % does, mode=0o755)}
