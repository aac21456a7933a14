#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: errors.py MRC FILE [--update]

FILE holds lines that go into `mrc nic` (">") and the answers (below each, "<"); then what ends the process is tried:
a cut line, a line without end, signals, a reader that goes. --update writes down what mrc says now, for a reader to
check."""
import re
import signal
import subprocess
import sys
import time
from pathlib import Path


def answers(mrc, lines):
    done = subprocess.run([mrc, "nic", "--preset", "tiny"], input="".join(line + "\n" for line in lines), text=True,
                          capture_output=True, check=False, timeout=60)
    assert done.returncode == 0 and done.stderr == "", done
    return re.sub(r'"version":"[^"]+"', '"version":"..."', done.stdout).splitlines()


def golden(mrc, file):
    expected = file.read_text()
    comments = [line for line in expected.splitlines() if line.startswith("#")]
    lines = [line[2:] for line in expected.splitlines() if line.startswith("> ")]
    got = answers(mrc, lines)
    assert len(got) == len(lines), (len(got), len(lines))
    pairs = "".join(f"> {line}\n< {answer}\n" for line, answer in zip(lines, got))
    text = "\n".join(comments) + "\n" + pairs
    if "--update" in sys.argv:
        file.write_text(text)
    elif text != expected:
        print(f"expected:\n{expected}\ngot:\n{text}")
        return 1
    return 0


def start(mrc):
    return subprocess.Popen([mrc, "nic"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


OPEN = b'{"call":"open","version":1}\n'


def ends(mrc):
    # Nothing at all, and a call that is complete.
    for text in (b"", OPEN, OPEN + b'{"call":"close"}\n{"call":"advance","until":1}\n'):
        process = start(mrc)
        out, err = process.communicate(text, 20)
        assert process.returncode == 0 and err == b"", (text, err)
        assert out.count(b"\n") == min(text.count(b"\n"), 2), out  # after close nothing is answered

    # A line that is cut.
    process = start(mrc)
    out, err = process.communicate(OPEN + b'{"call":"advance","until":10', 20)
    assert process.returncode == 3 and out.count(b"\n") == 1, out
    assert err == b"mrc nic: standard input ends inside line 2.\n  End each call with a line end.\n", err

    # A line of too many bytes is answered once, and the next one counts; nothing is kept of it.
    process = start(mrc)
    process.stdin.write(OPEN)
    for _ in range(64):
        process.stdin.write(b"x" * (1 << 20))
    process.stdin.write(b'\n{"call":"query","qp":16}\n')
    process.stdin.flush()
    lines = [process.stdout.readline() for _ in range(3)]
    assert lines[1:] == [
        b'{"ok":false,"error":"stdin:2:1: a line of more than 1048576 bytes. Send less at once.",'
        b'"unsupported":false}\n',
        b'{"ok":true,"state":"reset","t":0}\n'], lines[1:]
    peak = next(line for line in Path(f"/proc/{process.pid}/status").read_text().splitlines() if line[:5] == "VmHWM")
    assert int(peak.split()[1]) < 100_000, peak
    process.stdin.close()
    assert process.wait(20) == 0
    process.stdout.close()
    process.stderr.close()

    # Signals end it, waiting or at work.
    for work in (b"", b'{"call":"advance","until":1000000000000}\n'):
        process = start(mrc)
        process.stdin.write(OPEN)
        process.stdin.flush()
        process.stdout.readline()
        process.stdin.write(work)
        process.stdin.flush()
        time.sleep(0.05 if work else 0)
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=20)
        assert process.returncode == -signal.SIGTERM and out == b"", (process.returncode, out)

    # Nobody reads the answers.
    process = start(mrc)
    process.stdout.close()
    process.stdin.write(OPEN * 3)
    process.stdin.close()
    assert process.wait(20) == 0, process.stderr.read()
    process.stderr.close()


def main():
    mrc, file = sys.argv[1], Path(sys.argv[2])
    ends(mrc)
    return golden(mrc, file)


if __name__ == "__main__":
    sys.exit(main())
