//! Pulls from one fixed input.
//!
//! # What it does
//! As `PullSwitch`, but the input cannot be changed.
//!
//! # Example
//! ```click
//! // The input is chosen when the configuration is written.
//! RatedSource -> Queue -> [0] s :: StaticPullSwitch(1); RatedSource -> Queue -> [1] s;
//! s -> Unqueue -> Discard
//! ```

use crate::args::kinds::INT;
use crate::args::{Args, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("StaticPullSwitch", "pulls from one fixed input", || {
    Box::<StaticPullSwitch>::default()
})
.ports("-/1", "l/l")
.params(&[mandatory("INPUT", INT, "the port; a negative one is none")])
.ops("work(10 * calls)");

#[derive(Debug, Default)]
struct StaticPullSwitch {
    /// `None`: none.
    port: Option<usize>,
}

impl Element for StaticPullSwitch {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let port = args.int("INPUT");
        let count = setup.inputs.len();
        self.port = usize::try_from(port).ok().filter(|port| *port < count);
        Ok(())
    }

    fn pull(&mut self, ctx: &mut Ctx, _: usize, max: usize, into: &mut Packets) {
        if let Some(port) = self.port {
            ctx.pull(port, max, into);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn only_the_chosen_port_is_used() {
        let mut run = loaded(
            "InfiniteSource(LIMIT 3) -> [0] s :: StaticPullSwitch(1) -> c :: Counter -> Discard; \
             Idle -> [1] s",
        );
        run.run(1.0);
        assert_eq!(run.read("c.count"), "0");
        assert_eq!(run.ctx.pool().in_use(), 0);
    }
}
