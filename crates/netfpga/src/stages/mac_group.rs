//! A port's MAC with its receive and its transmit queue.

use crate::registers::table::mac_group as word;
use crate::registers::{File, place};
use crate::stages::ethernet::{Fcs, accepted};
use crate::stages::queue::PORTS;

/// Bits of [`word::CONTROL`].
mod bit {
    pub(super) const TX_QUEUE_OFF: u32 = 1;
    pub(super) const RX_QUEUE_OFF: u32 = 1 << 1;
    pub(super) const MAC_TX_OFF: u32 = 1 << 3;
    pub(super) const MAC_RX_OFF: u32 = 1 << 4;
    pub(super) const NO_JUMBO_OUT: u32 = 1 << 5;
    pub(super) const NO_JUMBO_IN: u32 = 1 << 6;
    pub(super) const FCS_UNCHECKED: u32 = 1 << 7;
}

/// The greatest frame of IEEE 802.3 without its FCS.
const MOST_STANDARD_BYTES: usize = 1514;

/// The four MACs.
#[derive(Clone, Debug)]
pub(crate) struct MacGroups {
    files: [File; PORTS],
}

impl MacGroups {
    pub(crate) fn new() -> MacGroups {
        MacGroups {
            files: std::array::from_fn(|_| File::new(&word::BLOCK)),
        }
    }

    /// The bytes of `frame` that the receive queue of `port` takes, if it takes it: `has_room`
    /// tells whether it is full. A frame that comes while the queue or the MAC is off counts as one
    /// without room.
    pub(crate) fn receive<'a>(
        &mut self,
        port: usize,
        frame: &'a [u8],
        fcs: Fcs,
        has_room: bool,
    ) -> Option<&'a [u8]> {
        let file = &mut self.files[port];
        let control = file.get(word::CONTROL);
        let is_off = control & (bit::RX_QUEUE_OFF | bit::MAC_RX_OFF) != 0;
        if is_off || !has_room {
            file.count(word::RX_QUEUE_NUM_PKTS_DROPPED_FULL);
            return None;
        }
        let is_checked = control & bit::FCS_UNCHECKED == 0;
        let body = accepted(frame, fcs, is_checked, control & bit::NO_JUMBO_IN == 0);
        if body.is_none() {
            file.count(word::RX_QUEUE_NUM_PKTS_DROPPED_BAD);
        }
        body
    }

    /// The receive queue of `port` took a frame of `bytes`.
    pub(crate) fn received(&mut self, port: usize, bytes: usize) {
        let file = &mut self.files[port];
        file.count(word::RX_QUEUE_NUM_PKTS_STORED);
        file.count(word::RX_QUEUE_NUM_PKTS_IN_QUEUE);
        file.add(word::RX_QUEUE_NUM_WORDS_PUSHED, bytes.div_ceil(8) as u32);
        file.add(word::RX_QUEUE_NUM_BYTES_PUSHED, bytes as u32);
    }

    /// A frame left the receive queue of `port`.
    pub(crate) fn dequeued(&mut self, port: usize) {
        self.files[port].count(word::RX_QUEUE_NUM_PKTS_DEQUEUED);
        self.files[port].add(word::RX_QUEUE_NUM_PKTS_IN_QUEUE, u32::MAX);
    }

    /// Whether `port` sends.
    pub(crate) fn may_send(&self, port: usize) -> bool {
        self.files[port].get(word::CONTROL) & (bit::TX_QUEUE_OFF | bit::MAC_TX_OFF) == 0
    }

    /// A frame of `bytes` went into the transmit queue of `port`, and out. Whether it is on the
    /// line: the MAC throws away frames of more than 1518 bytes where that is set.
    pub(crate) fn send(&mut self, port: usize, bytes: usize) -> bool {
        let file = &mut self.files[port];
        file.count(word::TX_QUEUE_NUM_PKTS_ENQUEUED);
        file.add(word::TX_QUEUE_NUM_WORDS_PUSHED, bytes.div_ceil(8) as u32);
        file.add(word::TX_QUEUE_NUM_BYTES_PUSHED, bytes as u32);
        let control = file.get(word::CONTROL);
        let is_sent = control & bit::NO_JUMBO_OUT == 0 || bytes <= MOST_STANDARD_BYTES;
        if is_sent {
            file.count(word::TX_QUEUE_NUM_PKTS_SENT);
        }
        is_sent
    }

    pub(crate) fn read(&self, address: u32) -> Option<u32> {
        let (port, at) = place(&word::BLOCK, address)?;
        Some(self.files[port].get(at))
    }

    pub(crate) fn write(&mut self, address: u32, value: u32) -> bool {
        let place = place(&word::BLOCK, address);
        if let Some((port, at)) = place {
            self.files[port].write(at, value);
        }
        place.is_some()
    }
}
