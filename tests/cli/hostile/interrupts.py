# SPDX-License-Identifier: Apache-2.0
"""Signals in the middle of everything that takes long."""
from hostile.case import Case
from hostile.limits import LARGE
from hostile.outputs import COSIM
from hostile.things import Disk, Fifo, Node, Text

LONG = 'base = "permutation"\n[[traffic]]\npattern = "permutation"\nbytes = 1_000_000_000\n'
CLOCKED = 'base = "small"\n[[traffic]]\npattern = "permutation"\nbytes = 200_000_000\n'
HUGE = LARGE.replace("64", "32") + 'planes = 8\n[[traffic]]\npattern = "alltoall"\nbytes = 10_000_000\nnodes = 500\n'
FILES = {"long.toml": Text(LONG), "clocked.toml": Text(CLOCKED), "huge.toml": Text(HUGE)}

# A name, a command line, when it is in the middle, what it must leave.
LONG_RUNS = [
    ("cosim", "cosim --preset tiny --packets 50000000 --json a.json --pcap a.pcapng", "grown 20000",
     {"a.json": "json-incomplete", "a.pcapng": "pcapng-incomplete"}),
    ("cosim asic800", "cosim --packets 50000000 --json a.json", "cpu 0.5", {"a.json": "json-incomplete"}),
    ("cosim cycles", "cosim --preset tiny --scenario soak --cycles 1000000000 --json a.json", "cpu 0.3",
     {"a.json": "json-incomplete"}),
    ("cosim one thread", "cosim --preset tiny --threads 1 --packets 50000000 --json a.json", "cpu 0.3",
     {"a.json": "json-incomplete"}),
    ("cosim model", "cosim --preset tiny --dut model --packets 50000000 --json a.json", "cpu 0.3",
     {"a.json": "json-incomplete"}),
    ("cosim seeds", COSIM + "--seeds 100000 --json a.json", "line ^PASS", {"a.json": "json-incomplete"}),
    ("cosim random seeds", COSIM + "--scenario random --seeds 100000 --json a.json", "line ^PASS",
     {"a.json": "json-incomplete"}),
    ("fabric", "fabric --scenario long.toml --json a.json --pcap nic0/0=a.pcapng", "grown 20000",
     {"a.json": "json-incomplete", "a.pcapng": "pcapng-incomplete"}),
    ("fabric windows", "fabric --scenario long.toml --json a.json", "cpu 0.4", {"a.json": "json-incomplete"}),
    ("fabric threads", "fabric --scenario long.toml --threads 3 --json a.json", "cpu 0.4",
     {"a.json": "json-incomplete"}),
    ("fabric clocked", "fabric --scenario clocked.toml --endpoint model --json a.json", "cpu 0.4",
     {"a.json": "json-incomplete"}),
    ("fabric building", "fabric --scenario huge.toml --json a.json", "cpu 0.25", {"a.json": "json-incomplete"}),
    ("bench nic", "bench nic --preset tiny --json a.json", "cpu 0.5", {"a.json": "json-incomplete"}),
    ("bench cosim", "bench cosim --preset tiny --rounds 10000 --json a.json", "cpu 0.8",
     {"a.json": "json-incomplete"}),
    ("bench cosim recording", "bench cosim --preset asic800 --json a.json", "cpu 0.2", {"a.json": "json-incomplete"}),
    ("bench fabric", "bench fabric --case permutation-128-100MB --json a.json", "cpu 0.4",
     {"a.json": "json-incomplete"}),
    ("bench fabric table", "bench fabric --json a.json", "cpu 1.0", {"a.json": "json-incomplete"}),
]
ONCE = ("INT", "TERM", "HUP")
TWICE = (("INT", "INT"), ("INT", "TERM"), ("HUP", "TERM"))


def files_of(line):
    return {name: text for name, text in FILES.items() if name in line}


def cases():
    for name, line, ready, makes in LONG_RUNS:
        for word in ONCE:
            yield Case(f"SIG{word}: {name}", tuple(line.split()), code=(5,), says=(r"[Ii]ncomplete|INCOMPLETE",),
                       files=files_of(line), makes=makes, signals=(word,), ready=ready)
    for name, line, ready, makes in LONG_RUNS:
        for words in TWICE[:1] if "cosim " in name else TWICE:
            # The second one may come when everything is written; or it ends the process, and nothing half lies there.
            ended = tuple({"INT": -2, "TERM": -15, "HUP": -1}[word] for word in words[1:])
            yield Case(f"SIG{' SIG'.join(words)}: {name}", tuple(line.split()), code=(5, *ended), files=files_of(line),
                       may=tuple(makes), signals=words, ready=ready)
    # What was given as the output cannot take it.
    for name, line, extra in (("full device", COSIM.replace("300", "50000000") + "--json node", {"node": Node(7)}),
                              ("full device, fabric", "fabric --scenario long.toml --json node", {"node": Node(7)}),
                              ("small disk", COSIM.replace("300", "50000000") + "--json disk/a", {"disk": Disk(4096)})):
        yield Case(f"SIGINT: {name}", tuple(line.split()), code=(3,), says=(r"INCOMPLETE|incomplete",),
                   err=(r"(node|disk/a).*(space|full)",), files={**files_of(line), **extra}, signals=("INT",))
    # nohup.
    yield Case("SIGHUP ignored from the beginning", tuple("cosim --preset tiny --packets 2500 --json a.json".split()),
               out=(r"^PASS",), makes={"a.json": "json"}, signals=("HUP",), ignores=("HUP",), ready="cpu 0.1")
    yield Case("SIGTERM: json on standard output", tuple((COSIM.replace("300", "50000000") + "--json -").split()),
               code=(5,), err=(r"INCOMPLETE",), stdout_kind="json-incomplete", signals=("TERM",))
    for name, line in (("cosim", COSIM + "--json fifo"), ("fabric", "fabric --scenario long.toml --json fifo")):
        yield Case(f"SIGINT: {name} waits for the reader of its output", tuple(line.split()), code=(3, -2),
                   signals=("INT",), ready="seconds 0.4", files={**files_of(line), "fifo": Fifo(0)}, seconds=4)
    # A command that waits for its input can be stopped.
    for line in ("nscc -", "encode -", "decode -"):
        for word in ONCE[:2]:
            yield Case(f"SIG{word}: {line} waits", tuple(line.split()), code=(3, -2, -15), stdin="open",
                       signals=(word,),
                       ready="seconds 0.3", seconds=4)
