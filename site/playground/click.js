// A page for Click configurations: the drawing, an estimate for a machine, and the way of a packet
// through it. Nothing leaves the browser.

import { element } from "./controls.js";
import { Engine } from "./engine.js";
import { changed, make, read } from "./packet.js";
import { fromFragment, toFragment } from "./share.js";
import { table } from "./tables.js";

const EXAMPLE = `// A router between two networks. Paste your own.
FromDevice(eth0) -> c0 :: Classifier(12/0806 20/0001, 12/0800, -);
c0[0] -> ARPResponder(10.0.0.1 02:00:00:00:00:01) -> out0 :: Queue -> ToDevice(eth0);
c0[1] -> Strip(14) -> CheckIPHeader -> rt :: RadixIPLookup(10.0.0.0/24 0, 10.0.1.0/24 1, 0.0.0.0/0 10.0.1.254 1);
c0[2] -> Discard;

rt[0] -> ttl0 :: DecIPTTL -> EtherEncap(0x0800, 02:00:00:00:00:01, 02:00:00:00:00:11) -> out0;
rt[1] -> ttl1 :: DecIPTTL -> EtherEncap(0x0800, 02:00:00:00:01:01, 02:00:00:00:01:11) -> out1 :: Queue -> ToDevice(eth1);
ttl0[1] -> e0 :: ICMPError(10.0.0.1, timeexceeded, transit) -> rt;
ttl1[1] -> e0;
`;
// What an answer that nobody wants any more may take, and any answer, ms.
const PATIENCE = 100;
const LONGEST = 10_000;
const TOO_LONG = "This takes longer than ten seconds, so it was ended. Do packets go round in a loop? `trammel check` tells, and `trammel estimate` has no such limit.";
const USUAL = { to: "02:00:00:00:00:01", from: "02:00:00:00:00:11", source: "10.0.0.11", destination: "10.0.1.11", protocol: "udp", ttl: 64, port: 9, size: 64 };
const show = (value, digits = 3) => (value === null || value === undefined ? "–" : String(Number(Number(value).toPrecision(digits))));

class Configuration {
  constructor(box) {
    this.box = box;
    this.turn = 0;
    box.classList.add("tp");
    this.area = element("textarea", { spellcheck: false, rows: 16, "aria-label": "The Click configuration", oninput: () => this.#later() });
    this.machine = element("select", { "aria-label": "Machine", onchange: () => this.#ask() });
    this.inlet = element("select", { "aria-label": "Where the packet comes in", onchange: () => this.#ask() });
    this.fields = Object.fromEntries(Object.entries(USUAL).map(([name, value]) => [name,
      name === "protocol"
        ? element("select", { onchange: () => this.#ask() }, ...["udp", "tcp", "icmp", "arp"].map((p) => element("option", { value: p }, p.toUpperCase())))
        : element("input", { value, type: typeof value === "number" ? "number" : "text", min: 0, max: { ttl: 255, port: 65535, size: 1518 }[name] || "", size: 16, oninput: () => this.#later() })]));
    const labelled = (text, input) => element("label", { class: "tp-row tp-wide" }, element("span", {}, text), input);
    this.fault = element("pre", { class: "tp-fault", role: "alert", hidden: true });
    this.drawing = element("div", { class: "tp-drawing", role: "img", "aria-label": "The configuration as a drawing" });
    this.estimate = element("div", { class: "tp-tables", tabIndex: 0, role: "region", "aria-label": "Estimate" });
    this.way = element("div", { class: "tp-tables", tabIndex: 0, role: "region", "aria-label": "The packet's way" });
    this.said = element("div", { class: "tp-said", "aria-live": "polite" });
    const share = element("button", { type: "button", onclick: () => this.#share() }, "Copy link");
    box.replaceChildren(
      element("div", { class: "tp-bar" }, element("strong", {}, "Click configuration"), element("span", { class: "tp-space" }), share),
      element("div", { class: "tp-body" },
        element("form", { class: "tp-side", "aria-label": "Configuration and packet", onsubmit: (event) => event.preventDefault() },
          this.area,
          element("fieldset", {}, element("legend", {}, "Estimate"), labelled("Machine", this.machine)),
          element("fieldset", {}, element("legend", {}, "Packet"), labelled("Comes in at", this.inlet),
            labelled("Protocol", this.fields.protocol), labelled("Source", this.fields.source), labelled("Destination", this.fields.destination),
            labelled("Port", this.fields.port), labelled("TTL", this.fields.ttl), labelled("Frame, bytes", this.fields.size),
            labelled("Ethernet to", this.fields.to), labelled("Ethernet from", this.fields.from))),
        element("div", { class: "tp-main" }, this.fault, element("h2", {}, "Drawing"), this.drawing, element("h2", {}, "A packet's way"), this.way, element("h2", {}, "Estimate"), this.estimate)),
      this.said,
    );
  }

  async start() {
    try {
      this.engine = await Engine.start(new URL("./", import.meta.url), "click.wasm");
    } catch (error) {
      this.#fault(`The engine cannot be started: ${error.message}.`);
      return;
    }
    this.area.value = EXAMPLE;
    try { this.area.value = (await fromFragment(location.hash.replace("#click=", "#toml="))) || EXAMPLE; } catch (error) { this.#fault(`The configuration in the address cannot be read: ${error.message}.`); }
    await this.#ask();
  }

  #fault(text) {
    this.fault.textContent = text;
    this.fault.hidden = !text;
  }

  #later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#ask(), 300);
  }

  async #ask() {
    const turn = ++this.turn;
    this.box.dataset.state = "running";
    let frame;
    let wrong = "";
    try {
      const value = (name) => this.fields[name].value;
      const number = (name, most) => {
        const it = Number(value(name));
        if (!Number.isInteger(it) || it < 0 || it > most) throw new Error(`${name} is from 0 to ${most}`);
        return it;
      };
      frame = make({ to: value("to"), from: value("from"), source: value("source"), destination: value("destination"), protocol: value("protocol"), ttl: number("ttl", 255), port: number("port", 65535), size: number("size", 1518) });
    } catch (error) {
      wrong = error.message;
    }
    // Sources and devices alike; the first that is a device's is likely meant.
    const request = { text: this.area.value, frame, inlet: Math.max(0, this.inlet.selectedIndex) };
    if (this.machine.value) request.machine = this.machine.value;
    const answer = await this.#answer(request, turn);
    if (turn !== this.turn) return;
    this.#fault([answer.error || answer.faults || "", wrong].filter(Boolean).join("\n"));
    this.#menus(answer);
    if (answer.svg) this.#draw(answer.svg); else this.drawing.replaceChildren();
    this.#estimate(answer.estimate);
    this.#way(answer.way);
    this.box.dataset.state = answer.faults ? "fault" : "done";
  }

  // The worker answers one after the other, so one that takes long is ended for the next.
  async #answer(request, turn) {
    let isOver = false;
    let limit;
    try {
      await this.engine.free(PATIENCE);
      if (turn !== this.turn) return null;
      limit = setTimeout(() => { isOver = true; this.engine.restart().catch(() => {}); }, LONGEST);
      return await this.engine.call("configuration", request);
    } catch (error) {
      return { faults: isOver ? TOO_LONG : error.message, machines: [] };
    } finally {
      clearTimeout(limit);
    }
  }

  #menus({ machines = [], inlets = [], estimate = null }) {
    if (machines.length && this.machine.options.length !== machines.length) {
      this.machine.replaceChildren(...machines.map(({ name, title }) => element("option", { value: name }, `${name}: ${title}`)));
      // A profile is of its machine: `NAME:PROFILE`.
      if (estimate?.machine) [this.machine.value] = estimate.machine.split(":");
    }
    if (inlets.join() !== [...this.inlet.options].map((option) => option.value).join()) this.inlet.replaceChildren(...inlets.map((name) => element("option", { value: name }, name)));
  }

  #draw(svg) {
    const parsed = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
    this.drawing.replaceChildren(document.importNode(parsed, true));
  }

  #estimate(estimate) {
    if (!estimate) { this.estimate.replaceChildren(); return; }
    if (estimate.error) { this.estimate.replaceChildren(element("p", {}, estimate.error)); return; }
    const rows = estimate.rows.map((row) => [show(row.frame_bytes, 5), show(row.cost_cycles), `${show(row.low_cycles)} to ${show(row.high_cycles)}`, show(row.rate_mpps), show(row.line_gbps), row.bound_by]);
    this.estimate.replaceChildren(
      table(`Predicted on ${estimate.machine} (${estimate.title}), one core`, ["frame, bytes", "cycles", "from, to", "Mpps", "Gbit/s on the wire", "bound by"], rows),
      ...estimate.notes.map((note) => element("p", {}, note)),
      element("details", {}, element("summary", {}, "What each element costs"), element("pre", { tabIndex: 0 }, estimate.shares)));
  }

  #way(way) {
    if (!way) { this.way.replaceChildren(); return; }
    if (way.error) { this.way.replaceChildren(element("p", {}, way.error)); return; }
    if (!way.steps.length) { this.way.replaceChildren(element("p", {}, "The packet does not come in.")); return; }
    let before = null;
    const rows = way.steps.map((step) => {
      const places = new Set(before === null ? [] : changed(before, step.data));
      before = step.data;
      const bytes = element("code", { class: "tp-bytes" });
      const pairs = step.data.match(/../g) || [];
      pairs.slice(0, 48).forEach((pair, i) => bytes.append(places.has(i) ? element("mark", {}, pair) : pair, i % 2 ? " " : ""));
      if (pairs.length > 48) bytes.append("…");
      const where = { pushed: `→ [${step.port}] ${step.element}`, pulled: `← ${step.element} [${step.port}]` }[step.how] || `ends at ${step.element}`;
      const packet = element("div", {}, { pushed: read(step.data), pulled: read(step.data) }[step.how] || step.how);
      return [where, step.class, element("div", {}, packet, bytes)];
    });
    this.way.replaceChildren(table("Each line: where the packet comes, and what it is before the element touches it; bytes that changed are marked", ["element", "class", "packet"], rows));
    this.way.firstElementChild.className = "tp-words";
  }

  async #share() {
    const fragment = (await toFragment(this.area.value)).replace("#toml=", "#click=");
    history.replaceState(null, "", fragment);
    try { await navigator.clipboard.writeText(location.href); this.said.textContent = "The link is copied."; } catch { this.said.textContent = "The link is in the address bar."; }
  }
}

for (const box of document.querySelectorAll(".trammel-click")) new Configuration(box).start();
