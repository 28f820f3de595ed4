//! `trammel paper`: runs the experiments of papers and writes ours beside theirs.

use crate::choice::Choice;
use crate::experiment;
use crate::experiment::Done;
use crate::join::{Count, join, table};
use crate::page::{Facts, noun, page};
use crate::spec::{Engine, Experiment};
use crate::verdict::VerdictOutcome;
use crate::{Paper, findings, library, plots, streams};
use anyhow::bail;
use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use trammel_core::label::Label;
use trammel_ground::progress::Progress;
use trammel_ground::{DONE, FAILED, INTERRUPTED, UNSUPPORTED, say};
use trammel_ground::{Unsupported, machine};
use trammel_report::kept::{KeptRuns, Shelf};
use trammel_report::provenance::{going_on, provenance};
use trammel_report::run_folder::{Out, RunFolder, RunInfo};
use trammel_stats::table::{Table, write_json};
use trammel_transport::points;
use trammel_transport::points::{Failure, Watch};
use trammel_transport::run_tables::RunTables;

/// What `trammel paper` asks for.
#[derive(Debug)]
pub struct PaperJob {
    /// Keys of the papers; empty means all.
    pub keys: Vec<String>,
    /// How much is run, and with what.
    pub choice: Choice,
    /// The run folder to write; with several papers, the folder of their run folders.
    pub out: Option<Out>,
    /// Tables go to standard output as JSON.
    pub json: bool,
    /// Set when the user interrupts: the run at hand is finished and what was done is kept.
    pub interrupted: Arc<AtomicBool>,
}

/// What came of a paper.
#[derive(Debug)]
pub struct Reproduced {
    /// Its experiments that were run.
    pub done: Vec<Done>,
    /// What a reader must know: experiments that were left out, and why.
    pub notes: Vec<String>,
    /// Runs that came to nothing.
    pub failures: Vec<Failure>,
    /// Whether this build lacks something that an experiment requires.
    pub lacks: bool,
    /// Whether the user ended it early.
    pub is_interrupted: bool,
}

/// The seconds that a stream is sent, about.
const SENT_S: f64 = 10.0;

/// Shows a bar and passes the interrupt on.
struct Terminal<'a> {
    progress: Progress,
    interrupted: &'a AtomicBool,
    shelf: &'a Shelf<RunTables>,
}

impl Watch for Terminal<'_> {
    fn ended(&self, work: f64) {
        self.progress.ended(work);
    }
    fn done(&self, key: &str, run: &RunTables) {
        self.shelf.put(key, run);
    }
    fn sent(&self) {
        self.progress.ended(SENT_S);
    }
    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }
}

/// Does `job`.
pub fn run(job: &PaperJob) -> anyhow::Result<ExitCode> {
    let all: Vec<String> = trammel_library::folders().into_keys().collect();
    let keys = if job.keys.is_empty() { &all } else { &job.keys };
    // Every paper is read before the first is run: a slip in the last key costs no minutes.
    let papers: Vec<Paper> = keys
        .iter()
        .map(|key| library::find(key))
        .collect::<Result<_, _>>()?;
    let is_of_streams = job.choice.seconds.is_some() || !job.choice.peers.is_empty();
    let mut experiments = papers.iter().flat_map(|paper| &paper.spec.experiments);
    let is_measured = |one: &Experiment| one.streams.as_ref().is_some_and(|it| it.is_measured);
    if is_of_streams && !experiments.any(is_measured) {
        bail!("`--duration` and `--beside` are for measured streams; none of these papers has any");
    }
    let mut experiments = papers.iter().flat_map(|paper| &paper.spec.experiments);
    if job.choice.kernel.is_some() && !experiments.any(|one| one.needs_kernel) {
        bail!("`--kernel` is for experiments in a kernel of yours; none of these papers has any");
    }
    let mut codes = Vec::new();
    let mut tables = Vec::new();
    for paper in &papers {
        // Each folder is that of its paper alone.
        let out = job.out.as_ref().map(|out| Out {
            dir: match &papers[..] {
                [_] => out.dir.clone(),
                _ => out.dir.join(&paper.key),
            },
            asked: out.asked.clone().with("KEY", &paper.key),
            is_forced: out.is_forced,
            has_parquet: out.has_parquet,
        });
        let (code, comparison) = one(job, paper, out.as_ref())?;
        codes.push(code);
        tables.extend(comparison);
        if job.interrupted.load(Ordering::SeqCst) {
            break;
        }
    }
    if job.json {
        let mut together: Vec<Table> = Vec::new();
        for table in tables {
            match together.first_mut() {
                Some(first) => first.append(table)?,
                None => together.push(table),
            }
        }
        write_json(together.iter(), &mut trammel_ground::stdout())?;
    }
    let worst = [INTERRUPTED, FAILED, UNSUPPORTED]
        .into_iter()
        .find(|code| codes.contains(code));
    Ok(ExitCode::from(worst.unwrap_or(DONE)))
}

fn one(job: &PaperJob, paper: &Paper, out: Option<&Out>) -> anyhow::Result<(u8, Option<Table>)> {
    let (started, clock) = (machine::now(), Instant::now());
    if paper.spec.engine == Engine::Fidelity {
        return Ok((fidelity(job, paper, out)?, None));
    }
    let mut folder = out.map(RunFolder::begin).transpose()?;
    let kept = folder.as_ref().map(|out| KeptRuns::of(out, false));
    let shelf = kept.map_or_else(Shelf::default, Shelf::of);
    going_on(shelf.known().len());
    let choice = Choice {
        known: Arc::clone(shelf.known()),
        ..job.choice.clone()
    };
    let reproduced = reproduce(paper, &choice, &shelf, &job.interrupted)?;
    let joined = join(paper, &reproduced.done);
    let comparison = keyed(&paper.key, &table(paper, &joined));
    let count = Count::of(joined.iter());
    if let Some(mut out) = folder.take() {
        let info = info(job, paper, &reproduced, started, clock);
        let facts = Facts {
            is_full: job.choice.is_full,
            notes: &reproduced.notes,
        };
        let (findings, _) = findings::texts(paper, &reproduced.done);
        if !findings.is_empty() {
            out.write(
                "findings.txt",
                format!("{}\n", findings.join("\n")).as_bytes(),
            )?;
        }
        let provenance = provenance(&info, Vec::new());
        let report = page(paper, &reproduced.done, &joined, &facts, provenance);
        if reproduced.is_interrupted {
            shelf.finish(&mut out, true)?;
        }
        out.write_table(&comparison)?;
        write_flows(&mut out, paper, &reproduced.done)?;
        let of_streams = |one: &&Done| paper.spec.experiments[one.at].streams.is_some();
        let of_streams = reproduced.done.iter().filter(of_streams);
        let summary = streams::summary(of_streams.flat_map(|one| &one.table));
        if !summary.is_empty() {
            out.write_table(&summary)?;
        }
        if !paper.spec.plots.is_empty() {
            let plots = paper.spec.plots.iter();
            let drawn: Vec<_> = plots
                .map(|plot| plots::draw(paper, &reproduced.done, plot))
                .collect();
            out.write_table(&plots::table(paper, &drawn))?;
        }
        out.write_page(&report)?;
        let path = out.finish(&info)?;
        say(&format!("{}", path.join("report.html").display()));
    }
    tell(paper, &reproduced, &joined, count)?;
    if reproduced.is_interrupted {
        let (done, all) = (reproduced.done.len(), paper.spec.experiments.len());
        let kept = match out {
            Some(_) => " and kept; the same command resumes",
            None => "",
        };
        say(&format!(
            "interrupted: `{}` began {done} of {all} experiments; their results are shown{kept}",
            paper.key
        ));
    }
    let code = if reproduced.is_interrupted {
        INTERRUPTED
    } else if count.changed > 0 || !reproduced.failures.is_empty() {
        FAILED
    } else if reproduced.lacks {
        UNSUPPORTED
    } else {
        DONE
    };
    Ok((code, Some(comparison)))
}

/// Runs every experiment of `paper`. What is done goes to `shelf` at once, so that not even a
/// killed process loses it.
pub fn reproduce(
    paper: &Paper,
    choice: &Choice,
    shelf: &Shelf<RunTables>,
    interrupted: &AtomicBool,
) -> anyhow::Result<Reproduced> {
    let mut reproduced = Reproduced {
        done: Vec::new(),
        notes: Vec::new(),
        failures: Vec::new(),
        lacks: false,
        is_interrupted: false,
    };
    let progress = Progress::new();
    let experiments = paper.spec.experiments.iter().enumerate();
    let chosen = experiments.filter(|(_, one)| {
        if one.needs_kernel {
            choice.kernel.is_some()
        } else {
            choice.is_full || !one.needs_full
        }
    });
    let chosen: Vec<usize> = chosen.map(|(at, _)| at).collect();
    // Every scenario is read before the first is run.
    for experiment in chosen.iter().map(|at| &paper.spec.experiments[*at]) {
        if let Some(wanted) = &experiment.streams {
            let count = streams::count(wanted, choice);
            progress.expect(count, count as f64 * SENT_S);
        }
        if experiment.scenario.is_empty() {
            continue;
        }
        let file = experiment::file(paper, experiment, choice)?;
        for point in &file.points {
            let repeat = point.scenario.repeat;
            let work = points::work(&point.scenario, Label::Simulated);
            progress.expect(u64::from(repeat), f64::from(repeat) * work);
        }
    }
    let watch = Terminal {
        progress,
        interrupted,
        shelf,
    };
    // The experiments that the machine cannot do, by what it lacks.
    let mut left_out: Vec<(Vec<String>, String)> = Vec::new();
    for at in chosen {
        let id = &paper.spec.experiments[at].id;
        let done = match experiment::run(paper, at, choice, &watch) {
            Ok(done) => done,
            Err(error) => {
                let Some(lacks) = error.downcast_ref::<Unsupported>() else {
                    return Err(error);
                };
                let why = lacks.to_string();
                match left_out.iter_mut().find(|(_, other)| *other == why) {
                    Some((all, _)) => all.push(format!("`{id}`")),
                    None => left_out.push((vec![format!("`{id}`")], why)),
                }
                continue;
            }
        };
        for note in &done.notes {
            if !reproduced.notes.contains(note) {
                reproduced.notes.push(note.clone());
            }
        }
        reproduced.lacks |= done.lacks;
        reproduced.is_interrupted |= done.is_interrupted;
        let of_streams = done.failures.iter();
        let of_runs = done.ran.iter().flat_map(|ran| &ran.outcome.failures);
        for failure in of_streams.chain(of_runs) {
            let Failure { point, seed, why } = failure;
            let note = format!("Experiment `{id}`, point `{point}`, seed {seed} failed: {why}.");
            reproduced.notes.push(note);
            reproduced.failures.push(failure.clone());
        }
        let Some(ran) = &done.ran else {
            reproduced.done.push(done);
            if reproduced.is_interrupted {
                break;
            }
            continue;
        };
        let outcome = &ran.outcome;
        reproduced.is_interrupted |= outcome.is_interrupted;
        if let Some(what) = &outcome.lacks {
            reproduced.lacks = true;
            reproduced
                .notes
                .push(format!("Experiment `{id}` was left out: {what}."));
        }
        reproduced.done.push(done);
        if reproduced.is_interrupted {
            break;
        }
    }
    reproduced.lacks |= !left_out.is_empty();
    let notes = left_out.iter().map(|(all, why)| match &all[..] {
        [one] => format!("Experiment {one} was left out: {why}."),
        _ => format!("Experiments {} were left out: {why}.", all.join(", ")),
    });
    reproduced.notes.extend(notes);
    watch.progress.finish();
    Ok(reproduced)
}

/// Traces are compared with the kernel's by an engine of their own, which has tables of its own.
/// Among other papers, a machine without the kernel leaves this one out.
fn fidelity(job: &PaperJob, paper: &Paper, out: Option<&Out>) -> anyhow::Result<u8> {
    let made = trammel_transport::fidelity::command::perform(
        &trammel_transport::fidelity::command::FidelityJob {
            options: trammel_transport::fidelity::Options {
                folder: paper.dir.clone(),
                full: job.choice.is_full,
                threads: job.choice.threads,
            },
            out: out.cloned(),
            document: None,
            json: false,
            interrupted: Arc::clone(&job.interrupted),
        },
    );
    let mut err = std::io::stderr().lock();
    let outcome = match made {
        Err(error) if error.is::<Unsupported>() => {
            writeln!(err, "{}: left out: {error}", paper.key)?;
            return Ok(UNSUPPORTED);
        }
        made => made?,
    };
    writeln!(err, "{}: {}", paper.key, outcome.report.answer.sentence)?;
    Ok(trammel_transport::fidelity::command::code(&outcome))
}

/// `table` with the paper's key as its first column.
fn keyed(key: &str, table: &Table) -> Table {
    use trammel_stats::table::{Cell, CellType, Column};
    let mut columns = vec![Column::new("paper", CellType::Text)];
    columns.extend(table.columns().iter().cloned());
    let mut keyed = Table::new(table.name(), columns);
    for row in table.rows() {
        let cells = std::iter::once(Cell::from(key)).chain(row.cells().iter().cloned());
        keyed
            .push(cells.collect())
            .expect("the row has one cell more, as the table has one column more");
    }
    keyed
}

/// `flows.csv` of all experiments, each row with its experiment; swept columns differ, so a file
/// each.
fn write_flows(out: &mut RunFolder, paper: &Paper, done: &[Done]) -> anyhow::Result<()> {
    for one in done {
        let id = &paper.spec.experiments[one.at].id;
        let of_runs = one.ran.iter().flat_map(|ran| ran.outcome.tables());
        let of_runs = of_runs.filter(|table| table.name() != "comparison");
        for table in of_runs.chain(&one.table) {
            out.write(
                &format!("experiments/{id}/{}.csv", table.name()),
                table.to_csv().as_bytes(),
            )?;
        }
    }
    Ok(())
}

fn info(
    job: &PaperJob,
    paper: &Paper,
    reproduced: &Reproduced,
    started: String,
    clock: Instant,
) -> RunInfo {
    let scenarios: BTreeMap<&str, &str> = reproduced
        .done
        .iter()
        .filter_map(|one| {
            let name = paper.spec.experiments[one.at].scenario.as_str();
            Some((name, one.ran.as_ref()?.file.text.as_str()))
        })
        .collect();
    let of_streams = paper.spec.experiments.iter().filter_map(|one| {
        let seconds = one.streams.as_ref().filter(|it| it.is_measured)?.seconds;
        let choice = if job.choice.is_full {
            seconds.1
        } else {
            seconds.0
        };
        let seconds = job.choice.seconds.unwrap_or(choice);
        Some(format!("# {}: {seconds} s a stream", one.id))
    });
    let texts = scenarios
        .iter()
        .map(|(name, text)| format!("# {name}\n{text}"));
    let texts = texts.chain(of_streams);
    let ran = reproduced.done.iter().filter_map(|one| one.ran.as_ref());
    let seeds: std::collections::BTreeSet<u64> = ran.flat_map(|ran| ran.file.seeds()).collect();
    RunInfo {
        command: std::env::args().collect(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        scenario: format!(
            "{}{}",
            paper.key,
            if job.choice.is_full { ", full" } else { "" }
        ),
        scenario_text: texts.collect::<Vec<_>>().join("\n"),
        seeds: seeds.into_iter().collect(),
        machine: machine::facts(),
        started,
        wall_s: BTreeMap::from([(
            "engines".to_owned(),
            clock.elapsed().as_millis() as f64 / 1e3,
        )]),
        interrupted: reproduced.is_interrupted,
    }
}

/// The count of verdicts, what has_changed them, and notes, to the person at the terminal.
fn tell(
    paper: &Paper,
    reproduced: &Reproduced,
    joined: &[crate::join::Joined<'_>],
    count: Count,
) -> anyhow::Result<()> {
    let mut err = std::io::stderr().lock();
    for note in &reproduced.notes {
        writeln!(err, "note: {note}")?;
    }
    for finding in findings::texts(paper, &reproduced.done).0 {
        writeln!(err, "{finding}")?;
    }
    for one in joined
        .iter()
        .filter(|one| one.outcome.is_some_and(VerdictOutcome::has_changed))
    {
        let expected = one.expected;
        writeln!(
            err,
            "{}: table {}, {}, {}: {} {} printed, {} ours: {}",
            paper.key,
            expected.table,
            expected.row,
            expected.column,
            expected.printed,
            expected.unit,
            one.ours.map_or("nothing".to_owned(), |ours| {
                trammel_stats::table::format_float(ours.mean, 4)
            }),
            one.outcome.map_or("", VerdictOutcome::words),
        )?;
    }
    let line = count.line().replace("printed", noun(paper, joined));
    writeln!(err, "{}: {line}", paper.key)?;
    Ok(())
}

/// The papers at hand, by key, each with its title.
pub fn known() -> Vec<(String, String)> {
    let papers = trammel_library::folders().into_iter().map(|(key, dir)| {
        let title = library::read(&key, &dir).map(|paper| paper.spec.title);
        (
            key,
            title.unwrap_or_else(|_| "its paper.toml has faults".to_owned()),
        )
    });
    papers.collect()
}
