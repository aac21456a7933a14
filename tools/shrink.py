#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""mrc shrink: makes a failing run of mrc cosim smaller as long as it fails in the same way: packets, keys and rules of its
scenario, queue pairs; then values and seeds with which it fails sooner. Prints the command of the smaller run."""
import argparse
import json
import os
import shlex
import subprocess
import tempfile
import tomllib
from pathlib import Path

import rtl

EXAMPLES = """Examples:
  mrc shrink -- ./mrc cosim --preset tiny --scenario random --packets 2000 --seed 3 --rtl-bug icrc-mask
  mrc shrink --out small.toml -- cosim --preset tiny --scenario loss --seed 7 --rtl-bug rtx-bit-missing"""
KEPT = ("description", "may_fail", "hang_us", "qps")
LIMIT_S = 120  # of a run; one that takes longer counts as not failing
# Values that bring about most things sooner: short links and timers, small windows and messages.
SOONER = (("delay_ns", (100,)), ("jitter_ns", (0, 20)), ("skew_ns", (0,)), ("rto", (0, 2)), ("mpr", (1,)), ("outstanding", (1, 4)),
          ("size_max", (64, 1024, 8192)), ("mtu_max", (0,)), ("wqe_gap", (0,)), ("reorder_pkts", (2, 16)),
          ("reorder_ns", (500,)), ("sack_trigger", (0,)), ("probe_ticks", (1,)), ("ep_ticks", (1,)), ("flap_us", (1,)))
SHARES = ("loss", "trim", "ecn", "corrupt", "duplicate", "rogue", "reorder", "penalty", "no_bytes", "lasthop", "imm_share", "cc_share",
          "wrap_share", "bad_wqes", "small_share")
SEEDS = 8


def toml(scenario):
    """A scenario as TOML: keys, then its rules."""

    def value(one):
        if isinstance(one, bool):
            return "true" if one else "false"
        return json.dumps(one)

    text = "".join(f"{key} = {value(one)}\n" for key, one in scenario.items() if key != "rule")
    for rule in scenario.get("rule", []):
        text += "\n[[rule]]\n" + "".join(f"{key} = {value(one)}\n" for key, one in rule.items())
    return text


class Shrinker:
    def __init__(self, words, folder):
        self.folder, self.runs, self.cut = folder, 0, []
        parser = argparse.ArgumentParser(add_help=False)
        parser.add_argument("--scenario", default="mixed")
        parser.add_argument("--packets", type=float, default=100000)
        parser.add_argument("--seed", default="1")
        known, self.words = parser.parse_known_args(words)
        for option in ("--seeds", "--json", "--reports", "--results", "--pcap", "--record", "--trace", "--cycles"):
            if any(word.split("=")[0] == option for word in self.words):
                rtl.fail(f"mrc shrink has no use for {option}.", "Give the line of one run that fails, as reports print it.")
        self.scenario, self.packets, self.seed = known.scenario, int(known.packets), known.seed
        self.tree = None  # the scenario's keys, once they are known

    def run(self, packets, tree):
        """The JSON of a run, None when it passed or could not be run."""
        self.runs += 1
        out = self.folder / "run.json"
        out.unlink(missing_ok=True)
        name = self.scenario
        if tree is not None:
            name = self.folder / "scenario.toml"
            name.write_text(toml(tree))
        command = [rtl.ROOT / "mrc" if not os.environ.get("MRC_EXE") else os.environ["MRC_EXE"], "cosim", *self.words,
                   "--scenario", name, "--packets", packets, "--seed", self.seed, "--json", out,
                   "--reports", self.folder / "reports"]
        try:
            self.said = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            self.said = subprocess.CompletedProcess(command, 5, "", f"no end after {LIMIT_S} s")
        if self.said.returncode not in (1, 2) or not out.exists():
            return None
        return json.loads(out.read_text())

    def level(self):
        for at, word in enumerate(self.words):
            if word.startswith("--level"):
                return word.partition("=")[2] or self.words[at + 1]
        return "L0"

    @staticmethod
    def signature(result):
        """As in docs/guide/regress.md: where it differs first, or which rule it breaks."""
        if "divergence" in result:
            first = result["divergence"]
            return first["block"] + "." + "".join(one["field"] for one in first["differences"][:1])
        if "failed_assertion" in result:
            return result["failed_assertion"]["name"]
        for finding in result.get("judge", {}).get("findings", []):
            if finding["verdict"] == "fail":
                return finding["rule"]
        return result["result"]

    @staticmethod
    def cost(result):
        """Cycles until it is seen, or picoseconds."""
        for key in ("divergence", "failed_assertion", "problem"):
            if "cycle" in result.get(key, {}):
                return result[key]["cycle"]
        return result.get("cycles", result.get("time_ps", 0))

    def attempt(self, packets, tree, note="", sooner=0):
        """Takes the change when the run fails in the same way, and no later; or by so many cycles (ps) sooner."""
        result = self.run(packets, tree)
        if result is None or self.signature(result) != self.what or self.cost(result) > self.best - sooner:
            return False
        self.packets, self.tree, self.best = packets, tree, self.cost(result)
        if note:
            self.cut.append(note)
        return True

    def shrink(self):
        first = self.run(self.packets, None)
        if first is None:
            said = (self.said.stderr or self.said.stdout).strip().splitlines()
            rtl.fail(f"that run does not fail (exit code {self.said.returncode}): {said[0] if said else ''}.",
                     "Give the line of a run that fails.")
        self.what, self.best, self.before = self.signature(first), self.cost(first), self.cost(first)
        self.fewer_packets()
        if "scenario_file" in first:
            tree = tomllib.loads(Path(first["scenario_file"]).read_text())
            if self.attempt(self.packets, tree):
                self.simpler()
                self.fewer_packets()
                if "L0" == self.level():  # elsewhere a run ends when all has been sent
                    while self.sooner():
                        pass
                    self.simpler()
                    self.fewer_packets()

    def fewer_packets(self):
        for part in (64, 16, 4, 2):
            while self.packets > 1 and self.attempt(max(1, self.packets // part), self.tree):
                pass

    def sooner(self):
        """Other values and seeds, if they gain a fiftieth."""
        changed = False
        shares = [(key, (1, 0.5, 0.1)) for key in SHARES if self.tree.get(key, 0) not in (0, 1)]
        for key, values in (*SOONER, *shares):
            for one in values:
                if self.tree.get(key) != one and self.attempt(self.packets, self.tree | {key: one}, "", self.best // 50 + 1):
                    changed = True
                    break
        kept = self.seed
        for seed in map(str, range(1, SEEDS + 1)):
            self.seed = seed
            if seed != kept and self.attempt(self.packets, self.tree, "", self.best // 50 + 1):
                kept, changed = seed, True
        self.seed = kept
        return changed

    def simpler(self):
        changed = True
        while changed:
            changed = False
            for at in reversed(range(len(self.tree.get("rule", [])))):
                rules = self.tree["rule"][:at] + self.tree["rule"][at + 1:]
                changed |= self.attempt(self.packets, self.tree | {"rule": rules}, "a rule")
            for key in [key for key in self.tree if key not in (*KEPT, "rule")]:
                fewer = {name: one for name, one in self.tree.items() if name != key}
                changed |= self.attempt(self.packets, fewer, key)
            for queues in (1, 2, 4):  # only ever fewer, so that this ends
                if queues >= self.tree.get("qps", 1 << 20):
                    break
                if self.attempt(self.packets, self.tree | {"qps": queues}, "qps"):
                    changed = True
                    break


def main():
    parser = rtl.Parser(prog="mrc shrink", description=__doc__, epilog=EXAMPLES,
                        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="mrc-shrunk.toml", metavar="FILE", help="the smaller scenario (%(default)s)")
    parser.add_argument("--json", metavar="FILE", help="what came out as JSON")
    parser.add_argument("words", nargs="+", metavar="WORD", help="after --: the line of a run that fails")
    given = parser.parse_args()
    rtl.check_json(given.json)
    words = given.words
    if len(words) > 1 and words[1] == "cosim":
        words = words[1:]
    if words[0] != "cosim":
        rtl.fail("mrc shrink takes runs of mrc cosim alone.", "Give it as 'mrc shrink -- ./mrc cosim ...'.")
    with tempfile.TemporaryDirectory() as name:
        shrinker = Shrinker(words[1:], Path(name))
        shrinker.shrink()
    scenario = shrinker.scenario
    if shrinker.tree is not None:
        scenario = given.out
        Path(scenario).write_text(f"# {shrinker.what}\n{toml(shrinker.tree)}")
    line = "./mrc cosim " + shlex.join([*shrinker.words, "--scenario", scenario, "--packets", str(shrinker.packets),
                                        "--seed", shrinker.seed])
    unit = "cycles" if shrinker.level() == "L0" else "ps"
    print(f"{shrinker.what}: from {shrinker.before} to {shrinker.best} {unit}, {shrinker.runs} runs;"
          f" without {', '.join(dict.fromkeys(shrinker.cut)) or 'any key less'}\n{line}")
    if given.json:
        rtl.write_json(given.json, {"signature": shrinker.what, "before": shrinker.before, "after": shrinker.best,
                                    "unit": unit, "runs": shrinker.runs, "repro": line})
    return rtl.Exit.PASS


if __name__ == "__main__":
    rtl.command("mrc shrink", main)
