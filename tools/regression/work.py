# SPDX-License-Identifier: Apache-2.0
"""Runs one range: what has no line yet, until all have one or the machine gives up.

A mismatch is a line and final. What is no word about the design (the process was killed, the library is missing, the
disk is full, nothing happened for too long) is an attempt that came to nothing: told in N.tries, and tried again. A
process that crashes of itself (a segmentation fault, an abort) fails the item it was at; the others go on."""
import contextlib
import os
import shlex
import signal
import socket
import subprocess
import time
from pathlib import Path

import rtl
from regression import kinds

CRASHES = {signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP}
TRIES = 3  # attempts without any new line before a range is left to the next start


class Worker:
    def __init__(self, folder, mrc, root, stop):
        self.folder, self.mrc, self.root, self.stop = folder, mrc, root, stop

    def run(self, number):
        """Returns True when every item has its line."""
        with self.folder.lock(number, self.stop) as lock:
            fruitless = 0
            while lock is not None and fruitless < TRIES and not self.stop.is_set():
                missing = self.folder.missing(number)
                if not missing:
                    break
                try:
                    why = self.timed(number, missing, lock)
                    progress = len(self.folder.missing(number)) < len(missing)
                    fruitless = 0 if progress else fruitless + 1
                    if why and not self.stop.is_set():
                        self.folder.add(number, [{"why": why, "left": len(self.folder.missing(number))}], "tries")
                except OSError as error:  # a full disk refuses these words, too
                    fruitless += 1
                    with contextlib.suppress(OSError):
                        self.folder.add(number, [{"why": str(error), "left": len(missing)}], "tries")
                    self.stop.wait(0.2)
            return not self.folder.missing(number)

    def timed(self, number, missing, lock):
        """attempt(), with the line of the build in front of its lines, and when it ran."""
        made_by = rtl.versions_of(self.mrc)
        if self.folder.written_by(number) != made_by:
            self.folder.add(number, [{"versions": made_by}])
        begin = time.time()
        try:
            return self.attempt(number, missing, lock)
        finally:
            done = len(missing) - len(self.folder.missing(number))
            self.folder.add(number, [{"begin": begin, "end": time.time(), "host": socket.gethostname(), "items": done}],
                            "times")

    def attempt(self, number, missing, lock):
        """One process. Returns why it came to nothing, "" if it did not."""
        part = self.folder.ranges[number]
        kind = kinds.KINDS[part["kind"]]
        streams = kind.lines is None
        # A process that adds lines itself passes over those that are there; it wants them in one piece.
        items = part["items"][part["items"].index(missing[0]):] if streams else missing
        path = self.folder.file(number, "jsonl" if streams else "out").absolute()
        if not streams:
            path.unlink(missing_ok=True)
        words = kind.argv(part["case"], items, path)
        begin = time.monotonic()
        with open(self.folder.file(number, "log"), "wb") as said:
            code, late = self.process(words, said, path, part["limit_s"], lock)
        seconds = time.monotonic() - begin
        if code < 0 and -code in CRASHES:
            left = self.folder.missing(number)
            if left:
                name = signal.Signals(-code).name
                name_it = {"seed": int(left[0])} if streams else {"item": left[0]}
                self.folder.add(number, [name_it | {"result": "fail", "signature": f"crash {name}",
                                          "seconds": seconds, "repro": self.repro(part, left[0])}])
            return ""
        if not streams and not late:
            rows = kinds.read_lines(kind, part["case"], items, path, code, seconds)
            for row in rows:
                row.setdefault("repro", self.repro(part, row["item"]))
            if rows:
                self.folder.add(number, rows)
            path.unlink(missing_ok=True)
        if not self.folder.missing(number):
            return ""
        if late:
            return f"nothing new for {part['limit_s']} s"
        if code < 0:
            return f"killed by {signal.Signals(-code).name}"
        log = self.folder.file(number, "log").read_text(errors="replace").strip().splitlines()
        return f"exit code {code}: {log[0] if log else 'it said nothing'}"

    def process(self, words, said, path, limit, lock):
        """Exit code, and whether it was ended because no new result came for `limit` seconds."""
        whole = words if words[0].startswith("./") else [self.mrc, *words]
        child = subprocess.Popen(whole, stdout=said, stderr=said, stdin=subprocess.DEVNULL, cwd=self.root,
                                 start_new_session=True, pass_fds=(lock,))
        size, since, told = -1, time.monotonic(), False
        while True:
            try:
                # the first second is asked often, so that a short range costs no waiting
                return child.wait(timeout=0.5), False
            except subprocess.TimeoutExpired:
                pass
            if self.stop.is_set() and not told:
                end(child, signal.SIGTERM)
                told, since, limit = True, time.monotonic(), 10
            now = path.stat().st_size if path.exists() else 0
            if now != size:
                size, since = now, time.monotonic()
            elif time.monotonic() - since > limit:
                end(child, signal.SIGKILL)
                return child.wait(), True

    def repro(self, part, item):
        kind = kinds.KINDS[part["kind"]]
        words = [word for word in kind.argv(part["case"], [item], Path("-"))]
        for option in ("--results", "--json", "--seeds", "--threads"):
            if option in words:
                at = words.index(option)
                del words[at:at + 2]
        if "--bins" in words:
            words.remove("--bins")
        return shlex.join(words if words[0].startswith("./") else ["./mrc", *words])


def end(child, number):
    """Ends a process and those it started."""
    try:
        os.killpg(child.pid, number)
    except ProcessLookupError:
        pass
