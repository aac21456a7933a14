# SPDX-License-Identifier: Apache-2.0
"""Coverage of regressions: which bins (docs/reference/generated/bins.md) their runs showed, and what fills the holes.

The line of a run holds its bins as hexadecimal digits; what is added up over ranges, regressions and machines is in how
many runs a bin was shown."""
import argparse
import collections
import json
from pathlib import Path

import rtl
from regression.folder import Folder

TABLE = rtl.ROOT / "tools/gen/bins.json"
PLAN = rtl.ROOT / "docs/design/testplan.yaml"
NO_RUN = "no run said which bins it showed: coverage = false, or no job of kind lockstep"
NO_LINES = "mrc coverage --json FOLDER/lines.json counts them"


class Table:
    """Names of bins by number; groups, goals, what is left out."""

    def __init__(self, path=TABLE):
        data = json.loads(path.read_text())
        self.digest, self.groups = data["table"], data["groups"]
        self.names = [name for group in self.groups for name in group["bins"]]
        self.group_of = {name: group for group in self.groups for name in group["bins"]}
        self.without = {name: why for group in self.groups for name, why in group["without"].items()}
        self.towards = {name: near for group in self.groups for name, near in group["towards"].items()}
        self.wanted = [name for name in self.names if name not in self.without]
        self.number = {name: at for at, name in enumerate(self.names)}

    def read(self, text):
        """Numbers of the bins in the text of a run; None: it is of another table."""
        digest, _, digits = text.partition(":")
        if digest != self.digest or len(digits) != (len(self.names) + 3) // 4:
            return None
        return [4 * at + bit for at, digit in enumerate(digits) if digit != "0"
                for bit in range(4) if int(digit, 16) >> bit & 1]

    def near(self, name):
        """Bins of the group that differ from this one along one axis alone."""
        parts = self.split(name)
        if len(parts) < 2:
            return [other for other in self.group_of[name]["bins"] if other != name]
        return [other for other in self.group_of[name]["bins"]
                if sum(a != b for a, b in zip(parts, self.split(other))) == 1]

    def split(self, name):
        """The values of a bin. Names of streams and rules have points of their own: the first axis takes them."""
        values = name.split(".")[1:]
        axes = len(self.group_of[name]["axes"])
        first = len(values) - axes + 1
        return [".".join(values[:first]), *values[first:]]


class Counts:
    """Runs, and in how many of them each bin was shown; by case, and all together."""

    def __init__(self, table):
        self.table = table
        self.runs, self.others = 0, 0
        self.shown = collections.Counter()
        self.cases = collections.defaultdict(lambda: [0, collections.Counter()])
        self.lines = []  # (case, row, bins) of each run, for those who look for neighbours

    def add(self, case, row):
        if "bins" not in row:
            return
        bins = self.table.read(row["bins"])
        if bins is None:
            self.others += 1
            return
        self.runs += 1
        self.shown.update(bins)
        of_case = self.cases[label(case)]
        of_case[0] += 1
        of_case[1].update(bins)
        self.lines.append((case, row, bins))

    def add_folder(self, folder):
        """What a regression and the rounds that closed it showed."""
        for part in [folder] + [opened(path) for path in sorted(folder.path.glob("close-*"))
                                  if (path / "plan.json").exists()]:
            for one in part.ranges:
                if one["kind"] == "lockstep":
                    for row in part.results(one["number"]).values():
                        self.add(one["case"], row)

    def of(self, name):
        return self.shown[self.table.number[name]]

    def holes(self):
        return [name for name in self.table.wanted if self.of(name) < self.table.group_of[name]["goal"]]

    def likely(self, name):
        """The scenario that bins.yaml knows, or the case whose runs show most of what is near a hole; "": none does."""
        if name in self.table.towards:
            return f"random:{self.table.towards[name]}"
        near = [self.table.number[other] for other in self.table.near(name)] + [self.table.number[name]]
        best = max(((sum(of_case[1][bin] for bin in near) / of_case[0], case) for case, of_case in self.cases.items()),
                   default=(0, ""))
        return best[1] if best[0] > 0 else ""


def opened(path):
    folder = Folder(path)
    folder.open()
    return folder


def label(case):
    return f"{case['scenario']} at {case['level']}, {case['preset']}, {Path(case['dut']).name}"


def points(counts):
    """{testpoint: {reached, all, goal}} of those that docs/design/testplan.yaml gives bins; the goal in per cent."""
    holes, found = set(counts.holes()), {}
    for point in rtl.module("yaml").safe_load(PLAN.read_text())["testpoints"]:
        if groups := point.get("bins"):
            wanted = [name for name in counts.table.wanted if counts.table.group_of[name]["name"] in groups]
            found[point["id"]] = {"reached": sum(name not in holes for name in wanted), "all": len(wanted),
                                  "goal": point["goal"]}
    return found


def lines(folders):
    """Shares of the RTL's lines and assertions that mrc coverage wrote beside a regression, and why there are none."""
    for folder in folders:
        try:
            found = json.loads((folder.path / "lines.json").read_text())
            return found["RTL"]["percent"] / 100, found["assertions"]["percent"] / 100, ""
        except (OSError, ValueError, KeyError, TypeError):
            pass
    return None, None, NO_LINES


def summary(folders):
    """As `coverage` of --json and of the report has it."""
    counts = Counts(Table())
    for folder in folders:
        counts.add_folder(folder)
    share, asserted, why = lines(folders)
    if not counts.runs:
        return {"bins": None, "lines": share, "assertions": asserted, "reason": NO_RUN}
    holes = counts.holes()
    missing = collections.Counter(counts.table.group_of[name]["name"] for name in holes)
    groups = []
    for group in counts.table.groups:
        wanted = [name for name in group["bins"] if name not in group["without"]]
        groups.append({"name": group["name"], "text": group["text"], "reached": len(wanted) - missing[group["name"]],
                       "all": len(wanted)})
    every = len(counts.table.wanted)
    return {
        "bins": round((every - len(holes)) / every, 4), "lines": share, "assertions": asserted,
        "reason": why, "all": every,
        "reached": every - len(holes), "runs": counts.runs, "of_other_tables": counts.others, "groups": groups,
        "points": points(counts),
        "holes": [{"bin": name, "text": counts.table.group_of[name]["text"], "runs": counts.of(name),
                   "goal": counts.table.group_of[name]["goal"], "try": counts.likely(name)} for name in holes],
        "against": [name for name in counts.table.without if counts.of(name)],
    }


EXAMPLES = """Examples:
  mrc regress coverage mrc-regress/nightly             bins per group and testpoint, holes, what may fill them
  mrc regress coverage machine1 machine2 --check 95    added up; exit code 1 when less than 95 % have their goal"""


def options(words):
    parser = rtl.Parser(prog="mrc regress coverage", description="Adds up which bins of coverage regressions reached.",
                        epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", metavar="DIR", help="folders that 'mrc regress' made")
    parser.add_argument("--json", metavar="FILE", help="the same as JSON")
    parser.add_argument("--check", type=float, metavar="PERCENT", help="exit code 1 when fewer bins have their goal")
    return parser.parse_args(words)


def tell(found):
    print(f"{100 * found['bins']:.1f} % of {found['all']} bins have their goal, by {found['runs']} runs")
    if found["of_other_tables"]:
        print(f"  {found['of_other_tables']} runs are of another table of bins and do not count")
    for name in found["against"]:
        print(f"  {name} was shown, and bins.yaml says that it cannot be")
    for group in found["groups"]:
        print(f"  {group['name']:<10} {group['reached']:>4} of {group['all']:<4} {group['text']}")
    for name, point in found["points"].items():
        met = 100 * point["reached"] >= point["goal"] * point["all"]
        print(f"  testpoint {name}: {point['reached']} of {point['all']}, goal {point['goal']} %"
              + ("" if met else ": missed"))
    for hole in found["holes"]:
        print(f"  hole {hole['bin']}: {hole['runs']} of {hole['goal']}; "
              + (f"try {hole['try']}" if hole["try"] else "nothing near it was shown"))


def main(words):
    given = options(words)
    rtl.check_json(given.json)
    found = summary([opened(path) for path in given.folders])
    if given.json:
        rtl.write_json(given.json, found)
    if found["bins"] is None:
        print(f"nothing is known of bins: {found['reason']}")
        return rtl.Exit.INCONCLUSIVE
    tell(found)
    return rtl.Exit.FAIL if given.check is not None and 100 * found["bins"] < given.check else rtl.Exit.PASS
