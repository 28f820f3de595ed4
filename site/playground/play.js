// The playground: a scenario, its controls and its text, and the plots of its run.
//
//   <div class="trammel-playground" data-preset="bufferbloat"></div>
//
// `data-variant` and `data-discipline` are set in the preset's text; `data-scenario` is a text of its own. With `data-later` the engine is
// loaded when a reader asks for it.
//
// The text is the truth: a control changes the text, and the text is what runs.

import { Controls, element } from "./controls.js";
import { left, warning } from "./cost.js";
import { Engine, breathe } from "./engine.js";
import { told } from "./faults.js";
import { Plots, plotKeys } from "./plots.js";
import { presetCalled, presets } from "./presets.js";
import { Series, plotsOf, toCsv } from "./series.js";
import { fromFragment, toFragment } from "./share.js";
import { toSvg } from "./svg.js";
import { Sweep } from "./sweep.js";
import { appTable, flowTable } from "./tables.js";

const BASE = new URL("./", import.meta.url);
// What a piece of a run may take before the page breathes, ms.
const BUDGET = 25;
// What a run that nobody wants any more may take until it is ended, ms.
const PATIENCE = 100;
// What a run may take that somebody stops who wants what there is, ms.
const LONG_PATIENCE = 2000;
// Speeds in simulated seconds a second; 0 is as fast as it goes.
const SPEEDS = [[0, "at once"], [10, "10 × real time"], [1, "real time"], [0.1, "a tenth"]];

const button = (text, onclick, more = {}) => element("button", { type: "button", onclick, ...more }, text);
const save = (name, text, type) => {
  const link = element("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
};

export class Playground {
  constructor(box) {
    this.box = box;
    this.turn = 0; // a later one ends what an earlier one does
    this.text = "";
    this.changes = [];
    this.speed = 0;
    this.#build();
    this.menu.value = presetCalled(box.dataset.preset) ? box.dataset.preset : presets[0].name;
    this.question.textContent = "Loading the simulator, 1.3 MB …";
  }

  async start() {
    try {
      this.engine = await Engine.start(BASE, "trammel.wasm");
      this.words = await this.engine.call("words");
    } catch (error) {
      this.#fault(`The engine cannot be started: ${error.message}. It needs a browser with WebAssembly, and the page has to come from a server (scripts/site --serve), not from a file.`);
      return;
    }
    this.controls = new Controls(this.aside, this.words, (changes) => this.#edit(changes));
    addEventListener("hashchange", () => this.#moved());
    if (!(await this.#fromAddress())) await this.#fromPage(this.box.dataset);
  }

  #build() {
    const { box } = this;
    box.classList.add("tp");
    this.menu = element("select", { "aria-label": "Question", onchange: () => this.#preset(this.menu.value) },
      ...presets.map(({ name, title }) => element("option", { value: name }, title)),
      element("option", { value: "", hidden: true }, "your own scenario"));
    this.pause = button("Pause", () => this.#toggle(), { class: "tp-pause" });
    this.stepper = button("Step", () => this.#step(), { title: "one round trip further" });
    const speed = element("select", { "aria-label": "Speed", onchange: () => { this.speed = Number(speed.value); this.#run(); } },
      ...SPEEDS.map(([value, text]) => element("option", { value }, text)));
    const again = button("Run", () => this.#run(), { class: "tp-run" });
    this.stop = button("Stop", () => this.#stop(), { title: "ends the run; what there is of it stays", disabled: true });
    const menu = element("details", { class: "tp-menu" }, element("summary", {}, "Share"),
      element("div", { onclick: () => { menu.open = false; } },
        button("Copy link", () => this.#share()),
        button("Scenario (TOML)", () => save("scenario.toml", this.text, "text/plain")),
        button("Samples (CSV)", () => this.series && save("samples.csv", toCsv(this.series), "text/csv")),
        button("Flows (CSV)", () => this.done && save("flows.csv", this.done.tables.flows || "", "text/csv")),
        button("Plots (SVG)", () => this.series && save("plots.svg", this.#svg(), "image/svg+xml")),
        button("Whole report (HTML)", () => this.#report())));
    const lecture = button("Lecture", () => this.#lecture(), { title: "full screen, in large type", "aria-pressed": "false" });
    this.lectureButton = lecture;
    this.question = element("p", { class: "tp-question" });
    this.reveal = button("Show what happens", () => this.#reveal(), { class: "tp-reveal", hidden: true });
    this.tell = element("p", { class: "tp-tell" });
    this.answer = element("p", { class: "tp-answer", role: "status" });
    this.notes = element("ul", { class: "tp-notes" });
    this.progress = element("span", { class: "tp-progress", role: "status" });
    this.fault = element("pre", { class: "tp-fault", role: "alert", hidden: true });
    this.cost = element("p", { class: "tp-cost", role: "note", hidden: true });
    this.aside = element("form", { class: "tp-aside", "aria-label": "Controls", onsubmit: (event) => event.preventDefault() });
    this.area = element("textarea", { spellcheck: false, rows: 16, "aria-label": "The scenario as TOML", oninput: () => this.#typed() });
    this.said = element("div", { class: "tp-said", "aria-live": "polite" });
    const shown = element("div", { class: "tp-choice", role: "group", "aria-label": "Plots" });
    this.boxes = plotKeys.map(({ key, title }) => {
      const check = element("input", { type: "checkbox", value: key, onchange: () => this.plots.choose(this.#keys()) });
      shown.append(element("label", {}, check, title));
      return check;
    });
    const canvas = element("div", { class: "tp-plots" });
    const swept = element("div", { class: "tp-sweep" });
    this.tables = element("div", { class: "tp-tables", tabIndex: 0, role: "region", "aria-label": "Flows" });
    box.replaceChildren(
      element("div", { class: "tp-bar" },
        element("div", { class: "tp-group" }, this.menu, again, this.stop),
        element("div", { class: "tp-group" }, this.pause, this.stepper, speed, menu, lecture),
        this.progress),
      element("div", { class: "tp-body" },
        element("div", { class: "tp-side" }, this.aside,
          element("details", { class: "tp-text", open: innerWidth > 900 }, element("summary", {}, "Scenario (TOML)"), this.area)),
        this.main = element("div", { class: "tp-main" }, this.question, this.reveal, this.fault, this.cost, this.answer, this.tell, shown, canvas, swept, this.tables, this.notes)),
      this.said,
    );
    Colours.within(box);
    this.plots = new Plots(canvas, []);
    this.sweep = new Sweep(swept);
    document.addEventListener("fullscreenchange", () => { if (!document.fullscreenElement) this.#leave(); });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && box.classList.contains("lecture")) this.#leave();
      if (!box.classList.contains("lecture") || /INPUT|SELECT|TEXTAREA|BUTTON|SUMMARY/.test(event.target.tagName)) return;
      if (event.key === " ") { this.#toggle(); event.preventDefault(); }
      if (event.key === ".") this.#step();
    });
  }

  #keys() { return this.boxes.filter((check) => check.checked).map((check) => check.value); }

  #show(keys) {
    for (const check of this.boxes) check.checked = keys.includes(check.value);
    this.plots.choose(keys);
  }

  // Another address. Back from a link it is again what the page says; other fragments are places of
  // the page.
  async #moved() {
    const wasLinked = this.isLinked;
    if (!(await this.#fromAddress()) && wasLinked && !location.hash) await this.#fromPage(this.box.dataset);
  }

  async #fromAddress() {
    this.isLinked = location.hash.startsWith("#toml=");
    if (!this.isLinked) return false;
    try {
      const text = await fromFragment(location.hash);
      if (text === null) throw new Error("it is no scenario");
      this.#take(text, null);
    } catch (error) {
      this.#preset(presets[0].name);
      this.notice = `The scenario in the address cannot be read: ${error.message}.`;
    }
    return true;
  }

  // What the page says.
  async #fromPage(data) {
    if (data.scenario) { this.#take(data.scenario, null); return; }
    const preset = presetCalled(data.preset) || presets[0];
    const changes = [];
    if (data.variant) changes.push(["flow.0.variant", data.variant]);
    if (data.discipline) changes.push(["path.queue", { discipline: data.discipline, limit: "2 bdp" }]);
    if (!changes.length) { this.#take(preset.toml, preset); return; }
    const titled = [...changes, ["title", `${preset.title}: ${data.variant || data.discipline}`]];
    const { text, error } = await this.engine.call("edit", preset.toml, titled);
    if (error) this.#fault(error); else this.#take(text, null, preset.plots);
  }

  #preset(name) {
    const preset = presetCalled(name) || presets[0];
    this.#take(preset.toml, preset);
  }

  // Begins with another scenario.
  #take(text, preset, plots = ["window", "throughput", "rtt"]) {
    this.preset = preset;
    this.notice = "";
    this.menu.value = preset ? preset.name : "";
    this.plots.whole();
    this.#show(preset ? preset.plots : plots);
    this.#write(text);
    this.isHidden = Boolean(preset) && this.box.classList.contains("lecture");
    this.#run();
  }

  #write(text) {
    this.text = text;
    if (this.area.value !== text) this.area.value = text;
  }

  #typed() {
    this.text = this.area.value;
    this.preset = null;
    this.notice = "";
    this.menu.value = "";
    clearTimeout(this.later);
    this.later = setTimeout(() => this.#run(), 250);
  }

  // Changes of controls are made one after the other: each is of the text that the one before left.
  // A slider that moves on leaves behind what is not made yet.
  #edit(changes) {
    this.began = performance.now();
    ++this.turn;
    const last = this.changes[this.changes.length - 1];
    if (changes.length === 1 && last?.[0] === changes[0][0]) last[1] = changes[0][1];
    else this.changes.push(...changes);
    this.editing ??= this.#apply().catch((error) => this.#fault(error.message)).finally(() => { this.editing = null; });
  }

  async #apply() {
    while (this.changes.length) {
      await this.engine.free(PATIENCE);
      const changes = this.changes.splice(0);
      const { text, error } = await this.engine.call("edit", this.text, changes);
      if (error) { this.#fault(error); return; }
      this.#write(text);
    }
    this.#run();
  }

  // Whether what is below the text is of it: not while a run goes on, nor of a text with a fault.
  #state(state) {
    this.box.dataset.state = state;
    this.main.classList.toggle("tp-stale", state !== "done" && state !== "stopped");
    this.main.classList.toggle("tp-wrong", state === "fault");
    this.stop.disabled = state !== "running";
    this.cost.hidden = state !== "running" || !this.cost.textContent;
    if (state !== "fault") return;
    this.progress.textContent = "";
    this.pause.disabled = this.stepper.disabled = true;
  }

  #fault(text) {
    this.fault.replaceChildren(...told(text));
    this.fault.hidden = !text;
  }

  #toggle() {
    if (this.isHidden) { this.#reveal(); return; }
    if (!this.#goesOn()) return;
    if (this.isPaused) this.#go(this.turn); else { this.isPaused = true; this.#paint(); }
  }

  // Whether a run is there that is not at its end.
  #goesOn() { return this.box.dataset.state === "running" && !this.isStopped && this.at < this.about.duration_s; }

  // Ends what goes on. What there is stays: the plots, and of a sweep the points that are made.
  async #stop() {
    const turn = ++this.turn;
    this.stop.disabled = true;
    this.isStopped = true;
    const where = this.at < this.about.duration_s ? `${this.at.toFixed(2)} of ${this.about.duration_s} s` : this.progress.textContent.replace(/,.*/, "");
    await this.engine.free(LONG_PATIENCE);
    const hasRuns = await this.engine.call("stop");
    const done = hasRuns ? await this.engine.call("finish") : null;
    if (turn !== this.turn) return;
    // To the engine a run that nobody waited for is one that failed.
    this.#tell(done && { ...done, error: undefined, answer: done.answer.replace(" runs failed.", " runs were not made.") });
    this.tell.textContent = "";
    this.#state("stopped");
    this.#paint();
    this.progress.textContent = `stopped at ${where}`;
  }

  async #step() {
    if (!this.#goesOn()) return;
    [this.isPaused, this.isHidden, this.reveal.hidden] = [true, false, true];
    const turn = this.turn;
    const stride = (this.about.controls.rtt_ms || 10) / 1000;
    await this.#advance(Math.min(this.about.duration_s, this.at + stride), turn);
    this.#paint();
    if (this.at >= this.about.duration_s) this.#go(turn);
  }

  async #advance(until, turn) {
    const { samples, at } = await this.engine.call("step", until, this.at, this.about.duration_s, BUDGET);
    if (turn !== this.turn) return false;
    this.series.push(samples);
    this.at = Math.max(this.at, at);
    return true;
  }

  // Runs the text from its beginning; a run that goes on ends.
  async #run() {
    if (!this.engine) return;
    const turn = ++this.turn;
    this.began ??= performance.now();
    try {
      await this.engine.free(PATIENCE);
      if (turn !== this.turn) return;
      const about = await this.engine.call("open", this.text);
      if (turn !== this.turn) return;
      if (about.error) { this.#fault(about.error); this.began = null; this.#state("fault"); return; }
      this.#fault(this.notice);
      this.cost.textContent = warning(about);
      this.#state("running");
      this.about = about;
      this.controls.show(about.controls, about.swept);
      this.series = new Series(about);
      [this.at, this.done, this.isPaused, this.isStopped, this.spent] = [0, null, false, false, 0];
      const preset = this.preset;
      this.question.textContent = preset ? preset.ask : about.question || about.title;
      this.reveal.hidden = !this.isHidden;
      this.tell.textContent = "";
      if (this.isHidden) { this.plots.clear(); this.#tell(null); this.isPaused = true; this.#paint(); return; }
      await this.#go(turn);
    } catch (error) {
      if (turn === this.turn) { this.#fault(error.message); this.#state("fault"); }
    }
  }

  // Goes on until the end, a pause or another run.
  async #go(turn) {
    this.isPaused = false;
    // Who pauses and goes on at once has one of these loops, not two.
    const mine = this.going = {};
    const isWanted = () => turn === this.turn && this.going === mine && !this.isPaused;
    const end = this.about.duration_s;
    let clock = performance.now();
    while (this.at < end && isWanted()) {
      let until = end;
      if (this.speed > 0) {
        await breathe();
        if (!isWanted()) break;
        const now = performance.now();
        until = Math.min(end, this.at + Math.max(end / 2000, this.speed * (now - clock) / 1000));
        clock = now;
      }
      const begin = performance.now();
      if (!(await this.#advance(until, turn))) return;
      if (this.at < end) this.#paint();
      if (this.speed === 0 && this.at < end) await breathe();
      this.spent += performance.now() - begin;
    }
    this.#paint();
    if (turn !== this.turn || this.going !== mine || this.at < end) return;
    if (this.began) { this.box.dataset.ms = Math.round(performance.now() - this.began); this.began = null; }
    await this.#rest(turn);
  }

  // The other runs of the scenario, and what comes of all of them.
  async #rest(turn) {
    const { runs } = this.about;
    const begin = performance.now();
    for (let waiting = runs; waiting > 0 && turn === this.turn;) {
      waiting = await this.engine.call("next", BUDGET);
      if (turn !== this.turn) return;
      const made = runs - waiting;
      // The first of them was made before.
      this.progress.textContent = waiting ? `${made} of ${runs} runs${left(performance.now() - begin, (made - 1) / (runs - 1))}` : "";
    }
    if (turn !== this.turn) return;
    const done = await this.engine.call("finish");
    if (turn !== this.turn) return;
    this.#tell(done);
    this.tell.textContent = this.preset && this.text === this.preset.toml ? this.preset.tell : "";
    this.#state("done");
    this.#paint();
  }

  // What came of all runs; nothing where nothing did.
  #tell(done) {
    this.done = done;
    if (done?.error) this.#fault(done.error);
    const isSilent = this.series.flows.length > 0 && this.series.flows.every((flow) => !(flow.delivered[flow.delivered.length - 1] > 0));
    this.answer.textContent = !done ? "" : (done.answer || (isSilent ? `Nothing was delivered in ${this.about.duration_s} s.` : "")).replaceAll("`", "").replaceAll(" %", "\u00a0%");
    this.notes.replaceChildren(...(done?.notes || []).slice(0, 8).map((note) => element("li", {}, ...told(note.replaceAll("`", "")))));
    const tables = done?.tables || {};
    if (this.about.points > 1 && done) this.sweep.draw(tables); else this.sweep.clear();
    // What the flows got, beside what the models say, and what the users of applications got.
    const shown = [flowTable(tables.flows || "", this.about), appTable(tables.apps || "")];
    this.tables.replaceChildren(...shown.filter(Boolean));
  }

  #paint() {
    if (!this.about) return;
    const isOver = this.at >= this.about.duration_s;
    this.pause.textContent = this.isPaused && !isOver ? "Go on" : "Pause";
    this.pause.disabled = isOver || this.isStopped;
    this.stepper.disabled = isOver || this.isStopped;
    if (!isOver) {
      const { duration_s: end, runs } = this.about;
      const later = this.speed > 0 || this.isPaused ? "" : left(this.spent, this.at / end / runs);
      this.progress.textContent = `${this.at.toFixed(2)} of ${end} s${later}`;
      // Who waits so long shall not read of the run before.
      if (later && this.answer.textContent) this.#tell(null);
    }
    else if (this.done) this.progress.textContent = "";
    if (!this.isHidden) this.plots.draw(this.series);
  }

  async #share() {
    const fragment = await toFragment(this.text);
    history.replaceState(null, "", fragment);
    const link = location.href;
    try {
      await navigator.clipboard.writeText(link);
      this.said.textContent = "The link is copied.";
    } catch {
      this.said.textContent = "The link is in the address bar.";
    }
  }

  #svg() {
    const chosen = this.#keys();
    return toSvg(plotsOf(this.series).filter((plot) => chosen.includes(plot.key)), this.about.title || "Trammel");
  }

  async #report() {
    if (this.done) save("report.html", await this.engine.call("report"), "text/html");
  }

  // A lecture: what will happen is asked first.
  async #lecture() {
    if (this.box.classList.contains("lecture")) { this.#leave(); return; }
    this.box.classList.add("lecture");
    this.lectureButton.setAttribute("aria-pressed", "true");
    this.isHidden = true;
    this.#run();
    try { await this.box.requestFullscreen(); } catch { /* large type does without */ }
  }

  #leave() {
    if (!this.box.classList.contains("lecture")) return;
    this.box.classList.remove("lecture");
    this.lectureButton.setAttribute("aria-pressed", "false");
    if (document.fullscreenElement) document.exitFullscreen();
    if (this.isHidden) this.#reveal(); else this.#paint();
  }

  #reveal() {
    this.isHidden = false;
    this.reveal.hidden = true;
    if (this.#goesOn()) this.#go(this.turn); else this.#paint();
  }
}

for (const box of document.querySelectorAll(".trammel-playground")) {
  const begin = () => new Playground(box).start();
  // A link to this page with a scenario is a question asked.
  if (box.dataset.later === undefined || location.hash.startsWith("#toml=")) begin();
  else {
    box.classList.add("tp", "tp-later");
    const run = () => { box.classList.remove("tp-later"); begin(); };
    box.replaceChildren(button("Run it here", run, { class: "tp-run", title: "loads the simulator, about 1.3 MB" }));
  }
}
