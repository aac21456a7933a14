// SPDX-License-Identifier: Apache-2.0
// Draws index.html of a report from DATA (data.js): regressions, the oldest first.
"use strict";

const KINDS = {lockstep: "Scenarios", fabric: "Fabric", vectors: "Vectors", script: "Scripts", mutants: "Mutants",
  proofs: "Proofs"};

const total = (counts) => Object.values(counts).reduce((sum, one) => sum + one, 0);
const bad = (counts) => (counts.fail || 0) + (counts.hang || 0);

function state() {
  return {one: DATA[Number($("regression").value)], kind: $("kind").value, shown: $("shown").value,
    text: $("text").value.trim().toLowerCase()};
}

/** Class, sign and words of a cell. */
function judged(counts) {
  const all = total(counts), passed = counts.pass || 0;
  const words = Object.entries(counts).map(([name, n]) => `${n} ${name}`).join(", ");
  if (bad(counts)) return ["bad", `✗ ${bad(counts)} of ${all}`, words];
  if (passed < all) return ["open", `? ${passed} of ${all}`, words];
  return ["good", `✓ ${all}`, words];
}

function showMatrix({one, kind, shown, text}) {
  const place = $("matrices");
  place.replaceChildren();
  for (const name of Object.keys(KINDS)) {
    const cells = one.cells.filter((cell) => cell.kind === name && (!kind || kind === name) &&
      (!text || `${cell.row} ${cell.column}`.toLowerCase().includes(text)) &&
      (!shown || judged(cell.counts)[0] === shown));
    if (!cells.length) continue;
    const columns = [...new Set(cells.map((cell) => cell.column))].sort();
    const rows = [...new Set(cells.map((cell) => cell.row))].sort();
    const by = new Map(cells.map((cell) => [cell.row + "\n" + cell.column, cell]));
    const head = make("tr", {}, make("td"), ...columns.map((column) => make("th", {scope: "col"}, column)));
    const body = rows.map((row) => make("tr", {}, make("th", {scope: "row"}, row), ...columns.map((column) => {
      const cell = by.get(row + "\n" + column);
      if (!cell) return make("td");
      const [mark, sign, words] = judged(cell.counts);
      if (mark !== "bad") return make("td", {class: mark, title: words}, sign);
      const jump = () => {
        $("text").value = row;
        show();
        $("triage").scrollIntoView();
        $("triage").focus();
      };
      return make("td", {class: mark, title: words},
        make("button", {type: "button", onclick: jump, "aria-label": `${row}, ${column}: ${words}; show failures`}, sign));
    })));
    place.append(make("h3", {}, KINDS[name]), make("div", {class: "wide", tabindex: "0", role: "region",
      "aria-label": KINDS[name]}, make("table", {class: "cells"}, make("thead", {}, head), make("tbody", {}, ...body))));
  }
  if (!place.children.length) place.append(make("p", {class: "quiet"}, "Nothing fits what is shown."));
}

function showFailures({one, kind, text}) {
  const place = $("failures");
  const found = one.failures.filter((group) => (!kind || group.kinds.includes(kind)) && (!text ||
    [group.signature, ...group.rows, ...group.columns].join(" ").toLowerCase().includes(text)));
  place.replaceChildren();
  if (found.length) {
    place.append(stack(["signature", "runs", "where", "cheapest", "again"], found.map((group) => [
      make("a", {href: group.page, class: "failure"}, group.signature), number(`${group.count} x`),
      group.rows.slice(0, 6).join(", ") + (group.rows.length > 6 ? ` and ${group.rows.length - 6} more` : ""),
      number(group.cost), make("code", {}, group.repro || "")])));
  } else {
    place.append(make("p", {class: one.failures.length ? "quiet" : "good"},
      one.failures.length ? "No failure fits what is shown." : "Nothing failed."));
  }
  if (one.machine.length) {
    place.append(make("h3", {}, "Ranges that the machine ended"), stack(["range", "times", "last reason"],
      one.machine.map((row) => [`${row.range}, ${row.kind}`, number(row.tries), row.why])));
  }
}

function showCoverage({one, text}) {
  const place = $("bins"), found = one.coverage;
  place.replaceChildren();
  if (found.bins === null || found.bins === undefined) {
    place.append(make("p", {class: "quiet"}, `Not known: ${found.reason || "this regression did not collect it"}.`));
    return;
  }
  place.append(make("p", {}, make("b", {}, percent(found.bins)), ` of ${found.all} bins reached their goal` +
    (found.lines === null ? `; lines: ${found.reason}.` : `, ${percent(found.lines)} of the RTL's lines` +
    (found.assertions ? ` and ${percent(found.assertions)} of its assertions.` : "."))));
  const row = (name, reached, all) => make("tr", {}, make("td", {}, name), make("td", {class: "n"}, `${reached} of ${all}`),
    make("td", {}, make("span", {class: "bar", "aria-hidden": "true"},
      make("i", {style: `width:${all ? 100 * reached / all : 0}%`}))));
  place.append(make("table", {}, make("tbody", {}, ...found.groups.map((group) => row(group.name, group.reached, group.all)))));
  const holes = found.holes.filter((hole) => !text || `${hole.bin} ${hole.try}`.toLowerCase().includes(text));
  if (!holes.length) return;
  place.append(make("h3", {}, "Holes"), stack(["bin", "what", "runs", "goal", "most likely to fill it"],
    holes.map((hole) => [make("code", {}, hole.bin), hole.text, number(hole.runs), number(hole.goal),
      hole.try || "nothing near it was reached"])));
}

function showTime({one, kind}) {
  const place = $("spent"), spent = one.time;
  place.replaceChildren();
  if (!spent) {
    place.append(make("p", {class: "quiet"}, "This regression does not tell."));
    return;
  }
  const sum = (key) => spent.starts.reduce((all, start) => all + start[key], 0);
  const had = sum("seconds"), idle = sum("idle"), last = sum("at_the_end");
  place.append(make("p", {}, make("b", {}, seconds(spent.seconds)), " in processes" + (had ? `; idle ${percent(idle / had)} of ` +
    `${seconds(had)} that the ranges at a time had together: ${seconds(last)} when nothing was left to begin, ` +
    `${seconds(Math.max(0, idle - last))} before.` : ".")));
  place.append(stack(["kind", "share", "in processes", "in runs", "runs", "longest"], spent.kinds.filter((row) => !kind ||
    row.kind === kind).map((row) => [KINDS[row.kind] || row.kind, number(percent(row.share)), number(seconds(row.seconds)),
    number(seconds(row.in_runs)), number(row.runs), number(seconds(row.longest))])));
  const longest = spent.longest.filter((row) => !kind || row.kind === kind);
  if (!longest.length) return;
  place.append(make("h3", {}, "Longest runs"), stack(["kind", "item", "time", "again"], longest.map((row) => [
    KINDS[row.kind] || row.kind, row.item, number(seconds(row.seconds)), make("code", {}, row.repro || "")])));
}

/** Makes room for a chart over all regressions; what is returned draws it. */
function chart(place, title, unit, values) {
  if (values.every((value) => value === null)) return () => {};
  const at = DATA.map((_, n) => n), name = (n) => DATA[n] ? `${DATA[n].name} ${DATA[n].when}` : "";
  const words = values.map((value, n) => `${name(n)}: ${value === null ? "not known" : `${+value.toFixed(2)} ${unit}`}`);
  return room(place, title, () => ({
    scales: {x: {time: false, range: [-0.3, DATA.length - 0.7]}, y: {range: (_, low, high) =>
      [Math.min(0, low ?? 0), high > 0 ? high * 1.1 : 1]}},
    axes: [{...axis(), splits: () => at, values: (_, splits) => splits.map((n) => DATA[n] ? DATA[n].when.slice(5, 10) : "")},
      {...axis(), size: 60}],
    series: [{label: "regression", value: (_, n) => n === null ? "--" : name(n)},
      {label: unit, stroke: colour("--link"), width: 2, points: {show: true, size: 7, fill: colour("--link")}}],
  }), [at, values], words.join("; "));
}

function showTrends() {
  const place = $("charts");
  place.replaceChildren();
  place.className = "charts";
  const charts = [
    chart(place, "Runs that passed", "%", DATA.map((one) => one.runs ? 100 * (one.counts.pass || 0) / one.runs : null)),
    chart(place, "Kinds of failures", "signatures", DATA.map((one) => one.failures.length)),
    chart(place, "Runs", "runs", DATA.map((one) => one.runs)),
    chart(place, "Time of a run", "s", DATA.map((one) => one.runs ? one.seconds / one.runs : null)),
    chart(place, "Bins that reached their goal", "%", DATA.map((one) => typeof one.coverage.bins === "number" ?
      100 * one.coverage.bins : null)),
  ];
  for (const one of charts) one();
}

function show() {
  const what = state(), {one} = what, failed = bad(one.counts);
  const left = one.planned - one.runs;
  $("verdict").className = failed ? "bad" : left ? "open" : "good";
  $("verdict").textContent = `${one.plan}, ${one.when}: ${one.runs} of ${one.planned} runs, ${one.counts.pass || 0} passed, ` +
    `${failed} failed` + (failed ? `; kinds of failures: ${one.failures.length}` : "") + (left ? `, ${left} without a result` : "");
  const seeds = Object.entries(one.seeds).map(([kind, text]) => `${KINDS[kind]}: seeds ${text}`);
  $("made").textContent = [...one.builds, ...seeds].join("; ");
  showMatrix(what);
  showFailures(what);
  showCoverage(what);
  showTime(what);
}

function begin() {
  DATA.forEach((one, n) => $("regression").append(make("option", {value: n}, `${one.name} (${one.plan}, ${one.when})`)));
  $("kind").append(make("option", {value: ""}, "all kinds"), ...Object.entries(KINDS).filter(([kind]) =>
    DATA.some((one) => one.cells.some((cell) => cell.kind === kind))).map(([kind, name]) =>
    make("option", {value: kind}, name)));
  const first = () => {
    $("regression").value = String(DATA.length - 1);
    show();
  };
  $("filters").addEventListener("input", show);
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("filters").addEventListener("reset", () => setTimeout(first));
  first();
  drawn(showTrends);
}

begin();
