# SPDX-License-Identifier: Apache-2.0
"""usage: lint.py [MRC]

Each thing that lint refuses or warns of, by its words; and what each legal device is for: a script that only it
breaks."""
from common import HEAD, holds, run_tests, same, vector
from mrcscript import engine, legal, legal_requestor, lint

RESPONDER = HEAD.replace("responder requestor", "responder")
M = "msg m = write len 16384 at buf seq 1\n"


def words(body, head=RESPONDER):
    return [f"{f.level}: {f.sentence}" for f in lint.static(vector(body, head), {"resp.x"})]


def refused(body, part, head=RESPONDER):
    found = words(body, head)
    holds(any(part in text for text in found), f"{body!r}: expected '{part}', found {found}")


def test_again():
    head = RESPONDER.replace("caps responder", "caps requestor")
    text = "dut post write len 64\n* > write psn sq_psn\n"
    refused(text + "dut qp again sq_psn 5\n* > write", "nothing has reset it", head)
    same(words(text + "dut qp state reset\nsettle rtt\ndut qp again sq_psn 5\ndut post write len 1\n* > write psn 5", head), [],
         "after a reset")


def test_fair_script():
    same(words(M + "p0 < m[0] ackreq\n> sack trigger m[0]"), [], "nothing to say")


def test_header_lines():
    for line, part in (("purpose p\n", "a purpose is missing"), ("cite mrc.md 6\n", "a citation is missing"),
                       ("mark S2\n", "a mark is missing")):
        refused(M + "p0 < m[0]\n> sack trigger m[0]", part, RESPONDER.replace(line, ""))
    refused("none > nack", "there is no rule 'resp.y'", RESPONDER + "rules resp.y\n")
    same(lint.static(vector("none > nack", RESPONDER + "rules wire.icrcs\n"), lint.rules())[0].sentence,
         "there is no rule 'wire.icrcs' (docs/reference/generated/rules.md); near are wire.icrc, wire.class, wire.reason.", "a name that is near")
    refused("none > nack", "'caps' names neither", RESPONDER.replace("caps responder", "caps psn"))


def test_caps():
    for body, cap in (("dut post write len 64\n> write psn sq_psn", "requestor"), ("p0 carrier down\nnone > nack", "ports"),
                      ("msg m = write len 64 imm 1\np0 < m[0]\n> ack msn 1", "write_imm"),
                      ("msg m = write len 64 r_key wrong\np0 < m[0]\n> nak msn 0", "regions"),
                      ("msg m = write len 64\np0 < m[0] icrc bad\nnone > nak", "bytes"),
                      ("msg m = write len 64\np0 < m[0] trim 90\n> nack reason trimmed", "trim_nack"),
                      ("dut mpr 4\nnone > nack", "dyn_mpr"), ("dut modify init refused", "modify"), ("dut ev e0 deny\nnone > nack", "ev_control")):
        refused(body, f"this needs 'caps {cap}'")


def test_what_cannot_be_reached():
    refused("p5 > nack", "p5 does not exist")
    refused("> write psn 1", "no write can come")
    refused("repeat 0 { > nack }", "never run")
    refused("if 1 == 2 { > nack }", "always the same")
    refused("none > nack psn 5 .. 3", "the range 5 .. 3 is empty")
    refused("> nack within 0", "leaves no time")
    refused(M + "p0 < m[0] as a\nnone > nack within rtt from a\n> nack psn m[0] within rtt from a", "cannot be reached")
    refused("settle", "expects nothing")


def test_first_fit():
    refused(M + "p0 < m[0]\n> sack", "SACKs come unasked too")
    refused(M + "p0 < m[0]\nany order { > sack cack m[0] ; > sack ooo 0 }", "first fit is ambiguous")
    refused(M + "p0 < m[0]\neither { > sack cack m[0] } or { > sack ooo 1 }", "decide for two branches")
    refused(M + "p0 < m[0]\nnone > sack", "a SACK too many is never wrong")
    same(words(M + "p0 < m[0]\nany order { > sack cack m[0] ; > sack cack m[1] }"), [], "told apart")


def test_names():
    refused(M + "p0 < m[0] as x\nnone > nack", "the name 'x' is never used")
    refused(M + "none > nack", "the message 'm' is never sent")


# Scripts that a reader of the document may write, and the legal devices that refuse them.
UNFAIR = {
    "SACK before ACK": (M + "p0 < m[0] ; p0 < m[1] ; p0 < m[2] ; p0 < m[3] ackreq\n> sack cack m[3]\n> ack msn 1",
                        {"base-next"}),
    "one port before the other": (M + "p0 < m[0] ackreq\np1 < m[1] ackreq\n> sack trigger m[1] cack m[1]", {"ports"}),
    "soon": (M + "p0 < m[0] ackreq\n> sack trigger m[0] within 1 us", {"slow"}),
    "on the port it came from": (M + "p1 < m[0] ackreq\np1 > sack trigger m[0]", {"ports", "base-self", "ack-first"}),
    "no SACK without a reason": (M + "p0 < m[0] as x\nnone > sack has m[0] within rtt from x", {"talkative"}),
    "one SACK for each": (M + "p0 < m[0] ackreq\np0 < m[1] ackreq\n> sack trigger m[0]\n> sack trigger m[1]",
                          {"coalescing"}),
    "bitmap from cack + 1": (M + "p0 < m[2] ackreq\n> sack trigger m[2] base m[0]", {"base-self"}),
    "NAK in order": ("msg a = write len 64\nmsg b = write len 64 r_key wrong\np0 < b[0] as x\nnone > nak within rtt from x",
                     {"nak-early"}),
    "nothing but a NACK": (M + "p0 < m[0] trim 128 as x\n> nack reason trimmed\nnone > sack pr 1 within rtt from x",
                           {"nak-early", "own-probe"}),
    "no NACK": ("repair off\n" + M + "p0 < m[0] ; p0 < m[1] ; p0 < m[2] ackreq as x\nnone > nack within rtt from x",
                {"no-buffer"}),
    "nothing is lost": ("repair off\n" + M + "p0 < m[0] ; p0 < m[1] ; p0 < m[2] ackreq\n> sack cack m[2]",
                        {"discards", "no-buffer"}),
}


def test_every_choice_refuses_something():
    """Each legal device but the plain one is there for a reason: without it an unfair script would be taken."""
    head = RESPONDER.replace("caps responder", "caps responder trim_nack")
    refusing, wrong = set(), []
    for name, (body, wanted) in UNFAIR.items():
        made = vector(body, head)
        found = set()
        for choices in legal.VARIANTS:
            for seed in lint.seeds(choices):
                if engine.run_vector(legal.LegalNic(choices, seed), made, 20).disposition == "fail":
                    found.add(choices.name)
        holds("plain" not in found, f"'{name}' is fair on the plain device")
        if not wanted <= found:
            wrong.append(f"'{name}': {sorted(wanted)} refuse it, found {sorted(found)}")
            continue
        refusing |= found
        findings, _ = lint.dynamic(made)
        holds(findings and "the legal device" in findings[0].sentence, "lint names the device")
        holds(findings[0].lines, "and what happened")
    same(wrong, [], "refusals")
    same({choices.name for choices in legal.VARIANTS} - refusing, {"plain"}, "devices that refuse nothing")


# The same for requestors.
ONE = "dut post write len 64\n* > write psn sq_psn rtx 0 within rtt\n"
UNFAIR_SENDERS = {
    "EVs as listed": ("dut post write len 64\n* > write psn sq_psn ev e0", {"sender-random", "sender-slow"}),
    "soon": (ONE + "p0 < nack reason trimmed psn sq_psn\n* > write rtx 1 within 1 us", {"sender-slow"}),
    "the last one alone asks": ("dut post write len 8192\n* > write first ackreq 0", {"sender-eager"}),
    "it asks": (ONE + "* > probe within rto", {"sender-patient"}),
    "a packet for the ACK": (ONE + "p0 < sack cack sq_psn\n* > write rtx 1 within 4 rto", {"sender-probes"}),
    "a NACK about another EV": (ONE + "p0 < nack reason trimmed psn sq_psn entropy 7\nnone > write rtx 1", {"sender-strict"}),
}


def test_every_way_refuses_something():
    head = RESPONDER.replace("caps responder", "caps requestor\nevs 16\nprofile timeout 5")
    refusing, wrong = set(), []
    for name, (body, wanted) in UNFAIR_SENDERS.items():
        made = vector(body, head)
        found = {ways.name for device, ways, _ in lint.devices(made)
                 if engine.run_vector(device, made, 20).disposition == "fail"}
        holds("sender" not in found, f"'{name}' is fair on the plain device")
        if not wanted <= found:
            wrong.append(f"'{name}': {sorted(wanted)} refuse it, found {sorted(found)}")
        refusing |= found
    same(wrong, [], "refusals")
    same({ways.name for ways in legal_requestor.WAYS} - refusing, {"sender"}, "devices that refuse nothing")
    holds(not list(lint.devices(vector("dut post write len 64 * forever\n* > write", head))), "no run without end")


run_tests(globals())
