// How full the output queues were in the last minute.

import { at, make } from "./dom.js";
import { chart, colour, dashes, describe, redraw } from "./chart.js";

const SPAN = 60_000;
const samples = [];
let latest = 0;

/// Adds the samples of `now` and draws.
export function showOccupancy(now) {
  if (now.time_ms < latest) samples.length = 0;
  latest = now.time_ms;
  const last = samples.length ? samples[samples.length - 1].time : -1;
  now.occupancy.times_ms.forEach((time, place) => {
    if (time > last) samples.push({ time, words: now.occupancy.words[place] });
  });
  while (samples.length && samples[0].time < latest - SPAN) samples.shift();
  legend(now);
  draw();
}

function legend(now) {
  if (at("legend").childElementCount) return;
  for (const { queue, to, port } of now.queues) {
    const space = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(space, "svg");
    svg.setAttribute("viewBox", "0 0 22 8");
    svg.setAttribute("aria-hidden", "true");
    const line = document.createElementNS(space, "line");
    for (const [name, value] of Object.entries({ x1: 0, y1: 4, x2: 22, y2: 4, "stroke-width": 2.5,
      "stroke-dasharray": dashes(queue).join(" ") })) line.setAttribute(name, value);
    line.style.stroke = `var(--q${queue >> 1})`;
    svg.append(line);
    at("legend").append(make("span", {}, svg, `${queue}: ${to} ${port}`));
  }
}

function draw() {
  const canvas = at("occupancy");
  const most = Math.max(0, ...samples.map((one) => Math.max(...one.words)));
  const marks = [60, 45, 30, 15, 0].map((seconds) =>
    [1 - seconds / 60, seconds ? `−${seconds} s` : "now"]);
  const drawn = chart(canvas, most, marks);
  if (!drawn) return;
  const { pen, y } = drawn;
  const x = (time) => drawn.x(1 - (latest - time) / SPAN);
  for (let queue = 7; queue >= 0; queue -= 1) {
    pen.strokeStyle = colour(queue);
    pen.setLineDash(dashes(queue));
    pen.beginPath();
    let past = null;
    for (const { time, words } of samples) {
      // Nothing is known of a gap, as while the page was hidden.
      if (past === null || time - past > 3000) pen.moveTo(x(time), y(words[queue]));
      else pen.lineTo(x(time), y(words[queue]));
      past = time;
    }
    pen.stroke();
  }
  const now = samples.length ? samples[samples.length - 1].words : [];
  const told = now.map((words, queue) => `queue ${queue} ${words}`).join(", ");
  describe(canvas, `Occupancy of the output queues over the last 60 s in words. Now: ${
    told || "unknown"}; highest ${most}`);
}

redraw(draw);
