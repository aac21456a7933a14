# SPDX-License-Identifier: Apache-2.0
"""Standard output, input and error that are closed, full, or that nobody reads."""
from hostile.captures import FRAME
from hostile.case import Case
from hostile.outputs import BENCH_COSIM, BENCH_FABRIC, BENCH_NIC, BUG, COSIM, DIES, FABRIC, HANG, NET, WRITE, OLD
from hostile.things import Node, Text

EVENTS = "time_ns,kind,bytes,rtt_ns,ecn\n0,send,4188,,\n12000,ack,4188,12000,0\n"
MANY_EVENTS = ("'time_ns,kind,bytes,rtt_ns,ecn\\n' + ''.join('%d,send,4188,,\\n%d,ack,4188,12000,0\\n' % "
               "(n * 20000, n * 20000 + 12000) for n in range(5000))")
FILES = {"net.toml": Text(NET), "write.json": Text(WRITE), "events.csv": Text(EVENTS),
         "many.json": Text(expression=f"{WRITE!r} * 2000"), "many.csv": Text(expression=MANY_EVENTS),
         "hang.toml": Text(HANG), "dies.toml": Text(DIES)}

# A name, a command line, its exit code with a good standard output, and whether it ends quietly when nobody reads.
SPEAKERS = [
    ("version", "--version", 0, True),
    ("help", "--help", 0, True),
    ("cosim help", "cosim --help", 0, True),
    ("cosim scenario list", "cosim --scenario list", 0, True),
    ("cosim bug list", "cosim --rtl-bug list", 0, True),
    ("fabric scenario list", "fabric --scenario list", 0, True),
    ("fabric print", "fabric --scenario small --print", 0, True),
    ("topo keys", "topo keys", 0, True),
    ("topo", "topo net.toml", 0, True),
    ("encode", "encode write.json", 0, True),
    ("encode many", "encode many.json", 0, True),
    ("decode hex", f"decode --hex {FRAME}", 0, True),
    ("decode hex json", f"decode --hex {FRAME} --json", 0, True),
    ("nscc", "nscc events.csv", 0, True),
    ("nscc json", "nscc events.csv --json", 0, True),
    ("nscc many", "nscc many.csv", 0, True),
    ("nscc config", "nscc --show-config", 0, True),
    ("cosim", COSIM, 0, True),
    ("cosim json", COSIM + "--json -", 0, False),
    ("cosim seeds", COSIM + "--seeds 2", 0, False),
    ("cosim mismatch", BUG, 1, True),
    ("cosim hang", "cosim --preset tiny --scenario hang.toml --packets 300", 2, True),
    ("fabric", FABRIC, 0, True),
    ("fabric hang", "fabric --scenario dies.toml", 2, True),
    ("bench nic", BENCH_NIC, 0, False),
    ("bench cosim", BENCH_COSIM, 0, False),
    ("bench fabric", BENCH_FABRIC, 0, False),
]
REPORTS = ("mrc-reports", "mrc-reports/*")


def uses(line):
    return {name: text for name, text in FILES.items() if name in line}


def cases():
    for name, line, code, quiet in SPEAKERS:
        args, common = tuple(line.split()), {"files": uses(line), "may": REPORTS if code else ()}
        mine = {**common, "whole_report": code in (1, 2)}
        # What is not written is said, and it is no pass; a mismatch stays a mismatch.
        yield Case(f"stdout full: {name}", args, code=(code or 3,), err=(r"(standard output|--json -).*(space|full)",),
                   stdout="full",
                   **mine)
        yield Case(f"stdout closed: {name}", args, code=(code or 3,), err=(r"standard output|--json -",),
                   stdout="closed", **mine)
        if name in ("cosim json",):
            continue
        # A reader that has gone has what it wanted; a table or a sweep that nobody reads any more stops.
        gone = (code,) if quiet else (code, 3)
        for how in ("gone", "head"):
            yield Case(f"stdout {how}: {name}", args, code=gone, stdout=how, never=(r"[Bb]roken pipe",), **mine)
    for name, line, code, _ in SPEAKERS[17:]:
        yield Case(f"stderr full: {name}", tuple(line.split()), code=(code,), stderr="full", files=uses(line),
                   may=REPORTS)
        yield Case(f"stderr closed: {name}", tuple(line.split()), code=(code,), stderr="closed", files=uses(line),
                   may=REPORTS)
    # Runs whose standard output has gone write their files first.
    for how in ("gone", "full", "closed"):
        code = 0 if how == "gone" else 3
        yield Case(f"stdout {how}: cosim with files", tuple((COSIM + "--json a.json --pcap a.pcapng").split()),
                   code=(code,), stdout=how, makes={"a.json": "json", "a.pcapng": "pcapng"})
        yield Case(f"stdout {how}: mismatch with json", tuple((BUG + "--json a.json").split()), code=(1,), stdout=how,
                   makes={"a.json": "json:mismatch"}, may=REPORTS, whole_report=True)
        yield Case(f"stdout {how}: fabric with files", tuple((FABRIC + "--json a.json --pcap nic0/0=a.pcapng").split()),
                   code=(code,), stdout=how, makes={"a.json": "json", "a.pcapng": "pcapng"})
    # A sweep or a table that is cut short leaves what it has.
    for name, line in (("cosim seeds", COSIM + "--seeds 100000 --json a.json"),
                       ("cosim random seeds", COSIM + "--scenario random --seeds 100000 --json a.json"),
                       ("bench nic", "bench nic --preset tiny --cycles 5000 --warm-up 5000 --json a.json"),
                       ("bench fabric", "bench fabric --rounds 2 --json a.json")):
        for how in ("gone", "head"):
            yield Case(f"stdout {how}: {name} leaves its json", tuple(line.split()), code=(3,), stdout=how,
                       makes={"a.json": "json-incomplete"}, seconds=20)
    yield Case("stderr gone: cosim summary on standard error", tuple((COSIM + "--json -").split()), stderr="gone",
               stdout_kind="json")
    # Machine-readable text on standard output, the summary beside it.
    for name, line in (("cosim", COSIM + "--json - --pcap a.pcapng"), ("bug", BUG + "--json -"),
                       ("fabric", FABRIC + "--json /dev/stdout --pcap nic0/0=a.pcapng")):
        yield Case(f"stdout json: {name} and a file", tuple(line.split()), code=(1 if name == "bug" else 0,),
                   stdout_kind="json", makes={} if name == "bug" else {"a.pcapng": "pcapng"}, may=REPORTS,
                   err=(r"MISMATCH|PASS|small: done",), whole_report=True)
    yield Case("stdout json: cosim without writing rights", tuple((COSIM + "--json /dev/stdout").split()),
               stdout_kind="json", err=(r"^PASS",), user="nobody")
    yield Case("stdout json: file named dash stays", tuple((COSIM + "--json -").split()), stdout_kind="json",
               err=(r"^PASS",), files={"-": OLD})
    # Standard input.
    yield Case("stdin: nscc", ("nscc", "-"), stdin=EVENTS.encode(), out=(r"12000 ack",))
    yield Case("stdin: decode", ("decode", "-"), stdin=b"", code=(3,))
    yield Case("stdin: encode", ("encode", "-"), stdin=WRITE.encode(), stdout_kind="hex")
    yield Case("stdin: encode by its file", ("encode", "/dev/stdin"), stdin=WRITE.encode(), stdout_kind="hex")
    yield Case("stdin: nscc by its file", ("nscc", "/dev/stdin"), stdin=EVENTS.encode(), out=(r"12000 ack",))
    yield Case("stdin: cosim scenario", tuple((COSIM + "--scenario /dev/stdin").split()), stdin=b'base = "clean"\n',
               out=(r"^PASS",))
    for name, line in (("nscc", "nscc -"), ("encode", "encode -"), ("decode", "decode -")):
        yield Case(f"stdin closed: {name}", tuple(line.split()), code=(3,), stdin="closed")
        yield Case(f"stdin empty: {name}", tuple(line.split()), code=(3,), stdin=b"")
    yield Case("stdin closed: cosim", tuple((COSIM + "--json a.json").split()), stdin="closed",
               makes={"a.json": "json"})
    yield Case("stdin zeros: encode", ("encode", "node"), code=(3,), files={"node": Node(5)}, err=(r"\bnode\b",))
