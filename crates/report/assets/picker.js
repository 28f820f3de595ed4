// Alternatives of which one is looked at: buttons, or a menu where there are many.
const Picker = (() => {
  "use strict";
  const MOST_BUTTONS = 6;
  const of = (choice) => {
    const options = [...choice.children];
    const names = options.map((option) => option.querySelector(".option-name").textContent);
    const pick = (at) => options.forEach((option, i) => { option.hidden = i !== at; });
    const bar = Dom.make("div", "picker");
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", choice.dataset.name);
    bar.append(Dom.make("span", "", choice.dataset.name));
    if (options.length > MOST_BUTTONS) {
      const select = Dom.make("select");
      select.setAttribute("aria-label", choice.dataset.name);
      names.forEach((name, at) => select.append(new Option(name, at)));
      select.addEventListener("change", () => pick(Number(select.value)));
      bar.append(select);
    } else {
      names.forEach((name, at) => {
        const button = Dom.button("", name, () => {
          Dom.all("button", bar).forEach((other) => other.setAttribute("aria-pressed", other === button));
          pick(at);
        });
        button.setAttribute("aria-pressed", at === 0);
        bar.append(button);
      });
    }
    choice.prepend(bar);
    pick(0);
  };
  // Picks the alternative of this name, where there is one.
  const pick = (choice, name) => {
    const button = Dom.all(":scope > .picker button", choice).find((one) => one.textContent === name);
    if (button) button.click();
    const select = choice.querySelector(":scope > .picker select");
    const option = select && [...select.options].find((one) => one.text === name);
    if (!option) return;
    select.value = option.value;
    select.dispatchEvent(new Event("change"));
  };
  return { of, pick };
})();
