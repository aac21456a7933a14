# SPDX-License-Identifier: Apache-2.0
"""headers.yaml: the wire format for SystemVerilog, C++, documents and Wireshark."""
import jinja2

from .cpp import BANNER, comment, constant_cpp, enum_cpp
from .model import SpecError, camel, keys

ADDRESS = {"mac": 48, "ipv4": 32, "ipv6": 128}
# Field names that SystemVerilog keeps for itself get an underscore there.
SV_KEYWORDS = {"type", "priority", "final", "global", "local", "packed", "unique", "ref"}
# Extension headers are those listed behind this one.
BASE = "bth"


class HeaderField:
    def __init__(self, spec, where, entry, header, at):
        keys(where, entry, {"name", "reserved", "width", "doc", "mark", "source", "signed", "format", "icrc", "enum",
                            "assumption"}, ["width"])
        self.at = at  # bits from the start of the header
        self.width = entry["width"]
        self.reserved = bool(entry.get("reserved"))
        byte, bit = divmod(at, 8)
        self.name = entry.get("name") or (f"reserved{byte}" if bit == 0 else f"reserved{byte}_{7 - bit}")
        if self.reserved == ("name" in entry):
            raise SpecError(f"{where}: a field has either a name or 'reserved: true'")
        self.doc = entry.get("doc", "reserved" if self.reserved else "")
        self.mark = entry.get("mark", header["mark"])
        self.assumption = entry.get("assumption", "")
        self.signed = bool(entry.get("signed"))
        self.format = entry.get("format")
        self.ones = entry.get("icrc") == "ones"
        self.enum = None
        if "enum" in entry:
            if entry["enum"] not in header_enums(spec):
                raise SpecError(f"{where}: unknown enum '{entry['enum']}'")
            self.enum = header_enums(spec)[entry["enum"]]
            if self.enum.width > self.width:
                raise SpecError(f"{where}: enum {entry['enum']} has more bits than the field")
        if self.mark not in spec.headers_yaml["marks"]:
            raise SpecError(f"{where}: unknown mark '{self.mark}'")
        if self.format and ADDRESS.get(self.format) != self.width:
            raise SpecError(f"{where}: format {self.format} does not fit {self.width} bits")

    @property
    def ctype(self):
        if self.format:
            return f"std::array<uint8_t, {self.width // 8}>"
        size = next((s for s in (8, 16, 32, 64) if self.width <= s), None)
        if size is None:
            raise SpecError(f"headers.yaml: {self.name}: split fields of more than 64 bits")
        return f"int{size}_t" if self.signed else f"uint{size}_t"


def header_enums(spec):
    """Enums of headers.yaml plus opcode_e."""
    if not hasattr(spec, "_header_enums"):
        out = {}
        for name, entry in spec.headers_yaml["enums"].items():
            entry = {k: v for k, v in entry.items() if k != "mark"}
            out[name] = spec.make_enum(f"headers.yaml: enum {name}", name, entry)
        values = {n: e["value"] for n, e in spec.headers_yaml["opcodes"].items()}
        out["opcode_e"] = spec.make_enum("headers.yaml: opcodes", "opcode_e",
                                         {"width": 8, "doc": "BTH.opcode", "values": values})
        for name in out:
            if name in spec.enums:
                raise SpecError(f"headers.yaml: enum {name} is also in streams.yaml; rename one")
        spec._header_enums = out
    return spec._header_enums


def parse(spec):
    """Returns [dict(name, cname, title, bytes, mark, source, doc, fields)] in wire order."""
    if hasattr(spec, "_headers"):
        return spec._headers
    keys("headers.yaml", spec.headers_yaml, {"marks", "enums", "constants", "headers", "opcodes"},
         ["marks", "enums", "constants", "headers", "opcodes"])
    out = []
    for name, entry in spec.headers_yaml["headers"].items():
        where = f"headers.yaml: {name}"
        keys(where, entry, {"title", "bytes", "mark", "source", "doc", "fields"},
             ["title", "bytes", "mark", "source", "fields"])
        header = {"name": name, "cname": camel(name), "fields": [], **{k: v for k, v in entry.items() if k != "fields"}}
        at = 0
        for f in entry["fields"]:
            field = HeaderField(spec, f"{where}.{f.get('name', 'reserved')}", f, entry, at)
            if any(o.name == field.name for o in header["fields"]):
                raise SpecError(f"{where}: field {field.name} listed twice")
            header["fields"].append(field)
            at += field.width
        if at != 8 * entry["bytes"]:
            raise SpecError(f"{where}: the fields are {at} bits, the header {8 * entry['bytes']}")
        out.append(header)
    spec._headers = out
    return out


def icrc_mask(header):
    """Per byte, the bits that are replaced by ones before the ICRC is computed."""
    mask = bytearray(header["bytes"])
    for f in header["fields"]:
        for bit in range(f.at, f.at + f.width):
            if f.ones:
                mask[bit // 8] |= 0x80 >> bit % 8
    return mask


def extensions(spec):
    names = [h["name"] for h in parse(spec)]
    return parse(spec)[names.index(BASE) + 1:]


def opcodes(spec):
    known = {h["name"] for h in extensions(spec)}
    out = []
    for name, entry in spec.headers_yaml["opcodes"].items():
        where = f"headers.yaml: opcode {name}"
        keys(where, entry, {"value", "mark", "text", "headers", "payload"}, ["value", "text", "headers"])
        required = [h for h in entry["headers"] if not h.endswith("?")]
        optional = [h[:-1] for h in entry["headers"] if h.endswith("?")]
        for h in required + optional:
            if h not in known:
                raise SpecError(f"{where}: unknown extension header '{h}'")
        out.append({"name": name, "value": entry["value"], "text": entry["text"], "mark": entry.get("mark", ""),
                    "headers": entry["headers"], "required": required, "optional": optional,
                    "payload": bool(entry.get("payload"))})
    return out


def sv(spec):
    from .sv import constant, enum_sv, logic
    out = "  // ---- wire format (headers.yaml)\n\n"
    for name, entry in spec.headers_yaml["constants"].items():
        if name in spec.constants:
            raise SpecError(f"headers.yaml: constant {name} is also in streams.yaml; rename one")
        out += constant(name, entry["value"], entry.get("doc", ""))
    for h in parse(spec):
        out += f"  localparam int unsigned {h['cname']}Bytes = 32'd{h['bytes']};\n"
    out += "\n"
    for enum in header_enums(spec).values():
        out += enum_sv(enum)
    out += "  // Headers as packed structs: the most significant byte is the first on the wire.\n\n"
    for h in parse(spec):
        out += comment(f"{h['title']}, {h['bytes']} bytes.", "  ")
        out += "  typedef struct packed {\n"
        for f in h["fields"]:
            out += comment(f.doc, "    ") if not f.reserved else ""
            out += f"    {logic(f.width)} {f.name}{'_' if f.name in SV_KEYWORDS else ''};\n"
        out += f"  }} hdr_{h['name']}_t;\n\n"
    out += comment("First byte of every field, from the start of its header.", "  ").replace("///", "//") + "\n"
    for h in parse(spec):
        for f in h["fields"]:
            if not f.reserved:
                out += f"  localparam int unsigned {h['cname']}{camel(f.name)}Byte = 32'd{f.at // 8};\n"
    out += "\n  // Headers out of bytes and into bytes; byte 0, the first on the wire, is bits [7:0].\n\n"
    for h in parse(spec):
        bits = 8 * h["bytes"]
        for result, name, kind in ((f"hdr_{h['name']}_t", f"{h['name']}_of", logic(bits)),
                                   (logic(bits), f"bytes_of_{h['name']}", f"hdr_{h['name']}_t")):
            out += f"  function automatic {result} {name}({kind} x);\n" + _reversed(h["bytes"]) + "  endfunction\n\n"
    return out


def _reversed(count):
    """SystemVerilog: the bytes of x in the other order."""
    parts = [f"x[{8 * i + 7}:{8 * i}]" for i in range(count)]
    lines, line = [], "    return {"
    for at, part in enumerate(parts):
        end = "};" if at + 1 == count else ","
        if len(line) + len(part) + len(end) + 1 > 100:
            lines.append(line.rstrip())
            line = " " * 8
        line += part + end + " "
    return "\n".join(lines + [line.rstrip()]) + "\n"


def _runs(fields):
    """Groups of fields that start and end at byte borders, as small as possible."""
    run = []
    for f in fields:
        run.append(f)
        if (f.at + f.width) % 8 == 0:
            yield run
            run = []


def _codec(header):
    read, write = "", ""
    for run in _runs(header["fields"]):
        first, end = run[0].at // 8, (run[-1].at + run[-1].width) // 8
        count = end - first
        if run[0].format:
            f = run[0]
            read += f"    for (unsigned i = 0; i < {count}; ++i) h.{f.name}[i] = p[{first} + i];\n"
            write += f"    for (unsigned i = 0; i < {count}; ++i) p[{first} + i] = {f.name}[i];\n"
            continue
        if count > 8:
            raise SpecError(f"headers.yaml: {header['name']}.{run[0].name}: more than 64 bits to the next byte border")
        parts = []
        for f in run:
            shift = 8 * end - f.at - f.width
            whole = f.width == 8 * count
            load = f"load_be<{count}>(p + {first})"
            value = f"{load} >> {shift}" if shift else load
            if not whole:
                value = f"({value}) & 0x{(1 << f.width) - 1:x}u"
            if f.signed and f.width not in (8, 16, 32, 64):
                raise SpecError(f"headers.yaml: {f.name}: signed fields are 8, 16, 32 or 64 bits wide")
            read += f"    h.{f.name} = static_cast<{f.ctype}>({value});\n"
            part = f"static_cast<uint64_t>({f.name})"
            if not whole or f.signed:
                part = f"({part} & 0x{(1 << f.width) - 1:x}u)"
            parts.append(f"({part} << {shift})" if shift else part)
        write += f"    store_be<{count}>(p + {first}, {' | '.join(parts)});\n"
    return read, write


def cpp(spec):
    out = BANNER.format(source="cmodel/spec/headers.yaml")
    out += "#pragma once\n\n#include <array>\n#include <cstdint>\n#include <optional>\n#include <span>\n\n"
    out += '#include "wire/bytes.hpp"\n#include "wire/packed.hpp"\n\nnamespace mrc::wire {\n\n// clang-format off\n\n'
    for name, entry in spec.headers_yaml["constants"].items():
        out += constant_cpp(name, entry["value"], entry.get("doc", ""))
    out += "\n"
    for enum in header_enums(spec).values():
        out += enum_cpp(enum)
    out += "/// How an address field is written in text.\nenum class Format : uint8_t { Number, Mac, Ipv4, Ipv6 };\n\n"
    out += ("/// One field of a header on the wire.\nstruct HeaderField {\n  const char* name;\n"
            "  unsigned bit_offset;  ///< from the most significant bit of the header's first byte\n"
            "  unsigned width;       ///< in bits\n  bool is_signed;\n"
            "  bool reserved;        ///< shown only when not zero\n"
            "  bool icrc_ones;       ///< replaced by ones before the ICRC is computed\n  Format format;\n"
            "  const char* mark;     ///< how sure we are: S, S2, S2+, U, C, A (docs/reference/generated/headers.md)\n"
            "  std::span<const EnumValue> names;\n};\n\n")
    out += "enum class HeaderId : uint8_t {\n" + "".join(f"  {h['cname']},\n" for h in parse(spec)) + "};\n\n"
    for h in parse(spec):
        read, write = _codec(h)
        out += comment(f"{h['title']}. {h.get('doc', '')} Source: {h['source']}.")
        out += f"struct {h['cname']} {{\n"
        out += f"  static constexpr HeaderId kId = HeaderId::{h['cname']};\n"
        out += f"  static constexpr unsigned kBytes = {h['bytes']};\n"
        out += f"  static constexpr const char* kName = \"{h['name']}\";\n"
        for f in h["fields"]:
            out += comment("" if f.reserved else f.doc, "  ")
            out += f"  {f.ctype} {f.name}{{}};\n"
        out += f"  bool operator==(const {h['cname']}&) const = default;\n"
        out += "  /// Reads kBytes bytes; the caller has checked that they are there.\n"
        out += f"  static {h['cname']} read(const uint8_t* p) {{\n    {h['cname']} h;\n{read}    return h;\n  }}\n"
        out += "  /// Writes kBytes bytes; values are cut to their field's width.\n"
        out += f"  void write(uint8_t* p) const {{\n{write}  }}\n"
        out += "  static constexpr HeaderField kFields[] = {\n"
        for f in h["fields"]:
            fmt = "Format::" + (f.format or "number").capitalize()
            names = f"k{f.enum.cname}Values" if f.enum else "{}"
            out += (f'      {{"{f.name}", {f.at}, {f.width}, {str(f.signed).lower()}, {str(f.reserved).lower()}, '
                    f'{str(f.ones).lower()}, {fmt}, "{f.mark}", {names}}},\n')
        out += "  };\n"
        out += "  /// Calls visitor(HeaderField, value) for every field in wire order.\n"
        out += "  template <class Self, class Visitor>\n  static void visit(Self& self, Visitor&& visitor) {\n"
        out += "".join(f"    visitor(kFields[{i}], self.{f.name});\n" for i, f in enumerate(h["fields"])) + "  }\n"
        if any(f.ones for f in h["fields"]):
            mask = icrc_mask(h)
            out += "  /// ORed onto the header before the ICRC is computed.\n"
            out += f"  static constexpr uint8_t kIcrcOnes[kBytes] = {{{', '.join(f'0x{b:02x}' for b in mask)}}};\n"
        out += "};\n\n"
    out += "/// Headers after the BTH, in wire order.\nstruct Extensions {\n"
    out += "".join(f"  std::optional<{h['cname']}> {h['name']};\n" for h in extensions(spec))
    out += "  bool operator==(const Extensions&) const = default;\n"
    out += "  /// Calls visitor(std::optional<Header>&) for every one in wire order, present or not.\n"
    out += "  template <class Self, class Visitor>\n  static void visit(Self& self, Visitor&& visitor) {\n"
    out += "".join(f"    visitor(self.{h['name']});\n" for h in extensions(spec)) + "  }\n};\n\n"
    out += ("/// The set of headers as a bit mask.\nconstexpr uint32_t bit(HeaderId id) { return 1u << "
            "static_cast<unsigned>(id); }\n\n")
    out += ("struct OpcodeInfo {\n  Opcode opcode;\n  const char* name;\n  const char* text;\n"
            "  uint32_t required;   ///< extension headers, as bits of HeaderId\n"
            "  uint32_t timestamp;  ///< extension headers present if BTH.ts is set\n"
            "  bool payload;        ///< payload and padding follow\n};\n\n")
    out += "inline constexpr OpcodeInfo kOpcodes[] = {\n"
    for o in opcodes(spec):
        def mask(names):
            return " | ".join(f"bit(HeaderId::{camel(n)})" for n in names) or "0"
        out += (f'    {{Opcode::{o["name"]}, "{o["name"]}", "{o["text"]}", {mask(o["required"])}, '
                f'{mask(o["optional"])}, {str(o["payload"]).lower()}}},\n')
    out += "};\n\n"
    out += "/// What follows the BTH of that opcode, or nullptr.\n"
    out += "constexpr const OpcodeInfo* opcode_info(uint8_t opcode) {\n  switch (opcode) {\n"
    for i, o in enumerate(opcodes(spec)):
        out += f"    case 0x{o['value']:02x}: return &kOpcodes[{i}];\n"
    out += "    default: return nullptr;\n  }\n}\n\n"
    return out + "// clang-format on\n\n}  // namespace mrc::wire\n"


def docs(spec):
    from .docs import BANNER as MD
    from .docs import cell, paragraph
    out = MD.format(source="headers.yaml") + "# Wire format\n\n| mark | meaning |\n|---|---|\n"
    out += "".join(f"| {k} | {cell(v)} |\n" for k, v in spec.headers_yaml["marks"].items())
    out += "\nBytes count from the start of the header, bits from 7 (first on the wire) to 0.\n"
    out += "*ones*: replaced by ones before the ICRC is computed.\n"
    for h in parse(spec):
        out += f"\n## {h['name']}: {h['title']}, {h['bytes']} bytes\n\n"
        out += paragraph(f"{cell(h.get('doc', ''))}{' ' if h.get('doc') else ''}Source: {cell(h['source'])}.") + "\n"
        out += "| byte | bits | field | mark | meaning |\n|---|---|---|---|---|\n"
        for f in h["fields"]:
            first, last = f.at // 8, (f.at + f.width - 1) // 8
            where = f"{first}" if first == last else f"{first}-{last}"
            hi, lo = 7 - f.at % 8, 7 - (f.at + f.width - 1) % 8
            bits = "" if f.at % 8 == 0 and f.width % 8 == 0 else (f"{hi}:{lo}" if hi != lo or first != last else f"{hi}")
            notes = [f.doc] + (["signed"] if f.signed else []) + (["*ones*"] if f.ones else [])
            if f.enum:
                notes.append(f"see {f.enum.name}")
            if f.assumption:
                notes.append(f.assumption)
            name = "reserved" if f.reserved else f.name
            notes = [n for n in notes if n and not (f.reserved and n == "reserved")]
            out += f"| {where} | {bits} | {name} | {f.mark} | {cell('; '.join(notes))} |\n"
    out += "\n## Opcodes\n\n| opcode | packet | headers after the BTH | mark |\n|---|---|---|---|\n"
    for o in opcodes(spec):
        names = " ".join(f"[{h[:-1]}]" if h.endswith("?") else h for h in o["headers"])
        out += f"| 0x{o['value']:02X} | {o['text']} | {names}{' payload' if o['payload'] else ''} | {o['mark']} |\n"
    out += "\n## Code points\n\n| name | value | mark | meaning |\n|---|---|---|---|\n"
    for name, e in spec.headers_yaml["constants"].items():
        note = cell(e.get("doc", "")) + (f" ({e['assumption']})" if e.get("assumption") else "")
        out += f"| {name} | {e['value']} | {e['mark']} | {note} |\n"
    for name, entry in spec.headers_yaml["enums"].items():
        e = header_enums(spec)[name]
        out += f"\n## {name}\n\n{cell(e.doc)}. Mark {entry['mark']}.\n\n| value | name |\n|---|---|\n"
        out += "".join(f"| 0x{v:02X} | {k} |\n" for k, v in e.values.items())
    return out


def lua(spec):
    env = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True, trim_blocks=True,
                             lstrip_blocks=True)
    path = spec.folder / "templates" / "mrc.lua.j2"
    if not path.is_file():
        return "-- SPDX-License-Identifier: Apache-2.0\n"
    names = [h["name"] for h in parse(spec)]
    ones = {h["name"]: {at: mask for at, mask in enumerate(icrc_mask(h)) if mask} for h in parse(spec)}
    return env.from_string(path.read_text(encoding="utf-8")).render(
        headers=parse(spec)[names.index(BASE):], extensions=[h["name"] for h in extensions(spec)],
        opcodes=opcodes(spec), constants={k: v["value"] for k, v in spec.headers_yaml["constants"].items()}, ones=ones)
