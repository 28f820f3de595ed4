//! `trammel import`: results of other programs as a run folder.

use crate::import::{ImportJob, run as import};
use clap::builder::{
    NonEmptyStringValueParser, PossibleValue, PossibleValuesParser, TypedValueParser,
};
use std::path::PathBuf;
use std::process::ExitCode;
use trammel_formats::Format;

/// Import results of other programs: captures of TCP, iperf3, Flent, …
///
/// Makes a run folder of them, with the tables and columns of simulated runs, so that `trammel
/// compare` lays both side by side. Each file is a point; several tests in one file are its
/// repeats. The format is found by the content. `-` is standard input.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  trammel import flow.pcap -o out/real\n  trammel import result.json \
                  --name cubic -o out/real\n  trammel run s.toml -o out/simulated\n  trammel \
                  compare out/real out/simulated"
)]
pub(super) struct Args {
    /// Files to import, plain or compressed by gzip
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The format of all files, where their content does not tell
    #[arg(long = "as", value_name = "FORMAT", value_parser = formats())]
    format: Option<Format>,
    /// Names for the flows, links and streams of each file, in the order of its tables
    #[arg(long, value_name = "NAME", value_delimiter = ',',
          value_parser = NonEmptyStringValueParser::new())]
    name: Vec<String>,
    #[command(flatten)]
    out: super::folder::Args,
    /// Write the tables to standard output as JSON
    #[arg(long)]
    json: bool,
}

fn formats() -> impl TypedValueParser<Value = Format> {
    let values = Format::ALL
        .into_iter()
        .map(|format| PossibleValue::new(format.name()).help(format.summary()));
    PossibleValuesParser::new(values)
        .map(|name| Format::named(&name).expect("the parser takes names of formats only"))
}

pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    super::options::end_at_interrupt()?;
    import(&ImportJob {
        files: args.files,
        format: args.format,
        names: args.name,
        out: args.out.wanted(),
        json: args.json,
    })
}
