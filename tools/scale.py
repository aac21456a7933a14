# SPDX-License-Identifier: Apache-2.0
"""mrc state --scale: what each block of the NIC has with more and more QPs."""
import json
import re
import sys
import threading

import yaml

import depth
import netlist
import rtl

TOP = "mrc_nic"
BASE = "asic800"
CACHE = rtl.ROOT / "build/state"
PRESETS_FILE = rtl.ROOT / "cmodel/spec/presets.yaml"
NIC_FILE = rtl.ROOT / "cmodel/spec/nic.yaml"

# What stands in how many bits: registers; memories that are read in the same cycle; memories with a clocked read.
KINDS = {"flip-flops": "registers", "register files": "bits of memories that are read in the cycle of their address",
         "RAM": "bits of mrc_ram_1r1w"}
REST = "between"


def declared():
    return {entry["name"]: entry for entry in yaml.safe_load(PRESETS_FILE.read_text())["parameters"]}


def sizes(words):
    """Numbers of QPs, which the parameter's range must allow."""
    entry = declared()["NumQps"]
    found = []
    for word in words.split(","):
        count = int(word) if word.isdigit() else 0
        if not entry["min"] <= count <= entry["max"] or count & (count - 1):
            rtl.fail(f"--scale: '{word}' is no number of QPs.",
                     f"Give powers of two from {entry['min']} to {entry['max']}, with commas between.")
        found.append(count)
    return found


def parameters(qps):
    """asic800 with so many QPs: destinations and regions grow along, and the pools that must be larger than QPs."""
    entries = declared()
    values = {name: entry[BASE] for name, entry in entries.items()}
    more = max(qps - values["NumQps"], 0)
    wanted = {"NumQps": qps, "NumDests": max(qps // 4, values["NumDests"]), "NumMrs": max(min(qps, 4096), values["NumMrs"]),
              "NumWqes": values["NumWqes"] + more, "NumBlocks": values["NumBlocks"] + more}
    return values | {name: min(value, entries[name]["max"]) for name, value in wanted.items()}


def block_of(path):
    """The block that an instance lies in."""
    found = re.match(r"(?:gen_lane\[\d+\]\.)?u_(\w+)", path)
    return found[1] if found else REST


def bits(files, values):
    """{(block, kind): bits}, lanes added up."""
    found = {}
    for module, path, _, rows, width in netlist.state(files, TOP, rtl.generics(values)):
        kind = "flip-flops" if not rows else "RAM" if module.startswith("mrc_ram_") else "register files"
        key = (block_of(path), kind)
        found[key] = found.get(key, 0) + max(rows, 1) * width
    return found


def walks(values):
    """{(block, walk): cycles} by what nic.yaml says of the blocks' pages."""
    found = {}
    for block, row in yaml.safe_load(NIC_FILE.read_text())["blocks"].items():
        for name, cycles in (row.get("walks") or {}).items():
            words = re.sub(r"[A-Z]\w+", lambda word: str(values[word[0]]), str(cycles))
            if not re.fullmatch(r"[\d+*/ ]+", words):
                rtl.fail(f"nic.yaml: block {block}: walks: '{cycles}' is no number of cycles.",
                         "Write it with parameters, numbers, +, * and /.")
            found[block, name] = round(eval(words))  # digits and operators only
    return found


def gates(files, values, seconds):
    """{block: (gates, gates with tables)}; None where Yosys had no answer in time."""
    design = depth.Design(TOP, files, True, rtl.generics(values))
    depth.CACHE.mkdir(parents=True, exist_ok=True)
    found = {}
    for block in [name for name in design.blocks if name != TOP]:
        kept = depth.CACHE / f"{design.key(block)}.json"
        if not kept.exists():
            print(f"mrc state: gates of {block} with {values['NumQps']} QPs", file=sys.stderr, flush=True)
            watch = threading.Timer(seconds, netlist.YOSYS.close)
            watch.start()
            try:
                kept.write_text(json.dumps(design.measure(block)))
            except SystemExit:
                found[block.removeprefix("mrc_")] = None
                continue
            finally:
                watch.cancel()
        row = json.loads(kept.read_text())
        found[block.removeprefix("mrc_")] = (row["gates"], row["through_tables"])
    return found


def grouped(value):
    return f"{value:,.0f}".replace(",", " ")


def table(title, counts, rows):
    """One line per row: its name, and a value for each number of QPs."""
    wide = max(len(name) for name, _ in rows) + 2
    print(f"\n{title}\n  {'':<{wide}}" + "".join(f"{count:>13}" for count in counts))
    for name, values in rows:
        print(f"  {name:<{wide}}" + "".join(f"{value:>13}" for value in values))


def report(results):
    counts = list(results)
    blocks = [*yaml.safe_load(NIC_FILE.read_text())["blocks"], REST]
    grown = ("NumQps", "NumDests", "NumMrs", "NumWqes", "NumBlocks")
    table(f"{BASE} with", counts, [(name, [results[count]["values"][name] for count in counts]) for name in grown])
    for kind, meaning in KINDS.items():
        rows = [(block, [results[count]["bits"].get(block, {}).get(kind, 0) for count in counts]) for block in blocks]
        rows.append(("all", [sum(row[index] for _, row in rows) for index in range(len(counts))]))
        table(f"{kind}: {meaning}", counts, [(name, map(grouped, row)) for name, row in rows if any(row)])
    rounds = results[counts[0]]["walks"]
    table("cycles of a round, by the pages", counts,
          [(f"{block}: {name}", [grouped(results[count]["walks"][block][name]) for count in counts])
           for block, names in rounds.items() for name in names])
    if results[counts[0]]["gates"]:
        table("gates in a row / with tables; -: no answer in time", counts,
              [(block, ["{}/{}".format(*results[count]["gates"][block]) if results[count]["gates"][block] else "-"
                        for count in counts]) for block in blocks if block in results[counts[0]]["gates"]])


def nested(flat):
    found = {}
    for (block, name), value in flat.items():
        found.setdefault(block, {})[name] = value
    return found


def run(options):
    files = rtl.rtl_files()
    results = {}
    for qps in sizes(options.scale):
        values = parameters(qps)
        print(f"mrc state: {qps} QPs", file=sys.stderr, flush=True)
        counted = netlist.cached(CACHE / f"scale-{qps}", files, [TOP, values], (bits, block_of),
                                 lambda values=values: bits(files, values))
        results[qps] = {"values": values, "bits": nested(counted), "walks": nested(walks(values)),
                        "gates": gates(files, values, options.gates) if options.gates else {}}
    report(results)
    if options.json:
        rtl.write_json(options.json, {"scale": [{"qps": qps, **result} for qps, result in results.items()]})
    return rtl.Exit.PASS
