//! Timestamps of acknowledgements, until data echo them (RFC 7323 §3.2).
//!
//! Data that echo the timestamp of an acknowledgement left the sender after that had come. The
//! first such data tell the time from the point of capture to the sender and back; the last, what
//! the sender had in flight when it had heard this acknowledgement and no later one.

use std::collections::VecDeque;

/// Timestamps that are remembered.
const MOST: usize = 1 << 13;

/// What an acknowledgement says, as positions and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Heard {
    /// One past the last byte acknowledged.
    pub(super) acked: u64,
    /// Bytes behind it that SACK blocks cover.
    pub(super) sacked: u64,
    /// What is missing below is held for lost.
    pub(super) lost_below: u64,
}

/// A timestamp of the receiver, and what it said last by it.
#[derive(Clone, Copy, Debug)]
struct Stamp {
    value: u32,
    first_ns: i64,
    heard: Heard,
    is_echoed: bool,
}

/// What data tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Echo {
    /// The time since the first acknowledgement with the echoed timestamp, of the first data that
    /// echo it.
    pub(super) since_ns: Option<i64>,
    /// What the sender had heard while it sent the data before these; told when it has heard more.
    pub(super) heard: Option<Heard>,
}

/// The timestamps in the order in which they came.
#[derive(Clone, Debug, Default)]
pub(super) struct Echoes {
    stamps: VecDeque<Stamp>,
}

fn is_after(value: u32, other: u32) -> bool {
    value.wrapping_sub(other) as i32 > 0
}

impl Echoes {
    /// The receiver acknowledged by a segment with the timestamp `value`.
    pub(super) fn ack(&mut self, at_ns: i64, value: u32, heard: Heard) {
        match self.stamps.back_mut() {
            Some(last) if last.value == value => {
                let acked = last.heard.acked.max(heard.acked);
                last.heard = Heard { acked, ..heard };
            }
            Some(last) if !is_after(value, last.value) => {}
            _ => {
                if self.stamps.len() == MOST {
                    self.stamps.pop_front();
                }
                self.stamps.push_back(Stamp {
                    value,
                    first_ns: at_ns,
                    heard,
                    is_echoed: false,
                });
            }
        }
    }

    /// When what no data have echoed was sent, and what it says.
    pub(super) fn unheard(self) -> impl Iterator<Item = (i64, Heard)> {
        let all = self.stamps.into_iter().filter(|stamp| !stamp.is_echoed);
        all.map(|stamp| (stamp.first_ns, stamp.heard))
    }

    /// The sender sent data that echo the timestamp `value`.
    pub(super) fn data(&mut self, at_ns: i64, value: u32) -> Option<Echo> {
        let mut echo = Echo::default();
        while self.stamps.len() > 1 && is_after(value, self.stamps[0].value) {
            let gone = self.stamps.pop_front()?;
            if gone.is_echoed {
                echo.heard = Some(gone.heard);
            }
        }
        let first = self.stamps.front_mut()?;
        if first.value == value && !first.is_echoed {
            first.is_echoed = true;
            echo.since_ns = Some(at_ns.saturating_sub(first.first_ns));
        }
        Some(echo)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_echo_tells_the_time_and_the_end_of_it_what_was_heard() {
        let mut echoes = Echoes::default();
        let heard = |acked, sacked| Heard {
            acked,
            sacked,
            lost_below: 0,
        };
        echoes.ack(100, 5, heard(1000, 0));
        echoes.ack(110, 5, heard(2000, 40));
        echoes.ack(200, 6, heard(3000, 0));
        assert_eq!(echoes.data(150, 5).unwrap().since_ns, Some(50));
        assert_eq!(echoes.data(160, 5), Some(Echo::default()));
        let later = echoes.data(260, 6).unwrap();
        assert_eq!(later.since_ns, Some(60));
        assert_eq!(later.heard, Some(heard(2000, 40)));
    }
}
