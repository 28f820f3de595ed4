// The worker: holds the module and calls it. A trap leaves the module in an unknown state, so a new
// instance is made after one.
"use strict";

let module = null;
let wasm = null;

const instantiate = async () => {
  wasm = (await WebAssembly.instantiate(module, {})).exports;
};

const give = (text) => {
  const bytes = new TextEncoder().encode(text);
  const at = wasm.trammel_input(bytes.length);
  new Uint8Array(wasm.memory.buffer, at, bytes.length).set(bytes);
};
// A copy: the memory may move.
const taken = (length) => wasm.memory.buffer.slice(wasm.trammel_output(), wasm.trammel_output() + length);
const text = (length) => new TextDecoder().decode(taken(length));
const json = (length) => JSON.parse(text(length));

const functions = {
  async load(url) {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`the engine cannot be loaded: ${response.status}`);
    module = await WebAssembly.compile(await response.arrayBuffer());
    await instantiate();
  },
  words: () => json(wasm.trammel_words()),
  open: (scenario) => { give(scenario); return json(wasm.trammel_open()); },
  // Runs until an instant, for about so many milliseconds of a clock at most. Gives the samples, and
  // how far the run has come.
  step(until, from, duration, budget) {
    const begin = performance.now();
    const parts = [];
    let [at, stride, last] = [from, duration / 2000, begin];
    do {
      at = Math.min(at + stride, until);
      const length = wasm.trammel_step(at);
      if (length === 0 && at >= until) break;
      parts.push(new Float64Array(taken(length)));
      // Short pieces first: nobody knows yet what a piece costs.
      const now = performance.now();
      if (now - last < budget / 8) stride *= 2;
      last = now;
    } while (at < until && performance.now() - begin < budget);
    const all = new Float64Array(parts.reduce((sum, part) => sum + part.length, 0));
    let place = 0;
    for (const part of parts) { all.set(part, place); place += part.length; }
    return { samples: all, at };
  },
  // Goes on with the runs that are left, for about so many milliseconds; gives how many are not made.
  next(budget) {
    const begin = performance.now();
    let left = 1;
    while (left > 0 && performance.now() - begin < budget) left = wasm.trammel_next();
    return left;
  },
  stop: () => wasm.trammel_stop(),
  finish: () => json(wasm.trammel_finish()),
  report: () => text(wasm.trammel_report()),
  configuration: (request) => { give(JSON.stringify(request)); return json(wasm.trammel_configuration()); },
  edit(scenario, changes) {
    give(JSON.stringify({ text: scenario, changes }));
    return json(wasm.trammel_edit());
  },
};

self.onmessage = async ({ data: { id, name, args } }) => {
  try {
    const result = await functions[name](...args);
    const moved = result && result.samples ? [result.samples.buffer] : [];
    self.postMessage({ id, result }, moved);
  } catch (error) {
    const isTrap = error instanceof WebAssembly.RuntimeError;
    let why = error.message;
    if (isTrap) {
      why = `a fault of Trammel: ${text(wasm.trammel_fault()) || error.message}. Please report it with this text.`;
      await instantiate();
    }
    self.postMessage({ id, error: why });
  }
};
