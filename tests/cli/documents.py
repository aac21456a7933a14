#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: documents.py MRC [-k PATTERN]

Runs the commands of README, docs and every --help as a reader would paste them, in a folder with the files that
they name, and wants the exit code that they promise. Long ones run shorter (SHORTER says how). A block "console"
shows what is printed, too: it runs as it stands, and each line below '$ COMMAND' is one of the output, in this order;
'...' stands for anything. Ends with 'N passed, N failed'."""
import argparse
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Commands with tests of their own, or that work on the source tree alone.
ELSEWHERE = re.compile(r"^mrc (test|lint|export-verilog|depth|state|coverage|prove|fpga|gates|mutate --rtl|regress|shrink)\b"
                       r"|^mrc package\b|^mrc --no-install|mrc ports\b|mrc tester\b|mrc host\b|mrc api\b|tests/cli/ports/|tests/mrc_(stream_|ram_)?board|--slow |--live ")
# Options that shorten a command that takes long: those it has itself get these values.
SHORTER = [
    (r"^mrc cosim .*--seeds", {"--seeds": "2", "--preset": "tiny", "--packets": "2000"}),
    (r"^mrc cosim (?!.*--preset tiny)(?!.* list)", {"--preset": "tiny", "--packets": "2000"}),
    (r"^mrc cosim .*--packets 60000", {"--packets": "6000"}),
    (r"^mrc cosim (?!.*--packets)(?!.* list)", {"--packets": "2000"}),
    (r"^mrc bench cosim", {"--preset": "tiny", "--cycles": "3000", "--rounds": "1"}),
    (r"^mrc fabric --scenario mrc-131072", {"--scenario": "mrc-1024"}),
    (r"^mrc bench fabric .*--scale", {"--largest": "1024", "--rounds": "1"}),
    (r"^mrc bench fabric(?!.*--against)", {"--case": "flow-100MB", "--rounds": "1"}),
    (r"^mrc bench nic", {"--preset": "tiny", "--payload": "512", "--direction": "send", "--cycles": "2000", "--table": "rates",
                         "--qps": "1", "--messages": "long"}),
]
MINUTES = re.compile(r"ten\.(toml|mrclog)")
HELP = ["cosim", "fabric", "topo", "decode", "encode", "nscc", "bench", "bench cosim", "bench nic", "bench fabric", "check",
        "replay", "help"]


def of_text(text, where):
    """(place, command, comment) of each line that calls mrc; a comment stands behind two blanks."""
    for line in text.splitlines():
        if match := re.match(r"\s*(?:\./)?(mrc(?! \w+:) .*)", line):
            command, comment = re.match(r"(.*?)(?:\s{2,}(.*))?$", match[1].rstrip()).groups()
            command = command.split(" # ")[0].rstrip()
            yield where, command, (comment or line).strip()


def commands(mrc):
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*/*.md"))]:
        for block in re.findall(r"^```(?:sh)?\n(.*?)^```", page.read_text(), re.S | re.M):
            yield from of_text(block, page.relative_to(ROOT))
    for words in HELP:
        text = subprocess.run([mrc, *words.split(), "--help"], capture_output=True, text=True, check=True).stdout
        _, _, examples = text.partition("Examples:\n")
        yield from of_text(examples.partition("\n\n")[0], f"mrc {words} --help")


def consoles():
    """(page, command, lines of its output) of blocks that show what is printed."""
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*/*.md"))]:
        for block in re.findall(r"^```console\n(.*?)^```", page.read_text(), re.S | re.M):
            for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
                command, *lines = part.rstrip("\n").split("\n")
                lines = [line.replace("./mrc", "mrc") for line in lines]
                yield page.relative_to(ROOT), command.replace("./mrc", "mrc"), lines


def missing_line(shown, printed):
    """The first line that is not in the output behind those above it; None: all are."""
    printed = iter(printed)
    for line in shown:
        pattern = re.compile(".*".join(map(re.escape, line.split("..."))) + r"\s*$")
        if not any(pattern.match(other) for other in printed):
            return line
    return None


def prepare(mrc, folder):
    """The files that the commands name."""
    def run(*words, to=None):
        done = subprocess.run([mrc, *words], cwd=folder, capture_output=True, text=True, check=True)
        if to:
            (folder / to).write_text(done.stdout)

    run("cosim", "--preset", "tiny", "--packets", "300", "--pcap", "capture.pcapng")
    for name in ("run.pcapng", "q.pcapng", "x.pcapng", "a.pcapng", "b.pcapng", "nic.pcapng"):
        (folder / name).write_bytes((folder / "capture.pcapng").read_bytes())
    (folder / "a.pcap.gz").write_bytes(gzip.compress((folder / "a.pcapng").read_bytes()))
    run("decode", "capture.pcapng", "--json", to="packets.json")
    run("fabric", "--scenario", "small", "--print", to="my.toml")
    shutil.copy(ROOT / "tests/fpga/record/tiny.mrcx", folder / "board.mrcx")
    (folder / "net.toml").write_text('kind = "clos"\nleaves = 4\nhosts_per_leaf = 4\nspines = 4\n')
    run("cosim", "--preset", "tiny", "--packets", "300", "--scenario", "clean", "--record", "run.mrclog",
        "--pcap", "port.pcapng")
    (folder / "nic.json").write_text('{"name": "nic", "planes": 2}\n')
    (folder / "cc.toml").write_text("base_rtt = 12000\n")
    (folder / "events.csv").write_text("time_ns,kind,bytes,rtt_ns,ecn\n0,send,4188,,\n12000,ack,4188,12000,0\n")
    (folder / "docs/figures").mkdir(parents=True)


def promised(command, comment):
    """The exit code that the words or the comment promise."""
    if match := re.search(r"exit code (\d)$", comment):
        return int(match[1])
    return 1 if re.search(r"--rtl-bug (?!list)", command) else 0


def wanted(command):
    """The command to run; None with the reason when it is not run here."""
    if ELSEWHERE.search(command):
        return None, "has tests of its own"
    if MINUTES.search(command):
        return None, "takes minutes"
    if "..." in command or re.search(r"\b[A-Z]{3,}\b|libmine|my-?nic|my\.mrc|--waive|fd00::1", command):
        return None, "a pattern, no command"
    if "--wave-flavour" in command:
        return None, "needs a second build"
    if "jq" in command and not any(os.access(f"{d}/jq", os.X_OK) for d in os.get_exec_path()):
        return None, "no jq here"
    for pattern, options in SHORTER:
        if re.search(pattern, command):
            for option, value in options.items():
                first, *rest = command.split(" | ", 1)
                first, count = re.subn(rf"{option}[ =]\S+", f"{option} {value}", first)
                command = " | ".join([first if count else f"{first} {option} {value}", *rest])
            break
    return command, ""


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("mrc")
    parser.add_argument("-k", default="")
    options = parser.parse_args()
    passed, failed, left, seen = 0, 0, [], set()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(options.mrc, folder)
        bin_folder = folder / ".bin"
        bin_folder.mkdir()
        (bin_folder / "mrc").symlink_to(options.mrc)
        environment = {**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}"}
        for where, command, comment in commands(options.mrc):
            run, why = wanted(command)
            if command in seen or options.k not in command:
                continue
            seen.add(command)
            if run is None:
                left.append(f"{command}: {why}")
                continue
            done = subprocess.run(["bash", "-o", "pipefail", "-c", run], cwd=folder, env=environment, text=True,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False)
            # What a capture or a log does not show stays open: a verdict of its own.
            open_end = done.returncode == 5 and re.match("mrc (check|replay|log import)", command)
            if done.returncode == promised(command, comment) or open_end:
                passed += 1
                continue
            failed += 1
            print(f"FAILED {where}: {run}\n  exit code {done.returncode}, not {promised(command, comment)}\n"
                  f"{done.stdout[-600:]}{done.stderr[-600:]}")
        for where, command, shown in consoles():
            if options.k not in command:
                continue
            if ELSEWHERE.search(command):
                left.append(f"{command}: has tests of its own")
                continue
            done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False)
            line = missing_line(shown, done.stdout.replace("./mrc ", "mrc ").splitlines())
            if line is None and done.returncode == promised(command, ""):
                passed += 1
                continue
            failed += 1
            print(f"FAILED {where}: {command}\n  exit code {done.returncode}, not {promised(command, '')}; "
                  f"first line that is not printed: {line}\n{done.stdout[-600:]}{done.stderr[-600:]}")
    for line in left:
        print(f"not run: {line}")
    print(f"{passed} passed, {failed} failed")
    return failed != 0 or passed < 20


if __name__ == "__main__":
    sys.exit(main())
