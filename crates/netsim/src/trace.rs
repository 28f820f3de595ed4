//! Traces of a flow: samples at an interval or for every ACK, in bounded memory.
//!
//! A trace that has grown to its bound drops every second sample and from then on keeps only every
//! second of those to come; a long run thus has a coarser trace, never a missing end.

use trammel_core::time::{Span, Time};
use trammel_tcp::cc::PathModel;
use trammel_tcp::connection::Connection;

/// Most samples that a trace keeps.
pub const MAX_SAMPLES: usize = 1 << 18;

/// When samples are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pace {
    /// Never.
    #[default]
    Off,
    /// For every ACK that the sender receives.
    EveryAck,
    /// At an interval.
    Interval(Span),
}

/// The sender at one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// When.
    pub time: Time,
    /// Congestion window, segments.
    pub cwnd: u32,
    /// Slow-start threshold, segments.
    pub ssthresh: u32,
    /// Smoothed round trip, µs.
    pub srtt_us: u32,
    /// Smallest round trip, µs; 0 before one.
    pub min_rtt_us: u32,
    /// Segments in flight.
    pub in_flight: u32,
    /// Congestion state, in the order of [`trammel_tcp::cc::CaState`].
    pub state: u8,
    /// Segments retransmitted so far.
    pub retransmissions: u64,
    /// Payload bytes acknowledged so far.
    pub bytes_acked: u64,
    /// Pacing rate, bytes/s.
    pub pacing_bytes_per_s: u64,
    /// Delivery rate, bytes/s.
    pub delivery_bytes_per_s: u64,
    /// The variant's model of the path.
    pub model: PathModel,
}

impl Sample {
    /// `sender` at `now`.
    pub fn of(sender: &Connection, now: Time) -> Sample {
        let tp = sender.tp();
        Sample {
            time: now,
            cwnd: tp.snd_cwnd,
            ssthresh: tp.snd_ssthresh,
            srtt_us: tp.srtt_us >> 3,
            min_rtt_us: if tp.min_rtt_us == u32::MAX {
                0
            } else {
                tp.min_rtt_us
            },
            in_flight: tp.packets_in_flight(),
            state: tp.ca_state as u8,
            retransmissions: sender.counters().retransmissions,
            bytes_acked: tp.bytes_acked,
            pacing_bytes_per_s: sender.pacing_rate(),
            delivery_bytes_per_s: sender.delivery_rate(),
            model: sender.congestion_control().path_model(tp),
        }
    }
}

/// How coarse samples have become: of so many seen, each so many-th is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thinning {
    stride: u64,
    seen: u64,
}

impl Default for Thinning {
    fn default() -> Thinning {
        Thinning { stride: 1, seen: 0 }
    }
}

impl Thinning {
    /// Takes a sample in, or passes it over where the trace has become coarser.
    pub(crate) fn push<T>(&mut self, samples: &mut Vec<T>, sample: T) {
        self.seen += 1;
        if !self.seen.is_multiple_of(self.stride) {
            return;
        }
        if samples.len() == MAX_SAMPLES {
            let mut index = 0;
            samples.retain(|_| {
                index += 1;
                index % 2 == 0
            });
            self.stride *= 2;
        }
        samples.push(sample);
    }
}

/// The samples of one flow.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// When samples are taken.
    pub pace: Pace,
    /// The samples, in the order of time.
    pub samples: Vec<Sample>,
    thinning: Thinning,
}

impl Trace {
    /// An empty trace.
    pub fn new(pace: Pace) -> Trace {
        Trace {
            pace,
            samples: Vec::new(),
            thinning: Thinning::default(),
        }
    }

    /// Takes a sample in, or passes it over where the trace has become coarser.
    pub fn push(&mut self, sample: Sample) {
        self.thinning.push(&mut self.samples, sample);
    }
}
