//! Counts packets and bytes that pass.
//!
//! # What it does
//! Every packet passes unchanged. Rates are exponentially weighted moving averages.
//! `COUNT_CALL 100 s.switch 1` writes a handler when the hundredth packet has come,
//! `BYTE_COUNT_CALL` when so many bytes have.
//!
//! # Example
//! ```click
//! InfiniteSource(LIMIT 1000, STOP true) -> c :: Counter -> Discard;
//! DriverManager(wait_stop, print c.count, print c.byte_count, stop)
//! ```

use crate::args::handler_call::{HandlerCall, parse_handler_call};
use crate::args::numbers::parse_uint;
use crate::args::text::take_word;
use crate::args::{Args, Kind, keyword};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::rates::rate::Rate;
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("Counter", "counts packets and bytes", || {
    Box::<Counter>::default()
})
.params(&[
    keyword(
        "COUNT_CALL",
        Kind::Raw,
        "",
        "`N handler value`: the handler is written when N packets have come",
    ),
    keyword(
        "BYTE_COUNT_CALL",
        Kind::Raw,
        "",
        "`N handler value`: the handler is written when N bytes have come",
    ),
])
.ops("work(13)");

/// A handler to be written when a count is reached.
#[derive(Debug)]
struct Trigger {
    at: u64,
    call: HandlerCall,
    is_done: bool,
}

#[derive(Debug)]
struct Counter {
    packets: u64,
    bytes: u64,
    rate: Rate,
    byte_rate: Rate,
    by_count: Option<Trigger>,
    by_bytes: Option<Trigger>,
    /// Why a call cannot be made, said when the element is initialized.
    fault: Option<String>,
}

impl Default for Counter {
    fn default() -> Counter {
        Counter {
            packets: 0,
            bytes: 0,
            rate: Rate::new(10),
            byte_rate: Rate::new(4),
            by_count: None,
            by_bytes: None,
            fault: None,
        }
    }
}

impl Trigger {
    fn parse(text: &str) -> Option<Result<Trigger, String>> {
        let mut rest = text;
        let word = take_word(&mut rest)?;
        let at = parse_uint(word, u64::MAX).ok()?;
        let trigger = parse_handler_call(rest).map(|call| Trigger {
            at,
            call,
            is_done: false,
        });
        Some(trigger.map_err(|e| e.to_string()))
    }

    /// What is to be called, where `count` has come to it.
    fn due(this: &mut Option<Trigger>, count: u64) -> Option<HandlerCall> {
        let trigger = this.as_mut().filter(|t| !t.is_done && count >= t.at)?;
        trigger.is_done = true;
        Some(trigger.call.clone())
    }
}

impl Element for Counter {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let mut fault = None;
        let mut trigger = |name: &str| {
            let Some(text) = args.opt_text(name).filter(|text| !text.is_empty()) else {
                return Ok(None);
            };
            match Trigger::parse(text) {
                None => Err(Diagnostics::of(format!("{name} type mismatch"))),
                Some(Err(why)) => {
                    fault = Some(why);
                    Ok(None)
                }
                Some(Ok(trigger)) => Ok(Some(trigger)),
            }
        };
        self.by_count = trigger("COUNT_CALL")?;
        self.by_bytes = trigger("BYTE_COUNT_CALL")?;
        self.fault = fault;
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        for trigger in [&self.by_count, &self.by_bytes].into_iter().flatten() {
            ctx.check_call(&trigger.call)?;
        }
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let now = ctx.now();
        let pool = ctx.pool();
        let bytes = batch.iter().map(|p| pool[p].len() as u64).sum::<u64>();
        self.packets += batch.len() as u64;
        self.bytes += bytes;
        self.rate.add(now, batch.len() as u64);
        self.byte_rate.add(now, bytes);
        if self.by_count.is_some() || self.by_bytes.is_some() {
            let by_count = Trigger::due(&mut self.by_count, self.packets);
            let by_bytes = Trigger::due(&mut self.by_bytes, self.bytes);
            for call in [by_count, by_bytes].into_iter().flatten() {
                // The call was checked; what it says now has nobody to hear it. It may ask for the
                // counts.
                let _ = ctx.within_reach(self, |ctx| ctx.call(&call));
            }
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![
            Handler::new("count", "r"),
            Handler::new("byte_count", "r"),
            Handler::new("rate", "r"),
            Handler::new("bit_rate", "r"),
            Handler::new("byte_rate", "r"),
            Handler::new("reset", "wb"),
            Handler::new("reset_counts", "wbU"),
            Handler::new("count_call", "rw"),
            Handler::new("byte_count_call", "w"),
        ]
    }

    fn read(&mut self, ctx: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "count" => self.packets.to_string(),
            "byte_count" => self.bytes.to_string(),
            "rate" => self.rate.text(ctx.now(), 0),
            "bit_rate" => self.byte_rate.text(ctx.now(), 3),
            "byte_rate" => self.byte_rate.text(ctx.now(), 0),
            _ => {
                let at = self.by_count.as_ref().map(|trigger| trigger.at);
                at.map(|at| at.to_string()).unwrap_or_default()
            }
        })
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        if name.starts_with("reset") {
            (self.packets, self.bytes) = (0, 0);
            for trigger in [&mut self.by_count, &mut self.by_bytes]
                .into_iter()
                .flatten()
            {
                trigger.is_done = false;
            }
            return Ok(());
        }
        let wrong = || format!("'{name}' first word should be unsigned (count)");
        let trigger = Trigger::parse(value).ok_or_else(wrong)??;
        ctx.check_call(&trigger.call)?;
        if name == "count_call" {
            self.by_count = Some(trigger);
        } else {
            self.by_bytes = Some(trigger);
        }
        Ok(())
    }

    fn take_state(&mut self, _: &mut Ctx, old: &mut dyn Element) {
        if let Some(old) = crate::engine::element::cast::<Counter>(old) {
            (self.packets, self.bytes) = (old.packets, old.bytes);
            (self.rate, self.byte_rate) = (old.rate.clone(), old.byte_rate.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{errors, loaded};

    #[test]
    fn what_is_called_may_ask_for_the_count() {
        let mut run = loaded(
            "RatedSource(DATA ab, RATE 10, LIMIT 9) -> c :: Counter(COUNT_CALL 3 s.run, \
             BYTE_COUNT_CALL 10 s.run) -> Discard; \
             s :: Script(TYPE PASSIVE, print \"$(c.count) $(c.byte_count)\")",
        );
        run.run(2.0);
        assert_eq!(run.host.memory().printed, "3 6\n5 10\n");
    }

    #[test]
    fn a_count_calls_a_handler_once() {
        let mut run = loaded(
            "InfiniteSource(LIMIT 10, STOP true) -> Counter(COUNT_CALL 5 s.switch 1) \
             -> s :: Switch \
             -> a :: Counter -> Discard; s [1] -> b :: Counter(BYTE_COUNT_CALL 100 b.reset) \
             -> Discard",
        );
        run.run(1.0);
        assert_eq!(
            (run.read("a.count"), run.read("b.count")),
            ("4".into(), "0".into())
        );
    }

    #[test]
    fn handlers_are_listed_newest_first() {
        let mut run = loaded("Idle -> c :: Counter -> Discard");
        assert_eq!(
            run.read("c.handlers"),
            "byte_count_call\tw\ncount_call\trw\nreset_counts\twUb\nreset\twb\nbyte_rate\tr\n\
             bit_rate\tr\nrate\tr\nbyte_count\tr\ncount\tr\nhandlers\tr.\nports\tr.\nconfig\tr.\n\
             class\tr.\nname\tr.\n"
        );
    }

    #[test]
    fn calls_that_cannot_be_made_are_refused() {
        let text = errors("Idle -> Counter(COUNT_CALL x y.z) -> Discard");
        assert!(text.contains("COUNT_CALL type mismatch"), "{text}");
        let text = errors("Idle -> Counter(COUNT_CALL 1 y.z) -> Discard");
        assert!(text.contains("no element named 'y'"), "{text}");
    }
}
