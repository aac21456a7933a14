#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: run.py MRC LIBRARY SOURCE_DIR [NAME...]

mrc cosim at L1 and L2: our NICs play scenarios without a finding, by name, as a process, behind sockets and as a
shared object LIBRARY; NICs that are wrong are found; devices that misbehave are told and bounded."""
import json
import os
import shlex
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

MRC, LIBRARY, SOURCE = (str(Path(a).resolve()) for a in sys.argv[1:4])


def cosim(*arguments, code=0, level="L2", packets=200, preset="tiny"):
    call = [MRC, "cosim", "--level", level, "--preset", preset, "--packets", str(packets), "--json", "-", *arguments]
    done = subprocess.run(call, text=True, capture_output=True, check=False, timeout=100, stdin=subprocess.DEVNULL)
    assert done.returncode == code, (arguments, done.returncode, done.stdout[-2000:], done.stderr[-3000:])
    return json.loads(done.stdout) if done.stdout.startswith("{") else done.stderr


SCENARIOS = ["clean", "loss", "trim", "reorder", "corrupt", "immediate", "link-flap", "refused", "window", "no-bytes"]


def play(dut, scenarios=SCENARIOS, **more):
    for scenario in scenarios:
        result = cosim("--dut", dut, "--scenario", scenario, **more)
        assert result["result"] == "pass" and result["messages_verified"] > 0, (dut, scenario, result["result"])
        assert result["judge"]["obligations"]["applied"] > 1000, (dut, scenario)


def model():
    play("model", [*SCENARIOS, "qp-error", "retry-exhaust", "dynamic-mpr", "soak"])


def fast():
    play("fast")
    result = cosim("--dut", "fast", "--scenario", "loss")
    assert any(text.startswith("wrap_share: the device has no cap psn") for text in result["left_out"]), result


def ended():
    """Software puts QPs that send into ERROR: each is connected anew, and the judge is content."""
    for dut in ("model", f"{shlex.quote(MRC)} nic --preset tiny", LIBRARY):
        result = cosim("--dut", dut, "--scenario", f"{SOURCE}/tools/mutation/ended.toml", packets=1500)
        assert result["result"] == "pass" and result["qps_failed"] >= 8, (dut, result)
        assert not any(text.startswith("ended") for text in result["left_out"]), (dut, result["left_out"])


def rtl():
    play("rtl", ["loss", "qp-error"])


def stalled():
    """Our RTL with words that wait between its blocks: a lawful NIC; and its assertions hold runs at L1 and L2, too."""
    play("rtl-stalled", ["mixed"], level="L1")
    play("rtl-stalled", ["loss", "immediate"])
    result = cosim("--dut", "rtl-stalled", "--rtl-bug", "line-used-twice", "--scenario", "clean", code=3)
    words = "the assertion LineUsedOnce in mrc_nic.mrc_nic_tiny.u_nic.gen_lane["
    assert words in result["problem"]["text"], result["problem"]
    said = cosim("--dut", "rtl-stalled", preset="asic800", code=3)
    assert "the RTL of preset asic800 with stalls between its blocks is not built." in said, said


def peers():
    play("model", ["loss"])
    assert cosim("--dut", "model", "--peer", "fast", "--scenario", "trim")["peer"]["name"] == "fast"


def same_everywhere():
    """Who it is behind changes nothing of what a NIC does."""
    command = f"{shlex.quote(MRC)} nic --preset tiny"
    runs = [cosim("--dut", dut, "--scenario", "loss", "--seed", "3") for dut in ("model", command, LIBRARY)]
    for run in runs[1:]:
        for key in ("data_packets", "messages", "bytes", "time_ps"):
            assert run[key] == runs[0][key], (key, run[key], runs[0][key])
        assert run["device"]["sent"] == runs[0]["device"]["sent"]


def serve(listener, command):
    connection, _ = listener.accept()
    with connection, listener:
        subprocess.run(command, stdin=connection, stdout=connection, check=False)


def sockets():
    command = [MRC, "nic", "--endpoint", "fast", "--preset", "tiny"]
    with tempfile.TemporaryDirectory() as folder:
        tcp = socket.create_server(("127.0.0.1", 0))
        unix = socket.socket(socket.AF_UNIX)
        unix.bind(folder + "/nic")
        unix.listen()
        for listener, address in ((tcp, f"tcp:127.0.0.1:{tcp.getsockname()[1]}"), (unix, f"unix:{folder}/nic")):
            thread = threading.Thread(target=serve, args=(listener, command))
            thread.start()
            play(address, ["loss"])
            thread.join()


def record():
    """The log of a run is judged again as it was judged; the capture holds the device's frames."""
    with tempfile.TemporaryDirectory() as folder:
        log, capture = folder + "/run.mrclog", folder + "/run.pcapng"
        result = cosim("--dut", "model", "--scenario", "trim", "--record", log, "--pcap", capture)
        again = json.loads(subprocess.run([MRC, "check", log, "--json", "-"], capture_output=True, check=True).stdout)
        assert again["verdict"] == "pass" and again["packets"] == result["judge"]["packets"], again["packets"]
        assert again["obligations"] == result["judge"]["obligations"]
        decoded = subprocess.run([MRC, "decode", capture], text=True, capture_output=True, check=True).stdout
        assert "sent by the device" in decoded


def wrong_ones():
    """RTL that makes an error: which rule, or which check of the bench, says so."""
    for bug, expected in (("icrc-mask", "wire.icrc"), ("retx-without-rtx", ""), ("sack-base", ""),
                          ("line-used-twice", "")):
        result = cosim("--dut", "rtl", "--rtl-bug", bug, "--scenario", SCENARIO_OF.get(bug, "mixed"), code=1,
                       packets=600)
        rules = {f["rule"] for f in result["judge"]["findings"]}
        assert expected in rules or expected == "" and (rules or "problem" in result), (bug, rules)


SCENARIO_OF = {"retx-without-rtx": "loss", "sack-base": "loss"}


def seeds():
    call = [MRC, "cosim", "--level", "L2", "--preset", "tiny", "--dut", "fast", "--scenario", "random", "--packets",
            "100", "--seeds", "6", "--json", "-"]
    done = subprocess.run(call, text=True, capture_output=True, check=False, timeout=100)
    result = json.loads(done.stdout)
    assert done.returncode == 0 and result["passed"] >= 3 and len(result["runs"]) == 6, result["exit_code"]


def levels():
    result = cosim("--dut", "model", "--scenario", "clean", level="L1")
    assert result["level"] == "L1" and result["shows"] == 1 << 0 | 1 << 1 | 1 << 4  # take, answer, path
    result = cosim("--dut", "fast", "--scenario", "clean", level="L1")
    assert result["level"] == "L1" and result["shows"] == 0


def variants():
    """Devices that are wrong, one for each kind of output; and one that is right."""
    tool = [sys.executable, os.path.join(os.path.dirname(__file__), "../../../tools/variants.py"), MRC]
    few = "dqp-reserved,sack-ahead,psn-beyond,write-bit,recv-twice,take-other,rtx-twice,rtx-lost,ack-lost,send-lost"
    done = subprocess.run([*tool, "--only", few], text=True, capture_output=True, check=False, timeout=100)
    assert done.returncode == 0 and "10 variants, 0 bad" in done.stdout, done.stdout
    assert "take-other         L2 hidden" in done.stdout, done.stdout
    done = subprocess.run([*tool, "--what", "legal", "--only", "nasty", "--runs", "2", "--packets", "100"], text=True,
                          capture_output=True, check=False, timeout=100)
    assert done.returncode == 0 and "1 variants, 0 bad" in done.stdout, done.stdout


# A device that speaks the lines of another one, until a call comes; then it does what it is told.
SPOILED = """
import json, os, subprocess, sys, time
nic = subprocess.Popen([sys.argv[1], "nic", "--preset", "tiny"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
left = 20
for line in sys.stdin:
    if '"advance"' in line:
        left -= 1
    nic.stdin.write(line)
    nic.stdin.flush()
    answer = nic.stdout.readline()
    if left == 0:
        if sys.argv[2] == "exit": os._exit(7)
        if sys.argv[2] == "abort": os.abort()
        if sys.argv[2] == "hang": time.sleep(60)
        if sys.argv[2] == "garbage": answer = "\\x1b[31m}{" + "\\n"
        if sys.argv[2] == "long": answer = "[" + "1," * 1000000 + "1]\\n"
        instead = {
            "past": {"ok": True, "reached": 0, "out": []},
            "beyond": {"ok": True, "reached": 1 << 60, "out": []},
            "plane": {"ok": True, "reached": json.loads(line)[-1]["until"] if line[0] == "[" else 0, "out": [
                {"out": "tx", "plane": 9, "t": 0, "t_last": 2, "frame": "00"}]},
            "refuse": {"ok": False, "error": "no", "unsupported": False}}
        if sys.argv[2] in instead:
            answer = json.dumps([{"ok": True}] * line.count('"call"') if line[0] == "[" else instead[sys.argv[2]])
            if line[0] == "[": answer = json.dumps(json.loads(answer)[:-1] + [instead[sys.argv[2]]])
            answer += "\\n"
    sys.stdout.write(answer)
    sys.stdout.flush()
"""


def spoiled():
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "nic.py"
        script.write_text(SPOILED)
        for what, code, words in (("exit", 3, "ended with exit code 7 in the call advance"),
                                  ("abort", 3, "was ended by signal 6 (Aborted) in the call advance"),
                                  ("hang", 3, "has not answered the call advance for 0.5 s"),
                                  ("garbage", 3, "is no JSON"),
                                  ("long", 3, "a line of more than 1048576 bytes"),
                                  ("past", 3, "the device says that it has reached 0 ps"),
                                  ("beyond", 3, "the device says that it has reached 1152921504606846976 ps"),
                                  ("plane", 3, "the device "),
                                  ("refuse", 3, "the device refuses the call advance: no")):
            # exec: the process that ends is the device, not a shell around it
            command = f"exec {sys.executable} {script} {shlex.quote(MRC)} {what}"
            result = cosim("--dut", command, "--dut-timeout", "0.5" if what == "hang" else "60", code=code)
            assert words in result["problem"]["text"], (what, result["problem"])


# A variant, the seed that shows it, what comes of it, and the rule that is broken.
SEEN = [("ack-lost", 1, "fail", "rules", "req.moves"), ("ack-behind", 11, "deviates", "deviations", "resp.ack-owed")]


def reports():
    """--results names the rule; --reports, and without it mrc-reports, leaves a scenario that shows it again."""
    for level in ("L1", "L2"):
        for variant, seed, outcome, key, rule in SEEN:
            with tempfile.TemporaryDirectory() as folder:
                def run(*words, code):
                    call = [MRC, "cosim", "--level", level, "--preset", "tiny", "--dut", "model", "--variant", variant,
                            "--seed", str(seed), *words]
                    done = subprocess.run(call, cwd=folder, text=True, capture_output=True, check=False, timeout=100)  # noqa: B023
                    assert done.returncode == code, (call, done.returncode, done.stdout, done.stderr)

                failed = 1 if outcome == "fail" else 0
                named = f"{level}-tiny-mixed-{seed}.toml"
                run("--packets", "300", "--results", "lines", "--reports", "here", code=0)
                versions, line = map(json.loads, Path(folder, "lines").read_text().splitlines())
                assert "mrcnic" in versions["versions"], versions
                assert line["result"] == outcome and rule in line[key], line
                assert [file.name for file in Path(folder, "here").iterdir()] == [named], level
                run("--scenario", f"here/{named}", "--packets", "300", "--json", "again.json", code=failed)
                again = json.loads(Path(folder, "again.json").read_text())
                assert again["result"] == outcome, again["result"]
                found = [one["rule"] for one in again["judge"]["findings"] if one["verdict"] == outcome]
                assert found and rule in found, found
                # Nobody asked: a failure leaves its files, as at L0, a deviation none.
                Path(folder, "mrc-reports").exists() and os.rename(f"{folder}/mrc-reports", f"{folder}/again")
                run("--packets", "300", code=failed)
                left = [file.name for file in Path(folder).glob("mrc-reports/*")]
                assert left == ([named] if failed else []), left


# Seeds of `random` at L2, 500 packets, in which the fast endpoint was wrong, and how.
MENDED = {2157: "a fabric that trims to the code point of what is not trimmed", 2462: "the same",
          2403: "a trimmed packet of its own, with the code point of returned ones, was taken as whole",
          2459: "work behind what had to wait for its data was flushed first",
          2490: "a packet of a message that is complete was sent again, with another one's contents"}


def mended():
    for seed, what in MENDED.items():
        result = cosim("--dut", "fast", "--scenario", "random", "--seed", str(seed), level="L2", packets=500)
        assert result["result"] == "pass", (seed, what, result["judge"]["findings"], result.get("problem"))


def controllers():
    """What a controller does is told: a QP whose EVs were all denied is not blamed; an order that acts is not forgotten."""
    result = cosim("--scenario", "random", "--seed", "2912", level="L2", packets=500)
    assert result["result"] == "pass", result["judge"]["findings"]
    tool = [sys.executable, os.path.join(os.path.dirname(__file__), "../../../tools/variants.py"), MRC]
    done = subprocess.run([*tool, "--only", "deny-unheard,allow-unheard,window-unheard", "--levels", "L2"], text=True,
                          capture_output=True, check=False, timeout=100)
    assert done.returncode == 0 and "3 variants, 0 bad" in done.stdout, done.stdout


def among_discards():
    """A NIC that discards packets, and says how many, is no less wrong: more lack an answer than it has discarded."""
    with tempfile.TemporaryDirectory() as folder:
        scenario, log = f"{folder}/marks.toml", f"{folder}/run.mrclog"
        Path(scenario).write_text('base = "slow-host"\necn = 0.5\nsilence_wait = 1\n')
        for bug in ([], ["--rtl-bug", "ce-lost"]):
            result = cosim("--dut", "rtl", "--scenario", scenario, "--record", log, *bug, packets=1000, code=1 if bug else 0)
            found = {one["rule"] for one in result["judge"]["findings"] if one["device"] == "dut"}
            assert found == ({"resp.sack-ce"} if bug else set()), (bug, found)
            lines = subprocess.run([MRC, "log", "print", log], text=True, capture_output=True, check=True).stdout
            drops = [int(line.rsplit(" ", 1)[1]) for line in lines.splitlines() if " dut " in line and "silent_drops" in line]
            assert drops and drops[-1] > 10, drops


def paused():
    """The judge hears when the host takes no completions: answers that wait for it are no riddle."""
    with tempfile.TemporaryDirectory() as folder:
        scenario, log = f"{folder}/pauses.toml", f"{folder}/run.mrclog"
        Path(scenario).write_text('base = "immediate"\ncqe_pause = 0.3\ncqe_pause_ns = 30000\n')
        for level in ("L1", "L2"):
            result = cosim("--dut", "model", "--scenario", scenario, "--record", log, level=level, packets=400)
            told = result["judge"]["obligations"]
            assert told["applied"] > 50000 and told["inconclusive"] <= 20, (level, told)  # were 62 and 419
            lines = subprocess.run([MRC, "log", "print", log], text=True, capture_output=True, check=True).stdout
            turns = [int(line.rsplit(" ", 1)[1]) for line in lines.splitlines()
                     if " dut " in line and "host_pause completions" in line]
            assert len(turns) >= 4 and turns == list(range(1, len(turns) + 1)), turns


def headers():
    """mrc_nic.h is C99 and C++; a NIC in C is loaded, refused for its version, and may crash."""
    with tempfile.TemporaryDirectory() as folder:
        source = str(Path(__file__).with_name("small_nic.c"))
        strict = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-I", SOURCE + "/cmodel"]
        cc = os.environ.get("CC", "cc")
        subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", "-fsyntax-only", "-x", "c++", *strict,
                        SOURCE + "/cmodel/api/mrc_nic.h", "-Wno-pragma-once-outside-header"], check=True)
        for flags, code, words in (([], 4, "the device is no requestor"),
                                   (["-DVERSION=2"], 3, "ended with exit code 4"),
                                   (["-DCRASH"], 3, "was ended by signal 6")):
            library = f"{folder}/nic{len(flags)}{code}.so"
            subprocess.run([cc, "-std=c99", "-shared", "-fPIC", *strict, *flags, source, "-o", library], check=True)
            said = cosim("--dut", library, code=code)
            assert words in said, said
            if flags == ["-DVERSION=2"]:
                assert "speaks version 2 of mrc_nic.h, we speak version 1" in said, said


TESTS = [model, fast, ended, rtl, stalled, peers, same_everywhere, sockets, record, wrong_ones, seeds, mended, levels,
         variants, spoiled, reports, among_discards, controllers,
         paused, headers]


def main():
    wanted = sys.argv[4:]
    for test in TESTS:
        if not wanted or test.__name__ in wanted:
            test()
            print(f"{test.__name__}: ok", flush=True)


if __name__ == "__main__":
    main()
