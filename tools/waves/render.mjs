#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// usage: render.mjs MODULES WAVE.json WAVE.svg [WAVE.json WAVE.svg ...]
// Draws WaveDrom descriptions with the wavedrom of MODULES. Each drawing is on white, so that it can be read on any page.
import fs from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';

const [modules, ...files] = process.argv.slice(2);
const require = createRequire(path.join(path.resolve(modules), 'x.js'));
const wavedrom = require('wavedrom');
const skin = require('wavedrom/skins/default.js');
const onml = require('onml');

// A skin defines some 80 pieces of waves; a drawing keeps those that it uses.
function uses(part, found) {
  if (!Array.isArray(part)) return;
  if (part[0] === 'use') found.add(part[1]['xlink:href'].slice(1));
  part.slice(1).forEach((child) => uses(child, found));
}
function trim(part, used) {
  if (!Array.isArray(part)) return part;
  const unused = (child) => part[0] === 'defs' && Array.isArray(child) && child[1]?.id && !used.has(child[1].id) &&
      child[0] === 'g';
  return part.filter((child) => !unused(child)).map((child) => trim(child, used));
}

for (let i = 0; i + 1 < files.length; i += 2) {
  const drawing = wavedrom.renderAny(0, JSON.parse(fs.readFileSync(files[i], 'utf8')), structuredClone(skin));
  const at = drawing.findIndex((part, n) => n > 1 && Array.isArray(part));
  drawing.splice(at, 0, ['rect', {width: '100%', height: '100%', fill: 'white'}]);
  const used = new Set();
  uses(drawing, used);
  const svg = onml.stringify(trim(drawing, used)).replaceAll('><', '>\n<');
  fs.writeFileSync(files[i + 1], `<!-- SPDX-License-Identifier: Apache-2.0 -->\n${svg}\n`);
}
