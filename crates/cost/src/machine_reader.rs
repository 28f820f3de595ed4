//! Reading machine files, and everything that may be wrong with one.
//!
//! ```toml
//! title = "a line for people"
//! default = "measured"                       # the profile that is meant where none is named
//!
//! [profile.measured]
//! origin = "measured"                        # published, fitted, data-sheet or measured
//! source = "where the numbers come from"
//! clock_mhz = 3500.0
//! cores = 2
//! sockets = 1
//! spread = 0.1                               # what the constants are good for
//! levels = [{ name = "L1", kib = 32, cycles = 5 }, { name = "L2", kib = 512, cycles = 14, share = 0.75 }]
//! memory = { latency_ns = 120, parallel = 20, accesses_per_s = 1e9, spread = 0.1 } # what waiting is good for, 0 unless given
//! pages = { kib = 4, entries = 2048, cycles = 30 }
//! eo.parse = { word = 2.2, spread = 0.03 }   # its own spread, where that is known
//! factor.CheckUDPHeader = { ratio = 1.2, grown = 0.9, spread = 0.05 } # `grown`: of what longer frames than 64 bytes add
//! siblings = { issue_issue = 1.5, issue_wait = 1.1, wait_issue = 1.2, wait_wait = 1 } # two threads of one core
//!
//! [profile.other]
//! like = "measured"                          # everything but what stands here
//! ```

use crate::eo;
use crate::machine::{ACCESSES, Factor, Level, Machine, Memory, ORIGINS, Pages, SPREAD, Siblings};
use std::collections::BTreeMap;
use std::fmt;
use toml_edit::{Document, Item, TableLike};
use trammel_core::label::Label;
use trammel_core::units::nearest;

/// What is wrong with a machine file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The machine.
    pub id: String,
    /// The line, where one is to blame.
    pub line: Option<usize>,
    /// What is wrong, why, and what to do.
    pub text: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}.toml:{line}: {}", self.id, self.text),
            None => write!(f, "{}.toml: {}", self.id, self.text),
        }
    }
}

/// Keys of a profile.
const KEYS: &[&str] = &[
    "like",
    "origin",
    "source",
    "clock_mhz",
    "cores",
    "sockets",
    "whole_cycles",
    "spread",
    "levels",
    "memory",
    "pages",
    "eo",
    "factor",
    "siblings",
    "pcie_bytes_per_s",
];

/// Profiles that are like one another, at most.
const DEPTH: usize = 8;

/// The names of a file's profiles, in its order; nothing where it cannot be read.
pub fn profiles(text: &str) -> Option<Vec<String>> {
    let document = Document::parse(text.to_owned()).ok()?;
    let profiles = document.get("profile")?.as_table_like()?;
    Some(profiles.iter().map(|(name, _)| name.to_owned()).collect())
}

/// Reads the machine `id` from the text of its file; its default profile unless one is named.
pub fn read(id: &str, text: &str, profile: Option<&str>) -> Result<Machine, Fault> {
    let file = File { id, text };
    let document = Document::parse(text.to_owned()).map_err(|error| {
        let at = error.span().map(|span| span.start);
        file.fault(at, error.message().to_owned())
    })?;
    let whole = |text: &str| file.fault(None, text.to_owned());
    let profiles = document
        .get("profile")
        .and_then(Item::as_table_like)
        .ok_or_else(|| whole("it has no profile; begin one with [profile.measured]"))?;
    let text_of = |key: &str| document.get(key).and_then(Item::as_str);
    let name = match (profile, text_of("default")) {
        (Some(name), _) | (None, Some(name)) => name,
        (None, None) => profiles.iter().next().map_or("", |(name, _)| name),
    };
    let mut machine = Machine {
        id: id.to_owned(),
        profile: name.to_owned(),
        title: text_of("title").unwrap_or(id).to_owned(),
        origin: Label::DataSheet,
        source: String::new(),
        clock_hz: 0.0,
        cores: 1,
        sockets: 1,
        whole_cycles: false,
        spread: 0.0,
        levels: Vec::new(),
        memory: Memory {
            latency_ns: 0.0,
            parallel: 1.0,
            accesses_per_s: f64::INFINITY,
            is_counted_only: false,
            spread: 0.0,
        },
        pages: None,
        constants: BTreeMap::new(),
        factors: BTreeMap::new(),
        siblings: None,
        pcie_bytes_per_s: f64::INFINITY,
    };
    let mut chain = Vec::new();
    let mut next = Some(name);
    while let Some(name) = next {
        let table = profiles.get(name).and_then(Item::as_table_like);
        let table = table.ok_or_else(|| {
            let meant = nearest(name, profiles.iter().map(|(known, _)| known));
            let meant = meant.map(|meant| format!("; did you mean `{meant}`?"));
            whole(&format!(
                "it has no profile `{name}`{}",
                meant.unwrap_or_default()
            ))
        })?;
        chain.push(table);
        if chain.len() > DEPTH {
            return Err(whole(&format!("`{name}` refers to itself")));
        }
        next = table.get("like").and_then(Item::as_str);
    }
    for table in chain.iter().rev() {
        file.profile(*table, &mut machine)?;
    }
    check(&machine).map_err(|text| whole(&text))?;
    Ok(machine)
}

/// A file while it is read.
struct File<'a> {
    id: &'a str,
    text: &'a str,
}

impl File<'_> {
    fn fault(&self, at: Option<usize>, text: String) -> Fault {
        let line = at.map(|at| 1 + self.text[..at.min(self.text.len())].matches('\n').count());
        Fault {
            id: self.id.to_owned(),
            line,
            text,
        }
    }

    fn at(&self, item: &Item, text: String) -> Fault {
        self.fault(item.span().map(|span| span.start), text)
    }

    fn unknown(&self, item: &Item, key: &str, known: &[&str]) -> Fault {
        let text = match nearest(key, known.iter().copied()) {
            Some(meant) => format!("there is no key `{key}`; did you mean `{meant}`?"),
            None => format!("there is no key `{key}`; there are {}", known.join(", ")),
        };
        self.at(item, text)
    }

    fn profile(&self, table: &dyn TableLike, machine: &mut Machine) -> Result<(), Fault> {
        for (key, item) in table.iter() {
            match key {
                "like" => {}
                "origin" => {
                    let word = self.word(item, key)?;
                    machine.origin = Label::of_key(word, &ORIGINS).ok_or_else(|| {
                        let known = ORIGINS.map(Label::key);
                        let known = known.join(", ");
                        self.at(
                            item,
                            format!("`{word}` is not an origin; there are {known}"),
                        )
                    })?;
                }
                "source" => self.word(item, key)?.clone_into(&mut machine.source),
                "clock_mhz" => machine.clock_hz = self.number(item, key)? * 1e6,
                "cores" => machine.cores = self.number(item, key)? as u32,
                "sockets" => machine.sockets = self.number(item, key)? as u32,
                "spread" => machine.spread = self.number(item, key)?,
                "pcie_bytes_per_s" => machine.pcie_bytes_per_s = self.number(item, key)?,
                "whole_cycles" => {
                    machine.whole_cycles = item
                        .as_bool()
                        .ok_or_else(|| self.at(item, format!("`{key}` is true or false")))?;
                }
                "levels" => machine.levels = self.levels(item)?,
                "memory" => self.memory(item, &mut machine.memory)?,
                "pages" => {
                    let [kib, entries, cycles] =
                        self.numbers(item, key, ["kib", "entries", "cycles"])?;
                    machine.pages = Some(Pages {
                        bytes: kib * 1024.0,
                        entries,
                        cycles,
                    });
                }
                "siblings" => {
                    let keys = ["issue_issue", "issue_wait", "wait_issue", "wait_wait"];
                    let [issue_issue, issue_wait, wait_issue, wait_wait] =
                        self.numbers(item, key, keys)?;
                    machine.siblings = Some(Siblings {
                        issue_issue,
                        issue_wait,
                        wait_issue,
                        wait_wait,
                    });
                }
                "eo" => self.constants(item, machine)?,
                "factor" => {
                    for (class, item) in self.table(item, key)?.iter() {
                        machine
                            .factors
                            .insert(class.to_owned(), self.factor(item, class)?);
                    }
                }
                _ => return Err(self.unknown(item, key, KEYS)),
            }
        }
        Ok(())
    }

    /// `grown` and `call` may be left out: most classes do the same for every frame, and files from
    /// before they were measured lack them.
    fn factor(&self, whole: &Item, class: &str) -> Result<Factor, Fault> {
        let table = self.table(whole, class)?;
        let keys = ["ratio", "spread", "grown", "call"];
        if let Some((key, item)) = table.iter().find(|(key, _)| !keys.contains(key)) {
            return Err(self.unknown(item, key, &keys));
        }
        let of = |key: &str| {
            let item = table.get(key);
            item.ok_or_else(|| self.at(whole, format!("`{class}` lacks `{key}`")))
        };
        Ok(Factor {
            ratio: self.number(of("ratio")?, "ratio")?,
            spread: self.number(of("spread")?, "spread")?,
            grown: table
                .get("grown")
                .map_or(Ok(1.0), |item| self.number(item, "grown"))?,
            call: table
                .get("call")
                .map_or(Ok(0.0), |item| self.finite(item, "call"))?,
        })
    }

    fn constants(&self, item: &Item, machine: &mut Machine) -> Result<(), Fault> {
        for (name, item) in self.table(item, "eo")?.iter() {
            let entry = eo::FAMILY
                .get(name)
                .map_err(|unknown| self.at(item, unknown.to_string()))?;
            let of = entry.constants_name();
            if entry.constants_of.is_some() {
                let text = format!("`{name}` is made of `{of}`; give the constants of that");
                return Err(self.at(item, text));
            }
            let mut known: Vec<&str> = entry.constants().iter().map(|c| c.name).collect();
            known.extend([ACCESSES, SPREAD]);
            let constants = machine.constants.entry(of.to_owned()).or_default();
            for (key, item) in self.table(item, name)?.iter() {
                if !known.contains(&key) {
                    return Err(self.unknown(item, key, &known));
                }
                constants.insert(key.to_owned(), self.number(item, key)?);
            }
        }
        Ok(())
    }

    fn levels(&self, item: &Item) -> Result<Vec<Level>, Fault> {
        let list = item.as_array().ok_or_else(|| {
            let text = "`levels` is a list such as [{ name = \"L1\", kib = 32, cycles = 5 }]";
            self.at(item, text.to_owned())
        })?;
        let read = |value: &toml_edit::Value| {
            let item = Item::Value(value.clone());
            let table = value.as_inline_table().ok_or_else(|| {
                let at = value.span().map(|span| span.start);
                self.fault(at, "a level is { name, kib, cycles }".to_owned())
            })?;
            let known = ["name", "kib", "cycles", "share"];
            for (key, _) in table {
                if !known.contains(&key) {
                    return Err(self.unknown(&item, key, &known));
                }
            }
            let name = table.get("name").and_then(toml_edit::Value::as_str);
            let number = |key: &str, default: Option<f64>| {
                let given = table.get(key).map(|value| Item::Value(value.clone()));
                match (given, default) {
                    (Some(given), _) => self.number(&given, key),
                    (None, Some(default)) => Ok(default),
                    (None, None) => Err(self.at(&item, format!("a level lacks `{key}`"))),
                }
            };
            Ok(Level {
                name: name.unwrap_or_default().to_owned(),
                bytes: number("kib", None)? * 1024.0,
                cycles: number("cycles", None)?,
                share: number("share", Some(1.0))?,
            })
        };
        list.iter().map(read).collect()
    }

    fn memory(&self, item: &Item, memory: &mut Memory) -> Result<(), Fault> {
        let known = [
            "latency_ns",
            "parallel",
            "accesses_per_s",
            "counted_only",
            "spread",
        ];
        for (key, item) in self.table(item, "memory")?.iter() {
            match key {
                "latency_ns" => memory.latency_ns = self.number(item, key)?,
                "parallel" => memory.parallel = self.number(item, key)?,
                "accesses_per_s" => memory.accesses_per_s = self.number(item, key)?,
                "spread" => memory.spread = self.number(item, key)?,
                "counted_only" => memory.is_counted_only = item.as_bool() == Some(true),
                _ => return Err(self.unknown(item, key, &known)),
            }
        }
        Ok(())
    }

    fn table<'i>(&self, item: &'i Item, key: &str) -> Result<&'i dyn TableLike, Fault> {
        item.as_table_like()
            .ok_or_else(|| self.at(item, format!("`{key}` is a table")))
    }

    fn word<'i>(&self, item: &'i Item, key: &str) -> Result<&'i str, Fault> {
        item.as_str()
            .ok_or_else(|| self.at(item, format!("`{key}` is a text")))
    }

    fn number(&self, item: &Item, key: &str) -> Result<f64, Fault> {
        let right = number(item).filter(|number| *number >= 0.0);
        right.ok_or_else(|| self.at(item, format!("`{key}` is a number from 0 on")))
    }

    /// A number that may be below 0.
    fn finite(&self, item: &Item, key: &str) -> Result<f64, Fault> {
        number(item).ok_or_else(|| self.at(item, format!("`{key}` is a number")))
    }

    fn numbers<const N: usize>(
        &self,
        item: &Item,
        name: &str,
        keys: [&str; N],
    ) -> Result<[f64; N], Fault> {
        let table = self.table(item, name)?;
        for (key, item) in table.iter() {
            if !keys.contains(&key) {
                return Err(self.unknown(item, key, &keys));
            }
        }
        let mut numbers = [0.0; N];
        for (number, key) in numbers.iter_mut().zip(keys) {
            let item = table
                .get(key)
                .ok_or_else(|| self.at(item, format!("`{name}` lacks `{key}`")))?;
            *number = self.number(item, key)?;
        }
        Ok(numbers)
    }
}

/// A finite number.
fn number(item: &Item) -> Option<f64> {
    let whole = || item.as_integer().map(|whole| whole as f64);
    let number = item.as_float().or_else(whole);
    number.filter(|number| number.is_finite())
}

/// What no machine can be.
fn check(machine: &Machine) -> Result<(), String> {
    let profile = &machine.profile;
    if machine.clock_hz <= 0.0 {
        return Err(format!(
            "profile `{profile}`: a clock of 0 MHz; give `clock_mhz`"
        ));
    }
    if machine.cores == 0 || machine.sockets == 0 || machine.cores < machine.sockets {
        return Err(format!(
            "profile `{profile}`: {} cores on {} sockets; there is at least one on each",
            machine.cores, machine.sockets
        ));
    }
    if machine.memory.latency_ns <= 0.0 || machine.memory.parallel < 1.0 {
        return Err(format!(
            "profile `{profile}`: memory has a `latency_ns` above 0 and at least 1 access in \
             `parallel`"
        ));
    }
    if machine.memory.accesses_per_s <= 0.0 || machine.pcie_bytes_per_s <= 0.0 {
        return Err(format!(
            "profile `{profile}`: `accesses_per_s` and `pcie_bytes_per_s` are above 0"
        ));
    }
    for level in &machine.levels {
        let name = &level.name;
        if level.bytes <= 0.0 || level.cycles <= 0.0 || !(0.0..=1.0).contains(&level.share) {
            return Err(format!(
                "profile `{profile}`: the level `{name}` has a size and cycles above 0 and a share \
                 of at most 1"
            ));
        }
    }
    for pair in machine.levels.windows(2) {
        let (inner, outer) = (&pair[0], &pair[1]);
        if outer.bytes <= inner.bytes || outer.cycles <= inner.cycles {
            return Err(format!(
                "profile `{profile}`: `{}` ({} KiB, {} cycles) is behind `{}` ({} KiB, {} cycles), \
                 so it is larger and slower",
                outer.name,
                outer.bytes / 1024.0,
                outer.cycles,
                inner.name,
                inner.bytes / 1024.0,
                inner.cycles
            ));
        }
    }
    match machine.levels.last() {
        None => Err(format!(
            "profile `{profile}`: it has no cache; give `levels`"
        )),
        Some(last) if !machine.memory.is_counted_only && machine.memory_cycles() <= last.cycles => {
            Err(format!(
                "profile `{profile}`: memory ({:.0} cycles) is behind `{}` ({} cycles), so it is \
                 slower",
                machine.memory_cycles(),
                last.name,
                last.cycles
            ))
        }
        Some(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RIGHT: &str = r#"
title = "a machine"
default = "a"
[profile.a]
origin = "measured"
source = "here"
clock_mhz = 1000
levels = [{ name = "L1", kib = 32, cycles = 5 }, { name = "L2", kib = 512, cycles = 14, share = 0.5 }]
memory = { latency_ns = 100, parallel = 10 }
eo.parse = { word = 5 }
[profile.b]
like = "a"
clock_mhz = 2000
eo.parse = { word = 4 }
factor.Counter = { ratio = 1.5, spread = 0.1 }
"#;

    #[test]
    fn a_profile_has_what_it_says_and_what_it_is_like() {
        let a = read("m", RIGHT, None).unwrap();
        assert_eq!((a.clock_hz, a.constants["parse"]["word"]), (1e9, 5.0));
        let b = read("m", RIGHT, Some("b")).unwrap();
        assert_eq!((b.clock_hz, b.constants["parse"]["word"]), (2e9, 4.0));
        assert_eq!(b.levels, a.levels);
        assert!((b.memory_cycles() - 200.0).abs() < 1e-9);
        assert_eq!(b.factors["Counter"].ratio, 1.5);
        assert_eq!(b.full_name(), "m:b");
    }

    #[test]
    fn what_no_machine_can_be_is_refused_in_a_line() {
        let cases = [
            (
                "clock_mhz = 1000",
                "clock_mhz = 0",
                "m.toml: profile `a`: a clock of 0 MHz; give `clock_mhz`",
            ),
            (
                "kib = 512",
                "kib = 16",
                "m.toml: profile `a`: `L2` (16 KiB, 14 cycles) is behind `L1` (32 KiB, 5 cycles), \
                 so it is larger and slower",
            ),
            (
                "latency_ns = 100",
                "latency_ns = 10",
                "m.toml: profile `a`: memory (10 cycles) is behind `L2` (14 cycles), so it is \
                 slower",
            ),
            (
                "clock_mhz = 1000",
                "clock_mhz = -1",
                "m.toml:7: `clock_mhz` is a number from 0 on",
            ),
            (
                "origin = \"measured\"",
                "origin = \"guessed\"",
                "m.toml:5: `guessed` is not an origin; there are published, fitted, data-sheet, \
                 measured",
            ),
            (
                "eo.parse = { word = 5 }",
                "eo.pars = { word = 5 }",
                "m.toml:10: no elementary operation is called `pars`; did you mean `parse`?",
            ),
            (
                "eo.parse = { word = 5 }",
                "eo.parse = { wort = 5 }",
                "m.toml:10: there is no key `wort`; did you mean `word`?",
            ),
            (
                "clock_mhz = 1000",
                "clock_mhz = 1000\nlike = \"a\"",
                "m.toml: `a` refers to itself",
            ),
            (
                "[profile.a]",
                "[profile.a",
                "m.toml:4: unclosed table, expected `]`",
            ),
        ];
        for (right, wrong, said) in cases {
            let text = RIGHT.replacen(right, wrong, 1);
            assert_ne!(text, RIGHT);
            assert_eq!(read("m", &text, None).unwrap_err().to_string(), said);
        }
    }
}
