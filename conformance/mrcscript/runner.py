# SPDX-License-Identifier: Apache-2.0
"""Vectors from files, run against devices in parallel, told as they come."""
import itertools
import json
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from xml.sax import saxutils

from . import compiler, engine
from .device import ProcessDevice
from .errors import DeviceError, MrcError, NoDevice, ScriptError, VectorError
from .schema import MAX_BYTES, load_vectors
from .versions import versions

EXIT_PASS, EXIT_FAIL, EXIT_USAGE, EXIT_UNSUPPORTED, EXIT_INCONCLUSIVE = 0, 1, 3, 4, 5
ORDER = ("pass", "deviates", "unsupported", "fail", "error", "missing")
GIVE_UP = 5  # devices that broke one after the other: the next will too


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

    def __init__(self, total, stream=None):
        self.total, self.stream, self.start, self.done = total, stream or sys.stderr, time.monotonic(), 0
        self.shown = self.stream.isatty()

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
    """A device per worker; one that broke is replaced, until so many broke that there is no sense in it."""

    def __init__(self, make, give_up=GIVE_UP):
        self.make, self.give_up = make, give_up
        self.local, self.all, self.lock = threading.local(), [], threading.Lock()
        self.broken = 0           # vectors in a row in which the device broke
        self.why = None           # nothing is run any more: sentence and remedy

    def run(self, vector, wall):
        if self.why:
            return _not_run(vector, *self.why)
        device = getattr(self.local, "device", None)
        if device is None:
            try:
                device = self.local.device = self.make()
            except NoDevice as error:
                self.why = error.sentence, error.remedy
                return _not_run(vector, *self.why)
            with self.lock:
                self.all.append(device)
        result = engine.run_vector(device, vector, wall)
        broken = getattr(device, "broken", False)
        if broken:
            device.close()
            self.local.device = None
        with self.lock:
            if broken:
                self.all.remove(device)
            self.broken = self.broken + 1 if broken else 0
            if self.give_up and self.broken == self.give_up:
                self.why = (f"not run: the device broke in {self.broken} vectors one after the other, last in {vector['id']}.",
                            "Mend the device, or raise --give-up.")
        return result

    def close(self):
        for device in self.all:
            device.close()


def _not_run(vector, sentence, remedy):
    result = engine.Result(vector)
    result.disposition, result.reason, result.remedy, result.not_run = "error", sentence, remedy, True
    return result


def run_all(vectors, make, jobs=1, wall=engine.WALL_SECONDS, progress=None, give_up=GIVE_UP):
    """Results in the order of the vectors. make(): a device. give_up: 0 for never."""
    pool, out = Pool(make, give_up), {}
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


def process_maker(command, seconds, trace=None):
    """trace: file that gets the lines of the first device, of the second with .2 behind its name, ..."""
    count = itertools.count(1)

    def make():
        number = next(count)
        if trace is None:
            return ProcessDevice(command, seconds)
        path = trace if number == 1 else f"{trace}.{number}"
        try:
            stream = open(path, "w", encoding="utf-8")
        except OSError as error:
            raise NoDevice(f"cannot write {path}: {error.strerror}.", "Check folder and rights.") from None
        return ProcessDevice(command, seconds, stream)
    return make


def counts(results):
    return {word: sum(entry["disposition"] == word for entry in results) for word in ORDER}


def exit_code(results, strict=False):
    """0 pass, 1 fail, 3 error, 5 something missing or nothing chosen, 4 nothing but unsupported."""
    seen = counts(results)
    if seen["fail"] or (strict and seen["deviates"]):
        return EXIT_FAIL
    if seen["error"]:
        return EXIT_USAGE
    if seen["missing"] or not results:
        return EXIT_INCONCLUSIVE
    if seen["unsupported"] and not seen["pass"] and not seen["deviates"]:
        return EXIT_UNSUPPORTED
    return EXIT_PASS


def missing(identifier):
    return {"id": identifier, "disposition": "missing", "kind": "literal", "rules": [], "citation": [],
            "reason": "there is no vector of this id."}


def tell(results, verbose, stream=None):
    """Findings and a last line. What has one reason is told once."""
    stream = stream or sys.stdout
    told = set()
    for entry in results:
        if entry["disposition"] in ("pass", "unsupported") and not verbose:
            continue
        if entry.get("not_run"):
            if entry["reason"] not in told:
                stream.write(f"error       {entry['reason']}\n    {entry.get('remedy', '')}\n")
                told.add(entry["reason"])
            continue
        stream.write(f"{entry['disposition']:<11} {entry['id']}")
        stream.write(f"  {entry['reason']}\n" if entry["reason"] else "\n")
        if entry["disposition"] in ("fail", "deviates", "error"):
            if entry.get("purpose"):
                stream.write(f"    purpose: {entry['purpose']}\n")
            if entry.get("citation"):
                stream.write(f"    cite:    {'; '.join(entry['citation'])}\n")
            if entry.get("rules"):
                stream.write(f"    rules:   {' '.join(entry['rules'])}\n")
            if entry.get("place"):
                stream.write(f"    at:      {entry['place']}\n")
            for event in entry.get("events", ()):
                stream.write(f"      {event}\n")
            if entry.get("remedy"):
                stream.write(f"    {entry['remedy']}\n")
        if verbose:
            for flag in entry.get("flags", ()):
                stream.write(f"    {flag['flag']}: branch {flag['branch']}, {flag['text']}\n")
    seen = counts(results)
    stream.write(", ".join(f"{number} {word}" for word, number in seen.items() if number) + "\n" if results else
                 "no vector\n")


def junit(results):
    """The results as the XML that CI systems read: fail is a failure, error and missing are errors, unsupported is
    skipped; what deviates passes, with its reason as output."""
    def text(value):
        clean = "".join(char if char.isprintable() or char in "\n\t" else "?" for char in str(value))
        return saxutils.quoteattr(clean)
    seen = counts(results)
    out = ['<?xml version="1.0" encoding="UTF-8"?>',
           f'<testsuite name="mrc vectors" tests="{len(results)}" failures="{seen["fail"]}" '
           f'errors="{seen["error"] + seen["missing"]}" skipped="{seen["unsupported"]}" '
           f'time="{sum(entry.get("seconds", 0) for entry in results):.3f}">',
           "<properties>", *(f'<property name="{name}" value={text(value)}/>' for name, value in versions().items()),
           "</properties>"]
    for entry in results:
        words = {"fail": "failure", "error": "error", "missing": "error", "unsupported": "skipped"}.get(entry["disposition"])
        lines = [entry.get("purpose", ""), "cite: " + "; ".join(entry["citation"]), "rules: " + " ".join(entry["rules"]),
                 entry.get("place", ""), *entry.get("events", ())]
        body = saxutils.escape("".join(char if char.isprintable() or char in "\n\t" else "?" for char in "\n".join(lines)))
        out.append(f'<testcase classname="mrc.{entry["kind"]}" name={text(entry["id"])} time="{entry.get("seconds", 0)}">')
        if words:
            out.append(f"<{words} message={text(entry['reason'])}>{body}</{words}>")
        elif entry["disposition"] == "deviates":
            out.append(f"<system-out>{saxutils.escape('deviates: ' + entry['reason'])}</system-out>")
        out.append("</testcase>")
    return "\n".join(out + ["</testsuite>", ""])


def write_json(path, body):
    """`body` as JSON: write_text()."""
    write_text(path, json.dumps(body, indent=1) + "\n")


def write_text(path, text):
    """The whole file or nothing; '-' is stdout. What is there and no file, a device or a pipe, is written directly."""
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
