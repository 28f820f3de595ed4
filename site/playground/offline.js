// Keeps the site for reading without a network. The folder that holds `playground/` has `sw.js`.
if ("serviceWorker" in navigator) {
  navigator.serviceWorker.register(new URL("../sw.js", import.meta.url)).catch(() => { /* a page from a file has none */ });
}
