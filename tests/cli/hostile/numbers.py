# SPDX-License-Identifier: Apache-2.0
"""Numbers that cannot be meant, in options and in the keys of files."""
import re

from hostile.case import Case, refused
from hostile.outputs import BENCH_NIC, COSIM, FABRIC, NET
from hostile.things import Text

DIGITS = "1" * 400
NO_NUMBERS = ["", " ", "x", "12abc", "1 2", "nan", "inf", "1e999", DIGITS, "٣", "--", "1,5"]
NO_WHOLE = NO_NUMBERS + ["-1", "+-1", "1.5", "18446744073709551616", "99999999999999999999"]
REMEDY = r"\n  .*(number|from |at least|[Gg]ive|Use|Write|See)"
SHORT_NIC = "bench nic --preset tiny --payload 256 --direction send --encapsulation stev --table rates "

# A command line, an option, values that are refused, values that are taken.
OPTIONS = [
    ("cosim --preset tiny", "--packets", NO_WHOLE + ["0", "18446744073709551615"], ["1", "300"]),
    ("cosim --preset tiny", "--cycles", NO_WHOLE + ["0"], ["20000"]),
    ("cosim --preset tiny --packets 300", "--seed", NO_WHOLE, ["0", "9007199254740993", "18446744073709551615"]),
    ("cosim --preset tiny --packets 300", "--seeds", NO_WHOLE + ["0"], ["1"]),
    ("cosim --preset tiny --packets 300", "--threads", NO_WHOLE + ["0", "5"], ["1", "2"]),
    ("cosim --preset tiny --packets 300", "--dut-timeout", NO_NUMBERS + ["-1"], ["0.5", "60"]),
    ("fabric --scenario small", "--threads", NO_WHOLE + ["0", "65"], ["1", "3", "64"]),
    ("fabric --scenario small", "--seed", NO_WHOLE, ["0", "9007199254740993", "18446744073709551615"]),
    (SHORT_NIC + "--warm-up 2000", "--cycles", NO_WHOLE + ["0"], ["2000"]),
    (SHORT_NIC + "--cycles 2000", "--warm-up", NO_WHOLE, ["2000"]),
    (BENCH_NIC, "--seed", NO_WHOLE, ["0", "9007199254740993"]),
    (BENCH_NIC, "--qps", NO_WHOLE + ["0", "99999"], ["1", "all"]),
    (BENCH_NIC, "--dests", NO_WHOLE + ["0", "257"], ["1", "2"]),
    (BENCH_NIC, "--reorder", NO_WHOLE + ["0", "32768"], ["32"]),
    (BENCH_NIC, "--delay-ns", NO_NUMBERS + ["-1", "0", "9.99", "1000001"], ["100", "500.5"]),
    ("bench nic --preset tiny --direction send --encapsulation stev --table rates --cycles 2000 --warm-up 2000",
     "--payload", [value for value in NO_WHOLE if value != "1,5"] + ["0", "4097", "256,", ",256", "256,,512"],
     ["256", "256,512", "1,5"]),
    ("bench cosim --preset tiny --rounds 1", "--cycles", NO_WHOLE + ["0", "100000000000"], ["2000"]),
    ("bench cosim --preset tiny --cycles 2000", "--rounds", NO_WHOLE + ["0"], ["1"]),
    ("bench cosim --preset tiny --cycles 2000 --rounds 1", "--seed", NO_WHOLE, ["0"]),
    ("bench fabric --case flow-100MB", "--rounds", NO_WHOLE + ["0"], ["1"]),
    ("bench fabric --case flow-100MB --rounds 1", "--seed", NO_WHOLE, ["0", "18446744073709551615"]),
    ("encode write.json", "--udp-port", NO_WHOLE + ["65536"], ["4971"]),
    ("encode write.json", "--dscp", ["control=64", "control=-1", "control=x", "control=", "control", "=1", "",
                                     "contrl=1", "control=1.5", "control=99999999999999999999"], ["control=63"]),
    ("nscc events.csv", "--rate-gbps", NO_NUMBERS + ["-1", "0"], ["400"]),
    ("nscc events.csv", "--base-rtt", NO_NUMBERS + ["-1", "0"], ["10000"]),
    ("nscc events.csv", "--gamma", NO_NUMBERS + ["-1", "2"], ["0.5"]),
    ("nscc events.csv", "--mtu", NO_NUMBERS + ["-1"], ["4000"]),
    ("nscc events.csv", "--trimming", NO_NUMBERS + ["-1", "2"], ["0", "1"]),
]

# Keys of files that take numbers: values that are refused, as TOML.
NO_TOML_NUMBER = ["nan", "inf", "-inf", "1e999", '"x"', '""', "[]", "[1]", "{}", "true", "9223372036854775807",
                  "-9223372036854775808", "9223372036854775808", "0xffffffffffffffff", "1979-05-27"]
NO_TOML_WHOLE = NO_TOML_NUMBER + ["1.5", "9007199254740993", "-1"]
TRAFFIC = '[[traffic]]\npattern = "permutation"\nbytes = 10000\n'
KEYS = [  # the reader, the lines before the key's, the key, further values that are refused, whole
    ("cosim", 'base = "clean"\n', "qps", ["100000"], True),
    ("cosim", 'base = "clean"\n', "size_max", ["1e300"], True),
    ("cosim", 'base = "clean"\n', "loss", ["1.5", "-0.1"], False),
    ("cosim", 'base = "clean"\n', "delay_ns", ["-1"], False),
    ("cosim", 'base = "clean"\n', "hang_us", ["-1", "1e-9"], False),
    ("cosim", 'base = "clean"\n', "mtu_max", ["5"], True),
    ("cosim", 'base = "clean"\n[[rule]]\nloss = 0.1\n', "ev_share", ["2", "-1"], False),
    ("cosim", 'base = "clean"\n[[rule]]\nloss = 0.1\n', "from_us", ["-5"], False),
    ("cosim", 'base = "clean"\n[[rule]]\nloss = 0.1\nfrom_us = 50\n', "until_us", ["20", "-5"], False),
    ("cosim", 'base = "clean"\n[[rule]]\n', "loss", ["2", "-1"], False),
    ("fabric", 'base = "small"\n', "duration_us", ["-1", "0"], False),
    ("fabric", 'base = "small"\n', "sample_us", ["-1", "1e-9"], False),
    ("fabric", 'base = "small"\n', "hang_us", ["-1"], False),
    ("fabric", 'base = "small"\n', "mtu", ["0", "100", "4095"], True),
    ("fabric", 'base = "small"\n', "mpr", [], True),
    ("fabric", 'base = "small"\n[topology]\n', "gbps", ["-1", "0", "1e-300"], False),
    ("fabric", 'base = "small"\n[[traffic]]\npattern = "permutation"\n', "bytes", ["0"], True),
    ("fabric", 'base = "small"\n[[traffic]]\nbytes = 1000\n', "qps", ["0"], True),
    ("fabric", 'base = "small"\n[[traffic]]\nbytes = 1000\n', "start_us", ["-1"], False),
    ("fabric", 'base = "small"\n[[traffic]]\nbytes = 1000\n', "jitter_us", ["-1"], False),
    ("fabric", 'base = "small"\n[[event]]\nwhat = "link-loss"\nlink = "nic0/0"\n', "loss", ["1.5", "-1"], False),
    ("fabric", 'base = "small"\n[[event]]\nwhat = "link-down"\nlink = "nic0/0"\n', "at_us", ["-1"], False),
    ("fabric", 'base = "small"\n[[event]]\nwhat = "link-down"\nlink = "nic0/0"\n', "count", ["0"], True),
    ("topo", NET, "planes", ["3", "0", "16"], True),
    ("topo", NET, "gbps", ["0", "-1", "1e-300"], False),
    ("topo", NET, "alpha", ["-1"], False),
    ("topo", "leaves = 2\nspines = 2\n", "hosts", ["99999999"], True),
    ("nscc", "", "base_rtt", ["-1", "0"], False),
    ("nscc", "", "gamma", ["-1", "2"], False),
    ("nscc", "", "rate_gbps", ["-1", "0"], False),
]
READERS = {"cosim": "cosim --preset tiny --packets 300 --scenario x.toml", "fabric": "fabric --scenario x.toml",
           "topo": "topo x.toml", "nscc": "nscc events.csv --config x.toml"}
EVENTS = Text("time_ns,kind,bytes,rtt_ns,ecn\n0,send,4188,,\n12000,ack,4188,12000,0\n")
WRITE = Text('{"eth": {}, "ipv6": {"src": "fd00::1", "dst": "fd00::2"}, "udp": {}, "entropy": 3221225472, '
             '"bth": {"opcode": 202, "dqp": 16, "psn": 1}, "meth": {}, "reth": {}, "payload": "010203"}\n')


def inputs(line):
    return {name: text for name, text in (("events.csv", EVENTS), ("write.json", WRITE)) if name in line}


def shown(value):
    """A value in a case's name."""
    if len(value) > 30:
        return f"{len(value)} digits"
    return {"": "empty", " ": "blank"}.get(value, value)


def option_cases():
    for line, option, bad, good in OPTIONS:
        command = " ".join(word for word in line.split() if not word.startswith(("-", "tiny", "write", "events")))
        for value in bad:
            # Named with the value as it was written, unless that is endless or nothing.
            plain = value.strip() and value.isascii() and "," not in value and len(value) < 30
            quoted = (re.escape(value),) if plain else ()
            yield refused(f"number: {command} {option} {shown(value)}", [*line.split(), f"{option}={value}"],
                          option + r"\b", *quoted, REMEDY, files=inputs(line), seconds=3)
        for value in good:
            yield Case(f"number: {command} {option} {shown(value)}, good", (*line.split(), f"{option}={value}"),
                       files=inputs(line))
    for value in ("9007199254740993", "18446744073709551615"):
        yield Case(f"number: cosim repeats seed {value}", tuple((COSIM + f"--seed {value} --json -").split()),
                   out=(rf'"seed": {value}\b',), stdout_kind="json")
        yield Case(f"number: fabric repeats seed {value}", tuple((FABRIC + f"--seed {value} --json -").split()),
                   out=(rf'"seed": {value}\b',), stdout_kind="json")
    # Options that contradict each other, of which one would be left out silently.
    for line, *words in (
            ("cosim --preset tiny --packets 300 --cycles 1000", "--packets", "--cycles"),
            ("cosim --preset tiny --packets 300 --seed 18446744073709551615 --seeds 2", "--seeds?"),
            ("fabric --scenario small --print --json a.json", "--print"),
            ("fabric --scenario small --print --endpoint model", "--print"),
            ("bench fabric --curve --case flow-100MB", "--curve", "--case")):
        yield refused(f"options together: {line}", line.split(), *words)
    for line, option in (("cosim --preset tiny --packets 300", "--rtl-bug"),
                         ("cosim --preset tiny --packets 300", "--reports"),
                         ("cosim --preset tiny --packets 300", "--dut"), ("cosim --packets 300", "--preset"),
                         ("cosim --preset tiny --packets 300", "--scenario"), ("fabric", "--scenario"),
                         ("fabric --scenario small", "--report"), ("fabric --scenario small", "--transport"),
                         ("fabric --scenario small", "--endpoint"), ("fabric --scenario small", "--pcap"),
                         (BENCH_NIC, "--dut"), ("bench nic --preset tiny", "--direction"), ("bench fabric", "--case"),
                         ("bench nic", "--preset"), ("nscc events.csv", "--config"), ("decode", "--hex"),
                         ("bench cosim --preset tiny --cycles 2000 --rounds 1", "--only")):
        yield refused(f"empty: {line.split()[0]} {option} after {len(line.split())} words",
                      [*line.split(), f"{option}="],
                      option + r"\b", files=inputs(line))


def key_cases():
    for reader, before, key, more, whole in KEYS:
        row = before.count("\n") + 1
        group = (re.findall(r"\[\[?(\w+)", before) or [""])[-1]
        for value in (NO_TOML_WHOLE if whole else NO_TOML_NUMBER) + more:
            if key == "alpha" and value == "inf":
                continue  # any share of the free buffer
            # An integer as it was written, not what a double makes of it; beyond 64 bits the TOML reader says no.
            integer = re.fullmatch(r"-?\d+", value) and value != "9223372036854775808"
            quoted = (re.escape(value),) if integer else ()
            line = READERS[reader]
            yield refused(f"key: {reader} {group}{'.' if group else ''}{key} = {value}", line.split(),
                          rf"x\.toml:{row}:\d+: ", *quoted, r"\n  \S", seconds=3,
                          files={**inputs(line), "x.toml": Text(f"{before}{key} = {value}\n")})
    # A run of nothing is refused.
    for name, text in (("nobody sends", 'base = "clean"\ndut_sends = 0\npeer_sends = 0\n'),
                       ("planes of a rule are none", 'base = "clean"\n[[rule]]\nplanes = []\nloss = 0.1\n'),
                       ("planes beyond the preset", 'base = "clean"\n[[rule]]\nplanes = [7]\nloss = 0.1\n'),
                       ("planes twice", 'base = "clean"\n[[rule]]\nplanes = [1, -1]\nloss = 0.1\n'),
                       ("to nobody", 'base = "clean"\n[[rule]]\nto = "nobody"\nloss = 0.1\n'),
                       ("equal code points", 'base = "clean"\ndscp_data = 5\ndscp_rtx = 5\n')):
        yield refused(f"key: cosim, {name}", READERS["cosim"].split(), r"x\.toml", files={"x.toml": Text(text)})
    late = 'base = "small"\n[[event]]\nwhat = "link-down"\nlink = "nic0/0"\nat_us = 900\n'
    yield Case("key: fabric, event after the end is mentioned", tuple(READERS["fabric"].split()), code=(0, 3),
               says=(r"(event|link-down|at_us).*(not|never|after|beyond|before)",), files={"x.toml": Text(late)})
    yield refused("key: fabric, traffic after the end", READERS["fabric"].split(), r"x\.toml:\d", files={
        "x.toml": Text('base = "small"\nduration_us = 100\n' + TRAFFIC + "start_us = 200\n")})
    for seed in (900010, 17):
        yield Case(f"empty pass: random scenario of seed {seed}", tuple(
            f"cosim --preset tiny --scenario random --packets 500 --seed {seed} --json -".split()), stdout_kind="json",
            out=(r'"data_packets": [1-9]', r'"cycles": [1-9]'))


def cases():
    return [*option_cases(), *key_cases()]
