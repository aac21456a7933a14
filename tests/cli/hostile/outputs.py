# SPDX-License-Identifier: Apache-2.0
"""Every output option, and every kind of place it may be told to write to."""
from dataclasses import dataclass, field

from hostile.captures import dumpcap
from hostile.case import Case, refused
from hostile.things import Disk, Fifo, Folder, Link, Node, Text, gnuplot

COSIM = "cosim --preset tiny --packets 300 "
FABRIC = "fabric --scenario small "
BENCH_NIC = "bench nic --preset tiny --payload 256 --direction send --encapsulation stev --table rates --cycles 2000 " \
            "--warm-up 2000 "
BENCH_COSIM = "bench cosim --preset tiny --cycles 2000 --rounds 1 "
BENCH_FABRIC = "bench fabric --case flow-100MB --rounds 1 "
WRITE = ('{"eth": {}, "ipv6": {"src": "fd00::1", "dst": "fd00::2"}, "udp": {}, "entropy": 3221225472, '
         '"bth": {"opcode": 202, "dqp": 16, "psn": 1}, "meth": {}, "reth": {"va": 4096, "r_key": 1, "dma_length": 3}, '
         '"payload": "010203"}\n')
NET = "leaves = 2\nhosts_per_leaf = 4\nspines = 4\n"
BUG = "cosim --preset tiny --packets 2000 --rtl-bug bitmap-shifted "
HANG = 'base = "clean"\nloss = 1\nhang_us = 100\n'


@dataclass(frozen=True)
class Writer:
    """A command line whose {} is the output's name, what it writes, and what it says when it has run."""
    name: str
    line: str
    kind: str
    ran: str
    files: dict = field(default_factory=dict)

    def args(self, output):
        return tuple(word.replace("{}", output) for word in self.line.split())


WRITERS = [
    Writer("cosim json", COSIM + "--json {}", "json", r"^PASS .*seed 1"),
    Writer("cosim pcap", COSIM + "--pcap {}", "pcapng", r"^PASS .*seed 1"),
    Writer("cosim pcap of the peer", COSIM + "--pcap-peer {}", "pcapng", r"^PASS .*seed 1"),
    Writer("cosim seeds json", COSIM + "--seeds 2 --json {}", "json", r"PASS.*2 passed"),
    Writer("fabric json", FABRIC + "--json {}", "json", r"^small: done"),
    Writer("fabric pcap", FABRIC + "--pcap nic0/1={}", "pcapng", r"^small: done"),
    Writer("bench nic json", BENCH_NIC + "--json {}", "json", r"^ +256 stev"),
    Writer("bench cosim json", BENCH_COSIM + "--json {}", "json", r"lockstep +[\d ]+cycles/s"),
    Writer("bench fabric json", BENCH_FABRIC + "--json {}", "json", r"flow-100MB +\d"),
    Writer("topo svg", "topo net.toml --svg {}", "svg", r"8 NICs of", {"net.toml": Text(NET)}),
    Writer("topo comparison", "topo --compare net.toml net.toml --json {}", "json", r"switches", {"net.toml": Text(NET)}),
    Writer("encode pcapng", "encode write.json --pcapng {}", "pcapng", "", {"write.json": Text(WRITE)}),
]


@dataclass(frozen=True)
class Place:
    """What the output's name is, and what must come of it."""
    name: str
    output: str
    files: dict = field(default_factory=dict)
    changes: tuple = ()  # files that must have the new content
    makes: tuple = ()
    refused: tuple = ()  # if it must be refused before the run: words that say why
    complains: str = ""  # if the run takes place and then must complain: words that say why
    reads: tuple = ()  # FIFOs whose reader must have got all
    streamed: bool = False  # it goes to standard output
    user: str = ""


OLD = Text("what was there before\n", mode=0o640)
NOT_WRITABLE = r"(cannot write|not writable|permission|may not|may write)"
PLACES = [
    Place("new", "out.file", makes=("out.file",)),
    Place("blank and UTF-8", "ö ü.file", makes=("ö ü.file",)),
    Place("in a folder", "d/../d/out.file", {"d": Folder()}, makes=("d/out.file",)),
    Place("old", "out.file", {"out.file": OLD}, changes=("out.file",)),
    Place("old of mode 600", "out.file", {"out.file": Text("old", mode=0o600)}, changes=("out.file",)),
    Place("hard link", "out.file", {"out.file": OLD, "other.file": Link("out.file", hard=True)},
          changes=("out.file", "other.file")),
    Place("symbolic link", "link", {"d": Folder(), "d/out.file": OLD, "link": Link("d/out.file")},
          changes=("d/out.file",)),
    Place("link to a new file", "link", {"d": Folder(), "link": Link("d/out.file")}, makes=("d/out.file",)),
    Place("link to itself", "link", {"link": Link("link")}, refused=(r"\blink\b",)),
    Place("link to nowhere", "link", {"link": Link("no/such/file")}, refused=(r"\blink\b|no/such",)),
    Place("folder", "d", {"d": Folder()}, refused=(r"\bd\b.*(folder|directory)",)),
    Place("folder with slash", "d/", {"d": Folder()}, refused=(r"\bd/? .*(folder|directory)",)),
    Place("missing folder", "no/such/out.file", refused=(r"no/such", r"folder")),
    Place("below a file", "f/out.file", {"f": OLD}, refused=(r"\bf/out\.file|\bf\b", r"folder")),
    Place("below proc", "/proc/none/out.file", refused=(r"/proc/none", r"folder")),
    Place("long name", "x" * 300, refused=(r"xxx",)),
    Place("empty name", "", refused=(r"--(json|pcap|svg|pcapng)|nic0/1=", r"name|file|empty")),
    Place("read-only folder", "d/out.file", {"d": Folder(0o555)}, refused=(NOT_WRITABLE, r"\bd\b"), user="nobody"),
    Place("read-only file", "out.file", {"out.file": Text("old", mode=0o444)}, refused=(NOT_WRITABLE,), user="nobody"),
    Place("null device", "node", {"node": Node(3)}),
    Place("full device", "node", {"node": Node(7)}, complains=r"\bnode\b.*(space|full)"),
    Place("FIFO", "fifo", {"fifo": Fifo()}, reads=("fifo",)),
    Place("link to a FIFO", "link", {"fifo": Fifo(), "link": Link("fifo")}, reads=("fifo",)),
    Place("link to a device", "link", {"node": Node(3), "link": Link("node")}),
    Place("dev stdout", "/dev/stdout", streamed=True),
    Place("dash", "-", streamed=True),
    Place("full disk", "disk/out.file", {"disk": Disk(4096), "disk/filler": Text(expression="'x' * 4096")},
          complains=r"disk/out\.file.*(space|full)"),
]


def place_case(writer, place):
    name = f"{writer.name}: {place.name}"
    files, args = {**writer.files, **place.files}, writer.args(place.output)
    if place.refused:
        return refused(name, args, *place.refused, files=files, user=place.user)
    kinds = {"changes": {f: writer.kind for f in place.changes}, "makes": {f: writer.kind for f in place.makes},
             "reads": {f: writer.kind for f in place.reads}}
    if place.complains:
        return Case(name, args, code=(3,), out=(writer.ran,), err=(place.complains,), files=files, **kinds)
    if place.streamed:
        return Case(name, args, err=(writer.ran,), stdout_kind=writer.kind, files=files, **kinds)
    return Case(name, args, out=(writer.ran,), files=files, user=place.user, **kinds)


# Two outputs, or an output and an input, that are the same file.
HARD = {"a.file": OLD, "b.file": Link("a.file", hard=True)}
SOFT = {"a.file": OLD, "b.file": Link("a.file")}
SAME = [
    ("cosim json and pcap", COSIM + "--json a.file --pcap a.file", {}),
    ("cosim json and pcap, other spelling", COSIM + "--json a.file --pcap ./a.file", {}),
    ("cosim json and pcap, old", COSIM + "--json a.file --pcap a.file", {"a.file": OLD}),
    ("cosim json and pcap, hard link", COSIM + "--json a.file --pcap b.file", HARD),
    ("cosim json and pcap, symbolic link", COSIM + "--json a.file --pcap b.file", SOFT),
    ("cosim json and pcap, dangling link", COSIM + "--json a.file --pcap b.file", {"b.file": Link("a.file")}),
    ("cosim both to standard output", COSIM + "--json - --pcap -", {}),
    ("cosim both to standard output, two names", COSIM + "--json - --pcap /dev/stdout", {}),
    ("fabric json and pcap", FABRIC + "--json a.file --pcap nic0/1=a.file", {}),
    ("fabric two links", FABRIC + "--pcap nic0/1=a.file --pcap nic0/2=a.file", {}),
    ("fabric two links, other spelling", FABRIC + "--pcap nic0/1=a.file --pcap nic0/2=./a.file", {}),
    ("fabric the same link and file twice", FABRIC + "--pcap nic0/1=a.file --pcap nic0/1=a.file", {}),
    ("bench fabric json and svg", "bench fabric --rounds 1 --curve --json a.file --svg a.file", gnuplot()),
]
OVERWRITE = [
    ("cosim scenario json", "cosim --preset tiny --scenario a.file --packets 300 --json a.file", 'base = "clean"\n'),
    ("cosim scenario json, other spelling", "cosim --preset tiny --scenario a.file --packets 300 --json ./a.file",
     'base = "clean"\n'),
    ("cosim scenario pcap", "cosim --preset tiny --scenario a.file --packets 300 --pcap a.file", 'base = "clean"\n'),
    ("fabric scenario json", "fabric --scenario a.file --json a.file", 'base = "small"\n'),
    ("fabric scenario pcap", "fabric --scenario a.file --pcap nic0/0=a.file", 'base = "small"\n'),
    ("bench cosim scenario json", BENCH_COSIM + "--scenario a.file --json a.file", 'base = "clean"\n'),
    ("topo svg", "topo a.file --svg a.file", NET),
    ("encode pcapng", "encode a.file --pcapng a.file", WRITE),
]


def same_cases():
    for name, line, files in SAME:
        yield refused(f"same file: {name}", line.split(), r"(same|twice|both|more than one|two|another|already)",
                      files=files)
    for name, line, content in OVERWRITE:
        yield refused(f"output is input: {name}", line.split(), r"a\.file", r"(input|read|same|overwrite|itself)",
                      files={"a.file": Text(content)})
    yield refused("output is input: linked", "encode a.file --pcapng b.file".split(), r"(input|read|same|overwrite)",
                  files={"a.file": Text(WRITE), "b.file": Link("a.file")})
    yield refused("output is input: fabric topology", "fabric --scenario s.toml --json net.toml".split(),
                  r"net\.toml", files={"net.toml": Text(NET), "s.toml": Text(
                      'topology = "net.toml"\n[[traffic]]\npattern = "permutation"\nbytes = 10000\n')})
    yield refused("output is input: fabric trace", "fabric --scenario s.toml --json t.csv".split(), r"t\.csv", files={
        "t.csv": Text("id,start_us,from,to,bytes,after\na,0,nic0,nic1,1000,\n"),
        "s.toml": Text(f'[topology]\n{NET}[[traffic]]\npattern = "trace"\nfile = "t.csv"\n')})


# One output fails at the end: everything else is there, the verdict is kept, then the complaint.
FULL = {"node": Node(7)}
SMALL_DISK = {"disk": Disk(61440)}
PARTLY = [
    ("json full, pcap good", COSIM + "--json node --pcap good.file", {"good.file": "pcapng"}, 3, r"^PASS"),
    ("pcap full, json good", COSIM + "--pcap node --json good.file", {"good.file": "json"}, 3, r"^PASS"),
    ("seeds: json full", COSIM + "--seeds 2 --json node", {}, 3, r"2 passed"),
    ("fabric: json full, pcap good", FABRIC + "--json node --pcap nic0/0=good.file", {"good.file": "pcapng"}, 3,
     r"^small: done"),
    ("fabric: pcap full, others good", FABRIC + "--pcap nic0/0=node --pcap nic0/1=good.file --json good.json",
     {"good.file": "pcapng", "good.json": "json"}, 3, r"^small: done"),
    ("hang: json full", "cosim --preset tiny --scenario hang.toml --packets 300 --json node", {}, 2, r"^HANG.*seed 1"),
    ("hang: pcap full, json good",
     "cosim --preset tiny --scenario hang.toml --packets 300 --pcap node --json good.file",
     {"good.file": "json:hang"}, 2, r"^HANG.*seed 1"),
    ("fabric hang: json full", "fabric --scenario dies.toml --json node", {}, 2, r"hang"),
    ("mismatch: json full", BUG + "--json node", {}, 1, r"^MISMATCH.*seed 1"),
    ("mismatch: pcap full, json good", BUG + "--pcap node --json good.file", {"good.file": "json:mismatch"}, 1,
     r"^MISMATCH.*seed 1"),
    ("mismatch: both full", BUG + "--pcap node --json node2", {}, 1, r"^MISMATCH.*seed 1"),
    ("mismatch: seeds, json full", BUG + "--seeds 3 --json node", {}, 1, r"^MISMATCH.*seed 1"),
]
DIES = 'base = "flow"\nhang_us = 10000\n[[event]]\nwhat = "link-down"\nlink = "nic4/0"\nat_us = 100\n'


def partly_cases():
    for name, line, makes, code, said in PARTLY:
        files = {**FULL, "hang.toml": Text(HANG), "dies.toml": Text(DIES)}
        if "node2" in line:
            files["node2"] = Node(7)
        yield Case(f"partly: {name}", tuple(line.split()), code=(code,), says=(said,), err=(r"\bnode\b.*(space|full)",),
                   files=files, makes=makes, may=REPORTS_LEFT if code in (1, 2) else (),
                   whole_report=True)
    yield Case("partly: disk takes json, not pcap", tuple("cosim --preset tiny --packets 2000 --json disk/a --pcap "
               "disk/b".split()), code=(3,), out=(r"^PASS",), err=(r"disk/b.*(space|full)",), files=SMALL_DISK,
               makes={"disk/a": "json"})


# Who reads a pipe goes away: all else is as ever, then it is said.
READERS_GO = [
    ("cosim", "cosim --preset tiny --packets 2000 --pcap fifo --json good.json", r"^PASS", {"good.json": "json"}),
    ("fabric", FABRIC + "--pcap nic0/0=fifo --json good.json", r"^small: done", {"good.json": "json"}),
    ("encode", "encode many.json --pcapng fifo", "", {}),
]


def readers_go_cases():
    for name, line, said, makes in READERS_GO:
        yield Case(f"reader goes away: {name}", tuple(line.split()), code=(3,), out=(said,), err=(
            r"\bfifo\b.*(read|gone|pipe|closed)",), makes=makes, files={
                "fifo": Fifo(1000), "many.json": Text(expression=f"{WRITE!r} * 2000")})


# A mismatch must never be lost for want of a place for its report.
FOUND = (r"^MISMATCH.*seed 1", r"First divergence in cycle 4 676", r"Again with: .*--seed 1.*bitmap-shifted")
NO_REPORTS = [
    ("reports below a file", BUG + "--reports f/x", {"f": OLD}, ""),
    ("reports is a file", BUG + "--reports f", {"f": OLD}, ""),
    ("reports in a read-only folder", BUG + "--reports d/r", {"d": Folder(0o555)}, "nobody"),
    ("reports is read-only", BUG + "--reports d", {"d": Folder(0o555)}, "nobody"),
]


def mismatch_cases():
    yield Case("mismatch: report", tuple(BUG.split()), code=(1,), out=FOUND, makes={
        "mrc-reports": "", "mrc-reports/tiny-mixed-1-bitmap-shifted.json": "json:mismatch",
        "mrc-reports/tiny-mixed-1-bitmap-shifted.pcapng": "pcapng",
        "mrc-reports/tiny-mixed-1-bitmap-shifted.toml": "text",
        "mrc-reports/tiny-mixed-1-bitmap-shifted.html": "text",
        "mrc-reports/tiny-mixed-1-bitmap-shifted.kanata": "text"}, may=("mrc-reports/*.pftrace",))
    for name, line, files, user in NO_REPORTS:
        # Told where to, and it cannot be: refused at once, so that no night is lost.
        yield refused(f"mismatch: {name}", line.split(), r"--reports|report", files=files, user=user)
    # For the superuser that one can be written, until one tries.
    yield Case("mismatch: reports below proc", tuple((BUG + "--reports /proc/none").split()), code=(1, 3),
               err=(r"/proc/none",), whole_report=True)
    # The folder of a default that nobody asked for: the run takes place, and the report goes to standard error.
    for extra, makes in (("", {}), ("--json good/a.json", {"good/a.json": "json:mismatch"}),
                         ("--pcap good/a.pcapng", {"good/a.pcapng": "pcapng"}),
                         ("--seeds 3 --json good/a.json", {"good/a.json": "json"})):
        yield Case(f"mismatch: mrc-reports is a file {extra}".strip(), tuple((BUG + extra).split()), code=(1,),
                   says=FOUND, err=(r"mrc-reports", FOUND[1]), files={"mrc-reports": OLD, "good": Folder()},
                   makes=makes,
                   whole_report=True)
        yield Case(f"mismatch: mrc-reports is read-only {extra}".strip(), tuple((BUG + extra).split()), code=(1,),
                   says=FOUND, err=(r"mrc-reports", FOUND[1]), files={"mrc-reports": Folder(0o555), "good": Folder()},
                   makes=makes, whole_report=True, user="nobody")
        yield Case(f"mismatch: mrc-reports on a full disk {extra}".strip(),
                   tuple((BUG + extra + " --reports disk").split()), code=(1,), says=FOUND, err=(r"disk", FOUND[1]),
                   files={"disk": Disk(4096), "disk/filler": Text(expression="'x' * 4096"), "good": Folder()},
                   makes=makes,
                   whole_report=True)
    yield Case("mismatch: read-only reports, but nothing to report", tuple(COSIM.split()), out=(r"^PASS",),
               files={"mrc-reports": Folder(0o555)}, user="nobody")
    yield Case("mismatch: a report of before", tuple(BUG.split()), code=(1,), out=FOUND, files={
        "mrc-reports": Folder(), "mrc-reports/tiny-mixed-1-bitmap-shifted.toml": OLD},
        changes={"mrc-reports/tiny-mixed-1-bitmap-shifted.toml": "text"}, may=("mrc-reports/*",))


REPORTS_LEFT = ("mrc-reports", "mrc-reports/*")


# Folders for pictures and pages; gnuplot and npm are ours, and fail on request.
REPORT = "fabric --scenario small --report report "
GNUPLOTS = [
    ("fails", "echo 'line 3: no such terminal' >&2; exit 1\n"),
    ("is killed", "kill -9 $$\n"),
    ("writes nothing", "exit 0\n"),
    ("writes half a picture", "printf '<svg><g>'\n"),
]


def picture_cases():
    yield Case("picture: report", tuple(REPORT.split()), out=(r"^small: done",),
               makes={"report": "", "report/index.html": "text", "report/data.js": "text", "report/result.json": "json"}, may=("report/*",))
    yield Case("picture: report beside others", tuple(REPORT.split()), files={
        "report": Folder(), "report/mine.txt": OLD, "report/flows.csv": OLD},
        changes={"report/flows.csv": "text"}, may=("report/*",))
    yield refused("picture: report is a file", REPORT.split(), r"\breport\b", files={"report": OLD})
    yield refused("picture: report is read-only", REPORT.split(), r"\breport\b", user="nobody",
                  files={"report": Folder(0o555)})
    yield Case("picture: report on a full disk", tuple("fabric --scenario small --json a.json --report disk/r".split()),
               code=(3,), out=(r"^small: done",), err=(r"disk/r.*(space|full)",), makes={"a.json": "json"},
               may=("disk/r", "disk/r/*"), files={"disk": Disk(16384)})
    for name, does in GNUPLOTS:
        yield Case(f"picture: gnuplot {name}, bench nic", tuple((BENCH_NIC + "--svg d --json a.json").split()),
                   code=(3,), out=(r"^ +256 stev",), err=(r"gnuplot",), makes={"a.json": "json"},
                   files={**gnuplot(does), "d": Folder()})


# What dumpcap brings is judged as it comes, and kept around a finding. A script stands for it.
LIVE = "check --live eth0 --learn 1 "
CAPTURES = "cat wrong.pcapng\n"
GOES_ON = "trap 'exit 0' INT\ncat wrong.pcapng\nwhile :; do sleep 0.05; done\n"
LIVE_FOUND = (r"wire\.udp-checksum", r"^fail$")
KEPT = {"kept": "", "kept/finding.pcapng": "pcapng"}


def live_cases():
    def live(name, options, does=CAPTURES, **more):
        files = {**dumpcap(does), **more.pop("files", {})}
        return Case(f"live: {name}", tuple((LIVE + options).split()), code=more.pop("code", (1,)), files=files, **more)

    yield live("ring", "--ring kept --json a.json", says=(*LIVE_FOUND, r"^kept/finding\.pcapng has packets 1 to 1$"),
               makes={**KEPT, "a.json": "json"})
    yield live("ring beside others", "--ring kept", says=LIVE_FOUND, changes={"kept/finding.pcapng": "pcapng"},
               files={"kept": Folder(), "kept/finding.pcapng": OLD, "kept/mine.txt": OLD})
    for name, files in (("full disk", {"disk": Disk(4096), "disk/filler": Text(expression="'x' * 4096")}),
                        ("full disk, made", {"disk": Disk(8192), "disk/filler": Text(expression="'x' * 8192")})):
        folder = "disk/kept" if "made" in name else "disk"
        yield live(f"ring on a {name}", f"--ring {folder} --json a.json", says=LIVE_FOUND, files=files,
                   never=(r"finding\.pcapng has packets",), err=(rf"{folder}/finding\.pcapng.*(space|full)",),
                   makes={"a.json": "json", **({folder: ""} if "made" in name else {})})
    yield live("json full, ring good", "--ring kept --json node", says=(r"^kept/finding\.pcapng has",), files=FULL,
               err=(r"\bnode\b.*(space|full)",), makes=KEPT)
    yield refused("live: ring is a file", (LIVE + "--ring f").split(), r"--ring f\b", r"folder",
                  files={**dumpcap(CAPTURES), "f": OLD})
    yield refused("live: ring below a file", (LIVE + "--ring f/kept").split(), r"f/kept", r"folder",
                  files={**dumpcap(CAPTURES), "f": OLD})
    yield refused("live: ring is read-only", (LIVE + "--ring d").split(), r"--ring d\b", r"may write",
                  files={**dumpcap(CAPTURES), "d": Folder(0o555)}, user="nobody")
    yield refused("live: ring in a read-only folder", (LIVE + "--ring d/kept").split(), r"d/kept", r"may write",
                  files={**dumpcap(CAPTURES), "d": Folder(0o555)}, user="nobody")
    for word in ("INT", "TERM", "HUP"):
        yield live(f"SIG{word}", "--ring kept --json a.json", GOES_ON, says=LIVE_FOUND, signals=(word,),
                   ready="line s, 1 packets", makes={**KEPT, "a.json": "json"})
        yield live(f"SIG{word} while it learns", "--ring kept", GOES_ON, says=LIVE_FOUND, signals=(word,), makes=KEPT,
                   ready="seconds 0.5")
        yield live(f"SIG{word}, nothing came", "--ring kept", GOES_ON.replace("cat", "head -c 48"), code=(5,),
                   says=(r"gets no capture",), signals=(word,), makes={"kept": ""}, ready="seconds 0.5")
    yield live("SIGINT, full disk", "--ring disk", GOES_ON, says=LIVE_FOUND, signals=("INT",), ready="line s, 1 packets",
               err=(r"disk/finding\.pcapng.*(space|full)",),
               files={"disk": Disk(4096), "disk/filler": Text(expression="'x' * 4096")})
    yield live("SIGINT, dumpcap does not end", "--ring kept", "trap '' INT\ncat wrong.pcapng\nexec sleep 100\n", says=LIVE_FOUND,
               signals=("INT",), ready="line s, 1 packets", makes=KEPT)


# Two runs at once: the second says so where files of both would mix; else each file is whole and of one run.
LONG = Text('base = "permutation"\n[[traffic]]\npattern = "permutation"\nbytes = 1_000_000_000\n')


def two_runs():
    yield Case("two runs: report", tuple(REPORT.split()), code=(3,), err=(r"(another run|already).*\breport\b",),
               beside=tuple("fabric --scenario long.toml --report report".split()),
               files={"long.toml": LONG},
               may=("report", "report/*"))
    yield Case("two runs: json", tuple((COSIM + "--json a.json").split()), code=(0, 3), may=("a.json",),
               says=(r"^PASS|another|already",),
               beside=tuple("cosim --preset tiny --packets 10000000 --json a.json".split()))
    yield Case("two runs: mrc-reports", tuple(BUG.split()), code=(1,), out=FOUND, beside=tuple(
        "cosim --preset tiny --packets 10000000".split()), makes={
            "mrc-reports": "", "mrc-reports/tiny-mixed-1-bitmap-shifted.json": "json:mismatch"}, may=REPORTS_LEFT)


def cases():
    return [*(place_case(writer, place) for writer in WRITERS for place in PLACES), *same_cases(), *partly_cases(),
            *readers_go_cases(), *mismatch_cases(), *picture_cases(),
            *live_cases(), *two_runs()]
