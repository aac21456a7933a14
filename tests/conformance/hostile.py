# SPDX-License-Identifier: Apache-2.0
"""usage: hostile.py [MRC] [--runs N] [--seed S]

Scripts, vectors and devices that mean harm: every input ends in a named error or a result, within limits. Mutants of
scripts, of vectors' JSON and of a device's answers are made from a seed, which a failure names."""
import argparse
import json
import random
import sys
import tempfile
import time

from common import ROOT, holds, run_tests, same, vector
from mrcscript import compiler, engine, legal, packets, runner, schema
from mrcscript.device import ProcessDevice
from mrcscript.errors import DeviceError, PacketError, ScriptError, VectorError
from mrcscript.source import Source

parser = argparse.ArgumentParser()
parser.add_argument("mrc", nargs="?")
parser.add_argument("--runs", type=int, default=200)
parser.add_argument("--seed", type=int, default=1)
OPTIONS = parser.parse_args()
PATHS = runner.scripts_of(ROOT + "/conformance/vectors")
HEAD = "id T-1\npurpose p\nmark S2\ncite mrc.md 6\ncaps responder\nplanes 2\n"
BODY = "msg m = write len 8192\np0 < m[0]\np1 < m[1] ackreq\nany order { * > sack cack m[1] ; * > ack msn 1 }"


# ---- devices --------------------------------------------------------------------------------------------------------

def device(body):
    """A process that answers with Python's `body`: one line of input is in `line`, the call in `call`."""
    text = ("import sys, json, time\nfor line in sys.stdin:\n    call = json.loads(line).get('call')\n"
            "    def say(x): print(x if isinstance(x, str) else json.dumps(x), flush=True)\n"
            "    if call == 'open' and not EARLY: say({'ok': True, 'planes': 2, 'caps': ['responder'], 'latency': 1000})\n"
            "    elif call != 'advance' and not EARLY: say({'ok': True})\n"
            "    else:\n        " + body.replace("\n", "\n        ") + "\n")
    return text


def answers(body, early=False):
    """The result of a vector against such a process."""
    with tempfile.NamedTemporaryFile("w", suffix=".py") as stream:
        stream.write(f"EARLY = {early}\n" + device(body))
        stream.flush()
        try:
            with ProcessDevice([sys.executable, stream.name], 1.0) as process:
                return engine.run_vector(process, vector(BODY, HEAD), 5.0)
        except DeviceError as error:
            result = engine.Result(vector(BODY, HEAD))
            result.disposition, result.reason = "error", error.sentence
            return result


HOSTILE = {
    "garbage": ("say('hello')", "no JSON"),
    "not an object": ("say([1])", "without \"ok\""),
    "no ok": ("say({'reached': 5})", "without \"ok\""),
    "deep": ("say('[' * 100000 + ']' * 100000)", "no JSON"),
    "a huge line": ("say('x' * 3000000)", "more than 1048576 bytes"),
    "silence": ("time.sleep(60)", "did not answer 'advance' within 1 s"),
    "its end": ("sys.exit(7)", "ended with code 7"),
    "a signal": ("import os; os.kill(os.getpid(), 9)", "ended by signal 9"),
    "an error": ("say({'ok': False, 'error': 'no'})", "the device refused 'advance': no"),
    "time backwards": ("say({'ok': True, 'reached': -5})", "'reached' is '-5'"),
    "no time": ("say({'ok': True, 'reached': 0})", "time goes forward"),
    "a float": ("say({'ok': True, 'reached': 1.5})", "'reached' is '1.5'"),
    "beyond": ("say({'ok': True, 'reached': 1 << 60})", "'reached'"),
    "out is no list": ("say({'ok': True, 'reached': 1, 'out': 5})", "'out' is no list"),
    "an unknown plane": ("say({'ok': True, 'reached': 1, 'out': [{'out': 'tx', 'plane': 9, 't': 1, 'frame': ''}]})",
                         "plane 9"),
    "no hex": ("say({'ok': True, 'reached': 1, 'out': [{'out': 'tx', 'plane': 0, 't': 1, 'frame': 'xy'}]})",
               "no hex digit"),
    "a huge frame": ("say({'ok': True, 'reached': 1, 'out': [{'out': 'tx', 'plane': 0, 't': 1, 'frame': 'ab' * 20000}]})",
                     "at most 32768 hex digits"),
    "a wild address": ("say({'ok': True, 'reached': 1, 'out': [{'out': 'write', 'addr': 1, 'data': 'ab'}]})",
                       "stands still"),
    "a read without end": ("say({'ok': True, 'reached': 1, 'out': [{'out': 'read', 'addr': 1, 'bytes': 1 << 40, 'tag': 1}]})",
                           "'bytes'"),
    "no packet": ("say({'ok': True, 'reached': 1, 'out': [{'out': 'tx', 'plane': 0, 't': 1, 'frame': 'ab' * 60}]})",
                  "stands still"),
}


def test_hostile_devices():
    for name, (body, part) in HOSTILE.items():
        start = time.monotonic()
        result = answers(body)
        holds(part in result.reason, f"{name}: expected '{part}', got {result.disposition}: {result.reason}")
        holds(result.disposition in ("error", "fail"), f"{name}: {result.disposition}")
        holds(time.monotonic() - start < 15, f"{name}: in time")


def test_hostile_beginnings():
    for body, part in (("say({'ok': True})", "'planes'"), ("say({'ok': True, 'planes': 2, 'caps': 5})", "'caps'"),
                       ("say({'ok': True, 'planes': 2, 'latency': 'x'})", "'latency'"),
                       ("say({'ok': True, 'planes': 10 ** 30})", "'planes'")):
        result = answers(body, early=True)
        holds(part in result.reason and result.disposition == "error", f"{body}: {result.reason}")


def test_no_such_device():
    try:
        ProcessDevice("/no/such/device --x")
        raise AssertionError("it was started")
    except DeviceError as error:
        holds("cannot be run" in error.sentence, error.sentence)


# ---- mutants --------------------------------------------------------------------------------------------------------

def mutated(rng, data, words):
    """A few bytes changed, cut out, doubled, or words put in."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        at = rng.randrange(len(data) + 1)
        how = rng.randrange(5)
        if how == 0 and data:
            data[at % len(data)] = rng.randrange(256)
        elif how == 1:
            del data[at:at + rng.randrange(1, 40)]
        elif how == 2:
            data[at:at] = data[at:at + rng.randrange(1, 40)]
        else:
            data[at:at] = rng.choice(words)
    return bytes(data)


def run_mutant(made):
    """A vector that came from a mutant is run too, briefly."""
    nic = legal.LegalNic(legal.VARIANTS[0])
    result = engine.run_vector(nic, made, 1.0)
    holds(result.disposition in runner.ORDER, result.disposition)


WORDS = [b"{", b"}", b"(", b"[", b"]", b" or ", b"..", b"-", b" 99999999999999999999 ", b"0x", b"\n", b";", b"$x", b'"',
         b" within ", b" from ", b" * > write ", b" repeat 99999999 {", b" m[99999999]", b"\xff", b"\0", b"/ 0", b"rtt",
         b" has 0 .. 99999999", b" either { ", b" let x = ", b" id T-2\n", b"cases id {\n"]
JSON = [b"{", b"}", b"[", b"]", b",", b":", b"null", b"-1", b"1e999", b"NaN", b'"n"', b'{"n":"x"}', b'{"do":"repeat"}',
        b"99999999999999999999999999999", b'"at"', b"true", b'{"op":"/","a":1,"b":0}', b'{"unit":["1/0","rtt"]}',
        b'{"idx":["m",5]}', b'{"get":[1,"t"]}', b'"\\ud800"', b'{"of":"all","pat":{"kind":"any","where":[]}}']


def test_mutants_of_scripts():
    texts = [open(path, "rb").read() for path in PATHS] + [(HEAD + BODY).encode()] * 3
    made = 0
    for run in range(OPTIONS.runs):
        rng = random.Random(f"{OPTIONS.seed} script {run}")
        data = mutated(rng, rng.choice(texts), WORDS)
        try:
            for one in compiler.compile_source(Source("m.mrc", data.decode("utf-8", "replace")))[:1]:
                made += 1
                if run % 4 == 0 and one["caps"] != ["requestor"]:
                    run_mutant(one)
        except ScriptError as error:
            holds(len(error.report()) < 6000, "a report is short")
        except Exception:
            print(f"seed {OPTIONS.seed}, script mutant {run}")
            raise
    holds(made > OPTIONS.runs // 20, f"only {made} mutants compile")


def test_mutants_of_vectors():
    text = json.dumps({"vectors": [v for v in runner.load(PATHS) if v["id"].startswith("R-")]}).encode()
    small = json.dumps({"vectors": [vector(BODY, HEAD)]}).encode()
    taken = 0
    for run in range(OPTIONS.runs):
        rng = random.Random(f"{OPTIONS.seed} vector {run}")
        data = mutated(rng, text if run % 20 == 0 else small, JSON)
        try:
            for one in schema.load_vectors("m.json", data)[:1]:
                taken += 1
                run_mutant(one)
        except VectorError as error:
            holds(len(error.sentence) < 3000, "a sentence is short")
        except Exception:
            print(f"seed {OPTIONS.seed}, vector mutant {run}")
            raise
    holds(taken > 0, "no mutant was taken")


class Liar:
    """A legal device whose answers are mutated on the way."""

    def __init__(self, rng):
        self.nic, self.rng, self.left = legal.LegalNic(legal.VARIANTS[0]), rng, rng.randrange(1, 40)

    def call(self, message):
        answer = self.nic.call(message)
        self.left -= 1
        if self.left:
            return answer
        data = mutated(self.rng, json.dumps(answer).encode(), JSON)
        try:
            answer = json.loads(data)
        except (ValueError, RecursionError):
            raise DeviceError("the device said no JSON.") from None
        if not isinstance(answer, dict) or answer.get("ok") is not True:
            raise DeviceError("the device said nothing.")
        return answer


def test_mutants_of_answers():
    known = [v for v in runner.load(PATHS) if v["caps"][0] == "responder"]
    for run in range(OPTIONS.runs):
        rng = random.Random(f"{OPTIONS.seed} answer {run}")
        try:
            result = engine.run_vector(Liar(rng), rng.choice(known), 2.0)
            holds(result.disposition in runner.ORDER, result.disposition)
        except Exception:
            print(f"seed {OPTIONS.seed}, answer mutant {run}")
            raise


def test_mutants_of_frames():
    rng = random.Random(OPTIONS.seed)
    frame = bytes.fromhex("02000000000202000000000186dd6021234500381140fd000000000000000000000000000001fd0000000000000000"
                          "00000000000002c12312b700380000ca40ffff0000012380fffffe0000123456789000cafe00010000001000010203"
                          "0405060708090a0b0c0d0e0fe383f529")
    for _ in range(OPTIONS.runs * 4):
        try:
            packets.decode(mutated(rng, frame, [b"\x86\xdd", b"\x2b", b"\x29", b"\xdc", b"\xff\xff"]))
        except PacketError:
            pass


def test_limits():
    for text, part in (("id T-1\n" + "settle\n" * 6000, "more than 5000 statements"),
                       ("x" * 5000, "the line has 5000 characters"), ("#" + "\n#" * 600_000, "characters; at most"),
                       ("id T-1\n" + "repeat 2 {\n" * 50 + "settle" + "\n}" * 50, "more than 40 levels")):
        try:
            compiler.compile_source(Source("t.mrc", text))
            raise AssertionError(f"{part}: it was taken")
        except ScriptError as error:
            holds(part in error.sentence, error.sentence)
    for data, part in ((b"[" * 100_000, "no JSON"), (b"{}", "'vectors' is missing"), (b'{"vectors": 5}', "is no list"),
                       (json.dumps({"vectors": [vector(BODY, HEAD)] * 2}).encode(), "used twice")):
        try:
            schema.load_vectors("t.json", data)
            raise AssertionError(f"{part}: it was taken")
        except VectorError as error:
            holds(part in error.sentence, error.sentence)


def test_a_vector_without_end_is_ended():
    made = vector("repeat 100000 { repeat 100000 { settle 1 ns } }", HEAD)
    start = time.monotonic()
    result = engine.run_vector(legal.LegalNic(legal.VARIANTS[0]), made, 1.0)
    same(result.disposition, "error", result.reason)
    holds(time.monotonic() - start < 5, "in time")


run_tests(globals())
