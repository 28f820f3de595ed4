//! Lets packets of one input pass, which a handler chooses.
//!
//! # What it does
//! Packets of the chosen input pass; those of the others end here.
//!
//! # Example
//! ```click
//! // Only one of two sources is heard; `write s.switch 1` changes to the other.
//! RatedSource(RATE 1) -> [0] s :: InputSwitch(0); RatedSource(RATE 2) -> [1] s; s -> Discard
//! ```

use crate::args::kinds::INT;
use crate::args::numbers::parse_int;
use crate::args::{Args, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::reason::Reason;
use trammel_packet::batch::Batch;

/// The class.
pub static ENTRY: Entry = Entry::new("InputSwitch", "passes packets of a chosen input", || {
    Box::<InputSwitch>::default()
})
.ports("-/1", "h/h")
.live()
.params(&[positional(
    "OUTPUT",
    INT,
    "0",
    "the port; a negative one is none",
)])
.ops("work(10 * calls)");

#[derive(Debug, Default)]
struct InputSwitch {
    /// `None`: none.
    port: Option<usize>,
}

impl Element for InputSwitch {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let port = args.int("OUTPUT");
        let count = setup.inputs.len();
        if port >= count as i64 {
            return Err(Diagnostics::of(format!("input must be < {count}")));
        }
        self.port = usize::try_from(port).ok();
        Ok(())
    }

    fn push(&mut self, ctx: &mut Ctx, input: usize, mut batch: Batch) {
        if self.port != Some(input) {
            ctx.drop_all(&mut batch, Reason::Inactive);
        }
        ctx.emit_all(0, batch);
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("switch", "rw"), Handler::new("config", "rw")]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        Ok(self.port.map_or("-1".to_owned(), |port| port.to_string()))
    }

    fn write(&mut self, ctx: &mut Ctx, _: &str, value: &str) -> Result<(), String> {
        let port = parse_int(value.trim(), i64::from(i32::MIN), i64::from(i32::MAX));
        let port = port.map_err(|_| "InputSwitch input must be integer".to_owned())?;
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
            "InfiniteSource(LIMIT 3, STOP true) -> [0] s :: InputSwitch(1) -> c :: Counter \
             -> Discard; Idle -> [1] s",
        );
        run.run(1.0);
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
