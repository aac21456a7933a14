# SPDX-License-Identifier: Apache-2.0
"""A script's text as tokens. Everything has a place, for errors with line and caret."""
import re
from dataclasses import dataclass

from .errors import ScriptError

MAX_FILE = 1 << 20
MAX_LINE = 4096
MAX_TOKENS = 100_000
UNITS = {"ps": 1, "ns": 1_000, "us": 1_000_000, "ms": 1_000_000_000, "s": 1_000_000_000_000}
RELATIVE = ("rtt", "lat", "rto")
TOKEN = re.compile(r"""
    (?P<space>[ \t\r]+)
  | (?P<comment>\#[^\n]*)
  | (?P<nl>\n)
  | (?P<join>\\[ \t\r]*\n)
  | (?P<num>0[xX][0-9a-fA-F]{1,32}|[0-9]{1,38}(\.[0-9]{1,12})?(?![.0-9])|[0-9]{1,38}(?=\.\.))
  | (?P<tag>[A-Z][A-Z0-9]*(-[A-Z0-9]+)+)
  | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<case>\$[A-Za-z_][A-Za-z0-9_]*)
  | (?P<str>"[^"\n]*")
  | (?P<op>\.\.|==|!=|<=|>=|\+-|[-+*/%<>=(){}\[\],;:.])
""", re.X)


@dataclass(frozen=True)
class Token:
    kind: str      # num, tag, word, case, str, op, nl, end
    text: str
    line: int
    column: int
    start: int     # offset in the text
    stop: int


class Source:
    """A file: its name and text."""

    def __init__(self, name, text):
        self.name, self.text = name, text
        self.lines = text.split("\n")
        if len(text) > MAX_FILE:
            raise ScriptError(self, 1, 1, f"the file has {len(text)} characters; at most {MAX_FILE} are read.",
                              "Split it.")
        for number, line in enumerate(self.lines, 1):
            if len(line) > MAX_LINE:
                raise ScriptError(self, number, 1, f"the line has {len(line)} characters; at most {MAX_LINE} are read.",
                                  "Break it: a '\\' at its end continues a line.")

    def line(self, number):
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""

    def tokens(self, first, last):
        """The tokens of lines first .. last (from 1, both included), ended by one of kind end."""
        start = sum(len(line) + 1 for line in self.lines[:first - 1])
        stop = start + sum(len(line) + 1 for line in self.lines[first - 1:last])
        return list(self._scan(start, min(stop, len(self.text)), first, 1))

    def cell(self, token, text):
        """The tokens of a table's cell, at the place of the token that names its column."""
        inner = Source(self.name, text)
        found = [t for t in inner.tokens(1, 1) if t.kind not in ("nl", "end")]
        return [Token(t.kind, t.text, token.line, token.column, token.start, token.stop) for t in found]

    def _scan(self, at, stop, line, column):
        count = 0
        while at < stop:
            match = TOKEN.match(self.text, at, stop)
            if not match:
                raise ScriptError(self, line, column, f"the character {self.text[at]!r} belongs to nothing.",
                                  "Strings stand in double quotes on one line, comments begin with '#'.")
            kind, text = match.lastgroup, match.group()
            if kind == "num" or kind is None:
                kind = "num"
            if kind not in ("space", "comment", "join"):
                count += 1
                if count > MAX_TOKENS:
                    raise ScriptError(self, line, column, f"more than {MAX_TOKENS} words.", "Split the file.")
                yield Token(kind, text, line, column, at, match.end())
            if kind in ("nl", "join"):
                line, column = line + 1, 1
            else:
                column += len(text)
            at = match.end()
        yield Token("end", "", line, column, at, at)
