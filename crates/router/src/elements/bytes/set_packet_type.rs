//! Sets the packet type: to this host, to all, to others.
//!
//! # Example
//! ```click
//! // The packet is taken for one to all hosts.
//! Idle -> SetPacketType(BROADCAST) -> DropBroadcasts -> Discard
//! ```

use crate::args::{Args, Kind, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use trammel_packet::batch::Packets;
use trammel_packet::packet::PacketType;

/// The class.
pub static ENTRY: Entry = Entry::new("SetPacketType", "sets the packet type", || {
    Box::<SetPacketType>::default()
})
.params(&[mandatory(
    "TYPE",
    Kind::Word,
    "`HOST`, `BROADCAST`, `MULTICAST`, `OTHERHOST`, `OUTGOING`, `LOOPBACK` or `FASTROUTE`",
)])
.ops("work(9)");

const TYPES: [(&str, PacketType); 7] = [
    ("HOST", PacketType::Host),
    ("BROADCAST", PacketType::Broadcast),
    ("MULTICAST", PacketType::Multicast),
    ("OTHERHOST", PacketType::OtherHost),
    ("OUTGOING", PacketType::Outgoing),
    ("LOOPBACK", PacketType::Loopback),
    ("FASTROUTE", PacketType::FastRoute),
];

#[derive(Debug, Default)]
struct SetPacketType {
    kind: PacketType,
}

impl Element for SetPacketType {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let word = args.text("TYPE").to_ascii_uppercase();
        let found = TYPES.iter().find(|(name, _)| *name == word);
        let Some((_, kind)) = found else {
            return Err(Diagnostics::of(format!(
                "unrecognized packet type '{word}'"
            )));
        };
        self.kind = *kind;
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for handle in batch.iter() {
            pool[handle].set_packet_type(self.kind);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::errors;
    use crate::probe::Probe;
    use trammel_packet::packet::PacketType;

    #[test]
    fn the_type_is_set() {
        let mut probe = Probe::new("SetPacketType(multicast)", 1);
        let mut seen = None;
        probe.send_and_look(b"x", |_| (), |_, packet| seen = Some(packet.packet_type()));
        assert_eq!(seen, Some(PacketType::Multicast));
        assert!(errors("Idle -> SetPacketType(foo) -> Discard").contains("packet type 'FOO'"));
    }
}
