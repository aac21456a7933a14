# SPDX-License-Identifier: Apache-2.0
"""Who runs the ranges: processes of this machine, Slurm, or a scheduler known by commands of the user's."""
import concurrent.futures
import sys
import time


class Progress:
    """One line on a terminal: how far it is. Reading results of many runs takes long: then it is said less often."""

    def __init__(self, folder, todo):
        self.folder, self.todo = folder, todo
        self.total = sum(len(folder.ranges[number]["items"]) for number in todo)
        self.started = self.total - self.left()
        self.begin = self.next = time.monotonic()

    def left(self):
        return sum(len(self.folder.missing(number)) for number in self.todo)

    def show(self):
        now = time.monotonic()
        if not sys.stderr.isatty() or now < self.next:
            return
        left = self.left()
        done, spent = self.total - left - self.started, now - self.begin
        eta = f"{spent * left / done:.0f} s" if done > 0 else "--"
        print(f"\r{self.total - left} of {self.total} runs, {eta} left\x1b[K", end="", file=sys.stderr, flush=True)
        self.next = now + max(1, 20 * (time.monotonic() - now))


def local(folder, worker, todo, jobs, deadline):
    """Returns how many ranges were not begun because the time was over."""
    progress, left_out = Progress(folder, todo), 0

    def one(number):
        if worker.stop.is_set():
            return True
        if time.monotonic() > deadline:
            return False
        worker.run(number)
        return True

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        waiting = {pool.submit(one, number) for number in todo}
        while waiting:
            done, waiting = concurrent.futures.wait(waiting, timeout=1,
                                                    return_when=concurrent.futures.FIRST_COMPLETED)
            left_out += sum(not future.result() for future in done)
            progress.show()
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr)
    return left_out
