// What a page lacks for who cannot see it, or not well: names, scopes, contrast. Gives a list of words, empty where
// nothing is lacking. It looks at what is shown.
const lacking = () => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const isShown = (one) => one.getClientRects().length > 0 && getComputedStyle(one).visibility === "visible";
  const faults = [];
  const fault = (what, one) => faults.push(`${what}: ${one.outerHTML.slice(0, 120)}`);

  // ---- names ----
  const nameOf = (one) => (one.getAttribute("aria-label") || one.textContent || one.title || "").trim();
  all("button, a[href], select, input, summary, [role=region], [role=group], [role=img], nav").filter(isShown)
    .forEach((one) => nameOf(one) || fault("no name", one));
  all("canvas").forEach((one) => one.getAttribute("role") === "img" || fault("no role", one));
  all("svg").filter(isShown).forEach((one) => {
    const isNamed = one.getAttribute("role") === "img" && one.querySelector("title");
    if (!isNamed && one.getAttribute("aria-hidden") !== "true") fault("neither named nor hidden", one);
  });
  const ids = all("[id]").map((one) => one.id);
  ids.filter((id, at) => ids.indexOf(id) !== at).forEach((id) => faults.push(`two elements are #${id}`));
  if (all("h1").length !== 1) faults.push("not one h1");
  if (!document.documentElement.lang) faults.push("no language");

  // ---- tables ----
  all("main table").filter((one) => !one.closest(".tip")).forEach((table) => {
    if (!table.caption || !table.caption.textContent.trim()) fault("no caption", table);
    [...table.querySelectorAll("th")].forEach((head) => head.scope || fault("no scope", head));
  });

  // ---- keyboard ----
  const isReached = (one) => one.tabIndex >= 0;
  all("button, select, .u-over").filter(isShown).forEach((one) => isReached(one) || fault("no key reaches it", one));
  all(".scroll").filter((one) => isShown(one) && one.scrollWidth > one.clientWidth + 1)
    .forEach((one) => isReached(one) || fault("no key scrolls it", one));

  // ---- contrast ----
  const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], under) => [r, g, b].map((v, i) => v * a + under[i] * (1 - a)).concat(1);
  const chain = (one) => one ? [one, ...chain(one.parentElement)] : [];
  const ground = (one) => chain(one).reverse()
    .reduce((under, part) => over(rgba(getComputedStyle(part).backgroundColor), under), [255, 255, 255, 1]);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const contrast = (one) => {
    const under = ground(one);
    const [r, g, b, a] = rgba(getComputedStyle(one).color);
    const seen = chain(one).reduce((share, part) => share * Number(getComputedStyle(part).opacity), a);
    const [high, low] = [light(over([r, g, b, seen], under)), light(under)].sort((x, y) => y - x);
    return (high + 0.05) / (low + 0.05);
  };
  const seen = new Map();
  const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (words.nextNode()) {
    const one = words.currentNode.parentElement;
    const isPicture = one.closest("script, style, svg, .caption-only");
    if (!words.currentNode.textContent.trim() || isPicture || !isShown(one)) continue;
    const kind = `${one.tagName}.${one.className} in ${one.parentElement.className}`;
    const found = contrast(one);
    if (found < (seen.get(kind) || [Infinity])[0]) seen.set(kind, [found, one]);
  }
  for (const [found, one] of seen.values()) {
    if (found < 4.5) fault(`contrast ${found.toFixed(2)}`, one);
  }
  return faults;
};
