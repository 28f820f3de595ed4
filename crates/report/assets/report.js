// Makes a report's figures and tables interactive. The page is complete without it.
//
// A figure's data is the JSON beside its SVG; the rules for marks on axes are those of ticks.rs.
(() => {
  "use strict";
  const root = document.documentElement;
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const element = (name, className, text) => {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };

  // ---- theme ------------------------------------------------------------------------------------
  const probe = document.body.appendChild(element("i"));
  probe.hidden = true;
  let colours = {};
  const colour = (name) => {
    if (!colours[name]) {
      probe.style.color = `var(--${name})`;
      colours[name] = getComputedStyle(probe).color;
    }
    return colours[name];
  };
  const faint = (name, share) => colour(name).replace(/rgb\(([^)]*)\)/, `rgba($1, ${share})`);
  const plots = [];
  const repaint = () => {
    colours = {};
    plots.forEach((plot) => plot.redraw(false, true));
  };
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", repaint);
  document.querySelector(".theme").addEventListener("click", () => {
    const now = root.dataset.theme || (dark.matches ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
    try { localStorage.setItem("trammel-theme", root.dataset.theme); } catch (e) { /* private mode */ }
    repaint();
  });

  // ---- numbers ----------------------------------------------------------------------------------
  const raise = (text) => text.replace("-", "⁻").replace(/\d/g, (d) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[d]);
  const group = (text) => {
    const [, sign, whole, rest] = /^(-?)(\d*)(.*)$/.exec(text);
    return sign + (whole.length < 5 ? whole : whole.replace(/\B(?=(\d{3})+$)/g, "\u202f")) + rest;
  };
  const show = (v, digits = 6) => {
    if (v === null || v === undefined) return "–";
    const rounded = Number(v.toPrecision(digits));
    const size = Math.abs(rounded);
    return size !== 0 && (size < 1e-5 || size >= 1e15) ? rounded.toExponential() : group(String(rounded));
  };
  const say = (v, digits) => {
    const size = Math.abs(v);
    if (v === null || size === 0 || (size >= 1e-3 && size < 1e9)) return show(v, digits);
    const [mantissa, exponent] = v.toExponential(digits - 1).split("e");
    return `${Number(mantissa)} × 10${raise(String(Number(exponent)))}`;
  };
  const withUnit = (text, axis) => axis.unit ? `${text}\u00a0${axis.unit}` : text;
  const tickText = (axis, v) => {
    const power = Math.log10(Math.abs(v));
    const isPower = Math.abs(power - Math.round(power)) < 1e-6 && Math.abs(power - 0.5) > 2;
    const isOwn = (axis.marks || []).includes(v) && Math.abs(power) < 4.5;
    return (axis.log || axis.near) && isPower && !isOwn ? "10" + raise(String(Math.round(power))) : show(v);
  };
  // Distances on the axis are differences of these.
  const forward = (axis, v) => axis.log ? Math.log(v) : axis.near ? Math.asinh(v / axis.near) : v;
  const placeOn = (axis, low, high, v) =>
    (forward(axis, v) - forward(axis, low)) / (forward(axis, high) - forward(axis, low));
  const withRoom = (axis, low, high) => {
    if (axis.log) return [low / 1.15, high * 1.15];
    if (axis.near) return [low >= 0 ? 0 : low * 1.15, high * 1.15];
    if (low >= 0 && (axis.zero || low < high * 0.5)) return [0, high * 1.05];
    const span = Math.max(high - low, 0.1 * Math.max(Math.abs(low), Math.abs(high)));
    return [(low + high) / 2 - span * 0.55, (low + high) / 2 + span * 0.55];
  };
  const ticks = (axis, low, high, count) => {
    const own = [];
    for (const v of axis.marks || []) {
      const at = placeOn(axis, low, high, v);
      const isFree = !own.length || at - placeOn(axis, low, high, own[own.length - 1]) >= 0.8 / count;
      if (at >= -1e-9 && at <= 1 + 1e-9 && isFree) own.push(v);
    }
    if (own.length >= 2) return own;
    if (axis.near) {
      const side = (end) => end > axis.near ? ticks({ log: true }, axis.near * 2, end, count) : [];
      return [...side(-low).reverse().map((v) => -v), ...(low <= 0 && high >= 0 ? [0] : []), ...side(high)];
    }
    if (!axis.log) {
      const rough = (high - low) / count;
      if (!(rough > 0)) return [low];
      const power = 10 ** Math.floor(Math.log10(rough));
      const step = [1, 2, 5, 10].find((size) => size * power >= rough * 0.999) * power;
      const first = Math.ceil(low / step - 1e-9);
      const last = Math.floor(high / step + 1e-9);
      return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
    }
    const decades = Math.log10(high / low);
    const every = Math.max(1, Math.ceil(decades / count));
    const out = [];
    for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++) {
      if (((e % every) + every) % every) continue;
      for (const factor of decades < 2 ? [1, 2, 5] : [1]) {
        const v = factor * 10 ** e;
        if (v >= low * 0.999 && v <= high * 1.001) out.push(v);
      }
    }
    return out;
  };

  // ---- plots ------------------------------------------------------------------------------------
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
  const shape = (ctx, x, y, kind, size, isHollow) => {
    ctx.beginPath();
    if (!SHAPES[kind]) ctx.arc(x, y, size * 1.1, 0, 2 * Math.PI);
    else SHAPES[kind].forEach(([dx, dy], i) => ctx[i ? "lineTo" : "moveTo"](x + dx * size, y + dy * size));
    ctx.closePath();
    if (isHollow) ctx.stroke(); else ctx.fill();
  };
  const markOf = (kind, tone, isHollow) => {
    const look = isHollow ? `fill="none" stroke-width="1.3" stroke="${tone}"` : `fill="${tone}"`;
    const points = SHAPES[kind];
    return points
      ? `<polygon ${look} points="${points.map(([x, y]) => `${11 + 3 * x},${6 + 3 * y}`).join(" ")}"/>`
      : `<circle cx="11" cy="6" r="3.2" ${look}/>`;
  };
  const swatch = (series) => {
    const tone = `var(--c${series.colour})`;
    const mark = series.points ? markOf(series.shapes.length ? 0 : series.shape, tone, series.hollow) : "";
    const line = series.line
      ? `<path d="M0 6h22" stroke="${tone}" stroke-width="2" stroke-dasharray="${series.dash.join(" ")}"/>` : "";
    return `<svg width="22" height="12" aria-hidden="true">${line}${mark}</svg>`;
  };
  // The position in the ascending `xs` of the value nearest to `x`, or for steps of the last before it.
  const nearest = (xs, x, isStep) => {
    let [low, high] = [0, xs.length - 1];
    if (high < 0 || (isStep && x < xs[0])) return -1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (xs[middle] <= x) low = middle; else high = middle - 1;
    }
    return !isStep && low + 1 < xs.length && xs[low + 1] - x < x - xs[low] ? low + 1 : low;
  };

  const draw = (figure) => {
    const data = JSON.parse(figure.querySelector("script").textContent);
    const { x: xAxis, y: yAxis } = data;
    const live = element("div", "live");
    const legend = element("div", "legend");
    const canvas = element("div", "canvas");
    const tip = element("div", "tip");
    tip.hidden = true;
    live.append(legend, element("div", "y-title", yAxis.text), canvas);

    // The first uPlot series of each of ours; a band is two more without a stroke.
    const columns = [];
    const options = [{}];
    const bands = [];
    const place = [];
    const owner = [-1];
    const stepped = uPlot.paths.stepped({ align: 1 });
    data.series.forEach((series, i) => {
      place.push(options.length);
      const add = (values, extra) => {
        columns.push([series.x, values]);
        owner.push(i);
        options.push({ points: { show: false }, spanGaps: false, ...extra });
      };
      const tone = () => colour("c" + series.colour);
      add(series.y, {
        stroke: tone, width: 1.75, dash: series.dash,
        paths: !series.line ? () => null : series.step ? stepped : undefined,
      });
      if (series.low.length && series.line) {
        bands.push({ series: [options.length + 1, options.length], fill: () => faint("c" + series.colour, 0.16) });
        add(series.low, { width: 0 });
        add(series.high, { width: 0 });
      }
    });
    const joined = columns.length ? uPlot.join(columns) : [[]];
    const [ends] = [[joined[0][0], joined[0][joined[0].length - 1]]];

    let view = null; // the zoomed part of the x axis, if any
    const shown = data.series.map(() => true);
    const rangeX = (u, low, high) => {
      view = low === ends[0] && high === ends[1] || !(low < high) ? null : [low, high];
      return view || xAxis.range;
    };
    const rangeY = () => {
      if (yAxis.fixed || (!view && shown.every(Boolean))) return yAxis.range;
      let [low, high] = [Infinity, -Infinity];
      const [from, to] = view || [-Infinity, Infinity];
      data.series.forEach((series, i) => {
        if (!shown[i]) return;
        for (const values of [series.y, series.low, series.high]) {
          values.forEach((v, k) => {
            if (v === null || series.x[k] < from || series.x[k] > to) return;
            if (v < low) low = v;
            if (v > high) high = v;
          });
        }
      });
      if (!(low < high)) return yAxis.range;
      return withRoom(yAxis, low, high);
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
    const drawSeries = (u, at) => {
      const series = data.series[owner[at]];
      if (!series || place[owner[at]] !== at || !series.points || !shown[owner[at]]) return;
      clipped(u, (ctx) => {
        ctx.globalAlpha = u.series[at].alpha ?? 1;
        ctx.fillStyle = ctx.strokeStyle = colour("c" + series.colour);
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
          shape(ctx, cx, cy, series.shapes[k] ?? series.shape, size, series.hollow);
        });
      });
    };
    const drawRules = (u) => clipped(u, (ctx) => {
      const { left, top, width, height } = u.bbox;
      ctx.strokeStyle = ctx.fillStyle = colour("muted");
      ctx.lineWidth = devicePixelRatio;
      ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
      ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
      ctx.textAlign = "right";
      ctx.lineJoin = "round";
      for (const rule of data.rules) {
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
        ctx.strokeStyle = colour("paper");
        ctx.strokeText(rule.text, ...where);
        ctx.restore();
        ctx.fillText(rule.text, ...where);
      }
    });

    // The point of each series that the cursor means, by its position in the series, or -1. Curves answer
    // by x; points of a sweep answer only where the nearest x of the figure is theirs; clouds answer by
    // distance. So the read-out never sets values of different x beside one another as if they were one.
    const NEAR = 40; // pixels
    const meant = (u) => {
      const { left, top } = u.cursor;
      const x = u.posToVal(left, "x");
      const offset = (series, k) => Math.abs(u.valToPos(series.x[k], "x") - left);
      const found = data.series.map((series, i) => {
        if (!shown[i]) return -1;
        if (series.line) {
          const k = nearest(series.x, x, series.step);
          const isNext = !series.step && k >= 0 && k + 1 < series.x.length && offset(series, k + 1) < offset(series, k);
          const isLast = !series.step && k > 0 && offset(series, k - 1) < offset(series, k);
          return isNext ? k + 1 : isLast ? k - 1 : k;
        }
        let [best, least] = [-1, NEAR];
        series.x.forEach((px, k) => {
          if (series.y[k] === null) return;
          const away = Math.hypot(u.valToPos(px, "x") - left, u.valToPos(series.y[k], "y") - top);
          if (away < least) [best, least] = [k, away];
        });
        return best;
      });
      const sparse = data.series.map((series, i) => series.line && series.points && found[i] >= 0);
      const least = Math.min(...data.series.map((series, i) => sparse[i] ? offset(series, found[i]) : Infinity));
      const kept = found.map((k, i) => sparse[i] && offset(data.series[i], k) > least + 4 ? -1 : k);
      const at = kept.findIndex((k, i) => sparse[i] && k >= 0);
      return { kept, x: at < 0 ? x : data.series[at].x[kept[at]] };
    };
    const readOut = (u) => {
      const { left, top } = u.cursor;
      if (left === undefined || left < 0) { tip.hidden = true; return; }
      const { kept, x } = meant(u);
      const rows = data.series.map((series, i) => {
        const k = kept[i];
        return k < 0 || series.y[k] === null ? null : { series, k, y: series.y[k] };
      }).filter(Boolean).sort((a, b) => b.y - a.y);
      tip.hidden = rows.length === 0;
      if (tip.hidden) return;
      const head = element("b", "", withUnit(say(x, 4), xAxis));
      const body = element("table");
      for (const { series, k, y } of rows.slice(0, 14)) {
        const row = body.insertRow();
        const name = row.insertCell();
        const dot = element("i");
        dot.style.background = colour("c" + series.colour);
        const which = data.shapes[series.shapes[k]];
        name.append(dot, [series.name, which, series.words].filter(Boolean).join(", "));
        // A cloud's point is not at the cursor's x, so it says its own.
        row.insertCell().textContent = series.line
          ? withUnit(say(y, 4), yAxis)
          : `(${withUnit(say(series.x[k], 3), xAxis)}, ${withUnit(say(y, 4), yAxis)})`;
        if (series.low.length) row.insertCell().textContent = `${say(series.low[k], 3)} to ${say(series.high[k], 3)}`;
      }
      tip.replaceChildren(...(rows.some(({ series }) => series.line) ? [head] : []), body);
      const { offsetWidth: width, offsetHeight: height } = tip;
      const over = u.over;
      const from = over.offsetLeft + left;
      const right = from + 14 + width < canvas.clientWidth;
      tip.style.left = `${right ? from + 14 : Math.max(0, from - 14 - width)}px`;
      tip.style.top = `${Math.max(0, Math.min(over.offsetTop + top - height / 2, canvas.clientHeight - height))}px`;
    };

    const font = '12px system-ui, "Segoe UI", Roboto, "Liberation Sans", sans-serif';
    const axis = (spec, perTick, extra) => ({
      stroke: () => colour("muted"), font, gap: 5,
      grid: { show: false }, ticks: { stroke: () => colour("line"), width: 1, size: 5 },
      splits: (u, i, low, high) =>
        ticks(spec, low, high, Math.max(2, Math.floor((i ? u.bbox.height : u.bbox.width) / devicePixelRatio / perTick))),
      values: (u, splits) => splits.map((v) => tickText(spec, v)),
      filter: (u, splits) => splits,
      ...extra,
    });
    const distribution = (axis) => axis.log ? { distr: 3 } : axis.near ? { distr: 4, asinh: axis.near } : { distr: 1 };
    const size = () => {
      const width = Math.max(240, Math.floor(canvas.clientWidth));
      return { width, height: Math.round(Math.min(400, Math.max(250, width * 0.5))) };
    };
    figure.classList.add("drawn");
    figure.querySelector(".static").after(live);
    const reset = element("button", "reset", "Reset zoom");
    reset.hidden = true;
    const plot = new uPlot({
      ...size(),
      // The last mark of the x axis stands half beyond the plot.
      padding: [8, 24, 0, 0],
      legend: { show: false },
      focus: { alpha: 0.22 },
      cursor: {
        drag: { x: true, y: false, dist: 6 },
        sync: data.group ? { key: "group-" + data.group, setSeries: false } : undefined,
        points: { size: 7, width: 1.5 },
        dataIdx: (u, at, hovered) => {
          const series = data.series[owner[at]];
          if (!series) return hovered;
          if (place[owner[at]] !== at) return null;
          const k = series.line ? meant(u).kept[owner[at]] : -1;
          return k < 0 ? null : nearest(joined[0], series.x[k], false);
        },
      },
      scales: {
        x: { time: false, ...distribution(xAxis), range: rangeX },
        y: { ...distribution(yAxis), range: rangeY },
      },
      axes: [
        axis(xAxis, 58, { label: xAxis.text, labelFont: font, labelSize: 20, labelGap: 2, size: 30 }),
        axis(yAxis, 36, {
          grid: { stroke: () => colour("grid"), width: 1 }, ticks: { show: false }, gap: 7,
          size: (u, values) => 14 + 7 * Math.max(1, ...(values || []).map((text) => text.length)),
        }),
      ],
      series: options,
      bands,
      hooks: {
        drawSeries: [drawSeries],
        draw: [drawRules],
        setCursor: [readOut],
        setScale: [(u, key) => { if (key === "x") reset.hidden = !view; }],
      },
    }, joined, canvas);
    canvas.append(tip);
    const drawn = canvas.querySelector("canvas");
    drawn.setAttribute("role", "img");
    drawn.setAttribute("aria-label", figure.querySelector(".static title").textContent.trim());
    plots.push(plot);
    new ResizeObserver(() => {
      const next = size();
      if (next.width !== plot.width || next.height !== plot.height) plot.setSize(next);
    }).observe(canvas);

    const toggle = (i, show) => {
      shown[i] = show;
      for (let at = place[i]; owner[at] === i; at++) plot.setSeries(at, { show });
      legend.children[i].setAttribute("aria-pressed", show);
    };
    // Where all have one label, the title says it.
    const severalLabels = new Set(data.series.map((series) => series.label).filter(Boolean)).size > 1;
    const hasNames = severalLabels || data.series.some((series) => series.name);
    data.series.forEach((series, i) => {
      const button = element("button");
      button.type = "button";
      button.title = "Click: show or hide. Double click: this one alone.";
      button.setAttribute("aria-pressed", "true");
      button.innerHTML = swatch(series);
      button.append(series.name);
      if (series.words && severalLabels) button.append(element("span", `badge label-${series.label}`, series.words));
      button.addEventListener("click", () => toggle(i, !shown[i]));
      button.addEventListener("dblclick", () => {
        const isAlone = shown.every((on, k) => on === (k === i));
        data.series.forEach((_, k) => toggle(k, isAlone || k === i));
      });
      button.addEventListener("mouseenter", () => shown[i] && plot.setSeries(place[i], { focus: true }));
      button.addEventListener("mouseleave", () => plot.setSeries(null, { focus: false }));
      legend.append(button);
    });
    data.shapes.forEach((text, kind) => {
      const key = element("span", "shape");
      key.innerHTML = `<svg width="22" height="12" aria-hidden="true">${markOf(kind, "var(--muted)", false)}</svg>`;
      key.append(text);
      legend.append(key);
    });
    legend.hidden = !hasNames && !data.shapes.length;

    const tools = element("div", "tools");
    reset.type = "button";
    reset.addEventListener("click", () => plot.setScale("x", { min: ends[0], max: ends[1] }));
    const save = element("button", "save", "Save SVG");
    save.type = "button";
    save.addEventListener("click", () => {
      const link = element("a");
      const text = figure.querySelector(".static").innerHTML;
      link.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
      link.download = data.id + ".svg";
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
    tools.append(reset, save);
    figure.querySelector("figcaption").append(tools);
  };
  for (const figure of all("figure.plot")) {
    try { draw(figure); } catch (error) {
      figure.classList.remove("drawn");
      all(".live", figure).forEach((live) => live.remove());
      console.error(error);
    }
  }

  // ---- alternatives -----------------------------------------------------------------------------
  const MOST_BUTTONS = 6;
  for (const choice of all(".choice")) {
    const options = [...choice.children];
    const names = options.map((option) => option.querySelector(".option-name").textContent);
    const pick = (at) => options.forEach((option, i) => { option.hidden = i !== at; });
    const bar = element("div", "picker");
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", choice.dataset.name);
    bar.append(element("span", "", choice.dataset.name));
    if (options.length > MOST_BUTTONS) {
      const select = element("select");
      select.setAttribute("aria-label", choice.dataset.name);
      names.forEach((name, at) => select.append(new Option(name, at)));
      select.addEventListener("change", () => pick(Number(select.value)));
      bar.append(select);
    } else {
      names.forEach((name, at) => {
        const button = element("button", "", name);
        button.type = "button";
        button.setAttribute("aria-pressed", at === 0);
        button.addEventListener("click", () => {
          all("button", bar).forEach((other) => other.setAttribute("aria-pressed", other === button));
          pick(at);
        });
        bar.append(button);
      });
    }
    choice.prepend(bar);
    pick(0);
  }

  // ---- tables -----------------------------------------------------------------------------------
  // What is wider than its box says so on the side where there is more.
  for (const box of all(".scroll")) {
    const cue = element("p", "cue", "Scroll sideways for more columns.");
    box.after(cue);
    const look = () => {
      const more = box.scrollWidth - box.clientWidth;
      box.classList.toggle("more-left", box.scrollLeft > 1);
      box.classList.toggle("more-right", box.scrollLeft < more - 1);
      cue.hidden = more <= 1;
    };
    box.addEventListener("scroll", look, { passive: true });
    new ResizeObserver(look).observe(box);
    look();
  }

  const sortKey = (row, at) => {
    const cell = row.cells[at];
    return cell.dataset.v === undefined ? cell.textContent.trim() : Number(cell.dataset.v);
  };
  for (const table of all("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, at) => {
      const button = element("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const isBlank = (key) => key === "" || key === "–";
        const rows = [...table.tBodies[0].rows].map((row) => ({ row, key: sortKey(row, at) }));
        rows.sort((a, b) => {
          if (isBlank(a.key) || isBlank(b.key)) return isBlank(a.key) - isBlank(b.key);
          const both = typeof a.key === "number" && typeof b.key === "number";
          const order = both ? a.key - b.key : String(a.key).localeCompare(String(b.key), "en", { numeric: true });
          return down ? -order : order;
        });
        table.tBodies[0].append(...rows.map(({ row }) => row));
      });
    });
  }

  // ---- heat maps --------------------------------------------------------------------------------
  for (const figure of all("figure.heat")) {
    const table = figure.querySelector("table");
    const read = figure.querySelector("output");
    const heads = [...table.tHead.rows[0].cells];
    table.addEventListener("mouseover", (event) => {
      all("th.lit", table).forEach((head) => head.classList.remove("lit"));
      const cell = event.target.closest("td");
      if (!cell || cell.dataset.v === undefined) { read.textContent = ""; return; }
      const row = cell.parentElement.cells[0];
      const column = heads[cell.cellIndex];
      row.classList.add("lit");
      column.classList.add("lit");
      const spread = cell.dataset.spread ? ` (${cell.dataset.spread})` : "";
      read.textContent = `${row.textContent} × ${column.textContent}: ${show(Number(cell.dataset.v), 4)}${spread}`;
    });
    table.addEventListener("mouseleave", () => {
      all("th.lit", table).forEach((head) => head.classList.remove("lit"));
      read.textContent = "";
    });
  }

  // ---- contents and print -----------------------------------------------------------------------
  const links = new Map(all(".contents a").map((link) => [link.hash.slice(1), link]));
  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      links.forEach((link) => link.removeAttribute("aria-current"));
      links.get(target.id).setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-10% 0px -75% 0px" });
  links.forEach((_, id) => seen.observe(document.getElementById(id)));
  let folded = [];
  addEventListener("beforeprint", () => {
    // A folded table stays folded: its rows are in a file, and on paper they would bury the rest.
    folded = all("details.scenario:not([open])");
    folded.forEach((details) => { details.open = true; });
  });
  addEventListener("afterprint", () => folded.forEach((details) => { details.open = false; }));
})();
