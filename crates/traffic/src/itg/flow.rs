//! The stream that a D-ITG command asks for: its laws, files, bursts and applications as sources of
//! ours.
//!
//! Gaps in packets per second are made gaps in time first: `-U 500 1500` is uniform between 1/1500
//! s and 1/500 s, `-E` and `-O` have a mean gap of 1/x s, and those of `-O` are whole milliseconds,
//! as a Poisson law of milliseconds gives. Everything else is in milliseconds or bytes, with shape
//! before scale as documented.

use super::command::{Application, Codec, Command, Law, Metadata, Unit, Values};
use super::signalling::head_length;
use crate::apps;
use crate::filler::Filler;
use crate::record::{MOST_BYTES, Protocol};
use crate::sources::file::{self, Gaps, Lengths, Listed};
use crate::sources::interrupted::Interrupted;
use crate::sources::laws::Laws;
use crate::sources::on_off::Bursts;
use crate::sources::sizes::{DATAGRAM_MAX, Sizes};
use crate::sources::{Error, law};
use crate::stream::{Source, Stream};
use std::path::Path;
use trammel_core::entry::{Params, Value};
use trammel_core::rng::Rng;
use trammel_stats::arrivals::Spans;
use trammel_stats::dist::Distribution;

/// The stream of a command. Without a seed of its own (`-s`) it has `seed`.
///
/// # Errors
/// If its numbers contradict each other, or a file cannot be used.
pub fn stream(command: &Command, seed: u64) -> Result<Stream, Error> {
    Ok(Stream {
        name: String::new(),
        protocol: command.protocol,
        source: source(command)?,
        start: command.start,
        limits: command.limits,
        seed: command.seed.map_or(seed, f64::to_bits),
        meter: command.meter,
        late: command.late,
        ds: command.ds,
        ttl: command.ttl,
    })
}

/// Bytes of a packet of TCP of which ITGRecv notes anything, as observed: its head has 20.
const LEAST_OF_TCP: u32 = 24;

/// How long packets may be, bytes: from the head of the payload to what the carrier takes.
pub fn bounds(command: &Command) -> (u32, u32) {
    let head = head_length(command.metadata, command.protocol) as u32;
    let least = if command.protocol == Protocol::Tcp && command.metadata == Metadata::Full {
        head.max(LEAST_OF_TCP)
    } else {
        head
    };
    let most = if command.protocol == Protocol::Tcp {
        MOST_BYTES - 1
    } else {
        DATAGRAM_MAX
    };
    // A packet of TCP without any bytes would be none.
    (
        least.max(u32::from(command.protocol == Protocol::Tcp)),
        most,
    )
}

/// What makes its packets.
///
/// # Errors
/// As of [`stream`].
pub fn source(command: &Command) -> Result<Box<dyn Source>, Error> {
    if let Some(application) = command.application {
        return self::application(application);
    }
    let (least, most) = bounds(command);
    let sizes = match &command.size {
        Values::Drawn { law, numbers, unit } => Lengths::Law(Sizes::new(
            distribution(*law, numbers, *unit)?,
            least,
            most,
        )?),
        Values::File { path, .. } => Lengths::List(file::sizes(Path::new(path))?),
    };
    let gaps = match &command.gap {
        Values::Drawn { law, numbers, unit } => Gaps::Law(spans(*law, numbers, *unit)?),
        Values::File { path, .. } => Gaps::List(file::gaps(Path::new(path))?),
    };
    match (&command.bursts, gaps, sizes) {
        (None, Gaps::Law(gaps), Lengths::Law(sizes)) => Ok(Box::new(Laws::new(gaps, sizes)?)),
        (None, gaps, sizes) => Ok(Box::new(Listed::new(gaps, sizes)?)),
        (Some(bursts), Gaps::Law(gaps), Lengths::Law(sizes)) => {
            let (on, off) = (period(&bursts.on)?, period(&bursts.off)?);
            Ok(Box::new(Bursts::new(on, off, gaps, sizes)?))
        }
        (Some(bursts), gaps, sizes) => {
            let (on, off) = (period(&bursts.on)?, period(&bursts.off)?);
            let listed = Box::new(Listed::new(gaps, sizes)?);
            Ok(Box::new(Interrupted::new(on, off, listed)?))
        }
    }
}

fn period(values: &Values) -> Result<Spans, Error> {
    match values {
        Values::Drawn { law, numbers, unit } => spans(*law, numbers, *unit),
        Values::File { .. } => Err(Error::Invalid("bursts are drawn by a law".to_owned())),
    }
}

fn spans(law: Law, numbers: &[f64], unit: Unit) -> Result<Spans, Error> {
    let mean_ms = match unit {
        Unit::PerSecond => 1e3 / numbers.first().copied().unwrap_or(f64::NAN),
        _ => numbers.first().copied().unwrap_or(f64::NAN),
    };
    match law {
        // Exact for rates that are no whole number of nanoseconds; a law of whole milliseconds has
        // to be scaled.
        Law::Constant | Law::Poisson if mean_ms > 0.0 => {
            let of_ms = distribution(law, &[mean_ms], Unit::Milliseconds)?;
            let wrong = || Error::Invalid(format!("gaps of {mean_ms} ms are not possible"));
            Spans::at_rate(of_ms, 1e3 / mean_ms).ok_or_else(wrong)
        }
        _ => {
            let mut seconds = numbers.to_vec();
            match unit {
                Unit::PerSecond => {
                    for rate in &mut seconds {
                        *rate = rate.recip();
                    }
                    // The largest rate is the smallest gap.
                    seconds.reverse();
                }
                _ => {
                    let scaled = match law {
                        Law::Pareto | Law::Gamma | Law::Weibull => 1..,
                        _ => 0..,
                    };
                    for ms in &mut seconds[scaled] {
                        *ms /= 1e3;
                    }
                }
            }
            Ok(Spans::seconds(distribution(law, &seconds, unit)?))
        }
    }
}

/// The law of these numbers, as they are.
fn distribution(kind: Law, numbers: &[f64], unit: Unit) -> Result<Box<dyn Distribution>, Error> {
    let (name, keys): (&str, &[&str]) = match kind {
        Law::Constant => ("constant", &["value"]),
        Law::Uniform => ("uniform", &["min", "max"]),
        Law::Exponential => ("exponential", &["mean"]),
        Law::Normal => ("normal", &["mean", "std_dev"]),
        Law::Poisson => ("poisson", &["mean"]),
        Law::Pareto => ("pareto", &["shape", "scale"]),
        Law::Cauchy => ("cauchy", &["location", "scale"]),
        Law::Gamma => ("gamma", &["shape", "scale"]),
        Law::Weibull => ("weibull", &["shape", "scale"]),
    };
    // A spread of nothing, and a mean of nothing, are a constant, which these families do not have.
    let is_constant = match (kind, numbers) {
        (Law::Exponential | Law::Poisson, [0.0]) => true,
        (Law::Normal, [_, deviation]) => *deviation == 0.0,
        (Law::Uniform, [least, most]) => least == most,
        _ => false,
    };
    let given: Vec<(&str, f64)> = if is_constant {
        vec![("value", numbers.first().copied().unwrap_or(0.0))]
    } else {
        keys.iter().copied().zip(numbers.iter().copied()).collect()
    };
    law(if is_constant { "constant" } else { name }, &given).map_err(|why| {
        let of = if unit == Unit::Bytes { "sizes" } else { "gaps" };
        Error::Invalid(format!("{of}: {why}"))
    })
}

fn application(application: Application) -> Result<Box<dyn Source>, Error> {
    let text = |value: &str| Value::Text(value.to_owned());
    let (name, given) = match application {
        Application::Telnet => ("telnet", Vec::new()),
        Application::Dns => ("dns", Vec::new()),
        Application::Quake3 => ("quake3", Vec::new()),
        Application::CounterStrikeActive => ("counter-strike", vec![("player", text("active"))]),
        Application::CounterStrikeIdle => ("counter-strike", vec![("player", text("inactive"))]),
        Application::Voip {
            codec,
            is_compressed,
            is_silent_in_pauses,
        } => {
            let codec = match codec {
                Codec::G711One => "g711.1",
                Codec::G711Two => "g711.2",
                Codec::G723 => "g723.1",
                Codec::G729Two => "g729.2",
                Codec::G729Three => "g729.3",
            };
            let header = if is_compressed { "crtp" } else { "rtp" };
            let given = vec![
                ("codec", text(codec)),
                ("header", text(header)),
                ("silence-suppression", Value::Bool(is_silent_in_pauses)),
            ];
            ("voip", given)
        }
    };
    let entry = apps::find(name).expect("these names are built in");
    let given: Vec<_> = given
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect();
    let params =
        Params::resolve(&entry.about, &given).expect("these are the application's choices");
    (entry.build)(&params).map_err(Error::Invalid)
}

/// What payloads are filled with: the next piece of `content` behind each head, or random bytes
/// that stay the same from packet to packet.
pub fn filler(command: &Command, content: Option<Vec<u8>>, seed: u64) -> Filler {
    let head = head_length(command.metadata, command.protocol);
    match content {
        Some(content) if !content.is_empty() => {
            Filler::pieces(content, head, bounds(command).1 as usize)
        }
        _ => {
            let mut rng = Rng::new(seed, "payload");
            let bytes = (0..DATAGRAM_MAX).map(|_| rng.below(256) as u8);
            Filler::same(bytes.collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::itg::arguments::{Invocation, invocation};

    fn made(line: &str) -> Result<Stream, String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let Ok(Invocation::Flow(command)) = invocation(&words) else {
            panic!("{line}");
        };
        stream(&command, 7).map_err(|why| why.to_string())
    }

    /// Packets a second and bytes a packet, of 50,000 packets.
    fn sample(line: &str) -> (f64, f64) {
        let stream = made(line).expect(line);
        let packets: Vec<_> = stream.source.plan(3).take(50_000).collect();
        let last = packets.last().expect("there are some").at.as_secs_f64();
        let bytes: f64 = packets.iter().map(|packet| f64::from(packet.bytes)).sum();
        (
            (packets.len() - 1) as f64 / last,
            bytes / packets.len() as f64,
        )
    }

    #[test]
    fn laws_have_the_means_that_the_documentation_says() {
        // Gaps of Weibull's with shape 2 have a mean of 0.8862 of the scale, of Pareto's with shape
        // 4 of 4/3.
        let cases = [
            ("-C 80000 -c 512", 80_000.0, 512.0),
            ("-E 2000 -e 5000", 2_000.0, 5_000.0),
            ("-O 250 -o 300", 250.0, 300.0),
            ("-U 500 1500 -u 100 300", 750.0, 200.0),
            ("-N 10 2 -n 600 10", 100.0, 600.0),
            ("-G 2 5 -g 2 256", 100.0, 512.0),
            (
                "-W 2 5 -w 2 300",
                1e3 / (5.0 * 0.886_227),
                300.0 * 0.886_227,
            ),
            ("-V 4 5 -v 4 300", 1e3 * 0.75 / 5.0, 400.0),
            ("-C 1000 -c 100 -B C 500 C 500", 500.0, 100.0),
            ("-C 1000 VoIP -x G.729.2 -h CRTP", 50.0, 22.0),
        ];
        for (line, rate, bytes) in cases {
            let line = line.replace("-C 1000 VoIP", "VoIP");
            let (found_rate, found_bytes) = sample(&line);
            // Four standard errors of the widest, the exponential, of 50,000: 1.8 %.
            assert!(
                (found_rate / rate - 1.0).abs() < 0.018,
                "{line}: {found_rate} packets/s"
            );
            assert!(
                (found_bytes / bytes - 1.0).abs() < 0.018,
                "{line}: {found_bytes} B"
            );
        }
    }

    #[test]
    fn gaps_of_a_uniform_law_lie_between_those_of_its_rates() {
        let stream = made("-U 500 1500").expect("a flow");
        let packets: Vec<_> = stream.source.plan(1).take(10_000).collect();
        for pair in packets.windows(2) {
            let gap = pair[1].at.saturating_since(pair[0].at).as_secs_f64();
            assert!(
                (1.0 / 1500.0 - 1e-9..=1.0 / 500.0 + 1e-9).contains(&gap),
                "{gap}"
            );
        }
    }

    #[test]
    fn a_cauchy_law_is_around_its_location() {
        let stream = made("-Y 10 0.01 -y 512 0.1").expect("a flow");
        let times: Vec<_> = stream.source.plan(1).take(1001).map(|one| one.at).collect();
        let mut gaps: Vec<_> = times
            .windows(2)
            .map(|pair| pair[1].saturating_since(pair[0]))
            .collect();
        gaps.sort();
        assert!((gaps[500].as_secs_f64() - 0.01).abs() < 1e-5);
    }

    #[test]
    fn every_application_and_degenerate_law_has_a_source() {
        for line in [
            "Telnet",
            "DNS",
            "Quake3",
            "CSa",
            "CSi",
            "VoIP -VAD",
            "-n 100 0",
            "-u 50 50",
            "-e 0",
            "-N 5 0",
        ] {
            let stream = made(line).expect(line);
            assert_eq!(stream.plan().take(5).count(), 5, "{line}");
        }
        assert!(
            made("-C 10 -Ft /nowhere")
                .expect_err("no file")
                .contains("/nowhere")
        );
    }

    #[test]
    fn packets_are_no_shorter_than_their_head() {
        for (line, least) in [
            ("-c 4", 16),
            ("-c 4 -p 1", 8),
            ("-c 4 -p 2", 4),
            // ITGRecv notes nothing of shorter ones.
            ("-c 4 -T TCP", 24),
        ] {
            let stream = made(line).expect(line);
            assert_eq!(
                stream.plan().next().map(|one| one.bytes),
                Some(least),
                "{line}"
            );
        }
    }
}
