//! What a stream is: when its packets leave, how long they are, what they carry, and when it ends.

use crate::moments::{Arrivals, Numeric, Predicted};
use crate::record::Protocol;
use std::fmt;
use trammel_core::time::{Span, Time};

/// A packet of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// When it is due, from the stream's start.
    pub at: Time,
    /// Bytes of its payload.
    pub bytes: u32,
}

/// Departures in the order of their times; it knows no clock, so that who is late still takes the
/// next one.
pub type Plan = Box<dyn Iterator<Item = Departure> + Send>;

/// What makes the packets of a stream.
pub trait Source: fmt::Debug + Send + Sync {
    /// The packets of the run with `seed`, without end unless the source has one.
    fn plan(&self, seed: u64) -> Plan;

    /// What its packets are like in the long run, as far as that follows from the source alone.
    fn predicted(&self) -> Predicted {
        Predicted::default()
    }

    /// Which of what is predicted comes of a numeric method.
    fn numeric(&self) -> Numeric {
        Numeric::default()
    }

    /// How its packets come.
    fn arrivals(&self) -> Arrivals {
        Arrivals::Other
    }

    /// The index of dispersion of counts in intervals of `secs` seconds: their variance over their
    /// mean, where it can be computed.
    fn dispersion(&self, secs: f64) -> Option<f64> {
        let _ = secs;
        None
    }
}

/// When a stream ends: at whichever comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// How long after its start.
    pub duration: Option<Span>,
    /// After so many packets.
    pub packets: Option<u64>,
    /// After so many bytes of payload; the packet that reaches it is the last.
    pub bytes: Option<u64>,
}

/// What each packet tells the other side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Meter {
    /// When it was sent: one-way delay.
    #[default]
    OneWay,
    /// The same, and the other side sends it back: round trip.
    RoundTrip,
}

/// What a sender does when it is late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Late {
    /// Sends what is overdue at once, until it has caught up: the mean rate holds.
    #[default]
    Burst,
    /// Leaves out packets that are overdue by more than a gap: neither the rate nor the gaps
    /// suffer, some packets are missing.
    Skip,
    /// Moves the rest of the plan: gaps hold, the rate does not.
    Stretch,
}

/// A stream.
#[derive(Debug)]
pub struct Stream {
    /// The user's name for it; may be empty.
    pub name: String,
    /// What carries it.
    pub protocol: Protocol,
    /// What makes its packets.
    pub source: Box<dyn Source>,
    /// When it starts, from the start of the whole.
    pub start: Time,
    /// When it ends.
    pub limits: Limits,
    /// The seed of its chances.
    pub seed: u64,
    /// What its packets are measured for.
    pub meter: Meter,
    /// What is done when the sender is late.
    pub late: Late,
    /// The byte of differentiated services (RFC 2474), where it is set.
    pub ds: Option<u8>,
    /// The time to live or hop limit, where it is set.
    pub ttl: Option<u8>,
}

impl Stream {
    /// Its packets, from its own start to its end.
    pub fn plan(&self) -> impl Iterator<Item = Departure> + Send + use<> {
        let limits = self.limits;
        let (mut packets, mut bytes) = (0, 0);
        self.source.plan(self.seed).take_while(move |departure| {
            let goes_on = limits
                .duration
                .is_none_or(|most| departure.at.since_start() < most)
                && limits.packets.is_none_or(|most| packets < most)
                && limits.bytes.is_none_or(|most| bytes < most);
            packets += 1;
            bytes += u64::from(departure.bytes);
            goes_on
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Every(Span);

    impl Source for Every {
        fn plan(&self, _: u64) -> Plan {
            let gap = self.0;
            Box::new((0_u64..).map(move |at| Departure {
                at: Time::from_ps(at * gap.as_ps()),
                bytes: 100,
            }))
        }
    }

    fn count(limits: Limits) -> usize {
        let stream = Stream {
            name: String::new(),
            protocol: Protocol::Udp,
            source: Box::new(Every(Span::from_ms(1))),
            start: Time::ZERO,
            limits,
            seed: 1,
            meter: Meter::OneWay,
            late: Late::Burst,
            ds: None,
            ttl: None,
        };
        stream.plan().count()
    }

    #[test]
    fn whichever_limit_comes_first_ends_it() {
        let all = Limits {
            duration: Some(Span::from_ms(10)),
            packets: Some(7),
            bytes: Some(450),
        };
        assert_eq!(count(all), 5);
        assert_eq!(count(Limits { bytes: None, ..all }), 7);
        let lasting = Limits {
            duration: all.duration,
            ..Limits::default()
        };
        assert_eq!(count(lasting), 10);
    }
}
