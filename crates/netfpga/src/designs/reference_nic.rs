//! Four network interfaces: each port and the host interface beside it are one.
//!
//! Modelled on the NetFPGA 1G reference NIC.

use crate::device::Design;
use crate::stages::lookup::Lookup;
use crate::stages::queue::{Queue, Queues};
use trammel_core::time::Time;

/// This design.
pub static ENTRY: Design = Design {
    name: "reference-nic",
    title: "Reference NIC",
    summary: "four network interfaces: frames pass between each port and its host interface",
    id: 1,
    blocks: &[],
    lookup: || Box::new(Pair),
};

#[derive(Debug)]
struct Pair;

impl Lookup for Pair {
    fn look_up(&mut self, from: Queue, _frame: &mut [u8], _now: Time) -> Queues {
        Queues::one(from.pair())
    }

    fn read(&self, _address: u32) -> Option<u32> {
        None
    }

    fn write(&mut self, _address: u32, _value: u32) -> bool {
        false
    }
}
