//! Names of addresses, ports and protocols: what they are names of, and who is asked.
//!
//! A name is first looked for among the definitions of the compound that the element lies in, then
//! of those around it, then among those that the machine knows, then among the `well_known` ones. A
//! number is always its own name.

use super::addresses::{EtherAddress, Ip6Prefix, IpPrefix};
use super::numbers::{parse_int, parse_uint};
use super::{Error, well_known};
use std::net::{Ipv4Addr, Ipv6Addr};

/// TCP's number among IP protocols.
pub const TCP: u8 = 6;
/// UDP's.
pub const UDP: u8 = 17;

/// What a name is a name of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Space {
    /// Ethernet addresses.
    Ether,
    /// IPv4 addresses.
    Ip,
    /// IPv4 prefixes.
    IpPrefix,
    /// The gateways of devices.
    Gateway,
    /// IPv6 addresses.
    Ip6,
    /// IPv6 prefixes.
    Ip6Prefix,
    /// IP protocols.
    Protocol,
    /// Ports of this protocol.
    Port(u8),
    /// Types of ICMP messages.
    IcmpType,
    /// Codes of ICMP messages of this type.
    IcmpCode(u8),
    /// Ethernet types.
    EtherType,
    /// Annotations: the offset, and the size above its 16 bits.
    Annotation,
    /// Patterns of rewriters: the element that has it, and its number there in the lowest 12 bits.
    RewriterPattern,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// A number.
    Number(u32),
    /// An Ethernet address.
    Ether(EtherAddress),
    /// An IPv4 address.
    Ip(Ipv4Addr),
    /// An IPv4 prefix.
    Prefix(IpPrefix),
    /// An IPv6 address.
    Ip6(Ipv6Addr),
    /// An IPv6 prefix.
    Prefix6(Ip6Prefix),
}

/// Who knows names, as seen by one element.
pub trait Names {
    /// What `name` stands for.
    fn find(&self, space: Space, name: &str) -> Option<Named>;

    /// The place of the element called `name`.
    fn element(&self, _name: &str) -> Option<usize> {
        None
    }

    /// Whether the machine has a network interface of this name.
    fn is_interface(&self, _name: &str) -> bool {
        false
    }

    /// The user's home directory.
    fn home(&self) -> Option<&str> {
        None
    }
}

/// No names but the well known ones.
#[derive(Clone, Copy, Debug, Default)]
pub struct BuiltIn;

impl Names for BuiltIn {
    fn find(&self, _space: Space, _name: &str) -> Option<Named> {
        None
    }
}

/// The number that `text` is or stands for.
pub fn number(names: &dyn Names, space: Space, text: &str) -> Option<u32> {
    if let Some(Named::Number(number)) = names.find(space, text) {
        return Some(number);
    }
    well_known::number(space, text)
        .or_else(|| parse_uint(text, u64::from(u32::MAX)).ok().map(|n| n as u32))
}

fn number_or_why(names: &dyn Names, space: Space, text: &str) -> Result<u32, Error> {
    match number(names, space, text) {
        Some(number) => Ok(number),
        None => parse_int(text, 0, i64::from(u32::MAX)).map(|n| n as u32),
    }
}

/// An IP protocol; `tcpudp`, `transp` and `payload`, of rules only, are beyond 255.
pub fn parse_protocol(text: &str, names: &dyn Names) -> Result<u16, Error> {
    let number = number_or_why(names, Space::Protocol, text)?;
    u16::try_from(number).map_err(|_| Error::Beyond("255".into()))
}

/// A port of `protocol`.
pub fn parse_port(text: &str, protocol: u8, names: &dyn Names) -> Result<u16, Error> {
    let number = number(names, Space::Port(protocol), text).ok_or(Error::Malformed)?;
    u16::try_from(number).map_err(|_| Error::NotAPort)
}

/// A type of ICMP messages.
pub fn parse_icmp_type(text: &str, names: &dyn Names) -> Result<u8, Error> {
    byte(number_or_why(names, Space::IcmpType, text)?)
}

/// A code of ICMP messages of `icmp_type`.
pub fn parse_icmp_code(text: &str, icmp_type: u8, names: &dyn Names) -> Result<u8, Error> {
    byte(number_or_why(names, Space::IcmpCode(icmp_type), text)?)
}

fn byte(number: u32) -> Result<u8, Error> {
    u8::try_from(number).map_err(|_| Error::Beyond("255".into()))
}

/// An Ethernet type.
pub fn parse_ether_type(text: &str, names: &dyn Names) -> Result<u16, Error> {
    match number(names, Space::EtherType, text) {
        Some(number) => u16::try_from(number).map_err(|_| Error::Beyond("65535".into())),
        None => parse_uint(text, 65535).map(|n| n as u16),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_have_well_known_names() {
        assert_eq!(parse_protocol("gre", &BuiltIn), Ok(47));
        assert_eq!(parse_protocol("0x11", &BuiltIn), Ok(17));
        assert_eq!(parse_protocol("tcpudp", &BuiltIn), Ok(256));
        assert_eq!(parse_protocol("nosuch", &BuiltIn), Err(Error::NotANumber));
        assert_eq!(parse_port("ssh", TCP, &BuiltIn), Ok(22));
        assert_eq!(parse_port("http", TCP, &BuiltIn), Ok(80));
        assert_eq!(parse_port("nosuch", TCP, &BuiltIn), Err(Error::Malformed));
        assert_eq!(parse_port("65536", UDP, &BuiltIn), Err(Error::NotAPort));
        assert_eq!(parse_icmp_type("timeexceeded", &BuiltIn), Ok(11));
        assert_eq!(parse_icmp_code("host", 3, &BuiltIn), Ok(1));
        assert_eq!(
            parse_icmp_code("host", 11, &BuiltIn),
            Err(Error::NotANumber)
        );
        assert_eq!(parse_ether_type("0x0800", &BuiltIn), Ok(0x800));
        assert_eq!(
            parse_ether_type("70000", &BuiltIn),
            Err(Error::Beyond("65535".into()))
        );
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[a-z0-9/:. #]{0,30}|\\PC{0,12}", kind: u8) {
            let _ = (parse_protocol(&text, &BuiltIn), parse_port(&text, kind, &BuiltIn));
            let _ = (parse_icmp_type(&text, &BuiltIn), parse_icmp_code(&text, kind, &BuiltIn));
        }
    }
}
