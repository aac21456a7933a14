#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: cover.py MRC

Coverage of regressions: runs say what they showed, sums are those of all runs once, holes are told with what may fill them,
and --close goes on where it stopped, near what showed the surroundings of a hole."""
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

MRC = sys.argv[1]
ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))
from regression import close, cover  # noqa: E402

PLAN = """[[job]]
kind = "lockstep"
levels = ["L2"]
duts = ["fast"]
scenarios = ["clean", "loss"]
packets = 200
seeds = 4
range = 3
"""
CASE = {"level": "L2", "preset": "tiny", "scenario": "loss", "dut": "fast", "packets": 9}


def regress(folder, *words, code=0):
    done = subprocess.run([ROOT / "tools/regress.py", *map(str, words)], cwd=folder, text=True, capture_output=True,
                          check=False, timeout=120, env=os.environ | {"MRC_EXE": MRC, "MRC_ROOT": str(ROOT)})
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def text_of(table, names):
    digits = [0] * ((len(table.names) + 3) // 4)
    for name in names:
        digits[table.number[name] // 4] |= 1 << table.number[name] % 4
    return f"{table.digest}:" + "".join(f"{digit:x}" for digit in digits)


def tables():
    """What is worked out by hand, of made-up runs."""
    table = cover.Table()
    names = ["window.near.plain.whole", "rule.wire.icrc", table.names[-1]]
    assert [table.names[bin] for bin in table.read(text_of(table, names))] == sorted(names, key=table.number.get)
    assert table.read("00000000:" + "0" * 200) is None and table.read(f"{table.digest}:0") is None
    assert set(table.near("nack.sent.trimmed")) >= {"nack.got.trimmed", "nack.sent.lasthop"}
    assert "nack.got.lasthop" not in table.near("nack.sent.trimmed")
    assert table.split("stream.rx_lane.desc.moved") == ["rx_lane.desc", "moved"]
    counts = cover.Counts(table)
    hit = "window.near.wraps.whole"
    for seed, shown in enumerate([["window.near.plain.whole"], ["window.near.plain.whole", hit],
                                  ["status.ok", "window.far.plain.whole"]]):
        counts.add(CASE | ({"scenario": "clean"} if seed == 2 else {}), {"seed": seed, "bins": text_of(table, shown)})
    counts.add(CASE, {"seed": 9})  # of a run that failed
    counts.add(CASE, {"seed": 9, "bins": "12345678:00"})
    assert (counts.runs, counts.others, counts.of("window.near.plain.whole"), counts.of(hit)) == (3, 1, 2, 1)
    holes = counts.holes()
    assert hit in holes and "window.near.plain.whole" not in holes and not set(holes) & set(table.without)
    assert counts.likely(hit) == "loss at L2, tiny, fast", counts.likely(hit)
    assert counts.likely("status.flushed") == "clean at L2, tiny, fast"
    assert counts.likely("nscc.plain.low.grows") == ""
    jobs = close.choose(counts, random.Random(1), 2000)
    towards = {case["scenario"] for case, _, hole in jobs if hole}
    assert {"random:loss", "random:clean", "random:loss+clean", "random:clean+loss"} == towards, towards
    assert {case["scenario"] for case, _, hole in jobs if not hole} == {"random"}
    assert len({seed for _, seed, _ in jobs}) == 2000 and {hole for _, _, hole in jobs if hole} <= set(holes)
    # A hole that was tried for in vain comes less often; the run of a scenario near another one is a parent itself.
    often = [hole for _, _, hole in close.choose(counts, random.Random(1), 2000, [hit] * 500)]
    assert often.count(hit) < [hole for _, _, hole in jobs].count(hit)
    # What nobody has shown is sought where bins.yaml knows it, if the plan has that preset; and then near that run.
    rare = "ev.skip2-denied"
    known = CASE | {"level": "L0", "scenario": "random"}
    assert close.aimed(counts, rare, [CASE, known])["scenario"].startswith("random:bad-ev+skip_mode=1")
    assert close.aimed(counts, rare, [CASE, known | {"preset": "asic800"}]) is None
    assert counts.likely(rare).startswith("random:bad-ev+skip_mode=1") and counts.likely(rare).endswith(" at tiny")
    counts.add(CASE | {"scenario": "random:bad-ev"}, {"seed": 11, "bins": text_of(table, [rare])})
    assert close.aimed(counts, rare, [known]) is None
    parents = close.candidates(counts)
    assert close.near(counts, rare, random.Random(1), parents, parents)["scenario"] == "random:bad-ev/11"
    names = {"loss": "loss", "random": "5", "random:loss": "loss/5", "random:7+loss": "7+loss/5", "a.toml": "",
             "random:1/2/3/4/5/6/7": ""}
    for scenario, name in names.items():
        assert close.parent({"seed": 5}, {"scenario": scenario}) == name, scenario


def towards(folder):
    """What bins.yaml knows towards rare bins are scenarios, with keys that there are."""
    known = sorted({near.partition(" at ")[0] for near in cover.Table().towards.values()})
    assert len(known) > 10
    for near in known:
        done = subprocess.run([MRC, "cosim", "--preset", "tiny", "--scenario", f"random:{near}", "--packets", "50"], cwd=folder,
                              text=True, capture_output=True, check=False, timeout=60, env=os.environ | {"MRC_ROOT": str(ROOT)})
        assert done.returncode == 0, (near, done.stdout, done.stderr)


def closes(folder):
    (folder / "plan.toml").write_text(PLAN)
    (folder / "none.toml").write_text("coverage = false\n\n" + PLAN)
    regress(folder, "none.toml", "--out", "none", "--json", "none.json")
    none = json.loads((folder / "none.json").read_text())["coverage"]
    assert none["bins"] is None and "coverage = false" in none["reason"], none
    regress(folder, "coverage", "none", code=5)
    regress(folder, "plan.toml", "--out", "one", "--json", "one.json")
    one = json.loads((folder / "one.json").read_text())["coverage"]
    assert one["runs"] == 8 and 0 < one["bins"] < 1 and len(one["holes"]) == one["all"] - one["reached"]
    assert one["against"] == [] and one["lines"] is None and one["reason"]
    assert sum(group["reached"] for group in one["groups"]) == one["reached"]
    (folder / "one/lines.json").write_text(json.dumps({"RTL": {"percent": 97.5}, "assertions": {"percent": 99}}))
    regress(folder, "plan.toml", "--out", "one", "--close", "4", "--json", "more.json")
    more = json.loads((folder / "more.json").read_text())
    # Some scenarios are none that this device can play; they show nothing.
    assert more["runs"] == 8 and more["close"]["runs"] == 4 and not more["close"]["failed"], more["close"]
    assert more["coverage"]["runs"] == 8 + more["close"]["passed"] > 8, more["close"]
    assert more["coverage"]["reached"] >= one["reached"] and more["coverage"]["lines"] == 0.975
    assert more["coverage"]["assertions"] == 0.99 and one["assertions"] is None
    before = (folder / "one/close-000/plan.json").read_bytes()
    regress(folder, "plan.toml", "--out", "one", "--close", "4", "--json", "again.json")
    again = json.loads((folder / "again.json").read_text())
    assert again["coverage"] == more["coverage"] and (folder / "one/close-000/plan.json").read_bytes() == before
    # Two machines: counts add up.
    said = regress(folder, "coverage", "one", "one", "--json", "two.json", "--check", "100", code=1)
    two = json.loads((folder / "two.json").read_text())
    assert two["runs"] == 2 * more["coverage"]["runs"] and two["reached"] >= more["coverage"]["reached"] and "hole" in said
    with subprocess.Popen([ROOT / "tools/regress.py", "coverage", "one"], cwd=folder, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=os.environ | {"MRC_EXE": MRC, "MRC_ROOT": str(ROOT)}) as reader:
        reader.stdout.close()
        assert reader.stderr.read() == ""
    said = regress(folder, "plan.toml", "--out", "one", "--close", "2", "--engine", "slurm", code=3)
    assert "--close is for --engine local" in said, said


def main():
    tables()
    with tempfile.TemporaryDirectory() as name:
        towards(Path(name))
        closes(Path(name))
    print("passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
