//! How packets tell whose they are, which place they have and when they were sent.

use crate::echo::{self, Echo};
use crate::stamp::{STAMP_BYTES, Stamp};
use std::fmt;
use std::net::SocketAddr;

/// Reads what comes to a port.
pub trait Reads: fmt::Debug + Send + Sync {
    /// What a datagram that came from `from` at `time_ns` tells, with the number of its flow at the
    /// hub.
    fn datagram(&self, payload: &[u8], from: SocketAddr, time_ns: i64) -> Option<Stamp>;

    /// What a message of ICMP that came from `from` at `time_ns` tells, and the bytes of its
    /// payload. `packet` is what a raw socket takes in: of IPv4 with its IP header.
    fn message(&self, packet: &[u8], from: SocketAddr, time_ns: i64) -> Option<(Stamp, usize)>;

    /// What the first bytes of a connection from `from` tell; there is one at least.
    fn claim(&self, first: &[u8], from: SocketAddr) -> Claim;

    /// The messages of a connection from `from`.
    fn messages(&self, from: SocketAddr) -> Box<dyn Messages + '_>;
}

/// What the first bytes of a connection tell of whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Too little yet.
    Wait,
    /// It is of this flow, by its number at the hub.
    Of(u32),
    /// It is of a flow of its peer.
    OfPeer,
    /// It is nobody's.
    Nobody,
}

/// The messages in a stream of bytes, however it is cut.
pub trait Messages {
    /// The flow that all of them are of, by its number at the hub, once that is known.
    fn flow(&self) -> Option<u32>;

    /// The next whole message of `left`, which came at `time_ns` and loses what was read: its stamp
    /// and its bytes.
    fn next(&mut self, left: &mut &[u8], time_ns: i64) -> Option<(Stamp, u32)>;

    /// Whether the stream holds what can be no message.
    fn is_wrong(&self) -> bool;

    /// Appends what goes back for a message whose round trip is measured.
    fn answer(&self, stamp: &Stamp, bytes: u32, into: &mut Vec<u8>);
}

/// Packets that begin with a [`Stamp`].
#[derive(Clone, Copy, Debug)]
pub struct Stamped;

impl Reads for Stamped {
    fn datagram(&self, payload: &[u8], _: SocketAddr, _: i64) -> Option<Stamp> {
        Stamp::read(payload)
    }

    fn message(&self, packet: &[u8], from: SocketAddr, _: i64) -> Option<(Stamp, usize)> {
        echo::read(packet, Echo::Request, from.is_ipv6())
    }

    fn claim(&self, first: &[u8], _: SocketAddr) -> Claim {
        Stamp::read(first).map_or(Claim::Wait, |stamp| Claim::Of(stamp.flow))
    }

    fn messages(&self, _: SocketAddr) -> Box<dyn Messages> {
        Box::new(StampedMessages::default())
    }
}

/// The messages in a stream of bytes, however it is cut.
#[derive(Debug, Default)]
struct StampedMessages {
    /// The flow, once it is known.
    flow: Option<u32>,
    /// The stamp that is being read, as far as it has come.
    head: Vec<u8>,
    /// The message that is being read: its stamp and length, and what of it is still to come.
    open: Option<(Stamp, u32, usize)>,
    /// A message was shorter than its stamp.
    is_wrong: bool,
}

impl Messages for StampedMessages {
    fn flow(&self) -> Option<u32> {
        self.flow
    }

    fn next(&mut self, left: &mut &[u8], _: i64) -> Option<(Stamp, u32)> {
        loop {
            if let Some((stamp, bytes, missing)) = &mut self.open {
                let count = (*missing).min(left.len());
                *left = &left[count..];
                *missing -= count;
                if *missing > 0 {
                    return None;
                }
                let message = (*stamp, *bytes);
                self.open = None;
                return Some(message);
            }
            let count = (STAMP_BYTES - self.head.len()).min(left.len());
            self.head.extend_from_slice(&left[..count]);
            *left = &left[count..];
            let stamp = Stamp::read(&self.head)?;
            self.head.clear();
            let Some(flow) = self.flow else {
                self.flow = Some(stamp.flow);
                continue;
            };
            let bytes = stamp.flow;
            let Some(missing) = (bytes as usize).checked_sub(STAMP_BYTES) else {
                self.is_wrong = true;
                *left = &[];
                return None;
            };
            self.open = Some((Stamp { flow, ..stamp }, bytes, missing));
        }
    }

    fn is_wrong(&self) -> bool {
        self.is_wrong
    }

    fn answer(&self, stamp: &Stamp, _: u32, into: &mut Vec<u8>) {
        into.extend_from_slice(&stamp.write());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stamp(flow: u32, sequence: u64) -> Stamp {
        Stamp {
            flow,
            sequence,
            sent_ns: 7,
        }
    }

    /// A connection of flow 9 with messages of these lengths.
    fn bytes(lengths: &[u32]) -> Vec<u8> {
        let mut bytes = stamp(9, 0).write().to_vec();
        for (sequence, length) in lengths.iter().enumerate() {
            bytes.extend(stamp(*length, sequence as u64).write());
            bytes.resize(bytes.len() + *length as usize - STAMP_BYTES, 0xaa);
        }
        bytes
    }

    proptest! {
        #[test]
        fn messages_are_found_however_their_bytes_are_cut(
            lengths in prop::collection::vec(16..60_u32, 0..8),
            cuts in prop::collection::vec(1..40_usize, 1..20),
        ) {
            let bytes = bytes(&lengths);
            let (mut messages, mut found) = (StampedMessages::default(), Vec::new());
            let (mut left, mut cuts) = (bytes.as_slice(), cuts.iter().cycle());
            while !left.is_empty() {
                let count = cuts.next().map_or(1, |cut| (*cut).min(left.len()));
                let (mut part, rest) = left.split_at(count);
                left = rest;
                while let Some(message) = messages.next(&mut part, 0) {
                    found.push(message);
                }
            }
            let expected: Vec<_> = lengths
                .iter()
                .enumerate()
                .map(|(sequence, length)| (stamp(9, sequence as u64), *length))
                .collect();
            prop_assert_eq!(found, expected);
            prop_assert!(!messages.is_wrong);
        }
    }

    #[test]
    fn who_says_less_than_a_stamp_is_wrong() {
        let mut bytes = stamp(9, 0).write().to_vec();
        bytes.extend(stamp(15, 0).write());
        let mut messages = StampedMessages::default();
        assert_eq!(messages.next(&mut bytes.as_slice(), 0), None);
        assert!(messages.is_wrong);
    }
}
