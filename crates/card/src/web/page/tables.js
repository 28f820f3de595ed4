// The three tables, to look at and to edit by row.

import { at, make, write } from "./dom.js";
import { edit, mayEdit } from "./page.js";

const OWNERS = {
  control: "The control software writes these tables. "
    + "What is edited here lasts until its next change.",
  mirror: "The mirror of the kernel writes these tables. "
    + "What is edited here lasts until its next change.",
};
const ROWS = 32;
const PORTS = ["0", "1", "2", "3", "host0", "host1", "host2", "host3"];

/// Bits of a mask, or the mask itself where a one follows a zero.
function bits(mask) {
  const value = mask.split(".").reduce((all, part) => all * 256 + Number(part), 0) >>> 0;
  const ones = value === 0 ? 0 : 32 - Math.log2((~value >>> 0) + 1);
  return Number.isInteger(ones) ? String(ones) : mask;
}

/// A table: its title, heads, the cells of a row, the fields of its form, and how they are written.
const KINDS = {
  route: {
    title: "Routes", heads: ["Network", "Next hop", "Port"],
    cells: (row) => [`${row.network}/${bits(row.mask)}`,
      row.next_hop === "0.0.0.0" ? "connected" : row.next_hop, row.port],
    fields: [["network", "Network/bits", "10.1.0.0/16"], ["hop", "Next hop, if any", "10.2.0.1"],
      ["port", "Port", PORTS]],
    values: (row) => ({ network: `${row.network}/${bits(row.mask)}`,
      hop: row.next_hop === "0.0.0.0" ? "" : row.next_hop, port: String(row.port) }),
    words: ({ network, hop, port }) => `${network} ${hop ? `via ${hop} ` : ""}port ${port}`,
    optional: ["hop"],
  },
  arp: {
    title: "ARP", heads: ["Next hop", "MAC address"],
    cells: (row) => [row.next_hop, row.mac],
    fields: [["hop", "Next hop", "10.2.0.1"], ["mac", "MAC address", "02:00:00:00:00:01"]],
    values: (row) => ({ hop: row.next_hop, mac: row.mac }),
    words: ({ hop, mac }) => `${hop} ${mac}`,
    optional: [],
  },
  filter: {
    title: "Destination filter", heads: ["Address for the host"],
    cells: (row) => [row.address],
    fields: [["address", "Address", "10.0.0.1"]],
    values: (row) => ({ address: row.address }),
    words: ({ address }) => address,
    optional: [],
  },
};

const views = {};

/// Shows the tables of `now`.
export function showTables(now) {
  at("tables").hidden = !now.tables;
  if (!now.tables) return;
  const follow = at("follow");
  follow.hidden = !now.tables_follow;
  write(follow, OWNERS[now.tables_follow] ?? "");
  for (const name of Object.keys(KINDS)) {
    views[name] ??= view(name);
    fill(views[name], now.tables[name]);
  }
}

function view(name) {
  const kind = KINDS[name];
  const heading = make("h3", { id: `h-${name}` }, kind.title);
  const heads = ["Row", ...kind.heads, ""];
  const body = make("tbody");
  const head = heads.map((text, place) => make("th", { scope: "col", class: place ? "" : "num" },
    text || make("span", { class: "edit", hidden: true }, "Edit")));
  const table = make("table", { "aria-labelledby": heading.id },
    make("thead", {}, make("tr", {}, ...head)), body);
  const fault = make("p", { class: "fault", role: "alert" });
  const inputs = kind.fields.map(([field, label, form]) => make("label", {}, label,
    Array.isArray(form)
      ? make("select", { name: field }, ...form.map((one) => make("option", { value: one }, one)))
      : make("input", { name: field, class: "long mono", placeholder: form, spellcheck: "false",
        autocomplete: "off", required: !kind.optional.includes(field) })));
  const row = make("input", { name: "row", type: "number", min: 0, max: ROWS - 1, required: true,
    class: "short" });
  const form = make("form",
    { class: "edit", hidden: true, "aria-label": `Set a row: ${kind.title}` },
    make("label", {}, "Row", row), ...inputs,
    make("button", { type: "submit", class: "main" }, "Set row"), fault);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const data = Object.fromEntries([...new FormData(form)].map(([field, text]) =>
      [field, text.trim()]));
    const error = await edit("/api/table/set", { row: `${name} ${data.row} ${kind.words(data)}` });
    write(fault, error ?? "");
    if (error) return;
    form.reset();
    made.isTouched = false;
    propose(made);
  });
  form.addEventListener("input", () => { made.isTouched = true; });
  at(`table-${name}`).replaceChildren(heading, make("div",
    { class: "scroll", tabindex: 0, role: "region", "aria-labelledby": heading.id }, table), form);
  const made = { name, kind, body, form, row, fault, shown: null, rows: [], isTouched: false };
  return made;
}

/// Proposes the first free row.
function propose(view) {
  if (view.isTouched) return;
  const used = new Set(view.rows.map((row) => row.row));
  const free = [...Array(ROWS).keys()].find((row) => !used.has(row)) ?? 0;
  if (view.row.value !== String(free)) view.row.value = free;
}

function fill(view, rows) {
  const shown = JSON.stringify([rows, mayEdit()]);
  if (view.shown === shown) return;
  view.shown = shown;
  view.rows = rows;
  propose(view);
  const focused = view.body.contains(document.activeElement) && document.activeElement;
  const again = focused && focused.dataset.key;
  const { name, kind } = view;
  const made = rows.map((row) => make("tr", { "data-row": row.row },
    make("th", { scope: "row", class: "num" }, row.row),
    ...kind.cells(row).map((cell) => make("td", { class: "mono" }, cell)),
    make("td", {}, mayEdit() ? actions(view, row) : "")));
  if (made.length === 0) {
    made.push(make("tr", {}, make("td", { class: "empty", colspan: kind.heads.length + 2 },
      "no row in use")));
  }
  view.body.replaceChildren(...made);
  // Who works by keyboard stays where they were.
  const find = () => view.body.querySelector(`[data-key="${again}"]`) ?? view.row;
  if (again) find().focus();
}

function actions(view, row) {
  const change = make("button", { type: "button", "data-key": `${row.row}-edit`,
    "aria-label": `Edit row ${row.row} of ${view.kind.title}` }, "Edit");
  change.addEventListener("click", () => {
    view.isTouched = true;
    view.row.value = row.row;
    for (const [field, text] of Object.entries(view.kind.values(row))) {
      view.form.elements[field].value = text;
    }
    write(view.fault, "");
    view.form.elements[view.kind.fields[0][0]].focus();
  });
  const clear = make("button", { type: "button", "data-key": `${row.row}-clear`,
    "aria-label": `Clear row ${row.row} of ${view.kind.title}` }, "Clear");
  clear.addEventListener("click", () =>
    edit("/api/table/clear", { table: view.name, row: row.row }));
  return make("div", { class: "actions" }, change, clear);
}
