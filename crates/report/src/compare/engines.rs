//! The engines of runs, and which stand side by side where runs have none in common.

use super::points::text;
use super::run::Run;
use std::collections::BTreeSet;
use trammel_core::label::Label;
use trammel_stats::table::Table;

/// The engines that stand side by side where the runs have none in common.
#[derive(Clone, Debug, Default)]
pub(super) struct Crossed {
    /// That of each run; empty where the runs have an engine in common.
    of_runs: Vec<String>,
    /// What their rows are called.
    name: String,
}

impl Crossed {
    pub(super) fn of(runs: &[Run]) -> Crossed {
        let all: Vec<BTreeSet<String>> = runs.iter().map(engines).collect();
        let is_common = |one: &String| all.iter().all(|engines| engines.contains(one));
        let has_common = all.iter().flatten().any(is_common);
        let has_one =
            |own: &BTreeSet<String>| own.iter().any(|one| Label::of_engine(one).is_some());
        if has_common || all.len() < 2 || !all.iter().all(has_one) {
            return Crossed::default();
        }
        // What was seen of real packets comes before what was computed.
        let rank = |engine: &&String| match Label::of_engine(engine) {
            Some(Label::Measured) => 0,
            Some(Label::LinuxVt) => 1,
            Some(Label::Simulated) => 2,
            Some(_) => 3,
            None => 4,
        };
        let most_real = |engines: &BTreeSet<String>| {
            let first = engines.iter().min_by_key(rank);
            first.cloned().unwrap_or_default()
        };
        let of_runs: Vec<String> = all.iter().map(most_real).collect();
        let mut names: Vec<&str> = Vec::new();
        for engine in &of_runs {
            if !names.contains(&engine.as_str()) {
                names.push(engine);
            }
        }
        let name = names.join(AND);
        Crossed { of_runs, name }
    }

    /// What a row of run `at` is matched by in place of its `engine`.
    pub(super) fn engine(&self, at: usize, engine: String) -> String {
        match self.of_runs.get(at) {
            Some(own) if *own == engine => self.name.clone(),
            _ => engine,
        }
    }

    /// The label under which a row of run `at` stands, where engines are crossed.
    pub(super) fn label(&self, at: usize, engine: &str) -> Option<Label> {
        self.of_runs.get(at).and(Label::of_engine(engine))
    }
}

/// Between the names of engines that stand side by side.
pub(super) const AND: &str = ", ";

/// The engines of a run's numbers.
fn engines(run: &Run) -> BTreeSet<String> {
    let rows = run.summary.iter().flat_map(Table::rows);
    rows.map(|row| text(row, "engine")).collect()
}

/// The label of the first of `engine`'s names; nothing where one of them is no engine.
pub(super) fn label_of(engine: &str) -> Option<Label> {
    let labels: Option<Vec<Label>> = engine.split(AND).map(Label::of_engine).collect();
    labels.and_then(|labels| labels.first().copied())
}
