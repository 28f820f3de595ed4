//! Does in one step what an IP router does with packets before they leave.
//!
//! # What it does
//! DropBroadcasts, PaintTee (output 1), IPGWOptions (errors to output 2), FixIPSrc, DecIPTTL
//! (expired packets to output 3), and packets beyond the MTU to output 4, where an IPFragmenter
//! belongs.
//!
//! # Example
//! ```click
//! // All that a router does before a packet leaves; outputs 1 to 4 are for what cannot.
//! FromDevice(eth0) -> IPInputCombo(1) -> o :: IPOutputCombo(2, 10.0.0.1, 1500);
//! o[0] -> Discard; o[1] -> ICMPError(10.0.0.1, redirect, host) -> Discard;
//! o[2] -> ICMPError(10.0.0.1, parameterproblem) -> Discard;
//! o[3] -> ICMPError(10.0.0.1, timeexceeded) -> Discard;
//! o[4] -> ICMPError(10.0.0.1, unreachable, needfrag) -> Discard
//! ```

use super::shared::ip_options::{has_options, milliseconds_of_day, record};
use crate::args::kinds::{U8, UINT};
use crate::args::{Args, Kind, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use crate::headers::ip_packet::{decrement_ttl, fix_source, is_link_group};
use crate::reason::Reason;
use trammel_packet::anno;
use trammel_packet::batch::Batch;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "IPOutputCombo",
    "combines the usual output steps of an IP router",
    || Box::<IpOutputCombo>::default(),
)
.ports("1/5", "h/h")
.references(&["RFC 1812, §5.3"])
.params(&[
    mandatory(
        "COLOR",
        U8,
        "the paint of packets that came by this interface",
    ),
    mandatory("IPADDR", Kind::Ip, "the interface's address"),
    mandatory("MTU", UINT, "the most bytes of a packet"),
])
.ops("parse(1); decrease(1); parse(2); inc_checksum(2); deparse(3); work(80)");

#[derive(Debug, Default)]
struct IpOutputCombo {
    color: u8,
    address: [u8; 4],
    mtu: usize,
}

impl Element for IpOutputCombo {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.color = args.uint("COLOR") as u8;
        self.address = args.ip("IPADDR").octets();
        self.mtu = args.uint("MTU") as usize;
        Ok(())
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, mut batch: Batch) {
        let time = milliseconds_of_day(ctx.now());
        batch.filter(|handle| {
            let packet = &ctx.pool()[&handle];
            if is_link_group(packet) {
                ctx.drop(handle, Reason::NotForUs);
                return None;
            }
            if packet.anno_u8(anno::PAINT) == self.color
                && let Some(copy) = ctx.pool().duplicate(&handle)
            {
                ctx.emit(1, copy);
            }
            let packet = &mut ctx.pool()[&handle];
            if has_options(packet) {
                let own = [self.address];
                let done = record(packet.network_header_mut(), self.address, &own, time);
                if let Err(wrong) = done {
                    packet.set_anno_u8(anno::ICMP_PARAMPROB, wrong);
                    ctx.emit(2, handle);
                    return None;
                }
            }
            if packet.anno_u8(anno::FIX_IP_SRC) != 0 {
                fix_source(packet, self.address);
            }
            if !decrement_ttl(packet.network_header_mut()) {
                ctx.emit(3, handle);
                return None;
            }
            if packet.len() > self.mtu {
                ctx.emit(4, handle);
                return None;
            }
            Some(handle)
        });
        ctx.emit_all(0, batch);
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::{Probe, udp};
    use trammel_packet::anno;

    #[test]
    fn each_kind_of_packet_has_its_output() {
        let mut probe = Probe::new("IPOutputCombo(3, 10.9.9.9, 40)", 5);
        assert_eq!(probe.send_ip(&udp(9, b"")), [(0, udp(8, b""))]);
        assert_eq!(probe.send_ip(&udp(1, b"")), [(3, udp(1, b""))]);
        assert_eq!(probe.send_ip(&udp(9, &[0; 13]))[0].0, 4);
        let left = probe.send_with(&udp(9, b""), |packet| {
            crate::headers::ip_packet::mark(packet, 0);
            packet.set_anno_u8(anno::PAINT, 3);
        });
        assert_eq!(left, [(1, udp(9, b"")), (0, udp(8, b""))]);
        let mut wrong = udp(9, b"");
        wrong[0] = 0x46;
        wrong[20] = 7;
        assert_eq!(probe.send_ip(&wrong)[0].0, 2);
        assert_eq!(probe.held(), 0);
    }
}
