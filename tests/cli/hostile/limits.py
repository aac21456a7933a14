# SPDX-License-Identifier: Apache-2.0
"""Too little disk, memory, descriptors and processes."""
from hostile.case import Case
from hostile.captures import ETHERNET, HEADER
from hostile.outputs import BENCH_COSIM, BENCH_FABRIC, BENCH_NIC, BUG, COSIM, FABRIC, WRITE, WRITERS
from hostile.streams import REPORTS, uses
from hostile.things import Disk, Text

SPACE = r"(space|full|limit|larger? than|too large)"
BIG = {  # a writer of much, by name: what does not fit into some kilobytes
    "cosim pcap": ("cosim --preset tiny --packets 2000 --pcap {}", r"^PASS"),
    "cosim json and pcap": ("cosim --preset tiny --packets 2000 --json good.json --pcap {}", r"^PASS"),
    "fabric pcap": ("fabric --scenario small --pcap nic0/0={}", r"^small: done"),
    "fabric json and pcap": ("fabric --scenario small --json good.json --pcap nic0/0={}", r"^small: done"),
    "encode pcapng": ("encode many.json --pcapng {}", ""),
}
LARGE = """base = "permutation"
[topology]
leaves = 128
hosts_per_leaf = 128
spines = 128
gbps = 100
"""


def file_size():
    for ignores in ((), ("XFSZ",)):
        how = "ignored" if ignores else "by default"
        for writer in WRITERS:
            # 64 bytes: nothing that any of them writes is so small.
            if writer.name == "encode pcapng":
                continue
            yield Case(f"file limit 64, signal {how}: {writer.name}", writer.args("a.file"), code=(3,),
                       out=(writer.ran,), err=(r"a\.file.*" + SPACE,), files=writer.files, limits={"FSIZE": 64},
                       ignores=ignores)
        for name, (line, ran) in BIG.items():
            makes = {"good.json": "json"} if "good.json" in line else {}
            yield Case(f"file limit 60000, signal {how}: {name}", tuple(line.replace("{}", "a.file").split()),
                       code=(3,),
                       out=(ran,), err=(r"a\.file.*" + SPACE,), files=uses(line), makes=makes, limits={"FSIZE": 60000},
                       ignores=ignores)
        for name, line in (("encode", "encode many.json"), ("nscc", "nscc many.csv"),
                           ("cosim list", "cosim --scenario list"),
                           ("cosim", COSIM), ("fabric", FABRIC), ("bench nic", BENCH_NIC), ("topo", "topo keys")):
            yield Case(f"file limit 64 on standard output, signal {how}: {name}", tuple(line.split()), code=(3,),
                       err=(r"standard output.*" + SPACE,), stdout="limited", limits={"FSIZE": 64}, ignores=ignores,
                       files=uses(line))
        yield Case(f"file limit 64, signal {how}: mismatch", tuple(BUG.split()), code=(1,), says=(r"^MISMATCH.*seed 1",
                   r"Again with: .*--seed 1"), err=(r"mrc-reports.*" + SPACE,), limits={"FSIZE": 64}, ignores=ignores,
                   may=REPORTS[:1], whole_report=True)
        yield Case(f"file limit 64, signal {how}: seeds", tuple((COSIM + "--seeds 2 --json a.file").split()), code=(3,),
                   out=(r"2 passed",), err=(r"a\.file.*" + SPACE,), limits={"FSIZE": 64}, ignores=ignores)
    for name, (line, ran) in BIG.items():
        makes = {"good.json": "json"} if "good.json" in line else {}
        yield Case(f"small disk: {name}", tuple(line.replace("{}", "disk/a.file").split()), code=(3,), out=(ran,),
                   err=(r"disk/a\.file.*" + SPACE,), files={**uses(line), "disk": Disk(65536)}, makes=makes)


ENOUGH_OR_SAID = {"code": (0, 3), "says": (r"PASS|done|cycles/s|packets/s|Gb/s|[Mm]emory",)}


def memory():
    for line, name in ((COSIM, "cosim"), ("cosim --preset asic800 --packets 100", "cosim asic800"), (FABRIC, "fabric"),
                       (BENCH_NIC, "bench nic"), (BENCH_COSIM, "bench cosim"), (BENCH_FABRIC, "bench fabric")):
        for megabytes in (40, 80, 150):
            yield Case(f"memory {megabytes} MB: {name}", tuple((line + " --json a.json").split()), may=("a.json",),
                       limits={"AS": megabytes << 20}, **ENOUGH_OR_SAID)
    yield Case("memory 100 MB: large fabric", ("fabric", "--scenario", "large.toml", "--json", "a.json"), code=(3,),
               err=(r"[Mm]emory",), limits={"AS": 100 << 20}, files={"large.toml": Text(LARGE)}, may=("a.json",))
    yield Case("memory 100 MB: encode", ("encode", "huge.json"), code=(0, 3), limits={"AS": 100 << 20},
               files={"huge.json": Text(expression=f"{WRITE!r} * 40000")}, never=(r"bad_alloc",))
    yield Case("memory 100 MB: bench cosim records",
               tuple("bench cosim --preset tiny --cycles 400000 --rounds 1".split()),
               code=(3,), err=(r"[Mm]emory|--cycles",), limits={"AS": 100 << 20})
    for name, line in (("cosim", COSIM), ("bug", BUG)):
        yield Case(f"no threads, no processes: {name}", tuple((line + "--json a.json").split()), user="nobody",
                   code=(1, 3) if name == "bug" else (0, 3), says=(r"PASS|MISMATCH|thread|process|[Rr]esource",),
                   may=("a.json", *REPORTS),
                   limits={"NPROC": 1}, whole_report=name == "bug", needs=("root",))


def descriptors():
    for count in (4, 5, 6, 8):
        yield Case(f"{count} descriptors: cosim", tuple((COSIM + "--json a.json --pcap a.pcapng").split()), code=(0, 3),
                   limits={"NOFILE": count}, may=("a.json", "a.pcapng"))
        yield Case(f"{count} descriptors: fabric", tuple((FABRIC + "--json a.json --pcap nic0/0=a.pcapng").split()),
                   code=(0, 3), limits={"NOFILE": count}, may=("a.json", "a.pcapng"))
    links = [f"nic{n % 8}/{n // 8}" for n in range(40)]
    yield Case("12 descriptors: fabric with 40 captures", ("fabric", "--scenario", "small", *(
        word for n, link in enumerate(links) for word in ("--pcap", f"{link}={n}.pcapng"))), code=(3,),
        err=(r"\.pcapng",), limits={"NOFILE": 12})


def sizes():
    """What takes more than a gigabyte or a minute is refused, or it is said before it begins."""
    for name, text in (("messages of a byte", 'pattern = "flow"\nmessage = 1\nbytes = 100_000_000\n'),
                       ("a petabyte", 'pattern = "flow"\nbytes = 1_000_000_000_000_000\n')):
        yield Case(f"size: fabric, {name}", tuple("fabric --scenario x.toml".split()), code=(3, 5), signals=("INT",),
                   early=True, ready="cpu 1.0", says=(r"memory|[MG]B of|takes|would take|messages|duration_us",),
                   files={"x.toml": Text(f'base = "small"\n[[traffic]]\n{text}')})
    yield Case("size: topology of millions", ("topo", "x.toml"), code=(3,), err=(r"x\.toml",), limits={"AS": 1 << 30},
               files={"x.toml": Text("leaves = 4096\nhosts_per_leaf = 65536\nspines = 4096\nplanes = 8\n")}, seconds=5)
    yield Case("size: a capture of many interfaces", ("decode", "x.pcapng"), code=(0, 3), limits={"AS": 1 << 30},
               files={
        "x.pcapng": Text(expression=f"{HEADER} + {ETHERNET} * 1000000")}, seconds=8)
    yield Case("size: JSON of many small packets", ("encode", "x.json"), code=(0, 3), limits={"AS": 1 << 30}, files={
        "x.json": Text(expression="b'[' + b'{},' * 5000000 + b'{}]'")}, seconds=8)


def surroundings():
    """An environment that is empty or wrong, a working folder that is no more."""
    for name, environment in (("no search path", {"PATH": ""}), ("no home", {"HOME": "/no/such"}),
                              ("no such locale", {"LC_ALL": "xx_YY.UTF-8", "LANG": "xx"}),
                              ("no TMPDIR", {"TMPDIR": "/no/such"}),
                              ("wrong root", {"MRC_ROOT": "/no/such"}), ("wrong zone", {"TZ": "/no/such"}),
                              ("no terminal", {"TERM": "", "COLUMNS": "-1"}), ("commas", {"LC_ALL": "de_DE.UTF-8"})):
        yield Case(f"surroundings: {name}, cosim", tuple((COSIM + "--json a.json").split()), environment=environment,
                   out=(r"^PASS",), makes={"a.json": "json"})
        yield Case(f"surroundings: {name}, fabric", tuple((FABRIC + "--json a.json").split()), environment=environment,
                   out=(r"^small: done",), makes={"a.json": "json"})
    for name, line in (("cosim", COSIM), ("fabric", FABRIC), ("encode", "encode /dev/stdin")):
        yield Case(f"surroundings: folder is gone, {name}", tuple(line.split()), stdin=WRITE.encode(), removed=True)
    for name, line in (("cosim", COSIM + "--json a.json"), ("fabric", FABRIC + "--json a.json"),
                       ("fabric report", FABRIC + "--report r"), ("encode", "encode /dev/stdin --pcapng a.pcapng")):
        yield Case(f"surroundings: folder is gone, {name} with output", tuple(line.split()), stdin=WRITE.encode(),
                   code=(3,), err=(r"a\.json|a\.pcapng|\br\b",), refused=True, removed=True)
    yield Case("surroundings: folder is gone, mismatch", tuple(BUG.split()), code=(1,), says=(r"^MISMATCH.*seed 1",
               r"Again with: .*--seed 1"), err=(r"mrc-reports",), removed=True, whole_report=True)


def cases():
    return [*file_size(), *memory(), *descriptors(), *sizes(), *surroundings()]
