//! Computes the checksum of UDP datagrams anew.
//!
//! # What it does
//! Fragments, and datagrams that are shorter than they say, leave by output 1, or are dropped.
//!
//! # Example
//! ```click
//! FromDump(a.pcap, STOP true, FORCE_IP true) -> IPClassifier(udp) -> SetUDPChecksum
//!     -> ToDump(b.pcap, ENCAP IP)
//! ```

use crate::elements::Entry;
use crate::engine::{Ctx, Element};
use crate::headers::ip_packet::{final_header, pseudo_sum};
use crate::reason::Reason;
use trammel_packet::batch::Packets;
use trammel_packet::headers::checksum::for_udp;
use trammel_packet::headers::udp::Udp;
use trammel_packet::packet::Packet;

/// The class.
pub static ENTRY: Entry = Entry::new("SetUDPChecksum", "computes the checksum of UDP", || {
    Box::<SetUdpChecksum>::default()
})
.ports("1/1-2", "a/ah")
.references(&["RFC 768"])
.ops("parse(20); parse(8); checksum(frame - 38) by 4; deparse(2); work(115)");

#[derive(Debug, Default)]
struct SetUdpChecksum {
    told: bool,
}

fn set(packet: &mut Packet) -> Option<()> {
    let ip = final_header(packet.network_header()).filter(|ip| !ip.is_fragment())?;
    let rest = packet.transport_header_mut();
    let len = usize::from(Udp::read(rest)?.length.get());
    let datagram = rest.get_mut(..len)?;
    Udp::read_mut(datagram)?.checksum.set(0);
    let sum = for_udp(pseudo_sum(&ip, datagram));
    Udp::read_mut(datagram)?.checksum.set(sum);
    Some(())
}

impl Element for SetUdpChecksum {
    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|handle| {
            if set(&mut ctx.pool()[&handle]).is_some() {
                return Some(handle);
            }
            if ctx.outputs() == 1 && !self.told {
                self.told = true;
                let text = format!("{}: fragment or short packet\n", ctx.declaration(ctx.me()));
                ctx.host().say(&text);
            }
            ctx.reject(1, handle, Reason::BadLength);
            None
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::{Probe, udp};

    #[test]
    fn the_checksum_becomes_right() {
        let mut packet = udp(9, b"odd");
        packet[26] ^= 7;
        let mut probe = Probe::new("SetUDPChecksum", 2);
        assert_eq!(probe.send_ip(&packet), [(0, udp(9, b"odd"))]);
        assert_eq!(probe.send_ip(&packet[..30])[0].0, 1);
        packet[6] = 0x20;
        assert_eq!(probe.send_ip(&packet)[0].0, 1);
        let mut probe = Probe::new("SetUDPChecksum", 1);
        probe.send_ip(&packet);
        assert_eq!(
            probe.said(),
            "x :: SetUDPChecksum: fragment or short packet\n"
        );
        assert_eq!(probe.held(), 0);
    }
}
