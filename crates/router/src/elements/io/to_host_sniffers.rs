//! Takes packets that were meant for the kernel's packet sniffers.
//!
//! # What it does
//! Packets end here, counted: a program has no way to show frames to the sniffers of an interface
//! without sending them. `ToDump` writes them to a capture file, which every sniffer reads.
//!
//! # Example
//! ```click
//! // What is sent was shown to sniffers too.
//! FromDevice(eth0) -> t :: Tee; t[0] -> Queue -> ToDevice(eth1); t[1] -> ToHostSniffers(eth0)
//! ```

use crate::args::{Args, Kind, keyword, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::reason::Reason;
use trammel_packet::batch::Batch;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "ToHostSniffers",
    "discards packets for the kernel's sniffers",
    || Box::<ToHostSniffers>::default(),
)
.ports("1/0", "h/h")
.params(&[
    positional(
        "DEVNAME",
        Kind::Text,
        "",
        "the interface that they seem to come from",
    ),
    keyword("TYPE", Kind::Word, "ETHER", "`ETHER` or `IP`"),
])
.ops("work(10)");

#[derive(Debug, Default)]
struct ToHostSniffers {
    count: u64,
}

impl Element for ToHostSniffers {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        if !matches!(args.text("TYPE"), "ETHER" | "IP") {
            return Err(Diagnostics::of("bad TYPE: expected ETHER or IP"));
        }
        let text = "no sniffer sees the packets: ToDump writes them to a file";
        setup.notes.push(text.to_owned());
        Ok(())
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, batch: Batch) {
        self.count += batch.len() as u64;
        let mut batch = batch;
        ctx.drop_all(&mut batch, Reason::Discarded);
        ctx.recycle(batch);
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("count", "r")]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        Ok(self.count.to_string())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{errors, loaded};

    #[test]
    fn packets_end_and_are_counted() {
        let mut run = loaded("InfiniteSource(LIMIT 7) -> x :: ToHostSniffers(eth0, TYPE IP)");
        run.run(0.1);
        assert_eq!(run.read("x.count"), "7");
        assert_eq!(run.ctx.pool().in_use(), 0);
        assert!(errors("Idle -> ToHostSniffers(TYPE PPP)").contains("bad TYPE"));
    }
}
