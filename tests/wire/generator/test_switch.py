#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A switch of CTRL is one field in csr.yaml and one name in nic.yaml: everything else that only carries it is made.

Takes the NIC's own YAML files, adds a switch that rx_check and tx_path see, and looks for it where hands typed it
before: register file, wiring, values of the model, scenario keys, ports in the documents."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
SPEC = ROOT / "cmodel/spec"
BIT = 15
FIELD = f'{{name: trial_switch, lsb: {BIT}, width: 1, reset: 1, doc: "on trial"}}'
EXPECTED = [  # file, what stands there only with the switch
    ("rtl/gen/mrc_pkg.sv", "    logic trial_switch;\n"),
    ("rtl/gen/mrc_csr_regs.sv", "  assign csr_o.rx_check.trial_switch = rw_q[0][15];\n"),
    ("rtl/gen/mrc_csr_regs.sv", "  assign csr_o.tx_path.trial_switch = rw_q[0][15];\n"),
    ("cmodel/gen/csr_values.hpp", "  bool trial_switch = true;\n"),
    ("cmodel/gen/csr_values.hpp", "  out.trial_switch = csr::kCtrlTrialSwitch.get(reg(csr::kCtrl)) != 0;\n"),
    ("tb/gen/switches.hpp", "  bool trial_switch = true;\n"),
    ("tb/gen/switches.hpp", '{ return s.trial_switch; }, 1, "0 1"},\n'),
    ("tb/gen/switches.hpp", "  KEY(trial_switch, 1)"),
    ("docs/reference/generated/csr.md", "| 15 | trial_switch | 1 | on trial |\n"),
    ("docs/reference/generated/nic.md", "zero_length, trial_switch, returned; NAK_CODE."),
]


def add(path, text, replacement):
    old = path.read_text(encoding="utf-8")
    assert old.count(text) == 1, f"{path.name}: '{text}' stands there {old.count(text)} times"
    path.unlink()
    path.write_text(old.replace(text, replacement), encoding="utf-8")


def main():
    with tempfile.TemporaryDirectory() as folder:
        spec, out = pathlib.Path(folder) / "spec", pathlib.Path(folder) / "out"
        shutil.copytree(SPEC, spec, ignore=shutil.ignore_patterns("*.py", "gen"))
        # No bit of CTRL is free: it has that of loss_shrinks, which the sample's blocks do without.
        csr = (spec / "csr.yaml").read_text(encoding="utf-8")
        add(spec / "csr.yaml", re.search(r"\{name: loss_shrinks, [^}]*\}", csr)[0], FIELD)
        add(spec / "nic.yaml", ", loss_shrinks", "")
        add(spec / "nic.yaml", "zero_length, nak_invalid", "zero_length, trial_switch, nak_invalid")
        add(spec / "nic.yaml", "csr: [ev_min_active,", "csr: [trial_switch, ev_min_active,")
        done = subprocess.run([sys.executable, str(SPEC / "generate.py"), "--spec", str(spec), "--root", str(out)],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(f"generate.py: exit {done.returncode}\n{done.stderr}")
            return 1
        wrong = [f"{name}: '{text.strip()}' is missing" for name, text in EXPECTED
                 if text not in (out / name).read_text(encoding="utf-8")]
        wrong += [f"{name}: has '{text.strip()}' without the switch" for name, text in EXPECTED
                  if text in (ROOT / name).read_text(encoding="utf-8")]
        # The store mask of CTRL is the last of RwMask, its reset the last of RwReset.
        regs = (out / "rtl/gen/mrc_csr_regs.sv").read_text(encoding="utf-8")
        for what in ("RwMask", "RwReset"):
            word = regs.split(f"{what} = {{")[1].split("}")[0].split(",")[-1].strip()
            if not int(word.removeprefix("32'h"), 16) >> BIT & 1:
                wrong.append(f"rtl/gen/mrc_csr_regs.sv: {what} of CTRL is {word}, bit {BIT} is missing")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
