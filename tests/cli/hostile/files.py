# SPDX-License-Identifier: Apache-2.0
"""Inputs that are not what they say: every reader of TOML, JSON, CSV and captures, and every kind of mistake."""
from hostile.captures import ETHERNET, FRAME, HEADER, PACKET, SHB
from hostile.case import Case, refused
from hostile.numbers import EVENTS, READERS
from hostile.outputs import NET, WRITE
from hostile.things import Folder, Link, Node, Text

GARBAGE = Text(expression="bytes((n * 167 + n // 256) % 256 for n in range(100000))")
ZEROS = Text(expression="bytes(100000)")
GOOD_TOML = {"cosim": 'base = "clean"\nqps = 4\n', "fabric": 'base = "small"\nseed = 4\n', "topo": NET,
             "nscc": "rate_gbps = 400\nbase_rtt = 10000\n"}
GOOD_JSON = {"encode": WRITE, "nscc": '{"rate_gbps": 400,\n "base_rtt": 10000}\n'}
TRACE = "id,start_us,from,to,bytes,after\na,0,nic0,nic1,1000,\nb,1,nic1,nic2,2000,a\n"
GOOD_CSV = {"nscc": EVENTS.content, "trace": TRACE}
TRACE_TOML = Text(f'[topology]\n{NET}[[traffic]]\npattern = "trace"\nfile = "x.csv"\n')

TOML_MISTAKES = [  # a name, what the file holds ({} is a good one), what the sentence says
    ("syntax", "{}key == 3\n", r"x\.toml:\d+:\d+: "),
    ("no value", "{}key =\n", r"x\.toml:\d+:\d+: "),
    ("open string", '{}key = "abc\n', r"x\.toml:\d+:\d+: "),
    ("open array", "{}key = [1, 2\n", r"x\.toml:\d+:\d+: "),
    ("key twice", "seed_of = 1\nseed_of = 2\n", r"x\.toml:2:\d+: "),
    ("unknown table", "{}[nothing]\na = 1\n", r"x\.toml:\d+:\d+: .*nothing"),
    ("unknown list", "{}[[nothing]]\na = 1\n", r"x\.toml:\d+:\d+: .*nothing"),
    ("deep arrays", "'a = ' + '[' * 100000", r"x\.toml.*(\n.*)?([Nn]est|deep|inside)"),
    ("deep closed arrays", "'a = ' + '[' * 100000 + ']' * 100000", r"x\.toml.*(\n.*)?([Nn]est|deep|inside)"),
    ("deep tables", "'a = ' + '{a = ' * 100000 + '1' + '}' * 100000", r"x\.toml.*(\n.*)?([Nn]est|deep|inside)"),
    ("long dotted key", "'a.' * 50000 + 'a = 1\\n'", r"x\.toml"),
    ("long dotted header", "'[' + 'a.' * 50000 + 'a]\\n'", r"x\.toml"),
    ("long header of lists", "'[[' + 'a.' * 50000 + 'a]]\\n'", r"x\.toml"),
    ("control character", "{}key = \"\x01\"\n", r"x\.toml:\d+:\d+: "),
    ("wrong UTF-8", b"key = \"\xff\xfe\"\n", r"x\.toml:\d+:\d+: "),
    ("NUL", b"a = 1\n\0\n", r"x\.toml:\d+:\d+: "),
    ("long line", "'a = \"' + 'x' * 1000000 + '\"\\n'", r"x\.toml:1:\d+: "),
    ("long key", "'k' * 100000 + ' = 1\\n'", r"x\.toml:1:\d+: "),
    ("JSON", '{"base": "clean"}\n', r"x\.toml:1:\d+: "),
    ("garbage", GARBAGE, r"x\.toml"),
    ("zeros", ZEROS, r"x\.toml"),
    ("100 MB", "'# comment\\n' * 10000000", r"x\.toml.*(large|size|MB|bytes)"),
]
MISSPELT = [  # the reader, a key that is nearly one of its keys, and that one
    ("cosim", 'bse = "clean"\n', "base"), ("cosim", 'base = "clean"\nqsp = 3\n', "qps"),
    ("cosim", 'base = "clean"\n[[rule]]\nlos = 0.1\n', "loss"),
    ("cosim", 'base = "clean"\n[[rules]]\nloss = 0.1\n', "rule"),
    ("fabric", 'base = "small"\nsede = 1\n', "seed"), ("fabric", 'base = "small"\n[topolgy]\nplanes = 8\n', "topology"),
    ("fabric", 'base = "small"\n[[traffic]]\npatern = "flow"\n', "pattern"),
    ("fabric", 'base = "small"\n[[traffic]]\npattern = "permutaton"\n', "permutation"),
    ("fabric", 'base = "small"\n[[event]]\nwat = "link-down"\n', "what"),
    ("topo", "leavs = 2\n", "leaves"), ("topo", NET + "plane = 2\n", "planes"), ("nscc", "gama = 0.5\n", "gamma"),
    ("nscc", "rate_gpbs = 100\n", "rate_gbps"),
]


def as_text(content, good=""):
    """A table's entry as a file: text with a hole, bytes, a Text, or a Python expression (it begins with a quote)."""
    if isinstance(content, Text):
        return content
    if isinstance(content, bytes):
        return Text(content)
    if content.startswith("'"):
        return Text(expression=content)
    return Text(content.replace("{}", good, 1) if content.startswith("{}") else content)


def toml_cases():
    for reader, line in READERS.items():
        extra, words = ({"events.csv": EVENTS} if reader == "nscc" else {}), line.split()
        for name, content, says in TOML_MISTAKES:
            yield refused(f"toml: {reader}, {name}", words, says, files={
                **extra, "x.toml": as_text(content, GOOD_TOML[reader])})
        good = GOOD_TOML[reader]
        for name, text in (("BOM", b"\xef\xbb\xbf" + good.encode()), ("CRLF", good.replace("\n", "\r\n")),
                           ("no newline at the end", good.rstrip()), ("comments", "# a\n" + good + "# b")):
            yield Case(f"toml: {reader}, {name}, good", tuple(words), files={**extra, "x.toml": Text(text)})
        yield from input_cases(f"toml: {reader}", words, "x.toml", extra)
        yield Case(f"toml: {reader}, FIFO", tuple(words[:-1] + ["/dev/stdin"]) if reader != "nscc" else
                   ("nscc", "events.csv", "--config", "x.toml"), stdin=good.encode(),
                   files=extra if reader != "nscc" else {**extra, "x.toml": Text(good)})
    for reader, text, known in MISSPELT:
        extra = {"events.csv": EVENTS} if reader == "nscc" else {}
        row = text.count("\n")
        yield refused(f"misspelt: {reader}, {known} in line {row}", READERS[reader].split(), r"x\.toml:\d+:\d+: ",
                      rf"\b{known}\b", files={**extra, "x.toml": Text(text)})


def input_cases(label, words, name, extra):
    """What is no regular file, or cannot be read."""
    yield refused(f"{label}, is missing", words, name, files=extra)
    yield refused(f"{label}, is a folder", words, name + r".*(folder|directory)", files={**extra, name: Folder()})
    yield refused(f"{label}, endless", words, name, files={**extra, name: Node(5)}, limits={"AS": 2 << 30}, seconds=8)
    if label in ("toml: cosim", "toml: nscc"):  # nothing is said, so all is as by default
        yield Case(f"{label}, a device that ends at once", tuple(words), files={**extra, name: Node(3)})
    else:
        yield refused(f"{label}, a device that ends at once", words, name, files={**extra, name: Node(3)})
    yield refused(f"{label}, may not be read", words, name, files={**extra, name: Text("x", mode=0)}, user="nobody")
    yield refused(f"{label}, links to itself", words, name, files={**extra, name: Link(name)})
    yield refused(f"{label}, empty name", [word.replace(name, "") for word in words], r"(\"\"|empty|name|file)",
                  files=extra)


JSON_MISTAKES = [
    ("cut", '{"bth": {"opcode"', ""), ("comma too many", '{"bth": {},}\n', ""), ("single quotes", "{'bth': 1}\n", ""),
    ("a number", "17\n", ""), ("a string", '"bth"\n', ""), ("null", "null\n", ""), ("NaN", '{"entropy": NaN}\n', ""),
    ("deep arrays", "'[' * 1000000 + ']' * 1000000", r"([Nn]est|deep|inside)"),
    ("deep objects", "'{\"a\":' * 1000000 + '1' + '}' * 1000000", r"([Nn]est|deep|inside)"),
    ("open deep arrays", "'[' * 1000000", ""), ("key twice", '{"mtu": 1, "mtu": 2}\n', r"mtu|bth|twice"),
    ("wrong UTF-8", b'{"\xff": 1}\n', ""), ("NUL", b'{"a": 1}\0\n', ""), ("empty", "", ""), ("garbage", GARBAGE, ""),
    ("zeros", ZEROS, ""), ("1e999", '{"mtu": 1e999, "entropy": 1e999, "gamma": 1e999}\n', ""),
    ("2^64", '{"mtu": 18446744073709551616, "entropy": 18446744073709551616}\n', ""),
    ("unknown key", '{"gama": 1, "bht": {}}\n', r"gama|bht"), ("TOML", 'base = "clean"\n', ""),
]
JSON_READERS = {"encode": "encode x.json", "nscc": "nscc events.csv --config x.json"}
# One key of a packet replaced.
FIELDS = ['"entropy": 3221225472', '"opcode": 202', '"psn": 1', '"va": 4096', '"r_key": 1', '"udp": {}', '"eth": {}',
          '"payload": "010203"', '"src": "fd00::1"', '"meth": {}']
NO_VALUES = ["-1", "1.5", "18446744073709551616", "1e999", '"x"', "null", "[]", "[1]", "true", '""', "1e400"]


def json_cases():
    for reader, line in JSON_READERS.items():
        extra, words = ({"events.csv": EVENTS} if reader == "nscc" else {}), line.split()
        for name, content, says in JSON_MISTAKES:
            yield refused(f"json: {reader}, {name}", words, r"x\.json", *([says] if says else []),
                          files={**extra, "x.json": as_text(content)})
        good = GOOD_JSON[reader]
        for name, text in (("BOM", b"\xef\xbb\xbf" + good.encode()), ("CRLF", good.replace("\n", "\r\n"))):
            yield Case(f"json: {reader}, {name}, good", tuple(words), files={**extra, "x.json": Text(text)})
        yield from input_cases(f"json: {reader}", words, "x.json", extra)
    for entry in FIELDS:
        field = entry.split('"')[1]
        for value in NO_VALUES:
            if (field, value) in (("payload", '""'), ("payload", '"x"')):
                continue
            # 1e999 is already no number for the reader of JSON: it says where, not of which field.
            says = rf"\b{field}\b" + (r"|:\d+:\d+|byte \d+" if value in ("1e999", "1e400") else "")
            yield refused(f"json: encode, {field} = {value}", ["encode", "x.json"], r"x\.json", says, files={
                "x.json": Text(WRITE.replace(entry, f'"{field}": {value}'))})
    twice = WRITE.replace('"psn": 1', '"psn": 1, "psn": 2')
    yield refused("json: encode, field twice", ["encode", "x.json"], r"x\.json.*psn", files={"x.json": Text(twice)})
    yield refused("json: encode, second packet is wrong", ["encode", "x.json", "--pcapng", "a.pcapng"], r"x\.json.*2",
                  files={"x.json": Text(WRITE + WRITE.replace("202", "-1"))})
    yield refused("json: encode, header is a string", ["encode", "x.json"], r"\bbth\b",
                  files={"x.json": Text('{"bth": "x"}\n')}, )


CSV_MISTAKES = {
    "nscc": [
        ("no header", "0,send,4188\n", ""), ("empty", "", ""),
        ("column twice", "time_ns,kind,bytes,bytes\n0,send,1,2\n", r"bytes"),
        ("unknown column", "time_ns,kind,byts\n0,send,1\n", r"bytes"),
        ("too few cells", "time_ns,kind,bytes\n0,send\n", r"x\.csv:2:"),
        ("too many cells", "time_ns,kind,bytes\n0,send,1,2\n", r"x\.csv:2:"),
        ("time goes back", "time_ns,kind,bytes\n9,send,1\n3,send,1\n", r"x\.csv:3:"),
        ("garbage", GARBAGE, ""), ("zeros", ZEROS, ""), ("NUL", b"time_ns,kind,bytes\n0,send,\x001\n", r"x\.csv:2:"),
        ("endless line", "'time_ns,' * 1000000", ""), ("open quotes", 'time_ns,kind,bytes\n0,"send,1\n', r"x\.csv:2:"),
    ],
    "trace": [
        ("no header", "a,0,nic0,nic1,1000,\n", r"x\.csv:1:"), ("empty", "", ""),
        ("header alone", "id,start_us,from,to,bytes,after\n", ""),
        ("column missing", "id,start_us,from,to\na,0,nic0,nic1\n", r"bytes"),
        ("column twice", "id,start_us,from,to,bytes,bytes\na,0,nic0,nic1,5,5\n", r"bytes"),
        ("unknown column", "id,start_us,from,to,byts,after\na,0,nic0,nic1,5,\n", r"bytes"),
        ("too few cells", TRACE + "c,0,nic0\n", r"x\.csv:4:"),
        ("too many cells", TRACE + "c,0,nic0,nic1,5,,,\n", r"x\.csv:4:"),
        ("unknown NIC", TRACE + "c,0,nic0,nic88,5,\n", r"x\.csv:4:.*nic88"),
        ("flow to itself", TRACE + "c,0,nic0,nic0,5,\n", r"x\.csv:4:"),
        ("id twice", TRACE + "a,0,nic0,nic1,5,\n", r"x\.csv:4:"),
        ("waits for itself", TRACE + "c,0,nic0,nic1,5,c\n", r"x\.csv:4:"),
        ("waits for nobody", TRACE + "c,0,nic0,nic1,5,zz\n", r"x\.csv:4:.*zz"),
        ("garbage", GARBAGE, ""), ("zeros", ZEROS, ""), ("endless line", "'id,' * 1000000", ""),
    ],
}
CSV_READERS = {"nscc": "nscc x.csv", "trace": "fabric --scenario s.toml"}
CELLS = {"nscc": [("time_ns", "{},send,1,,", True), ("bytes", "0,send,{},,", True), ("rtt_ns", "9,ack,0,{},", True),
                  ("ecn", "9,ack,0,,{}", True), ("kind", "0,{},1,,", False)],
         "trace": [("start_us", "a,{},nic0,nic1,5,", False), ("bytes", "a,0,nic0,nic1,{},", True),
                   ("from", "a,0,{},nic1,5,", False), ("to", "a,0,nic0,{},5,", False)]}
NO_CELLS = ["-1", "nan", "inf", "1e999", "x", "18446744073709551616", "9" * 400, "0x"]


def csv_cases():
    for reader, line in CSV_READERS.items():
        extra, words = ({"s.toml": TRACE_TOML} if reader == "trace" else {}), line.split()
        for name, content, says in CSV_MISTAKES[reader]:
            yield refused(f"csv: {reader}, {name}", words, r"x\.csv", *([says] if says else []),
                          files={**extra, "x.csv": as_text(content)})
        good = GOOD_CSV[reader]
        for name, text in (("BOM", b"\xef\xbb\xbf" + good.encode()), ("CRLF", good.replace("\n", "\r\n")),
                           ("no newline at the end", good.rstrip("\n"))):
            yield Case(f"csv: {reader}, {name}, good", tuple(words), files={**extra, "x.csv": Text(text)})
        header = "time_ns,kind,bytes,rtt_ns,ecn\n" if reader == "nscc" else TRACE.split("\n", maxsplit=1)[0] + "\n"
        for column, row, whole in CELLS[reader]:
            for value in NO_CELLS + (["1.5"] if whole else []):
                if (column, value) == ("kind", "x"):
                    continue
                yield refused(f"csv: {reader}, {column} = {value[:24]}", words, r"x\.csv:2:", column if whole else "",
                              files={**extra, "x.csv": Text(header + row.replace("{}", value) + "\n")})
        for problem in input_cases(f"csv: {reader}", words, "x.csv", extra):
            if reader == "nscc" or "empty name" not in problem.name:
                yield problem
    # What has no meaning is said: refused, or done without it.
    for name, text, word in (("ack for nothing sent", "time_ns,kind,bytes\n0,send,10\n9,ack,100\n", "sent|flight"),
                             ("ecn of a loss", "time_ns,kind,bytes,ecn\n0,send,10,\n9,loss,10,1\n", "ecn"),
                             ("penalty of a loss", "time_ns,kind,bytes,penalty\n0,send,10,\n9,loss,10,5\n", "penalty")):
        yield Case(f"csv: nscc, {name}", ("nscc", "x.csv"), code=(0, 3), says=(rf"(x\.csv:3:| 9 ).*({word})",),
                   files={"x.csv": Text(text)})
    # Columns count by name.
    swapped = "id,start_us,to,from,bytes,after\na,0,nic1,nic0,1000,\n"
    yield Case("csv: trace, columns in another order", tuple("fabric --scenario s.toml --report r".split()), files={
        "s.toml": TRACE_TOML, "x.csv": Text(swapped)}, makes={"r": "", "r/flows.csv": "row:nic0,nic1"},
               may=("r/*",))


CAPTURES = [
    ("empty", "b''"), ("garbage", GARBAGE.expression), ("zeros", "bytes(100000)"), ("text", "b'hello, world\\n' * 10"),
    ("version 2", SHB.replace("{}", "200") + " + " + ETHERNET),
    ("block of length 0", HEADER + " + bytes.fromhex('0600000000000000')"),
    ("block of length 2^32 - 1", HEADER + " + bytes.fromhex('06000000ffffffff') + bytes(1000)"),
    ("block of length 13", HEADER + " + bytes.fromhex('060000000d000000') + bytes(1000)"),
    ("packet before its interface", HEADER + " + " + PACKET),
    ("two lengths", HEADER + " + " + ETHERNET + "[:-4] + bytes.fromhex('18000000')"),
    *((f"cut after {n} bytes", f"({HEADER} + {ETHERNET} + {PACKET})[:{n}]") for n in (1, 11, 27, 30, 47, 60, 100, 150)),
]


def capture_cases():
    for name, expression in CAPTURES:
        yield refused(f"capture: {name}", ["decode", "x.pcapng"], r"x\.pcapng",
                      files={"x.pcapng": Text(expression=expression)})
    yield Case("capture: whole", ("decode", "x.pcapng"), out=(r"WRITE Only.*PSN 1",),
               files={"x.pcapng": Text(expression=f"{HEADER} + {ETHERNET} + {PACKET}")})
    yield from input_cases("capture", ["decode", "x.pcapng"], "x.pcapng", {})
    for name, text in (("odd", "000"), ("no hexadecimal", "zz"), ("empty", ""), ("a blank", " ")):
        yield refused(f"capture: --hex {name}", ["decode", f"--hex={text}"], r"--hex")
    # Malformed packets are results, not failures.
    for name, text in (("one byte", "00"), ("cut", FRAME[:100]), ("zeros", "00" * 200)):
        yield Case(f"capture: --hex {name}", ("decode", "--hex", text), out=(r"short|bad_|error",))
    # What a run draws, the capture says, and decode reads.
    for seed in range(1, 7):
        yield Case(f"capture: run with drawn registers, seed {seed}", tuple(
            f"cosim --preset tiny --packets 300 --seed {seed} --pcap a.pcapng".split()), makes={"a.pcapng": "pcapng"})


NAMES = [
    ("cosim --scenario no-such", "no-such"), ("cosim --scenario lss", r"\bloss\b"), ("cosim --preset tny", r"\btiny\b"),
    ("cosim --preset tiny --rtl-bug no-such", "no-such"),
    ("cosim --preset tiny --rtl-bug bitmap-shiftd", "bitmap-shifted"),
    ("cosim --preset tiny --dut /no/such.so", r"/no/such\.so"), ("cosim --preset tiny --dut x.toml", r"x\.toml"),
    ("fabric --scenario no-such", "no-such"), ("fabric --scenario smal", r"\bsmall\b"),
    ("fabric --scenario small --transport tcp", "tcp"), ("fabric --scenario small --endpoint none", "none"),
    ("fabric --scenario small --pcap nic99/0=a.pcapng", "nic99"), ("fabric --scenario small --pcap nic0/0", "nic0/0"),
    ("fabric --scenario small --pcap =a.pcapng", "--pcap"), ("bench cosim --preset tiny --scenario random", "random"),
    ("bench fabric --case no-such", "no-such"), ("bench nic --table no-such", "no-such"),
    ("bench nic --direction up", "up"), ("no-such", "no-such"), ("cosim --no-such", "--no-such"),
    ("cosim extra", "extra"), ("bench", "subcommand|bench"), ("cosim --packets", "--packets"),
    ("cosim --seed 1 --seed 2", "--seed"), ("cosim --json a --json b", "--json"),
]


def cases():
    names = [refused(f"name: {line}", line.split(), says, files={"x.toml": Text("a = 1\n")}) for line, says in NAMES]
    return [*toml_cases(), *json_cases(), *csv_cases(), *capture_cases(), *names]
