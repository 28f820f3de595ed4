//! Writing a machine as a file that `machine_reader` reads back to the same.
//!
//! One profile, named as the machine's. Comments for people stand before it; what the reader knows
//! stands in it.

use crate::machine::Machine;
use std::collections::BTreeMap;
use toml_edit::{DocumentMut, InlineTable, Item, Table, Value, value};

/// The text of the machine's file. `notes` are lines for people, which become comments at its
/// beginning.
pub fn write(machine: &Machine, notes: &[String]) -> String {
    let mut document = DocumentMut::new();
    let profile = if machine.profile.is_empty() {
        "measured"
    } else {
        &machine.profile
    };
    document["title"] = value(&machine.title);
    document["default"] = value(profile);
    let mut profiles = Table::new();
    profiles.set_implicit(true);
    profiles.insert(profile, Item::Table(table_of(machine)));
    document["profile"] = Item::Table(profiles);
    let notes: String = notes
        .iter()
        .flat_map(|note| note.lines())
        .map(|line| format!("# {}\n", line.replace(|c: char| c.is_control(), " ")))
        .collect();
    if notes.is_empty() {
        return document.to_string();
    }
    format!("{notes}\n{document}")
}

fn table_of(machine: &Machine) -> Table {
    let mut table = Table::new();
    table["origin"] = value(machine.origin.key());
    table["source"] = value(&machine.source);
    table["clock_mhz"] = value(undone(machine.clock_hz, 1e6));
    table["cores"] = value(i64::from(machine.cores));
    table["sockets"] = value(i64::from(machine.sockets));
    if machine.whole_cycles {
        table["whole_cycles"] = value(true);
    }
    table["spread"] = value(machine.spread);
    if machine.pcie_bytes_per_s.is_finite() {
        table["pcie_bytes_per_s"] = value(machine.pcie_bytes_per_s);
    }
    let mut levels = toml_edit::Array::new();
    for level in &machine.levels {
        let mut row = InlineTable::new();
        row.insert("name", level.name.as_str().into());
        row.insert("kib", (level.bytes / 1024.0).into());
        row.insert("cycles", level.cycles.into());
        row.insert("share", level.share.into());
        let mut row = Value::InlineTable(row);
        row.decor_mut().set_prefix("\n    ");
        levels.push_formatted(row);
    }
    levels.set_trailing("\n");
    levels.set_trailing_comma(true);
    table["levels"] = value(levels);
    let mut memory = InlineTable::new();
    memory.insert("latency_ns", machine.memory.latency_ns.into());
    memory.insert("parallel", machine.memory.parallel.into());
    if machine.memory.accesses_per_s.is_finite() {
        memory.insert("accesses_per_s", machine.memory.accesses_per_s.into());
    }
    if machine.memory.is_counted_only {
        memory.insert("counted_only", true.into());
    }
    if machine.memory.spread != 0.0 {
        memory.insert("spread", machine.memory.spread.into());
    }
    table["memory"] = value(memory);
    if let Some(pages) = &machine.pages {
        let mut row = InlineTable::new();
        row.insert("kib", (pages.bytes / 1024.0).into());
        row.insert("entries", pages.entries.into());
        row.insert("cycles", pages.cycles.into());
        table["pages"] = value(row);
    }
    if let Some(siblings) = &machine.siblings {
        let mut row = InlineTable::new();
        row.insert("issue_issue", siblings.issue_issue.into());
        row.insert("issue_wait", siblings.issue_wait.into());
        row.insert("wait_issue", siblings.wait_issue.into());
        row.insert("wait_wait", siblings.wait_wait.into());
        table["siblings"] = value(row);
    }
    if !machine.constants.is_empty() {
        let rows = machine.constants.iter().map(|(name, constants)| {
            let row: InlineTable = constants.iter().map(|(k, v)| (k.as_str(), *v)).collect();
            (name, row)
        });
        table["eo"] = dotted(rows.collect());
    }
    if !machine.factors.is_empty() {
        let rows = machine.factors.iter().map(|(class, factor)| {
            let mut row = InlineTable::new();
            row.insert("ratio", factor.ratio.into());
            row.insert("spread", factor.spread.into());
            if factor.grown != 1.0 {
                row.insert("grown", factor.grown.into());
            }
            if factor.call != 0.0 {
                row.insert("call", factor.call.into());
            }
            (class, row)
        });
        table["factor"] = dotted(rows.collect());
    }
    table
}

/// Rows under one key, each as `key.name = { … }`.
fn dotted(rows: BTreeMap<&String, InlineTable>) -> Item {
    let mut table = Table::new();
    table.set_dotted(true);
    for (name, row) in rows {
        table[name.as_str()] = value(row);
    }
    Item::Table(table)
}

/// The number that gives `product` when the reader multiplies it by `factor`: division rounds, and
/// the number beside may be the right one.
fn undone(product: f64, factor: f64) -> f64 {
    let near = product / factor;
    let beside = [near, near.next_up(), near.next_down()];
    let right = beside.into_iter().find(|number| number * factor == product);
    right.unwrap_or(near)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eo;
    use crate::machine::{Factor, Level, Memory, Pages, Siblings};
    use crate::machine_reader::read;
    use crate::machines;
    use proptest::prelude::*;
    use trammel_core::label::Label;

    #[test]
    fn built_in_machines_are_read_back_to_the_same() {
        for name in machines::names() {
            let machine = machines::find(name).unwrap();
            let text = write(&machine, &["a note\nof two lines".to_owned()]);
            assert!(text.starts_with("# a note\n# of two lines\n"), "{text}");
            assert_eq!(read(&machine.id, &text, None), Ok(machine), "{text}");
        }
    }

    fn machine() -> impl Strategy<Value = Machine> {
        let word = "[a-zA-Z0-9 \"\\\\#é\n]{0,20}";
        let number = 0.0..1e4_f64;
        let constants = prop::collection::vec(number.clone(), 64);
        (
            (word, word, 1.0..9e3_f64, 1_u32..4, 1_u32..64),
            (1.0..9.0_f64, 1.1..8.0_f64, 0.0..=1.0_f64, 0.0..1.0_f64),
            (prop::option::of(number), prop::option::of(1e6..1e10_f64)),
            (constants, prop::option::of(0.1..9.0_f64)),
        )
            .prop_map(|(texts, shape, limits, (constants, factor))| {
                let (title, source, mhz, sockets, cores) = texts;
                let (first, growth, share, spread) = shape;
                let level = |at: i32| Level {
                    name: format!("L{at}"),
                    bytes: (first * growth.powi(at)).floor().max(f64::from(at)) * 1024.0,
                    cycles: first * growth.powi(at),
                    share,
                };
                let mut levels: Vec<Level> = (1..4).map(level).collect();
                levels.dedup_by(|outer, inner| outer.bytes <= inner.bytes);
                let mut given = constants.iter().copied();
                let mut all = BTreeMap::new();
                for entry in eo::all()
                    .into_iter()
                    .filter(|entry| entry.constants_of.is_none())
                {
                    let of = entry.constants().iter().map(|c| c.name);
                    let of: BTreeMap<_, _> = of
                        .zip(given.by_ref())
                        .map(|(name, constant)| (name.to_owned(), constant))
                        .collect();
                    all.insert(entry.about.name.to_owned(), of);
                }
                Machine {
                    id: "host".to_owned(),
                    profile: "measured".to_owned(),
                    title,
                    origin: Label::Measured,
                    source,
                    clock_hz: mhz * 1e6,
                    cores: cores * sockets,
                    sockets,
                    whole_cycles: sockets == 2,
                    spread,
                    levels,
                    memory: Memory {
                        latency_ns: 1e9,
                        parallel: growth,
                        accesses_per_s: limits.1.unwrap_or(f64::INFINITY),
                        is_counted_only: sockets == 3,
                        spread: share,
                    },
                    pages: limits.0.map(|entries| Pages {
                        bytes: 4096.0,
                        entries,
                        cycles: first,
                    }),
                    constants: all,
                    factors: factor
                        .map(|ratio| {
                            (
                                "Counter".to_owned(),
                                Factor {
                                    ratio,
                                    grown: growth,
                                    spread,
                                    call: first - 2.0,
                                },
                            )
                        })
                        .into_iter()
                        .collect(),
                    siblings: factor.map(|ratio| Siblings {
                        issue_issue: ratio,
                        issue_wait: growth,
                        wait_issue: share,
                        wait_wait: spread,
                    }),
                    pcie_bytes_per_s: limits.1.unwrap_or(f64::INFINITY),
                }
            })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back_to_the_same(machine in machine()) {
            let text = write(&machine, &[]);
            prop_assert_eq!(read("host", &text, None), Ok(machine), "{}", text);
        }
    }
}
