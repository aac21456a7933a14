# SPDX-License-Identifier: Apache-2.0
"""Logs and captures that are not what they say, and those who check, import, redact and print them."""
import struct
import zlib
from pathlib import Path

from hostile.captures import ETHERNET, FRAME, HEADER, IDB, PACKET
from hostile.case import Case, refused
from hostile.things import Disk, Fifo, Folder, Node, Text

# Python expressions of the bytes of a log (docs/reference/log.md). A block's zstd frame is written by hand: raw, or one
# byte again and again, so that a few bytes stand for a megabyte.
TOOLS = "(lambda zlib, pack: (lambda header, block, raw, again: {})(" \
        "lambda major=1, minor=0: (lambda h: h + pack('<I', zlib.crc32(h)))(b'MRCLOG\\r\\n' + pack('<HH', major, minor)), " \
        "lambda kind, stored, plain, records: (lambda h: h + pack('<I', zlib.crc32(h + stored)) + stored)" \
        "(pack('<4I', kind, len(stored), plain, records)), " \
        "lambda b: b'\\x28\\xb5\\x2f\\xfd\\xa0' + pack('<I', len(b)) + pack('<I', 1 | len(b) << 3)[:3] + b, " \
        "lambda byte, count: b'\\x28\\xb5\\x2f\\xfd\\xa0' + pack('<I', count << 17) + b''.join(" \
        "pack('<I', (n == count - 1) | 2 | 131072 << 3)[:3] + bytes([byte]) for n in range(count))" \
        "))(__import__('zlib'), __import__('struct').pack)"


def log(expression):
    return Text(expression=TOOLS.replace("{}", expression))


def record(kind, device, *fields):
    """Its bytes: of a text its length first."""
    body = bytes([device, 0]) + b"".join(bytes([f]) if isinstance(f, int) else bytes([len(f)]) + f for f in fields)
    return bytes([kind, len(body)]) + body


def whole(*records):
    plain = b"".join(records)
    return log(f"header() + block(1, raw({plain!r}), {len(plain)}, {len(records)}) + "
               f"block(2, pack('<Q', {len(records)}), 0, 0)")


def number(value):
    """LEB128."""
    low = bytes([value & 127 | (128 if value > 127 else 0)])
    return low + number(value >> 7) if value > 127 else low


def many_qps(count, evs):
    """The bytes of a log of so many QPs that each have so many EVs."""
    def crc(head, rest=b""):
        return head + struct.pack("<I", zlib.crc32(head + rest)) + rest

    def block(records):
        plain = b"".join(records)
        parts = [plain[at:at + 131072] for at in range(0, len(plain), 131072)]
        stored = b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<I", len(plain)) + b"".join(
            struct.pack("<I", (part is parts[-1]) | len(part) << 3)[:3] + part for part in parts)
        return crc(struct.pack("<4I", 1, len(stored), len(plain), len(records)), stored)

    def qp(n):
        body = b"\0\0" + number(n) * 2 + b"\3\0" + number(4096) + bytes(4) + b"\x08\x08\0\x20\x20\7\7\0\1\0\0\0" \
            + number(65535) + b"\0" + bytes(15) + b"\1" + bytes(15) + b"\2" + known
        return b"\3" + number(len(body)) + body

    known = number(evs) + b"".join(map(number, range(evs))) + number(evs) + bytes(evs) + b"\0"
    each = 1000000 // len(qp(count))
    blocks = [block([qp(n) for n in range(first, min(first + each, count + 1))]) for first in range(1, count + 1, each)]
    return crc(b"MRCLOG\r\n" + struct.pack("<HH", 1, 4)) + b"".join(blocks) + crc(
        struct.pack("<4I", 2, 8, 0, 0), struct.pack("<Q", count))


def many(count, evs):
    """The same, made when it is wanted; also by a shell."""
    here = str(Path(__file__).resolve().parents[1])
    return Text(expression=f"(__import__('sys').path.insert(0, {here!r}), __import__('hostile.logs'))[1].logs."
                           f"many_qps({count}, {evs})")


GOOD = whole(record(0, 0, b"nic", b"{}"), record(14, 0, 0, b"done"))
# 87381 records in each block: an Until of a newer version, 12 times the byte 10.
LONG = log("header(1, 9) + 2000 * block(1, (lambda b: b'\\x28\\xb5\\x2f\\xfd\\xa0' + pack('<I', 1048572) + b)(b''.join("
           "pack('<I', (n == 7) | 2 | (131072 - 4 * (n == 7)) << 3)[:3] + b'\\n' for n in range(8))), 1048572, 87381)")
MISTAKES = [  # a name, the log, what the sentence says
    ("empty", Text(""), r"x\.log"),
    ("text", Text("a line\n"), r"x\.log.*no"),
    ("half a header", log("header()[:9]"), r"x\.log: byte 0: .*header"),
    ("wrong CRC of the header", log("header()[:-1] + b'?'"), r"x\.log: byte 0: .*CRC"),
    ("newer version", log("header(2, 0)"), r"x\.log: byte 8: .*version 2\.0"),
    ("wrong CRC of a block", log("header() + block(1, raw(b'abc'), 3, 1)[:-1] + b'?'"), r"x\.log: byte 16: .*CRC"),
    ("zstd bomb", log("header() + block(1, again(0, 1 << 14), 1 << 20, 1)"), r"x\.log: byte 16: .*zstd"),
    ("zstd bomb that says so", log("header() + block(1, again(0, 1 << 14), 1 << 31, 1)"),
     r"x\.log: byte 16: .*2147483648"),
    ("absurd length of a block", log("header() + pack('<5I', 1, 0xffffffff, 9, 1, 0)"), r"x\.log: byte 16: .*4294967295"),
    ("no zstd", log("header() + block(1, b'abcdefgh', 8, 1)"), r"x\.log: byte 16: .*zstd"),
    ("more records than bytes", log("header() + block(1, raw(bytes(100)), 100, 0xffffffff)"), r"x\.log: byte 16: "),
    ("absurd length of a record", log("header() + block(1, raw(b'\\x0d\\xff\\xff\\xff\\x7f'), 5, 1)"),
     r"x\.log: byte 16: .*longer"),
    ("text of 2^60 bytes", log("header() + block(1, raw(b'\\x0d\\x0b\\0\\0' + b'\\xff' * 8 + b'\\x0f'), 13, 1)"),
     r"x\.log: byte 16: .*too long"),
    ("unknown kind", log("header() + block(1, raw(b'\\x63\\x02\\0\\0'), 4, 1)"), r"x\.log: byte 16: .*kind 99"),
    ("records that were not counted", log("header() + block(2, pack('<Q', 7), 0, 0)"), r"x\.log: byte 16: .*7 records"),
    ("garbage behind the end", log("header() + block(2, pack('<Q', 0), 0, 0) + b'garbage behind'"), r"x\.log: byte 44: "),
]
PROFILES = [
    ("unknown key", '{"plans": 2}', r"p\.json:1:2: .*planes"), ("NaN", '{"port_gbps": NaN}', r"p\.json:1:15: "),
    ("10^9 planes", '{"planes": 1000000000}', r"p\.json:1:12: .*out of range"),
    ("below 0", '{"take_ps": -1}', r"p\.json:1:13: .*out of range"), ("empty", "", r"p\.json"),
    ("a list", "[]", r"p\.json:1:1: "), ("2^64", '{"skew_ps": 18446744073709551616}', r"p\.json:1:13: "),
    ("deep", "'[' * 1000000", r"p\.json:1:65: "), ("key twice", '{"planes": 1, "planes": 2}', r"p\.json:1:\d+: .*twice"),
]
READERS = {"check": "check x.log", "replay": "replay x.log", "info": "log info x.log", "print": "log print x.log",
           "redact": "log redact x.log -o out", "cat": "log cat x.log x.log -o out"}
# A pcap of the packet of captures.py, little endian, microseconds; its header, and the header of the packet.
PCAP = "__import__('struct').pack('<IHHiIII', 0xa1b2c3d4, 2, 4, 0, 0, 65535, {})"
FRAME_HEAD = "__import__('struct').pack('<4I', 1, 0, {}, {})"
GZIP, ZSTD = "__import__('gzip').compress({}, 6, mtime=0)", "bytes.fromhex('28b52ffd') + {}"
WHOLE = f"{HEADER} + {ETHERNET} + {PACKET}"
CAPTURES = [
    ("empty", Text(""), r"x\.cap"), ("half a header", Text(expression=f"{HEADER}[:8]"), r"x\.cap"),
    ("pcap, half a header", Text(expression=f"({PCAP.format(1)})[:20]"), r"x\.cap: byte 0: too short"),
    ("pcap of version 0", Text(b"\xd4\xc3\xb2\xa1\0\0\4\0" + bytes(100)), r"x\.cap: byte 4: pcap version 0\.4"),
    ("pcap, packet of 4 GB", Text(expression=f"{PCAP.format(1)} + {FRAME_HEAD.format(4294967295, 1)} + bytes(99)"),
     r"x\.cap: byte 32: packet of 4294967295 bytes"),
    ("pcap, cut", Text(expression=f"{PCAP.format(1)} + {FRAME_HEAD.format(200, 200)} + bytes(99)"),
     r"x\.cap: byte 32: packet of 200 bytes .* 99 bytes are left"),
    ("pcap, other magic", Text(expression=f"b'\\xd4\\xc3\\xb2\\xa2' + ({PCAP.format(1)})[4:]"), r"x\.cap"),
    ("gzip, cut", Text(expression=f"({GZIP.format(WHOLE)})[:-20]"), r"x\.cap: byte \d+: .*unpacked: it ends too early"),
    ("gzip, damaged", Text(expression=f"(lambda b: b[:30] + bytes([b[30] ^ 255, b[31] ^ 255]) + b[32:])"
                                      f"({GZIP.format(WHOLE)})"), r"x\.cap"),
    ("gzip of text", Text(expression=GZIP.format("b'a line'")), r"x\.cap \(unpacked\): byte 0: no capture"),
    ("gzip of gzip", Text(expression=GZIP.format(GZIP.format(WHOLE))), r"x\.cap \(unpacked\): byte 0: no capture"),
    ("zstd, nothing behind", Text(expression=ZSTD.format("b''")), r"x\.cap: byte 4: .*ends too early"),
    ("zstd, a window of 4 TB", Text(expression=ZSTD.format("bytes.fromhex('00ff000000')")), r"x\.cap: byte \d+: .*unpacked"),
    ("zstd bomb", Text(expression=ZSTD.format(
        "bytes.fromhex('a0') + __import__('struct').pack('<I', 1 << 31) + b''.join(__import__('struct')"
        ".pack('<I', (n == 16383) | 2 | 131072 << 3)[:3] + b'\\n' for n in range(16384))")),
     r"x\.cap: byte \d+: .*too much memory"),
    ("block of 0 bytes", Text(expression=f"{HEADER} + {ETHERNET} + bytes.fromhex('06000000' + '00000000' * 9)"),
     r"x\.cap: byte \d+: block length 0"),
    ("block of 4 GB", Text(expression=f"{HEADER} + {ETHERNET} + bytes.fromhex('06000000' + 'f0ffffff' * 9)"),
     r"x\.cap: byte \d+: block length 4294967280"),
    ("cut", Text(expression=f"({HEADER} + {ETHERNET} + {PACKET})[:-7]"), r"x\.cap: byte \d+: "),
]
# Packets that nobody can judge are no pass: a capture, what is said of it.
UNJUDGED = [
    ("of another link type", Text(expression=f"{HEADER} + {IDB.replace('{}', '6900')} + {PACKET}"),
     r"1 packet of a link type that is not read \(the first one: 105\)"),
    ("cooked, shorter than its header", Text(expression=f"{PCAP.format(276)} + {FRAME_HEAD.format(3, 100)} + bytes(3)"),
     r"1 packet of a link type that is not read"),
    ("cut before the BTH", Text(expression=f"{PCAP.format(1)} + {FRAME_HEAD.format(60, 117)} + bytes.fromhex('{FRAME}')[:60]"),
     r"1 packet cut before the end of the BTH"),
    ("no packet", Text(expression=HEADER), r"0 packets of 0 devices"),
    ("tags without end", Text(expression=f"{PCAP.format(1)} + {FRAME_HEAD.format(40012, 40012)} + bytes(12) + "
                                         "bytes.fromhex('81000001') * 10000"), r"1 packet neither IPv4 nor IPv6"),
    ("extension headers without end", Text(
        expression=f"{PCAP.format(101)} + {FRAME_HEAD.format(40040, 40040)} + bytes.fromhex('6000000000000001') + bytes(32)"
                   " + bytes(40000)"), r"1 packet "),
]


# Who judges a log, and what it writes; who only reads one, with what it says of QPs without packets.
JUDGES = ["check x.log", "replay x.log", "check x.log --pages out", "check x.log --html out", "check x.log --trace out",
          "check x.log --annotate out", "check x.log --coverage out", "check x.log --bins out", "check x.log --gains",
          "mutate --log x.log --count 5"]
ONLY_READ = {"log info x.log": (0,), "log print x.log": (0,), "log redact x.log -o out": (0,), "log cat x.log x.log -o out": (0,),
             "picture x.log --out out": (3,)}
CROWDS = [  # a name, QPs, EVs of each, whether they are judged
    ("QPs", 100000, 0, True), ("EVs", 200, 16384, False), ("QPs without end", 200000, 0, False),
]


def crowded():
    """Logs of 7 to 14 MB that name very much: what is held of it is bounded, 1 GB at most, and more is refused by name."""
    for name, count, evs, judged in CROWDS:
        common = {"files": {"x.log": many(count, evs)}, "limits": {"AS": 1200 << 20}, "seconds": 10, "may": ("out", "out/*")}
        for line in JUDGES:
            right = {"code": (3, 5)} if judged else {"code": (3,), "err": ("QPs and EVs than are checked",)}
            yield Case(f"log: {line}, very many {name}", tuple(line.split()), **right, never=("not enough memory",), **common)
        for line, code in ONLY_READ.items():
            yield Case(f"log: {line}, very many {name}", tuple(line.split()), code=code, never=("not enough memory",), **common)


def cases():
    for name, content, says in MISTAKES:
        for reader, line in READERS.items():
            yield Case(f"log: {reader}, {name}", tuple(line.split()), code=(3,), err=(says,), files={"x.log": content},
                       limits={"AS": 1 << 30}, seconds=4)
    for name, content, says in CAPTURES:
        yield Case(f"capture: check, {name}", ("check", "x.cap"), code=(3,), err=(says,), files={"x.cap": content})
        yield Case(f"capture: import, {name}", tuple("log import x.cap -o out".split()), code=(3,), err=(says,),
                   files={"x.cap": content})
        yield Case(f"capture: decode, {name}", ("decode", "x.cap"), code=(3,), err=(says,), files={"x.cap": content})
    for name, content, says in UNJUDGED:
        yield Case(f"capture: check, {name}", ("check", "x.cap", "--json", "a.json"), code=(5,), out=(says, "inconclusive"),
                   makes={"a.json": "json"}, files={"x.cap": content})
        yield Case(f"capture: decode, {name}", ("decode", "x.cap"), code=(0,), files={"x.cap": content})
    for name, text, says in PROFILES:
        content = Text(expression=text) if text.startswith("'") else Text(text)
        yield refused(f"profile: {name}", "check x.log --profile p.json".split(), says,
                      files={"x.log": GOOD, "p.json": content})
    yield Case("profile in a log: NaN", ("check", "x.log"), code=(3,), err=(r"profile of device 'nic':1:\d+: ",),
               files={"x.log": whole(record(0, 0, b"nic", b'{"planes": NaN}'))})
    for reader, line in READERS.items():
        yield refused(f"log: {reader}, is a folder", line.split(), r"x\.log.*folder", files={"x.log": Folder()})
        yield refused(f"log: {reader}, endless", line.split(), r"x\.log", files={"x.log": Node(5)},
                      limits={"AS": 1 << 30})
    # Nothing to judge, or not all of it: no pass.
    yield Case("log: check, good and without packets", ("check", "x.log"), code=(5,), out=("inconclusive",),
               files={"x.log": GOOD})
    yield Case("log: check, not finished", ("check", "x.log", "--json", "a.json"), code=(5,), makes={"a.json": "json"},
               out=(r"x\.log was not finished",), files={"x.log": log("header() + block(1, raw(b'\\0\\4\\0\\0\\0\\0'), 6, 1)")})
    yield Case("log: check, devices without end", ("check", "x.log"), code=(3,), err=(r"more than 4096 devices",),
               files={"x.log": log("(lambda b: header() + block(1, raw(b), len(b), 9000))(b''.join(bytes([0, 5, "
                                   "n & 127 | 128, n >> 7, 0, 0, 0]) for n in range(9000)))")})
    yield from crowded()
    yield refused("check: --at with a log", "check x.log --at fd00::1".split(), r"--at.*x\.log", files={"x.log": GOOD})
    yield refused("check: --at with another capture", "check x.cap --at fd00::1=y.cap".split(), r"--at.*y\.cap",
                  files={"x.cap": Text(expression=f"{HEADER} + {ETHERNET} + {PACKET}")})
    yield Case("check: standard input that is nothing", ("check", "-"), code=(3,), stdin=b"",
               err=("nothing stands in it",))
    # Outputs: whole or not there.
    for option in ("--json", "--html"):
        yield Case(f"check: {option}, full device", ("check", "x.log", option, "node"), code=(3,),
                   err=(r"node.*(space|full)",), files={"x.log": GOOD, "node": Node(7)})
    yield Case("log redact: full disk", tuple("log redact x.log -o disk/a".split()), code=(3,), err=(r"disk/a.*space",),
               files={"x.log": LONG, "disk": Disk(4096)}, seconds=60)
    yield Case("check: nobody reads the page", ("check", "x.log", "--html", "-"), code=(3, 5), stdout="gone",
               files={"x.log": GOOD})
    # Signals: what was found so far is told, once more ends at once, nothing half-written stays.
    for word in ("INT", "TERM", "HUP"):
        yield Case(f"SIG{word}: check", tuple("check x.log --json a.json --html a.html".split()), code=(5,),
                   out=(r"stopped: what follows",), makes={"a.json": "json", "a.html": ""}, files={"x.log": LONG},
                   signals=(word,))
    yield Case("SIGINT: check --annotate", tuple("check x.log --annotate d".split()), code=(3,),
               err=(r"--annotate was not written",), files={"x.log": LONG}, may=("d",), signals=("INT",))
    yield Case("SIGINT SIGINT: check", tuple("check x.log --json a.json".split()), code=(5, -2), may=("a.json",),
               files={"x.log": LONG}, signals=("INT", "INT"))
    for line in ("check -", "replay -"):
        yield Case(f"SIGINT: {line} waits", tuple(line.split()), code=(5,), stdin="open", signals=("INT",),
                   ready="seconds 0.3", seconds=4)
    yield Case("SIGINT: check waits for a FIFO", ("check", "fifo"), code=(3, 5, -2), signals=("INT",),
               files={"fifo": Fifo(0)}, ready="seconds 0.3", seconds=4)
    for line in ("log redact x.log -o out", "log print x.log", "log info x.log"):
        yield Case(f"SIGTERM: {line}", tuple(line.split()), code=(-15,), files={"x.log": LONG}, signals=("TERM",),
                   ready="cpu 0.2")
