# SPDX-License-Identifier: Apache-2.0
"""Devices under test that misbehave: tests/tb/dut/guests/test_device.cpp does what MRC_TEST_DEVICE says."""
from hostile.case import Case

RUN = "cosim --preset tiny --packets 300 --dut {} --json a.json"
CALLS = {"outputs": "mrc_dut_outputs", "observe": "mrc_dut_observe", "step": "mrc_dut_step"}
ENDS = {"exit": r"(ended the process|exit)", "abort": r"(signal 6|[Aa]bort)", "segv": r"(signal 11|[Ss]egmentation)",
        "throw": r"(exception|thrown|signal 6|[Aa]bort)"}
LIES = [
    ("abi:0", r"version 0"), ("abi:3", r"version 3.*version 5"), ("abi:4294967295", r"version 4294967295"),
    ("preset:asic800", r"asic800"), ("preset:", r"preset"), ("no-preset", r"preset"), ("planes:8", r"8 planes|planes"),
    ("planes:0", r"planes"), ("planes:4294967295", r"planes"), ("core-words:1", r"words|boundar"),
    ("core-words:65535", r"words|boundar"), ("core-words:4294967295", r"words|boundar"),
    ("info-size:0", r"info|size|bytes"),
    ("info-size:7", r"info|size|bytes|version"),
]
PINS = ["awready", "wready", "bvalid", "arready", "rvalid", "wqe_ready", "cqe_valid", "host_rd_valid", "host_wr_valid",
        "tx_tvalid", "tx_tlast", "bresp", "rresp", "irq", "host_fail_ready", "host_wr_len", "host_wr_last", "host_wr_plane",
        "host_wr_qp", "cqe", "host_rd", "tx_tkeep"]
FILES_OF_A_FAILURE = ("mrc-reports", "mrc-reports/*")


def case(device, does, line=RUN, **more):
    more.setdefault("name", f"device: {does}")
    return Case(args=tuple(line.replace("{}", str(device)).split()), environment={"MRC_TEST_DEVICE": does},
                needs=("device",), may=FILES_OF_A_FAILURE + tuple(more.pop("may", ())), foreign=True,
                whole_report=not more.get("refused"), **more)


def endings(device):
    """The device takes its process away, or does not come back."""
    for end, words in ENDS.items():
        for call in ("open", "info"):
            yield case(device, f"{end}:{call}", code=(3,), err=(words, rf"mrc_dut_{call}"), refused=True)
        for call, function in CALLS.items():
            for cycle in (0, 700, 5000):
                early = cycle == 0 and call != "step"  # seen while it is opened
                place = rf"cycle {cycle // 1000 or ''} ?{cycle % 1000:03d}\b" if cycle else ""
                yield case(device, f"{end}:{call}:{cycle}", code=(3,), says=(words, function, place), may=("a.json",),
                           makes={} if early else {"a.json": "json-no-pass"})
        for call in ("close", "atexit"):
            # The run is over: its verdict stays, with a warning.
            warning = () if (end, call) == ("exit", "atexit") else (rf"warning.*{words}",)  # exit at the exit is right
            yield case(device, f"{end}:{call}", out=(r"^PASS.*seed 1", *warning), makes={"a.json": "json"})
    for call in ("open", "info"):
        yield case(device, f"loop:{call}", code=(3,), err=(rf"mrc_dut_{call}",), signals=("INT",), ready="child 0.3")
    for call, function in CALLS.items():
        for word in ("INT", "TERM", "HUP"):
            yield case(device, f"loop:{call}:700", name=f"device: loop:{call}:700, SIG{word}", code=(5,),
                       signals=(word,), says=(function, r"cycle 700"), makes={"a.json": "json-incomplete"},
                       ready="child 0.3")
    yield case(device, "loop:step:700", name="device: loop:step:700, two signals", code=(5, -2), signals=("INT", "INT"),
               ready="child 0.3", may=("a.json",))
    for call in ("open", "step:700", "close"):
        yield case(device, f"loop:{call}", line=RUN + " --dut-timeout 0.5",
                   name=f"device: loop:{call}, limit of its time",
                   code=(0,) if call == "close" else (3,), says=(rf"mrc_dut_{call.split(':')[0]}\b", r"0\.5 s"),
                   may=("a.json",))
    yield case(device, "slow:5", code=(5,), says=(r"^INCOMPLETE",), makes={"a.json": "json-incomplete"},
               signals=("INT",), ready="child 0.3")
    yield case(device, "exit:step:700", line=RUN + " --pcap a.pcapng", name="device: exit:step:700, with a capture",
               code=(3,), says=(r"cycle 700",), makes={"a.json": "json-no-pass", "a.pcapng": "pcapng-any"})
    for tool, line in (("bench cosim", "bench cosim --preset tiny --cycles 2000 --rounds 1 --dut {} --json a.json"),
                       ("bench nic",
                        "bench nic --preset tiny --payload 256 --direction send --encapsulation stev --table "
                        "rates --cycles 2000 --warm-up 2000 --dut {} --json a.json")):
        for end in ENDS:
            yield case(device, f"{end}:step:700", line=line, name=f"device: {end}:step:700, {tool}", code=(3,),
                       says=(r"cycle 700", r"mrc_dut_step"), **({"makes": {"a.json": "json-incomplete"}} if tool ==
                                                               "bench nic" else {"may": ("a.json",)}))


def lies(device):
    """What it says about itself is not so."""
    for does, words in LIES:
        yield case(device, does, code=(3, 4), err=(words,), refused=True)
    yield case(device, "no-names", code=(0,), out=(r"^PASS",), makes={"a.json": "json"})
    yield case(device, "refuse", code=(4,), err=(r"today is not its day",), refused=True)
    yield case(device, "refuse-no-nul", code=(4,), err=(r"x{100}",), never=(r"x{257}",), refused=True)
    yield case(device, "refuse-control", code=(4,), err=(r"red .*\[31m.*and.*no more",), refused=True)


def outputs(device):
    """Pins and boundaries that cannot be."""
    for pin in PINS:
        yield case(device, f"stray:{pin}:700", code=(1,), says=(r"^MISMATCH.*seed 1", rf"\b{pin}\b", r"cycle [\d ]+"),
                   makes={"a.json": "json:mismatch"})
    for does in ("ones:0", "ones:700", "random:0", "random:700", "random-observe:0", "random-observe:700"):
        yield case(device, does, code=(1,), says=(r"^MISMATCH.*seed 1",), makes={"a.json": "json:mismatch"})
    for does in ("null-observe", "wild-observe"):
        yield case(device, f"{does}:0", code=(3,), err=(r"mrc_dut_observe|boundar",), refused=True)
        yield case(device, f"{does}:700", code=(3,), says=(r"mrc_dut_observe|boundar", r"cycle 700"),
                   makes={"a.json": "json-no-pass"})
    for does in ("", "stdout", "fork"):
        yield case(device, does, name=f"device: right, {does or 'nothing else'}", out=(r"^PASS",),
                   makes={"a.json": "json"})
    yield case(device, "stdout", line=RUN.replace("a.json", "-"), name="device: right, talks into our json",
               stdout_kind="json")


def shared(device):
    """In the process of the bench, as asked for: who crashes takes the bench along, all else is as ever."""
    line = RUN + " --dut-process shared"
    for end in ("exit", "throw"):
        for call in ("open", "step:700", "close"):
            words = ("device", f"mrc_dut_{call.split(':')[0]}", "cycle 700" if ":" in call else "")
            code = (0,) if (end, call) == ("throw", "close") else (3,)  # over, with a warning
            yield case(device, f"{end}:{call}", line=line, name=f"device: {end}:{call}, shared", code=code, says=words,
                       never=(r"unexpected error|[Pp]lease report",), may=("a.json",))
    for end, number in (("abort", -6), ("segv", -11)):
        yield case(device, f"{end}:step:700", line=line, name=f"device: {end}:step:700, shared", code=(3, number),
                   may=("a.json*",))
    for does, words in LIES:
        yield case(device, does, line=line, name=f"device: {does}, shared", code=(3, 4), err=(words,), refused=True)
    for does in ("stray:tx_tvalid:700", "stray:cqe_valid:700", "ones:0", "ones:700", "random:700"):
        yield case(device, does, line=line, name=f"device: {does}, shared", code=(1,), says=(r"^MISMATCH.*seed 1",),
                   makes={"a.json": "json:mismatch"})
    yield case(device, "null-observe:700", line=line, name="device: null-observe:700, shared", code=(3,),
               says=(r"mrc_dut_observe|boundar",), makes={"a.json": "json-no-pass"})
    yield case(device, "", line=line, name="device: right, shared", out=(r"^PASS",), makes={"a.json": "json"})


def cases(device):
    return [*endings(device), *lies(device), *outputs(device), *shared(device)]
