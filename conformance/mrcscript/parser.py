# SPDX-License-Identifier: Apache-2.0
"""Parser of statements (docs/reference/vectors.md). Compiled: {"do": word, "at": [line, column], "src": text, ...}."""
from . import fields
from .packets import HEADERS, field_info
from .qps import PEER_IPS
from .values import Cursor, _port

MAX_STEPS = 5000
BACKGROUND = ("sack", "ack", "nack", "nak", "write", "probe", "request", "response", "cqe", "endpoint", "none")
QP_FIELDS = ("state", "mtu", "sq_psn", "rq_psn", "msn", "rqmsn", "mpr", "mpr_dest", "dynamic_mpr", "max_wimm",
             "max_wimm_dest", "timeout", "retry_linear", "retry_exp", "trim_nack", "svc_time", "time_stamps",
             "controlled", "pkey", "class_data", "class_rtx")
STATES = ("reset", "init", "rtr", "rts", "error")
# Attributes of an order to modify a QP; those that each state needs.
NEEDED = {"reset": (), "init": ("ev_profile", "cc_profile"), "rtr": ("path", "rq_psn", "max_wimm_dest", "mpr_dest", "caps"),
          "rts": ("sq_psn", "max_wimm", "mpr", "timeout", "retry_cnt"), "error": ()}
ATTRIBUTES = NEEDED["init"] + NEEDED["rtr"] + NEEDED["rts"]
STARTS = ("msg", "none", "any", "set", "either", "optional", "repeat", "if", "let", "count", "share", "assume", "expect",
          "mem", "blackhole", "heal", "settle", "dut", "peer", "on", "when", "skip", "background", "repair", "each",
          "until", "cqe", "counters", "qp", "with")


class Parser(Cursor):
    """Statements of one script."""

    def __init__(self, source, tokens):
        super().__init__(source, tokens)
        self.count = 0

    def script(self):
        steps = self._statements("end")
        if not steps:
            self.fail("the script has no statement.")
        return steps

    def block(self):
        self.skip_newlines()
        self.expect("{")
        self.deeper()
        steps = self._statements("}")
        self.depth -= 1
        self.expect("}")
        return steps

    def _statements(self, close):
        steps = []
        while True:
            self.skip_newlines()
            if self.token.kind == "end":
                if close == "}":
                    self.fail("a '{' has no '}'.")
                return steps
            if close == "}" and self.is_("}"):
                return steps
            steps.append(self.statement())
            if not (self.token.kind in ("nl", "end") or self.is_(";", "}")):
                self.fail(f"{self.shown()} does not belong to this statement.",
                          "A statement ends with its line or with ';'.")
            if self.is_("}") and close != "}":
                self.fail("a '}' without a '{'.")

    def statement(self):
        first, start = self.token, self.at
        self.count += 1
        if self.count > MAX_STEPS:
            self.fail(f"more than {MAX_STEPS} statements.")
        step = self._dispatch()
        last = self.tokens[max(start, self.at - 1)]
        text = " ".join(self.source.text[first.start:max(first.stop, last.stop)].split())
        step["at"] = [first.line, first.column]
        step["src"] = text if len(text) <= 160 else text[:157] + "..."
        return step

    def _dispatch(self):
        if self.starts_pattern():
            return self._expectation("expect")
        ahead = self.ahead()
        port = _port(self.token.text) if self.token.kind == "word" else None
        if (port is not None or self.is_("*")) and ahead.text == "<":
            return self._send(port)
        if self.is_("<"):
            return self._send(None)
        if port is not None:
            return self._port_event(port)
        if self.token.kind != "word" or self.token.text not in STARTS:
            self.fail(f"{self.shown()} begins no statement.",
                      "Statements begin with a port (p0 < ..., p0 > ...), '*', or one of " + ", ".join(STARTS) + ".")
        word = self.take().text
        return getattr(self, "_do_" + word)()

    # ---- packets that the tester sends ------------------------------------------------------------------------------

    def _send(self, port):
        if not self.is_("<"):
            self.take()
        self.expect("<")
        step = {"do": "send", "plane": port}
        token = self.token
        if token.kind != "word":
            self.fail(f"expected a packet, found {self.shown()}.",
                      "m[i] of a message, sack, nack, ack, nak, probe, evprobe, endpoint request, back w, bytes \"...\".")
        name = self.take().text
        if self.is_("["):
            self.take()
            step["packet"] = {"kind": "data", "msg": name, "index": self.value(), "at": [token.line, token.column]}
            self.expect("]")
        elif name == "bytes":
            step["packet"] = {"kind": "bytes", "hex": self._hex()}
        elif name == "back":
            step["packet"] = {"kind": "back", "of": self.value(), "swapped": bool(self.accept("swapped"))}
        else:
            kind = name
            if name == "endpoint":
                kind = self.word("endpoint packet", ("request", "response"))
            elif name == "evprobe":
                kind = "request"
            if kind not in fields.SENDS:
                self.fail(f"'{name}' is no packet.", "m[i] of a message, " + ", ".join(fields.SENDS) + ", evprobe.",
                          token)
            step["packet"] = {"kind": kind, "fields": {"op": fields.OPS["ev_probe"]} if name == "evprobe" else {}}
        self._modifiers(step)
        self._needed(step["packet"], token)
        return step

    def _needed(self, packet, token):
        if packet["kind"] in ("data", "bytes", "back"):
            return
        for name, default in fields.SENDS[packet["kind"]].items():
            if default is None and name not in packet["fields"]:
                self.fail(f"a {packet['kind']} needs '{name}'.", token=token)

    def _hex(self):
        token = self.token
        text = self.string("hex digits").replace(" ", "")
        if len(text) % 2 or any(char not in "0123456789abcdefABCDEF" for char in text) or len(text) > 20000:
            self.fail("these are no bytes in hex.", "Two digits each, 10000 bytes at most.", token)
        return text.lower()

    def _modifiers(self, step):
        packet = step["packet"]
        allowed = fields.SENDS.get(packet["kind"], {})
        raw = []
        while self.token.kind == "word":
            token = self.token
            word = self.take().text
            if word == "as":
                step["as"] = self._new_name()
            elif word in ("rtx", "ackreq"):
                step[word] = self.value() if self.token.kind in ("num", "word") and self._is_bit() else 1
            elif word == "has" and packet["kind"] == "sack":
                packet["fields"]["has"] = self._ranges()
            elif word in allowed:
                packet["fields"][word] = self._named(packet["kind"], word)
            elif word == "raw":
                raw.append(self._raw())
            elif word == "flip":
                step.setdefault("flip", []).append(self._flip())
            elif word == "trim":
                step["trim"] = self._trim()
            elif word in ("dscp", "ecn"):
                step[word] = self._word_of(fields.DSCP if word == "dscp" else fields.ECN)
            elif word == "icrc":
                step["icrc"] = self._icrc()
            elif word == "fcs":
                self.expect("bad")
                step["fcs_bad"] = True
            elif word == "payload":
                step["payload"] = self._hex() if self.token.kind == "str" else self._length()
            elif word in ("ev", "cut", "append", "after"):
                step[word] = self.value()
            else:
                self.fail(f"'{word}' is nothing that this packet can have.",
                          "rtx, ackreq, ecn, ev, dscp, trim, raw, icrc, fcs bad, payload, cut, append, after, as"
                          + (", " + ", ".join(allowed) if allowed else "") + ".", token)
            self.accept(",")
        if raw:
            step["raw"] = raw

    def _length(self):
        self.expect("len")
        return {"len": self.value()}

    def _icrc(self):
        """bad, bad MASK (bits that are turned over), or the number as on the wire."""
        if not self.accept("bad"):
            return self.value()
        return {"flip": self.value()} if self.token.kind == "num" else "bad"

    def _is_bit(self):
        return self.token.kind == "num" and self.token.text in ("0", "1")

    def _named(self, kind, word):
        path = fields.path_of(kind if kind in fields.BY_KIND else "any", word)
        return self._word_of(fields.WORDS.get(path, {}))

    def _word_of(self, words):
        if self.token.kind == "word" and self.token.text in words:
            return words[self.take().text]
        return self.value()

    def _ranges(self):
        out = []
        while True:
            low = self.value()
            out.append([low, self.value()] if self.accept("..") else [low])
            if not self.is_("or") or self.ahead().text == "{":
                return out
            self.take()

    def _flip(self):
        token = self.token
        if self.accept("payload", "pad"):
            return token.text
        name = self.word("header", tuple(HEADERS))
        self.expect(".")
        path = name + "." + self.word("field")
        if field_info(path) is None:
            known = ", ".join(entry["name"] for entry in HEADERS[name]["fields"])
            self.fail(f"there is no field {path}.", f"Its fields are {known}.", token)
        return path

    def _raw(self):
        token = self.token
        name = self.word("header", tuple(HEADERS))
        self.expect(".")
        path = name + "." + self.word("field")
        if field_info(path) is None:
            known = ", ".join(entry["name"] for entry in HEADERS[name]["fields"])
            self.fail(f"there is no field {path}.", f"Its fields are {known}.", token)
        self.accept("=")
        return [path, self._word_of(fields.WORDS.get(path, {}))]

    def _trim(self):
        out = {"size": self.value(), "lengths": "none", "where": "outer", "dscp": fields.DSCP["trimmed"]}
        while self.is_("lengths", "outer", "both", "dscp"):
            word = self.take().text
            if word == "lengths":
                out["lengths"] = self.word("lengths that the switch rewrote", ("none", "ip", "udp", "all"))
            elif word == "dscp":
                out["dscp"] = self._word_of(fields.DSCP)
            else:
                out["where"] = word
        return out

    def _do_msg(self):
        name = self._new_name()
        self.expect("=")
        self.expect("write")
        step = {"do": "msg", "name": name}
        while self.token.kind == "word":
            word = self.word("word of a message", ("len", "at", "seq", "imm", "r_key"))
            step[word if word != "at" else "addr"] = "wrong" if word == "r_key" and self.accept("wrong") else self.value()
        if "len" not in step:
            self.fail("a message needs a length: msg m = write len 8192 at buf")
        return step

    # ---- expectations -----------------------------------------------------------------------------------------------

    def _expectation(self, kind):
        step = {"do": kind, "pattern": self.pattern()}
        self._times(step, ("within", "from", "to") if kind == "none" else ("within", "from"))
        return step

    def _times(self, step, words):
        while self.token.kind == "word":
            if self.token.text in words:
                word = self.take().text
                step[word] = self.value()
            elif self.token.text == "as" and step["do"] != "none":
                self.take()
                step["as"] = self._new_name()
            else:
                kind = step["pattern"]["kind"] if "pattern" in step else ""
                remedy = f"Fields of {kind}: {', '.join(fields.words_of(kind))}, HEADER.FIELD." if kind else ""
                self.fail(f"'{self.token.text}' does not belong here.", remedy)

    def _new_name(self):
        token = self.token
        name = self.word("a name")
        if _port(name) is not None:
            self.fail(f"'{name}' is a port.", "Choose another name.", token)
        return name

    def _do_none(self):
        return self._expectation("none")

    def _do_optional(self):
        return self._expectation("optional")

    def _do_cqe(self):
        raise AssertionError("starts_pattern takes it")

    def _do_any(self):
        self.expect("order")
        step = {"do": "any", "steps": self.block()}
        for inner in step["steps"]:
            if inner["do"] not in ("expect", "optional"):
                self.fail(f"'any order' holds expectations of packets alone, not '{inner['src']}'.")
        self._times(step, ("within",))
        return step

    def _do_set(self):
        step = {"do": "set", "pattern": self.pattern()}
        where = step["pattern"]["where"]
        ranges = [entry for entry in where if len(entry["alts"]) == 1 and len(entry["alts"][0]) == 2]
        if not ranges and where and len(where[-1]["alts"]) == 1:
            only = where[-1]["alts"][0][0]
            ranges, where[-1]["alts"] = [where[-1]], [[only, only]]
        if not ranges:
            self.fail("a set needs a field with a range: psn a .. b.")
        step["field"] = ranges[-1]["field"]
        step["range"] = ranges[-1]["alts"][0]
        self.expect("each")
        self.expect("once")
        self._times(step, ("within", "from"))
        return step

    def _do_either(self):
        branches = [self.block()]
        while True:
            self._newlines_before("or")
            if not self.accept("or"):
                break
            branches.append(self.block())
        if len(branches) < 2:
            self.fail("'either' needs an 'or { ... }'.")
        for branch in branches:
            if not branch or branch[0]["do"] not in ("expect", "none", "check"):
                self.fail("each branch of 'either' begins with a packet, 'none', or 'expect'.")
        step = {"do": "either", "branches": branches}
        self._newlines_before("flag")
        if self.accept("flag"):
            step["flag"] = self._flag()
        return step

    def _newlines_before(self, word):
        at = self.at
        while self.token.kind == "nl":
            self.take()
        if not self.is_(word):
            self.at = at

    def _flag(self):
        if self.token.kind != "tag":
            self.fail(f"expected the id of an assumption, A-24, found {self.shown()}.")
        text = self.take().text
        if self.accept("="):
            text += "=" + self.take().text
        return text

    def _do_expect(self):
        step = {"do": "check", "cond": self.condition()}
        if self.accept("flag"):
            step["flag"] = self._flag()
        return step

    def _do_assume(self):
        step = {"do": "assume", "cond": self.condition()}
        self.expect("else")
        self.expect("unsupported")
        step["why"] = self.string("a reason")
        return step

    def _do_each(self):
        step = {"do": "each", "pattern": self.pattern()}
        while not self.is_("is"):
            word = self.word("word", ("as", "from", "to", "where", "is"))
            if word == "as":
                step["as"] = self._new_name()
            elif word == "where":
                step["where"] = self.condition()
            else:
                step[word] = self.value()
        if "as" not in step:
            self.fail("'each' needs a name for what it looks at: each > write as x ... is followed by ...")
        self.expect("is")
        self.expect("followed")
        self.expect("by")
        step["then"] = self.pattern()
        self.expect("within")
        step["within"] = self.value()
        return step

    def _do_until(self):
        step = {"do": "until", "cond": self.condition()}
        self.expect("within")
        step["within"] = self.value()
        return step

    # ---- control ----------------------------------------------------------------------------------------------------

    def _do_repeat(self):
        step = {"do": "repeat", "times": self.value(), "steps": self.block()}
        if self.accept("counting"):
            step["pattern"] = self.pattern()
            self.expect("by")
            token = self.token
            step["by"] = self._path(step["pattern"]["kind"], self.word("field"), token)
            self.expect("as")
            step["as"] = self._new_name()
        return step

    def _do_if(self):
        step = {"do": "if", "cond": self.condition(), "steps": self.block()}
        self._newlines_before("else")
        if self.accept("else"):
            step["else"] = self.block()
        return step

    def _do_let(self):
        name = self._new_name()
        self.expect("=")
        return {"do": "let", "name": name, "value": self.value()}

    def _do_count(self):
        return self._count("count")

    def _do_share(self):
        return self._count("share")

    def _count(self, kind):
        name = self._new_name()
        self.expect("=")
        step = {"do": kind, "as": name, "times": self.value(), "pattern": self.pattern()}
        self.expect("by")
        token = self.token
        step["by"] = self._path(step["pattern"]["kind"], self.word("field"), token)
        if self.accept("within"):
            step["within"] = self.value()
        return step

    def _do_skip(self):
        times = 1 if self.starts_pattern() else self.value()
        step = {"do": "skip", "times": times, "pattern": self.pattern()}
        self._times(step, ("within",))
        return step

    def _do_settle(self):
        plain = self.token.kind in ("nl", "end") or self.is_(";", "}")
        return {"do": "settle", "time": {"unit": [1, "lat"]} if plain else self.value()}

    # ---- memory, ports, device, peer --------------------------------------------------------------------------------

    def _do_mem(self):
        what = self.word("word behind 'mem'", ("fill", "same", "digest", "any"))
        step = {"do": "mem", "what": what, "addr": self.value()}
        self.accept("len")
        step["len"] = self.value()
        if what != "any":
            self.expect("=")
            if self.accept("seq"):
                step["seq"] = self.value()
            else:
                step["byte"] = self.value()
        if self.accept("after"):
            step["after"] = self.value()
            if self.accept("from"):
                step["from"] = self.value()
        return step

    def _port_event(self, port):
        self.take()
        word = self.word("port's event", ("carrier", "blackhole", "heal"))
        step = {"do": word, "plane": port}
        if word == "carrier":
            step["up"] = self.word("state of the carrier", ("up", "down")) == "up"
        elif word == "blackhole":
            step["way"] = "both"
            if self.is_("both", "in", "out"):
                step["way"] = self.take().text
        if self.accept("as"):
            step["as"] = self._new_name()
        return step

    def _do_blackhole(self):
        self.expect("ev")
        return self._ev_event("blackhole")

    def _do_heal(self):
        self.expect("ev")
        return self._ev_event("heal")

    def _ev_event(self, word):
        step = {"do": word, "ev": self.value()}
        if self.accept("as"):
            step["as"] = self._new_name()
        return step

    def _do_dut(self):
        call = self.word("call of the device", ("post", "recv", "qp", "query", "ev", "mpr", "mr", "memory", "modify", "reset",
                                                  "evprobe"))
        return getattr(self, "_dut_" + call)()

    def _dut_post(self):
        self.expect("write")
        self.expect("len")
        step = {"do": "post", "len": self._unary(), "count": 1}
        if self.accept("*"):
            step["count"] = 0 if self.accept("forever") else self._unary()
        while self.token.kind == "word":
            word = self.word("word of a post", ("at", "imm", "r_key", "as", "source"))
            if word == "as":
                step["as"] = self._new_name()
            else:
                step["remote" if word == "at" else word] = self.value()
        return step

    def _dut_evprobe(self):
        step = {"do": "evprobe", "ev": self.value()}
        self.expect("on")
        token = self.token
        step["plane"] = _port(self.take().text)
        if step["plane"] is None:
            self.fail("an EV probe goes out on one port: dut evprobe e1 on p1.", token=token)
        if self.accept("dscp"):
            step["tc"] = self._word_of(fields.DSCP)
        return step

    def _dut_reset(self):
        return {"do": "reset"}

    def _dut_recv(self):
        return {"do": "recv", "count": self.value()}

    def _dut_qp(self):
        again = self.accept("again")
        step = {"do": "qp", "set": self._qp_values()}
        return {**step, "again": True} if again else step

    def _qp_values(self):
        values = {}
        while self.token.kind == "word" and self.token.text != "refused":
            name = self.word("attribute of the QP", QP_FIELDS)
            values[name] = self.word("state", STATES) if name == "state" else self.value()
        return values

    def _dut_modify(self):
        step = {"do": "modify", "state": self.word("state", STATES), "refused": False}
        step["with"] = list(NEEDED[step["state"]])
        if self.accept("with"):
            step["with"] = []
            while self.token.kind == "word" and self.token.text not in ("set", "refused"):
                name = self.word("attribute", ATTRIBUTES + ("none",))
                step["with"] += [name] if name != "none" else []
        if self.accept("set"):
            step["set"] = self._qp_values()
        step["refused"] = bool(self.accept("refused"))
        return step

    def _dut_query(self):
        self.expect("state")
        return {"do": "query", "state": self.word("state", STATES)}

    def _dut_ev(self):
        step = {"do": "ev", "ev": self.value()}
        step["deny"] = self.word("word", ("deny", "allow")) == "deny"
        return step

    def _dut_mpr(self):
        return {"do": "mpr", "units": self.value()}

    def _dut_mr(self):
        return {"do": "mr", "valid": self.word("word", ("valid", "invalid")) == "valid"}

    def _dut_memory(self):
        return {"do": "memory", "takes": self.word("word", ("hold", "take")) == "take"}

    def _do_peer(self):
        step = {"do": "peer", "mode": self.word("mode", ("auto", "manual"))}
        if step["mode"] == "auto":
            step["sack"] = 1
            if self.accept("sack"):
                step["sack"] = 1 if self.accept("each") else self.value()
            if self.accept("delay"):
                step["delay"] = self.value()
        return step

    def _do_on(self):
        step = {"do": "on", "count": 1 if self.starts_pattern() else self.value()}
        return self._override(step)

    def _do_when(self):
        return self._override({"do": "when"})

    def _override(self, step):
        step["pattern"] = self.pattern()
        while self.is_("nth", "within", "as"):
            word = self.take().text
            step[word] = self._new_name() if word == "as" else self.value()
        self.expect(":")
        self.expect("answer")
        step["answer"] = self._answer(step["pattern"]["kind"])
        return step

    def _answer(self, kind):
        out = {"fields": {}}
        if kind not in ("write", "probe", "request"):
            self.fail(f"nobody answers a {kind}.")
        while self.token.kind == "word":
            token = self.token
            word = self.take().text
            if word in ("none", "lost", "together"):
                out[word] = True
            elif word == "nack" and kind == "write":
                out["nack"] = self._word_of(fields.REASONS)
            elif word in fields.SENDS["sack"] and kind != "request":
                out["fields"][word] = self._named("sack", word)
            elif word == "delay":
                out["delay"] = self.value()
            else:
                self.fail(f"'{word}' is no part of an answer.", "none, lost, together, nack REASON, delay, or a field of the SACK.",
                          token)
        return out

    def _do_background(self):
        word = self.word("word behind 'background'", ("ignore", "answer"))
        if word == "answer":
            self.word("packet", ("probe",))
            self.expect("as")
            self.expect("last")
            self.expect("sack")
            return {"do": "background", "answer": "probe"}
        kinds = []
        while self.token.kind == "word":
            kind = self.word("packet", BACKGROUND)
            kinds += ["request", "response"] if kind == "endpoint" else [] if kind == "none" else [kind]
            self.accept(",")
        return {"do": "background", "ignore": kinds}

    def _do_repair(self):
        return {"do": "repair", "on": self.word("word", ("on", "off")) == "on"}

    def _do_qp(self):
        step = {"do": "new_qp", "name": self._new_name(), "peer": 1}
        if self.accept("to"):
            token = self.token
            text = self.take().text
            if text not in [f"peer{n}" for n in range(1, len(PEER_IPS) + 1)]:
                self.fail(f"'{text}' is no peer.", f"qp b to peer2; there are peer1 to peer{len(PEER_IPS)}.", token)
            step["peer"] = int(text[4:])
        step["set"] = self._qp_values()
        return step

    def _do_with(self):
        return {"do": "with", "qp": self.word("name of a QP"), "steps": self.block()}

    def _do_counters(self):
        self.expect("as")
        return {"do": "counters", "as": self._new_name()}
