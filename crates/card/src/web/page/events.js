// Recorded events: the occupancy of the output queues, frame by frame, in designs that record it.

import { at, write } from "./dom.js";
import { edit } from "./page.js";
import { chart, colour, dashes, describe, redraw } from "./chart.js";

const DROPPED = 3;
let latest = null;

/// Shows the events of `now`.
export function showEvents(now) {
  at("recorder").hidden = !now.events;
  latest = now.events;
  if (!latest) return;
  at("record").setAttribute("aria-pressed", latest.is_on);
  write(at("record"), latest.is_on ? "Stop recording" : "Record");
  const [count, lost] = [latest.times_ns.length, latest.lost_frames];
  write(at("recorded"), (latest.is_on ? "recording; " : "") + (count ? `the latest ${count} events`
    : "none yet") + (lost ? `; ${lost} frames of events were lost` : ""));
  draw();
  // What was recorded since is sent, so that the next state has it.
  if (latest.is_on && !at("record").hidden) send();
}

const send = () => edit("/api/register", { register: "EVT_CAP_SEND_PKT", value: 1 }, true);

at("record").addEventListener("click", async () => {
  const value = latest?.is_on ? 0 : 1;
  if (!value) await send();
  await edit("/api/register", { register: "EVT_CAP_ENABLE_CAPTURE", value });
});

/// A time in the unit that fits `span`, both in ns.
function shown(time, span) {
  const [size, unit] = span >= 1e9 ? [1e9, "s"] : span >= 1e6 ? [1e6, "ms"] : [1e3, "µs"];
  return `${(time / size).toPrecision(3)} ${unit}`;
}

function draw() {
  if (!latest) return;
  const { times_ns: times, queues, kinds, words } = latest;
  const canvas = at("events");
  const first = times[0] ?? 0;
  const span = Math.max(1, (times[times.length - 1] ?? 0) - first);
  const marks = times.length ? [[0, "0"], [.5, shown(span / 2, span)], [1, shown(span, span)]] : [];
  const most = Math.max(0, ...words);
  const drawn = chart(canvas, most, marks);
  if (!drawn) return;
  const { pen, y } = drawn;
  const x = (time) => drawn.x((time - first) / span);
  pen.lineWidth = 1.5;
  let drops = 0;
  for (let queue = 7; queue >= 0; queue -= 1) {
    pen.strokeStyle = colour(queue);
    // Dashes hide steps: they are for two queues of a colour only.
    pen.setLineDash(queues.includes(queue ^ 1) ? dashes(queue) : []);
    pen.beginPath();
    const crosses = [];
    let level = null;
    times.forEach((time, event) => {
      if (queues[event] !== queue) return;
      if (level === null) pen.moveTo(x(time), y(words[event]));
      else pen.lineTo(x(time), y(level));
      level = words[event];
      pen.lineTo(x(time), y(level));
      if (kinds[event] === DROPPED) crosses.push([x(time), y(level)]);
    });
    pen.stroke();
    pen.setLineDash([]);
    drops += crosses.length;
    for (const [across, down] of crosses) {
      pen.beginPath();
      for (const sign of [-1, 1]) {
        pen.moveTo(across - 4, down - 4 * sign);
        pen.lineTo(across + 4, down + 4 * sign);
      }
      pen.stroke();
    }
  }
  describe(canvas, `Occupancy of the output queues over ${times.length} events in words: `
    + `highest ${most}, ${drops} frames dropped`);
}

redraw(draw);
