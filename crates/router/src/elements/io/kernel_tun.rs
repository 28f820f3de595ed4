//! An interface of the kernel whose other end is this router: IP packets.
//!
//! # What it does
//! Makes a TUN interface with the address `ADDR`. What the kernel sends by it comes out of output 0
//! with its IP header marked, and what is no IP out of output 1; what is pushed or pulled in is
//! what the kernel receives. `GATEWAY` makes a default route by that router. `KernelTap` is the
//! same for Ethernet frames.
//!
//! # Handlers
//! - `selected_calls`: how often the device was ready
//! - `packets`: packets that came
//!
//! # Example
//! ```click
//! // The kernel's pings to 10.0.0.0/24 are answered.
//! tun :: KernelTun(10.0.0.1/24, DEVNAME tun5); tun -> CheckIPHeader -> ICMPPingResponder -> tun
//! ```

use super::shared::kernel_interface::{KernelInterface, Kind, PARAMS};
use crate::args::Args;
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::batch::Batch;

/// The class.
pub static ENTRY: Entry = Entry::new("KernelTun", "exchanges IP packets with the kernel", || {
    Box::new(KernelTun(KernelInterface::new(Kind::Tun)))
})
.ports("0-1/1-2", "a/h")
.flow("x/y")
.params(PARAMS)
.ops("0.5 * driver(frame, 1); work(10)");

struct KernelTun(KernelInterface);

impl Element for KernelTun {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.0.configure(setup, args)
    }

    fn prepare(&mut self, ctx: &mut Ctx) {
        self.0.prepare(ctx);
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        self.0.initialize(ctx)
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, batch: Batch) {
        self.0.push(ctx, batch);
    }

    fn run_task(&mut self, ctx: &mut Ctx, token: u32) -> bool {
        self.0.run_task(ctx, token)
    }

    fn ready(&mut self, ctx: &mut Ctx, descriptor: i32) {
        self.0.ready(ctx, descriptor);
    }

    fn handlers(&self) -> Vec<Handler> {
        KernelInterface::handlers()
    }

    fn read(&mut self, ctx: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(self.0.read(ctx, name))
    }
}
