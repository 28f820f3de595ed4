//! Overwrites what TCP and UDP carry with zeros.
//!
//! # What it does
//! Packets keep their length; the checksum of the transport becomes 0. ICMP passes as it is, and
//! packets of other protocols end here.
//!
//! # Example
//! ```click
//! // Headers stay, what they carry becomes zeroes.
//! FromDump(a.pcap, STOP true, FORCE_IP true) -> EraseIPPayload -> ToDump(b.pcap, ENCAP IP)
//! ```

use crate::elements::Entry;
use crate::engine::{Ctx, Element};
use crate::headers::ip_packet::header;
use crate::reason::Reason;
use trammel_packet::batch::Packets;
use trammel_packet::headers::ipv4::protocol;
use trammel_packet::headers::tcp::Tcp;
use trammel_packet::headers::udp::Udp;
use trammel_packet::packet::Packet;

/// The class.
pub static ENTRY: Entry = Entry::new("EraseIPPayload", "overwrites payload with zeros", || {
    Box::<EraseIpPayload>::default()
})
.ops("parse(20); deparse(frame - 58); work(65)");

#[derive(Debug, Default)]
struct EraseIpPayload;

/// Erases; whether the packet may go on.
fn erase(packet: &mut Packet) -> bool {
    let Some(ip) = header(packet).copied() else {
        return false;
    };
    let rest = packet.transport_header_mut();
    let (len, sum_at) = match ip.protocol {
        protocol::ICMP => return true,
        protocol::TCP => (Tcp::read(rest).map_or(Tcp::LEN, Tcp::header_len), 16),
        protocol::UDP => (Udp::LEN, 6),
        _ => return false,
    };
    if let Some(payload) = rest.get_mut(len..) {
        payload.fill(0);
    }
    if let Some(sum) = rest.get_mut(sum_at..sum_at + 2) {
        sum.fill(0);
    }
    true
}

impl Element for EraseIpPayload {
    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|handle| {
            if erase(&mut ctx.pool()[&handle]) {
                return Some(handle);
            }
            ctx.drop(handle, Reason::NoMatch);
            None
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::{Probe, udp};

    #[test]
    fn payload_and_checksum_become_zero() {
        let mut probe = Probe::new("EraseIPPayload", 1);
        let mut wanted = udp(9, b"secret");
        let packet = wanted.clone();
        wanted[26..].fill(0);
        assert_eq!(probe.send_ip(&packet), [(0, wanted)]);
        let mut icmp = packet.clone();
        icmp[9] = 1;
        assert_eq!(probe.send_ip(&icmp), [(0, icmp.clone())]);
        let mut other = packet.clone();
        other[9] = 99;
        assert_eq!(probe.send_ip(&other), []);
        let mut tcp = udp(9, &[1; 30]);
        (tcp[9], tcp[32]) = (6, 0x60);
        let left = probe.send_ip(&tcp);
        assert_eq!(
            (&left[0].1[38..44], &left[0].1[44..]),
            (&tcp[38..44], &[0; 14][..])
        );
        assert_eq!(probe.send_ip(&tcp[..25])[0].1, &tcp[..25]);
        assert_eq!(probe.held(), 0);
    }
}
