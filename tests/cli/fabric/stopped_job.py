#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: stopped_job.py MRC

A job that computes for long between its steps hears Ctrl-C: it ends within a second of processor time, and keeps the
steps that it has. While ranks compute nothing happens, so a run would go on for simulated seconds at a time, and those
hold whole steps.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

SCENARIO = """
base = "mrc-1024"
duration_us = 1_000_000_000
[[traffic]]
bytes = 1
from = "nic1000"
to = "nic1001"
[[job]]
steps = 40
ranks = 512
tensor = 8
[[job.phase]]
compute_us = 300_000
collective = "ring"
over = "data"
bytes = 2_000_000
"""
SECOND = os.sysconf("SC_CLK_TCK")


def processor_time(pid):
    """Seconds that a process, which has not been waited for, has had of processors."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / SECOND, fields[0] == "Z"


def stop(mrc, folder, after):
    """Gives the seconds from a SIGINT, `after` so many of its run, until it has ended; and its results."""
    result = folder / "stopped.json"
    with subprocess.Popen([mrc, "fabric", "--scenario", str(folder / "job.toml"), "--json", str(result)],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as run:
        while processor_time(run.pid)[0] < after:
            assert run.poll() is None, "it ended before the signal"
            time.sleep(0.02)
        begin = processor_time(run.pid)[0]
        run.send_signal(signal.SIGINT)
        while True:
            spent, over = processor_time(run.pid)
            if over or spent - begin > 20:
                break
            time.sleep(0.02)
        if not over:
            run.kill()
        said = run.communicate()[0]
    assert over, "it did not end"
    assert run.returncode == 5, (run.returncode, said)
    return spent - begin, json.loads(result.read_text(encoding="utf-8"))


def main():
    mrc = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "job.toml").write_text(SCENARIO, encoding="utf-8")
        for after in (6, 8):  # a step takes one or two, and the ideal run before
            took, result = stop(mrc, folder, after)
            steps = result["jobs"][0]["steps"]
            print(f"SIGINT after {after} s of processor time: {took:.2f} s until the end, {len(steps)} steps kept")
            assert not result["complete"]
            assert steps, "no step was kept"
            assert took <= 1, took
    return 0


if __name__ == "__main__":
    sys.exit(main())
