#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: behaviour_sample.py

Gives tools/behaviour.py two commands that answer like mrc, alike and with one result each that differs."""
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from samples import TOOLS, in_folder, run, told  # noqa: E402

MRC = """#!/usr/bin/python3
import json, sys
bench = {"result": "pass", "cycles": 10, "event_log_hash": "aa"}
fabric = {"run": "RUN", "outcome": "done", "simulated_us": 1.5, "totals": {"data_packets": 3}, "traffic": [1],
          "speed": {"wall_seconds": 0.5}, "versions": {"mrcnic": "RUN"}}
CHANGE
if "list" in sys.argv:
    print("Scenarios:\\n  one  the first\\n  two  the second\\n\\n  key  1  of a file")
else:
    scenario = sys.argv[sys.argv.index("--scenario") + 1]
    result = bench if sys.argv[1] == "cosim" else fabric
    if scenario == "two":
        changed(result)
    if result:
        json.dump(result, open(sys.argv[sys.argv.index("--json") + 1], "w"))
"""

# {what must be told: what the second command does to the results of scenario two}
CHANGES = {
    "4 runs, 0 differences": "pass",
    "bench two: hash was aa, is ab": 'result.get("cycles") and result.update(event_log_hash="ab")',
    "bench two: cycles was 10, is 11": 'result.get("cycles") and result.update(cycles=11)',
    "fabric two: result was done, is failed": '"totals" in result and result.update(outcome="failed")',
    "fabric two: simulated_us was 1.5, is 2": '"totals" in result and result.update(simulated_us=2)',
    "fabric two: hash was": '"totals" in result and result.update(traffic=[2])',
    "no results:": "result.clear()",
}


def command(change, name):
    return MRC.replace("CHANGE", f"def changed(result): {change}").replace("RUN", name)


def main():
    wrong = 0
    for words, change in CHANGES.items():
        with in_folder({"a": command("pass", "first"), "b": command(change, "second")}) as folder:
            for name in "ab":
                (folder / name).chmod(0o755)
            code = {"4 runs, 0 differences": 0, "no results:": 2}.get(words, 1)
            tool, saved = TOOLS / "behaviour.py", folder / "saved.json"
            wrong += told(code, *run(tool, "--mrc", folder / "a", "--mrc", folder / "b"), [words])
            wrong += told(0, *run(tool, "--mrc", folder / "a", "--save", saved), ["bench one"])
            wrong += told(code, *run(tool, "--mrc", folder / "b", "--against", saved), [words])
            wrong += told(2, *run(tool, "--mrc", folder / "a", "--against", saved, "--seed", "2"), ["was made with"])
            table = json.loads(saved.read_text())
            del table["runs"]["bench two"]
            saved.write_text(json.dumps(table))
            wrong += told(1, *run(tool, "--mrc", folder / "a", "--against", saved), ["bench two: only the second has it"])
            wrong += told(0, *run(tool, "--mrc", folder / "a", "--against", saved, "--only-common"), ["0 differences"])
    print(f"{len(CHANGES)} changes; {wrong} runs went otherwise")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
