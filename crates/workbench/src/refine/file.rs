//! What a live router counted, as a file: written by `trammel router --counters`, read by
//! `trammel estimate --refine`.
//!
//! ```toml
//! format = "trammel-counters 1"
//! configuration = "router.click"
//! processor = "AMD EPYC"
//! elements = 5                # so many tables follow
//! packets = 100000            # that came in
//! bytes = 6000000             # of them, in memory
//!
//! [[element]]
//! name = "c"
//! class = "CheckIPHeader"
//! packets = 100000            # that came here; that it gave or fetched, where it drives them
//! calls = 3200                # that brought, gave or fetched them
//! bytes = 6000000
//! outputs = 1
//! cycles = 2500000.0          # in the element itself, readings of the clock taken off
//! quantities = { entries = 12 }
//! ```

use crate::measure::Clock;
use std::fmt::Write as _;
use toml_edit::{Document, Item, Table, Value};
use trammel_router::engine::{Counters, Ctx};
use trammel_router::estimate::{Visited, Visits, inflow, visits};

/// The first line that matters.
const FORMAT: &str = "trammel-counters 1";
/// How such a file begins.
pub const FIRST: &str = "# What was counted at each element";
/// How such a file comes into being.
const WRITTEN_BY: &str = "`trammel router FILE --counters RUN` writes one";

/// What a run counted.
#[derive(Clone, Debug, PartialEq)]
pub struct Counted {
    /// The processor that it ran on.
    pub processor: String,
    /// Mean bytes of the packets that came in, in memory.
    pub bytes: f64,
    /// Every element.
    pub visits: Visits,
}

/// The file of a router that has run with `profiled` set.
pub fn write(ctx: &Ctx, configuration: &str, processor: &str, clock: &Clock) -> String {
    let given = inflow(ctx);
    let visits = visits(ctx, &given, 1.0);
    let came = (0..ctx.elements()).filter(|at| given.iter().any(|one| one.name == ctx.name(*at)));
    let bytes: u64 = came.map(|at| ctx.counters(at).started.bytes).sum();
    let quoted = |text: &str| Value::from(text).to_string();
    let mut text = format!(
        "{FIRST}, {}.\nformat = {}\nconfiguration = {}\nprocessor = {}\nelements = {}\n\
         packets = {}\nbytes = {bytes}\n",
        trammel_ground::machine::now(),
        quoted(FORMAT),
        quoted(configuration),
        quoted(processor),
        visits.elements.len(),
        visits.packets,
    );
    for (at, visited) in visits.elements.iter().enumerate() {
        let _ = write!(
            text,
            "\n[[element]]\nname = {}\nclass = {}\npackets = {}\n",
            quoted(&visited.name),
            quoted(&visited.class),
            visited.packets
        );
        if visited.packets == 0.0 {
            continue;
        }
        let _ = writeln!(
            text,
            "calls = {}\nbytes = {}\noutputs = {}",
            visited.calls, visited.bytes, visited.outputs
        );
        if let Some(cycles) = cycles(ctx.counters(at), clock) {
            let _ = writeln!(text, "cycles = {cycles:.1}");
        }
        let each = visited.quantities.iter();
        let each: Vec<String> = each
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        if !each.is_empty() {
            let _ = writeln!(text, "quantities = {{ {} }}", each.join(", "));
        }
    }
    text
}

/// Cycles of an element's own code over all its calls: those that were interrupted are taken for
/// what the others are.
fn cycles(counted: &Counters, clock: &Clock) -> Option<f64> {
    let calls = (counted.batches + counted.started.turns) as f64;
    let whole = calls - counted.interrupted as f64;
    if counted.cycles == 0 || whole <= 0.0 {
        return None;
    }
    // Each timed call has one reading of the clock in it, and each pull that it made another.
    let readings = whole + counted.pulls as f64;
    let ticks = counted.cycles as f64 - readings * clock.ticks_a_reading;
    Some(ticks.max(0.0) * clock.cycles_a_tick * calls / whole)
}

/// Reads such a file, called `name` in messages. The error is a line.
pub fn read(text: &str, name: &str) -> Result<Counted, String> {
    if text.trim().is_empty() {
        return Err(format!("{name}: it is empty; {WRITTEN_BY}"));
    }
    let document = Document::parse(text).map_err(|error| {
        let before = error.span().map_or(0, |span| span.start);
        let line = text[..before.min(text.len())].matches('\n').count() + 1;
        let message = error.message().lines().next().unwrap_or_default();
        format!("{name}:{line}: {message}: it is truncated or not a file of counters; {WRITTEN_BY}")
    })?;
    let table = document.as_table();
    if table.get("format").and_then(Item::as_str) != Some(FORMAT) {
        return Err(format!(
            "{name}: it is no file of counters (`format = \"{FORMAT}\"`); {WRITTEN_BY}"
        ));
    }
    let fault = |fault: String| format!("{name}: {fault}; {WRITTEN_BY}");
    let top = Reader { table, of: "" };
    let wanted = top.count("elements").map_err(fault)?;
    let packets = top.count("packets").map_err(fault)?;
    let bytes = top.count("bytes").map_err(fault)?;
    let processor = top.word("processor").map_err(fault)?;
    let tables = table.get("element").and_then(Item::as_array_of_tables);
    let tables: Vec<&Table> = tables.into_iter().flatten().collect();
    if tables.len() as f64 != wanted {
        return Err(fault(format!(
            "it has {} of {wanted} elements, so it is truncated",
            tables.len()
        )));
    }
    let mut elements: Vec<Visited> = Vec::new();
    for table in tables {
        let visited = element(table).map_err(fault)?;
        if elements.iter().any(|known| known.name == visited.name) {
            return Err(fault(format!("'{}' is there twice", visited.name)));
        }
        elements.push(visited);
    }
    if packets == 0.0 {
        return Err(format!(
            "{name}: no packet came in while it was counted; run the router under traffic, with a \
             device or a source that gives packets"
        ));
    }
    Ok(Counted {
        processor,
        bytes: bytes / packets,
        visits: Visits { packets, elements },
    })
}

fn element(table: &Table) -> Result<Visited, String> {
    let name = Reader { table, of: "" }.word("name")?;
    let reader = Reader { table, of: &name };
    let mut visited = Visited {
        class: reader.word("class")?,
        packets: reader.count("packets")?,
        ..Visited::default()
    };
    if visited.packets > 0.0 {
        visited.calls = reader.count("calls")?;
        visited.bytes = reader.count("bytes")?;
        visited.outputs = reader.count("outputs")? as usize;
        if visited.calls == 0.0 {
            return Err(format!("'{name}' got packets in 0 calls"));
        }
        if table.contains_key("cycles") {
            visited.cycles = Some(reader.number("cycles")?);
        }
        if let Some(all) = table.get("quantities") {
            let all = all.as_table_like();
            let all = all.ok_or_else(|| format!("`quantities` of '{name}' are no table"))?;
            for (key, item) in all.iter() {
                let value = positive(item);
                let value = value.ok_or_else(|| reader.fault(key, "a number from 0 on"))?;
                visited.quantities.push((key.to_owned(), value));
            }
        }
    }
    visited.name = name;
    Ok(visited)
}

/// A table whose keys are asked for, and the element that it is of.
struct Reader<'a> {
    table: &'a Table,
    of: &'a str,
}

impl Reader<'_> {
    fn fault(&self, key: &str, wanted: &str) -> String {
        match self.of {
            "" => format!("`{key}` is {wanted}"),
            of => format!("`{key}` of '{of}' is {wanted}"),
        }
    }

    fn word(&self, key: &str) -> Result<String, String> {
        let word = self.table.get(key).and_then(Item::as_str);
        let word = word.filter(|word| !word.is_empty());
        Ok(word.ok_or_else(|| self.fault(key, "a word"))?.to_owned())
    }

    fn number(&self, key: &str) -> Result<f64, String> {
        let number = self.table.get(key).and_then(positive);
        number.ok_or_else(|| self.fault(key, "a number from 0 on"))
    }

    fn count(&self, key: &str) -> Result<f64, String> {
        let count = self.table.get(key).and_then(Item::as_integer);
        let count = count.filter(|count| *count >= 0);
        let count = count.ok_or_else(|| self.fault(key, "a whole number from 0 on"))?;
        Ok(count as f64)
    }
}

fn positive(item: &Item) -> Option<f64> {
    let number = item.as_float();
    let number = number.or_else(|| item.as_integer().map(|whole| whole as f64));
    number.filter(|number| number.is_finite() && *number >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RIGHT: &str = r#"format = "trammel-counters 1"
configuration = "r.click"
processor = "P"
elements = 2
packets = 100
bytes = 6000
[[element]]
name = "a"
class = "Counter"
packets = 0
[[element]]
name = "b"
class = "EtherSwitch"
packets = 100
calls = 10
bytes = 6000
outputs = 2
cycles = 5000.0
quantities = { entries = 12 }
"#;

    #[test]
    fn readings_are_taken_off_and_interrupted_calls_made_good() {
        let clock = Clock {
            cycles_a_tick: 2.0,
            ticks_per_s: 1e9,
            ticks_a_reading: 10.0,
        };
        let mut counted = Counters {
            batches: 100,
            pulls: 20,
            cycles: 10_000,
            ..Counters::default()
        };
        assert_eq!(cycles(&counted, &clock), Some(2.0 * (10_000.0 - 1200.0)));
        // Twenty of the calls were not timed.
        (counted.interrupted, counted.cycles) = (20, 8_000);
        let timed = 2.0 * (8_000.0 - 1000.0);
        assert_eq!(cycles(&counted, &clock), Some(timed * 100.0 / 80.0));
        counted.interrupted = 100;
        assert_eq!(cycles(&counted, &clock), None);
    }

    #[test]
    fn a_file_is_read() {
        let counted = read(RIGHT, "run.toml").unwrap();
        assert_eq!((counted.bytes, counted.visits.packets), (60.0, 100.0));
        let [a, b] = &counted.visits.elements[..] else {
            panic!("{counted:?}")
        };
        assert_eq!((a.packets, a.cycles), (0.0, None));
        assert_eq!((b.calls_a_packet(), b.cycles), (0.1, Some(5000.0)));
        assert_eq!(b.quantities, [("entries".to_owned(), 12.0)]);
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said_in_a_line() {
        let cut = |end: &str| RIGHT[..RIGHT.find(end).unwrap()].to_owned();
        let changed = |from: &str, to: &str| {
            let text = RIGHT.replacen(from, to, 1);
            assert_ne!(text, RIGHT);
            text
        };
        for (text, said) in [
            (String::new(), "run.toml: it is empty; "),
            (" \n".to_owned(), "run.toml: it is empty; "),
            (
                cut("[[element]]\nname = \"b\""),
                "it has 1 of 2 elements, so it is truncated",
            ),
            (cut("ries = 12"), "run.toml:19: "),
            (cut("class = \"EtherSwitch\""), "`class` of 'b' is a word"),
            (
                changed("packets = 100", "packets = 0"),
                "no packet came in while it was counted",
            ),
            (
                changed("packets = 100", "packets = -1"),
                "`packets` is a whole number from 0 on",
            ),
            (
                changed("calls = 10", "calls = 0"),
                "'b' got packets in 0 calls",
            ),
            (
                changed("cycles = 5000.0", "cycles = inf"),
                "`cycles` of 'b' is a number from 0 on",
            ),
            (changed("\"b\"", "\"a\""), "'a' is there twice"),
            (
                changed("counters 1", "counters 9"),
                "it is no file of counters",
            ),
            ("title = 'x'\n".to_owned(), "it is no file of counters"),
        ] {
            let error = read(&text, "run.toml").unwrap_err();
            assert!(error.contains(said), "{error}");
            assert_eq!(error.lines().count(), 1, "{error}");
        }
    }

    #[test]
    fn no_cut_and_no_changed_byte_is_more_than_a_line() {
        for end in 0..RIGHT.len() {
            if let Err(error) = read(&RIGHT[..end], "run.toml") {
                assert_eq!(error.lines().count(), 1, "{error}");
            }
            let mut bytes = RIGHT.as_bytes().to_vec();
            bytes[end] = b'"';
            let text = String::from_utf8(bytes).unwrap();
            if let Err(error) = read(&text, "run.toml") {
                assert_eq!(error.lines().count(), 1, "{error}");
            }
        }
    }
}
