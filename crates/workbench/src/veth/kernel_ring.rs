//! A device of the router's behind a pair of virtual Ethernet devices, and the tester at the other
//! end of the pair.
//!
//! When the router asks for frames, the tester first hands those that have fallen due to the
//! kernel, which brings them to the router's socket before it returns. A frame is out when the call
//! that has it sent returns; the tester then takes it. Time stands still while the tester works, so
//! the one core that is measured needs no other and none waits for the other's turn.

use super::wire::Wire;
use crate::paced::core_time::CoreTime;
use crate::paced::ring::{Shared, Stamp, lock};
use crate::traffic::Stream;
use std::io;
use std::sync::Arc;
use trammel_io::afpacket::AfPacket;
use trammel_io::netns::Namespace;
use trammel_packet::batch::Packets;
use trammel_packet::device::{Device, DeviceCounters};
use trammel_packet::pool::Pool;

/// Bytes of a stamp at the end of a frame: its mark and the instant.
const STAMP_BYTES: usize = 12;
/// The mark of a frame of ours.
const MARK: [u8; 4] = *b"trml";
/// Packets of the tester's pool.
const PACKETS: usize = 256;

/// The namespaces of the pairs; gone when the last device is.
pub(super) type Home = Arc<[Namespace; 2]>;

/// A device of the router's, and the tester behind it.
#[derive(Debug)]
pub(super) struct KernelRing {
    // Before the namespaces that they are in.
    near: Wire,
    far: AfPacket,
    _home: Home,
    stream: Option<Stream>,
    way: Shared,
    time: CoreTime,
    pool: Pool,
    batch: Packets,
    /// Frames that the router's socket has had no room for.
    dropped: u64,
    /// Frames that it was given since it was told to send.
    gathered: usize,
}

impl KernelRing {
    /// The router's end and the tester's, which gives frames of `stream` or only takes.
    pub(super) fn new(
        (near, far): (Wire, AfPacket),
        home: Home,
        stream: Option<Stream>,
        way: Shared,
        time: CoreTime,
    ) -> KernelRing {
        KernelRing {
            near,
            far,
            _home: home,
            stream,
            way,
            time,
            pool: Pool::new(PACKETS, PACKETS),
            batch: Packets::new(),
            dropped: 0,
            gathered: 0,
        }
    }

    /// Hands the kernel what has fallen due by `now`.
    fn send(&mut self, now: u64) -> io::Result<()> {
        let Some(stream) = &self.stream else {
            return Ok(());
        };
        let mut way = lock(&self.way);
        let mut last = now;
        loop {
            while !self.batch.is_full()
                && let Some((at, due)) = way.next_due(now)
            {
                let Some(handle) = stream.make(at, &mut self.pool) else {
                    break;
                };
                write(self.pool[&handle].data_mut(), due);
                self.batch.push(handle);
                way.pass();
                last = due;
            }
            if self.batch.is_empty() {
                return Ok(());
            }
            self.far.transmit(&mut self.pool, &mut self.batch)?;
            self.far.flush(&mut self.pool)?;
            let dropped = self.near.counters().receive_drops;
            let mut lost = dropped - std::mem::replace(&mut self.dropped, dropped);
            // What its own socket has no room for never comes either.
            for packet in self.batch.drain() {
                self.pool.free(packet);
                lost += 1;
            }
            if lost > 0 {
                way.lose(lost, last);
            }
        }
    }

    /// Takes what the router has sent out of the kernel's way.
    fn take(&mut self) -> io::Result<()> {
        while self.far.receive(&mut self.pool, &mut self.batch)? > 0 {
            for packet in self.batch.drain() {
                self.pool.free(packet);
            }
        }
        Ok(())
    }
}

impl Device for KernelRing {
    fn name(&self) -> &str {
        self.near.name()
    }

    fn receive(&mut self, pool: &mut Pool, into: &mut Packets) -> io::Result<usize> {
        let now = self.time.now();
        let time = self.time.clone();
        if lock(&self.way).next_due(now).is_some() {
            time.aside(|| self.send(now))?;
        }
        let count = self.near.receive(pool, into)?;
        self.time.hold(count);
        lock(&self.way).took(now, count as u64);
        Ok(count)
    }

    fn transmit(&mut self, pool: &mut Pool, from: &mut Packets) -> io::Result<usize> {
        // The tester's own socket holds frames for a while, so when they are out is seen here.
        let mut way = lock(&self.way);
        for packet in from.iter() {
            let due = read(pool[packet].data());
            way.put_out(due.map_or(Stamp::NONE, |due| Stamp::new(0, due)));
        }
        let (all, count) = (from.len(), self.near.transmit(pool, from)?);
        way.take_back(all - count);
        self.gathered += count;
        self.time.hold_at_least(self.gathered);
        Ok(count)
    }

    fn flush(&mut self, pool: &mut Pool) -> io::Result<()> {
        self.time.hold_at_least(std::mem::take(&mut self.gathered));
        self.near.flush(pool)?;
        let (now, time) = (self.time.now(), self.time.clone());
        lock(&self.way).end_batch(now);
        time.aside(|| self.take())
    }

    fn unsent(&self) -> usize {
        self.near.unsent()
    }

    fn close(&mut self, pool: &mut Pool) {
        self.near.close(pool);
    }

    fn counters(&self) -> DeviceCounters {
        self.near.counters()
    }
}

fn write(frame: &mut [u8], at: u64) {
    if let Some(place) = frame.len().checked_sub(STAMP_BYTES) {
        frame[place..place + 4].copy_from_slice(&MARK);
        frame[place + 4..].copy_from_slice(&at.to_ne_bytes());
    }
}

fn read(frame: &[u8]) -> Option<u64> {
    let stamp = &frame[frame.len().checked_sub(STAMP_BYTES)?..];
    let (mark, at) = stamp.split_at(MARK.len());
    (mark == MARK).then(|| at.try_into().map(u64::from_ne_bytes).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_read_as_they_were_written() {
        let mut frame = vec![0; 60];
        assert_eq!(read(&frame), None);
        write(&mut frame, 77);
        assert_eq!((read(&frame), read(&frame[..8])), (Some(77), None));
    }
}
