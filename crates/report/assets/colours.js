// The page's colours, as a canvas needs them: those of the theme at hand.
const Colours = (() => {
  "use strict";
  let known = {};
  let probe = null;
  let place = null;
  const watching = new Set();
  // Takes the colours that hold within an element, where the page itself has none.
  const within = (element) => { place = element; };
  const of = (name) => {
    if (!known[name]) {
      if (!probe || !probe.isConnected) {
        probe = (place || document.body).appendChild(Dom.make("i"));
        probe.hidden = true;
      }
      probe.style.color = `var(--${name})`;
      known[name] = getComputedStyle(probe).color;
    }
    return known[name];
  };
  const faint = (name, share) => of(name).replace(/rgb\(([^)]*)\)/, `rgba($1, ${share})`);
  // Calls `repaint` whenever the theme changes; what it gives ends that.
  const watch = (repaint) => {
    watching.add(repaint);
    return () => watching.delete(repaint);
  };
  const changed = () => {
    known = {};
    watching.forEach((repaint) => repaint());
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  return { within, of, faint, watch, changed };
})();
