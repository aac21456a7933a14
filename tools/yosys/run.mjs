#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// usage: run.mjs MODULES OUT INPUT... -- YOSYS-ARGUMENTS...
//        run.mjs MODULES --serve
// Runs the Yosys of MODULES/@yowasp/yosys, which sees only an in-memory file system: the INPUT
// files are put there under the names given here, files that Yosys adds or changes are written
// below the folder OUT. Exits with Yosys' code.
// --serve: standard input has a run per line, as JSON {folder, out, inputs, arguments} with inputs
// below folder; each is answered by a line {code, log, megabytes}. The first run of a process takes
// seconds to compile Yosys, the later ones do not.
import fs from 'node:fs';
import {registerHooks} from 'node:module';
import path from 'node:path';
import readline from 'node:readline';

const [modules, out, ...rest] = process.argv.slice(2);

// As shipped, every write copies the whole file, which makes large files (a netlist on its way to
// ABC) take minutes: double the room instead. An unknown version is left as it is.
const slowWrite = `const newData = new Uint8Array(Math.max(this.file.data.length, offset + contents.length));
    newData.set(this.file.data);
    newData.subarray(offset).set(contents);
    this.file.data = newData;`;
const quickWrite = `const end = Math.max(this.file.data.length, offset + contents.length);
    if (this.file.room?.buffer !== this.file.data.buffer || this.file.room.length < end) {
      this.file.room = new Uint8Array(2 * end);
      this.file.room.set(this.file.data);
    }
    this.file.data = this.file.room.subarray(0, end);
    this.file.data.set(contents, offset);`;
registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (url.endsWith('/@yowasp/yosys/gen/bundle.js')) {
      loaded.source = loaded.source.toString().replace(slowWrite, () => quickWrite);
    }
    return loaded;
  },
});
const yosys = await import(path.resolve(modules, '@yowasp/yosys/gen/bundle.js'));

/// Runs Yosys once; returns its code. `print` gets what it says, as bytes.
async function run({folder, out, inputs, args}, print) {
  const tree = {};
  const given = new Map();
  for (const input of inputs) {
    const steps = input.split('/').filter(step => step && step !== '.');
    const name = steps.pop();
    let at = tree;
    for (const step of steps) at = at[step] ??= {};
    at[name] = new Uint8Array(fs.readFileSync(path.join(folder, input)));
    given.set([...steps, name].join('/'), at[name]);
  }
  const options = {stdout: print(1), stderr: print(2), decodeASCII: false, fetchProgress: () => {}};
  let code = 0;
  let result;
  try {
    result = await yosys.commands.yosys(args, tree, options);
  } catch (error) {
    if (!(error instanceof yosys.Exit)) throw error;
    code = error.code;
    result = error.files;
  }
  const save = (files, below) => {
    for (const [name, value] of Object.entries(files ?? {})) {
      const file = below ? `${below}/${name}` : name;
      if (!(value instanceof Uint8Array) && typeof value !== 'string') {
        save(value, file);
        continue;
      }
      const bytes = Buffer.from(value);
      if (given.has(file) && bytes.equals(given.get(file))) continue;
      const target = path.join(out, file);
      fs.mkdirSync(path.dirname(target), {recursive: true});
      fs.writeFileSync(target, bytes);
    }
  };
  save(result, '');
  return code;
}

const pause = new Int32Array(new SharedArrayBuffer(4));
const write = fd => bytes => {
  for (let done = 0; bytes && done < bytes.length;) {
    try {
      done += fs.writeSync(fd, bytes, done);
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
      Atomics.wait(pause, 0, 0, 1); // the reader of this pipe is slow
    }
  }
};

if (out === '--serve') {
  for await (const line of readline.createInterface({input: process.stdin})) {
    const {arguments: args, ...request} = JSON.parse(line);
    const said = [];
    const print = () => bytes => { if (bytes) said.push(Buffer.from(bytes)); };
    let code = 1;
    try {
      code = await run({...request, args}, print);
    } catch (error) {
      said.push(Buffer.from(`error: ${error}\n`));
    }
    const answer = {code, log: Buffer.concat(said).toString(), megabytes: process.memoryUsage().rss >> 20};
    write(1)(Buffer.from(JSON.stringify(answer) + '\n'));
  }
} else {
  // Node may hang for ever when it waits for its own threads (nodejs/node#54918, #64560): a timer keeps its loop from
  // draining them, and the process ends as another program instead of shutting down.
  setInterval(() => {}, 1000);
  const split = rest.indexOf('--');
  const code = await run({folder: '.', out, inputs: rest.slice(0, split), args: rest.slice(split + 1)}, write);
  process.execve('/bin/sh', ['sh', '-c', `exit ${code}`], {});
}
