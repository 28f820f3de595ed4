//! Packets as datagrams of UDP.

use super::patience::Patience;
use super::{Carrier, Packet, frames};
use crate::filler::Filler;
use crate::stamp::STAMP_BYTES;
use crate::stream::Stream;
use std::io;
use std::net::UdpSocket;
use std::sync::atomic::AtomicBool;
use trammel_io::datagrams::{
    self, HEAD_BYTES, MOST_SEGMENTED_BYTES, MOST_SEGMENTS, Outgoing, Sender,
};

/// Datagrams a call, at most: what a call costs is then a small part of what they cost.
const BATCH: usize = 64;
/// The longest payload of a datagram.
pub const MOST_BYTES: u32 = 65_507;
/// What the kernel holds of what is to be sent.
const BUFFER_BYTES: usize = 4 << 20;

const _: () = assert!(STAMP_BYTES == HEAD_BYTES);

/// How packets are handed to the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mechanism {
    /// What is due by then in one call: each packet by itself as long as the sender keeps up, many
    /// in a call where it does not.
    #[default]
    Calls,
    /// The same, and the kernel tells when each left.
    Watched,
    /// Packets that are due together as one that the kernel cuts: bursts without gaps.
    Segments,
    /// Frames past the kernel's stack; not by a socket of UDP, but to one.
    Frames(frames::Options),
}

/// What a datagram begins with, of which one that is shorter has as much as it can.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// Writes it over a datagram's first bytes.
    pub write: fn(&Packet, &mut [u8; HEAD_BYTES]),
    /// The least bytes of a datagram.
    pub least: u32,
}

/// A connected socket.
#[derive(Debug)]
pub struct Udp {
    socket: UdpSocket,
    /// Whether the kernel cuts packets out of larger ones.
    in_segments: bool,
    sender: Sender,
    head: Head,
    filler: Filler,
    batch: Vec<Outgoing>,
    patience: Patience,
}

impl Udp {
    /// Carries packets by a connected socket, which is made as `stream` wants it.
    pub fn new(socket: UdpSocket, stream: &Stream, mechanism: Mechanism) -> io::Result<Udp> {
        let options = datagrams::Options {
            send_bytes: Some(BUFFER_BYTES),
            ds: stream.ds,
            ttl: stream.ttl,
            ..datagrams::Options::default()
        };
        datagrams::configure(&socket, &options)?;
        Ok(Udp {
            socket,
            in_segments: mechanism == Mechanism::Segments,
            sender: Sender::new(BATCH),
            head: Head {
                write: |packet, head| *head = packet.stamp.write(),
                least: STAMP_BYTES as u32,
            },
            filler: Filler::same(vec![0; MOST_BYTES as usize]),
            batch: Vec::new(),
            patience: Patience::default(),
        })
    }

    /// Datagrams begin with `head` instead of a stamp, and go on with the bytes of `filler`, which
    /// is as long as the longest of them.
    #[must_use]
    pub fn with(self, head: Head, filler: Filler) -> Udp {
        Udp {
            head,
            filler,
            ..self
        }
    }
}

impl Carrier for Udp {
    fn most(&self) -> (usize, u32) {
        let packets = if self.in_segments {
            MOST_SEGMENTS
        } else {
            BATCH
        };
        (packets, MOST_BYTES)
    }

    fn least(&self) -> u32 {
        self.head.least
    }

    fn hand_over(&mut self, packets: &[Packet], _: &AtomicBool) -> io::Result<u64> {
        let mut errors = 0;
        for packets in packets.chunks(self.filler.at_once()) {
            errors += self.hand_over_alike(packets)?;
        }
        Ok(errors)
    }
}

impl Udp {
    /// Hands packets over that share what they are filled with.
    fn hand_over_alike(&mut self, packets: &[Packet]) -> io::Result<u64> {
        let first = packets.first().map_or(0, |packet| packet.bytes);
        let filler = self.filler.next(first as usize);
        let begins = filler.first_chunk().copied().unwrap_or_default();
        self.batch.clear();
        self.batch.extend(packets.iter().map(|packet| {
            let mut head = begins;
            (self.head.write)(packet, &mut head);
            Outgoing {
                head,
                bytes: packet.bytes as usize,
            }
        }));
        let (mut done, mut errors) = (0, 0);
        while done < self.batch.len() {
            let left = &self.batch[done..];
            let result = if self.in_segments {
                let alike = alike(left);
                let left = &left[..alike];
                let result = self.sender.send_segments(&self.socket, left, filler);
                result.map(|()| alike)
            } else {
                self.sender.send(&self.socket, left, filler)
            };
            match result {
                Ok(count) => {
                    done += count;
                    self.patience.restore();
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    errors += 1;
                    done += self.patience.survive(error)?;
                }
            }
        }
        Ok(errors)
    }
}

/// How many of the first are of one length and fit into one call.
fn alike(batch: &[Outgoing]) -> usize {
    let bytes = batch.first().map_or(1, |first| first.bytes);
    let most = MOST_SEGMENTS.min(MOST_SEGMENTED_BYTES / bytes.max(1));
    let count = batch
        .iter()
        .take_while(|other| other.bytes == bytes)
        .count();
    count.min(most.max(1))
}
