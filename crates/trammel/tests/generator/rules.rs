//! What one key of a scenario says about another: the parts of a file in the order in which they
//! decide.

use super::values::{quoted, round};
use super::{Draw, SCHEDULES, TRACES, Table, block, inline};
use trammel::scenario::keys::{
    ACCESS, APP, CHANGE, FLOW, GRANTS, HOST, LINK, MATRIX, MEASURE, PAIRS, PATH, PREDICT, ROOT,
    SCHEDULE_FILE, STREAM, TOPOLOGIES, TOPOLOGY, WIFI, WORKLOAD, WORKLOADS,
};
use trammel::scenario::keys_kind::Section;
use trammel::scenario::preset;
use trammel_core::units::Dimension as D;
use trammel_netsim::apps::{self, Carrier};

/// Where traffic may go.
#[derive(Default)]
pub(crate) struct WhereTo {
    /// From and to; empty on a path, where neither is given.
    pairs: Vec<(String, String)>,
    /// Shortest round trip that a path's access links leave room for, s.
    shortest_s: f64,
}

impl Draw {
    pub(crate) fn file(&mut self) -> String {
        let mut text = String::new();
        let without = [
            "subject", "duration", "warmup", "engines", "path", "topology", "host", "link", "flow",
            "workload", "stream", "app", "sweep", "matrix", "predict", "measure", "pcap",
        ];
        // How long a run may be depends on how fast its network is.
        let (network, link_names) = self.network();
        let mut root = self.table(&ROOT, &without, 0.3);
        let end = self.limits.duration_s;
        let duration = self.written(D::Time, end);
        self.set(&mut root, &ROOT, "duration", duration);
        if self.chance(0.3) {
            let warmup = self.part_of(0.9);
            self.set(&mut root, &ROOT, "warmup", warmup);
        }
        if self.chance(0.2) {
            let key = ROOT.key("engines");
            let engines = self.plain(&ROOT, key);
            self.set(&mut root, &ROOT, "engines", engines);
        }
        if self.chance(0.15) {
            let some = match link_names.first() {
                Some(name) if self.chance(0.5) => format!("[{}]", quoted(name)),
                _ => "true".to_owned(),
            };
            self.set(&mut root, &ROOT, "pcap", some);
        }
        block(&mut text, "", &root);
        text += &network;
        text += &self.traffic();
        self.extras(&mut text);
        text
    }

    /// A time within the first `fraction` of the run.
    fn part_of(&mut self, fraction: f64) -> String {
        let at = round(self.limits.duration_s * fraction * 0.99 * self.rng.unit());
        self.written(D::Time, at)
    }

    /// The tables of a network, and the names of its links.
    fn network(&mut self) -> (String, Vec<String>) {
        let mut text = String::new();
        match self.rng.below(6) {
            0 | 1 => self.graph(),
            2 => {
                let path = self.path(true);
                block(&mut text, "[path]", &path);
                text += &self.topology();
                (text, Vec::new())
            }
            _ => {
                let path = self.path(false);
                block(&mut text, "[path]", &path);
                self.used.insert(".path".to_owned());
                (text, vec!["bottleneck".to_owned()])
            }
        }
    }

    /// What `[path]` and `[[link]]` share beside the rate.
    fn line(&mut self, section: &'static Section, may_change: bool) -> Table {
        let without = [
            "preset",
            "rate",
            "rtt",
            "access",
            "wifi",
            "schedule",
            "schedule_period",
            "schedule_file",
            "trace",
            "ack_trace",
            "grants",
            "name",
            "from",
            "to",
            "delay",
        ];
        let mut table = self.table(section, &without, 0.22);
        let has = |table: &Table, key: &str| table.iter().any(|(name, _)| name == key);
        if !has(&table, "reorder") && self.chance(0.05) {
            let grants = self.table(&GRANTS, &[], 0.5);
            self.set(&mut table, section, "grants", inline(&grants));
        }
        if !may_change {
            return table;
        }
        if self.chance(0.05) {
            let mut file = self.table(&SCHEDULE_FILE, &["file"], 0.4);
            let name = self.pick(SCHEDULES).0;
            self.set(&mut file, &SCHEDULE_FILE, "file", quoted(name));
            self.set(&mut table, section, "schedule_file", inline(&file));
            return table;
        }
        if self.chance(0.2) {
            let mut changes = Vec::new();
            let step = self.limits.duration_s / 6.0;
            let count = self.whole(1, 4);
            for n in 0..count {
                let at = round(step * (n as f64 + 0.9 * self.rng.unit()));
                let mut change = Table::new();
                let at = self.written(D::Time, at);
                self.set(&mut change, &CHANGE, "at", at);
                match self.rng.below(8) {
                    0 => {
                        self.set(&mut change, &CHANGE, "down", "true".to_owned());
                        let outage = self.plain(&CHANGE, CHANGE.key("outage"));
                        self.set(&mut change, &CHANGE, "outage", outage);
                    }
                    1 => {
                        let delay = self.quantity(&CHANGE, CHANGE.key("delay"));
                        self.set(&mut change, &CHANGE, "delay", delay);
                    }
                    // A law of losses or of jitter cannot be changed, only its one number.
                    2 if !has(&table, "loss") => {
                        let loss = self.quantity(&CHANGE, CHANGE.key("loss"));
                        self.set(&mut change, &CHANGE, "loss", loss);
                    }
                    3 if !has(&table, "jitter") => {
                        let jitter = self.quantity(&CHANGE, CHANGE.key("jitter"));
                        self.set(&mut change, &CHANGE, "jitter", jitter);
                    }
                    _ => {
                        let rate = self.quantity(&CHANGE, CHANGE.key("rate"));
                        self.set(&mut change, &CHANGE, "rate", rate);
                    }
                }
                if self.chance(0.3) {
                    let direction = self.plain(&CHANGE, CHANGE.key("direction"));
                    self.set(&mut change, &CHANGE, "direction", direction);
                }
                changes.push(inline(&change));
            }
            let changes = format!("[{}]", changes.join(", "));
            self.set(&mut table, section, "schedule", changes);
            if self.chance(0.4) {
                let period = round(step * (count as f64 + self.rng.unit()));
                let period = self.written(D::Time, period);
                self.set(&mut table, section, "schedule_period", period);
            }
        }
        table
    }

    fn path(&mut self, in_topology: bool) -> Table {
        let form = self.rng.below(if in_topology { 4 } else { 8 });
        let mut table = self.line(&PATH, form <= 4);
        let mut rtt_s = round(1e-4 * 10_f64.powf(4.0 * self.rng.unit()));
        if self.chance(self.limits.wild) {
            rtt_s = round(1e-9 * 10_f64.powf(16.0 * self.rng.unit())).min(1e6);
        }
        let rtt = self.written(D::Time, rtt_s);
        self.set(&mut table, &PATH, "rtt", rtt);
        match form {
            5 => {
                let wifi = self.table(&WIFI, &[], 0.5);
                // The medium takes what waits whenever it is free.
                table.retain(|(key, value)| *key != "queue" || !value.contains("bandwidth"));
                self.set(&mut table, &PATH, "wifi", inline(&wifi));
                // The cell sets its rate itself, and so does what its load is a fraction of.
                self.limits.shorten(0.3);
            }
            6 => {
                let name = self.pick(TRACES).0;
                self.set(&mut table, &PATH, "trace", quoted(name));
                if self.chance(0.3) {
                    table.retain(|(key, _)| key != "ack_rate");
                    let back = self.pick(TRACES).0;
                    self.set(&mut table, &PATH, "ack_trace", quoted(back));
                }
            }
            7 => {
                // Grants exclude reordering, and a preset's schedule one's own.
                let is_plain = |p: &&preset::Preset| {
                    let other = ["grants", "schedule_file"];
                    p.keys.contains("rate") && !other.iter().any(|key| p.keys.contains(key))
                };
                let wired: Vec<_> = preset::all().iter().filter(is_plain).collect();
                let name = self.pick(&wired).name;
                self.set(&mut table, &PATH, "preset", quoted(name));
                if self.chance(0.3) {
                    self.limits.shorten(0.01);
                } else {
                    let rate = self.quantity(&PATH, PATH.key("rate"));
                    self.set(&mut table, &PATH, "rate", rate);
                }
            }
            _ => {
                let rate = self.quantity(&PATH, PATH.key("rate"));
                self.set(&mut table, &PATH, "rate", rate);
            }
        }
        // A delay that changes may be shorter than access links take.
        let is_changed = |(key, value): &(String, String)| {
            key == "schedule_file" || (key == "schedule" && value.contains("delay"))
        };
        if form != 5 && !table.iter().any(is_changed) && self.chance(0.2) {
            let mut access = Table::new();
            let rate = self.quantity(&ACCESS, ACCESS.key("rate"));
            self.set(&mut access, &ACCESS, "rate", rate);
            if self.chance(0.6) {
                let delay = round(rtt_s / 4.1 * self.rng.unit());
                self.where_to.shortest_s = 4.05 * delay;
                let delay = self.written(D::Time, delay);
                self.set(&mut access, &ACCESS, "delay", delay);
            }
            self.set(&mut table, &PATH, "access", inline(&access));
        }
        table
    }

    fn topology(&mut self) -> String {
        let mut text = String::new();
        let mut table = Table::new();
        let shape = self.pick(TOPOLOGIES);
        self.set(&mut table, &TOPOLOGY, "preset", quoted(shape));
        let numbered = |n: u64| (1..=n).map(|n| (format!("source-{n}"), format!("sink-{n}")));
        match shape {
            "parking-lot" => {
                let hops = self.whole(1, 6);
                self.set(&mut table, &TOPOLOGY, "hops", hops.to_string());
                self.where_to.pairs = numbered(hops).collect();
                let long = ("long-source".to_owned(), "long-sink".to_owned());
                self.where_to.pairs.push(long);
            }
            "four-host" => self.where_to.pairs = numbered(2).collect(),
            _ => {
                let pairs = self.whole(1, 4);
                self.set(&mut table, &TOPOLOGY, "pairs", pairs.to_string());
                self.where_to.pairs = numbered(pairs).collect();
            }
        }
        self.used.insert(".topology".to_owned());
        block(&mut text, "[topology]", &table);
        text
    }

    /// Hosts in a tree, now and then with a link more than it needs.
    fn graph(&mut self) -> (String, Vec<String>) {
        let mut text = String::new();
        let hosts: Vec<String> = (0..self.whole(2, 6)).map(|_| self.name()).collect();
        for host in &hosts {
            let mut table = Table::new();
            self.set(&mut table, &HOST, "name", quoted(host));
            block(&mut text, "[[host]]", &table);
        }
        let mut ends: Vec<(usize, usize)> = (1..hosts.len())
            .map(|n| (self.rng.below(n as u64) as usize, n))
            .collect();
        if hosts.len() > 2 && self.chance(0.4) {
            ends.push((hosts.len() - 1, 0));
        }
        let mut names = Vec::new();
        for (a, b) in ends {
            let mut table = self.line(&LINK, true);
            self.set(&mut table, &LINK, "from", quoted(&hosts[a]));
            self.set(&mut table, &LINK, "to", quoted(&hosts[b]));
            let name = self.name();
            self.set(&mut table, &LINK, "name", quoted(&name));
            names.push(name);
            if self.chance(0.8) {
                let delay = self.quantity(&LINK, LINK.key("delay"));
                self.set(&mut table, &LINK, "delay", delay);
            }
            let has_schedule = table.iter().any(|(key, _)| key.starts_with("schedule"));
            if !has_schedule && self.chance(0.1) {
                let trace = self.pick(TRACES).0;
                self.set(&mut table, &LINK, "trace", quoted(trace));
                if self.chance(0.3) {
                    table.retain(|(key, _)| key != "ack_rate");
                    let back = self.pick(TRACES).0;
                    self.set(&mut table, &LINK, "ack_trace", quoted(back));
                }
            } else {
                let rate = self.quantity(&LINK, LINK.key("rate"));
                self.set(&mut table, &LINK, "rate", rate);
            }
            block(&mut text, "[[link]]", &table);
        }
        for (n, from) in hosts.iter().enumerate() {
            let others = hosts.iter().enumerate().filter(|(m, _)| *m != n);
            let pairs = others.map(|(_, to)| (from.clone(), to.clone()));
            self.where_to.pairs.extend(pairs);
        }
        self.used.extend([".host".to_owned(), ".link".to_owned()]);
        (text, names)
    }

    fn between_hosts(&mut self, table: &mut Table, section: &'static Section) {
        if self.where_to.pairs.is_empty() {
            return;
        }
        let at = self.rng.below(self.where_to.pairs.len() as u64) as usize;
        let (from, to) = self.where_to.pairs[at].clone();
        self.set(table, section, "from", quoted(&from));
        self.set(table, section, "to", quoted(&to));
    }

    /// When something starts and stops, each only now and then.
    fn span(&mut self, table: &mut Table, section: &'static Section) {
        let end = self.limits.duration_s;
        let mut start = 0.0;
        if self.chance(0.3) {
            start = round(end * 0.9 * self.rng.unit());
            let text = self.written(D::Time, start);
            self.set(table, section, "start", text);
        }
        if self.chance(0.25) {
            let stop = round((start + end * 0.01) * (1.0 + self.rng.unit()));
            let text = self.written(D::Time, stop);
            self.set(table, section, "stop", text);
        } else if section.keys.iter().any(|key| key.name == "duration") && self.chance(0.15) {
            let length = self.part_of(1.2);
            self.set(table, section, "duration", length.replace("\"0 ", "\"1 "));
        }
    }

    fn traffic(&mut self) -> String {
        let mut text = String::new();
        let flows = self.pick(&[0, 1, 1, 2, 2, 2, 3, 5]);
        for _ in 0..flows {
            let flow = self.flow();
            block(&mut text, "[[flow]]", &flow);
            self.used.insert(".flow".to_owned());
        }
        let is_only = flows == 0;
        let workloads = if is_only || self.chance(0.25) {
            self.whole(1, 2)
        } else {
            0
        };
        for _ in 0..workloads {
            let workload = self.workload();
            block(&mut text, "[[workload]]", &workload);
            self.used.insert(".workload".to_owned());
        }
        if self.chance(0.25) {
            let mut table = self.table(&STREAM, &["from", "to", "start", "stop", "name"], 0.5);
            let name = self.name();
            self.set(&mut table, &STREAM, "name", quoted(&name));
            self.between_hosts(&mut table, &STREAM);
            self.span(&mut table, &STREAM);
            block(&mut text, "[[stream]]", &table);
            self.used.insert(".stream".to_owned());
        }
        if self.chance(0.25) {
            let table = self.app();
            block(&mut text, "[[app]]", &table);
            self.used.insert(".app".to_owned());
        }
        text
    }

    /// The parameters of the variant that a table names.
    fn variant_params(&mut self, table: &mut Table, section: &'static Section) {
        let Some((_, name)) = table.iter().find(|(key, _)| key == "variant") else {
            return;
        };
        let family = trammel::scenario::registry::Family::Variant;
        let about = family
            .catalogue()
            .describe(name.trim_matches('"'))
            .expect("a drawn name");
        self.used.insert(format!("variants:{}", about.name));
        if self.chance(0.4) {
            let params = self.params(family, about);
            self.set(table, section, "params", inline(&params));
        }
    }

    fn flow(&mut self) -> Table {
        let by_rule = [
            "name",
            "params",
            "start",
            "stop",
            "duration",
            "from",
            "to",
            "rtt",
            "pacing_rate",
            "sender_queue",
        ];
        let mut table = self.table(&FLOW, &by_rule, 0.13);
        let is_unpaced = |(key, value): &(String, String)| key == "pacing" && value == "false";
        if !table.iter().any(is_unpaced) {
            for key in ["pacing_rate", "sender_queue"] {
                if self.chance(0.13) {
                    let value = self.plain(&FLOW, FLOW.key(key));
                    self.set(&mut table, &FLOW, key, value);
                }
            }
        }
        self.variant_params(&mut table, &FLOW);
        if self.chance(0.3) {
            let name = self.name();
            self.set(&mut table, &FLOW, "name", quoted(&name));
        }
        self.between_hosts(&mut table, &FLOW);
        self.span(&mut table, &FLOW);
        if self.where_to.pairs.is_empty() && self.chance(0.2) {
            let rtt = round(self.where_to.shortest_s + 1e-4 * 10_f64.powf(4.0 * self.rng.unit()));
            let rtt = self.written(D::Time, rtt.max(self.where_to.shortest_s));
            self.set(&mut table, &FLOW, "rtt", rtt);
        }
        table
    }

    fn workload(&mut self) -> Table {
        let kind = self.pick(WORKLOADS);
        let mut without = vec!["name", "kind", "params", "from", "to", "start", "stop"];
        let sizes: &[&str] = &["load", "rate", "arrivals", "size"];
        let exchange: &[&str] = &["request", "response", "think", "connections"];
        let bursts: &[&str] = &["on", "off", "rate", "connections"];
        let own = match kind {
            "request-response" => exchange,
            "on-off" => bursts,
            _ => &[],
        };
        let others = [sizes, exchange, bursts].concat();
        without.extend(others.iter().filter(|key| !own.contains(key)));
        let mut table = self.table(&WORKLOAD, &without, 0.4);
        self.set(&mut table, &WORKLOAD, "kind", quoted(kind));
        if own.is_empty() {
            let size = self.plain(&WORKLOAD, WORKLOAD.key("size"));
            // Only a law with a mean tells how many flows make up a load.
            let by_number = size.contains("distribution") || self.chance(0.3);
            if kind == "poisson" || self.chance(0.6) {
                self.set(&mut table, &WORKLOAD, "size", size);
            }
            let key = if by_number {
                "arrivals"
            } else {
                self.pick(&["load", "rate"])
            };
            let value = self.plain(&WORKLOAD, WORKLOAD.key(key));
            self.set(&mut table, &WORKLOAD, key, value);
        }
        self.variant_params(&mut table, &WORKLOAD);
        let name = self.name();
        self.set(&mut table, &WORKLOAD, "name", quoted(&name));
        self.between_hosts(&mut table, &WORKLOAD);
        self.span(&mut table, &WORKLOAD);
        table
    }

    fn app(&mut self) -> Table {
        let by_rule = [
            "name", "users", "variant", "params", "stack", "from", "to", "start", "stop",
        ];
        let mut table = self.table(&APP, &by_rule, 0.3);
        let kind = table.iter().find(|(key, _)| key == "kind");
        let kind = kind.map(|(_, name)| name.trim_matches('"').to_owned());
        let entry = apps::find(&kind.expect("it is required")).expect("a drawn name");
        if entry.carrier == Carrier::Tcp {
            for key in ["variant", "stack"] {
                if self.chance(0.5) {
                    let value = self.value(&APP, APP.key(key));
                    self.set(&mut table, &APP, key, value);
                }
            }
            self.variant_params(&mut table, &APP);
        }
        let users = self.whole(1, 3).to_string();
        self.set(&mut table, &APP, "users", users);
        let name = self.name();
        self.set(&mut table, &APP, "name", quoted(&name));
        self.between_hosts(&mut table, &APP);
        self.span(&mut table, &APP);
        table
    }

    /// What asks for more than one point or for a model by its name.
    fn extras(&mut self, text: &mut String) {
        if self.chance(0.2) {
            let models = trammel_tcp::models::all();
            let entry = models[self.rng.below(models.len() as u64) as usize];
            let mut name = entry.about.name.to_owned();
            if !entry.dialects.is_empty() && self.chance(0.5) {
                name = format!("{name}:{}", self.pick(entry.dialects).0);
            }
            self.used.insert(format!("models:{}", entry.about.name));
            let mut table = Table::new();
            self.set(
                &mut table,
                &PREDICT,
                "models",
                format!("[{}]", quoted(&name)),
            );
            block(text, "[predict]", &table);
            self.used.insert(".predict".to_owned());
        }
        if self.chance(0.03) {
            // What they name is only looked for; this test builds no kernel.
            let of_linux = [
                ("source", "\".\""),
                ("kernels", "[\".\"]"),
                ("patches", "[\".\"]"),
                ("module", "\".\""),
                ("sysctls", "[\"net.ipv4.tcp_reordering=5\"]"),
                ("parameters", "[\"tcp_cubic.hystart=0\"]"),
            ];
            let mut table = self.table(&MEASURE, &of_linux.map(|(key, _)| key), 0.5);
            if self.chance(0.7) {
                // One tree or several.
                let without = usize::from(self.chance(0.5));
                let all = of_linux.into_iter().enumerate();
                for (_, (key, value)) in all.filter(|(at, _)| *at != without) {
                    self.set(&mut table, &MEASURE, key, value.to_owned());
                }
                self.set(&mut table, &MEASURE, "kernel", quoted("linux"));
            }
            block(text, "[measure]", &table);
            self.used.insert(".measure".to_owned());
        }
        let flows = text.matches("[[flow]]").count();
        if self.where_to.pairs.is_empty() && flows > 0 && self.chance(0.06) {
            let mut table = Table::new();
            let names = [
                "reno",
                "cubic",
                "bbr",
                "dctcp",
                "{ variant = \"newreno\", ecn = true }",
            ];
            let some: Vec<_> = (0..self.whole(2, 3)).map(|_| self.pick(&names)).collect();
            let some: Vec<_> = some
                .iter()
                .map(|name| {
                    if name.starts_with('{') {
                        (*name).to_owned()
                    } else {
                        quoted(name)
                    }
                })
                .collect();
            // A parameter of one variant is none of another's, and one name is not two.
            if text.contains("params = ") || text.contains("name = ") {
                return;
            }
            self.set(
                &mut table,
                &MATRIX,
                "variants",
                format!("[{}]", some.join(", ")),
            );
            let pairs = self.pick(PAIRS);
            self.set(&mut table, &MATRIX, "pairs", quoted(pairs));
            block(text, "[matrix]", &table);
            self.used.insert(".matrix".to_owned());
        } else if self.chance(0.15) {
            let line = if text.contains("[path]") {
                "path"
            } else {
                "link.0"
            };
            let mut axes = vec![
                ("seed".to_owned(), "[1, 2]".to_owned()),
                (format!("{line}.overhead"), "[\"0 B\", \"38 B\"]".to_owned()),
                (
                    format!("{line}.ack_rate"),
                    "[\"20 kbit/s\", \"1 Mbit/s\"]".to_owned(),
                ),
                (format!("{line}.mtu"), "[576, 9000]".to_owned()),
                (
                    "duration".to_owned(),
                    format!("[{}]", quoted(&format!("{} s", self.limits.duration_s))),
                ),
            ];
            if flows > 0 {
                axes.push(("flow.0.sack".to_owned(), "[true, false]".to_owned()));
                axes.push((
                    "flow.*.stack".to_owned(),
                    "[\"rfc\", \"linux-6\", \"linux-2.6\"]".to_owned(),
                ));
            }
            let (first, second) = (
                self.rng.below(axes.len() as u64) as usize,
                self.rng.below(axes.len() as u64) as usize,
            );
            let mut chosen = vec![axes[first].clone()];
            if second != first {
                chosen.push(axes[second].clone());
            }
            let is_zip = chosen.len() == 2
                && chosen[0].1.matches(", ").count() == chosen[1].1.matches(", ").count();
            let table: Table = chosen
                .into_iter()
                .map(|(key, values)| (quoted(&key), values))
                .collect();
            block(
                text,
                if is_zip && self.chance(0.5) {
                    "[[sweep.zip]]"
                } else {
                    "[sweep]"
                },
                &table,
            );
            self.used.insert(".sweep".to_owned());
        }
    }
}
