//! The tables of the reference router as one value, and the rows that people write.

mod file;
mod row;
mod show;

pub use file::read_rows;
pub use row::{Row, Which};

use trammel_netfpga::registers::Registers;
use trammel_netfpga::stages::PORTS;
use trammel_netfpga::tables::{
    ArpRow, ROWS, RouteRow, read_arp, read_filter, read_mac, read_route,
};

use std::net::Ipv4Addr;

/// All tables of a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tables {
    /// Routes; the lowest row that matches a destination counts.
    pub routes: [RouteRow; ROWS],
    /// Next hops and their MAC addresses.
    pub neighbours: [ArpRow; ROWS],
    /// Destinations whose packets are for the host; 0.0.0.0 is an unused row.
    pub filter: [Ipv4Addr; ROWS],
    /// The MAC addresses of the ports.
    pub macs: [[u8; 6]; PORTS],
}

impl Tables {
    /// Reads them: 392 accesses, which do not depend on each other.
    pub fn read(card: &mut impl Registers) -> Tables {
        Tables {
            routes: std::array::from_fn(|row| read_route(card, row)),
            neighbours: std::array::from_fn(|row| read_arp(card, row)),
            filter: std::array::from_fn(|row| read_filter(card, row)),
            macs: std::array::from_fn(|port| read_mac(card, port)),
        }
    }

    /// Writes the rows that differ from those of `before`, which the card has. How many those are.
    #[cfg(target_os = "linux")]
    pub(crate) fn write_changes(&self, before: &Tables, card: &mut impl Registers) -> usize {
        use trammel_netfpga::tables::{write_arp, write_filter, write_mac, write_route};
        let mut count = 0;
        let mut differs = |is: bool| {
            count += usize::from(is);
            is
        };
        for row in 0..ROWS {
            if differs(self.routes[row] != before.routes[row]) {
                write_route(card, row, &self.routes[row]);
            }
            if differs(self.neighbours[row] != before.neighbours[row]) {
                write_arp(card, row, &self.neighbours[row]);
            }
            if differs(self.filter[row] != before.filter[row]) {
                write_filter(card, row, self.filter[row]);
            }
        }
        for port in 0..PORTS {
            if differs(self.macs[port] != before.macs[port]) {
                write_mac(card, port, self.macs[port]);
            }
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_netfpga::{Device, design};

    #[test]
    fn what_is_written_is_read_back_and_only_what_differs_is_written() {
        let mut card = Device::new(design("reference-router").unwrap());
        let before = Tables::read(&mut card);
        assert_eq!(before.routes, [RouteRow::EMPTY; ROWS]);
        assert_eq!(before.neighbours, [ArpRow::EMPTY; ROWS]);
        let mut wanted = before.clone();
        wanted.routes[3] = RouteRow {
            network: [10, 1, 0, 0].into(),
            mask: [255, 255, 0, 0].into(),
            next_hop: [10, 2, 0, 1].into(),
            queues: 4,
        };
        wanted.neighbours[31] = ArpRow {
            address: [10, 2, 0, 1].into(),
            mac: [2, 0, 0, 0, 0, 1],
        };
        wanted.filter[0] = [224, 0, 0, 5].into();
        wanted.macs[2] = [2, 0, 0, 0, 0, 2];
        assert_eq!(wanted.write_changes(&before, &mut card), 4);
        let after = Tables::read(&mut card);
        assert_eq!(after, wanted);
        assert_eq!(wanted.write_changes(&after, &mut card), 0);
        assert_eq!(before.write_changes(&after, &mut card), 4);
        assert_eq!(Tables::read(&mut card), before);
    }
}
