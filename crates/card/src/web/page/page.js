// Reads the state each second and has each part of the page show it.

import { at, write } from "./dom.js";
import { showDiagram, showPorts } from "./diagram.js";
import { showTables } from "./tables.js";
import { showOccupancy } from "./occupancy.js";
import { showEvents } from "./events.js";
import { showControl } from "./topology.js";

/// Time between two readings, in ms, and how long one may take.
const INTERVAL = 1000;
const PATIENCE = 5000;

// The token comes in the address, which is cleaned at once, and stays with this tab.
let token = null;
try {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    sessionStorage.setItem("token", given);
    history.replaceState(null, "", location.pathname);
  }
  token = given || sessionStorage.getItem("token");
} catch { /* A browser that keeps nothing: the page reads only. */ }
export const mayEdit = () => token !== null;

/// Sends an edit; unless it is quiet, says so and reads the state anew. Gives what is wrong with it,
/// or null.
export async function edit(path, body, isQuiet = false) {
  let error = null;
  try {
    const answer = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Trammel-Token": token ?? "" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(PATIENCE),
    });
    const said = await answer.json();
    if (!said.ok) error = said.error;
    if (said.reason === "token") forget();
  } catch {
    error = "the card does not answer";
  }
  if (error || !isQuiet) say(error ? `Not done: ${error}` : "Done", error !== null);
  if (!isQuiet) await read();
  return error;
}

function forget() {
  token = null;
  try { sessionStorage.removeItem("token"); } catch { /* Nothing was kept. */ }
  showRights();
}

function showRights() {
  const rights = at("rights");
  write(rights, mayEdit() ? "edits allowed" : "read only");
  rights.title = mayEdit() ? "" : "Open the address that the card printed: it has the token.";
  rights.classList.toggle("good", mayEdit());
  document.querySelectorAll(".edit").forEach((one) => { one.hidden = !mayEdit(); });
}

let quiet = 0;
export function say(text, isBad) {
  const said = at("said");
  clearTimeout(quiet);
  write(said, text);
  said.classList.toggle("bad", isBad);
  said.hidden = false;
  if (!isBad) quiet = setTimeout(() => { said.hidden = true; }, 4000);
}

/// Rates between two states, by a path of keys; null where there is none yet.
class Rates {
  constructor(before, now) {
    const began = before && now.time_ms > before.time_ms;
    this.seconds = began ? (now.time_ms - before.time_ms) / 1000 : null;
    this.before = before;
  }
  /// The rate of a counter of 32 bits in units a second; `of` finds it in a state.
  of(now, of) {
    if (this.seconds === null) return null;
    let past;
    try { past = of(this.before); } catch { return null; }
    if (past === undefined) return null;
    const more = (of(now) - past) >>> 0;
    // A counter that was set to 0 has not counted to the end and around.
    return more > 0x7fffffff ? null : more / this.seconds;
  }
}

let before = null;
let answered = null;
let reading = null;

function read() {
  reading ??= readOnce().finally(() => { reading = null; });
  return reading;
}

async function readOnce() {
  let now;
  try {
    const answer = await fetch("/api/state", { signal: AbortSignal.timeout(PATIENCE) });
    if (!answer.ok) throw new Error(`the card says ${answer.status}`);
    now = await answer.json();
  } catch (fault) {
    lost(fault);
    return;
  }
  // One second of counting or more; a state that came twice, or after an edit, is no interval.
  const isAnother = before && now.time_ms < before.time_ms;
  const rates = new Rates(isAnother ? null : before, now);
  answered = Date.now();
  document.body.classList.remove("gone");
  at("gone").hidden = true;
  write(at("alive"), "live");
  at("alive").className = "badge good";
  show(now, rates);
  if (!before || isAnother || now.time_ms - before.time_ms >= 500) before = now;
}

function lost(fault) {
  document.body.classList.add("gone");
  const since = answered ? `since ${new Date(answered).toLocaleTimeString()}` : "yet";
  const why = fault.message.startsWith("the card says") ? ` (${fault.message})` : "";
  write(at("gone"), `The card is gone: no answer ${since}${why}. What is below is old.`);
  at("gone").hidden = false;
  write(at("alive"), "gone");
  at("alive").className = "badge bad";
}

function show(now, rates) {
  document.title = `${now.design.title}: NetFPGA card`;
  write(at("title"), now.design.title);
  const { summary } = now.design;
  write(at("summary"), summary.charAt(0).toUpperCase() + summary.slice(1));
  showDiagram(now, rates);
  showOccupancy(now);
  showEvents(now);
  showTables(now);
  showPorts(now);
  showControl(now);
  showRights();
}

at("zero").addEventListener("click", () => edit("/api/counters/clear", {}));
showRights();
async function always() {
  if (!document.hidden) await read();
  setTimeout(always, INTERVAL);
}
always();
document.addEventListener("visibilitychange", () => { if (!document.hidden) read(); });
