# SPDX-License-Identifier: Apache-2.0
"""Parser of values, conditions and patterns: the part of the grammar below a statement.

A compiled value is a number, or one of {"n": name}, {"idx": [name, value]}, {"get": [value, field]},
{"op": word, "a": value, "b": value}, {"unit": [number, rtt|lat|rto]}, {"call": [function, [value]]},
{"list": [value]}, {"pat": pattern, "of": count|first|last|all|by, ...}."""
from fractions import Fraction

from . import fields
from .errors import ScriptError
from .source import RELATIVE, UNITS

FUNCTIONS = {"min", "max", "mean", "sum", "len", "abs", "sent", "sent_first", "sent_last", "reported", "values"}
PATTERN_FUNCTIONS = ("count", "first", "last", "all")
COMPARES = ("==", "!=", "<=", ">=", "<", ">")
MAX_DEPTH = 40


class Cursor:
    """Tokens with a place, and the parser of values."""

    def __init__(self, source, tokens):
        self.source, self.tokens, self.at, self.depth = source, tokens, 0, 0

    # ---- tokens -----------------------------------------------------------------------------------------------------

    @property
    def token(self):
        return self.tokens[self.at]

    def ahead(self, count=1):
        return self.tokens[min(self.at + count, len(self.tokens) - 1)]

    def is_(self, *texts):
        return self.token.kind in ("word", "op") and self.token.text in texts

    def take(self):
        token = self.token
        if token.kind != "end":
            self.at += 1
        return token

    def accept(self, *texts):
        if self.is_(*texts):
            return self.take()
        return None

    def fail(self, sentence, remedy="", token=None):
        token = token or self.token
        raise ScriptError(self.source, token.line, token.column, sentence, remedy, max(1, len(token.text.strip())))

    def shown(self):
        kinds = {"nl": "the end of the line", "end": "the end of the script"}
        return kinds.get(self.token.kind, f"'{self.token.text}'")

    def expect(self, text):
        if not self.is_(text):
            self.fail(f"expected '{text}', found {self.shown()}.")
        return self.take()

    def word(self, what, of=None):
        if self.token.kind != "word":
            self.fail(f"expected {what}, found {self.shown()}.",
                      f"One of {', '.join(of)}." if of else "")
        if of and self.token.text not in of:
            self.fail(f"'{self.token.text}' is no {what}.", f"One of {', '.join(of)}.")
        return self.take().text

    def string(self, what):
        if self.token.kind != "str":
            self.fail(f"expected {what} in double quotes, found {self.shown()}.")
        return self.take().text[1:-1]

    def skip_newlines(self):
        while self.token.kind == "nl" or self.is_(";"):
            self.take()

    def deeper(self):
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail(f"more than {MAX_DEPTH} levels of brackets or blocks.")

    # ---- values -----------------------------------------------------------------------------------------------------

    def value(self):
        """A sum of products."""
        self.deeper()
        left = self._product()
        while self.is_("+", "-"):
            op = self.take().text
            left = {"op": op, "a": left, "b": self._product()}
        self.depth -= 1
        return left

    def _product(self):
        left = self._unary()
        while self.is_("*", "/", "%"):
            if self.is_("*") and self.ahead().kind == "op" and self.ahead().text in ("<", ">"):
                break  # a pattern for every port behind it
            op = self.take().text
            left = {"op": op, "a": left, "b": self._unary()}
        return left

    def _unary(self):
        if self.accept("-"):
            self.deeper()
            inner = self._unary()
            self.depth -= 1
            return -inner if isinstance(inner, int) else {"op": "-", "a": 0, "b": inner}
        return self._fields(self._primary())

    def _fields(self, value):
        while self.is_(".") and self.ahead().kind == "word":
            self.take()
            name = self.take().text
            if self.is_(".") and self.ahead().kind == "word":  # a field of a header: x.seth.mpr
                self.take()
                name += "." + self.take().text
            value = {"get": [value, name]}
        return value

    def _primary(self):
        token = self.token
        if token.kind == "num":
            return self._number()
        if self.accept("("):
            inner = self.value()
            self.expect(")")
            return self._unit_behind(inner)
        if token.kind != "word":
            self.fail(f"expected a value, found {self.shown()}.", "Values are numbers, names, m[i], x.field and sums.")
        self.take()
        if token.text in RELATIVE:
            return {"unit": [1, token.text]}
        if self.is_("(") and token.text in PATTERN_FUNCTIONS:
            return self._pattern_call(token.text)
        if self.is_("("):
            return self._call(token)
        if self.accept("["):
            index = self.value()
            self.expect("]")
            return {"idx": [token.text, index], "at": [token.line, token.column]}
        return {"n": token.text, "at": [token.line, token.column]}

    def _number(self):
        token = self.take()
        if token.text[:2] in ("0x", "0X"):
            number = Fraction(int(token.text, 16))
        else:
            number = Fraction(token.text)
        unit = self.token
        if unit.kind == "word" and unit.text in UNITS:
            self.take()
            number *= UNITS[unit.text]
        elif unit.kind == "word" and unit.text in RELATIVE:
            self.take()
            return {"unit": [str(number) if number.denominator != 1 else int(number), unit.text]}
        if number.denominator != 1:
            self.fail(f"{token.text} is not a whole number here.", "Only times may have a fraction: 1.5 us.", token)
        return int(number)

    def _unit_behind(self, inner):
        if self.token.kind == "word" and self.token.text in RELATIVE:
            return {"op": "*", "a": inner, "b": {"unit": [1, self.take().text]}}
        return inner

    def _call(self, name):
        if name.text not in FUNCTIONS:
            self.fail(f"there is no function '{name.text}'.",
                      f"Functions are {', '.join(sorted(FUNCTIONS | set(PATTERN_FUNCTIONS)))}.", name)
        self.expect("(")
        arguments = []
        while not self.is_(")"):
            arguments.append(self.value())
            if not self.accept(","):
                break
        self.expect(")")
        return {"call": [name.text, arguments]}

    def _pattern_call(self, name):
        """count(p1 > write rtx 0 by ev from x to y)"""
        self.expect("(")
        out = {"of": name, "pat": self.pattern()}
        if self.accept("by"):
            token = self.token
            out["by"] = self._path(out["pat"]["kind"], self.word("field"), token)
        for word in ("from", "to"):
            if self.accept(word):
                out[word] = self.value()
        self.expect(")")
        return out

    # ---- conditions -------------------------------------------------------------------------------------------------

    def condition(self):
        self.deeper()
        left = self._and()
        while self.accept("or"):
            left = {"op": "or", "a": left, "b": self._and()}
        self.depth -= 1
        return left

    def _and(self):
        left = self._not()
        while self.accept("and"):
            left = {"op": "and", "a": left, "b": self._not()}
        return left

    def _not(self):
        if self.accept("not"):
            self.deeper()
            inner = self._not()
            self.depth -= 1
            return {"op": "not", "a": inner}
        left = self.value()
        if self.token.kind == "word" and self.token.text in ("has", "lacks"):  # of a SACK
            return {"op": self.take().text, "a": left, "b": self.value()}
        if self.is_(*COMPARES, "="):
            op = self.take().text
            return {"op": "==" if op == "=" else op, "a": left, "b": self._word_or_value(left)}
        if self.accept("in"):
            low = self.value()
            self.expect("..")
            return {"op": "in", "a": left, "b": low, "c": self.value()}
        return left

    def _word_or_value(self, left):
        """x.reason == trimmed: a word of the field's enumeration."""
        if isinstance(left, dict) and "get" in left and self.token.kind == "word":
            for kind in fields.KINDS:
                path = fields.path_of(kind, left["get"][1])
                words = fields.WORDS.get(path or "")
                if words and self.token.text in words:
                    return words[self.take().text]
        return self.value()

    # ---- patterns ---------------------------------------------------------------------------------------------------

    def starts_pattern(self):
        """PORT > or * > or just >, or cqe."""
        if self.is_(">", "cqe"):
            return True
        if self.is_("*") or (self.token.kind == "word" and _port(self.token.text) is not None):
            at = self.at
            found = False
            while self.is_("*") or (self.token.kind == "word" and _port(self.token.text) is not None):
                self.take()
            found = self.is_(">")
            self.at = at
            return found
        return False

    def pattern(self):
        ports = self.ports()
        start = self.token
        if ports is None and self.accept("cqe"):
            kind = "cqe"
        else:
            self.expect(">")
            if self.accept("*"):
                kind = "any"
            else:
                kind = self.word("packet", ("write", "sack", "nack", "ack", "nak", "probe", "evprobe", "endpoint", "cqe"))
        where = []
        if kind == "evprobe":
            kind = "request"
            where.append({"field": "erth.op", "op": "==", "alts": [[fields.OPS["ev_probe"]]]})
        elif kind == "endpoint":
            kind = self.word("endpoint packet", ("request", "response"))
        out = {"kind": kind, "where": where}
        if ports:
            out["ports"] = ports
        if start.kind == "end":
            self.fail("expected a pattern.")
        self._constraints(kind, where)
        if self.accept("of"):
            out["qp"] = "*" if self.accept("*") else self.word("name of a QP")
        return out

    def ports(self):
        out = []
        while self.token.kind == "word" and _port(self.token.text) is not None:
            out.append(_port(self.take().text))
        if not out and self.is_("*") and self.ahead().text == ">":
            self.take()
        return out or None

    def _constraints(self, kind, where):
        while True:
            self.accept(",")
            token = self.token
            if token.kind != "word":
                return
            if kind == "write" and token.text in fields.WRITE_PARTS and not self.ahead().text == ".":
                self.take()
                where.append({"field": "bth.opcode", "op": "==",
                              "alts": [[code] for code in fields.WRITE_PARTS[token.text]]})
                continue
            if kind == "sack" and token.text == "bitmap":
                self.take()
                if not self.is_("has", "lacks"):
                    self.fail(f"expected 'has' or 'lacks', found {self.shown()}.",
                              "'bit E 1' asks for one bit of the bitmap itself, 'seth.sack_bitmap X' for all.")
                continue
            if kind == "cqe" and token.text in ("receive", "send") and self._ends_word():
                self.take()
                where.append({"field": "@receive", "op": "==", "alts": [[int(token.text == "receive")]]})
                continue
            if not self._is_field(kind):
                return
            self.take()
            path = self._path(kind, token.text, token)
            where.append(self._constraint(path, token))
            if len(where) > 64:
                self.fail("more than 64 fields in one pattern.")

    def _ends_word(self):
        return not (self.ahead().kind == "num")

    def _is_field(self, kind):
        token = self.token
        if token.text in ("has", "lacks", "bit") and kind == "sack":
            return True
        if self.ahead().text == "." and fields.field_info_exists(token.text):
            return True
        return fields.path_of(kind, token.text) is not None

    def _path(self, kind, word, token):
        if self.is_(".") and self.ahead().kind == "word":
            self.take()
            word += "." + self.take().text
        path = fields.path_of(kind, word)
        if path is None:
            self.fail(f"a {kind} packet has no field '{word}'.",
                      f"Fields are {', '.join(fields.words_of(kind))}, and HEADER.FIELD.", token)
        return path

    def _constraint(self, path, token):
        op = "=="
        if self.accept("any"):
            return {"field": path, "op": "any", "alts": []}
        if self.is_(*COMPARES):
            op = self.take().text
        elif self.accept("="):
            pass
        elif self.accept("not"):
            op = "!="
        if path == "@bit":
            which = self.value()
            return {"field": path, "op": op, "alts": [[self.value()]], "which": which}
        alts = [self._alternative(path)]
        while self.is_("or") and self.ahead().text != "{":
            self.take()
            alts.append(self._alternative(path))
        if op in ("<", ">", "<=", ">=") and (len(alts) > 1 or len(alts[0]) > 1):
            self.fail(f"'{op}' takes one value.", token=token)
        return {"field": path, "op": op, "alts": alts}

    def _alternative(self, path):
        words = fields.WORDS.get(path, {})
        if self.token.kind == "word" and self.token.text in words:
            return [words[self.take().text]]
        low = self.value()
        if self.accept(".."):
            return [low, self.value()]
        if self.accept("+-"):
            around = self.value()
            return [{"op": "-", "a": low, "b": around}, {"op": "+", "a": low, "b": around}]
        return [low]


def _port(word):
    """p0 .. p7 as a number; None: another word."""
    if len(word) == 2 and word[0] == "p" and word[1] in "01234567":
        return int(word[1])
    return None


def names_of(value, found):
    """All names a compiled value uses: [(name, [line, column])]."""
    if isinstance(value, dict):
        if "n" in value:
            found.append((value["n"], value.get("at")))
        if "idx" in value:
            found.append((value["idx"][0], value.get("at")))
        for key, inner in value.items():
            if key not in ("n", "at"):
                names_of(inner, found)
    elif isinstance(value, list):
        for inner in value:
            names_of(inner, found)


