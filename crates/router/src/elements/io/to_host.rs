//! Gives Ethernet frames to this machine's kernel, by the interface of a `FromHost`.
//!
//! # What it does
//! What is pushed in is what the kernel receives by the interface `DEVNAME`, which a `FromHost` of the same name
//! has made. Frames too short or too long are dropped and counted.

use crate::args::{Args, Kind, Need, Param};
use crate::diagnostic::Diagnostics;
use crate::element::{Element, Handler, PHASE_LATE};
use crate::elements::Entry;
use crate::engine::Ctx;
use crate::engine::setup::Setup;
use crate::kernel_interface::{self, KernelInterface};
use trammel_packet::batch::Batch;

/// The class.
pub static ENTRY: Entry = Entry::new("ToHost", "Ethernet frames to the kernel", || {
    Box::new(ToHost(KernelInterface::new(kernel_interface::Kind::Tap)))
})
.ports("1/0", "h/h")
.phase(PHASE_LATE)
.params(&[Param {
    name: "DEVNAME",
    need: Need::Mandatory,
    kind: Kind::Text,
    default: "",
    help: "the interface",
}])
.ops("0.5 * driver(frame, 1); work(10)");

struct ToHost(KernelInterface);

impl Element for ToHost {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.0.wish.name = args.text("DEVNAME").to_owned();
        Ok(())
    }

    fn prepare(&mut self, ctx: &mut Ctx) {
        self.0.prepare(ctx);
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        if !self.0.is_open(ctx) {
            return Err(format!(
                "ToHost({}) requires an initialized FromHost with the same dev_name",
                self.0.wish.name
            ));
        }
        self.0.initialize(ctx)
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, batch: Batch) {
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
