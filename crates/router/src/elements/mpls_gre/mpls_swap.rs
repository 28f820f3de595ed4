//! Replaces the label of the uppermost MPLS entry.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> Strip(14) -> MPLSDecTTL -> MPLSSwap(17) -> Discard
//! ```
//!
//! # References
//! RFC 3031, §3.10.

use crate::args::{Args, Kind, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use crate::reason::Reason;
use trammel_packet::batch::Packets;
use trammel_packet::headers::mpls::Mpls;

/// The class.
pub static ENTRY: Entry = Entry::new("MPLSSwap", "replaces the MPLS label", || {
    Box::<MplsSwap>::default()
})
.references(&["RFC 3031", "RFC 3032"])
.params(&[mandatory(
    "LABEL",
    Kind::UInt { max: 0xF_FFFF },
    "the label that packets get",
)])
.ops("parse(4); deparse(4); work(25)");

#[derive(Debug, Default)]
struct MplsSwap {
    label: u32,
}

impl Element for MplsSwap {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.label = args.uint("LABEL") as u32;
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|h| {
            let Some(entry) = Mpls::read_mut(ctx.pool()[&h].data_mut()) else {
                ctx.drop(h, Reason::TooShort);
                return None;
            };
            entry.set_label(self.label);
            Some(h)
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::Probe;
    use trammel_packet::headers::mpls::Mpls;

    #[test]
    fn only_the_label_changes() {
        let mut x = Probe::new("MPLSSwap(0xFFFFF)", 1);
        let (old, new) = (Mpls::new(5, 3, true, 9), Mpls::new(0xF_FFFF, 3, true, 9));
        assert_eq!(x.send(old.bytes()), [(0, new.bytes().to_vec())]);
        assert_eq!(x.send(&old.bytes()[..3]), []);
        assert_eq!(x.held(), 0);
    }
}
