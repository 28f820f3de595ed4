//! `trammel export`: what a scenario or a run folder says, in the words of other programs.

mod recorded;

use super::options::Which;
use anyhow::Context;
use clap::ValueEnum;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use trammel_exports::{Script, containerlab, flent, iperf3, mahimahi, tc};
use trammel_ground::{DONE, say, whole_file};
use trammel_scenario::Description;
use trammel_transport::refusals::reading;

/// Write a scenario's path as commands of an emulator, or a run as a data file of another program
///
/// What the other program has no way to do is said on the terminal and in the file. Data files say
/// which engine made the numbers.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  trammel export examples/first.toml --as tc -o path.sh\n  trammel \
                  export examples/first.toml --as mahimahi\n  trammel export examples/first.toml \
                  --as containerlab -o first.clab.yml\n  trammel export out --as flent -o \
                  run.flent.gz\n  trammel export out --as iperf3 -o run.json"
)]
pub(super) struct Args {
    /// A scenario file with a `[path]`, for tc, mahimahi and containerlab; a run folder with traces
    /// of flows, for flent and iperf3
    #[arg(value_name = "SCENARIO.toml | FOLDER")]
    of: PathBuf,
    /// In whose words
    #[arg(long = "as", value_enum, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    which: recorded::Which,
    /// The file to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// What can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A shell script of qdiscs of Linux, for a router between senders and receivers
    Tc,
    /// Shells of Mahimahi; what runs inside sends
    Mahimahi,
    /// A topology of containerlab: sender, router, receiver
    Containerlab,
    /// A data file of Flent, compressed where its name ends with `.gz`
    Flent,
    /// A result of iperf3 as its `-J` writes it
    Iperf3,
}

impl Format {
    /// Whether it is of a run folder, and not of a path.
    fn is_of_run(self) -> bool {
        matches!(self, Format::Flent | Format::Iperf3)
    }

    fn name(self) -> &'static str {
        match self {
            Format::Tc => "tc",
            Format::Mahimahi => "mahimahi",
            Format::Containerlab => "containerlab",
            Format::Flent => "flent",
            Format::Iperf3 => "iperf3",
        }
    }

    /// How the names of its files end, usually.
    fn ending(self) -> &'static str {
        match self {
            Format::Tc | Format::Mahimahi => ".sh",
            Format::Containerlab => ".clab.yml",
            Format::Flent => ".flent.gz",
            Format::Iperf3 => ".json",
        }
    }
}

/// The formats: name, ending of a file, and what is written.
pub(super) fn written() -> impl Iterator<Item = (&'static str, &'static str, String)> {
    Format::value_variants().iter().map(|format| {
        let about = format.to_possible_value().expect("no format is hidden");
        let summary = about.get_help().map(ToString::to_string);
        (format.name(), format.ending(), summary.unwrap_or_default())
    })
}

/// Whether the format `name` is of a run folder, and not of a path.
pub(super) fn is_of_run(name: &str) -> bool {
    Format::from_str(name, false).is_ok_and(Format::is_of_run)
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let name = args.of.display();
    let output = args.output.as_deref();
    if !args.format.is_of_run() {
        if recorded::is_folder(&args.of) {
            anyhow::bail!("`{name}` is a folder; tc, mahimahi and containerlab take a scenario");
        }
        if let Some(option) = args.which.of_run() {
            anyhow::bail!(
                "`{option}` is of a run, and {} is of a scenario's path, which is the same in all \
                 runs of a point; leave it out",
                args.format.name()
            );
        }
        let script = script(args)?;
        for what in &script.left_out {
            say(&format!("note: left out: {what}"));
        }
        for what in &script.changed {
            say(&format!("note: changed: {what}"));
        }
        return write(output, script.text.as_bytes(), is_script);
    }
    if !recorded::is_folder(&args.of) {
        anyhow::bail!(
            "`{name}` is no folder; flent and iperf3 take a run folder: `trammel run … -o FOLDER`"
        );
    }
    let recording = recorded::of(&args.of, &args.which)?;
    if args.format == Format::Iperf3 {
        return write(output, iperf3::write(&recording).as_bytes(), is_json);
    }
    let file = output.and_then(Path::file_name);
    let file = file.map(|name| name.to_string_lossy().into_owned());
    let text = flent::write(&recording, file.as_deref().unwrap_or("-"));
    let is_compressed = output.is_some_and(|path| path.extension().is_some_and(|end| end == "gz"));
    if is_compressed {
        return write(output, &flent::compressed(&text)?, is_gzip);
    }
    write(output, text.as_bytes(), is_json)
}

fn is_script(bytes: &[u8]) -> bool {
    let first = bytes.split(|byte| *byte == b'\n').take(2);
    let mut first = first.map(String::from_utf8_lossy);
    first.any(|line| line.starts_with("# The path of "))
}

fn is_json(bytes: &[u8]) -> bool {
    let ours = b"trammel";
    bytes.starts_with(b"{") && bytes.windows(ours.len()).any(|part| part == ours)
}

/// Nothing but the name says whose it is.
fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

/// Writes the file, or to standard output where there is none.
fn write(
    path: Option<&Path>,
    bytes: &[u8],
    is_ours: fn(&[u8]) -> bool,
) -> anyhow::Result<ExitCode> {
    let Some(path) = path else {
        trammel_ground::stdout().write_all(bytes)?;
        return Ok(ExitCode::from(DONE));
    };
    whole_file::may_replace(path, is_ours)?;
    let written = whole_file::replace(path, bytes);
    written.with_context(|| format!("`{}` cannot be written", path.display()))?;
    Ok(ExitCode::from(DONE))
}

/// The script of the point that is asked for.
fn script(args: &Args) -> anyhow::Result<Script> {
    let name = args.of.display().to_string();
    let engines = Which::of(&args.of).engines();
    let Description::Transport(file) = Description::read(&args.of, &reading(&engines))? else {
        anyhow::bail!(
            "`{name}`: paths of scenarios with `subject = \"transport\"`, which is the usual one, \
             are exported, no others"
        );
    };
    let point = match &args.which.point {
        None => file.points.first(),
        Some(wanted) => file.points.iter().find(|point| point.id == *wanted),
    };
    let Some(point) = point else {
        let ids: Vec<_> = file.points.iter().map(|one| one.id.as_str()).collect();
        anyhow::bail!(
            "`{name}` has no point `{}`; there are `{}`",
            args.which.point.as_deref().unwrap_or_default(),
            ids.join("`, `")
        );
    };
    let title = match file.points.len() {
        1 => name.clone(),
        _ => format!("{name}, point {}", point.id),
    };
    let made = match args.format {
        Format::Tc => tc::script(&title, &point.scenario),
        Format::Mahimahi => mahimahi::script(&title, &point.scenario),
        _ => containerlab::topology(&title, &point.scenario),
    };
    made.map_err(|why| anyhow::anyhow!("`{name}`: {why}"))
}
