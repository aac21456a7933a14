#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mrc check over captures that pass and that break a rule: verdicts, exit codes, JSON, comments, waivers.
usage: check_command.py MRC WRITE_CAPTURES"""
import json
import pathlib
import subprocess
import sys
import tempfile

MRC, WRITE = sys.argv[1:3]
OWN = "fd00::1"
FAIL, DEVIATES, BROKEN = ("fail", 1), ("deviates", 0), ("broken", 3)
RULES = {"wire.icrc": FAIL, "req.rtx-same": FAIL, "req.psn-once": FAIL, "path.set": FAIL, "resp.trim": FAIL,
         "wire.m-se": DEVIATES, "evidence.double": BROKEN}


def run(*args):
    done = subprocess.run([MRC, *map(str, args)], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def expect(what, got, want):
    if got != want:
        sys.exit(f"{what}: {got!r}, expected {want!r}")


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    subprocess.run([WRITE, name], check=True)
    common = ["--profile", folder / "profile.json", "--at", OWN, "--json", "-"]
    code, out, err = run("check", folder / "pass.pcapng", *common)
    expect("pass: exit code", code, 0)
    result = json.loads(out)
    expect("pass: verdict", result["verdict"], "pass")
    expect("pass: findings", result["findings"], [])
    expect("pass: packets", result["packets"] > 100, True)
    # Both ways between the two QPs, by packets that are counted here.
    code, out, err = run("decode", folder / "pass.pcapng", "--json")
    writes = [p for p in map(json.loads, out.splitlines()) if "error" not in p and 198 <= p["bth"]["opcode"] <= 203
              and not (p.get("trimmed") and p["ipv6"]["src"] == OWN)]  # that one has come back
    for way in result["qps"]:
        own = [p for p in writes if p["ipv6"]["src"] == way["from"] and p["bth"]["dqp"] == way["to_qp"]]
        expect("qps: packets", way["packets"], len(own))
        expect("qps: again", way["again"], sum(p["bth"]["rtx"] for p in own))
        expect("qps: trimmed", way["trimmed"], sum(p.get("trimmed", False) for p in own))
        expect("qps: EVs", sum(way["evs_per_plane"].values()),
               len({(p["capture"]["interface"], p["entropy"]) for p in own}))
        expect("qps: first PSN", way["first_psn"], own[0]["bth"]["psn"])
    expect("qps: both", [(w["from"], w["from_qp"], w["to_qp"]) for w in result["qps"]],
           [(OWN, 16, 20), ("fd00::2", 20, 16)])
    expect("qps: all", sum(w["packets"] for w in result["qps"]), len(writes))
    expect("no readings of what a profile promises", "readings" in result, False)
    code, out, err = run("check", folder / "pass.pcapng", *common[:4])
    expect("qps: a table", [line.split()[:5] for line in out.splitlines() if "0x14" in line],
           [[OWN, "0x10", "fd00::2", "0x14", str(result["qps"][0]["first_psn"])],
            ["fd00::2", "0x14", OWN, "0x10", str(result["qps"][1]["first_psn"])]])
    # The page: the verdict, who spoke to whom, when; then what is wrong, by the packet's number in the file.
    code, out, err = run("check", folder / "req.psn-once.pcapng", *common[:4], "--html", "-")
    places = [out.find(word) for word in ('<p class="bad"><b>fail', "<h2>Queue pairs</h2>", "<h2>Timeline</h2>",
                                          "<h2>Findings</h2>", "<h2>Rules</h2>")]
    expect("page: order", -1 < places[0] and places == sorted(places), True)
    found = [f for f in json.loads(run("check", folder / "req.psn-once.pcapng", *common)[1])["findings"]
             if f["rule"] == "req.psn-once"][0]
    expect("page: packet", f"packet {found['packet']}, fail</h3>" in out, True)
    expect("page: findings in time", 'findings from ' in out, True)
    for rule in result["rules"]:
        expect("keys of a rule", {"id", "checked", "broken", "rests"} <= set(rule), True)
    for rule, (verdict, exit_code) in RULES.items():
        capture = folder / f"{rule}.pcapng"
        code, out, err = run("check", capture, *common)
        result = json.loads(out)
        expect(f"{rule}: verdict", (result["verdict"], code), (verdict, exit_code))
        found = [f for f in result["findings"] if f["rule"] == rule]
        expect(f"{rule}: named", bool(found), True)
        expect(f"{rule}: packet", found[0]["packet"] > 0, True)
        expect(f"{rule}: text", bool(found[0]["text"]), True)
        # The packet in the copy of the capture says what it broke.
        code, out, err = run("check", capture, *common[:4], "--annotate", folder / "out")
        expect(f"{rule}: annotate", code, exit_code)
        code, out, err = run("decode", folder / "out" / capture.name)
        expect(f"{rule}: comment", rule in out, True)
    expect("strict", run("check", folder / "wire.m-se.pcapng", *common, "--strict")[0], 1)
    code, out, err = run("check", folder / "path.set.pcapng", *common[:4], "--waive", "path.set=a wrong list",
                         "--waive", "path.down=nothing")
    expect("waived", code, 0)
    expect("unused waiver", "the waiver of path.down was not needed" in out, True)
    expect("waived: said", "findings of 1 rule waived" in out or "1 finding of 1 rule waived" in out, True)
    # Waivers of a file: who and until when, in text and JSON; one that has run out is refused.
    entry = '[[waiver]]\nrule = "path.set"\nreason = "a wrong list"\nwho = "A. Meier"\nuntil = {}\n'
    (folder / "good.toml").write_text(entry.format("2999-12-31"))
    (folder / "old.toml").write_text(entry.format("2020-01-31"))
    code, out, err = run("check", folder / "path.set.pcapng", *common, "--waive", folder / "good.toml",
                         "--coverage", folder / "coverage.json")
    result = json.loads(out)
    expect("file: verdict", (code, result["verdict"]), (0, "pass"))
    expect("file: waiver", {k: result["waivers"][0][k] for k in ("rule", "who", "until")},
           {"rule": "path.set", "who": "A. Meier", "until": "2999-12-31"})
    expect("file: findings", result["waivers"][0]["findings"], sum(f["count"] for f in result["findings"]))
    expect("file: marked", all(f["waived"] for f in result["findings"]), True)
    expect("versions", set(result["versions"]), {"mrcnic", "commit", "changed", "compiler", "verilator", "log", "rules"})
    expect("tightness", set(result["devices"][0]["tightness"]), {"answers", "open", "most_values"})
    code, out, err = run("check", folder / "path.set.pcapng", *common[:4], "--waive", folder / "old.toml")
    expect("old: exit code", code, 3)
    expect("old: named", "the waiver of path.set by A. Meier ran out: it held until 2020-01-31." in err, True)
    # Coverage merges.
    expect("coverage", run("rule-coverage", folder / "coverage.json", folder / "coverage.json", "-o",
                           folder / "sum.json")[0], 0)
    one, both = (json.loads((folder / name).read_text()) for name in ("coverage.json", "sum.json"))
    expect("coverage: runs", (one["runs"], both["runs"]), (1, 2))
    expect("coverage: rules", all(both["applied"][rule][where] == 2 * times for rule, cells in one["applied"].items()
                                  for where, times in cells.items()), True)
    expect("coverage: path.set", "path.set" in one["applied"], True)
    # A log is the same evidence.
    expect("import", run("log", "import", folder / "path.set.pcapng", "--at", f"{OWN}={folder / 'path.set.pcapng'}",
                         "--profile", folder / "profile.json", "-o", folder / "log")[0], 0)
    expect("replay", run("replay", folder / "log")[0], 1)
    # Without a profile the frames tell of QPs, not of their EVs.
    code, out, err = run("check", folder / "path.set.pcapng", "--at", OWN)
    expect("no profile", code, 0)
    expect("no profile: rests", "the QP's EVs are not known" in out, True)
    code, out, err = run("check", folder / "path.set.pcapng", "--at", OWN, "--html", "-")
    expect("no profile: readings", "<h2>Readings</h2>" in out and "<td>A-21</td>" in out, True)
