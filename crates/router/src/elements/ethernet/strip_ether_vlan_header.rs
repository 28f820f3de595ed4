//! Strips an Ethernet header and its VLAN tag, which is noted.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> StripEtherVLANHeader -> CheckIPHeader -> Discard
//! ```

use super::shared::vlan;
use crate::args::kinds::INT;
use crate::args::{Args, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use crate::reason::Reason;
use trammel_packet::batch::Packets;
use trammel_packet::headers::ether::{Ether, ethertype};
use trammel_packet::headers::vlan::Vlan;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "StripEtherVLANHeader",
    "strips an Ethernet header and its VLAN tag",
    || Box::<StripEtherVlanHeader>::default(),
)
.aliases(&["StripEtherVlanHeader"])
.ports("1/1-2", "a/ah")
.references(&["IEEE 802.1Q"])
.live()
.params(&[positional(
    "NATIVE_VLAN",
    INT,
    "0",
    "the tag that is noted for frames without one; negative where they are refused",
)])
.ops("parse(18); work(30)");

#[derive(Debug, Default)]
struct StripEtherVlanHeader {
    native: Option<u16>,
}

impl Element for StripEtherVlanHeader {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let native = args.int("NATIVE_VLAN");
        if native > 0xFFF {
            let mut said = Diagnostics::new();
            said.error(None, "bad NATIVE_VLAN");
            return Err(said);
        }
        self.native = u16::try_from(native).ok();
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|h| {
            let packet = &mut ctx.pool()[&h];
            let data = packet.data();
            let Some(ether) = Ether::read(data) else {
                ctx.reject(1, h, Reason::TooShort);
                return None;
            };
            if ether.ethertype.get() == ethertype::VLAN {
                let Some(tag) = data.get(Ether::LEN..).and_then(Vlan::read) else {
                    ctx.reject(1, h, Reason::TooShort);
                    return None;
                };
                let tci = tag.tci.get();
                vlan::set_annotation(packet, tci);
                packet.pull(Ether::LEN + Vlan::LEN);
            } else if let Some(native) = self.native {
                vlan::set_annotation(packet, native);
                packet.pull(Ether::LEN);
            } else {
                ctx.reject(1, h, Reason::NoMatch);
                return None;
            }
            Some(h)
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::elements::ethernet::shared::vlan;
    use crate::load::testing::errors;
    use crate::probe::Probe;

    const TAGGED: &[u8] =
        b"\x02\x02\x02\x02\x02\x02\x01\x01\x01\x01\x01\x01\x81\x00\x60\x05\x08\x00data";
    const PLAIN: &[u8] = b"\x02\x02\x02\x02\x02\x02\x01\x01\x01\x01\x01\x01\x08\x00data";

    #[test]
    fn the_tag_is_noted_and_the_native_one_stands_for_none() {
        let mut x = Probe::new("StripEtherVLANHeader(9)", 2);
        let mut seen = Vec::new();
        for frame in [TAGGED, PLAIN] {
            x.send_and_look(
                frame,
                |_| (),
                |port, packet| {
                    assert_eq!((port, packet.data()), (0, &b"data"[..]));
                    seen.push(vlan::annotation(packet));
                },
            );
        }
        assert_eq!(seen, [0x6005, 9]);
        assert_eq!(x.send(&TAGGED[..17])[0].0, 1);
        assert_eq!(x.send(&PLAIN[..13])[0].0, 1);
        assert_eq!(x.held(), 0);
    }

    #[test]
    fn frames_without_a_tag_may_be_refused() {
        let mut x = Probe::new("StripEtherVLANHeader(-1)", 2);
        assert_eq!(x.send(PLAIN), [(1, PLAIN.to_vec())]);
        let said = errors("Idle -> StripEtherVLANHeader(4096) -> Idle;");
        assert!(said.contains("bad NATIVE_VLAN"), "{said}");
    }
}
