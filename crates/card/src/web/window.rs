//! The registers through which rows of tables are read and written.
//!
//! All programs share them. One that has written the fields of a row by hand and not yet its number
//! must not find others there because a page looked at the tables meanwhile.

use trammel_netfpga::registers::Registers;

/// `ROUTER_OP_LUT_…_RD_ADDR`: the rows that were read last.
const ROWS_READ: [u32; 3] = [0x200_0058, 0x200_006c, 0x200_0078];
/// `ROUTER_OP_LUT_…_ENTRY_…`: the fields of rows, and the MAC addresses between them stay.
const FIELDS: [u32; 8] = [
    0x200_0048, 0x200_004c, 0x200_0050, 0x200_0054, 0x200_0060, 0x200_0064, 0x200_0068, 0x200_0074,
];

/// Does `work`, which reads and writes rows, and leaves these registers as they were.
pub(super) fn undisturbed<R: Registers, T>(registers: &mut R, work: impl FnOnce(&mut R) -> T) -> T {
    let before = ROWS_READ.iter().chain(&FIELDS);
    let before: Vec<(u32, u32)> = before.map(|at| (*at, registers.read(*at))).collect();
    let done = work(registers);
    // The numbers of rows fill the fields, so they come first.
    for (address, value) in before {
        registers.write(address, value);
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::{Row, Tables};
    use trammel_netfpga::{Device, design};

    #[test]
    fn addresses_are_those_of_the_map() {
        let map = design("reference-router").unwrap().map();
        let named = |part: &'static str| {
            let named = map.all().filter(move |named| {
                named.name.starts_with("ROUTER_OP_LUT_") && named.name.contains(part)
            });
            named.map(|named| named.address).collect::<Vec<_>>()
        };
        assert_eq!(named("_RD_ADDR"), ROWS_READ);
        assert_eq!(named("_ENTRY_"), FIELDS);
    }

    #[test]
    fn a_row_that_is_being_written_by_hand_is_left_alone() {
        let mut card = Device::new(design("reference-router").unwrap());
        let row = |text: &str| Row::parse(&text.split(' ').collect::<Vec<_>>()).unwrap();
        row("arp 5 10.0.0.9 2:0:0:0:0:9").write(&mut card);
        for (at, address) in FIELDS.into_iter().enumerate() {
            card.write(address, 1 + at as u32);
        }
        undisturbed(&mut card, |card| {
            row("filter 1 10.0.0.1").write(card);
            Tables::read(card)
        });
        for (at, address) in FIELDS.into_iter().enumerate() {
            assert_eq!(card.read(address), 1 + at as u32, "{address:#x}");
        }
        let tables = Tables::read(&mut card);
        assert_eq!(tables.filter[1].octets(), [10, 0, 0, 1]);
        assert_eq!(tables.neighbours[5].mac, [2, 0, 0, 0, 0, 9]);
    }
}
