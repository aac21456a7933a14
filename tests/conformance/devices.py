# SPDX-License-Identifier: Apache-2.0
"""usage: devices.py [MRC]

Devices that crash, hang, lie or babble (rude.py): each is named within bounded time and memory, and is gone afterwards."""
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import xml.dom.minidom

from common import HERE, ROOT, holds, run_tests, same, vector
from mrcscript import cli, compiler, engine, runner
from mrcscript.device import ProcessDevice

BODY = "msg m = write len 4096 at buf seq 1\np0 < m[0] ackreq\n> sack trigger m[0] within rtt\n"
HEAD = "id T-1\npurpose p\nmark S2\ncite mrc.md 6\ncaps responder\nplanes 2\n"
RUDE = {
    "crash": "ended by signal 6 instead of answering", "exit": "ended with code 7 instead of answering",
    "half": "ended with code 0 instead of answering 'advance'", "hang": "did not answer", "deaf": "did not answer 'advance'",
    "garbage": "with a line that is no JSON", "words": "without \"ok\": true or false", "silent ok": "without \"ok\"",
    "deep": "with a line that is no JSON", "long": "sent a line of more than", "trickle": "did not answer 'advance' within 1.5 s",
    "twice": "said something before it was asked", "slow": "takes too long by the clock on the wall",
    "still": "the device stands still", "back": "'reached' is '-5'", "ahead": "'reached' is '11258", "no": "refused 'advance': no",
    "plane": "sent on plane 7; it has 2", "hex": "no hex digit", "list": "'out' is no list", "kind": "'out' is no list",
    "number": "'t' is '1e9'", "read": "'bytes' is '109951",
}
FINDINGS = {"many": "not seen in time", "wide": "mem.region: the device wrote 262144 bytes at 0x0", "short": "wire.format: the device sent on p0 a frame"}


class Patient(ProcessDevice):
    """Gives a process time to begin, and little afterwards."""

    def call(self, message):
        self.seconds = 20 if message["call"] == "open" else 1.5
        return super().call(message)


def played(mode, wall):
    """(result, seconds, the device's process)"""
    start = time.monotonic()
    with Patient([sys.executable, os.path.join(HERE, "rude.py"), mode]) as device:
        result = engine.run_vector(device, vector(BODY, HEAD), wall)
    return result, time.monotonic() - start, device.process


def test_rude_devices():
    wrong = []
    for mode, part in {**RUDE, **FINDINGS}.items():
        result, seconds, process = played(mode, 0.3 if mode == "slow" else 5.0)
        if result.disposition != ("fail" if mode in FINDINGS else "error") or part not in result.reason:
            wrong.append(f"{mode}: {result.disposition}: {result.reason[:200]}, expected '{part}'")
        holds(seconds < 30, f"{mode} took {seconds:.1f} s")
        holds(process.poll() is not None, f"{mode}: its process is gone")
        holds(len(result.reason) < 2000 and result.reason.isprintable(), f"{mode}: one readable line: {result.reason!r}")
    same(wrong, [], "rude devices")
    holds(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 400_000, "memory is bounded")


def test_a_device_that_does_not_read():
    """It lets its stdin fill: a long line does not wait for ever."""
    with ProcessDevice([sys.executable, "-c", "import time; time.sleep(30)"], 0.4) as device:
        try:
            device.call({"call": "host_done", "data": "00" * (1 << 20)})
            raise AssertionError("it answered")
        except engine.DeviceError as error:
            same(error.sentence, "the device did not read 'host_done' within 0.4 s.", "words")


def test_giving_up():
    """A device that breaks in every vector is not started a thousand times, and one that does not exist not twice."""
    vectors = [vector(BODY, HEAD.replace("T-1", f"T-{i}")) for i in range(40)]
    results = runner.run_all(vectors, runner.process_maker([sys.executable, os.path.join(HERE, "rude.py"), "exit"], 5), 2)
    ran = [r for r in results if not r.not_run]
    holds(5 <= len(ran) <= 7, f"{len(ran)} ran")
    holds(all(r.disposition == "error" for r in results), "all are errors")
    stream = io.StringIO()
    runner.tell([r.as_json() for r in results], False, stream)
    holds(stream.getvalue().count("not run: the device broke in 5 vectors one after the other") == 1, stream.getvalue())
    results = runner.run_all(vectors, runner.process_maker("/no/such", 5), 1)
    same({r.reason for r in results}, {"the device '/no/such' cannot be run: No such file or directory."}, "no device")


class Mute:
    """Says that it has everything, answers every call, and does nothing."""

    def call(self, message):
        if message["call"] == "open":
            return {"ok": True, "planes": message["planes"], "latency": 1_000_000, "caps": list(compiler.CAPS), "qp_first": 16,
                    "qps": 16}
        return {"ok": True, "reached": message.get("until", 0), "out": [], "counters": {}, "state": "rts"}


def test_nothing_passes_on_a_mute_device():
    """Nor do vectors that ask for silence: they show besides that the device is there."""
    results = [engine.run_vector(Mute(), v, 20.0) for v in runner.load(runner.scripts_of(cli.VECTORS))]
    same([(r.id, r.reason) for r in results if r.disposition not in ("fail", "deviates")], [], "vectors")


def test_the_example():
    """As a process: no errors, and nothing passes."""
    vectors = [v for v in runner.load(runner.scripts_of(cli.VECTORS)) if v["file"] == "responder.mrc"]
    command = [sys.executable, ROOT + "/conformance/example_device.py"]
    results = runner.run_all(vectors, runner.process_maker(command, 20), 2)
    same([r.id for r in results if r.disposition not in ("fail", "deviates", "unsupported")], [], "vectors")


def test_reports():
    """JUnit, trace, show, choice by rule, capability and section."""
    tool = [sys.executable, ROOT + "/conformance/run.py", "--device", f"{sys.executable} -m mrcscript.legal"]
    with tempfile.TemporaryDirectory() as folder:
        xml_file, trace = folder + "/r.xml", folder + "/t.txt"
        subprocess.run([*tool, "R-SACK-001", "Q-TRIM-001", "X-1", "--junit", xml_file, "--trace", trace], check=False,
                       env={**os.environ, "PYTHONPATH": ROOT + "/conformance"}, capture_output=True, timeout=60)
        suite = xml.dom.minidom.parse(xml_file).documentElement
        same([suite.getAttribute(key) for key in ("tests", "failures", "errors", "skipped")], ["3", "0", "1", "1"], "counts")
        with open(trace, encoding="utf-8") as stream:
            lines = stream.read().splitlines()
        same(json.loads(lines[0][2:])["call"], "open", "first line")
        same([line[0] for line in lines[:4]], [">", "<", ">", "<"], "both ways")
    for words, code, part in ((["--rule", "wire.icr"], 3, "no vector has the rule 'wire.icr'"),
                              (["--assumption", "A-999"], 3, "no vector has the assumption 'A-999'"),
                              (["--section", "77"], 5, "")):
        done = subprocess.run([*tool, *words], check=False, capture_output=True, text=True, timeout=60)
        same((done.returncode, part in done.stderr), (code, True), done.stdout + done.stderr)
    evil = runner.missing("X-\x00\"<&>\x1b")
    xml.dom.minidom.parseString(runner.junit([evil]))
    vectors = runner.load(runner.scripts_of(cli.VECTORS))
    parser = cli.argparse.ArgumentParser()
    cli.choose(parser)
    for words, holds_for in ((["--rule", "resp"], lambda v: any(r.startswith("resp.") for r in v["rules"])),
                             (["--rule", "wire.icrc"], lambda v: "wire.icrc" in v["rules"]),
                             (["--cap", "dyn_mpr"], lambda v: "dyn_mpr" in v["caps"]),
                             (["--section", "9"], lambda v: any(c.startswith("mrc.md 9") for c in v["cite"])),
                             (["--assumption", "A-12", "--negative"], lambda v: "A-12" in v["assumes"] and v["negative"])):
        got = [v["id"] for v in cli.chosen(vectors, parser.parse_args(words), [])[0]]
        same(got, [v["id"] for v in vectors if holds_for(v)], f"{words}")
        holds(got, f"{words} finds something")
    holds("    any order {\n      * > sack cack m[1] bth.m 0 bth.se 1\n" in
          cli.shown(next(v for v in vectors if v["id"] == "S-A02-M6-001")), "a row's words stand in its statements")


run_tests(globals())
