# SPDX-License-Identifier: Apache-2.0
"""What can go wrong, by whose fault it is. The text of each is a sentence; remedy is the next line."""


class MrcError(Exception):
    """A named error: sentence and remedy."""

    def __init__(self, sentence, remedy=""):
        super().__init__(sentence)
        self.sentence = sentence
        self.remedy = remedy


class ScriptError(MrcError):
    """A script that cannot be understood: file, line, column and a caret below the line."""

    def __init__(self, source, line, column, sentence, remedy="", length=1):
        self.source, self.line, self.column = source.name, line, column
        text = source.line(line)
        shown = "".join(char if char.isprintable() else "?" for char in text[:200])
        caret = " " * min(column - 1, 200) + "^" * max(1, min(length, 200 - min(column - 1, 199)))
        super().__init__(f"{source.name}:{line}:{column}: {sentence}", remedy)
        self.place = f"    {shown}\n    {caret}"

    def report(self):
        remedy = f"\n  {self.remedy}" if self.remedy else ""
        return f"{self.sentence}\n{self.place}{remedy}"


class VectorError(MrcError):
    """A compiled vector that is not one: file, path inside the JSON, what is wrong."""


class PacketError(MrcError):
    """Bytes that are no packet, or a packet that has no bytes."""


class DeviceError(MrcError):
    """The device does not keep to docs/reference/device.md, or is gone: nothing can be said about MRC."""


class NoDevice(DeviceError):
    """There is no device at all: its command cannot be run."""


class Unsupported(MrcError):
    """The device lawfully cannot."""


class Deviation(MrcError):
    """A statement of a vector that the device did not meet."""

    def __init__(self, sentence, step=None, events=(), rule=None):
        super().__init__(sentence)
        self.step, self.events = step, list(events)
        self.rule = rule  # of a rule that holds in every vector: its name
