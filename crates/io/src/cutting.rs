//! A device that cannot carry super-packets, with those cut that come to it.
//!
//! Packets that stand for themselves pass as they are, at the cost of a look at each; those of one
//! that was cut wait here, in order, until the device has room for them.

use crate::offload::{Offload, OffloadCounters};
use std::collections::VecDeque;
use std::io;
use trammel_packet::batch::Packets;
use trammel_packet::device::{Device, DeviceCounters};
use trammel_packet::pool::{Handle, Pool};

/// No packet that stands for many is as short.
const SHORT_BYTES: usize = 1514;

/// A device behind something that cuts.
#[derive(Debug)]
pub struct Cutting {
    device: Box<dyn Device>,
    has_link_header: bool,
    /// Something to say of it from the start.
    remark: Option<String>,
    waiting: VecDeque<Handle>,
    scratch: Vec<u8>,
    counters: OffloadCounters,
    /// Packets lost since the pool was full.
    lost: u64,
}

impl Cutting {
    /// Before `device`, of frames or of bare packets.
    pub fn new(device: Box<dyn Device>, has_link_header: bool, remark: Option<String>) -> Cutting {
        Cutting {
            device,
            has_link_header,
            remark,
            waiting: VecDeque::new(),
            scratch: Vec::new(),
            counters: OffloadCounters::default(),
            lost: 0,
        }
    }

    /// Takes one packet to wait, in parts where it stands for many.
    fn take(&mut self, pool: &mut Pool, packet: Handle) {
        let inner = &pool[&packet];
        let offload = inner
            .super_packet()
            .and_then(|marked| Offload::of(inner.data(), self.has_link_header, marked));
        let Some(offload) = offload else {
            self.waiting.push_back(packet);
            return;
        };
        let frame = inner.data().to_vec();
        pool.free(packet);
        let (waiting, lost) = (&mut self.waiting, &mut self.lost);
        offload.resolve(
            &frame,
            self.has_link_header,
            &mut self.scratch,
            &mut self.counters,
            |part| match pool.alloc_with(part) {
                Some(part) => waiting.push_back(part),
                None => *lost += 1,
            },
        );
    }

    /// Gives the device what waits, as far as it has room.
    fn give(&mut self, pool: &mut Pool) -> io::Result<()> {
        while !self.waiting.is_empty() {
            let mut batch = Packets::new();
            while !batch.is_full() {
                let Some(packet) = self.waiting.pop_front() else {
                    break;
                };
                batch.push(packet);
            }
            let given = self.device.transmit(pool, &mut batch);
            let left: Vec<Handle> = batch.drain().collect();
            let is_stuck = !left.is_empty();
            for packet in left.into_iter().rev() {
                self.waiting.push_front(packet);
            }
            given?;
            if is_stuck {
                break;
            }
        }
        Ok(())
    }
}

impl Device for Cutting {
    fn name(&self) -> &str {
        self.device.name()
    }

    fn mac(&self) -> Option<[u8; 6]> {
        self.device.mac()
    }

    fn receive(&mut self, pool: &mut Pool, into: &mut Packets) -> io::Result<usize> {
        self.device.receive(pool, into)
    }

    fn transmit(&mut self, pool: &mut Pool, from: &mut Packets) -> io::Result<usize> {
        let is_super = |packet: &Handle| {
            pool[packet].len() > SHORT_BYTES && pool[packet].super_packet().is_some()
        };
        if self.waiting.is_empty() && !from.iter().any(is_super) {
            return self.device.transmit(pool, from);
        }
        self.give(pool)?;
        if !self.waiting.is_empty() {
            return Ok(0);
        }
        let count = from.len();
        for packet in from.drain() {
            self.take(pool, packet);
        }
        self.give(pool)?;
        Ok(count)
    }

    fn flush(&mut self, pool: &mut Pool) -> io::Result<()> {
        self.give(pool)?;
        self.device.flush(pool)?;
        self.give(pool)
    }

    fn unsent(&self) -> usize {
        self.device.unsent() + self.waiting.len()
    }

    fn send_descriptor(&self) -> Option<i32> {
        self.device.send_descriptor()
    }

    fn descriptor(&self) -> Option<i32> {
        self.device.descriptor()
    }

    fn is_exhausted(&self) -> bool {
        self.device.is_exhausted()
    }

    fn close(&mut self, pool: &mut Pool) {
        for packet in self.waiting.drain(..) {
            pool.free(packet);
        }
        self.device.close(pool);
    }

    fn counters(&self) -> DeviceCounters {
        let mut counters = self.device.counters();
        counters.send_errors += self.lost + self.counters.refused;
        counters
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks: Vec<String> = self.remark.clone().into_iter().collect();
        remarks.extend(self.device.remarks());
        if self.counters.super_packets > 0 {
            remarks.push(format!(
                "`{}` cannot carry super-packets: {} cut into {} packets",
                self.name(),
                self.counters.super_packets,
                self.counters.segments
            ));
        }
        remarks
    }
}
