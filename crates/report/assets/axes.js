// Axes: where a value lies on one, from where to where one goes, and which marks it has. The rules are those
// of axis.rs and ticks.rs.
//
// An axis is { text, unit, log, near, marks, zero, fixed, range }: `log` divides it by factors, `near` (above 0)
// by factors beyond that distance from zero, `marks` are its own marks, `zero` has it begin there, `fixed` keeps
// its range.
const Axes = (() => {
  "use strict";
  const complete = (axis) => ({
    text: "", unit: "", log: false, near: 0, marks: [], zero: false, fixed: Boolean(axis.range), range: null, ...axis,
  });
  const markText = (axis, v) => {
    const power = Math.log10(Math.abs(v));
    const isPower = Math.abs(power - Math.round(power)) < 1e-6 && Math.abs(power - 0.5) > 2;
    const isOwn = (axis.marks || []).includes(v) && Math.abs(power) < 4.5;
    const isRaised = (axis.log || axis.near) && isPower && !isOwn;
    return isRaised ? "10" + Numbers.raise(String(Math.round(power))) : Numbers.show(v);
  };
  // Distances on the axis are differences of these.
  const forward = (axis, v) => axis.log ? Math.log(v) : axis.near ? Math.asinh(v / axis.near) : v;
  const place = (axis, low, high, v) =>
    (forward(axis, v) - forward(axis, low)) / (forward(axis, high) - forward(axis, low));
  const withRoom = (axis, low, high) => {
    if (axis.log) return [low / 1.15, high * 1.15];
    if (axis.near) return [low >= 0 ? 0 : low * 1.15, high * 1.15];
    if (low >= 0 && (axis.zero || low < high * 0.5)) return [0, high * 1.05];
    const span = Math.max(high - low, 0.1 * Math.max(Math.abs(low), Math.abs(high)));
    return [(low + high) / 2 - span * 0.55, (low + high) / 2 + span * 0.55];
  };
  // The least and greatest of `values` that the axis shows, apart also where they are one.
  const span = (axis, values) => {
    let [low, high] = [Infinity, -Infinity];
    for (const v of values) {
      if (v === null || !Number.isFinite(v) || (axis.log && v <= 0)) continue;
      if (v < low) low = v;
      if (v > high) high = v;
    }
    if (low < high) return [low, high];
    if (low > high) return axis.log ? [1, 10] : [0, 1];
    if (axis.log) return [low / 2, high * 2];
    return low === 0 ? [0, 1] : [low - 0.05 * Math.abs(low), high + 0.05 * Math.abs(high)];
  };
  const marks = (axis, low, high, count) => {
    const own = [];
    for (const v of axis.marks || []) {
      const at = place(axis, low, high, v);
      const isFree = !own.length || at - place(axis, low, high, own[own.length - 1]) >= 0.8 / count;
      if (at >= -1e-9 && at <= 1 + 1e-9 && isFree) own.push(v);
    }
    if (own.length >= 2) return own;
    if (axis.near) {
      const side = (end) => end > axis.near ? marks({ log: true }, axis.near * 2, end, count) : [];
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
  return { complete, markText, withRoom, span, marks };
})();
