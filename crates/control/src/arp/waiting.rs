//! Packets that wait until their next hop has told its MAC address.
//!
//! A request goes out at once and then each interval. When the last one had an interval without an
//! answer, the next hop is given up. A full queue drops its oldest packet, since the
//! latest is to be saved (RFC 1122 §2.3.2.2).

use core::net::Ipv4Addr;
use std::collections::{BTreeMap, VecDeque};
use trammel_core::{Span, Time};

/// A next hop: its port and address.
pub(crate) type Hop = (usize, Ipv4Addr);

/// How long and how much may wait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Between two requests.
    pub(crate) interval: Span,
    /// Requests before a next hop is given up.
    pub(crate) requests: u32,
    /// Packets of a next hop.
    pub(crate) packets: usize,
    /// Next hops.
    pub(crate) hops: usize,
}

#[derive(Debug, Clone)]
struct Queue {
    packets: VecDeque<Vec<u8>>,
    requests: u32,
    next: Time,
}

/// All that waits.
#[derive(Debug, Clone)]
pub(crate) struct Waiting {
    hops: BTreeMap<Hop, Queue>,
    limits: Limits,
}

/// What became of a packet that should wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Held {
    /// It is its next hop's first: a request is due.
    First,
    /// It waits behind others.
    Queued,
    /// It waits, and the oldest was dropped.
    Replaced,
    /// It was dropped, since too many next hops are being resolved.
    Refused,
}

/// What is due at an instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Due {
    /// Another request.
    Request(Hop),
    /// The next hop did not answer; these are its packets.
    GivenUp(VecDeque<Vec<u8>>),
}

impl Waiting {
    pub(crate) fn new(limits: Limits) -> Waiting {
        Waiting {
            hops: BTreeMap::new(),
            limits,
        }
    }

    /// Lets `packet` wait for `hop`.
    pub(crate) fn hold(&mut self, now: Time, hop: Hop, packet: Vec<u8>) -> Held {
        if let Some(queue) = self.hops.get_mut(&hop) {
            queue.packets.push_back(packet);
            if queue.packets.len() > self.limits.packets {
                queue.packets.pop_front();
                return Held::Replaced;
            }
            return Held::Queued;
        }
        if self.hops.len() >= self.limits.hops {
            return Held::Refused;
        }
        let queue = Queue {
            packets: VecDeque::from([packet]),
            requests: 1,
            next: now + self.limits.interval,
        };
        self.hops.insert(hop, queue);
        Held::First
    }

    /// Whether something waits for `hop`.
    pub(crate) fn has(&self, hop: Hop) -> bool {
        self.hops.contains_key(&hop)
    }

    /// What waits for `hop`, which has answered.
    pub(crate) fn release(&mut self, hop: Hop) -> VecDeque<Vec<u8>> {
        self.hops
            .remove(&hop)
            .map(|queue| queue.packets)
            .unwrap_or_default()
    }

    /// Drops what waits at `port`, and tells how many packets there were.
    pub(crate) fn forget(&mut self, port: usize) -> u64 {
        let mut dropped = 0;
        self.hops.retain(|(of, _), queue| {
            let stays = *of != port;
            dropped += if stays { 0 } else { queue.packets.len() as u64 };
            stays
        });
        dropped
    }

    /// What is due by `now`, in the order of next hops.
    pub(crate) fn due(&mut self, now: Time) -> Vec<Due> {
        let mut due = Vec::new();
        let limits = self.limits;
        self.hops.retain(|hop, queue| {
            if queue.next > now {
                return true;
            }
            if queue.requests >= limits.requests {
                due.push(Due::GivenUp(std::mem::take(&mut queue.packets)));
                return false;
            }
            queue.requests += 1;
            queue.next = now + limits.interval;
            due.push(Due::Request(*hop));
            true
        });
        due
    }

    /// When something is due next.
    pub(crate) fn next_timeout(&self) -> Option<Time> {
        self.hops.values().map(|queue| queue.next).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOP: Hop = (1, Ipv4Addr::new(10, 0, 0, 9));

    fn waiting() -> Waiting {
        Waiting::new(Limits {
            interval: Span::from_secs(1),
            requests: 5,
            packets: 2,
            hops: 1,
        })
    }

    #[test]
    fn five_requests_a_second_apart_then_the_packets_come_back() {
        let mut waiting = waiting();
        assert_eq!(waiting.hold(Time::ZERO, HOP, vec![1]), Held::First);
        for second in 1..5 {
            let at = Time::from_secs(second);
            assert_eq!(waiting.next_timeout(), Some(at));
            assert_eq!(waiting.due(at), [Due::Request(HOP)]);
            assert_eq!(waiting.due(at), []);
        }
        let given_up = waiting.due(Time::from_secs(5));
        assert_eq!(given_up, [Due::GivenUp(VecDeque::from([vec![1]]))]);
        assert_eq!(waiting.next_timeout(), None);
    }

    #[test]
    fn a_full_queue_keeps_the_latest() {
        let mut waiting = waiting();
        let held: Vec<_> = (0..3)
            .map(|n| waiting.hold(Time::ZERO, HOP, vec![n]))
            .collect();
        assert_eq!(held, [Held::First, Held::Queued, Held::Replaced]);
        let other = (0, Ipv4Addr::LOCALHOST);
        assert_eq!(waiting.hold(Time::ZERO, other, vec![9]), Held::Refused);
        assert_eq!(waiting.release(HOP), [vec![1], vec![2]]);
        assert!(!waiting.has(HOP));
    }

    #[test]
    fn an_interface_that_goes_down_drops_what_waits_there() {
        let mut waiting = waiting();
        waiting.hold(Time::ZERO, HOP, vec![1]);
        assert_eq!(waiting.forget(0), 0);
        assert_eq!(waiting.forget(1), 1);
        assert_eq!(waiting.next_timeout(), None);
    }
}
