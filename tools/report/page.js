// SPDX-License-Identifier: Apache-2.0
// What the pages of mrc regress report and mrc fabric share: elements, tables, charts in the page's colours.
"use strict";

const $ = (id) => document.getElementById(id);

/** An element with attributes and children; texts are texts, never markup. */
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

/** A table whose rows become blocks with names on a phone. */
function stack(names, rows) {
  const body = rows.map((cells) => make("tr", {}, ...cells.map((cell, n) => {
    if (cell instanceof Node && cell.nodeName === "TD") {
      cell.setAttribute("data-name", names[n]);
      return cell;
    }
    return make("td", {"data-name": names[n]}, cell);
  })));
  return make("table", {class: "stack"}, make("thead", {}, make("tr", {}, ...names.map((name) => make("th", {}, name)))),
    make("tbody", {}, ...body));
}
const number = (text) => make("td", {class: "n"}, String(text));

const percent = (share) => (100 * share).toFixed(1) + " %";
const seconds = (value) => `${value.toFixed(value < 100 ? 2 : 0)} s`;

/** A colour of the style sheet, for the ground that is there now. */
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** What axes of all charts have. */
const axis = () => ({stroke: colour("--quiet"), grid: {stroke: colour("--line"), width: 1},
  ticks: {stroke: colour("--line")}});

/** Makes room for a chart; what is returned draws it, once all have their widths. */
function room(place, title, options, data, words) {
  const figure = make("figure", {}, make("figcaption", {}, title));
  place.append(figure);
  figure.setAttribute("role", "img");
  figure.setAttribute("aria-label", `${title}: ${words}`);
  return () => new uPlot({width: Math.max(240, figure.clientWidth), height: 200, ...options()}, data, figure);
}

/** Calls draw() now, and again when the ground or the width changes: charts have the page's colours and width. */
function drawn(draw) {
  draw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  let waiting = 0, width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(draw, 150);
  });
}
