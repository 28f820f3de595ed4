// Faults and notes of the engine for a reader of a page, who has no command line and no files: what
// they say of commands becomes links into the site.

import { element } from "./controls.js";

const SITE = new URL("../", import.meta.url);

// Hints, each with what a page has instead: texts, and links as a pair of words and an address.
const HINTS = [
  [/`trammel list (\w+)` shows all( presets)?/, ([, kind]) => ["choose one of ", [`all ${kind}`, `reference/${kind}/index.html`]]],
  [/`trammel doc (\w+) ([\w.-]+)` shows (?:all|what it takes)/, ([, kind, name]) => [["its parameters", `reference/${kind}/${name}.html`]]],
  [/begin with a file of `examples`, or with `trammel doc scenario`/, () => ["choose a question above, or see ", ["every key", "scenarios.html"]]],
  [/`trammel doc scenario` shows the keys of a scenario/, () => [["these are the keys of a scenario", "scenarios.html"]]],
  [/operation not supported on this platform/, () => ["a page has no files"]],
  [/is not in this module/, () => ["is not on this page"]],
];

// A text as nodes of a page.
export const told = (text) => {
  const out = [];
  let rest = text;
  while (rest) {
    const found = HINTS.map(([pattern, make]) => ({ match: pattern.exec(rest), make })).filter(({ match }) => match);
    if (!found.length) break;
    const { match, make } = found.reduce((a, b) => (b.match.index < a.match.index ? b : a));
    out.push(rest.slice(0, match.index));
    out.push(...make(match).map((part) => (Array.isArray(part) ? element("a", { href: new URL(part[1], SITE).href }, part[0]) : part)));
    rest = rest.slice(match.index + match[0].length);
  }
  return [...out, rest];
};
