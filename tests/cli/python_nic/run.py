#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: run.py MRC

`mrc dut-template --python` makes a NIC that says what is missing; with nic.py of this folder it plays scenarios at L1 and
L2, an error in it is named, and its shell refuses what docs/reference/device.md forbids."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

MRC, HERE = str(Path(sys.argv[1]).resolve()), Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "nic"))
import client  # noqa: E402


def mrc(*words, code=0, **environment):
    done = subprocess.run([MRC, *map(str, words)], text=True, capture_output=True, check=False, timeout=60,
                          stdin=subprocess.DEVNULL, env={**os.environ, **environment})
    assert done.returncode == code, (words, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout + done.stderr


def cosim(project, level, scenario, *more, **environment):
    said = mrc("cosim", "--level", level, "--preset", "tiny", "--dut", f"{sys.executable} {project / 'nic.py'}",
               "--scenario", scenario, "--packets", 100, *more, "--json", project / "out.json", **environment)
    return said, json.loads((project / "out.json").read_text())


def made(project):
    mrc("dut-template", project, "--python", "--name", "snake")
    assert sorted(p.name for p in project.iterdir()) == ["README.md", "nic.py", "profile.json", "shell.py"]
    assert "snake" in (project / "README.md").read_text()
    said = mrc("dut-template", project, "--python", code=3)
    assert "is not empty, and nothing is overwritten" in said, said
    said = mrc("dut-template", project / "b", "--python", "--top", "x", code=3)
    assert "--python takes no Verilog" in said and not (project / "b").exists(), said
    said = mrc("cosim", "--level", "L1", "--preset", "tiny", "--dut", f"{sys.executable} {project / 'nic.py'}", code=3)
    place = next(n for n, line in enumerate((project / "nic.py").read_text().splitlines(), 1) if "fill_in(\"facts" in line)
    assert f"fill in nic.py:{place}: facts" in said, said


def filled(project):
    shutil.copy(HERE / "nic.py", project / "nic.py")
    for level in ("L1", "L2"):
        for scenario in ("clean", "reorder"):
            _, result = cosim(project, level, scenario, "--seeds", 3)
            assert result["passed"] == 3 and result["inconclusive"] == 0, result
            for run in result["runs"]:
                assert run["data_packets"] >= 100 and run["messages_verified"] > 0, run
                assert run["shows"] == (1 if level == "L1" else 0), run["shows"]
    _, result = cosim(project, "L2", "clean", code=1, SNAKE_FAULT="cack")
    assert {f["rule"] for f in result["judge"]["findings"] if f["verdict"] == "fail"} == {"resp.cack-arrived"}, result


def lines(project):
    """Times and tags of the shell."""
    nic = client.Nic([sys.executable, str(project / "nic.py")])
    nic.open()

    def refused(words, name, **keys):
        try:
            nic.call(name, **keys)
        except client.Refused as wrong:
            assert words in str(wrong), wrong
            return
        raise AssertionError(f"{name} {keys} was taken")

    frame = bytes(1000).hex()
    refused("ends on plane 0 at 80000 ps at the earliest, not at 79999", "rx", plane=0, t=79_999, frame=frame)
    nic.call("rx", plane=0, t=80_000, frame=frame)
    refused("at 161920 ps at the earliest", "rx", plane=0, t=161_919, frame=frame)  # 24 bytes between frames
    nic.call("rx", plane=1, t=80_000, frame=frame)
    refused("there is no plane 2", "rx", plane=2, t=80_000, frame=frame)
    refused("no read has the tag 7", "host_done", tag=7, t=0, data="")
    assert nic.call("advance", until=1000) == {"ok": True, "reached": 1000, "out": []}
    refused("does not go back to 999", "advance", until=999)
    refused("has no call wonder", "wonder")
    answers = json.loads(nic.line('[{"call":"counters"},{"call":"advance","until":2000}]'))
    assert [a["ok"] for a in answers] == [True, True] and answers[1]["reached"] == 2000, answers
    refused("speaks version 1, not 2", "open", version=2)
    assert nic.end() == 0


def main():
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "snake"
        for case in (made, filled, lines):
            case(project)
            print(f"{case.__name__}: ok")


main()
