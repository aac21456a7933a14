# SPDX-License-Identifier: Apache-2.0
"""fabric_profiles.yaml: cmodel/gen/fabric_profiles.hpp and docs/reference/generated/fabric_profiles.md."""
import re

from .bugs import cell
from .cpp import BANNER, comment
from .model import SpecError, keys

CODES = 64
MAX_CLASSES = 8  # queues of a switch of the fabric
KEYS = ("doc", "nic", "data", "control", "switch", "marks")


def codes(where, given):
    """Code points of a list of numbers and of ranges '41-50'."""
    out = []
    for entry in given if isinstance(given, list) else [given]:
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", str(entry))
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if not first <= last < CODES:
            raise SpecError(f"{where}: {entry!r} is no code point, or range of them, from 0 to 63")
        out += range(first, last + 1)
    if len(set(out)) != len(out):
        raise SpecError(f"{where}: a code point is there twice")
    return out


def settings(spec, where, given):
    """[(register name, value)], each checked against csr.yaml."""
    fields = {f"{r['name']}.{f['name']}": f["width"] for r in spec.csr_yaml.get("registers") or []
              for f in r.get("fields") or []}
    for name, value in given.items():
        if name not in fields:
            raise SpecError(f"{where}: {name} is no field of csr.yaml")
        if not isinstance(value, int) or not 0 <= value < 1 << fields[name]:
            raise SpecError(f"{where}: {name} = {value!r} does not fit into {fields[name]} bits")
    return list(given.items())


def switch(where, given, profile):
    keys(where, given, {"trim_size", "lasthop", "ecn", "limit_kb", "classes"}, ["trim_size", "lasthop"])
    ecn = given.get("ecn") or {"min_kb": 0, "max_kb": 0, "percent": 0}
    keys(f"{where}: ecn", ecn, {"min_kb", "max_kb", "percent"}, ["min_kb", "max_kb", "percent"])
    classes = []
    for entry in given.get("classes") or []:
        keys(f"{where}: classes", entry, {"dscp", "share", "data", "trimmed"}, ["dscp", "share"])
        classes.append({"codes": codes(where, entry["dscp"]), "share": int(entry["share"]),
                        "data": bool(entry.get("data")), "trimmed": bool(entry.get("trimmed"))})
    if classes:
        flat = sorted(code for c in classes for code in c["codes"])
        if flat != list(range(CODES)):
            raise SpecError(f"{where}: the classes must have each code point from 0 to 63 once")
        if len(classes) > MAX_CLASSES or sum(c["share"] for c in classes) > 100 or min(c["share"] for c in classes) < 1:
            raise SpecError(f"{where}: at most {MAX_CLASSES} classes, with shares of 1 and more and 100 together "
                            "at most")
        trimmed = [c for c in classes if c["trimmed"]]
        if len(trimmed) != 1:
            raise SpecError(f"{where}: one class has trimmed: true")
        nic = dict(profile["nic"])
        if any(n in nic and nic[n] not in trimmed[0]["codes"] for n in ("DSCP_TRIM.trimmed", "DSCP_TRIM.lasthop")):
            raise SpecError(f"{where}: the class of trimmed packets lacks their code points")
        if "limit_kb" not in given or not ecn["max_kb"]:
            raise SpecError(f"{where}: classes need limit_kb and ecn")
    return {"trim_size": int(given["trim_size"]), "lasthop": bool(given["lasthop"]), "ecn": ecn,
            "limit_kb": int(given.get("limit_kb", 0)), "classes": classes}


def read(spec):
    keys("fabric_profiles.yaml", spec.fabric_profiles_yaml, {"profiles"}, ["profiles"])
    out = []
    for name, entry in spec.fabric_profiles_yaml["profiles"].items():
        where = f"fabric_profiles.yaml: {name}"
        keys(where, entry, KEYS, KEYS)
        p = {"name": name, "doc": entry["doc"], "marks": entry["marks"],
             "nic": settings(spec, where, entry["nic"]), "control": codes(where, entry["control"]),
             "data": [codes(where, pair) for pair in entry["data"]]}
        if not 1 <= len(p["data"]) <= 4 or any(len(pair) != 2 for pair in p["data"]):
            raise SpecError(f"{where}: data is a list of 1 to 4 pairs, data and retransmission")
        nic = dict(p["nic"])
        first = p["data"][0]
        if [nic.get("DSCP_TX.data", first[0]), nic.get("DSCP_TX.rtx", first[1])] != first:
            raise SpecError(f"{where}: the first pair of data is not DSCP_TX.data and DSCP_TX.rtx")
        if nic.get("DSCP_TX.ctl", p["control"][0]) not in p["control"]:
            raise SpecError(f"{where}: DSCP_TX.ctl is not among control")
        p["switch"] = switch(f"{where}: switch", entry["switch"], p)
        out.append(p)
    return out


def mask(values):
    return f"0x{sum(1 << v for v in values):016x}u"


HEAD = """#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace mrc {

// clang-format off

/// A register of the NIC, by its name in docs/protocol/assumptions.md and in profiles of the judge.
struct FabricSetting {
  const char* name;
  uint32_t value;
};

/// Code points of a class of data: first transmissions, retransmissions (A-79).
struct FabricPair {
  uint8_t data, rtx;
};

/// A queue of a switch: bit d of codes: packets with DSCP d.
struct FabricClass {
  uint64_t codes;
  unsigned share;  ///< of the link, in per cent, when others wait too
  bool data;       ///< it marks and trims
  bool trimmed;    ///< what is trimmed goes here
};

/// A fabric as its operator has set it up.
struct FabricProfile {
  const char* name;
  const char* doc;
  std::array<FabricSetting, %(settings)d> nic;  ///< registers of NICs
  unsigned classes;                   ///< classes of data
  std::array<FabricPair, %(pairs)d> data;       ///< the first is the NIC's own
  uint64_t data_codes, rtx_codes;     ///< bit d: data, retransmissions may have DSCP d
  uint64_t control_codes;             ///< control packets may
  // Switches.
  unsigned trim_size;
  bool lasthop;                       ///< trimmed in front of a NIC: DSCP_TRIM.lasthop
  uint64_t ecn_min, ecn_max;          ///< bytes; 0: by plane BDP
  unsigned ecn_percent;               ///< probability at ecn_max
  uint64_t limit;                     ///< bytes of a queue that trims; 0: by plane BDP
  unsigned queues;                    ///< 0: strict priorities of control, retransmissions, data
  std::array<FabricClass, %(queues)d> queue;

  /// Of a register, or what it has after reset.
  constexpr uint32_t get(std::string_view setting, uint32_t reset) const {
    for (const FabricSetting& s : nic) {
      if (setting == s.name) return s.value;
    }
    return reset;
  }
};

"""


def cpp(spec):
    profiles = read(spec)
    sizes = {"settings": max(len(p["nic"]) for p in profiles), "pairs": max(len(p["data"]) for p in profiles),
             "queues": max(1, max(len(p["switch"]["classes"]) for p in profiles))}
    if any(len(p["nic"]) != sizes["settings"] for p in profiles):
        raise SpecError("fabric_profiles.yaml: all profiles name the same registers")
    out = BANNER.format(source="cmodel/spec/fabric_profiles.yaml") + HEAD % sizes
    out += "inline constexpr FabricProfile kFabricProfiles[] = {\n"
    for p in profiles:
        s, ecn = p["switch"], p["switch"]["ecn"]
        out += comment(p["marks"], "    ", "//")
        out += f'    {{.name = "{p["name"]}",\n     .doc = "{p["doc"]}",\n     .nic = {{{{'
        out += ", ".join(f'{{"{n}", {v}}}' for n, v in p["nic"]) + "}},\n"
        out += f'     .classes = {len(p["data"])}, .data = {{{{'
        out += ", ".join(f"{{{d}, {r}}}" for d, r in p["data"]) + "}},\n"
        out += f'     .data_codes = {mask(d for d, _ in p["data"])}, .rtx_codes = {mask(r for _, r in p["data"])},\n'
        out += f'     .control_codes = {mask(p["control"])},\n'
        out += f'     .trim_size = {s["trim_size"]}, .lasthop = {str(s["lasthop"]).lower()}, '
        out += f'.ecn_min = {ecn["min_kb"] * 1024}, .ecn_max = {ecn["max_kb"] * 1024}, '
        out += f'.ecn_percent = {ecn["percent"]}, .limit = {s["limit_kb"] * 1024},\n'
        out += f'     .queues = {len(s["classes"])}, .queue = {{{{'
        out += ",\n                            ".join(
            f'{{{mask(c["codes"])}, {c["share"]}, {str(c["data"]).lower()}, {str(c["trimmed"]).lower()}}}'
            for c in s["classes"]) + "}}},\n"
    out += "};\n\n/// Their names, as a key of a file has them.\n"
    out += f'inline constexpr const char* kFabricProfileNames = "{"|".join(p["name"] for p in profiles)}";\n\n'
    out += ("/// The profile of that name, or nullptr.\n"
            "constexpr const FabricProfile* find_fabric_profile(std::string_view name) {\n"
            "  for (const FabricProfile& p : kFabricProfiles) {\n    if (name == p.name) return &p;\n  }\n"
            "  return nullptr;\n}\n\n")
    return out + "// clang-format on\n\n}  // namespace mrc\n"


def listed(values):
    """41, 42, 43 -> 41 to 43."""
    out, values = [], sorted(values)
    while values:
        n = 1
        while n < len(values) and values[n] == values[0] + n:
            n += 1
        out.append(f"{values[0]}" if n == 1 else f"{values[0]} to {values[n - 1]}")
        values = values[n:]
    return ", ".join(out)


def page(spec):
    profiles = read(spec)
    names = [p["name"] for p in profiles]
    out = ("<!-- SPDX-License-Identifier: Apache-2.0 -->\n<!-- Generated by cmodel/spec/generate.py from "
           "cmodel/spec/fabric_profiles.yaml: edit that file, not this one. -->\n\n# Profiles of fabrics\n\n")
    out += "How they are used: [fabric.md](../../guide/fabric.md#profiles).\n\n"
    out += "| profile | what | how sure |\n|---|---|---|\n"
    for p in profiles:
        out += f"| `{p['name']}` | {cell(p['doc'])} | {cell(p['marks'])} |\n"
    out += "\n| | " + " | ".join(names) + " |\n|" + "---|" * (len(names) + 1) + "\n"
    rows = [(name, lambda p, n=name: dict(p["nic"])[n]) for name, _ in profiles[0]["nic"]]
    rows += [("data and retransmissions, by class", lambda p: ", ".join(f"{d} and {r}" for d, r in p["data"])),
             ("control may have", lambda p: listed(p["control"])),
             ("trim size, bytes", lambda p: p["switch"]["trim_size"]),
             ("trimmed in front of a NIC has a code point of its own",
              lambda p: "yes" if p["switch"]["lasthop"] else "no"),
             ("ECN", lambda p: "by plane BDP" if not p["switch"]["ecn"]["max_kb"] else
              "{min_kb} to {max_kb} KB, {percent} %".format(**p["switch"]["ecn"])),
             ("queues that trim, KB", lambda p: p["switch"]["limit_kb"] or "by plane BDP"),
             ("queues", lambda p: "; ".join(f"{listed(c['codes'])}: {c['share']} %" for c in p["switch"]["classes"]) or
              "strict: control and trimmed, retransmissions, data")]
    for name, value in rows:
        out += f"| {name} | " + " | ".join(cell(str(value(p))) for p in profiles) + " |\n"
    return out
