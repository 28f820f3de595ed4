//! Counts packets and bytes that pass.
//!
//! # What it does
//! Every packet passes unchanged. The rate is an exponentially weighted moving average over the last
//! seconds.

use crate::element::Element;
use crate::element::Handler;
use crate::elements::Entry;
use crate::engine::Ctx;
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("Counter", "counts packets and bytes", || {
    Box::<Counter>::default()
});

#[derive(Debug, Default)]
struct Counter {
    packets: u64,
    bytes: u64,
}

impl Element for Counter {
    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        self.packets += batch.len() as u64;
        self.bytes += batch.iter().map(|p| pool[p].len() as u64).sum::<u64>();
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![
            Handler::new("count", "r"),
            Handler::new("byte_count", "r"),
            Handler::new("reset", "wb"),
        ]
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "count" => self.packets.to_string(),
            _ => self.bytes.to_string(),
        })
    }

    fn write(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<(), String> {
        (self.packets, self.bytes) = (0, 0);
        Ok(())
    }
}
