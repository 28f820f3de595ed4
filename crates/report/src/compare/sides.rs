//! The columns of a comparison: a run each, or a system of a run.

use super::engines::Crossed;
use super::points::{Parameters, named, text};
use super::run::{KEYS, Run};
use trammel_core::label::Label;
use trammel_stats::table::{Row, Table};

/// What stands in a column: a run, or where its `summary` names systems, one of these. What was
/// published is the same in every run that shows it, and stands once.
#[derive(Clone, Debug)]
pub(super) struct Side {
    /// The place of its run; nothing for what was published.
    pub(super) run: Option<usize>,
    /// The system; empty where the run is the whole.
    pub(super) system: String,
    pub(super) name: String,
    /// Its column's name, which no other column has.
    pub(super) title: String,
    /// Its own label, where a row tells it; otherwise its engine's.
    pub(super) label: Option<Label>,
}

impl Side {
    pub(super) fn of(
        (at, run): (usize, &Run),
        crossed: &Crossed,
        parameters: &Parameters<'_>,
        row: Row<'_>,
    ) -> Side {
        let told = Label::of_engine(&text(row, "label"));
        let label = told.or_else(|| crossed.label(at, &text(row, "engine")));
        let run_name = if parameters.own.is_empty() {
            run.name.clone()
        } else {
            format!("{}: {}", run.name, named(&parameters.own, row))
        };
        let system = text(row, "system");
        let name = match (&system, label) {
            (system, _) if system.is_empty() => run_name,
            (system, Some(Label::Published)) => system.clone(),
            (system, _) => format!("{run_name}: {system}"),
        };
        let run = (label != Some(Label::Published)).then_some(at);
        Side {
            run,
            system,
            title: name.clone(),
            name,
            label,
        }
    }

    /// That of a run without a number.
    fn empty((at, run): (usize, &Run)) -> Side {
        Side {
            run: Some(at),
            system: String::new(),
            name: run.name.clone(),
            title: run.name.clone(),
            label: None,
        }
    }

    pub(super) fn is(&self, other: &Side) -> bool {
        (self.run, &self.name, self.label) == (other.run, &other.name, other.label)
    }
}

/// All sides: of each run in turn, then what was published.
pub(super) fn sides(runs: &[Run]) -> Vec<Side> {
    let (mut own, mut published) = (Vec::new(), Vec::new());
    let crossed = Crossed::of(runs);
    for (run, parameters) in runs.iter().enumerate().zip(Parameters::of(runs)) {
        let before = own.len();
        for row in run.1.summary.iter().flat_map(Table::rows) {
            let side = Side::of(run, &crossed, &parameters, row);
            let all = match side.label {
                Some(Label::Published) => &mut published,
                _ => &mut own,
            };
            if !all.iter().any(|other: &Side| other.is(&side)) {
                all.push(side);
            }
        }
        // A run without a number has its column as well.
        if own.len() == before {
            own.push(Side::empty(run));
        }
    }
    own.extend(published);
    let mut taken = KEYS.map(String::from).to_vec();
    for side in &mut own {
        let mut number = 2;
        while taken.contains(&side.title) {
            side.title = format!("{} ({number})", side.name);
            number += 1;
        }
        taken.push(side.title.clone());
    }
    own
}
