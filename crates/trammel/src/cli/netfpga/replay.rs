//! `trammel netfpga replay`: captures into a packet generator, and out of its ports.

use super::place::Place;
use super::words::refused;
use crate::cli::{durations, options};
use anyhow::{Context, anyhow, bail};
use serde_json::json;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use trammel_card::generator::{Gaps, Generator, Load, loads};
use trammel_core::units::Dimension;
use trammel_core::{Quantity, Rate, Span};
use trammel_ground::{DONE, INTERRUPTED, print};
use trammel_io::clock;
use trammel_netfpga::stages::PORTS;

/// Between two looks at what is left, in nanoseconds.
const LOOK_NS: i64 = 20_000_000;

/// Send captures by ports of a card that runs `packet-generator`
///
/// The card sends the frames with the gaps of the capture, with one gap, or at one rate. All ports
/// begin together. A port keeps 1 MiB of frames.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  trammel netfpga run --design packet-generator --ports eth1,eth2 &\n\
                  \u{20} trammel netfpga replay 0=a.pcap\n  trammel netfpga replay 0=a.pcap \
                  1=b.pcap --rate 100Mbit/s --iterations 1000"
)]
pub(super) struct Args {
    /// A port, 0 to 3, and its capture: pcap or pcapng, whole Ethernet frames
    #[arg(value_name = "PORT=FILE", required = true, value_parser = port_and_file)]
    captures: Vec<(usize, PathBuf)>,
    /// Send at this rate, with FCS, preamble and the gap between frames
    #[arg(long, value_name = "RATE", value_parser = rate, conflicts_with = "gap")]
    rate: Option<Rate>,
    /// Begin a frame this long after the one before, or when the line is free
    #[arg(long, value_name = "TIME", value_parser = durations::parse)]
    gap: Option<Span>,
    /// How often the captures are sent; 0 is until interrupted
    #[arg(long, value_name = "N", default_value_t = 1)]
    iterations: u32,
    /// Write the result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

fn port_and_file(word: &str) -> Result<(usize, PathBuf), String> {
    let (port, file) = word
        .split_once('=')
        .ok_or("write a port and its capture as `0=a.pcap`")?;
    let port = port.parse().ok().filter(|port| *port < PORTS);
    let port = port.ok_or("ports are 0 to 3")?;
    Ok((port, PathBuf::from(file)))
}

fn rate(word: &str) -> Result<Rate, String> {
    let quantity = Quantity::parse_as(word, &[Dimension::Rate]).map_err(|why| why.to_string())?;
    let rate = Rate::from_bps(quantity.value as u64);
    (rate.as_bps() > 0)
        .then_some(rate)
        .ok_or("a rate is at least 1 bit/s".to_owned())
}

/// A port with what it sends.
struct Sender<'a> {
    port: usize,
    path: &'a Path,
    loads: Vec<Load>,
    sent: u32,
}

impl Sender<'_> {
    fn new(port: usize, path: &Path, gaps: Gaps) -> anyhow::Result<Sender<'_>> {
        let name = path.display();
        let file = File::open(path).with_context(|| format!("`{name}` cannot be read"))?;
        let loads = loads(BufReader::new(file), gaps).map_err(|why| anyhow!("`{name}`: {why}"))?;
        Ok(Sender {
            port,
            path,
            loads,
            sent: 0,
        })
    }

    /// How many frames it sends in all, modulo 2³².
    fn all(&self, iterations: u32) -> u32 {
        (self.loads.len() as u32).wrapping_mul(iterations)
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let gaps = match (args.rate, args.gap) {
        (Some(rate), _) => Gaps::Rate(rate),
        (_, Some(gap)) => Gaps::Fixed(gap),
        _ => Gaps::Captured,
    };
    let mut senders: Vec<Sender<'_>> = Vec::new();
    for (port, path) in &args.captures {
        if senders.iter().any(|other| other.port == *port) {
            bail!("port {port} has two captures: give each port one");
        }
        senders.push(Sender::new(*port, path, gaps)?);
    }
    let interrupted = options::interrupted()?;
    let client = args.place.connect()?;
    let mut generator = Generator::new(client, &args.place.prefix).map_err(refused)?;
    for sender in &senders {
        generator
            .load(sender.port, &sender.loads)
            .map_err(refused)?;
    }
    let ports: Vec<usize> = senders.iter().map(|sender| sender.port).collect();
    generator.start(&ports, args.iterations).map_err(refused)?;
    let is_interrupted = loop {
        let is_interrupted = interrupted.load(Ordering::Relaxed);
        for sender in &mut senders {
            sender.sent = generator.sent(sender.port).map_err(refused)?;
        }
        let is_done = |sender: &Sender<'_>| sender.sent == sender.all(args.iterations);
        if is_interrupted || (args.iterations != 0 && senders.iter().all(is_done)) {
            break is_interrupted;
        }
        clock::wait(&[], Some(LOOK_NS)).context("cannot wait for the card")?;
    };
    generator.stop(&ports).map_err(refused)?;
    show(args, &senders)?;
    // An endless replay ends in no other way.
    Ok(ExitCode::from(if is_interrupted && args.iterations != 0 {
        INTERRUPTED
    } else {
        DONE
    }))
}

fn show(args: &Args, senders: &[Sender<'_>]) -> std::io::Result<()> {
    if args.json {
        let row = |sender: &Sender<'_>| {
            json!({ "port": sender.port, "file": sender.path, "frames": sender.loads.len(),
                    "sent": sender.sent })
        };
        let rows: Vec<_> = senders.iter().map(row).collect();
        return print(&json!({ "schema": "trammel/1", "ports": rows }).to_string());
    }
    let line = |sender: &Sender<'_>| {
        let (port, file) = (sender.port, sender.path.display());
        let (frames, sent) = (sender.loads.len(), sender.sent);
        format!("port {port}: {frames} frames of `{file}`, {sent} sent")
    };
    print(&senders.iter().map(line).collect::<Vec<_>>().join("\n"))
}
