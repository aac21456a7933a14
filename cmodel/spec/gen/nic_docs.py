# SPDX-License-Identifier: Apache-2.0
"""nic.yaml for readers: the table of ports on each block's page, docs/reference/generated/nic.md."""
import re

from .docs import BANNER, cell, paragraph
from .model import SpecError

MARK = re.compile(r"^<!-- ports: (\w+) -->\n.*?^<!-- end of ports -->", re.DOTALL | re.MULTILINE)
BEGIN = re.compile(r"^<!-- ports: ", re.MULTILINE)


def depth_text(s):
    if s.ready:
        return f"two FIFOs, `{s.ready['field']}` selects"
    return f"FIFO {s.depth}"


def registers_text(b):
    """CTRL.a, b; EP_CTL.c: register after register."""
    fields = {}
    for v in b.values:
        for s in v.sources if not v.array else v.sources[:1]:
            name = s.reg["name"]
            if v.array and len(v.sources) > 1 and s.reg["count"] == 1:
                name = f"{v.sources[0].reg['name']} to {v.sources[-1].reg['name']}"
            fields.setdefault(name, []).append(s.field["name"] if s.field else "")
    return "; ".join(name + (("." + ", ".join(f)) if any(f) else "") for name, f in fields.items())


def source_text(s, port):
    other = f" (`{s.suffix}`)" if s.suffix != port else ""
    return f"{s.producer}{other}"


def ports(nic, b):
    """The rows of a block's table of ports."""
    out = "| port | direction | struct, width | from, to |\n|---|---|---|---|\n"
    for port, streams in b.inputs.items():
        s = streams[0]
        many = "one per plane, " if s.lane and not b.lane else "" if len(streams) == 1 else f"{len(streams)} of them, "
        out += (f"| `{port}` | in, {many}{depth_text(s)} | {s.struct.name} | "
                f"{', '.join(source_text(x, port) for x in streams)} |\n")
    for s in b.outputs:
        consumer = nic.blocks.get(s.consumer)
        port = f" (`{s.port}`)" if s.port and s.port != s.suffix else ""
        where = f"{s.consumer}{port}" if consumer else f"host pins `{nic.host_in[s.name]}`"
        by = f", one per plane: `{s.by}` selects" if s.by else ""
        out += f"| `{s.suffix}` | out | {s.struct.name} | {where}{by} |\n"
    for port, (s, fields) in b.watches.items():
        out += (f"| `{port}` | watched: {', '.join(['valid', 'ready', *fields])} | {s.struct.name} | "
                f"{s.producer} to {s.consumer} |\n")
    if b.cfg is not None:
        out += f"| cfg | in | {', '.join(b.cfg)} | csr |\n"
    if b.values:
        what = "the register file" if b.name == "csr" else "csr"
        out += f"| CSR (`csr_i`) | levels in | {registers_text(b)} | {what} |\n"
    for port, (block, name, part) in b.levels.items():
        out += f"| `{port}` | level in | {level_width(nic, block, name)} | {'mrc_nic' if block == 'nic' else block}" \
               f"{f' (`{name}{part}`)' if name != port or part else ''} |\n"
    for name, width in b.drives.items():
        takers = [x.name for x in nic.blocks.values() if (b.name, name) in ((s, n) for s, n, _ in x.levels.values())]
        out += f"| `{name}` | level out | {width} | {', '.join(takers) or 'mrc_nic'} |\n"
    if b.pulses:
        to = "counters" if b.name == "csr" else "csr"
        out += ("| pulses | out | "
                + ", ".join(f"{p if b.name == 'csr' else p + '_inc'} ({counter_text(r)})" for p, r in b.pulses.items())
                + f" | {to} |\n")
    pins = [p for p in b.wires if re.match(r"(s_axil|tx_t|rx_t|rsp)_?", p)]
    if pins:
        out += f"| {', '.join(f'`{p}`' for p in pins)} | pins | | {'host' if b.name == 'csr' else 'port, host'} |\n"
    return out


def counter_text(r):
    return r["name"] if r["count"] == 1 else f"{r['name'].rstrip('0')} of the plane"


def level_width(nic, block, name):
    if block == "nic" or nic.blocks[block].lane:
        return "bit per plane"
    return nic.blocks[block].drives[name]


def pages(nic, root):
    """{path: text} of the pages under root that have a place for a table of ports."""
    out = {}
    found = {}
    for path in sorted((root / "docs/design/blocks").rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        name = str(path.relative_to(root))
        if len(MARK.findall(text)) != len(BEGIN.findall(text)):
            raise SpecError(f"{name}: '<!-- ports: NAME -->' without '<!-- end of ports -->'")

        def table(match, name=name):
            block = match[1]
            if block not in nic.blocks:
                raise SpecError(f"{name}: '<!-- ports: {block} -->': nic.yaml has no such block")
            if block in found:
                raise SpecError(f"{name}: the ports of {block} stand in {found[block]} already")
            found[block] = name
            return f"<!-- ports: {block} -->\n{ports(nic, nic.blocks[block])}<!-- end of ports -->"

        new = MARK.sub(table, text)
        if found and name in found.values():
            out[name] = new
    return out


def waits(nic):
    """Who waits for whom."""
    out = "\n## Who waits for whom\n\n" + paragraph(
        "An input is taken, a table write (cfg) acknowledged, once those behind it are. Only the host (pins `host_rd`, "
        "`host_wr`, `cqe`) and the ready of a port end a chain; there is no circle, or the generator would refuse it. "
        "`hold` is room for completions that wait for their data; csr's `write` is a table write on the bus.")
    out += "\n| waiting | for |\n|---|---|\n"
    for b in nic.blocks.values():
        for name in b.waits:
            found = [nic.host_in.get(f"{b.name}.{o}", o) if block == "host" else f"{block}.{port}"
                     for o, (block, port) in zip(b.waits[name], nic.waits(b, name))] if b.waits[name] != ["all cfg"] \
                else ["cfg of all blocks"]
            out += f"| {b.name}.{name} | {', '.join(found) or 'nothing'} |\n"
    return out


def overview(nic):
    out = BANNER.format(source="nic.yaml") + "# Blocks of the NIC\n\n"
    out += "| block | what for | takes from | gives to |\n|---|---|---|---|\n"
    for b in nic.blocks.values():
        takes = dict.fromkeys(s.producer for streams in b.inputs.values() for s in streams)
        gives = dict.fromkeys(s.consumer for s in b.outputs)
        out += f"| [{b.name}](#{b.name}) | {cell(b.doc)} | {', '.join(takes)} | {', '.join(gives)} |\n"
    out += "\n" + paragraph("A stream goes into a FIFO of its consumer. Blocks with cfg, in the order of the vector of "
                            "acks: " + ", ".join(b.name for b in nic.acks()) + ".")
    out += waits(nic)
    for b in nic.blocks.values():
        out += f"\n## {b.name}\n\n{ports(nic, b)}"
    out += "\n## Counters\n\n| counter | counts | of |\n|---|---|---|\n"
    for r in nic.counters:
        block, pulse = nic.pulse_of[r["name"]].split(".")
        out += f"| {r['name']} | {cell(r['doc'])} | {block} ({pulse}) |\n"
    return out
