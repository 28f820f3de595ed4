//! Well-formed frames of many kinds, for a fuzzer to damage.

use trammel_packet::headers::checksum::{Sum, checksum, for_udp};
use trammel_packet::headers::ipv4::set_checksum;

/// A kind of frame.
pub(crate) struct Template {
    /// Its Ethernet type, with what stands between it and the network header.
    ethernet: &'static [u8],
    network: Network,
    protocol: u8,
    /// From the transport header on; a checksum is filled in.
    transport: &'static [u8],
    /// Bytes of zero after it.
    padding: usize,
}

enum Network {
    /// The transport is all.
    None,
    /// IPv4 with flags and fragment offset, and options.
    Ip(u16, &'static [u8]),
    /// IPv6 with extension headers, the first of this number.
    Ip6(u8, &'static [u8]),
}

const fn frame(
    ethernet: &'static [u8],
    network: Network,
    protocol: u8,
    transport: &'static [u8],
) -> Template {
    Template {
        ethernet,
        network,
        protocol,
        transport,
        padding: 0,
    }
}

const IP: &[u8] = &[8, 0];
const IP6: &[u8] = &[0x86, 0xDD];
const PLAIN: Network = Network::Ip(0, &[]);
const UDP: &[u8] = &[4, 0, 0, 53, 0, 12, 0, 0, b'd', b'a', b't', b'a'];
const TCP: &[u8] = &[
    4, 1, 0, 80, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x10, 16, 0, 0, 0, 0, 0, b'd',
];
const SYN: &[u8] = &[
    4, 1, 0, 80, 0, 0, 0, 1, 0, 0, 0, 0, 0x70, 2, 16, 0, 0, 0, 0, 0, 2, 4, 5, 0xB4, 1, 3, 3, 7,
];
const FTP: &[u8] =
    b"\x04\x01\x00\x15\0\0\0\x01\0\0\0\x02\x50\x18\x10\0\0\0\0\0PORT 10,0,0,9,4,2\r\n";
const ECHO: &[u8] = &[8, 0, 0, 0, 1, 2, 0, 1, b'd', b'a'];
/// The time of a packet of UDP is over.
const EXPIRED: &[u8] = &[
    11, 0, 0, 0, 0, 0, 0, 0, 0x45, 0, 0, 32, 0, 0, 0, 0, 1, 17, 0, 0, 1, 0, 0, 1, 2, 0, 0, 2, 4, 0,
    0, 53, 0, 12, 0, 0,
];
const ARP: &[u8] = &[
    0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 9, 10, 0, 0, 9, 0, 0, 0, 0, 0, 0, 10, 0, 0, 1,
];
const ARP_REPLY: &[u8] = &[
    0, 1, 8, 0, 6, 4, 0, 2, 2, 0, 0, 0, 0, 9, 1, 2, 3, 4, 2, 0, 0, 0, 0, 1, 10, 0, 0, 1,
];
const SOLICITATION: &[u8] = &[
    135, 0, 0, 0, 0, 0, 0, 0, 0xFE, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 0, 0,
    0, 0, 9,
];
const ADVERTISEMENT: &[u8] = &[
    136, 0, 0, 0, 0x60, 0, 0, 0, 0xFE, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 1, 2, 0,
    0, 0, 0, 9,
];
/// GRE with a key around IPv4.
const GRE: &[u8] = &[
    0x20, 0, 8, 0, 0, 0, 0, 77, 0x45, 0, 0, 20, 0, 0, 0, 0, 9, 59, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8,
];

/// Every kind; at most 31, as five bits choose among them and arbitrary bytes.
pub(crate) const TEMPLATES: &[Template] = &[
    frame(IP, PLAIN, 17, UDP),
    frame(IP, PLAIN, 6, TCP),
    frame(IP, PLAIN, 6, SYN),
    frame(IP, PLAIN, 6, FTP),
    frame(IP, PLAIN, 1, ECHO),
    frame(IP, PLAIN, 1, EXPIRED),
    frame(IP, PLAIN, 47, GRE),
    frame(IP, Network::Ip(0x2000, &[]), 17, UDP),
    frame(IP, Network::Ip(1, &[]), 17, &[0; 16]),
    frame(
        IP,
        Network::Ip(0x4000, &[7, 11, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        17,
        UDP,
    ),
    frame(IP, Network::Ip(0, &[131, 7, 4, 10, 0, 0, 7, 1]), 6, TCP),
    frame(
        IP,
        Network::Ip(0, &[68, 12, 5, 1, 0, 0, 0, 0, 0, 0, 0, 0]),
        1,
        ECHO,
    ),
    frame(&[8, 6], Network::None, 0, ARP),
    frame(&[8, 6], Network::None, 0, ARP_REPLY),
    frame(IP6, Network::Ip6(17, &[]), 17, UDP),
    frame(IP6, Network::Ip6(6, &[]), 6, SYN),
    frame(IP6, Network::Ip6(58, &[]), 58, SOLICITATION),
    frame(IP6, Network::Ip6(58, &[]), 58, ADVERTISEMENT),
    frame(IP6, Network::Ip6(0, &[17, 0, 5, 2, 0, 0, 1, 0]), 17, UDP),
    frame(IP6, Network::Ip6(44, &[17, 0, 0, 1, 0, 0, 0, 7]), 17, UDP),
    frame(&[0x81, 0, 0, 7, 8, 0], PLAIN, 17, UDP),
    frame(&[0x88, 0xA8, 0, 7, 0x81, 0, 0, 100, 8, 0], PLAIN, 17, UDP),
    frame(&[0x88, 0x47, 0, 1, 0, 9, 0, 1, 0x21, 9], PLAIN, 17, UDP),
    frame(&[0x88, 8, 0, 1, 0, 9], Network::None, 0, &[0; 40]),
    Template {
        padding: 1400,
        ..frame(IP, PLAIN, 17, UDP)
    },
    Template {
        padding: 3000,
        ..frame(IP, PLAIN, 6, TCP)
    },
    Template {
        padding: 3000,
        ..frame(IP6, Network::Ip6(17, &[]), 17, UDP)
    },
];

impl Template {
    /// The frame.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut transport = self.transport.to_vec();
        transport.resize(transport.len() + self.padding, 0);
        let len = transport.len();
        if self.protocol == 17 {
            transport[4..6].copy_from_slice(&(len as u16).to_be_bytes());
        }
        let (src, dst) = ([10, 0, 0, 9], [1, 2, 3, 4]);
        let (mut src6, mut dst6) = ([0; 16], [0; 16]);
        (src6[0], src6[1], src6[15]) = (0xFE, 0x80, 9);
        (dst6[0], dst6[1], dst6[15]) = (0xFE, 0x80, 1);
        let sum = match self.network {
            Network::Ip6(..) => Sum::ZERO.pseudo_v6(&src6, &dst6, self.protocol, len as u32),
            _ => Sum::ZERO.pseudo_v4(src, dst, self.protocol, len as u16),
        };
        let at = match self.protocol {
            17 => Some((6, for_udp(sum.bytes(&transport)))),
            6 => Some((16, sum.bytes(&transport).checksum())),
            58 => Some((2, sum.bytes(&transport).checksum())),
            1 => Some((2, checksum(&transport))),
            _ => None,
        };
        if let Some((at, sum)) = at {
            transport[at..at + 2].copy_from_slice(&sum.to_be_bytes());
        }
        let network = match self.network {
            Network::None => Vec::new(),
            Network::Ip(fragment, options) => {
                let total = (20 + options.len() + len) as u16;
                let mut header = vec![0x45 + (options.len() / 4) as u8, 0];
                header.extend(total.to_be_bytes());
                header.extend([0, 7]);
                header.extend(fragment.to_be_bytes());
                header.extend([64, self.protocol, 0, 0]);
                header.extend([src, dst].concat());
                header.extend(options);
                set_checksum(&mut header);
                header
            }
            Network::Ip6(first, extensions) => {
                let mut header = vec![0x60, 0, 0, 0];
                header.extend(((extensions.len() + len) as u16).to_be_bytes());
                header.extend([first, 64]);
                header.extend([src6, dst6].concat());
                header.extend(extensions);
                header
            }
        };
        let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9];
        frame.extend(self.ethernet);
        frame.extend(network);
        frame.extend(transport);
        frame
    }
}

#[test]
fn the_templates_are_well_formed() {
    use trammel_packet::headers::ipv6;
    for template in TEMPLATES {
        let frame = template.bytes();
        let network = &frame[12 + template.ethernet.len()..];
        match template.network {
            Network::None => {}
            Network::Ip(_, options) => {
                assert_eq!(checksum(&network[..20 + options.len()]), 0);
                assert_eq!(
                    usize::from(network[2]) << 8 | usize::from(network[3]),
                    network.len()
                );
            }
            Network::Ip6(..) => {
                let upper = ipv6::upper(network).expect("a whole header");
                assert_eq!(upper.protocol, template.protocol);
            }
        }
    }
}
