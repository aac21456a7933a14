#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""mrc prove on a sample: what holds, what is false, vacuous, toothless or not inductive; wrong tables and missing engines."""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLE = "tests/tools/formal/table.yaml"
WANT = {"sample.holds": "proved", "sample.wrong": "failed", "sample.vacuous": "vacuous", "sample.toothless": "toothless",
        "sample.shallow": "holds to depth", "sample.no_induction": "unknown", "sample.reached": "reached",
        "sample.not_reached": "not reached", "bits.holds": "proved", "bits_alone.no_induction": "unknown"}
HARMLESS = """{file: tests/tools/formal/sample.sv, from: "n_q + 4'd1", to: "n_q - 4'd15"}"""
# A change of the table that is an error, and what is said of it.
WRONG = (("kind: pdr", "kind: magic", "unknown kind 'magic'"),
         ("bug: harmless", "bug: nobody", "names no bug of its harness that it kills"),
         ("bug: harmless", "bug: never_wraps", "no property names bug sample.harmless"),
         ("n_q + 4'd1\"", "n_q * 4'd1\"", "stands 0 times"),
         ("module: sample\n", "modul: sample\n", "unknown key 'modul'"),
         ("sample.sv]", "missing.sv]", "missing.sv, which does not exist"),
         ("what: It counts to 9, bug", "bug", "does not say what holds"),
         (HARMLESS, "{injected: pkey-unchecket}", "'pkey-unchecket', which cmodel/spec/bugs.yaml does not have"),
         (HARMLESS, "{injected: pkey-unchecked}", "'pkey-unchecked', which none of its files has"),
         (HARMLESS, "{number: 20}", "names neither an injected bug nor a file"),
         ("harnesses:", "harnesses: [", "cannot read"))


def prove(*words, table=TABLE, path=None):
    environment = {**os.environ, **({"PATH": path} if path else {})}
    return subprocess.run([sys.executable, ROOT / "tools/prove.py", "--table", table, *words], cwd=ROOT, text=True,
                          capture_output=True, check=False, env=environment)


def main():
    bad = []
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        done = prove("--json", scratch / "report.json")
        if done.returncode != 1:
            bad.append(f"exit code {done.returncode}, not 1: {done.stderr}")
        rows = {row["name"]: row for row in json.loads((scratch / "report.json").read_text())["properties"]}
        got = {name: row["result"] for name, row in rows.items()}
        if got != WANT:
            bad.append(f"expected {WANT}, got {got}")
        if rows["sample.holds"]["cover"]["cycle"] != 10 or rows["sample.holds"]["bug"]["cycle"] != 11:
            bad.append(f"cover and bug of sample.holds: {rows['sample.holds']}")
        one = prove("--only", "sample.holds", "--only", "sample.reached")
        if one.returncode or "2 of 2 properties are as expected" not in one.stdout or one.stderr:
            bad.append(f"two that hold, answered before: exit code {one.returncode}, {one.stdout}{one.stderr}")
        quick = prove("--quick", "--list")
        if quick.returncode or "bits_alone" in quick.stdout or "bits.holds" not in quick.stdout:
            bad.append(f"--quick: exit code {quick.returncode}, {quick.stdout}{quick.stderr}")
        # One that is slow is not asked, but it must be readable.
        text = (ROOT / TABLE).read_text()
        assert "  bits_alone:\n" in text
        (scratch / "slow.yaml").write_text(text.replace("  bits_alone:\n", "  bits_alone:\n    top: nobody\n"))
        done = prove("--quick", "--only", "sample.reached", table=str(scratch / "slow.yaml"))
        if done.returncode != 3 or "could not read harness bits_alone" not in done.stderr:
            bad.append(f"a slow harness that cannot be read: exit code {done.returncode}, {done.stderr}")
        for old, new, words in WRONG:
            text = (ROOT / TABLE).read_text()
            assert old in text, old
            (scratch / "wrong.yaml").write_text(text.replace(old, new, 1))
            done = prove("--only", "sample", table=str(scratch / "wrong.yaml"))
            if done.returncode != 3 or words not in done.stderr or "Traceback" in done.stderr:
                bad.append(f"{new}: exit code {done.returncode}, {done.stderr}")
        (scratch / "fresh.yaml").write_text((ROOT / TABLE).read_text().replace("search: 12", "search: 13"))
        done = prove("--only", "sample.shallow", table=str(scratch / "fresh.yaml"), path=str(scratch))
        if done.returncode != 3 or "is not installed" not in done.stderr:
            bad.append(f"no engine: exit code {done.returncode}, {done.stderr}")
    print("\n".join(bad) or f"{len(WANT)} properties and {len(WRONG)} wrong tables told as they are")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
