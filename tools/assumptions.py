#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: assumptions.py BUILD [--register FILE]

Holds docs/protocol/assumptions.md (or FILE) against the project and the tests that CTest knows in the folder BUILD:
every row of the table "Choices" names settings that exist, and a test that carries its id as a tag (a choice
without a setting has no place there); every row of "Design decisions" names files that exist; ids are there once,
and those that other files name are there.

A setting is `REGISTER.field` or `TABLE.field` (cmodel/spec/csr.yaml), `scenario key` (tb/environment/scenario.cpp),
`fabric key` (sim/experiment/scenario.cpp) or `mrc command --option` (cli)."""
import re
from pathlib import Path

import rtl
import yaml
from testplan import known_tests, matches

ROOT = Path(__file__).resolve().parent.parent
COLUMNS = {
    "Choices": ["id", "kind", "what we assume", "default", "setting", "test"],
    "Design decisions (no protocol choice)": ["id", "what we do", "why it has no setting", "place"],
}
SOURCES = {".cpp", ".hpp", ".sv", ".md", ".yaml", ".j2", ".py"}
MAY_BE_EMPTY = {"default"}


def read_tables(text):
    """{heading: [{column: cell}]}, and what is wrong with the form."""
    tables, wrong, heading, head = {}, [], None, None
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("## "):
            heading, head = line[3:].strip(), None
            if heading not in COLUMNS:
                wrong.append(f"line {number}: no table is called '{heading}'")
        if not line.startswith("|") or heading not in COLUMNS:
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if head is None:
            head = cells
            if head != COLUMNS[heading]:
                wrong.append(f"line {number}: the columns of '{heading}' are {', '.join(COLUMNS[heading])}")
        elif not set(line) <= set("|- "):
            if len(cells) != len(head):
                wrong.append(f"line {number}: {len(cells)} cells instead of {len(head)}")
                continue
            row = dict(zip(head, cells))
            tables.setdefault(heading, []).append(row)
            wrong += [f"{cells[0]}: no text under '{name}'" for name, cell in row.items()
                      if not cell and name not in MAY_BE_EMPTY]
    wrong += [f"no table '{name}'" for name in COLUMNS if name not in tables]
    return tables, wrong


def known_fields():
    """Names as they are written in the register: REG.field, TABLE.field; read-only registers set nothing."""
    spec = yaml.safe_load((ROOT / "cmodel/spec/csr.yaml").read_text())
    names = set()
    for register in spec["registers"]:
        if register["access"] != "rw":
            continue
        names.update(f"{register['name']}.{field['name']}" for field in register.get("fields", []))
        if not register.get("fields"):
            names.add(register["name"])
    for table in spec["tables"]:
        names.update(f"{table['name']}.{field['name']}" for field in table["fields"])
    return names


def known_keys():
    return set(re.findall(r"(?:KEY|SWITCH|KEY_OF)\((\w+),", (ROOT / "tb/environment/scenario.cpp").read_text()))


def fabric_keys():
    return set(re.findall(r"(?:NUMBER|ZERO_OR|FLAG|TEXT)\(\s*Scenario, (\w+),",
                          (ROOT / "sim/experiment/scenario.cpp").read_text()))


def setting_exists(setting, before, fields, keys):
    if before.endswith("fabric "):
        return setting in fabric_keys()
    if before.endswith("scenario "):
        return setting in keys
    if setting.startswith("mrc "):
        option = setting.split()[-1]
        files = [*sorted((ROOT / "cli").glob("*.?pp")), ROOT / "cmodel/wire/choices.hpp"]
        sources = "".join(path.read_text() for path in files)
        return option.startswith("--") and (f'"{option}"' in sources or f'{{"{option[2:]}", &WireConfig' in sources)
    return setting in fields


def named_ids():
    """Ids that the sources name, and one file that names each."""
    places = {}
    for folder in ("cmodel", "rtl", "tb", "tests", "docs", "cli"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_relative_to(ROOT / "tests/tools"):  # wrong ones on purpose
                continue
            if path.suffix in SOURCES and path.is_file():
                places.update(dict.fromkeys(re.findall(r"\bA-\d\d\b", path.read_text(errors="replace")),
                                            str(path.relative_to(ROOT))))
    return places


def main():
    parser = rtl.Parser(usage=__doc__)
    parser.add_argument("build")
    parser.add_argument("--register", type=Path, default=ROOT / "docs/protocol/assumptions.md")
    options = parser.parse_args()
    tables, complaints = read_tables(options.register.read_text())
    tests = known_tests(options.build)
    fields, keys = known_fields(), known_keys()

    rows = [row for table in tables.values() for row in table]
    ids = [row["id"] for row in rows]
    complaints += [f"{name} is there twice" for name in sorted({i for i in ids if ids.count(i) > 1})]
    complaints += [f"'{name}' is no id" for name in ids if not re.fullmatch(r"A-\d\d", name)]
    for row in tables.get("Choices", []):
        cell = row["setting"]
        settings = list(re.finditer(r"`([^`]+)`", cell))
        if not settings:
            complaints.append(f"{row['id']}: no setting in `backquotes`")
        complaints += [f"{row['id']}: there is no setting {found[1]}" for found in settings
                       if not setting_exists(found[1], cell[:found.start()], fields, keys)]
        entries = re.findall(r"(?:\[[^]]+\])+", row["test"])
        if f"[{row['id']}]" not in entries:
            complaints.append(f"{row['id']}: the tag [{row['id']}] is not among its tests")
        complaints += [f"{row['id']}: no test has the tag {entry}" for entry in entries if not matches(entry, tests)]
    for heading in list(COLUMNS)[1:]:
        for row in tables.get(heading, []):
            places = re.findall(r"`([^`]+)`", row["place"])
            if not places:
                complaints.append(f"{row['id']}: no place in `backquotes`")
            complaints += [f"{row['id']}: there is no file {place}" for place in places if not (ROOT / place).is_file()]
    tagged = {label for labels in tests.values() for label in labels if re.fullmatch(r"A-\d\d", label)}
    complaints += [f"tests have the tag [{name}], the register has no such row" for name in sorted(tagged - set(ids))]
    complaints += [f"{where} names {name}, the register has no such row"
                   for name, where in sorted(named_ids().items()) if name not in ids]
    for complaint in complaints:
        print(complaint)
    counts = ", ".join(f"{len(tables.get(heading, []))} {heading.lower()}" for heading in COLUMNS)
    print(f"{counts}; {len(complaints)} complaints")
    return rtl.Exit.FAIL if complaints else rtl.Exit.PASS


if __name__ == "__main__":
    rtl.command("assumptions.py", main)
