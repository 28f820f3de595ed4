// The controls: sliders and menus that show a scenario, and tell which keys a reader changed.

const element = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "class") made.className = value; else if (key in made && key !== "list" && key !== "for") made[key] = value; else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
};
const digits = (value, count = 3) => String(Number(value.toPrecision(count)));

// A slider's positions are steps of equal ratio; zero has a place of its own where it is allowed.
const STEPS = 200;
const scaleOf = ({ low, high, zero }) => ({
  toPlace: (value) => (zero && value <= 0 ? 0 : Math.round((zero ? 1 : 0) + Math.log(Math.max(low, Math.min(high, value)) / low) / Math.log(high / low) * STEPS)),
  toValue: (place) => (zero && place === 0 ? 0 : Number((low * (high / low) ** ((place - (zero ? 1 : 0)) / STEPS)).toPrecision(2))),
  last: STEPS + (zero ? 1 : 0),
});

const perCent = (value) => (value === 0 ? "none" : `${digits(value * 100, 2)} %`);
// What a slider is of: its key, range, how it is read and said, and its value as scenario files write
// it.
const SLIDERS = [
  { key: "path.rate", of: (c) => c.rate_mbps, label: "Rate", low: 0.5, high: 10_000, say: (v) => (v >= 1e6 ? `${digits(v / 1e6)} Tbit/s` : v >= 1000 ? `${digits(v / 1000)} Gbit/s` : v < 0.1 ? `${digits(v * 1000)} kbit/s` : `${digits(v)} Mbit/s`), write: (v) => `${v} Mbit/s` },
  { key: "path.rtt", of: (c) => c.rtt_ms, label: "Round trip", low: 0.1, high: 1000, say: (v) => (v > 1000 ? `${digits(v / 1000)} s` : `${digits(v)} ms`), write: (v) => `${v} ms` },
  { key: "path.queue.limit", of: (c) => c.queue && (c.queue.unit === "bdp" ? c.queue.limit : null), label: "Buffer", low: 0.1, high: 20, say: (v) => `${digits(v)} BDP`, write: (v) => `${v} bdp` },
  { key: "path.loss", of: (c) => c.loss, label: "Random loss", low: 1e-6, high: 0.2, zero: true, say: perCent, write: (v) => (v === 0 ? null : { model: "bernoulli", probability: v }) },
  { key: "duration", of: (c) => c.duration_s, label: "Duration", low: 0.1, high: 600, say: (v) => `${digits(v)} s`, write: (v) => `${v} s` },
];

// Ways to draw many packets: what a run may cost before the page asks.
export class Controls {
  // `words` has the names of variants and disciplines; `change` hears lists of keys and values.
  constructor(box, words, change) {
    this.words = words;
    this.change = change;
    this.sliders = SLIDERS.map((slider) => this.#slider(slider));
    this.queue = element("select", { onchange: () => change([["path.queue.discipline", this.queue.value]]) },
      ...words.disciplines.map(({ name, summary }) => element("option", { value: name, title: summary }, name)));
    this.flows = element("ol", { class: "tp-flows" });
    this.adder = element("button", { type: "button", class: "tp-add" }, "Add a flow");
    box.append(
      element("fieldset", { class: "tp-path" }, element("legend", {}, "Path"),
        ...this.sliders.slice(0, 3).map(({ row }) => row),
        element("label", { class: "tp-row" }, element("span", {}, "Queue"), this.queue),
        ...this.sliders.slice(3).map(({ row }) => row)),
      element("fieldset", {}, element("legend", {}, "Flows"), this.flows, this.adder),
    );
  }

  #slider(slider) {
    const scale = scaleOf(slider);
    const output = element("output", {});
    const input = element("input", { type: "range", min: 0, max: scale.last, step: 1 });
    const say = (value) => {
      output.textContent = slider.say(value);
      input.setAttribute("aria-valuetext", slider.say(value));
    };
    input.oninput = () => {
      const value = scale.toValue(Number(input.value));
      say(value);
      this.change([[slider.key, slider.write(value)]]);
    };
    input.dataset.key = slider.key;
    const row = element("label", { class: "tp-row" }, element("span", {}, slider.label), input, output);
    const set = (value, isSwept) => {
      row.hidden = !isSwept && (value === null || value === undefined);
      input.disabled = isSwept;
      if (isSwept) { output.textContent = "swept"; return; }
      if (row.hidden) { output.textContent = ""; return; }
      // While a reader drags, the slider is his.
      const place = scale.toPlace(value);
      if (document.activeElement !== input) input.value = place;
      say(value);
    };
    return { row, set, slider };
  }

  // Shows the controls of a scenario. What its sweep sets has no single value to change.
  show(controls, swept) {
    const isSwept = (key) => swept.some((one) => one === key || one.startsWith(`${key}.`));
    for (const { set, slider } of this.sliders) set(slider.of(controls), isSwept(slider.key));
    const hasQueue = Boolean(controls.queue);
    this.queue.parentElement.hidden = !hasQueue;
    if (hasQueue) this.queue.value = controls.queue.discipline;
    this.queue.disabled = isSwept("path.queue.discipline");
    const flows = controls.flows;
    this.adder.hidden = flows.length === 0;
    this.adder.disabled = flows.length >= 12;
    this.adder.onclick = () => this.change([[`flow.${flows.length}.variant`, flows.length % 2 ? "bbr" : "cubic"], [`flow.${flows.length}.name`, null], [`flow.${flows.length}.start`, `${flows.length} s`]]);
    // The same flows keep their elements, and with them the keyboard's focus.
    if (this.flows.children.length !== flows.length) this.flows.replaceChildren(...flows.map((_, i) => this.#flow(i)));
    flows.forEach((flow, i) => this.#fill(this.flows.children[i], flow, flows.length));
  }

  #flow(at) {
    const label = (text) => `${text} of flow ${at + 1}`;
    const variant = element("select", { "aria-label": label("Congestion control"), onchange: () => this.change([[`flow.${at}.variant`, variant.value]]) },
      ...this.words.variants.map(({ name, summary }) => element("option", { value: name, title: summary }, name)));
    const number = (name, about, min, max, step, key, write) => {
      const input = element("input", { type: "number", min, max, step, class: `tp-${name}`, "aria-label": label(about) });
      input.onchange = () => {
        const value = Number(input.value);
        if (input.value === "" || !(value >= min && value <= max)) { input.setAttribute("aria-invalid", "true"); return; }
        input.removeAttribute("aria-invalid");
        this.change([[key, write(value)]]);
      };
      return input;
    };
    const count = number("count", "Number", 1, 1000, 1, `flow.${at}.count`, (v) => (v === 1 ? null : Math.round(v)));
    const start = number("start", "Start in seconds", 0, 600, "any", `flow.${at}.start`, (v) => `${v} s`);
    const remove = element("button", { type: "button", class: "tp-remove", "aria-label": `Remove flow ${at + 1}`, onclick: () => this.change([[`flow.${at}`, null]]) }, "×");
    return element("li", { style: `--tone: var(--c${at % 8})` }, variant, element("span", { class: "tp-unit" }, "×"), count, element("span", { class: "tp-unit" }, "at"), start, element("span", { class: "tp-unit" }, "s"), remove);
  }

  #fill(row, flow, count) {
    const [variant, number, start, remove] = row.querySelectorAll("select, input, button");
    if (flow.variant) {
      if (![...variant.options].some((option) => option.value === flow.variant)) variant.append(element("option", { value: flow.variant }, flow.variant));
      variant.value = flow.variant;
    }
    if (document.activeElement !== number) number.value = flow.count;
    if (document.activeElement !== start) start.value = flow.start_s === null ? "" : flow.start_s;
    start.placeholder = flow.start_s === null ? "any" : "";
    remove.disabled = count < 2;
  }
}

export { element };
