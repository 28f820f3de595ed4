//! Pulls from one input, which a handler chooses, and tells who waits.
//!
//! # What it does
//! Pulls are passed on to the chosen input. Its own notifier is on while that input may have
//! packets, and comes on when another input is chosen that has.
//!
//! # Example
//! ```click
//! // One of two queues is asked; `write s.switch 1` changes to the other.
//! RatedSource -> Queue -> [0] s :: PullSwitch(0); RatedSource -> Queue -> [1] s;
//! s -> Unqueue -> Discard
//! ```

use crate::args::kinds::INT;
use crate::args::numbers::parse_int;
use crate::args::{Args, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::notify::{Kind as Notice, NotifierId, Provided, Signal};
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "PullSwitch",
    "pulls from a chosen input and notifies",
    || Box::<PullSwitch>::default(),
)
.ports("-/1", "l/l")
.live()
.params(&[positional(
    "INPUT",
    INT,
    "0",
    "the input; a negative one is none",
)])
.ops("work(30 * calls)");

#[derive(Debug, Default)]
struct PullSwitch {
    port: Option<usize>,
    /// What there is upstream of each input.
    signals: Vec<Signal>,
    notifier: Option<NotifierId>,
}

impl PullSwitch {
    /// Whether the chosen input may have packets.
    fn may_have(&self, ctx: &Ctx) -> bool {
        let signal = self.port.and_then(|port| self.signals.get(port));
        signal.is_some_and(|signal| ctx.is_active(signal))
    }
}

impl Element for PullSwitch {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let port = usize::try_from(args.int("INPUT")).ok();
        self.port = port.filter(|port| *port < setup.inputs.len());
        Ok(())
    }

    fn prepare(&mut self, ctx: &mut Ctx) {
        let notifier = ctx.new_notifier("empty");
        if self.port.is_none() {
            ctx.sleep(notifier);
        }
        self.notifier = Some(notifier);
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        let task = ctx.new_task(0);
        self.signals = (0..ctx.inputs())
            .map(|input| ctx.upstream_signal(input, Some(task)))
            .collect();
        Ok(())
    }

    fn reconfigured(&mut self, ctx: &mut Ctx) {
        match self.notifier {
            Some(notifier) if self.port.is_none() => ctx.sleep(notifier),
            Some(notifier) if self.may_have(ctx) => ctx.wake(notifier),
            _ => {}
        }
    }

    fn run_task(&mut self, ctx: &mut Ctx, _: u32) -> bool {
        if let Some(notifier) = self.notifier.filter(|_| self.may_have(ctx)) {
            ctx.wake(notifier);
        }
        true
    }

    fn pull(&mut self, ctx: &mut Ctx, _: usize, max: usize, into: &mut Packets) {
        let count = self.port.map_or(0, |port| ctx.pull(port, max, into));
        let Some(notifier) = self.notifier else {
            return;
        };
        if count > 0 {
            // Who asks is awake: nobody needs to be woken.
            ctx.notifiers().set(notifier, true);
        } else if !self.may_have(ctx) {
            ctx.sleep(notifier);
        }
    }

    fn notifier(&self, kind: Notice, _: usize) -> Provided {
        match (kind, self.notifier) {
            (Notice::Empty, Some(id)) => Provided::Stop(id),
            _ => Provided::None,
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
        let inputs = ctx.inputs();
        self.port = usize::try_from(port).ok().filter(|port| *port < inputs);
        self.reconfigured(ctx);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn who_waits_is_woken_when_an_input_with_packets_is_chosen() {
        let mut run = loaded(
            "InfiniteSource(LIMIT 4) -> s :: PullSwitch(-1) -> c :: Counter -> d :: Discard; Idle \
             -> [1] s",
        );
        run.run(0.1);
        assert_eq!(
            (run.read("c.count"), run.read("d.scheduled")),
            ("0".into(), "false".into())
        );
        run.write("s.switch", "1").expect("an input");
        run.run(0.1);
        assert_eq!(run.read("d.scheduled"), "false");
        run.write("s.switch", "0").expect("an input");
        assert_eq!(run.read("d.scheduled"), "true");
        run.run(0.1);
        assert_eq!(
            (run.read("c.count"), run.read("d.scheduled")),
            ("4".into(), "false".into())
        );
    }
}
