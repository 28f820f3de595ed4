//! All registers of a design, by address and by name.

use crate::registers::block::{Block, Register, place};
use trammel_core::units::nearest;

/// The registers of one design.
#[derive(Clone, Debug)]
pub struct Map {
    blocks: Vec<&'static Block>,
}

/// A register in its place.
#[derive(Clone, Debug)]
pub struct Named {
    /// Its whole name, as in the C header: block, number, register, `REG`.
    pub name: String,
    /// Its byte address.
    pub address: u32,
    /// What there is to say of it.
    pub register: &'static Register,
}

impl Map {
    /// The map of `blocks`, in the order of their addresses.
    pub(crate) fn new(mut blocks: Vec<&'static Block>) -> Map {
        blocks.sort_by_key(|block| block.base);
        Map { blocks }
    }

    /// Its blocks in the order of their addresses.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = &'static Block> + '_ {
        self.blocks.iter().copied()
    }

    /// Every register in the order of the addresses.
    pub fn all(&self) -> impl Iterator<Item = Named> + '_ {
        self.blocks().flat_map(|block| {
            (0..block.instances).flat_map(move |instance| of_instance(block, instance))
        })
    }

    /// The register at the byte address `address`.
    pub fn at(&self, address: u32) -> Option<Named> {
        self.blocks().find_map(|block| {
            let (instance, _) = place(block, address)?;
            of_instance(block, instance as u32).find(|named| named.address == address)
        })
    }

    /// The register called `name`, in letters of either case and with or without `_REG`. The error
    /// is the nearest name, if one is near.
    pub fn find(&self, name: &str) -> Result<Named, Option<String>> {
        let mut wanted = name.to_ascii_uppercase();
        if !wanted.ends_with("_REG") {
            wanted += "_REG";
        }
        if let Some(named) = self.all().find(|named| named.name == wanted) {
            return Ok(named);
        }
        let names: Vec<_> = self.all().map(|named| named.name).collect();
        Err(nearest(&wanted, names.iter().map(String::as_str)))
    }
}

fn of_instance(block: &'static Block, instance: u32) -> impl Iterator<Item = Named> {
    let prefix = match block.instances {
        1 => block.name.to_owned(),
        _ => format!("{}_{instance}", block.name),
    };
    let base = block.base + instance * block.stride;
    block.registers.iter().flat_map(move |register| {
        let prefix = prefix.clone();
        (0..register.words).map(move |word| {
            let number = match register.words {
                1 => String::new(),
                _ => format!("_{word}"),
            };
            Named {
                name: format!("{prefix}_{}{number}_REG", register.name),
                address: base + register.offset + 4 * word,
                register,
            }
        })
    })
}
