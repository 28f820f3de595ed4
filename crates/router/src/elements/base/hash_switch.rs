//! Chooses the output by a hash of some bytes.
//!
//! # What it does
//! Packets whose `LENGTH` bytes from `OFFSET` are the same leave by the same output; those too
//! short for it by output 0.
//!
//! # Example
//! ```click
//! // Packets of one source address always leave by the same output.
//! FromDevice(eth0) -> h :: HashSwitch(26, 4);
//! h[0] -> Queue -> ToDevice(eth1); h[1] -> Discard
//! ```

use crate::args::kinds::UINT;
use crate::args::{Args, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::study::Study;
use crate::engine::{Ctx, Element, NOWHERE};
use crate::reason::Reason;
use trammel_packet::batch::{Batch, CAPACITY, Packets};
use trammel_packet::pool::Pool;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "HashSwitch",
    "chooses the output by a hash of bytes",
    || Box::<HashSwitch>::default(),
)
.ports("1/1-", "h/h")
.params(&[
    mandatory("OFFSET", UINT, "the first byte"),
    mandatory("LENGTH", UINT, "how many bytes"),
])
.ops("parse(length); work(2 * length + 33 + 28 * ways)");

#[derive(Debug, Default)]
struct HashSwitch {
    offset: usize,
    length: usize,
    outputs: usize,
}

impl Element for HashSwitch {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.offset = args.uint("OFFSET") as usize;
        self.length = args.uint("LENGTH") as usize;
        self.outputs = setup.outputs.len();
        if self.length == 0 {
            return Err(Diagnostics::of("length must be > 0"));
        }
        Ok(())
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, batch: Batch) {
        let ways = self.ways(ctx.pool(), &batch);
        ctx.part(batch, &ways, Reason::NoPort);
    }

    fn study(&self, pool: &Pool, batch: &Packets, study: &mut Study) {
        study.ways(&self.ways(pool, batch)[..batch.len()]);
    }

    fn quantities(&self) -> Vec<(&'static str, f64)> {
        vec![("length", self.length as f64), ("ways", 0.0)]
    }
}

impl HashSwitch {
    /// The outputs of packets, by the sum of their bytes.
    #[inline]
    fn ways(&self, pool: &Pool, batch: &Packets) -> [u32; CAPACITY] {
        let end = self.offset.saturating_add(self.length);
        let mut ways = [NOWHERE; CAPACITY];
        for (packet, way) in batch.iter().zip(&mut ways) {
            let bytes = pool[packet].data().get(self.offset..end);
            let each = bytes.unwrap_or(&[]).iter();
            let sum: usize = each.map(|b| usize::from(*b)).sum();
            let output = match self.outputs {
                _ if bytes.is_none() => 0,
                2 | 4 | 8 => (sum ^ (sum >> 4)) & (self.outputs - 1),
                _ => sum % self.outputs,
            };
            *way = output as u32;
        }
        ways
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn equal_bytes_go_the_same_way() {
        let mut run = loaded(
            "InfiniteSource(\\<00 11>, LIMIT 3, STOP true) -> s :: HashSwitch(1, 1) \
             -> a :: Counter -> Discard; \
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
