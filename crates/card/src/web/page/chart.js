// A chart on a canvas: its ground with lines and marks, for curves to be drawn upon.

/// Queues to ports are solid, those to the host dashed; a colour for each port.
export const colour = (queue) => getComputedStyle(document.documentElement)
  .getPropertyValue(`--q${queue >> 1}`).trim();
export const dashes = (queue) => (queue % 2 ? [5, 4] : []);

/// A round number from `most` on.
function ceiling(most) {
  for (let power = 10; ; power *= 10) {
    for (const digit of [1, 2, 5]) if (digit * power >= most) return digit * power;
  }
}

/// Clears a canvas and draws the ground of a chart up to `most`, with `marks` below: shares of the
/// width with texts. Gives the pen and where shares of the width and values are; null while hidden.
export function chart(canvas, most, marks) {
  const scale = devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (!width) return null;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const style = getComputedStyle(document.documentElement);
  const [muted, line] = ["--muted", "--line"].map((name) => style.getPropertyValue(name).trim());
  const pen = canvas.getContext("2d");
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.setLineDash([]);
  pen.clearRect(0, 0, width, height);
  pen.font = "12px system-ui, sans-serif";
  pen.fillStyle = muted;
  pen.strokeStyle = line;
  pen.lineWidth = 1;
  const top = ceiling(most);
  const left = 14 + pen.measureText(top.toLocaleString("en")).width;
  const [right, bottom, above] = [width - 12, height - 22, 10];
  const x = (share) => left + (right - left) * share;
  const y = (value) => bottom - (bottom - above) * (value / top);
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  for (const part of [0, .25, .5, .75, 1]) {
    pen.beginPath();
    pen.moveTo(left, y(top * part));
    pen.lineTo(right, y(top * part));
    pen.stroke();
    if (part % .5 === 0) pen.fillText((top * part).toLocaleString("en"), left - 6, y(top * part));
  }
  pen.textBaseline = "top";
  for (const [share, text] of marks) {
    pen.textAlign = share === 0 ? "left" : share === 1 ? "right" : "center";
    pen.fillText(text, x(share), bottom + 6);
  }
  pen.lineWidth = 2;
  return { pen, x, y };
}

/// Says what a canvas shows.
export function describe(canvas, text) {
  if (canvas.getAttribute("aria-label") !== text) canvas.setAttribute("aria-label", text);
}

/// Has `draw` called where the window or the scheme changes.
export function redraw(draw) {
  addEventListener("resize", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
}
