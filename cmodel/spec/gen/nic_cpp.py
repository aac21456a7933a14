# SPDX-License-Identifier: Apache-2.0
"""nic.yaml as C++: register values, pulses and streams of the model, the flow of the bench."""
from .cpp import BANNER, comment
from .model import SpecError


def value_ctype(width):
    if width == 1:
        return "bool"
    return next((f"uint{size}_t" for size in (8, 16, 32, 64) if width <= size), "U128")


def value_type(value):
    return value.enum.cname if value.enum else value_ctype(value.width)


def number(width, value):
    if width == 1:
        return "true" if value else "false"
    return f"{value}" if value < 1024 else f"0x{value:x}" + ("u" if value >= 1 << 31 else "")


def read(nic, value, index):
    """The C++ expression of source `index` of a value, a uint32_t."""
    source = value.sources[index]
    register = f"reg(csr::k{source.reg['cname']})"
    return f"csr::k{source.reg['cname']}{source.field['cname']}.get({register})" if source.field else register


def values(nic):
    out = BANNER.format(source="csr.yaml and nic.yaml")
    out += "#pragma once\n\n#include <array>\n#include <cstdint>\n\n#include \"gen/csr.hpp\"\n"
    out += "#include \"gen/streams.hpp\"\n\nnamespace mrc {\n\n// clang-format off\n\n"
    out += ("/// Values of the CSR registers that blocks use directly (registers: they change at csr's clock()). They begin\n"
            "/// as after reset.\nstruct CsrOut {\n")
    for v in nic.used():
        if v.width > 64 and v.array or v.array and v.width != 32:
            raise SpecError(f"nic.yaml: value {v.name}: the model knows arrays of 32 bits only")
        out += comment(v.doc, "  ")
        if v.array:
            out += (f"  std::array<uint32_t, {len(v.sources)}> {v.name}{{"
                    + ", ".join(f"0x{x:x}" for x in v.reset) + "};\n")
        else:
            if v.width > 64 and v.reset >= 1 << 64:
                raise SpecError(f"nic.yaml: value {v.name}: resets of more than 64 bits cannot be written in C++")
            reset = number(v.width, v.reset)
            if v.enum:
                reset = f"static_cast<{v.enum.cname}>({v.reset})"
            out += f"  {value_type(v)} {v.name} = {reset};\n"
    out += ("  uint32_t tick = 0;  ///< level: 128 ns ticks since reset\n"
            "  bool operator==(const CsrOut&) const = default;\n};\n\n")
    out += ("/// What the blocks see of the registers, the level `tick` apart. reg(offset) is the value of a register.\n"
            "template <class Reg>\nvoid publish(CsrOut& out, const Reg& reg) {\n")
    for v in nic.used():
        if v.array:
            for i in range(len(v.sources)):
                out += f"  out.{v.name}[{i}] = {read(nic, v, i)};\n"
            continue
        kind = value_type(v)
        if len(v.sources) == 1:
            expression = read(nic, v, 0)
            if kind == "bool":
                expression += " != 0"
            elif kind != "uint32_t":
                expression = f"static_cast<{kind}>({expression})"
            out += f"  out.{v.name} = {expression};\n"
            continue
        narrow = v.width <= 16
        wide = "uint32_t" if narrow else kind
        parts, lsb = [], 0
        for i in reversed(range(len(v.sources))):
            one = f"{wide}{{{read(nic, v, i)}}}"
            parts.append(f"{one} << {lsb}" if lsb else one)
            lsb += v.sources[i].width
        whole = " | ".join(reversed(parts))
        out += f"  out.{v.name} = " + (f"static_cast<{kind}>({whole})" if narrow else whole) + ";\n"
    return out + "}\n\n// clang-format on\n\n}  // namespace mrc\n"


def pulses(nic):
    out = BANNER.format(source="nic.yaml")
    out += "#pragma once\n\n#include \"gen/csr.hpp\"\n\nnamespace mrc {\n\n// clang-format off\n"
    for b in nic.blocks.values():
        if not b.pulses or b.lane or b.name == "csr":
            continue
        out += f"\n/// Pulse registers of {b.name} that counters count.\nstruct {b.cname}Pulses {{\n"
        out += "".join(f"  bool {p} = false;  ///< {r['name']}\n" for p, r in b.pulses.items())
        out += "  bool any() const { return " + " | ".join(b.pulses) + "; }\n"
        out += ("  /// Calls add(offset) with the register of every pulse that is set.\n  template <class Add>\n"
                "  void count(const Add& add) const {\n    if (!any()) return;\n")
        out += "".join(f"    if ({p}) add(csr::k{r['cname']});\n" for p, r in b.pulses.items())
        out += "  }\n};\n"
    return out + "\n// clang-format on\n\n}  // namespace mrc\n"


def blocks(nic):
    """Who of the blocks takes part in what."""
    core = [b for b in nic.blocks.values() if not b.lane]
    out = BANNER.format(source="nic.yaml") + "#pragma once\n\n"
    out += "namespace mrc {\n\n// clang-format off\n\n"
    for name, doc, part in (
            ("each_block", "of all blocks but the lanes", core),
            ("each_configured", "of all blocks that acknowledge table writes", nic.acks()),
            ("each_pulsing", "of all blocks with pulses() but the lanes and csr",
             [b for b in core if b.pulses and b.name != "csr"])):
        out += comment(f"Calls f(n.NAME), by the names of nic.yaml, {doc}.")
        out += f"template <class N, class F>\nvoid {name}(N& n, const F& f) {{\n"
        out += "".join(f"  f(n.{b.name});\n" for b in part) + "}\n\n"
    out += f"inline constexpr unsigned kConfiguredBlocks = {len(nic.acks())};\n"
    return out + "\n// clang-format on\n\n}  // namespace mrc\n"


def depth_cpp(s):
    if isinstance(s.depth, int):
        return str(s.depth)
    out = "".join("_" + c.lower() if c.isupper() else c for c in s.depth).lstrip("_")
    return f"p.{out}"


def stored(nic):
    """Streams that the model keeps as objects: all but those whose two ends are in blocks."""
    return [s for s in nic.streams.values() if s.kind != "own"]


def member_type(s):
    if s.by:
        return f"PlaneDemux<{s.struct.cname}>"
    kind = f"{'Fifo' if s.kind == 'fifo' else 'Stream'}<{s.struct.cname}>"
    return f"std::vector<{kind}>" if s.lane else kind


def streams(nic):
    used = [g for g in ("send", "receive", "control", "rare", "rdreq", "desc", "line")
            if any(s.group == g for s in stored(nic))]
    out = BANNER.format(source="nic.yaml and streams.yaml")
    own = ", ".join(s.name for s in nic.streams.values() if s.kind == "own")
    out += """#pragma once

#include <cstdint>
#include <vector>

#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "pipeline/lib/demux.hpp"
#include "pipeline/lib/stream.hpp"

namespace mrc {

// clang-format off

"""
    out += comment("The streams between the blocks of the NIC, by the names of streams.yaml, with the FIFOs of their "
                   f"consumers. Those whose two ends belong to blocks or pins are not here: {own}.")
    out += """struct NicStreams {
  /// Streams in groups: whether any of a group has something to do at the next clock(). Most cycles are without most.
  struct Groups {
"""
    out += f"    bool {', '.join(g + ' = false' for g in used)};\n"
    out += """  };

  explicit NicStreams(const Preset& p);
  NicStreams(const NicStreams&) = delete;  // streams know where `touched` is
  NicStreams& operator=(const NicStreams&) = delete;

  void clock();
  /// Calls show(stream, which) for each stream of the core that may have moved since the last forget(), and
  /// show_lane(stream, which, plane) for each of the lanes. Streams of kind fifo show what their producer has: not
  /// here.
  template <class Show, class ShowLane>
  void observe(const Show& show, const ShowLane& show_lane) const;
  void forget() { moved = {}; }

  Groups touched;
  Groups moved{"""
    out += ", ".join("true" for _ in used) + "};  ///< clocked since forget()\n\n"
    for s in stored(nic):
        out += f"  {member_type(s)} {s.member};  ///< to {s.consumer}\n"
    out += "};\n\n/// Depths of the FIFOs that are not 2 words deep in every preset.\n"
    for s in stored(nic):
        if isinstance(s.depth, int) and s.depth != 2:
            out += f"inline constexpr unsigned k{s.cname}Depth = {s.depth};\n"
    out += "\ninline NicStreams::NicStreams(const Preset& p)\n"
    rows = []
    for s in stored(nic):
        touched = f"&touched.{s.group}"
        if s.by:
            rows.append(f"{s.member}(p.num_planes, {depth_cpp(s)}, {touched})")
        elif s.lane:
            kind = f"{'Fifo' if s.kind == 'fifo' else 'Stream'}<{s.struct.cname}>"
            rows.append(f"{s.member}(p.num_planes, {kind}({depth_cpp(s)}, {touched}))")
        else:
            rows.append(f"{s.member}({depth_cpp(s)}, {touched})")
    out += "    : " + ",\n      ".join(rows) + " {}\n\n"
    out += "inline void NicStreams::clock() {\n"
    for g in used:
        out += f"  if (touched.{g}) {{\n    touched.{g} = false;\n    moved.{g} = true;\n"
        for s in stored(nic):
            if s.group == g:
                out += (f"    for (auto& stream : {s.member}) stream.clock();\n" if s.lane
                        else f"    {s.member}.clock();\n")
        out += "  }\n"
    out += "}\n\ntemplate <class Show, class ShowLane>\n"
    out += "void NicStreams::observe(const Show& show, const ShowLane& show_lane) const {\n"
    for g in used:
        mine = [s for s in stored(nic) if s.group == g and s.kind == "stream"]
        if not mine:
            continue
        out += f"  if (moved.{g}) {{\n"
        for s in mine:
            if s.lane:
                out += (f"    for (unsigned i = 0; i < {s.member}.size(); ++i) "
                        f"show_lane({s.member}[i], LaneStream::{s.cname}, i);\n")
            else:
                out += f"    show({s.member}, CoreStream::{s.cname});\n"
        out += "  }\n"
    return out + "}\n\n// clang-format on\n\n}  // namespace mrc\n"


def flow(nic):
    out = BANNER.format(source="nic.yaml")
    out += "#pragma once\n\nnamespace mrc {\n\n// clang-format off\n\n"
    out += ("/// A stream, and the block that takes it (\"host\": pins).\n"
            "struct StreamFlow {\n  const char* name;\n  const char* consumer;\n};\n\n"
            "/// In the order in which a packet meets them.\ninline constexpr StreamFlow kStreamFlow[] = {\n")
    out += "".join(f'    {{"{n}", "{nic.streams[n].consumer}"}},\n' for n in nic.flow)
    return out + "};\n\n// clang-format on\n\n}  // namespace mrc\n"


def counted(largest):
    return " ".join(str(i) for i in range(largest + 1))


def switches(nic):
    """tb/gen/switches.hpp: what scenarios say about CTRL."""
    fields = sorted(nic.by_name["CTRL"]["fields"], key=lambda f: f["lsb"]) if "CTRL" in nic.by_name else []
    out = BANNER.format(source="csr.yaml")
    out += "#pragma once\n\n#include <cstdint>\n\n#include \"gen/csr.hpp\"\n\nnamespace mrc::tb {\n\n"
    out += "// clang-format off\n\n"
    out += "/// The fields of register CTRL as a scenario has them; at first as after reset.\nstruct Switches {\n"
    for f in fields:
        kind = "bool" if f["width"] == 1 else "uint32_t"
        out += comment(f["doc"], "  ") + f"  {kind} {f['name']} = {number(f['width'], f['reset'])};\n"
    out += ("};\n\n/// A field of CTRL and its value in a scenario.\nstruct Switch {\n  const csr::Field* field;\n"
            "  uint32_t (*get)(const Switches&);\n  unsigned largest;\n"
            "  const char* values;  ///< all of them, with spaces between\n};\n\n"
            "/// In the order of their bits.\ninline constexpr Switch kSwitches[] = {\n")
    out += "".join(f'    {{&csr::kCtrl{f["cname"]}, [](const Switches& s) -> uint32_t {{ return s.{f["name"]}; }}, '
                   f'{f["max"]}, "{counted(f["max"])}"}},\n' for f in fields)
    out += "};\n\n/// KEY(name, largest value) for each of them.\n#define MRC_SWITCHES(KEY) \\\n"
    out += " \\\n".join(f"  KEY({f['name']}, {f['max']})" for f in fields) + "\n\n"
    return out + "// clang-format on\n\n}  // namespace mrc::tb\n"


def counters(nic):
    """tb/gen/counters.hpp: counters with one instance, for whoever reads them."""
    read = [r for r in nic.counters if r["count"] == 1 and r["name"] not in nic.unread]
    out = BANNER.format(source="csr.yaml and nic.yaml")
    out += "#pragma once\n\n#include <cstdint>\n\n#include \"gen/csr.hpp\"\n\nnamespace mrc::tb {\n\n// clang-format off\n\n"
    out += "/// Counter registers with one instance.\nstruct CounterValues {\n"
    for r in read:
        out += comment(r["doc"], "  ") + f"  uint32_t {counter_name(r)} = 0;\n"
    out += ("};\n\nstruct CounterRegister {\n  const char* name;\n  uint32_t offset;\n"
            "  uint32_t CounterValues::*value;\n};\n\n/// In the order of their addresses.\n"
            "inline constexpr CounterRegister kCounterRegisters[] = {\n")
    out += "".join(f'    {{"{counter_name(r)}", csr::k{r["cname"]}, &CounterValues::{counter_name(r)}}},\n'
                   for r in read)
    return out + "};\n\n// clang-format on\n\n}  // namespace mrc::tb\n"


def counter_name(r):
    return r["name"].removeprefix("CNT_").lower()
