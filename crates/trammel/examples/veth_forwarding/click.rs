//! The router's engine with a Click configuration.

use crate::{Forwarder, failed, refused};
use trammel::driver::machine::Machine;
use trammel_io::error::Result;
use trammel_packet::timestamp::Timestamp;
use trammel_router::engine::{Ctx, Options};
use trammel_router::lang;
use trammel_router::{BuiltIn, load};

/// The engine.
pub(crate) struct Router(Option<Ctx>);

impl Router {
    pub(crate) fn new(config: &str) -> Result<Router> {
        let options = lang::Options {
            classes: Some(&BuiltIn),
            ..lang::Options::default()
        };
        let machine = Box::new(Machine::new().map_err(failed)?);
        let run = Options::default();
        let loaded = load(config, "config", &options, machine, run);
        let (ctx, _) = loaded.map_err(|refusal| refused(refusal.said.click()))?;
        Ok(Router(Some(ctx)))
    }

    fn read(&mut self, handler: &str) -> String {
        let Some(ctx) = &mut self.0 else {
            return String::new();
        };
        let Ok(found) = ctx.find_handler(handler, None) else {
            return String::new();
        };
        ctx.read_handler(&found, "").unwrap_or_default()
    }
}

impl Forwarder for Router {
    fn forward(&mut self, ns: i64) -> Result<bool> {
        if let Some(ctx) = &mut self.0 {
            let until = ctx.now() + Timestamp(ns);
            ctx.run_until(Some(until));
        }
        Ok(self.read("from.count") != "0")
    }

    fn end(&mut self) -> Vec<String> {
        let counts = [
            "from.count",
            "from.kernel_drops",
            "q.drops",
            "q.highwater_length",
        ]
        .map(|handler| format!("{handler} {}", self.read(handler)));
        if let Some(mut ctx) = self.0.take() {
            ctx.cleanup();
        }
        vec![counts.join(", ")]
    }
}

/// Device to device.
pub(crate) fn plain(method: &str) -> String {
    format!(
        "from :: FromDevice(in0, true, METHOD {method}) -> q :: Queue(2000) \
         -> ToDevice(out0, METHOD {method});"
    )
}

/// What the card does: the checks, 32 routes of which the frames match the last, a neighbour.
pub(crate) fn route(method: &str) -> String {
    let routes: String = (0..31).map(|n| format!("10.3.{n}.0/24 1, ")).collect();
    format!(
        "from :: FromDevice(in0, true, METHOD {method}) -> c :: Classifier(12/0800, -); c[1] -> \
         Discard; c -> Strip(14) -> CheckIPHeader -> rt :: RadixIPLookup({routes}10.2.0.0/16 0, \
         0.0.0.0/0 1); rt[1] -> Discard; rt[0] -> DropBroadcasts -> ttl :: DecIPTTL \
         -> fr :: IPFragmenter(1500) -> EtherEncap(0x0800, 2:0:0:0:0:1, 2:0:0:0:0:9) -> q :: \
         Queue(2000) -> ToDevice(out0, METHOD {method});"
    )
}
