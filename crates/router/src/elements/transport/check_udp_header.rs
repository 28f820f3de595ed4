//! Checks UDP headers: lengths and, where there is one, checksum.
//!
//! # What it does
//! Packets that fail leave by output 1, or are dropped.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> IPClassifier(udp) -> CheckUDPHeader -> Discard
//! ```
//!
//! # References
//! RFC 768.

use crate::args::Args;
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::headers::header_faults::{DETAILS, Faults, VERBOSE};
use crate::headers::ip_packet::{final_header, pseudo_sum};
use crate::reason::Reason;
use trammel_packet::batch::Packets;
use trammel_packet::headers::ipv4::protocol;
use trammel_packet::headers::udp::Udp;
use trammel_packet::packet::Packet;

/// The class.
pub static ENTRY: Entry = Entry::new("CheckUDPHeader", "checks UDP headers", || {
    Box::<CheckUdpHeader>::default()
})
.ports("1/1-2", "a/ah")
.references(&["RFC 768"])
.params(&[VERBOSE, DETAILS])
.ops("parse(20); parse(8); checksum(frame - 38) by 4; work(110)");

/// What can be wrong.
const FAULTS: &[&str] = &["not UDP", "bad packet length", "bad UDP checksum"];
/// What each is for the count of drops.
const REASONS: [Reason; 3] = [Reason::BadHeader, Reason::BadLength, Reason::BadChecksum];

#[derive(Debug, Default)]
struct CheckUdpHeader {
    faults: Faults,
}

/// The number of what is wrong.
fn check(packet: &Packet) -> Result<(), usize> {
    let ip = final_header(packet.network_header())
        .filter(|ip| ip.protocol == protocol::UDP)
        .ok_or(0_usize)?;
    let rest = packet
        .network_header()
        .get(ip.header_len()..)
        .unwrap_or_default();
    let udp = Udp::read(rest).ok_or(1_usize)?;
    let len = usize::from(udp.length.get());
    let datagram = rest.get(..len).filter(|_| len >= Udp::LEN).ok_or(1_usize)?;
    let is_right = udp.checksum.get() == 0 || pseudo_sum(&ip, datagram).checksum() == 0;
    if is_right { Ok(()) } else { Err(2) }
}

impl Element for CheckUdpHeader {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.faults = Faults::new(FAULTS, args);
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|handle| {
            let Err(fault) = check(&ctx.pool()[&handle]) else {
                return Some(handle);
            };
            let introduction = |_: &Ctx| "UDP header check failed".to_owned();
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

    #[test]
    fn each_fault_is_told() {
        let mut probe = Probe::new("CheckUDPHeader(VERBOSE true)", 2);
        assert_eq!(probe.send_ip(&udp(9, b"odd"))[0].0, 0);
        let mut other = udp(9, b"odd");
        other[9] = 6;
        assert_eq!(probe.send_ip(&other)[0].0, 1);
        let mut long = udp(9, b"odd");
        long[25] += 1;
        assert_eq!(probe.send_ip(&long)[0].0, 1);
        let mut wrong = udp(9, b"odd");
        wrong[28] ^= 1;
        assert_eq!(probe.send_ip(&wrong)[0].0, 1);
        wrong[26..28].fill(0);
        assert_eq!(probe.send_ip(&wrong)[0].0, 0, "none was computed");
        assert_eq!(
            probe.said(),
            "UDP header check failed: not UDP\n\
             UDP header check failed: bad packet length\n\
             UDP header check failed: bad UDP checksum\n"
        );
    }
}
