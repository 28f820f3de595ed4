// The control software: interfaces, neighbours, and the link-state database as a drawn topology.

import { at, make, write } from "./dom.js";

const SPACE = "http://www.w3.org/2000/svg";

function draw(tag, attributes = {}, ...children) {
  const one = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) one.setAttribute(name, value);
  one.append(...children);
  return one;
}

const seconds = (ms) => `${Math.round(ms / 1000)} s`;

/// Shows a table below a title. Only rows that differ are made anew, so that whoever scrolls or
/// marks something in it is left alone.
function table(id, title, heads, rows, empty) {
  const place = at(id);
  if (!place.childElementCount) {
    const heading = make("h3", { id: `h-${id}` });
    place.append(heading, make("div",
      { class: "scroll", tabindex: 0, role: "region", "aria-labelledby": heading.id },
      make("table", {}, make("thead", {}, make("tr", {},
        ...heads.map((head) => make("th", { scope: "col" }, head)))), make("tbody"))));
  }
  write(place.firstChild, title);
  const body = place.querySelector("tbody");
  const key = rows.length ? "row" : "none";
  if (body.dataset.kind !== key) body.replaceChildren();
  body.dataset.kind = key;
  if (!rows.length && !body.childElementCount) {
    body.append(make("tr", {}, make("td", { class: "empty", colspan: heads.length }, empty)));
  }
  if (!rows.length) return;
  while (body.childElementCount > rows.length) body.lastChild.remove();
  rows.forEach((row, number) => {
    const line = body.children[number] ?? body.appendChild(make("tr", {}, ...row.map((_, column) =>
      make(column ? "td" : "th", column ? { class: "mono" } : { scope: "row" }))));
    row.forEach((cell, column) => write(line.children[column], cell ?? "–"));
  });
}

/// Shows what the control software of `now` knows.
export function showControl(now) {
  at("control").hidden = !now.control;
  if (!now.control) return;
  const { interfaces, pwospf } = now.control;
  table("interfaces", "Interfaces", ["Interface", "Port", "Address", "Mask", "State"],
    (interfaces ?? []).map((one) => [one.interface, one.port, one.address, one.mask, one.state]),
    "none");
  for (const id of ["neighbours", "topology", "database"]) at(id).hidden = !pwospf;
  if (!pwospf) return;
  const named = (port) => interfaces?.find((one) => one.port === port)?.interface ?? port;
  table("neighbours", "PW-OSPF neighbours", ["Interface", "Router", "Address", "Lost in"],
    pwospf.neighbours.map((one) => [named(one.port), one.router_id, one.address,
      seconds(one.left_ms)]), "none was heard yet");
  const rows = pwospf.database.flatMap((entry) => entry.adverts.map((advert) =>
    [entry.router_id, entry.sequence, seconds(entry.age_ms), advert.network, advert.mask,
      advert.neighbour]));
  table("database", `Link-state database${pwospf.is_whole ? "" : " (the first routers)"}`,
    ["Router", "Sequence", "Age", "Network", "Mask", "Neighbour"], rows, "empty");
  topology(pwospf);
}

/// Links between routers, with whether both ends say so, and networks without a neighbour.
function graph(pwospf) {
  const routers = [...new Set(pwospf.database.flatMap((entry) => [entry.router_id,
    ...entry.adverts.map((advert) => advert.neighbour).filter(Boolean)]))].sort();
  const links = new Map();
  const stubs = new Map();
  for (const { router_id: router, adverts } of pwospf.database) {
    for (const { network, mask, neighbour } of adverts) {
      if (!neighbour) {
        stubs.set(router, [...(stubs.get(router) ?? []), network]);
        continue;
      }
      const key = [...[router, neighbour].sort(), network, mask].join(" ");
      const ends = links.get(key)?.ends ?? new Set();
      links.set(key, { between: [router, neighbour].sort(), network, ends: ends.add(router) });
    }
  }
  return { routers, links: [...links.values()], stubs };
}

/// Places by forces: routers repel, links attract. Starts on a circle, so it is the same each time.
function places(routers, links) {
  const count = routers.length;
  const at = routers.map((_, place) => {
    const angle = 2 * Math.PI * place / count + (count === 2 ? Math.PI : -Math.PI / 2);
    return [Math.cos(angle), Math.sin(angle)];
  });
  const number = new Map(routers.map((router, place) => [router, place]));
  const pairs = links.map(({ between }) => between.map((router) => number.get(router)));
  const length = 1.4 / Math.sqrt(Math.max(1, count));
  for (let step = 0; step < (count > 60 ? 60 : 200) && count > 3; step += 1) {
    const push = at.map(() => [0, 0]);
    for (let a = 0; a < count; a += 1) {
      for (let b = a + 1; b < count; b += 1) {
        const [dx, dy] = [at[a][0] - at[b][0], at[a][1] - at[b][1]];
        const force = length * length / (dx * dx + dy * dy + 1e-4);
        for (const [one, sign] of [[a, 1], [b, -1]]) {
          push[one][0] += sign * dx * force;
          push[one][1] += sign * dy * force;
        }
      }
    }
    for (const [a, b] of pairs) {
      const [dx, dy] = [at[a][0] - at[b][0], at[a][1] - at[b][1]];
      const force = Math.hypot(dx, dy) / length;
      for (const [one, sign] of [[a, -1], [b, 1]]) {
        push[one][0] += sign * dx * force;
        push[one][1] += sign * dy * force;
      }
    }
    const most = .1 * (1 - step / 200);
    at.forEach((place, one) => {
      const far = Math.hypot(...push[one]) || 1;
      const by = Math.min(most, far * .1) / far;
      place[0] += push[one][0] * by;
      place[1] += push[one][1] * by;
    });
  }
  return at;
}

function topology(pwospf) {
  const { routers, links, stubs } = graph(pwospf);
  const place = at("topology");
  const wide = Math.min(860, Math.max(260, place.clientWidth));
  const shown = JSON.stringify([wide, pwospf.router_id, routers, [...stubs],
    links.map((one) => [one.between, one.network, one.ends.size])]);
  if (place.dataset.shown === shown) return;
  place.dataset.shown = shown;
  const spots = places(routers, links);
  const [high, margin] = [routers.length < 3 ? 150 : Math.round(wide * .62), 62];
  const range = (axis, size) => {
    const all = spots.map((spot) => spot[axis]);
    const [low, top] = [Math.min(...all), Math.max(...all)];
    const scale = top - low > 1e-6 ? (size - 2 * margin) / (top - low) : 0;
    return (value) => (scale ? margin + (value - low) * scale : size / 2);
  };
  const [x, y] = [range(0, wide), range(1, high)];
  const spot = new Map(routers.map((router, number) =>
    [router, [x(spots[number][0]), y(spots[number][1])]]));
  const isCrowded = routers.length > 30;
  const parts = [];
  for (const { between, network, ends } of links) {
    const [[x1, y1], [x2, y2]] = between.map((router) => spot.get(router));
    const isWhole = ends.size === 2;
    const title = `${between.join(" – ")}, ${network}${isWhole ? "" : ": only one end says so"}`;
    parts.push(draw("line", { x1, y1, x2, y2, class: isWhole ? "" : "half" },
      draw("title", {}, title)));
    // The names of routers need the room at both ends.
    if (!isCrowded && Math.hypot(x2 - x1, y2 - y1) >= 130) {
      parts.push(draw("text", { x: (x1 + x2) / 2, y: (y1 + y2) / 2 - 5, class: "net",
        "text-anchor": "middle" }, network));
    }
  }
  for (const router of routers) {
    const [cx, cy] = spot.get(router);
    const isSelf = router === pwospf.router_id;
    const own = stubs.get(router) ?? [];
    const networks = own.length ? `; networks ${own.join(", ")}` : "";
    const says = `${router}${isSelf ? ", this router" : ""}${networks}`;
    const node = draw("g", { class: isSelf ? "self" : "" }, draw("title", {}, says),
      draw("circle", { cx, cy, r: isCrowded ? 5 : 11 }));
    if (!isCrowded || isSelf) {
      node.append(draw("text", { x: cx, y: cy + 27, "text-anchor": "middle" },
        router + (isSelf ? " (this)" : "")));
      own.slice(0, 2).forEach((network, line) => {
        const isRest = line === 1 && own.length > 2;
        node.append(draw("text",
          { x: cx, y: cy + 41 + 12 * line, class: "net", "text-anchor": "middle" },
          isRest ? `and ${own.length - 1} networks more` : network));
      });
    }
    parts.push(node);
  }
  const heading = make("h3", {}, `Topology of area ${pwospf.area}`);
  const whole = links.filter((one) => one.ends.size === 2).length;
  const some = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
  const label = `${some(routers.length, "router")}, ${some(whole, "link")} advertised by both `
    + `ends, ${links.length - whole} by one only`;
  const size = { viewBox: `0 0 ${wide} ${high}`, width: wide, height: high };
  place.replaceChildren(heading, draw("svg", { ...size, role: "img", "aria-label": label },
    ...parts), make("p", { class: "muted" }, label));
}
