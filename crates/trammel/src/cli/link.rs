//! `trammel link`: what the path to a receiver carries, each second.

use super::{durations, options, sizes};
use anyhow::anyhow;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use trammel_core::time::Span;
use trammel_core::units::{Dimension, Quantity};
use trammel_driver::guard::key;
use trammel_ground::Unsupported;
use trammel_ground::{DONE, FAILED, INTERRUPTED, print, say};
use trammel_streams::link;
use trammel_streams::link::{Account, Progress, whole};
use trammel_streams::send::resolve;
use trammel_traffic::link::ask::{Fault, Test};
use trammel_traffic::link::{
    Direction, MOST_DURATION, MOST_NAME_BYTES, MOST_STREAMS, Moment, Wish,
};
use trammel_traffic::record::Protocol;
use trammel_traffic::send::session::Error;
use trammel_traffic::signal::PORT;

/// Bits of payload a second of a stream of UDP for which no rate is given.
const UDP_RATE_BPS: u64 = 1_000_000;

/// Test the path to a receiver: bulk TCP, or UDP at a rate
///
/// Start `trammel recv` at the far end first. Both ends count, and each interval is printed at its
/// end: goodput, retransmissions, round trip and congestion window of TCP; loss, jitter and one-way
/// delay of UDP. Data goes to the receiver unless `--reverse` or `--bidir` is given.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  trammel link 10.0.0.2\n  trammel link 10.0.0.2 --reverse --duration \
                  30s\n  trammel link 10.0.0.2 --bidir --parallel 4 --json\n  trammel link \
                  10.0.0.2 --udp --rate '50 Mbit/s'\n\n\
                  The exit code is 1 if the test ended early, and 3 if no receiver answers."
)]
pub(super) struct Args {
    /// Receiver: HOST or HOST:PORT [default port: 9310]
    #[arg(value_name = "HOST")]
    to: String,
    /// How long to test
    #[arg(
        short = 't', long, value_name = "TIME", default_value = "10s",
        value_parser = durations::parse
    )]
    duration: Span,
    /// How many bytes to send, instead of a time; `10M` is 10 × 1024² as with iperf3, `10 MB` is
    /// 10,000,000
    #[arg(
        short = 'n', long, value_name = "BYTES", value_parser = byte_count,
        conflicts_with_all = ["duration", "bidir"]
    )]
    bytes: Option<u64>,
    /// Leave this time at the start out of all counts, to exclude slow start
    #[arg(
        short = 'O', long, value_name = "TIME", default_value = "0s",
        value_parser = durations::parse
    )]
    omit: Span,
    /// Type of service of all packets, the byte of differentiated services: `184`, `0xb8` or `0270`
    #[arg(short = 'S', long, value_name = "BYTE", default_value = "0", value_parser = tos)]
    tos: u8,
    /// Length of the reported intervals
    #[arg(short, long, value_name = "TIME", default_value = "1s", value_parser = durations::parse)]
    interval: Span,
    /// Make the receiver send, and receive here
    #[arg(short = 'R', long, conflicts_with = "bidir")]
    reverse: bool,
    /// Send in both directions at once
    #[arg(long)]
    bidir: bool,
    /// Streams in each direction
    #[arg(
        short = 'P', long, value_name = "N", default_value_t = 1,
        value_parser = clap::value_parser!(u16).range(1..=i64::from(MOST_STREAMS))
    )]
    parallel: u16,
    /// Send UDP datagrams at a rate, instead of TCP
    #[arg(short = 'u', long)]
    udp: bool,
    /// Highest rate of each stream, in bits of payload per second [default: TCP unlimited, UDP 1
    /// Mbit/s]
    #[arg(short = 'b', long, value_name = "RATE", value_parser = bit_rate, alias = "bitrate")]
    rate: Option<u64>,
    /// Payload bytes of each UDP datagram
    #[arg(
        short = 'l',
        long,
        value_name = "BYTES",
        default_value_t = 1448,
        requires = "udp",
        alias = "length"
    )]
    size: u32,
    /// Congestion control of the sender, such as `cubic` or `bbr` [default: its system's]
    #[arg(short = 'C', long, value_name = "NAME", conflicts_with = "udp", value_parser = control)]
    congestion: Option<String>,
    /// File with the receiver's key, at least 16 bytes
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Write the results to standard output as JSON, in the structure of iperf3
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

/// Bytes: `10 MB`, or `10M` as iperf3 has it.
fn byte_count(text: &str) -> Result<u64, String> {
    let of_iperf3 = ["K", "M", "G", "T"]
        .iter()
        .zip(1..)
        .find_map(|(suffix, power)| {
            let number = text
                .strip_suffix(suffix)
                .or(text.strip_suffix(&suffix.to_lowercase()))?;
            let number: f64 = number.parse().ok()?;
            Some(number * f64::from(1024_u32).powi(power))
        });
    match of_iperf3 {
        Some(count) if (1.0..=1e18).contains(&count) => Ok(count as u64),
        Some(_) => Err("it must be from 1 byte on".to_owned()),
        None => sizes::parse(text),
    }
}

/// A byte in decimal, or in hexadecimal or octal as C writes them.
fn tos(text: &str) -> Result<u8, String> {
    let wrong = |_| "it is a byte: 0 to 255, 0x00 to 0xff, or 0 to 0377".to_owned();
    if let Some(hexadecimal) = text.strip_prefix("0x") {
        return u8::from_str_radix(hexadecimal, 16).map_err(wrong);
    }
    match text.strip_prefix('0') {
        Some(octal) if !octal.is_empty() => u8::from_str_radix(octal, 8).map_err(wrong),
        _ => text.parse().map_err(wrong),
    }
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
        duration: match args.bytes {
            Some(_) => MOST_DURATION,
            None => Duration::from_nanos(args.duration.as_ns()),
        },
        omit: Duration::from_nanos(args.omit.as_ns()),
        bytes: args.bytes.unwrap_or(0),
        tos: args.tos,
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
    let omitted = wish.omitted();
    let (mut progress, mut intervals) = (Progress::new(&ways, omitted), Vec::new());
    let mut begun = None;
    let mut printed = Ok(());
    if !args.json {
        print(&link::head(&ends.1.to_string(), &wish))?;
        print(&link::header(&wish))?;
        trammel_ground::stdout().flush()?;
    }
    let ended = test.run(&stop, &mut |moment| {
        let interval = progress.next(moment);
        if !args.json && printed.is_ok() {
            printed = print(&link::line(&wish, &interval))
                .and_then(|()| trammel_ground::stdout().flush());
            if printed.is_err() {
                // Nobody reads what is measured.
                stop.store(true, Ordering::SeqCst);
            }
        }
        intervals.push(interval);
        if omitted > 0 && intervals.len() == omitted as usize {
            begun = Some(moment.clone());
        }
    });
    printed?;
    let ended = ended.map_err(told)?;
    // One that ended before it began to count has nothing to tell.
    let begun = begun.or_else(|| {
        (omitted > 0).then(|| Moment {
            at: ended.after,
            own: ended.own.clone(),
            theirs: ended.theirs.clone(),
        })
    });
    let account = Account {
        to: args.to.clone(),
        ends,
        date_s: now.map_or(0, |since| since.as_secs()),
        congestion: (
            own,
            Some(ended.congestion.clone()).filter(|name| !name.is_empty()),
        ),
        intervals,
        whole: whole(&ways, &ended, begun.as_ref()),
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
        say("interrupted: these are the results so far");
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
        Fault::Session(Error::Nobody(at, why)) => Unsupported::error(
            &format!("no receiver answers at {at}: {why}"),
            "start one there: `trammel recv`, for other hosts with `--listen 0.0.0.0` and `--key \
             FILE` or `--no-key`",
        ),
        Fault::Congestion(why) => Unsupported::error(
            &why.to_string(),
            "`sysctl net.ipv4.tcp_available_congestion_control` lists the available ones",
        ),
        other => anyhow!("{other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_sizes_and_types_of_service_are_read_as_iperf3_does() {
        for (text, bps) in [
            ("100 Mbit/s", 100_000_000),
            ("10M", 10_000_000),
            ("1.5G", 1_500_000_000),
            ("8kbit/s", 8000),
        ] {
            assert_eq!(bit_rate(text), Ok(bps));
        }
        for (text, count) in [
            ("10M", 10 << 20),
            ("1.5k", 1536),
            ("64 KB", 64_000),
            ("1000", 1000),
        ] {
            assert_eq!(byte_count(text), Ok(count), "{text}");
        }
        for text in ["0", "0M", "-1K", "M", "10 kpps"] {
            assert!(byte_count(text).is_err(), "{text}");
        }
        for (text, byte) in [("184", 184), ("0xb8", 184), ("0270", 184), ("0", 0)] {
            assert_eq!(tos(text), Ok(byte), "{text}");
        }
        for text in ["256", "0x100", "0400", "-1", "EF", ""] {
            assert!(tos(text).is_err(), "{text}");
        }
        for text in ["10", "10 kpps", "50 %", "M", "0 bit/s", "-1M"] {
            assert!(bit_rate(text).is_err(), "{text}");
        }
    }
}
