//! What a link is made of.

use trammel_core::schedule::{DeliverySchedule, RateSchedule};
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
    /// A rate that changes with time; `rate` is then its first.
    pub schedule: Option<RateSchedule>,
    /// Delivery opportunities of a packet each, in place of a rate.
    pub deliveries: Option<DeliverySchedule>,
    /// Seed of the link's own random streams.
    pub seed: u64,
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
            schedule: None,
            deliveries: None,
            seed: 0,
        }
    }
}
