//! Sends packets by the sum of some of their bytes.
//!
//! # What it does
//! Packets whose `LENGTH` bytes from `OFFSET` are the same leave by the same output; those too short for it
//! by output 0.

use crate::args::kinds::UINT;
use crate::args::{Args, Need, Param};
use crate::diagnostic::Diagnostics;
use crate::element::Element;
use crate::elements::Entry;
use crate::engine::Ctx;
use crate::engine::setup::Setup;
use trammel_packet::batch::Batch;

/// The class.
pub static ENTRY: Entry = Entry::new("HashSwitch", "sends packets by a hash of bytes", || {
    Box::<HashSwitch>::default()
})
.ports("1/1-", "h/h")
.params(&[
    Param {
        name: "OFFSET",
        need: Need::Mandatory,
        kind: UINT,
        default: "",
        help: "the first byte",
    },
    Param {
        name: "LENGTH",
        need: Need::Mandatory,
        kind: UINT,
        default: "",
        help: "how many bytes",
    },
])
.ops("parse(length); work(2 * length + 100)");

#[derive(Debug, Default)]
struct HashSwitch {
    offset: usize,
    length: usize,
}

impl Element for HashSwitch {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.offset = args.uint("OFFSET") as usize;
        self.length = args.uint("LENGTH") as usize;
        if self.length == 0 {
            return Err(Diagnostics::of("length must be > 0"));
        }
        Ok(())
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, mut batch: Batch) {
        let outputs = ctx.outputs();
        let end = self.offset.saturating_add(self.length);
        for packet in batch.drain() {
            let bytes = ctx.pool()[&packet].data().get(self.offset..end);
            let sum = bytes
                .unwrap_or(&[])
                .iter()
                .map(|b| usize::from(*b))
                .sum::<usize>();
            let output = match outputs {
                _ if bytes.is_none() => 0,
                2 | 4 | 8 => (sum ^ (sum >> 4)) & (outputs - 1),
                _ => sum % outputs,
            };
            ctx.emit(output, packet);
        }
        ctx.recycle(batch);
    }

    fn quantities(&self) -> Vec<(&'static str, f64)> {
        vec![("length", self.length as f64)]
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn equal_bytes_go_the_same_way() {
        let mut run = loaded(
            "InfiniteSource(\\<00 11>, LIMIT 3, STOP true) -> s :: HashSwitch(1, 1) -> a :: Counter -> Discard; \
             InfiniteSource(\\<00>, LIMIT 2) -> s; \
             s [1] -> b :: Counter -> Discard; s [2] -> c :: Counter -> Discard",
        );
        run.run(1.0);
        assert_eq!(
            (
                run.read("a.count"),
                run.read("b.count"),
                run.read("c.count")
            ),
            ("2".into(), "0".into(), "3".into())
        );
    }
}
