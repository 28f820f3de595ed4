//! Addresses and prefixes of IPv4, IPv6 and Ethernet, written out or by name; `Display` prints
//! them.
//!
//! A name may say by a suffix what it stands for: `lan:ip`, `lan:bcast` (the last address of its
//! prefix), `lan:gw` (its gateway, else the first address), `lan:net`, `lan:ip6`, `lan:ip6net`,
//! `lan:eth`.

use super::Error;
use super::names::{Named, Names, Space};
use super::numbers::parse_uint_base;
use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

/// An Ethernet address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EtherAddress(pub [u8; 6]);

impl EtherAddress {
    /// The address of everyone.
    pub const BROADCAST: EtherAddress = EtherAddress([0xff; 6]);

    /// Whether it is of more than one station.
    pub const fn is_group(self) -> bool {
        self.0[0] & 1 == 1
    }
}

/// `00-1A-2B-3C-4D-5E`.
impl fmt::Display for EtherAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02X}-{b:02X}-{c:02X}-{d:02X}-{e:02X}-{g:02X}")
    }
}

/// An IPv4 address and the bits of it that count. The others are kept as they were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IpPrefix {
    /// The address.
    pub address: Ipv4Addr,
    /// Ones where it counts; not always a prefix mask.
    pub mask: Ipv4Addr,
}

impl IpPrefix {
    /// The first `len` bits of `address`; all of them where `len` is greater than 32.
    pub const fn new(address: Ipv4Addr, len: u8) -> IpPrefix {
        IpPrefix {
            address,
            mask: mask(len),
        }
    }

    /// How many bits count, where they are the first ones.
    pub const fn len(self) -> Option<u8> {
        let bits = self.mask.to_bits();
        let ones = bits.leading_ones();
        if bits.count_ones() == ones {
            Some(ones as u8)
        } else {
            None
        }
    }

    /// Whether no bit counts.
    pub const fn is_empty(self) -> bool {
        self.mask.to_bits() == 0
    }

    /// The address, other bits zero.
    pub const fn network(self) -> Ipv4Addr {
        Ipv4Addr::from_bits(self.address.to_bits() & self.mask.to_bits())
    }

    /// The address, other bits one.
    pub const fn broadcast(self) -> Ipv4Addr {
        Ipv4Addr::from_bits(self.address.to_bits() | !self.mask.to_bits())
    }

    /// Whether `address` has the same bits where they count.
    pub const fn contains(self, address: Ipv4Addr) -> bool {
        (self.address.to_bits() ^ address.to_bits()) & self.mask.to_bits() == 0
    }
}

/// `10.0.0.0/8`, or `10.0.0.1/255.0.255.0` where the mask is none of a prefix.
impl fmt::Display for IpPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.len() {
            Some(len) => write!(f, "{}/{len}", self.address),
            None => write!(f, "{}/{}", self.address, self.mask),
        }
    }
}

/// The mask of the first `len` bits.
const fn mask(len: u8) -> Ipv4Addr {
    Ipv4Addr::from_bits(match len {
        0 => 0,
        1..32 => u32::MAX << (32 - len),
        _ => u32::MAX,
    })
}

/// An IPv6 address and how many of its bits count. The others are kept as they were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ip6Prefix {
    /// The address.
    pub address: Ipv6Addr,
    /// Its first bits that count, at most 128.
    pub len: u8,
}

impl Ip6Prefix {
    /// Ones where the address counts.
    pub const fn mask(self) -> Ipv6Addr {
        Ipv6Addr::from_bits(match self.len {
            0 => 0,
            1..128 => u128::MAX << (128 - self.len),
            _ => u128::MAX,
        })
    }

    /// Whether `address` has the same bits where they count.
    pub const fn contains(self, address: Ipv6Addr) -> bool {
        (self.address.to_bits() ^ address.to_bits()) & self.mask().to_bits() == 0
    }
}

/// `2001:db8::/32`.
impl fmt::Display for Ip6Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", unparse_ip6(self.address), self.len)
    }
}

/// Prints an IPv6 address as Click does: by RFC 5952, but `::1` as `::0.0.0.1`.
pub fn unparse_ip6(address: Ipv6Addr) -> String {
    let bits = address.to_bits();
    match u32::try_from(bits) {
        Ok(low) if low != 0 => format!("::{}", Ipv4Addr::from_bits(low)),
        _ => address.to_string(),
    }
}

/// One to four decimal parts with points between them, and how many there are.
fn parts(text: &str) -> Option<(Ipv4Addr, u8)> {
    let mut bytes = [0; 4];
    let mut count = 0;
    for part in text.split('.') {
        if part.is_empty() || !part.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        // A part may have zeros before it.
        let digits = part.trim_start_matches('0');
        let value = if digits.is_empty() {
            0
        } else {
            digits.parse().ok()?
        };
        *bytes.get_mut(count)? = value;
        count += 1;
    }
    Some((Ipv4Addr::from(bytes), count as u8))
}

fn dotted(text: &str) -> Option<Ipv4Addr> {
    parts(text)
        .filter(|(_, count)| *count == 4)
        .map(|(address, _)| address)
}

/// The name before a suffix such as `:ip`, and the suffix in lower case, empty where there is none.
fn suffix(text: &str) -> (&str, String) {
    match text.rsplit_once(':') {
        Some((name, suffix)) => (name, suffix.to_ascii_lowercase()),
        None => (text, String::new()),
    }
}

fn named_ip(text: &str, names: &dyn Names) -> Option<Ipv4Addr> {
    let find = |space, name| match names.find(space, name) {
        Some(Named::Ip(address)) => Some(address),
        _ => None,
    };
    let (name, kind) = suffix(text);
    match (&*kind, name.len() < text.len()) {
        (_, false) | ("ip" | "ip4", true) => find(Space::Ip, name),
        ("bcast", true) => named_prefix(name, names).map(IpPrefix::broadcast),
        ("gw", true) => find(Space::Ip, text)
            .or_else(|| find(Space::Gateway, name))
            .or_else(|| {
                let net = named_prefix(name, names)?.network();
                Some(Ipv4Addr::from_bits(net.to_bits() | 1))
            }),
        _ => None,
    }
}

fn named_prefix(text: &str, names: &dyn Names) -> Option<IpPrefix> {
    let (name, kind) = suffix(text);
    let meant = name.len() == text.len() || matches!(&*kind, "net" | "ipnet" | "ip4net");
    match names.find(Space::IpPrefix, name).filter(|_| meant) {
        Some(Named::Prefix(prefix)) => Some(prefix),
        _ => None,
    }
}

/// An IPv4 address, `a.b.c.d` or a name.
pub fn parse_ip(text: &str, names: &dyn Names) -> Result<Ipv4Addr, Error> {
    dotted(text)
        .or_else(|| named_ip(text, names))
        .ok_or(Error::Malformed)
}

/// IPv4 addresses with spaces between them.
pub fn parse_ip_list(text: &str, names: &dyn Names) -> Result<Vec<Ipv4Addr>, Error> {
    super::text::split_words(text)
        .iter()
        .map(|word| parse_ip(word, names))
        .collect()
}

/// `a.b.c.d/length`, `a.b.c.d/mask`, or with fewer parts where the length asks for no more; a name;
/// and, if `bare`, an address alone, of which all bits count.
pub fn parse_ip_prefix(text: &str, bare: bool, names: &dyn Names) -> Result<IpPrefix, Error> {
    slashed(text, names)
        .or_else(|| {
            let address = parse_ip(text, names).ok().filter(|_| bare)?;
            Some(IpPrefix::new(address, 32))
        })
        .or_else(|| named_prefix(text, names))
        .ok_or(Error::Malformed)
}

fn slashed(text: &str, names: &dyn Names) -> Option<IpPrefix> {
    let (address, bits) = text.rsplit_once('/')?;
    let (address, count) = match parts(address) {
        Some(parts) => parts,
        None => (named_ip(address, names)?, 4),
    };
    let mask = match parse_uint_base(bits, 10, 32) {
        Ok(len) => mask(len as u8),
        Err(_) => parse_ip(bits, names).ok()?,
    };
    // A mask of more bits than were written would take zeros that nobody meant.
    let beyond = !self::mask(count * 8).to_bits() & mask.to_bits();
    (beyond == 0).then_some(IpPrefix { address, mask })
}

/// An IPv6 address; its last 32 bits may be written as an IPv4 address or its name. Or a name.
pub fn parse_ip6(text: &str, names: &dyn Names) -> Result<Ipv6Addr, Error> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let mixed = text.rsplit_once(':').and_then(|(front, last)| {
        let [a, b, c, d] = parse_ip(last, names).ok()?.octets();
        format!("{front}:{a:02x}{b:02x}:{c:02x}{d:02x}")
            .parse()
            .ok()
    });
    if let Some(address) = mixed {
        return Ok(address);
    }
    let (name, kind) = suffix(text);
    let meant = name.len() == text.len() || kind == "ip6";
    match names.find(Space::Ip6, name).filter(|_| meant) {
        Some(Named::Ip6(address)) => Ok(address),
        _ => Err(Error::Malformed),
    }
}

/// `address/length`, `address/mask` or a name; and, if `bare`, an address alone.
pub fn parse_ip6_prefix(text: &str, bare: bool, names: &dyn Names) -> Result<Ip6Prefix, Error> {
    if let Some((address, bits)) = text.rsplit_once('/')
        && let Ok(address) = parse_ip6(address, names)
    {
        let len = parse_uint_base(bits, 10, 128).ok().map(|len| len as u8);
        let len = len.or_else(|| {
            let mask = parse_ip6(bits, names).ok()?.to_bits();
            (mask.count_ones() == mask.leading_ones()).then(|| mask.leading_ones() as u8)
        });
        return len
            .map(|len| Ip6Prefix { address, len })
            .ok_or(Error::Malformed);
    }
    if bare && let Ok(address) = parse_ip6(text, names) {
        return Ok(Ip6Prefix { address, len: 128 });
    }
    let (name, kind) = suffix(text);
    let meant = name.len() == text.len() || kind == "ip6net";
    match names.find(Space::Ip6Prefix, name).filter(|_| meant) {
        Some(Named::Prefix6(prefix)) => Ok(prefix),
        _ => Err(Error::Malformed),
    }
}

/// Six parts of one or two hexadecimal digits, `:` or `-` between them; or a name.
pub fn parse_ether(text: &str, names: &dyn Names) -> Result<EtherAddress, Error> {
    if let Some(address) = six_parts(text) {
        return Ok(address);
    }
    let (name, kind) = suffix(text);
    let meant = name.len() == text.len() || matches!(&*kind, "eth" | "ether" | "ethernet");
    match names.find(Space::Ether, name).filter(|_| meant) {
        Some(Named::Ether(address)) => Ok(address),
        _ => Err(Error::Malformed),
    }
}

fn six_parts(text: &str) -> Option<EtherAddress> {
    let between = text.chars().find(|c| matches!(c, ':' | '-'))?;
    let mut bytes = [0; 6];
    let mut count = 0;
    for part in text.split(between) {
        if !(1..=2).contains(&part.len()) || !part.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        *bytes.get_mut(count)? = u8::from_str_radix(part, 16).ok()?;
        count += 1;
    }
    (count == 6).then_some(EtherAddress(bytes))
}

#[cfg(test)]
mod tests {
    use super::super::definitions::{Definitions, address_info};
    use super::super::names::BuiltIn;
    use super::*;
    use crate::args::element_names::ElementNames;
    use proptest::prelude::*;

    fn book() -> Definitions {
        let mut book = Definitions::default();
        for line in [
            "lan 172.16.5.9/20 2001:db8::5/64 2:0:0:0:0:1",
            "host 192.0.2.7",
        ] {
            for (space, name, value) in address_info(line, &BuiltIn).unwrap() {
                book.define("", space, &name, value);
            }
        }
        book
    }

    #[test]
    fn ipv4_addresses_have_four_parts() {
        assert_eq!(
            parse_ip("10.020.3.255", &BuiltIn),
            Ok(Ipv4Addr::new(10, 20, 3, 255))
        );
        for text in [
            "",
            "1.2.3",
            "1.2.3.256",
            "1.2.3.4.5",
            "1.2.3.4.",
            "1..2.3",
            "1.2.3.+4",
            "host",
        ] {
            assert_eq!(parse_ip(text, &BuiltIn), Err(Error::Malformed), "{text}");
        }
    }

    #[test]
    fn names_have_suffixes() {
        let book = book();
        let none = ElementNames::default();
        let names = book.within("", &none);
        let ip = |text| {
            parse_ip(text, &names)
                .map(|a| a.to_string())
                .unwrap_or_default()
        };
        assert_eq!(ip("lan"), "172.16.5.9");
        assert_eq!(ip("lan:IP"), "172.16.5.9");
        assert_eq!(ip("lan:bcast"), "172.16.15.255");
        assert_eq!(ip("lan:gw"), "172.16.0.1");
        assert_eq!(ip("lan:net"), "");
        assert_eq!(
            parse_ip_prefix("lan:net", false, &names)
                .unwrap()
                .to_string(),
            "172.16.5.9/20"
        );
        assert_eq!(
            parse_ip_prefix("host/24", false, &names)
                .unwrap()
                .to_string(),
            "192.0.2.7/24"
        );
        assert_eq!(
            parse_ether("lan:eth", &names).unwrap().to_string(),
            "02-00-00-00-00-01"
        );
        assert_eq!(
            parse_ip6("lan:ip6", &names).unwrap().to_string(),
            "2001:db8::5"
        );
        assert_eq!(
            parse_ip6("64:ff9b::host", &names).unwrap().to_string(),
            "64:ff9b::c000:207"
        );
        assert_eq!(
            parse_ip6_prefix("lan", false, &names).unwrap().to_string(),
            "2001:db8::5/64"
        );
        assert_eq!(parse_ip_list("host  lan", &names).unwrap().len(), 2);
    }

    #[test]
    fn short_prefixes_name_all_bits_that_count() {
        let prefix = |text, bare| parse_ip_prefix(text, bare, &BuiltIn).map(|p| p.to_string());
        for (text, printed) in [
            ("10/8", "10.0.0.0/8"),
            ("192.168/15", "192.168.0.0/15"),
            ("1.2.3.4/255.255.0.0", "1.2.3.4/16"),
            ("0/0", "0.0.0.0/0"),
            ("1.2.3.4/0.255.0.255", "1.2.3.4/0.255.0.255"),
            ("9/128.0.0.0", "9.0.0.0/1"),
        ] {
            assert_eq!(prefix(text, false), Ok(printed.into()), "{text}");
        }
        for text in [
            "10/9",
            "1.2.3/25",
            "10/255.1.0.0",
            "10.0.0.0/33",
            "/8",
            "10/",
            "1.2.3.4",
            "10.0.0.0/0x8",
        ] {
            assert_eq!(prefix(text, false), Err(Error::Malformed), "{text}");
        }
        assert_eq!(prefix("1.2.3.4", true), Ok("1.2.3.4/32".into()));
        assert!(IpPrefix::new(Ipv4Addr::new(10, 1, 2, 3), 8).contains(Ipv4Addr::new(10, 9, 9, 9)));
    }

    #[test]
    fn ipv6_prefixes_have_lengths_or_masks() {
        let prefix = |text| parse_ip6_prefix(text, false, &BuiltIn).map(|p| p.to_string());
        assert_eq!(prefix("fe80::/10"), Ok("fe80::/10".into()));
        assert_eq!(prefix("fe80::1/ffff:ffff::"), Ok("fe80::1/32".into()));
        assert_eq!(prefix("::/0"), Ok("::/0".into()));
        for text in ["fe80::/129", "fe80::/ffff::1", "fe80::", "fe80:::/10"] {
            assert_eq!(prefix(text), Err(Error::Malformed), "{text}");
        }
        assert_eq!(
            parse_ip6("::1", &BuiltIn).map(unparse_ip6),
            Ok("::0.0.0.1".into())
        );
        assert_eq!(
            parse_ip6("::ffff:1.2.3.4", &BuiltIn).map(unparse_ip6),
            Ok("::ffff:1.2.3.4".into())
        );
        assert_eq!(unparse_ip6(Ipv6Addr::UNSPECIFIED), "::");
    }

    #[test]
    fn ethernet_addresses_have_one_kind_of_mark() {
        let ether = |text| parse_ether(text, &BuiltIn).map(|a| a.to_string());
        assert_eq!(ether("0:1a:2:b:FF:c"), Ok("00-1A-02-0B-FF-0C".into()));
        assert_eq!(ether("00-00-5e-00-53-01"), Ok("00-00-5E-00-53-01".into()));
        for text in [
            "1:2:3:4:5",
            "1:2:3:4:5:6:7",
            "1:2-3:4:5:6",
            "1:2:3:4:5:",
            "100:2:3:4:5:6",
            "g:2:3:4:5:6",
        ] {
            assert_eq!(ether(text), Err(Error::Malformed), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[0-9a-f:./-]{0,40}|\\PC{0,12}") {
            let book = book();
            let none = ElementNames::default();
        let names = book.within("", &none);
            let _ = (parse_ip_list(&text, &names), parse_ip_prefix(&text, true, &names));
            let _ = (parse_ip6_prefix(&text, true, &names), parse_ether(&text, &names));
        }

        #[test]
        fn what_is_printed_reads_back(
            a: u32,
            m: u32,
            six: u128,
            low: bool,
            len in 0_u8..=128,
            e: [u8; 6],
        ) {
            let address = Ipv4Addr::from_bits(a);
            prop_assert_eq!(parse_ip(&address.to_string(), &BuiltIn), Ok(address));
            let odd = IpPrefix { address, mask: Ipv4Addr::from_bits(m) };
            for prefix in [IpPrefix::new(address, len), odd] {
                prop_assert_eq!(parse_ip_prefix(&prefix.to_string(), false, &BuiltIn), Ok(prefix));
            }
            let address = Ipv6Addr::from_bits(if low { six >> 80 } else { six });
            prop_assert_eq!(parse_ip6(&unparse_ip6(address), &BuiltIn), Ok(address));
            let prefix = Ip6Prefix { address, len };
            prop_assert_eq!(parse_ip6_prefix(&prefix.to_string(), false, &BuiltIn), Ok(prefix));
            prop_assert_eq!(
                parse_ether(&EtherAddress(e).to_string(), &BuiltIn),
                Ok(EtherAddress(e))
            );
        }
    }
}
