//! Passes packets unchanged from each input to the output of its number, but for ports switched
//! off.
//!
//! # What it does
//! Packets pushed to a port that is off end here; pulls from it give nothing. The handlers
//! `active0`, `active1`, … switch ports, `reset` switches all on.
//!
//! # Example
//! ```click
//! // `write s.active0 false` drops what comes by port 0.
//! s :: Suppressor;
//! FromDevice(eth0) -> [0] s; s[0] -> Queue -> ToDevice(eth1);
//! FromDevice(eth1) -> [1] s; s[1] -> Queue -> ToDevice(eth0)
//! ```

use crate::args::Args;
use crate::args::numbers::parse_bool;
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::reason::Reason;
use trammel_packet::batch::{Batch, Packets};

/// The class.
pub static ENTRY: Entry = Entry::new(
    "Suppressor",
    "passes packets except at disabled ports",
    || Box::<Suppressor>::default(),
)
.ports("-/=", "a/a")
.flow("#/#")
.ops("work(20 * calls)");

#[derive(Debug, Default)]
struct Suppressor {
    active: Vec<bool>,
}

impl Element for Suppressor {
    fn configure(&mut self, setup: &mut Setup, _: &Args) -> Result<(), Diagnostics> {
        self.active = vec![true; setup.inputs.len()];
        Ok(())
    }

    fn push(&mut self, ctx: &mut Ctx, port: usize, mut batch: Batch) {
        if !self.active[port] {
            ctx.drop_all(&mut batch, Reason::Inactive);
        }
        ctx.emit_all(port, batch);
    }

    fn pull(&mut self, ctx: &mut Ctx, port: usize, max: usize, into: &mut Packets) {
        if self.active[port] {
            ctx.pull(port, max, into);
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        let ports = (0..self.active.len()).map(|port| Handler::new(format!("active{port}"), "rwx"));
        ports.chain([Handler::new("reset", "wb")]).collect()
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        let port = name
            .strip_prefix("active")
            .and_then(|port| port.parse::<usize>().ok());
        let active = port.and_then(|port| self.active.get(port));
        active
            .map(bool::to_string)
            .ok_or_else(|| format!("no read handler '{name}'"))
    }

    fn write(&mut self, _: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        let port = name
            .strip_prefix("active")
            .and_then(|port| port.parse::<usize>().ok());
        match port.and_then(|port| self.active.get_mut(port)) {
            Some(active) => {
                *active = parse_bool(value.trim()).map_err(|_| "type mismatch".to_owned())?;
            }
            None => self.active.fill(true),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn a_port_that_is_off_passes_nothing() {
        let mut run = loaded(
            "i :: InfiniteSource(LIMIT 3) -> s :: Suppressor -> a :: Counter -> Discard;
             j :: InfiniteSource(LIMIT 3) -> [1] s [1] -> b :: Counter -> Discard;",
        );
        run.write("s.active1", "false").unwrap();
        run.run(0.1);
        assert_eq!(
            (run.read("a.count"), run.read("b.count")),
            ("3".into(), "0".into())
        );
        assert_eq!(
            (run.read("s.active1"), run.ctx.pool().in_use()),
            ("false".into(), 0)
        );
        run.write("s.reset", "").unwrap();
        assert_eq!(run.read("s.active1"), "true");
    }
}
