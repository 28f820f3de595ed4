//! What a simulation comes to, and whether every frame is accounted for.

use super::port::{Counts, Port};
use crate::engine::Ctx;
use crate::engine::simulated_core::{CoreTimes, SimulatedCore};
use crate::reason::Reason;
use trammel_core::time::{Span, Time};

/// Where the frames are.
///
/// Frames that the router itself makes (copies, answers, sources) are not offered; with such
/// elements what is accounted for is more than what was offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Balance {
    /// Frames that came to the ports.
    pub offered: u64,
    /// Lost at a full receive ring.
    pub lost: u64,
    /// In receive rings.
    pub in_receive_rings: u64,
    /// Ended in elements, by reason; those that occurred.
    pub dropped: Vec<(Reason, u64)>,
    /// In the router.
    pub inside: u64,
    /// In transmit rings and on the links.
    pub in_transmit_rings: u64,
    /// Out.
    pub sent: u64,
}

impl Balance {
    /// Frames that ended in elements.
    pub fn dropped_frames(&self) -> u64 {
        self.dropped.iter().map(|(_, count)| count).sum()
    }

    /// Frames that are accounted for.
    pub fn accounted(&self) -> u64 {
        let rings = self.in_receive_rings + self.in_transmit_rings;
        self.lost + rings + self.dropped_frames() + self.inside + self.sent
    }

    /// Whether that is every one that was offered.
    pub fn is_even(&self) -> bool {
        self.accounted() == self.offered
    }
}

/// What a simulation came to.
#[derive(Clone, Debug)]
pub struct Report {
    /// The core's time.
    pub now: Time,
    /// By port: its name and what it counted.
    pub ports: Vec<(String, Counts)>,
    /// All frames.
    pub balance: Balance,
    /// Where the core's time went, drivers apart.
    pub core: CoreTimes,
}

impl Report {
    pub(super) fn of(router: &Ctx, ports: &[Port], now: Time) -> Report {
        let ports: Vec<(String, Counts)> = ports
            .iter()
            .map(|port| (port.name(), port.counts(now)))
            .collect();
        let sum = |of: fn(&Counts) -> u64| ports.iter().map(|(_, counts)| of(counts)).sum();
        let by_reason = |reason: &Reason| -> u64 {
            let drops = |element| router.counters(element).drops[*reason as usize];
            (0..router.elements()).map(drops).sum()
        };
        let dropped = Reason::ALL
            .iter()
            .map(|reason| (*reason, by_reason(reason)));
        let balance = Balance {
            offered: sum(|c| c.offered),
            lost: sum(|c| c.lost),
            in_receive_rings: sum(|c| c.in_receive_ring),
            dropped: dropped.filter(|(_, count)| *count > 0).collect(),
            inside: router.packets_inside() as u64,
            in_transmit_rings: sum(|c| c.in_transmit_ring),
            sent: sum(|c| c.sent),
        };
        let core = router.core().map(SimulatedCore::times);
        Report {
            now,
            ports,
            balance,
            core: core.unwrap_or_default(),
        }
    }

    /// What the port called `name` counted.
    pub fn port(&self, name: &str) -> Option<&Counts> {
        let port = self.ports.iter().find(|(other, _)| other == name);
        port.map(|(_, counts)| counts)
    }

    /// Time that the core worked with packets, drivers included; the rest it polled, looked or
    /// slept.
    pub fn busy(&self) -> Span {
        let elements = self
            .core
            .worked
            .iter()
            .map(|time| time.as_ps())
            .sum::<u64>();
        let drivers = self
            .ports
            .iter()
            .map(|(_, c)| c.driver.as_ps())
            .sum::<u64>();
        Span::from_ps(elements + drivers)
    }
}
