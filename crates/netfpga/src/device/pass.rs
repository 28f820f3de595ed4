//! A frame that goes through the card without a stop.
//!
//! Who has the frame in a place that both lines can use need not copy it into an output queue and
//! out again: where the queue is empty and its line takes the frame at once, only what is counted
//! is left of the queue.

use super::Device;
use crate::stages::ethernet::LEAST_BYTES;
use crate::stages::lookup::Happened;
use crate::stages::output_queues::words;
use crate::stages::{Fcs, Queue, Queues};

impl Device {
    /// Takes `frame`, whose check sequence was right and is gone, in by `from`, as
    /// [`Device::receive`] does. Where it has one output queue, which is empty and one of `ready`,
    /// it leaves as by [`Device::transmit`], and lies in `frame` as it leaves by the queue that is
    /// given back. Otherwise the card has what it needs of it, and `frame` is of no more use.
    pub fn pass(&mut self, from: Queue, frame: &mut [u8], ready: Queues) -> Option<Queue> {
        if frame.len() < LEAST_BYTES {
            self.receive(from, frame, Fcs::Good);
            return None;
        }
        let bytes = self.admitted(from, frame, Fcs::Good, true)?;
        self.received(from, bytes);
        let (queues, trailer) = self.decide(from, frame);
        let through = queues.only().filter(|queue| {
            ready.has(*queue)
                && trailer.is_none()
                && self.queues.waiting(*queue) == 0
                && self.may_send(*queue)
        });
        let Some(queue) = through else {
            let mut copy = self.copy(frame);
            copy.extend(trailer.into_iter().flatten());
            self.store_all(queues, copy);
            self.send_own();
            return None;
        };
        let is_sent = self.admits(queue, bytes) && {
            self.queues.pass(queue, bytes);
            let words = words(bytes);
            for what in [Happened::Stored, Happened::Removed] {
                self.lookup.happened(what, queue, words, self.now);
            }
            self.sent(queue, bytes, true)
        };
        self.send_own();
        is_sent.then_some(queue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registers::Registers;
    use crate::tables::{self, ArpRow, RouteRow};
    use crate::{design, designs};
    use proptest::prelude::*;

    /// The card with 10.0.`i`.0/24 behind port `i`, for all of which there is a neighbour but one.
    fn card(name: &str) -> Device {
        let mut card = Device::new(design(name).unwrap());
        if !name.contains("router") && name != "buffer-sizing" {
            return card;
        }
        for row in 0..4_u8 {
            let route = RouteRow {
                network: [10, 0, row, 0].into(),
                mask: [255, 255, 255, 0].into(),
                next_hop: [192, 168, row, 1].into(),
                queues: if row == 2 { 0b101 } else { 1 << (2 * row) },
            };
            tables::write_route(&mut card, row.into(), &route);
            let (address, mac) = (route.next_hop, [2, 0, 0, 0, 1, row]);
            if row < 3 {
                tables::write_arp(&mut card, row.into(), &ArpRow { address, mac });
            }
        }
        card
    }

    /// A frame of `bytes` for 10.0.`to`.1 that comes in at port `port`.
    fn frame(port: u8, to: u8, ttl: u8, bytes: usize) -> Vec<u8> {
        let mut frame = vec![0xca, 0xfe, 0xf0, 0x0d, 0, port + 1, 2, 0, 0, 0, 0, 1, 8, 0];
        let addresses = [0x0a09_0909, 0x0a00_0001 | u32::from(to) << 8];
        frame.extend(crate::stages::ip::header(46, ttl, 17, addresses));
        frame.resize(bytes.max(34), 0);
        frame
    }

    proptest! {
        #[test]
        fn a_frame_that_passes_is_one_that_was_received_and_transmitted(
            number in 0..designs::ALL.len(),
            frames in prop::collection::vec(
                (0..8_usize, 0..5_u8, 1..4_u8, 40..1600_usize, any::<u8>(), 0..40_u8), 1..60),
        ) {
            let name = designs::ALL[number].name;
            let (mut through, mut over) = (card(name), card(name));
            let (mut left, mut buffer) = (Vec::new(), Vec::new());
            for (from, to, ttl, bytes, ready, switched) in frames {
                let from = Queue::ALL[from];
                let frame = frame(from.port() as u8, to, ttl, bytes);
                // Now and then a queue is switched, or MAC port 1 takes only short frames.
                if switched < 8 {
                    let address = 0x200_1000 + 0x200 * u32::from(switched);
                    let value = u32::from(ready & 1);
                    through.write(address, value);
                    over.write(address, value);
                } else if switched < 10 {
                    through.write(0x064_0000, 0x20 * u32::from(switched & 1));
                    over.write(0x064_0000, 0x20 * u32::from(switched & 1));
                }
                let mut place = frame.clone();
                let passed = through.pass(from, &mut place, Queues(ready));
                let mut expected = Vec::new();
                over.receive(from, &frame, Fcs::Good);
                for queue in Queue::ALL.into_iter().filter(|queue| Queues(ready).has(*queue)) {
                    while over.transmit(queue, &mut buffer) {
                        expected.push((queue, buffer.clone()));
                    }
                }
                left.extend(passed.map(|queue| (queue, place)));
                for queue in Queue::ALL.into_iter().filter(|queue| Queues(ready).has(*queue)) {
                    while through.transmit(queue, &mut buffer) {
                        left.push((queue, buffer.clone()));
                    }
                }
                left.sort_by_key(|(queue, _)| *queue);
                prop_assert_eq!(&left, &expected);
                left.clear();
                for register in over.design().map().all().map(|named| named.address) {
                    prop_assert_eq!(through.read(register), over.read(register), "{:x}", register);
                }
            }
        }
    }
}
