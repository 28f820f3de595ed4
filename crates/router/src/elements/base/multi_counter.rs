//! Counts packets and bytes of each input.
//!
//! # What it does
//! What comes by an input leaves by the output of its number. The handlers `count`, `byte_count`,
//! `rate` and `byte_rate` tell the values of the inputs with commas between them.
//!
//! # Example
//! ```click
//! // One element counts both ways.
//! c :: MultiCounter;
//! FromDevice(eth0) -> [0] c; c[0] -> Queue -> ToDevice(eth1);
//! FromDevice(eth1) -> [1] c; c[1] -> Queue -> ToDevice(eth0)
//! ```

use crate::args::Args;
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::rates::rate::Rate;
use trammel_packet::batch::Batch;

/// The class.
pub static ENTRY: Entry = Entry::new("MultiCounter", "counts packets of each input", || {
    Box::<MultiCounter>::default()
})
.references(&["Barbette et al. 2015, Fast userspace packet processing"])
.ports("1-/=", "h/h")
.flow("#/#")
.ops("work(13)");

#[derive(Debug)]
struct Count {
    packets: u64,
    bytes: u64,
    rate: Rate,
    byte_rate: Rate,
}

impl Count {
    fn new() -> Count {
        Count {
            packets: 0,
            bytes: 0,
            rate: Rate::new(10),
            byte_rate: Rate::new(4),
        }
    }
}

#[derive(Debug, Default)]
struct MultiCounter {
    counts: Vec<Count>,
}

impl Element for MultiCounter {
    fn configure(&mut self, setup: &mut Setup, _: &Args) -> Result<(), Diagnostics> {
        self.counts = setup.inputs.iter().map(|_| Count::new()).collect();
        Ok(())
    }

    fn push(&mut self, ctx: &mut Ctx, port: usize, batch: Batch) {
        let now = ctx.now();
        if let Some(count) = self.counts.get_mut(port) {
            let pool = ctx.pool();
            let bytes = batch.iter().map(|p| pool[p].len() as u64).sum::<u64>();
            count.packets += batch.len() as u64;
            count.bytes += bytes;
            count.rate.add(now, batch.len() as u64);
            count.byte_rate.add(now, bytes);
        }
        ctx.emit_all(port, batch);
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![
            Handler::new("count", "r"),
            Handler::new("byte_count", "r"),
            Handler::new("rate", "r"),
            Handler::new("byte_rate", "r"),
            Handler::new("reset_counts", "wb"),
        ]
    }

    fn read(&mut self, ctx: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        let now = ctx.now();
        let each = self.counts.iter_mut().map(|count| match name {
            "count" => count.packets.to_string(),
            "byte_count" => count.bytes.to_string(),
            "rate" => count.rate.text(now, 0),
            _ => count.byte_rate.text(now, 0),
        });
        Ok(each.collect::<Vec<_>>().join(","))
    }

    fn write(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<(), String> {
        self.counts
            .iter_mut()
            .for_each(|count| *count = Count::new());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn each_input_is_counted_apart() {
        let mut run = loaded(
            "InfiniteSource(abcd, LIMIT 3) -> c :: MultiCounter -> a :: Counter -> Discard; \
             InfiniteSource(ab, LIMIT 5) -> [1] c [1] -> b :: Counter -> Discard",
        );
        run.run(0.1);
        assert_eq!(run.read("c.count"), "3,5");
        assert_eq!(run.read("c.byte_count"), "12,10");
        assert_eq!(
            (run.read("a.count"), run.read("b.count")),
            ("3".into(), "5".into())
        );
        run.write("c.reset_counts", "").expect("it can be written");
        assert_eq!(run.read("c.count"), "0,0");
    }
}
