//! Strips bytes from the front of packets.
//!
//! # Example
//! ```click
//! // The Ethernet header is taken off.
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> Discard
//! ```

use crate::args::kinds::UINT;
use crate::args::{Args, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("Strip", "strips bytes from the front", || {
    Box::<Strip>::default()
})
.params(&[mandatory("LENGTH", UINT, "how many bytes")])
.ops("work(17)");

#[derive(Debug, Default)]
struct Strip {
    length: usize,
}

impl Element for Strip {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.length = args.uint("LENGTH") as usize;
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for packet in batch.iter() {
            pool[packet].pull(self.length);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::Probe;

    #[test]
    fn takes_what_is_there() {
        assert_eq!(
            Probe::new("Strip(2)", 1).send(b"abcd"),
            [(0, b"cd".to_vec())]
        );
        assert_eq!(Probe::new("Strip(9)", 1).send(b"abcd"), [(0, Vec::new())]);
    }
}
