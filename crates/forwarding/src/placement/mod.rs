//! `trammel place`: reads the file, finds a placement, polls its cores, and shows it.

mod charts;
mod kubernetes;
mod tables;

use std::path::PathBuf;
use std::process::ExitCode;
use trammel_core::label::Label;
use trammel_cost::place::headroom::LOSS_TARGET;
use trammel_cost::place::outcome::{Outcome, Refusal};
use trammel_cost::place::polling::{Seen, bursts_each, poll_replica};
use trammel_cost::place::solve::place;
use trammel_ground::{DONE, FAILED, print, say};
use trammel_report as page;
use trammel_report::found;
use trammel_report::found::Found;
use trammel_report::run_folder::{Out, RunFolder};
use trammel_scenario::placement::{Estimator, PlacementFile};
use trammel_stats::table::write_json;

/// How a placement is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Tables for people.
    Text,
    /// Every table as JSON.
    Json,
    /// Resources of Kubernetes.
    Kubernetes,
}

/// A placement with what its simulated cores met.
struct Answer {
    file: PlacementFile,
    outcome: Outcome,
    /// For each replica, what each of its cores met.
    seen: Vec<Vec<Seen>>,
}

/// What `trammel place` asks for.
#[derive(Clone, Debug)]
pub struct Job {
    /// The placement file.
    pub path: PathBuf,
    /// How the placement is shown.
    pub format: Format,
    /// The seed of the simulated cores, in place of the file's.
    pub seed: Option<u64>,
    /// The folder to write; tables are then not shown.
    pub out: Option<Out>,
}

/// Does `job`.
pub fn run(job: &Job, estimator: &dyn Estimator) -> anyhow::Result<ExitCode> {
    let mut file = PlacementFile::read(&job.path, estimator)?;
    file.seed = job.seed.unwrap_or(file.seed);
    // A folder that cannot be written is a fault before the work, not after it.
    let folder = job.out.as_ref().map(RunFolder::begin).transpose()?;
    let outcome = match place(&file.problem) {
        Ok(outcome) => outcome,
        Err(Refusal::Faults(faults)) => return Err(file.refuse(faults).into()),
        Err(refusal) => anyhow::bail!("{}: {refusal}", file.name),
    };
    let answer = poll(file, outcome);
    let is_written = folder.is_some();
    if let Some(folder) = folder {
        let page = found::write(folder, answer.found())?;
        say(&answer.sentence());
        say(&page.display().to_string());
    }
    match job.format {
        Format::Text if is_written => {}
        Format::Text => print(answer.text().trim_end())?,
        Format::Json => write_json(&answer.tables(), trammel_ground::stdout())?,
        Format::Kubernetes => print(kubernetes::resources(&answer).trim_end())?,
    }
    for note in answer.notes() {
        say(&note);
    }
    Ok(ExitCode::from(if answer.losing().is_empty() {
        DONE
    } else {
        FAILED
    }))
}

fn poll(file: PlacementFile, outcome: Outcome) -> Answer {
    let cores = outcome.costs.iter().map(|cost| u64::from(cost.cores)).sum();
    let replicas = outcome.placement.placed.iter().zip(&outcome.costs);
    let seen = replicas.map(|(placed, cost)| {
        let kind = outcome.servers[placed.server].kind;
        let clock_hz = file.problem.kinds[kind].clock_hz;
        poll_replica(
            &file.problem,
            placed,
            cost,
            clock_hz,
            bursts_each(cores),
            file.seed,
        )
    });
    Answer {
        seen: seen.collect(),
        file,
        outcome,
    }
}

impl Answer {
    /// The answer in a sentence.
    fn sentence(&self) -> String {
        let used = self.outcome.used();
        let servers = if used == 1 { "server" } else { "servers" };
        let least = match self.outcome.gap() {
            0 => "no placement of these replicas needs fewer".to_owned(),
            _ => format!("at least {} are needed", self.outcome.bound.servers),
        };
        format!("{used} {servers} carry all chains; {least}.")
    }

    /// All that a folder gets.
    fn found(&self) -> Found {
        let headings = ["All together", "Servers", "Replicas of chains", "Cores"];
        Found {
            title: match self.file.title.as_str() {
                "" => self.file.name.clone(),
                title => title.to_owned(),
            },
            question: "On which servers and cores does each chain run?",
            answer: page::Answer {
                number: self.outcome.used().to_string(),
                sentence: self.sentence(),
                label: Some(Label::Predicted),
            },
            notes: self.notes(),
            charts: charts::of(&self.servers(), &self.replicas()),
            tables: headings.into_iter().zip(self.tables()).collect(),
            files: vec![
                ("placement.txt", self.text()),
                ("kubernetes.yaml", kubernetes::resources(self)),
            ],
            source: (self.file.name.clone(), self.file.text().to_owned()),
        }
    }

    /// The part of a replica's packets that its cores lost.
    fn loss(&self, at: usize) -> f64 {
        let seen = &self.seen[at];
        let offered: u64 = seen.iter().map(|core| core.offered).sum();
        let lost: u64 = seen.iter().map(|core| core.lost).sum();
        if offered == 0 {
            0.0
        } else {
            lost as f64 / offered as f64
        }
    }

    /// The replicas that lose more than they may.
    fn losing(&self) -> Vec<usize> {
        (0..self.seen.len())
            .filter(|at| self.loss(*at) > LOSS_TARGET)
            .collect()
    }

    /// What a reader must know beside the tables.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        match &self.file.validated {
            Some(_) => {}
            None if self.outcome.is_contended() => notes.push(
                "note: contention not validated: the mutual slowdown of chains on a node is modelled, not measured"
                    .to_owned(),
            ),
            None => notes.push(
                "note: contention not validated; here all tables fit in the last-level caches by the model".to_owned(),
            ),
        }
        for at in self.losing() {
            let placed = &self.outcome.placement.placed[at];
            let chain = &self.file.problem.chains[placed.chain];
            notes.push(format!(
                "warning: chain `{}`, replica {}: its simulated cores lose {:.2e} of the packets, more than {LOSS_TARGET:.0e}; \
                 lower its `utilisation` or give it a larger `ring`",
                chain.name,
                placed.replica,
                self.loss(at)
            ));
        }
        notes
    }
}

/// Numbers as ranges: `0-3,7`.
fn ranges(numbers: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => runs.push((*number, *number)),
        }
    }
    let words = runs.into_iter().map(|(first, last)| {
        if first == last {
            first.to_string()
        } else {
            format!("{first}-{last}")
        }
    });
    words.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    #[test]
    fn numbers_in_a_row_are_a_range() {
        assert_eq!(super::ranges(&[0, 1, 2, 5, 7, 8]), "0-2,5,7-8");
        assert_eq!(super::ranges(&[]), "");
    }
}
