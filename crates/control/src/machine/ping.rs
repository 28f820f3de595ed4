//! Echo requests of the command line that wait for their answers.

use core::net::Ipv4Addr;
use std::collections::{BTreeMap, VecDeque};
use trammel_core::{Span, Time};

/// Requests that wait, at most.
const MOST: usize = 64;

/// How long a request waits: longer than five requests of ARP.
const PATIENCE: Span = Span::from_secs(6);

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The destination answered.
    Answered {
        /// After this time.
        after: Span,
        /// Of the reply's packet.
        ttl: u8,
    },
    /// A router sent an error.
    Error {
        /// This router.
        from: Ipv4Addr,
        /// `icmp_type`.
        kind: u8,
        /// `icmp_code`.
        code: u8,
    },
    /// The next hop does not answer ARP.
    Unresolved,
    /// Nothing came.
    Silence,
}

/// A request.
#[derive(Debug, Clone, Copy)]
struct Ping {
    number: u64,
    destination: Ipv4Addr,
    sent: Time,
}

/// All requests.
#[derive(Debug, Clone, Default)]
pub(super) struct Pings {
    open: BTreeMap<u16, Ping>,
    done: VecDeque<(u64, Ipv4Addr, Outcome)>,
    next: u64,
}

impl Pings {
    /// A new request's number and identifier, or nothing where too many wait.
    pub(super) fn begin(&mut self, now: Time, destination: Ipv4Addr) -> Option<(u64, u16)> {
        if self.open.len() + self.done.len() >= MOST {
            return None;
        }
        // An identifier is free when its request has ended.
        self.next += 1;
        while self.open.contains_key(&(self.next as u16)) {
            self.next += 1;
        }
        let number = self.next;
        let identifier = number as u16;
        let ping = Ping {
            number,
            destination,
            sent: now,
        };
        self.open.insert(identifier, ping);
        Some((number, identifier))
    }

    /// The destination of `identifier` answered.
    pub(super) fn answered(&mut self, now: Time, identifier: u16, from: Ipv4Addr, ttl: u8) {
        let open = self.open.get(&identifier);
        if let Some(ping) = open.filter(|ping| ping.destination == from) {
            let after = now.saturating_since(ping.sent);
            self.end(identifier, Outcome::Answered { after, ttl });
        }
    }

    /// Something went wrong with the request to `destination`.
    pub(super) fn failed(&mut self, identifier: u16, destination: Ipv4Addr, outcome: Outcome) {
        let open = self.open.get(&identifier);
        if open.is_some_and(|ping| ping.destination == destination) {
            self.end(identifier, outcome);
        }
    }

    fn end(&mut self, identifier: u16, outcome: Outcome) {
        if let Some(ping) = self.open.remove(&identifier) {
            self.done
                .push_back((ping.number, ping.destination, outcome));
        }
    }

    /// Ends what waited too long.
    pub(super) fn expire(&mut self, now: Time) {
        let late = |ping: &Ping| ping.sent + PATIENCE <= now;
        let all = self.open.iter().filter(|(_, ping)| late(ping));
        for identifier in all.map(|(identifier, _)| *identifier).collect::<Vec<_>>() {
            self.end(identifier, Outcome::Silence);
        }
    }

    /// When the next request has waited too long.
    pub(super) fn next_timeout(&self) -> Option<Time> {
        let first = self.open.values().map(|ping| ping.sent).min()?;
        Some(first + PATIENCE)
    }

    /// A request that ended: its number and destination.
    pub(super) fn poll(&mut self) -> Option<(u64, Ipv4Addr, Outcome)> {
        self.done.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

    #[test]
    fn an_answer_counts_from_the_destination_alone() {
        let mut pings = Pings::default();
        let (number, identifier) = pings.begin(Time::ZERO, HOST).unwrap();
        let now = Time::from_ms(3);
        pings.answered(now, identifier, Ipv4Addr::LOCALHOST, 64);
        pings.answered(now, identifier + 1, HOST, 64);
        assert_eq!(pings.poll(), None);
        pings.answered(now, identifier, HOST, 64);
        let after = Span::from_ms(3);
        assert_eq!(
            pings.poll(),
            Some((number, HOST, Outcome::Answered { after, ttl: 64 }))
        );
        assert_eq!(pings.next_timeout(), None);
    }

    #[test]
    fn requests_are_bounded_and_end() {
        let mut pings = Pings::default();
        let begun = (0..100)
            .filter_map(|_| pings.begin(Time::ZERO, HOST))
            .count();
        assert_eq!(begun, MOST);
        let end = pings.next_timeout().unwrap();
        pings.expire(end);
        assert_eq!(pings.next_timeout(), None);
        let silent = std::iter::from_fn(|| pings.poll());
        assert!(
            silent
                .into_iter()
                .all(|(_, _, outcome)| outcome == Outcome::Silence)
        );
    }
}
