// The samples of a run as columns, and what the plots show of them.

const OF_FLOW = 10;
const OF_LINK = 4;
const FLOW = ["cwnd", "ssthresh", "srtt", "inFlight", "sent", "acked", "delivered", "arrived", "retransmitted", "state"];
const LINK = ["queuePkts", "queueBytes", "dropped", "marked"];
const RECOVERY = 3;
const LOSS = 4;

export class Series {
  constructor(about) {
    this.about = about;
    this.time = [];
    const columns = (names) => Object.fromEntries(names.map((name) => [name, []]));
    this.flows = about.flows.map((name) => ({ name, ...columns(FLOW) }));
    this.links = about.links.map((name) => ({ name, ...columns(LINK) }));
    this.width = 1 + this.flows.length * OF_FLOW + this.links.length * OF_LINK;
  }

  // Takes samples of the engine in.
  push(samples) {
    for (let at = 0; at + this.width <= samples.length; at += this.width) {
      this.time.push(samples[at]);
      let place = at + 1;
      for (const flow of this.flows) for (const name of FLOW) flow[name].push(samples[place++]);
      for (const link of this.links) for (const name of LINK) link[name].push(samples[place++]);
    }
  }
}

// Looks that a rate is of: a hundredth of a run.
const SPAN = 20;
// Recoveries of more flows than this would cover the plot.
const MOST_MARKED = 4;

const gap = (value) => (Number.isNaN(value) ? null : value);

// A count of bytes as Mbit/s over spans of `window` samples that end at each sample.
const rate = (time, bytes, window) => bytes.map((value, i) => {
  const from = Math.max(0, i - window);
  const [t0, b0] = i === 0 ? [0, 0] : [time[from], bytes[from]];
  return Number.isNaN(value) || Number.isNaN(b0) || time[i] <= t0 ? null : (value - b0) * 8e-6 / (time[i] - t0);
});

// Instants at which a count grew.
const growths = (time, counts) => time.filter((_, i) => counts[i] > (counts[i - 1] || 0));

const spansOf = (time, states) => {
  const spans = [];
  states.forEach((state, i) => {
    if (state !== RECOVERY && state !== LOSS) return;
    const open = spans[spans.length - 1];
    if (open && open.last === i - 1) { open.last = i; open.to = time[i]; } else spans.push({ from: time[i], to: time[i], last: i });
  });
  return spans;
};

// The models whose predictions are drawn: those that say how fast a flow is.
const predicted = (about, key) => about.predictions.filter((one) => one[key] !== null && one[key] > 0);

// What models say of goodputs: one line for flows of which a model says the same, and for models
// that say it of the same flows.
const levels = (about) => {
  const all = predicted(about, "goodput_mbps");
  const lines = new Map();
  for (const model of new Set(all.map((one) => one.model))) {
    const own = all.filter((one) => one.model === model);
    for (const level of new Set(own.map((one) => one.goodput_mbps))) {
      const flows = own.filter((one) => one.goodput_mbps === level).map((one) => one.flow);
      const who = flows.length === 1 ? flows[0] : flows.length === own.length ? "each" : flows.length > 3 ? `${flows.length} flows` : flows.join(" and ");
      const key = `${level.toPrecision(3)} ${flows}`;
      if (!lines.has(key)) lines.set(key, { who, level, colour: flows.length === 1 ? Math.max(0, about.flows.indexOf(flows[0])) : 6, models: [] });
      lines.get(key).models.push(model);
    }
  }
  return [...lines.values()].map(({ who, models, ...line }) => ({ ...line, name: `${who}, predicted by ${models.join(" and ")}` }));
};

// One plot each: its title, unit, lines and marks. A line has a name, the colour of its flow, values,
// and whether it is predicted (a level).
const PLOTS = {
  window: {
    title: "Congestion window", unit: "packets",
    lines: ({ flows }) => flows.map((flow, i) => ({ name: flow.name, colour: i, values: flow.cwnd.map(gap) })),
    marks: ({ flows, time }) => (flows.length > MOST_MARKED ? [] : flows.flatMap((flow, i) => spansOf(time, flow.state).map((span) => ({ ...span, colour: i })))),
  },
  throughput: {
    title: "Throughput", unit: "Mbit/s",
    lines({ flows, time, about }) {
      const simulated = flows.map((flow, i) => ({ name: flow.name, colour: i, values: rate(time, flow.arrived, SPAN) }));
      return [...simulated, ...levels(about)];
    },
  },
  queue: {
    title: "Queue", unit: "packets",
    lines: ({ links }) => links.map((link, i) => ({ name: link.name, colour: 6 + i, values: link.queuePkts })),
    drops: ({ links, time }) => links.flatMap((link) => growths(time, link.dropped)),
  },
  rtt: {
    title: "Smoothed round trip", unit: "ms",
    lines: ({ flows }) => flows.map((flow, i) => ({ name: flow.name, colour: i, values: flow.srtt.map(gap) })),
  },
  sequence: {
    title: "Sequence", unit: "MB",
    lines: ({ flows }) => flows.flatMap((flow, i) => [
      { name: `${flow.name} sent`, colour: i, values: flow.sent.map((v) => gap(v / 1e6)) },
      { name: `${flow.name} acknowledged`, colour: i, dash: true, values: flow.acked.map((v) => gap(v / 1e6)) },
    ]),
    drops: ({ flows, time }) => flows.flatMap((flow) => growths(time, flow.retransmitted)),
  },
};

// With many flows a plot shows so many of them.
const MOST_LINES = 12;

export const plotsOf = (series) => Object.entries(PLOTS).map(([key, plot]) => {
  const lines = plot.lines(series);
  const some = lines.slice(0, MOST_LINES);
  const unseen = key === "queue" ? series.about.more_links : series.about.more_flows;
  return {
    key, title: plot.title, unit: plot.unit, time: series.time, lines: some, left: lines.length - some.length + unseen,
    marks: plot.marks ? plot.marks(series) : [], drops: plot.drops ? plot.drops(series) : [],
  };
});

export const plotKeys = Object.entries(PLOTS).map(([key, { title }]) => ({ key, title }));

// The samples as a table of comma-separated values.
export const toCsv = ({ time, flows, links }) => {
  const flowColumns = [["cwnd", "cwnd_pkts"], ["ssthresh", "ssthresh_pkts"], ["srtt", "srtt_ms"], ["inFlight", "in_flight_pkts"],
    ["sent", "sent_bytes"], ["acked", "acked_bytes"], ["delivered", "delivered_bytes"], ["arrived", "arrived_bytes"], ["retransmitted", "retransmissions_pkts"]];
  const linkColumns = [["queuePkts", "queue_pkts"], ["queueBytes", "queue_bytes"], ["dropped", "dropped_pkts"], ["marked", "marked_pkts"]];
  const columns = [
    ["time_s", time],
    ...flows.flatMap((flow) => flowColumns.map(([key, name]) => [`${flow.name}:${name}`, flow[key]])),
    ...links.flatMap((link) => linkColumns.map(([key, name]) => [`${link.name}:${name}`, link[key]])),
  ];
  const quoted = (name) => (/[",\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name);
  const rows = time.map((_, i) => columns.map(([, values]) => (Number.isNaN(values[i]) ? "" : values[i])).join(","));
  return [columns.map(([name]) => quoted(name)).join(","), ...rows].join("\n") + "\n";
};

// The rows of a table of comma-separated values (RFC 4180).
export const fromCsv = (text) => {
  const rows = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,\n]*))(,|\n|$)/g)) {
    rows[rows.length - 1].push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === "\n") rows.push([]);
    if (end === "") break;
  }
  return rows.filter((row) => row.length > 1 || row[0]);
};
