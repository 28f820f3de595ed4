// Fills the page while its run goes on: asks every second whether there is more, and puts it into the place of what
// was there, with the choices of the reader. Only a page that is served has this.
(() => {
  "use strict";
  const { all, make } = Dom;
  const PAUSE = 1000; // ms
  const bar = make("p", "live-state", "The run goes on; this page fills itself.");
  bar.setAttribute("role", "status");
  document.querySelector(".lead").before(bar);
  let known = null;

  // What the reader has chosen, by names that stay.
  const picked = () => all(".choice").map((choice) => {
    const shown = all(":scope > .option", choice).find((option) => !option.hidden);
    return shown && shown.querySelector(".option-name").textContent;
  });
  const open = () => all("details[open] > summary h3").map((title) => title.textContent);
  const off = () => all('.legend button[aria-pressed="false"]').map((button) => button.textContent);

  const put = (text) => {
    const next = new DOMParser().parseFromString(text, "text/html");
    const before = { picked: picked(), open: open(), off: off(), y: scrollY };
    Report.forget();
    document.title = next.title;
    const main = document.querySelector("main");
    main.replaceChildren(bar, ...next.querySelector("main").children);
    document.querySelector(".contents").replaceChildren(...next.querySelector(".contents").children);
    Report.enliven(main);
    Report.contents();
    all(".choice").forEach((choice, i) => before.picked[i] && Picker.pick(choice, before.picked[i]));
    all("details > summary h3").forEach((title) => {
      if (before.open.includes(title.textContent)) title.closest("details").open = true;
    });
    all(".legend button").forEach((button) => before.off.includes(button.textContent) && button.click());
    scrollTo({ top: before.y, behavior: "instant" });
  };

  const look = async () => {
    try {
      const state = await (await fetch("state", { cache: "no-store" })).text();
      const [version, word] = state.split(" ");
      if (version !== known) {
        if (known !== null || version !== "1") put(await (await fetch("./", { cache: "no-store" })).text());
        known = version;
      }
      if (word === "ended") {
        bar.textContent = "The run is over: this is its whole report.";
        return;
      }
    } catch (error) {
      bar.textContent = "The program has ended: this is the last that it told.";
      return;
    }
    setTimeout(look, PAUSE);
  };
  look();
})();
