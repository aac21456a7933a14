#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: run.py MRC

mrc regress: what comes out is told as it is, whatever ends it: SIGKILL, a process that crashes, a full disk. No item runs
twice, none is lost, no mismatch is tried again."""
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MRC = sys.argv[1]
ROOT = Path(__file__).resolve().parents[3]
REGRESS = str(ROOT / "tools/regress.py")

GOOD = """[[job]]
kind = "lockstep"
levels = ["L2"]
duts = ["fast"]
scenarios = ["clean", "mixed"]
packets = 300
seeds = 12
range = 6
"""
WRONG = """[[job]]
kind = "lockstep"
levels = ["L2"]
duts = ["fast"]
scenarios = ["clean"]
variant = "icrc-wrong"
packets = 300
seeds = 6
range = 4
"""


def regress(folder, *words, exe=MRC, **more):
    """Exit code and JSON of one start."""
    out = folder / "result.json"
    out.unlink(missing_ok=True)
    done = subprocess.run([REGRESS, *map(str, words), "--json", str(out)], cwd=folder, text=True, check=False, timeout=120,
                          capture_output=True, env=os.environ | {"MRC_EXE": str(exe), "MRC_ROOT": str(ROOT)}, **more)
    assert out.exists(), done.stdout + done.stderr
    return done.returncode, json.loads(out.read_text())


def lines(folder, out):
    """Every result of every range, as (range, item)."""
    return [(file.stem, row.get("item", str(row.get("seed")))) for file, row in rows(folder, out)]


def rows(folder, out):
    """Every result of every range with its file; each stands behind a line of versions."""
    found = []
    for file in sorted((folder / out / "ranges").glob("*.jsonl")):
        whole = [json.loads(line) for line in file.read_text().splitlines()]
        assert not whole or list(whole[0]) == ["versions"], whole[0]
        found += [(file, row) for row in whole if list(row) != ["versions"]]
    return found


def wrapper(folder, text):
    """A command in the place of mrc. $N is the number of the call, from 1 on."""
    path = folder / "wrapper.sh"
    path.write_text(f"#!/bin/bash\n[ $1 = --version ] && exec '{MRC}' --version\necho >>'{folder}/calls'\nN=$(wc -l <'{folder}/calls')\n{text}\nexec '{MRC}' \"$@\"\n")
    path.chmod(0o755)
    (folder / "calls").unlink(missing_ok=True)
    return path


def passes(folder):
    plan = folder / "good.toml"
    plan.write_text(GOOD)
    code, result = regress(folder, plan, "-j2", "--out", "good")
    assert code == 0 and result["runs"] == result["passed"] == 24 and result["failed"] == 0, result
    assert result["infrastructure"] == result["resumed"] == 0 and result["coverage"]["bins"] > 0, result
    code, result = regress(folder, plan, "--out", "good")
    assert code == 0 and result["runs"] == result["resumed"] == 24, result
    assert len(lines(folder, "good")) == 24
    code, result = regress(folder, plan, "-j1", "--out", "one")  # the same with one process
    texts = [[{key: row[key] for key in ("seed", "result", "packets", "signature", "bins")}
              for _, row in rows(folder, out)] for out in ("good", "one")]
    assert texts[0] == texts[1]


def says_what_made_it(folder):
    """Each result its build, also when another build goes on; the seeds; where the time went."""
    plan = folder / "good.toml"
    said = subprocess.run([MRC, "--version"], capture_output=True, text=True, check=True).stdout
    known = dict(line.split(" ", 1) for line in said.splitlines())
    file = sorted((folder / "good/ranges").glob("*.jsonl"))[0]
    whole = file.read_text().splitlines(keepends=True)
    older = json.loads(whole[0])["versions"] | {"commit": "0123456789ab", "changed": True}
    file.write_text("".join([json.dumps({"versions": older}) + "\n", *whole[1:-2]]))  # two runs are missing
    code, result = regress(folder, plan, "-j1", "--out", "good")
    assert code == 0 and result["runs"] == 24, result
    first, second = result["builds"]
    assert first["mrcnic"] == known["mrcnic"] and known["commit"].startswith(first["commit"]), (first, known)
    assert first["compiler"] == known["compiler"] and first["verilator"] == known["verilator"] and first["runs"] == 20, first
    assert second == older | {"runs": 4} and result["versions"]["commit"] == first["commit"], result
    assert result["seeds"] == {"lockstep": "1-12"}, result["seeds"]
    base = sqlite3.connect(folder / "good/results.sqlite")
    assert base.execute("select count(*) from run join build using (build)").fetchone() == (24,)
    assert base.execute("select sum(items), count(distinct host) from process").fetchone() == (26, 1)  # two were made again
    base.close()
    spent = result["time"]
    assert [one["kind"] for one in spent["kinds"]] == ["lockstep"] and spent["kinds"][0]["runs"] == 24, spent
    assert len(spent["starts"]) == 3 and len(spent["longest"]) == 10, spent
    for start in spent["starts"]:
        assert 0 <= start["at_the_end"] <= start["idle"] + 0.01 <= start["seconds"] + 0.02, start
    begin, most = spent["longest"][-1]["seconds"], spent["longest"][0]["seconds"]
    assert begin <= most and round(most, 3) == spent["kinds"][0]["longest"], spent
    told = subprocess.run([REGRESS, "time", "good", "--json", "time.json"], cwd=folder, capture_output=True, text=True,
                          check=False, env=os.environ | {"MRC_EXE": MRC})
    assert told.returncode == 0 and "idle" in told.stdout and spent["longest"][0]["repro"] in told.stdout, told
    assert json.loads((folder / "time.json").read_text())["kinds"] == spent["kinds"]
    none = subprocess.run([REGRESS, "time", "."], cwd=folder, capture_output=True, text=True, check=False)
    assert none.returncode == 3 and "has no record of where its time went" in none.stderr, none


def groups_failures(folder):
    plan = folder / "wrong.toml"
    plan.write_text(WRONG)
    code, result = regress(folder, plan, "-j2", "--out", "wrong")
    assert code == 1 and result["failed"] == 6 and result["retries"] == 0, result
    assert [row["signature"] for row in result["failures"]] == ["wire.icrc"], result
    words = result["failures"][0]["repro"].split()
    again = subprocess.run([MRC, *words[1:]], cwd=folder, capture_output=True, text=True, check=False, timeout=60,
                           env=os.environ | {"MRC_ROOT": str(ROOT)})
    assert again.returncode == 1 and "wire.icrc" in again.stdout, again.stdout
    base = sqlite3.connect(folder / "wrong/results.sqlite")
    assert base.execute("select count(*), count(distinct item) from run where result = 'fail'").fetchone() == (6, 6)
    base.close()


def goes_on_after_sigkill(folder):
    plan = folder / "killed.toml"
    plan.write_text(GOOD.replace("packets = 300", "packets = 3000"))
    child = subprocess.Popen([REGRESS, str(plan), "-j2", "--out", "killed"], cwd=folder, stdout=subprocess.DEVNULL,
                             env=os.environ | {"MRC_EXE": MRC, "MRC_ROOT": str(ROOT)})
    until = time.monotonic() + 60
    while len(lines(folder, "killed")) < 3 and time.monotonic() < until:
        time.sleep(0.02)
    child.send_signal(signal.SIGKILL)
    child.wait()
    before = len(lines(folder, "killed"))
    assert 3 <= before < 24, before
    code, result = regress(folder, plan, "-j2", "--out", "killed")
    found = lines(folder, "killed")
    assert code == 0 and result["runs"] == 24 and result["resumed"] >= before, result
    assert len(found) == len(set(found)) == 24, found


def half_a_line(folder):
    file = sorted((folder / "good/ranges").glob("*.jsonl"))[0]
    text = file.read_text()
    file.write_text(text[:-40])
    code, result = regress(folder, folder / "good.toml", "--out", "good")
    assert code == 0 and result["resumed"] == 23 and result["runs"] == 24, result
    assert len(set(lines(folder, "good"))) == len(lines(folder, "good")) == 24


def machine_fails(folder):
    plan = folder / "good.toml"
    code, result = regress(folder, plan, "-j1", "--out", "machine", exe=wrapper(folder, '[ $N = 2 ] && kill -9 $$'))
    assert code == 0 and result["runs"] == 24 and result["retries"] == 1 and result["infrastructure"] == 0, result
    missing = wrapper(folder, 'echo "libsomething.so is missing" >&2; exit 3')
    code, result = regress(folder, plan, "-j1", "--out", "missing", exe=missing)
    assert code == 3 and result["runs"] == 0 and result["infrastructure"] == 24 and result["failed"] == 0, result
    assert len((folder / "calls").read_text().splitlines()) == 12  # four ranges, three attempts each
    code, result = regress(folder, plan, "-j2", "--out", "missing")
    assert code == 0 and result["runs"] == 24 and result["infrastructure"] == 0, result


def process_crashes(folder):
    crash = wrapper(folder, '[ $N = 2 ] && kill -SEGV $$')
    code, result = regress(folder, folder / "good.toml", "-j1", "--out", "crash", exe=crash)
    assert code == 1 and result["failed"] == 1 and result["passed"] == 23 and result["retries"] == 0, result
    failure = result["failures"][0]
    assert failure["signature"] == "crash SIGSEGV" and failure["repro"].endswith("--seed 1"), failure
    assert "--scenario mixed" in failure["repro"], failure  # cases take turns


def disk_is_full(folder):
    full = wrapper(folder, '[ $N = 1 ] && ulimit -f 1')  # files of at most 1 KiB: some lines, then no more
    code, result = regress(folder, folder / "good.toml", "-j1", "--out", "full", exe=full)
    assert code == 0 and result["runs"] == 24 and result["failed"] == 0 and result["retries"] == 1, result
    assert len(lines(folder, "full")) == len(set(lines(folder, "full"))) == 24


def main():
    with tempfile.TemporaryDirectory() as name:
        for test in (passes, says_what_made_it, groups_failures, goes_on_after_sigkill, half_a_line, machine_fails, process_crashes,
                     disk_is_full):
            begin = time.monotonic()
            test(Path(name))
            print(f"{test.__name__}: {time.monotonic() - begin:.1f} s")


if __name__ == "__main__":
    main()
