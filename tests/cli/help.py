#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: help.py MRC SOURCE PART

PART is one of
  overview    mrc --help is one screen with every command in one group; topics; every --help has an example
  manual      a manual page for each command that groff and man take without a warning
  bash        commands, options and values are completed by bash
  zsh, fish   these shells read their completion
Ends with exit code 77 when the program that judges a part is not here."""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
TOPICS = {"exit-codes": "inconclusive", "presets": "asic800", "scenarios": "mixed", "profiles": "spectrum",
          "environment": "MRC_ROOT"}


class Mrc:
    def __init__(self, path, source):
        self.path, self.environment = path, {"MRC_ROOT": source, "PATH": "/usr/bin:/bin", "HOME": "/nowhere"}
        self.known = None

    def __call__(self, *words, code=0):
        done = subprocess.run([self.path, *words], capture_output=True, text=True, check=False, env=self.environment,
                              stdin=subprocess.DEVNULL)
        assert done.returncode == code, f"mrc {' '.join(words)}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def commands(self):
        """Those that bash completes, which come from the declarations."""
        if self.known is None:
            words = re.search(r"^ +''\) words='([^']*)'", self("help", "--completion", "bash"), re.M)[1].split()
            self.known = [word for word in words if not word.startswith("-")]
        return self.known


def overview(mrc):
    text = mrc("--help")
    lines = text.splitlines()
    assert len(lines) <= 50, f"{len(lines)} lines"
    assert max(map(len, lines)) <= 100, max(lines, key=len)
    table = lines[6:lines.index("", 6)]
    shown = [line[11:].split()[0] for line in table]
    groups = [line[2:10].strip() for line in table if line[2:10].strip()]
    assert sorted(shown) == sorted(mrc.commands()), f"in no group, or in two: {set(shown) ^ set(mrc.commands())}"
    assert [line.split()[1] for line in lines[2:5]] == ["doctor", "cosim", "check"], lines[2:5]
    assert mrc("help") == text
    for topic, word in TOPICS.items():
        assert word in mrc("help", topic), topic
        assert topic in text, f"mrc --help must name {topic}"
    assert len(groups) >= 7, groups
    for group in groups:
        assert mrc("help", group).startswith(f"{group}: "), group
    assert mrc("help", "cosim") == mrc("cosim", "--help")
    assert mrc("help", "bench", "nic") == mrc("bench", "nic", "--help")
    assert mrc("help", "lint") == mrc("lint", "--help")
    assert "unknown topic 'exit-code'; did you mean exit-codes?" in mrc("help", "exit-code", code=3)
    assert "unknown topic 'nix'" in mrc("help", "bench", "nix", code=3)
    bare = [name for name in shown if not re.search(r"^Examples?: ?", mrc(name, "--help"), re.M)]
    assert not bare, f"--help without an example: {bare}"


def manual(mrc):
    groff = shutil.which("groff")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "man1"
        mrc("help", "--man", str(folder))
        pages = sorted(folder.iterdir())
        names = {page.name for page in pages}
        for command in [*mrc.commands(), "bench-nic", "log-import", "vectors-run"]:
            assert f"mrc-{command}.1" in names, f"no page of {command}"
        lint = (folder / "mrc-lint.1").read_text(encoding="utf-8")
        assert "\\-\\-preset" in lint and "mrc lint \\-\\-format" in lint, "options and examples of a script"
        cosim = (folder / "mrc-cosim.1").read_text(encoding="utf-8")
        for option in re.findall(r"^  (--[a-z-]+)", mrc("cosim", "--help"), re.M):
            assert option.replace("-", "\\-") in cosim, f"mrc-cosim.1 lacks {option}"
        if groff is None:
            print("no groff here")
            return SKIPPED
        for page in pages:
            done = subprocess.run([groff, "-ww", "-man", "-Tutf8", "-z", str(page)], capture_output=True, text=True,
                                  check=False)
            assert done.returncode == 0 and not done.stderr, f"{page.name}: {done.stderr}"
        print(f"{len(pages)} pages")
    return 0


def completed(script, line):
    """What bash offers at the end of the line."""
    ask = r"""
source "$1"
read -ra COMP_WORDS <<<"$2"
[[ $2 != *" " ]] || COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_mrc
printf '%s\n' "${COMPREPLY[@]}"
"""
    done = subprocess.run(["bash", "-c", ask, "bash", script, line], capture_output=True, text=True, check=True)
    assert not done.stderr, done.stderr
    return done.stdout.split()


def bash(mrc):
    if shutil.which("bash") is None:
        print("no bash here")
        return SKIPPED
    with tempfile.NamedTemporaryFile("w", suffix=".bash") as file:
        file.write(mrc("help", "--completion", "bash"))
        file.flush()
        for line, offered in (("mrc cos", ["cosim"]), ("mrc bench n", ["nic"]), ("mrc cosim --presn", []),
                              ("mrc cosim --pres", ["--preset"]), ("mrc cosim --level L", ["L0", "L1", "L2"]),
                              ("mrc cosim --preset ti", ["tiny"]), ("mrc cosim --preset = ti", ["tiny"]),
                              ("mrc cosim --json ", []), ("mrc bench nic --preset fp", ["fpga100"]),
                              ("mrc nic --endpoint f", ["fast"]), ("mrc help exi", ["exit-codes"]),
                              ("mrc lint --for", ["--format"]), ("mrc gates --map p", ["plain"]),
                              ("mrc vectors ru", ["run"]), ("mrc vectors run --dev", ["--device"])):
            got = completed(file.name, line)
            assert got == offered, f"{line!r}: {got}, not {offered}"
    return 0


def read_by(shell, mrc):
    program = shutil.which(shell)
    if program is None:
        print(f"no {shell} here")
        return SKIPPED
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(mrc("help", "--completion", shell))
        file.flush()
        subprocess.run([program, "--no-exec" if shell == "fish" else "-n", file.name], check=True)
        if shell == "fish":
            ask = f"source {file.name}; complete -C 'mrc cosim --level L'"
            lines = subprocess.run([program, "-c", ask], capture_output=True, text=True, check=True).stdout.splitlines()
            got = [line.split("\t")[0] for line in lines]
            assert got == ["L0", "L1", "L2"], got
    return 0


def main():
    mrc, part = Mrc(sys.argv[1], sys.argv[2]), sys.argv[3]
    if part in ("zsh", "fish"):
        return read_by(part, mrc)
    return {"overview": overview, "manual": manual, "bash": bash}[part](mrc)


if __name__ == "__main__":
    sys.exit(main())
