// Makes a report's figures and tables interactive. The page is complete without it.
//
// A figure's data is the JSON beside its SVG.
const Report = (() => {
  "use strict";
  const { all, make, button } = Dom;

  // ---- figures ----------------------------------------------------------------------------------
  const save = (figure, id) => button("save", "Save SVG", () => {
    const link = make("a");
    const text = figure.querySelector(".static").innerHTML;
    link.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
    link.download = id + ".svg";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  let drawn = [];
  const plot = (figure, isOfMany) => {
    const data = JSON.parse(figure.querySelector("script").textContent);
    const picture = figure.querySelector(".static");
    const title = figure.querySelector("h3").firstChild.textContent;
    const reset = button("reset", "Reset zoom", () => curves.zoom(null));
    reset.hidden = true;
    const box = make("div");
    picture.after(box);
    figure.classList.add("drawn");
    let curves;
    try {
      curves = Curves.draw(box, data, {
        name: picture.querySelector("title").textContent.trim(),
        legend: !isOfMany,
        group: data.group && "group-" + data.group,
        reset: (isZoomed) => { reset.hidden = !isZoomed; },
      });
    } catch (error) {
      figure.classList.remove("drawn");
      box.remove();
      console.error(error);
      return null;
    }
    drawn.push(curves);
    const tools = make("div", "tools");
    const saving = save(figure, data.id);
    saving.setAttribute("aria-label", `Save SVG of ${title}`);
    tools.append(reset, saving);
    figure.querySelector("figcaption").append(tools);
    return curves;
  };
  // Plots over the time of one run have one legend, which stays in sight.
  const plots = (root) => {
    const groups = new Map();
    for (const figure of all("figure.plot", root)) {
      const name = figure.dataset.group || figure.id;
      groups.set(name, [...(groups.get(name) || []), figure]);
    }
    for (const figures of groups.values()) {
      const isOfMany = figures.length > 1;
      const all = figures.map((figure) => plot(figure, isOfMany)).filter(Boolean);
      if (!isOfMany || !all.length) continue;
      const legend = Legend.of(all);
      legend.classList.add("shared");
      const first = figures[0].parentElement.classList.contains("grid") ? figures[0].parentElement : figures[0];
      first.before(legend);
    }
  };

  // Of a part of the page, or all of it.
  const enliven = (root) => {
    plots(root);
    all(".choice", root).forEach(Picker.of);
    all(".scroll", root).forEach(Tables.cue);
    all("table.sortable", root).forEach(Tables.sortable);
    all("figure.heat", root).forEach(Heat.of);
  };
  // Lets all plots go, before their page is replaced.
  const forget = () => {
    drawn.forEach((curves) => curves.remove());
    drawn = [];
  };
  enliven(document);

  // ---- theme ------------------------------------------------------------------------------------
  const root = document.documentElement;
  document.querySelector(".theme").addEventListener("click", () => {
    const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = root.dataset.theme || (isDark ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
    try { localStorage.setItem("trammel-theme", root.dataset.theme); } catch (e) { /* private mode */ }
    Colours.changed();
  });

  // ---- contents and print -----------------------------------------------------------------------
  const contents = () => {
    const links = new Map(all(".contents a").map((link) => [link.hash.slice(1), link]));
    const seen = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue;
        links.forEach((link) => link.removeAttribute("aria-current"));
        links.get(target.id).setAttribute("aria-current", "true");
      }
    }, { rootMargin: "-10% 0px -75% 0px" });
    links.forEach((_, id) => seen.observe(document.getElementById(id)));
  };
  contents();
  let folded = [];
  addEventListener("beforeprint", () => {
    // A folded table stays folded: its rows are in a file, and on paper they would bury the rest.
    folded = all("details.scenario:not([open])");
    folded.forEach((details) => { details.open = true; });
  });
  addEventListener("afterprint", () => folded.forEach((details) => { details.open = false; }));
  return { enliven, forget, contents };
})();
