# SPDX-License-Identifier: Apache-2.0
"""usage: language.py [MRC] [--write]

Every wrong script of wrong/ has its exact words, with line and caret, in wrong/*.out; what is right compiles to what it
says."""
import glob
import os
import sys

from common import HEAD, HERE, holds, run_tests, same, vector, vectors_of
from mrcscript import compiler, schema
from mrcscript.errors import ScriptError
from mrcscript.lint import walk


def words(path):
    try:
        compiler.compile_source(compiler.read_file(path))
    except ScriptError as error:
        return error.report() + "\n"
    return "nothing is wrong\n"


def test_wrong_scripts():
    paths = sorted(glob.glob(os.path.join(HERE, "wrong", "*.mrc")))
    holds(len(paths) >= 25, "there are wrong scripts")
    for path in paths:
        golden = path[:-4] + ".out"
        text = words(path)
        if "--write" in sys.argv:
            with open(golden, "w", encoding="utf-8") as stream:
                stream.write(text)
        with open(golden, encoding="utf-8") as stream:
            same(text, stream.read(), os.path.basename(path))
        holds("nothing is wrong" not in text, f"{path} is wrong")


def test_values():
    step = vector("let x = 2 * (3 + sq_psn) - 1.5 us / 3")["steps"][0]
    same(step["value"]["op"], "-", "the sum is the root")
    same(vector("settle 2.5 rtt")["steps"][0]["time"], {"unit": ["5/2", "rtt"]}, "fractions of rtt")
    same(vector("settle 250 ns")["steps"][0]["time"], 250_000, "ns")
    same(vector("let x = -5")["steps"][0]["value"], -5, "negative numbers")


def test_patterns():
    where = vector("none p0 p1 > sack cack 1 .. 2 or 5 m skip_once, ooo > 3")["steps"][0]["pattern"]
    same(where["ports"], [0, 1], "ports")
    same([entry["op"] for entry in where["where"]], ["==", "==", ">"], "operators")
    same(where["where"][0]["alts"], [[1, 2], [5]], "alternatives")
    same(where["where"][1]["alts"], [[1]], "words")
    first = vector("dut post write len 1\n> write first psn 3")["steps"][1]["pattern"]["where"]
    same(first[0], {"field": "bth.opcode", "op": "==", "alts": [[0xC6]]}, "parts of messages")


def test_cases():
    text = "cases id how cite {\n  T-1 \"raw bth.tver 1\" \"mrc.md 2\"\n  T-2 \"icrc bad\" \"mrc.md 4\"\n}\n" \
           "purpose $how is refused\nmark S2\ncaps responder\nmsg m = write len 64\np0 < m[0] $how\n"
    found = vectors_of(text)
    same([v["id"] for v in found], ["T-1", "T-2"], "a vector per row")
    same([v["purpose"] for v in found], ["raw bth.tver 1 is refused", "icrc bad is refused"], "columns in headers")
    same(found[0]["steps"][1]["raw"], [["bth.tver", 1]], "columns in statements")
    same(found[1]["steps"][1]["icrc"], "bad", "columns in statements")
    same(found[1]["cite"], ["mrc.md 4"], "own citation")


def test_rules_of_rows():
    text = "cases id rules {\n  T-1 wire.icrc\n  T-2 \"wire.pad wire.tver\"\n}\npurpose p\nrules resp.probe\nsettle\n"
    same([v["rules"] for v in vectors_of(text)], [["resp.probe", "wire.icrc"], ["resp.probe", "wire.pad", "wire.tver"]],
         "a row's rules add to the table's")


def test_file_headers():
    found = vectors_of("caps responder\nplanes 4\n" + "id T-1\ncaps psn\nsettle\nid T-2\nplanes 2\nsettle\n")
    same(found[0]["caps"], ["responder", "psn"], "caps add")
    same([v["planes"] for v in found], [4, 2], "the rest replaces")


def test_vectors_keep_the_schema():
    """What the compiler makes, the schema takes: each statement of the language once, and all our vectors."""
    body = """msg m = write len 8192 at buf seq 1 imm 7
p0 < m[0] rtx ackreq 0 ecn ce ev e1 trim 128 lengths all both dscp lasthop raw bth.tver 1 icrc bad fcs bad cut 90 as a
p0 < m[0] icrc bad 0xff ; p0 < m[0] icrc 5 payload "00" ; p0 < m[0] payload len 5 append 2 after 1 us
p0 < sack cack 5 has 1 .. 3 or 7 ; < ack psn 1 msn 2 ; p1 < endpoint request op port_status mask 6 id 1 ; p0 < bytes "00"
optional * > ack within rtt ; none > nack from a to last ; any order { > nack ; > sack cack 1 } within 3 us
dut post write len 4096 * forever at 64 imm 5 ; dut recv 2 ; dut qp state error ; dut query state error
set > write psn 1 .. 2 each once within rtt ; count c = 4 > write by ev ; share d = 4 > write by plane
either { > nack } or { none > nack } flag A-24=late
repeat 2 { skip 1 > write } counting > write by ev as e
if c[e0] > 1 and not m.count == 2 { settle } else { settle 1 us }
let x = max(c) + count(p0 > write from a) + sent_first(sq_psn).ev
assume x in 1 .. 5 else unsupported "why"
expect x == 1 flag A-20 ; until x > 1 within rtt
each > write as w where w.rtx == 0 is followed by > write psn w.psn within rto
mem fill buf 5 = 0xa5 ; mem same buf 5 = 0xa5 after rtt from a ; mem digest buf 5 = seq 1 ; mem any buf 5
p0 carrier down ; p1 blackhole in as g ; p1 heal ; blackhole ev e0 ; heal ev e0 ; dut ev e0 deny ; dut mpr 4 ; dut mr invalid ; dut memory hold
dut evprobe e1 on p1 dscp 9 ; dut reset ; qp b to peer2 class_data 20 class_rtx 22 ; with b { dut post write len 64 * 2 ; expect count(> write of *) >= 0 } ; p0 > write as back_it ; p0 < back back_it swapped trim 128
dut modify init with ev_profile refused ; dut modify rts set timeout 25 refused ; dut modify reset
peer auto sack 4 delay 1 us ; on 2 > write nth 3 : answer m skip_once together ; when > write : answer nack trimmed
background ignore sack, ack ; background answer probe as last sack ; repair off ; counters as k ; expect k.CNT_RETURNED == -1 ; > cqe send status ok
"""
    import json
    made = vector(body, HEAD + "evs 4\n")
    same(schema.load_vectors("x.json", json.dumps([made]).encode())[0]["id"], "T-1", "round trip")
    done = {step["do"] for step in walk(made["steps"])}
    absent = set(schema._statements()) - done
    same(absent - {"expect"}, set(), "every statement is in this test")


def test_schema_file_is_fresh():
    import json
    path = os.path.join(os.path.dirname(HERE), "..", "conformance", "schema", "vector.json")
    text = json.dumps(schema.schema(), indent=1) + "\n"
    if "--write" in sys.argv:
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)
    with open(path, encoding="utf-8") as stream:
        same(stream.read(), text, "conformance/schema/vector.json; language.py --write makes it anew")


run_tests(globals())
