#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""tools/mutate.py makes the mutants that it says, and tools/mutants.yaml names mutants that there are. Nothing is
compiled."""
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import mutate  # noqa: E402

SAMPLE = b"""#pragma once
#include <cstdint>
constexpr unsigned kMask = 3u & 7u;  // no code: computed when it is compiled
enum { kOne = 1 + 1 };
static_assert(1 < 2);
constexpr bool fits(unsigned at, unsigned size, bool ok) {
  constexpr unsigned kMost = 5 - 1;
  return at + size <= kMost && ok;
}
inline double ratio(double a, double b) { return a - b; }
inline int pick(int n) {
  switch (n) {
    case 1 + 1:
      return n | 4;
    default:
      return n << 2;
  }
}
"""
MUTANTS = ["8:29: '&&' becomes '||' in: at + size <= kMost && ok", "8:20: '<=' becomes '<' in: at + size <= kMost",
           "8:13: '+' becomes '-' in: at + size", "14:16: '|' becomes '&' in: n | 4"]
AND = "(mrc::mutant::on(1) ? ((%s) || (ok)) : ((%s) && (ok)))"
COMPARED = "mrc::mutant::le<2>(mrc::mutant::add<3>(at , size) , kMost )"


def plain(text):
    return "".join(text.split())


def check(what, got, right):
    if got != right:
        print(f"{what}:\n  is    {got}\n  right {right}")
        check.failed += 1


check.failed = 0


def sample():
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        (root / "cmodel/protocol").mkdir(parents=True)
        path = root / "cmodel/protocol/sample.hpp"
        path.write_bytes(SAMPLE)
        file = mutate.Rewriter(path, root)
        mutants = [f[0] for f in file.found]
        check("mutants", [str(m).split("sample.hpp:")[1] for m in mutants], MUTANTS)
        check("nothing built in", file.rewritten({}), SAMPLE)
        text = file.rewritten({m.key: n for n, m in enumerate(mutants, 1)}).decode()
        whole = SAMPLE.decode().replace("at + size <= kMost && ok", AND % (COMPARED, COMPARED))
        check("all built in", plain(text), plain(whole.replace("n | 4", "mrc::mutant::bor<4>(n, 4)")))
        second = file.rewritten({mutants[1].key: 7}).decode()
        check("one built in", plain(second),
              plain(SAMPLE.decode().replace("at + size <= kMost", "mrc::mutant::le<7>(at + size, kMost)")))
        listed = root / "mutants.yaml"
        for words, wrong in (("equivalent: {F: {n | 4: why}}", []),
                             ("equivalent: {F: {n | 4 @ 14: why}}", []),
                             ("equivalent: {F: {n | 4: why}}\nlegal: {F: {at + size: open}}", []),
                             ("unseen: {F: {n | 5: why}}", ["unseen: F has 0 mutants 'n | 5'"]),
                             ("same: {}", ["there is no section same"])):
            listed.write_text(words.replace("F", file.name), encoding="utf-8")
            found = mutate.Listed(listed, mutants)
            check(words, found.wrong, [w.replace("F", file.name) for w in wrong])
            if not wrong:
                check(words, [found.equivalent(m) for m in mutants], [None, None, None, "why"])
                check(words, [found.legal(m) for m in mutants], [None, None, "open" if "legal" in words else None, None])


def project():
    mutants = [f[0] for file in mutate.rewriters() for f in file.found]
    check("as many as docs/reference/judge.md speaks of, at least", len(mutants) >= 500, True)
    check("twins", len({m.key for m in mutants}), len(mutants))
    check("tools/mutants.yaml", mutate.Listed(ROOT / "tools/mutants.yaml", mutants).wrong, [])


sample()
project()
print(f"{check.failed} wrong")
sys.exit(1 if check.failed else 0)
