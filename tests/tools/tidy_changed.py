#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Which files tools/tidy.py --changed takes, in a small repository: those of commits since the newest tag, 20 at most, and
of the work tree; for a header its twin, or the first source that includes it."""
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from samples import TOOLS, in_folder, make  # noqa: E402

sys.path.insert(0, str(TOOLS))
import tidy  # noqa: E402

START = {
    "sim/one.cpp": '#include "sim/one.hpp"\n', "sim/one.hpp": "#pragma once\n",
    "sim/alone.hpp": "#pragma once\n", "sim/two.cpp": '#include "sim/alone.hpp"\n', "tb/three.cpp": '#include "sim/alone.hpp"\n',
    "cmodel/wire/packet.hpp": "#pragma once\n", "cli/reads.cpp": '#include "wire/packet.hpp"\n',
    "cmodel/wire/packet.cpp": "// its twin by name, which does not include it\n",
    "sim/unused.hpp": "#pragma once\n", "sim/gone.cpp": "int gone;\n", "sim/still.cpp": "int still;\n",
    "tests/a_test.cpp": "int a;\n", "docs/page.md": "# A page\n",
}


class Repository:
    def __init__(self, folder):
        self.folder, self.wrong, self.count = folder, 0, 0
        self.git("init", "-q", "-b", "main")
        tidy.rtl.ROOT = folder

    def git(self, *words):
        subprocess.run(["git", "-C", self.folder, "-c", "user.name=n", "-c", "user.email=e@x", "-c", "commit.gpgsign=false",
                        "-c", "tag.gpgsign=false", *words], check=True, stdout=subprocess.PIPE)

    def commit(self, files=None):
        self.count += 1
        make(self.folder, files or {"docs/page.md": f"# Commit {self.count}\n"})
        self.git("add", "-A")
        self.git("commit", "-q", "-m", f"commit {self.count}")

    def changes(self, name):
        """Its text, longer by a line."""
        return {name: (self.folder / name).read_text() + f"// {self.count}\n"}

    def expect(self, what, *names):
        found = [str(Path(name).relative_to(self.folder)) for name in tidy.changed()]
        if found != sorted(names):
            print(f"{what}: {found}, not {sorted(names)}")
            self.wrong += 1


def main():
    with in_folder(START) as folder:
        tree = Repository(folder.resolve())
        tree.commit()
        everything = [name for name in START if name.endswith(".cpp") and not name.startswith("tests/")]
        tree.expect("without a tag, all that the commits brought", *everything)
        tree.git("tag", "-a", "-m", "v1", "v1")
        tree.expect("nothing since the tag")
        tree.commit(tree.changes("sim/one.cpp") | tree.changes("tests/a_test.cpp") | tree.changes("docs/page.md"))
        tree.expect("a source; no tests, no pages", "sim/one.cpp")
        (tree.folder / "sim/gone.cpp").unlink()
        tree.commit()
        tree.expect("what is gone is not looked at", "sim/one.cpp")
        tree.git("tag", "-a", "-m", "v2", "v2")
        for header, source in {"sim/one.hpp": "sim/one.cpp", "sim/alone.hpp": "sim/two.cpp",
                               "cmodel/wire/packet.hpp": "cli/reads.cpp", "sim/unused.hpp": None}.items():
            tree.commit(tree.changes(header))
            tree.expect(f"for {header} a source that sees it", *([source] if source else []))
            tree.git("tag", "-a", "-m", header, header.replace("/", "-"))
        make(tree.folder, tree.changes("sim/two.cpp") | {"tb/new.cpp": "int fresh;\n"})
        tree.expect("the work tree, what git does not know yet too", "sim/two.cpp", "tb/new.cpp")
        tree.git("add", "sim/two.cpp")
        tree.expect("and what is only staged", "sim/two.cpp", "tb/new.cpp")
        tree.commit()
        for _ in range(19):
            tree.commit()
        tree.expect("the twentieth commit from the end", "sim/two.cpp", "tb/new.cpp")
        tree.commit()
        tree.expect("the one before it no more")
        # What a merge brings stands in the commits that it merges.
        tree.git("tag", "-a", "-m", "v3", "v3")
        tree.git("checkout", "-q", "-b", "side", "HEAD~1")
        tree.commit(tree.changes("sim/still.cpp"))
        tree.git("checkout", "-q", "main")
        tree.git("merge", "-q", "--no-ff", "-m", "merge", "side")
        tree.expect("what a merge brings", "sim/still.cpp")
    print(f"{tree.wrong} times other files")
    return 1 if tree.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
