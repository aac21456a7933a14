#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""generate.py refuses YAML that cannot be meant, and tells what is stale."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
GENERATE = HERE.parents[2] / "cmodel/spec/generate.py"
FAULTS = [  # file, text, replacement, what the message says
    ("streams.yaml", "{name: top, width: 5}", "{name: top, with: 5}", "unknown key 'with'"),
    ("streams.yaml", "{name: top, width: 5}", "{name: top, width: Foo}", "unknown constant Foo"),
    ("streams.yaml", "{name: top, width: 5}", "{name: huge, width: 5}", "field listed twice"),
    ("streams.yaml", "enum: color_e}", "enum: colour_e}", "unknown enum 'colour_e'"),
    ("protocol.yaml", "Blue: 6", "Blue: 8", "8 does not fit 3 bits"),
    ("protocol.yaml", "Blue: 6", "On: 6", "put it in quotes"),
    ("protocol.yaml", "enums:", "structs: {}\nenums:", "unknown key 'structs'"),
    ("streams.yaml", "side_e:", "color_e:", "enum color_e: is also in protocol.yaml"),
    ("streams.yaml", "  PsnW:", "  Small:", "constant Small: is also in protocol.yaml"),
    ("streams.yaml", "struct: sample_t}", "struct: example_t}", "unknown struct 'example_t'"),
    ("presets.yaml", "large: 64", "large: 65", "large = 65 is outside 1..64"),
    # 165 clocks of 322.265625 MHz are four ticks; of the small one 128 of 1 ns are one.
    ("presets.yaml", "parameters:", "model_only:\n  - {cname: clock_ps, doc: ps, small: 1000, large: 3103}\nparameters:\n"
     "  - {name: TickCycles, cname: tick_cycles, doc: t, min: 1, max: 255, small: 128, large: 165}\n"
     "  - {name: TickParts, cname: tick_parts, doc: t, min: 1, max: 255, small: 1, large: 3}",
     "large: 3 ticks of 128 ns are not 165 clocks of 3103 ps"),
    ("csr.yaml", "lsb: 4, width: 3", "lsb: 0, width: 3", "overlaps another field"),
    ("csr.yaml", "reset: 5", "reset: 9", "reset 9 does not fit 3 bits"),
    ("csr.yaml", "reset: 5", "reset: 5, max: 4", "max 4 must be the reset at least, and fit 3 bits"),
    ("csr.yaml", "offset: 0x020", "offset: 0x004, stride: 4", "address 0x10 is already CTRL"),
    ("csr.yaml", "access: ro", "access: read", "access 'read' is unknown"),
    ("bugs.yaml", "number: 8", "number: 7", "number 7 belongs to bit-missing"),
    ("bugs.yaml", "number: 8", "number: 256", "number 256 is out of range"),
    ("bugs.yaml", "preset: large", "preset: huge", "unknown preset 'huge'"),
    ("rules.yaml", "severity: fail", "severity: deviates", "severity deviates does not go with mark S; write fail"),
    ("rules.yaml", "wire.sample", "other.sample", "an id is PART.NAME"),
    ("rules.yaml", "kind: safety", "kind: safe", "kind 'safe' is none of owed, safety, statistic"),
    ("rules.yaml", "samples say\"", "samples say.\"", "the text ends without a full stop"),
    ("bins.yaml", "left.*", "up.*", "without up.*: there is no such bin"),
    ("bins.yaml", "right.wire", "right.wired", "towards right.wired.sample: there is no such bin"),
    ("bins.yaml", "loss+trim=0.1 at tiny", "loss+trim=x at tiny", "'loss+trim=x at tiny' is no NEAR at PRESET"),
    ("bins.yaml", "right.wire.sample", "left.wire.sample", "or the bin is left out"),
    ("bins.yaml", "kind: [left, right]", "kind: [left, left]", "values are a list of different words, or rules, or streams"),
    ("bins.yaml", "goal: 1", "goal: 0", "goal is a number of runs, from 1 on"),
    ("fabric_profiles.yaml", "CTRL.mode: 5", "CTRL.mood: 5", "plain: CTRL.mood is no field of csr.yaml"),
    ("fabric_profiles.yaml", "CTRL.mode: 5", "CTRL.mode: 8", "plain: CTRL.mode = 8 does not fit into 3 bits"),
    ("fabric_profiles.yaml", "control: [46]", "control: [64]", "plain: 64 is no code point, or range of them, from 0 to 63"),
    ("fabric_profiles.yaml", "data: [[4, 8]]", "data: [[4, 8, 9]]", "data is a list of 1 to 4 pairs, data and retransmission"),
    ("fabric_profiles.yaml", "11-63", "12-63", "the classes must have each code point from 0 to 63 once"),
    ("fabric_profiles.yaml", "share: 60", "share: 61", "with shares of 1 and more and 100 together at most"),
    ("fabric_profiles.yaml", ", trimmed: true", "", "one class has trimmed: true"),
    ("fabric_profiles.yaml", "      limit_kb: 30\n", "", "classes need limit_kb and ecn"),
    ("headers.yaml", "{name: rqmsn, width: 16", "{name: rqmsn, width: 15", "the fields are 31 bits, the header 32"),
    ("nic.yaml", "csr: [enable, pair]", "csr: [enabled, pair]", "block a_block: csr: there is no value 'enabled'"),
    ("nic.yaml", "csr: [enable, pair]", "csr: [enable, enable]", "block a_block: csr: 'enable' is listed twice"),
    ("nic.yaml", "cfg: [ROW]", "cfg: [RAW]", "block a_block: cfg: csr.yaml has no table 'RAW'"),
    ("nic.yaml", "{seen: SEEN}", "{seen: SEE}", "block a_block.pulses.seen: csr.yaml has no register 'SEE'"),
    ("nic.yaml", "{seen: SEEN}", "{seen: ONE}", "block a_block.pulses.seen: ONE is no counter"),
    ("nic.yaml", "{seen: SEEN}", "{seen: OWN}", "block a_block.pulses.seen: OWN counts csr.own already"),
    ("nic.yaml", "{seen: SEEN}", "{seen: COUNTER}", "COUNTER has 4 instances, the block one"),
    ("nic.yaml", "    pulses: {seen: SEEN}\n", "", "0x030 of csr.yaml is missing before OWN"),
    ("nic.yaml", "from: a_block.first", "from: a_block.last", "b_block.in.first: streams.yaml has no stream"),
    ("nic.yaml", "group: send", "group: sent", "b_block.in.first: group 'sent' is unknown"),
    ("nic.yaml", "group: line", "by: high", "a stream from the core to the lanes, and only that, needs 'by'"),
    ("nic.yaml", "      word: {from: lane.word, group: line}", "      word: {from: a_block.first}",
     "c_block.in.word: a_block.first goes to b_block already"),
    ("nic.yaml", "  in: {b_block.second: second}", "  in: {}", "nobody takes b_block.second of streams.yaml"),
    ("nic.yaml", "{busy: a_block.busy}", "{busy: a_block.idle}", "'idle' does not stand in 'drives' of 'a_block'"),
    ("nic.yaml", "{busy: a_block.busy}", "{busy: busy}", "b_block.levels.busy: 'busy' is no BLOCK.NAME"),
    ("nic.yaml", "{stream: a_block.first,", "{stream: a_block.last,", "c_block.watches.first: streams.yaml has no stream"),
    ("nic.yaml", "{stream: a_block.first,", "{stream: lane.word,", "c_block.watches.first: lane.word is a stream of the lanes"),
    ("nic.yaml", "fields: [top]", "fields: [tip]", "c_block.watches.first: sample_t has no field 'tip'"),
    ("nic.yaml", "params: [Width]", "params: [Height]", "block b_block: presets.yaml has no parameter 'Height'"),
    ("nic.yaml", "[WIDE.high, WIDE.low]", "[WIDE.high, WIDE]", "value pair: WIDE has fields; name one of them"),
    ("nic.yaml", "[WIDE.high, WIDE.low]", "[WIDE.high, WIDE.lo]", "register WIDE of csr.yaml has no field 'lo'"),
    ("nic.yaml", "[WIDE.high, WIDE.low]", "[WIDE.high, SEEN]", "value pair: SEEN is 'ro'"),
    ("nic.yaml", "  pair:", "  mode:", "value mode: CTRL has a field of that name"),
    ("nic.yaml", "status: [NOW]", "  shade: {from: CTRL.mode, enum: colour_e}\nstatus: [NOW]",
     "value shade: streams.yaml has no enum 'colour_e'"),
    ("nic.yaml", "status: [NOW]", "  shade: {from: WIDE.low, enum: color_e}\nstatus: [NOW]", "value shade: the value has "),
    ("nic.yaml", "drives: {busy: 1}", "drives: {busy: Height}", "block a_block.drives.busy: cannot evaluate 'Height'"),
    ("nic.yaml", "status: [NOW]", "status: [ONE]", "status: ONE is 'rw', must be ro"),
    ("nic.yaml", "status: [NOW]", "status: [NOW]\nunread: [NOW]", "unread: NOW is no counter"),
    ("nic.yaml", "lane.word, b_block.second]", "lane.word]", "flow: b_block.second stands there 0 times"),
    ("nic.yaml", "waits: {cfg: [first]}", "waits: {}", "block a_block.waits: 'cfg' is missing"),
    ("nic.yaml", "{first: [second, c_block.word]}", "{first: [third]}", "waits.first: 'third' is neither an output"),
    ("nic.yaml", "{first: [second, c_block.word]}", "{first: [c_block.line]}", "'c_block.line' does not stand in 'waits'"),
    ("nic.yaml", "waits: {word: []}", "waits: {word: [csr.write]}",
     "csr.write -> a_block.cfg -> b_block.first -> c_block.word -> csr.write"),
    ("nic.yaml", "doc: takes\n", "docs: takes\n", "block b_block: unknown key 'docs'"),
]


def run(spec, root, *more):
    return subprocess.run([sys.executable, str(GENERATE), "--spec", str(spec), "--root", str(root), *more],
                          capture_output=True, text=True, check=False)


def main():
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        base = pathlib.Path(folder)
        for number, (name, text, replacement, message) in enumerate(FAULTS):
            spec = base / f"spec{number}"
            shutil.copytree(HERE, spec)
            old = (spec / name).read_text(encoding="utf-8")
            new = old.replace(text, replacement, 1)
            (spec / name).unlink()
            (spec / name).write_text(new, encoding="utf-8")
            result = run(spec, base / "out")
            if old == new or result.returncode != 3 or message not in result.stderr or name not in result.stderr:
                print(f"{name}: '{replacement}': exit {result.returncode}, expected 3 and '{message}'\n{result.stderr}")
                wrong += 1
        root = base / "fresh"
        assert run(HERE, root).returncode == 0
        assert run(HERE, root, "--check").returncode == 0
        victim = root / "cmodel/gen/streams.hpp"
        victim.write_text(victim.read_text(encoding="utf-8") + "\n", encoding="utf-8")
        result = run(HERE, root, "--check")
        if result.returncode != 1 or "stale: cmodel/gen/streams.hpp" not in result.stdout:
            print(f"a stale file was not named: exit {result.returncode}\n{result.stdout}")
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
