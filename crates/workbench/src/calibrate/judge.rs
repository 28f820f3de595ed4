//! Whether two measurements of a machine agree: by what usual functions cost on each of them.
//!
//! A constant of a cycle and a half may differ by a fifth without any estimate being the worse for
//! it. So constants are shown, and functions decide: those of `typical.toml` are priced by both
//! measurements, in cycles a packet.

use super::derive::Derived;
use trammel_cost::estimate::{self, Load, Row};
use trammel_cost::function::{self, Function};
use trammel_cost::machine::Machine;

/// The functions.
const TYPICAL: &str = include_str!("typical.toml");
/// What two passes may differ by, in the cost of a function, before their calibration is refused:
/// of work, and of what waits for memory. That is the neighbours' to change from second to second,
/// and estimates say how much it changed (`memory.spread`).
pub const BOUND: f64 = 0.15;
const WAITING_BOUND: f64 = 0.5;
/// Two calibrations in a row agree where no function's cost differs by more.
pub const REPEATABLE: f64 = 0.10;
/// What estimates of graphs may err by, nine times in ten, before the calibration is refused:
/// beyond it, a machine that was measured says hardly more than a data sheet, of which estimates
/// are good for 30 %.
pub(crate) const LARGEST_ERROR: f64 = 0.25;

/// What a number is in.
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
}

impl Unit {
    /// As it stands after a number.
    pub fn word(self) -> &'static str {
        match self {
            Unit::Cycles => "cycles",
            Unit::Nanoseconds => "ns",
            Unit::Megahertz => "MHz",
            Unit::MillionsPerSecond => "M/s",
            Unit::Number => "",
        }
    }
}

/// A number in two measurements.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// Its name: `L2.cycles`, `eo.parse.word`, or the function.
    pub name: String,
    /// Its unit.
    pub unit: Unit,
    /// Its value in the first.
    pub first: f64,
    /// Its value in the second.
    pub second: f64,
    /// The share of it that is waiting for memory, of a function.
    pub waits: f64,
}

impl Pair {
    /// The difference, in shares of the smaller value.
    pub fn difference(&self) -> f64 {
        let least = self.first.min(self.second).max(f64::MIN_POSITIVE);
        (self.first - self.second).abs() / least
    }

    /// What the two may differ by.
    pub fn bound(&self) -> f64 {
        BOUND + (WAITING_BOUND - BOUND) * self.waits
    }
}

/// Every constant of both measurements side by side, in an order that is always the same; those
/// that only one has are compared with 0.
pub(super) fn constants(first: &Derived, second: &Derived) -> Vec<Pair> {
    let (first, second) = (constants_of(first), constants_of(second));
    let value = |of: &[(String, f64, Unit)], name: &str| {
        let found = of.iter().find(|constant| constant.0 == name);
        found.map_or(0.0, |constant| constant.1)
    };
    let only_second = second
        .iter()
        .filter(|constant| !first.iter().any(|known| known.0 == constant.0));
    first
        .iter()
        .chain(only_second)
        .map(|(name, _, unit)| Pair {
            name: name.clone(),
            unit: *unit,
            first: value(&first, name),
            second: value(&second, name),
            waits: 0.0,
        })
        .collect()
}

fn constants_of(of: &Derived) -> Vec<(String, f64, Unit)> {
    let mut all = vec![("clock".to_owned(), of.clock_hz / 1e6, Unit::Megahertz)];
    for level in &of.levels {
        let name = &level.name;
        all.push((format!("{name}.cycles"), level.cycles, Unit::Cycles));
        all.push((format!("{name}.share"), level.share, Unit::Number));
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
        all.push((name.to_owned(), value, unit));
    }
    if let Some(pages) = &of.pages {
        all.push(("pages.entries".to_owned(), pages.entries, Unit::Number));
        all.push(("pages.cycles".to_owned(), pages.cycles, Unit::Cycles));
    }
    for operation in &of.operations {
        for (name, value) in &operation.constants {
            let name = format!("eo.{}.{name}", operation.name);
            all.push((name, *value, Unit::Cycles));
        }
    }
    all
}

fn typical() -> Vec<Function> {
    function::read(TYPICAL, "").expect("a test reads it")
}

/// What each of the functions costs on two machines, in cycles a packet.
pub(super) fn functions(first: &Machine, second: &Machine) -> Vec<Pair> {
    let pair = |function: Function| {
        let (one, other) = (cost(&function, first), cost(&function, second));
        let (first, second) = (one.0 + one.1, other.0 + other.1);
        Pair {
            first,
            second,
            waits: (one.1 + other.1) / (first + second).max(f64::MIN_POSITIVE),
            name: function.name,
            unit: Unit::Cycles,
        }
    };
    typical().into_iter().map(pair).collect()
}

/// Cycles of a function's own work, and those that it waits for memory.
fn cost(function: &Function, machine: &Machine) -> (f64, f64) {
    let Ok(found) = estimate::estimate(function, machine, &Load::default()) else {
        return (0.0, 0.0);
    };
    let of = |one: fn(&Row) -> f64| found.rows.iter().map(one).sum();
    (of(|row| row.core), of(|row| row.memory.centre))
}

/// By how much what functions wait for differs at most, where a third of their time is that:
/// estimates say so apart.
pub(super) fn waiting(first: &Machine, second: &Machine) -> f64 {
    const LEAST: f64 = 1.0 / 3.0;
    let each = typical().into_iter().filter_map(|function| {
        let (one, other) = (cost(&function, first), cost(&function, second));
        let is_large = |(work, waits): (f64, f64)| waits > LEAST * (work + waits);
        (is_large(one) && is_large(other)).then(|| (one.1 - other.1).abs() / one.1.min(other.1))
    });
    each.fold(0.0, f64::max)
}

/// By how much what functions do without waiting differs at most.
pub(super) fn working(first: &Machine, second: &Machine) -> f64 {
    let each = typical().into_iter().map(|function| {
        let (one, other) = (cost(&function, first).0, cost(&function, second).0);
        (one - other).abs() / one.min(other).max(f64::MIN_POSITIVE)
    });
    each.fold(0.0, f64::max)
}

/// By how much the functions' costs differ at most.
pub(super) fn difference(functions: &[Pair]) -> f64 {
    functions.iter().map(Pair::difference).fold(0.0, f64::max)
}

/// Why a calibration is refused, in a line that says of which functions the passes disagree and by
/// how much.
pub(super) fn refusal(functions: &[Pair], load: &str) -> Option<String> {
    const SHOWN: usize = 3;
    let mut unsteady: Vec<&Pair> = functions
        .iter()
        .filter(|pair| pair.difference() > pair.bound())
        .collect();
    if unsteady.is_empty() {
        return None;
    }
    unsteady.sort_by(|a, b| b.difference().total_cmp(&a.difference()));
    let shown = unsteady.iter().take(SHOWN).map(|pair| {
        format!(
            "{} costs {:.0} and {:.0} cycles ({:.0} %; the limit is {:.0} %)",
            pair.name,
            pair.first,
            pair.second,
            pair.difference() * 100.0,
            pair.bound() * 100.0
        )
    });
    let shown: Vec<String> = shown.collect();
    let more = match unsteady.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!(
        "this machine is too noisy to calibrate: in two passes {}{more}; load average {load}",
        shown.join(", "),
    ))
}

/// Why it is refused, where estimates by it were compared with what graphs take, and erred by up to
/// `error`.
pub(super) fn refusal_by_error(error: f64, load: &str) -> Option<String> {
    (error > LARGEST_ERROR).then(|| {
        format!(
            "this machine is too noisy to calibrate: estimates of timed graphs err by up to {:.0} \
             %; the limit is {:.0} %; load average {load}",
            error * 100.0,
            LARGEST_ERROR * 100.0
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use trammel_cost::{eo, machines};

    fn pair(name: &str, first: f64, second: f64) -> Pair {
        Pair {
            name: name.to_owned(),
            unit: Unit::Cycles,
            first,
            second,
            waits: 0.0,
        }
    }

    #[test]
    fn every_operation_with_a_probe_is_in_a_function_and_each_is_priced_on_every_machine() {
        let used: BTreeSet<&str> = typical()
            .iter()
            .flat_map(|function| function.steps.clone())
            .flat_map(|step| step.operations)
            .map(|operation| operation.eo.about.name)
            .collect();
        let probed = eo::all()
            .into_iter()
            .filter(|entry| entry.probe.is_some())
            .map(|entry| entry.about.name);
        assert_eq!(probed.filter(|name| !used.contains(name)).count(), 0);
        for name in machines::names() {
            let machine = machines::find(name).expect("the machine is built in");
            for pair in functions(&machine, &machine) {
                assert!(pair.first > 100.0, "{name}: {pair:?}");
            }
        }
    }

    #[test]
    fn a_constant_of_a_cycle_that_differs_by_a_quarter_is_no_reason_and_a_slow_memory_is_one() {
        let first = machines::find("xeon-e5-2690v2:data-sheet").expect("the machine is built in");
        let mut second = first.clone();
        let of = |machine: &mut Machine, operation: &str, constant: &str, value: f64| {
            let constants = machine.constants.get_mut(operation).expect("it has it");
            constants.insert(constant.to_owned(), value);
        };
        let mut with = first.clone();
        of(&mut with, "ring", "call", 1.67);
        of(&mut second, "ring", "call", 1.35);
        of(&mut second, "increase", "word", 3.0);
        assert_eq!(refusal(&functions(&with, &second), "0.1 0.2 0.3"), None);
        second.memory.latency_ns *= 1.2;
        assert_eq!(refusal(&functions(&first, &second), ""), None);
        assert!((waiting(&first, &second) - 0.2).abs() < 0.05);
        assert!(working(&first, &second) < 0.2);
        second.memory.latency_ns *= 2.0;
        let said = refusal(&functions(&first, &second), "5.0 4.0 3.0").expect("it is refused");
        assert!(
            said.contains("a switch with 2,000,000 addresses costs ")
                && said.ends_with("load average 5.0 4.0 3.0"),
            "{said}"
        );
        // Other work on the machine that takes a fifth of all cycles is one as well.
        let mut slow = first.clone();
        for constants in slow.constants.values_mut() {
            for constant in constants.values_mut() {
                *constant *= 1.2;
            }
        }
        assert!(refusal(&functions(&first, &slow), "").is_some());
    }

    #[test]
    fn the_worst_comes_first_and_says_both_costs() {
        let pairs = [
            pair("a", 100.0, 114.0),
            pair("b", 100.0, 120.0),
            pair("c", 300.0, 200.0),
        ];
        assert_eq!(
            refusal(&pairs, "5.0 4.0 3.0").unwrap(),
            "this machine is too noisy to calibrate: in two passes c costs 300 and 200 cycles \
             (50 %; the limit is 15 %), b costs 100 and 120 cycles (20 %; the limit is 15 %); load \
             average 5.0 4.0 3.0"
        );
        assert_eq!(difference(&pairs), 0.5);
        assert_eq!(refusal(&pairs[..1], ""), None);
    }

    #[test]
    fn estimates_that_err_as_a_data_sheet_does_are_refused() {
        assert_eq!(refusal_by_error(0.2, "1 1 1"), None);
        let said = refusal_by_error(0.4, "1 1 1").expect("it is refused");
        assert!(said.contains("err by up to 40 %"), "{said}");
    }
}
