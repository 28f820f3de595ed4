//! Adds an entry to the MPLS label stack.
//!
//! # What it does
//! The data begin with an MPLS entry where `BOTTOM` is false, and with an IPv4 or IPv6 header
//! otherwise. Where `TTL` is not given it is copied from there, and the traffic class likewise
//! unless `TC` is given (the uniform model); with both given it is the pipe model.
//!
//! # Example
//! ```click
//! // Two labels, the inner one first.
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> MPLSPush(100) -> MPLSPush(16) -> Discard
//! ```
//!
//! # References
//! RFC 3032, §2.4; RFC 3443, §3; RFC 3270, §2.6.

use crate::args::kinds::U8;
use crate::args::{Args, Kind, flag, keyword, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use trammel_packet::batch::Packets;
use trammel_packet::headers::mpls::Mpls;

/// The class.
pub static ENTRY: Entry = Entry::new("MPLSPush", "adds an MPLS entry", || {
    Box::<MplsPush>::default()
})
.references(&["RFC 3032", "RFC 3443"])
.params(&[
    mandatory("LABEL", Kind::UInt { max: 0xF_FFFF }, "the label"),
    keyword(
        "TC",
        Kind::UInt { max: 7 },
        "",
        "the traffic class, unless it is copied",
    ),
    keyword("TTL", U8, "", "the time to live, unless it is copied"),
    flag(
        "BOTTOM",
        "true",
        "whether it is the last entry of the stack",
    ),
])
.ops("parse(9); deparse(4); work(50)");

/// Where neither is given and no header tells.
const USUAL_TTL: u8 = 64;

#[derive(Debug, Default)]
struct MplsPush {
    label: u32,
    class: Option<u8>,
    ttl: Option<u8>,
    is_bottom: bool,
}

/// Traffic class and time to live of what `data` begin with.
fn inner(data: &[u8], is_bottom: bool) -> Option<(u8, u8)> {
    if !is_bottom {
        return Mpls::read(data).map(|entry| (entry.traffic_class(), entry.ttl()));
    }
    match data.first()? >> 4 {
        // The class is the precedence: the first three bits of the type of service.
        4 => Some((data.get(1)? >> 5, *data.get(8)?)),
        6 => Some(((data[0] & 0xF) >> 1, *data.get(7)?)),
        _ => None,
    }
}

impl Element for MplsPush {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.label = args.uint("LABEL") as u32;
        self.class = args.opt_uint("TC").map(|class| class as u8);
        self.ttl = args.opt_uint("TTL").map(|ttl| ttl as u8);
        self.is_bottom = args.bool("BOTTOM");
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for packet in batch.iter() {
            let packet = &mut pool[packet];
            let (class, ttl) = inner(packet.data(), self.is_bottom).unwrap_or((0, USUAL_TTL));
            let (class, ttl) = (self.class.unwrap_or(class), self.ttl.unwrap_or(ttl));
            let entry = Mpls::new(self.label, class, self.is_bottom, ttl);
            packet.push(Mpls::LEN).copy_from_slice(entry.bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::{Probe, udp};
    use trammel_packet::headers::mpls::Mpls;

    #[test]
    fn class_and_time_to_live_are_copied_or_fixed() {
        let mut ip = udp(17, b"x");
        ip[1] = 0xB8;
        let mut uniform = Probe::new("MPLSPush(99)", 1);
        let once = uniform.send(&ip).remove(0).1;
        assert_eq!(once, [Mpls::new(99, 5, true, 17).bytes(), &ip].concat());
        let mut outer = Probe::new("MPLSPush(7, BOTTOM false)", 1);
        assert_eq!(
            outer.send(&once)[0].1[..4],
            *Mpls::new(7, 5, false, 17).bytes()
        );
        let mut pipe = Probe::new("MPLSPush(99, TC 1, TTL 255)", 1);
        assert_eq!(
            pipe.send(&ip)[0].1[..4],
            *Mpls::new(99, 1, true, 255).bytes()
        );
        assert_eq!(uniform.send(b"")[0].1, Mpls::new(99, 0, true, 64).bytes());
    }
}
