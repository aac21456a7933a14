# SPDX-License-Identifier: Apache-2.0
"""A case: one call of mrc, the world it runs in, and what must come of it."""
import shlex
from dataclasses import dataclass, field

from hostile.things import Disk, Node


@dataclass(frozen=True)
class Case:
    """Regular expressions in says, out and err are all looked for, in any order, and must all be found."""
    name: str
    args: tuple  # after mrc
    code: tuple = (0,)  # exit codes that are right; negative: a signal
    says: tuple = ()  # on standard output or standard error
    out: tuple = ()  # on standard output
    err: tuple = ()  # on standard error
    never: tuple = ()  # on neither
    files: dict = field(default_factory=dict)  # name: what lies there before
    changes: dict = field(default_factory=dict)  # name: kind of content that a file of before must have now
    makes: dict = field(default_factory=dict)  # name: kind of content of a new file that must be there
    may: tuple = ()  # shell patterns of other new files that may be there
    reads: dict = field(default_factory=dict)  # name of a FIFO: kind of content that its reader got
    refused: bool = False  # before the run: nothing on standard output
    whole_report: bool = False  # standard error has a report of any length
    foreign: bool = False  # others' words may be among ours
    stdin: bytes | str | None = None  # bytes; "open": a pipe that says nothing; "closed"
    stdout: str = "pipe"  # pipe, closed, full, gone (nobody reads), head (one line is read), limited (see limits)
    stdout_kind: str = ""  # kind of content of standard output
    stderr: str = "pipe"  # pipe, closed, full, gone
    limits: dict = field(default_factory=dict)  # FSIZE, AS, NOFILE, NPROC, STACK: number
    ignores: tuple = ()  # signals that are ignored from the beginning
    user: str = ""  # nobody: an ordinary user, whom folders' modes concern
    signals: tuple = ()  # names; the first when it is ready, the others 50 ms apart
    early: bool = False  # it may end before it is ready
    # When it is in the middle. "cpu S": it has had so much processor time; "line RE": it has said so; "grown N": a new
    # file has N bytes; "child S": it has had a child for so long. "seconds S": for what only waits.
    ready: str = "cpu 0.4"
    environment: dict = field(default_factory=dict)
    removed: bool = False  # the working folder is not there any more
    beside: tuple = ()  # another call of mrc, at work in the same folder since before; afterwards it is interrupted
    seconds: float = 10  # it must have ended
    needs: tuple = ()  # root, mounts, nobody, device; in addition to what files and user need

    def requirements(self):
        things = self.files.values()
        needs = set(self.needs) | ({"nobody"} if self.user else set())
        if any(isinstance(thing, Node) for thing in things) or "full" in (self.stdout, self.stderr):
            needs.add("nodes")
        if any(isinstance(thing, Disk) for thing in things):
            needs.add("mounts")
        return needs

    def shell(self, mrc):
        """The case as lines for a shell."""
        lines = ["cd $(mktemp -d)"] + [thing.shell(name) for name, thing in self.files.items()]
        if "full" in (self.stdout, self.stderr):
            lines.append(Node(7).shell("full.node"))
        if self.user:
            lines.append("chown -R nobody .")
        call = " ".join(shlex.quote(word) for word in (str(mrc), *self.args))
        if self.environment:
            call = " ".join(f"{k}={shlex.quote(v)}" for k, v in self.environment.items()) + " " + call
        if "bin" in self.files:
            call = "PATH=$PWD/bin:$PATH " + call
        units = {"FSIZE": ("f", 1024), "AS": ("v", 1024), "NOFILE": ("n", 1), "NPROC": ("u", 1), "STACK": ("s", 1024)}
        before = [f"trap '' {name}" for name in self.ignores]
        before += [f"ulimit -{units[name][0]} {-(-value // units[name][1])}" for name, value in self.limits.items()]
        if isinstance(self.stdin, bytes):
            call = f"printf '%b' {shlex.quote(self.stdin.decode('latin1'))} | {call}"
        elif self.stdin == "open":
            call = f"sleep 100 | {call}"
        call += {"closed": " <&-"}.get(self.stdin, "")
        call += {"closed": " >&-", "full": " >full.node", "limited": " >stdout.file", "gone": " | true",
                 "head": " | head -n 1"}.get(self.stdout, "")
        call += {"closed": " 2>&-", "full": " 2>full.node", "gone": " 2> >(true)"}.get(self.stderr, "")
        if self.beside:
            call = f"{mrc} {shlex.join(self.beside)} & sleep 1; {call}; kill -INT $!; wait $!"
        if self.removed:
            lines.append("mkdir gone; cd gone; rmdir ../gone")
        if before:
            call = f"({'; '.join(before)}; {call})"
        if self.user:
            call = f"setpriv --reuid=nobody --clear-groups bash -c {shlex.quote(call)}"
        if self.signals:
            call += f" & sleep 1; {'; sleep 0.05; '.join(f'kill -{name} $!' for name in self.signals)}; wait $!"
        return "\n".join(lines + [call])


def refused(name, command, *err, **more):
    """A call that must be refused before it runs, leaving nothing and touching nothing."""
    seconds = more.pop("seconds", 4)
    return Case(name, tuple(command), code=(3,), err=err, refused=True, seconds=seconds, **more)
