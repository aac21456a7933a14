# SPDX-License-Identifier: Apache-2.0
"""Values and conditions of a compiled vector, against a bed."""
from fractions import Fraction

from .errors import MrcError
from .records import Fit, Message, Record

LIMIT = 1 << 160
TOLD_LATE = 20_000_000  # ps


class ValueTrouble(MrcError):
    """A value that cannot be computed: the vector's fault, or what it asks for has not happened."""


class Moment:
    """When something was sent or done."""

    def __init__(self, t):
        self.t = t


class Evaluator:
    """Names and values. bed: the test bed; names: what `as` and `let` have bound."""

    def __init__(self, bed):
        self.bed = bed
        self.names = {f"e{i}": ev for i, ev in enumerate(bed.evs)}
        self.last_send = 0

    def _name(self, name):
        if name in self.names:
            return self.names[name]
        bed = self.bed
        builtin = {"sq_psn": bed.sq_psn, "rq_psn": bed.rq_psn, "buf": 0, "buf_bytes": 1 << 20, "mtu": bed.mtu,
                   "planes": bed.planes, "start": 0, "last": self.last_send, "now": bed.now,
                   "mpr": bed.profile["mpr"], "r_key": 0x1234, "qp": bed.qp, "peer_qp": bed.own.peer_qp,
                   "posts": bed.facts["posts"]}
        if name not in builtin:
            raise ValueTrouble(f"'{name}' has no value: the statement that binds it was not reached.")
        return builtin[name]

    def value(self, node):
        if isinstance(node, bool) or isinstance(node, (int, Fraction)):
            return node
        if not isinstance(node, dict):
            raise ValueTrouble(f"{str(node)[:40]!r} is no value.")
        if "n" in node:
            return self._name(node["n"])
        if "idx" in node:
            return self._index(node)
        if "get" in node:
            return self._get(node)
        if "unit" in node:
            count, unit = node["unit"]
            return int(Fraction(count) * {"rtt": self.bed.rtt, "lat": self.bed.lat, "rto": self.bed.rto}[unit])
        if "call" in node:
            return self._call(node["call"][0], [self.value(entry) for entry in node["call"][1]])
        if "of" in node:
            return self._of(node)
        if "op" in node:
            return self._op(node)
        raise ValueTrouble("this is no value.")

    def number(self, node):
        value = self.value(node)
        if isinstance(value, (Record, Moment)):
            return value.t
        if isinstance(value, Message):
            raise ValueTrouble(f"the message {value.name} is no number; write {value.name}[0] for its first PSN.")
        if not isinstance(value, (int, Fraction)):
            raise ValueTrouble("a number belongs here.")
        if abs(value) > LIMIT:
            raise ValueTrouble("a number grows beyond all measure.")
        return value

    def whole(self, node, low=None, high=None):
        value = self.number(node)
        if isinstance(value, Fraction):
            if value.denominator != 1:
                raise ValueTrouble(f"{value} is no whole number.")
            value = int(value)
        if low is not None and not low <= value <= high:
            raise ValueTrouble(f"{value} is not within {low} .. {high}.")
        return int(value)

    def _index(self, node):
        name, index = node["idx"]
        value = self._name(name)
        if isinstance(value, Message):
            at = self.whole(index)
            if not 0 <= at < value.count:
                raise ValueTrouble(f"{name}[{at}]: the message has the packets 0 .. {value.count - 1}.")
            return value.packet(at)
        if isinstance(value, dict):
            return value.get(self.value(index), 0)
        if isinstance(value, list):
            at = self.whole(index, 0, max(0, len(value) - 1))
            if not value:
                raise ValueTrouble(f"{name} is empty.")
            return value[at]
        raise ValueTrouble(f"'{name}' has no elements.")

    def _get(self, node):
        value = self.value(node["get"][0])
        word = node["get"][1]
        if isinstance(value, Message):
            known = {"first": value.first, "last": value.last, "count": value.count, "len": value.len,
                     "msn": value.msn, "rqmsn": value.rqmsn, "va": value.va}
            if word not in known:
                raise ValueTrouble(f"a message has no '{word}'; it has {', '.join(known)}.")
            return known[word]
        if isinstance(value, Record):
            return value.field(word)
        if isinstance(value, dict):
            return value.get(word, -1)  # a counter; the device has none of this name
        if isinstance(value, Moment) and word == "t":
            return value.t
        raise ValueTrouble(f"this has no field '{word}'.")

    def _op(self, node):
        op = node["op"]
        if op == "not":
            return not self.true(node["a"])
        if op == "and":
            return self.true(node["a"]) and self.true(node["b"])
        if op == "or":
            return self.true(node["a"]) or self.true(node["b"])
        if op in ("has", "lacks"):
            record = self.value(node["a"])
            if not isinstance(record, Record):
                raise ValueTrouble("'has' and 'lacks' ask a SACK.")
            return record.reports(self.whole(node["b"])) == (op == "has")
        left, right = self.number(node["a"]), self.number(node["b"])
        if op == "in":
            return left >= right and left <= self.number(node["c"])
        if op in ("/", "%") and right == 0:
            raise ValueTrouble("a division by 0.")
        if op == "/":
            return Fraction(left) / Fraction(right)
        table = {"+": lambda: left + right, "-": lambda: left - right, "*": lambda: left * right,
                 "%": lambda: left % right, "==": lambda: left == right, "!=": lambda: left != right,
                 "<": lambda: left < right, ">": lambda: left > right, "<=": lambda: left <= right,
                 ">=": lambda: left >= right}
        if op not in table:
            raise ValueTrouble(f"{op!r} is no operation.")
        return table[op]()

    def true(self, node):
        return bool(self.value(node))

    def _call(self, name, arguments):
        if name in ("sent", "sent_first", "sent_last"):
            psn = int(arguments[0])
            found = [r for r in self.bed.records if r.kind == "write" and r.qp is self.bed.own and r.value("@psn") == psn]
            if name == "sent":
                return len(found)
            if not found:
                raise ValueTrouble(f"{self.bed.own.name_of_psn(psn)} was never sent.")
            return found[0 if name == "sent_first" else -1]
        if name == "reported":
            return int(int(arguments[0]) in self.bed.reported)
        if not arguments:
            raise ValueTrouble(f"{name}() of nothing.")
        if name == "values":
            return sorted(arguments[0]) if isinstance(arguments[0], dict) else list(arguments[0])
        flat = []
        for entry in arguments:
            flat += list(entry.values()) if isinstance(entry, dict) else entry if isinstance(entry, list) else [entry]
        flat = [entry.t if isinstance(entry, (Record, Moment)) else entry for entry in flat]
        if name == "len":
            return len(flat)
        if name == "abs":
            return abs(flat[0])
        if not flat:
            raise ValueTrouble(f"{name}() of nothing.")
        total = sum(flat)
        return {"min": lambda: min(flat), "max": lambda: max(flat), "sum": lambda: total,
                "mean": lambda: Fraction(total) / len(flat)}[name]()

    def _of(self, node):
        fit = self.fit(node["pat"])
        low = self.number(node["from"]) if "from" in node else 0
        high = self.number(node["to"]) if "to" in node else self.bed.now
        first = self._since(low)
        found = [r for r in self.bed.records[first:] if low <= r.t <= high and fit(r)]
        if "by" in node:
            out = {}
            for record in found:
                key = record.value(node["by"])
                out[key] = out.get(key, 0) + 1
            return out
        if node["of"] == "count":
            return len(found)
        if node["of"] == "all":
            return found
        if not found:
            raise ValueTrouble(f"{node['of']}() of a packet that was never seen.")
        return found[0 if node["of"] == "first" else -1]

    def _since(self, low):
        """An index before which nothing has arrived since `low`: records stand in the order in which they were told,
        which is that of arrival but for some microseconds."""
        records, left, right = self.bed.records, 0, len(self.bed.records)
        while left < right:
            middle = (left + right) // 2
            if records[middle].t < low - TOLD_LATE:
                left = middle + 1
            else:
                right = middle
        return left

    def fit(self, pattern):
        """Fits what is of the QP that the pattern names, `*`: of any; else of that of which the script is speaking."""
        name = pattern.get("qp", self.bed.own.name)
        if name == "*":
            return Fit(pattern, self._bound)
        with self.bed.about(name):
            return Fit(pattern, self._bound, self.bed.own)

    def _bound(self, node):
        value = self.value(node)
        if isinstance(value, (Record, Moment)):
            return value.t
        if isinstance(value, Message):
            return value.first
        return value


