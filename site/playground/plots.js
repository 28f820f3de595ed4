// The plots of a run: one uPlot each, with a legend that reads out the instant under the cursor.
// Left and right move the cursor of a plot that has the keyboard's focus; up and down zoom.

import { plotsOf, plotKeys } from "./series.js";

const element = (name, className, text) => {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
};
const show = (value) => (value === null || value === undefined ? "–" : String(Number(value.toPrecision(4))));
// A mark of an axis, short.
const mark = (value) => {
  const size = Math.abs(value);
  return size >= 1e6 ? `${show(value / 1e6)} M` : size >= 1e4 ? `${show(value / 1e3)} k` : show(value);
};
const faint = (colour, share) => colour.replace(/rgb\(([^)]*)\)/, `rgba($1, ${share})`);

export class Plots {
  // `keys` are the plots that are shown.
  constructor(box, keys) {
    this.box = box;
    this.keys = keys;
    this.shown = new Map();
    this.probe = element("i");
    this.probe.hidden = true;
    box.append(this.probe);
    this.sync = uPlot.sync("trammel");
    new ResizeObserver(() => requestAnimationFrame(() => this.#resize())).observe(box);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
    new MutationObserver(() => this.redraw()).observe(document.documentElement, { attributes: true, attributeFilter: ["class", "data-theme"] });
  }

  #colour(name) {
    this.probe.style.color = `var(--${name})`;
    return getComputedStyle(this.probe).color;
  }

  choose(keys) {
    this.keys = keys;
    this.clear();
    if (this.series) this.draw(this.series);
  }

  clear() {
    for (const { plot, figure } of this.shown.values()) { plot.destroy(); figure.remove(); }
    this.shown.clear();
  }

  redraw() {
    if (!this.series) return;
    this.clear();
    this.draw(this.series);
  }

  // Draws what there is of a run; plots of the same lines are filled anew, others are made anew.
  draw(series) {
    this.series = series;
    const end = series.about.duration_s;
    for (const one of plotsOf(series).filter((plot) => this.keys.includes(plot.key))) {
      const names = JSON.stringify([one.lines.map((line) => line.name), end]);
      let shown = this.shown.get(one.key);
      if (!shown || shown.names !== names) {
        if (shown) { shown.plot.destroy(); }
        shown = this.#make(one, end, shown && shown.figure);
        shown.names = names;
        this.shown.set(one.key, shown);
      }
      shown.one = one;
      const values = one.lines.map((line) => (line.level === undefined ? line.values : one.time.map(() => line.level)));
      shown.plot.setData([one.time, ...values], false);
      shown.plot.setScale("x", shown.zoom || { min: 0, max: end });
      shown.figure.setAttribute("aria-label", this.#describe(one));
    }
  }

  // A plot in words, for who does not see it.
  #describe(one) {
    const lines = one.lines.filter((line) => line.level === undefined).map((line) => {
      const known = line.values.filter((value) => value !== null);
      if (!known.length) return `${line.name}: nothing yet`;
      const [low, high] = known.reduce(([l, h], v) => [Math.min(l, v), Math.max(h, v)], [Infinity, -Infinity]);
      const mean = known.reduce((sum, v) => sum + v, 0) / known.length;
      return `${line.name}: from ${show(low)} to ${show(high)}, mean ${show(mean)} ${one.unit}`;
    });
    return `${one.title} over time. ${lines.join(". ")}.`;
  }

  #make(one, end, old) {
    const figure = old || this.box.appendChild(element("figure", "tp-plot"));
    figure.replaceChildren();
    figure.dataset.key = one.key;
    figure.tabIndex = 0;
    figure.setAttribute("role", "img");
    const title = element("figcaption", "", `${one.title}, ${one.unit}`);
    const legend = element("div", "tp-legend");
    legend.setAttribute("aria-hidden", "true");
    const canvas = element("div", "tp-canvas");
    figure.append(title, legend, canvas);
    const readouts = one.lines.map((line) => {
      const entry = element("span", "tp-entry");
      const swatch = element("i", line.level === undefined ? (line.dash ? "dash" : "") : "level");
      swatch.style.setProperty("--tone", `var(--c${line.colour % 8})`);
      const value = element("b");
      entry.append(swatch, element("span", "", line.name), value);
      legend.append(entry);
      return value;
    });
    if (one.left > 0) legend.append(element("span", "tp-entry", `and ${one.left} more`));
    const tones = one.lines.map((line) => this.#colour(`c${line.colour % 8}`));
    const [muted, grid, drop] = ["muted", "grid", "large"].map((name) => this.#colour(name));
    const axis = { stroke: muted, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1, size: 4 }, font: "12px system-ui, sans-serif" };
    const shown = { figure, zoom: null };
    const under = (u) => {
      const { ctx } = u;
      const { left, top, width, height } = u.bbox;
      ctx.save();
      ctx.beginPath();
      ctx.rect(left, top, width, height);
      ctx.clip();
      for (const mark of shown.one.marks) {
        ctx.fillStyle = faint(tones[mark.colour] || muted, 0.14);
        const from = u.valToPos(mark.from, "x", true);
        ctx.fillRect(from, top, Math.max(1, u.valToPos(mark.to, "x", true) - from), height);
      }
      ctx.fillStyle = drop;
      for (const at of shown.one.drops) ctx.fillRect(u.valToPos(at, "x", true) - 0.5, top + height - 9 * devicePixelRatio, devicePixelRatio, 9 * devicePixelRatio);
      ctx.restore();
    };
    shown.plot = new uPlot({
      width: this.#width(), height: this.#height(), legend: { show: false }, padding: [8, 28, 0, 0],
      cursor: { sync: { key: this.sync.key }, y: false, drag: { x: true, y: false }, focus: { prox: 24 } },
      scales: { x: { time: false }, y: { range: (u, low, high) => [0, (high > 0 ? high : 1) * 1.06] } },
      axes: [{ ...axis, size: 32, values: (u, all) => all.map((v) => `${mark(v)} s`) }, { ...axis, size: 56, values: (u, all) => all.map(mark) }],
      series: [{}, ...one.lines.map((line, i) => ({
        stroke: tones[i], width: line.level === undefined ? 1.6 : 1.2, points: { show: false }, spanGaps: false,
        dash: line.level !== undefined ? [2, 5] : line.dash ? [7, 4] : undefined,
      }))],
      hooks: {
        drawClear: [under],
        setCursor: [(u) => readouts.forEach((out, i) => {
          const at = u.cursor.idx;
          out.textContent = at === null || at === undefined ? "" : show(u.data[i + 1][at]);
        })],
        setSelect: [(u) => {
          if (u.select.width < 4) return;
          shown.zoom = { min: u.posToVal(u.select.left, "x"), max: u.posToVal(u.select.left + u.select.width, "x") };
          this.#zoomAll(shown.zoom);
        }],
      },
    }, [[], ...one.lines.map(() => [])], canvas);
    canvas.ondblclick = () => this.#zoomAll(null);
    figure.onkeydown = (event) => this.#key(event, shown, one);
    return shown;
  }

  #zoomAll(zoom) {
    for (const shown of this.shown.values()) {
      shown.zoom = zoom;
      shown.plot.setScale("x", zoom || { min: 0, max: this.series.about.duration_s });
    }
  }

  #key(event, shown, one) {
    const u = shown.plot;
    const count = u.data[0].length;
    if (!count) return;
    const at = u.cursor.idx ?? 0;
    const stride = event.shiftKey ? Math.ceil(count / 20) : Math.ceil(count / 200);
    const move = { ArrowLeft: at - stride, ArrowRight: at + stride, Home: 0, End: count - 1 }[event.key];
    if (move !== undefined) {
      const place = Math.max(0, Math.min(count - 1, move));
      u.setCursor({ left: u.valToPos(u.data[0][place], "x"), top: 1 });
      const values = shown.one.lines.map((line, i) => `${line.name} ${show(u.data[i + 1][place])}`);
      this.say(`${show(u.data[0][place])} seconds: ${values.join(", ")} ${one.unit}`);
    } else if (event.key === "ArrowUp") {
      const { min, max } = shown.plot.scales.x;
      const middle = u.data[0][at];
      const half = (max - min) / 4;
      this.#zoomAll({ min: Math.max(0, middle - half), max: Math.max(0, middle - half) + 2 * half });
    } else if (event.key === "ArrowDown") {
      this.#zoomAll(null);
    } else {
      return;
    }
    event.preventDefault();
  }

  // Replaced by the page: says a text to who listens.
  say() {}

  #width() { return Math.max(240, this.box.clientWidth); }
  #height() { return this.box.closest(".lecture") ? Math.max(220, Math.round(innerHeight * 0.6 / Math.max(1, this.keys.length)) - 60) : 190; }
  #resize() {
    for (const { plot } of this.shown.values()) plot.setSize({ width: this.#width(), height: this.#height() });
  }
}

export { plotKeys };
