#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: pictures.py MRC WRITE_LITTLE FOLDER [--update]

FOLDER holds what mrc picture draws of the log that WRITE_LITTLE writes. Every picture of that and of a run is XML that
stands alone, has a title and axes with units, and stays within its frame. --update writes down what mrc draws now, for
a reader to look at."""
import json
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

sys.dont_write_bytecode = True  # the folder of the sources stays as it is

from trace_reader import FAILED, check, mrc  # noqa: E402

LITTLE, GOLDEN = sys.argv[2], Path(sys.argv[3])
SVG = "{http://www.w3.org/2000/svg}"


def marks(path):
    """Marks of a picture by their class and element, without those of its legend."""
    count = {}
    for element in xml.etree.ElementTree.parse(path).iter():
        kind = element.tag.removeprefix(SVG)
        if element.find(f"{SVG}title") is not None and kind != "svg":
            key = f"{kind} {element.get('class')}"
            count[key] = count.get(key, 0) + 1
    return count


def stands_alone(path):
    text = path.read_text()
    root = xml.etree.ElementTree.fromstring(text)
    check(f"{path.name}: a title", (root.findtext(f"{SVG}title") or "").strip() != "")
    labels = [element.text for element in root.iter(f"{SVG}text")]
    check(f"{path.name}: a time axis with its unit", any("time, us" in label for label in labels))
    check(f"{path.name}: light and dark", "prefers-color-scheme:dark" in text)
    rest = text.replace("http://www.w3.org/2000/svg", "")
    check(f"{path.name}: nothing from elsewhere", not re.search(r"https?:|url\(|href|@import|<script", rest))
    _, _, width, height = map(float, root.get("viewBox").split())
    for element in root.iter():
        for key, most in (("cx", width), ("x1", width), ("x2", width), ("cy", height), ("y1", height), ("y2", height)):
            at = element.get(key)
            check(f"{path.name}: {key} {at} within the picture", at is None or -1 <= float(at) <= most + 1)


def little(folder):
    log = folder / "little.mrclog"
    subprocess.run([LITTLE, log], check=True)
    mrc("picture", log, "--out", folder / "pictures")
    drawn = sorted((folder / "pictures").glob("*.svg"))
    for path in drawn:
        stands_alone(path)
    psn, evs, ladder = (marks(folder / "pictures" / f"{name}.svg")
                        for name in ("psn-left-qp10", "evs-left-qp10", "ladder-left-qp10-abc"))
    check(f"PSNs: {psn}", psn == {"circle f plain": 4, "circle f again": 2, "path lost": 1, "polygon f trimmed": 1})
    check(f"entropy values: {evs}", evs == {"circle f plain": 2, "circle f again": 2, "path lost": 1, "polygon f marked": 1,
                                            "polygon f trimmed": 1, "rect f lost": 1})
    check(f"ladder: {ladder}", ladder.get("polygon f trimmed") == 1 and ladder.get("path lost") == 1 and
          ladder.get("line l p0 d", 0) + ladder.get("line l p1 d", 0) == 5)
    if "--update" in sys.argv:
        for old in GOLDEN.glob("*.svg"):
            old.unlink()
        for path in drawn:
            (GOLDEN / path.name).write_text(path.read_text())
    check("the pictures of the golden folder", [p.name for p in drawn] == sorted(p.name for p in GOLDEN.glob("*.svg")))
    for path in drawn:
        same = (GOLDEN / path.name).is_file() and path.read_text() == (GOLDEN / path.name).read_text()
        check(f"{path.name} is that of {GOLDEN.name} (pictures.py ... --update, when it shall change)", same)
    check("left out", not (folder / "early").exists())
    mrc("picture", log, "--out", folder / "early", "--until-ns", 15000)
    early = marks(folder / "early" / "psn-left-qp10.svg")
    check(f"until 15 us: {early}", "circle f again" not in early and early["circle f plain"] == 3)
    mrc("picture", log, "--out", folder / "none", "--from-ns", 50000, code=3)
    mrc("picture", log, "--out", folder / "none", "--device", "leftt", code=3)
    mrc("picture", log, "--out", folder / "none", "--from-ns", 5, "--until-ns", 5, code=3)


def run(folder):
    log = folder / "run.mrclog"
    mrc("cosim", "--preset", "tiny", "--dut", "model", "--packets", 400, "--scenario", "mixed", "--record", log)
    said = mrc("picture", log, "--out", folder / "run", "--most", 8)
    paths = sorted((folder / "run").glob("*.svg"))
    check("pictures of every kind", {p.name.split("-")[0] for p in paths} >= {"psn", "evs", "cwnd", "ladder"})
    for path in paths:
        stands_alone(path)
        check("it is named", str(path) in said)
    page = (folder / "run" / "index.html").read_text()
    check("the page has them all", page.count("<svg") == len(paths))


def slowest(folder):
    """The slowest flow of a fabric: each of its losses, as the run tells them, is drawn."""
    scenario, log, result = folder / "loses.toml", folder / "fabric.mrclog", folder / "fabric.json"
    events = (f'[[event]]\nwhat = "link-loss"\nlink = "nic{n}/2"\nloss = 0.2\n' for n in range(8))
    scenario.write_text('base = "small"\n' + "".join(events))
    mrc("fabric", "--scenario", scenario, "--record", log, "--json", result)
    groups = [g["slowest"] for g in json.loads(result.read_text())["traffic"] if g["slowest"]["lost"] != 0]
    check("the slowest flow of each pattern has lost something", len(groups) == 2)
    mrc("picture", log, "--out", folder / "slowest", "--most", len(groups))
    drawn = sorted((folder / "slowest").glob("losses-*.svg"))
    check("a picture of each slowest flow", {p.name.split("-")[1] for p in drawn} == {s["from"] for s in groups})
    for path in drawn:
        stands_alone(path)
    told = sum(marks(p).get("path lost", 0) for p in drawn)
    check(f"{told} losses are drawn", told == sum(s["lost"] for s in groups))
    text = "".join(p.read_text() for p in drawn)
    for s in groups:
        for loss in s["last_back"]:
            check(f"{loss} is told", f"PSN {loss['psn']}, sent at" in text and f"({loss['known_by']})" in text)


def streams(folder):
    """What the counters of streams add up to is what lockstep counts; at full rate the ports limit."""
    log, result = folder / "streams.mrclog", folder / "streams.json"
    mrc("cosim", "--preset", "tiny", "--dut", "model", "--packets", 200, "--scenario", "clean", "--record", log,
        "--record-streams", "--json", result)
    last = {}
    for line in mrc("log", "print", "--json", log).splitlines():
        record = json.loads(line)
        if record["kind"] == "counter" and record["device"] == 0 and record["name"].endswith(" moved"):
            last[record["name"]] = record["value"]
    check("streams moved as often as lockstep has events", sum(last.values()) == json.loads(result.read_text())["events"])
    mrc("picture", log, "--out", folder / "streams", "--most", 1, "--device", "dut")
    path = folder / "streams" / "streams-dut.svg"
    stands_alone(path)
    text = path.read_text()
    check("the block at which the waiting ends", "The waiting ends at tx_path" in text and "they limit then" in text)
    check("a row for each port", "port 0 sends" in text and "port 1 sends" in text)


def main():
    with tempfile.TemporaryDirectory() as folder:
        little(Path(folder))
        run(Path(folder))
        slowest(Path(folder))
        streams(Path(folder))
    return len(FAILED) > 0


if __name__ == "__main__":
    sys.exit(main())
