//! Random early detection in front of queues or behind them.
//!
//! The law is that of `trammel_queues::aqm::red`; the average is Click's, whose weight is a power
//! of two and which takes a sample of an empty queue for each 20 ms that passed without a packet.

use super::queue_lengths::{self, Queues};
use crate::args::kinds::UINT;
use crate::args::numbers::unparse_fixed;
use crate::args::{Args, Kind, Param, flag, keyword, mandatory};
use crate::diagnostic::Diagnostics;
use crate::engine::element::cast;
use crate::engine::search::Way;
use crate::engine::setup::Setup;
use crate::engine::timer::TimerId;
use crate::engine::{Ctx, Element, Handler};
use crate::graph::processing::Mode;
use crate::reason::Reason;
use trammel_packet::batch::Packets;
use trammel_packet::timestamp::Timestamp;
use trammel_queues::aqm::red::Law;

/// Bits of fraction of the average.
const SCALE: u8 = 10;
/// Bits of fraction of probabilities.
const BITS: u8 = 16;
const ONE: u32 = 1 << BITS;
/// One sample of an idle queue, nanoseconds.
const IDLE_NS: i64 = 20_000_000;
/// Idle samples after which nothing of the average is left.
const FORGOTTEN: i64 = 100;
/// Time between adaptations.
const ADAPTS_EVERY: Timestamp = Timestamp(500_000_000);
/// A hundredth and nine tenths, with `BITS` of fraction.
const HUNDREDTH: u32 = 655;
const NINE_TENTHS: u32 = 58_982;

const fn number(name: &'static str, help: &'static str) -> Param {
    mandatory(name, UINT, help)
}

const MAX_P: Param = mandatory(
    "MAX_P",
    Kind::Fixed(BITS),
    "the probability of a drop at the upper threshold",
);

const STABILITY: Param = keyword(
    "STABILITY",
    UINT,
    "4",
    "a new sample has the weight 2 to the minus this; 0 is no average",
);

/// The arguments of `RED`.
pub(crate) const PARAMS: &[Param] = &[
    number(
        "MIN_THRESH",
        "the average length up to which nothing is dropped",
    ),
    number("MAX_THRESH", "the average length at which MAX_P is reached"),
    MAX_P,
    queue_lengths::PARAM,
    STABILITY,
    flag(
        "GENTLE",
        "true",
        "whether the probability rises to 1 over another MAX_THRESH, not at once",
    ),
];

/// The arguments of `AdaptiveRED`.
pub(crate) const PARAMS_ADAPTIVE: &[Param] = &[
    number("TARGET", "the average length to hold"),
    MAX_P,
    queue_lengths::PARAM,
    STABILITY,
];

/// Drops packets by chance as the queue grows.
#[derive(Debug)]
pub(crate) struct EarlyDrop {
    is_adaptive: bool,
    min: u32,
    max: u32,
    max_p: u32,
    is_gentle: bool,
    stability: u32,
    law: Law,
    named: String,
    queues: Queues,
    pushes: bool,
    /// With `SCALE` bits of fraction.
    average: i64,
    /// The idle sample taken last, while the queue is empty.
    idle: Option<i64>,
    drops: u64,
    timer: Option<TimerId>,
}

impl EarlyDrop {
    /// One, adaptive or not, as a class makes it.
    pub(crate) fn element(is_adaptive: bool) -> Box<dyn Element> {
        Box::new(EarlyDrop {
            is_adaptive,
            min: 0,
            max: 0,
            max_p: 0,
            is_gentle: true,
            stability: 0,
            law: Law::new(0.0, 0.0, 0.0, true),
            named: String::new(),
            queues: Queues::default(),
            pushes: false,
            average: 0,
            idle: None,
            drops: 0,
            timer: None,
        })
    }

    fn set_law(&mut self) {
        let probability = f64::from(self.max_p) / f64::from(ONE);
        let (min, max) = (f64::from(self.min), f64::from(self.max));
        self.law.set(min, max, probability, self.is_gentle);
    }

    fn sample(&mut self, length: i64) {
        let half = 1 << (self.stability - 1);
        let scaled = (length << SCALE) + half;
        self.average += (scaled - self.average) >> self.stability;
    }

    /// Takes a sample, of `length` packets.
    fn measure(&mut self, now: Timestamp, length: usize) {
        let length = length as i64;
        if self.stability == 0 {
            self.average = length << SCALE;
        } else if length > 0 {
            self.sample(length);
            self.idle = None;
        } else {
            let slot = now.0 / IDLE_NS;
            let samples = self.idle.map_or(1, |before| slot - before);
            self.idle = Some(slot);
            if samples >= FORGOTTEN {
                self.average = 0;
            } else {
                for _ in 0..samples {
                    self.sample(0);
                }
            }
        }
    }

    fn drops(&mut self, ctx: &mut Ctx) -> bool {
        let average = self.average as f64 / f64::from(1 << SCALE);
        // At the lower threshold itself nothing is dropped, even where the upper one is equal.
        let judged = if average <= f64::from(self.min) {
            -1.0
        } else {
            average
        };
        self.law.signals(judged, ctx.rng()).0
    }

    /// The arguments as they stand, the queues that were found among them.
    fn config(&self, ctx: &mut Ctx) -> String {
        let max_p = unparse_fixed(i64::from(self.max_p), BITS);
        let queues = self.queues.names(ctx, " ");
        format!(
            "{}, {}, {max_p}, QUEUES {}, STABILITY {}{}",
            self.min,
            self.max,
            queues.trim_end(),
            self.stability,
            if self.is_gentle { "" } else { ", GENTLE false" }
        )
    }

    fn average_text(&self) -> String {
        unparse_fixed(self.average, SCALE)
    }
}

impl Element for EarlyDrop {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let (min, max) = if self.is_adaptive {
            let target = args.uint("TARGET").max(10);
            (target / 2, target + target / 2)
        } else {
            (args.uint("MIN_THRESH"), args.uint("MAX_THRESH"))
        };
        let (max_p, stability) = (args.uint("MAX_P"), args.uint("STABILITY"));
        let faults = [
            (max > 0xFFFF, "MAX_THRESH must be <= 65535"),
            (min > max, "MIN_THRESH must be <= MAX_THRESH"),
            (max_p > u64::from(ONE), "MAX_P must be between 0 and 1"),
            (stability > 16, "STABILITY must be between 0 and 16"),
        ];
        if let Some((_, text)) = faults.into_iter().find(|(is_wrong, _)| *is_wrong) {
            return Err(Diagnostics::of(text));
        }
        (self.min, self.max) = (min as u32, max as u32);
        (self.max_p, self.stability) = (max_p as u32, stability as u32);
        self.is_gentle = self.is_adaptive || args.bool("GENTLE");
        self.set_law();
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
        if self.is_adaptive {
            let timer = ctx.new_timer(0);
            ctx.set_timer_after(timer, ADAPTS_EVERY);
            self.timer = Some(timer);
        }
        Ok(())
    }

    fn run_timer(&mut self, ctx: &mut Ctx, _: u32) {
        let average = ((self.average + (1 << (SCALE - 1))) >> SCALE) as u32;
        let part = (self.max - self.min) / 2;
        if average < self.min + part && self.max_p > HUNDREDTH {
            self.max_p = ((u64::from(self.max_p) * u64::from(NINE_TENTHS)) >> BITS) as u32;
        } else if average > self.max - part && self.max_p < ONE / 2 {
            self.max_p += HUNDREDTH.min(self.max_p / 4);
        }
        self.set_law();
        if let Some(timer) = self.timer {
            ctx.set_timer_again(timer, ADAPTS_EVERY);
        }
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let now = ctx.now();
        let waiting = self.queues.length(ctx);
        // Pushed packets that passed are as good as in the queue; pulled ones yet to come were in
        // it.
        let mut with = if self.pushes { 0 } else { batch.len() };
        batch.filter(|packet| {
            if !self.pushes {
                with -= 1;
            }
            self.measure(now, waiting + with);
            if self.drops(ctx) {
                self.drops += 1;
                ctx.reject(1, packet, Reason::Early);
                return None;
            }
            if self.pushes {
                with += 1;
            }
            Some(packet)
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
        let mut all = vec![Handler::new("drops", "r")];
        if self.is_adaptive {
            all.extend([
                Handler::new("min_thresh", "r"),
                Handler::new("max_thresh", "r"),
                Handler::new("max_p", "rw").of_argument(1, "MAX_P"),
            ]);
        } else {
            all.extend([
                Handler::new("config", "rw"),
                Handler::new("min_thresh", "rw").of_argument(0, "MIN_THRESH"),
                Handler::new("max_thresh", "rw").of_argument(1, "MAX_THRESH"),
                Handler::new("max_p", "rw").of_argument(2, "MAX_P"),
                Handler::new("config", "rw."),
            ]);
        }
        all.extend(["avg_queue_size", "stats", "queues"].map(|name| Handler::new(name, "r")));
        all
    }

    fn read(&mut self, ctx: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "drops" => self.drops.to_string(),
            "min_thresh" => self.min.to_string(),
            "max_thresh" => self.max.to_string(),
            "max_p" => unparse_fixed(i64::from(self.max_p), BITS),
            "avg_queue_size" => self.average_text(),
            "queues" => self.queues.names(ctx, "\n"),
            "config" => self.config(ctx),
            _ => format!(
                "{} current queue\n{} avg queue\n{} drops\n",
                self.queues.length(ctx),
                self.average_text(),
                self.drops
            ),
        })
    }

    fn take_state(&mut self, _: &mut Ctx, old: &mut dyn Element) {
        if let Some(old) = cast::<EarlyDrop>(old) {
            self.average = old.average;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{errors, loaded};

    fn number(text: &str) -> f64 {
        text.parse().expect("a number")
    }

    #[test]
    fn a_long_queue_is_kept_short_and_an_empty_one_left_alone() {
        let mut run = loaded(
            "RatedSource(RATE 2000) -> r :: RED(5, 50, 0.02) -> q :: Queue(200) \
             -> RatedUnqueue(1000)
             -> Discard; RatedSource(RATE 100) -> e :: RED(5, 50, 0.5) -> Queue -> Unqueue \
             -> Discard;",
        );
        run.run(5.0);
        let drops = number(&run.read("r.drops"));
        // Half of what comes must go, and before the queue is full.
        assert!((4500.0..5100.0).contains(&drops), "{drops}");
        let average = number(&run.read("r.avg_queue_size"));
        assert!((50.0..100.0).contains(&average), "{average}");
        assert_eq!(
            (run.read("q.drops"), run.read("e.drops")),
            ("0".into(), "0".into())
        );
        assert_eq!(run.read("r.queues"), "q\n");
        run.write("r.max_p", "0.5").expect("a probability");
        assert_eq!(run.read("r.config"), "5, 50, 0.5, QUEUES q, STABILITY 4");
        run.write("r.config", "7, 9, 1, GENTLE false")
            .expect("it is right");
        assert_eq!(
            run.read("r.config"),
            "7, 9, 1, QUEUES q, STABILITY 4, GENTLE false"
        );
    }

    #[test]
    fn it_drops_behind_a_queue_too() {
        let mut run = loaded(
            "RatedSource(RATE 2000) -> q :: Queue(500) -> r :: RED(5, 10, 0.1) -> RatedUnqueue(1000)
             -> Discard; r [1] -> c :: Counter -> Discard;",
        );
        run.run(5.0);
        assert_eq!(run.read("q.drops"), "0");
        assert_eq!(run.read("r.drops"), run.read("c.count"));
        assert!(
            number(&run.read("r.drops")) > 4000.0,
            "{}",
            run.read("r.drops")
        );
        assert!(
            number(&run.read("q.length")) < 30.0,
            "{}",
            run.read("q.length")
        );
    }

    #[test]
    fn an_adaptive_one_finds_its_probability() {
        let mut run = loaded(
            "RatedSource(RATE 1500) -> r :: AdaptiveRED(40, 0.02) -> q :: Queue(500) \
             -> RatedUnqueue(1000)
             -> Discard;",
        );
        run.run(30.0);
        let max_p = number(&run.read("r.max_p"));
        assert!(max_p > 0.1, "{max_p}");
        let average = number(&run.read("r.avg_queue_size"));
        assert!((20.0..=65.0).contains(&average), "{average}");
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let with = |class: &str| errors(&format!("Idle -> {class} -> Queue -> Discard"));
        let text = with("RED(6, 5, 0.1)");
        assert!(text.contains("MIN_THRESH must be <= MAX_THRESH"), "{text}");
        let text = with("RED(1, 5, 0.1, STABILITY 17)");
        assert!(
            text.contains("STABILITY must be between 0 and 16"),
            "{text}"
        );
        let text = with("i :: Null -> RED(1, 5, 0.1, QUEUES i)");
        assert!(text.contains("'i' is not a Storage element"), "{text}");
        let text = errors("InfiniteSource -> RED(1, 5, 0.1) -> Discard");
        assert!(text.contains("no nearby Queues"), "{text}");
    }
}
