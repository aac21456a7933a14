# SPDX-License-Identifier: Apache-2.0
"""Who runs the ranges: processes of this machine, Slurm, or a scheduler known by commands of the user's."""
import concurrent.futures
import sys
import time


def show(folder, todo, begin, started):
    """One line on a terminal: how far it is."""
    if not sys.stderr.isatty():
        return
    total = sum(len(folder.ranges[number]["items"]) for number in todo)
    left = sum(len(folder.missing(number)) for number in todo)
    done, spent = total - left - started, time.monotonic() - begin
    eta = f"{spent * left / done:.0f} s" if done > 0 else "--"
    print(f"\r{total - left} of {total} runs, {eta} left\x1b[K", end="", file=sys.stderr, flush=True)


def local(folder, worker, todo, jobs, deadline):
    """Returns how many ranges were not begun because the time was over."""
    begin, left_out = time.monotonic(), 0
    started = sum(len(folder.ranges[number]["items"]) - len(folder.missing(number)) for number in todo)

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
            show(folder, todo, begin, started)
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr)
    return left_out
