//! Checks ICMP messages: length by type, and checksum.
//!
//! # What it does
//! Packets that fail leave by output 1, or are dropped.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> IPClassifier(icmp) -> CheckICMPHeader
//!     -> Discard
//! ```
//!
//! # References
//! RFC 792.

use crate::args::Args;
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::headers::header_faults::{DETAILS, Faults, VERBOSE};
use crate::headers::ip_packet::header;
use crate::reason::Reason;
use trammel_packet::batch::Packets;
use trammel_packet::headers::checksum::checksum;
use trammel_packet::headers::icmp::{self, Icmp, kind};
use trammel_packet::headers::ipv4::protocol;
use trammel_packet::packet::Packet;

/// The class.
pub static ENTRY: Entry = Entry::new("CheckICMPHeader", "checks ICMP headers", || {
    Box::<CheckIcmpHeader>::default()
})
.ports("1/1-2", "a/ah")
.references(&["RFC 792"])
.params(&[VERBOSE, DETAILS])
.ops("parse(20); parse(8); checksum(frame - 38) by 4; work(95)");

/// What can be wrong.
const FAULTS: &[&str] = &["not ICMP", "bad packet length", "bad ICMP checksum"];
/// What each is for the count of drops.
const REASONS: [Reason; 3] = [Reason::BadHeader, Reason::BadLength, Reason::BadChecksum];

#[derive(Debug, Default)]
struct CheckIcmpHeader {
    faults: Faults,
}

/// The number of what is wrong.
fn check(packet: &Packet) -> Result<(), usize> {
    header(packet)
        .filter(|ip| ip.protocol == protocol::ICMP)
        .ok_or(0_usize)?;
    let message = packet.transport_header();
    let icmp = Icmp::read(message).ok_or(1_usize)?;
    let fits = match icmp.kind {
        // They quote a header and eight bytes.
        kind if icmp::is_error(kind) => message.len() >= Icmp::LEN + 28,
        kind::TIMESTAMP | kind::TIMESTAMP_REPLY => message.len() == Icmp::LEN + 12,
        kind::INFORMATION | kind::INFORMATION_REPLY => message.len() == Icmp::LEN,
        _ => true,
    };
    if !fits {
        return Err(1);
    }
    if checksum(message) == 0 {
        Ok(())
    } else {
        Err(2)
    }
}

impl Element for CheckIcmpHeader {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.faults = Faults::new(FAULTS, args);
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|handle| {
            let Err(fault) = check(&ctx.pool()[&handle]) else {
                return Some(handle);
            };
            let introduction =
                |ctx: &Ctx| format!("{}: ICMP header check failed", ctx.declaration(ctx.me()));
            self.faults
                .reject(ctx, handle, fault, REASONS[fault], introduction);
            None
        });
    }

    fn handlers(&self) -> Vec<Handler> {
        self.faults.handlers()
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(self.faults.read(name))
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::{Probe, udp};
    use trammel_packet::headers::checksum::checksum;

    /// A message of this type with its checksum right.
    fn icmp(kind: u8, payload: &[u8]) -> Vec<u8> {
        let mut packet = udp(9, payload);
        packet[9] = 1;
        packet[20..28].copy_from_slice(&[kind, 0, 0, 0, 0, 0, 0, 0]);
        let sum = checksum(&packet[20..]);
        packet[22..24].copy_from_slice(&sum.to_be_bytes());
        packet
    }

    #[test]
    fn each_fault_is_told() {
        let mut probe = Probe::new("CheckICMPHeader", 2);
        let mut wrong = icmp(8, b"x");
        wrong[28] ^= 1;
        let cases = [
            (icmp(8, b"abc"), 0),
            (udp(9, b""), 1),
            (icmp(11, &[0; 27]), 1),
            (icmp(11, &[0; 28]), 0),
            (icmp(13, &[0; 11]), 1),
            (icmp(15, &[0; 1]), 1),
            (wrong, 1),
        ];
        for (packet, port) in cases {
            assert_eq!(probe.send_ip(&packet)[0].0, port, "{packet:?}");
        }
        assert_eq!(
            probe.said(),
            "x :: CheckICMPHeader: ICMP header check failed: not ICMP\n"
        );
    }
}
