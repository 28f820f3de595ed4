//! Marks IPv4 packets as having met congestion.
//!
//! # What it does
//! Packets that do not understand the mark are dropped, unless it is forced.
//!
//! # Example
//! ```click
//! // Packets that know of congestion notification are marked (RFC 3168), others dropped.
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> MarkIPCE -> Discard
//! ```
//!
//! # References
//! RFC 3168, §5.

use crate::args::{Args, Kind, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::headers::ip_packet::{header, set_tos};
use crate::reason::Reason;
use trammel_packet::batch::Packets;
use trammel_packet::headers::ipv4::{Ipv4, ecn};

/// The class.
pub static ENTRY: Entry = Entry::new("MarkIPCE", "marks packets as having met congestion", || {
    Box::<MarkIpCe>::default()
})
.references(&["RFC 3168, §5"])
.params(&[positional(
    "FORCE",
    Kind::Bool,
    "false",
    "whether packets are marked that do not understand it",
)])
.ops("parse(2); inc_checksum(2); deparse(3); work(50)");

#[derive(Debug, Default)]
struct MarkIpCe {
    force: bool,
    drops: u64,
}

impl Element for MarkIpCe {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.force = args.bool("FORCE");
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|handle| {
            let packet = &mut ctx.pool()[&handle];
            let ecn = header(packet).map_or(ecn::NOT_ECT, Ipv4::ecn);
            if ecn == ecn::NOT_ECT && !self.force {
                self.drops += 1;
                ctx.drop(handle, Reason::Early);
                return None;
            }
            if ecn != ecn::CE {
                set_tos(packet, |old| old | ecn::CE);
            }
            Some(handle)
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

    #[test]
    fn packets_that_understand_are_marked_and_others_dropped() {
        let mut able = udp(9, b"");
        able[1] = 2;
        trammel_packet::headers::ipv4::set_checksum(&mut able);
        let mut probe = Probe::new("MarkIPCE", 1);
        let left = probe.send_ip(&able);
        assert_eq!(left[0].1[1], 3);
        assert_eq!(
            trammel_packet::headers::checksum::checksum(&left[0].1[..20]),
            0
        );
        assert_eq!(probe.send_ip(&udp(9, b"")), []);
        assert_eq!(probe.held(), 0);
        assert_eq!(
            Probe::new("MarkIPCE(true)", 1).send_ip(&udp(9, b""))[0].1[1],
            3
        );
    }
}
