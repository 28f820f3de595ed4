//! Cuts IPv4 packets that are longer than a link takes into fragments.
//!
//! # What it does
//! Packets that must not be fragmented leave by output 1, for an ICMP error, or are dropped.
//! Options that say so are copied into each fragment.
//!
//! # Example
//! ```click
//! // What must not be cut leaves by output 1 and is answered.
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> f :: IPFragmenter(1400) -> Discard;
//! f[1] -> ICMPError(10.0.0.1, unreachable, needfrag, MTU 1400) -> Discard
//! ```
//!
//! # References
//! RFC 791, §3.2; RFC 1812, §5.2.6.

use super::shared::ip_options::copied_to_fragments;
use crate::args::kinds::UINT;
use crate::args::{Args, Kind, keyword, mandatory, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::headers::ip_packet::{header, mark_len};
use crate::reason::Reason;
use std::net::Ipv4Addr;
use trammel_packet::batch::Batch;
use trammel_packet::headers::ipv4::{DF, Ipv4, MF, OFFSET_MASK, RF, set_checksum};
use trammel_packet::packet::Packet;
use trammel_packet::pool::Handle;

/// The class.
pub static ENTRY: Entry = Entry::new("IPFragmenter", "cuts long packets into fragments", || {
    Box::<IpFragmenter>::default()
})
.ports("1/1-2", "h/h")
.references(&["RFC 791, §3.2", "RFC 1812, §5.2.6"])
.params(&[
    mandatory("MTU", UINT, "the most bytes of a packet"),
    positional(
        "HONOR_DF",
        Kind::Bool,
        "true",
        "whether packets may forbid it",
    ),
    positional(
        "VERBOSE",
        Kind::Bool,
        "false",
        "whether each refusal is printed",
    ),
    keyword(
        "HEADROOM",
        UINT,
        "28",
        "room before fragments; there is always enough",
    ),
])
.ops("work(18); pieces * work(350); pieces * copy(0.75 * frame)");

#[derive(Debug, Default)]
struct IpFragmenter {
    mtu: usize,
    honors: bool,
    verbose: bool,
    drops: u64,
    fragments: u64,
    /// Packets that came.
    packets: u64,
    /// The packet that is cut.
    whole: Vec<u8>,
}

/// Refusals that are printed.
const TOLD: u64 = 5;

impl IpFragmenter {
    /// Whether a packet passes as it is.
    fn fits(&self, packet: &Packet) -> bool {
        packet.network_header().len() <= self.mtu
    }

    fn refuse(&mut self, ctx: &mut Ctx, handle: Handle) {
        if self.verbose || self.drops < TOLD {
            let packet = &ctx.pool()[&handle];
            let (src, dst) = header(packet).map_or(([0; 4], [0; 4]), |ip| (ip.src, ip.dst));
            let (src, dst, len) = (Ipv4Addr::from(src), Ipv4Addr::from(dst), packet.len());
            let text = format!("IPFragmenter({}) DF {src} {dst} len={len}\n", self.mtu);
            ctx.host().say(&text);
        }
        self.drops += 1;
        ctx.reject(1, handle, Reason::TooBig);
    }

    fn fragment(&mut self, ctx: &mut Ctx, handle: Handle) {
        let packet = &ctx.pool()[&handle];
        let network = packet.network_header();
        let Some(ip) = Ipv4::read(network).copied() else {
            return ctx.drop(handle, Reason::TooShort);
        };
        let len = ip.header_len();
        // Neither what lies behind the packet nor what it only claims to have is sent.
        let total = usize::from(ip.total_length.get()).min(network.len());
        if len < Ipv4::LEN || total < len {
            return ctx.drop(handle, Reason::BadHeader);
        }
        let first_bytes = self.mtu.saturating_sub(len) & !7;
        let flags = ip.flags_fragment.get();
        if flags & DF != 0 && self.honors || first_bytes < 8 {
            return self.refuse(ctx, handle);
        }
        self.whole.clear();
        self.whole.extend_from_slice(&network[..total]);
        let id = if flags & DF != 0 {
            ctx.draw_bits(16) as u16
        } else {
            ip.identification.get()
        };
        let (bytes, had_more) = (total - len, flags & MF != 0);
        let packet = &mut ctx.pool()[&handle];
        packet.take(packet.network_header().len() - (len + first_bytes).min(total));
        let part = Part {
            from: 0,
            bytes: first_bytes.min(bytes),
            more: had_more || first_bytes < bytes,
        };
        part.write(packet.network_header_mut(), &ip, id, len);
        let at = packet.network_header_at().unwrap_or(0);
        packet.set_transport_header(at + len as isize);
        let (annotations, stamp, to) = (
            *packet.annotations(),
            packet.timestamp(),
            packet.packet_type(),
        );
        ctx.emit(0, handle);
        self.fragments += 1;
        let mut options = [0; 40];
        let options_len = copied_to_fragments(&self.whole[..len], &mut options);
        let head = Ipv4::LEN + options_len;
        let room = (self.mtu.saturating_sub(head) & !7).max(8);
        let mut from = first_bytes;
        while from < bytes {
            let count = room.min(bytes - from);
            let Some(handle) = ctx.pool().alloc() else {
                return;
            };
            let packet = &mut ctx.pool()[&handle];
            packet.set_data(&self.whole[len + from..len + from + count]);
            packet
                .push(options_len)
                .copy_from_slice(&options[..options_len]);
            packet.push(Ipv4::LEN).copy_from_slice(ip.bytes());
            mark_len(packet, 0, head);
            let part = Part {
                from,
                bytes: count,
                more: had_more || from + count < bytes,
            };
            part.write(packet.data_mut(), &ip, id, head);
            *packet.annotations_mut() = annotations;
            packet.set_timestamp(stamp);
            packet.set_packet_type(to);
            ctx.emit(0, handle);
            self.fragments += 1;
            from += count;
        }
    }
}

/// A fragment: where its bytes come from.
struct Part {
    from: usize,
    bytes: usize,
    more: bool,
}

impl Part {
    /// Writes what a fragment's header of `len` bytes has of its own.
    fn write(&self, data: &mut [u8], whole: &Ipv4, id: u16, len: usize) {
        if let Some(ip) = Ipv4::read_mut(data) {
            let flags = whole.flags_fragment.get();
            let offset = (flags & OFFSET_MASK).wrapping_add((self.from / 8) as u16);
            let more = if self.more { MF } else { 0 };
            ip.version_ihl = 0x40 | (len / 4) as u8;
            ip.total_length.set((len + self.bytes) as u16);
            ip.identification.set(id);
            ip.flags_fragment
                .set(flags & RF | more | offset & OFFSET_MASK);
        }
        set_checksum(data);
    }
}

impl Element for IpFragmenter {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.mtu = args.uint("MTU") as usize;
        self.honors = args.bool("HONOR_DF");
        self.verbose = args.bool("VERBOSE");
        if self.mtu < 8 {
            let mut said = Diagnostics::new();
            said.error(None, "MTU must be at least 8");
            return Err(said);
        }
        Ok(())
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, mut batch: Batch) {
        self.packets += batch.len() as u64;
        let pool = ctx.pool();
        if batch.iter().all(|packet| self.fits(&pool[packet])) {
            return ctx.emit_all(0, batch);
        }
        for packet in batch.drain() {
            if self.fits(&ctx.pool()[&packet]) {
                ctx.emit(0, packet);
            } else {
                self.fragment(ctx, packet);
            }
        }
        ctx.recycle(batch);
    }

    fn quantities(&self) -> Vec<(&'static str, f64)> {
        vec![("pieces", self.fragments as f64 / self.packets.max(1) as f64)]
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("drops", "r"), Handler::new("fragments", "r")]
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(if name == "drops" {
            self.drops
        } else {
            self.fragments
        }
        .to_string())
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::{Probe, udp};
    use trammel_packet::headers::checksum::checksum;
    use trammel_packet::headers::ipv4::{Ipv4, set_checksum};

    #[test]
    fn fragments_put_together_are_the_packet() {
        let payload: Vec<u8> = (0..200).collect();
        let packet = udp(9, &payload);
        let mut probe = Probe::new("IPFragmenter(50)", 2);
        let left = probe.send_ip(&packet);
        let mut body = Vec::new();
        for (at, (port, fragment)) in left.iter().enumerate() {
            let ip = Ipv4::read(fragment).expect("a header");
            assert_eq!((*port, checksum(&fragment[..20])), (0, 0));
            assert_eq!(usize::from(ip.total_length.get()), fragment.len());
            assert_eq!(usize::from(ip.fragment_offset()) * 8, body.len());
            assert_eq!(ip.flags_fragment.get() & 0x2000 != 0, at + 1 < left.len());
            assert!(fragment.len() <= 50);
            body.extend_from_slice(&fragment[20..]);
        }
        assert_eq!(body, packet[20..]);
        assert_eq!(probe.run.read("x.fragments"), left.len().to_string());
    }

    #[test]
    fn a_packet_may_forbid_it() {
        let mut packet = udp(9, &[0; 100]);
        packet[6] = 0x40;
        set_checksum(&mut packet);
        let mut probe = Probe::new("IPFragmenter(50)", 2);
        assert_eq!(probe.send_ip(&packet), [(1, packet.clone())]);
        assert_eq!(
            probe.said(),
            "IPFragmenter(50) DF 10.0.0.1 10.0.0.2 len=128\n"
        );
        let mut probe = Probe::new("IPFragmenter(50, false)", 2);
        assert_eq!(probe.send_ip(&packet).len(), 5);
    }

    #[test]
    fn lying_lengths_are_no_trouble() {
        for (ihl, total) in [(0x45, 9999), (0x45, 3), (0x4F, 70), (0x41, 80), (0x4F, 20)] {
            let mut packet = udp(9, &[0; 100]);
            packet[0] = ihl;
            packet[2..4].copy_from_slice(&u16::to_be_bytes(total));
            let mut probe = Probe::new("IPFragmenter(50)", 1);
            probe.send_ip(&packet);
            assert_eq!(probe.held(), 0);
        }
    }
}
