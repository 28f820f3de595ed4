//! Names in filters: of hosts, protocols, ports and types of ICMP.

use crate::args::addresses::{parse_ether, parse_ip, parse_ip_prefix};
use crate::args::names::{Named, Space};
use crate::args::well_known;

/// Looks names up. The engine answers with what a configuration declares, then asks [`Usual`].
pub trait Names {
    /// The address of a host, in the network's order.
    fn host(&self, name: &str) -> Option<[u8; 4]>;
    /// The address and mask of a network.
    fn net(&self, name: &str) -> Option<([u8; 4], [u8; 4])>;
    /// An Ethernet address.
    fn ether(&self, name: &str) -> Option<[u8; 6]>;
    /// The number of a protocol; [`TCP_OR_UDP`] and [`TRANSP`] are numbers too.
    fn protocol(&self, name: &str) -> Option<u32>;
    /// The number of a port of `protocol` (6 or 17).
    fn port(&self, protocol: u32, name: &str) -> Option<u32>;
    /// The number of a type of ICMP.
    fn icmp_type(&self, name: &str) -> Option<u32>;
}

/// `tcpudp`: either protocol.
pub const TCP_OR_UDP: u32 = 256;
/// `transp`: any protocol.
pub const TRANSP: u32 = 258;
/// `payload`: any protocol, what follows its header.
pub const PAYLOAD: u32 = 259;

/// The names that every configuration has; no hosts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usual;

impl Names for Usual {
    fn host(&self, _name: &str) -> Option<[u8; 4]> {
        None
    }
    fn net(&self, _name: &str) -> Option<([u8; 4], [u8; 4])> {
        None
    }
    fn ether(&self, _name: &str) -> Option<[u8; 6]> {
        None
    }
    fn protocol(&self, name: &str) -> Option<u32> {
        Some(name)
            .filter(|name| is_protocol(name))
            .and_then(|name| well_known::number(Space::Protocol, name))
    }
    fn port(&self, protocol: u32, name: &str) -> Option<u32> {
        let protocol = u8::try_from(protocol).ok()?;
        well_known::number(Space::Port(protocol), name)
    }
    fn icmp_type(&self, name: &str) -> Option<u32> {
        well_known::number(Space::IcmpType, name)
    }
}

/// Whether a word can name a protocol: `ip`, which tables of protocols have, is a word of the
/// language.
fn is_protocol(name: &str) -> bool {
    name != "ip"
}

/// The number that a table gives a name.
pub(crate) fn find(table: &[(&str, u32)], name: &str) -> Option<u32> {
    let found = table.iter().find(|(known, _)| *known == name)?;
    Some(found.1)
}

/// The names that a configuration declares, then the usual ones.
#[derive(Clone, Copy)]
pub struct Declared<'a>(pub &'a dyn crate::args::names::Names);

impl std::fmt::Debug for Declared<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Declared")
    }
}

impl Declared<'_> {
    fn number(&self, space: Space, name: &str) -> Option<u32> {
        match self.0.find(space, name)? {
            Named::Number(number) => Some(number),
            _ => None,
        }
    }
}

impl Names for Declared<'_> {
    fn host(&self, name: &str) -> Option<[u8; 4]> {
        parse_ip(name, self.0).ok().map(|address| address.octets())
    }
    fn net(&self, name: &str) -> Option<([u8; 4], [u8; 4])> {
        let prefix = parse_ip_prefix(name, false, self.0).ok()?;
        Some((prefix.address.octets(), prefix.mask.octets()))
    }
    fn ether(&self, name: &str) -> Option<[u8; 6]> {
        parse_ether(name, self.0).ok().map(|address| address.0)
    }
    fn protocol(&self, name: &str) -> Option<u32> {
        Some(name)
            .filter(|name| is_protocol(name))
            .and_then(|name| self.number(Space::Protocol, name))
            .or_else(|| Usual.protocol(name))
    }
    fn port(&self, protocol: u32, name: &str) -> Option<u32> {
        let of = u8::try_from(protocol).ok();
        of.and_then(|protocol| self.number(Space::Port(protocol), name))
            .or_else(|| Usual.port(protocol, name))
    }
    fn icmp_type(&self, name: &str) -> Option<u32> {
        self.number(Space::IcmpType, name)
            .or_else(|| Usual.icmp_type(name))
    }
}
