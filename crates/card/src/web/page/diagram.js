// The data path as a block diagram: a box for each queue and stage, its counters, and their rates.

import { at, make, write } from "./dom.js";
import { edit, mayEdit } from "./page.js";

const numbers = new Intl.NumberFormat("en");
const whole = (count) => numbers.format(count);

/// A rate in three digits with its prefix.
function short(rate) {
  for (const [most, prefix] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (rate >= most) return `${(rate / most).toPrecision(3)} ${prefix}`;
  }
  return rate >= 10 || rate === 0 ? `${Math.round(rate)} ` : `${rate.toPrecision(2)} `;
}

/// Lines that were made, by their key: they are only written to from then on.
const lines = new Map();
let made = null;

/// A line of a counter. `of` finds it in a state.
function line(key, label, title, of, kind = "") {
  const count = make("span", { class: "num" });
  const rate = make("span", { class: "rate" });
  const name = make("span", { title }, label);
  const row = make("div", { class: `row ${kind}`, "data-counter": key },
    name, count, rate);
  lines.set(key, { count, rate, of, row, kind });
  return row;
}

function box(name, kind, note, ...children) {
  const noted = make("span", { title: note }, note);
  return make("div", { class: `box ${kind}`, role: "group", "aria-label": `${name} ${note}` },
    make("b", {}, make("em", {}, name), noted), ...children);
}

function stage(title, ...boxes) {
  return make("div", { class: "stage", role: "group", "aria-label": title },
    make("h3", {}, title), make("div", { class: "boxes" }, ...boxes));
}

function makeDiagram(now) {
  lines.clear();
  const input = [];
  for (const { port, interface: name } of now.ports) {
    const key = `rx${port}`;
    const of = (register) => (state) => state.ports[port].registers[register];
    input.push(box(`MAC ${port} rx`, name ? "" : "idle", name ?? "no interface",
      line(`${key}-in`, "frames", "frames stored", of("rx_queue_num_pkts_stored")),
      line(`${key}-full`, "full", "dropped: no room, or queue off",
        of("rx_queue_num_pkts_dropped_full"), "loss"),
      line(`${key}-bad`, "bad", "dropped: FCS or length", of("rx_queue_num_pkts_dropped_bad"),
        "loss")));
    const host = (register) => (state) => state.hosts[port].registers[register];
    input.push(box(`CPU ${port} rx`, "host", "from the host",
      line(`crx${port}-in`, "frames", "frames from the host",
        host("rx_queue_num_pkts_enqueued")),
      line(`crx${port}-bad`, "bad", "dropped: length, or queue off",
        host("rx_queue_num_pkts_dropped_bad"), "loss")));
  }
  const arbiter = box("Arbiter", "", "",
    line("arbiter", "frames", "frames that passed", (state) => state.arbiter.num_pkts_sent));
  const lookup = box("Output port lookup", "lookup", "",
    ...now.lookup.map(({ name, help }, place) => line(`lookup-${name}`, help, name,
      (state) => state.lookup[place]?.value, help.startsWith("dropped") ? "loss" : "")));
  if (now.lookup.length === 0) lookup.append(make("span", { class: "muted" }, "no counters"));
  const queues = now.queues.map(({ queue, to, port }) => {
    const of = (register) => (state) => state.queues[queue].registers[register];
    const fill = make("i");
    lines.set(`fill${queue}`, { fill, queue });
    return box(`Queue ${queue}`, to === "host" ? "host" : "", `${to} ${port}`,
      line(`q${queue}-in`, "stored", "frames stored", of("num_pkts_stored")),
      line(`q${queue}-drop`, "dropped", "frames dropped: full", of("num_pkts_dropped"), "loss"),
      line(`q${queue}-now`, "waiting", "frames in it now", of("num_pkts_in_q"), "level"),
      make("div", { class: "fill" }, fill));
  });
  const output = [];
  for (const { port, interface: name } of now.ports) {
    const of = (register) => (state) => state.ports[port].registers[register];
    output.push(box(`MAC ${port} tx`, name ? "" : "idle", name ?? "no interface",
      line(`tx${port}-out`, "frames", "frames sent", of("tx_queue_num_pkts_sent")),
      line(`tx${port}-bytes`, "bytes", "bytes without FCS", of("tx_queue_num_bytes_pushed"))));
    const host = (register) => (state) => state.hosts[port].registers[register];
    output.push(box(`CPU ${port} tx`, "host", "to the host",
      line(`ctx${port}-out`, "frames", "frames that the host got",
        host("tx_queue_num_pkts_dequeued"))));
  }
  at("diagram").replaceChildren(
    stage("Receive queues", ...input),
    stage("Input arbiter", arbiter),
    stage("Lookup", lookup),
    stage("Output queues", ...queues),
    stage("Transmit queues", ...output));
}

const key = (now) => JSON.stringify([now.design.name, now.ports.map((port) => port.interface)]);

/// Shows the counters of `now`.
export function showDiagram(now, rates) {
  if (made !== key(now)) {
    makeDiagram(now);
    made = key(now);
  }
  for (const one of lines.values()) {
    if (one.fill) {
      const { num_words_in_q: used, num_words_left: left } = now.queues[one.queue].registers;
      const share = used + left > 0 ? used / (used + left) : 0;
      one.fill.style.width = `${used > 0 ? Math.max(2, 100 * share) : 0}%`;
      continue;
    }
    const value = one.of(now) ?? 0;
    write(one.count, whole(value));
    if (one.kind === "level") continue;
    const rate = rates.of(now, one.of);
    write(one.rate, rate > 0 ? `${short(rate)}/s` : "");
    if (one.kind === "loss") one.row.classList.toggle("lost", value > 0);
  }
  const passed = rates.of(now, (state) => state.arbiter.num_pkts_sent);
  const frames = passed === null ? "" : `${short(passed)}frames/s pass the arbiter`;
  write(at("totals"), frames);
}

/// Shows the ports with what they are and how they can be set.
export function showPorts(now) {
  const rows = now.ports.map((one) => {
    const { control } = one.registers;
    const state = one.link_up === null ? "no interface" : one.link_up ? "up" : "down";
    const queue = now.queues[2 * one.port].registers;
    const isOff = (control & 0b11011) !== 0;
    return [one.port, one.interface ?? "–", state, isOff ? "off" : "on", one.mac ?? "–",
      queue.max_pkts_in_q || "none", whole(queue.num_words_in_q + queue.num_words_left)];
  });
  const place = at("ports");
  const kind = JSON.stringify([mayEdit(), now.tables !== null]);
  if (place.dataset.kind !== kind) {
    place.dataset.kind = kind;
    const heads = ["Port", "Interface", "Link", "Queues", "MAC address", "Frames at most",
      "Words of memory"];
    const table = make("table", {}, make("thead", {}, make("tr", {},
      ...heads.map((head) => make("th", { scope: "col" }, head)))),
    make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map((_, column) =>
      make(column ? "td" : "th", { class: column === 4 && "mono", scope: !column && "row" }))))));
    const scroll = { class: "scroll", tabindex: 0, role: "region", "aria-labelledby": "h-ports" };
    const parts = [make("div", scroll, table)];
    if (mayEdit()) parts.push(make("div", { class: "forms" }, ...forms(now)));
    place.replaceChildren(...parts);
  }
  place.querySelectorAll("tbody tr").forEach((line, port) =>
    rows[port].forEach((cell, column) => write(line.children[column], cell)));
}

function pick(values, name) {
  return make("select", { name }, ...values.map((one) => make("option", { value: one }, one)));
}

function forms(now) {
  const all = [];
  const fault = () => make("p", { class: "fault", role: "alert" });
  const send = (form, run) => form.addEventListener("submit", async (event) => {
    event.preventDefault();
    write(form.lastChild, await run(new FormData(form)) ?? "");
  });
  if (now.tables) {
    const form = make("form", { "aria-label": "Set the MAC address of a port" },
      make("label", {}, "Port", pick([0, 1, 2, 3], "port")),
      make("label", {}, "MAC address", make("input", { name: "mac", class: "long mono",
        required: true, placeholder: "ca:fe:f0:0d:00:01", spellcheck: "false",
        autocomplete: "off" })),
      make("button", { type: "submit" }, "Set MAC"), fault());
    send(form, (data) => edit("/api/table/set",
      { row: `mac ${data.get("port")} ${data.get("mac")}` }));
    all.push(form);
  }
  const limit = make("form", { "aria-label": "Limit an output queue" },
    make("label", {}, "Output queue", pick([0, 1, 2, 3, 4, 5, 6, 7], "queue")),
    make("label", {}, "Frames at most, 0 is no limit",
      make("input", { name: "most", type: "number", min: 0, max: 4294967295, value: 0,
        required: true, class: "long" })),
    make("button", { type: "submit" }, "Set limit"), fault());
  send(limit, (data) => edit("/api/register", {
    register: `OQ_QUEUE_${data.get("queue")}_MAX_PKTS_IN_Q`, value: Number(data.get("most")) }));
  all.push(limit);
  return all;
}
