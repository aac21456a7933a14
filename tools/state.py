#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""mrc state: where the RTL keeps its bits: per QP, packet in flight, EV, destination, MR, and fixed."""
import argparse
import re
import sys

import yaml

import netlist
import rtl
import scale

TOP = "mrc_nic"
TARGET_PER_QP = 4096
EXTRAPOLATED_QPS = 16384
TOLERANCE = 0.02
SHOWN_ROWS = 40
CACHE = rtl.ROOT / "build/state"
PRESETS_FILE = "cmodel/spec/presets.yaml"

# What one step of a parameter stands for: a unit and how many of them. A memory or register that
# grows with several parameters belongs to the first of them here: a ring of MaxMpr PSNs for each of
# NumQps QPs is state of a QP.
OWNERS = {
    "NumBlocks": ("packet in flight", 16),
    "NumWqes": ("WQE", 1),
    "NumRxRows": ("PSN above cack", 64),
    "NumImms": ("immediate that waits", 1),
    "NumQps": ("QP", 1),
    "NumProfiles": ("EV profile", 1),
    "NumDests": ("destination", 1),
    "NumMrs": ("MR", 1),
}
# Sizes of one unit: what is proportional to them is shown once more, per unit and step.
SHARES = {"MaxMpr": "PSN of the window", "EvsPerQp": "EV", "MaxWimm": "immediate", "WqeDepth": "WQE"}
# What grows with these only is there once per NIC; they are not tried.
FIXED_PARAMETERS = {"NumPlanes", "PortBytes", "HostBytes", "ProbeSlots", "NumCcProfiles", "MulDsp", "Ecc",
                    "TickCycles", "TickParts", "LaneFifo", "TxLaneFifo", "LineFifo", "RxBufWords"}

FIXED = "fixed"


def parameters(name):
    """The parameters of the NIC, all of which must have a meaning here."""
    declared = yaml.safe_load((rtl.ROOT / name).read_text())["parameters"]
    for entry in declared:
        if entry["name"] not in {*OWNERS, *SHARES, *FIXED_PARAMETERS}:
            rtl.fail(f"parameter {entry['name']} of {name} has no meaning for the state.",
                     "Add it to OWNERS, SHARES or FIXED_PARAMETERS in tools/state.py.")
    return declared


def elaborate(files, top, values):
    """{(instance, name): [copies, rows, width]} of every memory and register; indices of generate loops become [*]."""
    found = {}
    for _, path, name, rows, width in netlist.state(files, top, rtl.generics(values)):
        name = re.sub(r"\[\d+\]", "[*]", name) if rows else name.partition("[")[0]
        rows = rows or 1
        key = (re.sub(r"\[\d+\]", "[*]", path), name)
        copies, most, bits = found.get(key, (0, 0, 0))
        found[key] = [copies + 1, max(most, rows), bits + rows * width]
    return found


def grows(sizes):
    """True if bits are proportional to a parameter that doubles from each size to the next; a logarithm is not."""
    steps = [after - before for before, after in zip(sizes, sizes[1:])]
    if len(steps) == 1:
        return sizes[1] >= 1.7 * sizes[0]
    return sizes[-1] >= 2 * sizes[0] and steps[-1] >= 1.7 * steps[0]


def scaling(files, top, declared):
    """{element: parameters its bits are proportional to}, from small designs in which one parameter doubles twice."""
    base = {}
    for entry in declared:
        value = entry["tiny"]
        while 4 * value > entry["max"] and value // 2 >= entry["min"]:
            value //= 2
        base[entry["name"]] = value
    steps = [(entry["name"], base[entry["name"]] * factor) for entry in declared for factor in (2, 4)
             if entry["name"] not in FIXED_PARAMETERS and base[entry["name"]] * factor <= entry["max"]]
    start = elaborate(files, top, base)
    sizes = {name: [start] for name, _ in steps}
    for done, (name, value) in enumerate(steps):
        print(f"mrc state: {name} = {value} ({len(steps) - done} small designs to go)", file=sys.stderr, flush=True)
        sizes[name].append(elaborate(files, top, {**base, name: value}))
    found = {}
    for element in {key for points in sizes.values() for point in points for key in point}:
        bits = {name: [point.get(element, (0, 0, 0))[2] for point in points] for name, points in sizes.items()}
        found[element] = [name for name, row in bits.items() if len(row) > 1 and grows(row)]
    return found


def scaling_at(files, top, preset, values, declared, unknown):
    """scaling() of elements that no small design has, as the lower words of a large set: what one has more of than with
    half of a parameter."""
    found = {element: [] for element in unknown}
    least = {entry["name"]: entry["min"] for entry in declared}
    for name in [*OWNERS, *SHARES]:
        if not unknown or values.get(name, 0) // 2 < least.get(name, 1):
            continue
        print(f"mrc state: {preset} with {name} = {values[name] // 2}: what small designs do not have", file=sys.stderr, flush=True)
        smaller = less(files, top, preset, values, name)
        for element, (_, _, bits) in unknown.items():
            if grows([smaller.get(element, (0, 0, 0))[2], bits]):
                found[element].append(name)
    return found


PARTS = (elaborate, scaling, grows)  # what results that are kept depend on, beside the RTL


def less(files, top, preset, values, name):
    """The preset with half of a parameter, elaborated."""
    half = {**values, name: values[name] // 2}
    return netlist.cached(CACHE / f"{preset}-{name}-half", files, [top, half], PARTS, lambda: elaborate(files, top, half))


def classify(elements, scales, values):
    """One row per memory or register: where, how large, what it grows with, whose it is."""
    rows = []
    for (instance, name), (copies, depth, bits) in elements.items():
        known = scales[instance, name]
        owner = next((OWNERS[key][0] for key in OWNERS if key in known), FIXED)
        rows.append({"instance": instance, "name": name, "copies": copies, "rows": depth, "bits": bits,
                     "width": round(bits / copies / depth, 2), "grows_with": known, "class": owner})
    return sorted(rows, key=lambda row: (-row["bits"], row["instance"], row["name"]))


def summary(rows, values):
    """Bits per class and per unit of each, what one EV, PSN or WQE costs, and the size with many QPs."""
    units = {FIXED: 1}
    units |= {unit: values[key] * count for key, (unit, count) in OWNERS.items() if key in values}
    classes = []
    for owner, count in units.items():
        bits = sum(row["bits"] for row in rows if row["class"] == owner)
        if bits or owner == FIXED:
            classes.append({"class": owner, "units": count, "bits": bits, "per_unit": bits / count})
    shares = []
    for parameter, label in SHARES.items():
        for owner, count in units.items():
            bits = sum(row["bits"] for row in rows if row["class"] == owner and parameter in row["grows_with"])
            if bits:
                shares.append({"of": owner, "share": label, "units": count * values[parameter], "bits": bits,
                               "per_unit": bits / count / values[parameter]})
    per_qp = next((entry["per_unit"] for entry in classes if entry["class"] == "QP"), 0)
    total = sum(row["bits"] for row in rows)
    qps = values.get("NumQps", 0)
    return {"classes": classes, "shares": shares, "bits_per_qp": per_qp, "bits": total,
            "bits_at_16k_qps": total + per_qp * (EXTRAPOLATED_QPS - qps)}


def measure(files, top, preset, declared, scales):
    values = {entry["name"]: entry[preset] for entry in declared}
    elements = netlist.cached(CACHE / preset, files, [top, values], PARTS, lambda: elaborate(files, top, values))
    unknown = {element: size for element, size in elements.items() if element not in scales}
    rows = classify(elements, {**scales, **scaling_at(files, top, preset, values, declared, unknown)}, values)
    result = {"preset": preset, "values": values, **summary(rows, values), "rows": rows}
    qps = values["NumQps"] // 2
    smaller = sum(size[2] for size in less(files, top, preset, values, "NumQps").values())
    expected = result["bits"] - result["bits_per_qp"] * qps
    result["half"] = {"NumQps": qps, "bits": smaller, "expected": expected,
                      "off": abs(smaller - expected) / smaller}
    return result


def grouped(value):
    return f"{value:,.0f}".replace(",", " ")


def report(result, shown):
    print(f"State of {result['preset']} ({', '.join(f'{name} {value}' for name, value in result['values'].items())})")
    print(f"\n  {'class':<36}{'units':>9}{'bits':>13}{'bits per unit':>15}")
    for row in result["classes"]:
        print(f"  {row['class']:<36}{row['units']:>9}{grouped(row['bits']):>13}{row['per_unit']:>15.1f}")
    for row in result["shares"]:
        label = f"  of {row['of']}: per {row['share']}"
        print(f"  {label:<36}{row['units']:>9}{grouped(row['bits']):>13}{row['per_unit']:>15.1f}")
    print(f"  {'all':<36}{'':>9}{grouped(result['bits']):>13}")
    half = result["half"]
    print(f"\n  {EXTRAPOLATED_QPS} QPs, all else the same: {result['bits_at_16k_qps'] / 1e6:.1f} Mbit."
          f" With {half['NumQps']} QPs this rule says {grouped(half['expected'])} bits,"
          f" the RTL has {grouped(half['bits'])} ({100 * half['off']:.1f} % apart).")
    if half["off"] > TOLERANCE:
        print("  That is more than 2 %: not all that grows with NumQps is counted per QP.")
    rows, rest = result["rows"][:shown], result["rows"][shown or len(result["rows"]):]
    wide = max(len(row["instance"]) for row in rows) + 2
    print(f"\n  {'instance':<{wide}}{'memory or register':<20}{'copies x rows x width':>24}{'bits':>12}"
          "  class (grows with)")
    for row in rows:
        size = f"{row['copies']} x {row['rows']} x {row['width']:g}"
        print(f"  {row['instance'] or '(top)':<{wide}}{row['name']:<20}{size:>24}{grouped(row['bits']):>12}"
              f"  {row['class']} ({', '.join(row['grows_with']) or '-'})")
    if rest:
        bits = grouped(sum(row["bits"] for row in rest))
        print(f"  and {len(rest)} smaller ones with {bits} bits (--all shows them)")


def main():
    parser = rtl.Parser(prog="mrc state", description=__doc__,
                        examples=("mrc state --preset asic800              the 40 largest registers and memories, sums per kind",
                                  "mrc state --scale                       each block with 256 to 131072 QPs",
                                  "mrc state --json state.json             everything, of every preset"))
    parser.add_argument("--preset", action="append", help="only this preset (asic800, fpga100, tiny)")
    parser.add_argument("--json", metavar="FILE", help="write everything to FILE")
    parser.add_argument("--all", action="store_true", help="show every register and memory, not the 40 largest")
    parser.add_argument("--check", action="store_true",
                        help=f"exit 1 if a QP costs {TARGET_PER_QP} bits or more outside the pools")
    parser.add_argument("--scale", nargs="?", metavar="QPS", const="256,1024,4096,16384,131072",
                        help="what each block has with so many QPs: 256,1024,4096,16384,131072, or others")
    parser.add_argument("--gates", type=int, metavar="SECONDS",
                        help="with --scale: longest paths, too, where a block takes no longer than this")
    parser.add_argument("--top", default=TOP, help=argparse.SUPPRESS)
    parser.add_argument("--parameters", default=PRESETS_FILE, help=argparse.SUPPRESS)
    parser.add_argument("files", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    presets = options.preset or list(rtl.PRESETS)
    for preset in presets:
        rtl.sources(preset)  # says what is wrong with an unknown one
    rtl.check_json(options.json)

    if options.gates is not None and not options.scale:
        parser.error("--gates is for --scale")
    if options.scale:
        return scale.run(options)

    files = options.files or rtl.rtl_files()
    declared = parameters(options.parameters)
    scales = netlist.cached(CACHE / "scaling", files, [options.top, declared], PARTS,
                            lambda: scaling(files, options.top, declared))
    results = [measure(files, options.top, preset, declared, scales) for preset in presets]
    bad = 0
    for result in results:
        report(result, None if options.all else SHOWN_ROWS)
        verdict = "below" if result["bits_per_qp"] < TARGET_PER_QP else "NOT below"
        print(f"{result['preset']}: {grouped(result['bits_per_qp'])} bits per QP, {verdict} {TARGET_PER_QP}\n")
        bad += result["bits_per_qp"] >= TARGET_PER_QP or result["half"]["off"] > TOLERANCE
    if options.json:
        rtl.write_json(options.json, {"target_bits_per_qp": TARGET_PER_QP, "presets": results})
    return rtl.Exit.FAIL if options.check and bad else rtl.Exit.PASS


if __name__ == "__main__":
    rtl.command("mrc state", main)
