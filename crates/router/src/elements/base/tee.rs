//! Copies packets to all outputs.
//!
//! # What it does
//! Each packet that is pushed in leaves by every output.
//!
//! # Example
//! ```click
//! // Each packet is sent and written to a file.
//! FromDevice(eth0) -> t :: Tee; t[0] -> Queue -> ToDevice(eth1); t[1] -> ToDump(b.pcap)
//! ```

use super::shared::copies::to_all;
use crate::args::kinds::UINT;
use crate::args::{Args, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use trammel_packet::batch::Batch;

/// The class.
pub static ENTRY: Entry = Entry::new("Tee", "copies packets to all outputs", || {
    Box::<Tee>::default()
})
.ports("1/1-", "h/h")
.params(&[positional(
    "N",
    UINT,
    "",
    "the number of outputs, to be checked",
)])
.ops("copy((outputs - 1) * frame); work(200 * outputs - 120)");

#[derive(Debug, Default)]
struct Tee;

impl Element for Tee {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let outputs = setup.outputs.len();
        if args.opt_uint("N").is_some_and(|n| n != outputs as u64) {
            let text = format!("{outputs} outputs implies {outputs} arms");
            return Err(Diagnostics::of(text));
        }
        Ok(())
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, mut batch: Batch) {
        for packet in batch.drain() {
            to_all(ctx, packet, |_| true);
        }
        ctx.recycle(batch);
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{errors, loaded};

    #[test]
    fn each_output_has_each_packet() {
        let mut run = loaded(
            "InfiniteSource(LIMIT 3, STOP true) -> t :: Tee(3) -> a :: Counter -> Discard; \
             t [1] -> Discard; t [2] -> b :: Counter -> Discard",
        );
        run.run(1.0);
        assert_eq!(
            (run.read("a.count"), run.read("b.count")),
            ("3".into(), "3".into())
        );
        assert_eq!(run.ctx.pool().in_use(), 0);
        assert!(errors("Idle -> Tee(2) -> Idle").contains("1 outputs implies 1 arms"));
    }
}
