//! The registers of a card: a 27-bit space of byte addresses, 32 bits each.
//!
//! One table, `table.rs`, says what each register is. Reads and writes by address or by name, the
//! reference page and the C header come from it. Addresses and names are those of the NetFPGA 1G
//! reference designs, release 3.0.1, so that a program written for a card finds what it expects.

mod block;
mod file;
mod header;
mod map;
mod reference;
pub(crate) mod table;

pub use block::{Access, Block, Register};
pub(crate) use block::{block, place};
pub(crate) use file::File;
pub use map::{Map, Named};

/// What a read of an address gives where no register is.
pub const UNKNOWN: u32 = 0xDEAD_BEEF;

/// Whatever has the registers of a card: the device itself, or a client far from it.
pub trait Registers {
    /// The register at the byte address `address`; [`UNKNOWN`] where there is none.
    fn read(&mut self, address: u32) -> u32;

    /// Writes the register at the byte address `address`. A write to no register, or to one that is
    /// only read, has no effect.
    fn write(&mut self, address: u32, value: u32);
}
