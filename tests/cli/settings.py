#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: settings.py MRC ROOT

Each setting of the table "Choices" of docs/protocol/assumptions.md is one that somebody can write: a profile takes
REGISTER.field under "settings", or says which of its keys it is, and takes that; a scenario key and a fabric key are
in the lists of their commands, an option in the help of its command. What no register has is refused."""
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

MRC, ROOT = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
VALUES = {"class": {"data": 4, "rtx": 8}, "evs": [1, 2]}


def call(*words):
    done = subprocess.run([MRC, *words], text=True, capture_output=True, check=False, timeout=60,
                          stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout + done.stderr


def choices():
    """Id, what stands before it, name of each setting."""
    table = (ROOT / "docs/protocol/assumptions.md").read_text().split("## Design decisions")[0]
    for line in table.splitlines():
        if re.match(r"\| A-\d\d ", line):
            row = [cell.strip() for cell in line.strip("|").split("|")]
            for found in re.finditer(r"`([^`]+)`", row[4]):
                yield row[0], row[4][:found.start()], found[1]


class Profiles:
    """What `mrc check` says to a profile."""

    def __init__(self, folder):
        self.log, self.file = folder / "run.mrclog", folder / "profile.json"
        code, told = call("cosim", "--preset", "tiny", "--dut", "model", "--scenario", "clean", "--packets", "20",
                          "--record", str(self.log))
        assert code == 0, told

    def take(self, **keys):
        self.file.write_text(json.dumps(keys))
        code, told = call("check", "--profile", str(self.file), str(self.log))
        return code != 3, told

    def refusal_of(self, name):
        """Empty: a profile takes the setting, there or where its message says."""
        taken, told = self.take(settings={name: 0})
        if taken:
            return ""
        elsewhere = re.search(r"Write it as (\w+) of (?:the profile|an entry of (\w+))\.", told)
        if not elsewhere:
            return told
        key, table = elsewhere[1], elsewhere[2]
        for value in [VALUES[key]] if key in VALUES else [1, True]:
            entry = {"qp": 16} if table == "qps" else {"dest": 0}
            taken, told = self.take(**({table: [{**entry, key: value}]} if table else {key: value}))
            if taken:
                return ""
        return told


def main():
    lists = {kind: call(command, "--scenario", "list")[1] for kind, command in (("scenario", "cosim"), ("fabric", "fabric"))}
    wrong, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        profiles = Profiles(Path(folder))
        for row, before, name in choices():
            count += 1
            kind = next((kind for kind in lists if before.endswith(f"{kind} ")), None)
            if kind:
                said = "" if re.search(rf"^ +{re.escape(name)} ", lists[kind], re.M) else f"no key of mrc {kind}"
            elif name.startswith("mrc "):
                words = name.split()
                help_of = call(*words[1:-1], "--help")[1]
                said = "" if re.search(rf"{re.escape(words[-1])}\b", help_of) else "no option of that command"
            else:
                said = profiles.refusal_of(name)
            if said:
                wrong.append(f"{row} {name}: {said}")
        for name, most in (("EP_CTL.rev_probe", 1), ("SRV6.uplink_usid", 7), ("ACK_CTL.ar_gap", 65535)):
            assert profiles.take(settings={name: most})[0], name
            assert "out of range" in profiles.take(settings={name: most + 1})[1], name
        for name in ("EP_CTL.rev_prob", "QP_CTX.state"):
            taken, told = profiles.take(settings={name: 0})
            assert not taken and "unknown key" in told, told
    print(*wrong, f"{count} settings, {len(wrong)} that nobody takes", sep="\n")
    assert count > 90 and not wrong


if __name__ == "__main__":
    main()
