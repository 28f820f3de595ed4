//! What a link is made of.

pub use super::grants::GrantSpec;
use trammel_core::schedule::{DeliverySchedule, RateSchedule, Steps};
use trammel_core::time::Span;
use trammel_core::units::Rate;
use trammel_queues::aqm::Discipline;
use trammel_queues::loss::LossModel;
use trammel_stats::arrivals::Spans;

/// What a link is made of.
#[derive(Debug)]
pub struct LinkSpec {
    /// Its name in tables and traces.
    pub name: String,
    /// Its rate; none is infinitely fast.
    pub rate: Option<Rate>,
    /// Propagation delay.
    pub delay: Span,
    /// Token-bucket depth in bytes; none serialises.
    pub burst_bytes: Option<u64>,
    /// Upper bound of the extra delay with which packets leave its queue: what processing and
    /// timers add, drawn evenly for each instant. No more than a full packet's time counts.
    pub departure_jitter: Span,
    /// The queue before it.
    pub queue: Queue,
    /// Losses behind the queue.
    pub loss: Option<Box<dyn LossModel>>,
    /// Extra delay of each packet.
    pub jitter: Option<Spans>,
    /// Probability and extra delay of packets that others may overtake.
    pub reorder: Option<(f64, Span)>,
    /// Whether packets overtake each other where their delays say so; else each keeps its place.
    pub overtakes: bool,
    /// A rate that changes with time; `rate` is then its first. A rate of zero is an outage.
    pub schedule: Option<RateSchedule>,
    /// What changes behind the queue; its first `delay` holds in place of `delay`.
    pub conditions: Option<Steps<Conditions>>,
    /// When the link is cut: what waits, what is being sent and what comes is dropped.
    pub cut: Option<Steps<bool>>,
    /// Delivery opportunities of a packet each, in place of a rate.
    pub deliveries: Option<DeliverySchedule>,
    /// Packets leave its far end in bursts.
    pub grants: Option<GrantSpec>,
    /// Packets that are on their way behind the queue at most; those beyond are lost.
    pub delay_limit: Option<u32>,
    /// Seed of the link's own random streams.
    pub seed: u64,
}

/// What packets meet behind the queue of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Conditions {
    /// Propagation delay.
    pub delay: Span,
    /// The probability of loss, in place of the loss model's own.
    pub loss: Option<f64>,
    /// The most of an extra delay that is drawn evenly, in place of the link's own jitter.
    pub jitter: Option<Span>,
}

/// The queue before a link.
#[derive(Debug)]
pub enum Queue {
    /// First in, first out; arrivals beyond either limit are dropped. The packet being sent counts.
    DropTail {
        /// Limit in packets.
        packets: u32,
        /// Limit in bytes.
        bytes: u64,
    },
    /// A queue discipline with a law of its own.
    Discipline(Box<dyn Discipline>),
}

impl Queue {
    /// A queue that never drops.
    pub(crate) const UNLIMITED: Queue = Queue::DropTail {
        packets: u32::MAX,
        bytes: u64::MAX,
    };
}

impl LinkSpec {
    /// An infinitely fast link without a queue.
    pub fn wire(name: &str, delay: Span) -> LinkSpec {
        LinkSpec {
            name: name.to_owned(),
            rate: None,
            delay,
            burst_bytes: None,
            departure_jitter: Span::ZERO,
            queue: Queue::UNLIMITED,
            loss: None,
            jitter: None,
            reorder: None,
            overtakes: false,
            schedule: None,
            conditions: None,
            cut: None,
            deliveries: None,
            grants: None,
            delay_limit: None,
            seed: 0,
        }
    }
}
