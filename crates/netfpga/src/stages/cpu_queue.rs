//! The host's side: the queues of its four interfaces, and the DMA engine that serves them.

use crate::registers::table::cpu_queue as word;
use crate::registers::table::dma;
use crate::registers::{File, place};
use crate::stages::ethernet::{Fcs, accepted};
use crate::stages::queue::PORTS;

/// In [`word::CONTROL`]: nothing goes to the host.
const TX_QUEUE_OFF: u32 = 1;
/// In [`word::CONTROL`]: nothing comes from the host.
const RX_QUEUE_OFF: u32 = 2;

/// The four interfaces.
#[derive(Clone, Debug)]
pub(crate) struct CpuQueues {
    files: [File; PORTS],
    dma: File,
}

impl CpuQueues {
    pub(crate) fn new() -> CpuQueues {
        CpuQueues {
            files: std::array::from_fn(|_| File::new(&word::BLOCK)),
            dma: File::new(&dma::BLOCK),
        }
    }

    /// The bytes of `frame`, which the host sends by the interface `port`, if it is taken:
    /// `has_room` tells whether the queue is full.
    pub(crate) fn receive<'a>(
        &mut self,
        port: usize,
        frame: &'a [u8],
        has_room: bool,
    ) -> Option<&'a [u8]> {
        let file = &mut self.files[port];
        if !has_room {
            file.count(word::RX_QUEUE_NUM_OVERRUNS);
            return None;
        }
        let is_off = file.get(word::CONTROL) & RX_QUEUE_OFF != 0;
        let body = accepted(frame, Fcs::Good, true, true).filter(|_| !is_off);
        if body.is_none() {
            file.count(word::RX_QUEUE_NUM_PKTS_DROPPED_BAD);
        }
        body
    }

    /// The queue from the host took a frame of `bytes`.
    pub(crate) fn received(&mut self, port: usize, bytes: usize) {
        let file = &mut self.files[port];
        file.count(word::RX_QUEUE_NUM_PKTS_ENQUEUED);
        file.count(word::RX_QUEUE_NUM_PKTS_IN_QUEUE);
        file.add(word::RX_QUEUE_NUM_WORDS_PUSHED, bytes.div_ceil(8) as u32);
        file.add(word::RX_QUEUE_NUM_BYTES_PUSHED, bytes as u32);
        self.dma.count(dma::NUM_EGRESS_PKTS);
        self.dma.add(dma::NUM_EGRESS_BYTES, bytes as u32);
    }

    /// A frame left the queue from the host.
    pub(crate) fn dequeued(&mut self, port: usize) {
        self.files[port].count(word::RX_QUEUE_NUM_PKTS_DEQUEUED);
        self.files[port].add(word::RX_QUEUE_NUM_PKTS_IN_QUEUE, u32::MAX);
    }

    /// Whether frames go to the host by the interface `port`.
    pub(crate) fn may_send(&self, port: usize) -> bool {
        self.files[port].get(word::CONTROL) & TX_QUEUE_OFF == 0
    }

    /// A frame of `bytes` went to the host; `is_taken` tells whether the host had room for it.
    pub(crate) fn send(&mut self, port: usize, bytes: usize, is_taken: bool) {
        let file = &mut self.files[port];
        file.count(word::TX_QUEUE_NUM_PKTS_ENQUEUED);
        file.add(word::TX_QUEUE_NUM_WORDS_PUSHED, bytes.div_ceil(8) as u32);
        file.add(word::TX_QUEUE_NUM_BYTES_PUSHED, bytes as u32);
        if is_taken {
            file.count(word::TX_QUEUE_NUM_PKTS_DEQUEUED);
            self.dma.count(dma::NUM_INGRESS_PKTS);
            self.dma.add(dma::NUM_INGRESS_BYTES, bytes as u32);
        } else {
            file.count(word::TX_QUEUE_NUM_OVERRUNS);
        }
    }

    pub(crate) fn read(&self, address: u32) -> Option<u32> {
        if let Some((port, at)) = place(&word::BLOCK, address) {
            return Some(self.files[port].get(at));
        }
        let (_, at) = place(&dma::BLOCK, address)?;
        Some(self.dma.get(at))
    }

    pub(crate) fn write(&mut self, address: u32, value: u32) -> bool {
        if let Some((port, at)) = place(&word::BLOCK, address) {
            self.files[port].write(at, value);
        } else if let Some((_, at)) = place(&dma::BLOCK, address) {
            self.dma.write(at, value);
        } else {
            return false;
        }
        true
    }
}
