//! What the hooks of a congestion control in Python are told.

use pyo3::prelude::*;
use trammel_environment::interval::Summary;
use trammel_tcp::cc;

/// Newly acknowledged segments, for `pkts_acked`.
#[pyclass(frozen, get_all, module = "trammel")]
#[derive(Debug)]
pub(crate) struct AckSample {
    /// Segments newly acknowledged.
    pkts_acked: u32,
    /// Round trip of the newest of them, µs; none without a sample.
    rtt_us: Option<i32>,
    /// Segments in flight with the newest of them.
    in_flight: u32,
}

impl From<&cc::AckSample> for AckSample {
    fn from(of: &cc::AckSample) -> AckSample {
        AckSample {
            pkts_acked: of.pkts_acked,
            rtt_us: (of.rtt_us >= 0).then_some(of.rtt_us),
            in_flight: of.in_flight,
        }
    }
}

/// A sample of the delivery rate, for `cong_control`.
#[pyclass(frozen, get_all, module = "trammel")]
#[derive(Debug)]
pub(crate) struct RateSample {
    /// Segments delivered over the interval; none without a sample.
    delivered: Option<i64>,
    /// Segments that this ACK reported as marked.
    delivered_ce: i64,
    /// Length of the interval, µs; none without a sample.
    interval_us: Option<i64>,
    /// `delivered` when the sampled segment was sent.
    prior_delivered: u64,
    /// Round trip of the last segment that was acknowledged, µs.
    rtt_us: Option<i64>,
    /// Segments newly marked lost by this ACK.
    losses: u32,
    /// Segments newly acknowledged or SACKed by this ACK.
    acked_sacked: u32,
    /// Segments in flight before this ACK.
    prior_in_flight: u32,
    /// The application limited the sample, not the network.
    is_app_limited: bool,
    /// The sampled segment had been retransmitted.
    is_retrans: bool,
    /// The receiver may have held the ACK back.
    is_ack_delayed: bool,
    /// Segments in flight when the sampled one was sent; with the hook `lost` only.
    tx_in_flight: u32,
    /// Segments marked lost since then; with the hook `lost` only.
    lost: u32,
}

impl From<&cc::RateSample> for RateSample {
    fn from(of: &cc::RateSample) -> RateSample {
        RateSample {
            delivered: (of.delivered >= 0).then_some(of.delivered),
            delivered_ce: of.delivered_ce,
            interval_us: (of.interval_us >= 0).then_some(of.interval_us),
            prior_delivered: of.prior_delivered,
            rtt_us: (of.rtt_us >= 0).then_some(of.rtt_us),
            losses: of.losses,
            acked_sacked: of.acked_sacked,
            prior_in_flight: of.prior_in_flight,
            is_app_limited: of.is_app_limited,
            is_retrans: of.is_retrans,
            is_ack_delayed: of.is_ack_delayed,
            tx_in_flight: of.tx_in_flight,
            lost: of.lost,
        }
    }
}

/// A segment newly marked lost, for `lost`.
#[pyclass(frozen, get_all, module = "trammel")]
#[derive(Debug)]
pub(crate) struct LostSegment {
    /// Its first sequence number.
    seq: u32,
    /// The first after it.
    end: u32,
    /// Segments in flight when it was last sent, itself included.
    tx_in_flight: u32,
    /// Segments marked lost since then, itself included.
    lost: u32,
    /// It was sent while the application limited the flow.
    is_app_limited: bool,
}

impl From<&cc::LostSegment> for LostSegment {
    fn from(of: &cc::LostSegment) -> LostSegment {
        LostSegment {
            seq: of.seq,
            end: of.end,
            tx_in_flight: of.tx_in_flight,
            lost: of.lost,
            is_app_limited: of.is_app_limited,
        }
    }
}

/// What a sender learnt in an interval, for `on_interval`.
#[pyclass(frozen, get_all, module = "trammel")]
#[derive(Debug)]
pub(crate) struct IntervalSample {
    /// Length of the interval, µs; it ends with the first ACK after `every`.
    length_us: u64,
    /// ACKs in it.
    acks: u32,
    /// Segments acknowledged or SACKed.
    acked: u64,
    /// Segments marked lost.
    lost: u64,
    /// Segments reported as marked.
    marked: u64,
    /// Mean round trip, µs; none without a sample.
    rtt_us: Option<f64>,
    /// Smallest round trip, µs; none without a sample.
    least_rtt_us: Option<f64>,
    /// Slope of the round trip over time, s/s.
    rtt_gradient: f64,
    /// Segments acknowledged a second.
    delivery_rate: f64,
    /// Lost of those that were acknowledged or lost, from 0 to 1.
    loss_ratio: f64,
}

impl From<&Summary> for IntervalSample {
    fn from(of: &Summary) -> IntervalSample {
        IntervalSample {
            length_us: of.length_us,
            acks: of.acks,
            acked: of.acked,
            lost: of.lost,
            marked: of.marked,
            rtt_us: of.rtt_us,
            least_rtt_us: of.least_rtt_us,
            rtt_gradient: of.rtt_gradient,
            delivery_rate: of.delivery_rate(),
            loss_ratio: of.loss_ratio(),
        }
    }
}
