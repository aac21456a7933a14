#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: report.py MRC [--write]

mrc regress report, in headless Chromium: filters, keyboard, a failure's page in three clicks, light, dark, phone, no network.
--write makes the screenshots of docs/figures/report anew. Exit code 77: no Chromium, npm or node."""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

MRC = sys.argv[1]
ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/cli"))
import browser  # noqa: E402  # finds tools, too
from regression import store  # noqa: E402
from regression.folder import Folder  # noqa: E402

FIGURES = ROOT / "docs/figures/report"
JOB = """[[job]]
kind = "lockstep"
levels = ["L2"]
duts = ["fast"]
scenarios = ["clean", "loss"]
packets = 200
"""
GOOD = JOB + "seeds = 2\n"
BUILD = {"mrcnic": "1.0", "commit": "0123456789ab", "changed": False, "compiler": "12.2.0", "verilator": "5.006"}
WRONG = JOB + "seeds = 6\n\n" + JOB + 'seeds = 4\nvariant = "icrc-wrong"\n'


def run(folder, *words, env=None, code=0):
    done = subprocess.run([*map(str, words)], cwd=folder, text=True, capture_output=True, check=False, timeout=120,
                          env=os.environ | {"MRC_EXE": MRC, "MRC_ROOT": str(ROOT)} | (env or {}))
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def regress(folder, *words, **more):
    return run(folder, ROOT / "tools/regress.py", *words, **more)


def lockstep(scenario, **more):
    return {"level": "L0", "preset": "tiny", "scenario": scenario, "dut": "rtl", "packets": 2000, "bug": "",
            "variant": ""} | more


def sample(folder, name, ended, wrong, bins):
    """A regression that nobody ran: `wrong` says which seeds of each case fail, and how."""
    parts, rows = [], []
    for kind, case in ([("lockstep", lockstep(scenario, level=level)) for scenario in ("clean", "mixed", "loss", "random")
                        for level in ("L0", "L1", "L2")] + [("fabric", {"scenario": "small", "endpoint": ""}),
                                                            ("proofs", {"only": ["fifo"]})]):
        items = ["fifo"] if kind == "proofs" else [str(seed) for seed in range(1, 21)]
        number = len(parts)
        parts.append({"number": number, "kind": kind, "case": case, "items": items, "limit_s": 600})
        for item in items:
            bad = wrong.get((case.get("scenario"), case.get("level"), item), "")
            rows.append((number, {"item": item, "result": "fail" if bad else "pass", "signature": bad, "seconds": 0.4,
                                  "packets": 2000, "cycles": 1000 * int(item) if item.isdigit() else None,
                                  "repro": f"./mrc cosim --level {case.get('level')} --scenario {case.get('scenario')} "
                                           f"--seed {item}" if kind == "lockstep" else ""}))
    made = Folder(folder / name)
    made.freeze({"name": "nightly", "digest": name}, lambda: parts)
    for part in parts:
        begin = ended - 60 + 3 * part["number"]
        made.add(part["number"], [{"versions": BUILD}])
        made.add(part["number"], [{"begin": begin, "end": begin + 5, "host": "one", "items": 20}], "times")
    for number, row in rows:
        made.add(number, [row])
    made.add(3, [{"why": "killed by SIGKILL", "left": 4}], "tries")
    made.started(ended - 60, ended, 2)
    store.write(made)
    coverage = {"bins": bins, "lines": None, "reason": "no coverage build ran", "all": 120,
                "groups": [{"name": "window.edge", "reached": round(60 * bins), "all": 60},
                           {"name": "nack.reason", "reached": round(60 * bins), "all": 60}],
                "holes": [{"bin": "nack.reason.trimmed", "text": "a NACK with this reason", "runs": 0, "goal": 1,
                           "try": "scenario trim at L2, tiny"}]}
    (made.path / "summary.json").write_text(json.dumps({"ended": ended, "coverage": coverage,
                                                        "seeds": {"lockstep": "1-20", "fabric": "1-20"}}))


def refuses(folder):
    said = regress(folder, "report", "nowhere", code=3)
    assert "nowhere holds no results of a regression" in said, said
    (folder / "mine").mkdir()
    (folder / "mine/letter.txt").write_text("dear")
    said = regress(folder, "report", "bad", "--out", "mine", "--repeat", "0", code=3)
    assert "mine holds something else than a report" in said and (folder / "mine/letter.txt").exists(), said


def main():
    write = "--write" in sys.argv
    chromium = browser.chromium()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "good.toml").write_text(GOOD)
        (folder / "bad.toml").write_text(WRONG)
        regress(folder, "good.toml", "--out", "good")
        regress(folder, "bad.toml", "--out", "bad", code=1)
        os.utime(folder / "good/results.sqlite", (1, 1))
        data = json.loads((folder / "good/summary.json").read_text())
        (folder / "good/summary.json").write_text(json.dumps(data | {"ended": data["ended"] - 86400}))
        regress(folder, "report", "bad", "good", "--out", "report")
        refuses(folder)
        loss = {("loss", "L0", str(seed)): "rx_track.cack_psn" for seed in (3, 5, 8)}
        mixed = {("mixed", "L2", str(seed)): "wire.icrc" for seed in (2, 7)}
        for night, (wrong, bins) in enumerate([(loss | mixed, 0.6), (loss, 0.7), ({}, 0.8), (mixed, 0.85), (loss, 0.9)]):
            sample(folder, f"night{night}", 1767225600 + 86400 * night, wrong, bins)
        nights = [f"night{night}" for night in range(5)]
        regress(folder, "report", *nights, "--out", "sample", "--repeat", "0", env={"TZ": "UTC"})
        FIGURES.mkdir(exist_ok=True)
        print(run(folder, "node", ROOT / "tests/cli/regress/report.mjs", *chromium, folder / "report", folder / "sample", FIGURES, "write" if write else "compare"))
    print("passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
