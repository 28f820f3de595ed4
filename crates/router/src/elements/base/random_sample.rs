//! Passes packets with some probability.
//!
//! # What it does
//! Packets that are not chosen go to output 1 where there is one, and end here otherwise.
//!
//! # Handlers
//! - `drop_prob`: the share of packets that are dropped
//!
//! # Example
//! ```click
//! // One packet of a hundred.
//! FromDevice(eth0) -> RandomSample(0.01) -> ToDump(b.pcap)
//! ```

use crate::args::numbers::{parse_bool, parse_fixed, unparse_fixed};
use crate::args::{Args, Kind, flag, keyword, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::reason::Reason;
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("RandomSample", "passes packets at random", || {
    Box::<RandomSample>::default()
})
.ports("1/1-2", "a/ah")
.live()
.params(&[
    positional("P", Kind::Fixed(28), "", "the probability to pass"),
    keyword("SAMPLE", Kind::Fixed(28), "", "the probability to pass"),
    keyword("DROP", Kind::Fixed(28), "", "the probability not to"),
    flag("ACTIVE", "true", "whether it chooses; all pass otherwise"),
])
.ops("random(); work(25)");

/// Probabilities have so many bits of fraction.
const BITS: u8 = 28;
const ONE: u64 = 1 << BITS;

#[derive(Debug, Default)]
struct RandomSample {
    /// The probability to pass.
    pass: u64,
    active: bool,
    drops: u64,
}

impl Element for RandomSample {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        if args.given("SAMPLE") && args.given("DROP") {
            return Err(Diagnostics::of("give at most one of SAMPLE and DROP"));
        }
        let pass = match args.opt_uint("DROP") {
            Some(drop) => ONE.checked_sub(drop),
            None => args.opt_uint("SAMPLE").or(args.opt_uint("P")),
        };
        let Some(pass) = pass.filter(|pass| *pass <= ONE) else {
            let text = "sampling probability must be between 0 and 1";
            return Err(Diagnostics::of(text));
        };
        (self.pass, self.active) = (pass, args.bool("ACTIVE"));
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        if !self.active {
            return;
        }
        batch.filter(|packet| {
            if u64::from(ctx.draw_bits(BITS.into())) < self.pass {
                return Some(packet);
            }
            self.drops += 1;
            ctx.reject(1, packet, Reason::Filtered);
            None
        });
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![
            Handler::new("sampling_prob", "rw"),
            Handler::new("active", "rwc"),
            Handler::new("drops", "r"),
            Handler::new("drop_prob", "rw"),
            Handler::new("config", "rw"),
        ]
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        let text = |probability: u64| unparse_fixed(probability as i64, BITS);
        Ok(match name {
            "sampling_prob" => text(self.pass),
            "drop_prob" => text(ONE - self.pass),
            "active" => self.active.to_string(),
            "drops" => self.drops.to_string(),
            _ => format!("SAMPLE {}, ACTIVE {}", text(self.pass), self.active),
        })
    }

    fn write(&mut self, _: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        if name == "active" {
            self.active = parse_bool(value.trim()).map_err(|_| "syntax error".to_owned())?;
            return Ok(());
        }
        let given = parse_fixed(value.trim(), BITS).ok().map(u64::from);
        let Some(given) = given.filter(|given| *given <= ONE) else {
            return Err("Must be given a number between 0.0 and 1.0".to_owned());
        };
        self.pass = if name == "drop_prob" {
            ONE - given
        } else {
            given
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{errors, loaded};

    #[test]
    fn a_share_of_the_packets_passes() {
        let mut run = loaded(
            "InfiniteSource(LIMIT 10000, BURST 32, STOP true) -> s :: RandomSample(DROP 0.75) \
             -> a :: Counter -> Discard; s [1] -> b :: Counter -> Discard",
        );
        run.run(1.0);
        let a: u32 = run.read("a.count").parse().expect("a number");
        // Five standard deviations.
        assert!((2283..=2717).contains(&a), "{a}");
        assert_eq!(run.read("s.config"), "SAMPLE 0.25, ACTIVE true");
        assert_eq!(run.read("s.drops"), run.read("b.count"));
        assert_eq!(run.ctx.pool().in_use(), 0);
        let text = errors("Idle -> RandomSample(1.5) -> Discard");
        assert!(text.contains("sampling probability must be between 0 and 1"));
    }
}
