#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: broken.py MRC LIBRARY [WAY...]

`mrc api test` over libraries that are wrong, each in one way (broken.c). Of the tests beside the one that should find
it, those that fail are exactly those that are named here; and of the same tests none fails for a library that is right."""
import json
import os
import subprocess
import sys
import tempfile
from fnmatch import fnmatch
from pathlib import Path

# The way, what is run, and what of it fails.
WAYS = {
    "short_write": ("write/bytes/*", ["write/bytes/[4689]*", "write/bytes/1048576"]),
    "immediate_turned_round": ("imm/*", ["imm/of/*", "imm/receives_in_order"]),
    "always_signaled": ("completion/*", ["completion/of_an_unsignaled_one"]),
    "read_as_write": ("post/opcode/*", ["post/opcode/RDMA_READ"]),
    "bad_wr_is_the_first": ("post/*", ["post/list_with_a_wrong_one"]),
    "errno_returned": ("post/recv*", ["post/recv_returns_minus_one"]),
    "success_always": ("fail/remotely/*", ["fail/remotely/*"]),
    "backwards": ("cq/*", ["cq/fewer_than_wanted"]),
    "flushes_forgotten": ("flush/*", ["flush/receives", "flush/sends_*", "flush/receives_after_ERR", "flush/in_the_middle*",
                                      "flush/unsignaled*"]),
    "nobody_waits": ("channel/*", ["channel/destroy_waits_for_acknowledgements"]),
    "armed_at_once": ("channel/*", ["channel/nothing_asked_for", "channel/not_those_before"]),
    "state_not_asserted": ("step/*", ["step/asserts_the_state/wrong"]),
    "psn_invented": ("step/*", ["step/to_RTR_without/RQ_PSN"]),
    "timer_cut": ("attribute/*", ["attribute/limit/timeout_25"]),
    "mask_ignored": ("hint/*", ["hint/change/*"]),
    "falls_over": ("destroy/*", ["destroy/none"]),
    "hangs": ("destroy/*", ["destroy/none"]),
    "leaks": ("create/*", ["create/thousand_after_each_other"]),
    "any_version": ("version/*", ["version/context_for_a_newer/*"]),
    "always_up": ("port/*", ["port/disabled_is_down"]),
}


def results(mrc, library, way, pattern):
    environment = {**os.environ, "MRC_BROKEN": way}
    environment.pop("MRC_BUILD", None)
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "results.json"
        done = subprocess.run([mrc, "api", "test", "--lib", library, "--endpoint", "model", "--only", pattern, "--quiet",
                               "--seconds", "8", "--json", str(file)], env=environment, capture_output=True, text=True,
                              check=False)
        if not file.exists():
            sys.exit(f"{way}: exit code {done.returncode}: {done.stdout}{done.stderr}")
        return {test["name"]: test["result"] for test in json.loads(file.read_text())["tests"]}


def main():
    mrc, library, *ways = sys.argv[1:]
    wrong = 0
    for pattern in sorted({pattern for pattern, _ in WAYS.values()}):
        failed = [name for name, result in results(mrc, library, "", pattern).items() if result == "failed"]
        wrong += bool(failed)
        for name in failed:
            print(f"nothing is wrong, and {name} fails")
    for way in ways or WAYS:
        pattern, expected = WAYS[way]
        seen = results(mrc, library, way, pattern)
        failed = {name for name, result in seen.items() if result == "failed"}
        wanted = {name for name in seen if any(fnmatch(name, one) for one in expected)}
        print(f"{way}: {len(failed)} of {len(seen)} fail")
        if failed != wanted or not wanted:
            wrong += 1
            print(f"  fails, and should not: {sorted(failed - wanted)}; should, and does not: {sorted(wanted - failed)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
