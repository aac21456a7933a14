// SPDX-License-Identifier: Apache-2.0
// Draws index.html of mrc fabric from DATA (data.js): one run, or several of which two are shown beside each other.
"use strict";

const RUNS = DATA.runs;
const MOST_ROWS = 100;  // of a table, until more are asked for
const CAUSES = {port: "its own port", peer: "the peer's port", gap: "a gap", path: "a packet of the same path", time: "time",
  question: "a question", timer: "a timer", returned: "the packet that came back"};
const MEASURES = {
  load: ["load", (cell) => cell.load, percent, (port) => port.load],
  most_load: ["load of the busiest", (cell) => cell.most_load, percent, (port) => port.load],
  deepest_bytes: ["deepest queue, KB", (cell) => cell.deepest_bytes / 1e3, (x) => x.toFixed(1), (port) => port.deepest],
  trims: ["trimmed packets", (cell) => cell.trims, grouped, (port) => port.trims],
  marks: ["marked packets", (cell) => cell.marks, grouped, (port) => port.marks],
  lost: ["dropped and lost packets", (cell) => cell.drops + cell.lost, grouped, (port) => port.drops + port.lost],
};
const PORT = ["name", "tier", "plane", "load", "deepest", "marks", "trims", "drops", "lost"];
const FLOW = ["id", "group", "from", "to", "bytes", "begun", "delivered", "done", "failed"];

const named = (names, row) => Object.fromEntries(names.map((name, n) => [name, row[n]]));
function grouped(value) {
  return Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, "\u202f");
}
const over = (value) => value >= 100 ? value.toFixed(0) : value >= 2 ? value.toFixed(2) : value.toFixed(4);
/** A time with a unit that suits it. */
function time(us) {
  const [unit, name] = us >= 1e6 ? [1e6, "s"] : us >= 1e4 ? [1e3, "ms"] : [1, "µs"];
  return `${(us / unit).toPrecision(us / unit >= 1000 ? 6 : 4)} ${name}`;
}
const bytes = (n) => n >= 1e9 ? `${(n / 1e9).toPrecision(3)} GB` : n >= 1e6 ? `${(n / 1e6).toPrecision(3)} MB` :
  `${(n / 1e3).toPrecision(3)} KB`;
const quantile = (sorted, q) => sorted[Math.min(Math.max(Math.ceil(q * sorted.length), 1), sorted.length) - 1];
const result = (run) => run.result;
const complete = (run) => result(run).complete;

/** The runs that are shown: one, or two. */
function shown() {
  const other = $("other").value;
  return [RUNS[Number($("one").value)], ...(other === "" ? [] : [RUNS[Number(other)]])];
}
/** What tells a run from the one beside it. */
function title(run, runs) {
  if (runs.length < 2) return "";
  const {scenario, transport, seed, failure_rates: rates} = result(run);
  const own = [scenario, transport, `seed ${seed}`, rates ? `${rates} x failures` : ""].filter(Boolean).join(", ");
  return `${"AB"[runs.indexOf(run)]}: ${own}`;
}
const letter = (run, runs) => runs.length < 2 ? "" : `${"AB"[runs.indexOf(run)]} `;

/** Completion times of traffic, step times of jobs: what a distribution is drawn and told of. */
function patterns(run) {
  const jobs = (result(run).jobs || []).filter((job) => job.steps.length).map((job) => {
    const ratios = job.steps.map((step) => step.bound_us > 0 ? step.us / step.bound_us : 0).sort((a, b) => a - b);
    return {label: job.label, what: "steps", count: job.steps.length, of: job.steps_wanted, bound: job.bound_us /
      job.steps_wanted, curve: ratios, p50: job.step_us.p50, p99: job.step_us.p99, p100: job.step_us.p100,
      over: job.over_bound};
  });
  return jobs.concat((result(run).traffic || []).filter((group) => group.finished).map((group) => ({
    label: group.label, what: "flows", count: group.finished, of: group.flows, bound: group.bound_us,
    curve: (group.fct_curve_us || []).map((us) => us / group.bound_us), p50: group.fct_us.median, p99: group.fct_us.p99,
    p100: group.fct_us.max, over: group.over_bound})));
}
/** The pattern that is most above its bound. */
const worst = (run) => patterns(run).reduce((most, one) => !most || one.over.p100 > most.over.p100 ? one : most, null);

function verdict(runs) {
  const words = runs.map((run) => {
    const one = result(run), most = worst(run);
    const failed = one.outcome === "failed";
    const what = [...(one.jobs || []).map((job) => `${job.steps.length} of ${job.steps_wanted} steps of ${job.label}`),
      ...(one.traffic || []).map((group) => `${group.finished} of ${group.flows} flows of ${group.label}`)];
    const ended = what.slice(0, 4).join(", ") + (what.length > 4 ? ", ..." : "");
    return {failed, text: letter(run, runs) + one.outcome + (one.reason ? `: ${one.reason}` : "") + (ended ? `; ${ended}` : "") +
      (most ? `; at worst ${over(most.over.p100)} of the bound` : "") + (one.complete ? "." : ". These are the results so far.")};
  });
  $("verdict").className = words.some((one) => one.failed) ? "bad" : runs.every(complete) ? "good" : "open";
  $("verdict").textContent = words.map((one) => one.text).join(" ");
  $("made").replaceChildren(...runs.map((run) => {
    const one = result(run), f = one.fabric;
    return make("span", {}, `${[title(run, runs), one.description].filter(Boolean).join(". ")}${runs.length > 1 ||
      one.description ? ". " : ""}${grouped(f.nics)} NICs of ${f.nic_gbps} Gb/s in ` +
      `${f.planes} plane${f.planes > 1 ? "s" : ""}, ${grouped(f.switches)} switches, ${grouped(f.links)} links, ` +
      `${grouped(f.qps)} QPs, ${one.transport}; seed ${one.seed}; ${time(one.simulated_us)} simulated, round trip ` +
      `${time(f.round_trip_us)}. `);
  }));
}

function tiles(runs) {
  const tile = (name, value) => make("div", {}, name, make("b", {}, value));
  const both = (value) => runs.map((run) => value(run) ?? "--").join(" | ");
  const quantiles = ["p50", "p99", "p100"].map((q) => tile(`${q.toUpperCase()} of the bound`, both((run) => {
    const most = worst(run);
    return most && over(most.over[q]);
  })));
  const lost = tile("Lost packets", both((run) => {
    const t = result(run).totals;
    return grouped(t.drops + t.lost_on_links);
  }));
  const failures = tile("Failures", both((run) => grouped(failed(run))));
  const jobs = runs.some((run) => (result(run).jobs || []).length);
  const last = jobs ? tile("GPU time lost", both((run) => {
    const list = result(run).jobs || [], sum = (key) => list.reduce((all, job) => all + (job.end_us - job.begin_us > 0 ?
      job[key] : 0) * job.ranks, 0);
    const took = list.reduce((all, job) => all + Math.max(0, job.end_us - job.begin_us) * job.ranks, 0);
    return took ? percent(Math.max(0, 1 - sum("bound_us") / took)) : null;
  })) : tile("Goodput", both((run) => `${grouped((result(run).traffic || []).reduce((all, g) => all + g.goodput_gbps, 0))} Gb/s`));
  $("figures").replaceChildren(...quantiles, last, lost, failures);
}
/** Failures that happened: those of processes by their count, which the list of events cuts off. */
function failed(run) {
  const one = result(run), listed = begins(one.events);
  const process = (one.failures || []).reduce((all, f) => all + f.times, 0);
  const told = (one.failures || []).reduce((all, f) => all + Math.min(f.times, 100), 0);
  return Math.max(0, listed.length - told) + process;
}
const begins = (events) => events.filter((event) => !event.what.endsWith(" ends") && !event.what.endsWith(" up"));

/** Share of flows or steps by time over the bound. */
function spread(place, runs) {
  const series = runs.flatMap((run) => patterns(run).filter((one) => one.curve.length).map((one) => ({run, ...one})));
  const cell = (us, ratio) => make("td", {class: "n"}, time(us), make("br"), ratio);
  $("quantiles").replaceChildren(make("div", {class: "wide", tabindex: "0", role: "region", "aria-label": "Completion and step " +
    "times"}, stack(["pattern", "P50", "P99", "P100", "bound"], runs.flatMap((run) => patterns(run).map((one) => [
    make("td", {}, letter(run, runs) + one.label, make("br"), `${grouped(one.count)} ${one.what}`), ...["p50", "p99", "p100"].map((q) =>
      cell(one[q], over(one.over[q]))), cell(one.bound, "1")])))));
  if (!series.length) {
    place.append(make("p", {class: "quiet"}, "Nothing has ended."));
    return [];
  }
  const drawnSeries = series.slice(0, 8);
  const data = !DATA.charts ? [] : uPlot.join(drawnSeries.map((one) => {
    const n = one.curve.length;  // of equal times the last one counts
    const points = one.curve.map((x, i) => [x, 100 * (i + 1) / n]).filter(([x], i) => i + 1 === n || one.curve[i + 1] > x);
    if (points.length && points[0][0] > 0) points.unshift([points[0][0] * 0.999999, 0]);
    return [points.map((p) => p[0]), points.map((p) => p[1])];
  }));
  const all = drawnSeries.flatMap((one) => [one.curve[0], one.curve.at(-1)]);
  const low = Math.min(1, ...all), high = Math.max(1, ...all), log = low > 0 && high / low > 20;
  const edge = Math.max((high - low) * 0.05, 1e-4);
  const lines = (u) => {
    const x = u.valToPos(1, "x", true), pen = u.ctx;
    pen.save();
    pen.strokeStyle = colour("--good");
    pen.fillStyle = colour("--good");
    pen.lineWidth = 2 * devicePixelRatio;
    pen.setLineDash([6, 4]);
    pen.beginPath();
    pen.moveTo(x, u.bbox.top);
    pen.lineTo(x, u.bbox.top + u.bbox.height);
    pen.stroke();
    pen.font = `${12 * devicePixelRatio}px sans-serif`;
    pen.textAlign = "left";
    pen.fillText("bound", x + 5 * devicePixelRatio, u.bbox.top + u.bbox.height - 6 * devicePixelRatio);
    pen.restore();
  };
  const draw = figure(place, "Share of flows or steps that took at most so long, over the bound", () => ({
    height: 240,
    scales: {x: {time: false, distr: log ? 3 : 1, range: log ? undefined : [low - edge, high + edge]}, y: {range: [0, 102]}},
    axes: [{...axis(), values: (_, ticks) => ticks.map((x) => x === null ? "" : +x.toPrecision(5))},
      {...axis(), size: 50, splits: () => [0, 25, 50, 75, 99], values: (_, ticks) => ticks.map((y) => `${y} %`)}],
    series: [{label: "over the bound", value: (_, x) => x === null ? "--" : over(x)}, ...drawnSeries.map((one, n) => ({
      label: letter(one.run, runs) + one.label, stroke: colour(`--series-${n % 8}`), width: 2, spanGaps: true,
      paths: uPlot.paths.stepped({align: 1}), dash: runs.indexOf(one.run) ? [5, 4] : undefined, points: {show: false},
      value: (_, y) => y === null ? "--" : `${y.toFixed(1)} %`}))],
    hooks: {draw: [lines]},
  }), data, series.map((one) => `${letter(one.run, runs)}${one.label}: P50 ${over(one.over.p50)}, P99 ${over(one.over.p99)}, ` +
    `P100 ${over(one.over.p100)} of the bound`).join("; "));
  return draw;
}

/** A chart when there is uPlot; else a word on it. Gives a list with what draws it. */
function figure(place, name, options, data, words) {
  if (DATA.charts) return [room(place, name, options, data, words)];
  place.append(make("p", {class: "quiet"}, `${name}: ${words}. No curve: npm could not fetch uPlot when this page was made.`));
  return [];
}

/** The step that is most above its bound; of several jobs one each. */
function slowestSteps(run) {
  return (result(run).jobs || []).filter((job) => job.steps.length).map((job) => {
    const at = job.steps.reduce((most, step, n) => step.us / step.bound_us > job.steps[most].us / job.steps[most].bound_us ? n : most, 0);
    return {job, at, step: job.steps[at]};
  });
}

function story(runs) {
  const place = $("story");
  place.replaceChildren(make("h3", {}, "The slowest"));
  for (const run of runs) {
    const one = result(run), who = letter(run, runs);
    for (const {job, at, step} of slowestSteps(run)) {
      place.append(make("p", {class: "slowest"}, make("b", {}, `${who}${job.label}, step ${at}`), ` took ${time(step.us)}, ` +
        `${over(step.us / step.bound_us)} of its bound of ${time(step.bound_us)}. Rank ${step.last_rank} (nic${step.last_nic}) ` +
        `ended it, ${time(step.spread_us)} after the first.`));
      const waits = job.waits;
      if (!waits) {
        place.append(make("p", {class: "quiet"}, "What it waited for: ", make("code", {}, `./mrc fabric --scenario ` +
          `${one.scenario} --seed ${one.seed} --waits ${at}`)));
        continue;
      }
      place.append(make("p", {}, `The end of step ${waits.step} waited for ${grouped(waits.messages)} messages one after the ` +
        `other, ${time(waits.under_way_us)} under way (${time(waits.ideal_us)} in an ideal fabric), and ` +
        `${time(waits.computed_us)} of compute. Most above the ideal:`), make("ul", {}, ...waits.slowest.map((wait) =>
        make("li", {}, `rank ${wait.from} (nic${wait.from_nic}) to ${wait.to} (nic${wait.to_nic}), ${bytes(wait.bytes)}: ` +
          `${time(wait.end_us - wait.begin_us)} of ${time(wait.ideal_us)}` + (wait.told.length ? `; ${wait.told.join("; ")}` : "")))));
    }
    const group = (one.traffic || []).filter((g) => g.slowest).reduce((most, g) => !most || g.over_bound.p100 > most.over_bound.p100 ?
      g : most, null);
    if (!group) continue;
    const flow = group.slowest, took = flow.done_us - flow.begun_us;
    place.append(make("p", {class: "slowest"}, make("b", {}, `${who}${flow.from} to ${flow.to}`), ` (${group.label}) took ${time(took)}, ` +
      `${over(took / group.bound_us)} of the bound, ${((took - group.bound_us) / one.fabric.round_trip_us).toFixed(1)} round ` +
      `trips over it; ${grouped(flow.lost)} of its packets were lost.`));
    if (flow.last_back.length) place.append(make("ul", {}, ...flow.last_back.map((loss) => make("li", {}, `PSN ${loss.psn}, sent at ` +
      `${loss.sent_us.toFixed(2)} µs on ${loss.way}: known at ${loss.known_us.toFixed(2)} by ${CAUSES[loss.known_by] || loss.known_by}` +
      ("again_us" in loss ? `, again at ${loss.again_us.toFixed(2)} on plane ${loss.again_plane}` : "") +
      ("reported_us" in loss ? `, reported at ${loss.reported_us.toFixed(2)}` : "")))));
  }
  if (place.children.length === 1) place.append(make("p", {class: "quiet"}, "Nothing has ended."));
}

function losses(runs) {
  const place = $("losses");
  place.replaceChildren(make("h3", {}, "Losses, by what found them"));
  const names = [...new Set(runs.flatMap((run) => Object.keys(result(run).totals.lost_known_by)))].filter((name) =>
    runs.some((run) => result(run).totals.lost_known_by[name] > 0));
  const most = Math.max(1, ...runs.flatMap((run) => Object.values(result(run).totals.lost_known_by)));
  if (names.length) {
    place.append(make("table", {}, make("tbody", {}, ...names.map((name) => make("tr", {}, make("td", {}, CAUSES[name] || name),
      ...runs.flatMap((run) => {
        const n = result(run).totals.lost_known_by[name] || 0;
        return [make("td", {class: "n"}, letter(run, runs) + grouped(n)), make("td", {}, make("span", {class: "bar", "aria-hidden":
          "true"}, make("i", {style: `width:${100 * n / most}%`})))];
      }))))));
  } else {
    place.append(make("p", {class: "quiet"}, "None was found" + (runs.some((run) => result(run).transport === "roce") ?
      "; RoCE keeps no account of single losses." : ".")));
  }
  place.append(...runs.map((run) => {
    const t = result(run).totals;
    return make("p", {}, `${letter(run, runs)}${grouped(t.data_packets)} data packets; ${grouped(t.retransmissions)} sent again, ` +
      `${grouped(t.timeouts)} by timers; switches trimmed ${grouped(t.trims)}, marked ${grouped(t.marks)}, dropped ` +
      `${grouped(t.drops)}; ${grouped(t.lost_on_links)} lost on links; ${grouped(t.failed_qps)} QPs failed.`);
  }));
}

// Time: charts that show the same part of it.

const KINDS = [["links", /^link .* (down|up)( |$)/], ["planes", /^plane /], ["switches", /^reboot/], ["loss", / loses /], ["rate", / Gb\/s$/]];
const kindOf = (what) => KINDS.findIndex(([, words]) => words.test(what));
let strips = [], part = null;

function show(range) {
  part = range;
  for (const chart of strips) chart.setScale("x", range);
}

/** One chart below the other over the time of the runs. */
function curves(runs) {
  const place = $("curves");
  place.replaceChildren();
  for (const chart of strips) chart.destroy();
  strips = [];
  const last = Math.max(...runs.map((run) => result(run).simulated_us));
  const [unit, name] = last >= 1e6 ? [1e6, "s"] : last >= 1e4 ? [1e3, "ms"] : [1, "µs"];
  if (!part) part = {min: 0, max: last / unit};
  let busy = false;
  const options = (height, more) => () => ({
    height, cursor: {sync: {key: "time"}, drag: {x: true, y: false}},
    ...more(), scales: {...more().scales, x: {time: false, min: part.min, max: part.max}},
    axes: [{...axis(), values: (_, ticks) => ticks.map((t) => `${+t.toPrecision(6)}`), label: `time, ${name}`, labelSize: 18, size: 36},
      {...axis(), size: 74, ...more().axis}],
    hooks: {...more().hooks, setScale: [(u, key) => {
      if (key !== "x" || busy) return;
      busy = true;
      const {min, max} = u.scales.x;
      part = {min, max};
      for (const other of strips) if (other !== u) other.setScale("x", {min, max});
      busy = false;
    }]},
  });
  const x = {label: name, value: (_, t) => t === null ? "--" : `${+t.toPrecision(6)} ${name}`};
  const draws = [];
  const chart = (heading, height, more, data, words) => draws.push(...figure(place, heading, options(height, more), data, words));

  const bars = runs.flatMap((run, n) => begins(result(run).events).map((event) => ({n, kind: kindOf(event.what), from: event.time_us /
    unit, to: (event.time_us + (event.lasts_us ?? last - event.time_us)) / unit})));
  const kinds = KINDS.map(([kind], k) => `${kind} ${bars.filter((bar) => bar.kind === k).length}`);
  if (bars.length) {
    const lanes = KINDS.map((_, k) => k).filter((k) => bars.some((bar) => bar.kind === k));
    const lanesOf = (bar) => lanes.length - 1 - lanes.indexOf(bar.kind) + (runs.length > 1 ? (bar.n ? 0.1 : 0.5) : 0.15);
    chart("Failures", 76 + 30 * lanes.length, () => ({
      scales: {y: {range: [0, lanes.length]}}, legend: {show: false},
      axis: {splits: () => lanes.map((_, k) => k + 0.5), values: () => lanes.map((k) => KINDS[k][0]).reverse(), grid: {show: false}},
      series: [x, {label: "failures", show: true, points: {show: false}}],
      hooks: {draw: [(u) => {
        const pen = u.ctx;
        pen.save();
        pen.beginPath();
        pen.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
        pen.clip();
        for (const bar of bars) {
          const left = u.valToPos(bar.from, "x", true), right = u.valToPos(bar.to, "x", true);
          const high = u.valToPos(lanesOf(bar) + (runs.length > 1 ? 0.35 : 0.7), "y", true), low = u.valToPos(lanesOf(bar), "y", true);
          pen.fillStyle = colour(bar.n ? "--series-1" : "--bad");
          pen.fillRect(left, high, Math.max(right - left, 2 * devicePixelRatio), low - high);
        }
        pen.restore();
      }]},
    }), [[0, last / unit], [null, null]], kinds.join(", "));
  }

  const series = runs.map((run) => result(run).series || {}).map((one) => one.time_us ? one : null);
  const lineOf = (label, n, dashed) => ({label, stroke: colour(`--series-${n % 8}`), width: 1.5, spanGaps: true, points: {show: false},
    dash: dashed ? [5, 4] : undefined, value: (_, y) => y === null || y === undefined ? "--" : grouped(y)});
  const axisOf = (values) => ({axis: {values: (_, ticks) => ticks.map((y) => grouped(y))}, scales: {y: {range: (_, low, high) =>
    [Math.min(0, low ?? 0), high > 0 ? high * 1.05 : 1]}}, ...values});
  /** `pick` gives [label, values] of a run's series. */
  const lines = (heading, pick) => {
    const found = series.flatMap((one, n) => one === null ? [] : pick(one).map(([label, values], k) => ({label: letter(runs[n], runs) +
      label, values, n, k, times: one.time_us.map((t) => t / unit)})));
    if (!found.length || found.every((one) => one.values.every((y) => !y))) return;
    const data = !DATA.charts ? [] : uPlot.join(found.map((one) => [one.times, one.values]));
    chart(heading, 190, () => axisOf({series: [x, ...found.map((one) => lineOf(one.label, one.k + (runs.length > 1 &&
      one.n && found.length === 2 ? 1 : 0), one.n > 0))]}), data, found.map((one) => `${one.label}: at most ` +
      grouped(one.values.reduce((a, b) => Math.max(a, b ?? 0), 0))).join("; "));
  };
  const since = (values) => values.map((y, n) => n ? y - values[n - 1] : y);
  lines("Payload that arrived, Gb/s", (one) => [["all NICs", one.goodput_gbps]]);
  const tier = $("tier").value;
  lines(`Sent from ${tier} by plane, with headers, Gb/s`, (one) => ((one.gbps || {})[tier] || []).map((values, n) => [`plane ${n}`, values]));
  lines("Deepest queue, bytes", (one) => Object.entries(one.deepest_bytes || {}));
  lines("Trimmed, sent again, lost: packets since the point before", (one) => [["trimmed", since(one.trims)],
    ["sent again", since(one.retransmissions)], ...(one.lost ? [["lost", since(one.lost)]] : [])]);
  lines("Entropy values assumed bad", (one) => [["of the first 512 QPs", one.evs_bad]]);
  if (!series.some(Boolean)) place.append(make("p", {class: "quiet"}, "No curves: the scenario says sampling = false."));
  strips = draws.map((draw) => draw());
}

function move(share, factor) {
  const end = Math.max(...shown().map((run) => result(run).simulated_us)), unit = end >= 1e6 ? 1e6 : end >= 1e4 ? 1e3 : 1;
  const width = Math.min((part.max - part.min) * factor, end / unit), middle = (part.max + part.min) / 2 + share * (part.max - part.min);
  const min = Math.max(0, Math.min(middle - width / 2, end / unit - width));
  show({min, max: min + width});
}

// Links.

function heat(runs) {
  const place = $("heat"), [name, value, text] = MEASURES[$("measure").value];
  place.replaceChildren();
  $("ports").replaceChildren();
  const most = Math.max(1e-9, ...runs.flatMap((run) => (result(run).links || []).map(value)));
  for (const run of runs) {
    const cells = result(run).links || [], tiers = [...new Set(cells.map((cell) => cell.tier))];
    const planes = [...new Set(cells.map((cell) => cell.plane))];
    if (!cells.length) {
      place.append(make("p", {class: "quiet"}, `${letter(run, runs)}This result is of a program that kept no account of links.`));
      continue;
    }
    const head = make("tr", {}, make("td"), ...planes.map((plane) => make("th", {scope: "col"}, `plane ${plane}`)));
    const body = tiers.map((tier) => make("tr", {}, make("th", {scope: "row"}, tier), ...planes.map((plane) => {
      const cell = cells.find((one) => one.tier === tier && one.plane === plane), x = value(cell);
      return make("td", {style: `background:color-mix(in srgb, var(--heat) ${(60 * x / most).toFixed(1)}%, transparent)`},
        make("button", {type: "button", onclick: () => ports(run, cell), "aria-label": `${tier}, plane ${plane}: ${name} ${text(x)}; ` +
          "show its ports"}, text(x)));
    })));
    place.append(make("h3", {}, `${letter(run, runs)}${name}`), make("div", {class: "wide", tabindex: "0", role: "region",
      "aria-label": `${letter(run, runs)}${name} by tier and plane`}, make("table", {class: "cells heat"}, make("thead", {}, head),
      make("tbody", {}, ...body))));
    const queues = result(run).queues || [];
    if (queues.length) {
      place.append(make("p", {class: "quiet"}, `${letter(run, runs)}What data packets found in front of them, KB:`), stack(["queue",
        "packets", "P50", "P99", "P99.9", "P100"], queues.map((queue) => [queue.where, number(grouped(queue.packets)),
        ...["p50", "p99", "p99.9", "p100"].map((q) => number((queue[`${q}_bytes`] / 1e3).toFixed(1)))])));
    }
  }
}

/** The ports of a cell that are first by what is shown. */
function ports(run, cell) {
  const [name, , , measure] = MEASURES[$("measure").value], place = $("ports"), tier = [...new Set(result(run).links.map((one) =>
    one.tier))].indexOf(cell.tier);
  place.replaceChildren(make("h3", {}, `${cell.tier}, plane ${cell.plane}: ${grouped(cell.links)} links`));
  const found = (run.ports || []).map((row) => named(PORT, row)).filter((port) => port.tier === tier && port.plane === cell.plane)
    .sort((a, b) => measure(b) - measure(a)).slice(0, 20);
  place.append(make("p", {}, `${grouped(cell.packets)} packets, ${bytes(cell.bytes)}; load ${percent(cell.load)} on average, ` +
    `${percent(cell.most_load)} at most; ${grouped(cell.marks)} marked, ${grouped(cell.trims)} trimmed, ${grouped(cell.drops)} ` +
    `dropped, ${grouped(cell.lost)} lost on links.`));
  if (!found.length) {
    place.append(make("p", {class: "quiet"}, cell.tier === "NIC to T0" ? "Ports of NICs are not told one by one." :
      "Single ports are in the report of a run alone."));
    return;
  }
  place.append(make("p", {class: "quiet"}, `First by ${name}:`), stack(["port", "load", "deepest queue", "marked", "trimmed",
    "dropped", "lost"], found.map((port) => [port.name, number(percent(port.load)), number(bytes(port.deepest)),
    ...["marks", "trims", "drops", "lost"].map((key) => number(grouped(port[key])))])));
}

function tables(runs) {
  const place = $("tables");
  place.replaceChildren();
  const rows = (list, cells) => runs.flatMap((run) => (result(run)[list] || []).map((one) => cells(one, letter(run, runs))));
  const add = (name, heads, found) => found.length && place.append(make("h3", {}, name), make("div", {class: "wide", tabindex: "0",
    role: "region", "aria-label": name}, stack(heads, found)));
  add("Jobs", ["job", "ranks", "steps", "bytes", "whole", "over the bound", "computed", "restarts", "again", "GPU hours lost"], rows("jobs",
    (job, who) => [who + job.label, number(grouped(job.ranks)), number(`${job.steps.length} of ${job.steps_wanted}`),
      number(bytes(job.bytes)), number(time(Math.max(0, job.end_us - job.begin_us))), number(job.end_us > job.begin_us ?
      over((job.end_us - job.begin_us) / job.bound_us) : "--"), number(job.end_us > job.begin_us ?
      percent(job.computed_us / (job.end_us - job.begin_us) / job.ranks) : "--"), number(job.restarts), number(job.repeated_steps),
      number(job.gpu_hours_lost.toPrecision(3))]));
  add("Traffic", ["traffic", "pattern", "flows", "failed", "bytes", "Gb/s", "min", "P50", "P99", "P99.9", "P100", "whole over the bound",
    "lost, known by"], rows("traffic", (group, who) => [who + group.label, group.pattern,
    number(`${grouped(group.finished)} of ${grouped(group.flows)}`), number(grouped(group.failed)), number(bytes(group.bytes)),
    number(group.goodput_gbps.toFixed(1)), ...["min", "median", "p99", "p99.9", "max"].map((q) => number(time(group.fct_us[q]))),
    number(group.finished ? over((group.end_us - group.begin_us) / group.bound_us) : "--"),
    Object.entries(group.lost_known_by).filter(([, n]) => n).map(([cause, n]) => `${cause} ${grouped(n)}`).join(", ") || "none"]));
}

// Flows and steps.

/** A table to sort by its heads; `columns`: [name, value of a row, text of it]. */
function sortable(place, name, columns, rows, first) {
  let [by, down] = first, count = MOST_ROWS;
  const draw = () => {
    const value = columns[by][1], sorted = [...rows].sort((a, b) => {
      const x = value(a), y = value(b);
      return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
    });
    const table = stack(columns.map((column) => column[0]), sorted.slice(0, count).map((row) => columns.map(([, of, text]) => {
      const shownText = text ? text(row) : of(row);
      return shownText instanceof Node ? make("td", {}, shownText) : typeof of(row) === "number" ? number(shownText) : String(shownText);
    })));
    table.querySelectorAll("th").forEach((head, n) => {
      head.setAttribute("aria-sort", n !== by ? "none" : down ? "descending" : "ascending");
      head.replaceChildren(make("button", {type: "button", onclick: () => {
        [by, down] = [n, n === by ? !down : typeof columns[n][1](rows[0] ?? {}) === "number"];
        draw();
        place.querySelectorAll("th button")[n]?.focus();
      }}, columns[n][0] + (n === by ? (down ? " ▾" : " ▴") : "")));
    });
    const sort = make("label", {class: "sort"}, "Sorted by", make("select", {onchange: (event) => {
      [by, down] = [Number(event.target.value), true];
      draw();
    }}, ...columns.map((column, n) => make("option", {value: n, ...(n === by ? {selected: ""} : {})}, column[0]))));
    place.replaceChildren(make("h3", {}, `${name}: ${grouped(rows.length)}`), sort, make("div", {class: "wide", tabindex: "0", role:
      "region", "aria-label": name}, table));
    if (sorted.length > count) place.append(make("button", {type: "button", onclick: () => {
      count += MOST_ROWS;
      draw();
    }}, `${MOST_ROWS} more of ${grouped(rows.length)}`));
  };
  draw();
}

/** Flows of the senders under a T0, which have a file of their own. */
function load(leaf) {
  if (FLOWS[leaf]) return Promise.resolve(FLOWS[leaf]);
  return new Promise((done) => document.head.append(make("script", {src: `flows/${leaf}.js`, onload: () => done(FLOWS[leaf]),
    onerror: () => done(null)})));
}

async function flows(runs) {
  const place = $("rows"), text = $("text").value.trim().toLowerCase();
  place.replaceChildren();
  for (const run of runs) {
    const who = letter(run, runs);
    for (const job of result(run).jobs || []) {
      const steps = job.steps.map((step, n) => ({n, ...step})).filter((step) => !text ||
        [`step ${step.n}`, `rank ${step.last_rank}`, `nic${step.last_nic}`].includes(text) || job.label.toLowerCase().includes(text));
      const box = make("div");
      place.append(box);
      sortable(box, `${who}Steps of ${job.label}`, [["step", (s) => s.n], ["took", (s) => s.us, (s) => time(s.us)],
        ["bound", (s) => s.bound_us, (s) => time(s.bound_us)], ["over the bound", (s) => s.us / s.bound_us, (s) => over(s.us / s.bound_us)],
        ["last rank", (s) => s.last_rank], ["its NIC", (s) => s.last_nic, (s) => `nic${s.last_nic}`],
        ["after the first", (s) => s.spread_us, (s) => time(s.spread_us)]], steps, [3, true]);
    }
    const kept = run.flows;
    if (!kept) {
      if ((result(run).traffic || []).length) place.append(make("p", {class: "quiet"}, `${who}Single flows are in the report of a run alone.`));
      continue;
    }
    if (!kept.all) continue;
    const labels = result(run).traffic.map((group) => group.label), bounds = result(run).traffic.map((group) => group.bound_us);
    let rows = kept.rows, name = `${who}Flows`;
    const asked = /^nic(\d+)$/.exec(text);
    if (kept.leaves) {
      name = `${who}The slowest of ${grouped(kept.all)} flows`;
      const leaf = asked ? Math.floor(Number(asked[1]) / kept.leaf) : run.leaf;
      if (leaf !== undefined && leaf < kept.leaves.length && kept.files) {
        rows = await load(leaf) || rows;
        name = `${who}Flows of senders under T0 number ${leaf}`;
      }
    }
    const all = rows.map((row) => named(FLOW, row)).map((flow) => ({...flow, took: flow.done === null ? Infinity : flow.done - flow.begun}));
    const words = (flow) => [labels[flow.group], flow.failed ? "failed" : flow.done === null ? "not ended" : "ended"].join(" ").toLowerCase();
    const found = all.filter((flow) => !text || (asked ? [flow.from, flow.to].includes(Number(asked[1])) : words(flow).includes(text)));
    const box = make("div", {class: "flows"});
    place.append(box);
    sortable(box, name, [["flow", (f) => f.id], ["traffic", (f) => labels[f.group]], ["from", (f) => f.from, (f) => `nic${f.from}`],
      ["to", (f) => f.to, (f) => `nic${f.to}`], ["bytes", (f) => f.bytes, (f) => grouped(f.bytes)], ["begun", (f) => f.begun ?? Infinity,
      (f) => f.begun === null ? "not" : time(f.begun)], ["took", (f) => f.took, (f) => f.failed ? "failed" : f.done === null ?
      "not ended" : time(f.took)], ["over the bound", (f) => f.took / bounds[f.group], (f) => f.done === null ? "--" :
      over(f.took / bounds[f.group])]], found, [7, true]);
    if (!kept.leaves) continue;
    const leaves = make("div", {class: "leaves"});
    place.append(leaves);
    sortable(leaves, `${who}By the T0 of the sender`, [["T0", (l) => l.leaf, (l) => kept.files ? make("button", {type: "button", onclick: () => {
      run.leaf = l.leaf;
      $("text").value = "";
      flows(shown()).then(() => {
        $("flows").scrollIntoView();
        $("flows").focus();
      });
    }}, `T0 number ${l.leaf}`) : `T0 number ${l.leaf}`], ["flows", (l) => l.flows, (l) => grouped(l.flows)], ["ended", (l) => l.ended,
      (l) => grouped(l.ended)], ["failed", (l) => l.failed], ["bytes", (l) => l.bytes, (l) => bytes(l.bytes)], ["P50", (l) => l.p50,
      (l) => time(l.p50)], ["P99", (l) => l.p99, (l) => time(l.p99)], ["P100", (l) => l.p100, (l) => time(l.p100)]],
      kept.leaves.map((row, leaf) => ({leaf, ...named(["flows", "ended", "failed", "bytes", "p50", "p99", "p100"], row)})), [7, true]);
  }
}

function events(runs) {
  const place = $("failures");
  place.replaceChildren();
  for (const run of runs) {
    const one = result(run), who = letter(run, runs), listed = begins(one.events);
    if (!failed(run)) {
      place.append(make("p", {class: "quiet"}, `${who}Nothing failed.`));
      continue;
    }
    if ((one.failures || []).length) place.append(stack([`${who}what, at a rate`, "times", "in all"], one.failures.map((f) =>
      [f.what, number(grouped(f.times)), number(time(f.lasted_us))])));
    const measured = listed.filter((event) => "before_gbps" in event);
    if (measured.length) place.append(make("h3", {}, `${who}What they did to the goodput`), make("div", {class: "wide", tabindex: "0",
      role: "region", "aria-label": "What failures did to the goodput"}, stack(["failure", "at", "Gb/s before", "lowest", "after",
      "recovered in"], measured.map((event) => [event.what, number(time(event.time_us)), ...["before_gbps", "lowest_gbps",
      "after_gbps"].map((key) => number(event[key].toFixed(0))), number(event.recovery_us ? time(event.recovery_us) : "no dip")]))));
    place.append(make("details", {}, make("summary", {}, `${who}All ${grouped(listed.length)} that are listed`), make("ol", {},
      ...listed.map((event) => make("li", {}, `${time(event.time_us)}: ${event.what}` + ("lasts_us" in event && !/ for /.test(event.what) ?
      `, for ${time(event.lasts_us)}` : ""))))));
  }
}

function rest(runs) {
  const alone = RUNS.length === 1 && RUNS[0].topology !== undefined, place = $("rest");
  place.replaceChildren();
  for (const run of runs) {
    const t = result(run).totals;
    const names = {delivered_bytes: "bytes delivered", duplicates: "packets received twice", sacks: "SACKs", nacks: "NACKs", acks: "ACKs",
      probes: "probes", returned: "packets that came back", discards: "discarded by switches, without a way"};
    place.append(make("p", {}, letter(run, runs) + Object.entries(names).map(([key, words]) => `${words} ${grouped(t[key] ?? 0)}`).join("; ") + "."));
  }
  if (alone) {
    place.append(make("img", {src: "topology.svg", alt: "The network", style: "max-width:100%"}), make("pre", {tabindex: "0"}, RUNS[0].topology));
    const link = (name) => make("a", {href: name}, name);
    const names = ["result.json", "series.csv", "flows.csv", "ports.csv", ...((result(RUNS[0]).jobs || []).length ? ["steps.csv"] : [])];
    $("files").replaceChildren("Beside this page: ", ...names.flatMap((name, n) => n ? [", ", link(name)] : [link(name)]), ".");
  }
  $("versions").replaceChildren(`Run ${DATA.run}; ${DATA.made}. `, ...(DATA.charts ? ["Charts: uPlot, MIT (", make("a", {href:
    "charts/LICENSE"}, "licence"), "). "] : []), "Nothing here needs a network.");
}

// All together.

let redraw = () => {}, begun = false;
function all() {
  const runs = shown();
  $("name").textContent = document.title = runs.map((run) => result(run).scenario).join(" and ");
  part = null;
  const tiers = [...new Set(runs.flatMap((run) => Object.keys((result(run).series || {}).gbps || {})))], tier = $("tier").value;
  $("tier").replaceChildren(...tiers.map((name) => make("option", {}, name)));
  if (tiers.includes(tier)) $("tier").value = tier;
  verdict(runs);
  tiles(runs);
  story(runs);
  losses(runs);
  redraw = () => {
    $("spread").replaceChildren();
    for (const draw of spread($("spread"), runs)) draw();
    curves(runs);
  };
  if (begun) redraw();
  heat(runs);
  tables(runs);
  flows(runs);
  events(runs);
  rest(runs);
}

function begin() {
  const name = (run) => [run.name, result(run).scenario, result(run).transport, `seed ${result(run).seed}`].filter(Boolean).join(", ");
  $("one").append(...RUNS.map((run, n) => make("option", {value: n}, name(run))));
  $("other").append(make("option", {value: ""}, "none"), ...RUNS.map((run, n) => make("option", {value: n}, name(run))));
  $("choice").hidden = RUNS.length < 2;
  $("other").value = RUNS.length < 2 ? "" : "1";
  $("measure").append(...Object.entries(MEASURES).map(([key, [words]]) => make("option", {value: key}, words)));
  $("choice").addEventListener("input", all);
  $("choice").addEventListener("submit", (event) => event.preventDefault());
  $("tier").addEventListener("input", () => curves(shown()));
  $("measure").addEventListener("input", () => heat(shown()));
  $("text").addEventListener("input", () => flows(shown()));
  $("earlier").addEventListener("click", () => move(-0.5, 1));
  $("later").addEventListener("click", () => move(0.5, 1));
  $("closer").addEventListener("click", () => move(0, 0.5));
  $("all").addEventListener("click", () => move(0, 1e9));
  all();
  begun = true;
  drawn(() => redraw());
}

begin();
