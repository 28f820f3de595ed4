//! Shows the notifier signal at its place.
//!
//! # What it does
//! Packets pass unchanged. The handler `signal` names the notifiers whose bits the signal joins; a
//! star stands where it is on.
//!
//! # Example
//! ```click
//! // Tells what the notifiers at its place say.
//! RatedSource(RATE 10) -> Queue -> n :: NotifierDebug -> Unqueue -> Discard;
//! Script(wait 1s, print n.signal, stop)
//! ```

use crate::args::Args;
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::notify::Signal;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::graph::processing::Mode;

/// The class.
pub static ENTRY: Entry = Entry::new("NotifierDebug", "shows a notifier signal", || {
    Box::<NotifierDebug>::default()
})
.ops("work(0)");

#[derive(Debug, Default)]
struct NotifierDebug {
    pulls: bool,
    signal: Option<Signal>,
}

impl Element for NotifierDebug {
    fn configure(&mut self, setup: &mut Setup, _: &Args) -> Result<(), Diagnostics> {
        self.pulls = setup.inputs[0] == Mode::Pull;
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        self.signal = Some(if self.pulls {
            ctx.upstream_signal(0, None)
        } else {
            ctx.downstream_signal(0, None)
        });
        Ok(())
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("signal", "r")]
    }

    fn read(&mut self, ctx: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        let Some(signal) = &self.signal else {
            return Ok("uninitialized".to_owned());
        };
        Ok(ctx.notifiers().unparse(signal))
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn the_signal_is_that_of_the_notifiers_beyond() {
        let mut run = loaded(
            "InfiniteSource(LIMIT 1) -> n :: NotifierDebug -> Discard; \
             s :: InfiniteSource(LIMIT 1) \
             -> m :: NotifierDebug -> PullNull -> d :: Discard",
        );
        assert_eq!(run.read("n.signal"), "busy*");
        assert_eq!(run.read("m.signal"), "empty.0/1:1*");
        run.run(0.1);
        assert_eq!(run.read("m.signal"), "empty.0/1:0");
    }
}
