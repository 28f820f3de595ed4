// Elements of a page, made and found.
const Dom = (() => {
  "use strict";
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const make = (name, className, text) => {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const button = (className, text, pressed) => {
    const made = make("button", className, text);
    made.type = "button";
    made.addEventListener("click", () => pressed(made));
    return made;
  };
  return { all, make, button };
})();
