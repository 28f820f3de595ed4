//! The PHYs' registers: whether a link is up.

use crate::registers::table::mdio as word;
use crate::registers::{File, place};
use crate::stages::queue::PORTS;

/// In [`word::STATUS`]: the link is up.
const LINK_UP: u32 = 1 << 2;
/// In [`word::STATUS`]: negotiation complete and possible, 1000BASE-T status present.
const ABILITIES: u32 = 1 << 8 | 1 << 5 | 1 << 3;

/// The four PHYs.
#[derive(Clone, Debug)]
pub(crate) struct Phys {
    files: [File; PORTS],
}

impl Phys {
    pub(crate) fn new() -> Phys {
        let mut file = File::new(&word::BLOCK);
        file.set(word::STATUS, ABILITIES | LINK_UP);
        Phys {
            files: std::array::from_fn(|_| file.clone()),
        }
    }

    /// The link of `port` is up or down.
    pub(crate) fn set_link(&mut self, port: usize, is_up: bool) {
        let status = ABILITIES | if is_up { LINK_UP } else { 0 };
        self.files[port].set(word::STATUS, status);
    }

    pub(crate) fn read(&self, address: u32) -> Option<u32> {
        let (port, at) = place(&word::BLOCK, address)?;
        Some(self.files[port].get(at))
    }

    pub(crate) fn write(&mut self, address: u32, value: u32) -> bool {
        let place = place(&word::BLOCK, address);
        if let Some((port, at)) = place {
            self.files[port].write(at, value);
        }
        place.is_some()
    }
}
