#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: docs_site.py [--write]

The pages as a site (tools/docs_site.py): it is made, each link to a source is its name, a link that leads to no page ends it,
and Chromium reads it: light, dark, phone, search, no other host. --write makes the screenshots of docs/figures/site anew.
Exit code 77: no Chromium, npm or node."""
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests/cli"))
import browser  # noqa: E402

FIGURES = ROOT / "docs/figures/site"


def make(*words):
    return subprocess.run([sys.executable, ROOT / "tools/docs_site.py", *map(str, words)], text=True, capture_output=True,
                          check=False, timeout=600)


def main():
    chromium = browser.chromium("site")
    with tempfile.TemporaryDirectory() as name:
        out = Path(name) / "html"
        done = make("-o", out)
        assert done.returncode == 0, done.stdout + done.stderr
        pages = sorted(out.rglob("*.html"))
        assert len(pages) > len(list((ROOT / "docs").rglob("*.md"))), len(pages)
        text = (out / "design/extend.html").read_text()
        assert 'href="../../' not in text and "<code>cmodel/spec/*.yaml</code>" in text
        small = Path(name) / "small/docs"
        small.mkdir(parents=True)
        for link, code in (("guide/here.md", 0), ("guide/gone.md", 1)):
            (small / "README.md").write_text(f"# Pages\n\nSee [it]({link}), `<T>`, {{a, a}} and <T>.\n")
            (small / "guide").mkdir(exist_ok=True)
            (small / "guide/here.md").write_text("# Here\n")
            done = make("-o", Path(name) / "little", small.parent)
            assert done.returncode == code and ("gone.md' leads nowhere" in done.stderr) == bool(code), done.stdout + done.stderr
        FIGURES.mkdir(exist_ok=True)
        server = subprocess.Popen([sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "-d", out],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            port = server.stdout.readline().split(" port ")[1].split()[0]
            subprocess.run(["node", HERE / "docs_site.mjs", *chromium, f"http://127.0.0.1:{port}", FIGURES, "write" if "--write" in sys.argv else "read"],
                           check=True, timeout=200)
        finally:
            server.kill()
    print(f"{len(pages)} pages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
