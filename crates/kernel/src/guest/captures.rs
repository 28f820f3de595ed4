//! Captures of the ends of wires, emptied now and then while flows run.

use super::network::{Network, name};
use super::result::Result;
use crate::frames::Packer;
use crate::job::{Captured, GuestJob};
use trammel_io::capture::Capture;
use trammel_io::clock::{monotonic_ns, wall_ns};

/// Bytes of a frame that are kept: the headers of Ethernet, IPv4 without options and TCP at its
/// longest.
const MOST: u32 = 14 + 20 + 60;
const ETHERNET_BYTES: usize = 14;
/// The type of IPv4 in an Ethernet header.
const IPV4: [u8; 2] = [0x08, 0x00];
/// From one emptying to the next.
pub(super) const DRAIN_NS: i64 = 10_000_000;
/// Bytes that all captures of a guest may take, packed: a minute of 1 Gbit/s at three places.
const MOST_BYTES: usize = 384 << 20;

/// A place that is captured.
#[derive(Debug)]
struct Tap {
    at: (usize, usize),
    capture: Capture,
    packer: Packer,
    /// Frames for which there was no room.
    left_out: u64,
}

/// The captures of a job.
#[derive(Debug)]
pub(super) struct Captures {
    all: Vec<Tap>,
    /// The wall clock's time when the flows start.
    start_ns: i64,
}

impl Captures {
    /// Begins those of `job`, whose flows start at `start_ns` of the monotonic clock.
    pub(super) fn begin(job: &GuestJob, network: &Network, start_ns: i64) -> Result<Captures> {
        let mut all = Vec::with_capacity(job.captures.len());
        for at in &job.captures {
            let host = &network.hosts[job.wires[at.0].ends[at.1]];
            all.push(Tap {
                at: *at,
                capture: host.run(|| Capture::open(&name(at.0), MOST))?,
                packer: Packer::default(),
                left_out: 0,
            });
        }
        Ok(Captures {
            all,
            start_ns: start_ns + wall_ns() - monotonic_ns(),
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Takes what has come, unless there is no room for it.
    pub(super) fn drain(&mut self) {
        let taken: usize = self.all.iter().map(|tap| tap.packer.packed_bytes()).sum();
        let has_room = taken < MOST_BYTES;
        for tap in &mut self.all {
            tap.capture.drain(|seen| {
                let Some((ethernet, packet)) = seen.bytes.split_at_checked(ETHERNET_BYTES) else {
                    return;
                };
                if !ethernet.ends_with(&IPV4) {
                    return;
                }
                if has_room {
                    let at_ns = seen.time_ns - self.start_ns;
                    tap.packer.push(at_ns, seen.is_outgoing, packet);
                } else {
                    tap.left_out += 1;
                }
            });
        }
    }

    /// All that was captured.
    pub(super) fn end(mut self) -> Result<Vec<Captured>> {
        self.drain();
        let mut captured = Vec::with_capacity(self.all.len());
        for tap in self.all {
            captured.push(Captured {
                at: tap.at,
                frames: tap.packer.finish(),
                missed: tap.left_out + tap.capture.missed()?,
            });
        }
        Ok(captured)
    }
}
