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
    `ranges/N.times`: when its processes ran; `ranges/N.log`: what the last attempt said."""

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
        """Lines of a range by item, each with the `versions` that made it: those of the nearest line of versions before
        it. A last line without an end is none; the first line of an item is the one."""
        found, made_by = {}, None
        try:
            text = self.file(number, "jsonl").read_bytes()
        except FileNotFoundError:
            return found
        for line in text[:text.rfind(b"\n") + 1].splitlines():
            row = json.loads(line)
            if "seed" not in row and "item" not in row:
                made_by = row["versions"]
                continue
            row.setdefault("item", str(row.get("seed")))
            found.setdefault(row["item"], row | {"versions": made_by})
        return found

    def missing(self, number):
        done = self.results(number)
        return [item for item in self.ranges[number]["items"] if item not in done]

    def add(self, number, rows, end="jsonl"):
        self.append(self.file(number, end), rows)

    @staticmethod
    def append(path, rows):
        """Adds whole lines, on the disk when this returns; a half line of before is cut away."""
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
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

    def written_by(self, number):
        """The newest line of versions of a range; None: there is none."""
        with contextlib.suppress(FileNotFoundError):
            for line in reversed(self.file(number, "jsonl").read_bytes().splitlines()):
                if line.startswith(b'{"versions"'):
                    return json.loads(line)["versions"]
        return None

    def tries(self, number):
        return self.lines(self.file(number, "tries"))

    def times(self, number):
        """When processes ran this range: dicts of begin, end (seconds since 1970), host, items that got their line."""
        return [json.loads(line) for line in self.lines(self.file(number, "times"))]

    def starts(self):
        """Each start of the regression that came to its end: begin, end, ranges at a time (None: a scheduler's)."""
        return [json.loads(line) for line in self.lines(self.path / "starts")]

    def started(self, begin, end, jobs):
        self.append(self.path / "starts", [{"begin": begin, "end": end, "jobs": jobs}])

    @staticmethod
    def lines(path):
        """Whole lines of a file; none when it is not there."""
        try:
            text = path.read_text()
        except FileNotFoundError:
            return []
        return text[:text.rfind("\n") + 1].splitlines()

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
