//! A learning Ethernet switch of four ports with a table of 16 addresses.
//!
//! Modelled on the NetFPGA 1G reference switch. A frame from a port goes to the ports that the
//! table has for its destination, else to all others; its source is learnt. A full table gives up
//! the row that was learnt longest ago, but for rows that software protects. A frame from the host
//! goes to the port beside its interface.

use crate::device::Design;
use crate::registers::{File, block, place};
use crate::stages::ethernet::{destination, is_group, source};
use crate::stages::lookup::Lookup;
use crate::stages::queue::{Queue, Queues};
use trammel_core::time::Time;

/// This design.
pub static ENTRY: Design = Design {
    name: "reference-switch",
    title: "Reference switch",
    summary: "learning Ethernet switch of four ports with a table of 16 addresses",
    id: 2,
    blocks: &[&switch_lookup::BLOCK],
    lookup: || Box::new(Switch::new()),
};

block! {
    switch_lookup, "SWITCH_OP_LUT" at 0x2000000, 1 of 0x100,
    "The switch's output port lookup: counters, and the table of learnt addresses";
    PORTS_MAC_HI, 0x00, 1, 32, ReadWrite, "row: bit 31: protected; bits 16 to 30: queues, one bit \
        each; bits 0 to 15: upper 16 bits of the address";
    MAC_LO, 0x04, 1, 32, ReadWrite, "row: lower 32 bits of the address";
    NUM_HITS, 0x08, 1, 32, Counter, "frames whose destination was in the table";
    NUM_MISSES, 0x0c, 1, 32, Counter, "frames that were flooded";
    MAC_LUT_RD_ADDR, 0x10, 1, 4, Command, "fills the row's registers from this row";
    MAC_LUT_WR_ADDR, 0x14, 1, 4, Command, "writes the row's registers to this row";
}
use switch_lookup as word;

/// Rows of the table.
const ROWS: usize = 16;

/// A learnt address, the queues it is behind, and whether software keeps it.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    mac: u64,
    queues: Queues,
    is_protected: bool,
}

#[derive(Debug)]
struct Switch {
    file: File,
    rows: [Row; ROWS],
    /// The row that is learnt into next.
    next: usize,
}

impl Switch {
    fn new() -> Switch {
        Switch {
            file: File::new(&word::BLOCK),
            rows: [Row::default(); ROWS],
            next: 0,
        }
    }

    /// The lowest row in use that has `mac`.
    fn find(&self, mac: u64) -> Option<usize> {
        let has = |row: &Row| row.mac == mac && row.queues != Queues::NONE;
        self.rows.iter().position(has)
    }

    fn learn(&mut self, mac: u64, from: Queue) {
        if is_group(mac) {
            return;
        }
        let queues = Queues::one(from);
        if let Some(row) = self.find(mac) {
            if !self.rows[row].is_protected {
                self.rows[row].queues = queues;
            }
            return;
        }
        for _ in 0..ROWS {
            let row = self.next;
            self.next = (self.next + 1) % ROWS;
            if !self.rows[row].is_protected {
                self.rows[row] = Row {
                    mac,
                    queues,
                    is_protected: false,
                };
                return;
            }
        }
    }
}

impl Lookup for Switch {
    fn look_up(&mut self, from: Queue, frame: &mut [u8], _now: Time) -> Queues {
        if from.is_cpu() {
            return Queues::one(from.pair());
        }
        self.learn(source(frame), from);
        match self.find(destination(frame)) {
            Some(row) => {
                self.file.count(word::NUM_HITS);
                self.rows[row].queues.without(Queues::one(from))
            }
            None => {
                self.file.count(word::NUM_MISSES);
                Queues::MACS.without(Queues::one(from))
            }
        }
    }

    fn read(&self, address: u32) -> Option<u32> {
        let (_, at) = place(&word::BLOCK, address)?;
        Some(self.file.get(at))
    }

    fn write(&mut self, address: u32, value: u32) -> bool {
        let Some((_, at)) = place(&word::BLOCK, address) else {
            return false;
        };
        self.file.write(at, value);
        let number = self.file.get(at) as usize;
        match at {
            word::MAC_LUT_RD_ADDR => {
                let row = self.rows[number];
                let hi = u32::from(row.is_protected) << 31 | u32::from(row.queues.0) << 16;
                self.file
                    .set(word::PORTS_MAC_HI, hi | (row.mac >> 32) as u32);
                self.file.set(word::MAC_LO, row.mac as u32);
            }
            word::MAC_LUT_WR_ADDR => {
                let hi = self.file.get(word::PORTS_MAC_HI);
                let lo = u64::from(self.file.get(word::MAC_LO));
                self.rows[number] = Row {
                    mac: u64::from(hi & 0xffff) << 32 | lo,
                    queues: Queues((hi >> 16) as u8),
                    is_protected: hi >> 31 == 1,
                };
            }
            _ => (),
        }
        true
    }
}
