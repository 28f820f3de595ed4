//! Drops packets behind a queue when even the shortest wait of an interval exceeds a target.
//!
//! # What it does
//! A packet's wait is the time since its annotation FIRST_TIMESTAMP, which
//! `SetTimestamp(FIRST true)` sets in front of the queue; a packet without it is taken to have
//! waited for no time. Once the wait has been at least `TARGET` for an `INTERVAL`, packets are
//! dropped, ever faster, until it is below. The law is that of `trammel_queues::aqm::codel`.
//!
//! # Handlers
//! - `codel_interval`, `codel_target`: old names of `interval` and `target`
//!
//! # Example
//! ```click
//! // Packets that waited for more than 5 ms are dropped more and more often.
//! FromDevice(eth0) -> SetTimestamp(FIRST true) -> Queue(200) -> CoDel(5ms, 100ms)
//!     -> ToDevice(eth1)
//! ```
//!
//! # References
//! RFC 8289; Nichols and Jacobson, "Controlling Queue Delay", ACM Queue 10(5), 2012.

use super::shared::queue_lengths::{self, Queues};
use crate::args::times::unparse_timestamp;
use crate::args::{Args, Kind, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::search::Way;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::reason::Reason;
use trammel_core::time::{Span, Time};
use trammel_packet::anno;
use trammel_packet::batch::Packets;
use trammel_packet::pool::Handle;
use trammel_packet::timestamp::Timestamp;
use trammel_queues::aqm::Item;
use trammel_queues::aqm::codel::{Law, Settings, Store};

/// The class.
pub static ENTRY: Entry = Entry::new("CoDel", "drops when packets wait too long", || {
    Box::<Codel>::default()
})
.ports("1/1-2", "l/lh")
.references(&["RFC 8289"])
.params(&[
    positional(
        "TARGET",
        Kind::Timestamp,
        "0.005",
        "the wait that a standing queue may have",
    ),
    positional(
        "INTERVAL",
        Kind::Timestamp,
        "0.1",
        "how long it may be exceeded",
    ),
    queue_lengths::PARAM,
])
.live()
.ops("work(125)");

/// The law's time begins so long before the run, so that packets may have waited since before it.
const BEFORE: Timestamp = Timestamp::from_secs(30 * 86_400);

#[derive(Debug, Default)]
struct Codel {
    target: Timestamp,
    interval: Timestamp,
    law: Law,
    named: String,
    queues: Queues,
    drops: u64,
    start: Timestamp,
}

/// What is pulled, as the law takes it: a packet that it asks to follow another is dropped.
struct Upstream<'a> {
    ctx: &'a mut Ctx,
    start: Timestamp,
    now: Time,
    /// The packet taken last.
    taken: Option<Handle>,
    dropped: u64,
}

impl Store for Upstream<'_> {
    fn pop(&mut self) -> Option<Item> {
        if let Some(condemned) = self.taken.take() {
            self.dropped += 1;
            self.ctx.reject(1, condemned, Reason::Early);
        }
        let handle = self.ctx.pull_one(0)?;
        let packet = &self.ctx.pool()[&handle];
        let first = packet.anno_bytes(anno::FIRST_TIMESTAMP);
        let enqueued = match Timestamp(i64::from_ne_bytes(first)) {
            unset if unset.secs() == 0 => self.now,
            first => time_since(self.start, first),
        };
        let item = Item {
            bytes: u32::try_from(packet.len()).unwrap_or(u32::MAX),
            enqueued,
            ..Item::default()
        };
        self.taken = Some(handle);
        Some(item)
    }

    /// Waiting packets are a standing queue however few bytes they have.
    fn bytes(&self) -> u64 {
        u64::MAX
    }
}

fn time_since(start: Timestamp, at: Timestamp) -> Time {
    let ns = at.0.saturating_sub(start.0).max(0) as u64;
    Time::from_ps(ns.saturating_mul(1000))
}

fn span(of: Timestamp) -> Span {
    time_since(Timestamp::ZERO, of).since_start()
}

impl Element for Codel {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.target = args.timestamp("TARGET");
        self.interval = args.timestamp("INTERVAL");
        args.text("QUEUES").clone_into(&mut self.named);
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        self.queues = Queues::find(ctx, &self.named, Way::Upstream)?;
        self.start = ctx.now() - BEFORE;
        Ok(())
    }

    fn pull(&mut self, ctx: &mut Ctx, _: usize, max: usize, into: &mut Packets) {
        let settings = Settings {
            target: span(self.target),
            interval: span(self.interval),
            mtu: 0,
            is_ecn: false,
            ce_threshold: Span::ZERO,
        };
        let now = time_since(self.start, ctx.now());
        let mut upstream = Upstream {
            ctx,
            start: self.start,
            now,
            taken: None,
            dropped: 0,
        };
        for _ in 0..max {
            self.law
                .dequeue(now, &settings, &mut upstream, &mut |_, _| {});
            match upstream.taken.take() {
                Some(packet) => into.push(packet),
                None => break,
            }
        }
        self.drops += upstream.dropped;
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![
            Handler::new("drops", "r"),
            Handler::new("codel_interval", "rw").of_argument(1, "INTERVAL"),
            Handler::new("codel_target", "rw").of_argument(0, "TARGET"),
            Handler::new("stats", "r"),
            Handler::new("queues", "r"),
        ]
    }

    fn read(&mut self, ctx: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "drops" => self.drops.to_string(),
            "codel_interval" => unparse_timestamp(self.interval),
            "codel_target" => unparse_timestamp(self.target),
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
    fn a_standing_queue_is_dropped_from_and_a_short_one_is_not() {
        let mut run = loaded(
            "RatedSource(RATE 1100) -> SetTimestamp(FIRST true) -> q :: Queue(10000) -> c :: CoDel
             -> RatedUnqueue(1000) -> Discard;
             RatedSource(RATE 100) -> SetTimestamp(FIRST true) -> Queue -> e :: CoDel \
             -> RatedUnqueue(1000)
             -> Discard; c [1] -> n :: Counter -> Discard;",
        );
        run.run(20.0);
        let number = |text: String| text.parse::<u32>().expect("a number");
        let drops = number(run.read("c.drops"));
        assert!((1000..=2100).contains(&drops), "{drops}");
        assert_eq!(run.read("n.count"), drops.to_string());
        assert!(
            number(run.read("q.length")) < 500,
            "{}",
            run.read("q.length")
        );
        assert_eq!(run.read("e.drops"), "0");
    }

    #[test]
    fn packets_without_the_annotation_all_pass() {
        let mut run = loaded(
            "RatedSource(RATE 2000) -> Queue(10000) -> c :: CoDel(1ms, 10ms) -> RatedUnqueue(1000)
             -> Discard;",
        );
        run.run(2.0);
        assert_eq!(
            (run.read("c.drops"), run.read("c.codel_target")),
            ("0".into(), "0.001000".into())
        );
    }

    #[test]
    fn there_must_be_a_queue() {
        let text = errors("InfiniteSource -> CoDel -> Discard");
        assert!(text.contains("no nearby Queues"), "{text}");
    }
}
