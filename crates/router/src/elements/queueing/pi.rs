//! Drops packets by chance so that its queues keep a length: a proportional-integral controller.
//!
//! # What it does
//! Every `W` seconds the probability of a drop moves by `A` times the deviation of the queues'
//! length from `TARGET`, less `B` times the deviation before. The law is that of
//! `trammel_queues::aqm::pi`. The queues are those named by `QUEUES`, or the nearest: downstream
//! where packets are pushed through it, upstream where they are pulled. What is dropped leaves by
//! output 1 where there is one.
//!
//! # Handlers
//! - `probability`: the share of packets that is dropped now
//!
//! # Example
//! ```click
//! // The queue is held at 20 packets by a controller that looks at it 170 times a second.
//! FromDevice(eth0) -> PI(0.0059, 0.00001822, 0.00001816, 20) -> Queue(200) -> RatedUnqueue(1000)
//!     -> Discard
//! ```
//!
//! # References
//! Hollot, Misra, Towsley and Gong, "On designing improved controllers for AQM routers supporting
//! TCP flows", INFOCOM 2001.

use super::shared::queue_lengths::{self, Queues};
use crate::args::kinds::UINT;
use crate::args::{Args, Kind, Need, Param, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::search::Way;
use crate::engine::setup::Setup;
use crate::engine::timer::TimerId;
use crate::engine::{Ctx, Element, Handler};
use crate::graph::processing::Mode;
use crate::reason::Reason;
use crate::script::format::real;
use trammel_core::time::{Span, Time};
use trammel_packet::batch::Packets;
use trammel_packet::timestamp::Timestamp;
use trammel_queues::aqm::pi::Law;

const fn weight(name: &'static str, help: &'static str) -> Param {
    mandatory(name, Kind::Double, help)
}

/// The class.
pub static ENTRY: Entry = Entry::new("PI", "drops to hold the queue at a length (PI)", || {
    Box::<Pi>::default()
})
.ports("1/1-2", "a/ah")
.references(&["Hollot, Misra, Towsley and Gong, INFOCOM 2001"])
.params(&[
    weight("W", "seconds between updates"),
    weight("A", "weight of the present deviation, per packet"),
    weight("B", "weight of the deviation before, per packet"),
    mandatory("TARGET", UINT, "packets that shall wait"),
    Param {
        need: Need::Positional,
        ..queue_lengths::PARAM
    },
])
.ops("random(); work(20)");

#[derive(Debug, Default)]
struct Pi {
    interval: Timestamp,
    weights: [f64; 2],
    target: u64,
    /// Updates are made by the timer, one each.
    law: Option<Law>,
    updates: u64,
    named: String,
    queues: Queues,
    pushes: bool,
    timer: Option<TimerId>,
    drops: u64,
}

impl Pi {
    fn span(&self) -> Span {
        Span::from_ps((self.interval.0 as u64).saturating_mul(1000))
    }
}

impl Element for Pi {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let (w, a, b) = (args.double("W"), args.double("A"), args.double("B"));
        self.target = args.uint("TARGET");
        self.interval = Timestamp::from_secs_f64(w);
        let faults = [
            (self.target > 0xFFFF, "'target_q' too large (max 65535)"),
            (self.interval.0 <= 0, "w must be positive"),
            (w > 86_400.0, "w must be a day at most"),
            (a < 0.0 || a.is_nan(), "a must be positive"),
            (b < 0.0 || b.is_nan(), "b must be positive"),
        ];
        if let Some((_, text)) = faults.into_iter().find(|(is_wrong, _)| *is_wrong) {
            return Err(Diagnostics::of(text));
        }
        self.weights = [a, b];
        self.law = Some(Law::new(self.target as f64, a, b, self.span()));
        args.text("QUEUES").clone_into(&mut self.named);
        self.pushes = setup.outputs[0] == Mode::Push;
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        let way = if self.pushes {
            Way::Downstream
        } else {
            Way::Upstream
        };
        self.queues = Queues::find(ctx, &self.named, way)?;
        let timer = ctx.new_timer(0);
        ctx.set_timer_after(timer, self.interval);
        self.timer = Some(timer);
        Ok(())
    }

    fn run_timer(&mut self, ctx: &mut Ctx, _: u32) {
        let length = u32::try_from(self.queues.length(ctx)).unwrap_or(u32::MAX);
        let span = self.span();
        if let Some(law) = &mut self.law {
            self.updates += 1;
            let now = span.as_ps().saturating_mul(self.updates);
            law.catch_up(Time::from_ps(now), length);
        }
        if let Some(timer) = self.timer {
            ctx.set_timer_again(timer, self.interval);
        }
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let probability = self.law.as_ref().map_or(0.0, Law::probability);
        if probability <= 0.0 {
            return;
        }
        batch.filter(|packet| {
            if !ctx.rng().chance(probability) {
                return Some(packet);
            }
            self.drops += 1;
            ctx.reject(1, packet, Reason::Early);
            None
        });
    }

    fn pull(&mut self, ctx: &mut Ctx, _: usize, max: usize, into: &mut Packets) {
        // Who asks gets something where there is something, however many are dropped.
        let before = into.len();
        while into.len() == before {
            let mut came = 0;
            ctx.pull_through(max, into, |ctx, batch| {
                came = batch.len();
                self.process(ctx, batch);
            });
            if came == 0 {
                return;
            }
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        ["drops", "w", "a", "b", "probability", "stats", "queues"]
            .map(|name| Handler::new(name, "r"))
            .to_vec()
    }

    fn read(&mut self, ctx: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "drops" => self.drops.to_string(),
            "w" => real(self.interval.as_secs_f64()),
            "a" => real(self.weights[0]),
            "b" => real(self.weights[1]),
            "probability" => real(self.law.as_ref().map_or(0.0, Law::probability)),
            "queues" => self.queues.names(ctx, "\n"),
            _ => {
                let length = self.queues.length(ctx);
                format!("{length} current queue\n{} drops\n", self.drops)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{errors, loaded};

    #[test]
    fn the_queue_comes_to_the_target() {
        let mut run = loaded(
            "RatedSource(RATE 1250) -> p :: PI(0.01, 0.0002, 0.00019, 50) -> q :: Queue(1000)
             -> RatedUnqueue(1000) -> Discard;",
        );
        run.run(60.0);
        let number = |text: String| text.parse::<f64>().expect("a number");
        let probability = number(run.read("p.probability"));
        // A fifth of what comes is too much.
        assert!((0.15..0.25).contains(&probability), "{probability}");
        assert_eq!(
            (run.read("q.drops"), run.read("p.queues")),
            ("0".into(), "q\n".into())
        );
        assert!(number(run.read("p.drops")) > 10_000.0);
    }

    #[test]
    fn numbers_that_mean_nothing_are_refused() {
        let text = errors("InfiniteSource -> PI(0, 1, 1, 10) -> Queue -> Unqueue -> Discard");
        assert!(text.contains("w must be positive"), "{text}");
        let text = errors("InfiniteSource -> PI(1, -1, 1, 10) -> Queue -> Unqueue -> Discard");
        assert!(text.contains("a must be positive"), "{text}");
    }
}
