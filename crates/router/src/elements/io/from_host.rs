//! Ethernet frames that this machine's kernel sends by an interface made for it.
//!
//! # What it does
//! Makes the TAP interface `DEVNAME`, with the address `DST` where one is given; what the kernel
//! sends by it comes out. A `ToHost` of the same name gives it frames. `KernelTap` does both in
//! one.
//!
//! # Example
//! ```click
//! // An interface of the kernel, whose packets are discarded.
//! FromHost(fake0, 10.0.0.1/24) -> Discard; Idle -> ToHost(fake0)
//! ```

use super::shared::kernel_interface::{self, KernelInterface};
use crate::args::kinds::UINT;
use crate::args::{Args, Kind, Need, param};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};

/// The class.
pub static ENTRY: Entry = Entry::new(
    "FromHost",
    "receives Ethernet frames from the kernel",
    || Box::new(FromHost(KernelInterface::new(kernel_interface::Kind::Tap))),
)
.ports("0/1", "h/h")
.params(&[
    param("DEVNAME", Need::Mandatory, Kind::Text, "", "the interface"),
    param(
        "DST",
        Need::Positional,
        Kind::Prefix,
        "",
        "its address and network",
    ),
    param(
        "GATEWAY",
        Need::Keyword,
        Kind::Ip,
        "0.0.0.0",
        "the router of a default route",
    ),
    param(
        "ETHER",
        Need::Keyword,
        Kind::Ether,
        "",
        "its Ethernet address",
    ),
    param(
        "HEADROOM",
        Need::Keyword,
        UINT,
        "28",
        "accepted; there are 128 bytes before a frame",
    ),
    param("MTU", Need::Keyword, UINT, "1500", "the longest IP packet"),
])
.ops("0.5 * driver(frame, 1); work(10)");

struct FromHost(KernelInterface);

impl Element for FromHost {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let mut said = Diagnostics::new();
        let (near, gateway) = (args.opt_prefix("DST"), args.ip("GATEWAY"));
        let has_gateway = !gateway.is_unspecified();
        if let (Some(near), true) = (near, has_gateway) {
            let network = |one: std::net::Ipv4Addr| u32::from(one) & u32::from(near.mask);
            if network(gateway) != network(near.address) {
                said.error(None, "bad GATEWAY");
            }
        }
        if args.text("DEVNAME").is_empty() {
            said.error(None, "must specify device name");
        }
        if args.uint("HEADROOM") > 8192 {
            said.error(None, "HEADROOM too large");
        }
        if said.has_errors() {
            return Err(said);
        }
        let wish = &mut self.0.wish;
        wish.name = args.text("DEVNAME").to_owned();
        wish.address = near.map(|near| near.to_string());
        let mut option = |key: &str, value: String| wish.options.push((key.to_owned(), value));
        option("MTU", args.uint("MTU").to_string());
        if let Some(mac) = args.opt_ether("ETHER") {
            option("ETHER", mac.to_string());
        }
        if has_gateway {
            option("GATEWAY", gateway.to_string());
        }
        Ok(())
    }

    fn prepare(&mut self, ctx: &mut Ctx) {
        self.0.prepare(ctx);
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        self.0.initialize(ctx)
    }

    fn run_task(&mut self, ctx: &mut Ctx, token: u32) -> bool {
        self.0.run_task(ctx, token)
    }

    fn ready(&mut self, ctx: &mut Ctx, descriptor: i32) {
        self.0.ready(ctx, descriptor);
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("dev_name", "r")]
    }

    fn read(&mut self, ctx: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(self.0.read(ctx, name))
    }
}
