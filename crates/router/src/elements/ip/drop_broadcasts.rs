//! Drops packets that came as broadcasts or multicasts of the link.
//!
//! # What it does
//! RFC 1122 forbids to forward them. They leave by output 1 where there is one.
//!
//! # Example
//! ```click
//! // A router does not forward what was sent to all hosts of a link.
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> DropBroadcasts -> Discard
//! ```

use crate::elements::Entry;
use crate::engine::{Ctx, Element, Handler};
use crate::headers::ip_packet::is_link_group;
use crate::reason::Reason;
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("DropBroadcasts", "drops link-level broadcasts", || {
    Box::<DropBroadcasts>::default()
})
.ports("1/1-2", "a/ah")
.references(&["RFC 1122, §3.3.6"])
.ops("work(13)");

#[derive(Debug, Default)]
struct DropBroadcasts {
    drops: u64,
}

impl Element for DropBroadcasts {
    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        if !batch.iter().any(|packet| is_link_group(&pool[packet])) {
            return;
        }
        batch.filter(|packet| {
            if !is_link_group(&ctx.pool()[&packet]) {
                return Some(packet);
            }
            if self.drops == 0 {
                ctx.host().say("DropBroadcasts: dropped a packet\n");
            }
            self.drops += 1;
            ctx.reject(1, packet, Reason::NotForUs);
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
    use crate::probe::Probe;
    use trammel_packet::packet::PacketType;

    #[test]
    fn only_frames_to_many_are_dropped() {
        let mut probe = Probe::new("DropBroadcasts", 1);
        assert_eq!(probe.send(b"a").len(), 1);
        for to in [PacketType::Broadcast, PacketType::Multicast] {
            assert_eq!(
                probe.send_with(b"a", |packet| packet.set_packet_type(to)),
                []
            );
        }
        assert_eq!(probe.run.read("x.drops"), "2");
        assert_eq!(probe.said(), "DropBroadcasts: dropped a packet\n");
        assert_eq!(probe.held(), 0);
    }
}
