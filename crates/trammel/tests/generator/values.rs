//! One value of a kind, as a user would write it: any unit, mostly of a usual size, now and then
//! any size that its key allows.

use super::Draw;
use trammel::scenario::keys::{ENGINES, RANDOM};
use trammel::scenario::keys_kind::{Key, Kind, Section};
use trammel::scenario::plugin::Plugin;
use trammel::scenario::registry::Family;
use trammel_core::entry::{About, Kind as ParamKind, Param, Value};
use trammel_core::rng::Rng;
use trammel_core::units::Dimension as D;
use trammel_queues::aqm::LinkFacts;

/// What bounds the cost of a file.
pub(crate) struct Limits {
    /// Length of a run, s.
    pub(crate) duration_s: f64,
    /// Fastest rate, bit/s: with the duration it bounds the packets.
    pub(crate) most_bps: f64,
    /// Chance that a value is drawn from all that its key allows.
    pub(crate) wild: f64,
}

impl Limits {
    /// Bits that a line may carry in a run.
    const WORK_BITS: f64 = 4e6;

    pub(crate) fn draw(rng: &mut Rng) -> Limits {
        let duration_s = round(log_uniform(rng, 0.02, 300.0));
        Limits {
            duration_s,
            most_bps: Limits::WORK_BITS / duration_s,
            wild: if rng.chance(0.3) { 0.1 } else { 0.0 },
        }
    }
}

/// A number between the two, each order of magnitude as likely as another.
pub(crate) fn log_uniform(rng: &mut Rng, low: f64, high: f64) -> f64 {
    if low >= high {
        return high;
    }
    let low = low.max(high * 1e-30).max(f64::MIN_POSITIVE);
    (low.ln() + (high.ln() - low.ln()) * rng.unit())
        .exp()
        .clamp(low, high)
}

/// To three digits, so that texts stay readable.
pub(crate) fn round(value: f64) -> f64 {
    format!("{value:.2e}")
        .parse()
        .expect("the text is a number")
}

/// Quotes a text.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

const UNITS: &[(D, &[(&str, f64)])] = &[
    (
        D::Time,
        &[("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("min", 60.0)],
    ),
    (D::Rate, &[("bit/s", 1.0), ("kbit/s", 1e3), ("Mbit/s", 1e6)]),
    (D::Bytes, &[("B", 1.0), ("kB", 1e3), ("KiB", 1024.0)]),
    (D::Packets, &[("packets", 1.0), ("p", 1.0)]),
    (D::PacketRate, &[("pps", 1.0), ("kpps", 1e3)]),
    (D::Bdp, &[("bdp", 1.0)]),
    (D::Ratio, &[("", 1.0), ("%", 0.01)]),
    (D::Dbm, &[("dBm", 1.0)]),
];

impl Limits {
    /// Makes the run at most `duration_s` long.
    pub(crate) fn shorten(&mut self, duration_s: f64) {
        self.duration_s = self.duration_s.min(duration_s);
    }
}

impl Draw {
    /// `value` base units of `dimension`, in any unit.
    pub(crate) fn written(&mut self, dimension: D, value: f64) -> String {
        let (_, units) = UNITS.iter().find(|(d, _)| *d == dimension).expect("listed");
        let (mut unit, mut size) = self.pick(units);
        if value / size * size > value {
            // Rounding must not lift a largest value over its bound.
            (unit, size) = units[0];
        }
        quoted(format!("{} {unit}", value / size).trim())
    }

    /// The bounds of a usual value in base units, within those of its key.
    fn usual(&self, section: &str, key: &str, dimension: D) -> (f64, f64) {
        let (end, most) = (self.limits.duration_s, self.limits.most_bps);
        match (section, key, dimension) {
            (_, "reader", _) => (end / 1e4, end),
            (_, "rtt", _) => (1e-4, 1.0),
            (_, "delay", _) => (1e-5, 0.3),
            (_, "min_rto", _) => (1e-3, 3.0),
            ("", "trace", _) => (end / 200.0, end),
            ("workload", "load", _) => (0.01, 1.2),
            (_, "overhead", _) => (0.0, 60.0),
            (_, "bytes", _) => (1.0, most * end / 8.0),
            (_, "received_power", _) => (-100.0, -30.0),
            (_, _, D::Time) => (1e-5, end),
            (_, _, D::Rate) => (most / 30.0, most),
            (_, _, D::Bytes) => (1.0, 1e6),
            (_, _, D::Packets) => (1.0, 200.0),
            (_, _, D::Bdp) => (0.1, 8.0),
            (_, _, D::PacketRate) => (1.0, 100.0),
            (_, _, D::Ratio) => (0.0, 1.0),
            (_, _, D::Dbm) => (-100.0, 0.0),
            (_, _, D::Frequency) => (1e9, 4e9),
        }
    }

    /// Whether any value that the key allows may be drawn: not for what decides how much work there
    /// is.
    fn may_be_wild(section: &str, key: &str) -> bool {
        let makes_work = [
            "duration", "rate", "ack_rate", "reader", "at", "stop", "load", "start",
        ];
        let is_timing = section.is_empty() && ["warmup", "trace"].contains(&key);
        !(is_timing || makes_work.contains(&key))
    }

    /// A quantity of one of the key's dimensions.
    pub(crate) fn quantity(&mut self, section: &'static Section, key: &'static Key) -> String {
        let (dimensions, low, high): (&[D], f64, f64) = match key.kind {
            Kind::Quantity(dimensions, low, high) => (dimensions, low, high),
            _ => (&[D::Time], 0.0, 1e7),
        };
        let dimension = self.pick(dimensions);
        let (usual_low, usual_high) = self.usual(section.name, key.name, dimension);
        let (mut low, mut high) = (low.max(usual_low.min(high)), high.min(usual_high.max(low)));
        if Draw::may_be_wild(section.name, key.name)
            && self.chance(self.limits.wild)
            && let Kind::Quantity(_, least, most) = key.kind
        {
            (low, high) = (least, most);
            if self.chance(0.3) {
                let edge = if self.chance(0.5) && least > 1e-12 {
                    least
                } else {
                    most
                };
                return self.written(dimension, edge);
            }
        }
        let value = self.between(low, high);
        self.written(dimension, value)
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        let value = if low > 0.0 || (low == 0.0 && self.chance(0.9)) {
            log_uniform(&mut self.rng, low.max(1e-12), high)
        } else if low == 0.0 {
            0.0
        } else {
            low + (high - low) * self.rng.unit()
        };
        round(value).clamp(low, high)
    }

    /// A value that is no table.
    pub(crate) fn plain(&mut self, section: &'static Section, key: &'static Key) -> String {
        match &key.kind {
            Kind::Bool => self.chance(0.5).to_string(),
            Kind::Whole(low, high) => {
                let most = match key.name {
                    "seed" | "cwnd_clamp" | "mtu" => *high,
                    "repeat" | "stations" | "hops" => 3,
                    "count" | "pairs" => 4,
                    "connections" => 12,
                    _ => (*high).min(100),
                };
                let value = self.between(*low as f64, most as f64) as i64;
                value.clamp(*low, most).to_string()
            }
            Kind::Number(low, high) => {
                let end = self.limits.duration_s;
                let (low, high) = match key.name {
                    "arrivals" => (1.0 / end, 60.0 / end),
                    _ => (*low, *high),
                };
                self.between(low, high).to_string()
            }
            Kind::Quantity(..) => self.quantity(section, key),
            Kind::Word(words) => quoted(self.pick(words)),
            Kind::Words(words) => {
                debug_assert_eq!(*words, ENGINES);
                // `measure` is noted as missing and the others still run.
                let some = [
                    r#"["predict", "simulate"]"#,
                    r#"["simulate"]"#,
                    r#"["simulate", "measure"]"#,
                ];
                self.pick(&some).to_owned()
            }
            Kind::BoolOrNames => self.pick(&["true", "false"]).to_owned(),
            Kind::BoolOrWhole(low, high) => match self.rng.below(3) {
                0 => "true".to_owned(),
                1 => "false".to_owned(),
                _ => self.whole(*low as u64, *high as u64).to_string(),
            },
            Kind::BoolOrWord(words) => match self.rng.below(3) {
                0 => "true".to_owned(),
                1 => "false".to_owned(),
                _ => quoted(self.pick(words)),
            },
            Kind::WordOrTime(words) => match self.rng.below(3) {
                0 => self.quantity(section, key),
                _ => quoted(self.pick(words)),
            },
            Kind::Plugin(family) => {
                let members = family.catalogue().members();
                let about = members[self.rng.below(members.len() as u64) as usize];
                let aliases: Vec<_> = about.aliases.iter().chain([&about.name]).copied().collect();
                quoted(self.pick(&aliases))
            }
            Kind::Distribution(dimension) => self.random(key.name, *dimension),
            Kind::Text => {
                let name = self.name();
                quoted(&name)
            }
            other => unreachable!(
                "`{}.{}` is {other:?}: a rule draws it",
                section.name, key.name
            ),
        }
    }

    /// A random quantity: one value, or a law.
    fn random(&mut self, key: &str, dimension: D) -> String {
        // The mean that bounds the work: of gaps, and of everything else.
        let (end, most) = (self.limits.duration_s, self.limits.most_bps);
        let scale = match (key, dimension) {
            ("gap", _) => self.between(end / 200.0, end),
            (_, D::Time) => self.between(end / 50.0, end),
            // A load of flows of a few bytes is millions of flows.
            ("size", D::Bytes) => self.between(300.0, (most * end / 80.0).max(300.0)),
            _ => self.between(1.0, (most * end / 80.0).max(1.0)),
        };
        if self.chance(0.3) {
            return self.written(dimension, scale);
        }
        for _ in 0..40 {
            let members = Family::Distribution.catalogue().members();
            let about = members[self.rng.below(members.len() as u64) as usize];
            if let Some(table) = self.law(about, key, dimension, scale) {
                return table;
            }
        }
        self.written(dimension, scale)
    }

    /// The law `about` with values of about `scale`; nothing where it would come to a standstill.
    fn law(
        &mut self,
        about: &'static About,
        key: &str,
        dimension: D,
        scale: f64,
    ) -> Option<String> {
        let mut table = vec![("distribution".to_owned(), quoted(about.name))];
        let mut plugin = Plugin::new(about.name);
        let mut note = |table: &mut super::Table, name: &str, value: f64| {
            plugin = plugin.clone().with(name, Value::Float(value));
            table.push((name.to_owned(), format!("{value:?}")));
        };
        let by_rate = key == "gap" && about.name == "exponential" && self.chance(0.3);
        if by_rate {
            note(&mut table, "mean", scale);
            table.pop();
            let rate = self.written(D::PacketRate, 1.0 / scale);
            table.push(("rate".to_owned(), rate));
        } else {
            match about.name {
                "constant" => note(&mut table, "value", scale),
                "exponential" => note(&mut table, "mean", scale),
                "poisson" => note(&mut table, "mean", scale.max(0.5)),
                "normal" => {
                    note(&mut table, "mean", scale);
                    let spread = scale * self.rng.unit();
                    note(&mut table, "std_dev", round(spread));
                }
                "uniform" => {
                    note(&mut table, "min", round(scale * self.rng.unit()));
                    note(&mut table, "max", round(scale * (1.0 + self.rng.unit())));
                }
                "log-normal" => {
                    note(&mut table, "mu", scale.ln());
                    note(&mut table, "sigma", round(2.0 * self.rng.unit()));
                }
                "cauchy" => {
                    note(&mut table, "location", scale);
                    note(&mut table, "scale", round(scale * self.rng.unit()));
                }
                "pareto" | "gamma" | "weibull" => {
                    let shape = self.between(0.4, 5.0);
                    note(&mut table, "shape", shape);
                    note(&mut table, "scale", scale);
                    if about.name == "pareto" && self.chance(0.3) {
                        note(&mut table, "bound", scale * 50.0);
                    }
                }
                "zipf" => {
                    let n = self.whole(1, 1000);
                    table.push(("n".to_owned(), n.to_string()));
                    plugin = plugin.with("n", Value::Int(n as i64));
                    let exponent = round(3.0 * self.rng.unit());
                    table.push(("exponent".to_owned(), format!("{exponent:?}")));
                }
                "empirical" if dimension == D::Bytes && self.chance(0.4) => {
                    let preset = self.pick(&["web-search", "data-mining"]);
                    table.push(("preset".to_owned(), quoted(preset)));
                }
                "empirical" => {
                    let (a, b, c) = (scale * 0.5, scale, scale * 4.0);
                    table.push(("values".to_owned(), format!("[{a:?}, {b:?}, {c:?}]")));
                    table.push(("probabilities".to_owned(), "[0.1, 0.6, 1.0]".to_owned()));
                    self.used
                        .insert("distributions:empirical.values".to_owned());
                }
                _ => return None,
            }
        }
        // A gap in which as good as nothing is above zero would never let time go on.
        let sound = plugin.distribution().is_ok_and(|law| law.cdf(0.0) < 0.7);
        if !sound {
            return None;
        }
        self.used.insert(format!("distributions:{}", about.name));
        self.used.insert(format!("{}.distribution", RANDOM.name));
        for (name, _) in &table[1..] {
            self.used
                .insert(format!("distributions:{}.{name}", about.name));
        }
        Some(super::inline(&table))
    }

    /// Some parameters of a plug-in that are possible together.
    pub(crate) fn params(&mut self, family: Family, about: &'static About) -> super::Table {
        match family {
            Family::Distribution => return self.jitter(about),
            Family::App => return self.app_params(about),
            _ => {}
        }
        for _ in 0..30 {
            let mut table = super::Table::new();
            let mut plugin = Plugin::new(about.name);
            for param in about.params {
                let is_required = param.default.is_empty() && param.kind != ParamKind::Text;
                if !is_required && !self.chance(0.3) {
                    continue;
                }
                let (text, value) = self.param(param);
                plugin = plugin.with(param.name, value);
                table.push((param.name.to_owned(), text));
            }
            let facts = LinkFacts {
                rate_bps: 1_000_000,
                mtu: 1500,
                limit_packets: 100,
                limit_bytes: u64::MAX,
                overhead: 14,
            };
            let is_possible = match family {
                Family::Discipline => plugin.discipline(&facts).is_ok(),
                Family::Loss => plugin.loss_model().is_ok(),
                _ => plugin.params(family).is_ok(),
            };
            if is_possible {
                self.used
                    .insert(format!("{}:{}", family.plural(), about.name));
                for (name, _) in &table {
                    self.used
                        .insert(format!("{}:{}.{name}", family.plural(), about.name));
                }
                return table;
            }
        }
        panic!("no parameters of `{}` are possible", about.name);
    }

    /// Parameters of an application that keep it from being much work.
    fn app_params(&mut self, about: &'static About) -> super::Table {
        let may_be: &[(&str, &[&str])] = match about.name {
            "video" => &[
                ("ladder", &["[0.2, 0.5, 1.5]", "[0.05]"]),
                ("segment", &["\"500 ms\"", "\"2 s\""]),
                ("rule", &["\"bola\"", "\"throughput\""]),
                ("buffer", &["\"20 s\"", "\"1 min\""]),
                ("startup", &["\"1 s\"", "\"0 s\""]),
            ],
            "web" => &[
                ("document", &["\"5 kB\"", "1"]),
                ("objects", &["0", "1", "12"]),
                ("object", &["\"10 kB\"", "\"1 MB\""]),
                ("connections", &["1", "2", "64"]),
                ("think", &["\"0 s\"", "\"200 ms\""]),
                ("tls", &["true", "false"]),
            ],
            "call" => &[
                ("least", &["\"50 kbit/s\""]),
                ("first", &["\"200 kbit/s\"", "\"2.5 Mbit/s\""]),
                ("most", &["\"2.5 Mbit/s\"", "\"5 Mbit/s\""]),
            ],
            "game" => &[
                ("tick", &["\"10 ms\"", "\"1 s\""]),
                ("command", &["\"1 B\"", "1200"]),
                ("update", &["\"1200 B\"", "40"]),
                ("deadline", &["\"0 s\"", "\"50 ms\""]),
            ],
            "voice" => &[("codec", &["\"g711\"", "\"g729a\""])],
            "rpc" => &[
                ("arrival", &["\"poisson\"", "\"closed\""]),
                ("rate", &["0.5", "100"]),
                ("think", &["\"10 ms\"", "\"1 s\""]),
                ("request", &["1", "\"10 kB\""]),
                ("response", &["1", "\"100 kB\""]),
                ("sizes", &["\"constant\"", "\"exponential\""]),
            ],
            other => panic!("nothing is drawn for `{other}`"),
        };
        let family = Family::App.plural();
        self.used.insert(format!("{family}:{}", about.name));
        let mut table = super::Table::new();
        for (name, values) in may_be {
            if self.chance(0.5) {
                self.used.insert(format!("{family}:{}.{name}", about.name));
                let value = self.pick(values).to_owned();
                table.push(((*name).to_owned(), value));
            }
        }
        table
    }

    /// The parameters of a law of extra delay.
    fn jitter(&mut self, about: &'static About) -> super::Table {
        let scale = self.between(1e-5, 0.05);
        let Some(law) = self.law(about, "jitter", D::Time, scale) else {
            return super::Table::new();
        };
        let inside = law.trim_start_matches("{ ").trim_end_matches(" }");
        // Parameters of laws hold no comma but within lists, of which none is a jitter's.
        let entries = inside
            .split(", ")
            .filter_map(|entry| entry.split_once(" = "));
        let entries = entries.filter(|(key, _)| *key != "distribution");
        if about.name == "empirical" {
            return super::Table::new();
        }
        entries
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect()
    }

    /// A parameter's text and value.
    fn param(&mut self, param: &Param) -> (String, Value) {
        let is_wild = self.chance(self.limits.wild);
        match param.kind {
            ParamKind::Int(low, high) => {
                let most = if is_wild {
                    high
                } else {
                    high.min(low.max(1).saturating_mul(1000))
                };
                let value = self.between(low as f64, most as f64) as i64;
                let value = value.clamp(low, most);
                (value.to_string(), Value::Int(value))
            }
            ParamKind::Float(low, high) => {
                let usual = param.default.parse::<f64>().unwrap_or(0.5).max(1e-3) * 4.0;
                let most = if is_wild {
                    high.min(1e12)
                } else {
                    high.min(usual)
                };
                let value = self.between(low.max(-1e12), most);
                (format!("{value:?}"), Value::Float(value))
            }
            ParamKind::Bool => {
                let value = self.chance(0.5);
                (value.to_string(), Value::Bool(value))
            }
            ParamKind::Choice(words) => {
                let word = self.pick(words);
                (quoted(word), Value::Text(word.to_owned()))
            }
            ParamKind::Time => {
                let value = if is_wild {
                    self.between(1e-12, 1e7)
                } else {
                    self.between(1e-4, 1.0)
                };
                let text = self.written(D::Time, value);
                (text.clone(), Value::Text(text.trim_matches('"').to_owned()))
            }
            ParamKind::Rate => {
                let most = self.limits.most_bps;
                let value = self.between(most / 100.0, most);
                let text = self.written(D::Rate, value);
                (text.clone(), Value::Text(text.trim_matches('"').to_owned()))
            }
            ParamKind::Bytes => {
                let value = self.between(1.0, if is_wild { 1e15 } else { 1e5 });
                let text = self.written(D::Bytes, value);
                (text.clone(), Value::Text(text.trim_matches('"').to_owned()))
            }
            ParamKind::Text => (quoted(param.default), Value::Text(param.default.to_owned())),
            ParamKind::Floats => {
                let mut numbers: Vec<f64> = (0..3).map(|_| self.whole(1, 50) as f64).collect();
                numbers.sort_by(f64::total_cmp);
                (format!("{numbers:?}"), Value::Floats(numbers))
            }
        }
    }
}
