// SPDX-License-Identifier: Apache-2.0
// usage: node report.mjs PLAYWRIGHT CHROMIUM REPORT SAMPLE FIGURES write|compare
// Opens two reports of mrc regress in headless Chromium, without a network. REPORT has failures that ran again; SAMPLE is
// always the same: its screenshots are held against those in FIGURES.
import assert from "node:assert";
import fs from "node:fs";
import path from "node:path";
import {createRequire} from "node:module";

const [playwright, executablePath, report, sample, figures, task] = process.argv.slice(2);
const {chromium} = createRequire(import.meta.url)(playwright);
const browser = await chromium.launch({executablePath, args: process.getuid() === 0 ? ["--no-sandbox"] : []});
const complaints = [];

async function open(folder, options = {}) {
  const context = await browser.newContext({viewport: {width: 1180, height: 900}, offline: true, reducedMotion: "reduce",
    timezoneId: "UTC", ...options});
  const page = await context.newPage();
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => request.url().startsWith("http") && complaints.push(`asks for ${request.url()}`));
  await page.goto("file://" + path.join(folder, "index.html"));
  return page;
}

const visible = (page, words) => page.locator(words).evaluateAll((found) => found.length);
/** No part of the page is wider than the window; what must be has a bar of its own. */
const narrow = (page) => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);

async function filters() {
  const page = await open(report);
  assert.match(await page.textContent("#verdict"), /20 of 20 runs, 12 passed, 8 failed; kinds of failures: 1/);
  assert.equal(await visible(page, "#matrices tbody tr"), 2);
  await page.fill("#text", "loss");
  assert.equal(await visible(page, "#matrices tbody tr"), 1);
  assert.equal(await visible(page, "#failures tbody tr"), 1);
  await page.fill("#text", "nothing like that");
  assert.equal(await visible(page, "#matrices tbody tr"), 0);
  assert.match(await page.textContent("#failures"), /No failure fits/);
  await page.click("button[type=reset]");
  await page.waitForFunction(() => document.querySelectorAll("#matrices tbody tr").length === 2);
  await page.selectOption("#shown", "bad");
  assert.equal(await visible(page, "#matrices td.good"), 0);
  assert.ok(await visible(page, "#matrices td.bad") > 0);
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
  assert.ok(await visible(page, "svg") > 0, "the page of a failure has pictures");
  await page.close();
  const keys = await open(report);
  for (let n = 0; n < 60; ++n) {
    await keys.keyboard.press("Tab");
    if (await keys.evaluate(() => document.activeElement.matches("a.failure"))) break;
  }
  await keys.keyboard.press("Enter");
  await keys.waitForURL(/failures/);
  await keys.close();
}

/** Pixels that are not nearly the same, as a share of those of the second picture that are not its ground. */
async function difference(page, one, other) {
  const urls = [one, other].map((bytes) => "data:image/png;base64," + bytes.toString("base64"));
  return page.evaluate(async (both) => {
    const [a, b] = await Promise.all(both.map(async (url) => {
      const image = new Image();
      image.src = url;
      await image.decode();
      const canvas = new OffscreenCanvas(600, 1200), pen = canvas.getContext("2d");
      pen.drawImage(image, 0, 0, 600, 1200);
      return pen.getImageData(0, 0, 600, 1200).data;
    }));
    const apart = (x, i, y, j) => [0, 1, 2].some((n) => Math.abs(x[i + n] - y[j + n]) > 40);
    let differ = 0, ink = 0;
    for (let at = 0; at < a.length; at += 4) {
      differ += apart(a, at, b, at);
      ink += apart(b, at, b, 0);
    }
    return differ / ink;
  }, urls);
}

async function screenshots() {
  const kinds = {light: {colorScheme: "light"}, dark: {colorScheme: "dark"},
    phone: {colorScheme: "light", viewport: {width: 360, height: 800}, isMobile: true, hasTouch: true}};
  const grounds = new Set();
  for (const [name, options] of Object.entries(kinds)) {
    const page = await open(sample, options);
    assert.ok(await narrow(page), `${name}: wider than its window`);
    assert.equal(await visible(page, "#charts canvas"), 5, `${name}: charts`);
    assert.equal(await visible(page, "#bins tbody tr"), 3);
    assert.match(await page.textContent("#made"), /runs by mrcnic 1.0, commit 0123456789ab, .*Scenarios: seeds 1-20/);
    assert.match(await page.textContent("#spent"), /70\.00 s in processes; idle 41\.7 % of 120 s .*35\.00 s when/);
    assert.equal(await visible(page, "#spent tbody tr"), 13);
    grounds.add(await page.evaluate(() => getComputedStyle(document.body).backgroundColor));
    const bytes = await page.screenshot({fullPage: true}), file = path.join(figures, `${name}.png`);
    if (task === "write") {
      fs.writeFileSync(file, bytes);
    } else {
      const share = await difference(page, bytes, fs.readFileSync(file));
      console.log(`${name}: ${(100 * share).toFixed(1)} % of what is drawn differ`);
      assert.ok(share < 0.3, `${name} is not as docs/figures/report/${name}.png shows it`);
      await page.evaluate(() => document.getElementById("matrix").remove());
      const less = await page.screenshot({fullPage: true});
      assert.ok(await difference(page, less, fs.readFileSync(file)) > 0.3, "the comparison does not see what is missing");
    }
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
