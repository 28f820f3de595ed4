//! The settings of the study, as scenarios that both engines run.
//!
//! A path is a bottleneck with a FIFO; the kernel's token bucket lets two packets go at once, and
//! so does the simulator's.

use anyhow::Context;
use std::fmt::Write;
use std::path::Path as FilePath;
use trammel_core::time::{Span, Time};
use trammel_scenario::File;
use trammel_scenario::model::Scenario;

/// The variants that count; `dctcp` is Reno where nothing marks, and is shown without counting.
pub const VARIANTS: [&str; 16] = [
    "reno",
    "vegas",
    "veno",
    "westwood",
    "bic",
    "cubic",
    "highspeed",
    "hybla",
    "scalable",
    "illinois",
    "yeah",
    "htcp",
    "lp",
    "bbr",
    "cdg",
    "nv",
];

/// Payload of a full segment, bytes: 1500 less headers with timestamps.
const MSS_BYTES: f64 = 1448.0;
/// What the shaper counts for it, bytes.
const FRAME_BYTES: u64 = 1514;

/// What the token bucket holds, bytes: two packets.
const BURST_BYTES: u64 = 2 * FRAME_BYTES;

/// One path of the study.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
    /// Rate of the bottleneck, Mbit/s.
    pub rate_mbps: u64,
    /// Round trip without queueing.
    pub rtt: Span,
    /// Size of the FIFO, packets of 1,514 bytes.
    pub buffer_pkts: u64,
    /// Probability of random loss behind the bottleneck.
    pub loss: f64,
}

/// One flow of a run: its variant and when it connects.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    /// The variant.
    pub variant: String,
    /// When it connects.
    pub at: Time,
}

/// `e1`: 1 Gbit/s, 100 ms, one loss in a million.
pub(crate) const LONG_FAT: Path = path(1000, 100, 8333, 1e-6);
/// `e2` and `e3`: 100 Mbit/s, 50 ms, no random loss.
pub const PLAIN: Path = path(100, 50, 417, 0.0);
/// `e6`: 50 Mbit/s, 40 ms, two losses in a thousand.
pub const LOSSY: Path = path(50, 40, 165, 0.002);
/// `e7`: the same without random loss.
pub const SHARED: Path = path(50, 40, 165, 0.0);

const fn path(rate_mbps: u64, rtt_ms: u64, buffer_pkts: u64, loss: f64) -> Path {
    Path {
        rate_mbps,
        rtt: Span::from_ms(rtt_ms),
        buffer_pkts,
        loss,
    }
}

impl Path {
    /// The most payload that the bottleneck carries, Mbit/s.
    pub(crate) fn ceiling_mbps(&self) -> f64 {
        self.rate_mbps as f64 * MSS_BYTES / FRAME_BYTES as f64
    }

    /// How long a full FIFO takes to drain, ms.
    pub(crate) fn full_queue_ms(&self) -> f64 {
        (self.buffer_pkts * FRAME_BYTES * 8) as f64 / (self.rate_mbps as f64 * 1e3)
    }

    /// Packets that the path holds without a queue.
    pub fn bdp_pkts(&self) -> f64 {
        self.rate_mbps as f64 * 1e6 * self.rtt.as_secs_f64() / (FRAME_BYTES * 8) as f64
    }
}

/// One run: who goes over a path, from when, how long and how closely watched.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The flows.
    pub flows: Vec<Start>,
    /// Seconds.
    pub seconds: u32,
    /// The distance of two stamps.
    pub interval: Span,
    /// The seed of every random stream.
    pub seed: u64,
}

impl Run {
    /// The run over `path`, for both engines.
    pub fn scenario(&self, path: &Path) -> anyhow::Result<Scenario> {
        let mut text = format!(
            "duration = \"{} s\"\nseed = {}\ntrace = \"{} ms\"\n\n[path]\nrate = \"{} Mbit/s\"\n\
             rtt = \"{} ms\"\n\
             burst = \"{BURST_BYTES} B\"\n\
             queue = {{ discipline = \"droptail\", limit = \"{} pkts\" }}\n",
            self.seconds,
            self.seed,
            self.interval.as_ms(),
            path.rate_mbps,
            path.rtt.as_ms(),
            path.buffer_pkts,
        );
        if path.loss > 0.0 {
            let _ = writeln!(
                text,
                "loss = {{ model = \"netem\", probability = {:e} }}",
                path.loss
            );
        }
        for (at, start) in self.flows.iter().enumerate() {
            let _ = write!(
                text,
                "\n[[flow]]\nname = \"{}\"\nvariant = \"{}\"\nstart = \"{} us\"\n",
                name(at),
                start.variant,
                start.at.as_us()
            );
        }
        let mut file = File::parse("linux-6.12", &text, FilePath::new("."))?;
        let point = file.points.pop().context("a scenario is a point")?;
        Ok(point.scenario)
    }
}

/// The name of a run's flow.
pub fn name(flow: usize) -> String {
    format!("flow{flow}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ceiling_is_the_payload_share_of_a_frame() {
        assert!((LONG_FAT.ceiling_mbps() - 956.4).abs() < 0.05);
        assert!((PLAIN.full_queue_ms() - 50.5).abs() < 0.05);
        assert!((LONG_FAT.bdp_pkts() - 8256.0).abs() < 1.0);
    }

    fn run(variant: &str) -> Run {
        Run {
            flows: vec![Start {
                variant: variant.to_owned(),
                at: Time::from_us(20_013_700),
            }],
            seconds: 60,
            interval: Span::from_ms(100),
            seed: 7,
        }
    }

    #[test]
    fn a_run_is_a_scenario_with_its_path_and_starts() {
        let scenario = run("reno").scenario(&LOSSY).unwrap();
        assert_eq!(scenario.check(), Ok(()));
        assert_eq!(scenario.flows[0].start, Some(Time::from_us(20_013_700)));
        assert_eq!(scenario.seed, 7);
        assert_ne!(
            scenario,
            run("reno").scenario(&SHARED).unwrap(),
            "they differ in the loss"
        );
    }

    #[test]
    fn an_unknown_variant_is_named() {
        let error = run("nonesuch").scenario(&PLAIN).unwrap_err();
        assert!(format!("{error:#}").contains("nonesuch"), "{error:#}");
    }
}
