//! Checks TCP headers: lengths and checksum.
//!
//! # What it does
//! Packets that fail leave by output 1, or are dropped.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> IPClassifier(tcp) -> CheckTCPHeader -> Discard
//! ```
//!
//! # References
//! RFC 9293, §3.1.

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
use trammel_packet::headers::tcp::Tcp;
use trammel_packet::packet::Packet;

/// The class.
pub static ENTRY: Entry = Entry::new("CheckTCPHeader", "checks TCP headers", || {
    Box::<CheckTcpHeader>::default()
})
.ports("1/1-2", "a/ah")
.references(&["RFC 9293, §3.1"])
.params(&[VERBOSE, DETAILS])
.ops("parse(20); parse(20); checksum(frame - 38) by 4; work(110)");

/// What can be wrong.
const FAULTS: &[&str] = &["not TCP", "bad packet length", "bad TCP checksum"];
/// What each is for the count of drops.
const REASONS: [Reason; 3] = [Reason::BadHeader, Reason::BadLength, Reason::BadChecksum];

#[derive(Debug, Default)]
struct CheckTcpHeader {
    faults: Faults,
}

/// The number of what is wrong.
fn check(packet: &Packet) -> Result<(), usize> {
    let ip = final_header(packet.network_header())
        .filter(|ip| ip.protocol == protocol::TCP)
        .ok_or(0_usize)?;
    let len = usize::from(ip.total_length.get())
        .checked_sub(ip.header_len())
        .ok_or(1_usize)?;
    let from = ip.header_len();
    let segment = packet
        .network_header()
        .get(from..from + len)
        .ok_or(1_usize)?;
    let head = Tcp::read(segment).map_or(0, Tcp::header_len);
    if head < Tcp::LEN || head > len {
        return Err(1);
    }
    if pseudo_sum(&ip, segment).checksum() == 0 {
        Ok(())
    } else {
        Err(2)
    }
}

impl Element for CheckTcpHeader {
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
                |ctx: &Ctx| format!("{}: TCP header check failed", ctx.declaration(ctx.me()));
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
    use crate::headers::ip_packet::transport_sum;
    use crate::probe::{Probe, udp};
    use trammel_packet::headers::checksum::{checksum, update_u16};

    /// A segment without data, its checksum right.
    fn tcp() -> Vec<u8> {
        let mut packet = udp(9, &[0; 12]);
        packet[9] = 6;
        packet[32] = 0x50;
        packet[24..32].fill(0);
        packet[36..38].fill(0);
        let sum = transport_sum(&packet).expect("it is whole").checksum();
        packet[36..38].copy_from_slice(&sum.to_be_bytes());
        packet
    }

    #[test]
    fn a_source_route_tells_the_destination_that_is_summed() {
        let mut packet = tcp();
        let last = [9, 8, 7, 6];
        let route = [131, 7, 4, last[0], last[1], last[2], last[3], 0];
        packet.splice(20..20, route);
        packet[0] = 0x47;
        packet[3] += route.len() as u8;
        packet[10..12].fill(0);
        let sum = checksum(&packet[..28]);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        let mut probe = Probe::new("CheckTCPHeader", 2);
        assert_eq!(probe.send_ip(&packet)[0].0, 1);
        let dst: [u8; 4] = packet[16..20].try_into().expect("four bytes");
        for (old, new) in dst.chunks(2).zip(last.chunks(2)) {
            let word = |bytes: &[u8]| u16::from_be_bytes([bytes[0], bytes[1]]);
            let sum = update_u16(word(&packet[44..46]), word(old), word(new));
            packet[44..46].copy_from_slice(&sum.to_be_bytes());
        }
        assert_eq!(probe.send_ip(&packet), [(0, packet.clone())]);
        // Once it is used up, the header's destination is the last.
        packet[22] = 8;
        assert_eq!(probe.send_ip(&packet)[0].0, 1);
    }

    #[test]
    fn each_fault_is_told() {
        let mut probe = Probe::new("CheckTCPHeader(VERBOSE true, DETAILS true)", 2);
        assert_eq!(probe.send_ip(&tcp()), [(0, tcp())]);
        assert_eq!(probe.send_ip(&udp(9, b""))[0].0, 1);
        let mut long = tcp();
        long[32] = 0x60;
        assert_eq!(probe.send_ip(&long)[0].0, 1);
        let mut wrong = tcp();
        wrong[22] ^= 1;
        assert_eq!(probe.send_ip(&wrong)[0].0, 1);
        assert_eq!(
            probe.said(),
            "x :: CheckTCPHeader: TCP header check failed: not TCP\n\
             x :: CheckTCPHeader: TCP header check failed: bad packet length\n\
             x :: CheckTCPHeader: TCP header check failed: bad TCP checksum\n"
        );
        assert_eq!(
            probe.run.read("x.drop_details"),
            "1\tnot TCP\n1\tbad packet length\n1\tbad TCP checksum\n"
        );
    }

    #[test]
    fn nothing_is_read_beyond_the_packet() {
        let mut probe = Probe::new("CheckTCPHeader", 1);
        for len in 0..40 {
            assert_eq!(probe.send_ip(&tcp()[..len]), []);
        }
        assert_eq!(probe.run.read("x.drops"), "40");
        assert_eq!(probe.held(), 0);
    }
}
