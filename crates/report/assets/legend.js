// The legend of one plot, or of several that show the same: a button for each name, which hides and shows its
// series in all of them.
const Legend = (() => {
  "use strict";
  // What has one name, one colour and one source is one thing, in whichever plot it is drawn.
  const key = (series) => [series.name, series.colour, series.label].join("\n");

  const of = (curves) => {
    const box = Dom.make("div", "legend");
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", "Legend");
    const all = new Map();
    for (const { data } of curves) {
      for (const series of data.series) {
        if (!all.has(key(series)) && !series.beside) all.set(key(series), series);
      }
    }
    // Where all have one label, the title says it.
    const hasSeveral = new Set([...all.values()].map((series) => series.label).filter(Boolean)).size > 1;
    const buttons = new Map();
    const set = (name, isShown) => {
      buttons.get(name).setAttribute("aria-pressed", isShown);
      curves.forEach((one) => one.show(name, isShown));
    };
    const isShown = (name) => buttons.get(name).getAttribute("aria-pressed") === "true";
    for (const [name, series] of all) {
      const button = Dom.button("", "", () => set(name, !isShown(name)));
      button.title = "Click: show or hide. Double click: this one alone.";
      button.setAttribute("aria-pressed", "true");
      button.innerHTML = Marks.swatch(series);
      button.append(series.name);
      if (series.words && hasSeveral) button.append(Dom.make("span", `badge label-${series.label}`, series.words));
      button.addEventListener("dblclick", () => {
        const isAlone = [...buttons.keys()].every((other) => isShown(other) === (other === name));
        buttons.forEach((_, other) => set(other, isAlone || other === name));
      });
      button.addEventListener("mouseenter", () => isShown(name) && curves.forEach((one) => one.focus(name)));
      button.addEventListener("mouseleave", () => curves.forEach((one) => one.focus(null)));
      buttons.set(name, button);
      box.append(button);
    }
    // A shape without words is not used.
    const shapes = new Map(curves.flatMap(({ data }) => data.shapes.map((text, kind) => [text, kind])));
    shapes.delete("");
    for (const [text, kind] of shapes) {
      const sign = Dom.make("span", "shape");
      sign.innerHTML = Marks.key(kind);
      sign.append(text);
      box.append(sign);
    }
    const hasNames = hasSeveral || [...all.values()].some((series) => series.name);
    box.hidden = !hasNames && !shapes.size;
    return box;
  };
  return { key, of };
})();
