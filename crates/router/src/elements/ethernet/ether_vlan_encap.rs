//! Adds an Ethernet header with a VLAN tag.
//!
//! # Example
//! ```click
//! RatedSource(RATE 1) -> UDPIPEncap(10.0.0.1, 1000, 10.0.0.2, 1000)
//!     -> EtherVLANEncap(0x0800, 1:1:1:1:1:1, 2:2:2:2:2:2, VLAN_ID 7) -> Queue -> ToDevice(eth0)
//! ```

use super::shared::vlan::{self, Tag};
use crate::args::addresses::{EtherAddress, parse_ether};
use crate::args::kinds::U16 as KIND_U16;
use crate::args::numbers::parse_uint;
use crate::args::{Args, Kind, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::batch::Packets;
use trammel_packet::headers::U16;
use trammel_packet::headers::ether::{Ether, ethertype};
use trammel_packet::headers::vlan::Vlan;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "EtherVLANEncap",
    "adds an Ethernet header with a VLAN tag",
    || Box::<EtherVlanEncap>::default(),
)
.aliases(&["EtherVlanEncap"])
.references(&["IEEE 802.1Q"])
.live()
.params(&[
    mandatory("ETHERTYPE", KIND_U16, "what the frame carries"),
    mandatory("SRC", Kind::Ether, "the source address"),
    mandatory("DST", Kind::Ether, "the destination address"),
    vlan::VLAN_TCI,
    vlan::VLAN_PCP,
    vlan::VLAN_ID,
    vlan::NATIVE_VLAN,
])
.ops("deparse(18); work(50)");

#[derive(Debug, Default)]
struct EtherVlanEncap {
    /// The header without a tag.
    header: Ether,
    tag: Tag,
}

impl Element for EtherVlanEncap {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.tag = Tag::of(args, true)?;
        self.header = Ether {
            dst: args.ether("DST").0,
            src: args.ether("SRC").0,
            ethertype: U16::new(args.uint("ETHERTYPE") as u16),
        };
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for packet in batch.iter() {
            let packet = &mut pool[packet];
            let mut header = self.header;
            if let Some(tci) = self.tag.for_packet(packet) {
                let tag = Vlan {
                    tci: U16::new(tci),
                    ethertype: header.ethertype,
                };
                packet.push(Vlan::LEN).copy_from_slice(tag.bytes());
                header.ethertype = U16::new(ethertype::VLAN);
            }
            packet.push(Ether::LEN).copy_from_slice(header.bytes());
            packet.set_mac_header(0);
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        [
            "config",
            "src",
            "dst",
            "ethertype",
            "vlan_tci",
            "vlan_id",
            "vlan_pcp",
            "native_vlan",
        ]
        .map(|name| Handler::new(name, "rw"))
        .to_vec()
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        let (src, dst) = (EtherAddress(self.header.src), EtherAddress(self.header.dst));
        let ethertype = self.header.ethertype.get();
        Ok(match name {
            // Differs from Click: the addresses stand where a configuration has them.
            "config" => format!("{ethertype}, {src}, {dst}, {}", self.tag.config()),
            "src" => src.to_string(),
            "dst" => dst.to_string(),
            "ethertype" => ethertype.to_string(),
            _ => self.tag.read(name),
        })
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        let value = value.trim();
        let address = || parse_ether(value, &ctx.names()).map_err(|why| why.to_string());
        match name {
            "src" => self.header.src = address()?.0,
            "dst" => self.header.dst = address()?.0,
            "ethertype" => {
                let number = parse_uint(value, 0xFFFF).map_err(|why| why.to_string())?;
                self.header.ethertype = U16::new(number as u16);
            }
            _ => self.tag.write(name, value)?,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::elements::ethernet::shared::vlan;
    use crate::probe::Probe;

    const FRONT: &[u8] = b"\x02\x02\x02\x02\x02\x02\x01\x01\x01\x01\x01\x01";

    #[test]
    fn the_tag_comes_from_the_arguments_or_the_annotation() {
        let mut x = Probe::new("EtherVLANEncap(0x0800, 1:1:1:1:1:1, 2:2:2:2:2:2, 5, 3)", 1);
        let frame = |rest: &[u8]| vec![(0, [FRONT, rest].concat())];
        assert_eq!(x.send(b"data"), frame(b"\x81\x00\x60\x05\x08\x00data"));
        x.run.write("x.vlan_tci", "ANNO").expect("right");
        x.run.write("x.native_vlan", "9").expect("right");
        let mut send = |tci| x.send_with(b"data", |packet| vlan::set_annotation(packet, tci));
        assert_eq!(send(0x2007), frame(b"\x81\x00\x20\x07\x08\x00data"));
        assert_eq!(send(0x2009), frame(b"\x08\x00data"));
        assert_eq!(
            x.run.read("x.config"),
            "2048, 01-01-01-01-01-01, 02-02-02-02-02-02, ANNO, NATIVE_VLAN 9"
        );
    }
}
