# SPDX-License-Identifier: Apache-2.0
"""Vectors from files, run against devices in parallel, told as they come."""
import json
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed

from . import compiler, engine
from .device import ProcessDevice
from .errors import DeviceError, MrcError, ScriptError, VectorError
from .schema import MAX_BYTES, load_vectors

EXIT_PASS, EXIT_FAIL, EXIT_USAGE, EXIT_UNSUPPORTED, EXIT_INCONCLUSIVE = 0, 1, 3, 4, 5
ORDER = ("pass", "deviates", "unsupported", "fail", "error", "missing")


def load(paths):
    """All vectors of .mrc and .json files; an id in two files is an error."""
    out, seen = [], {}
    for path in paths:
        name = os.path.basename(path)
        try:
            if path.endswith(".mrc"):
                found = compiler.compile_source(compiler.read_file(path))
            else:
                with open(path, "rb") as stream:
                    found = load_vectors(name, stream.read(MAX_BYTES + 1))
        except OSError as error:
            raise VectorError(f"{path}: cannot be read: {error.strerror}.", "Check the path.") from None
        for vector in found:
            if vector["id"] in seen:
                raise VectorError(f"{name}: the id {vector['id']} is used in {seen[vector['id']]} already.",
                                  "An id names one vector for ever.")
            seen[vector["id"]] = name
        out += found
    return out


def scripts_of(folder):
    return sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".mrc"))


class Progress:
    """One line that is rewritten, on a terminal; nothing else."""

    def __init__(self, total, stream=sys.stderr):
        self.total, self.stream, self.start, self.done = total, stream, time.monotonic(), 0
        self.shown = stream.isatty()

    def step(self):
        self.done += 1
        if self.shown:
            spent = time.monotonic() - self.start
            left = spent / self.done * (self.total - self.done)
            self.stream.write(f"\r{self.done} of {self.total} vectors, {left:.0f} s left   ")
            self.stream.flush()

    def end(self):
        if self.shown:
            self.stream.write("\r" + " " * 50 + "\r")


class Pool:
    """A device per worker; one that broke is replaced."""

    def __init__(self, make):
        self.make, self.local, self.all, self.lock = make, threading.local(), [], threading.Lock()

    def run(self, vector, wall):
        device = getattr(self.local, "device", None)
        if device is None:
            try:
                device = self.local.device = self.make()
            except DeviceError as error:
                result = engine.Result(vector)
                result.disposition, result.reason = "error", error.sentence
                return result
            with self.lock:
                self.all.append(device)
        result = engine.run_vector(device, vector, wall)
        if getattr(device, "broken", False):
            device.close()
            with self.lock:
                self.all.remove(device)
            self.local.device = None
        return result

    def close(self):
        for device in self.all:
            device.close()


def run_all(vectors, make, jobs=1, wall=engine.WALL_SECONDS, progress=None):
    """Results in the order of the vectors. make(): a device."""
    pool, out = Pool(make), {}
    try:
        with ThreadPoolExecutor(max_workers=max(1, jobs)) as workers:
            futures = {workers.submit(pool.run, vector, wall): vector["id"] for vector in vectors}
            try:
                for future in as_completed(futures):
                    out[futures[future]] = future.result()
                    if progress:
                        progress.step()
            except KeyboardInterrupt:
                for future in futures:
                    future.cancel()
                raise
    finally:
        pool.close()
    return [out[vector["id"]] for vector in vectors]


def process_maker(command, seconds):
    return lambda: ProcessDevice(command, seconds)


def counts(results):
    return {word: sum(entry["disposition"] == word for entry in results) for word in ORDER}


def exit_code(results, strict=False):
    """0 pass, 1 fail, 3 error, 5 something missing, 4 nothing but unsupported."""
    seen = counts(results)
    if seen["fail"] or (strict and seen["deviates"]):
        return EXIT_FAIL
    if seen["error"]:
        return EXIT_USAGE
    if seen["missing"]:
        return EXIT_INCONCLUSIVE
    if seen["unsupported"] and not seen["pass"] and not seen["deviates"]:
        return EXIT_UNSUPPORTED
    return EXIT_PASS


def missing(identifier):
    return {"id": identifier, "disposition": "missing", "kind": "literal", "rules": [], "citation": [],
            "reason": "there is no vector of this id."}


def tell(results, verbose, stream=sys.stdout):
    """Findings and a last line."""
    for entry in results:
        if entry["disposition"] in ("pass", "unsupported") and not verbose:
            continue
        stream.write(f"{entry['disposition']:<11} {entry['id']}")
        stream.write(f"  {entry['reason']}\n" if entry["reason"] else "\n")
        if entry["disposition"] in ("fail", "deviates", "error"):
            if entry.get("purpose"):
                stream.write(f"    purpose: {entry['purpose']}\n")
            if entry.get("citation"):
                stream.write(f"    cite:    {'; '.join(entry['citation'])}\n")
            if entry.get("place"):
                stream.write(f"    at:      {entry['place']}\n")
            for event in entry.get("events", ()):
                stream.write(f"      {event}\n")
        if verbose:
            for flag in entry.get("flags", ()):
                stream.write(f"    {flag['flag']}: branch {flag['branch']}, {flag['text']}\n")
    seen = counts(results)
    stream.write(", ".join(f"{number} {word}" for word, number in seen.items() if number) + "\n" if results else
                 "no vector\n")


def write_json(path, body):
    """The whole file or nothing; '-' is stdout. What is there and no file, a device or a pipe, is written directly."""
    text = json.dumps(body, indent=1) + "\n"
    if path == "-":
        sys.stdout.write(text)
        return
    target = os.path.realpath(path)
    direct = os.path.exists(target) and not os.path.isfile(target)
    half = target if direct else f"{target}.part{os.getpid()}"
    try:
        with open(half, "w", encoding="utf-8") as stream:
            stream.write(text)
        if not direct:
            os.replace(half, target)
    except OSError as error:
        raise MrcError(f"cannot write {path}: {error.strerror}.",
                       "Name a file in a folder that you may write to, with room.") from None
    finally:
        if not direct and os.path.exists(half):
            os.unlink(half)


def report(error):
    """A named error as two lines."""
    if isinstance(error, ScriptError):
        return error.report()
    return error.sentence + (f"\n  {error.remedy}" if error.remedy else "")
