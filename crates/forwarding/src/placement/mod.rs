//! The subject *placement*: finds one, polls its cores, and shows it.

mod charts;
mod kubernetes;
mod tables;

use std::collections::BTreeSet;
use std::path::PathBuf;
use trammel_core::label::Label;
use trammel_cost::place::headroom::LOSS_TARGET;
use trammel_cost::place::outcome::{PlacementOutcome, Refusal};
use trammel_cost::place::polling::{Seen, bursts_each, poll_replica};
use trammel_cost::place::solve::place;
use trammel_report as page;
use trammel_report::Report;
use trammel_report::found::Found;
use trammel_report::kept::Shelf;
use trammel_report::run::{self, Request, Status, Subject};
use trammel_report::run_folder::{RunFolder, RunInfo};
use trammel_scenario::placement::PlacementFile;
use trammel_stats::table::Table;

/// A placement file, and how its placement is shown.
#[derive(Debug)]
pub struct Placement {
    /// The file.
    pub file: PlacementFile,
    /// Resources of Kubernetes are shown in place of tables.
    pub is_kubernetes: bool,
}

/// A placement with what its simulated cores met.
struct Answer<'a> {
    file: &'a PlacementFile,
    outcome: PlacementOutcome,
    /// For each replica, what each of its cores met.
    seen: Vec<Vec<Seen>>,
}

/// All that is told of a placement.
#[derive(Debug)]
pub struct Placed {
    status: Status,
    found: Found,
    is_kubernetes: bool,
}

/// The files that say where each chain runs.
const TEXT: &str = "placement.txt";
const KUBERNETES: &str = "kubernetes.yaml";

impl Subject for Placement {
    type Run = ();
    type Outcome<'a> = Placed;

    fn name(&self) -> &str {
        &self.file.name
    }

    fn text(&self) -> &str {
        self.file.text()
    }

    fn seeds(&self) -> BTreeSet<u64> {
        BTreeSet::from([self.file.seed])
    }

    fn carry_out(&self, _: &Request, _: &Shelf<()>, _: Option<PathBuf>) -> anyhow::Result<Placed> {
        let file = &self.file;
        match place(&file.problem) {
            Ok(outcome) => Ok(poll(file, outcome).placed(self.is_kubernetes)),
            Err(Refusal::Faults(faults)) => Err(file.refuse(faults).into()),
            Err(refusal) => anyhow::bail!("{}: {refusal}", file.name),
        }
    }
}

impl run::Outcome for Placed {
    fn status(&self) -> &Status {
        &self.status
    }

    fn tables(&self) -> Vec<&Table> {
        self.found.tables.iter().map(|(_, table)| table).collect()
    }

    fn write_files(&self, out: &mut RunFolder) -> anyhow::Result<()> {
        self.found.write_files(out)
    }

    fn report(&self, info: &RunInfo) -> Report {
        self.found.report(info)
    }

    fn to_text(&self) -> String {
        let shown = if self.is_kubernetes { KUBERNETES } else { TEXT };
        let files = self.found.files.iter();
        let text = files.filter(|(name, _)| *name == shown);
        text.map(|(_, text)| format!("{}\n", text.trim_end()))
            .collect()
    }

    fn is_always_shown(&self) -> bool {
        self.is_kubernetes
    }
}

fn poll(file: &PlacementFile, outcome: PlacementOutcome) -> Answer<'_> {
    let cores = outcome.costs.iter().map(|cost| u64::from(cost.cores)).sum();
    let replicas = outcome.placement.placed.iter().zip(&outcome.costs);
    let seen = replicas.map(|(placed, cost)| {
        let kind = outcome.servers[placed.server].kind;
        let clock_hz = file.problem.kinds[kind].clock_hz;
        let bursts = bursts_each(cores);
        poll_replica(&file.problem, placed, cost, clock_hz, bursts, file.seed)
    });
    Answer {
        seen: seen.collect(),
        file,
        outcome,
    }
}

impl Answer<'_> {
    /// The answer in a sentence.
    fn sentence(&self) -> String {
        let used = self.outcome.used();
        let placed = &self.outcome.placement.placed;
        let cores: usize = placed.iter().map(|replica| replica.cores.len()).sum();
        let of_all = format!("all chains on {}", counted(cores, "core"));
        let carry = if used == 1 { "carries" } else { "carry" };
        let least = match self.outcome.gap() {
            0 => "no placement of these replicas needs fewer".to_owned(),
            _ => format!("at least {} are needed", self.outcome.bound.servers),
        };
        format!("{} {carry} {of_all}; {least}.", counted(used, "server"))
    }

    fn placed(&self, is_kubernetes: bool) -> Placed {
        let found = self.found();
        let of = |kind: &str| {
            let texts = found.notes.iter();
            let of_kind = texts.filter_map(|text| text.strip_prefix(kind));
            of_kind.map(str::to_owned).collect()
        };
        Placed {
            status: Status {
                notes: of("note: "),
                warnings: of("warning: "),
                has_failed: !self.losing().is_empty(),
                runs: (1, 1),
                ..Status::default()
            },
            found,
            is_kubernetes,
        }
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
                (TEXT, self.text()),
                (KUBERNETES, kubernetes::resources(self)),
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
                "note: contention not validated: the mutual slowdown of chains on a node is \
                 modelled, not measured"
                    .to_owned(),
            ),
            None => notes.push(
                "note: contention not validated; here all tables fit in the last-level caches by \
                 the model"
                    .to_owned(),
            ),
        }
        for at in self.losing() {
            let placed = &self.outcome.placement.placed[at];
            let chain = &self.file.problem.chains[placed.chain];
            notes.push(format!(
                "warning: chain `{}`, replica {}: its simulated cores lose {:.2e} of the packets, \
                 more than {LOSS_TARGET:.0e}; lower its `utilisation` or give it a larger `ring`",
                chain.name,
                placed.replica,
                self.loss(at)
            ));
        }
        notes
    }
}

/// `1 core`, `3 cores`.
fn counted(n: usize, noun: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{n} {noun}{plural}")
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
