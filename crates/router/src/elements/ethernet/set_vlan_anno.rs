//! Sets the annotation of the VLAN tag.
//!
//! # Example
//! ```click
//! // The tag is noted; VLANEncap takes it from there.
//! Idle -> SetVLANAnno(VLAN_ID 7) -> VLANEncap(ANNO) -> Queue -> ToDevice(eth0)
//! ```

use super::shared::vlan::{self, Tag};
use crate::args::{Args, Kind, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("SetVLANAnno", "sets the VLAN annotation", || {
    Box::<SetVlanAnno>::default()
})
.aliases(&["SetVlanAnno"])
.references(&["IEEE 802.1Q"])
.live()
.params(&[
    positional("VLAN_TCI", Kind::Word, "", "the whole tag"),
    vlan::VLAN_PCP,
    vlan::VLAN_ID,
])
.ops("work(9)");

#[derive(Debug, Default)]
struct SetVlanAnno {
    tag: Tag,
}

impl Element for SetVlanAnno {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        if args.text("VLAN_TCI") == "ANNO" {
            let mut said = Diagnostics::new();
            said.error(None, "VLAN_TCI: invalid number");
            return Err(said);
        }
        self.tag = Tag::of(args, false)?;
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let (pool, tci) = (ctx.pool(), self.tag.tci());
        for packet in batch.iter() {
            vlan::set_annotation(&mut pool[packet], tci);
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        ["config", "vlan_tci", "vlan_id", "vlan_pcp"]
            .map(|name| Handler::new(name, "rw"))
            .to_vec()
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "config" => format!(
                "VLAN_ID {}, VLAN_PCP {}",
                self.tag.read("vlan_id"),
                self.tag.read("vlan_pcp")
            ),
            _ => self.tag.read(name),
        })
    }

    fn write(&mut self, _: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        match value.trim() {
            "ANNO" => Err("invalid number".to_owned()),
            value => self.tag.write(name, value),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::elements::ethernet::shared::vlan;
    use crate::load::testing::errors;
    use crate::probe::Probe;

    #[test]
    fn the_annotation_is_what_was_asked_for() {
        let mut x = Probe::new("SetVLANAnno(2, 1)", 1);
        let noted = |x: &mut Probe| {
            let mut tci = 0;
            x.send_and_look(b"x", |_| (), |_, packet| tci = vlan::annotation(packet));
            tci
        };
        assert_eq!(noted(&mut x), 0x2002);
        x.run.write("x.vlan_id", "0xFFF").expect("right");
        assert_eq!(
            (noted(&mut x), x.run.read("x.vlan_tci")),
            (0x2FFF, "12287".into())
        );
        assert_eq!(x.run.read("x.config"), "VLAN_ID 4095, VLAN_PCP 1");
        let said = errors("Idle -> SetVLANAnno(ANNO) -> Idle;");
        assert!(said.contains("VLAN_TCI: invalid number"), "{said}");
    }
}
