//! Runs a description of any subject.
//!
//! ```text
//! begin the folder ─> find kept runs ─> carry out ─> say notes and failures ─> tables, files, page ─> exit code
//! ```
//! What is the subject's own is behind [`Subject`] and [`Outcome`]: its points, its engines, its
//! tables and its answer.

use crate::kept::{Keep, KeptRuns, Shelf};
use crate::live::Live;
use crate::provenance::going_on;
use crate::run_folder::{Out, RunFolder, RunInfo};
use crate::store::Store;
use crate::{Answer, Block, Note, NoteKind, Report};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use trammel_ground::{DONE, FAILED, INTERRUPTED, UNSUPPORTED, machine, say};
use trammel_stats::table::{Table, write_json};

/// Notes, and failures, that are said on the terminal at most.
const MOST_SAID: usize = 20;

/// What a command asks of a run.
#[derive(Debug, Default)]
pub struct Request {
    /// The run folder to write.
    pub out: Option<Out>,
    /// Tables go to standard output as JSON.
    pub json: bool,
    /// Runs that a finished run folder holds are used, and kept.
    pub is_sweep: bool,
    /// Runs that it holds are used, and those that are made are kept there.
    pub store: Option<Store>,
    /// Threads; nothing means one a core.
    pub threads: Option<usize>,
    /// The page that is filled while the run goes on.
    pub live: Option<Live>,
    /// The runs are plotted on the terminal while they go on.
    pub has_plots: bool,
    /// Set when the user interrupts: stop after the runs at hand and keep them.
    pub interrupted: Arc<AtomicBool>,
}

/// A description that can be carried out.
pub trait Subject {
    /// What is kept of each run for a resume.
    type Run: Keep + Clone;
    /// What comes of it.
    type Outcome<'a>: Outcome
    where
        Self: 'a;

    /// The file's name, as the user wrote it.
    fn name(&self) -> &str;
    /// The file's text.
    fn text(&self) -> &str;
    /// The seeds of all runs.
    fn seeds(&self) -> BTreeSet<u64>;
    /// Runs every point by every engine that is asked for, those on `shelf` excepted; packets are
    /// captured into the folder `captures`, where there is one.
    fn carry_out<'a>(
        &'a self,
        request: &Request,
        shelf: &Shelf<Self::Run>,
        captures: Option<PathBuf>,
    ) -> anyhow::Result<Self::Outcome<'a>>;
}

/// What a report of `subject` says of a run that still goes on.
pub fn so_far(subject: &impl Subject) -> RunInfo {
    RunInfo {
        command: std::env::args().collect(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        scenario: subject.name().to_owned(),
        scenario_text: subject.text().to_owned(),
        seeds: subject.seeds().into_iter().collect(),
        ..RunInfo::default()
    }
}

/// What came of a description.
pub trait Outcome {
    /// How it went.
    fn status(&self) -> &Status;
    /// The tables, in the order in which they are written.
    fn tables(&self) -> Vec<&Table>;
    /// Writes what the folder has besides tables and the page.
    fn write_files(&self, _out: &mut RunFolder) -> anyhow::Result<()> {
        Ok(())
    }
    /// The page.
    fn report(&self, info: &RunInfo) -> Report;
    /// The answer, for a terminal without a folder; nothing where [`Outcome::to_text`] says it.
    fn answer(&self) -> Option<Answer> {
        None
    }
    /// What standard output shows where no folder is written.
    fn to_text(&self) -> String;
    /// Whether it shows that beside a folder too.
    fn is_always_shown(&self) -> bool {
        false
    }
}

/// How a run went, for the terminal and the exit code.
#[derive(Clone, Debug, Default)]
pub struct Status {
    /// What a reader must know.
    pub notes: Vec<String>,
    /// What is wrong although every run was made.
    pub warnings: Vec<String>,
    /// Runs that failed, each with its point and why.
    pub failures: Vec<String>,
    /// What the machine or this build lacks for an engine that was asked for.
    pub lacks: Vec<String>,
    /// Whether something is lacking that a note tells of.
    pub has_noted_lack: bool,
    /// A verdict failed although every run was made.
    pub has_failed: bool,
    /// Runs that were to be made, and those that were.
    pub runs: (usize, usize),
    /// Whether runs were left out after an interrupt.
    pub is_interrupted: bool,
    /// Whether it is of a run that still goes on.
    pub is_going_on: bool,
}

impl Status {
    /// Adds a note, once.
    pub fn note(&mut self, text: String) {
        if !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }

    /// Adds what is lacking, once.
    pub fn lack(&mut self, text: String) {
        if !self.lacks.contains(&text) {
            self.lacks.push(text);
        }
    }

    /// What of the runs is missing yet, or for good; nothing where all were made.
    #[must_use]
    pub fn missing(&self) -> Option<String> {
        let (all, made) = self.runs;
        match self {
            _ if made >= all => None,
            _ if self.is_going_on => Some(format!("So far {made} of {all} runs.")),
            _ if self.is_interrupted => Some(format!("Interrupted after {made} of {all} runs.")),
            _ => None,
        }
    }

    /// `answer`, behind what of the runs is missing.
    #[must_use]
    pub fn preliminary(&self, answer: Answer) -> Answer {
        match self.missing() {
            Some(missing) => answer.preliminary(missing),
            None => answer,
        }
    }

    /// What a reader of the report must know first: an interrupt, notes, and what is wrong.
    #[must_use]
    pub fn blocks(&self) -> Vec<Block> {
        let (all, made) = self.runs;
        let interrupt = self
            .is_interrupted
            .then(|| format!("The run was interrupted: {made} of {all} runs are in this report."));
        let note = |kind| {
            move |text: &String| {
                let text = text.clone();
                Block::Note(Note { kind, text })
            }
        };
        let wrong = self
            .lacks
            .iter()
            .chain(&self.failures)
            .chain(&self.warnings);
        let first = interrupt.iter().map(note(NoteKind::Warning));
        let notes = self.notes.iter().map(note(NoteKind::Info));
        first
            .chain(notes)
            .chain(wrong.map(note(NoteKind::Warning)))
            .collect()
    }

    /// The exit code.
    fn code(&self) -> u8 {
        match self {
            _ if self.is_interrupted => INTERRUPTED,
            _ if self.has_failed || !self.failures.is_empty() => FAILED,
            _ if self.has_noted_lack || !self.lacks.is_empty() => UNSUPPORTED,
            _ => DONE,
        }
    }

    /// Notes, failures and what was left out, to the person at the terminal.
    fn tell(&self, file: &str, is_kept: bool) {
        for note in self.notes.iter().take(MOST_SAID) {
            say(&format!("note: {note}"));
        }
        for warning in &self.warnings {
            say(&format!("warning: {warning}"));
        }
        for lack in &self.lacks {
            say(&format!("error: {lack}"));
        }
        for failure in self.failures.iter().take(MOST_SAID) {
            say(&format!("error: {file}, {failure}"));
        }
        let more = self.notes.len().saturating_sub(MOST_SAID)
            + self.failures.len().saturating_sub(MOST_SAID);
        if more > 0 {
            say(&format!("and {more} more"));
        }
        if self.is_interrupted {
            let (all, made) = self.runs;
            let kept = if is_kept {
                "kept; the same command resumes with them"
            } else {
                "shown; with `-o DIR` they are kept, and the same command resumes with them"
            };
            say(&format!(
                "interrupted: {made} of {all} runs are finished and {kept}"
            ));
        }
    }
}

/// Runs `subject` as `request` asks.
pub fn run<S: Subject>(subject: &S, request: &Request) -> anyhow::Result<ExitCode> {
    let (started, clock) = (machine::now(), Instant::now());
    // A folder that cannot be written is a fault before the work, not after it.
    let folder = request.out.as_ref().map(RunFolder::begin).transpose()?;
    let kept = folder
        .as_ref()
        .map(|out| KeptRuns::of(out, request.is_sweep));
    let shelf = kept.map_or_else(Shelf::default, Shelf::of);
    let shelf = shelf.before(request.store.clone());
    going_on(shelf.known().len());
    let captures = folder.as_ref().map(|out| out.work("pcap"));
    let outcome = subject.carry_out(request, &shelf, captures)?;
    let status = outcome.status();
    status.tell(subject.name(), folder.is_some() || request.store.is_some());
    let faults = shelf.faults();
    for fault in faults.iter().take(MOST_SAID) {
        say(&format!("error: {fault}"));
    }
    let computed_s = clock.elapsed().as_secs_f64();
    let tables = outcome.tables();
    let is_written = folder.is_some();
    let info = RunInfo {
        command: std::env::args().collect(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        scenario: subject.name().to_owned(),
        scenario_text: subject.text().to_owned(),
        seeds: subject.seeds().into_iter().collect(),
        machine: machine::facts(),
        started,
        wall_s: BTreeMap::from([("engines".to_owned(), (computed_s * 1e3).round() / 1e3)]),
        interrupted: status.is_interrupted,
    };
    let report = (is_written || request.live.is_some()).then(|| outcome.report(&info));
    if let Some((mut out, report)) = folder.zip(report.as_ref()) {
        if request.is_sweep || status.is_interrupted {
            shelf.finish(&mut out, status.is_interrupted)?;
        }
        out.adopt("pcap")?;
        for table in &tables {
            out.write_table(table)?;
        }
        outcome.write_files(&mut out)?;
        out.write_page(report)?;
        let path = out.finish(&info)?;
        if !report.answer.sentence.is_empty() {
            say(&report.answer.sentence);
        }
        say(&format!("{}", path.join("report.html").display()));
    } else if let Some(answer) = outcome.answer().filter(|one| !one.sentence.is_empty()) {
        say(&answer.sentence);
    }
    if let Some((live, report)) = request.live.as_ref().zip(report.as_ref()) {
        live.end(report);
    }
    let mut out = trammel_ground::stdout();
    if request.json {
        write_json(tables, &mut out)?;
    } else if !is_written || outcome.is_always_shown() {
        write!(out, "{}", outcome.to_text())?;
    }
    let code = match status.code() {
        DONE if !faults.is_empty() => FAILED,
        code => code,
    };
    Ok(ExitCode::from(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_the_runs_is_never_taken_for_all() {
        let answer = || Answer {
            sentence: "It takes 3 ms.".to_owned(),
            ..Answer::default()
        };
        let mut status = Status {
            runs: (6, 4),
            is_interrupted: true,
            ..Status::default()
        };
        status.note("by the way".to_owned());
        assert_eq!(
            status.preliminary(answer()).sentence,
            "Interrupted after 4 of 6 runs. Preliminary: It takes 3 ms."
        );
        let texts = status.blocks().into_iter().map(|block| match block {
            Block::Note(note) => note.text,
            _ => String::new(),
        });
        let wanted = [
            "The run was interrupted: 4 of 6 runs are in this report.",
            "by the way",
        ];
        assert_eq!(texts.collect::<Vec<_>>(), wanted);
        status.is_interrupted = false;
        status.is_going_on = true;
        assert_eq!(
            status.preliminary(Answer::default()).sentence,
            "So far 4 of 6 runs."
        );
        status.runs = (6, 6);
        assert_eq!(status.preliminary(answer()).sentence, "It takes 3 ms.");
    }
}
