//! Cuts IPv6 packets that are longer than a link takes into fragments.
//!
//! # What it does
//! Only a packet's source may do so; with `FRAGMENT false`, as a router has it, packets that are
//! too long leave by output 1, for ICMP6Error with type 2, or are dropped. So do those that cannot
//! be cut: fragments already, or with headers that leave no room.
//!
//! # Example
//! ```click
//! // A router answers what is too long; only its own packets it may cut.
//! FromDevice(eth0) -> Strip(14) -> CheckIP6Header -> f :: IP6Fragmenter(1400) -> Discard;
//! f[1] -> ICMP6Error(fe80::1, 2, 0, MTU 1400) -> Discard
//! ```
//!
//! # References
//! RFC 8200, §4.5.

use crate::args::kinds::UINT;
use crate::args::{Args, flag, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::headers::ip6_packet;
use crate::reason::Reason;
use trammel_packet::batch::Batch;
use trammel_packet::headers::ipv4::protocol;
use trammel_packet::headers::ipv6::{Fragment, Ipv6};
use trammel_packet::pool::Handle;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "IP6Fragmenter",
    "cuts long IPv6 packets into fragments",
    || Box::<Ip6Fragmenter>::default(),
)
.ports("1/1-2", "h/h")
.references(&["RFC 8200, §4.5"])
.params(&[
    mandatory("MTU", UINT, "the most bytes of a packet"),
    flag(
        "FRAGMENT",
        "true",
        "whether packets are cut, as only their source may",
    ),
])
.ops("work(90)");

#[derive(Debug, Default)]
struct Ip6Fragmenter {
    mtu: usize,
    cuts: bool,
    drops: u64,
    fragments: u64,
    /// The packet that is cut.
    whole: Vec<u8>,
}

/// The part of a packet that each fragment repeats: the header and the extensions that routers on
/// the way look at.
struct Front {
    len: usize,
    /// Where the number of the header behind it stands, and that number.
    next_at: usize,
    next: u8,
}

/// The front of the packet `data`. None where its headers are cut short, or it is a fragment.
fn front(data: &[u8]) -> Option<Front> {
    let mut front = Front {
        len: Ipv6::LEN,
        next_at: 6,
        next: Ipv6::read(data)?.next_header,
    };
    let (mut at, mut next) = (front.len, front.next);
    loop {
        let is_front = match next {
            protocol::HOPOPTS | protocol::ROUTING => true,
            // Options before a routing header are for each destination on the way.
            protocol::DSTOPTS => false,
            protocol::FRAGMENT => return None,
            _ => return Some(front),
        };
        let len = (usize::from(*data.get(at + 1)?) + 1) * 8;
        let next_at = at;
        (next, at) = (*data.get(at)?, at + len);
        if at > data.len() {
            return None;
        }
        if is_front {
            front = Front {
                len: at,
                next_at,
                next,
            };
        }
    }
}

impl Ip6Fragmenter {
    /// Cuts a packet that is too long; gives it back where that is not possible.
    fn cut(&mut self, ctx: &mut Ctx, handle: Handle) -> Option<Handle> {
        let packet = &ctx.pool()[&handle];
        let network = packet.network_header();
        let header = Ipv6::read(network).filter(|ip| ip.version() == 6 && self.cuts);
        let total = header.map(|ip| Ipv6::LEN + usize::from(ip.payload_length.get()));
        let Some(whole) = total.and_then(|total| network.get(..total)) else {
            return Some(handle);
        };
        let Some(front) = front(whole) else {
            return Some(handle);
        };
        let room = self.mtu.saturating_sub(front.len + Fragment::LEN) & !7;
        if room == 0 {
            return Some(handle);
        }
        self.whole.clear();
        self.whole.extend_from_slice(whole);
        let (annotations, stamp, to) = (
            *packet.annotations(),
            packet.timestamp(),
            packet.packet_type(),
        );
        let id = ctx.rng().below(1 << 32) as u32;
        ctx.pool().free(handle);
        let (head, payload) = self.whole.split_at_mut(front.len);
        head[front.next_at] = protocol::FRAGMENT;
        for (number, part) in payload.chunks(room).enumerate() {
            let handle = ctx.pool().alloc_with(part)?;
            let from = number * room;
            let more = u16::from(from + part.len() < payload.len());
            let fragment = Fragment {
                next_header: front.next,
                reserved: 0,
                offset_more: (from as u16 & !7 | more).into(),
                identification: id.into(),
            };
            let len = (head.len() - Ipv6::LEN + Fragment::LEN + part.len()) as u16;
            let packet = &mut ctx.pool()[&handle];
            packet.push(Fragment::LEN).copy_from_slice(fragment.bytes());
            packet.push(head.len()).copy_from_slice(head);
            if let Some(ip) = Ipv6::read_mut(packet.data_mut()) {
                ip.payload_length.set(len);
            }
            ip6_packet::mark(packet, 0);
            *packet.annotations_mut() = annotations;
            packet.set_timestamp(stamp);
            packet.set_packet_type(to);
            self.fragments += 1;
            ctx.emit(0, handle);
        }
        None
    }
}

impl Element for Ip6Fragmenter {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.mtu = args.uint("MTU") as usize;
        self.cuts = args.bool("FRAGMENT");
        Ok(())
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, mut batch: Batch) {
        for handle in batch.drain() {
            let packet = &ctx.pool()[&handle];
            let len = match packet.network_header().len() {
                0 => packet.len(),
                len => len,
            };
            if len <= self.mtu {
                ctx.emit(0, handle);
            } else if let Some(handle) = self.cut(ctx, handle) {
                self.drops += 1;
                ctx.reject(1, handle, Reason::TooBig);
            }
        }
        ctx.recycle(batch);
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("drops", "r"), Handler::new("fragments", "r")]
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "drops" => self.drops.to_string(),
            _ => self.fragments.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::headers::ip6_packet;
    use crate::probe::{Left, Probe};

    /// A packet with hop-by-hop options and 100 bytes behind them.
    fn packet() -> Vec<u8> {
        let mut packet = vec![0x60, 0, 0, 0, 0, 108, 0, 64];
        packet.extend([1; 32]);
        packet.extend([17, 0, 1, 4, 0, 0, 0, 0]);
        packet.extend(0..100);
        packet
    }

    fn send(probe: &mut Probe, data: &[u8]) -> Vec<Left> {
        probe.send_with(data, |packet| ip6_packet::mark(packet, 0))
    }

    #[test]
    fn fragments_make_the_packet_again() {
        let mut probe = Probe::new("IP6Fragmenter(100)", 2);
        let left = send(&mut probe, &packet());
        // 100 bytes less the front of 48 and the fragment header leave 40 for each.
        let places: Vec<(usize, u16)> = left
            .iter()
            .map(|(_, f)| (f.len(), u16::from_be_bytes([f[50], f[51]])))
            .collect();
        assert_eq!(places, [(96, 1), (96, 41), (76, 80)]);
        let mut whole: Vec<u8> = Vec::new();
        for (port, fragment) in &left {
            assert_eq!((*port, fragment[40], fragment[48]), (0, 44, 17));
            assert_eq!(usize::from(fragment[5]), fragment.len() - 40);
            assert_eq!(fragment[52..56], left[0].1[52..56]);
            whole.extend(&fragment[56..]);
        }
        assert_eq!(whole, packet()[48..]);
        assert_eq!(probe.run.read("x.fragments"), "3");
        // No fragment is cut again.
        let again = send(&mut Probe::new("IP6Fragmenter(80)", 2), &left[0].1);
        assert_eq!(again, [(1, left[0].1.clone())]);
        assert_eq!(probe.held(), 0);
    }

    #[test]
    fn what_fits_passes_and_a_router_cuts_nothing() {
        let mut probe = Probe::new("IP6Fragmenter(148, FRAGMENT false)", 2);
        assert_eq!(send(&mut probe, &packet()), [(0, packet())]);
        let mut probe = Probe::new("IP6Fragmenter(147, FRAGMENT false)", 2);
        assert_eq!(send(&mut probe, &packet())[0].0, 1);
        assert_eq!(probe.run.read("x.drops"), "1");
    }

    #[test]
    fn headers_that_lie_are_refused() {
        let mut probe = Probe::new("IP6Fragmenter(100)", 2);
        for (at, lie) in [(41, 200), (5, 109), (0, 0x40)] {
            let mut packet = packet();
            packet[at] = lie;
            assert_eq!(send(&mut probe, &packet)[0].0, 1, "{at}");
        }
        assert_eq!(
            send(&mut Probe::new("IP6Fragmenter(60)", 2), &packet())[0].0,
            1
        );
    }
}
