# SPDX-License-Identifier: Apache-2.0
"""Ranges as arrays of a scheduler: Slurm, or one known by the commands of a file. Nothing stands between us and its
commands: an array is submitted, asked for until it has gone, and what has no result is submitted again."""
import dataclasses
import re
import shlex
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import rtl
from regression.engine import Progress
from regression.work import TRIES

MOST = 1000  # tasks of an array; Slurm's MaxArraySize is 1001 unless somebody changed it


@dataclasses.dataclass(frozen=True)
class Scheduler:
    """Commands with {script}, {count}, {last}, {dir}, {job}. `job` finds the array's name in what submit says; `poll`
    says something while tasks of it wait or run; `index` is the variable that holds the task's number, from `first` on."""
    submit: str
    job: str
    poll: str
    cancel: str
    index: str
    first: int = 0
    gone: str = ""  # what poll says on standard error, failing, of an array that is over; any other failure is asked again


SLURM = Scheduler(submit="sbatch --parsable --requeue --array=0-{last} --job-name=mrc-regress --output=/dev/null "
                         "--chdir={dir} {script}",
                  job=r"^(\d+)", poll="squeue --noheader --jobs={job} --format=%i", cancel="scancel {job}",
                  index="SLURM_ARRAY_TASK_ID", gone="Invalid job id")


def from_file(name):
    """The scheduler of a user."""
    try:
        data = tomllib.loads(Path(name).read_text())
        return Scheduler(**data)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, TypeError) as error:
        rtl.fail(f"the scheduler {name} cannot be used: {error}.",
                 "plans/schedulers holds examples; docs/guide/regress.md names the keys.")


class Arrays:
    def __init__(self, scheduler, folder, stop):
        self.scheduler, self.folder, self.stop = scheduler, folder, stop
        self.known = folder.path / "arrays"  # names of arrays that may be under way

    def call(self, command, **values):
        words = shlex.split(command.format(**{name: shlex.quote(str(value)) for name, value in values.items()}))
        try:
            return subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(words, 1, "", "no answer in 120 s")
        except OSError as error:
            rtl.fail(f"{words[0]} cannot be called: {error.strerror}.", "Install the scheduler's commands, or --engine local.")

    def submit(self, numbers):
        """The name of a new array."""
        number = len(list(self.folder.path.glob("tasks-*")))
        tasks = (self.folder.path / f"tasks-{number:04d}").absolute()
        tasks.write_text("".join(f"{one}\n" for one in numbers))
        script = self.folder.path.absolute() / f"array-{number:04d}.sh"
        first = self.scheduler.first
        script.write_text(f"""#!/bin/bash
n=$(sed -n "$((${{{self.scheduler.index}:-$1}} + {1 - first}))p" {shlex.quote(str(tasks))})
exec {shlex.quote(str(rtl.ROOT / "tools/regress.py"))} --range {shlex.quote(str(self.folder.path.absolute()))} "$n"
""")
        script.chmod(0o755)
        done = self.call(self.scheduler.submit, script=script, count=len(numbers), last=first + len(numbers) - 1,
                         dir=self.folder.path.absolute())
        match = re.search(self.scheduler.job, done.stdout, re.MULTILINE)
        if done.returncode != 0 or not match:
            said = (done.stderr or done.stdout).strip().splitlines()
            rtl.fail(f"the scheduler took no array: {said[0] if said else 'it said nothing'}.",
                     "Try the command of 'submit' by hand; results so far stay.")
        with open(self.known, "a", encoding="utf-8") as file:
            file.write(match[1] + "\n")
        return match[1]

    def under_way(self, job):
        """A scheduler that does not answer has lost nothing: it is asked again."""
        done = self.call(self.scheduler.poll, job=job)
        if done.returncode == 0:
            return bool(done.stdout.strip())
        return not (self.scheduler.gone and self.scheduler.gone in done.stderr)

    def wait(self, jobs, todo, deadline):
        """Until all arrays are over. False: the time is, or somebody stopped us; then they are cancelled."""
        progress = Progress(self.folder, todo)
        while jobs := [job for job in jobs if self.under_way(job)]:
            if self.stop.wait(1) or time.monotonic() > deadline:
                for job in jobs:
                    self.call(self.scheduler.cancel, job=job)
                while any(self.under_way(job) for job in jobs):
                    time.sleep(0.5)
                return False
            progress.show()
        return True

    def run(self, todo, deadline):
        old = self.known.read_text().split() if self.known.exists() else []
        more = self.wait(old, todo, deadline)  # of a start before this one
        fruitless = 0
        while more and fruitless < TRIES and (left := [number for number in todo if self.folder.missing(number)]):
            before = sum(len(self.folder.missing(number)) for number in left)
            jobs = [self.submit(left[at:at + MOST]) for at in range(0, len(left), MOST)]
            more = self.wait(jobs, todo, deadline)
            after = [number for number in left if self.folder.missing(number)]
            fruitless = fruitless + 1 if sum(len(self.folder.missing(number)) for number in after) == before else 0
            for number in after if more else []:
                self.folder.add(number, [{"why": f"array {' '.join(jobs)} of the scheduler ended without its results",
                                          "left": len(self.folder.missing(number))}], "tries")
        self.known.unlink(missing_ok=True)
        if sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr)
