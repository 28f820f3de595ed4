// Numbers as a person reads them: thousands apart, powers of ten raised, units behind.
const Numbers = (() => {
  "use strict";
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
  return { raise, show, say, withUnit };
})();
