// SPDX-License-Identifier: Apache-2.0
// The pages as a site of VitePress. tools/docs_site.py lays the pages out, and writes what this reads: site.json.
import {readFileSync} from "node:fs";
import {defineConfig} from "vitepress";

const site = JSON.parse(readFileSync(new URL("site.json", import.meta.url)));

/** Anchors of headings as GitHub makes them, which tools/docs.py checks. */
const slugify = (heading) =>
  heading.trim().toLowerCase().replace(/[^\p{L}\p{N}_\- ]/gu, "").replaceAll(" ", "-");

export default defineConfig({
  title: "mrcnic",
  description: "Golden model, RTL, bench and checker of the NIC side of MRC",
  head: [["link", {rel: "icon", href: "data:,"}]],
  outDir: site.out,
  cacheDir: site.cache,
  markdown: {
    // Plain Markdown: angle brackets and braces are text.
    html: false, attrs: {disable: true}, anchor: {slugify}, languageAlias: {systemverilog: "system-verilog"},
    theme: {light: "github-light-high-contrast", dark: "github-dark"},
  },
  themeConfig: {
    nav: site.nav, sidebar: site.sidebar, outline: [2, 3],
    search: {provider: "local", options: {detailedView: false}},
  },
});
