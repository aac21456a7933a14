#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: false_alarms.py MRC [options]

Does the judge complain about NICs that are right? Records runs of our own NICs, checks each log, and wants no finding. The
first goal of the judge: a false alarm costs another team a week. Runs are built-in scenarios, random ones, both settings
of every assumption (the log's profile says which), and scenarios of the fabric, at fidelity fast, model and RTL. With
--what lives each random run is one whose NICs and QPs are reset in the middle, three lives long, in each of the ways
that docs/design/blocks/reset.md has; --level L2 records NICs that are known by their calls alone.

With --captures the runs are seen as captures (--pcap, --pcap-peer; of the fabric all links of two NICs) without a
profile, in several views: bare, taken at the NIC's ports (--at), with its profile (of the fabric: an inferred one), cut
after 128 bytes (editcap), with each packet twice (a mirror), out of order by up to 200 us in the file, of one plane
alone, with each QP set up again for a second life that is like the first one, and at both ends with clocks that are 5
us apart and drift by 20 ppm, or have drifted 50 us apart; of the fabric also one link alone. Links that alter frames
make captures in which somebody did something wrong: findings there are counted apart. --views-per-run draws some of the
views for each run, by its name: many runs see all views, in a part of the time.

Prints every finding with the command that gives it again, then the share of obligations that rest or stay inconclusive.
Exit 1: a finding; 3: a run that did not work."""
import argparse
import collections
import concurrent.futures
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import rtl
import yaml

TOOLS = Path(__file__).resolve().parent
RULES, VIEWS_PY = TOOLS.parent / "cmodel/spec/rules.yaml", TOOLS / "captures/views.py"
SCENARIOS = """clean reorder loss trim ecn corrupt mixed immediate many-qps slow-host late-data link-flap plane-loss refused
bad-ev probe-revive incast-trim penalty many-peers retry-exhaust qp-error no-bytes dynamic-mpr soak rto bad-plane long window
few-updates plane-addresses host-errors collectives returned skip-round-trip port-stands share""".split()
FABRIC = """flow incast permutation small ring alltoall goodput-32k path-bypass plane-loss plane-loss-4 t0t1-links-down bad-ev-20
shared-ev loss-0.1 loss-1 incast-victim permutation-400g""".split()
# Scenario of the fabric -> planes of its NICs, and a NIC that nic0 speaks to.
LINKS = {"flow": (1, 4), "incast": (1, 16), "permutation": (1, 84), "small": (8, 3), "ring": (4, 1),
         "alltoall": (4, 14), "nccl": (4, 1), "goodput-32k": (8, 2), "path-bypass": (2, 4), "plane-loss": (8, 2),
         "plane-loss-4": (8, 2), "t0t1-links-down": (8, 112), "bad-ev-20": (4, 2), "shared-ev": (4, 2),
         "loss-0.1": (4, 2), "loss-1": (4, 2), "incast-victim": (4, 6), "permutation-400g": (4, 24)}
# Assumption -> scenario and the setting that is not the default; defaults are what all other runs have.
SETTINGS = [
    ("A-01", "mixed", "udp_port = 4791"), ("A-01", "mixed", "udp_only = 1"), ("A-02", "mixed", "bth_m_high = 0"),
    ("A-02", "mixed", "bth_m = 1"), ("A-03", "mixed", "ev_swap = 1"), ("A-04", "trim", "dscp_data = 5\ndscp_rtx = 9"),
    ("A-04", "trim", "dscp_ctl = 40\ndscp_trimmed = 13\ndscp_lasthop = 17"),
    ("A-05", "mixed", "srv6_share = 1\nsrv6_uplink_bits = 4\nsrv6_uplink_usid = 2\nsrv6_uplink_lsb = 3\nsrv6_plane_lsb = 4"),
    ("A-06", "mixed", "rev_fixed = 1"), ("A-06", "mixed", "ack_plane = 1"), ("A-06", "mixed", "rev_probe = 0"),
    ("A-07", "loss", "rto = 7"), ("A-08", "loss", "same_ev = 1"), ("A-08", "loss", "reorder_pkts = 8"),
    ("A-09", "mixed", "sack_trigger = 4096"), ("A-11", "mixed", "sack_base_self = 1"),
    ("A-12", "window", "oor_drop = 1"), ("A-13", "trim", "trim_nack = 0"), ("A-14", "mixed", "icrc_outer = 1"),
    ("A-15", "trim", "trim_lengths = 1"), ("A-15", "trim", "trim_lengths = 2"), ("A-15", "trim", "trim_size = 128"),
    ("A-16", "mixed", "ack_with_sack = 1"), ("A-16", "mixed", "ack_gap = 200"), ("A-17", "loss", "ack_with_sack = 1"),
    ("A-18", "mixed", "msn_zero = 1"), ("A-19", "no-bytes", "zero_length = 1"), ("A-19", "no-bytes", "zero_length = 2"),
    ("A-19", "collectives", "zero_share = 1"), ("A-20", "ecn", "skip_mode = 1"), ("A-20", "ecn", "skip_mode = 2"),
    ("A-21", "incast-trim", "tsr_us = 1"), ("A-22", "mixed", "pdcid_zero = 1"), ("A-28", "mixed", "ar_gap = 1000"),
    ("A-31", "bad-ev", "min_active = 2"), ("A-32", "probe-revive", "probe_kind = 1"),
    ("A-32", "probe-revive", "probe_kind = 2"), ("A-32", "probe-revive", "probe_successes = 1\nprobe_ticks = 200"),
    ("A-33", "probe-revive", "skip_good = 1"), ("A-34", "bad-ev", "backup = 3"),
    ("A-35", "retry-exhaust", "retry_linear = 1\nretry_exp = 2"), ("A-36", "link-flap", "eeth_op_high = 1"),
    ("A-37", "link-flap", "ports_from_0 = 1"), ("A-43", "incast-trim", "cc_disable_qa = 1"),
    ("A-44", "incast-trim", "cc_md_resets_fast = 0"), ("A-45", "incast-trim", "cc_nack_any_reason = 1"),
    ("A-46", "incast-trim", "cc_nack_sample_cfg = 1"), ("A-47", "incast-trim", "cc_nack_rtt = 0"),
    ("A-48", "incast-trim", "cc_adjust_ns = 500"), ("A-52", "incast-trim", "cc_eta = 1\ncc_fi = 64\ncc_alpha = 100"),
    ("A-52", "incast-trim", "cc_rate_gbps = 400\ncc_qa_threshold_ns = 500"),
    ("A-53", "incast-trim", "cc_ewma_weight = 0.5\ncc_near_zero_ns = 0"), ("A-55", "mixed", "nominal = 1"),
    ("A-55", "mixed", "nominal = 2"), ("A-56", "mixed", "svc_share = 1"), ("A-57", "qp-error", "err_silent = 1"),
    ("A-58", "incast-trim", "rtt_rtx = 1"), ("A-59", "mixed", "dyn_mpr = 1"), ("A-60", "link-flap", "ep_repeats = 0"),
    ("A-60", "link-flap", "ep_repeats = 2\nep_ticks = 100"), ("A-61", "mixed", "generated = 1"),
    ("A-62", "immediate", "max_wimm = 4"), ("A-62", "collectives", "max_wimm = 1"),
    ("A-62", "collectives", "max_wimm = 2\nwimm_over = 1"), ("A-62", "collectives", "max_wimm = 2\nwimm_over = 2"),
    ("A-62", "qp-error", "max_wimm_dest = 4"),
    ("A-70", "qp-error", "nak_invalid = 99\nnak_access = 100"), ("A-71", "probe-revive", "probe_cap = 1"),
    ("A-72", "probe-revive", "probe_keep = 1"), ("A-73", "incast-trim", "cc_ar_shift = 0"),
    ("A-74", "trim", "trim_silent = 1"), ("A-75", "loss", "state_silent = 1"), ("A-76", "mixed", "ip_plane = 1"),
    ("A-78", "share", "share_trims = 4"), ("A-76", "plane-addresses", "ip_plane = 1\nip_plane_lsb = 80"),
    ("A-82", "link-flap", "port_wait = 0"), ("A-82", "plane-loss", "port_wait = 1"),
    ("A-87", "loss", "loss_share = 4"), ("A-87", "bad-plane", "loss_share = 2"),
    ("A-79", "mixed", "own_class = 1"), ("A-79", "loss", "own_class = 0.5"), ("A-79", "collectives", "own_class = 0.5"),
    ("A-80", "returned", "returned = 0"), ("A-80", "returned", "returned = 1"), ("A-80", "returned", "returned = 2"),
    ("A-80", "collectives", "return_share = 0.3\ntrim = 0.1\nreturned = 1\nown_class = 0.5\nzero_share = 0.5"),
]


class Run:
    """One run and its check."""

    def __init__(self, name, arguments, scenario=""):
        self.name, self.arguments, self.scenario = name, arguments, scenario


LIVES = {"life_us": "1 5 20 100", "same_psns": "0 0.5 1", "alone": "0 0.5 1", "by_software": "0 0.5 1"}


def with_lives(seed):
    """The random scenario of that seed, with resets: values of LIVES as the seed draws them."""
    draw = random.Random(seed)
    keys = [f"{key}={draw.choice(values.split())}" for key, values in LIVES.items()]
    return "+".join([f"random:{seed}", "lives=3", *keys])


def plan(o):
    runs = []
    for preset in o.presets.split(","):
        level = "L2" if o.dut == "fast" else o.level  # it has no pins
        cosim = ["cosim", "--preset", preset, "--dut", o.dut, *(["--level", level] if level != "L0" else [])]
        if "scenarios" in o.what:
            runs += [Run(f"{preset} {s} {seed}", [*cosim, "--packets", str(o.packets), "--scenario", s, "--seed", str(seed)])
                     for s in SCENARIOS for seed in range(1, o.seeds + 1)]
        if "random" in o.what:
            runs += [Run(f"{preset} random {seed}",
                         [*cosim, "--packets", str(o.packets), "--scenario", "random", "--seed", str(seed)])
                     for seed in range(o.first, o.first + o.random)]
        if "lives" in o.what:
            runs += [Run(f"{preset} lives {seed}",
                         [*cosim, "--packets", str(o.packets), "--scenario", with_lives(seed), "--seed", str(seed)])
                     for seed in range(o.first, o.first + o.random)]
        if "settings" in o.what:
            runs += [Run(f"{preset} {name} {key}", [*cosim, "--packets", str(o.packets), "--scenario", "FILE", "--seed", "1"],
                         f'base = "{base}"\nvary = 0\n{key}\n') for name, base, key in SETTINGS]
    if "fabric" in o.what and o.captures:
        chosen = LINKS if o.fabric == "all" else [s for s in o.fabric.split(",") if s]
        runs += [Run(f"fabric {s}", ["fabric", "--scenario", s]) for s in chosen]
        runs += [Run(f"fabric small {e}", ["fabric", "--scenario", "small", "--endpoint", e])
                 for e in o.endpoints.split(",") if e]
    elif "fabric" in o.what:
        runs += [Run(f"fabric {s}", ["fabric", "--scenario", s, "--record-nics", o.nics]) for s in FABRIC]
        runs += [Run(f"fabric small {e}", ["fabric", "--scenario", "small", "--endpoint", e]) for e in ("model", "rtl")]
    if o.only:
        runs = [r for r in runs if o.only in r.name]
    return runs


NO_RUN = "no such controller", "cannot be played"


def make(mrc, run, folder, *output):
    """Makes the run in that folder. None: it is there; else what went wrong, "" for a run that is none."""
    arguments = list(run.arguments)
    if run.scenario:
        (folder / "scenario.toml").write_text(run.scenario, encoding="utf-8")
        arguments[arguments.index("FILE")] = "scenario.toml"
    made = subprocess.run([mrc, *arguments, *output], cwd=folder, capture_output=True, text=True, timeout=1800)
    if made.returncode in (3, 4) and any(w in made.stderr + made.stdout for w in NO_RUN):
        return ""  # random values that no controller has, or no fast endpoint: the run says so, and is none
    (folder / "run.txt").write_text(made.stdout, encoding="utf-8")
    return None if made.returncode in (0, 5) else (made.stdout + made.stderr).strip()[-400:]


def execute(mrc, run, root):
    """(what went wrong with the run or "", findings, tallies, packets, seconds of run, of check)"""
    folder = Path(tempfile.mkdtemp(dir=root))
    try:
        began = time.monotonic()
        wrong = make(mrc, run, folder, "--record", "run.mrclog")
        if wrong is not None:
            return wrong, [], [], 0, 0, 0
        middle = time.monotonic()
        check = subprocess.run([mrc, "check", "run.mrclog", "--json", "check.json"], cwd=folder, capture_output=True,
                               text=True, timeout=1800)
        end = time.monotonic()
        if not (folder / "check.json").exists():
            return (check.stdout + check.stderr).strip()[-400:], [], [], 0, 0, 0
        result = json.loads((folder / "check.json").read_text(encoding="utf-8"))
        return "", result["findings"], result["rules"], result["packets"], middle - began, end - middle
    except subprocess.TimeoutExpired as late:
        return f"no end: {late}", [], [], 0, 0, 0
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# What the link did, what the host could not and what no NIC has sent, as comments of captures say.
ALTERED = ("forged", "rogue copy", "bits flipped", "payload taken out", "a line could not be read")


@dataclass
class Ends:
    """A run's captures at both NICs' ports, and all addresses of these NICs; empty: it has sent nothing. A run at L2 has
    no capture of the peer's."""
    device: str
    peer: str
    device_ips: str
    peer_ips: str
    link: str = ""  # one link of the fabric alone


def changed(folder, capture, *options):
    """The capture as somebody else would have taken it (tools/captures/views.py)."""
    out = f"{'-'.join(o.strip('-') for o in options)}-{capture}"
    subprocess.run([sys.executable, VIEWS_PY, capture, out, *options], cwd=folder, check=True)
    return out


def cut(folder, capture):
    subprocess.run(["editcap", "-s", "128", capture, f"cut-{capture}"], cwd=folder, check=True)
    return f"cut-{capture}"


BASE = ("--base", "1000000")
CLOCK = {side: (*BASE, "--ahead", str(ns), "--ppm", str(ppm)) for side, ns, ppm in
         (("ahead", 5000, 20), ("behind", -5000, -20), ("apart", 50000, 20), ("back", -50000, -20))}
MIRROR, SHUFFLE = ("--mirror", "2000"), ("--shuffle", "200000")
AGAIN = ("--again", "20000000")  # longer than any run


def both(folder, ends, side, *more):
    """Both ends, the peer's by a clock that is 5 or 50 us off and runs 20 ppm too fast or too slow."""
    return [changed(folder, ends.device, *BASE, *more), changed(folder, ends.peer, *CLOCK[side], *more)]


def at_both(folder, ends, side):
    device, peer = both(folder, ends, side)
    return [device, peer, "--at", f"{ends.device_ips}={device}", "--at", f"{ends.peer_ips}={peer}"]


# Name -> arguments of mrc check. Each run is judged in all of them.
VIEWS = {
    "bare": lambda folder, e: [e.device],
    "at": lambda folder, e: [e.device, "--at", e.device_ips],
    "profile-at": lambda folder, e: [e.device, "--at", e.device_ips, "--profile", "nic.json"],
    "plane": lambda folder, e: [changed(folder, e.device, "--plane", "0")],
    "link": lambda folder, e: [e.link],
    "cut": lambda folder, e: [cut(folder, e.device)],
    "mirror": lambda folder, e: [changed(folder, e.device, *MIRROR)],
    "shuffle": lambda folder, e: [changed(folder, e.device, *SHUFFLE)],
    "mirror-shuffle-at": lambda folder, e: [changed(folder, e.device, *MIRROR, *SHUFFLE), "--at", e.device_ips],
    "mirror-shuffle-cut": lambda folder, e: [cut(folder, changed(folder, e.device, *MIRROR, *SHUFFLE))],
    "ahead": lambda folder, e: both(folder, e, "ahead"),
    "behind": lambda folder, e: both(folder, e, "behind"),
    "behind-cut": lambda folder, e: [cut(folder, c) for c in both(folder, e, "behind")],
    "behind-mirror-shuffle": lambda folder, e: both(folder, e, "behind", *MIRROR, *SHUFFLE),
    "lives": lambda folder, e: [changed(folder, e.device, *AGAIN)],
    "lives-at": lambda folder, e: [changed(folder, e.device, *AGAIN), "--at", e.device_ips],
    "ahead-lives": lambda folder, e: both(folder, e, "ahead", *AGAIN),
    "ahead-apart": lambda folder, e: both(folder, e, "apart"),
    "behind-apart": lambda folder, e: both(folder, e, "back"),
    "ahead-at": lambda folder, e: at_both(folder, e, "ahead"),
    "behind-at": lambda folder, e: at_both(folder, e, "behind"),
}


def views_of(run, views, some):
    """The views of that run: all, or so many of them, drawn by the run's name."""
    return random.Random(run.name).sample(views, min(some, len(views))) if some else views


def outputs(run):
    """Options for the run's captures: both NICs' ports, each link of the fabric for itself."""
    if run.arguments[0] == "cosim":
        peer = [] if "--level" in run.arguments else ["--pcap-peer", "peer.pcapng"]
        return ["--pcap", "device.pcapng", *peer, "--record", "run.mrclog"]
    planes, peer = LINKS[run.arguments[2]]
    return [word for nic, end in ((0, "device"), (peer, "peer")) for plane in range(planes)
            for word in ("--pcap", f"nic{nic}/{plane}={end}-{plane}.pcapng")]


def look(mrc, run, folder, first):
    """(Ends, packets as JSON) of a run. Of the fabric at most `first` packets at each end."""
    def decode(capture):
        return subprocess.run([mrc, "decode", capture, "--json"], cwd=folder, capture_output=True, text=True,
                              check=True).stdout.splitlines()

    # What has come back, or is altered, has somebody else's address.
    def senders(decoded, words):
        told = [p.get("ipv6") or p.get("ipv4") for p in map(json.loads, decoded)
                if any(c.startswith(words) and "sent back" not in c for c in p["capture"]["comments"])]
        return ",".join(sorted({ip["src"] for ip in told if ip}))  # a damaged frame may have neither
    if run.arguments[0] == "cosim":
        with subprocess.Popen([mrc, "log", "print", "run.mrclog", "--json"], cwd=folder, stdout=subprocess.PIPE,
                              text=True) as log:
            (folder / "nic.json").write_text(json.loads(log.stdout.readline())["profile"], encoding="utf-8")
            log.kill()
        decoded = decode("device.pcapng")
        peer = "" if "--level" in run.arguments else "peer.pcapng"
        ends = Ends("device.pcapng", peer, senders(decoded, "sent by the device"),
                    senders(decoded, "received by the device"))
        # What the peer's host could not read may have been lost on its way.
        return ends, decoded + (decode(peer) if peer else [])
    planes, peer = LINKS[run.arguments[2]]
    told = []
    for nic, end in ((0, "device"), (peer, "peer")):
        # At its port a NIC sees nothing of what its link loses.
        links = [word for plane in range(1, planes) for word in ("--with", f"{end}-{plane}.pcapng")]
        subprocess.run([sys.executable, VIEWS_PY, f"{end}-0.pcapng", f"{end}.pcapng", *links, "--first", str(first),
                        "--without", "lost on this link"], cwd=folder, check=True)
        told.append(decode(f"{end}.pcapng"))
    changed(folder, "device-0.pcapng", "--first", str(first))
    ends = Ends("device.pcapng", "peer.pcapng", senders(told[0], "nic0 to "), senders(told[1], f"nic{peer} to "),
                f"first-{first}-device-0.pcapng")
    if ends.device_ips:
        subprocess.run([mrc, "profile", "infer", ends.device, "--device", ends.device_ips, "-o", "nic.json"],
                       cwd=folder, check=True, capture_output=True)
    return ends, told[0]


def can_have(view, ends):
    """Whether the run has what that view takes."""
    return not ((view.endswith("at") and not ends.device_ips) or (view.endswith("d-at") and not ends.peer_ips)
                or (view == "link" and not ends.link) or (view.startswith(("ahead", "behind")) and not ends.peer))


def execute_captures(mrc, run, root, views, some, packets, judged):
    """As execute(), of the run's captures in `some` of these views; `judged` counts them. In a capture with altered
    frames findings are none."""
    folder = Path(tempfile.mkdtemp(dir=root))
    try:
        began = time.monotonic()
        wrong = make(mrc, run, folder, *outputs(run))
        if wrong is not None:
            return wrong, [], [], 0, 0, 0
        middle = time.monotonic()
        ends, decoded = look(mrc, run, folder, packets)
        findings, rules, packets = [], [], 0
        able = [v for v in views if can_have(v, ends)]
        for view in views_of(run, able, some):
            arguments = VIEWS[view](folder, ends)
            check = subprocess.run([mrc, "check", *arguments, "--json", "-"], cwd=folder, capture_output=True, text=True,
                                   timeout=1800)
            if not check.stdout:
                return f"{view}: {check.stderr}", [], [], 0, 0, 0
            result = json.loads(check.stdout)
            judged[view] += 1
            for finding in result["findings"]:
                # QPs begin anew there, ports do not: they are as the first life has left them.
                if "lives" in view and finding["rule"].startswith(("path.peer-", "peer.")):
                    continue
                findings.append({**finding, "text": f"{view}: {finding['text']}", "view": view})
            rules, packets = rules + result["rules"], packets + result["packets"]
        # A capture at L2 does not say what the link has done; the run does.
        corrupted = re.search(r"corrupted [1-9]", (folder / "run.txt").read_text(encoding="utf-8"))
        if corrupted or any(word in line for line in decoded for word in ALTERED):
            if findings:
                print(f"altered by the link, {run.name}: {', '.join(sorted({f['rule'] for f in findings}))}")
            findings = []
        return "", findings, rules, packets, middle - began, time.monotonic() - middle
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError, json.JSONDecodeError) as wrong:
        return f"{wrong}", [], [], 0, 0, 0
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("mrc", help="the program")
    p.add_argument("--what", default="scenarios,random,settings,fabric", help="of these, and lives")
    p.add_argument("--presets", default="tiny", help="tiny,asic800,fpga100")
    p.add_argument("--dut", default="model", help="model, rtl, or fast: as a NIC at L2, captured at its own ports")
    p.add_argument("--level", default="L0", choices=["L0", "L1", "L2"], help="of the runs; a fast NIC has L2 alone")
    p.add_argument("--packets", type=int, default=1500)
    p.add_argument("--seeds", type=int, default=1, help="of each built-in scenario")
    p.add_argument("--random", type=int, default=100, help="random scenarios")
    p.add_argument("--first", type=int, default=1, help="seed of the first random one")
    p.add_argument("--nics", default="0,1", help="NICs of the fabric that are recorded")
    p.add_argument("--only", default="", help="runs whose name holds this")
    p.add_argument("--captures", action="store_true", help="check captures instead of logs")
    p.add_argument("--fabric", default="all", help="scenarios of the fabric whose captures are checked")
    p.add_argument("--endpoints", default="model,rtl", help="of clocked NICs in the fabric (small), as captures")
    p.add_argument("--views", default=",".join(VIEWS), help="of captures, these: %(default)s")
    p.add_argument("--views-per-run", type=int, default=0, help="so many of these views of each run, drawn by its name; "
                   "0: all")
    p.add_argument("-j", type=int, default=os.cpu_count() or 1)
    p.add_argument("--json", help="all tallies")
    o = p.parse_args()
    mrc, runs = str(Path(o.mrc).resolve()), plan(o)
    root = tempfile.mkdtemp(prefix="mrc-false-alarms-")
    rules, wrong, broken, empty, packets, recorded, checked = {}, 0, 0, 0, 0, 0.0, 0.0
    judged = collections.Counter()
    began = time.monotonic()
    try:
        with concurrent.futures.ThreadPoolExecutor(o.j) as pool:
            judge = execute
            if o.captures:
                judge = partial(execute_captures, views=o.views.split(","), some=o.views_per_run,
                                packets=4 * o.packets, judged=judged)
            futures = {pool.submit(judge, mrc, run, root): run for run in runs}
            for done, future in enumerate(concurrent.futures.as_completed(futures), 1):
                run = futures[future]
                error, findings, tallies, count, t_run, t_check = future.result()
                empty += not error and count == 0
                packets, recorded, checked = packets + count, recorded + t_run, checked + t_check
                options = outputs(run) if o.captures else ["--record", "run.mrclog"]
                command = " ".join(["mrc", *run.arguments, *options])
                if error:
                    broken += 1
                    print(f"RUN FAILED {run.name}: {error}\n  {command}")
                shown = list({f.get("view"): f for f in reversed(findings)}.values()) if o.captures else findings[:3]
                for f in shown:
                    print(f"FINDING {run.name}: {f.get('rule')}: {f.get('text')}\n  {command}")
                    if run.scenario:
                        print("  FILE: " + run.scenario.replace("\n", "; "))
                wrong += bool(findings)
                for t in tallies:
                    r = rules.setdefault(t["id"], {"checked": 0, "broken": 0, "inconclusive": 0, "rests": {}})
                    r["checked"] += t["checked"]
                    r["broken"] += t["broken"]
                    r["inconclusive"] += t.get("inconclusive", 0)
                    for reason, n in t.get("rests", {}).items():
                        r["rests"][reason] = r["rests"].get(reason, 0) + n
                if sys.stderr.isatty():
                    left = (time.monotonic() - began) / done * (len(runs) - done)
                    print(f"\r{done} of {len(runs)}, {left:.0f} s left ", end="", file=sys.stderr)
                sys.stdout.flush()
    finally:
        shutil.rmtree(root, ignore_errors=True)
    kinds = yaml.safe_load(RULES.read_text(encoding="utf-8"))["rules"]

    def share(chosen):
        resting = sum(sum(r["rests"].values()) for r in chosen)
        total = sum(r["checked"] + r["broken"] for r in chosen) + resting
        return f"{resting} of {total} ({100 * resting / max(total, 1):.2f} %)"
    owed = [r for name, r in rules.items() if kinds[name]["kind"] == "owed"]
    print(f"{len(runs)} runs, {packets} packets, {len(rules)} rules, {wrong} runs with findings, {broken} runs failed"
          + (f", {empty} runs without a packet to judge" if empty else ""))
    if o.captures:
        print("runs in each view: " + ", ".join(f"{view} {judged[view]}" for view in o.views.split(",")))
    print(f"rest or stay inconclusive: {share(owed)} of the obligations, {share(rules.values())} of all judgements")
    for name, r in sorted(rules.items(), key=lambda kv: -sum(kv[1]["rests"].values()))[:8]:
        for reason, n in r["rests"].items():
            print(f"  {name}: {n} rest: {reason}")
    print(f"recording {recorded:.1f} s, checking {checked:.1f} s ({recorded / max(checked, 1e-9):.1f} to 1)")
    never = [name for name, r in rules.items() if r["checked"] == 0]
    print(f"never applied: {', '.join(never) or 'none'}")
    if o.json:
        rtl.write_json(o.json, {"seeds": [run.name for run in runs], "runs": len(runs), "packets": packets, "rules": rules})
    if packets == 0:
        print("No packet could be judged: this says nothing about the judge.")
    return 3 if broken else 1 if wrong or packets == 0 else 0


if __name__ == "__main__":
    rtl.command("false_alarms.py", main)
