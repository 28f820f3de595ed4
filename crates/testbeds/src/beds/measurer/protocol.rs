//! The messages between the bench and a measurer: one JSON object a line, `docs/bench.md` has them
//! for those who write one.

use serde::{Deserialize, Serialize};
use trammel_bench::testbed::{Directions, Faults, Modifier, Observation, Protocol, Traffic};
use trammel_bench::trial::{Load, TrialOutcome};
use trammel_core::time::{Span, Time};
use trammel_stats::histogram::Histogram;

/// The version of these messages.
const VERSION: u32 = 1;
/// By what share more than was asked for may be sent, besides a frame of each sender, which sends
/// whole ones.
const MOST_MORE: f64 = 0.01;

/// The first line of a measurer: who it is.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Hello {
    /// The version that it speaks.
    measurer: u32,
    /// What is tested.
    pub(super) device: String,
    /// What each of its lines carries, bits a second.
    pub(super) line_rate_bps: Option<f64>,
    /// Its senders in each direction.
    #[serde(default = "one")]
    sources: u32,
}

fn one() -> u32 {
    1
}

/// What is wrong with a line.
fn no_answer(line: &str, error: &serde_json::Error) -> String {
    let start: String = line.chars().take(80).collect();
    format!("sent `{start}`, which is not an answer: {error}")
}

impl Hello {
    /// Reads it; the error is what is wrong.
    pub(super) fn read(line: &str) -> Result<Hello, String> {
        let hello: Hello = serde_json::from_str(line).map_err(|error| no_answer(line, &error))?;
        if hello.measurer != VERSION {
            return Err(format!(
                "speaks version {} of the messages; this is version {VERSION}",
                hello.measurer
            ));
        }
        if hello.device.trim().is_empty() {
            return Err("`device` is empty: name the device".to_owned());
        }
        if hello.sources == 0 {
            return Err("`sources` is 0: give at least 1".to_owned());
        }
        match hello.line_rate_bps {
            Some(rate) if !(rate > 0.0 && rate.is_finite()) => Err(format!(
                "`line_rate_bps` is {rate}; give bits a second above 0"
            )),
            _ => Ok(hello),
        }
    }

    /// Its senders.
    pub(super) fn sources(&self, traffic: &Traffic) -> u32 {
        match traffic.directions {
            Directions::OneWay => self.sources,
            Directions::Both => self.sources.saturating_mul(2),
        }
    }
}

/// A trial that is asked for.
#[derive(Debug, Serialize)]
pub(super) struct Request<'a> {
    trial: u64,
    /// Frames a second, of all senders together.
    load_fps: f64,
    duration_s: f64,
    /// Bytes with their FCS, in the order in which frames are sent, again and again.
    frame_bytes: &'a [u32],
    protocol: &'static str,
    both_ways: bool,
    streams: u32,
    networks: u32,
    burst: u32,
    modifier: Option<&'static str>,
    seed: u64,
}

impl Request<'_> {
    pub(super) fn of(trial: u64, traffic: &Traffic, load: Load) -> Request<'_> {
        Request {
            trial,
            load_fps: load.frames_per_second(),
            duration_s: load.duration().as_secs_f64(),
            frame_bytes: traffic.sizes.bytes(),
            protocol: match traffic.protocol {
                Protocol::Ip4 => "ipv4",
                Protocol::Ip6 => "ipv6",
            },
            both_ways: traffic.directions == Directions::Both,
            streams: traffic.streams,
            networks: traffic.networks,
            burst: traffic.burst,
            modifier: traffic.modifier.map(Modifier::name),
            seed: traffic.seed,
        }
    }

    /// As a line, with its end.
    pub(super) fn line(&self) -> String {
        let text = serde_json::to_string(self).expect("numbers and words are JSON");
        text + "\n"
    }
}

/// What a measurer answers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    trial: u64,
    sent: Option<u64>,
    received: Option<u64>,
    effective_duration_s: Option<f64>,
    /// Microseconds, and how many frames took so long.
    latency_us: Option<Vec<(f64, u64)>>,
    #[serde(default)]
    duplicated: u64,
    #[serde(default)]
    reordered: u64,
    #[serde(default)]
    corrupted: u64,
    #[serde(default)]
    stray: u64,
    /// Why the trial failed, and with it the run.
    error: Option<String>,
    /// What it has no way to do, so that the test is left out.
    unable: Option<String>,
}

/// An answer that makes sense.
#[derive(Debug)]
pub(super) enum Reply {
    /// The trial was made.
    Done(Box<Observation>),
    /// There is no way to make it.
    Unable(String),
    /// It failed.
    Failed(String),
}

impl Reply {
    /// Reads the answer to `trial`, in which `sources` sent `load`; the error is what is wrong with
    /// it.
    pub(super) fn read(line: &str, trial: u64, load: Load, sources: u32) -> Result<Reply, String> {
        let answer: Answer = serde_json::from_str(line).map_err(|error| no_answer(line, &error))?;
        if answer.trial != trial {
            return Err(format!(
                "answered trial {}; trial {trial} was requested",
                answer.trial
            ));
        }
        if let Some(why) = answer.error {
            return Ok(Reply::Failed(why));
        }
        if let Some(why) = answer.unable {
            return Ok(Reply::Unable(why));
        }
        let (Some(sent), Some(received), Some(seconds)) =
            (answer.sent, answer.received, answer.effective_duration_s)
        else {
            return Err(
                "answered neither counts nor an error: `sent`, `received` and \
                 `effective_duration_s` belong together"
                    .to_owned(),
            );
        };
        if received > sent {
            return Err(format!(
                "{received} of {sent} frames were received: duplicates and stray frames do not \
                 count as received"
            ));
        }
        let asked = load.frames();
        if sent as f64 > asked * (1.0 + MOST_MORE) + f64::from(sources) {
            return Err(format!(
                "{sent} frames were sent, and {asked:.0} were requested: the result is not for \
                 this load"
            ));
        }
        // A day is the longest trial.
        if !(0.0..=86_400.0).contains(&seconds) {
            return Err(format!(
                "`effective_duration_s` is {seconds}; give seconds from 0 to 86400"
            ));
        }
        let latency = answer.latency_us.map(|all| latency(&all, received));
        let outcome = TrialOutcome {
            offered: sent,
            forwarded: received,
            effective: Span::from_secs_f64(seconds),
            bunched: 0,
            latency: latency.transpose()?,
        };
        Ok(Reply::Done(Box::new(Observation {
            faults: Faults {
                duplicated: answer.duplicated,
                reordered: answer.reordered,
                corrupted: answer.corrupted,
                stray: answer.stray,
            },
            ..Observation::of(outcome)
        })))
    }
}

/// The distribution of so many latencies at most.
fn latency(all: &[(f64, u64)], received: u64) -> Result<Histogram, String> {
    let mut histogram = Histogram::of_times();
    let mut count = 0_u64;
    for &(us, frames) in all {
        if !(0.0..=1e9).contains(&us) {
            return Err(format!(
                "`latency_us` has {us}; give microseconds from 0 to 1e9"
            ));
        }
        histogram.record_n(Time::from_secs_f64(us / 1e6).as_ps(), frames);
        count = count.saturating_add(frames);
    }
    // Of a sample there may be fewer.
    if count > received {
        return Err(format!(
            "`latency_us` has latencies of {count} frames, and {received} came"
        ));
    }
    Ok(histogram)
}
