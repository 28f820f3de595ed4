//! Packets that etherparse builds, and damage that is done to them.

use etherparse::checksum::Sum16BitWords;
use etherparse::{
    IpFragOffset, IpHeaders, IpNumber, Ipv4Extensions, Ipv4Header, Ipv6Extensions, Ipv6Header,
    PacketBuilder, TcpHeader, TcpOptionElement, UdpHeader,
};
use proptest::prelude::*;

/// What is above IP.
#[derive(Clone, Debug)]
pub(crate) enum Upper {
    Udp([u16; 2]),
    Tcp([u16; 2], u32, bool),
    Echo(u16, u16),
}

/// A packet to build.
#[derive(Clone, Debug)]
pub(crate) struct Packet {
    pub(crate) src: [u8; 4],
    pub(crate) dst: [u8; 4],
    pub(crate) ttl: u8,
    pub(crate) tos: u8,
    pub(crate) id: u16,
    pub(crate) is_whole: bool,
    /// Words of no-operations among the options.
    pub(crate) option_words: usize,
    pub(crate) upper: Upper,
    pub(crate) payload: Vec<u8>,
}

/// Addresses that no check calls bad.
fn host() -> impl Strategy<Value = [u8; 4]> {
    (1_u8..224, any::<[u8; 3]>()).prop_map(|(a, [b, c, d])| [a, b, c, d])
}

pub(crate) fn packet() -> impl Strategy<Value = Packet> {
    let upper = prop_oneof![
        any::<[u16; 2]>().prop_map(Upper::Udp),
        (any::<[u16; 2]>(), any::<u32>(), any::<bool>()).prop_map(|(p, s, o)| Upper::Tcp(p, s, o)),
        (any::<u16>(), any::<u16>()).prop_map(|(id, seq)| Upper::Echo(id, seq)),
    ];
    let numbers = (
        2_u8..,
        any::<u8>(),
        any::<u16>(),
        any::<bool>(),
        0_usize..11,
    );
    let payload = prop::collection::vec(any::<u8>(), 0..64);
    (host(), host(), numbers, upper, payload).prop_map(
        |(src, dst, (ttl, tos, id, is_whole, option_words), upper, payload)| Packet {
            src,
            dst,
            ttl,
            tos,
            id,
            is_whole,
            option_words,
            upper,
            payload,
        },
    )
}

impl Packet {
    /// The IPv4 packet, all checksums right.
    pub(crate) fn ipv4(&self) -> Vec<u8> {
        let mut header = Ipv4Header::new(0, self.ttl, IpNumber::UDP, self.src, self.dst).unwrap();
        header.identification = self.id;
        header.dont_fragment = self.is_whole;
        header.fragment_offset = IpFragOffset::ZERO;
        header.dscp = (self.tos >> 2).try_into().unwrap();
        header.ecn = (self.tos & 3).try_into().unwrap();
        header.options = vec![1; 4 * self.option_words]
            .as_slice()
            .try_into()
            .unwrap();
        self.build(IpHeaders::Ipv4(header, Ipv4Extensions::default()))
    }

    /// The same over IPv6; echoes are ICMPv6's.
    pub(crate) fn ipv6(&self) -> Vec<u8> {
        let mut header = Ipv6Header {
            hop_limit: self.ttl,
            traffic_class: self.tos,
            source: [0xFE; 16],
            destination: [0x20; 16],
            ..Ipv6Header::default()
        };
        header.source[12..].copy_from_slice(&self.src);
        header.destination[12..].copy_from_slice(&self.dst);
        self.build(IpHeaders::Ipv6(header, Ipv6Extensions::default()))
    }

    fn build(&self, ip: IpHeaders) -> Vec<u8> {
        let is_ipv4 = matches!(ip, IpHeaders::Ipv4(..));
        let builder = PacketBuilder::ip(ip);
        let mut data = Vec::new();
        match self.upper {
            Upper::Udp([sport, dport]) => builder.udp(sport, dport).write(&mut data, &self.payload),
            Upper::Tcp([sport, dport], seq, has_options) => {
                let mut tcp = TcpHeader::new(sport, dport, seq, 4096);
                if has_options {
                    let options = [
                        TcpOptionElement::MaximumSegmentSize(1460),
                        TcpOptionElement::WindowScale(7),
                    ];
                    tcp.set_options(&options).unwrap();
                }
                builder.tcp_header(tcp).write(&mut data, &self.payload)
            }
            Upper::Echo(id, seq) if is_ipv4 => builder
                .icmpv4_echo_request(id, seq)
                .write(&mut data, &self.payload),
            Upper::Echo(id, seq) => builder
                .icmpv6_echo_request(id, seq)
                .write(&mut data, &self.payload),
        }
        .unwrap();
        data
    }

    pub(crate) fn protocol(&self) -> u8 {
        match self.upper {
            Upper::Udp(_) => 17,
            Upper::Tcp(..) => 6,
            Upper::Echo(..) => 1,
        }
    }
}

/// What is done to a packet.
#[derive(Clone, Debug)]
pub(crate) enum Damage {
    None,
    /// A byte is changed.
    Flip(usize, u8),
    /// It ends earlier.
    Cut(usize),
    /// A link's padding follows it.
    Pad(usize),
}

pub(crate) fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        2 => Just(Damage::None),
        4 => (0_usize..100, 1_u8..).prop_map(|(at, by)| Damage::Flip(at, by)),
        1 => (0_usize..100).prop_map(Damage::Cut),
        1 => (1_usize..30).prop_map(Damage::Pad),
    ]
}

impl Damage {
    /// Does it to what follows the first `from` bytes.
    pub(crate) fn to(&self, data: &mut Vec<u8>, from: usize) {
        match *self {
            Damage::None => {}
            Damage::Flip(at, by) => {
                let len = data.len() - from;
                if len > 0 {
                    data[from + at % len] ^= by;
                }
            }
            Damage::Cut(at) => data.truncate(from + at % (data.len() - from + 1)),
            Damage::Pad(len) => data.resize(data.len() + len, 0xA5),
        }
    }
}

/// The sum of bytes as etherparse adds them: all of them, where its structures leave reserved bits
/// out.
fn sum(bytes: &[u8]) -> Sum16BitWords {
    Sum16BitWords::new().add_slice(bytes)
}

/// Whether the checksum of the header in front is right.
pub(crate) fn is_header_right(data: &[u8]) -> bool {
    let (header, _) = Ipv4Header::from_slice(data).unwrap();
    sum(&data[..header.header_len()]).ones_complement() == 0
}

/// The header's checksum made right again, so that other damage is seen.
pub(crate) fn mend(data: &mut [u8]) {
    let Ok((header, _)) = Ipv4Header::from_slice(data) else {
        return;
    };
    data[10..12].fill(0);
    let right = sum(&data[..header.header_len()]).ones_complement();
    data[10..12].copy_from_slice(&right.to_ne_bytes());
}

/// The header and what it says is its payload, as far as it is there.
pub(crate) fn parts(data: &[u8]) -> (Ipv4Header, &[u8]) {
    let (header, rest) = Ipv4Header::from_slice(data).unwrap();
    let len = usize::from(header.payload_len().unwrap());
    (header, &rest[..len.min(rest.len())])
}

/// Whether two checksums are the same number: in one's complement, 0 has two forms.
pub(crate) fn is_same_sum(a: u16, b: u16) -> bool {
    a % 0xFFFF == b % 0xFFFF
}

/// Whether an ICMPv4 message's checksum is right.
pub(crate) fn is_icmp_right(message: &[u8]) -> bool {
    message.len() >= 8 && sum(message).ones_complement() == 0
}

/// Whether what is above the header has the right lengths and checksum.
pub(crate) fn is_upper_right(header: &Ipv4Header, payload: &[u8]) -> bool {
    let is_sum_right = |payload: &[u8]| {
        let pseudo = sum(payload)
            .add_4bytes(header.source)
            .add_4bytes(header.destination);
        let pseudo = pseudo.add_2bytes([0, header.protocol.0]);
        let len = payload.len() as u16;
        pseudo.add_2bytes(len.to_be_bytes()).ones_complement() == 0
    };
    match header.protocol {
        IpNumber::UDP => UdpHeader::from_slice(payload).is_ok_and(|(udp, _)| {
            let datagram = payload.get(..udp.length.into());
            let datagram = datagram.filter(|datagram| datagram.len() >= 8);
            datagram.is_some_and(|datagram| udp.checksum == 0 || is_sum_right(datagram))
        }),
        IpNumber::TCP => TcpHeader::from_slice(payload).is_ok() && is_sum_right(payload),
        IpNumber::ICMP => is_icmp_right(payload),
        _ => false,
    }
}
