//! `trammel estimate`: what a router or network function will do on a machine, and what limits it.

use super::output::out;
use super::{beside, estimate_page};
use anyhow::anyhow;
use clap::Args as ClapArgs;
use std::cell::Cell;
use std::process::ExitCode;
use trammel_core::units::{Dimension, Quantity, nearest};
use trammel_cost::chain::How;
use trammel_cost::estimate::Ports;
use trammel_cost::machine::Machine;
use trammel_cost::residency::Locality;
use trammel_ground::progress::Progress;
use trammel_ground::{DONE, FAILED, USAGE, say};
use trammel_report::found::{self, Found};
use trammel_report::run_folder::RunFolder;
use trammel_router::diagnostic;
use trammel_router::estimate::Undeclared;
use trammel_stats::table::{Table, write_json};
use trammel_workbench::bench::{Bench, Refused};
use trammel_workbench::estimate::{Conditions, Error, Subject, changed, functions};
use trammel_workbench::refine;
use trammel_workbench::refine::Refined;
use trammel_workbench::refine::file::Counted;
use trammel_workbench::source::Source;
use trammel_workbench::traffic;
use trammel_workbench::traffic::Traffic;
use trammel_workbench::{chain, measure, samples, view};

/// Estimate what a Click configuration, or a list of operations, will do on a machine
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  trammel estimate examples/router/mpls-switch.click --frame-sizes 64,512,1518
  trammel estimate papers/baldi-2018/functions.toml --machine xeon-e5-2690v2:printed
  trammel estimate router.click --flows 100000 --vary ip.dst --what-if routes=1M --shares
  trammel estimate nat.click firewall.click --chain pipelined --machine host
  trammel router router.click --counters run.toml; trammel estimate router.click --machine host \
--refine run.toml
  trammel estimate nat.click --beside router.click --machine host --measure")]
pub(super) struct Args {
    /// Click configurations (`-`: standard input), or .toml files of operations (`FILE.toml#NAME`:
    /// one function of it)
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    /// Treat the functions as a chain in this order: on one core, or each on its own
    #[arg(
        long, value_enum, value_name = "HOW",
        conflicts_with_all = ["refine", "measure", "what_if", "operations"]
    )]
    chain: Option<Chain>,
    /// The machine: a name of `trammel list machines`, `NAME:PROFILE`, or `host` [default: `host`
    /// where `trammel calibrate` was run, else xeon-e5-2690v2:data-sheet]
    #[arg(long, value_name = "NAME")]
    machine: Option<String>,
    /// Frame sizes in bytes, with FCS
    #[arg(
        long,
        value_name = "BYTES,…",
        value_delimiter = ',',
        default_value = "64,128,256,512,1024,1280,1518",
        value_parser = clap::value_parser!(u32).range(64..=65_535)
    )]
    frame_sizes: Vec<u32>,
    /// Flows that come
    #[arg(long, value_name = "N", default_value = "1")]
    flows: u32,
    /// The field in which flows differ: ether.dst, ether.src, vlan, mpls, ip.dst, ip.src, port.src
    #[arg(long, value_name = "FIELD")]
    vary: Option<String>,
    /// How often each flow occurs: uniform, or zipf:EXPONENT
    #[arg(long, value_name = "LAW", default_value = "uniform")]
    locality: String,
    /// A capture with the frames from devices
    #[arg(long, value_name = "FILE")]
    sample: Option<String>,
    /// Cores that run it, each on packets of its own
    #[arg(long, value_name = "N", default_value = "1")]
    cores: u32,
    /// Ports that receive
    #[arg(long, value_name = "N", default_value = "1")]
    ports: u32,
    /// The rate of each port; without it links do not limit
    #[arg(long, value_name = "RATE")]
    rate: Option<String>,
    /// The share of packets that arrive at the other socket
    #[arg(long, value_name = "SHARE", default_value = "0")]
    remote: f64,
    /// Also with one thing changed: frame=128, flows=100K, zipf=1.0, cores=4, routes=1M (may be
    /// repeated)
    #[arg(long, value_name = "NAME=VALUE")]
    what_if: Vec<String>,
    /// Correct the estimate at the first frame size by the counters in RUN, from `trammel router
    /// --counters`, and show the changes
    #[arg(long, value_name = "RUN")]
    refine: Option<String>,
    /// Show the cost of each element
    #[arg(long)]
    shares: bool,
    /// Show each operation of each element
    #[arg(long)]
    operations: bool,
    /// Measure it on this machine too, on rings in memory
    #[arg(long)]
    measure: bool,
    #[command(flatten)]
    beside: beside::Args,
    /// A variable of the configuration (may be repeated)
    #[arg(short = 'D', long, value_name = "NAME=VALUE")]
    define: Vec<String>,
    #[command(flatten)]
    out: super::folder::Args,
    /// Print the tables as JSON
    #[arg(long)]
    json: bool,
}

/// Where an estimate goes: to a folder, to standard output, or both.
pub(super) struct Shown<'a> {
    args: &'a Args,
    /// Why the machine is another than one may think.
    note: Option<String>,
    /// Taken by the first that writes it.
    folder: Cell<Option<RunFolder>>,
}

impl Shown<'_> {
    /// Shows an estimate: its text to a person, or its tables, each with a heading.
    pub(super) fn give(
        &self,
        text: &str,
        tables: Vec<(&'static str, Table)>,
    ) -> anyhow::Result<()> {
        if self.args.json {
            let mut json = Vec::new();
            write_json(tables.iter().map(|(_, table)| table), &mut json)?;
            out(String::from_utf8(json)?.trim_end())?;
        }
        if let Some(note) = &self.note {
            say(&format!("note: {note}"));
        }
        let Some(folder) = self.folder.take() else {
            if !self.args.json {
                out(text.trim_end())?;
            }
            return Ok(());
        };
        let files = self.args.files.join(", ");
        let source = match &self.args.files[..] {
            [file] if file != "-" => std::fs::read_to_string(file).unwrap_or_default(),
            _ => String::new(),
        };
        let functions = tables.iter().find(|(_, table)| table.name() == "functions");
        let functions = functions.map(|(_, table)| table);
        let answer = functions.map(estimate_page::answer).unwrap_or_default();
        if !answer.sentence.is_empty() && !self.args.json {
            say(&answer.sentence);
        }
        let charts = functions.and_then(estimate_page::chart);
        let page = found::write(
            folder,
            &Found {
                title: format!("Estimate of {files}"),
                question: "What will it do on this machine, and what limits it?",
                answer,
                notes: self.note.clone().into_iter().collect(),
                charts: charts.into_iter().collect(),
                tables,
                files: vec![("estimate.txt", format!("{}\n", text.trim_end()))],
                source: (files, source),
            },
        )?;
        say(&page.display().to_string());
        Ok(())
    }
}

/// How a chain is run.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Chain {
    /// One core runs all functions
    RunToCompletion,
    /// Each function has a core, with rings between them
    Pipelined,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    super::options::end_at_interrupt()?;
    // A folder that cannot be written is a fault before the work, not after it.
    let wanted = args.out.wanted();
    let (machine, note) = trammel_workbench::machines::find_or_usual(args.machine.as_deref())?;
    let shown = Shown {
        args,
        note,
        folder: Cell::new(wanted.as_ref().map(RunFolder::begin).transpose()?),
    };
    let under = conditions(args)?;
    let changes: Vec<_> = args
        .what_if
        .iter()
        .map(|what| changed(&under, what).map_err(anyhow::Error::msg))
        .collect::<Result<_, _>>()?;
    let subjects = match subjects(args, &machine) {
        Ok(subjects) => subjects,
        Err(error) => return refuse(&error),
    };
    if let Some(how) = args.chain {
        return chained(&subjects, how, &shown, &machine, &under);
    }
    if let Some(file) = &args.beside.beside {
        let others = match subjects_of(file, args, &machine) {
            Ok(others) => others,
            Err(error) => return refuse(&error),
        };
        let ([subject], [other]) = (&subjects[..], &others[..]) else {
            return Err(anyhow!(
                "{}: functions: {}, {file}: functions: {}; one is beside one other",
                args.files.join(", "),
                subjects.len(),
                others.len()
            ));
        };
        let question = beside::Question {
            subjects: [subject, other],
            under: &under,
            machine: &machine,
            frames: &args.frame_sizes,
            is_measured: args.measure,
            shown: &shown,
        };
        return args.beside.run(&question).or_else(|error| refuse(&error));
    }
    let (mut text, mut rows, mut is_whole) = (String::new(), Vec::new(), true);
    let (mut timed, mut refined) = (Vec::new(), Vec::new());
    let run = args.refine.as_deref().map(counted).transpose()?;
    let progress = Progress::new();
    if args.measure {
        let steps = subjects.len() * args.frame_sizes.len();
        progress.expect(steps as u64, steps as f64);
    }
    for subject in &subjects {
        let mut all = Vec::new();
        for frame in &args.frame_sizes {
            match subject.at(f64::from(*frame), &machine, &under) {
                Ok(at) => all.push(at),
                Err(error) => return refuse(&error),
            }
        }
        let Some(first) = all.first() else { continue };
        text += &view::rates(subject.name(), &machine, &all);
        match subject.unvisited(first.frame, &under) {
            Ok((missed, all)) => {
                let left_out = view::unvisited(&missed, all);
                if !left_out.is_empty() {
                    text += &format!("\n{left_out}\n");
                }
                if !left_out.is_empty() && args.json {
                    say(&format!("note: {}: {left_out}", subject.name()));
                }
            }
            Err(error) => return refuse(&error),
        }
        if !first.undeclared.is_empty() {
            is_whole = false;
            say(&undeclared(subject.name(), &first.undeclared));
        }
        if args.shares {
            text += &format!("\nAt {} bytes:\n{}", first.frame, view::shares(first));
        }
        if args.operations {
            text += &format!("\nAt {} bytes:\n{}", first.frame, view::operations(first));
        }
        let mut changed = Vec::new();
        for (what, (under, frame)) in args.what_if.iter().zip(&changes) {
            match subject.at(frame.unwrap_or(first.frame), &machine, under) {
                Ok(at) => changed.push((what.as_str(), at)),
                Err(error) => return refuse(&error),
            }
        }
        if !changed.is_empty() {
            text += &format!("\nAt {} bytes, what if\n", first.frame);
        }
        for (what, at) in &changed {
            text += &format!("  {}", view::change(what, first, at));
        }
        if let (Some(counted), Some(run)) = (&run, &args.refine) {
            match corrected(subject, counted, run, first.frame, &machine, &under) {
                Ok(found) => {
                    text += &format!("\nAt {} bytes, ", first.frame);
                    text += &refine::view::text(&found, run, counted.visits.packets);
                    text += &format!(
                        "\ncorrected\n{}",
                        view::lines(std::slice::from_ref(&found.after))
                    );
                    refined.push((subject.name(), found));
                }
                Err(error) => return refuse(&error),
            }
        }
        if args.measure {
            match measured(subject, args, &under, &progress) {
                Ok(found) => {
                    text += &told(&found);
                    let name = subject.name();
                    timed.extend(found.into_iter().map(|(frame, found)| (name, frame, found)));
                }
                Err(error) => return refuse(&error),
            }
        }
        text.push('\n');
        rows.extend(all.into_iter().map(|at| (subject.name(), "", at)));
        rows.extend(
            changed
                .into_iter()
                .map(|(what, at)| (subject.name(), what, at)),
        );
    }
    progress.finish();
    let tables = {
        let after = refined
            .iter()
            .map(|(name, found)| (*name, REFINED, &found.after));
        let rows = rows.iter().map(|(name, what, at)| (*name, *what, at));
        let rows: Vec<_> = rows.chain(after).collect();
        let mut table = view::functions(&rows, &machine);
        for (name, frame, found) in &timed {
            view::add_measured(&mut table, name, *frame, found);
        }
        let refined: Vec<_> = refined.iter().map(|(name, found)| (*name, found)).collect();
        let changes = refine::view::table(&refined);
        let mut tables = vec![("Functions", table)];
        tables.extend(run.as_ref().map(|_| ("Changes by the run", changes)));
        tables
    };
    shown.give(&text, tables)?;
    Ok(ExitCode::from(if is_whole { DONE } else { FAILED }))
}

/// What `what_if` says of an estimate that a run has corrected.
const REFINED: &str = "refine";

/// What a run has counted.
fn counted(path: &str) -> anyhow::Result<Counted> {
    let text = Source::read(path).map_err(anyhow::Error::msg)?.text;
    refine::file::read(&text, path).map_err(anyhow::Error::msg)
}

/// An estimate as the run corrects it.
fn corrected(
    subject: &Subject,
    counted: &Counted,
    run: &str,
    frame: f64,
    machine: &Machine,
    under: &Conditions,
) -> Result<Refined, Error> {
    let Subject::Configuration(bench) = subject else {
        return Err(Error::Other(format!(
            "{run}: a list of operations has no elements to count; give the Click configuration"
        )));
    };
    refine::refine(bench, counted, run, frame, machine, under)
}

/// The functions as a chain.
fn chained(
    subjects: &[Subject],
    how: Chain,
    shown: &Shown<'_>,
    machine: &Machine,
    under: &Conditions,
) -> anyhow::Result<ExitCode> {
    let args = shown.args;
    let how = match how {
        Chain::RunToCompletion => How::RunToCompletion,
        Chain::Pipelined => How::Pipelined,
    };
    if how == How::Pipelined && args.cores > 1 {
        return Err(anyhow!(
            "--cores {} with --chain pipelined: each function has one core; leave --cores out",
            args.cores
        ));
    }
    let mut all = Vec::new();
    for frame in &args.frame_sizes {
        match chain::chain(subjects, how, f64::from(*frame), machine, under) {
            Ok(found) => all.push(found),
            Err(error) => return refuse(&error),
        }
    }
    let Some(first) = all.first() else {
        return Ok(ExitCode::from(DONE));
    };
    for (function, one) in &first.undeclared {
        say(&format!(
            "warning: {function}: '{} :: {}' declares no operations, so its cost is not in the \
             estimate",
            one.name, one.class
        ));
    }
    if how == How::Pipelined && subjects.len() > machine.cores as usize {
        say(&format!(
            "warning: {} functions need one core each, and {} has {}",
            subjects.len(),
            machine.full_name(),
            machine.cores
        ));
    }
    let text = {
        let mut text = format!(
            "{} functions on {} ({}), {}\n{}\n",
            subjects.len(),
            machine.full_name(),
            machine.title,
            first.word(),
            view::source(machine)
        );
        for found in &all {
            text += &format!("\n{}", chain::view::text(found));
        }
        if args.shares {
            for (at, stage) in first.stages.iter().enumerate() {
                let (place, name) = (at + 1, &stage.name);
                let shares = view::shares_of(&stage.rows);
                text += &format!(
                    "\nstage {place}, {name}, at {} bytes:\n{shares}",
                    first.frame
                );
            }
        }
        text
    };
    let table = chain::view::table(&all, machine);
    shown.give(&text, vec![("Functions of the chain", table)])?;
    let is_whole = first.undeclared.is_empty();
    Ok(ExitCode::from(if is_whole { DONE } else { FAILED }))
}

/// What is estimated: configurations, and functions of lists.
fn subjects(args: &Args, machine: &Machine) -> Result<Vec<Subject>, Error> {
    let mut all = Vec::new();
    for file in &args.files {
        let subjects = subjects_of(file, args, machine)?;
        if args.chain.is_some() && subjects.len() > 1 {
            let names: Vec<&str> = subjects.iter().map(Subject::name).collect();
            return Err(Error::Other(format!(
                "{file}: it has {} functions; name the one of the chain: {file}#{}",
                names.len(),
                names.join(", #")
            )));
        }
        all.extend(subjects);
    }
    Ok(all)
}

/// The configuration, the function that is named, or every function of a list.
fn subjects_of(file: &str, args: &Args, machine: &Machine) -> Result<Vec<Subject>, Error> {
    let (path, name) = match file.rsplit_once('#') {
        Some((path, name)) if is_list(path) => (path, Some(name)),
        _ => (file, None),
    };
    let source = Source::read(path).map_err(Error::Other)?;
    if is_list(path) {
        let all = functions(&source.text, &source.name, machine)?;
        let Some(name) = name else {
            return Ok(all.into_iter().map(Subject::List).collect());
        };
        let known: Vec<String> = all.iter().map(|one| one.name.clone()).collect();
        let found = all.into_iter().find(|one| one.name == name);
        let found = found.ok_or_else(|| {
            let meant = nearest(name, known.iter().map(String::as_str));
            let meant = meant.map_or_else(
                || format!("there are {}", known.join(", ")),
                |meant| format!("did you mean `{meant}`?"),
            );
            Error::Other(format!("{path}: it has no function `{name}`; {meant}"))
        })?;
        return Ok(vec![Subject::List(found)]);
    }
    let samples = match &args.sample {
        Some(path) => samples::of_capture(path).map_err(Error::Other)?,
        None => vec![samples::plain()],
    };
    let mut definitions = Vec::new();
    for text in &args.define {
        let (name, value) = text.split_once('=').ok_or_else(|| {
            Error::Other(format!(
                "`{text}` is not a definition; write it as NAME=VALUE"
            ))
        })?;
        definitions.push((name.to_owned(), value.to_owned()));
    }
    let bench = Bench::new(&source.text, &source.name, &definitions, &samples)?;
    Ok(vec![Subject::Configuration(Box::new(bench))])
}

/// Whether a file is one of lists of operations, by its extension.
fn is_list(file: &str) -> bool {
    let path = file
        .split_once(".toml#")
        .map_or(file, |(path, _)| &file[..path.len() + 5]);
    std::path::Path::new(path)
        .extension()
        .is_some_and(|ext| ext == "toml")
}

fn conditions(args: &Args) -> anyhow::Result<Conditions> {
    let field = args.vary.as_deref().map(traffic::field).transpose();
    let field = field.map_err(anyhow::Error::msg)?;
    if args.flows > 1 && field.is_none() {
        // Lists of operations know tables only; configurations need frames that differ.
        let are_lists = args.files.iter().all(|file| is_list(file));
        if !are_lists {
            return Err(anyhow!(
                "{} flows need a field in which they differ, for example --vary ip.dst",
                args.flows
            ));
        }
    }
    let locality = match args.locality.split_once(':') {
        None if args.locality == "uniform" => Some(Locality::Uniform),
        Some(("zipf", exponent)) => exponent
            .parse()
            .ok()
            .filter(|e: &f64| e.is_finite() && *e >= 0.0)
            .map(Locality::Zipf),
        _ => None,
    };
    let locality = locality.ok_or_else(|| {
        anyhow!(
            "`{}` is not a locality; write uniform or zipf:1.0",
            args.locality
        )
    })?;
    let rate = match &args.rate {
        None => f64::INFINITY,
        Some(text) => Quantity::parse_as(text, &[Dimension::Rate])?.value,
    };
    if rate <= 0.0 || args.ports == 0 {
        return Err(anyhow!(
            "without ports or with a rate of 0 no frames arrive"
        ));
    }
    Ok(Conditions {
        traffic: Traffic {
            flows: args.flows,
            field,
            locality,
            ..Traffic::default()
        },
        cores: f64::from(args.cores),
        ports: Ports {
            count: f64::from(args.ports),
            bits_per_s: rate,
        },
        remote: args.remote,
        values: Vec::new(),
    })
}

/// Elements without declared operations, each named, and how to get their cost all the same.
pub(super) fn undeclared(function: &str, all: &[Undeclared]) -> String {
    let each = all.iter().map(|one| {
        let (name, class) = (&one.name, &one.class);
        format!("'{name} :: {class}'")
    });
    let each: Vec<_> = each.collect();
    format!(
        "warning: {}: {} declare no operations, so their cost is not in the estimate; --measure \
         measures it on this machine",
        function,
        each.join(", ")
    )
}

/// What it costs on this machine, by frame size.
fn measured(
    subject: &Subject,
    args: &Args,
    under: &Conditions,
    progress: &Progress,
) -> Result<Vec<(u32, measure::Measured)>, Error> {
    let Subject::Configuration(bench) = subject else {
        let text = "a list of operations cannot be measured; give a Click configuration";
        return Err(Error::Other(text.to_owned()));
    };
    let each = args.frame_sizes.iter().map(|frame| {
        let traffic = Traffic {
            frame: *frame as usize,
            ..under.traffic.clone()
        };
        let found = measure::measure(bench, &traffic)?;
        progress.ended(1.0);
        Ok((*frame, found))
    });
    each.collect()
}

/// The same for a person.
fn told(all: &[(u32, measure::Measured)]) -> String {
    let mut text = "\nmeasured here, on rings in memory\n".to_owned();
    for (frame, found) in all {
        text += &format!(
            "{frame:>6} {:>9.1} cycles, {:.3} Mpps at {:.2} GHz; runs differ by {:.0} %, median \
             slice {:.2} × the least\n",
            found.cycles,
            found.pps / 1e6,
            found.clock_hz / 1e9,
            100.0 * found.spread,
            found.disturbance
        );
    }
    text
}

fn refuse(error: &Error) -> anyhow::Result<ExitCode> {
    match error {
        Error::Refused(Refused::Configuration(said)) => {
            say(diagnostic::render(said).trim_end_matches('\n'));
            Ok(ExitCode::from(USAGE))
        }
        Error::Refused(Refused::Other(text)) | Error::Other(text) => Err(anyhow!("{text}")),
    }
}
