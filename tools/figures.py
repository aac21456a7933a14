#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: figures.py [--check] [--root DIR]

Draws docs/figures/NAME.yaml as NAME.svg beside it. A figure is laid out by hand: boxes at places, arrows as the corners of
their lines. It reads on a light and on a dark ground, and is at most 1200 pixels wide.

    size: [1200, 700]
    title: what the figure shows
    panels: [{at: [x, y, width, height], title: text}]
    boxes:
      NAME: {at: [x, y], size: [w, h], kind: tx, title: text, text: [line, ...], many: true, is: path}
    arrows:
      - {path: "a.r-10 x=290 y=85 b.l", say: {"label": [x, y]}, both: true, dashed: true, kind: lost}
    texts: [{at: [x, y], text: words, kind: small, anchor: start}]

`at` of a box is its centre, `is` the file or folder that it stands for. A path begins and ends at a side (l, r, t, b) of
a box, moved by a number of pixels, or at @x,y; between, x= and y= move along one axis.

With --check it writes nothing and tells what is stale or wrong: drawings that are not those of their descriptions, text
that does not fit, places outside the figure, files that are not there. Figure `nic` must have each block of
cmodel/spec/nic.yaml, each stream between two of them on its arrow, and no other names."""
import argparse
import functools
import re
import sys
from html import escape
from pathlib import Path

import rtl

ROOT = Path(__file__).resolve().parent.parent
yaml = rtl.module("yaml")
WIDE = 1200
GROUNDS = {  # kind: fill on a light ground, on a dark one
    "tx": ("#fde9d9", "#4a3423"), "rx": ("#dcebd5", "#2c4326"), "cc": ("#fff4cc", "#463d15"),
    "ctl": ("#e4e0f0", "#393250"), "plain": ("#f4f6fa", "#262c38"), "bad": ("#f8dddd", "#502a2a")}
LINES = {"line": ("#44546a", "#b4c0d4"), "lost": ("#c4001a", "#ff6070"), "again": ("#d55e00", "#ff9a4d"),
         "answer": ("#007a5a", "#35c79a"), "trimmed": ("#8b3fa8", "#cf9be8")}
SIDES = {"l": (-1, 0), "r": (1, 0), "t": (0, -1), "b": (0, 1)}


def style():
    """Colours by the viewer's ground."""
    def of(which):
        return "".join(f".g-{kind}{{fill:{fills[which]}}}" for kind, fills in GROUNDS.items()) + "".join(
            f".l-{kind}{{stroke:{strokes[which]};fill:none}}.h-{kind}{{fill:{strokes[which]}}}"
            for kind, strokes in LINES.items()) + "".join(
            f"{name}{{fill:{colors[which]}}}" for name, colors in {
                ".ground": ("#ffffff", "#16181c"), "text": ("#222222", "#e6e6e6"),
                ".small": ("#444444", "#c4c8d0")}.items()) + f".say{{stroke:{('#ffffff', '#16181c')[which]}}}"
    return ("text{font:12px Helvetica,Arial,sans-serif}.name{font-size:14px;font-weight:bold}.head{font-size:15px;"
            "font-weight:bold}.say{stroke-width:4px;paint-order:stroke}.panel{stroke-dasharray:5 4}.dashed{stroke-dasharray:5 4}\n"
            f"{of(0)}\n@media (prefers-color-scheme:dark){{{of(1)}}}")


class Wrong(Exception):
    """A mistake in a description."""


def width(text, name=False):
    """Pixels that a text takes, roughly: Helvetica of 12 or 14 pixels."""
    return len(text) * (7.9 if name else 6.2)


class Figure:
    def __init__(self, given):
        self.size, self.title = given["size"], given["title"]
        self.boxes = given.get("boxes", {})
        self.arrows, self.panels, self.texts = (given.get(part, []) for part in ("arrows", "panels", "texts"))

    def lines(self, name):
        box = self.boxes[name]
        return [box.get("title", name)], box.get("text", [])

    def anchor(self, word):
        """(x, y) of NAME.SIDE+OFFSET or @x,y."""
        if match := re.fullmatch(r"@(\d+),(\d+)", word):
            return int(match[1]), int(match[2])
        match = re.fullmatch(r"(\w+)\.([lrtb])([+-]\d+)?", word)
        if not match or match[1] not in self.boxes:
            raise Wrong(f"'{word}' is no side of a box")
        box, (dx, dy), offset = self.boxes[match[1]], SIDES[match[2]], int(match[3] or 0)
        (x, y), (w, h) = box["at"], box["size"]
        return x + dx * w / 2 + offset * abs(dy), y + dy * h / 2 + offset * abs(dx)

    def corners(self, path):
        """The points of an arrow."""
        first, *moves, last = path.split()
        points = [self.anchor(first)]
        for move in moves:
            axis, _, value = move.partition("=")
            if axis not in ("x", "y") or not value.isdigit():
                raise Wrong(f"'{move}' of the path '{path}' is neither x= nor y=")
            x, y = points[-1]
            points.append((int(value), y) if axis == "x" else (x, int(value)))
        end = self.anchor(last)
        x, y = points[-1]
        if moves and x != end[0] and y != end[1]:
            raise Wrong(f"the path '{path}' ends with a slanted line")
        return [*points, end]

    def ends(self, arrow):
        """The boxes at both ends."""
        words = arrow["path"].split()
        return words[0].split(".")[0], words[-1].split(".")[0]

    def mistakes(self):
        """What does not fit, or is outside."""
        if self.size[0] > WIDE:
            yield f"{self.size[0]} pixels wide, {WIDE} are the limit"
        places = []
        for name, box in self.boxes.items():
            (x, y), (w, h) = box["at"], box["size"]
            places += [(name, x - w / 2, y - h / 2), (name, x + w / 2, y + h / 2)]
            heads, small = self.lines(name)
            for text, pixels in [(t, width(t, True)) for t in heads] + [(t, width(t)) for t in small]:
                if pixels > w - 6:
                    yield f"box {name}: '{text}' takes {pixels:.0f} pixels, the box has {w - 6}"
            if 19 + 15 * len(small) > h:
                yield f"box {name}: {1 + len(small)} lines do not fit into {h} pixels"
            if "is" in box and not (ROOT / box["is"]).exists():
                yield f"box {name}: there is no {box['is']}"
            for other, there in self.boxes.items():
                near = [abs(a - b) < (c + d) / 2 for a, b, c, d in zip(box["at"], there["at"], box["size"], there["size"])]
                if other > name and all(near):
                    yield f"box {name} and box {other} overlap"
        for arrow in self.arrows:
            places += [(f"arrow {arrow['path']}", *point) for point in self.corners(arrow["path"])]
            places += [(f"label {label}", *point) for label, point in arrow.get("say", {}).items()]
        places += [(f"text {text['text']}", *text["at"]) for text in self.texts]
        yield from (f"{what} is outside" for what, x, y in places
                    if not (0 <= x <= self.size[0] and 0 <= y <= self.size[1]))

    def svg(self):
        w, h = self.size
        out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img" '
               f'style="max-width:100%;height:auto" aria-label="{escape(self.title)}">',
               "<!-- SPDX-License-Identifier: Apache-2.0 -->", f"<title>{escape(self.title)}</title>",
               f"<style>\n{style()}\n</style>", '<rect class="ground" width="100%" height="100%"/>']

        def text(x, y, words, css="", anchor="middle"):
            css = f' class="{css}"' if css else ""
            out.append(f'<text{css} x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(words)}</text>')

        for panel in self.panels:
            x, y, pw, ph = panel["at"]
            out.append(f'<rect class="l-line panel" x="{x}" y="{y}" width="{pw}" height="{ph}" rx="8"/>')
            text(x + 12, y + 20, panel["title"], "head", "start")
        for kind in LINES:
            out.append(f'<marker id="{kind}" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="8" markerHeight="8" '
                       f'orient="auto-start-reverse"><path class="h-{kind}" d="M0,0L8,4L0,8z"/></marker>')
        for arrow in self.arrows:
            kind = arrow.get("kind", "line")
            points = "L".join(f"{x:g},{y:g}" for x, y in self.corners(arrow["path"]))
            start = f' marker-start="url(#{kind})"' if arrow.get("both") else ""
            end = "" if arrow.get("plain") else f' marker-end="url(#{kind})"'
            css = f"l-{kind} dashed" if arrow.get("dashed") else f"l-{kind}"
            out.append(f'<path class="{css}" stroke-width="1.4" d="M{points}"{start}{end}/>')
        for name, box in self.boxes.items():
            (x, y), (bw, bh) = box["at"], box["size"]
            shape = f'class="g-{box.get("kind", "plain")} l" rx="6"'
            for shift in (4, 0) if box.get("many") else (0,):
                place = f'x="{x - bw / 2 + shift:g}" y="{y - bh / 2 - shift:g}" width="{bw}" height="{bh}"'
                out.append(f'<rect {shape} {place}/><rect class="l-line" rx="6" {place}/>')
            heads, small = self.lines(name)
            top = y - (15 * len(small)) / 2 + 5
            text(x, top, heads[0], "name")
            for i, line in enumerate(small, 1):
                text(x, top + 15 * i, line, "small")
        for arrow in self.arrows:
            for label, (x, y) in arrow.get("say", {}).items():
                text(x, y, label, "say")
        for entry in self.texts:
            text(*entry["at"], entry["text"], entry.get("kind", ""), entry.get("anchor", "start"))
        return "\n".join(out) + "\n</svg>\n"


@functools.cache
def described():
    """nic.yaml, by the generator."""
    sys.path.insert(0, str(ROOT / "cmodel/spec"))
    from gen.model import Spec
    from gen.nic import Nic
    return Nic(Spec(ROOT / "cmodel/spec"))


def nic_mistakes(figure):
    """The picture of the NIC against nic.yaml."""
    nic = described()
    outside = {"host", "ports"}
    for name in sorted(set(nic.blocks) - set(figure.boxes)):
        yield f"nic.yaml has a block {name}, the figure has none"
    for name in sorted(set(figure.boxes) - set(nic.blocks) - outside):
        yield f"the figure has a block {name}, nic.yaml has none"
    for name in set(nic.blocks) & set(figure.boxes):
        if bool(figure.boxes[name].get("many")) != nic.blocks[name].lane:
            yield f"block {name}: one per plane in the figure or in nic.yaml, not in both"
    wanted, drawn = {}, {}
    for stream in nic.streams.values():
        wanted.setdefault((stream.producer, stream.consumer), set()).add(stream.suffix)
    for arrow in figure.arrows:
        source, to = figure.ends(arrow)
        pairs = [(source, to), (to, source)] if arrow.get("both") else [(source, to)]
        for pair, label in zip(pairs, arrow["say"]):
            drawn.setdefault(pair, set()).update(label.split(", "))
    listed = set(re.findall(r"\w+", " ".join(figure.boxes["csr"]["text"])))
    for pair, names in wanted.items():
        lacking = names - drawn.get(pair, set()) - (listed if "csr" in pair else set())
        if lacking:
            yield f"no arrow from {pair[0]} to {pair[1]} says {', '.join(sorted(lacking))}"
    for pair, names in drawn.items():
        if "ports" not in pair and pair != ("host", "tx_lane") and names - wanted.get(pair, set()):
            yield f"nic.yaml has no {', '.join(sorted(names - wanted.get(pair, set())))} from {pair[0]} to {pair[1]}"
    watched = set(re.findall(r"\w+", " ".join(figure.boxes["fence"]["text"])))
    for port in nic.blocks["fence"].watches:
        if port not in watched:
            yield f"box fence does not say that it watches {port}"


def look(root, check):
    """(number of figures, complaints); draws them unless this is a check."""
    sources, wrong = sorted((root / "docs/figures").glob("*.yaml")), []
    for path in sources:
        name = f"docs/figures/{path.name}"
        try:
            figure = Figure(yaml.safe_load(path.read_text(encoding="utf-8")))
            found = [*figure.mistakes(), *(nic_mistakes(figure) if path.stem == "nic" else [])]
            drawn, svg = figure.svg(), path.with_suffix(".svg")
        except Wrong as mistake:
            wrong.append(f"{name}: {mistake}")
            continue
        wrong += [f"{name}: {mistake}" for mistake in found]
        if not check:
            svg.write_text(drawn, encoding="utf-8")
        elif not svg.exists() or svg.read_text(encoding="utf-8") != drawn:
            wrong.append(f"{name}: {svg.name} is not its drawing: run tools/figures.py")
    return len(sources), wrong


def main():
    parser = rtl.Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, tell what is stale or wrong")
    parser.add_argument("--root", type=Path, default=ROOT, help="where docs/figures is")
    options = parser.parse_args()
    count, wrong = look(options.root, options.check)
    print(*wrong, f"{count} figures, {len(wrong)} complaints", sep="\n")
    return rtl.Exit.FAIL if wrong or not count else rtl.Exit.PASS


if __name__ == "__main__":
    rtl.command("figures.py", main)
