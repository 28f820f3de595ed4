// Runs scenarios in WebAssembly and compares their tables and answers with those of the native code, byte for byte.
//
//   node random.mjs trammel_wasm.wasm SCENARIOS.jsonl
//
// A line has `seed`, `text`, and what the native code made of it: `tables`, `answer`, or `error`.

import { readFileSync } from "node:fs";

const [module, list] = process.argv.slice(2);
const { instance } = await WebAssembly.instantiate(readFileSync(module), {});
const { memory, trammel_input, trammel_open, trammel_step, trammel_finish, trammel_output } = instance.exports;
const answer = (length) => JSON.parse(new TextDecoder().decode(new Uint8Array(memory.buffer, trammel_output(), length)));

let equal = 0;
const faults = [];
for (const line of readFileSync(list, "utf8").trim().split("\n")) {
    const { seed, text, native } = JSON.parse(line);
    const bytes = new TextEncoder().encode(text);
    const input = trammel_input(bytes.length);
    new Uint8Array(memory.buffer, input, bytes.length).set(bytes);
    const opened = answer(trammel_open());
    if (opened.error !== undefined) {
        faults.push(`seed ${seed}: ${opened.error}`);
        continue;
    }
    // A reader may pause anywhere.
    trammel_step(opened.duration_s * 0.37);
    const { tables, answer: said, error } = answer(trammel_finish());
    const own = JSON.stringify([tables, said, error]);
    const theirs = JSON.stringify([native.tables, native.answer, native.error]);
    if (own === theirs) {
        equal += 1;
        continue;
    }
    for (const name of new Set([...Object.keys(tables), ...Object.keys(native.tables)])) {
        const [ours, other] = [tables[name] || "", native.tables[name] || ""].map((table) => table.split("\n"));
        const at = other.findIndex((row, i) => row !== ours[i]);
        if (at >= 0) faults.push(`seed ${seed}, ${name}:${at + 1}: native ${other[at]}; WebAssembly ${ours[at]}`);
    }
    if (said !== native.answer) faults.push(`seed ${seed}: native “${native.answer}”; WebAssembly “${said}”`);
    if (error !== native.error) faults.push(`seed ${seed}: native ${native.error}; WebAssembly ${error}`);
}
for (const fault of faults.slice(0, 20)) console.error(fault);
console.log(`${equal} scenarios are equal`);
process.exit(faults.length === 0 ? 0 : 1);
