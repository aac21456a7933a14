#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: hostile.py MRC PROGRAM [--clients N] [--seed N] [MRC HOST OPTIONS...]

Processes that speak to a host's socket and are no lib_mrc.so: bytes at random, right messages with wrong values, right
ones in a wrong order, ones that end in the middle. The host answers or sends them away, and then serves PROGRAM (two
processes of it, as run.py starts them) as if nothing had been."""
import argparse
import ctypes
import errno
import os
import random
import socket
import struct
import sys
import tempfile
from pathlib import Path

import run

# Kinds of libmrc/messages.hpp, in order, with the bytes of those that a program sends.
KINDS = ["hello", "device", "open", "alloc_pd", "dealloc_pd", "reg_mr", "dereg_mr", "create_qp", "modify_qp",
         "query_qp", "destroy_qp", "post_send", "post_recv", "say", "answer", "completion", "failure", "query_port",
         "modify_port", "port_change", "controller", "modify_format", "query_format", "modify_ev_profile", "query_ev_profile",
         "ev_entry", "modify_cc_profile", "query_cc_profile", "ev_event", "ep_request", "ep_wait", "ep_answer", "post_gather", "post_inline"]
BYTES = {"hello": 24, "device": 4, "open": 4, "alloc_pd": 1, "dealloc_pd": 4, "reg_mr": 40, "dereg_mr": 4,
         "create_qp": 16, "modify_qp": 112, "query_qp": 4, "destroy_qp": 4, "post_send": 56, "post_gather": 192, "post_inline": 312, "post_recv": 16, "say": 240,
         "query_port": 4, "modify_port": 8, "controller": 1, "modify_format": 48, "query_format": 8, "modify_ev_profile": 376,
         "query_ev_profile": 8, "ev_entry": 96, "modify_cc_profile": 80, "query_cc_profile": 8, "ep_request": 40, "ep_wait": 4}
SURE = ["alloc_pd", "alloc_pd", "dealloc_pd", "reg_mr", "reg_mr", "dereg_mr", "create_qp", "create_qp", "modify_qp",
        "modify_qp", "query_qp", "destroy_qp", "query_port", "modify_port", "say",
        "controller", "modify_format", "modify_format", "query_format", "modify_ev_profile", "modify_ev_profile", "query_ev_profile",
        "ev_entry", "ev_entry", "modify_cc_profile", "query_cc_profile"]  # after which a client goes on
MAGIC, VERSION = 0x6d726331, 4


def head(kind, count):
    return struct.pack("<II", count, KINDS.index(kind))


class Client:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(run.SECONDS)
        self.socket.connect(path)
        self.word = ctypes.c_uint64(0x1234567812345678)
        self.known = [0]  # numbers that the host has given out

    def hello(self):
        body = struct.pack("<IIQQ", MAGIC, VERSION, ctypes.addressof(self.word), self.word.value)
        return self.ask(head("hello", len(body)) + body)

    def open(self, index):
        return self.ask(head("open", 4) + struct.pack("<I", index))

    def ask(self, message):
        """The answer's body, or None: it was sent away."""
        try:
            self.socket.sendall(message)
            while True:
                count, kind = struct.unpack("<II", self.take(8))
                body = self.take(count)
                if KINDS[kind] == "answer":
                    if len(body) == 8 and body[:4] == bytes(4):
                        self.known.append(struct.unpack("<II", body)[1])
                    return body
        except (BrokenPipeError, ConnectionResetError, EOFError):
            return None

    def send(self, message):
        """False: it was sent away."""
        try:
            self.socket.sendall(message)
        except (BrokenPipeError, ConnectionResetError):
            return False
        return True

    def take(self, count):
        got = b""
        while len(got) < count:
            part = self.socket.recv(count - len(got))
            if not part:
                raise EOFError
            got += part
        return got


def values(rng, client, count):
    """Numbers that may mean something, and those that do most harm."""
    wrong = (0, 1, 2, 3, 15, 16, 17, 255, 4096, 0x7fffffff, 0x80000000, 0xffffffff)
    words = [rng.choice(client.known) if rng.random() < 0.4 else rng.choice((*wrong, rng.getrandbits(32)))
             for _ in range(count // 4 + 1)]
    return b"".join(struct.pack("<I", word) for word in words)[:count]


def right(rng, client, kind, count):
    """A message that is nearly right: its first number is one that the host knows, and so on."""
    body = bytearray(values(rng, client, count))
    body[:4] = struct.pack("<I", client.known[-1])
    if kind == "reg_mr":
        body[4:40] = struct.pack("<IIIQQQ", rng.randrange(2), 1, 0, ctypes.addressof(client.word),
                                 ctypes.addressof(client.word), rng.choice((1, 8, 1 << 41)))
    if kind == "create_qp":
        body[4:16] = struct.pack("<III", rng.randrange(2), rng.choice((0, 1, 4096)), rng.choice((0, 1, 4096)))
    if kind == "modify_qp":
        state, mtu, mpr = rng.randrange(6), rng.choice((256, 1000, 4096)), rng.choice((1, 8, 33))
        with_all, gid = rng.choice((1, 0x85, 0x7b, 0xfb, 0x1ffff)), bytes([0xfd] + [0] * 14 + [rng.randrange(4)])
        body[4:112] = struct.pack("<19I", with_all, state, 0, mtu, 16, 0, 0, 1, mpr, mpr, 32, 32, 7, 7, 0, 0, 1, 0,
                                  0) + bytes(16) + gid
    if kind in ("modify_format", "modify_ev_profile", "ev_entry", "modify_cc_profile"):
        body[:8] = struct.pack("<Q", rng.randrange(3))
    if kind == "modify_format":
        body[8:28] = struct.pack("<5I", rng.choice((1, 5, 13, 9)), rng.randrange(3), 0, rng.choice((1, 2, 4)), rng.randrange(17))
        body[28:44] = bytes(rng.choice((1, 8, 16, 32)) for _ in range(16))
    if kind == "modify_ev_profile":
        body[8:56] = struct.pack("<IIIIIIIIQII", rng.choice((1, 0x35, 0x3d, 0xff)), 0, rng.randrange(3), 0, rng.choice((1, 2, 4)),
                                 rng.choice((1, 8, 256)), 1, rng.randrange(4), rng.randrange(3), rng.randrange(17), 16)
    if kind == "ev_entry":
        body[8:24] = struct.pack("<4I", rng.randrange(4), rng.randrange(8), rng.choice((1, 4)), rng.randrange(2))
        body[24:56], body[60:92] = bytes(32), rng.randbytes(32)
        body[56:60], body[92:96] = bytes(4), struct.pack("<I", rng.randrange(10))
    if kind == "modify_cc_profile":
        body[8:28] = struct.pack("<5I", rng.choice((1, 5, 13, 9)), rng.randrange(3), 0, rng.randrange(2), 1)
    return bytes(body)


def misbehave(path, rng):
    """One client. Returns how many of its messages were answered."""
    client = Client(path)
    style = rng.randrange(4)
    if style == 0:  # no message at all
        client.send(rng.randbytes(rng.randrange(1, 2000)))
        return 0
    answered = 0
    if client.hello() is None or (rng.random() < 0.9 and client.open(rng.randrange(2)) is None):
        return 0
    for _ in range(rng.randrange(1, 30)):
        kind = rng.choice(SURE if rng.random() < 0.9 else list(BYTES))
        count = BYTES[kind] if rng.random() < 0.99 else rng.randrange(600)
        if count == BYTES[kind] and rng.random() < 0.8:
            body = right(rng, client, kind, count)
        else:
            body = values(rng, client, count)
        if kind in ("post_send", "post_gather", "post_inline", "post_recv", "say", "ep_request"):
            if not client.send(head(kind, count) + body):
                break
            continue
        if style == 1 and rng.random() < 0.05:  # ends in the middle
            client.send((head(kind, count) + body)[:rng.randrange(1, 8 + count)])
            break
        if client.ask(head(kind, count) + body) is None:
            break
        answered += 1
    client.socket.close()
    return answered


def speak_another_version(path):
    client = Client(path)
    body = struct.pack("<IIQQ", MAGIC, VERSION + 1, ctypes.addressof(client.word), client.word.value)
    error, = struct.unpack_from("<i", client.ask(head("hello", len(body)) + body) or bytes(4))
    if error != errno.EPROTO:
        sys.exit(f"another version is answered by {error}")


def enable_ports(path, index):
    client = Client(path)
    client.hello()
    client.open(index)
    for port in range(1, 9):
        client.ask(head("modify_port", 8) + struct.pack("<II", port, 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mrc")
    parser.add_argument("program")
    parser.add_argument("--clients", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options, rest = parser.parse_known_args()
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        with open(place / "log", "w", encoding="utf-8") as log:
            host = run.start_host(options.mrc, rest, place, log)
            try:
                path = str(place / "mrc/host")
                speak_another_version(path)
                answered = sum(misbehave(path, rng) for _ in range(options.clients))
                if answered < options.clients:
                    sys.exit(f"{answered} messages of {options.clients} clients were answered: too few to mean anything")
                for index in range(2):
                    enable_ports(path, index)
                run.run_two(options.program, [], {**os.environ, "MRC_HOST": path})
            finally:
                print(run.stop_host(host), end="")
        print(f"seed {options.seed}: {options.clients} clients, {answered} of their messages answered")
    return 0


if __name__ == "__main__":
    sys.exit(main())
