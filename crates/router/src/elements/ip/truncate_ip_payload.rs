//! Truncates the payload of IP packets.
//!
//! # What it does
//! Of what TCP, UDP or ICMP carry, at most `LENGTH` bytes stay; with `TRANSPORT false`, of what IP
//! carries. Packets without an IP header are cut to `LENGTH` bytes.
//!
//! # Example
//! ```click
//! // Eight bytes behind the headers are kept.
//! FromDump(a.pcap, STOP true, FORCE_IP true) -> TruncateIPPayload(8, TRANSPORT true)
//!     -> ToDump(b.pcap, ENCAP IP)
//! ```

use crate::args::kinds::U16;
use crate::args::{Args, Kind, flag, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use trammel_packet::anno;
use trammel_packet::batch::Packets;
use trammel_packet::headers::icmp::{Icmp, kind};
use trammel_packet::headers::ipv4::{Ipv4, protocol};
use trammel_packet::headers::tcp::Tcp;
use trammel_packet::headers::udp::Udp;
use trammel_packet::packet::Packet;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "TruncateIPPayload",
    "truncates the payload of IP packets",
    || Box::<TruncateIpPayload>::default(),
)
.params(&[
    positional("LENGTH", U16, "0", "bytes that stay at most"),
    positional(
        "TRANSPORT",
        Kind::Bool,
        "true",
        "whether the transport header is not counted",
    ),
    flag(
        "EXTRA_LENGTH",
        "true",
        "whether the annotation EXTRA_LENGTH counts what is cut",
    ),
])
.ops("parse(20); work(60)");

#[derive(Debug, Default)]
struct TruncateIpPayload {
    length: usize,
    transport: bool,
    counts: bool,
}

/// Bytes of an ICMP message before what it carries.
fn icmp_header(message: &[u8]) -> usize {
    const OF_TIMES: usize = 20;
    const OF_MASKS: usize = 12;
    match message.first() {
        Some(&(kind::TIMESTAMP | kind::TIMESTAMP_REPLY)) => OF_TIMES,
        Some(&(kind::MASK | kind::MASK_REPLY)) => OF_MASKS,
        _ => Icmp::LEN,
    }
}

impl TruncateIpPayload {
    /// Bytes that are too many.
    fn excess(&self, packet: &Packet) -> usize {
        if !packet.has_network_header() {
            return packet.len().saturating_sub(self.length);
        }
        let network = packet.network_header();
        let Some(ip) = Ipv4::read(network) else {
            return network.len().saturating_sub(self.length + Ipv4::LEN);
        };
        let mut header = ip.header_len();
        if header < Ipv4::LEN {
            header = Ipv4::LEN;
        } else if self.transport {
            let rest = network.get(header..).unwrap_or_default();
            header += match ip.protocol {
                protocol::TCP => {
                    let told = rest.get(12).map_or(0, |byte| usize::from(byte >> 4) * 4);
                    told.max(Tcp::LEN)
                }
                protocol::UDP => Udp::LEN,
                protocol::ICMP if rest.len() >= Icmp::LEN => icmp_header(rest),
                _ => 0,
            };
        }
        network.len().saturating_sub(self.length + header)
    }
}

impl Element for TruncateIpPayload {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.length = args.uint("LENGTH") as usize;
        self.transport = args.bool("TRANSPORT");
        self.counts = args.bool("EXTRA_LENGTH");
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for handle in batch.iter() {
            let packet = &mut pool[handle];
            let excess = self.excess(packet);
            packet.take(excess);
            if self.counts && excess > 0 {
                let extra = packet
                    .anno_u32(anno::EXTRA_LENGTH)
                    .wrapping_add(excess as u32);
                packet.set_anno_u32(anno::EXTRA_LENGTH, extra);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::{Probe, udp};
    use trammel_packet::anno;

    #[test]
    fn as_much_of_the_payload_stays_as_is_wanted() {
        let packet = udp(9, b"much payload");
        let mut probe = Probe::new("TruncateIPPayload(4)", 1);
        assert_eq!(probe.send_ip(&packet)[0].1, &packet[..32]);
        assert_eq!(probe.send_ip(&packet[..30])[0].1, &packet[..30]);
        assert_eq!(probe.send(&packet)[0].1, &packet[..4]);
        let mut extra = 0;
        let mark = |packet: &mut _| crate::headers::ip_packet::mark(packet, 0);
        probe.send_and_look(&packet, mark, |_, packet| {
            extra = packet.anno_u32(anno::EXTRA_LENGTH);
        });
        assert_eq!(extra, 8);
        let mut tcp = udp(9, &[7; 40]);
        (tcp[9], tcp[32]) = (6, 0x80);
        assert_eq!(probe.send_ip(&tcp)[0].1.len(), 20 + 32 + 4);
        let mut probe = Probe::new("TruncateIPPayload(4, false)", 1);
        assert_eq!(probe.send_ip(&packet)[0].1, &packet[..24]);
    }
}
