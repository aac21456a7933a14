#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// usage: lint.mjs MODULES TERMS.yml WORDS PAGE.md [PAGE.md ...]
// Reads pages with the textlint of MODULES: a sentence of more than WORDS words, and a word of TERMS.yml. Prints JSON: of
// each page its findings, as [line, sentence].
import fs from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';

const [modules, terms, words, ...pages] = process.argv.slice(2);
const require = createRequire(path.join(path.resolve(modules), 'x.js'));
const {TextlintKernel} = require('@textlint/kernel');
const {split} = require('sentence-splitter');
const {StringSource} = require('textlint-util-to-string');
const ofModule = (name) => require(name).default ?? require(name);

// sentence-splitter takes the point behind a number for a decimal one.
function sentences(text) {
  return split(text).filter(({type}) => type === 'Sentence').flatMap(({raw, range}) => {
    let at = range[0];
    return raw.split(/(?<=\d[.!?]\s+)(?=\p{Lu})/u).map((part) => ({raw: part, from: at, to: at += part.length}));
  });
}

// A name in backquotes is one word of a sentence, a link's address none; nor is what has no letter and no digit.
function long(context) {
  const {Syntax, report, RuleError, locator, getSource} = context;
  const asOne = ({node, maskValue}) => node.type === Syntax.Code ? maskValue('C') : undefined;
  function look(node) {
    const source = new StringSource(node, {replacer: asOne});
    for (const {raw, from, to} of sentences(source.toString())) {
      const count = raw.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
      if (count <= words) continue;
      const [begin, end] = [from, to].map((index) => source.originalIndexFromIndex(index));
      const shown = getSource(node).slice(begin ?? 0, end).split(/\s+/).slice(0, 8).join(' ');
      report(node, new RuleError(`a sentence of ${count} words, ${words} are the limit: ${shown} ...`,
                                 {padding: locator.at(begin ?? 0)}));
    }
  }
  return {[Syntax.Paragraph]: look, [Syntax.TableCell]: look};
}

// Of a table: a cell with nothing but names of tests in quotes. Their words are the tests' own.
function names(line) {
  if (!line.startsWith('|')) return [];
  return [...line.matchAll(/(?<=\|)\s*"[^"|]*"(?:[,;] "[^"|]*")*\s*(?=\|)/g)].map(({index, 0: cell}) => [index, index + cell.length]);
}

const kernel = new TextlintKernel();
const plugins = [{pluginId: 'markdown', plugin: ofModule('@textlint/textlint-plugin-markdown')}];
const rules = [
  {ruleId: 'long', rule: long},
  {ruleId: 'prh', rule: ofModule('textlint-rule-prh'),
   options: {rulePaths: [path.resolve(terms)], checkLink: true, checkEmphasis: true}},
];
const found = {};
for (const page of pages) {
  const text = fs.readFileSync(page, 'utf8');
  const lines = text.split('\n');
  const {messages} = await kernel.lintText(text, {ext: '.md', filePath: page, plugins, rules});
  const prose = messages.filter(({loc: {start}}) => !names(lines[start.line - 1])
      .some(([from, to]) => from < start.column && start.column <= to));
  found[page] = prose.map(({loc, message}) => [loc.start.line, message.replaceAll(/\s+/g, ' ')]);
}
console.log(JSON.stringify(found));
