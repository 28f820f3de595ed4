//! Tags of IEEE 802.1Q: the arguments that say which tag, as several elements have them.

use crate::args::kinds::U16;
use crate::args::numbers::parse_int;
use crate::args::{Args, Kind, Param, keyword, positional};
use crate::diagnostic::Diagnostics;
use trammel_packet::anno;
use trammel_packet::headers::vlan::{PCP_SHIFT, VID_MASK};
use trammel_packet::packet::Packet;

/// `VLAN_TCI`, whole or `ANNO`.
pub(crate) const VLAN_TCI: Param = positional(
    "VLAN_TCI",
    Kind::Word,
    "",
    "the whole tag, or `ANNO` for that of each packet's annotation",
);
/// `VLAN_PCP`.
pub(crate) const VLAN_PCP: Param = positional(
    "VLAN_PCP",
    Kind::Int { min: 0, max: 7 },
    "0",
    "the priority",
);
/// `VLAN_ID`.
pub(crate) const VLAN_ID: Param = keyword(
    "VLAN_ID",
    Kind::Int { min: 0, max: 0xFFF },
    "0",
    "the identifier, where `VLAN_TCI` is not given",
);
/// `NATIVE_VLAN`.
pub(crate) const NATIVE_VLAN: Param = keyword(
    "NATIVE_VLAN",
    Kind::Int {
        min: -1,
        max: 0xFFF,
    },
    "0",
    "the identifier whose packets get no tag; -1 for none",
);
/// `ETHERTYPE` of a tag.
pub(crate) const ETHERTYPE: Param = keyword(
    "ETHERTYPE",
    U16,
    "0x8100",
    "the type that announces the tag: 0x88A8 for a service tag of 802.1ad",
);

/// Which tag packets get.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tag {
    tci: u16,
    from_annotation: bool,
    native: Option<u16>,
}

fn native(vlan: i64) -> Option<u16> {
    u16::try_from(vlan).ok()
}

impl Tag {
    /// The tag that the arguments say; `NATIVE_VLAN` only where the class has it.
    pub(crate) fn of(args: &Args, has_native: bool) -> Result<Tag, Diagnostics> {
        let (text, id) = (args.text("VLAN_TCI"), args.int("VLAN_ID") as u16);
        let from_annotation = text == "ANNO";
        let tci = if text.is_empty() || from_annotation {
            id
        } else {
            parse_int(text, 0, 0xFFFF).map_err(|why| {
                let mut said = Diagnostics::new();
                said.error(None, format!("VLAN_TCI: {why}"));
                said
            })? as u16
        };
        Ok(Tag {
            tci: tci | (args.int("VLAN_PCP") as u16) << PCP_SHIFT,
            from_annotation,
            native: native(if has_native {
                args.int("NATIVE_VLAN")
            } else {
                -1
            }),
        })
    }

    /// The tag of a packet; none where it goes without.
    #[inline]
    pub(crate) fn for_packet(self, packet: &Packet) -> Option<u16> {
        let tci = if self.from_annotation {
            annotation(packet)
        } else {
            self.tci
        };
        (self.native != Some(tci & VID_MASK)).then_some(tci)
    }

    /// The tag itself.
    pub(crate) fn tci(self) -> u16 {
        self.tci
    }

    /// Answers the handlers `vlan_tci`, `vlan_id`, `vlan_pcp` and `native_vlan`.
    pub(crate) fn read(self, name: &str) -> String {
        match name {
            "vlan_tci" if self.from_annotation => "ANNO".to_owned(),
            "vlan_tci" => self.tci.to_string(),
            "vlan_id" => (self.tci & VID_MASK).to_string(),
            "vlan_pcp" => (self.tci >> PCP_SHIFT).to_string(),
            _ => self.native.map_or(-1, i32::from).to_string(),
        }
    }

    /// Does what those handlers say.
    pub(crate) fn write(&mut self, name: &str, value: &str) -> Result<(), String> {
        let number = |min, max| parse_int(value, min, max).map_err(|why| why.to_string());
        match name {
            "vlan_tci" if value == "ANNO" => self.from_annotation = true,
            "vlan_tci" => {
                self.tci = number(0, 0xFFFF)? as u16;
                self.from_annotation = false;
            }
            "vlan_id" => self.tci = self.tci & !VID_MASK | number(0, 0xFFF)? as u16,
            "vlan_pcp" => {
                self.tci = self.tci & ((1 << PCP_SHIFT) - 1) | (number(0, 7)? as u16) << PCP_SHIFT;
            }
            _ => self.native = native(number(-1, 0xFFF)?),
        }
        Ok(())
    }

    /// The arguments that say this tag, for the handler `config`.
    pub(crate) fn config(self) -> String {
        let mut text = if self.from_annotation {
            "ANNO".to_owned()
        } else {
            let (id, pcp) = (self.tci & VID_MASK, self.tci >> PCP_SHIFT);
            format!("VLAN_ID {id}, VLAN_PCP {pcp}")
        };
        if self.native != Some(0) {
            text += &format!(", NATIVE_VLAN {}", self.native.map_or(-1, i32::from));
        }
        text
    }
}

/// The tag of a packet's annotation.
#[inline]
pub(crate) fn annotation(packet: &Packet) -> u16 {
    u16::from_be_bytes(packet.anno_bytes(anno::VLAN_TCI))
}

/// Sets the tag of a packet's annotation.
#[inline]
pub(crate) fn set_annotation(packet: &mut Packet, tci: u16) {
    packet.set_anno_bytes(anno::VLAN_TCI, tci.to_be_bytes());
}
