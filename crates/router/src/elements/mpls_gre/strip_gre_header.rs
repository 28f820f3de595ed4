//! Strips a GRE header and notes its key.
//!
//! # What it does
//! The key goes to the annotation `KEY_ANNO`, 0 where there is none. Packets that are not GRE, or
//! with `PROTOCOL` carry something else, leave output 1 or end.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> IPClassifier(ip proto 47) -> StripIPHeader
//!     -> StripGREHeader -> CheckIPHeader -> Discard
//! ```
//!
//! # References
//! RFC 2784, RFC 2890.

use super::shared::gre_check;
use crate::args::annotations::AnnoField;
use crate::args::{Args, Kind, keyword};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use crate::reason::Reason;
use trammel_packet::batch::Packets;
use trammel_packet::headers::gre::Gre;

/// The class.
pub static ENTRY: Entry = Entry::new("StripGREHeader", "strips a GRE header", || {
    Box::<StripGreHeader>::default()
})
.ports("1/1-2", "a/ah")
.references(&["RFC 2784", "RFC 2890"])
.params(&[
    keyword(
        "PROTOCOL",
        Kind::EtherType,
        "",
        "the only type of payload that passes",
    ),
    keyword(
        "KEY_ANNO",
        Kind::Anno { size: 4 },
        "AGGREGATE",
        "where the key is noted",
    ),
])
.ops("parse(8); work(65)");

#[derive(Debug, Default)]
struct StripGreHeader {
    protocol: Option<u16>,
    annotation: AnnoField,
}

impl Element for StripGreHeader {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.protocol = args.opt_uint("PROTOCOL").map(|number| number as u16);
        self.annotation = args.anno("KEY_ANNO");
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|h| {
            let packet = &mut ctx.pool()[&h];
            let len = match gre_check::check(packet.data(), false) {
                Ok(len) => len,
                Err(reason) => {
                    ctx.reject(1, h, reason);
                    return None;
                }
            };
            let carried = Gre::read(packet.data()).map(|header| header.protocol.get());
            if self.protocol.is_some() && carried != self.protocol {
                ctx.reject(1, h, Reason::NoMatch);
                return None;
            }
            let key = Gre::key(packet.data()).unwrap_or(0);
            packet.pull(len);
            let at = usize::from(self.annotation.offset);
            packet.annotations_mut()[at..at + 4].copy_from_slice(&key.to_ne_bytes());
            Some(h)
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::Probe;
    use trammel_packet::anno;

    #[test]
    fn the_key_is_noted_whatever_else_the_header_has() {
        for (options, key) in [
            ("", 0),
            ("KEY 9", 9),
            ("KEY 9, CHECKSUM true", 9),
            ("KEY 9, SEQUENCE true, CHECKSUM true", 9),
        ] {
            let mut encap = Probe::new(&format!("GREEncap({options})"), 1);
            let packet = encap.send(b"data").remove(0).1;
            let mut x = Probe::new("StripGREHeader(PROTOCOL 0x0800)", 2);
            let mut seen = 0;
            x.send_and_look(
                &packet,
                |_| (),
                |port, packet| {
                    assert_eq!((port, packet.data()), (0, &b"data"[..]));
                    assert_eq!(packet.anno_u32(anno::AGGREGATE), key);
                    seen += 1;
                },
            );
            assert_eq!(seen, 1);
        }
        let mut x = Probe::new("StripGREHeader(PROTOCOL 0x86dd)", 2);
        assert_eq!(x.send(b"\x00\x00\x08\x00ab")[0].0, 1);
    }
}
