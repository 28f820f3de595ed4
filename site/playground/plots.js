// The plots of a run, drawn as the program's reports draw theirs.

import { element } from "./controls.js";
import { plotsOf, plotKeys } from "./series.js";

const show = (value) => Numbers.show(value, 4);
const DASH = [7, 4];
const DOTS = [2, 5];
const LEFT = 50; // pixels

// The theme of a book is a class, that of a report an attribute; paper is white.
new MutationObserver(Colours.changed).observe(document.documentElement, { attributes: true, attributeFilter: ["class", "data-theme"] });
for (const [event, isPaper] of [["beforeprint", true], ["afterprint", false]]) {
  addEventListener(event, () => { document.documentElement.classList.toggle("tp-paper", isPaper); Colours.changed(); });
}

let last = 0;

// A plot in words, for who does not see it.
const describe = (one) => {
  const lines = one.lines.filter((line) => line.level === undefined).map((line) => {
    const known = line.values.filter((value) => value !== null);
    if (!known.length) return `${line.name}: nothing yet`;
    const [low, high] = known.reduce(([l, h], v) => [Math.min(l, v), Math.max(h, v)], [Infinity, -Infinity]);
    const mean = known.reduce((sum, v) => sum + v, 0) / known.length;
    return `${line.name}: from ${show(low)} to ${show(high)}, mean ${show(mean)} ${one.unit}`;
  });
  return `${one.title} over time. ${lines.join(". ")}.`;
};

// A plot as curves.js takes it. What is predicted is a line from the run's begin to its end.
const dataOf = (one, end) => {
  const ends = [0, end];
  return {
    x: { text: "time (s)", unit: "s", range: ends },
    y: { unit: one.unit, zero: true },
    series: one.lines.map(({ name, colour, values, dash, level }) => ({
      name, colour: colour % 8, ...(level === undefined ? { x: one.time, y: values, dash: dash ? DASH : [] } : { x: ends, y: [level, level], dash: DOTS }),
    })),
    spans: one.marks.map((mark) => ({ ...mark, colour: mark.colour % 8 })),
    ticks: one.drops,
  };
};

export class Plots {
  #shown = new Map();
  #group = `playground-${++last}`;

  // `keys` are the plots that are shown.
  constructor(box, keys) {
    this.box = box;
    this.keys = keys;
    addEventListener("resize", () => this.#fit());
  }

  choose(keys) {
    this.keys = keys;
    this.clear();
    if (this.series) this.draw(this.series);
  }

  clear() {
    for (const { curves, figure } of this.#shown.values()) { curves.remove(); figure.remove(); }
    this.#shown.clear();
  }

  // Shows the whole of the run.
  whole() { this.#shown.values().next().value?.curves.zoom(null); }

  // Draws what there is of a run, and what is zoomed stays so.
  draw(series) {
    this.series = series;
    if (!series.time.length) return;
    const end = series.about.duration_s;
    for (const one of plotsOf(series).filter((plot) => this.keys.includes(plot.key))) {
      const data = dataOf(one, end);
      const shown = this.#shown.get(one.key);
      if (shown) { shown.one = one; shown.curves.set(data); } else this.#shown.set(one.key, this.#make(one, data));
      const what = [`${one.title}, ${one.unit}`, ...(series.about.points > 1 ? ["first point of the sweep"] : []), ...(one.left > 0 ? [`and ${one.left} more`] : [])];
      this.#shown.get(one.key).figure.firstChild.textContent = what.join("; ");
    }
  }

  #make(one, data) {
    const figure = this.box.appendChild(element("figure", { class: "tp-plot" }, element("figcaption", {})));
    figure.dataset.key = one.key;
    const shown = { figure, one };
    shown.curves = Curves.draw(figure, data, { name: () => describe(shown.one), group: this.#group, left: LEFT, height: () => this.#height(), text: () => (this.#isLecture() ? 18 : 12) });
    return shown;
  }

  #isLecture() { return Boolean(this.box.closest(".lecture")); }

  #height() { return this.#isLecture() ? Math.max(220, Math.round(innerHeight * 0.6 / Math.max(1, this.keys.length)) - 60) : 200; }

  // A lecture's plots share the height of the screen.
  #fit() {
    for (const { curves } of this.#shown.values()) curves.fit();
  }
}

export { plotKeys };
