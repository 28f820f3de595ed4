//! Makes packets the data of ICMP messages of any type.
//!
//! # Example
//! ```click
//! // A packet becomes the data of a message of ICMP.
//! RatedSource(RATE 1) -> ICMPIPEncap(10.0.0.1, 10.0.0.2, echo) -> Discard
//! ```

use super::shared::icmp_encap::{Encap, Ends};
use crate::args::kinds::U16;
use crate::args::names::parse_icmp_code;
use crate::args::{Args, Kind, keyword, mandatory, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("ICMPIPEncap", "adds ICMP and IP headers", || {
    Box::<IcmpIpEncap>::default()
})
.references(&["RFC 792"])
.params(&[
    mandatory("SRC", Kind::Ip, "the source"),
    mandatory("DST", Kind::Ip, "the destination"),
    mandatory("TYPE", Kind::IcmpType, "the type, a number or a name"),
    positional("CODE", Kind::Word, "0", "the code, a number or a name"),
    keyword(
        "IDENTIFIER",
        U16,
        "0",
        "the identifier, of messages that have one",
    ),
])
.ops("checksum(frame + 4) by 4; checksum(20) by 4; deparse(28); work(155)");

#[derive(Debug)]
struct IcmpIpEncap {
    encap: Encap,
}

impl Default for IcmpIpEncap {
    fn default() -> IcmpIpEncap {
        IcmpIpEncap {
            encap: Encap::new(0),
        }
    }
}

impl Element for IcmpIpEncap {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.encap.ends = Ends::of(args);
        self.encap.identifier = args.uint("IDENTIFIER") as u16;
        self.encap.kind = args.uint("TYPE") as u8;
        match parse_icmp_code(args.text("CODE"), self.encap.kind, &setup.names()) {
            Ok(code) => {
                self.encap.code = code;
                Ok(())
            }
            Err(_) => Err(Diagnostics::of("invalid CODE")),
        }
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
    use crate::load::testing::errors;
    use crate::probe::Probe;
    use trammel_packet::headers::checksum::checksum;

    #[test]
    fn messages_are_right() {
        let mut probe = Probe::new(
            "ICMPIPEncap(1.0.0.1, 1.0.0.2, unreachable, port, IDENTIFIER 7)",
            1,
        );
        let packet = &probe.send(b"x")[0].1;
        assert_eq!(packet[20..22], [3, 3]);
        assert_eq!(packet[24..], [0, 0, 0, 0, b'x']);
        assert_eq!((checksum(&packet[..20]), checksum(&packet[20..])), (0, 0));
        let mut probe = Probe::new("ICMPIPEncap(1.0.0.1, 1.0.0.2, timestamp)", 1);
        assert_eq!(probe.send(b"")[0].1.len(), 40);
        assert!(
            errors("Idle -> ICMPIPEncap(1.0.0.1, 1.0.0.2, 3, x) -> Idle").contains("invalid CODE")
        );
    }
}
