# SPDX-License-Identifier: Apache-2.0
"""The folder of a regression: its frozen plan, and one file of results per range, a JSON line per item."""
import contextlib
import fcntl
import json
import os
from pathlib import Path

import rtl


class Folder:
    """`plan.json`; `ranges/N.jsonl`: results; `ranges/N.tries`: attempts that came to nothing, a line each;
    `ranges/N.log`: what the last attempt said."""

    def __init__(self, path):
        self.path = Path(path)
        self.ranges = []

    def file(self, number, end):
        return self.path / "ranges" / f"{number:06d}.{end}"

    def freeze(self, plan, make_ranges):
        """Makes the folder, or finds it with the same plan in it: then its ranges are taken as they were cut."""
        (self.path / "ranges").mkdir(parents=True, exist_ok=True)
        frozen = self.path / "plan.json"
        if frozen.exists():
            self.open()
            if self.digest != plan["digest"]:
                rtl.fail(f"{self.path} holds the results of another plan, {self.name}.",
                         "Name another folder with --out, or remove that one.")
            return
        self.ranges = make_ranges()
        partial = frozen.with_suffix(".partial")
        with open(partial, "w", encoding="utf-8") as out:
            json.dump({"name": plan["name"], "digest": plan["digest"], "ranges": self.ranges}, out)
            out.flush()
            os.fsync(out.fileno())
        partial.rename(frozen)

    def open(self):
        try:
            data = json.loads((self.path / "plan.json").read_text())
            self.name, self.digest, self.ranges = data["name"], data["digest"], data["ranges"]
        except (OSError, ValueError, KeyError):
            rtl.fail(f"{self.path} is no folder of a regression.", "Name one that 'mrc regress PLAN --out DIR' made.")

    def results(self, number):
        """Lines of a range by item. A last line without an end is none; the first line of an item is the one."""
        found = {}
        try:
            text = self.file(number, "jsonl").read_bytes()
        except FileNotFoundError:
            return found
        for line in text[:text.rfind(b"\n") + 1].splitlines():
            row = json.loads(line)
            row.setdefault("item", str(row.get("seed")))
            found.setdefault(row["item"], row)
        return found

    def missing(self, number):
        done = self.results(number)
        return [item for item in self.ranges[number]["items"] if item not in done]

    def add(self, number, rows, end="jsonl"):
        """Adds whole lines, on the disk when this returns; a half line of before is cut away."""
        descriptor = os.open(self.file(number, end), os.O_RDWR | os.O_CREAT, 0o666)
        try:
            size = os.fstat(descriptor).st_size
            text = os.pread(descriptor, size, 0)
            whole = text.rfind(b"\n") + 1
            if whole != size:
                os.ftruncate(descriptor, whole)
            data = "".join(json.dumps(row) + "\n" for row in rows).encode()
            try:
                written = 0
                while written < len(data):
                    written += os.pwrite(descriptor, data[written:], whole + written)
                os.fsync(descriptor)
            except OSError:
                os.ftruncate(descriptor, whole)
                raise
        finally:
            os.close(descriptor)

    def tries(self, number):
        try:
            return self.file(number, "tries").read_text().splitlines()
        except FileNotFoundError:
            return []

    @contextlib.contextmanager
    def lock(self, number, stop):
        """Held while a range runs, on whichever machine: a range never runs twice at a time. Its process gets the
        descriptor, so that one which outlives us keeps it. Waits; gives None when stopped."""
        with open(self.file(number, "lock"), "w", encoding="utf-8") as handle:
            while True:
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if stop.wait(0.1):
                        yield None
                        return
            try:
                yield handle.fileno()
            finally:
                fcntl.flock(handle, fcntl.LOCK_UN)
