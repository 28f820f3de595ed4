//! Sends packets to one fixed output.
//!
//! # What it does
//! As `Switch`, but the output cannot be changed, so that tools may remove what never runs.
//!
//! # Example
//! ```click
//! // The output is chosen when the configuration is written.
//! FromDevice(eth0) -> s :: StaticSwitch(1); s[0] -> Discard; s[1] -> Queue -> ToDevice(eth1)
//! ```

use crate::args::kinds::INT;
use crate::args::{Args, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use crate::reason::Reason;
use trammel_packet::batch::Batch;

/// The class.
pub static ENTRY: Entry = Entry::new("StaticSwitch", "sends packets to one fixed output", || {
    Box::<StaticSwitch>::default()
})
.ports("1/-", "h/h")
.params(&[mandatory("OUTPUT", INT, "the port; a negative one is none")])
.ops("work(10 * calls)");

#[derive(Debug, Default)]
struct StaticSwitch {
    /// `None`: none.
    port: Option<usize>,
}

impl Element for StaticSwitch {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let port = args.int("OUTPUT");
        let count = setup.outputs.len();
        self.port = usize::try_from(port).ok().filter(|port| *port < count);
        Ok(())
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, mut batch: Batch) {
        match self.port {
            Some(port) => ctx.emit_all(port, batch),
            None => {
                ctx.drop_all(&mut batch, Reason::Inactive);
                ctx.recycle(batch);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn only_the_chosen_port_is_used() {
        let mut run = loaded(
            "InfiniteSource(LIMIT 3, STOP true) -> s :: StaticSwitch(1) -> a :: Counter \
             -> Discard; s [1] -> c :: Counter -> Discard",
        );
        run.run(1.0);
        assert_eq!(run.read("c.count"), "3");
        assert_eq!(run.ctx.pool().in_use(), 0);
    }
}
