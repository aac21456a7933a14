# SPDX-License-Identifier: Apache-2.0
"""The judge (cmodel/api/mrc_ref.h) for Python: the standard library alone.

    import mrc_ref
    with mrc_ref.Judge({"name": "mynic", "planes": 2}) as judge:
        judge.qp({"qp": 16, "peer_qp": 20, "own_ip": "fd00::1", "peer_ip": "fd00::2"}, t=0)
        judge.rx(plane=0, first=1_000_000, last=1_080_000, data=frame)
        judge.until(2_000_000)
        for finding in judge.findings():
            print(finding.rule, finding.text)
        judge.finish()
    print(judge.verdict)

Times are picoseconds. The library is libmrc_ref.so, looked for beside this file, where MRC_REF_LIBRARY says, then where
the system looks."""
import ctypes as c
import json
import os
from dataclasses import dataclass
from pathlib import Path

API = 1
VERDICTS = ("pass", "deviates", "inconclusive", "fail", "broken")
HOST, VERBS, EVENTS, ALL = 64, 65, 66, 255  # sources; 0 to 63 are ports
FCS_BAD, CUT, MAYBE = 1, 2, 4
READ, READ_DONE, WRITE, VISIBLE = range(4)
OK, LOCAL_LENGTH, WIMM_OVERRUN, REMOTE_INVALID, REMOTE_ACCESS, REMOTE_OPERATION, RETRIES, FLUSHED, FATAL, OTHER = range(10)
TAKE, ANSWER, HEARD, LOST, PATH, CC, TIMER, WINDOW, QP = range(9)


class JudgeError(Exception):
    """The library refused a call; the sentence is its own."""


def _struct(name, *fields):
    kinds = {"I": c.c_uint32, "Q": c.c_uint64, "q": c.c_int64, "P": c.c_char_p}
    return type(name, (c.Structure,), {"_fields_": [
        (field, kinds[kind] if kind in kinds else c.c_char * int(kind)) for kind, names in fields for field in names.split()]})


_Frame = _struct("Frame", ("I", "size plane flags bytes stored reserved"), ("Q", "t_first t_last"), ("P", "data"))
_Host = _struct("Host", ("I", "size op status bytes"), ("Q", "addr tag t"), ("P", "data"))
_Work = _struct("Work", ("I", "size qp flags status"), ("Q", "wr_id addr remote bytes t"), ("I", "rkey imm msn rqmsn"))
_Finding = _struct("Finding", ("I", "size verdict"), ("q", "qp"), ("Q", "t since frame"), ("32", "rule cite"), ("4", "mark"),
                   ("1024", "text"))


@dataclass(frozen=True)
class Finding:
    """rule: id in docs/reference/generated/rules.md; qp -1, frame 0, since 0: none. Verdict "pass": a waived one."""
    verdict: str
    rule: str
    qp: int
    t: int
    since: int
    frame: int
    cite: str
    mark: str
    text: str


def load(path=None):
    """The library; `path`, or where the module's text says."""
    beside = Path(__file__).with_name("libmrc_ref.so")
    name = path or os.environ.get("MRC_REF_LIBRARY") or (str(beside) if beside.exists() else "libmrc_ref.so.1")
    try:
        lib = c.CDLL(name)
    except OSError as error:
        raise JudgeError(f"{name} cannot be loaded: {error}. Set MRC_REF_LIBRARY to its path.") from None
    for function, kinds in {"open": [c.c_uint32, c.c_char_p, c.c_char_p, c.c_size_t, c.POINTER(c.c_void_p)],
                            "close": [c.c_void_p], "error": [c.c_void_p], "next": [c.c_void_p, c.POINTER(_Finding)],
                            "waive": [c.c_void_p, c.c_char_p, c.c_char_p], "shows": [c.c_void_p, c.c_uint64],
                            "record": [c.c_void_p, c.c_char_p], "rx": [c.c_void_p, c.POINTER(_Frame)],
                            "tx": [c.c_void_p, c.POINTER(_Frame)], "port": [c.c_void_p, c.c_int, c.c_int, c.c_uint64],
                            "qp_json": [c.c_void_p, c.c_char_p, c.c_uint64],
                            "mr_json": [c.c_void_p, c.c_char_p, c.c_uint64], "post": [c.c_void_p, c.POINTER(_Work)],
                            "recv": [c.c_void_p, c.c_uint32, c.c_uint32, c.c_uint64],
                            "cqe": [c.c_void_p, c.POINTER(_Work)], "host": [c.c_void_p, c.POINTER(_Host)],
                            "event": [c.c_void_p, c.c_int, c.c_uint32, c.POINTER(c.c_uint64), c.c_uint64],
                            "counter": [c.c_void_p, c.c_char_p, c.c_uint64, c.c_uint64],
                            "gap": [c.c_void_p, c.c_int, c.c_uint64, c.c_uint64, c.c_uint64, c.c_char_p],
                            "until": [c.c_void_p, c.c_int, c.c_uint64], "finish": [c.c_void_p, c.c_int],
                            "verdict": [c.c_void_p], "packets": [c.c_void_p],
                            "json": [c.c_void_p, c.c_char_p, c.c_size_t]}.items():
        getattr(lib, f"mrc_ref_{function}").argtypes = kinds
    lib.mrc_ref_close.restype = None
    lib.mrc_ref_error.restype = lib.mrc_ref_name.restype = c.c_char_p
    lib.mrc_ref_packets.restype = c.c_uint64
    lib.mrc_ref_json.restype = c.c_size_t
    if lib.mrc_ref_version() != API:
        raise JudgeError(f"{name} has version {lib.mrc_ref_version()} of mrc_ref.h, this module version {API}.")
    return lib


class Judge:
    """The judge of one NIC. Raises JudgeError where the library refuses a call."""

    def __init__(self, profile=None, waive=None, shows=(), record=None, library=None):
        self._handle = None
        self._lib = load(library)
        error, handle = c.create_string_buffer(1024), c.c_void_p()
        text = json.dumps(profile).encode() if profile else None
        if self._lib.mrc_ref_open(API, text, error, len(error), c.byref(handle)) != 0:
            raise JudgeError(error.value.decode())
        self._handle = handle
        for rule, reason in (waive or {}).items():
            self._call("waive", rule.encode(), reason.encode())
        if shows:
            self._call("shows", sum(1 << kind for kind in set(shows)))
        if record:
            self._call("record", os.fsencode(record))

    def close(self):
        if self._handle:
            self._lib.mrc_ref_close(self._handle)
            self._handle = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._closing = (self.verdict, self.result())
        self.close()

    def _call(self, name, *arguments):
        if not self._handle:
            raise JudgeError("this judge is closed.")
        done = getattr(self._lib, f"mrc_ref_{name}")(self._handle, *arguments)
        if done < 0:
            raise JudgeError(f"mrc_ref_{name}: {self._lib.mrc_ref_error(self._handle).decode() or done}")
        return done

    def _frame(self, name, plane, first, last, data, flags, length):
        frame = _Frame(size=c.sizeof(_Frame), plane=plane, flags=flags, bytes=len(data) if length is None else length,
                       stored=len(data), t_first=first, t_last=last, data=bytes(data))
        self._call(name, c.byref(frame))

    def rx(self, plane, first, last, data, flags=0, length=None):
        """A frame reached the device's port. data: from the Ethernet header on, without FCS; length: on the wire, with CUT."""
        self._frame("rx", plane, first, last, data, flags, length)

    def tx(self, plane, first, last, data, flags=0, length=None):
        """A frame left the device."""
        self._frame("tx", plane, first, last, data, flags, length)

    def port(self, plane, up, t):
        self._call("port", plane, int(up), t)

    def qp(self, qp, t):
        """qp: a dict as in "qps" of a profile (docs/reference/judge.md)."""
        self._call("qp_json", json.dumps(qp).encode(), t)

    def mr(self, region, t):
        """region: a dict as in "regions" of a profile."""
        self._call("mr_json", json.dumps(region).encode(), t)

    def post(self, qp, wr_id, t, addr=0, remote=0, bytes=0, rkey=0, imm=None):
        self._work("post", qp=qp, wr_id=wr_id, t=t, addr=addr, remote=remote, bytes=bytes, rkey=rkey, imm=imm or 0,
                   flags=int(imm is not None))

    def recv(self, qp, count, t):
        self._call("recv", qp, count, t)

    def cqe(self, qp, t, wr_id=0, status=OK, receive=False, imm=0, msn=0, rqmsn=0, bytes=0):
        self._work("cqe", qp=qp, t=t, wr_id=wr_id, status=status, flags=2 * int(receive), imm=imm, msn=msn, rqmsn=rqmsn,
                   bytes=bytes)

    def _work(self, name, **fields):
        self._call(name, c.byref(_Work(size=c.sizeof(_Work), **fields)))

    def host(self, op, addr, t, data=None, bytes=None, tag=0, status=0):
        """op: READ, READ_DONE, WRITE, VISIBLE."""
        length = bytes if bytes is not None else len(data or b"")
        self._call("host", c.byref(_Host(size=c.sizeof(_Host), op=op, status=status, bytes=length, addr=addr, tag=tag, t=t,
                                         data=data)))

    def event(self, kind, qp, arguments, t):
        six = (c.c_uint64 * 6)(*arguments)
        self._call("event", kind, qp, six, t)

    def counter(self, name, value, t):
        self._call("counter", name.encode(), value, t)

    def gap(self, source, start, end, lost=0, reason=""):
        self._call("gap", source, start, end, lost, reason.encode())

    def until(self, t, source=ALL):
        """Nothing older than t comes from this source any more."""
        self._call("until", source, t)

    def finish(self, cut=False):
        self._call("finish", int(cut))

    def findings(self):
        """What was found since the last time."""
        one = _Finding(size=c.sizeof(_Finding))
        while self._call("next", c.byref(one)) == 1:
            yield Finding(VERDICTS[one.verdict], one.rule.decode(), one.qp, one.t, one.since, one.frame, one.cite.decode(),
                          one.mark.decode(), one.text.decode(errors="replace"))

    @property
    def verdict(self):
        """One of VERDICTS, of all so far."""
        return VERDICTS[self._call("verdict")] if self._handle else self._closing[0]

    @property
    def packets(self):
        return self._lib.mrc_ref_packets(self._handle) if self._handle else 0

    def result(self):
        """What `mrc check --json` prints, as a dict; {} before the first observation."""
        if not self._handle:
            return self._closing[1]
        text = c.create_string_buffer(self._lib.mrc_ref_json(self._handle, None, 0) + 1)
        self._lib.mrc_ref_json(self._handle, text, len(text))
        return json.loads(text.value) if text.value else {}


def tell(judge, record):
    """One record of `mrc log print --json`, as a dict. Notes and the device's record are skipped."""
    kind, t = record["kind"], record["time"]
    fields = {k: v for k, v in record.items() if k not in ("kind", "device", "time")}
    if kind == "frame":
        flags = FCS_BAD * fields.get("fcs_bad", False) | CUT * fields.get("cut", False) | MAYBE * fields.get("maybe", False)
        (judge.tx if fields["sent"] else judge.rx)(fields["plane"], t, fields["last"], bytes.fromhex(fields["frame"]), flags,
                                                   fields["length"])
    elif kind == "host":
        data = bytes.fromhex(fields["data"]) if "data" in fields else None
        op = ("read", "read_done", "write", "visible").index(fields["op"])
        judge.host(op, fields["addr"], t, data, fields["bytes"], fields["tag"], fields.get("status", 0))
    elif kind == "cqe":
        names = ("ok", "local_length", "wimm_overrun", "remote_invalid", "remote_access", "remote_operation", "retries",
                 "flushed", "fatal", "other")
        judge.cqe(**{**fields, "t": t, "status": names.index(fields["status"])})
    elif kind == "post":
        judge.post(t=t, **fields)
    elif kind == "post_receive":
        judge.recv(t=t, **fields)
    elif kind in ("qp", "mr"):
        getattr(judge, kind)(fields, t)
    elif kind == "port":
        judge.port(fields["plane"], fields["up"], t)
    elif kind == "event":
        kinds = ("take", "answer", "heard", "lost", "path", "cc", "timer", "window", "qp")
        judge.event(kinds.index(fields["event"]), fields["qp"], fields["arg"], t)
    elif kind == "counter":
        judge.counter(fields["name"], fields["value"], t)
    elif kind == "gap":
        judge.gap(ALL, fields["from"], t, fields["lost"], fields["reason"])
    elif kind == "until":
        judge.until(t)
    elif kind == "end":
        judge.until(t)
        judge.finish(fields["cut"])
