# SPDX-License-Identifier: Apache-2.0
"""csr.yaml: registers and tables."""
from .cpp import BANNER, comment, struct_cpp
from .model import SpecError, camel, keys

ACCESS = {"rw": "read, write", "ro": "read only", "wo": "write only", "rc": "read clears",
          "w1c": "write one to clear", "w1s": "write one to set; reads as pending"}


def registers(spec):
    """Checked registers: dicts with name, cname, offset, access, reset, count, stride, doc, fields."""
    keys("csr.yaml", spec.csr_yaml, {"registers", "tables", "doc"})
    out = []
    seen = {}
    for entry in spec.csr_yaml.get("registers") or []:
        where = f"csr.yaml: register {entry.get('name', entry)}"
        keys(where, entry, {"name", "offset", "access", "reset", "doc", "fields", "count", "stride", "assumption"},
             ["name", "offset", "access"])
        if entry["access"] not in ACCESS:
            raise SpecError(f"{where}: access '{entry['access']}' is unknown; use one of {', '.join(ACCESS)}")
        reg = {"name": entry["name"], "cname": camel(entry["name"]), "access": entry["access"],
               "offset": spec.number(where, entry["offset"]), "doc": entry.get("doc", ""),
               "count": spec.number(where, entry.get("count", 1)), "stride": spec.number(where, entry.get("stride", 4)),
               "assumption": entry.get("assumption", ""), "fields": []}
        if reg["offset"] % 4 or reg["stride"] % 4:
            raise SpecError(f"{where}: offset and stride must be multiples of 4")
        for i in range(reg["count"]):
            address = reg["offset"] + i * reg["stride"]
            if address in seen:
                raise SpecError(f"{where}: address 0x{address:x} is already {seen[address]}")
            seen[address] = reg["name"]
        used = 0
        reset = 0
        for f in entry.get("fields") or []:
            here = f"{where}.{f.get('name', f)}"
            keys(here, f, {"name", "lsb", "width", "reset", "max", "doc", "enum", "assumption"}, ["name", "lsb"])
            lsb, width = spec.number(here, f["lsb"]), spec.number(here, f.get("width", 1))
            value = spec.number(here, f.get("reset", 0))
            largest = spec.number(here, f.get("max", (1 << width) - 1))
            if lsb + width > 32:
                raise SpecError(f"{here}: bits {lsb + width - 1}:{lsb} do not fit 32 bits")
            if used & ((1 << width) - 1) << lsb:
                raise SpecError(f"{here}: overlaps another field")
            if not 0 <= value < 1 << width:
                raise SpecError(f"{here}: reset {value} does not fit {width} bits")
            if not value <= largest < 1 << width:
                raise SpecError(f"{here}: max {largest} must be the reset at least, and fit {width} bits")
            used |= ((1 << width) - 1) << lsb
            reset |= value << lsb
            reg["fields"].append({"name": f["name"], "cname": camel(f["name"]), "lsb": lsb, "width": width,
                                  "reset": value, "max": largest, "doc": f.get("doc", ""), "assumption": f.get("assumption", "")})
        if "reset" in entry:
            # 0 stands for "as the fields say"; without resets in the fields the register's value counts
            given = spec.number(where, entry["reset"])
            if reset and given and given != reset:
                raise SpecError(f"{where}: reset 0x{given:x} differs from its fields' 0x{reset:x}")
            if not reset:
                reset = given
                for f in reg["fields"]:
                    f["reset"] = reset >> f["lsb"] & ((1 << f["width"]) - 1)
        reg["reset"] = reset
        reg["mask"] = used or 0xFFFFFFFF
        out.append(reg)
    return out


def filled(spec, where, entries):
    """The fields of a table, most significant first, with the gaps between them as rsvd<lsb>, in whole words."""
    given = sorted(((spec.number(f"{where}.{e.get('name', e)}", e.get("lsb", -1)), e) for e in entries),
                   key=lambda pair: pair[0])
    out = []
    at = 0
    for lsb, e in given:
        here = f"{where}.{e.get('name', e)}"
        keys(here, e, {"name", "lsb", "width", "doc", "enum"}, ["name", "lsb", "width"])
        if lsb < at:
            raise SpecError(f"{here}: lsb {lsb} overlaps the field below, which ends at bit {at - 1}")
        if lsb > at:
            out.append({"name": f"rsvd{at}", "width": lsb - at})
        out.append({k: v for k, v in e.items() if k != "lsb"})
        at = lsb + spec.number(here, e["width"])
    if at % 32:
        out.append({"name": f"rsvd{at}", "width": 32 - at % 32})
    return list(reversed(out))


def tables(spec):
    """Checked tables: dicts with name, cname, id, entries, access, doc, struct (tbl_<name>_t)."""
    out = []
    for position, entry in enumerate(spec.csr_yaml.get("tables") or []):
        where = f"csr.yaml: table {entry.get('name', entry)}"
        keys(where, entry, {"name", "doc", "fields", "index", "entries", "access"}, ["name", "fields"])
        struct = spec.make_struct(where, f"tbl_{entry['name'].lower()}_t", entry.get("doc", ""),
                                  filled(spec, where, entry["fields"]))
        table = {"name": entry["name"], "cname": camel(entry["name"]), "doc": entry.get("doc", ""),
                 "id": spec.number(where, entry.get("index", position)), "entries": entry.get("entries", ""),
                 "access": entry.get("access", "rw"), "struct": struct}
        if any(t["id"] == table["id"] for t in out):
            raise SpecError(f"{where}: index {table['id']} is used twice")
        out.append(table)
    return out


def sv(spec):
    from .sv import struct_sv
    out = "  // ---- registers (csr.yaml): byte address, then per field lowest bit, width, value after reset\n\n"
    for r in registers(spec):
        n = f"Csr{r['cname']}"
        out += comment(r["doc"], "  ")
        out += f"  localparam logic [15:0] {n} = 16'h{r['offset']:04x};\n"
        out += f"  localparam logic [31:0] {n}Reset = 32'h{r['reset']:08x};\n"
        if r["count"] > 1:
            out += f"  localparam int unsigned {n}Count = 32'd{r['count']};\n"
            out += f"  localparam int unsigned {n}Stride = 32'd{r['stride']};\n"
        for f in r["fields"]:
            out += f"  localparam int unsigned {n}{f['cname']}Lsb = 32'd{f['lsb']};\n"
            out += f"  localparam int unsigned {n}{f['cname']}Width = 32'd{f['width']};\n"
            out += f"  localparam logic [{f['width'] - 1}:0] {n}{f['cname']}Reset = {f['width']}'h{f['reset']:x};\n"
        out += "\n"
    if tables(spec):
        out += "  // ---- tables (csr.yaml): entries of whole 32-bit words, least significant word first\n\n"
    for t in tables(spec):
        out += struct_sv(t["struct"])
        out += f"  localparam int unsigned Tbl{t['cname']}Id = 32'd{t['id']};\n"
        out += f"  localparam int unsigned Tbl{t['cname']}Words = 32'd{t['struct'].words};\n\n"
    return out


def cpp(spec):
    out = BANNER.format(source="cmodel/spec/csr.yaml")
    out += "#pragma once\n\n#include <cstdint>\n#include <span>\n\n#include \"gen/streams.hpp\"\n"
    out += "#include \"wire/packed.hpp\"\n\nnamespace mrc::csr {\n\n// clang-format off\n\n"
    out += "enum class Access { Rw, Ro, Wo, Rc, W1c, W1s };\n\n"
    out += ("struct Field {\n  const char* name;\n  unsigned lsb, width;\n  uint32_t reset;\n"
            "  constexpr uint32_t mask() const { return (width == 32 ? ~0u : (1u << width) - 1u) << lsb; }\n"
            "  /// The field's value in a register value.\n"
            "  constexpr uint32_t get(uint32_t reg) const { return (reg & mask()) >> lsb; }\n"
            "  /// The register value with this field replaced.\n"
            "  constexpr uint32_t set(uint32_t reg, uint32_t value) const {\n"
            "    return (reg & ~mask()) | ((value << lsb) & mask());\n  }\n};\n\n")
    out += ("struct Register {\n  const char* name;\n  uint32_t offset;  ///< byte address of the first instance\n"
            "  Access access;\n  uint32_t reset;\n  unsigned count, stride;\n  std::span<const Field> fields;\n};\n\n")
    regs = registers(spec)
    for r in regs:
        n = r["cname"]
        out += comment(r["doc"])
        out += f"inline constexpr uint32_t k{n} = 0x{r['offset']:04x};\n"
        out += f"inline constexpr uint32_t k{n}Reset = 0x{r['reset']:08x};\n"
        if r["count"] > 1:
            out += f"inline constexpr unsigned k{n}Count = {r['count']};\n"
            out += f"inline constexpr unsigned k{n}Stride = {r['stride']};\n"
        for f in r["fields"]:
            out += comment(f["doc"])
            out += (f'inline constexpr Field k{n}{f["cname"]}{{"{f["name"]}", {f["lsb"]}, {f["width"]}, '
                    f'0x{f["reset"]:x}}};\n')
        if r["fields"]:
            out += f"inline constexpr Field k{n}Fields[] = {{"
            out += ", ".join(f"k{n}{f['cname']}" for f in r["fields"]) + "};\n"
        out += "\n"
    if regs:
        out += "inline constexpr Register kRegisters[] = {\n"
        for r in regs:
            fields = f"k{r['cname']}Fields" if r["fields"] else "{}"
            out += (f'    {{"{r["name"]}", 0x{r["offset"]:04x}, Access::{r["access"].capitalize()}, '
                    f'0x{r["reset"]:08x}, {r["count"]}, {r["stride"]}, {fields}}},\n')
        out += "};\n\n"
    for t in tables(spec):
        out += struct_cpp(t["struct"])
        out += f"inline constexpr unsigned k{t['struct'].cname}Id = {t['id']};\n\n"
    return out + "// clang-format on\n\n}  // namespace mrc::csr\n"
