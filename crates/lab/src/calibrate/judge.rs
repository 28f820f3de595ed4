//! Whether two measurements of a machine agree, constant by constant.

use super::derive::Derived;

/// Two passes may differ by so much before their calibration is refused.
pub const BOUND: f64 = 0.15;
/// Two calibrations in a row agree where no constant differs by more.
pub const REPEATABLE: f64 = 0.10;
/// A constant below so many cycles is held to what this many may differ by: a share of next to nothing says nothing.
const LEAST_CYCLES: f64 = 2.0;

/// A constant of a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// Its name: `L2.cycles`, `eo.parse.word`.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// What it is in.
    pub unit: Unit,
}

/// What a constant is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Cycles.
    Cycles,
    /// Nanoseconds.
    Nanoseconds,
    /// Megahertz.
    Megahertz,
    /// Millions a second.
    MillionsPerSecond,
    /// A number or a ratio.
    Number,
    /// What neighbours leave of a cache: theirs to change, so it is told and not held to the bound.
    Share,
}

impl Unit {
    /// As it stands after a number.
    pub fn word(self) -> &'static str {
        match self {
            Unit::Cycles => "cycles",
            Unit::Nanoseconds => "ns",
            Unit::Megahertz => "MHz",
            Unit::MillionsPerSecond => "M/s",
            Unit::Number | Unit::Share => "",
        }
    }
}

/// A constant in two measurements.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: Unit,
    /// Its value in the first.
    pub first: f64,
    /// Its value in the second.
    pub second: f64,
}

impl Pair {
    /// The difference, in shares of the smaller value; of two cycles where constants are smaller than that.
    pub fn difference(&self) -> f64 {
        let least = match self.unit {
            Unit::Cycles => LEAST_CYCLES,
            _ => f64::MIN_POSITIVE,
        };
        (self.first - self.second).abs() / self.first.min(self.second).max(least)
    }

    /// Whether the two differ by more than is borne, where that is a reason to refuse.
    pub fn is_unsteady(&self) -> bool {
        self.unit != Unit::Share && self.difference() > BOUND
    }
}

/// Every constant of a measurement, in an order that is always the same.
pub(super) fn constants(of: &Derived) -> Vec<Constant> {
    let constant = |name: String, value: f64, unit: Unit| Constant { name, value, unit };
    let mut all = vec![constant(
        "clock".to_owned(),
        of.clock_hz / 1e6,
        Unit::Megahertz,
    )];
    for level in &of.levels {
        let name = &level.name;
        all.push(constant(
            format!("{name}.cycles"),
            level.cycles,
            Unit::Cycles,
        ));
        all.push(constant(format!("{name}.share"), level.share, Unit::Share));
    }
    let memory = &of.memory;
    for (name, value, unit) in [
        ("memory.latency_ns", memory.latency_ns, Unit::Nanoseconds),
        ("memory.parallel", memory.parallel, Unit::Number),
        (
            "memory.accesses_per_s",
            memory.accesses_per_s / 1e6,
            Unit::MillionsPerSecond,
        ),
    ] {
        all.push(constant(name.to_owned(), value, unit));
    }
    if let Some(pages) = &of.pages {
        all.push(constant(
            "pages.entries".to_owned(),
            pages.entries,
            Unit::Number,
        ));
        all.push(constant(
            "pages.cycles".to_owned(),
            pages.cycles,
            Unit::Cycles,
        ));
    }
    for operation in &of.operations {
        for (name, value) in &operation.constants {
            let name = format!("eo.{}.{name}", operation.name);
            all.push(constant(name, *value, Unit::Cycles));
        }
    }
    all
}

/// The constants of both side by side; those that only one has are compared with 0.
pub(super) fn pairs(first: &Derived, second: &Derived) -> Vec<Pair> {
    let (first, second) = (constants(first), constants(second));
    let value = |of: &[Constant], name: &str| {
        let found = of.iter().find(|constant| constant.name == name);
        found.map_or(0.0, |constant| constant.value)
    };
    let only_second = second
        .iter()
        .filter(|constant| !first.iter().any(|known| known.name == constant.name));
    first
        .iter()
        .chain(only_second)
        .map(|constant| Pair {
            name: constant.name.clone(),
            unit: constant.unit,
            first: value(&first, &constant.name),
            second: value(&second, &constant.name),
        })
        .collect()
}

/// Why a calibration is refused, in a line that says which constants, by how much, under what load and what to do.
pub(super) fn refusal(pairs: &[Pair], load: &str) -> Option<String> {
    const SHOWN: usize = 4;
    let mut unsteady: Vec<&Pair> = pairs.iter().filter(|pair| pair.is_unsteady()).collect();
    if unsteady.is_empty() {
        return None;
    }
    unsteady.sort_by(|a, b| b.difference().total_cmp(&a.difference()));
    let shown = unsteady.iter().take(SHOWN).map(|pair| {
        let (first, second, unit) = (pair.first, pair.second, pair.unit.word());
        let unit = if unit.is_empty() {
            String::new()
        } else {
            format!(" {unit}")
        };
        // Of a constant that one pass does not find at all, a percentage says nothing.
        if first.min(second) <= 0.0 {
            return format!("`{}` is {first:.2} and {second:.2}{unit}", pair.name);
        }
        let percent = pair.difference() * 100.0;
        format!(
            "`{}` is {first:.2} and {second:.2}{unit} ({percent:.0} %)",
            pair.name
        )
    });
    let shown: Vec<String> = shown.collect();
    let more = match unsteady.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let bound = BOUND * 100.0;
    Some(format!(
        "this machine is too noisy to be calibrated: two passes differ by more than {bound:.0} %: {}{more}; load average {load}",
        shown.join(", "),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(name: &str, unit: Unit, first: f64, second: f64) -> Pair {
        Pair {
            name: name.to_owned(),
            unit,
            first,
            second,
        }
    }

    #[test]
    fn passes_that_agree_are_not_refused() {
        let pairs = [
            pair("L2.cycles", Unit::Cycles, 14.0, 15.9),
            // A third of a cycle of half a cycle is within what the counter can tell.
            pair("eo.increase.word", Unit::Cycles, 0.4, 0.69),
            pair("clock", Unit::Megahertz, 3500.0, 3300.0),
            // Neighbours may take half of a cache at any time.
            pair("L3.share", Unit::Share, 0.2, 0.4),
        ];
        assert_eq!(refusal(&pairs, "0.1 0.2 0.3"), None);
    }

    #[test]
    fn passes_that_differ_are_refused_and_the_worst_comes_first() {
        let pairs = [
            pair("L2.cycles", Unit::Cycles, 14.0, 16.8),
            pair("memory.latency_ns", Unit::Nanoseconds, 100.0, 150.0),
            pair("eo.parse.word", Unit::Cycles, 3.0, 3.1),
            pair("eo.sum.word", Unit::Cycles, 0.0, 1.0),
            pair("a", Unit::Number, 1.0, 1.2),
            pair("b", Unit::Number, 1.0, 1.19),
        ];
        assert_eq!(
            refusal(&pairs, "5.0 4.0 3.0").unwrap(),
            "this machine is too noisy to be calibrated: two passes differ by more than 15 %: \
             `memory.latency_ns` is 100.00 and 150.00 ns (50 %), `eo.sum.word` is 0.00 and 1.00 cycles, \
             `L2.cycles` is 14.00 and 16.80 cycles (20 %), `a` is 1.00 and 1.20 (20 %) and 1 more; \
             load average 5.0 4.0 3.0"
        );
    }

    #[test]
    fn differences_do_not_depend_on_the_order() {
        let (a, b) = (
            pair("x", Unit::Cycles, 10.0, 12.0),
            pair("x", Unit::Cycles, 12.0, 10.0),
        );
        assert_eq!(a.difference(), b.difference());
        assert!((a.difference() - 0.2).abs() < 1e-12);
        assert!(pair("x", Unit::Number, 0.0, 1.0).is_unsteady());
    }
}
