# SPDX-License-Identifier: Apache-2.0
"""nic.yaml as SystemVerilog: structs of mrc_pkg, mrc_csr_regs, mrc_nic."""
import jinja2

from .cpp import BANNER, comment
from .model import SpecError


def logic(width):
    return "logic" if width == 1 else f"logic [{width - 1}:0]"


def value_type(value):
    if value.array:
        return f"logic [{len(value.sources) - 1}:0]{'' if value.width == 1 else f'[{value.width - 1}:0]'}"
    return logic(value.width)


def struct(name, doc, members):
    """members: (type, name), first on top."""
    return (comment(doc, "  ") + "  typedef struct packed {\n"
            + "".join(f"    {kind} {member};\n" for kind, member in members) + f"  }} {name};\n\n")


def package(nic):
    """What mrc_pkg holds of nic.yaml, and the buses of csr."""
    out = "  // ---- blocks (nic.yaml): register values that each sees, what csr answers, pulses\n\n"
    for b in nic.blocks.values():
        if b.values:
            out += struct(f"{b.name}_csr_t", "", [(value_type(v), v.name) for v in b.values])
    out += struct("nic_csr_t", "Register values of all blocks but csr.",
                  [(f"{b.name}_csr_t", b.name) for b in nic.seen()])
    out += struct("csr_status_t", "Read-only registers as csr has them now.",
                  [(logic(32), r["name"].lower()) for r in nic.status])
    pulsing = [b for b in nic.blocks.values() if b.pulses and b.name != "csr"]
    for b in pulsing:
        out += struct(f"{b.name}_pulses_t", "", [("logic", p) for p in b.pulses])
    out += struct("nic_pulses_t", "Pulses of all blocks but csr, of a lane those of all planes.",
                  [(f"{b.name}_pulses_t" + (" [MaxPlanes-1:0]" if b.lane else ""), b.name) for b in pulsing])
    out += struct("cfg_t", "Table write that csr broadcasts to all blocks (docs/design/blocks/conventions.md).",
                  [("logic", "req"), (logic(4), "tbl"), (logic(nic.values["tbl_index"].width), "index"), (logic(512), "data")])
    out += struct("axil_req_t", "AXI4-Lite, what the manager drives.",
                  [("logic", "awvalid"), (logic(16), "awaddr"), ("logic", "wvalid"), (logic(32), "wdata"),
                   (logic(4), "wstrb"), ("logic", "bready"), ("logic", "arvalid"), (logic(16), "araddr"),
                   ("logic", "rready")])
    out += struct("axil_rsp_t", "AXI4-Lite, what the subordinate drives.",
                  [("logic", "awready"), ("logic", "wready"), ("logic", "bvalid"), (logic(2), "bresp"),
                   ("logic", "arready"), ("logic", "rvalid"), (logic(32), "rdata"), (logic(2), "rresp")])
    return out


def wrap(items, indent, width=100):
    """Items with commas between them, in lines."""
    lines, line = [], indent
    for i, item in enumerate(items):
        text = item + ("," if i + 1 < len(items) else "")
        if len(line) + len(text) + 1 > width and line.strip():
            lines.append(line.rstrip())
            line = indent
        line += text + " "
    return "\n".join([*lines, line.rstrip()])


def place(nic, address, first):
    """Index of the register at an address among those that software writes: counters, in their midst, have none."""
    counters = nic.counters[0]["offset"]
    behind = sum(r["count"] for r in nic.counters) if address >= counters else 0
    return address // 4 - first - behind


def writable(nic):
    """(first word, [register or None per index]) of all registers that software writes."""
    rw = [r for r in nic.registers if r["access"] == "rw"]
    first = min(r["offset"] for r in rw) // 4
    at = {place(nic, r["offset"] + i * r["stride"], first): r for r in rw for i in range(r["count"])}
    return first, [at.get(i) for i in range(max(at) + 1)]


def bits_of(source, word):
    reg = f"rw_q[{word}]"
    if source.width == 32:
        return reg
    if source.width == 1:
        return f"{reg}[{source.lsb}]"
    return f"{reg}[{source.lsb + source.width - 1}:{source.lsb}]"


def value_expression(nic, value, first):
    words = [place(nic, nic.address(value, i), first) for i in range(len(value.sources))]
    parts = [bits_of(s, w) for s, w in zip(value.sources, words)]
    if len(parts) == 1:
        return parts[0]
    if value.array:
        parts = list(reversed(parts))
    return "{" + ", ".join(parts) + "}"


def for_each(count, text):
    """Loops over an array of registers, in a process with a clock: Verilator takes 64 turns at most."""
    return "\n".join(f"      for (int unsigned i = {at}; i < {min(at + 64, count)}; i++) begin\n        {text}\n      end"
                     for at in range(0, count, 64))


def csr_regs(nic):
    first, words = writable(nic)
    own = [(p, r) for p, r in nic.blocks["csr"].pulses.items()]
    count_words = sum(r["count"] for r in nic.counters)
    count_first = nic.counters[0]["offset"] // 4
    index = max(1, (len(words) - 1).bit_length())
    cindex = max(1, (count_words - 1).bit_length())
    count_pulse = "if (pulse[i]) begin\n          cnt_q[i] <= cnt_q[i] + 32'd1;\n        end"
    out = BANNER.format(source="csr.yaml and nic.yaml") + """
/// The register file: registers that software writes, counters, what a read gives, and the values
/// that the blocks see. A write shows in the next cycle, a read is combinational. It knows no bus and
/// no meaning of a register: mrc_csr judges writes, and answers for the registers in status_i.
/// Contract: docs/design/blocks/nic.md, registers: docs/reference/generated/csr.md.
module mrc_csr_regs
  import mrc_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    // Word address, data and bytes of a write; hit: there is such a register; value: what it will hold.
    input logic [13:0] w_word_i,
    input logic [31:0] w_data_i,
    input logic [3:0] w_strb_i,
    input logic w_store_i,
    output logic w_hit_o,
    output logic [31:0] w_value_o,
    input logic r_take_i,
    input logic [13:0] r_word_i,
    input csr_status_t status_i,
    output logic r_hit_o,
    output logic [31:0] r_data_o,
    input nic_pulses_t pulses_i,
"""
    out += "".join(f"    input logic {p}_i,\n" for p, _ in own)
    out += "    output csr_csr_t own_o,\n    output nic_csr_t csr_o\n);\n\n"
    out += f"""  localparam logic [13:0] RwFirst = 14'd{first};
  localparam logic [13:0] RwWords = 14'd{len(words)};
  localparam logic [13:0] CntFirst = 14'd{count_first};
  localparam logic [13:0] CntWords = 14'd{count_words};

  // Bits that a register stores, from the last address down; 0: there is none.
  localparam logic [{len(words) - 1}:0][31:0] RwMask = {{
"""
    out += wrap([f"32'h{r['mask'] if r else 0:08x}" for r in reversed(words)], "    ") + "\n  };\n"
    out += f"  localparam logic [{len(words) - 1}:0][31:0] RwReset = {{\n"
    out += wrap([f"32'h{r['reset'] if r else 0:08x}" for r in reversed(words)], "    ") + "\n  };\n"
    out += f"""
  logic [31:0] rw_q[0:{len(words) - 1}];
  logic [31:0] cnt_q[0:{count_words - 1}];

  // Where the register of a word is in rw_q; counters, in their midst, have no place there.
  function automatic logic [13:0] place(logic [13:0] word);
    logic [13:0] at;
    at = word - RwFirst;
    if (word >= CntFirst) begin
      at = (word - CntFirst < CntWords) ? RwWords : word - (RwFirst + CntWords);
    end
    return at;
  endfunction

  // ---- write

  logic [13:0] w_at;
  logic [{index - 1}:0] w_idx;
  logic [31:0] w_mask;

  assign w_at = place(w_word_i);
  assign w_idx = w_at[{index - 1}:0];
  assign w_hit_o = w_at < RwWords && RwMask[w_idx] != 32'd0;
  assign w_mask = {{{{8{{w_strb_i[3]}}}}, {{8{{w_strb_i[2]}}}}, {{8{{w_strb_i[1]}}}}, {{8{{w_strb_i[0]}}}}}};
  assign w_value_o = ((w_data_i & w_mask) | (rw_q[w_idx] & ~w_mask)) & RwMask[w_idx];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
{for_each(len(words), "rw_q[i] <= RwReset[i];")}
    end else if (w_store_i) begin
      rw_q[w_idx] <= w_value_o;
    end
  end

  // ---- counters

  logic [{count_words - 1}:0] pulse;

  assign pulse = {{
"""
    parts = []
    for r in reversed(nic.counters):
        block, pulse = nic.pulse_of[r["name"]].split(".")
        if block == "csr":
            parts.append(f"{pulse}_i")
        elif nic.blocks[block].lane:
            parts += [f"pulses_i.{block}[{i}].{pulse}" for i in reversed(range(r["count"]))]
        else:
            parts.append(f"pulses_i.{block}.{pulse}")
    out += wrap(parts, "    ") + f"""
  }};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
{for_each(count_words, "cnt_q[i] <= 32'd0;")}
    end else if (pulse != '0) begin
{for_each(count_words, count_pulse)}
    end
  end

  // ---- read

  logic [13:0] r_rw, r_cnt;

  assign r_rw = place(r_word_i);
  assign r_cnt = r_word_i - CntFirst;

  always_comb begin
    r_hit_o = 1'b1;
    r_data_o = 32'd0;
    if (!r_take_i) begin
      r_hit_o = 1'b0;
    end else if (r_rw < RwWords && RwMask[r_rw[{index - 1}:0]] != 32'd0) begin
      r_data_o = rw_q[r_rw[{index - 1}:0]];
    end else if (r_cnt < CntWords) begin
      r_data_o = cnt_q[r_cnt[{cindex - 1}:0]];
    end else begin
      unique case (r_word_i)
"""
    for r in nic.constants:
        out += f"        Csr{r['cname']}[15:2]: r_data_o = Csr{r['cname']}Reset;\n"
    for r in nic.status:
        out += f"        Csr{r['cname']}[15:2]: r_data_o = status_i.{r['name'].lower()};\n"
    out += "        default: r_hit_o = 1'b0;\n      endcase\n    end\n  end\n\n  // ---- what csr and the blocks see\n\n"
    for b in nic.blocks.values():
        to = "own_o" if b.name == "csr" else f"csr_o.{b.name}"
        for v in b.values:
            expression = value_expression(nic, v, first)
            line = f"  assign {to}.{v.name} = {expression};\n"
            if len(line) > 100:
                line = f"  assign {to}.{v.name} = {{\n{wrap(expression[1:-1].split(', '), '      ')}\n  }};\n"
            out += line
    out += "\n  // Bits of registers that no block sees, and of addresses beyond the last index.\n"
    out += f"  logic unused_bits;\n  assign unused_bits = ^{{w_at, r_rw, r_cnt,\n"
    seen = {place(nic, nic.address(v, i), first): 0 for b in nic.blocks.values() for v in b.values
            for i in range(len(v.sources))}
    partly = []
    for w, r in enumerate(words):
        if r is None or r["mask"] != 0xFFFFFFFF or w not in seen:
            partly.append(f"rw_q[{w}]")
    out += wrap(partly, "      ") + "};\n\nendmodule\n"
    return out


# ---- the top


def names(nic, s):
    """(valid, ready, data) of a stream in mrc_nic."""
    pins = nic.host_out.get(s.suffix) if s.producer == "host" else nic.host_in.get(s.name)
    if pins:
        i, o = ("i", "o") if s.producer == "host" else ("o", "i")
        data = s.member if s.struct.short == "line" else f"{pins}_{i}"
        return f"{pins}_valid_{i}", f"{pins}_ready_{o}", data
    return f"{s.member}_valid", f"{s.member}_ready", s.member


def joined(parts):
    """Several streams on one port: the first is index 0."""
    return parts[0] if len(parts) == 1 else "{" + ", ".join(reversed(parts)) + "}"


def level(nic, b, source):
    block, name, part = source
    signal = f"{name}_q" if block == "nic" else f"{block}_{name}"
    return signal + part


def connections(nic, b, acks):
    """(port, expression) of the instance of a block."""
    at = "[p]" if b.lane else ""
    out = [("clk_i", None), ("rst_ni", None)]
    if b.bug:
        out.append(("bug_i", "bug_q"))
    if b.values and b.name != "csr":
        out.append(("csr_i", f"csr.{b.name}"))
    for port, (block, name, part) in b.levels.items():
        out.append((f"{port}_i", level(nic, b, (block, name, part))))
    for name in b.drives:
        out.append((f"{name}_o", f"{b.name}_{name}{at}"))
    if b.cfg is not None:
        out.append(("cfg_i", "cfg"))
        out.append(("cfg_ack_o", f"cfg_ack[{acks.index(b)}]"))
    for port, streams in b.inputs.items():
        s = streams[0]
        valid, ready, data = ([names(nic, x)[k] for x in streams] for k in range(3))
        if s.by:
            out.append((f"{port}_valid_i", f"{valid[0]} && {data[0]}.{s.by} == 4'(p)"))
            out.append((f"{port}_i", data[0]))
            if s.ready:
                out += [(f"{port}_ready_{n}_o", f"{s.member}_ready_{n}[p]") for n in s.ready["names"]]
            else:
                out.append((f"{port}_ready_o", f"{s.member}_ready_lane[p]"))
        else:
            out.append((f"{port}_valid_i", joined(valid)))
            out.append((f"{port}_ready_o", joined(ready)))
            out.append((f"{port}_i", joined(data)))
    for s in b.outputs:
        valid, ready, data = (x + (at if s.lane else "") for x in names(nic, s))
        out += [(f"{s.suffix}_valid_o", valid), (f"{s.suffix}_ready_i", ready), (f"{s.suffix}_o", data)]
    for port, (s, fields) in b.watches.items():
        valid, ready, data = names(nic, s)
        out += [(f"{port}_valid_i", valid), (f"{port}_ready_i", ready)]
        out += [(f"{port}_{f}_i", f"{data}.{f}") for f in fields]
    if b.name != "csr":
        if b.pulses:
            out.append(("pulses_o", f"{b.name}_pulses[p]" if b.lane else f"pulses.{b.name}"))
    else:
        out += [("pulses_i", "pulses"), ("csr_o", "csr"), ("cfg_o", "cfg"), ("cfg_ack_i", "cfg_ack")]
    out += list(b.wires.items())
    return [(port, None if port == expression else expression) for port, expression in out]


def instance(nic, b, acks, indent):
    out = f"{indent}mrc_{b.name} "
    if b.params:
        out += "#(\n" + ",\n".join(f"{indent}    .{p}({p})" for p in b.params) + f"\n{indent}) "
    out += f"u_{b.name} (\n"
    rows = []
    for port, expression in connections(nic, b, acks):
        row = f"{indent}    .{port}" + (f"({expression})" if expression is not None else "")
        if len(row) > 98 and expression.startswith("{"):
            row = (f"{indent}    .{port}({{\n" + wrap(expression[1:-1].split(", "), indent + "      ")
                   + f"\n{indent}    }})")
        rows.append(row)
    return out + ",\n".join(rows) + f"\n{indent});\n"


def declarations(nic):
    out = ""
    for s in nic.streams.values():
        valid, ready, data = names(nic, s)
        if s.lane:
            out += f"  logic [NumPlanes-1:0] {valid}, {ready};\n"
            out += (f"  {s.struct.name} {data}[0:NumPlanes-1];\n" if s.unpacked
                    else f"  {s.struct.name} [NumPlanes-1:0] {data};\n")
        else:
            if not valid.endswith(("_i", "_o")):
                out += f"  logic {valid}, {ready};\n"
            if not data.endswith(("_i", "_o")):
                out += f"  {s.struct.name} {data};\n"
        if s.by:
            more = [f"{s.member}_ready_{n}" for n in s.ready["names"]] if s.ready else [f"{s.member}_ready_lane"]
            out += f"  logic [NumPlanes-1:0] {', '.join(more)};\n"
    for b in nic.blocks.values():
        for name, width in b.drives.items():
            kind = ("logic [NumPlanes-1:0]" if b.lane else
                    f"logic [{width}-1:0]" if isinstance(width, str) else logic(width))
            out += f"  {kind} {b.name}_{name};\n"
    return out


def demuxes(nic):
    """The producer's ready is that of the lane that its stream names."""
    out = ""
    for s in nic.streams.values():
        if not s.by:
            continue
        lane = f"{s.member}.{s.by}[PlaneW-1:0]"
        if s.ready:
            zero, one = (f"{s.member}_ready_{n}[{lane}]" for n in s.ready["names"])
            out += f"  assign {s.member}_ready = {s.member}.{s.ready['field']}\n      ? {one} : {zero};\n"
        else:
            out += f"  assign {s.member}_ready = {s.member}_ready_lane[{lane}];\n"
    return out


def lane_pulses(nic):
    out = ""
    for b in nic.blocks.values():
        if b.lane and b.pulses:
            out += f"  {b.name}_pulses_t [NumPlanes-1:0] {b.name}_pulses;\n"
            out += f"  assign pulses.{b.name} = $bits(pulses.{b.name})'({b.name}_pulses);\n"
    return out


def observed(nic, lane):
    out = ""
    to = "  assign obs_core_o." if not lane else "    assign obs_lane_o[p]."
    for s in nic.streams.values():
        if s.lane != lane:
            continue
        valid, ready, data = (x + ("[p]" if lane else "") for x in names(nic, s))
        line = f"{to}{s.member} = obs_of_{s.struct.short}({valid}, {ready}, {data});\n"
        if len(line) > 100:
            line = line.replace(" = ", " =\n" + " " * (len(to) - len(to.lstrip()) + 4), 1)
        out += line
    return out


def top(nic):
    """rtl/gen/mrc_nic.sv, or nothing where the folder has no such template."""
    template = nic.spec.folder / "templates" / "mrc_nic.sv.j2"
    if not template.is_file():
        return {}
    acks = nic.acks()
    env = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True, trim_blocks=True,
                             lstrip_blocks=True)
    core = [b for b in nic.blocks.values() if not b.lane]
    lanes = [b for b in nic.blocks.values() if b.lane]
    try:
        text = env.from_string(template.read_text(encoding="utf-8")).render(
            banner=BANNER.format(source="nic.yaml and cmodel/spec/templates/mrc_nic.sv.j2"),
            acks=len(acks), declarations=declarations(nic), demuxes=demuxes(nic), lane_pulses=lane_pulses(nic),
            blocks="\n".join(instance(nic, b, acks, "  ") for b in core),
            lanes="\n".join(instance(nic, b, acks, "    ") for b in lanes),
            observed_core=observed(nic, False), observed_lane=observed(nic, True))
    except jinja2.TemplateError as error:
        raise SpecError(f"templates/{template.name}: {error}") from None
    return {"rtl/gen/mrc_nic.sv": text}
