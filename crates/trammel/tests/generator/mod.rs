//! Random valid scenario files over the whole space of keys, from the table that the reader itself
//! has.
//!
//! A key that is added to the table is drawn from then on without a change here: [`values`] draws
//! by the key's kind and range, [`rules`] holds what one key says about another. A file costs
//! little: rate times duration is bounded, and with it the packets; [`values::Limits`] bounds what
//! else makes work.

mod rules;
mod values;

use std::collections::BTreeSet;
use std::fmt::Write;
use trammel::scenario::keys_kind::{Fallback, Key, Kind, Section};
use trammel::scenario::registry::Family;
use trammel_core::rng::Rng;
use values::Limits;

/// A table of a scenario file: keys with the text of their values.
type Table = Vec<(String, String)>;

/// A scenario file, and the keys and plug-ins that it uses, as `section.key` and
/// `family:name.parameter`.
pub(crate) struct Generated {
    pub(crate) text: String,
    pub(crate) used: BTreeSet<String>,
}

/// Names of the delivery traces that a generated file may name, with their texts.
pub(crate) const TRACES: &[(&str, &str)] = &[
    ("slow.trace", "40\n80\n200\n"),
    ("bursty.trace", "1\n1\n1\n1\n50\n50\n51\n100\n"),
];

/// Names of the schedules that a generated file may name, with their texts.
pub(crate) const SCHEDULES: &[(&str, &str)] = &[
    (
        "path.csv",
        "time_s,rate_mbps,delay_ms\n0,5,20\n0.5,20,30\n2,0,25\n2.1,8,10\n",
    ),
    ("back.csv", "time_s,ack_delay_ms\n0,5\n1,8.5\n"),
];

/// The file of `seed`.
pub(crate) fn scenario(seed: u64) -> Generated {
    let mut rng = Rng::new(seed, "scenario");
    let limits = Limits::draw(&mut rng);
    let mut draw = Draw {
        rng,
        limits,
        used: BTreeSet::new(),
        where_to: rules::WhereTo::default(),
        names: 0,
    };
    let text = draw.file();
    Generated {
        text,
        used: draw.used,
    }
}

/// Draws one file.
struct Draw {
    rng: Rng,
    limits: Limits,
    used: BTreeSet<String>,
    where_to: rules::WhereTo,
    names: u32,
}

impl Draw {
    fn chance(&mut self, p: f64) -> bool {
        self.rng.chance(p)
    }

    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.rng.below(all.len() as u64) as usize]
    }

    /// Whole numbers from `low` to `high`.
    fn whole(&mut self, low: u64, high: u64) -> u64 {
        low + self.rng.below(high - low + 1)
    }

    /// A name that no other has, now and then one that needs quoting.
    fn name(&mut self) -> String {
        self.names += 1;
        match self.rng.below(8) {
            0 => format!("ünï \\\"{}\\\"", self.names),
            1 => format!("a/b,{}", self.names),
            _ => format!("n{}", self.names),
        }
    }

    /// Each key of `section` but those of `without`, with the probability `p` where it may be left
    /// out.
    fn table(&mut self, section: &'static Section, without: &[&str], p: f64) -> Table {
        let mut table = Table::new();
        for key in section.keys {
            let is_required = matches!(key.fallback, Fallback::Required);
            if without.contains(&key.name) || !(is_required || self.chance(p)) {
                continue;
            }
            let value = self.value(section, key);
            self.set(&mut table, section, key.name, value);
        }
        if let Some(family) = section.extra {
            self.plug_in(&mut table, section, family);
        }
        table
    }

    /// Sets a key and notes that it was used.
    fn set(&mut self, table: &mut Table, section: &Section, key: &str, value: String) {
        self.used.insert(format!("{}.{key}", section.name));
        table.retain(|(name, _)| name != key);
        table.push((key.to_owned(), value));
    }

    /// The parameters of the plug-in that a table names, beside its name. What its family refuses
    /// as impossible together is drawn anew, in the end with nothing but the name.
    fn plug_in(&mut self, table: &mut Table, section: &'static Section, family: Family) {
        let name_key = section
            .keys
            .iter()
            .find(|key| matches!(key.kind, Kind::Plugin(_)));
        let name_key = name_key.expect("a section with parameters names a plug-in");
        let found = table.iter().find(|(key, _)| key == name_key.name);
        let name = match (found, &name_key.fallback) {
            (Some((_, value)), _) => value.trim_matches('"').to_owned(),
            (None, Fallback::Is(default)) => (*default).to_owned(),
            (None, _) => unreachable!("a name without a default is required"),
        };
        let about = family
            .catalogue()
            .describe(&name)
            .expect("a drawn name exists");
        let can_mark = about.params.iter().any(|param| param.name == "ecn");
        if !can_mark {
            table.retain(|(key, value)| key != "ecn" || value == "false");
        }
        let params = self.params(family, about);
        for (key, value) in params {
            table.retain(|(name, _)| *name != key);
            table.push((key, value));
        }
    }

    fn value(&mut self, section: &'static Section, key: &'static Key) -> String {
        match &key.kind {
            Kind::BoolOr(_) if self.chance(0.5) => self.pick(&["true", "false"]).to_owned(),
            Kind::Table(inner) | Kind::TimeOr(inner) | Kind::BoolOr(inner) => {
                if matches!(key.kind, Kind::TimeOr(_)) && self.chance(0.5) {
                    return self.quantity(section, key);
                }
                let table = self.inner(inner);
                inline(&table)
            }
            _ => self.plain(section, key),
        }
    }

    /// A table within a table.
    fn inner(&mut self, section: &'static Section) -> Table {
        let probability = if section.name == "queue" { 0.7 } else { 0.4 };
        self.table(section, &[], probability)
    }
}

/// `{ key = value, … }`.
fn inline(table: &Table) -> String {
    let entries: Vec<_> = table
        .iter()
        .map(|(key, value)| format!("{key} = {value}"))
        .collect();
    format!("{{ {} }}", entries.join(", "))
}

/// A table under its header, a line a key.
fn block(text: &mut String, header: &str, table: &Table) {
    if !header.is_empty() {
        writeln!(text, "\n{header}").expect("memory");
    }
    for (key, value) in table {
        writeln!(text, "{key} = {value}").expect("memory");
    }
}

/// Every key of every section and every parameter of every plug-in, as [`Generated::used`] names
/// them.
pub(crate) fn everything() -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for section in trammel::scenario::keys::SECTIONS {
        for key in section.keys {
            all.insert(format!("{}.{}", section.name, key.name));
        }
    }
    for family in Family::ALL {
        for about in family.catalogue().members() {
            all.insert(format!("{}:{}", family.plural(), about.name));
            for param in about.params {
                all.insert(format!("{}:{}.{}", family.plural(), about.name, param.name));
            }
        }
    }
    all
}
