// Runs a scenario in WebAssembly and compares its tables with those that the native program wrote, byte for byte.
//
//   node first.mjs trammel_wasm.wasm SCENARIO.toml RUN_FOLDER

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const [module, scenario, folder] = process.argv.slice(2);
// The module imports nothing: it has no way to the machine.
const { instance } = await WebAssembly.instantiate(readFileSync(module), {});
const { memory, trammel_input, trammel_run, trammel_output } = instance.exports;

const text = readFileSync(scenario);
const input = trammel_input(text.length);
new Uint8Array(memory.buffer, input, text.length).set(text);
const length = trammel_run();
const bytes = new Uint8Array(memory.buffer, trammel_output(), length);
const { tables, report, error } = JSON.parse(new TextDecoder().decode(bytes));
if (error !== undefined) {
    console.error(error);
    process.exit(1);
}

const names = readdirSync(folder).filter((name) => name.endsWith(".csv"));
const own = Object.keys(tables).map((name) => `${name}.csv`);
const faults = [];
if (names.length === 0) faults.push(`${folder} has no tables`);
if (names.sort().join() !== own.sort().join()) faults.push(`native: ${names}; WebAssembly: ${own}`);
for (const name of names.filter((name) => own.includes(name))) {
    const native = readFileSync(join(folder, name), "utf8").split("\n");
    const ours = tables[name.replace(/\.csv$/, "")].split("\n");
    const at = native.findIndex((line, at) => line !== ours[at]);
    if (at >= 0) faults.push(`${name}:${at + 1}: native ${native[at]}; WebAssembly ${ours[at]}`);
    if (native.length !== ours.length) faults.push(`${name}: ${native.length} lines, ${ours.length}`);
}
if (!report.includes("<svg")) faults.push("the report has no figure");
for (const fault of faults) console.error(fault);
if (faults.length === 0) console.log(`${names.length} tables are equal: ${names.join(" ")}`);
process.exit(faults.length === 0 ? 0 : 1);
