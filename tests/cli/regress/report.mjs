// SPDX-License-Identifier: Apache-2.0
// usage: node report.mjs PLAYWRIGHT CHROMIUM REPORT SAMPLE FIGURES write|compare
// Opens two reports of mrc regress in headless Chromium, without a network. REPORT has failures that ran again; SAMPLE is
// always the same: its screenshots are held against those in FIGURES.
import assert from "node:assert";
import path from "node:path";
import {KINDS, complaints, count, ground, launch, narrow, screenshot, tabTo} from "../browser.mjs";

const [playwright, executablePath, report, sample, figures, task] = process.argv.slice(2);
const {browser, open} = await launch(playwright, executablePath);

async function filters() {
  const page = await open(report);
  assert.match(await page.textContent("#verdict"), /20 of 20 runs, 12 passed, 8 failed; kinds of failures: 1/);
  assert.equal(await count(page, "#matrices tbody tr"), 2);
  await page.fill("#text", "loss");
  assert.equal(await count(page, "#matrices tbody tr"), 1);
  assert.equal(await count(page, "#failures tbody tr"), 1);
  await page.fill("#text", "nothing like that");
  assert.equal(await count(page, "#matrices tbody tr"), 0);
  assert.match(await page.textContent("#failures"), /No failure fits/);
  await page.click("button[type=reset]");
  await page.waitForFunction(() => document.querySelectorAll("#matrices tbody tr").length === 2);
  await page.selectOption("#shown", "bad");
  assert.equal(await count(page, "#matrices td.good"), 0);
  assert.ok(await count(page, "#matrices td.bad") > 0);
  await page.selectOption("#regression", "0");
  await page.selectOption("#shown", "");
  assert.match(await page.textContent("#failures"), /Nothing failed/);
  assert.match(await page.textContent("#made"), /4 runs by mrcnic .*commit .*compiler .*Verilator/);
  await page.close();
}

/** From the first page to the page of the failed run itself, and by keyboard alone. */
async function clicks() {
  const page = await open(report);
  await page.click("#matrices td.bad button");
  assert.equal(await page.inputValue("#text"), "clean");
  await page.click("a.failure");
  assert.match(await page.textContent("blockquote"), /the ICRC is right/);
  assert.match(await page.textContent("pre"), /mrc cosim --level L2 .*icrc-wrong/);
  await page.locator("a.page", {hasText: "wire.icrc"}).click();
  assert.ok(await count(page, "svg") > 0, "the page of a failure has pictures");
  await page.close();
  const keys = await open(report);
  await tabTo(keys, "a.failure");
  await keys.keyboard.press("Enter");
  await keys.waitForURL(/failures/);
  await keys.close();
}

async function screenshots() {
  const grounds = new Set();
  for (const [name, options] of Object.entries(KINDS)) {
    const page = await open(sample, options);
    assert.ok(await narrow(page), `${name}: wider than its window`);
    assert.equal(await count(page, "#charts canvas"), 5, `${name}: charts`);
    assert.equal(await count(page, "#bins tbody tr"), 3);
    assert.match(await page.textContent("#made"), /runs by mrcnic 1.0, commit 0123456789ab, .*Scenarios: seeds 1-20/);
    assert.match(await page.textContent("#spent"), /70\.00 s in processes; idle 41\.7 % of 120 s .*35\.00 s when/);
    assert.equal(await count(page, "#spent tbody tr"), 13);
    grounds.add(await ground(page));
    await screenshot(page, path.join(figures, `${name}.png`), task, "matrix");
    await page.goto("file://" + path.join(sample, await page.evaluate(() => DATA.at(-1).failures[0].page)));
    assert.ok(await narrow(page), `${name}: the page of a failure is wider than its window`);
    await page.close();
  }
  assert.equal(grounds.size, 2, "light and dark have the same ground");
}

try {
  await filters();
  await clicks();
  await screenshots();
  assert.deepEqual(complaints, []);
} finally {
  await browser.close();
}
