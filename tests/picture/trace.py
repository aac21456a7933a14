#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: trace.py MRC

Reads traces with protoc, which knows the format from tests/picture/perfetto.proto alone, and holds them against what
'mrc log print' and the run's own counters say."""
import json
import shutil
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

sys.dont_write_bytecode = True  # the folder of the sources stays as it is

from trace_reader import FAILED, Trace, check, flows, mrc, says, value  # noqa: E402


def against_log(trace, log):
    """Every frame of the log is a slice of its port, with its length, begin and end."""
    records = [json.loads(line) for line in mrc("log", "print", "--json", log).splitlines()]
    names = {r["device"]: r["name"] for r in records if r["kind"] == "device"}
    want = Counter((names[r["device"]], f"port {r['plane']} {'sends' if r['sent'] else 'receives'}", r["time"] // 1000,
                    max(r["last"] // 1000, r["time"] // 1000 + 1), str(r["length"]))
                   for r in records if r["kind"] == "frame")
    slices = trace.slices()
    got = Counter((device, track, begin, end, says(event, "bytes"))
                  for device, track, _, begin, end, event in slices if track.startswith("port "))
    check("frames of the log are slices", want == got and want)
    posts = Counter((names[r["device"]], f"0x{r['wr_id']:x}") for r in records if r["kind"] == "post")
    check("work requests of the log are slices",
          posts == Counter((device, says(event, "wr_id")) for device, track, *_, event in slices
                           if track.endswith("work requests")) and posts)
    return records, slices


def lossy(folder):
    log, told = folder / "run.mrclog", folder / "run.pftrace"
    result = folder / "run.json"
    mrc("cosim", "--preset", "tiny", "--dut", "model", "--packets", 300, "--scenario", "loss", "--record", log, "--trace",
        told, "--json", result)
    trace = Trace(told)
    _, slices = against_log(trace, log)
    run = json.loads(result.read_text())
    lost = sum(s[2].endswith(" lost") for s in slices)
    told_lost = run["device"]["link"]["lost"] + run["peer"]["link"]["lost"]
    check(f"{lost} slices are lost, {told_lost} frames were", 0 < lost <= told_lost)
    sent_again = sum("again" in s[2] for s in slices if s[1].endswith("sends"))
    check("retransmissions", sent_again == run["device"]["sent"]["rtx"] + run["peer"]["sent"]["rtx"] and sent_again)
    data = defaultdict(list)
    for flow, events in flows(trace).items():
        if int(flow) >> 63 == 0:  # the others are of work requests
            data[flow] = events
    whole = again_and_whole = 0
    for events in data.values():
        sends = [e for e in events if e[2].startswith("WRITE PSN") and e[3][1].endswith("sends")]
        ends = [e for e in events if e[1]]
        check("a flow ends once, with a SACK", len(ends) <= 1 and all(e[2].startswith("SACK") for e in ends))
        if ends and sends:
            whole += 1
            again_and_whole += len(sends) > 1
            check("the SACK comes behind what it acknowledges", sends[0][0] < ends[0][0])
    check(f"flows from data to SACK: {whole} of {len(data)}, {again_and_whole} with a retransmission",
          whole > 0.5 * len(data) and again_and_whole > 0)
    completions = [e for events in flows(trace).values() for e in events if e[2] == "completion"]
    check("flows to completions", len(completions) == run["messages"])
    flight = defaultdict(list)
    for _, event in trace.events:
        if value(event, "type") == "TYPE_COUNTER":
            check("a counter counts on its track", value(event, "track_uuid") in trace.counters)
            flight[trace.where(event)].append(int(value(event, "counter_value")))
    in_flight = {key: values for key, values in flight.items() if key[1].endswith("packets in flight")}
    check("packets in flight", len(in_flight) == 8 and all(max(v) > 0 and min(v) >= 0 for v in in_flight.values()))
    check("windows", any(key[1].startswith("cwnd") for key in flight))


def others(folder):
    """The fabric, and NICs known by their calls."""
    log, told = folder / "fabric.mrclog", folder / "fabric.pftrace"
    mrc("fabric", "--scenario", "small", "--record", log, "--trace", told)
    again = folder / "again.pftrace"
    mrc("replay", log, "--trace", again)
    check("the run and its log give one trace", told.read_bytes() == again.read_bytes())
    trace = Trace(told)
    _, slices = against_log(trace, log)
    check("eight NICs", {s[0] for s in slices} == {f"nic{i}" for i in range(8)})
    log, told = folder / "l2.mrclog", folder / "l2.pftrace"
    mrc("cosim", "--level", "L2", "--preset", "tiny", "--dut", "fast", "--packets", 100, "--scenario", "clean", "--record",
        log, "--trace", told)
    against_log(Trace(told), log)


def main():
    if shutil.which("protoc") is None:
        print("protoc is missing: apt-get install protobuf-compiler")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        lossy(Path(folder))
        others(Path(folder))
    return len(FAILED) > 0


if __name__ == "__main__":
    sys.exit(main())
