//! Traffic beside the named flows: TCP flows that come and go, and streams of datagrams.

use super::flow::Flow;
use super::plugin::{Plugin, Random};
use trammel_core::entry::Value;
use trammel_core::time::Time;
use trammel_core::units::Rate;

/// TCP flows that come and go.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Its name in the results.
    pub name: String,
    /// How its flows come.
    pub kind: WorkloadKind,
    /// What each of its flows is like; `start`, `stop` and `bytes` are not used.
    pub flow: Flow,
    /// When it starts.
    pub start: Time,
    /// When no more flows come; without it, at the end of the run.
    pub stop: Option<Time>,
}

/// How the flows of a workload come.
#[derive(Clone, Debug, PartialEq)]
pub enum WorkloadKind {
    /// Independently of each other, each with its bytes.
    Poisson {
        /// How many.
        arrivals: Arrivals,
        /// Bytes of a flow.
        size: Random,
    },
    /// As requests and responses over connections that stay: the receiving host asks, the sending
    /// host answers.
    RequestResponse {
        /// Bytes of a request.
        request: Random,
        /// Bytes of a response.
        response: Random,
        /// Seconds before the next request.
        think: Random,
        /// Connections at once.
        connections: u32,
    },
    /// In bursts and pauses.
    OnOff {
        /// Seconds of a burst.
        on: Random,
        /// Seconds of a pause.
        off: Random,
        /// Sending rate in a burst; without it, as fast as TCP allows.
        rate: Option<Rate>,
        /// Connections at once.
        connections: u32,
    },
    /// As cross traffic on the bottleneck, which no one measures: Poisson arrivals of heavy-tailed
    /// flows.
    Background {
        /// How many.
        arrivals: Arrivals,
        /// Bytes of a flow.
        size: Random,
    },
}

/// How many flows come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrivals {
    /// Such that they offer this fraction of the bottleneck.
    Load(f64),
    /// Such that they offer this rate of payload.
    Rate(Rate),
    /// This many a second.
    PerSecond(f64),
}

impl Arrivals {
    /// Flows a second, for flows of `mean_bytes` over a bottleneck of `rate`.
    pub fn per_second(self, mean_bytes: f64, rate: Rate) -> f64 {
        match self {
            Arrivals::Load(load) => load * rate.as_bps() as f64 / 8.0 / mean_bytes,
            Arrivals::Rate(offered) => offered.as_bps() as f64 / 8.0 / mean_bytes,
            Arrivals::PerSecond(n) => n,
        }
    }
}

/// Bytes of a flow where none are given: heavy-tailed as web objects are, mean 100 kB.
pub fn web_sizes() -> Random {
    let shape = 1.3;
    // The mean of a Pareto law is scale × shape / (shape − 1).
    let scale = 100_000.0 * (shape - 1.0) / shape;
    let law = Plugin::new("pareto")
        .with("shape", Value::Float(shape))
        .with("scale", Value::Float(scale));
    Random::Drawn(law)
}

/// A stream of datagrams.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    /// Its name in the results.
    pub name: String,
    /// Bytes of payload of a datagram.
    pub size: Random,
    /// Seconds from one datagram to the next.
    pub gap: Random,
    /// The differentiated services codepoint of its datagrams.
    pub dscp: u8,
    /// Sending host, in a network.
    pub from: Option<String>,
    /// Receiving host, in a network.
    pub to: Option<String>,
    /// When it starts.
    pub start: Time,
    /// When it stops; without it, at the end of the run.
    pub stop: Option<Time>,
}

impl Stream {
    /// A stream from the start of the run to its end.
    pub fn new(name: &str, size: Random, gap: Random) -> Stream {
        Stream {
            name: name.to_owned(),
            size,
            gap,
            dscp: 0,
            from: None,
            to: None,
            start: Time::ZERO,
            stop: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_gives_arrivals() {
        let rate = Rate::from_bps(80_000_000);
        assert_eq!(Arrivals::Load(0.5).per_second(100_000.0, rate), 50.0);
        assert_eq!(Arrivals::Rate(rate).per_second(100_000.0, rate), 100.0);
        assert_eq!(Arrivals::PerSecond(3.0).per_second(100_000.0, rate), 3.0);
    }
}
