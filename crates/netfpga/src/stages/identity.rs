//! The registers that say which design a card has.

use crate::registers::table::device_id as word;
use crate::registers::{File, Map, place};

/// Version 1.0.0.
const VERSION: u32 = 0x01_00_00;

/// The block, filled.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    file: File,
}

impl Identity {
    /// Of the design number `id` with its short name, its name for people, what it does, and its
    /// registers.
    pub(crate) fn new(id: u32, [short, name, help]: [&str; 3], map: &Map) -> Identity {
        let mut file = File::new(&word::BLOCK);
        file.set(word::DEVICE_ID, id);
        file.set(word::VERSION, VERSION);
        for (word, part) in digest(map)
            .to_be_bytes()
            .as_chunks::<4>()
            .0
            .iter()
            .enumerate()
        {
            file.set(word::MD5 + word, u32::from_be_bytes(*part));
        }
        let places = [
            (word::PROJ_DIR, word::PROJ_NAME, short),
            (word::PROJ_NAME, word::PROJ_DESC, name),
            (word::PROJ_DESC, word::BLOCK.words(), help),
        ];
        for (first, end, text) in places {
            // The last word stays 0, so that a text ends.
            for (at, part) in (first..end - 1).zip(text.as_bytes().chunks(4)) {
                let mut characters = [0; 4];
                characters[..part.len()].copy_from_slice(part);
                file.set(at, u32::from_be_bytes(characters));
            }
        }
        Identity { file }
    }

    pub(crate) fn read(&self, address: u32) -> Option<u32> {
        let (_, at) = place(&word::BLOCK, address)?;
        Some(self.file.get(at))
    }
}

/// FNV-1a of 128 bits over the names and addresses of all registers: equal for equal maps.
fn digest(map: &Map) -> u128 {
    let mut digest = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
    for named in map.all() {
        for byte in named.name.bytes().chain(named.address.to_be_bytes()) {
            digest ^= u128::from(byte);
            digest = digest.wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    }
    digest
}
