//! The registers of a card as the data plane of the control software.

use std::cell::RefCell;
use std::net::Ipv4Addr;
use trammel_control::dataplane::{Dataplane, Mac, Neighbour, Route, TableFull};
use trammel_netfpga::registers::Registers;
use trammel_netfpga::stages::{PORTS, Queue, Queues};
use trammel_netfpga::tables::{
    ArpRow, ROWS, RouteRow, read_arp, read_filter, read_mac, read_route, write_arp, write_filter,
    write_mac, write_route,
};

/// Counters of the lookup, in the order of their registers.
const COUNTERS: [&str; 10] = [
    "arp_num_misses",
    "lpm_num_misses",
    "num_cpu_pkts_sent",
    "num_bad_opts_ver",
    "num_bad_chksums",
    "num_bad_ttls",
    "num_non_ip_rcvd",
    "num_pkts_forwarded",
    "num_wrong_dest",
    "num_filtered_pkts",
];
/// The first of them, `ROUTER_OP_LUT_ARP_NUM_MISSES_REG`.
const FIRST_COUNTER: u32 = 0x200_0000;
/// `MAC_GRP_0_CONTROL_REG`, and the distance to the next port's.
const MAC_CONTROL: (u32, u32) = (0x60_0000, 0x4_0000);
/// In a port's control register: neither queue takes frames, the MAC neither sends nor receives.
const ALL_OFF: u32 = 0b1_1011;
/// `OQ_QUEUE_0_CTRL_REG`, and the distance to the next queue's.
const QUEUE_CONTROL: (u32, u32) = (0x200_1000, 0x200);
/// In a queue's control register: it is emptied, and sends.
const EMPTIED: u32 = 0b11;

/// The tables of a card by its registers: a row is read before it is written, and written only if
/// it differs.
#[derive(Debug)]
pub struct RegisterDataplane<'a, R> {
    registers: RefCell<&'a mut R>,
    is_read_only: bool,
}

impl<'a, R: Registers> RegisterDataplane<'a, R> {
    /// Of the card that has these registers.
    pub fn new(registers: &'a mut R) -> RegisterDataplane<'a, R> {
        RegisterDataplane {
            registers: RefCell::new(registers),
            is_read_only: false,
        }
    }

    /// The same, with routes, neighbours and own addresses left as they are.
    #[cfg(target_os = "linux")]
    pub(crate) fn read_only(mut self) -> Self {
        self.is_read_only = true;
        self
    }

    /// Makes the rows of a table those of `entries`, and unused ones `empty`.
    fn set<T: PartialEq + Copy>(
        &mut self,
        table: &'static str,
        entries: impl ExactSizeIterator<Item = T>,
        empty: T,
        read: impl Fn(&mut R, usize) -> T,
        write: impl Fn(&mut R, usize, &T),
    ) -> Result<(), TableFull> {
        if self.is_read_only {
            return Ok(());
        }
        let count = entries.len();
        let registers: &mut R = self.registers.get_mut();
        let rows = entries.chain(std::iter::repeat(empty)).take(ROWS);
        for (row, wanted) in rows.enumerate() {
            if read(registers, row) != wanted {
                write(registers, row, &wanted);
            }
        }
        if count <= ROWS {
            return Ok(());
        }
        Err(TableFull {
            table,
            places: ROWS,
            entries: count,
        })
    }

    /// The rows of a table that are not `empty`.
    fn all<T: PartialEq>(&self, empty: &T, read: impl Fn(&mut R, usize) -> T) -> Vec<T> {
        let mut registers = self.registers.borrow_mut();
        let rows = (0..ROWS).map(|row| read(&mut registers, row));
        rows.filter(|row| row != empty).collect()
    }
}

impl<R: Registers> Dataplane for RegisterDataplane<'_, R> {
    fn ports(&self) -> usize {
        PORTS
    }

    fn set_mac(&mut self, port: usize, mac: Mac) {
        let registers: &mut R = self.registers.get_mut();
        if port < PORTS && read_mac(registers, port) != mac {
            write_mac(registers, port, mac);
        }
    }

    fn set_up(&mut self, port: usize, up: bool) {
        if port >= PORTS {
            return;
        }
        let registers: &mut R = self.registers.get_mut();
        let address = MAC_CONTROL.0 + MAC_CONTROL.1 * port as u32;
        let before = registers.read(address);
        let after = if up {
            before & !ALL_OFF
        } else {
            before | ALL_OFF
        };
        if before == after {
            return;
        }
        if up {
            // What was to leave while the port was down is out of date.
            let queue = Queue::mac(port).number() as u32;
            registers.write(QUEUE_CONTROL.0 + QUEUE_CONTROL.1 * queue, EMPTIED);
        }
        registers.write(address, after);
    }

    fn set_routes(&mut self, routes: &[Route]) -> Result<(), TableFull> {
        let rows = routes.iter().map(|route| RouteRow {
            network: route.network,
            mask: route.mask,
            next_hop: route.next_hop,
            // A route by a port that the card has not leads nowhere.
            queues: if route.port < PORTS {
                Queues::one(Queue::mac(route.port)).0
            } else {
                0
            },
        });
        self.set(
            "table of routes",
            rows,
            RouteRow::EMPTY,
            read_route,
            write_route,
        )
    }

    fn set_neighbours(&mut self, neighbours: &[Neighbour]) -> Result<(), TableFull> {
        let rows = neighbours.iter().map(|neighbour| ArpRow {
            address: neighbour.address,
            mac: neighbour.mac,
        });
        self.set("ARP table", rows, ArpRow::EMPTY, read_arp, write_arp)
    }

    fn set_own_addresses(&mut self, addresses: &[Ipv4Addr]) -> Result<(), TableFull> {
        self.set(
            "destination filter",
            addresses.iter().copied(),
            Ipv4Addr::UNSPECIFIED,
            read_filter,
            |registers, row, address| write_filter(registers, row, *address),
        )
    }

    fn mac(&self, port: usize) -> Mac {
        if port >= PORTS {
            return [0; 6];
        }
        read_mac(&mut **self.registers.borrow_mut(), port)
    }

    fn routes(&self) -> Vec<Route> {
        let rows = self.all(&RouteRow::EMPTY, read_route);
        let route = |row: RouteRow| Route {
            network: row.network,
            mask: row.mask,
            next_hop: row.next_hop,
            port: row.queues.trailing_zeros() as usize / 2,
        };
        rows.into_iter().map(route).collect()
    }

    fn neighbours(&self) -> Vec<Neighbour> {
        let rows = self.all(&ArpRow::EMPTY, read_arp);
        let neighbour = |row: ArpRow| Neighbour {
            address: row.address,
            mac: row.mac,
        };
        rows.into_iter().map(neighbour).collect()
    }

    fn own_addresses(&self) -> Vec<Ipv4Addr> {
        self.all(&Ipv4Addr::UNSPECIFIED, read_filter)
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let mut registers = self.registers.borrow_mut();
        let address = |at: usize| FIRST_COUNTER + 4 * at as u32;
        let names = COUNTERS.iter().enumerate();
        names
            .map(|(at, name)| (*name, u64::from(registers.read(address(at)))))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_netfpga::stages::Fcs;
    use trammel_netfpga::{Device, design};

    /// A card that counts what is written.
    struct Counting(Device, usize);

    impl Registers for Counting {
        fn read(&mut self, address: u32) -> u32 {
            self.0.read(address)
        }

        fn write(&mut self, address: u32, value: u32) {
            self.1 += 1;
            self.0.write(address, value);
        }
    }

    fn counting() -> Counting {
        Counting(Device::new(design("reference-router").unwrap()), 0)
    }

    fn route(third: u8) -> Route {
        Route {
            network: [10, 0, third, 0].into(),
            mask: [255, 255, 255, 0].into(),
            next_hop: Ipv4Addr::UNSPECIFIED,
            port: 3,
        }
    }

    #[test]
    fn addresses_are_those_of_the_map() {
        let map = design("reference-router").unwrap().map();
        for (at, name) in COUNTERS.iter().enumerate() {
            let named = map.find(&format!("ROUTER_OP_LUT_{name}")).unwrap();
            assert_eq!(named.address, FIRST_COUNTER + 4 * at as u32, "{name}");
        }
        for number in 0..4 {
            let named = map.find(&format!("MAC_GRP_{number}_CONTROL")).unwrap();
            assert_eq!(named.address, MAC_CONTROL.0 + MAC_CONTROL.1 * number);
        }
        for number in 0..8 {
            let named = map.find(&format!("OQ_QUEUE_{number}_CTRL")).unwrap();
            assert_eq!(named.address, QUEUE_CONTROL.0 + QUEUE_CONTROL.1 * number);
        }
    }

    #[test]
    fn tables_are_read_back_and_only_rows_that_differ_are_written() {
        let mut counting = counting();
        let mut card = RegisterDataplane::new(&mut counting);
        let routes: Vec<Route> = (0..3).map(route).collect();
        assert_eq!(card.set_routes(&routes), Ok(()));
        assert_eq!(card.routes(), routes);
        // Each row that differs takes five writes, each that is read one.
        card.registers.get_mut().1 = 0;
        assert_eq!(card.set_routes(&routes[..2]), Ok(()));
        assert_eq!(card.registers.get_mut().1, ROWS + 5);
        assert_eq!(card.routes(), routes[..2]);
        let all = [Neighbour {
            address: [10, 0, 0, 2].into(),
            mac: [2, 0, 0, 0, 0, 2],
        }];
        assert_eq!(card.set_neighbours(&all), Ok(()));
        assert_eq!(card.neighbours(), all);
        let own = [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(224, 0, 0, 5)];
        assert_eq!(card.set_own_addresses(&own), Ok(()));
        assert_eq!(card.own_addresses(), own);
        card.set_mac(1, [2, 0, 0, 0, 0, 1]);
        card.set_mac(4, [2, 0, 0, 0, 0, 4]);
        assert_eq!(card.mac(1), [2, 0, 0, 0, 0, 1]);
        assert_eq!((card.mac(4), card.ports()), ([0; 6], 4));
    }

    #[test]
    fn a_table_that_is_too_small_has_the_first_entries() {
        let mut counting = counting();
        let mut card = RegisterDataplane::new(&mut counting);
        let routes: Vec<Route> = (0..40).map(route).collect();
        let full = TableFull {
            table: "table of routes",
            places: 32,
            entries: 40,
        };
        assert_eq!(card.set_routes(&routes), Err(full));
        assert_eq!(card.routes(), routes[..32]);
    }

    #[test]
    fn a_port_that_is_down_takes_nothing_and_keeps_nothing() {
        let mut counting = counting();
        let mut card = RegisterDataplane::new(&mut counting);
        let arp = [&[0xff; 6][..], &[2, 0, 0, 0, 0, 1, 8, 6], &[0; 46]].concat();
        card.set_up(2, false);
        card.set_up(7, false);
        let device = &mut card.registers.get_mut().0;
        assert_eq!(device.receive(Queue::mac(2), &arp, Fcs::Good), Queues::NONE);
        device.receive(Queue::cpu(2), &arp, Fcs::Good);
        let mut frame = Vec::new();
        assert!(!device.transmit(Queue::mac(2), &mut frame));
        card.set_up(2, true);
        let device = &mut card.registers.get_mut().0;
        assert!(!device.transmit(Queue::mac(2), &mut frame));
        device.receive(Queue::cpu(2), &arp, Fcs::Good);
        assert!(device.transmit(Queue::mac(2), &mut frame));
        assert_eq!(frame, arp);
        let forwarded = card.counters()[2];
        assert_eq!(forwarded, ("num_cpu_pkts_sent", 2));
    }
}
