//! `trammel conformance`: stacks judged by the cases of drafts and RFCs.

use anyhow::{Context, bail};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use trammel_conformance::case::Case;
use trammel_conformance::page;
use trammel_conformance::subject::{Source, Subject, Variant, scenario_of};
use trammel_conformance::suite::{SUITES, Suite, judge_all};
use trammel_core::label::Label;
use trammel_core::units::nearest;
use trammel_ground::{DONE, FAILED, INTERRUPTED, machine, print, say};
use trammel_report::provenance::provenance;
use trammel_report::run_folder::{RunFolder, RunInfo};
use trammel_transport::points::Watch;

/// Judge a congestion control, a kernel or a foreign stack's log by the cases of a draft or RFC
///
/// Each case quotes its requirement, runs a scenario or a packetdrill script, and checks what the
/// subject does. A verdict is pass, fail, departs (a known departure, with its reason), not
/// applicable, or not observable.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Suites:\n  bbr     the 22 test cases of draft-ietf-ccwg-bbr\n  cubic   RFC 9438\n\
                  \x20 prague  the Prague L4S requirements of RFC 9331 section 4\n\
                  \x20 tcp     RFC 5681, \
                  RFC 6298 and RFC 6675\n\nExamples:\n  trammel conformance cubic\n  trammel \
                  conformance bbr --variant bbr -o out\n  trammel conformance cubic --kernel \
                  packaged\n  trammel conformance cubic --variant cubic:beta=922 --case \
                  01-decrease\n\nExit codes:\n  0    no case failed\n  1    a case failed\n  2    \
                  usage, or a file that cannot be read\n  3    there is no kernel: `trammel kernel \
                  build`\n  130  interrupted, partial results kept"
)]
pub(super) struct Args {
    /// The suite: bbr, cubic, prague or tcp
    #[arg(value_name = "SUITE")]
    suite: String,
    /// The congestion control to judge, with parameters as NAME:PARAM=VALUE,… [default: the
    /// suite's own]
    #[arg(long, value_name = "VARIANT")]
    variant: Option<String>,
    /// Judge this kernel instead of the simulator: `packaged`, or a Linux source tree; may be
    /// given several times
    #[arg(long, value_name = "TREE")]
    kernel: Vec<String>,
    /// Judge what a foreign stack wrote into this qlog file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["kernel", "variant"])]
    qlog: Option<PathBuf>,
    /// Only this case, by name or number; may be given several times
    #[arg(long, value_name = "CASE")]
    case: Vec<String>,
    /// List the cases and their sources, and run nothing
    #[arg(long, conflicts_with_all = ["kernel", "variant", "qlog", "out"])]
    list: bool,
    /// Show every condition, not only those that do not hold
    #[arg(short, long)]
    verbose: bool,
    #[command(flatten)]
    out: super::folder::Args,
    /// Threads to use [default: one per core]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Write the verdicts to standard output as JSON
    #[arg(long)]
    json: bool,
}

/// Passes the interrupt on.
struct Interrupt<'a>(&'a AtomicBool);

impl Watch for Interrupt<'_> {
    fn is_interrupted(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let interrupted = super::options::interrupted()?;
    let (started, clock) = (machine::now(), Instant::now());
    let suite = suite(&args.suite)?;
    let cases = chosen(suite.cases()?, &args.case)?;
    if args.list {
        for case in &cases {
            print(&format!("{}  {} ({})", case.name, case.title, case.source))?;
        }
        return Ok(ExitCode::from(DONE));
    }
    let subjects = subjects(args, &suite)?;
    // A folder that cannot be written is a fault before the work, not after it.
    let wanted = args.out.wanted();
    let mut folder = wanted.as_ref().map(RunFolder::begin).transpose()?;
    let watch = Interrupt(&interrupted);
    let threads = args.threads.map(usize::from);
    let threads = threads.or_else(|| std::thread::available_parallelism().ok().map(usize::from));
    let (mut has_failed, mut all, mut reports) = (false, Vec::new(), Vec::new());
    for subject in &subjects {
        let on_path = !args.case.is_empty();
        let judged = judge_all(&cases, subject, on_path, threads.unwrap_or(1), &watch)?;
        has_failed |= page::has_failed(&judged);
        if args.json {
            all.push(page::to_json(&subject.name(), &suite, &judged));
        } else {
            let text = page::to_text(&subject.name(), &suite, &judged, args.verbose);
            print(text.trim_end())?;
        }
        if let Some(out) = &mut folder {
            out.write_table(&named(page::verdicts(&judged), subject, &subjects))?;
            out.write_table(&named(page::conditions(&judged), subject, &subjects))?;
            let label = match subject.source {
                Source::Simulator => Label::Simulated,
                Source::Kernel(_) => Label::LinuxVt,
                Source::Log(_) => Label::Measured,
            };
            reports.push(page::render(&subject.name(), &suite, &judged, label));
        }
    }
    if args.json {
        print(&format!("{:#}", serde_json::Value::from(all)))?;
    }
    if let Some(mut out) = folder {
        for case in &cases {
            write_scenario(case, &subjects[0], &mut out)?;
        }
        let info = RunInfo {
            command: std::env::args().collect(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            scenario: format!("conformance {}", suite.name),
            seeds: vec![1],
            machine: machine::facts(),
            started,
            wall_s: [("cases".to_owned(), clock.elapsed().as_secs_f64())].into(),
            interrupted: interrupted.load(Ordering::SeqCst),
            ..RunInfo::default()
        };
        let mut report = page::together(reports);
        let subject = vec![("suite".to_owned(), suite.source.to_owned())];
        report.provenance = provenance(&info, subject);
        out.write_page(&report)?;
        let path = out.finish(&info)?;
        say(&format!("{}", path.join("report.html").display()));
    }
    Ok(ExitCode::from(if interrupted.load(Ordering::SeqCst) {
        INTERRUPTED
    } else if has_failed {
        FAILED
    } else {
        DONE
    }))
}

/// The suite called `name`.
fn suite(name: &str) -> anyhow::Result<Suite> {
    if let Some(suite) = Suite::find(name) {
        return Ok(suite);
    }
    let names = SUITES.map(|suite| suite.name);
    match nearest(name, names.into_iter()) {
        Some(near) => bail!("no suite is called `{name}`; did you mean `{near}`?"),
        None => bail!(
            "no suite is called `{name}`; the suites are {}",
            names.join(", ")
        ),
    }
}

/// Those of `cases` that `wanted` names; all where it names none.
fn chosen(cases: Vec<Case>, wanted: &[String]) -> anyhow::Result<Vec<Case>> {
    let is = |case: &Case, name: &str| {
        case.name == name
            || name
                .parse()
                .is_ok_and(|number: u32| number == case.number())
    };
    for name in wanted {
        if !cases.iter().any(|case| is(case, name)) {
            let names = cases.iter().map(|case| case.name.as_str());
            let near = nearest(name, names);
            let help = near.map_or_else(
                || "`--list` shows all".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            bail!("no case is called `{name}`; {help}");
        }
    }
    let is_wanted = |case: &Case| wanted.is_empty() || wanted.iter().any(|name| is(case, name));
    Ok(cases.into_iter().filter(is_wanted).collect())
}

/// Who is judged.
fn subjects(args: &Args, suite: &Suite) -> anyhow::Result<Vec<Subject>> {
    let variant = Variant::read(args.variant.as_deref().unwrap_or(suite.usual()))?;
    if let Some(path) = &args.qlog {
        let series = trammel_conformance::log::read(path)?;
        return Ok(vec![Subject {
            variant,
            source: Source::Log(Arc::new(series)),
        }]);
    }
    if args.kernel.is_empty() {
        return Ok(vec![Subject::simulated(variant)]);
    }
    let kernels = args.kernel.iter().map(|kernel| {
        let tree = match kernel.as_str() {
            "packaged" => None,
            tree => Some(
                PathBuf::from(tree)
                    .canonicalize()
                    .ok()
                    .and_then(|path| path.to_str().map(str::to_owned))
                    .with_context(|| {
                        format!(
                            "`{tree}` is no folder; `--kernel` takes `packaged` or the folder of \
                             a source tree of Linux"
                        )
                    })?,
            ),
        };
        Ok(Subject {
            variant: variant.clone(),
            source: Source::Kernel(tree),
        })
    });
    kernels.collect()
}

/// A table of one of several subjects, named after it.
fn named(
    table: trammel_stats::table::Table,
    subject: &Subject,
    all: &[Subject],
) -> trammel_stats::table::Table {
    if all.len() == 1 {
        return table;
    }
    let name = trammel_report::run_folder::file_name(&subject.name());
    let mut renamed = trammel_stats::table::Table::new(
        format!("{}-{name}", table.name()),
        table.columns().to_vec(),
    );
    for row in table.rows() {
        let pushed = renamed.push(row.cells().to_vec());
        pushed.expect("the cells are of the same types");
    }
    renamed
}

/// The case's scenario or script as a file, for `trammel run` or `trammel packetdrill`.
fn write_scenario(case: &Case, subject: &Subject, out: &mut RunFolder) -> anyhow::Result<()> {
    if let Some(text) = &case.scenario {
        let text = scenario_of(&case.name, text, &subject.variant, None)?;
        out.write(&format!("cases/{}.toml", case.name), text.as_bytes())?;
    }
    if let Some(script) = &case.script {
        out.write(&format!("cases/{}.pkt", case.name), script.as_bytes())?;
    }
    Ok(())
}
