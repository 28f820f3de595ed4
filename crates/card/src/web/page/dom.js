// Elements of the page.

/// The element with an id.
export const at = (id) => document.getElementById(id);

/// Makes an element: its tag, attributes, and children or texts.
export function make(tag, attributes = {}, ...children) {
  const one = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) one.setAttribute(name, "");
    else if (value !== false && value != null) one.setAttribute(name, value);
  }
  one.append(...children);
  return one;
}

/// Writes a text only where it differs, so that nothing is drawn or read out anew.
export function write(one, text) {
  if (one.textContent !== String(text)) one.textContent = text;
}
