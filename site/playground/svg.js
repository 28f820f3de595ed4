// Plots as a picture of their own: lines, axes and names, for a paper or a slide.

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [760, 222, 64, 12, 30, 26];
// A row of the legend, and about what a letter takes.
const [ROW, LETTER] = [18, 6.5];
// What reports call large, on paper.
const LOST = "#a8281c";
const COLOURS = ["#0072b2", "#d55e00", "#008f68", "#aa3377", "#a87700", "#3a9bdc", "#5b5b5b", "#7f4fc9"];
const escaped = (text) => text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);

const LINEAR = Axes.complete({});

// Of what is predicted, and of the second line of a flow.
const dashes = (line) => (line.level !== undefined ? ' stroke-dasharray="2 5"' : line.dash ? ' stroke-dasharray="6 4"' : "");

// A plot from `top` on, and where it ends.
const one = (plot, top) => {
  const end = plot.time[plot.time.length - 1] || 1;
  const values = plot.lines.flatMap((line) => (line.level === undefined ? line.values : [line.level]));
  const most = values.reduce((high, value) => (value !== null && value > high ? value : high), 0) || 1;
  const high = most * 1.05;
  const x = (t) => LEFT + (t / end) * (WIDTH - LEFT - RIGHT);
  const y = (v) => top + TOP + (1 - v / high) * (HEIGHT - TOP - BOTTOM);
  const left = plot.left > 0 ? `; and ${plot.left} more` : "";
  const parts = [`<text x="${LEFT}" y="${top + 18}" font-weight="600">${escaped(plot.title)}, ${escaped(plot.unit)}${left}</text>`];
  for (const { from, to, colour } of plot.marks) {
    parts.push(`<rect x="${x(from).toFixed(1)}" y="${top + TOP}" width="${Math.max(1, x(to) - x(from)).toFixed(1)}" height="${HEIGHT - TOP - BOTTOM}" fill="${COLOURS[colour % COLOURS.length]}" fill-opacity="0.14"/>`);
  }
  for (const v of Axes.marks(LINEAR, 0, high, 4)) {
    parts.push(`<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(v).toFixed(1)}" y2="${y(v).toFixed(1)}" stroke="#e3e2dd"/>`,
      `<text x="${LEFT - 6}" y="${(y(v) + 4).toFixed(1)}" text-anchor="end">${Axes.markText(LINEAR, v)}</text>`);
  }
  for (const t of Axes.marks(LINEAR, 0, end, 8)) {
    parts.push(`<text x="${x(t).toFixed(1)}" y="${top + HEIGHT - BOTTOM + 16}" text-anchor="middle">${Axes.markText(LINEAR, t)}</text>`);
  }
  for (const line of plot.lines) {
    const colour = COLOURS[line.colour % COLOURS.length];
    if (line.level !== undefined) {
      parts.push(`<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(line.level).toFixed(1)}" y2="${y(line.level).toFixed(1)}" stroke="${colour}"${dashes(line)}/>`);
      continue;
    }
    let [path, isOpen] = ["", false];
    line.values.forEach((value, i) => {
      if (value === null) { isOpen = false; return; }
      path += `${isOpen ? "L" : "M"}${x(plot.time[i]).toFixed(1)} ${y(value).toFixed(1)}`;
      isOpen = true;
    });
    parts.push(`<path d="${path}" fill="none" stroke="${colour}" stroke-width="1.5"${dashes(line)}/>`);
  }
  for (const t of plot.drops) {
    parts.push(`<line x1="${x(t).toFixed(1)}" x2="${x(t).toFixed(1)}" y1="${top + HEIGHT - BOTTOM - 9}" y2="${top + HEIGHT - BOTTOM}" stroke="${LOST}"/>`);
  }
  let [at, row] = [LEFT, top + HEIGHT];
  for (const line of plot.lines) {
    const width = 34 + LETTER * line.name.length;
    if (at > LEFT && at + width > WIDTH) [at, row] = [LEFT, row + ROW];
    const colour = COLOURS[line.colour % COLOURS.length];
    parts.push(`<line x1="${at}" x2="${at + 18}" y1="${row + 4}" y2="${row + 4}" stroke="${colour}" stroke-width="2"${dashes(line)}/>`,
      `<text x="${at + 23}" y="${row + 8}">${escaped(line.name)}</text>`);
    at += width;
  }
  return { body: parts.join("\n"), end: row + ROW };
};

export const toSvg = (plots, title) => {
  let [body, top] = ["", 30];
  for (const plot of plots) {
    const drawn = one(plot, top);
    [body, top] = [`${body}${drawn.body}\n`, drawn.end];
  }
  const height = top + 22;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12" fill="#1b1d1f">
<title>${escaped(title)}</title>
<rect width="${WIDTH}" height="${height}" fill="#fff"/>
<text x="${LEFT}" y="22" font-size="15" font-weight="650">${escaped(title)}</text>
${body}<text x="${WIDTH - RIGHT}" y="${height - 6}" text-anchor="end" fill="#5c6166">time, s; simulated by Trammel</text>
</svg>
`;
};
