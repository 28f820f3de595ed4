//! Frames on their way between the lines and the card.
//!
//! A frame that leaves at once by another line is handed through where it lies. Others wait in the
//! card's output queues until their line takes them.

use super::{ALL, Card, HOST_SIDE, failed};
use crate::error::Error;
use crate::live::line::State;
use trammel_core::Time;
use trammel_netfpga::stages::{Fcs, PORTS, Queue, Queues};

/// Frames of a queue without a line before others have their turn.
const MOST_FRAMES: usize = 256;

impl Card {
    /// Gives the card what has come by a line. Frames that leave at once by another are handed
    /// through where they lie.
    pub(super) fn receive(&mut self, now: Time, number: usize) -> Result<usize, Error> {
        let line = &mut self.lines[number];
        let from = line.queue;
        let count = line.receive(&mut self.pool, &mut self.came);
        let count = count.map_err(|why| failed("receive from", line, why))?;
        if count == 0 {
            return Ok(0);
        }
        let mut ready = self.lines.iter().fold(0, |ready, line| {
            ready | u8::from(line.is_ready(now)) << line.queue.number()
        });
        if self.software.is_some() {
            ready &= !HOST_SIDE;
        }
        let mut result = Ok(count);
        for packet in self.came.drain() {
            let inner = &mut self.pool[&packet];
            let to = if inner.super_packet().is_none() {
                self.device.pass(from, inner.data_mut(), Queues(ready))
            } else {
                self.device.receive(from, inner.data(), Fcs::Good);
                None
            };
            let to = to.and_then(|queue| self.line_of[queue.number()]);
            let Some(line) = to.map(|number| &mut self.lines[number]) else {
                self.pool.free(packet);
                continue;
            };
            let passed = line.pass(now, packet, &mut self.device, &mut self.pool);
            if let Err(why) = passed {
                result = Err(failed("send to", line, why));
            }
            if !line.is_ready(now) {
                ready &= !(1 << line.queue.number());
            }
        }
        result
    }

    /// Sends what the queues have, and hands over to the kernel what was gathered if nothing more
    /// comes at once. Whether some queues may have more that could be sent at once.
    pub(super) fn transmit(&mut self, now: Time, nothing_comes: bool) -> Result<bool, Error> {
        let mut has_more = self.give_software(now)?;
        for line in &mut self.lines {
            let bit = 1 << line.queue.number();
            if self.filled & bit == 0 || line.queue.is_cpu() && self.software.is_some() {
                let sent = line.send(&mut self.pool);
                sent.map_err(|why| failed("send to", line, why))?;
            } else {
                let sent = line.transmit(now, &mut self.device, &mut self.pool, &mut self.frame);
                match sent.map_err(|why| failed("send to", line, why))? {
                    State::IsEmpty => self.filled &= !bit,
                    State::HasToWait => {}
                    State::HasMore => has_more = true,
                }
            }
            if nothing_comes {
                let flushed = line.flush(&mut self.pool);
                flushed.map_err(|why| failed("send to", line, why))?;
            }
        }
        // What leaves by a port without a cable is gone.
        for queue in Queue::ALL {
            let bit = 1 << queue.number();
            if self.filled & !self.connected & bit != 0 {
                if (0..MOST_FRAMES).all(|_| self.device.transmit(queue, &mut self.frame)) {
                    has_more = true;
                } else {
                    self.filled &= !bit;
                }
            }
        }
        if has_more {
            self.filled = ALL;
        }
        Ok(has_more)
    }

    /// Gives the control software the frames for the host; the kernel sees beside it what it sees.
    /// Whether there are more.
    fn give_software(&mut self, now: Time) -> Result<bool, Error> {
        let Some(software) = &mut self.software else {
            return Ok(false);
        };
        let mut left = MOST_FRAMES;
        for queue in (0..PORTS).map(Queue::cpu) {
            let bit = 1 << queue.number();
            let mut line = self.lines.iter_mut().find(|line| line.queue == queue);
            while self.filled & bit != 0 && left > 0 {
                if !self.device.transmit(queue, &mut self.frame) {
                    self.filled &= !bit;
                    break;
                }
                left -= 1;
                software.receive(now, queue.port(), &self.frame, &mut self.device);
                if let Some(line) = &mut line {
                    line.copy(&mut self.pool, &self.frame);
                }
            }
        }
        if left < MOST_FRAMES {
            software.poll(now, &mut self.device, &mut self.filled)?;
        }
        Ok(left == 0)
    }
}
