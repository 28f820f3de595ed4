//! Passes the frames that a host's network card would accept.
//!
//! # What it does
//! Each frame is marked as for this host, for all, for a group or for another host. Those for
//! others, and on request those from this host itself, leave the second output or end.
//!
//! # Example
//! ```click
//! // Only frames to this host and to all hosts.
//! FromDevice(eth0, PROMISC true) -> HostEtherFilter(2:0:0:0:0:1) -> Discard
//! ```

use crate::args::addresses::{EtherAddress, parse_ether};
use crate::args::kinds::UINT;
use crate::args::{Args, Kind, keyword, mandatory, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::reason::Reason;
use trammel_packet::batch::Packets;
use trammel_packet::headers::ether::Ether;
use trammel_packet::packet::PacketType;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "HostEtherFilter",
    "passes the frames that a host's network card would accept",
    || Box::<HostEtherFilter>::default(),
)
.ports("1/1-2", "a/ah")
.live()
.params(&[
    mandatory("ETHER", Kind::Ether, "the host's address"),
    positional(
        "DROP_OWN",
        Kind::Bool,
        "false",
        "whether frames from the host itself are refused",
    ),
    positional(
        "DROP_OTHER",
        Kind::Bool,
        "true",
        "whether frames to other hosts are refused",
    ),
    keyword("OFFSET", UINT, "0", "where the frame begins"),
])
.ops("parse(14); work(35)");

#[derive(Debug, Default)]
struct HostEtherFilter {
    address: EtherAddress,
    drops_own: bool,
    drops_other: bool,
    offset: usize,
}

impl Element for HostEtherFilter {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.address = args.ether("ETHER");
        self.drops_own = args.bool("DROP_OWN");
        self.drops_other = args.bool("DROP_OTHER");
        self.offset = args.uint("OFFSET") as usize;
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|h| {
            let packet = &mut ctx.pool()[&h];
            let Some(header) = packet.data().get(self.offset..).and_then(Ether::read) else {
                ctx.reject(1, h, Reason::TooShort);
                return None;
            };
            let refused = if self.drops_own && header.src == self.address.0 {
                true
            } else {
                let kind = if header.dst == self.address.0 {
                    PacketType::Host
                } else if header.is_broadcast() {
                    PacketType::Broadcast
                } else if header.is_multicast() {
                    PacketType::Multicast
                } else {
                    PacketType::OtherHost
                };
                packet.set_packet_type(kind);
                kind == PacketType::OtherHost && self.drops_other
            };
            if refused {
                ctx.reject(1, h, Reason::NotForUs);
                return None;
            }
            Some(h)
        });
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("ether", "rw")]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        Ok(self.address.to_string())
    }

    fn write(&mut self, ctx: &mut Ctx, _: &str, value: &str) -> Result<(), String> {
        self.address = parse_ether(value.trim(), &ctx.names()).map_err(|why| why.to_string())?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::Probe;
    use trammel_packet::packet::PacketType;

    fn sent(x: &mut Probe, dst: u8, src: u8) -> (usize, PacketType) {
        let frame = [[dst; 6].as_slice(), &[src; 6], &[8, 0]].concat();
        let mut seen = None;
        x.send_and_look(
            &frame,
            |_| (),
            |port, packet| seen = Some((port, packet.packet_type())),
        );
        seen.expect("it leaves somewhere")
    }

    #[test]
    fn frames_are_marked_and_those_for_others_refused() {
        let mut x = Probe::new("HostEtherFilter(2:2:2:2:2:2, true)", 2);
        assert_eq!(sent(&mut x, 2, 4), (0, PacketType::Host));
        assert_eq!(sent(&mut x, 0xFF, 4), (0, PacketType::Broadcast));
        assert_eq!(sent(&mut x, 3, 4), (0, PacketType::Multicast));
        assert_eq!(sent(&mut x, 4, 4), (1, PacketType::OtherHost));
        assert_eq!(sent(&mut x, 0xFF, 2).0, 1);
        assert_eq!(x.send(&[2; 13])[0].0, 1);
        let mut x = Probe::new("HostEtherFilter(2:2:2:2:2:2, false, false)", 2);
        assert_eq!(sent(&mut x, 4, 2), (0, PacketType::OtherHost));
    }
}
