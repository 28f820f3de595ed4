//! Adds an IPv6 header.
//!
//! # What it does
//! `DST` is an address or `DST_ANNO`, for that of each packet's destination annotation.
//!
//! # Example
//! ```click
//! // A tunnel of IPv4 in IPv6.
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> IP6Encap(4, 2001:db8::1, 2001:db8::2)
//!     -> Discard
//! ```
//!
//! # References
//! RFC 8200.

use crate::args::addresses::{parse_ip6, unparse_ip6};
use crate::args::kinds::U8;
use crate::args::{Args, Kind, keyword, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::headers::ip6_packet;
use std::net::Ipv6Addr;
use trammel_packet::batch::Packets;
use trammel_packet::headers::ipv6::Ipv6;

/// The class.
pub static ENTRY: Entry = Entry::new("IP6Encap", "adds an IPv6 header", || {
    Box::<Ip6Encap>::default()
})
.references(&["RFC 8200"])
.live()
.params(&[
    mandatory("PROTO", Kind::Protocol, "what the packet carries"),
    mandatory("SRC", Kind::Ip6, "the source address"),
    mandatory("DST", Kind::Raw, "the destination address, or `DST_ANNO`"),
    keyword("HLIM", U8, "250", "the hop limit"),
    keyword("CLASS", U8, "0", "the traffic class"),
])
.ops("deparse(40); work(35)");

#[derive(Debug, Default)]
struct Ip6Encap {
    header: Ipv6,
    from_annotation: bool,
}

impl Element for Ip6Encap {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let mut said = Diagnostics::new();
        let (protocol, text) = (args.uint("PROTO"), args.text("DST"));
        let next_header = u8::try_from(protocol).unwrap_or_else(|_| {
            said.error(None, "bad IP protocol");
            0
        });
        let from_annotation = text == "DST_ANNO";
        let mut dst = [0; 16];
        if !from_annotation {
            match parse_ip6(text, &setup.names()) {
                Ok(address) => dst = address.octets(),
                Err(_) => said.error(None, "DST argument should be IP address or 'DST_ANNO'"),
            }
        }
        if said.has_errors() {
            return Err(said);
        }
        self.from_annotation = from_annotation;
        self.header = Ipv6 {
            version_class_flow: (6 << 28 | (args.uint("CLASS") as u32) << 20).into(),
            payload_length: 0.into(),
            next_header,
            hop_limit: args.uint("HLIM") as u8,
            src: args.ip6("SRC").octets(),
            dst,
        };
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for packet in batch.iter() {
            let packet = &mut pool[packet];
            let mut header = self.header;
            // A payload beyond 65535 bytes would need a jumbogram's option; the field says 0 then
            // (RFC 2675).
            header.payload_length = u16::try_from(packet.len()).unwrap_or(0).into();
            if self.from_annotation {
                header.dst = ip6_packet::destination(packet);
            } else {
                ip6_packet::set_destination(packet, header.dst);
            }
            packet.push(Ipv6::LEN).copy_from_slice(header.bytes());
            packet.set_network_header(0);
            packet.set_transport_header(Ipv6::LEN as isize);
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("src", "rw."), Handler::new("dst", "rw.")]
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "dst" if self.from_annotation => "DST_ANNO".to_owned(),
            "dst" => unparse_ip6(Ipv6Addr::from(self.header.dst)),
            _ => unparse_ip6(Ipv6Addr::from(self.header.src)),
        })
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        if name == "dst" && value.trim() == "DST_ANNO" {
            self.from_annotation = true;
            return Ok(());
        }
        let address = parse_ip6(value.trim(), &ctx.names()).map_err(|why| why.to_string())?;
        if name == "src" {
            self.header.src = address.octets();
        } else {
            (self.header.dst, self.from_annotation) = (address.octets(), false);
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
    fn the_header_is_what_was_asked_for() {
        let mut x = Probe::new("IP6Encap(17, ::1, ::2, HLIM 9, CLASS 0xB8)", 1);
        let mut expected = vec![0x6B, 0x80, 0, 0, 0, 3, 17, 9];
        expected.extend([0; 15].iter().chain(&[1]).chain(&[0; 15]).chain(&[2]));
        expected.extend(b"abc");
        assert_eq!(x.send(b"abc"), [(0, expected.clone())]);
        x.run.write("x.dst", "DST_ANNO").expect("right");
        let out = x.send_with(b"abc", |packet| {
            ip6_packet::set_destination(packet, [7; 16]);
        });
        assert_eq!(out[0].1[24..40], [7; 16]);
        let said = errors("Idle -> IP6Encap(300, ::1, 1.2.3) -> Idle;");
        assert!(
            said.contains("bad IP protocol") || said.contains("PROTO"),
            "{said}"
        );
    }
}
