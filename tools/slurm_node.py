#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: slurm_node.py start|stop|slurmd DIR

A Slurm of one node, this machine, on loopback: for CI, and for trying mrc regress --engine slurm. As root, with Debian's
slurm-wlm. Everything of it is in DIR. start prints the line that tells sbatch and squeue about it:

    eval "$(tools/slurm_node.py start /tmp/slurm)"
    mrc regress smoke --engine slurm
    tools/slurm_node.py stop /tmp/slurm

slurmd starts the daemon of the node anew, after it was killed."""
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import rtl

CONF = rtl.ROOT / "tools/regression/slurm.conf"


def run(*words, **more):
    return subprocess.run([*map(str, words)], capture_output=True, text=True, check=False, timeout=60, **more)


def munge(folder):
    """Someone must vouch for who asks; one that runs already will do."""
    if run("munge", "-n").returncode == 0:
        return
    for place in ("/run/munge", "/var/log/munge", "/var/lib/munge", "/etc/munge"):
        Path(place).mkdir(exist_ok=True)
        shutil.chown(place, "munge", "munge")
    Path("/run/munge").chmod(0o755)
    done = run("runuser", "-u", "munge", "--", "munged")
    until(lambda: run("munge", "-n").returncode == 0, f"munged does not start: {done.stderr.strip()}")
    until(Path("/run/munge/munged.pid").exists, "munged has no file of its process")
    shutil.copy("/run/munge/munged.pid", folder / "munged.pid")  # ours, so ours to end


def until(what, sentence, seconds=30):
    end = time.monotonic() + seconds
    while not what():
        if time.monotonic() > end:
            rtl.fail(f"{sentence}.", "Look at the *.log files in its folder, and below /var/log/munge.")
        time.sleep(0.2)


def daemon(name, conf):
    done = run(name, "-f", conf)
    if done.returncode != 0:
        rtl.fail(f"{name} does not start: {done.stderr.strip()[:200]}.", f"Look at the *.log files in {conf.parent}.")


def idle(conf):
    done = run("sinfo", "-h", "-o", "%T", env=os.environ | {"SLURM_CONF": str(conf)})
    return done.stdout.strip() in ("idle", "mixed", "allocated")


def start(folder, conf):
    for tool in ("munged", "slurmctld", "slurmd", "sbatch"):
        if not shutil.which(tool):
            rtl.fail(f"{tool} is not installed.", "Install it: apt-get install slurm-wlm.")
    if os.geteuid() != 0:
        rtl.fail("a Slurm of one's own needs root.", "Call it as root, or use the Slurm of your site.")
    for part in ("state", "spool"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
    text = CONF.read_text().replace("@HOST@", socket.gethostname().partition(".")[0]).replace("@STATE@", str(folder))
    conf.write_text(text.replace("@CPUS@", str(os.cpu_count())).replace("@MEMORY@", str(memory * 9 // 10)))
    munge(folder)
    daemon("slurmctld", conf)
    daemon("slurmd", conf)
    until(lambda: idle(conf), "the node does not come up")
    print(f"export SLURM_CONF={conf}")


def stop(folder):
    for name in ("slurmd", "ctld", "munged"):
        try:
            number = int((folder / f"{name}.pid").read_text())
            os.kill(number, signal.SIGTERM)
            until(lambda: not Path(f"/proc/{number}").exists(), f"{name} does not end", 20)  # noqa: B023
        except (OSError, ValueError):
            pass


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("start", "stop", "slurmd"):
        rtl.fail("that is no call of slurm_node.py.", __doc__.splitlines()[0])
    folder = Path(sys.argv[2]).absolute()
    conf = folder / "slurm.conf"
    if sys.argv[1] == "start":
        start(folder, conf)
    elif sys.argv[1] == "stop":
        stop(folder)
    else:
        daemon("slurmd", conf)


if __name__ == "__main__":
    rtl.command("slurm_node.py", main)
