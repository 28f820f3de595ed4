//! What ends say to each other for a test of a path: what is asked for, and what was counted.

pub mod said;
mod told;

pub use told::Told;

use crate::record::Protocol;
use std::time::Duration;

/// Streams in each direction, at most.
pub const MOST_STREAMS: u16 = 128;

/// The longest test.
pub const MOST_DURATION: Duration = Duration::from_secs(86_400);

/// The longest time that is left out.
pub const MOST_OMITTED: Duration = Duration::from_secs(600);

/// The shortest interval, and the longest.
pub const INTERVALS: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(60));

/// Bytes of a datagram, at least and at most.
pub const DATAGRAM_BYTES: (u32, u32) = (32, 65_507);

/// The longest name of a congestion control.
pub const MOST_NAME_BYTES: usize = 15;

/// Nanoseconds, as many as 64 bits tell.
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Which way data goes, as seen by who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From who asks.
    Forward,
    /// To who asks.
    Reverse,
    /// Both at once.
    Both,
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    /// TCP or UDP.
    pub protocol: Protocol,
    /// Which way.
    pub direction: Direction,
    /// Streams in each direction.
    pub streams: u16,
    /// How long, without what is left out; where bytes end it, at most.
    pub duration: Duration,
    /// So long at the start counts for nothing.
    pub omit: Duration,
    /// It ends when so many bytes have been sent and taken, of all streams together; 0 for when its
    /// time is over.
    pub bytes: u64,
    /// The byte of differentiated services of both ends' packets.
    pub tos: u8,
    /// How often it is told what came.
    pub interval: Duration,
    /// Bits of payload a second that each stream sends at most; 0 for as many as TCP gets through.
    pub rate_bps: u64,
    /// Bytes of a datagram's payload.
    pub datagram_bytes: u32,
    /// The congestion control of senders; empty for their systems' choice.
    pub congestion: String,
}

impl Wish {
    /// Of each stream, by its number, whether who asks is its sender.
    pub fn ways(&self) -> Vec<bool> {
        let each = usize::from(self.streams);
        match self.direction {
            Direction::Forward => vec![true; each],
            Direction::Reverse => vec![false; each],
            Direction::Both => [vec![true; each], vec![false; each]].concat(),
        }
    }

    /// From the start to the end.
    pub(crate) fn whole(&self) -> Duration {
        self.omit.saturating_add(self.duration)
    }

    /// How many intervals at the start count for nothing.
    pub fn omitted(&self) -> u32 {
        let intervals = self
            .omit
            .as_nanos()
            .div_ceil(self.interval.as_nanos().max(1));
        u32::try_from(intervals).unwrap_or(u32::MAX)
    }

    /// When interval `number` ends, from the start on: those that count begin when the others are
    /// over.
    pub(crate) fn end_of(&self, number: u32) -> Duration {
        let omitted = self.omitted();
        let after = |count: u32| self.interval.saturating_mul(count.saturating_add(1));
        match number.checked_sub(omitted) {
            None => after(number).min(self.omit),
            Some(counted) => self.omit.saturating_add(after(counted)).min(self.whole()),
        }
    }

    /// What is wrong with it.
    pub fn wrong(&self) -> Option<String> {
        let (shortest, longest) = INTERVALS;
        let (least, most) = DATAGRAM_BYTES;
        let is_udp = self.protocol == Protocol::Udp;
        if !matches!(self.protocol, Protocol::Udp | Protocol::Tcp) {
            return Some("a path is tested by TCP or UDP".to_owned());
        }
        if !(1..=MOST_STREAMS).contains(&self.streams) {
            return Some(format!("1 to {MOST_STREAMS} streams are served"));
        }
        if self.duration.is_zero() || self.duration > MOST_DURATION {
            return Some(format!(
                "a test takes more than 0 s, and {} s at most",
                MOST_DURATION.as_secs()
            ));
        }
        if !(shortest..=longest).contains(&self.interval) {
            return Some(format!(
                "an interval is from {} to {} s",
                shortest.as_secs_f64(),
                longest.as_secs_f64()
            ));
        }
        if self.omit > MOST_OMITTED {
            let most = MOST_OMITTED.as_secs();
            return Some(format!("at most {most} s are left out"));
        }
        if self.bytes > 0 && self.direction == Direction::Both {
            return Some(
                "`--bytes` is for one direction, since two would end at different times; test them \
                 one after the other"
                    .to_owned(),
            );
        }
        if is_udp && !(least..=most).contains(&self.datagram_bytes) {
            return Some(format!(
                "a datagram's payload is from {least} to {most} bytes"
            ));
        }
        if is_udp && self.rate_bps == 0 {
            return Some("UDP needs a rate: give one above 0".to_owned());
        }
        None
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn wish() -> Wish {
        Wish {
            protocol: Protocol::Udp,
            direction: Direction::Both,
            streams: 2,
            duration: Duration::from_secs(1),
            interval: Duration::from_millis(250),
            omit: Duration::ZERO,
            bytes: 0,
            tos: 0,
            rate_bps: 1_000_000,
            datagram_bytes: 100,
            congestion: String::new(),
        }
    }

    #[test]
    fn what_is_out_of_range_is_told() {
        assert_eq!(wish().wrong(), None);
        assert_eq!(wish().ways(), [true, true, false, false]);
        let wrong = [
            Wish {
                protocol: Protocol::Icmp,
                ..wish()
            },
            Wish {
                streams: 0,
                ..wish()
            },
            Wish {
                streams: MOST_STREAMS + 1,
                ..wish()
            },
            Wish {
                duration: Duration::ZERO,
                ..wish()
            },
            Wish {
                interval: Duration::ZERO,
                ..wish()
            },
            Wish {
                rate_bps: 0,
                ..wish()
            },
            Wish {
                datagram_bytes: 31,
                ..wish()
            },
            Wish {
                omit: MOST_OMITTED + Duration::from_nanos(1),
                ..wish()
            },
            Wish { bytes: 1, ..wish() },
        ];
        for one in wrong {
            assert!(one.wrong().is_some(), "{one:?}");
        }
        let tcp = Wish {
            protocol: Protocol::Tcp,
            rate_bps: 0,
            ..wish()
        };
        assert_eq!(tcp.wrong(), None);
    }

    #[test]
    fn intervals_begin_anew_after_what_is_left_out() {
        let ms = Duration::from_millis;
        let wish = Wish {
            omit: ms(600),
            ..wish()
        };
        assert_eq!((wish.omitted(), wish.whole()), (3, ms(1600)));
        let ends: Vec<Duration> = (0..8).map(|number| wish.end_of(number)).collect();
        assert_eq!(ends, [250, 500, 600, 850, 1100, 1350, 1600, 1600].map(ms));
        assert_eq!(
            (
                super::tests::wish().omitted(),
                super::tests::wish().end_of(0)
            ),
            (0, ms(250))
        );
    }
}
