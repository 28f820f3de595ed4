//! Restores stripped bytes at the front of packets.
//!
//! # Example
//! ```click
//! // The Ethernet header that was taken off is there again.
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> DecIPTTL -> Unstrip(14) -> Queue
//!     -> ToDevice(eth1)
//! ```

use crate::args::kinds::UINT;
use crate::args::packet_length::within_most;
use crate::args::{Args, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("Unstrip", "restores stripped bytes", || {
    Box::<Unstrip>::default()
})
.params(&[mandatory("LENGTH", UINT, "how many bytes")])
.ops("work(20)");

#[derive(Debug, Default)]
struct Unstrip {
    length: usize,
}

impl Element for Unstrip {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.length = within_most("LENGTH", args.uint("LENGTH"))?;
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for packet in batch.iter() {
            pool[packet].push(self.length);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::Probe;

    #[test]
    fn what_was_stripped_comes_back() {
        let mut probe = Probe::new("Unstrip(2)", 1);
        let left = probe.send_with(b"abcd", |packet| packet.pull(2));
        assert_eq!(left, [(0, b"abcd".to_vec())]);
    }
}
