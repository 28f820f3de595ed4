//! Does in one step what an IP router does with frames that arrive: Paint, Strip(14),
//! CheckIPHeader.
//!
//! # Example
//! ```click
//! // Paint, Strip, CheckIPHeader and GetIPAddress in one.
//! FromDevice(eth0) -> IPInputCombo(1) -> RadixIPLookup(0.0.0.0/0 0) -> Discard
//! ```

use super::shared::ip_check::{BADSRC, GOODDST, INTERFACES, add_usual, reason, sources};
use crate::args::kinds::U8;
use crate::args::{Args, Kind, mandatory, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::headers::ip_packet::{Sources, check};
use trammel_packet::anno;
use trammel_packet::batch::Packets;
use trammel_packet::headers::ether::Ether;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "IPInputCombo",
    "combines the usual input steps of an IP router",
    || Box::<IpInputCombo>::default(),
)
.references(&["RFC 1812, §5.2"])
.params(&[
    mandatory("COLOR", U8, "the paint"),
    positional(
        "BADADDRS",
        Kind::IpList,
        "",
        "sources that are refused, with 0.0.0.0 and 255.255.255.255",
    ),
    INTERFACES,
    BADSRC,
    GOODDST,
])
.ops("parse(20); checksum(20) by 4; work(60)");

#[derive(Debug, Default)]
struct IpInputCombo {
    color: u8,
    sources: Sources,
    drops: u64,
}

impl Element for IpInputCombo {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.color = args.uint("COLOR") as u8;
        self.sources = sources(args, &setup.names())?;
        if let Some(list) = args.opt_ip_list("BADADDRS") {
            self.sources
                .bad
                .extend(list.iter().map(std::net::Ipv4Addr::octets));
            add_usual(&mut self.sources);
        }
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|handle| {
            let packet = &mut ctx.pool()[&handle];
            packet.set_anno_u8(anno::PAINT, self.color);
            packet.pull(Ether::LEN);
            let Err(fault) = check(packet, 0, true, &self.sources) else {
                return Some(handle);
            };
            if self.drops == 0 {
                ctx.host().say("IP checksum failed\n");
            }
            self.drops += 1;
            ctx.drop(handle, reason(fault));
            None
        });
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("drops", "r")]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        Ok(self.drops.to_string())
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::{Probe, udp};
    use trammel_packet::anno;

    #[test]
    fn good_frames_are_painted_and_stripped_and_bad_ones_dropped() {
        let frame = [b"fourteen bytes".to_vec(), udp(9, b"")].concat();
        let mut probe = Probe::new("IPInputCombo(3, 1.2.3.4)", 1);
        let mut seen = Vec::new();
        probe.send_and_look(
            &frame,
            |_| (),
            |_, packet| {
                seen.push((packet.data().to_vec(), packet.anno_u8(anno::PAINT)));
            },
        );
        assert_eq!(seen, [(udp(9, b""), 3)]);
        assert_eq!(probe.send(b"short"), []);
        assert_eq!(
            (probe.said().as_str(), probe.held()),
            ("IP checksum failed\n", 0)
        );
    }
}
