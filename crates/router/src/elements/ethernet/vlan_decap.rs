//! Removes a VLAN tag from Ethernet frames.
//!
//! # What it does
//! The outermost tag goes, if it is one of `ETHERTYPE`, and is noted; frames without pass as they
//! are and 0 is noted.
//!
//! # Example
//! ```click
//! // The tag is taken off and noted.
//! FromDevice(eth0) -> VLANDecap -> Queue -> ToDevice(eth1)
//! ```

use super::shared::vlan;
use crate::args::{Args, Kind, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use trammel_packet::batch::Packets;
use trammel_packet::headers::ether::Ether;
use trammel_packet::headers::vlan::Vlan;

/// The class.
pub static ENTRY: Entry = Entry::new("VLANDecap", "removes a VLAN tag", || {
    Box::<VlanDecap>::default()
})
.references(&["IEEE 802.1Q", "IEEE 802.1ad"])
.params(&[
    positional(
        "ANNO",
        Kind::Bool,
        "true",
        "whether the tag is noted in the annotation",
    ),
    vlan::ETHERTYPE,
])
.ops("parse(18); deparse(12); work(35)");

#[derive(Debug, Default)]
struct VlanDecap {
    notes: bool,
    ethertype: u16,
}

impl Element for VlanDecap {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.notes = args.bool("ANNO");
        self.ethertype = args.uint("ETHERTYPE") as u16;
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for packet in batch.iter() {
            let packet = &mut pool[packet];
            let data = packet.data_mut();
            let mut tci = 0;
            let ether = Ether::read(data).filter(|ether| ether.ethertype.get() == self.ethertype);
            let tag = ether.and_then(|_| Vlan::read(&data[Ether::LEN..]));
            if let Some(tag) = tag {
                tci = tag.tci.get();
                data.copy_within(..12, Vlan::LEN);
                packet.pull(Vlan::LEN);
            }
            packet.set_mac_header(0);
            packet.set_network_header(Ether::LEN as isize);
            if self.notes {
                vlan::set_annotation(packet, tci);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::elements::ethernet::shared::vlan;
    use crate::probe::Probe;

    #[test]
    fn the_tag_is_noted_and_lying_frames_pass_untouched() {
        let tagged = b"\x02\x02\x02\x02\x02\x02\x01\x01\x01\x01\x01\x01\x81\x00\x60\x05\x08\x00";
        let mut x = Probe::new("VLANDecap", 1);
        for len in 0..=tagged.len() {
            let mut seen = 0;
            x.send_and_look(
                &tagged[..len],
                |packet| vlan::set_annotation(packet, 1),
                |_, packet| {
                    let whole = len == tagged.len();
                    assert_eq!(vlan::annotation(packet), if whole { 0x6005 } else { 0 });
                    assert_eq!(packet.len(), if whole { 14 } else { len });
                    seen += 1;
                },
            );
            assert_eq!(seen, 1);
        }
    }
}
