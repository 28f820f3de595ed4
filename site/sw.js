// Serves the site without a network, once it was loaded: the playground whole, other pages as they
// were read. What the network has is newer and is taken where it answers.
"use strict";

const CACHE = "trammel";
const PLAYGROUND = ["", "index.html", "play.js", "controls.js", "cost.js", "engine.js", "faults.js", "plots.js", "presets.js", "series.js", "share.js", "svg.js", "sweep.js", "tables.js",
  "offline.js", "worker.js", "click.html", "click.js", "click.wasm", "packet.js", "style.css", "curves.js", "curves.css", "trammel.wasm"].map((name) => `playground/${name}`);

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(PLAYGROUND)).then(() => self.skipWaiting()));
});
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || new URL(request.url).origin !== self.location.origin) return;
  event.respondWith((async () => {
    const cache = await caches.open(CACHE);
    try {
      const response = await fetch(request);
      if (response.ok) await cache.put(request, response.clone());
      return response;
    } catch (error) {
      const kept = await cache.match(request, { ignoreSearch: true });
      if (kept) return kept;
      throw error;
    }
  })());
});
