//! Frames on their way from the kernel into packets: what the kernel left undone is done here.

use crate::offload::{Offload, OffloadCounters};
use std::collections::VecDeque;
use trammel_packet::batch::Packets;
use trammel_packet::packet::Packet;
use trammel_packet::pool::{Handle, Pool};

/// Packets that came of a frame and found no room in the batch: a super-packet is up to 64 KiB,
/// more packets than a batch holds.
#[derive(Debug, Default)]
pub(crate) struct Intake {
    waiting: VecDeque<Handle>,
    scratch: Vec<u8>,
    /// Whether super-packets go on as one, as far as they can.
    carries: bool,
    pub(crate) offloads: OffloadCounters,
    /// Packets lost since the pool was full while a super-packet was cut.
    pub(crate) lost: u64,
}

impl Intake {
    /// One that cuts super-packets, or has them go on as one.
    pub(crate) fn new(carries: bool) -> Intake {
        Intake {
            carries,
            ..Intake::default()
        }
    }

    /// Takes a frame with an offload apart, or completes it; its packets wait.
    #[cold]
    pub(crate) fn resolve(
        &mut self,
        pool: &mut Pool,
        frame: &[u8],
        offload: Offload,
        has_link_header: bool,
        mark: impl Fn(&mut Packet),
    ) {
        if self.carries
            && offload.is_super_packet()
            && let Some(marked) = offload.whole(frame, has_link_header, &mut self.scratch)
        {
            match pool.alloc_with(&self.scratch) {
                Some(packet) => {
                    mark(&mut pool[&packet]);
                    pool[&packet].set_super_packet(marked);
                    self.waiting.push_back(packet);
                    self.offloads.carried += 1;
                }
                None => self.lost += 1,
            }
            return;
        }
        let (waiting, lost) = (&mut self.waiting, &mut self.lost);
        offload.resolve(
            frame,
            has_link_header,
            &mut self.scratch,
            &mut self.offloads,
            |frame| match pool.alloc_with(frame) {
                Some(packet) => {
                    mark(&mut pool[&packet]);
                    waiting.push_back(packet);
                }
                None => *lost += 1,
            },
        );
    }

    /// Moves what waits into the batch as far as it has room; says how many.
    #[inline]
    pub(crate) fn drain(&mut self, into: &mut Packets) -> usize {
        let mut count = 0;
        while !into.is_full() {
            let Some(packet) = self.waiting.pop_front() else {
                break;
            };
            into.push(packet);
            count += 1;
        }
        count
    }

    /// Gives back what waits.
    pub(crate) fn close(&mut self, pool: &mut Pool) {
        for packet in self.waiting.drain(..) {
            pool.free(packet);
        }
    }
}
