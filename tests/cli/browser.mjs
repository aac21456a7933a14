// SPDX-License-Identifier: Apache-2.0
// Pages in headless Chromium, without a network, and their screenshots: what the tests of reports share.
import assert from "node:assert";
import fs from "node:fs";
import path from "node:path";
import {createRequire} from "node:module";

/** What errors, warnings and requests of all pages said. */
export const complaints = [];

export async function launch(playwright, executablePath) {
  const {chromium} = createRequire(import.meta.url)(playwright);
  const browser = await chromium.launch({executablePath, args: process.getuid() === 0 ? ["--no-sandbox"] : []});
  const open = async (folder, options = {}) => {
    const context = await browser.newContext({viewport: {width: 1180, height: 900}, offline: true, reducedMotion: "reduce",
      timezoneId: "UTC", ...options});
    const page = await context.newPage();
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("request", (request) => request.url().startsWith("http") && complaints.push(`asks for ${request.url()}`));
    await page.goto("file://" + path.join(folder, "index.html"));
    return page;
  };
  return {browser, open};
}

export const count = (page, words) => page.locator(words).count();
/** No part of the page is wider than the window; what must be has a bar of its own. */
export const narrow = (page) => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);

/** Presses Tab until the element is reached, which `words` choose. */
export async function tabTo(page, words) {
  for (let n = 0; n < 60; ++n) {
    await page.keyboard.press("Tab");
    if (await page.evaluate((chosen) => document.activeElement.matches(chosen), words)) return;
  }
  assert.fail(`Tab does not reach ${words}`);
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

/** A screenshot is written, or held against the one that is there; without `part` it must differ. */
export async function screenshot(page, file, task, part) {
  const bytes = await page.screenshot({fullPage: true}), name = path.basename(file);
  if (task === "write") {
    fs.writeFileSync(file, bytes);
    return;
  }
  const share = await difference(page, bytes, fs.readFileSync(file));
  console.log(`${name}: ${(100 * share).toFixed(1)} % of what is drawn differ`);
  assert.ok(share < 0.3, `the page is not as ${file} shows it`);
  await page.evaluate((id) => { document.getElementById(id).hidden = true; }, part);
  const less = await page.screenshot({fullPage: true});
  assert.ok(await difference(page, less, fs.readFileSync(file)) > 0.3, "the comparison does not see what is missing");
}

/** Grounds and widths that every page is drawn on. */
export const KINDS = {light: {colorScheme: "light"}, dark: {colorScheme: "dark"},
  phone: {colorScheme: "light", viewport: {width: 390, height: 800}, isMobile: true, hasTouch: true}};
export const ground = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
