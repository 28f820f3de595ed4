//! Captures of the ends of wires, emptied now and then while flows run.

use super::network::{Network, name};
use super::result::Result;
use crate::job::{Captured, Frame, GuestJob};
use std::fmt::Write;
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

/// The captures of a job.
#[derive(Debug)]
pub(super) struct Captures {
    all: Vec<(Capture, Captured)>,
    /// The wall clock's time when the flows start.
    start_ns: i64,
}

impl Captures {
    /// Begins those of `job`, whose flows start at `start_ns` of the monotonic clock.
    pub(super) fn begin(job: &GuestJob, network: &Network, start_ns: i64) -> Result<Captures> {
        let mut all = Vec::with_capacity(job.captures.len());
        for at in &job.captures {
            let host = &network.hosts[job.wires[at.0].ends[at.1]];
            let capture = host.run(|| Capture::open(&name(at.0), MOST))?;
            let captured = Captured {
                at: *at,
                ..Captured::default()
            };
            all.push((capture, captured));
        }
        Ok(Captures {
            all,
            start_ns: start_ns + wall_ns() - monotonic_ns(),
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Takes what has come.
    pub(super) fn drain(&mut self) {
        for (capture, captured) in &mut self.all {
            capture.drain(|seen| {
                let Some((ethernet, packet)) = seen.bytes.split_at_checked(ETHERNET_BYTES) else {
                    return;
                };
                if ethernet.ends_with(&IPV4) {
                    captured.frames.push(Frame {
                        at_ns: seen.time_ns - self.start_ns,
                        is_outgoing: seen.is_outgoing,
                        header: packet.iter().fold(String::new(), |mut text, byte| {
                            let _ = write!(text, "{byte:02x}");
                            text
                        }),
                    });
                }
            });
        }
    }

    /// All that was captured.
    pub(super) fn end(mut self) -> Result<Vec<Captured>> {
        self.drain();
        let mut captured = Vec::with_capacity(self.all.len());
        for (capture, mut one) in self.all {
            one.missed = capture.missed()?;
            captured.push(one);
        }
        Ok(captured)
    }
}
