//! Makes packets the data of ICMP echo requests.
//!
//! # Example
//! ```click
//! // A ping each second.
//! RatedSource(RATE 1, LENGTH 56) -> ICMPPingEncap(10.0.0.1, 10.0.0.2) -> IPPrint -> Discard
//! ```

use super::shared::icmp_encap::Message;
use crate::args::addresses::parse_ip;
use crate::args::kinds::U16;
use crate::args::{Args, Kind, keyword, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use std::net::Ipv4Addr;
use trammel_packet::batch::Packets;
use trammel_packet::headers::icmp::kind;

/// The class.
pub static ENTRY: Entry = Entry::new("ICMPPingEncap", "makes echo requests of packets", || {
    Box::<IcmpPingEncap>::default()
})
.references(&["RFC 792"])
.params(&[
    mandatory("SRC", Kind::Ip, "the source"),
    mandatory("DST", Kind::Ip, "the destination"),
    keyword("IDENTIFIER", U16, "0", "the identifier of the requests"),
])
.ops("checksum(frame + 4) by 4; checksum(20) by 4; deparse(28); work(155)");

#[derive(Debug)]
struct IcmpPingEncap {
    src: [u8; 4],
    dst: [u8; 4],
    identifier: u16,
    id: u16,
}

impl Default for IcmpPingEncap {
    fn default() -> IcmpPingEncap {
        IcmpPingEncap {
            src: [0; 4],
            dst: [0; 4],
            identifier: 0,
            id: 1,
        }
    }
}

impl Element for IcmpPingEncap {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.src = args.ip("SRC").octets();
        self.dst = args.ip("DST").octets();
        self.identifier = args.uint("IDENTIFIER") as u16;
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for packet in batch.iter() {
            let packet = &mut pool[packet];
            let message = Message {
                kind: kind::ECHO,
                code: 0,
                identifier: self.identifier,
                sequence: self.id,
            };
            message.put(packet, self.src, self.dst, self.id);
            // Never zero, which some hosts take for no number.
            self.id = self.id.checked_add(1).unwrap_or(1);
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        ["src", "dst"]
            .map(|name| Handler::new(name, "rw."))
            .to_vec()
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(Ipv4Addr::from(if name == "src" { self.src } else { self.dst }).to_string())
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        let address = parse_ip(value.trim(), &ctx.names()).map_err(|_| "syntax error")?;
        *if name == "src" {
            &mut self.src
        } else {
            &mut self.dst
        } = address.octets();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::Probe;
    use trammel_packet::headers::checksum::checksum;

    #[test]
    fn requests_are_right_and_numbered() {
        let mut probe = Probe::new("ICMPPingEncap(1.0.0.1, 1.0.0.2, IDENTIFIER 7)", 1);
        for number in 1..3 {
            let packet = &probe.send(b"data")[0].1;
            assert_eq!(packet[4..6], [0, number]);
            assert_eq!(packet[20..22], [8, 0]);
            assert_eq!(packet[24..], [0, 7, 0, number, b'd', b'a', b't', b'a']);
            assert_eq!((checksum(&packet[..20]), checksum(&packet[20..])), (0, 0));
        }
    }
}
