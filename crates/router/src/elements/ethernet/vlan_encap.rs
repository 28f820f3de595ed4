//! Adds a VLAN tag to Ethernet frames.
//!
//! # What it does
//! The tag stands between the addresses and what was the frame's type. A second `VLANEncap` makes
//! the frame one of QinQ: the outer tag's `ETHERTYPE` is 0x88A8 (IEEE 802.1ad).
//!
//! # Example
//! ```click
//! // Two tags: of the customer, then of the provider.
//! FromDevice(eth0) -> VLANEncap(VLAN_ID 100) -> VLANEncap(VLAN_ID 7, ETHERTYPE 0x88A8)
//!     -> Queue -> ToDevice(eth1)
//! ```

use super::shared::vlan::{self, Tag};
use crate::args::Args;
use crate::args::numbers::parse_uint;
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::reason::Reason;
use trammel_packet::batch::Packets;
use trammel_packet::headers::ether::Ether;
use trammel_packet::headers::vlan::Vlan;

/// The class.
pub static ENTRY: Entry = Entry::new("VLANEncap", "adds a VLAN tag", || {
    Box::<VlanEncap>::default()
})
.references(&["IEEE 802.1Q", "IEEE 802.1ad"])
.live()
.params(&[
    vlan::VLAN_TCI,
    vlan::VLAN_PCP,
    vlan::VLAN_ID,
    vlan::NATIVE_VLAN,
    vlan::ETHERTYPE,
])
.ops("parse(12); deparse(16); work(55)");

/// Bytes of the addresses, which stay in front.
const ADDRESSES_LEN: usize = 12;

#[derive(Debug, Default)]
struct VlanEncap {
    tag: Tag,
    ethertype: u16,
}

impl Element for VlanEncap {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.tag = Tag::of(args, true)?;
        self.ethertype = args.uint("ETHERTYPE") as u16;
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|h| {
            let packet = &mut ctx.pool()[&h];
            if packet.len() < Ether::LEN {
                ctx.drop(h, Reason::TooShort);
                return None;
            }
            let mut header_len = Ether::LEN;
            if let Some(tci) = self.tag.for_packet(packet) {
                packet.push(Vlan::LEN);
                let data = packet.data_mut();
                data.copy_within(Vlan::LEN..Vlan::LEN + ADDRESSES_LEN, 0);
                data[12..14].copy_from_slice(&self.ethertype.to_be_bytes());
                data[14..16].copy_from_slice(&tci.to_be_bytes());
                header_len += Vlan::LEN;
            }
            packet.set_mac_header(0);
            packet.set_network_header(header_len as isize);
            Some(h)
        });
    }

    fn handlers(&self) -> Vec<Handler> {
        [
            "config",
            "vlan_tci",
            "vlan_id",
            "vlan_pcp",
            "native_vlan",
            "ethertype",
        ]
        .map(|name| Handler::new(name, "rw"))
        .to_vec()
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            // Differs from Click, whose text forgets the type.
            "config" if self.ethertype != 0x8100 => {
                format!("{}, ETHERTYPE {:#x}", self.tag.config(), self.ethertype)
            }
            "config" => self.tag.config(),
            "ethertype" => self.ethertype.to_string(),
            _ => self.tag.read(name),
        })
    }

    fn write(&mut self, _: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        let value = value.trim();
        if name == "ethertype" {
            self.ethertype = parse_uint(value, 0xFFFF).map_err(|why| why.to_string())? as u16;
            return Ok(());
        }
        self.tag.write(name, value)
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::errors;
    use crate::probe::Probe;

    const PLAIN: &[u8] = b"\x02\x02\x02\x02\x02\x02\x01\x01\x01\x01\x01\x01\x08\x00data";

    #[test]
    fn two_make_a_frame_of_qinq_and_two_decaps_undo_it() {
        let mut inner = Probe::new("VLANEncap(VLAN_ID 100)", 1);
        let mut outer = Probe::new("VLANEncap(VLAN_ID 7, VLAN_PCP 5, ETHERTYPE 0x88a8)", 1);
        let tagged = inner.send(PLAIN).remove(0).1;
        let both = outer.send(&tagged).remove(0).1;
        assert_eq!(&both[12..], b"\x88\xA8\xA0\x07\x81\x00\x00\x64\x08\x00data");
        assert_eq!(
            outer.run.read("x.config"),
            "VLAN_ID 7, VLAN_PCP 5, ETHERTYPE 0x88a8"
        );
        let mut strip = Probe::new("VLANDecap(ETHERTYPE 0x88a8)", 1);
        assert_eq!(strip.send(&both), [(0, tagged.clone())]);
        let mut strip = Probe::new("VLANDecap", 1);
        assert_eq!(strip.send(&both), [(0, both.clone())]);
        assert_eq!(strip.send(&tagged), [(0, PLAIN.to_vec())]);
    }

    #[test]
    fn short_frames_end() {
        let mut x = Probe::new("VLANEncap(3)", 1);
        for len in 0..14 {
            assert_eq!(x.send(&PLAIN[..len]), []);
        }
        assert_eq!(x.held(), 0);
    }

    #[test]
    fn a_tag_has_sixteen_bits() {
        let said = errors("Idle -> VLANEncap(65536) -> Idle;");
        assert!(said.contains("VLAN_TCI"), "{said}");
        let said = errors("Idle -> VLANEncap(VLAN_ID 4096) -> Idle;");
        assert!(said.contains("VLAN_ID"), "{said}");
    }
}
