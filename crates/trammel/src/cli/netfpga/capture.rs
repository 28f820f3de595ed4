//! `trammel netfpga capture`: what a port of a packet generator receives, into a file.

use super::place::Place;
use super::words::refused;
use crate::cli::options;
use anyhow::Context;
use std::fs::File;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use trammel_card::generator::Generator;
use trammel_ground::{DONE, say};

/// Capture what a port of a card that runs `packet-generator` receives
///
/// Times are those of the card, in nanoseconds since it began. Ends when it is interrupted; what
/// was captured stays.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  trammel netfpga run --design packet-generator --ports eth1,eth2 &\n\
                  \u{20} trammel netfpga capture --port 1 --count 1000 -o b.pcap"
)]
pub(super) struct Args {
    /// The port, 0 to 3
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u8).range(0..4))]
    port: u8,
    /// End after so many frames
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// The file, in the format pcap; it must not exist
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    place: Place,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let name = args.out.display();
    let interrupted = options::interrupted()?;
    let client = args.place.connect()?;
    let mut generator = Generator::new(client, &args.place.prefix).map_err(refused)?;
    let file = File::create_new(&args.out).with_context(|| {
        format!("`{name}` cannot be made: give the name of a file that does not exist")
    })?;
    let mut capture = generator.capture(args.port.into()).map_err(refused)?;
    let most = args.count.unwrap_or(u64::MAX);
    let written = capture.write(file, most, &|| interrupted.load(Ordering::Relaxed));
    capture.end().map_err(refused)?;
    let written = written
        .map_err(refused)
        .with_context(|| format!("`{name}`"))?;
    say(&format!("{written} frames in `{name}`"));
    Ok(ExitCode::from(DONE))
}
