//! Numbers with names that everyone knows: protocols, ports, ICMP messages, Ethernet types.
//!
//! Where a number has several names the first is the one to print. The lists are Click's words,
//! then those that the Internet's registries have.

use super::names::{Space, TCP, UDP};

type Table = &'static [(&'static str, u32)];

const PROTOCOLS: Table = &[
    ("icmp", 1),
    ("igmp", 2),
    ("ipip", 4),
    ("tcp", 6),
    ("udp", 17),
    ("dccp", 33),
    ("gre", 47),
    ("sctp", 132),
    ("tcpudp", 256),
    ("transp", 258),
    ("payload", 259),
    ("ip", 0),
    ("ggp", 3),
    ("ipencap", 4),
    ("egp", 8),
    ("igp", 9),
    ("pup", 12),
    ("hmp", 20),
    ("rdp", 27),
    ("ipv6", 41),
    ("ipv6-route", 43),
    ("ipv6-frag", 44),
    ("rsvp", 46),
    ("esp", 50),
    ("ah", 51),
    ("ipv6-icmp", 58),
    ("ipv6-nonxt", 59),
    ("ipv6-opts", 60),
    ("eigrp", 88),
    ("ospf", 89),
    ("etherip", 97),
    ("encap", 98),
    ("pim", 103),
    ("ipcomp", 108),
    ("vrrp", 112),
    ("l2tp", 115),
    ("isis", 124),
    ("udplite", 136),
    ("mpls-in-ip", 137),
    ("hip", 139),
    ("shim6", 140),
];

/// Ports of TCP and of UDP.
const PORTS: Table = &[
    ("echo", 7),
    ("discard", 9),
    ("daytime", 13),
    ("chargen", 19),
    ("ftp-data", 20),
    ("ftp", 21),
    ("ssh", 22),
    ("telnet", 23),
    ("smtp", 25),
    ("dns", 53),
    ("domain", 53),
    ("bootps", 67),
    ("bootpc", 68),
    ("tftp", 69),
    ("finger", 79),
    ("www", 80),
    ("pop3", 110),
    ("sunrpc", 111),
    ("auth", 113),
    ("nntp", 119),
    ("ntp", 123),
    ("netbios-ns", 137),
    ("netbios-dgm", 138),
    ("netbios-ssn", 139),
    ("snmp", 161),
    ("snmp-trap", 162),
    ("irc", 194),
    ("imap3", 220),
    ("https", 443),
    ("rip", 520),
    ("route", 520),
    ("imaps", 993),
    ("pop3s", 995),
    ("pptp", 1723),
    ("http", 80),
    ("time", 37),
    ("nameserver", 42),
    ("whois", 43),
    ("gopher", 70),
    ("kerberos", 88),
    ("sftp", 115),
    ("imap", 143),
    ("imap2", 143),
    ("snmptrap", 162),
    ("xdmcp", 177),
    ("bgp", 179),
    ("ldap", 389),
    ("microsoft-ds", 445),
    ("submission", 587),
    ("ldaps", 636),
    ("telnets", 992),
    ("openvpn", 1194),
    ("l2f", 1701),
    ("radius", 1812),
    ("nfs", 2049),
    ("mysql", 3306),
    ("rdp", 3389),
    ("sip", 5060),
    ("sip-tls", 5061),
    ("postgresql", 5432),
    ("x11", 6000),
    ("http-alt", 8080),
];

/// Ports of TCP only.
const TCP_PORTS: Table = &[
    ("exec", 512),
    ("login", 513),
    ("shell", 514),
    ("printer", 515),
    ("rsync", 873),
];

/// Ports of UDP only.
const UDP_PORTS: Table = &[
    ("isakmp", 500),
    ("biff", 512),
    ("who", 513),
    ("syslog", 514),
    ("dhcpv6-client", 546),
    ("dhcpv6-server", 547),
];

const ICMP_TYPES: Table = &[
    ("echo-reply", 0),
    ("unreachable", 3),
    ("sourcequench", 4),
    ("redirect", 5),
    ("echo", 8),
    ("routeradvert", 9),
    ("routersolicit", 10),
    ("timeexceeded", 11),
    ("parameterproblem", 12),
    ("timestamp", 13),
    ("timestamp-reply", 14),
    ("inforeq", 15),
    ("inforeq-reply", 16),
    ("maskreq", 17),
    ("maskreq-reply", 18),
];

const UNREACHABLE: Table = &[
    ("net", 0),
    ("host", 1),
    ("protocol", 2),
    ("port", 3),
    ("needfrag", 4),
    ("srcroutefail", 5),
    ("netunknown", 6),
    ("hostunknown", 7),
    ("isolated", 8),
    ("netprohibited", 9),
    ("hostprohibited", 10),
    ("tosnet", 11),
    ("toshost", 12),
    ("filterprohibited", 13),
    ("hostprecedence", 14),
    ("precedencecutoff", 15),
];

const REDIRECT: Table = &[("net", 0), ("host", 1), ("tosnet", 2), ("toshost", 3)];

const TIME_EXCEEDED: Table = &[("transit", 0), ("reassembly", 1)];

const PARAMETER_PROBLEM: Table = &[("erroratptr", 0), ("missingopt", 1), ("length", 2)];

const ETHER_TYPES: Table = &[
    ("ip", 0x0800),
    ("arp", 0x0806),
    ("rarp", 0x8035),
    ("vlan", 0x8100),
    ("ip6", 0x86dd),
    ("pause", 0x8808),
    ("mpls", 0x8847),
    ("mpls-multicast", 0x8848),
    ("pppoe-discovery", 0x8863),
    ("pppoe", 0x8864),
    ("qinq", 0x88a8),
    ("lldp", 0x88cc),
];

/// The tables for a space, the one to ask first before the others.
fn tables(space: Space) -> &'static [Table] {
    match space {
        Space::Protocol => &[PROTOCOLS],
        Space::Port(TCP) => &[PORTS, TCP_PORTS],
        Space::Port(UDP) => &[PORTS, UDP_PORTS],
        Space::IcmpType => &[ICMP_TYPES],
        Space::IcmpCode(3) => &[UNREACHABLE],
        Space::IcmpCode(5) => &[REDIRECT],
        Space::IcmpCode(11) => &[TIME_EXCEEDED],
        Space::IcmpCode(12) => &[PARAMETER_PROBLEM],
        Space::EtherType => &[ETHER_TYPES],
        _ => &[],
    }
}

/// The number called `name`.
pub(crate) fn number(space: Space, name: &str) -> Option<u32> {
    let mut all = tables(space).iter().copied().flatten();
    all.find(|(other, _)| *other == name)
        .map(|(_, number)| *number)
}

/// The name of `number`, the first where it has several.
pub(crate) fn name(space: Space, number: u32) -> Option<&'static str> {
    let mut all = tables(space).iter().copied().flatten();
    all.find(|(_, other)| *other == number)
        .map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_stands_for_two_numbers() {
        let spaces = [
            Space::Protocol,
            Space::Port(TCP),
            Space::Port(UDP),
            Space::IcmpType,
            Space::IcmpCode(3),
            Space::IcmpCode(5),
            Space::IcmpCode(11),
            Space::IcmpCode(12),
            Space::EtherType,
        ];
        for space in spaces {
            for (name, value) in tables(space).iter().copied().flatten() {
                assert_eq!(number(space, name), Some(*value), "{space:?} {name}");
                assert!(super::name(space, *value).is_some());
            }
        }
        assert_eq!(name(Space::IcmpType, 8), Some("echo"));
        assert_eq!(name(Space::Port(TCP), 53), Some("dns"));
        assert_eq!(number(Space::Ip, "tcp"), None);
    }
}
