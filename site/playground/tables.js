// Tables of a page, and what the first point and repeat of a run gives as such.

import { element } from "./controls.js";
import { fromCsv } from "./series.js";

const MOST_ROWS = 12;

const number = (text, factor, digits) => (text === undefined || text === "" ? "–" : String(Number((Number(text) * factor).toPrecision(digits))));

// The rows of the first run, and how a cell of one is found.
const firstRun = (csv) => {
  const rows = fromCsv(csv);
  if (rows.length < 2) return { rows: [], cell: () => undefined };
  const cell = (row, name) => row[rows[0].indexOf(name)];
  const ours = rows.slice(1).filter((row) => cell(row, "engine") === "simulate" && cell(row, "point") === cell(rows[1], "point") && cell(row, "repeat") === "0");
  return { rows: ours, cell };
};

export const table = (caption, heads, body) => element("table", {}, element("caption", {}, caption),
  element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head)))),
  element("tbody", {}, ...body.map((row) => element("tr", {}, ...row.map((text, i) => element(i ? "td" : "th", i ? {} : { scope: "row" }, text))))));

// The flows, with a column for each model.
export const flowTable = (csv, about) => {
  const { rows, cell } = firstRun(csv);
  if (!rows.length) return null;
  const models = [...new Set(about.predictions.map((one) => one.model))];
  const predicted = (flow, model) => {
    const one = about.predictions.find((p) => p.flow === flow && p.model === model);
    return one && one.goodput_mbps !== null ? number(one.goodput_mbps, 1, 3) : "–";
  };
  const heads = ["flow", "control", "goodput while it is active, Mbit/s", "share, %", "mean round trip, ms", "sent again", ...models.map((model) => `predicted by ${model}, Mbit/s`)];
  const body = rows.slice(0, MOST_ROWS).map((row) => [
    cell(row, "flow"), cell(row, "variant"), number(cell(row, "goodput_mbps"), 1, 3), number(cell(row, "share"), 100, 2),
    number(cell(row, "rtt_mean_us"), 1e-3, 3), number(cell(row, "retransmissions_pkts"), 1, 6), ...models.map((model) => predicted(cell(row, "flow"), model)),
  ]);
  const point = about.points > 1 ? ", first point of the sweep" : "";
  const more = rows.length > MOST_ROWS ? `; ${rows.length - MOST_ROWS} more flows` : "";
  return table(`Simulated${models.length ? " and predicted" : ""}: seed ${about.seed}${point}${more}`, heads, body);
};

// Columns of the applications that are said, where one has them.
const OF_APPS = [
  ["mos", "opinion score", 1], ["delay_p50_us", "delay, median, ms", 1e-3], ["delay_p95_us", "delay, 95th percentile, ms", 1e-3],
  ["loss", "lost, %", 100], ["overdue", "too late, %", 100], ["stalled", "stalled, %", 100], ["bitrate_mbps", "bit rate, Mbit/s", 1],
  ["time_p50_s", "time, median, s", 1], ["time_p95_s", "time, 95th percentile, s", 1], ["done", "done", 1],
];

// The number that says most of applications: the first column that one has.
export const mainOf = (csv) => {
  const [heads, ...rows] = fromCsv(csv);
  const found = OF_APPS.find(([name]) => rows.some((row) => row[heads.indexOf(name)]));
  return found ? { column: found[0], text: found[1], factor: found[2] } : null;
};

// What the users of applications got.
export const appTable = (csv) => {
  const { rows, cell } = firstRun(csv);
  if (!rows.length) return null;
  const columns = OF_APPS.filter(([name]) => rows.some((row) => cell(row, name)));
  const body = rows.slice(0, MOST_ROWS).map((row) => [cell(row, "app") ?? "", cell(row, "kind") ?? "", ...columns.map(([name, , factor]) => number(cell(row, name), factor, 3))]);
  return table("Applications, simulated", ["application", "kind", ...columns.map(([, head]) => head)], body);
};
