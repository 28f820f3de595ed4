//! `trammel decode`: what logs of senders and receivers say.

use super::{DONE, print, say};
use crate::traffic::{decode::decode, metrics};
use std::net::IpAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use trammel_core::table::write_json;
use trammel_core::time::Time;
use trammel_core::units::{Dimension, Quantity};
use trammel_traffic::decode::{Filter, Options};

/// Decode logs: rates, delay, jitter, loss, reordering, for each flow and together
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  trammel decode received.log\n  trammel decode received.log --flow 3 --interval 100ms --json"
)]
pub(super) struct Args {
    /// Logs of `trammel send` and `trammel recv`
    #[arg(value_name = "LOG", required = true)]
    logs: Vec<PathBuf>,
    /// Only flows of these numbers
    #[arg(short, long, value_name = "N", value_delimiter = ',')]
    flow: Vec<u32>,
    /// Only flows from or to these hosts
    #[arg(long, value_name = "ADDRESS", value_delimiter = ',')]
    host: Vec<IpAddr>,
    /// Length of the intervals of series
    #[arg(short, long, value_name = "TIME", default_value = "1s", value_parser = interval)]
    interval: Time,
    /// Write the tables to standard output as JSON, with the series
    #[arg(long)]
    json: bool,
}

fn interval(text: &str) -> Result<Time, String> {
    let quantity = Quantity::parse_as(text, &[Dimension::Time]).map_err(|why| why.to_string())?;
    if (1e-6..=1e6).contains(&quantity.value) {
        return Ok(Time::from_secs_f64(quantity.value));
    }
    Err("it must be from 1 us to 1,000,000 s".to_owned())
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let options = Options {
        interval: args.interval,
        filter: Filter {
            flows: args.flow.clone(),
            hosts: args.host.clone(),
            ..Filter::default()
        },
        ..Options::default()
    };
    let report = decode(&args.logs, options, &mut |note| {
        say(&format!("warning: {note}"));
    })?;
    if args.json {
        write_json(&metrics::tables(&report), std::io::stdout())?;
    } else if report.flows.is_empty() {
        say("no flow is left: the logs have none, or the filters leave them out");
    } else {
        print(metrics::text(&report).trim_end())?;
    }
    if report.unaccounted_records > 0 {
        say(&format!(
            "note: {} records are in no number: they belong to no session, or to more flows than are decoded at once",
            report.unaccounted_records
        ));
    }
    Ok(ExitCode::from(DONE))
}
