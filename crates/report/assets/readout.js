// What a plot says of the place that a cursor points at.
//
// Curves answer by x; points of a sweep answer only where the nearest x of the figure is theirs; clouds answer by
// distance. So the read-out never sets values of different x beside one another as if they were one.
const ReadOut = (() => {
  "use strict";
  const NEAR = 40; // pixels
  const MOST = 14; // rows

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

  // The point of each series that the cursor means, by its position in the series, or -1.
  const meant = (u, all, shown) => {
    const { left, top } = u.cursor;
    const x = u.posToVal(left, "x");
    const offset = (series, k) => Math.abs(u.valToPos(series.x[k], "x") - left);
    const found = all.map((series, i) => {
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
    const sparse = all.map((series, i) => series.line && series.points && found[i] >= 0);
    const least = Math.min(...all.map((series, i) => sparse[i] ? offset(series, found[i]) : Infinity));
    const kept = found.map((k, i) => sparse[i] && offset(all[i], k) > least + 4 ? -1 : k);
    const at = kept.findIndex((k, i) => sparse[i] && k >= 0);
    return { kept, x: at < 0 ? x : all[at].x[kept[at]] };
  };

  // Fills `tip` and sets it beside the cursor.
  const show = (u, data, shown, tip, canvas) => {
    const { left, top } = u.cursor;
    if (left === undefined || left < 0) { tip.hidden = true; return; }
    const { kept, x } = meant(u, data.series, shown);
    const rows = data.series.map((series, i) => {
      const k = kept[i];
      return k < 0 || series.y[k] === null ? null : { series, k, y: series.y[k] };
    }).filter(Boolean).sort((a, b) => b.y - a.y);
    tip.hidden = rows.length === 0;
    if (tip.hidden) return;
    const { say, withUnit } = Numbers;
    const head = Dom.make("b", "", withUnit(say(x, 4), data.x));
    const body = Dom.make("table");
    for (const { series, k, y } of rows.slice(0, MOST)) {
      const row = body.insertRow();
      const name = row.insertCell();
      const dot = Dom.make("i");
      dot.style.background = Colours.of("c" + series.colour);
      const which = data.shapes[series.shapes[k]];
      name.append(dot, [series.name, which, series.words].filter(Boolean).join(", "));
      // A cloud's point is not at the cursor's x, so it says its own.
      row.insertCell().textContent = series.line
        ? withUnit(say(y, 4), data.y)
        : `(${withUnit(say(series.x[k], 3), data.x)}, ${withUnit(say(y, 4), data.y)})`;
      if (series.low.length) row.insertCell().textContent = `${say(series.low[k], 3)} to ${say(series.high[k], 3)}`;
    }
    tip.replaceChildren(...(rows.some(({ series }) => series.line) ? [head] : []), body);
    const { offsetWidth: width, offsetHeight: height } = tip;
    const from = u.over.offsetLeft + left;
    const isRight = from + 14 + width < canvas.clientWidth;
    tip.style.left = `${isRight ? from + 14 : Math.max(0, from - 14 - width)}px`;
    tip.style.top = `${Math.max(0, Math.min(u.over.offsetTop + top - height / 2, canvas.clientHeight - height))}px`;
  };
  return { nearest, meant, show };
})();
