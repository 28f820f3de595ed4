// The shapes of points, on a canvas and in a legend. The corners are those of canvas.rs.
const Marks = (() => {
  "use strict";
  const SHAPES = [
    null,
    [[-1, -1], [1, -1], [1, 1], [-1, 1]],
    [[0, -1.3], [1.25, 0.95], [-1.25, 0.95]],
    [[0, -1.4], [1.4, 0], [0, 1.4], [-1.4, 0]],
    [[0, 1.3], [1.25, -0.95], [-1.25, -0.95]],
    [[-0.4, -1.3], [0.4, -1.3], [0.4, -0.4], [1.3, -0.4], [1.3, 0.4], [0.4, 0.4], [0.4, 1.3], [-0.4, 1.3], [-0.4, 0.4], [-1.3, 0.4], [-1.3, -0.4], [-0.4, -0.4]],
    [[-1.3, -0.75], [-0.75, -1.3], [0, -0.55], [0.75, -1.3], [1.3, -0.75], [0.55, 0], [1.3, 0.75], [0.75, 1.3], [0, 0.55], [-0.75, 1.3], [-1.3, 0.75], [-0.55, 0]],
    [[-1.5, -0.6], [1.5, -0.6], [1.5, 0.6], [-1.5, 0.6]],
  ];
  const paint = (ctx, x, y, kind, size, isHollow) => {
    ctx.beginPath();
    if (!SHAPES[kind]) ctx.arc(x, y, size * 1.1, 0, 2 * Math.PI);
    else SHAPES[kind].forEach(([dx, dy], i) => ctx[i ? "lineTo" : "moveTo"](x + dx * size, y + dy * size));
    ctx.closePath();
    if (isHollow) ctx.stroke(); else ctx.fill();
  };
  const inLegend = (kind, tone, isHollow) => {
    const look = isHollow ? `fill="none" stroke-width="1.3" stroke="${tone}"` : `fill="${tone}"`;
    const corners = SHAPES[kind];
    return corners
      ? `<polygon ${look} points="${corners.map(([x, y]) => `${11 + 3 * x},${6 + 3 * y}`).join(" ")}"/>`
      : `<circle cx="11" cy="6" r="3.2" ${look}/>`;
  };
  // What stands before a series' name: its line, its point, or both.
  const swatch = (series) => {
    const tone = `var(--c${series.colour})`;
    const mark = series.points ? inLegend(series.shapes.length ? 0 : series.shape, tone, series.hollow) : "";
    const line = series.line
      ? `<path d="M0 6h22" stroke="${tone}" stroke-width="2" stroke-dasharray="${series.dash.join(" ")}"/>` : "";
    return `<svg width="22" height="12" aria-hidden="true">${line}${mark}</svg>`;
  };
  const key = (kind) =>
    `<svg width="22" height="12" aria-hidden="true">${inLegend(kind, "var(--muted)", false)}</svg>`;
  return { paint, swatch, key };
})();
