//! Removes the top entry of the MPLS label stack.
//!
//! # What it does
//! Where the entry was the last, packets leave output 0, otherwise output 1 if there is one and
//! output 0 if not. In the `UNIFORM` model the time to live goes to the header below, if it is less
//! than the one there.
//!
//! # Example
//! ```click
//! // The last label comes off; a packet with more leaves by output 1.
//! FromDevice(eth0) -> Strip(14) -> p :: MPLSPop -> CheckIPHeader -> Discard; p[1] -> Discard
//! ```
//!
//! # References
//! RFC 3032, §2.4.3; RFC 3443, §3.

use crate::args::{Args, flag};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use crate::headers::ip_packet;
use crate::reason::Reason;
use trammel_packet::batch::Packets;
use trammel_packet::headers::mpls::Mpls;

/// The class.
pub static ENTRY: Entry = Entry::new("MPLSPop", "removes the top MPLS entry", || {
    Box::<MplsPop>::default()
})
.ports("1/1-2", "a/ah")
.references(&["RFC 3032", "RFC 3443"])
.params(&[flag(
    "UNIFORM",
    "false",
    "whether the time to live goes to the header below",
)])
.ops("parse(4); work(30)");

#[derive(Debug, Default)]
struct MplsPop {
    uniform: bool,
}

/// Lowers the time to live of what `data` begin with to `ttl`.
fn lower_ttl(data: &mut [u8], ttl: u8, is_bottom: bool) {
    if !is_bottom {
        if let Some(entry) = Mpls::read_mut(data) {
            entry.set_ttl(entry.ttl().min(ttl));
        }
        return;
    }
    match data.first().map(|byte| byte >> 4) {
        Some(4) if data.len() >= 20 && data[8] > ttl => {
            ip_packet::replace_word(data, 8, [ttl, data[9]]);
        }
        Some(6) if data.len() >= 40 => data[7] = data[7].min(ttl),
        _ => {}
    }
}

impl Element for MplsPop {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.uniform = args.bool("UNIFORM");
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|h| {
            let packet = &mut ctx.pool()[&h];
            let Some(entry) = Mpls::read(packet.data()).copied() else {
                ctx.drop(h, Reason::TooShort);
                return None;
            };
            packet.pull(Mpls::LEN);
            if self.uniform {
                lower_ttl(packet.data_mut(), entry.ttl(), entry.is_bottom());
            }
            if !entry.is_bottom() && ctx.outputs() > 1 {
                ctx.emit(1, h);
                return None;
            }
            Some(h)
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::{Probe, udp};
    use trammel_packet::headers::{checksum::checksum, mpls::Mpls};

    #[test]
    fn the_last_entry_leaves_apart_from_the_others() {
        let (ip, inner) = (udp(17, b"x"), Mpls::new(5, 0, true, 9));
        let one = [inner.bytes(), &ip].concat();
        let two = [Mpls::new(6, 0, false, 3).bytes(), &one].concat();
        let mut pipe = Probe::new("MPLSPop", 2);
        assert_eq!(pipe.send(&two), [(1, one.clone())]);
        assert_eq!(pipe.send(&one), [(0, ip.clone())]);
        assert_eq!(pipe.send(&one[..3]), []);
        let mut uniform = Probe::new("MPLSPop(UNIFORM true)", 1);
        let lowered = [Mpls::new(5, 0, true, 3).bytes(), &ip].concat();
        assert_eq!(uniform.send(&two), [(0, lowered)]);
        let out = uniform.send(&one).remove(0).1;
        assert_eq!((out[8], checksum(&out[..20])), (9, 0));
        assert_eq!(uniform.held(), 0);
    }
}
