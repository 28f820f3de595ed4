//! Turns ICMP echo requests into the replies.
//!
//! # What it does
//! Other packets leave by output 1, or are dropped.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> ICMPPingResponder
//!     -> EtherEncap(0x0800, 2:0:0:0:0:1, 2:0:0:0:0:2) -> Queue -> ToDevice(eth0)
//! ```
//!
//! # References
//! RFC 792; RFC 1122, §3.2.2.6.

use crate::elements::Entry;
use crate::engine::{Ctx, Element};
use crate::headers::ip_packet::{header_mut, replace_word, set_destination, transport_len};
use crate::reason::Reason;
use trammel_packet::anno;
use trammel_packet::batch::Packets;
use trammel_packet::headers::checksum::update_u16;
use trammel_packet::headers::icmp::{Icmp, kind};
use trammel_packet::headers::ipv4::protocol;
use trammel_packet::packet::Packet;

/// The class.
pub static ENTRY: Entry = Entry::new("ICMPPingResponder", "answers ICMP echo requests", || {
    Box::<IcmpPingResponder>::default()
})
.ports("1/1-2", "a/ah")
.references(&["RFC 792", "RFC 1122, §3.2.2.6"])
.ops("parse(20); parse(8); deparse(8); 3 * inc_checksum(2); deparse(8); work(90)");

#[derive(Debug, Default)]
struct IcmpPingResponder;

/// Turns a request into its reply; whether it was one.
fn answer(packet: &mut Packet) -> bool {
    let is_request = packet.transport_header().first() == Some(&kind::ECHO);
    if transport_len(packet) < Icmp::LEN || !is_request {
        return false;
    }
    let Some(ip) = header_mut(packet).filter(|ip| ip.protocol == protocol::ICMP) else {
        return false;
    };
    std::mem::swap(&mut ip.src, &mut ip.dst);
    let (to, protocol) = (ip.dst, ip.protocol);
    let network = packet.network_header_mut();
    replace_word(network, 6, [0, 0]);
    replace_word(network, 8, [255, protocol]);
    if let Some(icmp) = Icmp::read_mut(packet.transport_header_mut()) {
        let old = u16::from(icmp.kind) << 8 | u16::from(icmp.code);
        (icmp.kind, icmp.code) = (kind::ECHO_REPLY, 0);
        let sum = update_u16(icmp.checksum.get(), old, 0);
        icmp.checksum.set(sum);
    }
    let icmp = packet.transport_header_mut();
    if icmp.iter().all(|byte| *byte == 0) {
        // The sum of nothing but zeros is the other zero, which an update does not give.
        icmp[2..4].fill(0xFF);
    }
    set_destination(packet, to);
    packet.set_anno_u8(anno::PAINT, 0);
    true
}

impl Element for IcmpPingResponder {
    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let now = ctx.now();
        batch.filter(|handle| {
            let packet = &mut ctx.pool()[&handle];
            if answer(packet) {
                packet.set_timestamp(now);
                return Some(handle);
            }
            ctx.reject(1, handle, Reason::NoMatch);
            None
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::{Probe, udp};
    use trammel_packet::headers::checksum::checksum;

    #[test]
    fn the_reply_to_a_question_of_zeros_has_a_good_checksum() {
        let request = [[8, 0, 0xF7, 0xFF].as_slice(), &[0; 20]].concat();
        let mut packet = udp(1, b"");
        packet.truncate(20);
        (packet[3], packet[9]) = (20 + 24, 1);
        packet.extend(request);
        let reply = Probe::new("ICMPPingResponder", 1).send_ip(&packet)[0]
            .1
            .clone();
        assert_eq!(reply[20..24], [0, 0, 0xFF, 0xFF]);
        assert_eq!(checksum(&reply[20..]), 0);
    }

    #[test]
    fn a_request_becomes_its_reply_and_others_are_refused() {
        let mut ping = Probe::new("ICMPPingEncap(1.0.0.1, 1.0.0.2)", 1);
        let request = ping.send(b"data")[0].1.clone();
        let mut probe = Probe::new("ICMPPingResponder", 2);
        let left = probe.send_ip(&request);
        let reply = &left[0].1;
        assert_eq!((left[0].0, reply[8], reply[20], reply[21]), (0, 255, 0, 0));
        assert_eq!(reply[12..20], [1, 0, 0, 2, 1, 0, 0, 1]);
        assert_eq!((checksum(&reply[..20]), checksum(&reply[20..])), (0, 0));
        assert_eq!(probe.send_ip(reply)[0].0, 1);
        assert_eq!(probe.send_ip(&udp(9, b""))[0].0, 1);
        assert_eq!(probe.send_ip(&request[..27])[0].0, 1);
    }
}
