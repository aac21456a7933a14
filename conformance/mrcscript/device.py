# SPDX-License-Identifier: Apache-2.0
"""A NIC as a process (docs/reference/device.md). It is not trusted: length, depth, types and time are limited."""
import json
import os
import selectors
import shlex
import signal
import subprocess
import time

from .errors import DeviceError, NoDevice, Unsupported

MAX_LINE = 1 << 20
MAX_OUT = 100_000       # outputs in one answer
MAX_TIME = 1 << 62
ANSWER_SECONDS = 30.0


class ProcessDevice:
    """One process; `call` sends a line and returns the answer. Ends with close() or with the `with` block."""

    def __init__(self, command, answer_seconds=ANSWER_SECONDS, trace=None):
        """trace: a text stream that gets every line, '>' to the device and '<' from it."""
        self.command, self.seconds, self.trace = command, answer_seconds, trace
        words = shlex.split(command) if isinstance(command, str) else list(command)
        if not words:
            raise DeviceError("the command of the device is empty.", "Give one: --device \"mrc nic --endpoint model\".")
        try:
            self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0,
                                            start_new_session=True)
        except OSError as error:
            raise NoDevice(f"the device '{words[0]}' cannot be run: {error.strerror}.",
                           "Check the command behind --device.") from None
        self.buffer = b""
        self.reads, self.writes = selectors.DefaultSelector(), selectors.DefaultSelector()
        self.reads.register(self.process.stdout, selectors.EVENT_READ)
        self.writes.register(self.process.stdin, selectors.EVENT_WRITE)
        os.set_blocking(self.process.stdin.fileno(), False)
        self.broken = False
        self.calls = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def call(self, message):
        """The answer with ok true. Unsupported: the device said so; DeviceError: anything else."""
        self.calls += 1
        deadline = time.monotonic() + self.seconds
        self._nothing_unasked(message)
        self._say(message, json.dumps(message, separators=(",", ":")).encode() + b"\n", deadline)
        line = self._line(message, deadline)
        if self.trace:
            self.trace.write("< " + line[:MAX_LINE].decode("utf-8", "replace") + "\n")
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            self._break(f"answered '{message.get('call')}' with a line that is no JSON: {line[:80]!r}.")
        if not isinstance(answer, dict) or not isinstance(answer.get("ok"), bool):
            self._break(f"answered '{message.get('call')}' without \"ok\": true or false: {line[:80]!r}.")
        if not answer["ok"]:
            said = words(answer.get("error", "no reason given"), 300)
            if answer.get("unsupported") is True:
                raise Unsupported(f"the device cannot: {said}")
            raise DeviceError(f"the device refused '{message.get('call')}': {said}")
        return answer

    def _nothing_unasked(self, message):
        """A line that answers no call is none of device.md's: it would be taken for the answer to the next one."""
        if not self.buffer and self.reads.select(0):
            self.buffer = os.read(self.process.stdout.fileno(), 1 << 16)
            if not self.buffer:
                self._gone(message)
        if self.buffer:
            self._break(f"said something before it was asked '{message.get('call')}': {self.buffer[:80]!r}.")

    def _say(self, message, data, deadline):
        """Writes a line; a device that does not read is no reason to wait for ever."""
        if self.trace:
            self.trace.write("> " + data.decode())
            self.trace.flush()
        while data:
            try:
                data = data[os.write(self.process.stdin.fileno(), data):]
            except BlockingIOError:
                left = deadline - time.monotonic()
                if left <= 0 or not self.writes.select(left):
                    self._break(f"did not read '{message.get('call')}' within {self.seconds:g} s.")
            except OSError:
                self._gone(message)

    def _line(self, message, deadline):
        while True:
            at = self.buffer.find(b"\n")
            if at >= 0:
                line, self.buffer = self.buffer[:at], self.buffer[at + 1:]
                return line
            if len(self.buffer) > MAX_LINE:
                self._break(f"sent a line of more than {MAX_LINE} bytes.")
            left = deadline - time.monotonic()
            if left <= 0 or not self.reads.select(left):
                self._break(f"did not answer '{message.get('call')}' within {self.seconds:g} s.")
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            if not data:
                self._gone(message)
            self.buffer += data

    def _gone(self, message):
        self.broken = True
        try:
            code = self.process.wait(2)
        except subprocess.TimeoutExpired:
            code = None
        how = "its output" if code is None else f"by signal {-code}" if code < 0 else f"with code {code}"
        raise DeviceError(f"the device ended {how} instead of answering '{message.get('call')}'.",
                          "Its words are on stderr.")

    def _break(self, sentence):
        self.broken = True
        raise DeviceError(f"the device {sentence}", "docs/reference/device.md says how a device speaks.")

    def close(self):
        """Ends the process: by the end of its input, then by a signal. One that broke gets no time."""
        try:
            self.process.stdin.close()
            self.process.wait(0.05 if self.broken else 2)
        except (OSError, subprocess.TimeoutExpired):
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except OSError:
                pass
            self.process.wait()
        if self.trace:
            self.trace.close()
        self.reads.close()
        self.writes.close()
        self.process.stdout.close()


# ---- checked reading of answers -------------------------------------------------------------------------------------

def words(value, limit):
    """What a device says, fit for a terminal."""
    return "".join(char if char.isprintable() else "?" for char in str(value)[:limit])


def number(entry, key, low=0, high=MAX_TIME, default=None):
    value = entry.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise DeviceError(f"the device's '{key}' is {str(value)[:40]!r}; a whole number of {low} to {high} belongs there.")
    return value


def hex_bytes(entry, key, limit):
    value = entry.get(key)
    if not isinstance(value, str) or len(value) > 2 * limit:
        raise DeviceError(f"the device's '{key}' is no string of at most {2 * limit} hex digits.")
    try:
        return bytes.fromhex(value)
    except ValueError:
        raise DeviceError(f"the device's '{key}' has something that is no hex digit.") from None


def outputs(answer):
    out = answer.get("out", [])
    if not isinstance(out, list) or len(out) > MAX_OUT or not all(isinstance(entry, dict) for entry in out):
        raise DeviceError(f"the device's 'out' is no list of at most {MAX_OUT} objects.")
    return out


def counter(answer, name):
    """A counter of the answer to `counters`; None: the device has none of this name."""
    values = answer.get("counters")
    value = values.get(name) if isinstance(values, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def facts(answer):
    """What `open` says, checked: planes, caps, latency, gbps, name, first QP."""
    caps = answer.get("caps", [])
    if not isinstance(caps, list) or len(caps) > 100 or not all(isinstance(cap, str) for cap in caps):
        raise DeviceError("the device's 'caps' is no list of words.")
    limits = answer.get("limits", {})
    if not isinstance(limits, dict):
        raise DeviceError("the device's 'limits' is no object.")
    return {"mpr": number(limits, "mpr", 1, 255, 8), "max_wimm": number(limits, "max_wimm", 0, 255, 32),
            "posts": number(limits, "post", 1, 1 << 32, 1 << 16),
            "name": words(answer.get("name", "device"), 60), "version": words(answer.get("version", ""), 60),
            "planes": number(answer, "planes", 1, 64), "caps": frozenset(caps),
            "latency": number(answer, "latency", 0, 10 ** 13, 2_000_000),
            "qp": number(answer, "qp_first", 3, (1 << 24) - 1, 3), "qps": number(answer, "qps", 1, 1 << 24, 1),
            "gbps": number(answer, "port_gbps", 1, 100_000, 100)}
