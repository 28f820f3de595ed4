//! `trammel decode`: what logs of senders and receivers say.

use super::durations;
use clap::ValueEnum;
use std::net::IpAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use trammel_core::time::Span;
use trammel_ground::{DONE, print, say};
use trammel_report::run_folder::RunFolder;
use trammel_stats::table::write_json;
use trammel_streams::decode::{DecodeJob, Subtract, decode};
use trammel_streams::itg_files;
use trammel_streams::itg_files::Form;
use trammel_streams::{clocks, metrics, page};
use trammel_traffic::decode::{Filter, Options};

/// Decode logs: rates, delay, jitter, loss, reordering, for each flow and together
///
/// Logs are Trammel's or D-ITG's, binary or text, recognised by their content. Logs of several
/// hosts can be decoded together: records of senders (due and sent) and of receivers (sent and
/// received) are kept apart.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  trammel decode received.log\n  trammel decode received.log --flow 3 \
                  --interval 100ms --series\n  trammel decode here.log there.log -o out\n  trammel \
                  decode ITGRecv.log --itg\n  trammel decode received.log --to-itg for-itgdec.log"
)]
pub(super) struct Args {
    /// Logs of `trammel send` and `trammel recv`, or of ITGSend, ITGRecv, ITGLog or `ITGDec -l`
    #[arg(value_name = "LOG", required = true)]
    logs: Vec<PathBuf>,
    /// Only flows of these numbers
    #[arg(short, long, value_name = "N", value_delimiter = ',')]
    flow: Vec<u32>,
    /// Only flows from or to these hosts
    #[arg(long, value_name = "ADDRESS", value_delimiter = ',')]
    host: Vec<IpAddr>,
    /// Only packets that arrived this long after the first, or later
    #[arg(long, value_name = "TIME", value_parser = since)]
    from: Option<Span>,
    /// Only packets that arrived less than this after the first
    #[arg(long, value_name = "TIME", value_parser = since)]
    to: Option<Span>,
    /// Length of the intervals of series
    #[arg(short, long, value_name = "TIME", default_value = "1s", value_parser = interval)]
    interval: Span,
    /// When to subtract the difference of two hosts' clocks from one-way delays
    #[arg(long, value_enum, value_name = "WHEN", default_value = "proven")]
    clock: When,
    /// Also show every interval of every flow
    #[arg(long, conflicts_with = "out")]
    series: bool,
    #[command(flatten)]
    out: super::folder::Args,
    /// Write the tables to standard output as JSON, with the series
    #[arg(long)]
    json: bool,
    /// Show the summary of `ITGDec`, by its definitions and in its layout
    #[arg(long, conflicts_with_all = ["json", "out", "series", "clock", "interval"])]
    itg: bool,
    /// Write the packets as a binary D-ITG log, which `ITGDec` decodes
    #[arg(
        long, value_name = "FILE",
        conflicts_with_all = ["json", "out", "series", "clock", "interval"]
    )]
    to_itg: Option<PathBuf>,
    /// Write the packets as a D-ITG text log, as `ITGDec -l` does
    #[arg(
        long, value_name = "FILE",
        conflicts_with_all = ["json", "out", "series", "clock", "interval"]
    )]
    to_itg_text: Option<PathBuf>,
}

/// When clocks are subtracted, on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum When {
    /// If a packet arrived before it was sent, which proves that the clocks differ
    Proven,
    /// If it can be estimated
    Always,
    /// Never: show delays as logged
    Never,
}

fn time(text: &str) -> Result<f64, String> {
    Ok(durations::parse(text)?.as_secs_f64())
}

fn interval(text: &str) -> Result<Span, String> {
    let value = time(text)?;
    if (1e-6..=1e6).contains(&value) {
        return Ok(Span::from_secs_f64(value));
    }
    Err("it must be from 1 us to 1,000,000 s".to_owned())
}

fn since(text: &str) -> Result<Span, String> {
    let value = time(text)?;
    if (0.0..=1e7).contains(&value) {
        return Ok(Span::from_secs_f64(value));
    }
    Err("it must be from 0 to 10,000,000 s".to_owned())
}

fn warn(text: &str) {
    say(&format!("warning: {text}"));
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    super::options::end_at_interrupt()?;
    let job = DecodeJob {
        logs: args.logs.clone(),
        options: Options {
            interval: args.interval,
            filter: Filter {
                flows: args.flow.clone(),
                hosts: args.host.clone(),
                ..Filter::default()
            },
            ..Options::default()
        },
        from: args.from,
        to: args.to,
        subtract: match args.clock {
            When::Proven => Subtract::Proven,
            When::Always => Subtract::Always,
            When::Never => Subtract::Never,
        },
    };
    let mut is_converted = false;
    for (path, form) in [
        (&args.to_itg, Form::Binary),
        (&args.to_itg_text, Form::Text),
    ] {
        if let Some(path) = path {
            let records = itg_files::write(&job, path, form, &mut |note| warn(&note))?;
            say(&format!("`{}`: {records} packets", path.display()));
            is_converted = true;
        }
    }
    if args.itg {
        let summary = itg_files::summary(&job, &mut |note| warn(&note))?;
        print(summary.text().trim_end_matches('\n'))?;
        is_converted = true;
    }
    if !is_converted {
        report(args, &job)?;
    }
    Ok(ExitCode::from(DONE))
}

fn report(args: &Args, job: &DecodeJob) -> anyhow::Result<()> {
    // A folder that cannot be written is a fault before the work, not after it.
    let wanted = args.out.wanted();
    let folder = wanted.as_ref().map(RunFolder::begin).transpose()?;
    let decoded = decode(job)?;
    decoded.warnings.iter().for_each(|warning| warn(warning));
    if let Some(folder) = folder {
        let (answer, path) = page::write(folder, &decoded, job)?;
        say(&answer);
        say(&path.join("report.html").display().to_string());
    }
    if args.json {
        write_json(&decoded.tables(), trammel_ground::stdout())?;
    } else if decoded.report.flows.is_empty() {
        say("no flow is left: the logs have none, or the filters leave them out");
    } else if !args.out.is_some() {
        print(metrics::text(&decoded.report).trim_end())?;
        let clocks = clocks::text(&decoded.clocks);
        if !clocks.is_empty() {
            print(&format!("\n{}", clocks.trim_end()))?;
        }
        if args.series {
            let table = metrics::intervals(&decoded.report);
            print(&format!("\n{}", table.to_string().trim_end()))?;
        }
    }
    Ok(())
}
