//! Gives Ethernet frames to this machine's kernel, by the interface of a `FromHost`.
//!
//! # What it does
//! What is pushed in is what the kernel receives by the interface `DEVNAME`, which a `FromHost` of
//! the same name has made. Frames too short or too long are dropped and counted.
//!
//! Without `DEVNAME` packets end here and are counted, which a note says: a module of the kernel
//! could give them to the kernel as if their own interface had received them, a program cannot. By
//! packet sockets (`FromDevice` with METHOD afpacket) the kernel has received the frames as well.
//!
//! # Example
//! ```click
//! // The kernel gets what comes by an interface, as if by fake0.
//! FromHost(fake0, 10.0.0.1/24) -> Discard; FromDevice(eth0) -> ToHost(fake0)
//! ```

use super::shared::kernel_interface::{self, KernelInterface};
use crate::args::{Args, Kind, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::element::PHASE_LATE;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::reason::Reason;
use trammel_packet::batch::Batch;

/// The class.
pub static ENTRY: Entry = Entry::new("ToHost", "sends Ethernet frames to the kernel", || {
    Box::new(ToHost(KernelInterface::new(kernel_interface::Kind::Tap)))
})
.ports("1/0", "h/h")
.phase(PHASE_LATE)
.params(&[positional(
    "DEVNAME",
    Kind::Text,
    "",
    "the interface; without it packets end here",
)])
.ops("0.5 * driver(frame, 1); work(10)");

struct ToHost(KernelInterface);

impl ToHost {
    fn is_nameless(&self) -> bool {
        self.0.wish.name.is_empty()
    }
}

impl Element for ToHost {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.0.wish.name = args.text("DEVNAME").to_owned();
        if self.is_nameless() {
            let text =
                "packets end here: name the interface of a FromHost to give them to the kernel";
            setup.notes.push(text.to_owned());
        }
        Ok(())
    }

    fn prepare(&mut self, ctx: &mut Ctx) {
        if !self.is_nameless() {
            self.0.prepare(ctx);
        }
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        if self.is_nameless() {
            return Ok(());
        }
        if !self.0.is_open(ctx) {
            return Err(format!(
                "ToHost({}) requires an initialized FromHost with the same dev_name",
                self.0.wish.name
            ));
        }
        self.0.initialize(ctx)
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, mut batch: Batch) {
        if self.is_nameless() {
            ctx.drop_all(&mut batch, Reason::Discarded);
            ctx.recycle(batch);
            return;
        }
        self.0.push(ctx, batch);
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("dev_name", "r"), Handler::new("drops", "r")]
    }

    fn read(&mut self, ctx: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "drops" => ctx.counters(ctx.me()).drops.iter().sum::<u64>().to_string(),
            _ => self.0.read(ctx, name),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{errors, loaded};

    #[test]
    fn without_an_interface_packets_end_and_are_counted() {
        let mut run = loaded("InfiniteSource(LIMIT 7) -> x :: ToHost");
        run.run(0.1);
        assert_eq!(
            (run.read("x.drops"), run.ctx.pool().in_use()),
            ("7".into(), 0)
        );
        let said = errors("Idle -> ToHost(tap7)");
        assert!(said.contains("requires an initialized FromHost"), "{said}");
    }
}
