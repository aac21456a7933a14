# SPDX-License-Identifier: Apache-2.0
"""What tests of pictures share: a run of mrc, what it must have said, and traces, which protoc reads by perfetto.proto
alone. The test that imports it has mrc as its first argument."""
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
MRC = sys.argv[1]
FAILED = []


def check(what, good):
    if not good:
        print("FAILED:", what)
        FAILED.append(what)


def mrc(*arguments, code=0):
    done = subprocess.run([MRC, *map(str, arguments)], text=True, capture_output=True, check=False, timeout=120)
    check(f"{arguments} ends with {done.returncode}: {done.stderr}", done.returncode == code)
    return done.stdout


def read_block(lines):
    """A message of protoc's text: key -> list of values."""
    message = defaultdict(list)
    for line in lines:
        line = line.strip()
        if line == "}":
            break
        if line.endswith("{"):
            message[line[:-2]].append(read_block(lines))
        else:
            key, value = line.split(": ", 1)
            message[key].append(value)
    return message


def value(message, key, default=None):
    return message[key][0] if key in message else default


def name(message):
    return value(message, "name", '""')[1:-1]


class Trace:
    def __init__(self, path):
        text = subprocess.run(["protoc", "--decode=perfetto.protos.Trace", f"-I{HERE}", "perfetto.proto"],
                              stdin=path.open("rb"), capture_output=True, check=True).stdout.decode()
        # Fields that the reader does not know would stand there as numbers.
        self.packets = read_block(iter(text.splitlines()))["packet"]
        self.tracks, self.counters = {}, set()
        self.events = []
        for packet in self.packets:
            check("only fields that the reader knows", not any(key.isdigit() for key in packet))
            for track in packet["track_descriptor"]:
                check("a track is there once", value(track, "uuid") not in self.tracks)
                self.tracks[value(track, "uuid")] = (name(track), value(track, "parent_uuid"))
                if "counter" in track:
                    self.counters.add(value(track, "uuid"))
            for event in packet["track_event"]:
                check("only fields that the reader knows", not any(key.isdigit() for key in event))
                self.events.append((int(value(packet, "timestamp")), event))

    def where(self, event):
        """Device and name of the track."""
        own, parent = self.tracks[value(event, "track_uuid")]
        return self.tracks[parent][0], own

    def slices(self):
        """(device, track, name, begin, end, event) of all slices; holds that they do not overlap on their track."""
        open_, found = {}, []
        for time, event in self.events:
            kind, track = value(event, "type"), value(event, "track_uuid")
            if kind == "TYPE_SLICE_BEGIN":
                check("one slice at a time on a track", track not in open_)
                open_[track] = (time, event)
            elif kind == "TYPE_SLICE_END":
                begin, opened = open_.pop(track)
                check("a slice lasts", time > begin)
                found.append((*self.where(opened), name(opened), begin, time, opened))
        check("every slice ends", not open_)
        return found


def says(event, key):
    for note in event["debug_annotations"]:
        if name(note) == key:
            return value(note, "int_value") or value(note, "string_value", "")[1:-1]
    return None


def flows(trace):
    """flow id -> events in the order of time, with whether the flow ends there."""
    found = defaultdict(list)
    for time, event in trace.events:
        for key in ("flow_ids", "terminating_flow_ids"):
            for flow in event[key]:
                found[flow].append((time, key == "terminating_flow_ids", name(event), trace.where(event)))
    return found
