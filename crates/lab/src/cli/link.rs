//! `trammel link`: what the path to a receiver carries, each second.

use super::guard::key;
use super::{DONE, FAILED, INTERRUPTED, durations, options, print, say};
use crate::engine::Lacks;
use crate::traffic::link::{self, Account, Progress, whole};
use crate::traffic::send::resolve;
use anyhow::anyhow;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use trammel_core::time::Time;
use trammel_core::units::{Dimension, Quantity};
use trammel_traffic::link::ask::{Fault, Test};
use trammel_traffic::link::{Direction, MOST_NAME_BYTES, MOST_STREAMS, Wish};
use trammel_traffic::record::Protocol;
use trammel_traffic::send::session::Error;
use trammel_traffic::signal::PORT;

/// Bits of payload a second of a stream of UDP for which no rate is given.
const UDP_RATE_BPS: u64 = 1_000_000;

/// Test the path to a receiver: bulk TCP, or UDP at a rate
///
/// Start `trammel recv` there first. Both ends count, and each interval is told as soon as it is over: goodput, retransmissions,
/// round trip and congestion window of TCP; loss, jitter and one-way delay of UDP. Data goes there unless `--reverse` or `--bidir`
/// is given.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  trammel link 10.0.0.2\n  trammel link 10.0.0.2 --reverse --duration 30s\n  trammel link 10.0.0.2 --bidir --parallel 4 --json\n  trammel link 10.0.0.2 --udp --rate '50 Mbit/s'\n\nThe exit code is 1 where the test ended before its time, and 3 where no receiver answers."
)]
pub(super) struct Args {
    /// Receiver: HOST or HOST:PORT [default port: 9310]
    #[arg(value_name = "HOST")]
    to: String,
    /// How long to test
    #[arg(short = 't', long, value_name = "TIME", default_value = "10s", value_parser = durations::parse)]
    duration: Time,
    /// How often to tell what came
    #[arg(short, long, value_name = "TIME", default_value = "1s", value_parser = durations::parse)]
    interval: Time,
    /// Have the receiver send, and receive here
    #[arg(short = 'R', long, conflicts_with = "bidir")]
    reverse: bool,
    /// Send both ways at once
    #[arg(long)]
    bidir: bool,
    /// Streams each way
    #[arg(short = 'P', long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=i64::from(MOST_STREAMS)))]
    parallel: u16,
    /// Send datagrams of UDP at a rate, in place of TCP
    #[arg(short = 'u', long)]
    udp: bool,
    /// Bits of payload a second of each stream, at most [default: what TCP gets through; of UDP 1 Mbit/s]
    #[arg(short = 'b', long, value_name = "RATE", value_parser = bit_rate, alias = "bitrate")]
    rate: Option<u64>,
    /// Bytes of payload of each datagram of UDP
    #[arg(
        short = 'l',
        long,
        value_name = "BYTES",
        default_value_t = 1448,
        requires = "udp",
        alias = "length"
    )]
    size: u32,
    /// Congestion control of whoever sends, such as `cubic` or `bbr` [default: that of its system]
    #[arg(short = 'C', long, value_name = "NAME", conflicts_with = "udp", value_parser = control)]
    congestion: Option<String>,
    /// File with the key that the receiver holds, 16 bytes at least
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Write the account to standard output as JSON, in the structure of iperf3's
    #[arg(short = 'J', long)]
    json: bool,
}

/// Bits a second: `100 Mbit/s`, or `100M` as iperf3 has it.
fn bit_rate(text: &str) -> Result<u64, String> {
    let of_iperf3 = text
        .strip_suffix(['k', 'K', 'M', 'G', 'T'])
        .filter(|number| number.parse::<f64>().is_ok());
    let read = match of_iperf3 {
        Some(_) => Quantity::parse_as(&format!("{text}bit/s"), &[Dimension::Rate]),
        None => Quantity::parse_as(text, &[Dimension::Rate]),
    };
    let bps = read.map_err(|why| why.to_string())?.value;
    if (1.0..=1e15).contains(&bps) {
        return Ok(bps.round() as u64);
    }
    Err("it must be from 1 bit/s to 1000 Tbit/s".to_owned())
}

fn control(text: &str) -> Result<String, String> {
    let is_name =
        (1..=MOST_NAME_BYTES).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
    is_name
        .then(|| text.to_owned())
        .ok_or_else(|| format!("a name has 1 to {MOST_NAME_BYTES} characters"))
}

fn wish(args: &Args) -> Wish {
    Wish {
        protocol: if args.udp {
            Protocol::Udp
        } else {
            Protocol::Tcp
        },
        direction: match (args.reverse, args.bidir) {
            (_, true) => Direction::Both,
            (true, _) => Direction::Reverse,
            (false, false) => Direction::Forward,
        },
        streams: args.parallel,
        duration: Duration::from_nanos(args.duration.as_ns()),
        interval: Duration::from_nanos(args.interval.as_ns()),
        rate_bps: args.rate.unwrap_or(if args.udp { UDP_RATE_BPS } else { 0 }),
        datagram_bytes: args.size,
        congestion: args.congestion.clone().unwrap_or_default(),
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let wish = wish(args);
    if let Some(wrong) = wish.wrong() {
        anyhow::bail!("{wrong}");
    }
    let addresses = resolve(&args.to, PORT)?;
    let key = args.key.as_deref().map(key).transpose()?;
    let stop = options::interrupted()?;
    let test = Test::open(&addresses, key.as_ref(), &wish, &stop).map_err(told)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let (ends, ways, own) = (test.ends, test.ways(), test.congestion());
    let (mut progress, mut intervals) = (Progress::new(&ways), Vec::new());
    let mut printed = Ok(());
    if !args.json {
        print(&link::head(&ends.1.to_string(), &wish))?;
        print(&link::header(&wish))?;
        crate::cli::stdout().flush()?;
    }
    let ended = test.run(&stop, &mut |moment| {
        let interval = progress.next(moment);
        if !args.json && printed.is_ok() {
            printed =
                print(&link::line(&wish, &interval)).and_then(|()| crate::cli::stdout().flush());
            if printed.is_err() {
                // Nobody reads what is measured.
                stop.store(true, Ordering::SeqCst);
            }
        }
        intervals.push(interval);
    });
    printed?;
    let ended = ended.map_err(told)?;
    let account = Account {
        to: args.to.clone(),
        ends,
        date_s: now.map_or(0, |since| since.as_secs()),
        congestion: (
            own,
            Some(ended.congestion.clone()).filter(|name| !name.is_empty()),
        ),
        intervals,
        whole: whole(&ways, &ended),
        fault: ended.fault,
        ways,
        wish,
    };
    if args.json {
        let text = serde_json::to_string_pretty(&link::json(&account))?;
        print(&text)?;
    } else {
        print(link::summary(&account).trim_end())?;
    }
    if stop.load(Ordering::SeqCst) {
        say("interrupted: the account is of what was tested by then");
        return Ok(ExitCode::from(INTERRUPTED));
    }
    let is_broken = account.whole.streams.iter().any(|one| {
        let ends = [one.sent, one.received];
        ends.iter().flatten().any(|told| told.broken > 0)
    });
    Ok(ExitCode::from(if account.fault.is_some() || is_broken {
        FAILED
    } else {
        DONE
    }))
}

/// Why there is no test, and what would mend it.
fn told(fault: Fault) -> anyhow::Error {
    match fault {
        Fault::Session(Error::Nobody(at, why)) => Lacks::error(
            &format!("no receiver answers at {at}: {why}"),
            "start one there: `trammel recv`, for other hosts with `--listen 0.0.0.0` and `--key FILE` or `--no-key`",
        ),
        Fault::Congestion(why) => Lacks::error(
            &why.to_string(),
            "`sysctl net.ipv4.tcp_available_congestion_control` lists those that there are",
        ),
        other => anyhow!("{other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_in_bits_a_second() {
        for (text, bps) in [
            ("100 Mbit/s", 100_000_000),
            ("10M", 10_000_000),
            ("1.5G", 1_500_000_000),
            ("8kbit/s", 8000),
        ] {
            assert_eq!(bit_rate(text), Ok(bps));
        }
        for text in ["10", "10 kpps", "50 %", "M", "0 bit/s", "-1M"] {
            assert!(bit_rate(text).is_err(), "{text}");
        }
    }
}
