//! Where a reader notes faults, and how it words them.

use super::diagnose::Problem;
use super::keys_kind::Section;
use super::model::Engine;
use super::reading::{Libraries, Reading, Refusals};
use super::tree::{Entry, Extent};
use std::cell::RefCell;
use trammel_core::units::{Dimension, nearest};

/// The faults found so far, and where the file lies.
#[derive(Debug)]
pub(super) struct Context<'a> {
    pub(super) problems: RefCell<Vec<Problem>>,
    /// The folder of the scenario file, for files that it names.
    pub(super) dir: &'a std::path::Path,
    /// The engines of the command line, in place of the file's.
    pub(super) engines: &'a [Engine],
    /// What they refuse of a scenario.
    pub(super) refusals: Refusals,
    /// Loads the libraries that a file names.
    pub(super) libraries: Libraries,
    /// The keys that a file of this subject has.
    pub(super) root: &'static Section,
}

impl<'a> Context<'a> {
    /// For a file in the folder `dir` whose keys are those of `root`, read as `reading` says.
    pub(super) fn new(
        dir: &'a std::path::Path,
        reading: &Reading<'a>,
        root: &'static Section,
    ) -> Context<'a> {
        Context {
            problems: RefCell::new(Vec::new()),
            dir,
            engines: reading.engines,
            refusals: reading.refusals,
            libraries: reading.libraries,
            root,
        }
    }

    /// Notes a fault.
    pub(super) fn fault(
        &self,
        span: &Extent,
        what: impl Into<String>,
        why: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.problems.borrow_mut().push(Problem {
            span: span.clone(),
            what: what.into(),
            why: why.into(),
            help: help.into(),
        });
    }
}

/// Names a key that a section does not list, with the nearest that it does.
pub(super) fn unknown_key(cx: &Context<'_>, section: &'static Section, entry: &Entry) {
    let place = match section.name {
        "" => "a scenario".to_owned(),
        name => format!("`{name}`"),
    };
    let names = section.keys.iter().map(|key| key.name);
    let all: Vec<_> = names.clone().map(|name| format!("`{name}`")).collect();
    let help = match nearest(&entry.key, names) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("{place} has {}", all.join(", ")),
    };
    let what = format!("{place} has no key `{}`", entry.key);
    cx.fault(&entry.span, what, "unknown key", help);
}

/// What a key means, to go below a fault.
pub(super) fn explained(help: &str) -> String {
    format!("meaning: {help}")
}

/// What a number must be, where it is outside its range.
pub(super) fn range(dimensions: &[Dimension], low: f64, high: f64, value: f64) -> String {
    let unit = dimensions
        .first()
        .map_or("", |dimension| dimension.base_unit());
    let in_base = |bound: f64| format!("{bound} {unit}").trim_end().to_owned();
    match dimensions {
        [Dimension::Ratio] if low == 0.0 => format!("must be from 0 to {high}"),
        [Dimension::Dbm, ..] => format!("must be from {low} to {high} dBm"),
        _ if value > high => format!("must be at most {}", in_base(high)),
        _ if low == 0.0 => "must not be negative".to_owned(),
        _ if low <= f64::MIN_POSITIVE => "must be more than zero".to_owned(),
        _ => format!("must be at least {}", in_base(low)),
    }
}
