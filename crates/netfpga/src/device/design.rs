//! A design: a name, a lookup, and the registers that only it has.

use crate::registers::table;
use crate::registers::{Block, Map};
use crate::stages::lookup::Lookup;

/// A design of the card. All designs share the queues, MACs and registers around the lookup.
#[derive(Debug)]
pub struct Design {
    /// Its name on the command line and in reports.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// Its number in the register `DEV_ID_DEVICE_ID_REG`.
    pub id: u32,
    /// The registers of its lookup.
    pub(crate) blocks: &'static [&'static Block],
    /// Makes its lookup.
    pub(crate) lookup: fn() -> Box<dyn Lookup>,
}

impl Design {
    /// Its registers.
    pub fn map(&self) -> Map {
        let mut blocks = vec![
            &table::device_id::BLOCK,
            &table::mdio::BLOCK,
            &table::dma::BLOCK,
            &table::mac_group::BLOCK,
            &table::cpu_queue::BLOCK,
            &table::input_arbiter::BLOCK,
            &table::output_queues::BLOCK,
        ];
        blocks.extend(self.blocks);
        Map::new(blocks)
    }
}
