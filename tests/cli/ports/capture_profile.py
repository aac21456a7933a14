#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: capture_profile.py MRC LOG

Prints what LOG (mrc cosim --record) tells of its first device as a profile: for a capture of the same run."""
import json
import subprocess
import sys


def profile_of(mrc, path):
    """The profile as a dictionary."""
    profile, qps, regions = {}, {}, {}
    with subprocess.Popen([mrc, "log", "print", "--json", path], stdout=subprocess.PIPE, text=True) as lines:
        for line in lines.stdout:
            if '"kind":"frame"' in line[:20] or '"kind":"host"' in line[:20]:
                continue
            record = json.loads(line)
            kind, device, time = (record.pop(key, None) for key in ("kind", "device", "time"))
            if device != 0:
                continue
            if kind == "device":
                profile = json.loads(record["profile"])
            elif kind == "qp" and time == 0:
                qps[record["qp"]] = record
            elif kind == "mr" and time == 0:
                regions[record["rkey"]] = record
    return {**profile, "qps": list(qps.values()), "regions": list(regions.values())}


if __name__ == "__main__":
    print(json.dumps(profile_of(*sys.argv[1:3])))
