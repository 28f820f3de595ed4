// Draws a figure's data as a plot that answers the pointer and the keyboard. It knows nothing of the page.
//
// It needs uPlot, then dom.js, numbers.js, axes.js, marks.js, colours.js, readout.js and legend.js, in this order and as
// classic scripts or one after the other in one, and the styles colours.css and curves.css.
//
//   const curves = Curves.draw(box, data, { name, legend, group, height, left, text, reset });
//
// `data` is { x, y, series, rules, shapes, spans, ticks }: `x` and `y` are axes (axes.js), and a series is
// { name, x, y } with numbers ascending in `x`, null in `y` for a gap, and where wanted { colour, label, words, dash,
// line, step, points, shape, shapes, hollow, low, high, beside }. `spans` shade parts of the x axis under the curves,
// each { from, to, colour }, and `ticks` are places on it that are marked at the bottom. What is left out has a
// default, and a range is that of the data.
// Options: `name`, what the plot is called to who does not see it, a text or a function that gives it of the series;
// `legend` false for none; `group`, whose plots share cursor and zoom; `height`, a function of the width; `text`, a
// function that gives the size of the axes' text, in pixels; `left`, what the y axis is wide at least, in pixels where
// that text has 12, so that plots below one another have one time; `reset`, called with whether a part is zoomed.
//
// It gives { data, element, set, show, focus, zoom, view, fit, remove }: `set` draws other data in its place, as often as
// wanted, and keeps what is zoomed; `show` and `focus` take a key of legend.js; `zoom` takes [from, to], or null for
// the whole, in all plots of the group, and `view` gives it; `fit` asks `height` again.
const Curves = (() => {
  "use strict";
  const FONT = 'system-ui, "Segoe UI", Roboto, "Liberation Sans", sans-serif';
  const TEXT = 12; // pixels
  const COLOURS = 8;
  // The part of the whole that the keyboard zooms to, at least.
  const NEAREST = 1e-3;
  const FAR = 40; // pixels
  const tall = (width) => Math.round(Math.min(400, Math.max(250, width * 0.5)));

  const complete = (given) => {
    const series = given.series.map((one, i) => ({
      name: "", label: "", words: "", colour: i % COLOURS, shape: i % COLOURS, dash: [], line: true, step: false,
      points: false, hollow: false, shapes: [], low: [], high: [], beside: false, ...one,
    }));
    const data = { rules: [], shapes: [], spans: [], ticks: [], ...given, series, x: Axes.complete(given.x), y: Axes.complete(given.y) };
    const across = (isUpright) => data.rules.filter((rule) => rule.upright === isUpright).map((rule) => rule.at);
    data.x.range ||= Axes.span(data.x, series.flatMap((one) => [...one.x]).concat(across(true)));
    if (!data.y.range) {
      const values = series.flatMap((one) => [...one.y, ...one.low, ...one.high]).concat(across(false));
      data.y.range = Axes.withRoom(data.y, ...Axes.span(data.y, values));
    }
    return data;
  };

  // The columns of uPlot: the first of each of our series, and two more without a stroke for a band.
  const columnsOf = (data) => {
    const [columns, options, bands, place, owner] = [[], [{}], [], [], [-1]];
    const stepped = uPlot.paths.stepped({ align: 1 });
    data.series.forEach((series, i) => {
      place.push(options.length);
      const tone = () => Colours.of("c" + series.colour);
      const add = (values, extra) => {
        // Neighbours over the same places are one table: there is less to join.
        const last = columns[columns.length - 1];
        if (last && last[0] === series.x) last.push(values); else columns.push([series.x, values]);
        owner.push(i);
        options.push({ points: { show: false }, spanGaps: false, ...extra });
      };
      add(series.y, {
        stroke: tone, width: 1.75, dash: series.dash,
        paths: !series.line ? () => null : series.step ? stepped : undefined,
      });
      if (series.low.length && series.line) {
        const fill = () => Colours.faint("c" + series.colour, 0.16);
        bands.push({ series: [options.length + 1, options.length], fill });
        add(series.low, { width: 0 });
        add(series.high, { width: 0 });
      }
    });
    return { joined: columns.length ? uPlot.join(columns) : [[]], options, bands, place, owner };
  };

  const clipped = (u, paint) => {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left - 6, bbox.top - 6, bbox.width + 12, bbox.height + 12);
    ctx.clip();
    paint(ctx);
    ctx.restore();
  };

  const paintPoints = (u, at, series) => clipped(u, (ctx) => {
    ctx.globalAlpha = u.series[at].alpha ?? 1;
    ctx.fillStyle = ctx.strokeStyle = Colours.of("c" + series.colour);
    ctx.lineWidth = 1.2 * devicePixelRatio;
    series.x.forEach((x, k) => {
      if (series.y[k] === null) return;
      const [cx, cy] = [u.valToPos(x, "x", true), u.valToPos(series.y[k], "y", true)];
      if (!series.line && series.low.length && series.low[k] !== null) {
        ctx.beginPath();
        ctx.moveTo(cx, u.valToPos(series.low[k], "y", true));
        ctx.lineTo(cx, u.valToPos(series.high[k], "y", true));
        ctx.stroke();
      }
      const size = (series.line ? 2.6 : 2.9) * devicePixelRatio;
      Marks.paint(ctx, cx, cy, series.shapes[k] ?? series.shape, size, series.hollow);
    });
  });

  const paintRules = (u, rules) => clipped(u, (ctx) => {
    const { left, top, width, height } = u.bbox;
    ctx.strokeStyle = ctx.fillStyle = Colours.of("muted");
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
    ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
    ctx.lineJoin = "round";
    for (const rule of rules) {
      const at = u.valToPos(rule.at, rule.upright ? "x" : "y", true);
      ctx.beginPath();
      ctx.moveTo(rule.upright ? at : left, rule.upright ? top : at);
      ctx.lineTo(rule.upright ? at : left + width, rule.upright ? top + height : at);
      ctx.stroke();
      // Words stand before an upright line, or behind it where there is no room.
      const isAfter = rule.upright && at - left < ctx.measureText(rule.text).width + 8 * devicePixelRatio;
      ctx.textAlign = isAfter ? "left" : "right";
      const where = rule.upright
        ? [at + (isAfter ? 5 : -5) * devicePixelRatio, top + 11 * devicePixelRatio]
        : [left + width, at - 5 * devicePixelRatio];
      // A halo keeps the words readable across curves.
      ctx.save();
      ctx.setLineDash([]);
      ctx.lineWidth = 4 * devicePixelRatio;
      ctx.strokeStyle = Colours.of("paper");
      ctx.strokeText(rule.text, ...where);
      ctx.restore();
      ctx.fillText(rule.text, ...where);
    }
  });

  const paintUnder = (u, { spans, ticks }) => clipped(u, (ctx) => {
    const { left, top, width, height } = u.bbox;
    for (const span of spans) {
      const [from, to] = [span.from, span.to].map((x) => Math.min(left + width, Math.max(left, u.valToPos(x, "x", true))));
      ctx.fillStyle = Colours.faint("c" + span.colour, 0.14);
      ctx.fillRect(from, top, Math.max(devicePixelRatio, to - from), height);
    }
    ctx.fillStyle = Colours.of("large");
    for (const at of ticks) {
      ctx.fillRect(u.valToPos(at, "x", true) - devicePixelRatio / 2, top + height, devicePixelRatio, -9 * devicePixelRatio);
    }
  });

  const axisOf = (spec, perMark, text, extra) => ({
    stroke: () => Colours.of("muted"), font: `${text}px ${FONT}`, gap: 5,
    grid: { show: false }, ticks: { stroke: () => Colours.of("line"), width: 1, size: 5 },
    splits: (u, i, low, high) => {
      const length = (i ? u.bbox.height : u.bbox.width) / devicePixelRatio;
      return Axes.marks(spec(), low, high, Math.max(2, Math.floor(length / perMark * TEXT / text)));
    },
    values: (u, splits) => splits.map((v) => Axes.markText(spec(), v)),
    filter: (u, splits) => splits,
    ...extra,
  });
  const division = (axis) => axis.log ? { distr: 3 } : axis.near ? { distr: 4, asinh: axis.near } : { distr: 1 };

  // Left and right move the cursor from point to point, and Home and End to the ends; Escape takes it away. Up zooms in
  // around it, and down shows all.
  const steer = (event, plot, zoom) => {
    const by = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
    const middle = plot.over.clientHeight / 2;
    const move = (left, top) => plot.setCursor({ left, top }, true, true);
    if (event.key === "Escape") move(-10, -10);
    if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      event.preventDefault();
      // Nearer there is nothing to see, and numbers end.
      const [all, seen] = [plot.data[0], plot.scales.x];
      const isNear = seen.max - seen.min < NEAREST * (all[all.length - 1] - all[0]);
      if (event.key === "ArrowUp" && isNear) return;
      const half = plot.over.clientWidth / 2;
      const at = plot.cursor.left >= 0 ? plot.cursor.left : half;
      const from = Math.min(half, Math.max(0, at - half / 2));
      zoom(event.key === "ArrowUp" ? [plot.posToVal(from, "x"), plot.posToVal(from + half, "x")] : null);
    }
    if (by === undefined) return;
    event.preventDefault();
    const xs = plot.data[0];
    const { min, max } = plot.scales.x;
    const inside = xs.map((x, i) => x >= min && x <= max ? i : -1).filter((i) => i >= 0);
    if (!inside.length) return;
    const { left } = plot.cursor;
    const isOff = left === undefined || left < 0;
    const here = isOff ? (by < 0 ? inside.length : -1) : inside.indexOf(ReadOut.nearest(xs, plot.posToVal(left, "x"), false));
    // A tenth of the plot's width has as many steps as there are points, or some.
    const stride = Math.max(1, Math.round(inside.length / 60));
    const next = Math.min(inside.length - 1, Math.max(0, here + by * stride));
    move(plot.valToPos(xs[inside[next]], "x"), middle);
  };

  // The plots of each group.
  const groups = new Map();
  const groupOf = (name) => {
    if (!name) return new Set();
    if (!groups.has(name)) groups.set(name, new Set());
    return groups.get(name);
  };

  const draw = (box, given, options = {}) => {
    const handle = {};
    const group = groupOf(options.group);
    const element = Dom.make("div", "live");
    const title = Dom.make("div", "y-title");
    const canvas = Dom.make("div", "canvas");
    const tip = Dom.make("div", "tip");
    const height = options.height || tall;
    const text = options.text || (() => TEXT);
    let [data, plot, of, view, shown] = [null, null, null, null, new Map()];
    tip.hidden = true;
    // Who points sees it; who moves by keys hears it, of the plot that has them.
    tip.setAttribute("role", "status");
    tip.setAttribute("aria-live", "off");
    element.append(title, canvas);
    box.append(element);

    const isShown = (i) => shown.get(Legend.key(data.series[i])) !== false;
    const all = () => data.series.map((_, i) => isShown(i));
    const ends = () => [of.joined[0][0], of.joined[0][of.joined[0].length - 1]];
    const rangeX = (u, low, high) => {
      const [first, last] = ends();
      // A single place is shown with room around it, which is no zoom.
      view = (low === first && high === last) || !(low < high) || first === last ? null : [low, high];
      return view || data.x.range;
    };
    const rangeY = () => {
      if (data.y.fixed || (!view && all().every(Boolean))) return data.y.range;
      const [from, to] = view || [-Infinity, Infinity];
      const values = [];
      data.series.filter((_, i) => isShown(i)).forEach((series) => {
        for (const column of [series.y, series.low, series.high]) {
          column.forEach((v, k) => v === null || series.x[k] < from || series.x[k] > to || values.push(v));
        }
      });
      return values.length ? Axes.withRoom(data.y, ...Axes.span(data.y, values)) : data.y.range;
    };
    // The last mark of the x axis stands half beyond the plot.
    const beyond = () => {
      const marks = Axes.marks(data.x, ...(view || data.x.range), 5);
      return Math.max(24, 6 + text() * 0.3 * Axes.markText(data.x, marks[marks.length - 1] ?? 0).length);
    };
    const size = () => {
      const width = Math.max(240, Math.floor(canvas.clientWidth));
      return { width, height: height(width) };
    };

    const make = () => new uPlot({
      ...size(),
      padding: [8, beyond, 0, 0],
      legend: { show: false },
      focus: { alpha: 0.22 },
      cursor: {
        drag: { x: true, y: false, dist: 6 },
        sync: options.group ? { key: options.group, setSeries: false } : undefined,
        points: { size: 7, width: 1.5 },
        dataIdx: (u, at, hovered) => {
          const series = data.series[of.owner[at]];
          if (!series) return hovered;
          if (of.place[of.owner[at]] !== at || !series.line) return null;
          const k = ReadOut.meant(u, data.series, all()).kept[of.owner[at]];
          // A line of few points has none at hand.
          if (k < 0 || Math.abs(u.valToPos(series.x[k], "x") - u.cursor.left) > FAR) return null;
          return ReadOut.nearest(of.joined[0], series.x[k], false);
        },
      },
      scales: {
        x: { time: false, ...division(data.x), range: rangeX },
        y: { ...division(data.y), range: rangeY },
      },
      axes: [
        axisOf(() => data.x, 58, text(), {
          label: data.x.text || undefined, labelFont: `${text()}px ${FONT}`, labelSize: text() + 8, labelGap: 2, size: text() + 18,
        }),
        axisOf(() => data.y, 36, text(), {
          grid: { stroke: () => Colours.of("grid"), width: 1 }, ticks: { show: false }, gap: 7,
          size: (u, values) => Math.max((options.left || 0) * text() / TEXT, 14 + text() * 0.58 * Math.max(1, ...(values || []).map((text) => text.length))),
        }),
      ],
      series: of.options,
      bands: of.bands,
      hooks: {
        drawSeries: [(u, at) => {
          const i = of.owner[at];
          if (i >= 0 && of.place[i] === at && data.series[i].points && isShown(i)) paintPoints(u, at, data.series[i]);
        }],
        drawClear: [(u) => paintUnder(u, data)],
        draw: [(u) => paintRules(u, data.rules)],
        setCursor: [(u) => ReadOut.show(u, data, all(), tip, canvas)],
        setScale: [(u, axis) => axis === "x" && options.reset && options.reset(Boolean(view))],
      },
    }, of.joined, canvas);

    // What a plot is made of, beside its numbers: where it is the same, the numbers alone are exchanged.
    const form = (one) => JSON.stringify([
      text(),
      [one.x, one.y].map(({ log, near, text }) => [log, near, text]),
      one.series.map((s) => [s.name, s.colour, s.label, s.dash, s.line, s.step, s.low.length > 0]),
    ]);
    let made = "";
    const set = (next) => {
      data = handle.data = complete(next);
      of = columnsOf(data);
      title.textContent = data.y.text;
      title.hidden = !data.y.text;
      const [first, last] = data.x.range;
      // A zoom is kept while its part is on the axis.
      if (view && (view[0] >= last || view[1] <= first)) view = null;
      if (plot && made === form(data)) {
        plot.setData(of.joined, false);
        fit();
        scale(view);
        call();
        return;
      }
      if (plot) plot.destroy();
      plot = make();
      made = form(data);
      scale([...group].map((one) => one.view()).find(Boolean) || null);
      canvas.append(tip);
      call();
      plot.over.tabIndex = 0;
      plot.over.setAttribute("role", "group");
      plot.over.setAttribute("aria-label", "Plot: left and right read its points, up and down zoom");
      plot.over.addEventListener("keydown", (event) => steer(event, plot, zoom));
      plot.over.addEventListener("focus", () => tip.setAttribute("aria-live", "polite"));
      plot.over.addEventListener("blur", () => tip.setAttribute("aria-live", "off"));
      data.series.forEach((series) => show(Legend.key(series), shown.get(Legend.key(series)) !== false));
      if (legend) legend.remove();
      legend = null;
      if (options.legend !== false) element.prepend(legend = Legend.of([handle]));
    };
    let legend = null;
    const eachOf = (key, apply) => data.series.forEach((series, i) => {
      if (Legend.key(series) === key) apply(of.place[i], i);
    });
    const show = (key, on) => {
      shown.set(key, on);
      eachOf(key, (first, i) => {
        for (let at = first; of.owner[at] === i; at++) {
          if (plot.series[at].show !== on) plot.setSeries(at, { show: on });
        }
      });
    };
    const focus = (key) => {
      if (key === null) plot.setSeries(null, { focus: false });
      else eachOf(key, (first) => plot.setSeries(first, { focus: true }));
    };
    const call = () => {
      const drawn = canvas.querySelector("canvas");
      const name = typeof options.name === "function" ? options.name(data.series) : options.name;
      drawn.setAttribute("role", "img");
      drawn.setAttribute("aria-label", name || [data.y.text, data.x.text].join(" against "));
    };
    const scale = (range) => {
      const [min, max] = range || ends();
      plot.setScale("x", { min, max });
    };
    const mate = { scale, view: () => view };
    const zoom = (range) => group.forEach((one) => one.scale(range));
    const fit = () => {
      const next = size();
      if (canvas.clientWidth && (next.width !== plot.width || next.height !== plot.height)) plot.setSize(next);
    };
    const unwatch = Colours.watch(() => plot.redraw(false, true));
    // In a frame of its own: a size that changes sizes would be a loop.
    const observer = new ResizeObserver(() => requestAnimationFrame(fit));
    const remove = () => {
      group.delete(mate);
      unwatch();
      observer.disconnect();
      plot.destroy();
      element.remove();
    };
    Object.assign(handle, { element, set, show, focus, zoom, view: mate.view, fit, remove });
    set(given);
    group.add(mate);
    observer.observe(canvas);
    return handle;
  };
  return { draw };
})();
