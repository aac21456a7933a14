// SPDX-License-Identifier: Apache-2.0
// usage: docs_site.mjs PLAYWRIGHT CHROMIUM ADDRESS FIGURES write|read
// The site of the pages in headless Chromium: grounds, phone, search by keyboard, no word to another host.
import assert from "node:assert";
import path from "node:path";
import {createRequire} from "node:module";
import {KINDS, ground, narrow} from "../cli/browser.mjs";

const [playwright, executablePath, address, figures, task] = process.argv.slice(2);
const {chromium} = createRequire(import.meta.url)(playwright);
const browser = await chromium.launch({executablePath, args: process.getuid() === 0 ? ["--no-sandbox"] : []});
const complaints = [], grounds = [];
for (const [kind, at] of [["light", "/"], ["dark", "/guide/fabric.html"], ["phone", "/start/silicon.html"]]) {
  const context = await browser.newContext({viewport: {width: 1180, height: 900}, reducedMotion: "reduce", ...KINDS[kind]});
  const page = await context.newPage();
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => /^(http|ws)/.test(request.url()) && !request.url().startsWith(address + "/")
    && complaints.push(`asks for ${request.url()}`));
  await page.goto(address + at, {waitUntil: "networkidle"});
  assert.match(await page.locator("main em").first().textContent(), /^For .* After it you /s, `${at} says for whom it is`);
  assert.ok(await narrow(page), `${at} is wider than the window (${kind})`);
  grounds.push(await ground(page));
  if (kind === "light") {
    await page.keyboard.press("Control+k");
    const box = page.locator(".search-input");  // it comes when its code has
    await box.waitFor();
    await box.fill("bitmap of received packets");
    await page.locator(".result").first().waitFor();
    if (task === "write") await page.screenshot({path: path.join(figures, "search.png")});
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.pathname !== "/");
    assert.ok(await page.locator("main h1").first().isVisible(), "the first result is a page");
  } else if (task === "write") {
    await page.screenshot({path: path.join(figures, `${kind}.png`)});
  }
  await context.close();
}
await browser.close();
assert.deepStrictEqual(complaints, []);
assert.notStrictEqual(grounds[0], grounds[1], "the dark ground is another one");
