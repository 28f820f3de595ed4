//! A row of a table as people write it: `route 0 10.1.0.0/16 via 10.2.0.1 port 1`.

use std::net::Ipv4Addr;
use trammel_core::units::nearest;
use trammel_netfpga::registers::Registers;
use trammel_netfpga::stages::{PORTS, Queue, Queues};
use trammel_netfpga::tables::{
    ArpRow, ROWS, RouteRow, write_arp, write_filter, write_mac, write_route,
};

/// A table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Routes.
    Route,
    /// Next hops.
    Arp,
    /// Destinations for the host.
    Filter,
    /// MAC addresses of the ports.
    Mac,
}

impl Which {
    /// All of them.
    pub const ALL: [Which; 4] = [Which::Route, Which::Arp, Which::Filter, Which::Mac];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Which::Route => "route",
            Which::Arp => "arp",
            Which::Filter => "filter",
            Which::Mac => "mac",
        }
    }

    /// The table called `name`.
    ///
    /// # Errors
    /// Where there is none; the text says which there are.
    pub fn find(name: &str) -> Result<Which, String> {
        let found = Which::ALL.into_iter().find(|which| which.name() == name);
        found.ok_or_else(|| {
            let names = Which::ALL.map(Which::name);
            let hint = nearest(name, names.into_iter()).map_or_else(
                || format!("there are {}", names.join(", ")),
                |near| format!("did you mean `{near}`?"),
            );
            format!("no table `{}`: {hint}", name.escape_default())
        })
    }
}

/// A row with its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    /// Of the route table.
    Route(usize, RouteRow),
    /// Of the ARP table.
    Arp(usize, ArpRow),
    /// Of the destination filter.
    Filter(usize, Ipv4Addr),
    /// The MAC address of a port.
    Mac(usize, [u8; 6]),
}

impl Row {
    /// Reads the words of a row: the table's name, the row, its fields.
    ///
    /// # Errors
    /// What is wrong with them, and what would be right.
    pub fn parse(words: &[&str]) -> Result<Row, String> {
        let [table, place, fields @ ..] = words else {
            return Err("a row begins with its table and its number: `filter 0 10.0.0.1`".into());
        };
        match Which::find(table)? {
            Which::Route => Ok(Row::Route(number("row", place, ROWS)?, route(fields)?)),
            Which::Arp => match fields {
                [ip, mac] => {
                    let row = ArpRow {
                        address: address(ip)?,
                        mac: parse_mac(mac)?,
                    };
                    Ok(Row::Arp(number("row", place, ROWS)?, row))
                }
                _ => Err("a row of `arp` is ADDRESS MAC: `arp 0 10.2.0.1 2:0:0:0:0:1`".into()),
            },
            Which::Filter => match fields {
                [ip] => Ok(Row::Filter(number("row", place, ROWS)?, address(ip)?)),
                _ => Err("a row of `filter` is ADDRESS: `filter 0 10.0.0.1`".into()),
            },
            Which::Mac => match fields {
                [mac] => Ok(Row::Mac(number("port", place, PORTS)?, parse_mac(mac)?)),
                _ => Err("a row of `mac` is PORT MAC: `mac 0 ca:fe:f0:0d:00:01`".into()),
            },
        }
    }

    /// The row of `which` at `place` without anything in it; MAC addresses cannot be cleared.
    pub fn empty(which: Which, place: usize) -> Option<Row> {
        match which {
            Which::Route => Some(Row::Route(place, RouteRow::EMPTY)),
            Which::Arp => Some(Row::Arp(place, ArpRow::EMPTY)),
            Which::Filter => Some(Row::Filter(place, Ipv4Addr::UNSPECIFIED)),
            Which::Mac => None,
        }
    }

    /// Writes it.
    pub fn write(&self, card: &mut impl Registers) {
        match self {
            Row::Route(row, route) => write_route(card, *row, route),
            Row::Arp(row, neighbour) => write_arp(card, *row, neighbour),
            Row::Filter(row, address) => write_filter(card, *row, *address),
            Row::Mac(port, mac) => write_mac(card, *port, *mac),
        }
    }
}

/// A number below `count`.
fn number(what: &str, word: &str, count: usize) -> Result<usize, String> {
    let number = word.parse().ok().filter(|number| *number < count);
    number.ok_or_else(|| {
        let word = word.escape_default();
        format!("`{word}` is no {what}: they are 0 to {}", count - 1)
    })
}

fn address(word: &str) -> Result<Ipv4Addr, String> {
    word.parse().map_err(|_| {
        let word = word.escape_default();
        format!("`{word}` is no IPv4 address: write it as `10.0.0.1`")
    })
}

fn parse_mac(word: &str) -> Result<[u8; 6], String> {
    let parts: Vec<&str> = word.split(':').collect();
    let byte = |part: &&str| {
        let is_short = (1..=2).contains(&part.len());
        is_short
            .then(|| u8::from_str_radix(part, 16).ok())
            .flatten()
    };
    let bytes: Option<Vec<u8>> = parts.iter().map(byte).collect();
    bytes
        .and_then(|bytes| bytes.try_into().ok())
        .ok_or_else(|| {
            let word = word.escape_default();
            format!("`{word}` is no MAC address: write it as `ca:fe:f0:0d:00:01`")
        })
}

/// `NETWORK/BITS` or `NETWORK/MASK`, and then `via NEXT_HOP` and `port N`.
fn route(fields: &[&str]) -> Result<RouteRow, String> {
    const FORM: &str = "a row of `route` is NETWORK/BITS [via ADDRESS] port N: `route 0 \
                        10.1.0.0/16 via 10.2.0.1 port 1`";
    let (network, next_hop, port) = match fields {
        [network, "port", port] => (network, "0.0.0.0", port),
        [network, "via", next_hop, "port", port] => (network, *next_hop, port),
        _ => return Err(FORM.into()),
    };
    let (network, mask) = network.split_once('/').ok_or(FORM)?;
    let mask = match mask.parse::<u8>() {
        Ok(bits @ 0..=32) => {
            let ones = u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0);
            Ipv4Addr::from_bits(ones)
        }
        Ok(bits) => return Err(format!("a network has 0 to 32 bits, not {bits}")),
        Err(_) => address(mask)?,
    };
    let queues = match port.strip_prefix("host") {
        Some(port) => Queues::one(Queue::cpu(number("port", port, PORTS)?)),
        None => Queues::one(Queue::mac(number("port", port, PORTS)?)),
    };
    Ok(RouteRow {
        network: address(network)?,
        mask,
        next_hop: address(next_hop)?,
        queues: queues.0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Row, String> {
        Row::parse(&text.split(' ').collect::<Vec<_>>())
    }

    #[test]
    fn rows_are_read_as_they_are_written() {
        let row = RouteRow {
            network: [10, 1, 0, 0].into(),
            mask: [255, 255, 0, 0].into(),
            next_hop: [10, 2, 0, 1].into(),
            queues: 4,
        };
        let text = "route 31 10.1.0.0/16 via 10.2.0.1 port 1";
        assert_eq!(parse(text), Ok(Row::Route(31, row)));
        let odd = RouteRow {
            mask: [255, 0, 255, 225].into(),
            next_hop: Ipv4Addr::UNSPECIFIED,
            queues: 0x80,
            ..row
        };
        let text = "route 0 10.1.0.0/255.0.255.225 port host3";
        assert_eq!(parse(text), Ok(Row::Route(0, odd)));
        let text = "mac 3 2:0:0:0:0:ff";
        assert_eq!(parse(text), Ok(Row::Mac(3, [2, 0, 0, 0, 0, 255])));
        let text = "filter 1 224.0.0.5";
        assert_eq!(parse(text), Ok(Row::Filter(1, [224, 0, 0, 5].into())));
    }

    #[test]
    fn each_fault_says_what_would_be_right() {
        for (text, says) in [
            ("rout 0 10.0.0.0/8 port 1", "did you mean `route`?"),
            ("route", "begins with its table"),
            ("route 32 10.0.0.0/8 port 1", "0 to 31"),
            ("route 0 10.0.0.0/33 port 1", "0 to 32 bits"),
            ("route 0 10.0.0.0/8 port 4", "0 to 3"),
            ("route 0 10.0.0.0 port 1", "NETWORK/BITS"),
            ("route 0 10.0.0.0/8 by 1", "NETWORK/BITS"),
            ("arp 0 10.0.0.1", "ADDRESS MAC"),
            ("arp 0 10.0.0.1 2:0:0:0:0", "MAC address"),
            ("arp 0 10.0.0.1 +2:0:0:0:0:0:1", "MAC address"),
            ("mac 4 2:0:0:0:0:1", "0 to 3"),
            ("filter 0 10.0.0", "IPv4 address"),
        ] {
            let said = parse(text).unwrap_err();
            assert!(said.contains(says), "{text}: {said}");
        }
    }
}
