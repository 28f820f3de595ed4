//! `trammel send`: streams of packets to receivers, sent here or by a sender that waits for orders.

mod flows;
mod orders;
pub(super) mod outcome;

use super::metrics::SendCounts;
use super::{durations, options, sizes};
use clap::ValueEnum;
use outcome::{code, show};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use trammel_core::time::{Span, Time};
use trammel_driver::guard::key;
use trammel_ground::Unsupported;
use trammel_ground::say;
use trammel_io::route::interface;
use trammel_scenario::traffic::words::{Words, source};
use trammel_streams::log_file::LogTo;
use trammel_streams::send::{self, Listener};
use trammel_streams::send::{SendJob, SendOutcome, resolve};
use trammel_traffic::pace::Wait;
use trammel_traffic::record::Protocol;
use trammel_traffic::send::choice::Asked;
use trammel_traffic::send::frames::{self, By};
use trammel_traffic::send::udp::Mechanism;
use trammel_traffic::signal::LOG_PORT;
use trammel_traffic::stream::{Late, Limits, Meter, Stream};

/// Send streams of packets to receivers and account for every packet
///
/// Packets leave by a schedule that is fixed beforehand, and the sender reports how late each
/// packet left. Start `trammel recv` first. A script has one flow per line, with the options of
/// this command, quoted as in a shell; `--to HOST` on a line gives that flow another receiver. All
/// flows begin at once, each after its `--start`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  trammel send 127.0.0.1 --rate 1000 --size 512 --duration 10s\n  \
                  trammel send host:9310 --rate '10 kpps' --gap exponential --size \
                  uniform:min=64,max=1472 --packets 100000\n  trammel send host --app \
                  voip:codec=g711.1 --duration 60s\n  trammel send host --rate '800 kpps' --size \
                  18 --by xdp\n  trammel send host --script flows.txt --log-to 10.0.0.9\n  trammel \
                  send --daemon --listen 10.0.0.1:9311 --key key.txt\n  trammel send 10.0.0.2 \
                  --from 10.0.0.1 --key key.txt --rate 1000\n  trammel send --wait --listen \
                  10.0.0.1:9313 --key key.txt --rate 1000\n\n\
                  The exit code is 1 if packets were lost or the receiver did not report."
)]
pub(super) struct Args {
    /// Receiver: HOST or HOST:PORT, the port of its signalling [default port: 9310]
    #[arg(
        value_name = "HOST",
        required_unless_present_any = ["daemon", "script", "wait", "itg", "itg_script"]
    )]
    to: Option<String>,
    #[command(flatten)]
    flow: FlowArgs,
    /// Send the flows of a file, one per line, all at once
    #[arg(long, value_name = "FILE", conflicts_with = "FlowArgs")]
    script: Option<PathBuf>,
    /// Sleep until packets are due, without polling the clock; they are late by the timer's error
    #[arg(long)]
    sleep: bool,
    /// Run before all programs of normal priority
    #[arg(long)]
    real_time: bool,
    /// How to give UDP packets to the kernel
    #[arg(long, value_enum, value_name = "WAY", default_value = "auto")]
    by: ByName,
    /// Report by the kernel's timestamps how late each UDP packet left
    #[arg(long, conflicts_with = "by")]
    departures: bool,
    /// Interface for frames [default: by the routes]
    #[arg(long, value_name = "NAME")]
    interface: Option<String>,
    /// Destination Ethernet address of frames [default: the next hop's, from the kernel]
    #[arg(long, value_name = "MAC", value_parser = mac)]
    to_mac: Option<[u8; 6]>,
    /// Flows of this kind, each at the whole rate, with seeds from `--seed` on
    #[arg(
        long, value_name = "N", default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=65_536), conflicts_with = "script"
    )]
    flows: u32,
    /// Sending threads; one thread sends a flow [default: as many as the rates need, one processor
    /// stays free]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: Option<u32>,
    /// File with the receiver's key, at least 16 bytes; with `--from`, with that sender's key
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Log when each packet was due and sent, or sent and returned; append to the file
    #[arg(short, long, value_name = "FILE", conflicts_with = "log_to")]
    log: Option<PathBuf>,
    /// Write the log to this log server [default port: 9312]
    #[arg(long, value_name = "HOST")]
    log_to: Option<String>,
    /// File with the log server's key
    #[arg(long, value_name = "FILE", requires = "log_to")]
    log_key: Option<PathBuf>,
    /// Send from this host, where `trammel send --daemon` runs [default port: 9311]
    #[arg(
        long, value_name = "HOST",
        conflicts_with_all = [
            "log", "log_to", "sleep", "real_time", "by", "departures", "threads", "metrics"
        ]
    )]
    from: Option<String>,
    #[command(flatten)]
    daemon: orders::DaemonArgs,
    #[command(flatten)]
    metrics: super::metrics::Args,
    #[command(flatten)]
    itg: super::itg::SendArgs,
    /// Write the table to standard output as JSON
    #[arg(long)]
    json: bool,
}

/// What is of one flow: the words of a script's line.
#[derive(Clone, Debug, clap::Args)]
struct FlowArgs {
    /// Packets per second, or bits of payload: `10 kpps`, `100 Mbit/s`
    #[arg(short, long, value_name = "RATE", conflicts_with = "app")]
    rate: Option<String>,
    /// Distribution of the gaps between packets: only its shape if there is a rate, else in seconds
    #[arg(
        short,
        long,
        value_name = "LAW",
        default_value = "constant",
        conflicts_with = "app"
    )]
    gap: String,
    /// Bytes of each payload, or their distribution
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
    #[arg(short, long, value_name = "TIME", value_parser = durations::parse)]
    duration: Option<Span>,
    /// How many packets to send
    #[arg(short = 'n', long, value_name = "N")]
    packets: Option<u64>,
    /// How many bytes of payload to send
    #[arg(long, value_name = "BYTES", value_parser = sizes::parse)]
    bytes: Option<u64>,
    /// When to start
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = durations::parse)]
    start: Span,
    /// Transport protocol
    #[arg(short = 'T', long, value_enum, default_value = "udp")]
    protocol: ProtocolName,
    /// Make the receiver return each packet, and measure the round trip
    #[arg(long)]
    round_trip: bool,
    /// What to do if the sender is late
    #[arg(long, value_enum, default_value = "burst")]
    late: LateName,
    /// Seed of gaps and sizes [default: 1; in a script the flow's place]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Name of the stream, in the receiver's log
    #[arg(long, value_name = "NAME", default_value = "")]
    name: String,
    /// Receiver's port for packets [default: chosen by the receiver]
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
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ProtocolName {
    /// Datagrams
    Udp,
    /// Messages in a byte stream; a message is received with its last byte
    Tcp,
    /// Echo requests; the receiver counts them and its kernel answers them
    Icmp,
    /// Where the kernel has it: refused yet
    Sctp,
    /// Where the kernel has it: refused yet
    Dccp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ByName {
    /// `calls`; `segments` for bursts if a thread cannot sustain the rates otherwise
    Auto,
    /// One call per packet; if several are due, one call for up to 64
    Calls,
    /// Packets that are due together leave as one that the kernel cuts: bursts without gaps
    Segments,
    /// Frames that bypass the kernel's stack, by packet sockets
    Packet,
    /// The same, by AF_XDP
    Xdp,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LateName {
    /// Send overdue packets at once; the mean rate holds
    Burst,
    /// Leave out overdue packets; no bursts, some packets missing
    Skip,
    /// Delay the rest of the plan; gaps hold, the rate does not
    Stretch,
}

fn mac(text: &str) -> Result<[u8; 6], String> {
    let mut bytes = [0; 6];
    let mut parts = text.split([':', '-']);
    for byte in &mut bytes {
        let part = parts.next().filter(|part| part.len() == 2);
        let value = part.and_then(|part| u8::from_str_radix(part, 16).ok());
        *byte = value.ok_or("give six bytes in hexadecimal, such as 02:00:00:00:00:01")?;
    }
    match parts.next() {
        None => Ok(bytes),
        Some(_) => Err("it has more than six bytes".to_owned()),
    }
}

/// How packets are handed over; of other protocols than UDP there is one way.
fn mechanism(args: &Args) -> anyhow::Result<Option<Mechanism>> {
    let by = match args.by {
        ByName::Auto if args.departures => return plain(args, Some(Mechanism::Watched)),
        ByName::Auto => return plain(args, None),
        ByName::Calls => return plain(args, Some(Mechanism::Calls)),
        ByName::Segments => return plain(args, Some(Mechanism::Segments)),
        ByName::Packet => By::Packet,
        ByName::Xdp => By::Xdp,
    };
    let number = |name: &String| {
        interface(name).map_err(|why| Unsupported::error(&why.to_string(), "ip link show"))
    };
    Ok(Some(Mechanism::Frames(frames::Options {
        by,
        interface: args.interface.as_ref().map(number).transpose()?,
        to_mac: args.to_mac,
    })))
}

fn plain(args: &Args, mechanism: Option<Mechanism>) -> anyhow::Result<Option<Mechanism>> {
    if args.interface.is_some() || args.to_mac.is_some() {
        anyhow::bail!(
            "`--interface` and `--to-mac` are for frames: add `--by packet` or `--by xdp`"
        );
    }
    Ok(mechanism)
}

impl FlowArgs {
    /// The stream, which is the flow `place` from 0 of those that are sent at once.
    fn stream(&self, place: usize) -> anyhow::Result<Stream> {
        let words = Words {
            rate: self.rate.clone(),
            gap: self.gap.clone(),
            size: self.size.clone(),
            app: self.app.clone(),
        };
        let is_limited = self.duration.is_some() || self.packets.is_some() || self.bytes.is_some();
        Ok(Stream {
            name: self.name.clone(),
            protocol: match self.protocol {
                ProtocolName::Udp => Protocol::Udp,
                ProtocolName::Tcp => Protocol::Tcp,
                ProtocolName::Icmp => Protocol::Icmp,
                ProtocolName::Sctp => Protocol::Sctp,
                ProtocolName::Dccp => Protocol::Dccp,
            },
            source: source(&words)?,
            start: Time::ZERO + self.start,
            limits: Limits {
                duration: self.duration.or((!is_limited).then(|| Span::from_secs(10))),
                packets: self.packets,
                bytes: self.bytes,
            },
            // Flows of one seed would send their packets at the same times.
            seed: self.seed.unwrap_or(1 + place as u64),
            meter: if self.round_trip {
                Meter::RoundTrip
            } else {
                Meter::OneWay
            },
            late: match self.late {
                LateName::Burst => Late::Burst,
                LateName::Skip => Late::Skip,
                LateName::Stretch => Late::Stretch,
            },
            ds: self.ds,
            ttl: self.ttl,
        })
    }
}

impl Args {
    /// How streams to `to` are sent.
    fn job(&self, to: &str) -> anyhow::Result<SendJob> {
        Ok(SendJob {
            port: self.flow.port,
            key: self.key.as_deref().map(key).transpose()?,
            wait: self.wait(),
            asked: Asked {
                mechanism: mechanism(self)?,
                threads: self.threads.map(|threads| threads as usize),
            },
            is_real_time: self.real_time,
            log: self.log()?,
            ..SendJob::to(to)
        })
    }

    fn wait(&self) -> Wait {
        if self.sleep { Wait::Sleep } else { Wait::Spin }
    }

    fn log(&self) -> anyhow::Result<Option<LogTo>> {
        Ok(match (&self.log, &self.log_to) {
            (Some(path), _) => Some(LogTo::File(path.clone())),
            (None, Some(to)) => Some(log_server(to, self.log_key.as_deref())?),
            (None, None) => None,
        })
    }
}

/// The log server that `to` names.
pub(super) fn log_server(to: &str, file: Option<&std::path::Path>) -> anyhow::Result<LogTo> {
    let addresses = resolve(to, LOG_PORT)?;
    Ok(LogTo::Server(addresses, file.map(key).transpose()?))
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if let Some(asked) = args.itg.asked()? {
        let with = send::itg::ItgJob {
            first: 1,
            seed: args.flow.seed.unwrap_or(1),
            wait: args.wait(),
            is_real_time: args.real_time,
            log: args.log()?,
        };
        let key = args.key.as_deref().map(key).transpose()?;
        if asked.is_daemon() {
            anyhow::ensure!(
                key.is_none(),
                "libITG's orders have no key; leave `--key` out"
            );
            return super::itg::wait(
                asked,
                with,
                args.daemon
                    .without_key(trammel_traffic::itg::orders::PORT)?,
            );
        }
        asked.is_guarded(args.daemon.has_no_key())?;
        return super::itg::send(&asked, with, key, args.json);
    }
    if args.daemon.is_wanted() {
        return orders::wait(args);
    }
    if let Some(from) = &args.from {
        return orders::give(args, from);
    }
    let flows = flows::read(args)?;
    let is_other = |flow: &flows::Planned| flow.stream.protocol != Protocol::Udp;
    let is_asked = args.by != ByName::Auto || args.departures;
    if is_asked && flows.iter().any(is_other) {
        anyhow::bail!("`--by` and `--departures` are for UDP; leave them out, or `-T`");
    }
    let comes_back = |flow: &flows::Planned| flow.stream.meter == Meter::RoundTrip;
    if args.departures && flows.iter().any(comes_back) {
        anyhow::bail!("`--departures` is for one-way streams; leave it out, or `--round-trip`");
    }
    if let Some(threads) = args.threads
        && threads as usize > flows.len()
    {
        let flows = flows.len();
        anyhow::bail!(
            "{threads} threads for {flows} flows: a flow is sent by one thread; give `--flows \
             {threads}`"
        );
    }
    let count = flows.len();
    let mut batches = flows::batches(flows, &|to| args.job(to))?;
    let key = args.key.as_deref().map(key).transpose()?;
    if let Some(waiting) = args.daemon.waiting(key.as_ref())? {
        let [one] = batches.as_mut_slice() else {
            anyhow::bail!("one receiver comes: leave out `--to` in the script");
        };
        say(&format!("waiting for a receiver on {}", waiting.address()));
        one.waits = Some(waiting);
    }
    let interrupted = options::interrupted()?;
    let counts = args.metrics.serve(|| SendCounts::new(count))?;
    let unheard = AtomicU64::new(0);
    let heard: &dyn Listener = match &counts {
        Some(counts) => counts.as_ref(),
        None => &unheard,
    };
    let outcome = SendOutcome::of_all(send::run_all(&batches, &interrupted, heard)?);
    show(&outcome, args.json)?;
    Ok(ExitCode::from(code(
        &outcome,
        interrupted.load(Ordering::SeqCst),
    )))
}
