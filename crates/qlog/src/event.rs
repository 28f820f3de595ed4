//! Events of a connection, as far as congestion control goes.

/// What a file says of itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Header {
    /// The version as written: `0.3`; of later drafts, the schema.
    pub version: String,
    /// The title.
    pub title: String,
    /// Whose log it is: `client`, `server`, `network`, or nothing.
    pub vantage_point: String,
    /// What wrote it, the vantage point's name.
    pub by: String,
    /// Milliseconds that one unit of `time` is.
    pub unit_ms: f64,
    /// Milliseconds that one unit of a round trip is.
    pub rtt_unit_ms: f64,
    /// Whether `time` counts from the event before.
    pub is_delta: bool,
}

impl Header {
    /// Of a sender's log called `title`.
    pub fn client(title: &str) -> Header {
        Header {
            version: "0.3".to_owned(),
            title: title.to_owned(),
            vantage_point: "client".to_owned(),
            by: "trammel".to_owned(),
            unit_ms: 1.0,
            rtt_unit_ms: 1.0,
            is_delta: false,
        }
    }
}

/// An event.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// When, milliseconds. As read, in the file's own unit and from its own origin until
    /// [`read`](crate::read) returns the header.
    pub time_ms: f64,
    /// What.
    pub body: Body,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// Values of loss detection and congestion control (`metrics_updated`).
    Metrics(Metrics),
    /// The controller went into another state (`congestion_state_updated`).
    State {
        /// The state before.
        old: Option<String>,
        /// The new one.
        new: String,
    },
    /// A packet was sent (`packet_sent`).
    Sent(Packet),
    /// A packet was received (`packet_received`).
    Received(Packet),
    /// A packet is held for lost (`packet_lost`).
    Lost(Packet),
    /// Any other event, by its name.
    Other(String),
}

/// The name of a state without what stacks write differently: case, and the prefixes of BBR.
pub(crate) fn same_state(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let short = lower.strip_prefix("bbr_").unwrap_or(&lower);
    let short = short.strip_prefix("probebw_").unwrap_or(short);
    let short = short.strip_prefix("probe_bw_").unwrap_or(short);
    match short {
        "up" | "down" => format!("probe_{short}"),
        _ => short.to_owned(),
    }
}

/// Values of `metrics_updated`; those that are not told are none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metrics {
    /// The least round trip, ms.
    pub min_rtt: Option<f64>,
    /// The smoothed round trip, ms.
    pub smoothed_rtt: Option<f64>,
    /// The last round trip, ms.
    pub latest_rtt: Option<f64>,
    /// The variance of the round trip, ms.
    pub rtt_variance: Option<f64>,
    /// The congestion window, bytes.
    pub congestion_window: Option<f64>,
    /// Bytes in flight.
    pub bytes_in_flight: Option<f64>,
    /// The slow-start threshold, bytes.
    pub ssthresh: Option<f64>,
    /// Packets in flight.
    pub packets_in_flight: Option<f64>,
    /// The pacing rate, bit/s.
    pub pacing_rate: Option<f64>,
}

/// The names in a file, and where they go; the first of an equal field is the one that is written.
pub(crate) type Field = (&'static str, fn(&mut Metrics) -> &mut Option<f64>);

pub(crate) const FIELDS: [Field; 10] = [
    ("min_rtt", |all| &mut all.min_rtt),
    ("smoothed_rtt", |all| &mut all.smoothed_rtt),
    ("latest_rtt", |all| &mut all.latest_rtt),
    ("rtt_variance", |all| &mut all.rtt_variance),
    ("congestion_window", |all| &mut all.congestion_window),
    ("cwnd", |all| &mut all.congestion_window),
    ("bytes_in_flight", |all| &mut all.bytes_in_flight),
    ("ssthresh", |all| &mut all.ssthresh),
    ("packets_in_flight", |all| &mut all.packets_in_flight),
    ("pacing_rate", |all| &mut all.pacing_rate),
];

/// Whether a field is a time, which old drafts give in the file's unit.
pub(crate) fn is_rtt(name: &str) -> bool {
    name.contains("rtt")
}

/// A packet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Packet {
    /// Its number.
    pub number: Option<u64>,
    /// Its length, bytes.
    pub length: Option<u64>,
    /// Ranges of numbers that it acknowledges, both ends included.
    pub acked: Vec<(u64, u64)>,
}
