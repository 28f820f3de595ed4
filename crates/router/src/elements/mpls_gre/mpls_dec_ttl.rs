//! Decrements the time to live of the top MPLS entry.
//!
//! # What it does
//! A packet whose time is over leaves output 1, or ends, as it was.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> Strip(14) -> MPLSDecTTL -> MPLSSwap(17) -> Discard
//! ```
//!
//! # References
//! RFC 3032, §2.4.2; RFC 3443.

use crate::elements::Entry;
use crate::engine::{Ctx, Element};
use crate::reason::Reason;
use trammel_packet::batch::Packets;
use trammel_packet::headers::mpls::Mpls;

/// The class.
pub static ENTRY: Entry = Entry::new("MPLSDecTTL", "decrements the MPLS time to live", || {
    Box::new(MplsDecTtl)
})
.ports("1/1-2", "a/ah")
.references(&["RFC 3032", "RFC 3443"])
.ops("parse(4); decrease(1); deparse(4); work(30)");

#[derive(Debug)]
struct MplsDecTtl;

impl Element for MplsDecTtl {
    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|h| {
            let Some(entry) = Mpls::read_mut(ctx.pool()[&h].data_mut()) else {
                ctx.reject(1, h, Reason::TooShort);
                return None;
            };
            let ttl = entry.ttl();
            if ttl <= 1 {
                ctx.reject(1, h, Reason::TtlExpired);
                return None;
            }
            entry.set_ttl(ttl - 1);
            Some(h)
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::Probe;
    use trammel_packet::headers::mpls::Mpls;

    #[test]
    fn what_is_over_leaves_apart() {
        let mut x = Probe::new("MPLSDecTTL", 2);
        let entry = |ttl| Mpls::new(5, 3, true, ttl).bytes().to_vec();
        assert_eq!(x.send(&entry(2)), [(0, entry(1))]);
        for ttl in [0, 1] {
            assert_eq!(x.send(&entry(ttl)), [(1, entry(ttl))]);
        }
        assert_eq!(x.send(b"abc")[0].0, 1);
    }
}
