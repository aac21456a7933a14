#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: slurm.py MRC

mrc regress by arrays of a real Slurm of one node: 16 tasks; slurmd is killed in the middle and started again, and in the
end every run has one result, the same as on this machine without Slurm. Skipped (77) without root or Slurm."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MRC = sys.argv[1]
ROOT = Path(__file__).resolve().parents[3]
NODE = str(ROOT / "tools/slurm_node.py")
PLAN = """[[job]]
kind = "lockstep"
levels = ["L2"]
duts = ["fast"]
scenarios = ["clean", "mixed"]
packets = 300
seeds = 24
range = 3
"""


def rows(folder):
    found = []
    for file in sorted((folder / "ranges").glob("*.jsonl")):
        for row in map(json.loads, file.read_text().splitlines()):
            found.append((file.stem, row["seed"], row["result"], row["packets"], row["signature"]))
    return found


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def run(folder):
    plan = folder / "plan.toml"
    plan.write_text(PLAN)
    command = [str(ROOT / "tools/regress.py"), str(plan)]
    env = os.environ | {"MRC_EXE": MRC, "MRC_ROOT": str(ROOT), "SLURM_CONF": str(folder / "slurm/slurm.conf")}
    subprocess.run([*command, "--out", str(folder / "local")], check=True, env=env, timeout=120)
    began = subprocess.run([NODE, "start", str(folder / "slurm")], capture_output=True, text=True, check=False,
                           timeout=120)
    if began.returncode == 3:  # it says what this machine lacks
        skip(began.stderr.strip().splitlines()[0])
    assert began.returncode == 0, began.stderr
    child = subprocess.Popen([*command, "--engine", "slurm", "--out", str(folder / "array"), "--json",
                              str(folder / "result.json")], env=env)
    end = time.monotonic() + 60
    while len(rows(folder / "array")) < 6 and time.monotonic() < end:
        time.sleep(0.05)
    before = len(rows(folder / "array"))
    os.kill(int((folder / "slurm/slurmd.pid").read_text()), signal.SIGKILL)
    assert 6 <= before < 48, before
    time.sleep(2)
    subprocess.run([NODE, "slurmd", str(folder / "slurm")], check=True, timeout=60)
    assert child.wait(timeout=200) == 0
    result = json.loads((folder / "result.json").read_text())
    tasks = (folder / "array/tasks-0000").read_text().split()
    assert len(tasks) == 16, tasks
    assert result["runs"] == result["passed"] == 48 and result["infrastructure"] == 0, result
    assert sorted(rows(folder / "array")) == sorted(rows(folder / "local"))
    print(f"slurmd killed after {before} of 48 runs; {result['retries']} attempts came to nothing;"
          f" {result['seconds']:.1f} s")


def main():
    if os.geteuid() != 0:
        skip("a Slurm of one's own needs root")
    for tool in ("slurmctld", "slurmd", "sbatch", "munged"):
        if not shutil.which(tool):
            skip(f"{tool} is not installed (slurm-wlm)")
    with tempfile.TemporaryDirectory() as name:
        try:
            run(Path(name))
        finally:
            subprocess.run([NODE, "stop", str(Path(name) / "slurm")], check=False, timeout=60)


if __name__ == "__main__":
    main()
