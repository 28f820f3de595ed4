//! TCP and UDP to a router where nothing listens.

use core::net::Ipv4Addr;
use trammel_packet::headers::checksum::Sum;
use trammel_packet::headers::ipv4::{Ipv4, protocol};
use trammel_packet::headers::tcp::{Tcp, flag};
use trammel_packet::headers::udp::Udp;
use trammel_packet::headers::{U16, U32};

/// Whether `segment` has a right checksum with the addresses of `ip`.
fn sums_up(ip: &Ipv4, segment: &[u8]) -> bool {
    let length = segment.len() as u16;
    let pseudo = Sum::ZERO.pseudo_v4(ip.src, ip.dst, ip.protocol, length);
    pseudo.bytes(segment).checksum() == 0
}

/// Whether `payload` is a datagram of UDP with a right length and, if it has one, checksum.
pub(crate) fn is_udp(ip: &Ipv4, payload: &[u8]) -> bool {
    let Some(udp) = Udp::read(payload) else {
        return false;
    };
    let length = usize::from(udp.length.get());
    length >= Udp::LEN
        && (payload.get(..length))
            .is_some_and(|datagram| udp.checksum.get() == 0 || sums_up(ip, datagram))
}

/// What a closed port says to a segment of TCP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// This reset.
    Reset(Vec<u8>),
    /// Nothing, to a reset.
    Nothing,
}

/// The answer of a closed port (RFC 9293 §3.10.7.1), or nothing where `segment` is none.
pub(crate) fn closed(ip: &Ipv4, segment: &[u8]) -> Option<Answer> {
    let tcp = Tcp::read(segment)?;
    let length = tcp.header_len();
    if length < Tcp::LEN || length > segment.len() || !sums_up(ip, segment) {
        return None;
    }
    if tcp.flags & flag::RST != 0 {
        return Some(Answer::Nothing);
    }
    let has = |wanted: u8| u32::from(tcp.flags & wanted != 0);
    let data = (segment.len() - length) as u32 + has(flag::SYN) + has(flag::FIN);
    let (seq, ack, flags) = if has(flag::ACK) != 0 {
        (tcp.ack.get(), 0, flag::RST)
    } else {
        let ack = tcp.seq.get().wrapping_add(data);
        (0, ack, flag::RST | flag::ACK)
    };
    let reset = Tcp {
        sport: tcp.dport,
        dport: tcp.sport,
        seq: U32::new(seq),
        ack: U32::new(ack),
        offset_reserved: 5 << 4,
        flags,
        ..Tcp::default()
    };
    let (source, destination) = (Ipv4Addr::from(ip.dst), Ipv4Addr::from(ip.src));
    Some(Answer::Reset(summed(reset, source, destination)))
}

fn summed(mut tcp: Tcp, source: Ipv4Addr, destination: Ipv4Addr) -> Vec<u8> {
    let length = Tcp::LEN as u16;
    let (source, destination) = (source.octets(), destination.octets());
    let sum = Sum::ZERO.pseudo_v4(source, destination, protocol::TCP, length);
    tcp.checksum = U16::new(sum.bytes(tcp.bytes()).checksum());
    tcp.bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: Ipv4 = Ipv4 {
        version_ihl: 0x45,
        tos: 0,
        total_length: U16::ZERO,
        identification: U16::ZERO,
        flags_fragment: U16::ZERO,
        ttl: 64,
        protocol: protocol::TCP,
        checksum: U16::ZERO,
        src: [10, 0, 0, 1],
        dst: [10, 0, 0, 2],
    };

    fn segment(flags: u8) -> Vec<u8> {
        let tcp = Tcp {
            sport: U16::new(1000),
            dport: U16::new(23),
            seq: U32::new(u32::MAX),
            ack: U32::new(77),
            offset_reserved: 5 << 4,
            flags,
            ..Tcp::default()
        };
        summed(tcp, HEADER.src.into(), HEADER.dst.into())
    }

    fn reset(flags: u8) -> (u32, u32, u8) {
        let Some(Answer::Reset(bytes)) = closed(&HEADER, &segment(flags)) else {
            panic!("no reset");
        };
        let back = Ipv4 {
            src: HEADER.dst,
            dst: HEADER.src,
            ..HEADER
        };
        assert!(sums_up(&back, &bytes));
        let tcp = Tcp::read(&bytes).unwrap();
        assert_eq!((tcp.sport.get(), tcp.dport.get()), (23, 1000));
        (tcp.seq.get(), tcp.ack.get(), tcp.flags)
    }

    #[test]
    fn a_reset_acknowledges_or_takes_the_acknowledged_number() {
        assert_eq!(reset(flag::SYN), (0, 0, flag::RST | flag::ACK));
        assert_eq!(reset(flag::ACK), (77, 0, flag::RST));
        assert_eq!(reset(flag::SYN | flag::FIN), (0, 1, flag::RST | flag::ACK));
    }

    #[test]
    fn a_reset_has_no_answer_and_a_broken_segment_is_none() {
        assert_eq!(closed(&HEADER, &segment(flag::RST)), Some(Answer::Nothing));
        let mut broken = segment(flag::SYN);
        broken[0] ^= 1;
        assert_eq!(closed(&HEADER, &broken), None);
        assert_eq!(closed(&HEADER, &[0; 19]), None);
        let mut short = segment(flag::SYN);
        short[12] = 4 << 4;
        assert_eq!(closed(&HEADER, &short), None);
    }

    #[test]
    fn a_datagram_may_have_no_checksum_but_no_wrong_one() {
        let ip = Ipv4 {
            protocol: protocol::UDP,
            ..HEADER
        };
        let mut udp = vec![0, 1, 0, 2, 0, 9, 0, 0, 5];
        assert!(is_udp(&ip, &udp));
        udp[7] = 1;
        assert!(!is_udp(&ip, &udp));
        udp[7] = 0;
        udp[5] = 10;
        assert!(!is_udp(&ip, &udp));
        udp[5] = 7;
        assert!(!is_udp(&ip, &udp));
    }
}
