//! Reassembles fragments of IPv4 packets.
//!
//! # What it does
//! Whole packets pass. Fragments are kept until their packet is whole, which then leaves with the
//! front of its first fragment. What has had no fragment for 30 seconds, or must go since more than
//! `HIMEM` bytes are kept, leaves by output 1 as far as it has come, or is dropped.
//!
//! # Handlers
//! - `dump`: what was reassembled and what failed, one a line
//!
//! # Example
//! ```click
//! // Fragments are put together before ports are looked at.
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> IPReassembler
//!     -> IPFilter(deny udp dst port 53, allow all)
//!     -> Discard
//! ```
//!
//! # References
//! RFC 791, §3.2; RFC 815.

use crate::args::kinds::UINT;
use crate::args::{Args, Kind, keyword};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::headers::ip_packet::{header, header_mut, mark_len};
use crate::reason::Reason;
use std::fmt::Write;
use std::net::Ipv4Addr;
use trammel_packet::batch::Packets;
use trammel_packet::headers::ipv4::{Ipv4, MF, OFFSET_MASK, set_checksum};
use trammel_packet::pool::Handle;

/// The class.
pub static ENTRY: Entry = Entry::new("IPReassembler", "reassembles fragments", || {
    Box::<IpReassembler>::default()
})
.ports("1/1-2", "a/ah")
.references(&["RFC 791, §3.2", "RFC 815"])
.params(&[
    keyword("HIMEM", UINT, "262144", "the most bytes kept"),
    keyword(
        "MAX_MTU_ANNO",
        Kind::Anno { size: 2 },
        "",
        "an annotation for the length of the longest fragment",
    ),
])
.ops("parse(2); work(40)");

/// Seconds without a fragment after which a packet is given up.
const PATIENCE_SECS: i64 = 30;
/// Seconds between two looks for such packets.
const LOOK_SECS: i64 = 10;
/// What a packet counts besides its bytes.
const OVERHEAD_BYTES: usize = 40;

/// To which packet a fragment belongs.
type Key = ([u8; 4], [u8; 4], u8, u16);

/// A packet that is not whole yet.
#[derive(Debug)]
struct Partial {
    key: Key,
    /// What there is: the packet so far, its transport header at the place of byte 0.
    packet: Handle,
    /// The bytes that have come, as ranges in order that do not touch.
    have: Vec<(usize, usize)>,
    /// How many bytes it has in all, once the last fragment has come.
    total: Option<usize>,
    /// When the last fragment came.
    last: i64,
    longest: u16,
    bytes: usize,
}

#[derive(Debug, Default)]
struct IpReassembler {
    most_bytes: usize,
    mtu_anno: Option<usize>,
    /// In the order of their first fragments.
    partials: Vec<Partial>,
    kept_bytes: usize,
    next_look: i64,
    seen: u64,
    good: u64,
    failed: u64,
    bad: u64,
}

/// Adds a range to ranges in order; those that touch become one.
fn add(have: &mut Vec<(usize, usize)>, mut new: (usize, usize)) {
    have.retain(|old| {
        let touches = old.0 <= new.1 && new.0 <= old.1;
        if touches {
            new = (new.0.min(old.0), new.1.max(old.1));
        }
        !touches
    });
    let at = have.partition_point(|old| old.0 < new.0);
    have.insert(at, new);
}

impl IpReassembler {
    /// Gives a packet up.
    fn give_up(&mut self, ctx: &mut Ctx, at: usize) {
        let partial = self.partials.remove(at);
        self.kept_bytes -= partial.bytes;
        ctx.reject(1, partial.packet, Reason::Fragment);
    }

    fn give_up_old(&mut self, ctx: &mut Ctx, now: i64) {
        self.next_look = now + LOOK_SECS;
        while let Some(at) = self
            .partials
            .iter()
            .position(|one| one.last < now - PATIENCE_SECS)
        {
            self.give_up(ctx, at);
        }
    }

    /// Takes a fragment; gives the packet where it is whole now.
    fn take(&mut self, ctx: &mut Ctx, handle: Handle) -> Option<Handle> {
        self.seen += 1;
        if ctx.pool()[&handle].timestamp().secs() == 0 {
            let now = ctx.now();
            ctx.pool()[&handle].set_timestamp(now);
        }
        let packet = &mut ctx.pool()[&handle];
        let (now, network_len) = (packet.timestamp().secs(), packet.network_header().len());
        let Some(ip) = header(packet).copied() else {
            ctx.drop(handle, Reason::TooShort);
            return None;
        };
        let from = usize::from(ip.fragment_offset()) * 8;
        let len = usize::from(ip.total_length.get()).saturating_sub(ip.header_len());
        let (to, more) = (from + len, ip.flags_fragment.get() & MF != 0);
        let there = packet.transport_header().len();
        if to > 0xFFFF || len == 0 || to % 8 != 0 && more || there < len {
            self.bad += 1;
            ctx.drop(handle, Reason::Fragment);
            return None;
        }
        packet.take(there - len);
        let longest = network_len.saturating_sub(there - len) as u16;
        if now >= self.next_look {
            self.give_up_old(ctx, now);
        }
        if self.kept_bytes > self.most_bytes {
            while self.kept_bytes > self.most_bytes / 4 * 3 {
                self.give_up(ctx, 0);
                self.failed += 1;
            }
        }
        let key = (ip.src, ip.dst, ip.protocol, ip.identification.get());
        let found = self.partials.iter().position(|one| one.key == key);
        let at = found.unwrap_or(self.partials.len());
        if found.is_none() {
            let bytes = OVERHEAD_BYTES + to;
            self.kept_bytes += bytes;
            let packet = &mut ctx.pool()[&handle];
            if from > 0 {
                // What comes before is not there yet: room for it, behind a header of the usual
                // length.
                let data = packet.transport_header().to_vec();
                packet.set_data(&data);
                packet.push(from).fill(0);
                packet.push(Ipv4::LEN).copy_from_slice(ip.bytes());
                if let Some(first) = packet.data_mut().first_mut() {
                    *first = 0x45;
                }
                mark_len(packet, 0, Ipv4::LEN);
            }
            let total = (!more).then_some(to);
            let have = vec![(from, to)];
            self.partials.push(Partial {
                key,
                packet: handle,
                have,
                total,
                last: now,
                longest,
                bytes,
            });
        } else if !self.merge(ctx, at, &handle, (from, to), more) {
            ctx.drop(handle, Reason::Fragment);
            return None;
        } else {
            let partial = &mut self.partials[at];
            (partial.last, partial.longest) = (now, partial.longest.max(longest));
            let stamp = ctx.pool()[&handle].timestamp();
            ctx.pool()[&partial.packet].set_timestamp(stamp);
            ctx.drop(handle, Reason::Consumed);
        }
        let partial = &self.partials[at];
        match (partial.total, partial.have.as_slice()) {
            (Some(total), [(0, end)]) if *end == total => Some(self.finish(ctx, at)),
            _ => None,
        }
    }

    /// Copies a fragment into its packet; whether it fits.
    fn merge(
        &mut self,
        ctx: &mut Ctx,
        at: usize,
        handle: &Handle,
        (from, to): (usize, usize),
        more: bool,
    ) -> bool {
        let partial = &mut self.partials[at];
        if partial.total.is_some_and(|total| to > total) {
            return false;
        }
        let source = &ctx.pool()[handle];
        let (data, annotations) = (source.transport_header().to_vec(), *source.annotations());
        let front_len = source.len() - data.len();
        let front = source.data()[..front_len].to_vec();
        let (mac, network) = (source.mac_header_at(), source.network_header_at());
        let packet = &mut ctx.pool()[&partial.packet];
        let missing = to.saturating_sub(packet.transport_header().len());
        if missing > 0 {
            packet.put(missing);
            partial.bytes += missing;
            self.kept_bytes += missing;
        }
        if let Some(place) = packet.transport_header_mut().get_mut(from..to) {
            place.copy_from_slice(&data);
        }
        add(&mut partial.have, (from, to));
        if !more {
            partial.total = Some(to);
        }
        if from == 0 {
            let body = usize::try_from(packet.transport_header_at().unwrap_or(0)).unwrap_or(0);
            packet.pull(body);
            packet.push(front_len).copy_from_slice(&front);
            packet.set_transport_header(front_len as isize);
            if let Some(network) = network {
                packet.set_network_header(network);
            }
            if let Some(mac) = mac {
                packet.set_mac_header(mac);
            }
            *packet.annotations_mut() = annotations;
        }
        true
    }

    /// Takes a whole packet out.
    fn finish(&mut self, ctx: &mut Ctx, at: usize) -> Handle {
        let partial = self.partials.remove(at);
        self.kept_bytes -= partial.bytes;
        self.good += 1;
        let packet = &mut ctx.pool()[&partial.packet];
        let total = packet.network_header().len() as u16;
        if let Some(ip) = header_mut(packet) {
            ip.total_length.set(total);
            let flags = ip.flags_fragment.get();
            ip.flags_fragment.set(flags & !(MF | OFFSET_MASK));
        }
        set_checksum(packet.network_header_mut());
        let annotations = packet.annotations_mut();
        if let Some(place) = self.mtu_anno.and_then(|at| annotations.get_mut(at..at + 2)) {
            place.copy_from_slice(&partial.longest.to_ne_bytes());
        }
        partial.packet
    }
}

impl Element for IpReassembler {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.most_bytes = args.uint("HIMEM") as usize;
        self.mtu_anno = args
            .opt_anno("MAX_MTU_ANNO")
            .map(|anno| usize::from(anno.offset));
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|handle| {
            let Some(ip) = header(&ctx.pool()[&handle]) else {
                ctx.drop(handle, Reason::TooShort);
                return None;
            };
            if !ip.is_fragment() {
                return Some(handle);
            }
            self.take(ctx, handle)
        });
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("dump", "r")]
    }

    fn read(&mut self, ctx: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        let counts = [
            ("frags seen total:    ", self.seen),
            ("good reassemblies:   ", self.good),
            ("failed reassemblies: ", self.failed),
            ("bad fragments seen:  ", self.bad),
        ];
        let counts: String = counts
            .iter()
            .map(|(what, count)| format!("{what}{count}\n"))
            .collect();
        let mut text = counts + "cached chunk data:\n";
        for partial in &self.partials {
            let (src, dst, _, identification) = partial.key;
            let ports = ctx.pool()[&partial.packet].transport_header();
            let [a, b, c, d] = ports.first_chunk::<4>().copied().unwrap_or_default();
            let [src, dst] = [src, dst].map(Ipv4Addr::from);
            let [sport, dport] = [[a, b], [c, d]].map(u16::from_be_bytes);
            write!(text, " ({src}, {sport}, {dst}, {dport}) {identification}")
                .expect("a string takes any text");
            for (from, to) in &partial.have {
                write!(text, " ({from},{to})").expect("a string takes any text");
            }
            text.push('\n');
        }
        Ok(text)
    }

    fn cleanup(&mut self, ctx: &mut Ctx) {
        for partial in self.partials.drain(..) {
            ctx.pool().free(partial.packet);
        }
        self.kept_bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::{Probe, udp};

    /// A packet and its fragments.
    fn cut() -> (Vec<u8>, Vec<Vec<u8>>) {
        let payload: Vec<u8> = (0..150).collect();
        let whole = udp(9, &payload);
        let left = Probe::new("IPFragmenter(60)", 1).send_ip(&whole);
        (
            whole,
            left.into_iter().map(|(_, fragment)| fragment).collect(),
        )
    }

    #[test]
    fn fragments_in_any_order_and_twice_become_the_packet() {
        let (whole, parts) = cut();
        assert!(parts.len() >= 4);
        for first in 0..parts.len() {
            let mut probe = Probe::new("IPReassembler", 2);
            let mut order: Vec<usize> = (0..parts.len()).collect();
            order.rotate_left(first);
            let (last, rest) = order.split_last().expect("there are some");
            for at in rest {
                assert_eq!(probe.send_ip(&parts[*at]), []);
                assert_eq!(probe.send_ip(&parts[*at]), []);
            }
            assert_eq!(
                probe.send_ip(&parts[*last]),
                [(0, whole.clone())],
                "from {first}"
            );
            assert_eq!(probe.held(), 0);
        }
    }

    #[test]
    fn what_waits_is_bounded_and_given_back() {
        let (_, parts) = cut();
        let mut probe = Probe::new("IPReassembler(HIMEM 1000)", 1);
        for id in 0..100 {
            let mut part = parts[1].clone();
            part[4] = id;
            probe.send_ip(&part);
        }
        assert!(probe.held() < 15);
        probe.run.ctx.cleanup();
        assert_eq!(probe.held(), 0);
    }

    #[test]
    fn what_is_kept_is_told() {
        let (_, parts) = cut();
        let mut probe = Probe::new("IPReassembler", 1);
        probe.send_ip(&parts[0]);
        probe.send_ip(&parts[2]);
        let text = probe.run.read("x.dump");
        let kept = "cached chunk data:\n (10.0.0.1, 1000, 10.0.0.2, 2000) 7 (0,40) (80,120)\n";
        assert!(text.ends_with(kept), "{text}");
    }

    #[test]
    fn lying_fragments_are_dropped() {
        let (_, parts) = cut();
        let mut probe = Probe::new("IPReassembler", 1);
        let mut odd = parts[0].clone();
        odd[3] -= 1;
        let mut far = parts[1].clone();
        (far[6], far[7]) = (0x3F, 0xFF);
        for packet in [&odd[..], &far[..], &parts[0][..30]] {
            assert_eq!(probe.send_ip(packet), []);
        }
        assert_eq!(probe.held(), 0);
        assert!(
            probe
                .run
                .read("x.dump")
                .contains("bad fragments seen:  3\n")
        );
    }
}
