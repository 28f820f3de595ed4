//! Adds UDP and IPv6 headers.
//!
//! # What it does
//! `DST` is an address or `DST_ANNO`, for that of each packet's destination annotation. UDP's
//! checksum is always computed (RFC 8200, §8.1).
//!
//! # Example
//! ```click
//! RatedSource(RATE 1) -> UDPIP6Encap(2001:db8::1, 1000, 2001:db8::2, 1000)
//!     -> EtherEncap(0x86dd, 2:0:0:0:0:1, 2:0:0:0:0:2) -> Queue -> ToDevice(eth0)
//! ```
//!
//! # References
//! RFC 768; RFC 8200.

use crate::args::addresses::{parse_ip6, unparse_ip6};
use crate::args::names::{Names, parse_port};
use crate::args::{Args, Kind, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::headers::ip6_packet;
use trammel_packet::batch::Packets;
use trammel_packet::headers::U16;
use trammel_packet::headers::ipv4::protocol::UDP;
use trammel_packet::headers::ipv6::Ipv6;
use trammel_packet::headers::udp::Udp;
use trammel_packet::packet::Packet;

/// The class.
pub static ENTRY: Entry = Entry::new("UDPIP6Encap", "adds UDP and IPv6 headers", || {
    Box::<UdpIp6Encap>::default()
})
.references(&["RFC 768", "RFC 8200"])
.params(&[
    mandatory("SRC", Kind::Ip6, "the source address"),
    mandatory("SPORT", Kind::IpPort(UDP), "the source port"),
    mandatory("DST", Kind::Raw, "the destination address, or `DST_ANNO`"),
    mandatory("DPORT", Kind::IpPort(UDP), "the destination port"),
])
.ops("checksum(frame + 44) by 4; deparse(48); work(120)");

#[derive(Debug, Default)]
struct UdpIp6Encap {
    src: [u8; 16],
    dst: [u8; 16],
    sport: u16,
    dport: u16,
    from_annotation: bool,
}

impl UdpIp6Encap {
    fn set_destination(&mut self, text: &str, names: &dyn Names) -> Result<(), &'static str> {
        let from_annotation = text == "DST_ANNO";
        self.dst = if from_annotation {
            [0; 16]
        } else {
            parse_ip6(text, names).map_err(|_| "bad DST")?.octets()
        };
        self.from_annotation = from_annotation;
        Ok(())
    }

    fn put(&self, packet: &mut Packet) {
        let dst = if self.from_annotation {
            ip6_packet::destination(packet)
        } else {
            ip6_packet::set_destination(packet, self.dst);
            self.dst
        };
        // Lengths beyond the fields' would need a jumbogram's option; they are 0 then (RFC 2675).
        let length = U16::new(u16::try_from(packet.len() + Udp::LEN).unwrap_or(0));
        let mut udp = Udp {
            sport: U16::new(self.sport),
            dport: U16::new(self.dport),
            length,
            checksum: U16::new(0),
        };
        packet.push(Udp::LEN).copy_from_slice(udp.bytes());
        let sum = ip6_packet::checksum(&self.src, &dst, UDP, packet.data());
        // A sum of 0 would mean that there is none.
        udp.checksum.set(if sum == 0 { u16::MAX } else { sum });
        packet.data_mut()[..Udp::LEN].copy_from_slice(udp.bytes());
        let ip = Ipv6 {
            version_class_flow: (6 << 28).into(),
            payload_length: length,
            next_header: UDP,
            hop_limit: 255,
            src: self.src,
            dst,
        };
        packet.push(Ipv6::LEN).copy_from_slice(ip.bytes());
        packet.set_network_header(0);
        packet.set_transport_header(Ipv6::LEN as isize);
    }
}

impl Element for UdpIp6Encap {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.src = args.ip6("SRC").octets();
        self.sport = args.uint("SPORT") as u16;
        self.dport = args.uint("DPORT") as u16;
        self.set_destination(args.text("DST"), &setup.names())
            .map_err(|why| {
                let mut said = Diagnostics::new();
                said.error(None, why);
                said
            })
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for packet in batch.iter() {
            self.put(&mut pool[packet]);
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        ["src", "sport", "dst", "dport"]
            .map(|name| Handler::new(name, "rw"))
            .to_vec()
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "src" => unparse_ip6(self.src.into()),
            "sport" => self.sport.to_string(),
            "dst" => unparse_ip6(self.dst.into()),
            _ => self.dport.to_string(),
        })
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        let (names, value) = (ctx.names(), value.trim());
        let port = || parse_port(value, UDP, &names).map_err(|why| why.to_string());
        match name {
            "src" => {
                let address = parse_ip6(value, &names).map_err(|why| why.to_string())?;
                self.src = address.octets();
            }
            "sport" => self.sport = port()?,
            "dport" => self.dport = port()?,
            _ => self.set_destination(value, &names)?,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::headers::ip6_packet;
    use crate::load::testing::errors;
    use crate::probe::Probe;

    #[test]
    fn headers_and_checksum_are_right() {
        let mut probe = Probe::new("UDPIP6Encap(2001::1, 1000, 2001::2, 2000)", 1);
        let packet = probe.send(b"data").remove(0).1;
        assert_eq!(packet[..8], [0x60, 0, 0, 0, 0, 12, 17, 255]);
        assert_eq!((packet[23], packet[39]), (1, 2));
        assert_eq!(packet[40..46], [3, 232, 7, 208, 0, 12]);
        let address = |at: usize| packet[at..at + 16].try_into().expect("16 bytes");
        let sum = ip6_packet::checksum(&address(8), &address(24), 17, &packet[40..]);
        assert_eq!((sum, &packet[48..]), (0, &b"data"[..]));
    }

    #[test]
    fn the_destination_may_be_the_annotation() {
        let mut probe = Probe::new("UDPIP6Encap(2001::1, 1000, DST_ANNO, 2000)", 1);
        let left = probe.send_with(b"", |p| ip6_packet::set_destination(p, [7; 16]));
        assert_eq!(left[0].1[24..40], [7; 16]);
        probe.run.write("x.dst", "2001::8").expect("an address");
        assert_eq!(probe.send(b"")[0].1[39], 8);
        assert!(errors("Idle -> UDPIP6Encap(::5, 1, x, 2) -> Idle").contains("bad DST"));
    }
}
