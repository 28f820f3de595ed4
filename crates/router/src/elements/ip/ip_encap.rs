//! Adds an IPv4 header.
//!
//! # What it does
//! The destination annotation becomes the destination; where that is `DST_ANNO`, it is the other
//! way round.
//!
//! # Example
//! ```click
//! // A tunnel of IP in IP.
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> IPEncap(ipip, 10.0.0.1, 10.0.0.2, TTL 64)
//!     -> Discard
//! ```
//!
//! # References
//! RFC 791; RFC 2003.

use crate::args::addresses::parse_ip;
use crate::args::kinds::{INT, U8};
use crate::args::names::Names;
use crate::args::numbers::parse_bool;
use crate::args::{Args, Kind, flag, keyword, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::headers::ip_packet::{destination, mark_len, set_destination};
use std::net::Ipv4Addr;
use trammel_packet::batch::Packets;
use trammel_packet::headers::checksum::{self, Sum};
use trammel_packet::headers::ipv4::{self, Ipv4, ecn};

/// The class.
pub static ENTRY: Entry = Entry::new("IPEncap", "adds an IP header", || Box::<IpEncap>::default())
    .references(&["RFC 791", "RFC 2003"])
    .live()
    .params(&[
        mandatory("PROTO", Kind::Protocol, "what the packet carries"),
        mandatory("SRC", Kind::Ip, "the source"),
        mandatory("DST", Kind::Raw, "the destination, or `DST_ANNO`"),
        keyword("TOS", INT, "-1", "the type of service"),
        keyword("TTL", U8, "250", "the time to live"),
        keyword("DSCP", INT, "-1", "the DSCP"),
        keyword(
            "ECT",
            Kind::Keyword,
            "",
            "whether the transport understands ECN; or `2`",
        ),
        flag("CE", "false", "whether congestion is told"),
        flag("DF", "false", "whether fragments are forbidden"),
    ])
    .ops("inc_checksum(4); deparse(20); work(50)");

#[derive(Debug, Default)]
struct IpEncap {
    /// With the checksum of what does not change from packet to packet.
    header: Ipv4,
    from_annotation: bool,
    id: u16,
}

/// The type of service that the arguments ask for.
fn type_of_service(args: &Args) -> Result<u8, String> {
    let ect = match args.text("ECT") {
        "" => 0,
        "2" => 2,
        text => match parse_bool(text) {
            Ok(is_able) => u8::from(is_able),
            Err(_) => return Err(format!("bad ECT value '{text}'")),
        },
    };
    let (tos, dscp, ce) = (args.int("TOS"), args.int("DSCP"), args.bool("CE"));
    if tos >= 0 && dscp >= 0 {
        return Err("cannot set both TOS and DSCP".into());
    }
    if tos >= 0 && (ect != 0 || ce) {
        return Err("cannot set both TOS and ECN bits".into());
    }
    if !(-1..256).contains(&tos) {
        return Err("TOS too large; max 255".into());
    }
    // Differs from Click 2.1, which refuses 63 too.
    if !(-1..64).contains(&dscp) {
        return Err("DSCP too large; max 63".into());
    }
    if ect != 0 && ce {
        return Err("can set at most one ECN option".into());
    }
    let base = if tos >= 0 { tos } else { dscp.max(0) << 2 } as u8;
    Ok(base | if ce { ecn::CE } else { ect })
}

impl IpEncap {
    fn set_destination(&mut self, text: &str, names: &dyn Names) -> Result<(), String> {
        self.from_annotation = text == "DST_ANNO";
        self.header.dst = if self.from_annotation {
            [0; 4]
        } else {
            let address = parse_ip(text, names);
            address
                .map_err(|_| "DST argument should be IP address or 'DST_ANNO'")?
                .octets()
        };
        self.sum();
        Ok(())
    }

    fn sum(&mut self) {
        self.header.checksum.set(0);
        let sum = checksum::checksum(self.header.bytes());
        self.header.checksum.set(sum);
    }

    fn take(&mut self, args: &Args, names: &dyn Names) -> Result<(), String> {
        let proto = u8::try_from(args.uint("PROTO")).map_err(|_| "bad IP protocol")?;
        self.header = Ipv4 {
            version_ihl: 0x45,
            tos: type_of_service(args)?,
            ttl: args.uint("TTL") as u8,
            protocol: proto,
            src: args.ip("SRC").octets(),
            ..Ipv4::default()
        };
        self.header
            .flags_fragment
            .set(if args.bool("DF") { ipv4::DF } else { 0 });
        self.set_destination(args.text("DST"), names)
    }
}

impl Element for IpEncap {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let taken = self.take(args, &setup.names());
        taken.map_err(|why| {
            let mut said = Diagnostics::new();
            said.error(None, why);
            said
        })
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for packet in batch.iter() {
            let packet = &mut pool[packet];
            let mut header = self.header;
            let mut sum = Sum::ZERO.u16(!header.checksum.get());
            if self.from_annotation {
                header.dst = destination(packet);
                sum = sum.bytes(&header.dst);
            } else {
                set_destination(packet, header.dst);
            }
            let total = (packet.len() + Ipv4::LEN) as u16;
            header.total_length.set(total);
            header.identification.set(self.id);
            header.checksum.set(sum.u16(total).u16(self.id).checksum());
            self.id = self.id.wrapping_add(1);
            packet.push(Ipv4::LEN).copy_from_slice(header.bytes());
            mark_len(packet, 0, Ipv4::LEN);
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        ["src", "dst"]
            .map(|name| Handler::new(name, "rw."))
            .to_vec()
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "src" => Ipv4Addr::from(self.header.src).to_string(),
            _ if self.from_annotation => "DST_ANNO".to_owned(),
            _ => Ipv4Addr::from(self.header.dst).to_string(),
        })
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        let (names, value) = (ctx.names(), value.trim());
        if name == "dst" {
            return self.set_destination(value, &names);
        }
        let address = parse_ip(value, &names).map_err(|why| why.to_string())?;
        self.header.src = address.octets();
        self.sum();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::errors;
    use crate::probe::Probe;
    use trammel_packet::anno;
    use trammel_packet::headers::checksum::checksum;

    #[test]
    fn headers_are_right_and_ids_count() {
        let mut probe = Probe::new(
            "IPEncap(4, 10.0.0.1, 10.0.0.2, DSCP 46, ECT true, DF true)",
            1,
        );
        for id in 0..3 {
            let packet = &probe.send(b"data")[0].1;
            assert_eq!(
                packet[..10],
                [0x45, 46 << 2 | 1, 0, 24, 0, id, 0x40, 0, 250, 4]
            );
            assert_eq!(packet[12..], *b"\x0a\0\0\x01\x0a\0\0\x02data");
            assert_eq!(checksum(&packet[..20]), 0);
        }
    }

    #[test]
    fn the_destination_may_be_the_annotation() {
        let mut probe = Probe::new("IPEncap(udp, 10.0.0.1, DST_ANNO)", 1);
        let left = probe.send_with(b"", |packet| {
            packet.set_anno_bytes(anno::DST_IP, [1, 2, 3, 4]);
        });
        assert_eq!(left[0].1[16..20], [1, 2, 3, 4]);
        assert_eq!(checksum(&left[0].1), 0);
        assert_eq!(probe.run.read("x.dst"), "DST_ANNO");
    }

    #[test]
    fn what_contradicts_itself_is_told() {
        for (arguments, text) in [
            ("TOS 1, DSCP 1", "cannot set both TOS and DSCP"),
            ("TOS 1, CE true", "cannot set both TOS and ECN bits"),
            ("ECT 3", "bad ECT value '3'"),
            ("ECT 2, CE true", "can set at most one ECN option"),
            ("DSCP 64", "DSCP too large; max 63"),
        ] {
            let said = errors(&format!(
                "Idle -> IPEncap(4, 1.0.0.1, 1.0.0.2, {arguments}) -> Idle"
            ));
            assert!(said.contains(text), "{said}");
        }
    }
}
