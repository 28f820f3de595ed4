//! Passes pulled packets and pushes copies.
//!
//! # What it does
//! A packet pulled at output 0 is also pushed out by all other outputs.
//!
//! # Example
//! ```click
//! // What is sent is written to a file as well.
//! FromDevice(eth0) -> Queue -> t :: PullTee -> ToDevice(eth1); t[1] -> ToDump(b.pcap)
//! ```

use crate::args::kinds::UINT;
use crate::args::{Args, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("PullTee", "pushes copies of pulled packets", || {
    Box::<PullTee>::default()
})
.ports("1/1-", "l/lh")
.params(&[positional(
    "N",
    UINT,
    "",
    "the number of outputs, to be checked",
)])
.ops("copy((outputs - 1) * frame); work(200 * outputs - 200)");

#[derive(Debug, Default)]
struct PullTee;

impl Element for PullTee {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let outputs = setup.outputs.len();
        if args.opt_uint("N").is_some_and(|n| n != outputs as u64) {
            let text = format!("{outputs} outputs implies {outputs} arms");
            return Err(Diagnostics::of(text));
        }
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        for output in 1..ctx.outputs() {
            for packet in batch.iter() {
                if let Some(copy) = ctx.pool().duplicate(packet) {
                    ctx.emit(output, copy);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn what_is_pulled_is_copied() {
        let mut run = loaded(
            "InfiniteSource(LIMIT 3) -> t :: PullTee -> a :: Counter -> Discard; \
             t [1] -> b :: Counter -> Discard",
        );
        run.run(1.0);
        assert_eq!(
            (run.read("a.count"), run.read("b.count")),
            ("3".into(), "3".into())
        );
        assert_eq!(run.ctx.pool().in_use(), 0);
    }
}
