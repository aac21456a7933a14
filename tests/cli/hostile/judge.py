# SPDX-License-Identifier: Apache-2.0
"""Runs a case and says what is wrong with what came of it."""
import fnmatch
import json
import os
import re
import resource
import selectors
import shutil
import signal
import stat
import struct
import subprocess
import tempfile
import time
import traceback
import xml.dom.minidom
import xml.parsers.expat
from dataclasses import dataclass, field
from pathlib import Path

from hostile.things import NOBODY, Disk, Fifo, Node, unmount

INTERNAL = re.compile(r"unexpected error|[Pp]lease report|terminate called|what\(\):|std::\w|bad_alloc|"
                      r"json\.exception|filesystem error|basic_string|Assertion|Segmentation fault|Aborted|"
                      r"core dumped|Traceback|Value .* not in range .*\d{30}")
KEPT = 4 << 20  # bytes of output that are looked at
# A case's seconds are those of a machine with nothing else to do. So many times as long, and it hangs: half a gigabyte of
# zeros, which is read and refused in 5 s, took more than 10 beside another test.
PATIENCE = 4


@dataclass
class Outcome:
    code: int | None = None
    out: bytes = b""
    err: bytes = b""
    read: dict = field(default_factory=dict)
    seconds: float = 0
    wrong: list = field(default_factory=list)


def snapshot(folder):
    """Everything below folder: kind, mode, device number and content."""
    seen = {}
    for path in sorted(folder.rglob("*")):
        at = path.lstat()
        content = b""
        if stat.S_ISREG(at.st_mode):
            content = path.read_bytes()
        elif stat.S_ISLNK(at.st_mode):
            content = os.readlink(path).encode()
        seen[str(path.relative_to(folder))] = (at.st_mode, at.st_rdev, at.st_nlink, content)
    return seen


# ---- content ----

def pcapng_packets(data):
    """Number of packets; ValueError if the blocks are not whole."""
    at, packets = 0, 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if at == 0 and kind != 0x0A0D0D0A:
            raise ValueError("no section header")
        if length < 12 or length % 4 or at + length > len(data):
            raise ValueError(f"block at byte {at} is not whole")
        if struct.unpack_from("<I", data, at + length - 4)[0] != length:
            raise ValueError(f"block at byte {at} has two lengths")
        packets += kind == 6
        at += length
    if at == 0:
        raise ValueError("empty")
    return packets


def no_constant(name):
    raise ValueError(f"{name} is not JSON")


def is_incomplete(result):
    return result.get("complete") is False or result.get("result") == "incomplete"


def moved(result):
    """What stands behind a result of mrc; None if it is of a kind that moves nothing."""
    if "runs" in result and "passed" in result:
        return min((run["data_packets"] for run in result["runs"]), default=0)
    if "data_packets" in result:
        return min([result["data_packets"], result.get("cycles", 0), *result.get("evidence", {}).values()])
    if "totals" in result:
        return result["totals"]["delivered_bytes"]
    if "rows" in result:
        return len(result["rows"])
    if "rounds" in result:
        return result["cycles"]
    return None


def check_content(kind, data, code):
    """What is wrong with data that ought to be of that kind."""
    try:
        if kind.startswith("json"):
            result = json.loads(data, parse_constant=no_constant)
            if kind == "json-incomplete" and not is_incomplete(result):
                return "does not say that it is incomplete"
            if kind == "json-no-pass" and result.get("result") in ("pass", None):
                return f"result is {result.get('result')}"
            if kind == "json" and is_incomplete(result):
                return "says that it is incomplete"
            if kind == "json" and code == 0 and moved(result) == 0:
                return "a pass of nothing"
            if moved(result) is not None and not result.get("run"):
                return "names no run"
            if kind.startswith("json:") and result.get("result") != kind[5:]:
                return f"result is {result.get('result')}, not {kind[5:]}"
        elif kind == "lines":
            for line in data.splitlines():
                json.loads(line, parse_constant=no_constant)
        elif kind.startswith("pcapng"):
            if pcapng_packets(data) == 0 and kind == "pcapng":
                return "a capture of no packets"
            if kind == "pcapng-incomplete" and b"incomplete" not in data.lower():
                return "does not say that it is incomplete"
        elif kind == "svg":
            xml.dom.minidom.parseString(data)
        elif kind == "hex":
            if not re.fullmatch(rb"([0-9a-f]{2,}\n)+", data):
                return "is not hexadecimal"
        elif kind.startswith("row:"):  # a table has these cells in one row, in this order
            rows = [line.split(",") for line in data.decode().splitlines()]
            if not any([cell for cell in row if cell in kind[4:].split(",")] == kind[4:].split(",") for row in rows):
                return f"has no row with {kind[4:]}"
        elif kind == "text" and not data:
            return "is empty"
    except (ValueError, KeyError, struct.error, xml.parsers.expat.ExpatError) as error:
        return f"is no whole {kind}: {error}"
    return ""


# ---- running ----

def prepare_child(case, memory):
    """What the child does before it becomes mrc."""
    def child():
        for name, value in {"AS": memory, "FSIZE": 256 << 20, "CORE": 0, **case.limits}.items():
            if value:
                resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))
            elif name in case.limits or name == "CORE":
                resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (0, 0))
        for number in range(1, 32):
            if number not in (signal.SIGKILL, signal.SIGSTOP):
                signal.signal(number, signal.SIG_DFL)
        for name in case.ignores:
            signal.signal(getattr(signal, "SIG" + name), signal.SIG_IGN)
        for closed, descriptor in ((case.stdin, 0), (case.stdout, 1), (case.stderr, 2)):
            if closed == "closed":
                os.close(descriptor)
        if case.removed:
            os.mkdir("gone")
            os.chdir("gone")
            os.rmdir("../gone")
        if case.user and os.geteuid() == 0:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
    return child


def stream(case, which, folder):
    """The child's descriptor for its output, and ours or None."""
    how = getattr(case, which)
    if how == "full":
        return os.open(folder / "full.node", os.O_WRONLY), None
    if how == "closed":
        return os.open("/dev/null", os.O_WRONLY), None
    if how == "limited":
        return os.open(folder / "stdout.file", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), None
    ours, theirs = os.pipe()
    if how == "gone":
        os.close(ours)
        return theirs, None
    return theirs, ours


def processor_time(pid):
    """Seconds of processor time of all threads so far."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return 0.0


def children(pid):
    """Processes that it has started and that are still there."""
    try:
        tasks = Path(f"/proc/{pid}/task").iterdir()
        return [child for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []


class Run:
    """One call, with everything that watches it."""

    def __init__(self, case, mrc, folder, memory):
        self.case, self.folder, self.memory, self.outcome = case, folder, memory, Outcome()
        self.selector = selectors.DefaultSelector()
        self.sent = 0
        self.next_signal = 0.0
        self.command = [str(mrc), *case.args]
        self.beside = self.child_since = None
        self.old = set()

    def watch(self, descriptor, name, limit=1 << 40):
        os.set_blocking(descriptor, False)
        self.selector.register(descriptor, selectors.EVENT_READ, [name, limit])
        self.outcome.read.setdefault(name, b"")

    def start(self):
        case = self.case
        for name, thing in case.files.items():
            if isinstance(thing, Fifo) and thing.reads:
                # Read-only and non-blocking: opened before there is a writer.
                self.watch(os.open(self.folder / name, os.O_RDONLY | os.O_NONBLOCK), name, thing.reads)
        self.old = set(self.folder.rglob("*"))
        out, our_out = stream(case, "stdout", self.folder)
        err, our_err = stream(case, "stderr", self.folder)
        stdin = subprocess.DEVNULL if case.stdin in (None, "closed") else subprocess.PIPE
        path = f"{self.folder}/bin:" if "bin" in case.files else ""
        environment = {**os.environ, "PATH": path + os.environ.get("PATH", "/usr/bin:/bin"), **case.environment}
        self.begun = time.monotonic()
        self.process = subprocess.Popen(self.command, cwd=self.folder, stdin=stdin, stdout=out, stderr=err,
                                        env=environment, start_new_session=True, restore_signals=False,
                                        preexec_fn=prepare_child(case, self.memory))
        os.close(out)
        os.close(err)
        if our_out is not None:
            self.watch(our_out, "stdout")
        if our_err is not None:
            self.watch(our_err, "stderr")
        if isinstance(case.stdin, bytes):
            try:
                self.process.stdin.write(case.stdin)
                self.process.stdin.close()
            except BrokenPipeError:
                pass

    def start_beside(self):
        """Another call at work in the same folder: when it has had some processor time, it has opened its outputs."""
        self.beside = subprocess.Popen([self.command[0], *self.case.beside], cwd=self.folder, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                                       env={**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}"})
        while self.beside.poll() is None and processor_time(self.beside.pid) < 0.2:
            time.sleep(0.01)
        if self.beside.poll() is not None:
            self.outcome.wrong.append("the other call has ended by itself")

    def end_beside(self):
        self.beside.send_signal(signal.SIGINT)
        try:
            self.beside.wait(self.case.seconds * PATIENCE)
        except subprocess.TimeoutExpired:
            self.outcome.wrong.append("the other call does not end")
            os.killpg(self.beside.pid, signal.SIGKILL)
            self.beside.wait()

    def is_ready(self):
        what, _, value = self.case.ready.partition(" ")
        if what == "cpu":
            return processor_time(self.process.pid) >= float(value)
        if what == "seconds":
            return time.monotonic() - self.begun >= float(value)
        if what == "line":
            said = self.outcome.read.get("stdout", b"") + self.outcome.read.get("stderr", b"")
            return re.search(value.encode(), said, re.M) is not None
        if what == "child":
            if self.child_since is None and children(self.process.pid):
                self.child_since = time.monotonic()
            return self.child_since is not None and time.monotonic() - self.child_since >= float(value)
        grown = [path for path in self.folder.rglob("*") if path not in self.old and path.is_file()]
        return any(path.stat().st_size >= int(value) for path in grown)

    def send_signals(self):
        names = self.case.signals
        if self.sent == len(names) or time.monotonic() < self.next_signal:
            return
        if self.sent or self.is_ready():
            self.process.send_signal(getattr(signal, "SIG" + names[self.sent]))
            self.sent += 1
            self.next_signal = time.monotonic() + 0.05

    def take(self, key):
        name, limit = key.data
        try:
            data = os.read(key.fd, 1 << 16)
        except BlockingIOError:
            return
        kept = self.outcome.read[name]
        self.outcome.read[name] = kept + data[:max(0, KEPT - len(kept))]
        head = name == "stdout" and self.case.stdout == "head" and b"\n" in data
        is_fifo = isinstance(self.case.files.get(name), Fifo)
        # A FIFO says 'end' as long as nobody has opened it for writing.
        ended = not data and not (is_fifo and not kept and self.process.poll() is None)
        if ended or head or len(self.outcome.read[name]) >= limit:
            self.selector.unregister(key.fd)
            os.close(key.fd)

    def follow(self):
        """Until the process has ended and all it said is read, or its time is over."""
        case, limit = self.case, self.case.seconds * PATIENCE
        while True:
            over = self.process.poll() is not None
            ready = self.selector.select(0 if over else 0.01) if self.selector.get_map() else []
            for key, _ in ready:
                self.take(key)
            if not ready:
                if over:
                    break
                time.sleep(0.002)
            if time.monotonic() > self.begun + limit:
                self.outcome.wrong.append(f"still running after {limit} s")
                break
            if not over:
                self.send_signals()
        self.outcome.seconds = time.monotonic() - self.begun
        if self.process.poll() is not None and self.sent < len(case.signals):
            if not ((self.sent or case.early) and self.process.returncode in case.code):
                self.outcome.wrong.append("ended before it was ready for a signal")

    def end(self):
        """Nobody may be left of the call's processes."""
        group = self.process.pid
        if self.process.poll() is None:
            os.killpg(group, signal.SIGKILL)
            self.process.wait()
        for _ in range(50):
            try:
                os.killpg(group, 0)
            except ProcessLookupError:
                break
            time.sleep(0.01)
        else:
            self.outcome.wrong.append("left a process behind")
            os.killpg(group, signal.SIGKILL)
        for key in list(self.selector.get_map().values()):
            os.close(key.fd)
        if self.process.stdin and not self.process.stdin.closed:
            self.process.stdin.close()
        self.outcome.code = self.process.returncode
        self.outcome.out = self.outcome.read.pop("stdout", b"")
        self.outcome.err = self.outcome.read.pop("stderr", b"")


# ---- judging ----

def judge_words(case, outcome):
    wrong = outcome.wrong
    out, err = outcome.out.decode(errors="replace"), outcome.err.decode(errors="replace")
    for patterns, where, text in ((case.out, "standard output", out), (case.err, "standard error", err),
                                  (case.says, "any output", out + "\n" + err)):
        wrong += [f"no /{p}/ on {where}" for p in patterns if not re.search(p, text, re.M)]
    for pattern in (*case.never, *([] if case.foreign else [INTERNAL])):
        if found := re.search(pattern, out + "\n" + err):
            wrong.append(f"says '{found.group(0)}'")
    if case.refused and out:
        wrong.append("was refused, but has standard output")
    if not case.whole_report and err.count("\n") > 40:
        wrong.append(f"{err.count(chr(10))} lines of complaint")
    if re.search(r"\d{100}", err):
        wrong.append("a line with 100 digits")
    if re.search(r"[\x00-\x08\x0b-\x1f\x7f]", err):
        wrong.append("control characters on standard error")
    # Who is told to stop, or is no longer read, need not explain itself.
    told = case.signals or case.stdout in ("gone", "head") or case.stderr != "pipe" or case.whole_report
    complained = outcome.code in (3, 4) and not told
    if complained and not re.search(r"^mrc( [a-z-]+)*: .*\S.*\n  \S", err, re.M):
        wrong.append("no sentence 'mrc ...: ...' with an indented remedy below")


def judge_files(case, outcome, before, after):
    wrong = outcome.wrong
    for name, (mode, device, links, content) in before.items():
        now = after.pop(name, None)
        if now is None:
            wrong.append(f"{name} is gone")
        elif now[:2] != (mode, device):
            wrong.append(f"{name} had mode {mode:o} and device {device:#x}, now {now[0]:o} and {now[1]:#x}")
        elif name in case.changes:
            if now[2] != links:
                wrong.append(f"{name} had {links} names, now {now[2]}")
            if complaint := check_content(case.changes[name], now[3], outcome.code):
                wrong.append(f"{name} {complaint}")
        elif now[3] != content:
            wrong.append(f"{name} has been changed")
    for name, kind in case.makes.items():
        now = after.pop(name, None)
        if now is None:
            wrong.append(f"{name} is missing")
        elif stat.S_ISREG(now[0]) and (complaint := check_content(kind, now[3], outcome.code)):
            wrong.append(f"{name} {complaint}")
    for name in after:
        if not any(fnmatch.fnmatch(name, pattern) for pattern in case.may):
            wrong.append(f"left {name} behind")


def judge(case, outcome, before, after):
    if outcome.code not in case.code:
        wanted = " or ".join(map(str, case.code))
        outcome.wrong.insert(0, f"exit code {outcome.code}, not {wanted}")
    judge_words(case, outcome)
    judge_files(case, outcome, before, after)
    if case.stdout_kind and (complaint := check_content(case.stdout_kind, outcome.out, outcome.code)):
        outcome.wrong.append(f"standard output {complaint}")
    for name, kind in case.reads.items():
        if complaint := check_content(kind, outcome.read.get(name, b""), outcome.code):
            outcome.wrong.append(f"{name}: what its reader got {complaint}")


def run_case(case, mrc, scratch, memory):
    """Runs one case in a folder of its own."""
    folder = Path(tempfile.mkdtemp(dir=scratch))
    folder.chmod(0o755)
    disks = [folder / name for name, thing in case.files.items() if isinstance(thing, Disk)]
    run = Run(case, mrc, folder, memory)
    try:
        for name, thing in case.files.items():
            thing.make(folder / name)
        if "full" in (case.stdout, case.stderr):
            Node(7).make(folder / "full.node")
        if case.user and os.geteuid() == 0:
            for path in [folder, *folder.rglob("*")]:
                os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
        before = snapshot(folder)
        if case.beside:
            run.start_beside()
        run.start()
        try:
            run.follow()
        finally:
            run.end()
            if case.beside:
                run.end_beside()
        if case.stdout == "limited":
            before["stdout.file"] = (0, 0, 0, b"")
            run.outcome.out = (folder / "stdout.file").read_bytes()
        after = snapshot(folder)
        if case.stdout == "limited":
            before.pop("stdout.file")
            after.pop("stdout.file", None)
        judge(case, run.outcome, before, after)
    except Exception:  # a fault of this test: it concerns one case only
        run.outcome.wrong.append(traceback.format_exc())
    finally:
        for disk in disks:
            unmount(disk)
        for path in folder.rglob("*"):
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o755)
        shutil.rmtree(folder, ignore_errors=True)
    return run.outcome
