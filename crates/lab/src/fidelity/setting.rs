//! The settings that the kernel was run in, and the same paths built for our simulator.
//!
//! The kernel's path: a token bucket of 3,100 bytes paces the bottleneck in front of a byte FIFO; netem
//! behind it delays (and, in `e1` and `e6`, loses); the ACKs' way only delays. The sink reads on a timer
//! of 5 ms with the kernel's 50 µs of slack, and windows never bind.

use trammel_core::arrivals::Spans;
use trammel_core::dist;
use trammel_core::entry::{Params, Value};
use trammel_core::loss;
use trammel_core::rng::Rng;
use trammel_core::time::Time;
use trammel_core::units::Rate;
use trammel_netsim::flow::{FlowSpec, Reader};
use trammel_netsim::link::{LinkSpec, Queue};
use trammel_netsim::network::Network;
use trammel_netsim::trace::Pace;
use trammel_tcp::cc;
use trammel_tcp::stack::Stack;

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

/// The sink: it sleeps for 5 ms with the kernel's slack of 50 µs. The clock of virtual time moves when it is
/// read, which the kernel does with each buffer that it copies: measured, 0.8 µs to a read's ACK and 9.2 µs
/// where 417 segments wait.
const READER: Reader = Reader {
    interval: Time::from_ms(5),
    slack: Time::from_us(50),
    wake: Time::from_ns(800),
    copy: Some(Rate::from_bps(575_000_000_000)),
};

/// One path of the reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
    /// Rate of the bottleneck, Mbit/s.
    pub rate_mbps: u64,
    /// Round trip without queueing.
    pub rtt: Time,
    /// Size of the FIFO, packets of 1,514 bytes.
    pub buffer_pkts: u64,
    /// Probability of random loss behind the bottleneck.
    pub loss: f64,
    /// Whether seeds differ in how fast the reader wakes, too, as builds of the kernel do: where the
    /// kernel has one run, its microseconds are one draw of many.
    pub is_pace_drawn: bool,
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
pub const LONG_FAT: Path = Path {
    is_pace_drawn: true,
    ..path(1000, 100, 8333, 1e-6)
};
/// `e2` and `e3`: 100 Mbit/s, 50 ms, no random loss.
pub const PLAIN: Path = path(100, 50, 417, 0.0);
/// `e6`: 50 Mbit/s, 40 ms, two losses in a thousand.
pub const LOSSY: Path = path(50, 40, 165, 0.002);
/// `e7`: the same without random loss.
pub const SHARED: Path = path(50, 40, 165, 0.0);

const fn path(rate_mbps: u64, rtt_ms: u64, buffer_pkts: u64, loss: f64) -> Path {
    Path {
        rate_mbps,
        rtt: Time::from_ms(rtt_ms),
        buffer_pkts,
        loss,
        is_pace_drawn: false,
    }
}

impl Path {
    /// The most payload that the bottleneck carries, Mbit/s.
    pub fn ceiling_mbps(&self) -> f64 {
        self.rate_mbps as f64 * MSS_BYTES / FRAME_BYTES as f64
    }

    /// How long a full FIFO takes to drain, ms.
    pub fn full_queue_ms(&self) -> f64 {
        (self.buffer_pkts * FRAME_BYTES * 8) as f64 / (self.rate_mbps as f64 * 1e3)
    }

    /// Packets that the path holds without a queue.
    pub fn bdp_pkts(&self) -> f64 {
        self.rate_mbps as f64 * 1e6 * self.rtt.as_secs_f64() / (FRAME_BYTES * 8) as f64
    }

    /// The network with `flows`, every random stream drawn from `seed`.
    pub fn network(&self, flows: &[Start], seed: u64) -> anyhow::Result<Network> {
        let mut network = Network::new();
        let one_way = Time::from_ps(self.rtt.as_ps() / 2);
        let mut bottleneck = LinkSpec::wire("bottleneck", one_way);
        bottleneck.rate = Some(Rate::from_bps(self.rate_mbps * 1_000_000));
        bottleneck.burst_bytes = Some(3100);
        bottleneck.queue = Queue::DropTail {
            packets: u32::MAX,
            bytes: self.buffer_pkts * FRAME_BYTES,
        };
        bottleneck.seed = seed;
        bottleneck.jitter = Some(clock_steps());
        if self.loss > 0.0 {
            let entry = loss::find("bernoulli").expect("a built-in model");
            let given = [("probability".to_owned(), Value::Float(self.loss))];
            let params = Params::resolve(&entry.about, &given).expect("a probability");
            bottleneck.loss = Some((entry.build)(&params).expect("one valid parameter"));
        }
        let forward = network.add_link(bottleneck);
        let mut back = LinkSpec::wire("return", one_way);
        back.seed = seed;
        back.jitter = Some(clock_steps());
        let backward = network.add_link(back);
        let mut reader = READER;
        if self.is_pace_drawn {
            let ns = reader.wake.as_ns();
            let drawn = Rng::new(seed, "machine").below(ns);
            reader.wake = Time::from_ns(ns / 2 + drawn);
        }
        for (index, start) in flows.iter().enumerate() {
            let entry = cc::find(&start.variant)
                .ok_or_else(|| anyhow::anyhow!("no variant is called `{}`", start.variant))?;
            let params = Params::defaults(&entry.about);
            let mut stack = Stack::linux_6();
            stack.slow_start_after_idle = false;
            network.add_flow(FlowSpec {
                name: format!("flow{index}"),
                client: stack.clone(),
                server: stack,
                cc: Box::new(move || (entry.build)(&params)),
                start: start.at,
                stop: Time::MAX,
                bytes: None,
                forward: vec![forward],
                backward: vec![backward],
                reader: Some(reader),
                overhead_bytes: 14,
                pace: Pace::Off,
                seed,
            });
        }
        Ok(network)
    }
}

/// How much later than due a packet leaves netem: the clock of virtual time has steps of 0.26 µs, and a
/// packet's way reads it a few times. An idle path's round trip is 0 to 4 µs above its delays, 0.9 µs in the
/// mean. It matters to variants that ask whether the smallest round trip has risen (`cdg`).
fn clock_steps() -> Spans {
    let entry = dist::find("uniform").expect("a built-in law");
    let given = [
        ("min".to_owned(), Value::Float(0.0)),
        ("max".to_owned(), Value::Float(1e-6)),
    ];
    let params = Params::resolve(&entry.about, &given).expect("two bounds");
    Spans::seconds((entry.build)(&params).expect("in order"))
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

    #[test]
    fn the_steps_of_the_clock_tell_seeds_apart_by_microseconds() {
        let start = Start {
            variant: "reno".to_owned(),
            at: Time::ZERO,
        };
        let srtts_us: Vec<u32> = (1..=8)
            .map(|seed| {
                let mut network = PLAIN.network(std::slice::from_ref(&start), seed).unwrap();
                network.run_until(Time::from_ms(101));
                network.flow(0).srtt_us
            })
            .collect();
        // The tenth segment of the first window has queued for 0.97 ms; the steps add two µs at most.
        let most = srtts_us.iter().max().unwrap();
        let least = srtts_us.iter().min().unwrap();
        assert!((50_405..50_412).contains(least), "{srtts_us:?}");
        assert!(most > least && most - least <= 2, "{srtts_us:?}");
    }

    #[test]
    fn an_unknown_variant_is_named() {
        let start = Start {
            variant: "nonesuch".to_owned(),
            at: Time::ZERO,
        };
        let error = PLAIN.network(&[start], 1).unwrap_err();
        assert_eq!(error.to_string(), "no variant is called `nonesuch`");
    }
}
