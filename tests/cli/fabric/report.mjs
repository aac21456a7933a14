// SPDX-License-Identifier: Apache-2.0
// usage: node report.mjs PLAYWRIGHT CHROMIUM FOLDER FIGURES write|compare
// Opens reports of mrc fabric, which report.py has made in FOLDER. `job` is always the same: its screenshots are held
// against those in FIGURES.
import assert from "node:assert";
import path from "node:path";
import {KINDS, complaints, count, ground, launch, narrow, screenshot, tabTo} from "../browser.mjs";

const [playwright, executablePath, folder, figures, task] = process.argv.slice(2);
const {browser, open} = await launch(playwright, executablePath);
const at = (name) => path.join(folder, name);
const text = async (page, words) => (await page.textContent(words)).replaceAll("\u202f", " ");
const column = (page, place, n) => page.locator(`${place} tbody tr td:nth-child(${n})`).allTextContents();

/** What the first screen says of a job, and what it has below. */
async function job() {
  const page = await open(at("job"));
  assert.match(await text(page, "#verdict"), /^done; 10 of 10 steps of job; at worst 1\.\d+ of the bound\.$/);
  assert.match(await text(page, "#figures"), /P50 of the bound1\.\d+P99 of the bound1\.\d+P100 of the bound1\.\d+GPU time lost/);
  assert.match(await text(page, "#story"), /job, step \d+ took .* of its bound of .*The end of step 0 waited for \d+ messages/);
  assert.match(await text(page, "#losses"), /its own port\s*\d+.*data packets; \d+ sent again/);
  for (const part of ["#verdict", "#figures", "#spread canvas", "#story"]) {
    const box = await page.locator(part).first().boundingBox();
    assert.ok(box.y + Math.min(box.height, 200) < 900, `${part} is not on the first screen`);
  }
  assert.equal(await count(page, "#curves canvas"), 6, "failures, payload, planes, queues, trouble, entropy values");
  assert.match(await page.locator("#curves figure").first().getAttribute("aria-label"), /^Failures: links \d+, planes 0, switches \d+/);
  assert.equal(await page.evaluate(() => document.querySelector("#events details").open), false);
  // The part of the time is that of all charts.
  await page.click("#closer");
  const widths = await page.evaluate(() => strips.map((u) => u.scales.x.max - u.scales.x.min));
  const whole = await page.evaluate(() => DATA.runs[0].result.simulated_us);
  assert.ok(widths.every((one) => Math.abs(one - whole / 2) < 1), `${widths} of ${whole}`);
  await page.click("#all");
  assert.ok(await page.evaluate((us) => strips.every((u) => Math.abs(u.scales.x.max - us) < 1), whole));
  // Links: a cell, its ports, another measure.
  assert.equal(await count(page, ".heat td button"), 4 * 8);
  await page.locator(".heat tbody tr:nth-child(3) td button").nth(2).click();
  assert.match(await text(page, "#ports"), /T0 to T1, plane 2: 64 links.*First by load.*T0-2-\d to T1-2-\d/s);
  await page.selectOption("#measure", "lost");
  assert.equal(await text(page, "#ports"), "");
  const lost = await page.evaluate(() => DATA.runs[0].result.links.reduce((sum, cell) => sum + cell.drops + cell.lost, 0));
  const cells = (await page.locator(".heat td button").allTextContents()).map(Number);
  assert.equal(cells.reduce((a, b) => a + b), lost);
  assert.ok(lost > 0, "nothing was lost");
  // Steps: to sort by keyboard alone, to search.
  const took = () => column(page, "#rows", 4).then((all) => all.map(Number));
  assert.deepEqual(await took(), (await took()).sort((a, b) => b - a));
  await page.focus("#text");
  await tabTo(page, "#rows th:nth-child(4) button");
  await page.keyboard.press("Enter");
  assert.deepEqual(await took(), (await took()).sort((a, b) => a - b));
  assert.ok(await page.evaluate(() => document.activeElement.matches("#rows th:nth-child(4) button")), "the focus is lost");
  await page.fill("#text", "nic17");
  assert.deepEqual([...new Set(await column(page, "#rows", 6))], ["nic17"]);
  await page.close();
}

/** More flows than the page has: the slowest, and those of one T0 when they are asked for. */
async function many() {
  const page = await open(at("many"));
  assert.match(await text(page, "#rows"), /The slowest of 5 112 flows: 500/);
  assert.equal(await count(page, ".flows tbody tr"), 100);
  assert.equal(await count(page, ".leaves tbody tr"), 9);
  assert.equal(await page.evaluate(() => Object.keys(FLOWS).length), 0, "flows that nobody asked for");
  await page.getByRole("button", {name: "T0 number 3", exact: true}).click();
  await page.waitForFunction(() => document.querySelector("#rows .flows h3")?.textContent.includes("under T0 number 3"));
  assert.match(await text(page, "#rows"), /Flows of senders under T0 number 3: 568/);
  assert.ok((await column(page, ".flows", 3)).every((nic) => /^nic(2[4-9]|3[01])$/.test(nic)));
  await page.fill("#text", "nic70");
  await page.waitForFunction(() => document.querySelector("#rows .flows h3")?.textContent.includes("under T0 number 8"));
  assert.match(await text(page, "#rows"), /Flows of senders under T0 number 8: 78/);  // 71 of its own, 7 of its neighbours
  await page.close();
}

async function beside() {
  const page = await open(at("beside"));
  assert.match(await text(page, "#verdict"), /^A done; .* B done; /);
  assert.equal(await count(page, "#choice"), 1);
  assert.ok(await page.isVisible("#choice"));
  assert.equal(await count(page, ".heat"), 2);
  assert.match(await text(page, "#figures"), /P100 of the bound1\.\d+ \| 1\.\d+/);
  assert.match(await text(page, "#made"), /A: plane-loss, mrc, seed 1.*B: plane-loss, mrc, seed 2/);
  const both = await page.locator("#curves figure", {hasText: "Payload"}).getAttribute("aria-label");
  assert.match(both, /A all NICs: at most .*B all NICs: at most/);
  await page.selectOption("#other", "");
  assert.equal(await count(page, ".heat"), 1);
  await page.close();
}

/** Runs without an end, and pages without uPlot. */
async function lacking() {
  const stopped = await open(at("dies"));
  assert.match(await text(stopped, "#verdict"), /^hang: .*These are the results so far\.$/);
  assert.equal(await stopped.getAttribute("#verdict", "class"), "open");
  await stopped.close();
  const bare = await open(at("bare"));
  assert.equal(await count(bare, "canvas"), 0);
  assert.match(await text(bare, "#curves"), /Payload that arrived.*No curve: npm could not fetch uPlot/);
  assert.match(await text(bare, "#verdict"), /^done; 1 of 1 flows/);
  await bare.close();
}

async function screenshots() {
  const grounds = new Set();
  for (const [name, options] of Object.entries(KINDS)) {
    for (const run of ["job", "many", "beside"]) {
      const page = await open(at(run), options);
      assert.ok(await narrow(page), `${run}, ${name}: wider than its window`);
      if (run === "job") {
        grounds.add(await ground(page));
        await screenshot(page, path.join(figures, `${name}.png`), task, "timeline");
      }
      await page.close();
    }
  }
  assert.equal(grounds.size, 2, "light and dark have the same ground");
}

try {
  for (const part of [job, many, beside, lacking, screenshots]) await part();
  assert.deepEqual(complaints, []);
} finally {
  await browser.close();
}
