//! `trammel send`: a stream of packets to a receiver.

use super::{DONE, FAILED, INTERRUPTED, key, options, print, say};
use crate::engine::Lacks;
use crate::traffic::metrics;
use crate::traffic::send::{self, Job, Outcome};
use crate::traffic::words::{Words, source};
use clap::ValueEnum;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use trammel_core::table::write_json;
use trammel_core::time::Time;
use trammel_core::units::{Dimension, Quantity};
use trammel_io::route::interface;
use trammel_traffic::pace::Wait;
use trammel_traffic::record::Protocol;
use trammel_traffic::send::frames::{self, By};
use trammel_traffic::send::udp::Mechanism;
use trammel_traffic::stream::{Late, Limits, Meter, Stream};

/// Send a stream of packets to a receiver and say what became of it
///
/// Packets leave by a schedule that is fixed beforehand, and how late each was is told. Start `trammel recv` first.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  trammel send 127.0.0.1 --rate 1000 --size 512 --duration 10s\n  trammel send host:9310 --rate '10 kpps' --gap exponential --size uniform:min=64,max=1472 --packets 100000\n  trammel send host --app voip:codec=g711.1 --duration 60s\n  trammel send host --rate '800 kpps' --size 18 --by xdp\n\nThe exit code is 1 where packets were lost or the receiver did not tell."
)]
pub(super) struct Args {
    /// Receiver: HOST or HOST:PORT, the port of its signalling [default port: 9310]
    #[arg(value_name = "HOST", required_unless_present_any = ["itg", "itg_script"])]
    to: Option<String>,
    /// Packets a second
    #[arg(short, long, value_name = "RATE", conflicts_with = "app")]
    rate: Option<String>,
    /// Law of the gaps between packets; a shape only where there is a rate, else in seconds
    #[arg(
        short,
        long,
        value_name = "LAW",
        default_value = "constant",
        conflicts_with = "app"
    )]
    gap: String,
    /// Bytes of each payload, or their law
    #[arg(
        short,
        long,
        value_name = "BYTES",
        default_value = "512",
        conflicts_with = "app"
    )]
    size: String,
    /// Application whose packets are sent
    #[arg(short, long, value_name = "NAME")]
    app: Option<String>,
    /// How long to send [default: 10s, unless packets or bytes are given]
    #[arg(short, long, value_name = "TIME", value_parser = time)]
    duration: Option<Time>,
    /// How many packets to send
    #[arg(short = 'n', long, value_name = "N")]
    packets: Option<u64>,
    /// How many bytes of payload to send
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    bytes: Option<u64>,
    /// When to start
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = time)]
    start: Time,
    /// What carries the packets
    #[arg(short = 'T', long, value_enum, default_value = "udp")]
    protocol: ProtocolName,
    /// Have each packet sent back, and measure the round trip
    #[arg(long)]
    round_trip: bool,
    /// What to do where the sender is late
    #[arg(long, value_enum, default_value = "burst")]
    late: LateName,
    /// Seed of gaps and sizes
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Name of the stream, in the receiver's log
    #[arg(long, value_name = "NAME", default_value = "")]
    name: String,
    /// Receiver's port for packets [default: it chooses]
    #[arg(
        long,
        value_name = "PORT",
        default_value_t = 0,
        hide_default_value = true
    )]
    port: u16,
    /// Byte of differentiated services, 0 to 255
    #[arg(long, value_name = "BYTE")]
    ds: Option<u8>,
    /// Time to live or hop limit, from 1
    #[arg(long, value_name = "HOPS", value_parser = clap::value_parser!(u8).range(1..))]
    ttl: Option<u8>,
    /// Sleep until packets are due, and spend no time asking the clock: late by what the timer is
    #[arg(long)]
    sleep: bool,
    /// Run before all programs of usual priority
    #[arg(long)]
    real_time: bool,
    /// How packets of UDP are given to the kernel
    #[arg(long, value_enum, value_name = "WAY", default_value = "calls")]
    by: ByName,
    /// Have the kernel tell when each packet of UDP left, and show by how much that is after it was due
    #[arg(long, conflicts_with_all = ["by", "round_trip"])]
    departures: bool,
    /// Interface that frames leave by [default: as the routes say]
    #[arg(long, value_name = "NAME")]
    interface: Option<String>,
    /// Ethernet address that frames go to [default: the next hop's, as the kernel knows it]
    #[arg(long, value_name = "MAC", value_parser = mac)]
    to_mac: Option<[u8; 6]>,
    /// Flows of this kind, each at the whole rate, with seeds from `--seed` on
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    flows: u32,
    /// Threads that send them; a flow is sent by one
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: u32,
    /// File with the key that the receiver holds, 16 bytes at least
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Log of when each packet was due and sent, or sent and back; what the file holds stays
    #[arg(short, long, value_name = "FILE")]
    log: Option<PathBuf>,
    #[command(flatten)]
    itg: super::itg::SendArgs,
    /// Write the table to standard output as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ProtocolName {
    /// Datagrams
    Udp,
    /// Messages in a stream of bytes: each is received when its last byte is
    Tcp,
    /// Echo requests: their receiver counts them and its kernel answers them
    Icmp,
    /// Where the kernel has it: refused yet
    Sctp,
    /// Where the kernel has it: refused yet
    Dccp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ByName {
    /// A call for each packet; where several are due, one call for up to 64
    Calls,
    /// What is due together leaves as one that the kernel cuts: bursts without gaps
    Segments,
    /// Frames past the kernel's stack, by packet sockets
    Packet,
    /// The same, by AF_XDP
    Xdp,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LateName {
    /// Send what is overdue at once: the mean rate holds
    Burst,
    /// Leave out what is overdue: no bursts, some packets missing
    Skip,
    /// Put the rest of the plan off: gaps hold, the rate does not
    Stretch,
}

fn time(text: &str) -> Result<Time, String> {
    let quantity = Quantity::parse_as(text, &[Dimension::Time]).map_err(|why| why.to_string())?;
    let secs = quantity.value;
    if (0.0..=1e7).contains(&secs) {
        return Ok(Time::from_secs_f64(secs));
    }
    Err("it must be from 0 s to 10,000,000 s".to_owned())
}

fn mac(text: &str) -> Result<[u8; 6], String> {
    let mut bytes = [0; 6];
    let mut parts = text.split([':', '-']);
    for byte in &mut bytes {
        let part = parts.next().filter(|part| part.len() == 2);
        let value = part.and_then(|part| u8::from_str_radix(part, 16).ok());
        *byte = value.ok_or("six bytes in hexadecimal are wanted, as 02:00:00:00:00:01")?;
    }
    match parts.next() {
        None => Ok(bytes),
        Some(_) => Err("it has more than six bytes".to_owned()),
    }
}

/// How packets are handed over; of other protocols than UDP there is one way.
fn mechanism(args: &Args) -> anyhow::Result<Mechanism> {
    let by = match args.by {
        ByName::Calls if args.departures => return plain(args, Mechanism::Watched),
        ByName::Calls => return plain(args, Mechanism::Calls),
        ByName::Segments => return plain(args, Mechanism::Segments),
        ByName::Packet => By::Packet,
        ByName::Xdp => By::Xdp,
    };
    is_of_udp(args)?;
    let number = |name: &String| {
        interface(name).map_err(|why| Lacks::error(&why.to_string(), "ip link show"))
    };
    Ok(Mechanism::Frames(frames::Options {
        by,
        interface: args.interface.as_ref().map(number).transpose()?,
        to_mac: args.to_mac,
    }))
}

fn plain(args: &Args, mechanism: Mechanism) -> anyhow::Result<Mechanism> {
    if args.interface.is_some() || args.to_mac.is_some() {
        anyhow::bail!(
            "`--interface` and `--to-mac` are of frames: add `--by packet` or `--by xdp`"
        );
    }
    if mechanism != Mechanism::Calls {
        is_of_udp(args)?;
    }
    Ok(mechanism)
}

fn is_of_udp(args: &Args) -> anyhow::Result<()> {
    if args.protocol != ProtocolName::Udp {
        anyhow::bail!("`--by` and `--departures` are of UDP; leave them out, or `-T`");
    }
    Ok(())
}

fn bytes(text: &str) -> Result<u64, String> {
    let wanted = [Dimension::Bytes, Dimension::Ratio];
    let quantity = Quantity::parse_as(text, &wanted).map_err(|why| why.to_string())?;
    if (1.0..=1e18).contains(&quantity.value) {
        return Ok(quantity.value as u64);
    }
    Err("it must be from 1 byte on".to_owned())
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let wait = if args.sleep { Wait::Sleep } else { Wait::Spin };
    if let Some(asked) = args.itg.asked()? {
        let with = send::itg::Job {
            seed: args.seed,
            wait,
            is_real_time: args.real_time,
            log: args.log.clone(),
        };
        let key = args.key.as_deref().map(key).transpose()?;
        return super::itg::send(&asked, with, key, args.json);
    }
    let to = args.to.clone().expect("it is required without `--itg`");
    let words = Words {
        rate: args.rate.clone(),
        gap: args.gap.clone(),
        size: args.size.clone(),
        app: args.app.clone(),
    };
    let mechanism = mechanism(args)?;
    if args.threads > args.flows {
        let (threads, flows) = (args.threads, args.flows);
        anyhow::bail!(
            "{threads} threads for {flows} flows: a flow is sent by one thread; give `--flows {threads}`"
        );
    }
    let is_limited = args.duration.is_some() || args.packets.is_some() || args.bytes.is_some();
    let stream = |seed| -> anyhow::Result<Stream> {
        Ok(Stream {
            name: args.name.clone(),
            protocol: match args.protocol {
                ProtocolName::Udp => Protocol::Udp,
                ProtocolName::Tcp => Protocol::Tcp,
                ProtocolName::Icmp => Protocol::Icmp,
                ProtocolName::Sctp => Protocol::Sctp,
                ProtocolName::Dccp => Protocol::Dccp,
            },
            source: source(&words)?,
            start: args.start,
            limits: Limits {
                duration: args.duration.or((!is_limited).then(|| Time::from_secs(10))),
                packets: args.packets,
                bytes: args.bytes,
            },
            seed,
            meter: if args.round_trip {
                Meter::RoundTrip
            } else {
                Meter::OneWay
            },
            late: match args.late {
                LateName::Burst => Late::Burst,
                LateName::Skip => Late::Skip,
                LateName::Stretch => Late::Stretch,
            },
            ds: args.ds,
            ttl: args.ttl,
        })
    };
    let seeds = (0..u64::from(args.flows)).map(|at| args.seed.wrapping_add(at));
    let streams: Vec<Stream> = seeds.map(stream).collect::<anyhow::Result<_>>()?;
    let job = Job {
        to,
        port: args.port,
        key: args.key.as_deref().map(key).transpose()?,
        wait,
        mechanism,
        threads: args.threads as usize,
        is_real_time: args.real_time,
        log: args.log.clone(),
    };
    let interrupted = options::interrupted()?;
    let outcome = send::run(&streams, &job, &interrupted)?;
    show(&outcome, args.json)?;
    Ok(exit_code(&outcome, interrupted.load(Ordering::SeqCst)))
}

/// Shows what became of streams.
pub(super) fn show(outcome: &Outcome, is_json: bool) -> anyhow::Result<()> {
    if let Some(why) = &outcome.log_fault {
        say(&format!("warning: {why}; the log lacks what came after"));
    }
    if is_json {
        let mut tables = vec![outcome.table()];
        tables.extend(outcome.report.iter().flat_map(metrics::tables));
        write_json(&tables, std::io::stdout())?;
    } else {
        print(outcome.text().trim_end())?;
        if let Some(report) = &outcome.report {
            print(metrics::text(report).trim_end())?;
        }
    }
    Ok(())
}

/// The exit code of what became of streams.
pub(super) fn exit_code(outcome: &Outcome, was_interrupted: bool) -> ExitCode {
    ExitCode::from(if was_interrupted {
        INTERRUPTED
    } else if outcome.is_whole() {
        DONE
    } else {
        FAILED
    })
}
