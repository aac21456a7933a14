#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: log_commands.py MRC

Logs as people make and use them: recorded runs are those without a log, what is in the log is in the capture of the same
run, and info, print, cat, redact and import agree with each other."""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

MRC = sys.argv[1]
FAILED = []


def check(what, good):
    if not good:
        print("FAILED:", what)
        FAILED.append(what)


def mrc(*arguments, code=0):
    done = subprocess.run([MRC, *map(str, arguments)], text=True, capture_output=True, check=False, timeout=120)
    check(f"{arguments} ends with {done.returncode}: {done.stderr}", done.returncode == code)
    return done.stdout


def info(log, code=0):
    return json.loads(mrc("log", "info", "--json", log, code=code))


def lines(log, *arguments):
    return [json.loads(line) for line in mrc("log", "print", "--json", log, *arguments).splitlines()]


def without_times(result):
    """What a run did, without the machine's side of it."""
    return {key: value for key, value in result.items() if key not in ("run", "speed")}


def fabric(folder):
    for endpoint in ("fast", "model"):
        plain, told, log, pcap = (folder / f"{endpoint}.{end}" for end in ("json", "told", "mrclog", "pcapng"))
        mrc("fabric", "--scenario", "small", "--endpoint", endpoint, "--json", plain)
        mrc("fabric", "--scenario", "small", "--endpoint", endpoint, "--json", told, "--record", log, "--pcap",
            f"nic1/0={pcap}")
        before, after = (without_times(json.loads(path.read_text())) for path in (plain, told))
        check(f"{endpoint}: recording changes the run", before == after)
        records = lines(log)
        devices = info(log)["devices"]
        check(f"{endpoint}: eight NICs", [d["name"] for d in devices] == [f"nic{i}" for i in range(8)])
        for number in range(8):
            own = [r for r in records if r["device"] == number]
            check(f"{endpoint}: nic{number} begins with its Device", own[0]["kind"] == "device")
            check(f"{endpoint}: nic{number} ends with its End", own[-1]["kind"] == "end")
            times = [r["time"] for r in own if r["kind"] != "until"]
            check(f"{endpoint}: nic{number} in the order of time", times == sorted(times))
            check(f"{endpoint}: nic{number} completes what it posts",
                  sorted(r["wr_id"] for r in own if r["kind"] == "post") ==
                  sorted(r["wr_id"] for r in own if r["kind"] == "cqe" and r["status"] == "ok"))
        # The link's capture has the same frames; what was under way at the end has not come.
        seen = [json.loads(line) for line in mrc("decode", "--json", pcap).splitlines()]
        frames = [r for r in records if r["kind"] == "frame" and r["device"] == 1 and r["plane"] == 0]
        check(f"{endpoint}: frames of nic1/0 are those of its link", 0 <= len(seen) - len(frames) <= 3)
    one = folder / "one.mrclog"
    mrc("fabric", "--scenario", "small", "--record", one, "--record-nics", "2-3,6")
    spectrum = folder / "spectrum.mrclog"
    mrc("fabric", "--scenario", "small", "--fabric-profile", "spectrum", "--record", spectrum)
    said = json.loads(info(spectrum)["devices"][0]["profile"])["settings"]
    check("code points of a fabric are in its logs", {key: said.get(key) for key in said if key.startswith("DSCP_")} ==
          {"DSCP_TX.data": 1, "DSCP_TX.rtx": 2, "DSCP_TX.ep": 1, "DSCP_TRIM.trimmed": 11, "DSCP_TRIM.lasthop": 21})
    check("NICs that are named alone", [d["name"] for d in info(one)["devices"]] == ["nic2", "nic3", "nic6"])


def cosim(folder):
    log, pcap = folder / "cosim.mrclog", folder / "cosim.pcapng"
    run = ("cosim", "--preset", "tiny", "--dut", "model", "--packets", "300", "--scenario")
    inside = ["path", "cc"]
    for flag, shows in ((), ["take", "answer", *inside]), (("--no-record-shows",), inside):  # events are there either way
        mrc(*run, "clean", "--record", log, *flag)
        profiles = [json.loads(r["profile"]) for r in lines(log) if r["kind"] == "device"]
        check(f"cosim {flag}: shows", [p.get("shows", []) for p in profiles] == [shows, shows])
        kinds = {r["event"] for r in lines(log) if r["kind"] == "event"}
        check(f"cosim {flag}: events", {"take", "answer", "cc"} <= kinds)
    mrc(*run, "mixed", "--record", log, "--pcap", pcap)
    about = info(log)
    records = lines(log)
    check("as many lines as records", len(records) == about["records"])
    seen = [json.loads(line) for line in mrc("decode", "--json", pcap).splitlines()]
    frames = [r for r in records if r["kind"] == "frame" and r["device"] == 0]
    check("frames of the device are those of its capture", 0 <= len(seen) - len(frames) <= 2)

    # The same frames by way of the capture.
    address = json.loads(about["devices"][0]["profile"])["addresses"][0]
    imported = folder / "imported.mrclog"
    mrc("log", "import", "--at", f"{address}={pcap}", "--clock-error", "1=20", "-o", imported)
    device = info(imported)["devices"][0]
    ports = {p["plane"]: p for p in about["devices"][0]["ports"]}
    for port in device["ports"]:
        check("imported: sent frames are those recorded", port["sent"] == ports[port["plane"]]["sent"])
    check("imported: nothing is older than what came before", device["backwards"] == 0)
    check("imported: no QPs", not any(r["kind"] == "qp" for r in lines(imported)))
    qps = folder / "qps.mrclog"
    mrc("log", "import", "--qps", "--at", f"{address}={pcap}", "-o", qps)
    told = {r["qp"] for r in lines(qps) if r["kind"] == "qp"}
    check("imported: QPs that the frames tell", told and told <= {r["qp"] for r in records if r["kind"] == "qp"})
    two = folder / "two.mrclog"
    mrc("log", "import", "--device", address, "--at", f"fd00::9,{address}={pcap}", "-o", two)
    check("imported: a device has the addresses of both options", len(info(two)["devices"]) == 1)
    check("imported: clock error of plane 1 alone",
          {r["plane"] for r in lines(imported) if r.get("error")} == {1})

    # One QP.
    qp = next(r["qp"] for r in records if r["kind"] == "qp" and r["device"] == 0)
    of_qp = lines(log, "--qp", qp)
    check("records of one QP", {"qp", "post", "cqe", "frame"} <= {r["kind"] for r in of_qp})
    check("and no others", all(r.get("qp", qp) == qp for r in of_qp))

    # Without payload, without addresses.
    redacted = folder / "redacted.mrclog"
    mrc("log", "redact", log, "--addresses", "-o", redacted)
    text = "".join(json.dumps(r) for r in lines(redacted))
    check("no data of the host", '"data"' not in text)
    check("no address of before", address not in text)
    check("as many records", info(redacted)["records"] == about["records"])
    check("and smaller", redacted.stat().st_size < log.stat().st_size)

    # Two logs as one.
    other, both = folder / "other.mrclog", folder / "both.mrclog"
    mrc(*run, "loss", "--record", other)
    mrc("log", "cat", log, other, "-o", both)
    check("four devices", len(info(both)["devices"]) == 4)
    untils = sum(d["records"]["until"] for path in (log, other) for d in info(path)["devices"])
    check("all records but Untils", info(both)["records"] == about["records"] + info(other)["records"] - untils)
    mrc("log", "cat", log, log, "-o", both)
    check("the same device twice is one", len(info(both)["devices"]) == 2)
    mrc("log", "cat", "--apart", log, log, "-o", both)
    check("unless told otherwise", len(info(both)["devices"]) == 4)

    # A log that was not finished, one that is damaged.
    whole = log.read_bytes()
    cut, bad = folder / "cut.mrclog", folder / "bad.mrclog"
    cut.write_bytes(whole[:-40])
    check("a cut log says so", not info(cut, code=5)["finished"])
    bad.write_bytes(whole[:500] + bytes([whole[500] ^ 1]) + whole[501:])
    mrc("log", "info", bad, code=3)
    mrc("log", "redact", bad, "-o", folder / "x.mrclog", code=3)
    check("nothing is left of a log that could not be made", not (folder / "x.mrclog").exists())


def main():
    with tempfile.TemporaryDirectory() as name:
        fabric(Path(name))
        cosim(Path(name))
    return bool(FAILED)


if __name__ == "__main__":
    sys.exit(main())
