#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: failure.py MRC

What a failure leaves for eyes: of lockstep a page, a trace, text for Konata and a capture with a comment; of the judge
a page per finding."""
import html.parser
import json
import re
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

sys.dont_write_bytecode = True  # the folder of the sources stays as it is

import trace_reader  # noqa: E402
from trace_reader import FAILED, check, mrc  # noqa: E402


class Page(html.parser.HTMLParser):
    """Words, links and headings of a page; holds that its elements are closed in order and that it needs nothing."""

    def __init__(self, path):
        super().__init__()
        self.open, self.links, self.headings, self.words, self.path = [], [], [], "", path
        text = path.read_text()
        self.feed(text)
        check(f"{path.name}: every element is closed", not self.open)
        self.pictures = re.findall(r"<svg.*?</svg>", text, re.S)
        for picture in self.pictures:
            xml.etree.ElementTree.fromstring(picture)
        for link in self.links:
            check(f"{path.name}: {link} is there", (path.parent / link).is_file())

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag not in ("meta",):
            self.open.append(tag)
        check(f"{self.path.name}: nothing is loaded", not {"src", "srcset"} & set(attrs) and tag not in ("script", "link"))
        if tag == "a":
            self.links.append(attrs["href"])

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        check(f"{self.path.name}: {tag} closes what is open", self.open and self.open.pop() == tag)

    def handle_data(self, data):
        if self.open and self.open[-1] == "h2":
            self.headings.append(data)
        self.words += data


def konata(path):
    """Reads the text as docs of the format say: instruction -> label, stages with first and last cycle, how it ended."""
    lines = path.read_text().splitlines()
    check("Kanata: its first line", lines[0] == "Kanata\t0004")
    found, cycle, retired = {}, None, []
    for line in lines[1:]:
        what, *rest = line.split("\t")
        if what == "C=":
            cycle = int(rest[0])
        elif what == "C":
            check("Kanata: time goes on", int(rest[0]) > 0)
            cycle += int(rest[0])
        elif what == "I":
            check("Kanata: numbers count up", int(rest[0]) == len(found))
            found[int(rest[0])] = {"label": "", "stages": [], "end": None}
        elif what == "L":
            found[int(rest[0])]["label"] += rest[2]
        elif what == "S":
            check("Kanata: one stage at a time", all(s[2] is not None for s in found[int(rest[0])]["stages"]))
            found[int(rest[0])]["stages"].append([rest[2], cycle, None])
        elif what == "E":
            stage = found[int(rest[0])]["stages"][-1]
            check("Kanata: the stage that ends is open", stage[0] == rest[2] and stage[2] is None and cycle > stage[1])
            stage[2] = cycle
        elif what == "R":
            check("Kanata: it ends once", found[int(rest[0])]["end"] is None)
            found[int(rest[0])]["end"] = (cycle, rest[2])
            retired += [int(rest[1])] if rest[2] == "0" else []
        elif what == "W":
            check("Kanata: it waits for an older one", int(rest[1]) < int(rest[0]) and int(rest[1]) in found)
        else:
            check(f"Kanata: {line}", False)
    check("Kanata: retired in order", retired == list(range(len(retired))) or sorted(retired) == list(range(len(retired))))
    return found


def lockstep(folder):
    mrc("cosim", "--preset", "tiny", "--packets", 600, "--scenario", "loss", "--rtl-bug", "rtx-bit-missing", "--reports",
        folder / "found", code=1)
    base = folder / "found" / "tiny-loss-1-rtx-bit-missing"
    result = json.loads(base.with_suffix(".json").read_text())
    page = Page(base.with_suffix(".html"))
    for words in (result["repro"], result["divergence"]["where"], "docs/design/blocks/tx/tx_header.md", "bth/rtx"):
        check(f"the page says {words}", words in page.words)
    for heading in ("Command", "First divergence", "Packets in blocks before it", "Ports before it", "Last events", "Files"):
        check(f"the page has {heading}", heading in page.headings)
    check("three pictures", len(page.pictures) >= 3)
    check("the failure is marked in all of them", all("here something is wrong" in p for p in page.pictures))
    check("its files", sorted(Path(link).suffix for link in page.links) == [".json", ".kanata", ".pcapng", ".pftrace", ".toml"])
    cycle = result["divergence"]["cycle"]
    packets = konata(base.with_suffix(".kanata"))
    wrong = [p for p in packets.values() if p["end"] is None and p["label"].endswith(" again")]
    check("the packet that the block got wrong is in it when the run ends",
          any(stage[0] == "tx_header" and stage[2] in (None, cycle) for p in wrong for stage in p["stages"]))
    order = ["tx_segment", "tx_path", "tx_header", "tx_lane", "rx_lane", "rx_check", "rx_track"]
    for p in packets.values():
        names = [order.index(re.sub(r"\[.*", "", s[0])) for s in p["stages"] if re.sub(r"\[.*", "", s[0]) in order]
        check(f"blocks in their order: {p}", names == sorted(names))
    whole = [p for p in packets.values() if [s[0][:7] for s in p["stages"]] == ["tx_path", "tx_head", "tx_lane"] and p["end"]]
    check(f"{len(whole)} packets from tx_path to the port", len(whole) > 20)
    came = [p for p in packets.values() if p["label"].startswith("receives") and p["stages"][-1][0] == "rx_track" and p["end"]]
    check(f"{len(came)} packets from the port to rx_track", len(came) > 3)
    check("a comment on the frame", f"before cycle {cycle}: block tx_header differs at tx_header.hdr".encode() in
          base.with_suffix(".pcapng").read_bytes())


def blocks_of_a_run(folder):
    """Of a run that passes, a trace has the way of every packet through the blocks."""
    told = folder / "run.pftrace"
    mrc("cosim", "--preset", "tiny", "--dut", "model", "--packets", 300, "--scenario", "loss", "--trace", told, "--json",
        folder / "run.json")
    trace = trace_reader.Trace(told)
    slices = trace.slices()
    sent = json.loads((folder / "run.json").read_text())["device"]["sent"]
    for block in ("tx_path", "tx_header"):
        data = [s for s in slices if s[1] == f"block {block}" and "WRITE" in s[2]]
        check(f"{block}: {len(data)} packets, {sent}", len(data) == sent["data"] + sent["rtx"])
    lanes = [s for s in slices if s[1].startswith("block tx_lane") and "WRITE" in s[2]]
    ports = [s for s in slices if s[0] == "dut" and s[1].endswith("sends") and s[2].startswith("WRITE")]
    check("a lane has a packet until its last byte is out", sorted(s[4] for s in lanes) == sorted(s[4] for s in ports))
    tied = sum(any(name.endswith("sends") for *_, (_, name) in events) for flow, events in trace_reader.flows(trace).items()
               if any(name.startswith("block tx_path") for *_, (_, name) in events))
    check(f"{tied} flows lead through blocks to ports", tied > 50)


def judge(folder):
    """A page per rule and device; the pages' links, and the trace of the log."""
    log, result = folder / "bad.mrclog", folder / "bad.json"
    said = mrc("cosim", "--level", "L2", "--preset", "tiny", "--dut", "model", "--scenario", "loss", "--packets", 300,
               "--variant", "sack-ahead", "--record", log, code=1)
    check("the run says how to look at it", f"mrc check {log} --pages" in said)
    mrc("check", log, "--pages", folder / "pages", "--json", result, code=1)
    findings = json.loads(result.read_text())["findings"]
    rules = {f["rule"] for f in findings}
    check(f"rules {rules}", "resp.cack-arrived" in rules and len(rules) > 1)
    index = Page(folder / "pages" / "index.html")
    check("a page for each rule", {Path(link).name for link in index.links} == {f"0-{rule}.html" for rule in rules})
    for rule in rules:
        page = Page(folder / "pages" / f"0-{rule}.html")
        first = next(f for f in findings if f["rule"] == rule)
        for words in (str(log), "Source: ", first["came"], first["right"]):
            check(f"{rule}: the page says {words}", words in page.words)
        for heading in ("Command", "Rule", "What is wrong", "Last events of the queue pair", "Pictures around it", "Files"):
            check(f"{rule}: the page has {heading}", heading in page.headings)
        check(f"{rule}: pictures with the time marked", len(page.pictures) >= 2 and
              any("here something is wrong" in picture for picture in page.pictures))
        check(f"{rule}: its files", {"trace.pftrace", "device0.pcapng", "index.html"} == set(page.links))
    check("the comment on the packet", b"resp.cack-arrived" in (folder / "pages" / "device0.pcapng").read_bytes())
    good = folder / "good.mrclog"
    mrc("cosim", "--level", "L2", "--preset", "tiny", "--dut", "model", "--scenario", "clean", "--packets", 50, "--record", good)
    mrc("check", good, "--pages", folder / "none")
    check("no finding, no page", [p.name for p in (folder / "none").iterdir()] == ["index.html"])


def main():
    with tempfile.TemporaryDirectory() as folder:
        lockstep(Path(folder))
        blocks_of_a_run(Path(folder))
        judge(Path(folder))
    return len(FAILED) > 0


if __name__ == "__main__":
    sys.exit(main())
