#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: docs_site.py [-o FOLDER] [--serve [PORT]] [ROOT]

Makes one site of the pages of the repository, or of the folder ROOT: README, docs, CONTRIBUTING, CHANGELOG. It is
searched in the browser, has a light and a dark ground, and needs no network. The site is written to FOLDER
(build/site/html). --serve makes it, and serves it on 127.0.0.1 (port 8000) until Ctrl-C. A link that leads to no page
ends it, exit code 1.

  tools/docs_site.py --serve
  tools/docs_site.py -o /var/www/mrcnic

VitePress comes from npm, in the version of tools/site/package-lock.json. Exit code 5: it cannot be had."""
import argparse
import functools
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import docs
import npm
import rtl

HERE = Path(__file__).resolve().parent
ROOMS = ("start", "guide", "reference", "design", "protocol")
BESIDE = {"README.md": "about.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
PORT = 8000


def places(root):
    """{page of the repository: page of the site}, both relative."""
    found = {path: Path(to) for path, to in ((Path(name), to) for name, to in BESIDE.items()) if (root / path).exists()}
    for path in docs.files(root / "docs", {".md"}):
        inside = path.relative_to(root / "docs")
        found[path.relative_to(root)] = Path("index.md") if str(inside) == "README.md" else inside
    return found


def laid_out(root, path, text, where):
    """The page as the site has it, and the pictures it shows. Links to sources become their names."""
    pictures = set()

    def link(match):
        label, target = match.group(1), match.group(2)
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            return match.group()
        name, mark, anchor = target.partition("#")
        full = Path(os.path.normpath(path.parent / name))
        if full in where:
            to = os.path.relpath(where[full], where[path].parent)
            return f"[{label}]({to}{mark}{anchor})"
        if full.suffix in (".svg", ".png"):
            pictures.add(full)
            to = os.path.relpath(full.relative_to("docs"), where[path].parent)
            return f"[{label}]({to if to.startswith('.') else './' + to})"
        if not (root / full).exists():
            print(f"{path}: the link to '{target}' leads nowhere.\n  tools/docs.py lists all of them.", file=sys.stderr)
            sys.exit(rtl.Exit.FAIL)
        return label if "`" in label or label == str(full) else f"{label} (`{full}`)"

    text = re.sub(r"^<!--.*?-->\n", "", text, count=0, flags=re.MULTILINE | re.DOTALL)
    lines, body = text.split("\n"), docs.without_code(text).split("\n")
    blocks, start = [], 0
    for at in range(1, len(lines) + 1):  # runs of lines with, and without, a fence
        if at == len(lines) or (body[at] == lines[at]) != (body[start] == lines[start]):
            part = "\n".join(lines[start:at])
            blocks.append(docs.LINK.sub(link, part) if body[start] == lines[start] else part)
            start = at
    return "\n".join(blocks), pictures


def title(path):
    text = docs.headings(path.read_text(encoding="utf-8"))[0]
    return docs.LINK.sub(r"\1", text).replace("`", "")


def sidebar(root, where):
    """A group for each room: its pages as docs/README.md lists them, then those that it leads to."""
    listed = [Path(os.path.normpath(Path("docs") / match.group(2).partition("#")[0]))
              for match in docs.LINK.finditer((root / "docs/README.md").read_text(encoding="utf-8"))]
    groups = []
    for room in ROOMS:
        inside = [path for path in dict.fromkeys(listed + sorted(where)) if path in where and path.parts[1:2] == (room,)]
        items = [{"text": title(root / path), "link": "/" + str(where[path].with_suffix(""))} for path in inside]
        groups.append({"text": room.capitalize(), "collapsed": room != "start", "items": items})
    return groups


def make(root, modules, out):
    scratch = modules.parent
    pages = scratch / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    where, pictures = places(root), set()
    for path, to in where.items():
        text, shown = laid_out(root, path, (root / path).read_text(encoding="utf-8"), where)
        pictures |= shown
        (pages / to).parent.mkdir(parents=True, exist_ok=True)
        (pages / to).write_text(text, encoding="utf-8")
    for picture in sorted(pictures):
        to = pages / picture.relative_to("docs")
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / picture, to)
    config = pages / ".vitepress"
    config.mkdir()
    shutil.copy(HERE / "site/config.mjs", config)
    groups = sidebar(root, where)
    nav = [{"text": group["text"], "link": group["items"][0]["link"]} for group in groups if group["items"]]
    (config / "site.json").write_text(json.dumps({"out": str(out), "cache": str(scratch / "cache"), "nav": nav,
                                                  "sidebar": groups}), encoding="utf-8")
    done = subprocess.run(["node", modules / "vitepress/bin/vitepress.js", "build", pages], cwd=scratch, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        print(done.stdout, end="")
        return rtl.Exit.FAIL
    print(f"{out}: {len(where)} pages, {len(pictures)} pictures")
    return rtl.Exit.PASS


def serve(out, port):
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=out)
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        print(f"http://127.0.0.1:{server.server_address[1]}/ until Ctrl-C", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
    return rtl.Exit.PASS


def main():
    parser = rtl.Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--out", type=Path)
    parser.add_argument("--serve", type=int, nargs="?", const=PORT)
    parser.add_argument("root", nargs="?", type=Path, default=HERE.parent)
    options = parser.parse_args()
    modules = npm.modules("site") if shutil.which("node") else None
    if modules is None:
        print("site: VitePress cannot be had (npm).\n  Install npm, or call this again with a network.", file=sys.stderr)
        return rtl.Exit.INCONCLUSIVE
    out = (options.out or modules.parent / "html").resolve()
    result = make(options.root.resolve(), modules, out)
    return serve(out, options.serve) if options.serve is not None and result == rtl.Exit.PASS else result


if __name__ == "__main__":
    rtl.command("docs_site.py", main)
