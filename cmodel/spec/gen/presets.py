# SPDX-License-Identifier: Apache-2.0
"""presets.yaml: cmodel/gen/presets.hpp and the RTL wrappers."""
import jinja2

from .cpp import BANNER, comment
from .model import SpecError, keys


def names(spec):
    given = spec.presets_yaml.get("presets") or ["asic800", "fpga100", "tiny"]
    return list(given)


def preset_doc(spec, name):
    given = spec.presets_yaml.get("presets")
    if isinstance(given, dict):
        entry = given[name]
        return entry.get("doc", "") if isinstance(entry, dict) else str(entry or "")
    return ""


def parameters(spec):
    keys("presets.yaml", spec.presets_yaml, {"presets", "parameters", "model_only"}, ["parameters"])
    out = []
    for entry in spec.presets_yaml["parameters"]:
        where = f"presets.yaml: {entry.get('name', entry)}"
        keys(where, entry, {"name", "cname", "doc", "min", "max", "rtl", *names(spec)},
             ["name", "cname", "min", "max", *names(spec)])
        p = dict(entry)
        for key in ("min", "max", *names(spec)):
            p[key] = spec.number(where, entry[key])
        for preset in names(spec):
            if not p["min"] <= p[preset] <= p["max"]:
                raise SpecError(f"{where}: {preset} = {p[preset]} is outside {p['min']}..{p['max']}")
        p["values"] = {n: p[n] for n in names(spec)}
        out.append(p)
    return out


def model_only(spec):
    """Numbers that the model and the bench need, but not the RTL."""
    out = []
    for entry in spec.presets_yaml.get("model_only") or []:
        where = f"presets.yaml: {entry.get('cname', entry)}"
        keys(where, entry, {"cname", "doc", *names(spec)}, ["cname", *names(spec)])
        out.append({**entry, **{n: spec.number(where, entry[n]) for n in names(spec)}})
    return out


def check_ticks(spec, params, extra):
    """A tick is 128 ns: TickParts of them in TickCycles clocks, whose period is rounded to a ps."""
    cycles, parts, clock = (next((p for p in params + extra if p["cname"] == name), None)
                            for name in ("tick_cycles", "tick_parts", "clock_ps"))
    for n in names(spec) if cycles and parts and clock else []:
        if abs(cycles[n] * clock[n] - 128_000 * parts[n]) > cycles[n]:
            raise SpecError(f"presets.yaml: {n}: {parts[n]} ticks of 128 ns are not {cycles[n]} clocks of {clock[n]} ps;"
                            " change TickCycles and TickParts")


def cpp(spec):
    params = parameters(spec)
    extra = model_only(spec)
    check_ticks(spec, params, extra)
    out = BANNER.format(source="cmodel/spec/presets.yaml")
    out += "#pragma once\n\n#include <string_view>\n\nnamespace mrc {\n\n// clang-format off\n\n"
    out += "/// One configuration of model and RTL.\nstruct Preset {\n  const char* name;\n"
    for p in params:
        out += comment(f"{p.get('doc', '').rstrip('.')}; {p['min']}..{p['max']}.", "  ")
        out += f"  unsigned {p['cname']};\n"
    for p in extra:
        out += comment(p.get("doc", ""), "  ")
        out += f"  unsigned {p['cname']};\n"
    out += "};\n\ninline constexpr Preset kPresets[] = {\n"
    for n in names(spec):
        out += comment(preset_doc(spec, n), "    ", "//")
        out += f'    {{.name = "{n}"' + "".join(f", .{p['cname']} = {p[n]}" for p in params + extra) + "},\n"
    out += "};\n\n"
    out += "/// A parameter that the RTL has too: for tables, range checks and messages.\n"
    out += ("struct PresetParameter {\n  const char* name;   ///< as in the RTL\n"
            "  const char* cname;  ///< as in Preset\n  unsigned min, max;\n  unsigned Preset::*member;\n};\n\n")
    out += "inline constexpr PresetParameter kPresetParameters[] = {\n"
    for p in params:
        out += f'    {{"{p["name"]}", "{p["cname"]}", {p["min"]}, {p["max"]}, &Preset::{p["cname"]}}},\n'
    out += "};\n\n"
    out += ("/// The preset of that name, or nullptr.\nconstexpr const Preset* find_preset(std::string_view name) {\n"
            "  for (const Preset& p : kPresets) {\n    if (name == p.name) return &p;\n  }\n  return nullptr;\n}\n\n")
    return out + "// clang-format on\n\n}  // namespace mrc\n"


def wrappers(spec):
    template = spec.folder / "templates" / "nic_wrapper.sv.j2"
    if not template.is_file():
        return {}
    env = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True, trim_blocks=True,
                             lstrip_blocks=True)
    text = template.read_text(encoding="utf-8")
    out = {}
    for n in names(spec):
        try:
            out[f"rtl/gen/mrc_nic_{n}.sv"] = env.from_string(text).render(
                preset=n, doc=preset_doc(spec, n), parameters=parameters(spec),
                values={p["name"]: p[n] for p in parameters(spec)},
                constants={k: v[0] for k, v in spec.constants.items()})
        except jinja2.TemplateError as error:
            raise SpecError(f"templates/{template.name}: {error}") from None
    return out
