//! Whole batches: the first table of the graph asked in a loop of its own.
//!
//! Most packets of most rule sets are decided by the first table. What the loop needs of it stays
//! in registers, and where all that the rules ask lies near the start of the data, as byte patterns
//! do, one comparison stands for all bounds. A packet that leads to further tables, or is shorter
//! than that, goes the way of single packets.

use super::Program;
use super::compile::{OUTPUT, Target};
use super::expr::Base;
use super::run::Op;
use super::tables::Exact;
use trammel_packet::batch::{CAPACITY, Packets};
use trammel_packet::packet::Packet;
use trammel_packet::pool::Pool;

/// Windows that start before this byte of the data are near: a power of two.
const NEAR: usize = 64;

impl Program {
    /// The outputs of the packets of a batch, in order; [`Program::DROPPED`] or [`Program::DENIED`]
    /// where one is dropped.
    #[inline]
    pub fn classify_batch(&self, pool: &Pool, batch: &Packets, outputs: &mut [u32; CAPACITY]) {
        match self.machine.op(self.whole) {
            Some(Op::One(table)) => self.by_table(table, pool, batch, outputs),
            Some(Op::Two(table)) => self.by_table(table, pool, batch, outputs),
            Some(Op::Three(table)) => self.by_table(table, pool, batch, outputs),
            _ => {
                for (handle, output) in batch.iter().zip(outputs) {
                    *output = self.decide(&Program::frame(&pool[handle])) & !OUTPUT;
                }
            }
        }
    }

    fn by_table<const N: usize>(
        &self,
        table: &Exact<N>,
        pool: &Pool,
        batch: &Packets,
        outputs: &mut [u32; CAPACITY],
    ) {
        let table = *table;
        if let Some(offsets) = table.offsets_from(Base::Data, NEAR)
            && self.needs.iter().all(|&(base, _)| base == Base::Data)
        {
            let need = self.needs[0].1 as usize;
            self.each(&table, pool, batch, outputs, |packet| {
                let data = packet.buffer().get(packet.offset()..)?;
                let near: &[u8; NEAR + 8] = data.first_chunk()?;
                (packet.len() >= need).then(|| {
                    offsets.map(|at| {
                        let at = at & (NEAR - 1);
                        u64::from_ne_bytes(
                            near[at..at + 8]
                                .try_into()
                                .expect("the slice has eight bytes"),
                        )
                    })
                })
            });
            return;
        }
        // A third base is seldom named; where it is not, the first is repeated.
        let [first, second, third] = self.needs;
        if first == third {
            self.each(&table, pool, batch, outputs, |packet| {
                let frame = Program::frame(packet);
                frame.has(&[first, second]).then(|| table.windows(&frame))
            });
        } else {
            self.each(&table, pool, batch, outputs, |packet| {
                let frame = Program::frame(packet);
                frame
                    .has(&[first, second, third])
                    .then(|| table.windows(&frame))
            });
        }
    }

    /// By `table`, the first, the bytes that `windows` sees; a packet without these goes alone.
    #[inline]
    fn each<const N: usize>(
        &self,
        table: &Exact<N>,
        pool: &Pool,
        batch: &Packets,
        outputs: &mut [u32; CAPACITY],
        windows: impl Fn(&Packet) -> Option<[u64; N]>,
    ) {
        for (handle, output) in batch.iter().zip(outputs) {
            let packet = &pool[handle];
            let target = match windows(packet) {
                Some(windows) => match table.find(&self.machine.cases, windows) {
                    target if target & OUTPUT != 0 => target,
                    target => self.further(target, packet),
                },
                None => self.alone(packet),
            };
            *output = target & !OUTPUT;
        }
    }

    #[inline(never)]
    fn further(&self, target: Target, packet: &Packet) -> Target {
        self.machine.run(target, &Program::frame(packet))
    }

    #[cold]
    #[inline(never)]
    fn alone(&self, packet: &Packet) -> Target {
        self.decide(&Program::frame(packet))
    }
}
