//! Sends packets to one output, which a handler chooses.
//!
//! # What it does
//! Packets leave by the output that was configured or written to `switch`; with a negative one they
//! end here.
//!
//! # Example
//! ```click
//! // `write s.switch 1` sends packets the other way, `write s.switch -1` drops them.
//! FromDevice(eth0) -> s :: Switch(0); s[0] -> Queue -> ToDevice(eth1); s[1] -> Discard
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
pub static ENTRY: Entry = Entry::new("Switch", "sends packets to a chosen output", || {
    Box::<Switch>::default()
})
.ports("1/-", "h/h")
.live()
.params(&[positional(
    "OUTPUT",
    INT,
    "0",
    "the port; a negative one is none",
)])
.ops("work(10 * calls)");

/// The call that gives the chosen output, as 32 bits.
const GET_SWITCH: u32 = 0x4004_c005;
/// The call that chooses it.
const SET_SWITCH: u32 = 0x8004_4006;

#[derive(Debug, Default)]
struct Switch {
    /// `None`: none.
    port: Option<usize>,
}

impl Element for Switch {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let port = args.int("OUTPUT");
        let count = setup.outputs.len();
        if port >= count as i64 {
            return Err(Diagnostics::of(format!("output must be < {count}")));
        }
        self.port = usize::try_from(port).ok();
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

    fn call_by_number(
        &mut self,
        ctx: &mut Ctx,
        number: u32,
        data: &[u8],
    ) -> Result<Vec<u8>, String> {
        match (number, <[u8; 4]>::try_from(data)) {
            (GET_SWITCH, _) => {
                let port = self.port.map_or(-1, |port| port as i32);
                Ok(port.to_ne_bytes().to_vec())
            }
            (SET_SWITCH, Ok(port)) => {
                self.write(ctx, "switch", &i32::from_ne_bytes(port).to_string())?;
                Ok(Vec::new())
            }
            _ => Err(format!("no call {number:#x}")),
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
        let port = port.map_err(|_| "Switch output must be integer".to_owned())?;
        let count = ctx.outputs();
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
            "InfiniteSource(LIMIT 3, STOP true) -> s :: Switch(1) -> a :: Counter -> Discard; \
             s [1] -> c :: Counter -> Discard",
        );
        run.run(1.0);
        assert_eq!(run.read("c.count"), "3");
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
