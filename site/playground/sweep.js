// The points of a sweep: a table of their means, and a plot where one number is swept.

import { element } from "./controls.js";
import { fromCsv } from "./series.js";
import { mainOf, table } from "./tables.js";

const MOST_ROWS = 60;
const MOST_FLOWS = 8;
// Numbers that reach further than this factor are set apart by factors.
const FAR = 20;

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

// The points of a table of runs, in their order: the swept values, and of each row of a repeat (a
// flow, an application) its names and the mean over the repeats of what `numberOf` gives.
const pointsOf = (csv, name, numberOf) => {
  const [heads, ...rows] = fromCsv(csv);
  if (!rows.length) return { swept: [], points: [] };
  const at = (head) => heads.indexOf(head);
  const [first, end] = [at("point") + 1, at("repeat")];
  const points = new Map();
  for (const row of rows.filter((one) => one[at("engine")] === "simulate")) {
    const key = row[at("point")];
    if (!points.has(key)) points.set(key, { values: row.slice(first, end), repeats: new Map() });
    const { repeats } = points.get(key);
    const repeat = row[end];
    repeats.set(repeat, [...(repeats.get(repeat) || []), { name: row[at(name)], value: numberOf((head) => row[at(head)]) }]);
  }
  return {
    swept: heads.slice(first, end),
    points: [...points.values()].map(({ values, repeats }) => {
      const all = [...repeats.values()];
      return {
        values, repeats: all.length,
        items: all[0].map(({ name: called }, i) => {
          const known = all.map((one) => one[i]?.value).filter((value) => Number.isFinite(value));
          return { name: called, value: known.length ? mean(known) : null };
        }),
      };
    }),
  };
};

// What the columns of a sweep's flows, or applications, are called: a name that all points have, or
// a place, since a swept variant renames its flow.
const namesOf = (points, word) => {
  const most = Math.max(0, ...points.map((point) => point.items.length));
  return Array.from({ length: Math.min(most, MOST_FLOWS) }, (_, i) => {
    const names = new Set(points.map((point) => point.items[i]?.name));
    return names.size === 1 ? [...names][0] : `${word} ${i + 1}`;
  });
};

const show = (value) => (value === null || value === undefined ? "–" : Numbers.show(value, 3));
const isNumber = (text) => text !== "" && Number.isFinite(Number(text));

// What a sweep's points are, of the tables of a run.
export const sweepOf = (tables) => {
  const flows = pointsOf(tables.flows || "", "flow", (cell) => Number(cell("goodput_mbps") || NaN));
  const main = mainOf(tables.apps || "");
  const apps = main ? pointsOf(tables.apps, "app", (cell) => Number(cell(main.column) || NaN) * main.factor) : { swept: [], points: [] };
  const { swept, points } = flows.points.length ? flows : apps;
  return {
    swept, points, main, flows, apps,
    flowNames: namesOf(flows.points, "flow"), appNames: namesOf(apps.points, "application"),
  };
};

export const sweepTable = ({ swept, points, main, flows, apps, flowNames, appNames }) => {
  if (!points.length) return null;
  const key = (point) => point.values.join("\n");
  const appsOf = new Map(apps.points.map((point) => [key(point), point.items]));
  const heads = [...swept, ...flowNames.map((name) => `${name}, Mbit/s`), ...appNames.map((name) => `${name}: ${main.text}`)];
  const body = points.slice(0, MOST_ROWS).map((point) => [
    ...point.values.map((value) => (isNumber(value) ? Numbers.show(Number(value)) : value)),
    ...flowNames.map((_, i) => show(flows.points.length ? point.items[i]?.value : null)),
    ...appNames.map((_, i) => show(appsOf.get(key(point))?.[i]?.value)),
  ]);
  const repeats = Math.max(...points.map((point) => point.repeats));
  const more = points.length > MOST_ROWS ? `; ${points.length - MOST_ROWS} more points` : "";
  const few = flows.points.some((point) => point.items.length > MOST_FLOWS) ? `; the first ${MOST_FLOWS} flows` : "";
  return table(`Points of the sweep, simulated: goodput of each flow while it is active${repeats > 1 ? `, mean of ${repeats} repeats` : ""}${few}${more}`, heads, body);
};

// The sweep as curves.js takes it: over the one number that is swept, with a curve for each flow and
// each value of what else is swept. None where no number is, or several are.
export const sweepCurves = ({ swept, points, main, flows, flowNames, appNames }) => {
  const values = swept.map((_, i) => new Set(points.map((point) => point.values[i])));
  const moving = swept.map((_, i) => i).filter((i) => values[i].size > 1);
  const numbers = moving.filter((i) => [...values[i]].every(isNumber));
  if (numbers.length !== 1) return null;
  const [x] = numbers;
  const others = moving.filter((i) => i !== x);
  const curves = new Map();
  const names = flows.points.length ? flowNames : appNames;
  for (const point of points) {
    point.items.slice(0, names.length).forEach(({ value }, i) => {
      const name = [names[i], ...others.map((at) => point.values[at])].join(", ");
      if (!curves.has(name)) curves.set(name, { name, colour: curves.size % 8, points: true, at: [] });
      curves.get(name).at.push([Number(point.values[x]), value]);
    });
  }
  const xs = [...values[x]].map(Number);
  const [low, high] = [Math.min(...xs), Math.max(...xs)];
  const isFar = low > 0 && high / low > FAR && xs.length > 2;
  return {
    title: flows.points.length ? "Goodput over the sweep, Mbit/s" : `${main.text} over the sweep`,
    x: { text: swept[x], log: isFar }, y: { unit: flows.points.length ? "Mbit/s" : "", zero: true },
    series: [...curves.values()].slice(0, 12).map(({ at, ...one }) => {
      at.sort(([a], [b]) => a - b);
      return { ...one, x: at.map(([place]) => place), y: at.map(([, value]) => value) };
    }),
  };
};

// Both, in a box of the page.
export class Sweep {
  constructor(box) {
    this.box = box;
  }

  clear() {
    this.curves?.remove();
    this.curves = null;
    this.box.replaceChildren();
  }

  draw(tables) {
    this.clear();
    const sweep = sweepOf(tables);
    const data = sweepCurves(sweep);
    if (data) {
      const figure = element("figure", { class: "tp-plot" }, element("figcaption", {}, data.title));
      this.box.append(figure);
      this.curves = Curves.draw(figure, data, { name: `${data.title}. The table below has its numbers.`, left: 50, height: () => 240 });
    }
    const rows = sweepTable(sweep);
    if (rows) this.box.append(element("div", { class: "tp-tables", tabIndex: 0, role: "region", "aria-label": "Points of the sweep" }, rows));
  }
}
