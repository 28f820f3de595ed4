//! Cuts TCP segments that are longer than a link takes into shorter ones.
//!
//! # What it does
//! An IPv4 packet longer than `MTU` bytes from its IP header on, or than the annotation `MTU_ANNO`
//! where that is set and less, becomes several: copies with all headers, the link's among them, and
//! parts of the payload. FIN and PSH are only on the last.
//!
//! # Handlers
//! - `fragmented_count`: packets that were cut
//!
//! # Example
//! ```click
//! // Segments of at most 536 bytes of data.
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> IPClassifier(tcp)
//!     -> TCPFragmenter(MTU 576) -> Discard
//! ```
//!
//! # References
//! RFC 9293, §3.1.

use crate::args::kinds::U16;
use crate::args::{Args, Kind, keyword};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::headers::ip_packet::transport_sum;
use trammel_packet::anno::Anno;
use trammel_packet::batch::Batch;
use trammel_packet::headers::ipv4::{Ipv4, MF, OFFSET_MASK, protocol, set_checksum};
use trammel_packet::headers::tcp::Tcp;
use trammel_packet::packet::Packet;
use trammel_packet::pool::Handle;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "TCPFragmenter",
    "cuts long TCP segments into shorter ones",
    || Box::<TcpFragmenter>::default(),
)
.ports("1/1", "h/h")
.references(&["RFC 9293, §3.1"])
.params(&[
    keyword("MTU", U16, "0", "the most bytes of a packet; 0 is no limit"),
    keyword(
        "MTU_ANNO",
        Kind::Anno { size: 2 },
        "0",
        "an annotation of two bytes with the same for each packet",
    ),
])
.ops("parse(20); parse(20); work(140)");

/// FIN and PSH, which belong to the end of what is sent.
const LAST_FLAGS: u8 = 0x09;
const FLAGS_AT: usize = 13;
const SUM_AT: usize = 16;

#[derive(Debug, Default)]
struct TcpFragmenter {
    mtu: usize,
    annotation: Option<Anno>,
    fragments: u64,
    fragmented: u64,
    count: u64,
    /// The packet that is cut.
    whole: Vec<u8>,
}

/// A segment within its packet.
#[derive(Clone, Copy, Debug)]
struct Segment {
    /// Where the IP header begins.
    ip_at: usize,
    /// Where the TCP header begins.
    tcp_at: usize,
    /// Where the payload begins, and where it ends.
    from: usize,
    to: usize,
}

fn segment(packet: &Packet) -> Option<Segment> {
    let network = packet.network_header();
    let ip = Ipv4::read(network).filter(|ip| ip.protocol == protocol::TCP)?;
    let len = ip.header_len();
    let total = usize::from(ip.total_length.get());
    let whole = ip.flags_fragment.get() & (MF | OFFSET_MASK) == 0;
    if !whole || len < Ipv4::LEN || total > network.len() {
        return None;
    }
    Tcp::read(network.get(len..total)?)?;
    let tcp_len = usize::from(network[len + 12] >> 4) * 4;
    let ip_at = packet.len() - network.len();
    (tcp_len >= Tcp::LEN && len + tcp_len <= total).then_some(Segment {
        ip_at,
        tcp_at: ip_at + len,
        from: ip_at + len + tcp_len,
        to: ip_at + total,
    })
}

/// Writes what a part's headers have of their own.
fn mend(data: &mut [u8], segment: Segment, offset: usize, is_last: bool) {
    let network = &mut data[segment.ip_at..];
    let total = network.len() as u16;
    network[2..4].copy_from_slice(&total.to_be_bytes());
    set_checksum(network);
    let tcp = &mut network[segment.tcp_at - segment.ip_at..];
    if let Some(number) = tcp[4..].first_chunk_mut::<4>() {
        *number = u32::from_be_bytes(*number)
            .wrapping_add(offset as u32)
            .to_be_bytes();
    }
    if !is_last {
        tcp[FLAGS_AT] &= !LAST_FLAGS;
    }
    tcp[SUM_AT..SUM_AT + 2].fill(0);
    if let Some(sum) = transport_sum(network) {
        let at = segment.tcp_at - segment.ip_at + SUM_AT;
        network[at..at + 2].copy_from_slice(&sum.checksum().to_be_bytes());
    }
}

impl TcpFragmenter {
    fn mtu(&self, packet: &Packet) -> usize {
        let own = self
            .annotation
            .map_or(0, |anno| usize::from(packet.anno_u16(anno)));
        match (own, self.mtu) {
            (0, mtu) | (mtu, 0) => mtu,
            (own, mtu) => own.min(mtu),
        }
    }

    /// Sends the parts of a segment that is too long; gives back what is to pass as it is.
    fn cut(&mut self, ctx: &mut Ctx, handle: Handle) -> Option<Handle> {
        let packet = &ctx.pool()[&handle];
        let mtu = self.mtu(packet);
        let Some(segment) = segment(packet).filter(|_| mtu != 0) else {
            return Some(handle);
        };
        let room = mtu.saturating_sub(segment.from - segment.ip_at);
        if room == 0 || segment.to - segment.from <= room {
            return Some(handle);
        }
        self.fragmented += 1;
        self.whole.clear();
        self.whole.extend_from_slice(&packet.data()[..segment.to]);
        let mut original = Some(handle);
        for from in (segment.from..segment.to).step_by(room) {
            let to = (from + room).min(segment.to);
            let is_last = to == segment.to;
            let handle = if is_last {
                original.take()
            } else {
                original
                    .as_ref()
                    .and_then(|original| ctx.pool().duplicate(original))
            };
            let Some(handle) = handle else {
                continue;
            };
            let packet = &mut ctx.pool()[&handle];
            packet.take(packet.len() - segment.from - (to - from));
            packet.data_mut()[segment.from..].copy_from_slice(&self.whole[from..to]);
            mend(packet.data_mut(), segment, from - segment.from, is_last);
            self.fragments += 1;
            ctx.emit(0, handle);
        }
        None
    }
}

impl Element for TcpFragmenter {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.mtu = args.uint("MTU") as usize;
        self.annotation = args.opt_anno("MTU_ANNO").map(|field| Anno {
            name: "MTU_ANNO",
            offset: field.offset,
            size: field.size,
        });
        if self.mtu == 0 && self.annotation.is_none() {
            let mut said = Diagnostics::new();
            said.error(None, "At least one of MTU and MTU_ANNO must be set");
            return Err(said);
        }
        Ok(())
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, mut batch: Batch) {
        for handle in batch.drain() {
            self.count += 1;
            if let Some(handle) = self.cut(ctx, handle) {
                ctx.emit(0, handle);
            }
        }
        ctx.recycle(batch);
    }

    fn handlers(&self) -> Vec<Handler> {
        ["fragments", "fragmented_count", "count"]
            .map(|name| Handler::new(name, "r"))
            .to_vec()
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "fragments" => self.fragments,
            "fragmented_count" => self.fragmented,
            _ => self.count,
        }
        .to_string())
    }
}

#[cfg(test)]
mod tests {
    use crate::headers::ip_packet::{mark, transport_sum};
    use crate::load::testing::errors;
    use crate::probe::{Left, Probe, udp};
    use trammel_packet::headers::checksum::checksum;
    use trammel_packet::headers::ipv4::set_checksum;

    /// Two bytes of a link header, then a segment with 100 bytes, FIN and ACK.
    fn packet() -> Vec<u8> {
        let payload: Vec<u8> = (0..100).collect();
        let mut packet = udp(9, &[&[0; 12][..], &payload].concat());
        packet[9] = 6;
        packet[24..28].copy_from_slice(&u32::MAX.to_be_bytes());
        (packet[32], packet[33]) = (0x50, 0x11);
        set_checksum(&mut packet);
        [b"eh", &packet[..]].concat()
    }

    fn send(probe: &mut Probe, data: &[u8]) -> Vec<Left> {
        probe.send_with(data, |packet| mark(packet, 2))
    }

    #[test]
    fn parts_make_the_segment_again() {
        let mut probe = Probe::new("TCPFragmenter(MTU 80)", 1);
        let left = send(&mut probe, &packet());
        let mut payload = Vec::new();
        for (at, (_, part)) in left.iter().enumerate() {
            let ip = &part[2..];
            assert_eq!((&part[..2], checksum(&ip[..20])), (&b"eh"[..], 0));
            assert_eq!(
                transport_sum(ip).map(trammel_packet::headers::checksum::Sum::checksum),
                Some(0)
            );
            assert_eq!(usize::from(ip[3]), ip.len());
            let number = u32::MAX.wrapping_add(payload.len() as u32);
            assert_eq!(ip[24..28], number.to_be_bytes());
            assert_eq!(ip[33], if at == 2 { 0x11 } else { 0x10 });
            payload.extend_from_slice(&ip[40..]);
        }
        assert_eq!(payload, packet()[42..]);
        assert_eq!(
            (probe.run.read("x.fragments"), probe.run.read("x.count")),
            ("3".into(), "1".into())
        );
        assert_eq!(probe.held(), 0);
    }

    #[test]
    fn what_fits_or_is_no_segment_passes() {
        let mut probe = Probe::new("TCPFragmenter(MTU 140)", 1);
        assert_eq!(send(&mut probe, &packet()), [(0, packet())]);
        let mut probe = Probe::new("TCPFragmenter(MTU 80)", 1);
        for (at, lie) in [
            (2, 0x41),
            (4, 0xFF),
            (11, 17),
            (34, 0x10),
            (34, 0xF0),
            (8, 0x20),
        ] {
            let mut odd = packet();
            odd[at] = lie;
            assert_eq!(send(&mut probe, &odd), [(0, odd.clone())], "{at}");
        }
        assert!(errors("Idle -> TCPFragmenter -> Idle").contains("At least one of MTU"));
    }
}
