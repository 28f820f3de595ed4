//! Pulls from one input, which a handler chooses; notifies nobody.
//!
//! # What it does
//! Pulls are passed on to the chosen input. Notifiers upstream are seen through it whatever is
//! chosen: `PullSwitch` tells those that wait.
//!
//! # Example
//! ```click
//! RatedSource -> Queue -> [0] s :: SimplePullSwitch(0); RatedSource -> Queue -> [1] s;
//! s -> Unqueue -> Discard
//! ```

use crate::args::kinds::INT;
use crate::args::numbers::parse_int;
use crate::args::{Args, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("SimplePullSwitch", "pulls from a chosen input", || {
    Box::<SimplePullSwitch>::default()
})
.ports("-/1", "l/l")
.live()
.params(&[positional(
    "INPUT",
    INT,
    "0",
    "the port; a negative one is none",
)])
.ops("work(10 * calls)");

#[derive(Debug, Default)]
struct SimplePullSwitch {
    /// `None`: none.
    port: Option<usize>,
}

impl Element for SimplePullSwitch {
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

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("switch", "rw"), Handler::new("config", "rw")]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        Ok(self.port.map_or("-1".to_owned(), |port| port.to_string()))
    }

    fn write(&mut self, ctx: &mut Ctx, _: &str, value: &str) -> Result<(), String> {
        let port = parse_int(value.trim(), i64::from(i32::MIN), i64::from(i32::MAX));
        let port = port.map_err(|_| "syntax error".to_owned())?;
        let count = ctx.inputs();
        self.port = usize::try_from(port).ok().filter(|port| *port < count);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn only_the_chosen_port_is_used() {
        let mut run = loaded(
            "InfiniteSource(LIMIT 3) -> [0] s :: SimplePullSwitch(1) -> c :: Counter -> Discard; \
             Idle -> [1] s",
        );
        // Who pulls never sleeps here.
        run.run(1e-5);
        assert_eq!(run.read("c.count"), "0");
        assert_eq!(run.ctx.pool().in_use(), 0);
        assert_eq!(
            (run.read("s.switch"), run.read("s.config")),
            ("1".into(), "1".into())
        );
        run.write("s.switch", "7").expect("an integer");
        assert_eq!(run.read("s.switch"), "-1");
        assert!(run.write("s.switch", "x").is_err());
    }
}
