//! Makes packets the data of ICMP echo requests.
//!
//! # Example
//! ```click
//! // A ping each second.
//! RatedSource(RATE 1, LENGTH 56) -> ICMPPingEncap(10.0.0.1, 10.0.0.2) -> IPPrint -> Discard
//! ```

use super::shared::icmp_encap::{Encap, Ends};
use crate::args::kinds::U16;
use crate::args::{Args, Kind, keyword, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
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
    encap: Encap,
}

impl Default for IcmpPingEncap {
    fn default() -> IcmpPingEncap {
        IcmpPingEncap {
            encap: Encap::new(kind::ECHO),
        }
    }
}

impl Element for IcmpPingEncap {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.encap.ends = Ends::of(args);
        self.encap.identifier = args.uint("IDENTIFIER") as u16;
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        self.encap.process(ctx, batch);
    }

    fn handlers(&self) -> Vec<Handler> {
        Ends::handlers().to_vec()
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(self.encap.ends.read(name))
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        self.encap.ends.write(ctx, name, value)
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
