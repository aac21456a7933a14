# SPDX-License-Identifier: Apache-2.0
"""Bins of functional coverage (bins.yaml): groups and axes in C++, the page."""
import fnmatch
import hashlib
import itertools
import json
import re

from . import rules
from .bugs import cell
from .cpp import BANNER
from .model import SpecError, keys

MOST_AXES = 3
NEAR = r"[a-z-]+(\+[a-z-]+(/\d+)?|\+[a-z0-9_]+=[0-9.]+)* at [a-z0-9]+"


def values(spec, where, axis):
    """The values of an axis, and whether C++ gets an enum of them."""
    if axis == "rules":
        return [name for name, _ in rules.read(spec)], False
    if axis == "streams":
        return [b.name for b in spec.streams["core"] + spec.streams["lane"]], False
    if not isinstance(axis, list) or len(set(axis)) != len(axis) or not all(
            isinstance(value, str) and re.fullmatch(r"[a-z0-9]+([-_][a-z0-9]+)*", value) for value in axis):
        raise SpecError(f"{where}: values are a list of different words, or rules, or streams")
    return axis, True


def read(spec):
    """[(group, entry, {axis: (values, enum)}, [bins], {bin: why not}, {bin: towards it})] in the order of the file."""
    keys("bins.yaml", spec.bins_yaml, {"groups"}, {"groups"})
    groups = []
    for name, entry in spec.bins_yaml["groups"].items():
        where = f"bins.yaml: {name}"
        keys(where, entry, {"text", "axes", "goal", "without", "towards"}, {"text", "axes", "goal"})
        if not re.fullmatch(r"[a-z]+", name) or not 1 <= len(entry["axes"]) <= MOST_AXES:
            raise SpecError(f"{where}: a group is a word and has one to {MOST_AXES} axes")
        if not isinstance(entry["goal"], int) or entry["goal"] < 1:
            raise SpecError(f"{where}: goal is a number of runs, from 1 on")
        axes = {axis: values(spec, f"{where}.{axis}", given) for axis, given in entry["axes"].items()}
        bins = [f"{name}." + ".".join(at) for at in itertools.product(*(axis[0] for axis in axes.values()))]
        left_out, towards = by_pattern(entry, where, name, bins, "without"), by_pattern(entry, where, name, bins, "towards")
        for one, near in towards.items():
            if one in left_out or not re.fullmatch(NEAR, near):
                raise SpecError(f"{where}: towards {one}: '{near}' is no NEAR at PRESET, or the bin is left out")
        groups.append((name, entry, axes, bins, left_out, towards))
    return groups


def by_pattern(entry, where, name, bins, key):
    result = {}
    for pattern, value in (entry.get(key) or {}).items():
        found = fnmatch.filter(bins, f"{name}.{pattern}")
        if not found:
            raise SpecError(f"{where}: {key} {pattern}: there is no such bin")
        result |= {one: value for one in found}
    return result


def digest(groups):
    """Of the names: results of another table do not add to those of this one."""
    return hashlib.sha256("\n".join(one for _, _, _, bins, *_ in groups for one in bins).encode()).hexdigest()[:8]


def cname(name):
    return "".join(part[0].upper() + part[1:] for part in re.split(r"[._-]", name))


def cpp(spec):
    groups = read(spec)
    out = BANNER.format(source="cmodel/spec/bins.yaml")
    out += """#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace mrc::cover {

/// Groups of bins (docs/reference/generated/bins.md).
enum class Group : uint8_t {
"""
    out += "".join(f"  {cname(name)},\n" for name, *_ in groups) + "};\n"
    for name, _, axes, *_ in groups:
        for axis, (words, enum) in axes.items():
            if enum:
                out += f"enum class {cname(name)}{cname(axis)} : uint8_t {{ " + ", ".join(map(cname, words)) + " };\n"
    out += """
struct GroupInfo {
  const char* name;
  uint16_t first;                 ///< its bins: from here
  std::array<uint16_t, 3> sizes;  ///< of its axes; 1: there is none
};

"""
    out += f"inline constexpr const char* kTable = \"{digest(groups)}\";  ///< digest of all names\n"
    out += f"inline constexpr std::array<GroupInfo, {len(groups)}> kGroups = {{{{\n"
    first, names = 0, []
    for name, _, axes, bins, *_ in groups:
        sizes = [len(words) for words, _ in axes.values()]
        sizes += [1] * (MOST_AXES - len(sizes))
        out += f'    {{"{name}", {first}, {{{", ".join(map(str, sizes))}}}}},\n'
        first += len(bins)
        names += bins
    out += "}};\n"
    out += f"inline constexpr std::size_t kNumBins = {len(names)};\n"
    out += "inline constexpr std::array<const char*, kNumBins> kBins = {\n"
    out += "".join(f'    "{one}",\n' for one in names) + "};\n"
    for name, _, axes, *_ in groups:  # for names that only a run knows
        for axis, (words, enum) in axes.items():
            if not enum or name == "counter":
                out += (f"inline constexpr std::array<const char*, {len(words)}> k{cname(name)}{cname(axis)}s = {{\n"
                        + "".join(f'    "{word}",\n' for word in words) + "};\n")
    return out + "\n}  // namespace mrc::cover\n"


def table(spec):
    """For tools: names and goals, the axes of each group, what is left out."""
    groups = read(spec)
    return json.dumps({"table": digest(groups), "groups": [
        {"name": name, "text": entry["text"], "goal": entry["goal"], "axes": list(axes), "bins": bins,
         "without": left_out, "towards": towards} for name, entry, axes, bins, left_out, towards in groups]}, indent=0) + "\n"


def page(spec):
    groups = read(spec)
    count = sum(len(bins) for _, _, _, bins, *_ in groups)
    left = sum(len(left_out) for *_, left_out, _ in groups)
    out = ("<!-- SPDX-License-Identifier: Apache-2.0 -->\n"
           "<!-- Generated by cmodel/spec/generate.py from cmodel/spec/bins.yaml: edit that file, not this one. -->\n"
           "# Bins of functional coverage\n\n"
           f"{count} bins, of which {left} are left out for the reasons below. A run shows a bin or not; its goal is\n"
           "the number of runs that must. [coverage](../../guide/coverage.md) says how to count and close them.\n\n"
           "| group | what is counted | axes | bins | goal |\n|---|---|---|---|---|\n")
    for name, entry, axes, bins, left_out, _ in groups:
        cross = " x ".join(f"{axis}: {', '.join(words) if len(words) < 40 else f'{len(words)} of them'}"
                           for axis, (words, _) in axes.items())
        out += f"| `{name}` | {cell(entry['text'])} | {cell(cross)} | {len(bins) - len(left_out)} | {entry['goal']} |\n"
    if left:
        out += "\n## Left out\n\n| bins | why |\n|---|---|\n"
        for name, entry, *_ in groups:
            for pattern, why in (entry.get("without") or {}).items():
                out += f"| `{name}.{pattern}` | {cell(why)} |\n"
    if any(entry.get("towards") for _, entry, *_ in groups):
        out += ("\n## Rare ones\n\nA run of such a scenario is likelier to show them than one that is drawn blind; `--close` begins there.\n\n"
                "| bins | `--scenario random:` ... |\n|---|---|\n")
        for name, entry, *_ in groups:
            for pattern, near in (entry.get("towards") or {}).items():
                out += f"| `{name}.{pattern}` | `{near}` |\n"
    return out
