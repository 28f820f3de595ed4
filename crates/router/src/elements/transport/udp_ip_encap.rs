//! Adds UDP and IPv4 headers.
//!
//! # What it does
//! The destination annotation becomes the destination; where that is `DST_ANNO`, it is the other
//! way round.
//!
//! # Example
//! ```click
//! // A question to a DNS server each second.
//! RatedSource(RATE 1) -> UDPIPEncap(10.0.0.1, 1234, 10.0.0.2, 53)
//!     -> EtherEncap(0x0800, 2:0:0:0:0:1, 2:0:0:0:0:2) -> Queue -> ToDevice(eth0)
//! ```

use super::shared::udp_encap::Encap;
use crate::args::addresses::parse_ip;
use crate::args::names::{Names, UDP, parse_port};
use crate::args::{Args, Kind, mandatory, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::headers::ip_packet::destination;
use std::net::Ipv4Addr;
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("UDPIPEncap", "adds UDP and IP headers", || {
    Box::<UdpIpEncap>::default()
})
.references(&["RFC 768", "RFC 791"])
.live()
.params(&[
    mandatory("SRC", Kind::Ip, "the source"),
    mandatory("SPORT", Kind::IpPort(17), "its port"),
    mandatory("DST", Kind::Raw, "the destination, or `DST_ANNO`"),
    mandatory("DPORT", Kind::IpPort(17), "its port"),
    positional(
        "CHECKSUM",
        Kind::Bool,
        "true",
        "whether UDP's checksum is computed",
    ),
])
.ops("checksum(frame + 16) by 4; checksum(20) by 4; deparse(28); work(145)");

#[derive(Debug, Default)]
struct UdpIpEncap {
    ends: Encap,
    from_annotation: bool,
}

impl UdpIpEncap {
    fn set_destination(&mut self, text: &str, names: &dyn Names) -> Result<(), &'static str> {
        self.from_annotation = text == "DST_ANNO";
        if self.from_annotation {
            self.ends.dst = [0; 4];
        } else {
            self.ends.dst = parse_ip(text, names).map_err(|_| "bad DST")?.octets();
        }
        Ok(())
    }
}

impl Element for UdpIpEncap {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.ends.src = args.ip("SRC").octets();
        self.ends.sport = args.uint("SPORT") as u16;
        self.ends.dport = args.uint("DPORT") as u16;
        self.ends.sums = args.bool("CHECKSUM");
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
            let packet = &mut pool[packet];
            if self.from_annotation {
                self.ends.dst = destination(packet);
            }
            self.ends.put(packet);
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        ["src", "sport", "dst", "dport"]
            .map(|name| Handler::new(name, "rw"))
            .to_vec()
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        let ends = &self.ends;
        Ok(match name {
            "src" => Ipv4Addr::from(ends.src).to_string(),
            "sport" => ends.sport.to_string(),
            "dport" => ends.dport.to_string(),
            _ if self.from_annotation => Ipv4Addr::UNSPECIFIED.to_string(),
            _ => Ipv4Addr::from(ends.dst).to_string(),
        })
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        let (names, value) = (ctx.names(), value.trim());
        let port = || parse_port(value, UDP, &names).map_err(|why| why.to_string());
        match name {
            "src" => {
                let address = parse_ip(value, &names).map_err(|why| why.to_string())?;
                self.ends.src = address.octets();
            }
            "sport" => self.ends.sport = port()?,
            "dport" => self.ends.dport = port()?,
            _ => self.set_destination(value, &names)?,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::headers::ip_packet::transport_sum;
    use crate::probe::Probe;
    use trammel_packet::anno;
    use trammel_packet::headers::checksum::checksum;

    #[test]
    fn headers_are_right_and_ids_count() {
        let mut probe = Probe::new("UDPIPEncap(10.0.0.1, 1000, 10.0.0.2, 2000)", 1);
        for id in 0..2 {
            let packet = &probe.send(b"data")[0].1;
            assert_eq!(packet[..10], [0x45, 0, 0, 32, 0, id, 0, 0, 250, 17]);
            assert_eq!(
                packet[12..26],
                [10, 0, 0, 1, 10, 0, 0, 2, 3, 232, 7, 208, 0, 12]
            );
            assert_eq!((checksum(&packet[..20]), &packet[28..]), (0, &b"data"[..]));
            assert_eq!(
                transport_sum(packet).map(trammel_packet::headers::checksum::Sum::checksum),
                Some(0)
            );
        }
    }

    #[test]
    fn the_destination_may_be_the_annotation() {
        let mut probe = Probe::new("UDPIPEncap(10.0.0.1, 1000, DST_ANNO, 2000, false)", 1);
        let left = probe.send_with(b"", |packet| {
            packet.set_anno_bytes(anno::DST_IP, [1, 2, 3, 4]);
        });
        assert_eq!(left[0].1[16..20], [1, 2, 3, 4]);
        assert_eq!(left[0].1[26..28], [0, 0]);
        probe.run.write("x.dst", "5.6.7.8").expect("an address");
        assert_eq!(probe.send(b"")[0].1[16..20], [5, 6, 7, 8]);
    }
}
