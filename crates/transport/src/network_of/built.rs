//! A network that is ready to run, and what its flows, workloads and links are called.

use trammel_core::schedule::{DeliverySchedule, RateSchedule};
use trammel_core::time::{Span, Time};
use trammel_core::units::Rate;
use trammel_netsim::ids::LinkId;
use trammel_netsim::network::Network;
use trammel_workbench::card::CardBetween;

/// A network that is ready to run, and what its parts are called.
#[derive(Debug)]
pub struct Built {
    /// The network.
    pub network: Network,
    /// Its flows, in the order of the scenario; a flow's place is its index in the network.
    pub flows: Vec<BuiltFlow>,
    /// Its links that have a rate.
    pub links: Vec<BuiltLink>,
    /// Its devices, in the order of the scenario.
    pub devices: Vec<BuiltDevice>,
    /// Its workloads, in the order of the scenario; a workload's place is its index in the network.
    pub workloads: Vec<BuiltWorkload>,
    /// Its streams, in the order of the scenario.
    pub streams: Vec<String>,
    /// Its applications, in the order of the scenario; an application's place is its index in the
    /// network.
    pub apps: Vec<BuiltApp>,
}

/// A flow in the network.
#[derive(Clone, Debug)]
pub struct BuiltFlow {
    /// Its name.
    pub name: String,
    /// Its variant's proper name.
    pub variant: String,
    /// When it starts.
    pub start: Time,
    /// When it stops to send, at the latest.
    pub stop: Time,
    /// Its unloaded round trip.
    pub rtt: Span,
    /// Payload bytes of a full segment.
    pub payload_bytes: u32,
    /// Bytes of headers of a segment, up to IP.
    pub header_bytes: u32,
    /// Bytes that links count beyond the IP packet.
    pub overhead_bytes: u32,
}

/// A device in the network.
#[derive(Clone, Debug)]
pub struct BuiltDevice {
    /// The name of its host.
    pub name: String,
    /// The names of the links at its ports.
    pub links: Vec<String>,
    /// The card.
    pub card: CardBetween,
}

/// A workload in the network.
#[derive(Clone, Debug)]
pub struct BuiltWorkload {
    /// Its name.
    pub name: String,
    /// Its variant's proper name.
    pub variant: String,
    /// Whether its completions are results: not for cross traffic, nor for bursts, which complete
    /// nothing.
    pub is_measured: bool,
}

/// An application in the network.
#[derive(Clone, Debug)]
pub struct BuiltApp {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: String,
    /// The variant's proper name, where TCP carries it.
    pub variant: Option<String>,
}

/// A link in the network.
#[derive(Clone, Debug)]
pub struct BuiltLink {
    /// Its index in the network.
    pub index: LinkId,
    /// Its name; the way back has `:back` added.
    pub name: String,
    /// Its rate, or the mean of its delivery opportunities.
    pub rate: Rate,
    /// Changes of its rate.
    pub schedule: Option<RateSchedule>,
    /// Whether it is the data direction of a bottleneck, to be shown first.
    pub is_forward: bool,
    /// Bytes that its token bucket holds; nothing where packets take their time on a wire.
    pub burst_bytes: Option<u64>,
    /// Delivery opportunities of a packet each, in place of a rate.
    pub deliveries: Option<DeliverySchedule>,
    /// Whether it is a direction of a medium that contends for each frame.
    pub is_medium: bool,
}

impl BuiltLink {
    /// Bits that the link can carry between two instants.
    pub fn capacity_bits(&self, from: Time, to: Time) -> f64 {
        let Some(schedule) = &self.schedule else {
            return self.rate.as_bps() as f64 * to.saturating_since(from).as_secs_f64();
        };
        let (mut at, mut bits) = (from, 0.0);
        while at < to {
            let next = schedule
                .next_change(at)
                .map_or(to, |(time, _)| time.min(to));
            bits += schedule.at(at).as_bps() as f64 * (next - at).as_secs_f64();
            at = next;
        }
        bits
    }
}
