//! Names that the machine knows: its interfaces for their addresses, services for ports, protocols
//! for numbers.
//!
//! They come after those that a configuration defines, and before the built-in ones, but for
//! protocols, after them: `eth0`, `eth0:ip`, `eth0/24`, `eth0:bcast`, `eth0:gw`, `eth0:eth`,
//! `eth0:ip6`, and the tables of services(5) and protocols(5).

use super::Kind;
use super::addresses::{EtherAddress, Ip6Prefix, IpPrefix, parse_ip, parse_ip_prefix};
use super::definitions::port_info;
use super::names::{BuiltIn, Named, Names, Space, TCP, UDP, number};
use super::text::split_words;
use super::well_known;
use crate::host::{MachineNames, NoNames};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, OnceLock};
use trammel_core::units::nearest;

/// The longest name of an interface: `IFNAMSIZ` less the byte that ends it.
const LONGEST: usize = 15;

/// The numbers of a machine's tables.
type Numbers = BTreeMap<(Space, String), u32>;

/// What the machine knows by name, its tables read once.
#[derive(Clone, Debug)]
pub struct Machine {
    names: Arc<dyn MachineNames>,
    numbers: Arc<OnceLock<Numbers>>,
}

impl Default for Machine {
    fn default() -> Machine {
        Machine::new(Arc::new(NoNames))
    }
}

impl Machine {
    /// The machine of these names.
    pub fn new(names: Arc<dyn MachineNames>) -> Machine {
        Machine {
            names,
            numbers: Arc::default(),
        }
    }

    /// What `name` stands for.
    pub fn find(&self, space: Space, name: &str) -> Option<Named> {
        match space {
            Space::Protocol | Space::Port(_) => {
                let numbers = self.numbers.get_or_init(|| self.tables());
                let number = numbers.get(&(space, name.to_owned()));
                number.map(|number| Named::Number(*number))
            }
            Space::Gateway if may_be_interface(name) => self.names.gateway(name).map(Named::Ip),
            Space::Ether | Space::Ip | Space::IpPrefix | Space::Ip6 | Space::Ip6Prefix
                if may_be_interface(name) =>
            {
                self.address(space, name)
            }
            _ => None,
        }
    }

    /// Whether there is an interface called `name`.
    pub fn has_interface(&self, name: &str) -> bool {
        may_be_interface(name) && self.names.interface(name).is_some()
    }

    /// An address of an interface: the first, of IPv6 the first that is not of the link only.
    fn address(&self, space: Space, name: &str) -> Option<Named> {
        let interface = self.names.interface(name)?;
        let mut all = interface.addresses.iter();
        let four = |(address, length): &(IpAddr, u8)| match address {
            IpAddr::V4(address) => Some(IpPrefix::new(*address, *length)),
            IpAddr::V6(_) => None,
        };
        let six = |(address, length): &(IpAddr, u8)| match address {
            IpAddr::V6(address) => Some(Ip6Prefix {
                address: *address,
                len: *length,
            }),
            IpAddr::V4(_) => None,
        };
        let is_local = |prefix: &Ip6Prefix| is_link_local(prefix.address);
        let first_six = || {
            let sixes = interface.addresses.iter().filter_map(six);
            let mut sorted: Vec<Ip6Prefix> = sixes.collect();
            sorted.sort_by_key(is_local);
            sorted.into_iter().next()
        };
        match space {
            Space::Ether => interface.ether.map(|mac| Named::Ether(EtherAddress(mac))),
            Space::Ip => all.find_map(four).map(|prefix| Named::Ip(prefix.address)),
            Space::IpPrefix => all.find_map(four).map(Named::Prefix),
            Space::Ip6 => first_six().map(|prefix| Named::Ip6(prefix.address)),
            Space::Ip6Prefix => first_six().map(Named::Prefix6),
            _ => None,
        }
    }

    /// The numbers of services and protocols.
    fn tables(&self) -> Numbers {
        let mut numbers = Numbers::new();
        for line in self.names.protocols().unwrap_or_default().lines() {
            let line = line.split('#').next().unwrap_or_default();
            let words: Vec<&str> = line.split_whitespace().collect();
            let [name, number, aliases @ ..] = &words[..] else {
                continue;
            };
            let Ok(number) = number.parse::<u8>() else {
                continue;
            };
            for name in std::iter::once(name).chain(aliases) {
                // As in Click: `ipip` is 4, whatever IANA's list calls so since.
                if well_known::number(Space::Protocol, name).is_some() {
                    continue;
                }
                let key = (Space::Protocol, (*name).to_owned());
                numbers.entry(key).or_insert(number.into());
            }
        }
        for line in self.names.services().unwrap_or_default().lines() {
            for (space, name, value) in port_info(line, &BuiltIn).unwrap_or_default() {
                if let Named::Number(number @ 0..=0xffff) = value {
                    numbers.entry((space, name)).or_insert(number);
                }
            }
        }
        numbers
    }
}

fn may_be_interface(name: &str) -> bool {
    let is_odd = |c: char| c.is_whitespace() || c == '/' || c == ':';
    !name.is_empty() && name.len() <= LONGEST && !name.contains(is_odd)
}

fn is_link_local(address: Ipv6Addr) -> bool {
    address.segments()[0] & 0xffc0 == 0xfe80
}

/// What to say of a name, given for a value of `kind`, that nobody knows; nothing where the text is
/// no name.
pub(crate) fn unknown_name(kind: Kind, text: &str, names: &dyn Names) -> Option<String> {
    let what = match kind {
        Kind::Ip | Kind::IpList | Kind::Prefix | Kind::PrefixOrIp => "IPv4 address",
        Kind::Ip6 | Kind::Prefix6 | Kind::Prefix6OrIp6 => "IPv6 address",
        Kind::Ether => "Ethernet address",
        Kind::IpPort(_) => {
            let why = "is no service that this machine or the built-in table knows";
            return is_name(text)
                .then(|| format!("`{text}` {why}: give its number, or define it by PortInfo"));
        }
        _ => return None,
    };
    let words = split_words(text);
    let names_in = words.iter().filter_map(|word| interface_in(word));
    let mut unknown = names_in.filter(|name| is_name(name));
    let name = unknown.next()?;
    Some(if names.is_interface(name) {
        format!("the interface `{name}` has no {what}")
    } else {
        format!(
            "`{name}` is no interface of this machine, and AddressInfo does not define it: \
             add `AddressInfo({name} ADDRESS)`"
        )
    })
}

/// What to say of a rule such as `dst port http` in which a name is that nobody knows.
pub(crate) fn unknown_in_rule(rule: &str, names: &dyn Names) -> Option<String> {
    let words = split_words(rule);
    let pairs = words.windows(2);
    let mut unknown = pairs.filter_map(|pair| {
        let name = pair[1].trim_matches(|c: char| matches!(c, '(' | ')' | ',' | ';'));
        let is_port = |protocol| number(names, Space::Port(protocol), name).is_some();
        match pair[0].as_str() {
            "port" if !is_port(TCP) && !is_port(UDP) => {
                unknown_name(Kind::IpPort(TCP), name, names)
            }
            "host" if parse_ip(name, names).is_err() => unknown_name(Kind::Ip, name, names),
            "net" if parse_ip_prefix(name, true, names).is_err() => {
                unknown_name(Kind::Prefix, name, names)
            }
            _ => None,
        }
    });
    unknown.next().or_else(|| misspelt_in_rule(&words, names))
}

/// Words of rules.
const WORDS: [&str; 34] = [
    "allow", "deny", "drop", "and", "or", "not", "any", "all", "src", "dst", "dest", "ip", "ether",
    "host", "net", "port", "proto", "tcp", "udp", "icmp", "opt", "type", "frag", "unfrag", "dscp",
    "len", "tos", "ttl", "vers", "win", "ect", "hl", "syn", "ack",
];

/// What was meant by the first word that is none of a rule's, nor a name.
fn misspelt_in_rule(words: &[String], names: &dyn Names) -> Option<String> {
    let is_known = |word: &str| {
        let spaces = [
            Space::Protocol,
            Space::Port(TCP),
            Space::Port(UDP),
            Space::IcmpType,
        ];
        WORDS.contains(&word)
            || spaces
                .into_iter()
                .any(|space| number(names, space, word).is_some())
            || parse_ip_prefix(word, true, names).is_ok()
    };
    let plain = |word: &String| word.trim_matches(['(', ')', ',', ';', '!']).to_owned();
    let mut odd = words
        .iter()
        .map(plain)
        .filter(|word| is_name(word) && !is_known(word));
    let word = odd.next()?;
    let meant = nearest(&word, WORDS.into_iter())?;
    Some(format!("`{word}`: did you mean `{meant}`?"))
}

/// What in `eth0/24` or `eth0:ip` is the interface's name.
fn interface_in(word: &str) -> Option<&str> {
    let word = word.split('/').next()?;
    Some(word.split_once(':').map_or(word, |(name, _)| name))
}

fn is_name(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || "_-.@".contains(c);
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && text.chars().all(inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::names::{parse_port, parse_protocol};
    use crate::host::InterfaceAddresses;
    use crate::load::testing::load_with;
    use crate::memory::MemoryHost;

    /// A machine with one interface and short tables.
    #[derive(Debug)]
    struct Small;

    impl MachineNames for Small {
        fn interface(&self, name: &str) -> Option<InterfaceAddresses> {
            (name == "eth0").then(|| InterfaceAddresses {
                ether: Some([2, 0, 0, 0, 0, 9]),
                addresses: vec![
                    ("fe80::9".parse().expect("an address"), 64),
                    ("10.1.2.3".parse().expect("an address"), 16),
                    ("10.9.9.9".parse().expect("an address"), 24),
                    ("2001:db8::3".parse().expect("an address"), 56),
                ],
            })
        }

        fn gateway(&self, name: &str) -> Option<std::net::Ipv4Addr> {
            (name == "eth0").then(|| std::net::Ipv4Addr::new(10, 1, 0, 1))
        }

        fn services(&self) -> Option<String> {
            Some(
                "# ports\nhttp 8080/tcp www2 # the web\nodd x/tcp\nbig 70000/udp\nsvc 7/udp\n\
                 svc 8/tcp"
                    .into(),
            )
        }

        fn protocols(&self) -> Option<String> {
            Some("ipip 94 IPIP\ntcp 6 TCP\nnew 200 NEW # one\nbad x\nhuge 300".into())
        }
    }

    fn host() -> MemoryHost {
        let host = MemoryHost::new();
        host.memory().names = Some(Arc::new(Small));
        host
    }

    /// The argument of an element that takes one address, as its handler prints it.
    fn set(element: &str, handler: &str) -> Result<String, String> {
        let text = format!("Idle -> x :: {element} -> Discard");
        load_with(&host(), &text).map(|mut run| run.read(&format!("x.{handler}")))
    }

    #[test]
    fn an_interface_stands_for_its_addresses() {
        for (argument, address) in [
            ("eth0", "10.1.2.3"),
            ("eth0:ip", "10.1.2.3"),
            ("eth0:bcast", "10.1.255.255"),
            ("eth0:gw", "10.1.0.1"),
        ] {
            let told = set(&format!("SetIPAddress({argument})"), "addr");
            assert_eq!(told.as_deref(), Ok(address), "{argument}");
        }
        let told = set("EtherEncap(0x0800, eth0, eth0:eth)", "src");
        assert_eq!(told.as_deref(), Ok("02-00-00-00-00-09"));
        let told = set("SetIP6Address(eth0:ip6)", "config");
        assert_eq!(told.as_deref(), Ok("eth0:ip6"));
    }

    #[test]
    fn lists_rules_and_tables_take_them_too() {
        for config in [
            "Idle -> ARPResponder(100.0.0.25 eth0) -> Discard",
            "Idle -> ARPResponder(eth0 eth0, eth0/24 eth0:eth) -> Discard",
            "Idle -> a :: ARPQuerier(eth0) -> Discard; Idle -> [1] a",
            "Idle -> IPClassifier(dst host eth0:ip) -> Discard",
            "Idle -> IPFilter(allow src net eth0/24 && dst host eth0, deny all) -> Discard",
            "Idle -> CheckIPHeader(INTERFACES eth0/16) -> Discard",
            "Idle -> r :: StaticIPLookup(eth0/24 0, 0/0 eth0:gw 1) -> Discard; r [1] -> Discard",
            "Idle -> HostEtherFilter(eth0) -> Discard",
            "AddressInfo(me eth0); Idle -> SetIPAddress(me) -> Discard",
            "define($DEV eth0); Idle -> SetIPAddress($DEV:ip) -> Discard",
            "Idle -> IPEncap(4, eth0, eth0:gw) -> Discard",
        ] {
            assert!(
                load_with(&host(), config).is_ok(),
                "{config}: {:?}",
                load_with(&host(), config).err()
            );
        }
    }

    #[test]
    fn a_definition_comes_before_the_interface() {
        let text = "AddressInfo(eth0 10.7.7.7); Idle -> x :: SetIPAddress(eth0) -> Discard";
        let mut run = load_with(&host(), text).expect("it is right");
        assert_eq!(run.read("x.addr"), "10.7.7.7");
    }

    #[test]
    fn tables_name_ports_and_protocols() {
        let book = super::super::definitions::Definitions::of(Machine::new(Arc::new(Small)));
        let none = crate::args::element_names::ElementNames::default();
        let names = book.within("", &none);
        assert_eq!(parse_port("http", 6, &names), Ok(8080));
        assert_eq!(parse_port("www2", 6, &names), Ok(8080));
        assert_eq!(parse_port("http", 17, &names), Ok(80));
        assert_eq!(parse_port("svc", 17, &names), Ok(7));
        assert_eq!(parse_port("svc", 6, &names), Ok(8));
        assert!(parse_port("big", 17, &names).is_err());
        assert_eq!(parse_protocol("ipip", &names), Ok(4));
        assert_eq!(parse_protocol("NEW", &names), Ok(200));
        assert_eq!(parse_protocol("gre", &names), Ok(47));
        let text = "Idle -> IPFilter(allow dst tcp port www2, deny all) -> Discard";
        assert!(load_with(&host(), text).is_ok());
    }

    #[test]
    fn what_nobody_knows_is_told_by_name() {
        let none = crate::args::element_names::ElementNames::default();
        let book = super::super::definitions::Definitions::of(Machine::new(Arc::new(Small)));
        let names = book.within("", &none);
        let told = |kind, text| unknown_name(kind, text, &names).unwrap_or_default();
        assert!(told(Kind::Ip, "eth7:ip").starts_with("`eth7` is no interface of this machine"));
        assert_eq!(
            told(Kind::Ip, "eth0"),
            "the interface `eth0` has no IPv4 address"
        );
        assert!(told(Kind::IpPort(6), "nosuch").starts_with("`nosuch` is no service"));
        assert_eq!(told(Kind::Ip, "1.2.3.400"), "");
        let rule = |text| unknown_in_rule(text, &names).unwrap_or_default();
        assert!(rule("allow dst port nosuch").starts_with("`nosuch` is no service"));
        assert!(rule("src host eth9 and udp").starts_with("`eth9` is no interface"));
        assert_eq!(rule("src port http or dst net eth0/8 or host 1.2.3.4"), "");
        assert_eq!(rule("alow tcp"), "`alow`: did you mean `allow`?");
        assert_eq!(
            rule("allow (src hst 1.2.3.4)"),
            "`hst`: did you mean `host`?"
        );
        assert_eq!(rule("allow ip proto tpc"), "`tpc`: did you mean `tcp`?");
        assert_eq!(rule("deny something && else"), "");
    }
}
