#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: run.py MRC SOURCE_DIR [NAME...]

NICs behind real ports (docs/guide/ports.md): scripts, traffic that is lost, trimmed and marked, a plane that goes down
and comes back, a capture that the judge reads; wrong uses; and that nothing is left when it ends. Names are those of
the functions; 'all_vectors' and 'much' are run by name only. Exit code 77: this machine gives no network namespaces."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import capture_profile

MRC, SOURCE = (str(Path(a).resolve()) for a in sys.argv[1:3])
SKIPPED = 77
HERE = Path(__file__).resolve().parent
# What a machine under load can promise: times are those of the wall.
SLOW, LATE = 4000, 240


def call(*words, code=0, seconds=200, start=(), **more):
    done = subprocess.run([*start, MRC, *words], text=True, capture_output=True, check=False, timeout=seconds,
                          stdin=subprocess.DEVNULL, **more)
    assert code is None or done.returncode == code, (words, done.returncode, done.stdout[-3000:], done.stderr[-3000:])
    return done


def ports(*words, slow=SLOW, late=LATE):
    return " ".join([MRC, "ports", "--slow", str(slow), "--late", str(late), *words])


def results(ids, device, tries=3, jobs=4, slow=SLOW):
    """Vectors by id. The test bed is a process among others: what found it late is run again, with slower time."""
    found = {}
    for _ in range(tries):
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "out.json"
            call("vectors", "run", *ids, "-j", str(jobs), "--wall", "900", "--answer-seconds", "100", "--json",
                 str(out), "--give-up", "0", "--device", ports(*device, slow=slow, late=LATE * slow / SLOW), code=None,
                 seconds=1500, start=["chrt", "-r", "1"])
            for entry in json.loads(out.read_text())["results"]:
                found[entry["id"]] = entry
        ids = [key for key, entry in found.items()
               if entry["disposition"] == "error" and "the test bed is broken" in entry["reason"]]
        if not ids:
            break
        slow *= 8
    return found


def hold(found, least):
    bad = {key: entry["reason"] for key, entry in found.items()
           if entry["disposition"] not in ("pass", "unsupported", "deviates")}
    assert not bad, bad
    good = sum(entry["disposition"] == "pass" for entry in found.values())
    assert good >= least, (good, {key: entry["reason"] for key, entry in found.items()})


SOME = ["R-SACK-001", "R-WIN-061", "R-WAY-013", "H-TVER-001", "R-TRIM-021", "H-IP-011", "Q-PORT-005"]


def vectors():
    hold(results(SOME, ["--endpoint", "model", "--preset", "tiny"]), 6)
    hold(results(["R-SACK-001", "Q-PORT-013"], []), 2)


def wrong_nic():
    """A NIC that is wrong is found over ports too."""
    found = results(["R-SACK-001"], ["--endpoint", "rtl", "--preset", "tiny", "--rtl-bug", "icrc-mask"], slow=40_000)
    assert found["R-SACK-001"]["disposition"] == "fail", found


def counters_of(log):
    lines = call("log", "print", "--json", log).stdout.splitlines()
    records = (json.loads(line) for line in lines[-400:])
    return {entry["name"]: entry["value"] for entry in records if entry["kind"] == "counter" and entry["device"] == 0}


def traffic(packets, slow):
    with tempfile.TemporaryDirectory() as folder:
        capture, log, told = (str(Path(folder) / name) for name in ("run.pcapng", "run.mrclog", "profile.json"))
        for attempt in range(4):
            done = call("cosim", "--level", "L2", "--preset", "asic800", "--scenario", str(HERE / "wire.toml"),
                        "--packets", str(packets), "--dut", ports("--capture", capture, slow=slow, late=800 * slow / 40_000),
                        "--peer", "fast", "--record", log, "--json", "-", seconds=1500, code=None,
                        start=["chrt", "-r", "1"])
            if done.returncode != 3 or "the test bed is broken" not in done.stdout + done.stderr:
                break
            slow *= 2
        result = json.loads(done.stdout)
        assert done.returncode == 0 and result["result"] == "pass", (result, done.stderr)
        side = result["peer"]
        print(json.dumps({key: result[key] for key in ("result", "time_us", "seconds") if key in result}), side)
        assert result["messages_verified"] > packets / 20, result
        wait_for_capture(capture)
        # A busy machine would leave the last packets of some ports out, and the judge miss them: a mark ends each port.
        marks = set(re.findall(rb"mrc ports: the capture ends here, \d+ \d+ (\d)", Path(capture).read_bytes()))
        assert marks == {b"%d" % plane for plane in range(8)}, marks
        profile = capture_profile.profile_of(MRC, log)
        Path(told).write_text(json.dumps(profile), encoding="utf-8")
        # A capture shows packets, not carriers: who does not know that a plane is down misses its share.
        checked = json.loads(call("check", capture, "--slow", str(slow), "--profile", told, "--at", profile["addresses"][0],
                                  "--waive", "peer.mask=a capture shows no carrier", "--waive",
                                  "path.equal=a capture shows no carrier", "--strict", "--json", "-").stdout)
        assert checked["verdict"] == "pass", checked
        assert checked["packets"] > packets, checked["packets"]
        counted = counters_of(log)
        print(f"capture: {checked['packets']} packets, {checked['verdict']}; counters {counted}")
        # All that one side sent came to the other: what was on its way at the end is the difference.
        assert abs(counted["port_frames"] - counted["tester_frames"]) <= 64, counted


def wait_for_capture(path):
    """dumpcap ends its file by itself, a second after those that it served."""
    for _ in range(100):
        running = subprocess.run(["pgrep", "-f", f"dumpcap.*{path}"], capture_output=True, check=False)
        if running.returncode != 0 and os.path.getsize(path) > 1000:
            return
        time.sleep(0.2)
    raise AssertionError("the capture does not end")


def wire():
    traffic(500, 20_000)


def much():
    """A hundred thousand packets."""
    traffic(100_000, 40_000)


def all_vectors():
    for device in (["--endpoint", "model", "--preset", "tiny"], []):
        found = results([], device)
        count = {}
        for entry in found.values():
            count[entry["disposition"]] = count.get(entry["disposition"], 0) + 1
        print(device or ["fast"], count)
        hold(found, 400)


# Runs in a network namespace of a run: frames of others on all of its interfaces, three of a kind at a time.
OTHERS = r"""
import socket, struct, sys, time
names = [name for _, name in socket.if_nameindex() if name != "lo"]
ports = []
for name in names:
    port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    port.bind((name, 0))
    ports.append(port)
macs = bytes.fromhex("ffffffffffff02aabbccddee")
def six(following, rest):
    return macs + b"\x86\xdd" + struct.pack(">IHBB", 6 << 28, len(rest), following, 64) + bytes(32) + rest
udp = struct.pack(">HHHH", 5353, 53, 1008, 0) + bytes(1000)
four = struct.pack(">BBHHHBBH8x", 0x45, 0, 1028, 0, 0, 64, 17, 0)
kinds = [macs + b"\x08\x06" + bytes(46), six(59, bytes(100)), six(6, bytes(1400)), six(17, udp), six(0, b"\x3b" + bytes(79)),
         macs + b"\x08\x00" + four + udp, macs + b"\x12\x34" + bytes(8), six(59, bytes(8900)),
         macs + b"\x81\x00\x00\x05" + b"\x08\x06" + bytes(46)]
until = time.monotonic() + float(sys.argv[1])
sent = 0
while time.monotonic() < until:
    for frame in kinds:
        for port in ports:
            for _ in range(3):
                try:
                    port.send(frame)
                    sent += 1
                except OSError:
                    pass
    time.sleep(0.01)
print(sent)
"""


def below(pid):
    """A process and all that it started."""
    found, children, wait = [], {}, [pid]
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            children.setdefault(int(stat.read_text().rpartition(")")[2].split()[1]), []).append(int(stat.parent.name))
        except OSError:
            pass
    while wait:
        found.append(wait.pop(0))
        wait += children.get(found[-1], [])
    return found


def namespaces_of(pid):
    """{network namespace: one of its processes} below a process, but its own."""
    own, found = os.readlink("/proc/self/ns/net"), {}
    for process in below(pid):
        try:
            found.setdefault(os.readlink(f"/proc/{process}/ns/net"), process)  # parents last longest
        except OSError:
            pass
    found.pop(own, None)
    return found


def disturbed(disturb, felt=lambda code, said: True, packets=900, slow=20_000, read=lambda out, err: json.loads(out)):
    """(exit code, what `read` reads, what `disturb` says) of a run during which `disturb` was called with its processes,
    one in each namespace. A run that `felt` nothing may have been over by then: it is repeated with more packets, and the
    fifth counts. A test bed that is broken says nothing of the NIC; when slower ones are, too, the machine shows nothing:
    None."""
    for turn in range(5):
        words = [MRC, "cosim", "--level", "L2", "--preset", "tiny", "--scenario", str(HERE / "wire.toml"), "--packets",
                 str(packets), "--dut", ports("--preset", "tiny", slow=slow, late=800 * slow / 40_000), "--peer", "fast",
                 "--json", "-"]
        told = None
        with subprocess.Popen(["chrt", "-r", "1", *words], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL) as run:
            for _ in range(200):
                inside = namespaces_of(run.pid)
                if len(inside) == 2:
                    break
                time.sleep(0.05)
            time.sleep(0.5)
            try:
                told = disturb(list(inside.values()))
            except AssertionError:  # the run has ended before it was disturbed to the end
                packets *= 2
            out, err = run.communicate(timeout=600)
        if run.returncode == 3 and "the test bed is broken" in out + err:
            slow *= 2
        elif told is not None:
            said = read(out, err)
            if turn == 4 or felt(run.returncode, said):
                return run.returncode, said, told
            packets *= 2
        else:
            assert run.returncode == 0, (out[-2000:], err)
    return None


def inside_of(process, *words):
    done = subprocess.run(["nsenter", "-t", str(process), "-n", *words], text=True, capture_output=True, check=False)
    assert done.returncode == 0, (process, words, done.stderr)
    return done.stdout


def among_others():
    """Frames of others come to both ends; a plane of the NIC is switched off and on by somebody: neither is the NIC's."""
    def flood(processes):
        sent = [int(inside_of(p, sys.executable, "-c", OTHERS, "0.8")) for p in processes]
        assert min(sent) > 100, sent
        return sent

    came = disturbed(flood)
    if came is None:
        print("frames of others: this machine is too slow to show anything")
        return
    code, result, sent = came
    assert code == 0 and result["result"] == "pass", (code, result["judge"]["findings"], result)
    print("frames of others:", sent)

    def switch(processes):
        name = first_interface(processes[-1])
        for state in ("down", "up"):
            inside_of(processes[-1], "ip", "link", "set", name, state)
            time.sleep(0.3)
        return name

    came = disturbed(switch, lambda code, result: len(result["device"]["carriers"]) > 1)
    if came is None:
        print("carriers: this machine is too slow to show anything")
        return
    code, result, name = came
    assert code == 0 and result["result"] == "pass", (name, code, result["judge"]["findings"], result)
    changes = result["device"]["carriers"]
    assert not changes[0]["up"] and changes[-1]["up"], changes
    print("carriers:", changes)


def first_interface(process):
    links = json.loads(inside_of(process, "ip", "-json", "link"))
    return sorted(link["ifname"] for link in links if link["ifname"] != "lo")[0]


def taken_away():
    """An interface that is deleted is a plane that has gone by itself; one whose MTU becomes too small ends the run, and is
    named. Neither is the NIC's."""
    def alter(*words):
        def change(processes):
            name = first_interface(processes[-1])
            inside_of(processes[-1], "ip", "link", *(word.format(name) for word in words))
            return name
        return change

    changes = ((["delete", "{}"], lambda code, said: json.loads(said[0])["device"]["carriers"]),
               (["set", "{}", "mtu", "68"], lambda code, said: code != 0))
    for words, felt in changes:
        came = disturbed(alter(*words), felt, read=lambda *said: said)
        if came is None:
            print("interfaces: this machine is too slow to show anything")
            return
        code, (out, err), name = came
        if words[0] == "delete":
            result = json.loads(out)
            assert code == 0 and result["result"] == "pass", (code, result["judge"]["findings"], result)
            carriers = result["device"]["carriers"]
            assert len(carriers) == 1 and not carriers[0]["up"], carriers
        else:
            assert code == 3 and f"on {name}: Message too long" in err, (code, err, out[-1000:])
        print("taken away:", words[0], name)


def net(script):
    """A command before others: with interfaces of its own."""
    return ["unshare", "--net", "sh", "-c", f'{script} && exec "$@"', "sh"]


def says(sentence, remedy, *words, start=()):
    done = call(*words, code=3, start=start)
    assert sentence in done.stderr and remedy in done.stderr, (words, done.stderr)


def refusals():
    nic = ["nic", "--endpoint", "fast", "--preset", "tiny"]
    says("there is no network interface 'nowhere0'.", "'ip link' lists", *nic, "--port", "0=nowhere0")
    says("the interface lo is no Ethernet.", "Name one that is.", *nic, "--port", "0=lo", start=net("ip link set lo up"))
    pair = "ip link add one mtu {} type veth peer name two && ip link set one {}"
    says("the interface one is down.", "ip link set one up", *nic, "--port", "0=one", start=net(pair.format(9000, "down")))
    says("the interface one has an MTU of 1500 bytes, and packets of MRC are of up to 4338.", "ip link set one mtu 9000",
         *nic, "--port", "0=one", start=net(pair.format(1500, "up")))
    says("the interface one is named for two ports.", "Give each port its own.", *nic, "--port", "0=one", "--port", "1=one",
         start=net(pair.format(9000, "up")))
    says("cannot write /nowhere/x.pcapng.", "a folder that you may write to", "ports", "--capture", "/nowhere/x.pcapng")
    unable = ["setpriv", "--bounding-set=-net_raw", "--inh-caps=-net_raw"]
    says("this user may not open the port one: Operation not permitted.", "Real ports need root", *nic, "--port", "0=one",
         start=[*net(pair.format(9000, "up")), *unable])


def namespaces():
    """Of all processes: network namespaces."""
    found = set()
    for process in Path("/proc").glob("[0-9]*/ns/net"):
        try:
            found.add(os.readlink(process))
        except OSError:
            pass
    return found


def nothing_left():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        child = subprocess.Popen([MRC, "ports", "--preset", "tiny"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 start_new_session=True)
        child.stdin.write(b'{"call":"open","version":1}\n{"call":"advance","until":1000000}\n')
        child.stdin.flush()
        assert b'"ok":true' in child.stdout.readline() and b'"reached"' in child.stdout.readline()
        mine = {os.readlink(f"/proc/{child.pid}/ns/net")}
        assert mine != {os.readlink("/proc/self/ns/net")}
        os.kill(child.pid, number)
        child.wait(10)
        for _ in range(100):
            left = namespaces() & mine
            if not left:
                break
            time.sleep(0.05)
        assert not left, number
        child.stdin.close()
        child.stdout.close()
    assert "mrct0" not in Path("/proc/net/dev").read_text(encoding="utf-8")


def why_not():
    """Why this cannot be run here; nothing: it can."""
    if os.geteuid() != 0:
        return "needs root"
    for words in (["unshare", "--net", "true"], ["ip", "-V"], ["dumpcap", "-v"], ["setpriv", "--version"],
                  ["chrt", "-r", "1", "true"]):
        try:
            done = subprocess.run(words, text=True, capture_output=True, check=False)
        except OSError:
            return f"{words[0]} is missing"
        if done.returncode != 0:
            return f"{' '.join(words)}: {done.stderr.strip()}"
    veth = subprocess.run(net("ip link add one type veth peer name two") + ["true"], text=True, capture_output=True,
                          check=False)
    return f"no veth: {veth.stderr.strip()}" if veth.returncode != 0 else None


def main():
    reason = why_not()
    if reason:
        print(f"skipped: {reason}")
        return SKIPPED
    usual = [refusals, nothing_left, vectors, wire, wrong_nic, among_others, taken_away]
    known = {f.__name__: f for f in [*usual, all_vectors, much]}
    for name in sys.argv[3:] or [f.__name__ for f in usual]:
        begin = time.monotonic()
        known[name]()
        print(f"{name}: ok, {time.monotonic() - begin:.1f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
